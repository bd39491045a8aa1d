/* What the programs of this folder share: how they compile, what they feed, what a program does, and the roof. */
#include "workloads.h"

#include <millwright/inspect.h>

mw_compile_options bench_compiling(const bench_options *o)
{
    mw_compile_options compile = mw_compile_defaults();
    compile.threads = o->threads;
    compile.device = o->fp16 ? MW_DEVICE_ANE : MW_DEVICE_CPU;
    compile.provider = o->fp16 ? MW_PROVIDER_ENGINE : MW_PROVIDER_AUTO;
    compile.seed = 1;
    return compile;
}

mw_trainer *bench_train(const bench_options *o, mw_tensor *loss, mw_optimizer optimizer, mw_error *err)
{
    mw_trainer_options options = mw_trainer_defaults(loss, optimizer);
    options.compile = bench_compiling(o);
    return mw_trainer_create(&options, err);
}

mw_feed bench_feed(const char *name, mw_dtype dtype, const void *data, size_t count)
{
    return (mw_feed){.name = name, .dtype = dtype, .data = data, .count = count, .scale = 1.0f};
}

float *bench_uniforms(size_t count)
{
    float *values = bench_alloc(count, sizeof *values);
    uint64_t state = 1;
    for (size_t i = 0; i < count; i++)
        values[i] = bench_uniform(&state);
    return values;
}

/* ---- what a program does: --plan and --trace ---- */

static void print_line(void *user, const char *line)
{
    (void)user;
    puts(line);
}

void bench_watch(const bench_options *o, mw_program *program, mw_error *err)
{
    if (o->plan || o->trace != NULL)
        mw_program_profile(program, 50, err);
}

void bench_show(const bench_options *o, mw_program *program, mw_error *err)
{
    mw_plan *plan = o->plan || o->trace != NULL ? mw_plan_create(program, err) : NULL;
    if (o->plan)
        mw_plan_print(plan, print_line, NULL);
    if (o->trace != NULL)
        mw_plan_write_trace(plan, o->trace, err);
    mw_plan_destroy(plan);
}

/* ---- the roof ---- */

enum { PRODUCT = 1024 };

double bench_product_rate(const bench_options *o, mw_error *err)
{
    mw_graph *graph = mw_graph_create(NULL, err);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(PRODUCT, PRODUCT));
    mw_tensor *y = mw_input(graph, "y", MW_F32, MW_SHAPE(PRODUCT, PRODUCT));
    mw_output(mw_matmul(x, y, MW_TRANSPOSE_NONE), "z");
    const mw_compile_options compile = bench_compiling(o);
    mw_program *program = mw_program_create(graph, &compile, err);
    mw_graph_destroy(graph);
    double best = 1e9;
    for (int i = 0; i < (o->steps == 1 || o->tiny ? 1 : 40) && err->status == MW_OK; i++) {
        const double start = bench_now();
        mw_program_run(program, err);
        const double seconds = bench_now() - start;
        best = seconds < best ? seconds : best;
    }
    mw_program_destroy(program);
    return 2.0 * PRODUCT * PRODUCT * PRODUCT / best;
}

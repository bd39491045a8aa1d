/* What lies between the convolutions of a network costs in training: batch norm with an activation, a residual sum,
 * squeeze and excite, dense concatenation. Each is a convolution of kernel 1, the chain and a convolution, with all
 * gradients.
 *
 *     chains                          all: name, ms of a run, MB of intermediates and scratch
 *     chains NAME [--threads N] [--steps N] [--device cpu|ane] [--plan] */
#include "runs.h"

#include <millwright/inspect.h>

#include <stdio.h>
#include <string.h>

typedef struct subject {
    const char *name;
    mw_tensor *(*chain)(mw_tensor *x);
    int64_t batch, channels, side;
} subject;

static mw_tensor *norm(mw_tensor *x, const char *name) { return mw_batch_norm_layer(x, 0.1f, 1e-5f, name); }

static mw_tensor *convolve(mw_tensor *x, int64_t channels, const char *name)
{
    mw_conv_options options = mw_conv_defaults();
    options.bias = false;
    return mw_conv_layer(x, channels, MW_SHAPE(1, 1), name, &options);
}

static mw_tensor *relu_chain(mw_tensor *x) { return mw_relu(norm(x, "bn")); }
static mw_tensor *silu_chain(mw_tensor *x) { return mw_silu(norm(x, "bn")); }
static mw_tensor *plain_chain(mw_tensor *x) { return norm(x, "bn"); }

static mw_tensor *residual_chain(mw_tensor *x)
{
    mw_tensor *h = convolve(mw_relu(norm(x, "bn")), mw_tensor_shape(x).dim[1], "inner");
    return mw_relu(mw_add(norm(h, "bn2"), x));
}

static mw_tensor *excite_chain(mw_tensor *x)
{
    const int64_t channels = mw_tensor_shape(x).dim[1];
    mw_tensor *h = mw_silu(norm(x, "bn")), *s = mw_reduce_mean(h, MW_AXES(2, 3), true);
    s = mw_silu(mw_conv_layer(s, channels / 24, MW_SHAPE(1, 1), "squeeze", NULL));
    return mw_mul(h, mw_sigmoid(mw_conv_layer(s, channels, MW_SHAPE(1, 1), "excite", NULL)));
}

/* Each layer reads all before it. */
static mw_tensor *dense_chain(mw_tensor *x)
{
    char name[16];
    for (int i = 0; i < 4; i++) {
        snprintf(name, sizeof name, "bn.%d", i);
        mw_tensor *h = mw_relu(norm(x, name));
        snprintf(name, sizeof name, "conv.%d", i);
        x = mw_concat((mw_tensor *[]){x, convolve(h, 32, name)}, 2, 1);
    }
    return mw_relu(norm(x, "bn"));
}

static const subject subjects[] = {
    {"plain_64_56", plain_chain, 8, 64, 56},     {"relu_64_56", relu_chain, 8, 64, 56},
    {"relu_256_28", relu_chain, 8, 256, 28},     {"relu_512_14", relu_chain, 8, 512, 14},
    {"relu_2048_7", relu_chain, 8, 2048, 7},     {"relu_64_32", relu_chain, 32, 64, 32},
    {"silu_96_112", silu_chain, 4, 96, 112},     {"silu_144_56", silu_chain, 8, 144, 56},
    {"silu_480_14", silu_chain, 8, 480, 14},     {"residual_256_28", residual_chain, 8, 256, 28},
    {"excite_144_56", excite_chain, 8, 144, 56}, {"excite_672_14", excite_chain, 8, 672, 14},
    {"excite_1152_7", excite_chain, 8, 1152, 7}, {"dense_64_56", dense_chain, 4, 64, 56},
    {"dense_256_14", dense_chain, 8, 256, 14},
};

enum { SUBJECTS = sizeof subjects / sizeof *subjects, ENDS = 16 /* channels of what comes in and goes out */ };

static mw_program *compile(const subject *s, const bench_options *o, mw_error *err)
{
    mw_weight weights[64];
    mw_tensor *parameters[64], *gradients[64];
    char name[16];
    size_t count = 0, used = 0;
    mw_graph *graph = mw_graph_create(NULL, err);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(s->batch, ENDS, s->side, s->side));
    mw_tensor *y = convolve(s->chain(convolve(x, s->channels, "first")), ENDS, "last");
    mw_tensor *dy = mw_input(graph, "dy", MW_F32, mw_tensor_shape(y));
    mw_output(y, "y");
    mw_graph_weights(graph, weights, 64, &count, err);
    for (size_t i = 0; i < count && err->status == MW_OK; i++)
        if (weights[i].is_parameter)
            parameters[used++] = mw_graph_find(graph, weights[i].name);
    if (err->status == MW_OK)
        mw_vjp(&y, &dy, 1, parameters, used, gradients, err);
    for (size_t i = 0; i < used && err->status == MW_OK; i++) {
        snprintf(name, sizeof name, "d%zu", i);
        mw_output(gradients[i], name);
    }
    mw_compile_options options = mw_compile_defaults();
    options.threads = o->threads;
    options.device = o->fp16 ? MW_DEVICE_ANE : MW_DEVICE_CPU;
    mw_program *program = mw_program_create(graph, &options, err);
    mw_graph_destroy(graph);
    return program;
}

static void feed(mw_program *program, mw_error *err)
{
    uint64_t state = 1;
    mw_port port;
    for (size_t i = 0; i < mw_program_get_info(program).port_count; i++) {
        if (!mw_program_port_at(program, i, &port) || port.is_output)
            continue;
        const size_t count = (size_t)mw_shape_count(port.shape);
        float *data = bench_alloc(count, sizeof *data);
        for (size_t k = 0; k < count; k++)
            data[k] = 4.0f * bench_uniform(&state) - 2.0f;
        mw_program_write(program, port.name, MW_F32, data, count, err);
        free(data);
    }
}

static void measure(const subject *s, const bench_options *o, mw_error *err)
{
    mw_program *program = compile(s, o, err);
    if (program == NULL)
        return;
    feed(program, err);
    const double time = bench_run_seconds(o, program, bench_steps(o, 4), err);
    mw_plan *plan = mw_plan_create(program, err);
    const mw_plan_totals totals = mw_plan_get_totals(plan);
    printf("%s\t%.4f\t%.1f\n", s->name, 1e3 * time, 1e-6 * (double)(totals.intermediate_bytes + totals.scratch_bytes));
    fflush(stdout);
    mw_plan_destroy(plan);
    mw_program_destroy(program);
}

int main(int argc, char **argv)
{
    char *all[] = {argv[0], "all"};
    const bench_options o = argc > 1 ? bench_parse(argc, argv) : bench_parse(2, all);
    mw_error err = {0};
    bool known = false;
    for (const subject *s = subjects; s < subjects + SUBJECTS; s++) {
        if (strcmp(o.workload, "all") != 0 && strcmp(o.workload, s->name) != 0)
            continue;
        known = true;
        measure(s, &o, &err);
    }
    if (err.status != MW_OK)
        fprintf(stderr, "%s\n", err.message);
    if (!known)
        bench_usage(argv[0]);
    return err.status != MW_OK;
}

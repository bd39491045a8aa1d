/* W13: GPT-2 124M writes texts, a token of each in a run, with what it has seen in caches on the device; tokens a
 * second for 1 to 64 texts. */
#include "nets.h"
#include "workloads.h"

static const gpt_form forms[] = {{12, 12, 768, 50257, 1024, 1, 128}, {2, 2, 32, 64, 16, 1, 8}};

/* Every cache is read and written in place. */
static void share_caches(mw_program *program, int layers, mw_error *err)
{
    char name[32], next[40];
    for (int i = 0; i < 2 * layers; i++) {
        snprintf(name, sizeof name, "%s.%d", i % 2 == 0 ? "key" : "value", i / 2);
        snprintf(next, sizeof next, "%s.next", name);
        mw_program_alias(program, next, name, err);
    }
}

static mw_program *compile(const bench_options *o, const gpt_form *form, mw_program *weights_of, mw_error *err)
{
    mw_compile_options options = bench_compiling(o);
    options.share.program = weights_of;
    mw_graph *graph = mw_graph_create(NULL, err);
    mw_tensor *logits = net_gpt_token(graph, form);
    mw_output(mw_reduce_argmax(logits, 1, false), "token");
    mw_output(mw_reduce_max(logits, MW_AXES(1), false), "logit");
    mw_program *program = mw_program_create(graph, &options, err);
    mw_graph_destroy(graph);
    if (err->status == MW_OK)
        share_caches(program, form->layers, err);
    return program;
}

/* One token of each text, the likeliest, in the place of the one before. */
static void write_token(mw_program *program, int batch, int32_t at, int32_t *tokens, mw_error *err)
{
    mw_program_write(program, "x", MW_I32, tokens, (size_t)batch, err);
    mw_program_write(program, "at", MW_I32, &at, 1, err);
    mw_program_run(program, err);
    mw_program_read(program, "token", MW_I32, tokens, (size_t)batch, err);
}

static void emit(const bench_options *o, const char *metric, int batch, double value)
{
    char name[48];
    snprintf(name, sizeof name, "%s.b%d", metric, batch);
    bench_emit(o->workload, name, value);
}

/* What was written by the only text of a batch. */
static void emit_written(const bench_options *o, mw_program *program, int at, int32_t token, mw_error *err)
{
    char name[32];
    float logit = 0.0f;
    mw_program_read(program, "logit", MW_F32, &logit, 1, err);
    snprintf(name, sizeof name, "token.%d", at);
    bench_emit(o->workload, name, token);
    snprintf(name, sizeof name, "logit.%d", at);
    bench_emit(o->workload, name, (double)logit);
}

/* Returns the program, whose weights those of the next batch are. */
static mw_program *measure(const bench_options *o, int batch, mw_program *weights_of, double roof, mw_error *err)
{
    gpt_form form = forms[o->tiny];
    form.batch = batch;
    mw_program *program = compile(o, &form, weights_of, err);
    if (o->weights != NULL && weights_of == NULL)
        mw_program_load_weights(program, o->weights, NULL, err);
    int32_t *tokens = bench_alloc((size_t)batch, sizeof *tokens);
    const int most = bench_steps(o, 16), steps = most < form.tokens ? most : form.tokens;
    double *seconds = bench_alloc((size_t)steps, sizeof *seconds), cpu = 0.0;
    bench_watch(o, program, err);
    for (int i = 0; i < steps && err->status == MW_OK; i++) {
        cpu = i == bench_cold(steps) ? bench_cpu() : cpu;
        const double start = bench_now();
        write_token(program, batch, i, tokens, err);
        seconds[i] = bench_now() - start;
        if (o->weights != NULL && batch == 1)
            emit_written(o, program, i, tokens[0], err);
    }
    if (err->status == MW_OK) {
        const double median = bench_warm_median(seconds, steps);
        emit(o, "token_ms", batch, 1e3 * median);
        emit(o, "cpu_ms", batch, 1e3 * (bench_cpu() - cpu) / (steps - bench_cold(steps)));
        emit(o, "tokens_per_s", batch, batch / median);
        emit(o, "of_product", batch, 2.0 * net_products / median / roof);
    }
    bench_show(o, program, err);
    free(seconds);
    free(tokens);
    return program;
}

void bench_decode(const bench_options *o, mw_error *err)
{
    static const int batches[] = {1, 4, 16, 64};
    enum { COUNT = sizeof batches / sizeof *batches };
    const double roof = bench_product_rate(o, err);
    mw_program *first = NULL;
    for (int i = 0; i < COUNT && err->status == MW_OK; i++) {
        mw_program *program = measure(o, batches[i], first, roof, err);
        first = i == 0 ? program : first; /* whose weights the others use */
        if (i > 0)
            mw_program_destroy(program);
    }
    if (err->status == MW_OK)
        bench_emit(o->workload, "peak_mb", bench_peak_mb());
    mw_program_destroy(first);
}

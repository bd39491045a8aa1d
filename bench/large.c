/* W7 to W12, W14: the networks of nets.h, trained or run for a few steps on numbers that torch_nets.py draws, too. */
#include "nets.h"
#include "workloads.h"

#include <limits.h>

double net_products;

/* ---- the workloads ---- */

static mw_tensor *gpt(mw_graph *graph, bool tiny)
{
    static const gpt_form forms[] = {{12, 12, 768, 50257, 1024, 4, 64}, {2, 2, 32, 64, 16, 2, 8}};
    return net_gpt(graph, &forms[tiny]);
}

static mw_tensor *resnet(mw_graph *graph, bool tiny)
{
    static const vision_form forms[] = {{32, 32, 64}, {4, 16, 8}};
    return net_resnet(graph, &forms[tiny]);
}

static mw_tensor *mobilenet(mw_graph *graph, bool tiny)
{
    static const vision_form forms[] = {{32, 32, 32}, {4, 16, 8}};
    return net_mobilenet(graph, &forms[tiny]);
}

static const lstm_form lstm_forms[] = {{2, 256, 128, 64, 32}, {2, 16, 8, 6, 4}};

static mw_tensor *lstm(mw_graph *graph, bool tiny) { return net_lstm(graph, &lstm_forms[tiny], false); }
static mw_tensor *lstm_layer(mw_graph *graph, bool tiny) { return net_lstm(graph, &lstm_forms[tiny], true); }

static mw_tensor *unet(mw_graph *graph, bool tiny)
{
    static const vision_form forms[] = {{2, 128, 64}, {1, 16, 8}};
    return net_unet(graph, &forms[tiny]);
}

static mw_tensor *whisper(mw_graph *graph, bool tiny)
{
    static const whisper_form forms[] = {{4, 6, 384, 1500, 1}, {2, 2, 16, 12, 1}};
    return net_whisper(graph, &forms[tiny]);
}

static mw_tensor *llama(mw_graph *graph, bool tiny)
{
    static const llama_form forms[] = {{6, 6, 288, 768, 32000, 4, 256}, {2, 2, 16, 40, 64, 2, 8}};
    return net_llama(graph, &forms[tiny]);
}

static mw_optimizer adamw(void) { return mw_adamw(3e-4f, 0.01f); }
static mw_optimizer adam(void) { return mw_adam(1e-3f); }
static mw_optimizer momentum(void) { return mw_sgd_momentum(1e-2f, 0.9f, false); }

typedef struct workload {
    const char *name;
    mw_tensor *(*net)(mw_graph *graph, bool tiny); /* returns the loss, or the result if nothing is trained */
    mw_optimizer (*optimizer)(void);               /* NULL: inference */
    int steps;
    int32_t below[2]; /* integers of x and y are drawn from [0, below), by tiny */
} workload;

static const workload workloads[] = {
    {"W7", gpt, adamw, 4, {50257, 64}},          {"W8", resnet, momentum, 6, {10, 10}},
    {"W9", mobilenet, momentum, 8, {10, 10}},    {"W10", lstm, adam, 8, {10, 10}},
    {"W10layer", lstm_layer, adam, 8, {10, 10}}, {"W11", unet, adam, 4, {0, 0}},
    {"W12", whisper, NULL, 6, {0, 0}},           {"W14", llama, adamw, 4, {32000, 64}}};

/* ---- running ---- */

static double parameters_of(const mw_graph *graph, mw_error *err)
{
    size_t count = 0;
    mw_graph_weights(graph, NULL, 0, &count, err);
    mw_weight *weights = bench_alloc(count, sizeof *weights);
    double sum = 0.0;
    mw_graph_weights(graph, weights, count, NULL, err);
    for (size_t i = 0; i < count; i++)
        sum += weights[i].is_parameter ? (double)mw_shape_count(weights[i].shape) : 0.0;
    free(weights);
    return sum;
}

/* Products take three times the work of the forward pass when a network is trained: dx and dweight, too. */
static void emit_rate(const bench_options *o, double seconds, bool trained, mw_error *err)
{
    const double work = 2.0 * net_products * (trained ? 3.0 : 1.0);
    bench_emit(o->workload, "gflop", 1e-9 * work);
    bench_emit(o->workload, "gflops", 1e-9 * work / seconds);
    bench_emit(o->workload, "of_product", work / seconds / bench_product_rate(o, err));
}

typedef struct runs {
    double *seconds, cpu; /* of all but the cold ones */
    float first, last;    /* losses */
    int count;
} runs;

/* Of a trainer, or of a program. */
static runs run_steps(const bench_options *o, int count, mw_trainer *trainer, mw_program *program,
                      const bench_feeds *drawn, mw_error *err)
{
    runs r = {.seconds = bench_alloc((size_t)count, sizeof *r.seconds), .count = count};
    const mw_batch batch = {.feeds = drawn->feed, .feed_count = drawn->count, .examples = 1};
    bench_watch(o, program, err);
    for (int i = 0; i < count && err->status == MW_OK; i++) {
        r.cpu = i == bench_cold(count) ? bench_cpu() : r.cpu;
        const double start = bench_now();
        if (trainer != NULL)
            mw_trainer_step(trainer, &batch, &r.last, err);
        else
            mw_program_run(program, err);
        r.seconds[i] = bench_now() - start;
        r.first = i == 0 ? r.last : r.first;
    }
    r.cpu = bench_cpu() - r.cpu;
    return r;
}

static void report(const bench_options *o, runs *r, bool trained, mw_error *err)
{
    const double median = bench_warm_median(r->seconds, r->count);
    bench_emit(o->workload, "step_ms", 1e3 * median);
    bench_emit(o->workload, "cpu_ms", 1e3 * r->cpu / (r->count - bench_cold(r->count)));
    bench_emit(o->workload, "peak_mb", bench_peak_mb());
    if (trained) {
        bench_emit(o->workload, "first_loss", (double)r->first);
        bench_emit(o->workload, "loss", (double)r->last);
    }
    emit_rate(o, median, trained, err);
}

static void train(const bench_options *o, const workload *w, mw_graph *graph, mw_tensor *loss, mw_error *err)
{
    bench_feeds drawn = bench_draw(graph, w->below[o->tiny]);
    const double start = bench_now();
    mw_trainer *trainer = bench_train(o, loss, o->weights != NULL ? mw_sgd(1.0f) : w->optimizer(), err);
    mw_program *program = trainer != NULL ? mw_trainer_program(trainer) : NULL;
    if (err->status == MW_OK)
        bench_emit(o->workload, "compile_ms", 1e3 * (bench_now() - start));
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s.before", o->weights != NULL ? o->weights : "");
    if (o->weights != NULL && err->status == MW_OK)
        mw_trainer_save_weights(trainer, path, err);
    runs r = run_steps(o, bench_steps(o, w->steps), trainer, program, &drawn, err);
    if (o->weights != NULL && err->status == MW_OK)
        mw_trainer_save_weights(trainer, o->weights, err);
    if (err->status == MW_OK)
        report(o, &r, true, err);
    bench_show(o, program, err);
    free(r.seconds);
    mw_trainer_destroy(trainer);
    bench_free(&drawn);
}

static void infer(const bench_options *o, const workload *w, mw_graph *graph, mw_error *err)
{
    bench_feeds drawn = bench_draw(graph, w->below[o->tiny]);
    const double start = bench_now();
    const mw_compile_options compile = bench_compiling(o);
    mw_program *program = mw_program_create(graph, &compile, err);
    if (err->status == MW_OK)
        bench_emit(o->workload, "compile_ms", 1e3 * (bench_now() - start));
    for (size_t i = 0; i < drawn.count; i++)
        mw_program_write(program, drawn.feed[i].name, drawn.feed[i].dtype, drawn.feed[i].data, drawn.feed[i].count,
                         err);
    runs r = run_steps(o, bench_steps(o, w->steps), NULL, program, &drawn, err);
    if (err->status == MW_OK)
        report(o, &r, false, err);
    bench_show(o, program, err);
    free(r.seconds);
    mw_program_destroy(program);
    bench_free(&drawn);
}

void bench_large(const bench_options *o, mw_error *err)
{
    for (size_t i = 0; i < sizeof workloads / sizeof *workloads; i++) {
        const workload *w = &workloads[i];
        if (strcmp(w->name, o->workload) != 0)
            continue;
        mw_graph *graph = mw_graph_create(NULL, err);
        mw_tensor *result = w->net(graph, o->tiny);
        const bool trained = w->optimizer != NULL || o->weights != NULL;
        if (trained && w->optimizer == NULL) /* any loss will do to compare gradients */
            result = mw_reduce_mean(mw_exp(result), MW_ALL_AXES, false);
        if (!trained)
            mw_output(result, "result");
        bench_emit(o->workload, "parameters", parameters_of(graph, err));
        if (trained)
            train(o, w, graph, result, err);
        else
            infer(o, w, graph, err);
        mw_graph_destroy(graph);
    }
}

/* How the time of a step grows with width and batch, and that of compiling with depth: W1's network by hidden width and
 * by batch, as a part of what one large product reaches in the same run, then deep networks and transformers; at last
 * the networks of growth.c. */
#include "models.h"
#include "workloads.h"

enum { PIXELS = 784, CLASSES = 10, STEPS_MOST = 400 };
#define SECONDS_EACH 0.25

static void emit(const char *metric, const char *what, int size, double value)
{
    char name[64];
    snprintf(name, sizeof name, "%s.%s%d", metric, what, size);
    bench_emit("scaling", name, value);
}

/* ---- steps ---- */

/* Products of a step: the first layer forward and its weight's gradient, the second layer both ways. */
static double step_operations(int batch, int hidden) { return 2.0 * batch * hidden * (2.0 * PIXELS + 3.0 * CLASSES); }

double bench_step_seconds(const bench_options *o, mw_trainer *trainer, const mw_batch *batch, mw_error *err)
{
    const int most = o->steps > 0 && o->steps < STEPS_MOST ? o->steps : STEPS_MOST;
    double seconds[STEPS_MOST] = {0}, spent = 0.0;
    int steps = 0;
    for (; steps < most && (steps < 3 || spent < SECONDS_EACH) && err->status == MW_OK; steps++) {
        const double start = bench_now();
        mw_trainer_step(trainer, batch, NULL, err);
        seconds[steps] = bench_now() - start;
        spent += seconds[steps];
    }
    return err->status == MW_OK ? bench_warm_median(seconds, steps) : 0.0;
}

static double step_seconds(const bench_options *o, int batch, int hidden, mw_error *err)
{
    float *images = bench_uniforms((size_t)batch * PIXELS);
    int32_t *labels = bench_alloc((size_t)batch, sizeof *labels);
    mw_graph *graph = mw_graph_create(NULL, err);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(batch, PIXELS)),
              *y = mw_input(graph, "y", MW_I32, MW_SHAPE(batch));
    mw_trainer *trainer = bench_train(o, mw_cross_entropy(model_mlp_of(x, hidden), y), mw_adam(1e-3f), err);
    mw_graph_destroy(graph);
    const mw_feed feeds[] = {bench_feed("x", MW_F32, images, (size_t)batch * PIXELS),
                             bench_feed("y", MW_I32, labels, (size_t)batch)};
    const mw_batch data = {.feeds = feeds, .feed_count = 2, .examples = batch};
    const double seconds = bench_step_seconds(o, trainer, &data, err);
    mw_trainer_destroy(trainer);
    free(labels);
    free(images);
    return seconds;
}

static void measure_step(const bench_options *o, const char *what, int size, int batch, int hidden, double roof,
                         mw_error *err)
{
    const double seconds = step_seconds(o, batch, hidden, err), rate = step_operations(batch, hidden) / seconds;
    if (err->status != MW_OK)
        return;
    emit("step_ms", what, size, 1e3 * seconds);
    emit("gflops", what, size, 1e-9 * rate);
    emit("of_product", what, size, rate / roof);
}

/* ---- compiling ---- */

static int statements(const mw_program *program)
{
    int count = 0;
    for (const char *at = mw_program_get_info(program).mil; *at != '\0'; at++)
        count += *at == ';';
    return count;
}

/* The best of several, from the graph to the trainer. */
static void measure_compile(const bench_options *o, bool transformer, int layers, mw_error *err)
{
    const char *what = transformer ? "transformer" : "mlp";
    double best = 1e9;
    int count = 1;
    for (int i = 0; i < (o->steps > 0 ? 1 : 5) && err->status == MW_OK; i++) {
        const double start = bench_now();
        mw_graph *graph = mw_graph_create(NULL, err);
        const mw_shape rows = transformer ? MW_SHAPE(BLOCK_N, BLOCK_T) : MW_SHAPE(32, 64);
        mw_tensor *x = mw_input(graph, "x", transformer ? MW_I32 : MW_F32, rows);
        mw_tensor *y = mw_input(graph, "y", MW_I32, MW_SHAPE(transformer ? BLOCK_N * BLOCK_T : 32));
        mw_tensor *logits = transformer ? model_transformer(x, layers, o->fp16) : model_deep(x, layers);
        mw_trainer *trainer = bench_train(o, mw_cross_entropy(logits, y), mw_adam(1e-3f), err);
        mw_graph_destroy(graph);
        const double seconds = bench_now() - start;
        best = seconds < best ? seconds : best;
        count = trainer != NULL ? statements(mw_trainer_program(trainer)) : count;
        mw_trainer_destroy(trainer);
    }
    if (err->status != MW_OK)
        return;
    emit("compile_ms", what, layers, 1e3 * best);
    emit("us_per_statement", what, layers, 1e6 * best / count);
}

/* How many of the sizes are measured: the smallest alone if the program is tried out with one step. */
#define MEASURED(o, sizes) ((o)->steps == 1 ? 1 : sizeof(sizes) / sizeof *(sizes))

void bench_scaling(const bench_options *o, mw_error *err)
{
    static const int widths[] = {64, 128, 256, 512, 1024, 2048, 4096}, batches[] = {1, 4, 16, 64, 256, 1024, 4096};
    static const int depths[] = {10, 25, 50, 100, 200, 400, 800, 2000}, blocks[] = {1, 3, 6, 12};
    const double roof = bench_product_rate(o, err);
    if (err->status == MW_OK)
        bench_emit("scaling", "gflops.product", 1e-9 * roof);
    for (size_t i = 0; i < MEASURED(o, widths); i++)
        measure_step(o, "hidden", widths[i], 128, widths[i], roof, err);
    for (size_t i = 0; i < MEASURED(o, batches); i++)
        measure_step(o, "batch", batches[i], batches[i], 256, roof, err);
    for (size_t i = 0; i < MEASURED(o, depths); i++)
        measure_compile(o, false, depths[i], err);
    for (size_t i = 0; i < MEASURED(o, blocks); i++)
        measure_compile(o, true, blocks[i], err);
    bench_growth(o, err);
}

/* The workloads of README.md through Millwright's public interface. It measures and prints, it does not judge. */
#include "bench.h"
#include "models.h"
#include "workloads.h"

#include <millwright/data.h>
#include <millwright/inspect.h>

enum { BATCH = 128 };

/* The step. */
static mw_program *program_of(mw_trainer *trainer)
{
    return trainer != NULL ? (mw_program *)mw_trainer_program(trainer) : NULL;
}

/* ---- W1 and W2: image classifiers on MNIST ---- */

static mw_trainer *image_trainer(const bench_options *o, bool convolutional, mw_error *err)
{
    mw_graph *graph = mw_graph_create(NULL, err);
    const mw_shape shape = convolutional ? MW_SHAPE(BATCH, 1, 28, 28) : MW_SHAPE(BATCH, 784);
    mw_tensor *x = mw_input(graph, "x", MW_F32, shape);
    mw_tensor *y = mw_input(graph, "y", MW_I32, MW_SHAPE(BATCH));
    mw_tensor *logits = convolutional ? model_cnn(x) : model_mlp(x);
    mw_trainer *trainer = bench_train(o, mw_cross_entropy(logits, y), mw_adam(1e-3f), err);
    mw_graph_destroy(graph);
    return trainer;
}

/* A step is the next batch of the loader and the trainer's step. The loss is the mean over the last tenth of them. */
static void image_steps(const bench_options *o, mw_trainer *trainer, mw_loader *loader, int steps, mw_error *err)
{
    double *seconds = bench_alloc((size_t)steps, sizeof *seconds), sum = 0.0, cpu = 0.0;
    bench_watch(o, program_of(trainer), err);
    const int last = steps - (steps + 9) / 10;
    for (int i = 0; i < steps && err->status == MW_OK; i++) {
        float loss = 0.0f;
        cpu = i == bench_cold(steps) ? bench_cpu() : cpu;
        const double start = bench_now();
        const mw_batch *batch = mw_loader_next(loader, err);
        if (batch == NULL && err->status == MW_OK) /* the end of an epoch */
            batch = mw_loader_next(loader, err);
        mw_trainer_step(trainer, batch, &loss, err);
        seconds[i] = bench_now() - start;
        sum += i >= last ? (double)loss : 0.0;
    }
    if (err->status == MW_OK)
        bench_emit_steps(o->workload, seconds, steps, bench_cpu() - cpu, sum / (steps - last));
    bench_show(o, program_of(trainer), err);
    free(seconds);
}

static void run_images(const bench_options *o, bool convolutional, int usual, mw_error *err)
{
    mw_dataset *images = mw_dataset_open_idx(o->data, "train", err);
    const double start = bench_now();
    mw_trainer *trainer = image_trainer(o, convolutional, err);
    if (err->status == MW_OK)
        bench_emit(o->workload, "compile_ms", 1e3 * (bench_now() - start));
    mw_loader_options options = mw_loader_defaults(images, BATCH);
    mw_loader *loader = err->status == MW_OK ? mw_loader_create(&options, err) : NULL;
    image_steps(o, trainer, loader, bench_steps(o, usual), err);
    mw_loader_destroy(loader);
    mw_trainer_destroy(trainer);
    mw_dataset_destroy(images);
}

static void run_w1(const bench_options *o, mw_error *err) { run_images(o, false, 468, err); }
static void run_w2(const bench_options *o, mw_error *err) { run_images(o, true, 60, err); }

/* ---- W3: a transformer block on random tokens ---- */

static void run_w3(const bench_options *o, mw_error *err)
{
    enum { COUNT = BLOCK_N * BLOCK_T };
    static int32_t tokens[COUNT], next[COUNT]; /* [N, T] and [N T] */
    uint64_t state = 1;
    for (int i = 0; i < COUNT; i++)
        tokens[i] = (int32_t)(bench_bits(&state) % BLOCK_WORDS), next[i] = (int32_t)(bench_bits(&state) % BLOCK_WORDS);
    mw_graph *graph = mw_graph_create(NULL, err);
    mw_tensor *x = mw_input(graph, "tokens", MW_I32, MW_SHAPE(BLOCK_N, BLOCK_T));
    mw_tensor *y = mw_input(graph, "next", MW_I32, MW_SHAPE(COUNT));
    mw_trainer *trainer = bench_train(o, mw_cross_entropy(model_transformer(x, 1, o->fp16), y), mw_adam(1e-3f), err);
    mw_graph_destroy(graph);
    const mw_feed feeds[] = {bench_feed("tokens", MW_I32, tokens, COUNT), bench_feed("next", MW_I32, next, COUNT)};
    const mw_batch batch = {.feeds = feeds, .feed_count = 2, .examples = BLOCK_N};
    const int steps = bench_steps(o, 30);
    double *seconds = bench_alloc((size_t)steps, sizeof *seconds);
    float loss = 0.0f;
    double cpu = 0.0;
    bench_watch(o, program_of(trainer), err);
    for (int i = 0; i < steps && err->status == MW_OK; i++) {
        cpu = i == bench_cold(steps) ? bench_cpu() : cpu;
        const double start = bench_now();
        mw_trainer_step(trainer, &batch, &loss, err);
        seconds[i] = bench_now() - start;
    }
    if (err->status == MW_OK)
        bench_emit_steps(o->workload, seconds, steps, bench_cpu() - cpu, (double)loss);
    bench_show(o, program_of(trainer), err);
    free(seconds);
    mw_trainer_destroy(trainer);
}

/* ---- W4: what a step costs beside its arithmetic ---- */

static void run_w4(const bench_options *o, mw_error *err)
{
    float *numbers = bench_uniforms(4 * 16 + 4);
    mw_graph *graph = mw_graph_create(NULL, err);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(4, 16)), *y = mw_input(graph, "y", MW_F32, MW_SHAPE(4, 1));
    mw_trainer *trainer = bench_train(o, mw_mse(model_tiny(x), y), mw_sgd(1e-2f), err);
    mw_graph_destroy(graph);
    const mw_feed feeds[] = {bench_feed("x", MW_F32, numbers, 4 * 16), bench_feed("y", MW_F32, numbers + 4 * 16, 4)};
    const mw_batch batch = {.feeds = feeds, .feed_count = 2, .examples = 4};
    const int steps = bench_steps(o, 100000);
    mw_program *program = program_of(trainer);
    bench_watch(o, program, err);
    double start = bench_now();
    for (int i = 0; i < steps && err->status == MW_OK; i++)
        mw_trainer_step(trainer, &batch, NULL, err);
    const double stepping = bench_now() - start;
    /* The same program without the trainer around it: the ports keep what the last step was fed. */
    start = bench_now();
    for (int i = 0; i < steps && err->status == MW_OK; i++)
        mw_program_run(program, err);
    const double running = bench_now() - start;
    if (err->status == MW_OK) {
        bench_emit(o->workload, "steps_per_s", steps / running);
        bench_emit(o->workload, "trainer_steps_per_s", steps / stepping);
    }
    bench_show(o, program, err);
    mw_trainer_destroy(trainer);
    free(numbers);
}

/* ---- W5: inference; dispatch: a program that does next to nothing ---- */

/* Emits the median time of a run of what `network` makes of x, in units of 1 / `per_second` seconds. */
static void infer(const bench_options *o, mw_tensor *(*network)(mw_tensor *x), mw_shape shape, int usual,
                  double per_second, const char *metric, mw_error *err)
{
    const size_t count = (size_t)mw_shape_count(shape);
    float *numbers = bench_uniforms(count);
    mw_graph *graph = mw_graph_create(NULL, err);
    mw_output(network(mw_input(graph, "x", MW_F32, shape)), "y");
    const mw_compile_options compile = bench_compiling(o);
    mw_program *program = mw_program_create(graph, &compile, err);
    mw_graph_destroy(graph);
    mw_program_write(program, "x", MW_F32, numbers, count, err);
    const int runs = bench_steps(o, usual);
    bench_watch(o, program, err);
    double *seconds = bench_alloc((size_t)runs, sizeof *seconds);
    for (int i = 0; i < runs && err->status == MW_OK; i++) {
        const double start = bench_now();
        mw_program_run(program, err);
        seconds[i] = bench_now() - start;
    }
    if (err->status == MW_OK)
        bench_emit(o->workload, metric, per_second * bench_warm_median(seconds, runs));
    bench_show(o, program, err);
    free(seconds);
    mw_program_destroy(program);
    free(numbers);
}

static void run_w5(const bench_options *o, mw_error *err)
{
    infer(o, model_mlp, MW_SHAPE(1, 784), 4000, 1e6, "mlp_b1_us", err);
    infer(o, model_cnn, MW_SHAPE(64, 1, 28, 28), 50, 1e3, "cnn_b64_ms", err);
}

static mw_tensor *add_one(mw_tensor *x) { return mw_add_scalar(x, 1.0); }

static void run_dispatch(const bench_options *o, mw_error *err)
{
    infer(o, add_one, MW_SHAPE(16), 100000, 1e9, "run_ns", err);
}

/* ---- W6: from the start of the process to the end of the first step of W1 ---- */

static void run_w6(const bench_options *o, mw_error *err)
{
    float *images = bench_uniforms(BATCH * 784);
    int32_t labels[BATCH] = {0};
    mw_trainer *trainer = image_trainer(o, false, err);
    const mw_feed feeds[] = {bench_feed("x", MW_F32, images, BATCH * 784), bench_feed("y", MW_I32, labels, BATCH)};
    const mw_batch batch = {.feeds = feeds, .feed_count = 2, .examples = BATCH};
    mw_trainer_step(trainer, &batch, NULL, err);
    if (err->status == MW_OK) {
        bench_emit(o->workload, "first_step_ms", 1e3 * bench_since_launch());
        bench_emit(o->workload, "peak_mb", bench_peak_mb());
    }
    mw_trainer_destroy(trainer);
    free(images);
}

int main(int argc, char **argv)
{
    static const struct {
        const char *name;
        void (*run)(const bench_options *o, mw_error *err);
    } workloads[] = {{"W1", run_w1},
                     {"W2", run_w2},
                     {"W3", run_w3},
                     {"W4", run_w4},
                     {"W5", run_w5},
                     {"W6", run_w6},
                     {"W7", bench_large},
                     {"W8", bench_large},
                     {"W9", bench_large},
                     {"W10", bench_large},
                     {"W10layer", bench_large},
                     {"W11", bench_large},
                     {"W12", bench_large},
                     {"W13", bench_decode},
                     {"W14", bench_large},
                     {"dispatch", run_dispatch},
                     {"scaling", bench_scaling},
                     {"cache", bench_cache}};
    const bench_options o = bench_parse(argc, argv);
    for (size_t i = 0; i < sizeof workloads / sizeof *workloads; i++) {
        if (strcmp(workloads[i].name, o.workload) != 0)
            continue;
        mw_error err = {0};
        workloads[i].run(&o, &err);
        if (err.status != MW_OK)
            fprintf(stderr, "%s\n", err.message);
        return err.status == MW_OK ? 0 : 1;
    }
    bench_usage(argv[0]);
}

/* Models for inference: what one picture takes through the network of examples/fashion_cnn.c, and what loading a
 * package of WIDTH * WIDTH * LAYERS fp32 weights takes in time and memory.
 *
 *     inference [calls]      of each round; default 2000 */
#include <millwright/millwright.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { BATCH = 128, PIXELS = 784, CLASSES = 10, ROUNDS = 5, WIDTH = 2048, LAYERS = 12 };

static mw_error err;

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec * 1e6 + (double)time.tv_nsec * 1e-3;
}

/* ---- one picture ---- */

static mw_tensor *convolve(mw_tensor *x, int64_t channels, const char *name)
{
    char norm[32];
    snprintf(norm, sizeof norm, "%s.norm", name);
    mw_conv_options same = mw_conv_defaults();
    same.pad_type = MW_PAD_SAME;
    mw_pool_options half = mw_pool_defaults(MW_SHAPE(2, 2));
    half.stride[0] = half.stride[1] = 2;
    x = mw_conv_layer(x, channels, MW_SHAPE(3, 3), name, &same);
    return mw_max_pool(mw_relu(mw_batch_norm_layer(x, 0.1f, 1e-5f, norm)), &half);
}

static mw_model *make_network(int threads)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(BATCH, 1, 28, 28));
    mw_tensor *h = convolve(convolve(x, 16, "conv1"), 32, "conv2");
    h = mw_dense(mw_relu(mw_dense(mw_reshape(h, MW_SHAPE(BATCH, 32 * 49)), 128, "fc1")), CLASSES, "fc2");
    mw_output(h, "scores");
    mw_graph *trained = mw_graph_evaluation(graph, &err);
    mw_compile_options compile = mw_compile_defaults();
    mw_model_options options = mw_model_defaults();
    compile.threads = threads;
    options.compile = &compile;
    mw_model *model = mw_model_create(trained, &options, &err);
    mw_graph_destroy(trained);
    mw_graph_destroy(graph);
    return model;
}

static int by_value(const void *a, const void *b)
{
    return (*(const double *)a > *(const double *)b) - (*(const double *)a < *(const double *)b);
}

/* The median call of each round, and of these the median. */
static void time_one(int threads, int calls)
{
    static float pixels[PIXELS], scores[CLASSES];
    double rounds[ROUNDS], least = 1e9, *times = malloc((size_t)calls * sizeof *times);
    mw_model *model = make_network(threads);
    mw_predictor *predictor = mw_predictor_create(model, &err);
    const mw_feed feed = {.name = "x", .dtype = MW_F32, .data = pixels, .count = PIXELS};
    const mw_batch batch = {.feeds = &feed, .feed_count = 1, .examples = 1};
    const mw_result result = {"scores", MW_F32, scores, CLASSES};
    for (int r = 0; r < ROUNDS && times != NULL; r++) {
        for (int i = 0; i < calls; i++) {
            const double start = now();
            mw_predictor_predict(predictor, &batch, &result, 1, &err);
            times[i] = now() - start;
        }
        qsort(times, (size_t)calls, sizeof *times, by_value);
        rounds[r] = times[calls / 2];
        least = times[0] < least ? times[0] : least;
    }
    qsort(rounds, ROUNDS, sizeof *rounds, by_value);
    printf("inference\tcnn_b1_us\t%d threads\t%.1f\tleast %.1f\n", threads, rounds[ROUNDS / 2], least);
    mw_predictor_destroy(predictor);
    mw_model_destroy(model);
    free(times);
}

/* ---- a large package ---- */

static void write_package(const char *path)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(1, WIDTH));
    float *weight = malloc((size_t)WIDTH * WIDTH * sizeof *weight);
    for (int layer = 0; weight != NULL && layer < LAYERS; layer++) {
        for (size_t i = 0; i < (size_t)WIDTH * WIDTH; i++)
            weight[i] = (float)((i * 2654435761u + (unsigned)layer) % 1000u) * 1e-6f;
        x = mw_tanh(mw_linear(x, mw_constant(graph, MW_F32, MW_SHAPE(WIDTH, WIDTH), weight), NULL));
    }
    free(weight);
    mw_output(x, "y");
    mw_graph_write(graph, path, NULL, &err);
    mw_graph_destroy(graph);
}

/* Kilobytes: of this process now, or the most so far. */
static long resident(const char *what)
{
    char line[256];
    long kb = 0;
    FILE *file = fopen("/proc/self/status", "r");
    while (file != NULL && fgets(line, sizeof line, file) != NULL)
        if (strncmp(line, what, strlen(what)) == 0)
            kb = strtol(line + strlen(what), NULL, 10);
    if (file != NULL)
        fclose(file);
    return kb;
}

static void load_package(const char *path)
{
    static float in[WIDTH], out[WIDTH];
    const double start = now();
    mw_model *model = mw_model_open(path, NULL, &err);
    const double loaded = now();
    mw_predictor *predictor = mw_predictor_create(model, &err);
    const mw_feed feed = {.name = "x", .dtype = MW_F32, .data = in, .count = WIDTH};
    const mw_batch batch = {.feeds = &feed, .feed_count = 1, .examples = 1};
    const mw_result result = {"y", MW_F32, out, WIDTH};
    mw_predictor_predict(predictor, &batch, &result, 1, &err);
    printf("inference\tload_ms\t%.0f\tfirst_predict_ms\t%.0f\tpeak_of_weights\t%.2f\n", (loaded - start) * 1e-3,
           (now() - loaded) * 1e-3, (double)resident("VmHWM:") * 1024 / ((double)WIDTH * WIDTH * LAYERS * 4));
    mw_predictor_destroy(predictor);
    mw_model_destroy(model);
}

/* Each in a process of its own, so that the memory of one is not that of the next. */
static int apart(void (*function)(const char *), const char *path)
{
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        function(path);
        fflush(stdout);
        if (err.status != MW_OK)
            fprintf(stderr, "%s\n", err.message);
        _exit(err.status != MW_OK);
    }
    int status = 1;
    return child > 0 && waitpid(child, &status, 0) == child && status == 0 ? 0 : 1;
}

int main(int argc, char **argv)
{
    const int calls = argc > 1 ? atoi(argv[1]) : 2000;
    char folder[] = "/tmp/millwright-inference-XXXXXX", path[64], command[96];
    if (calls < 1 || mkdtemp(folder) == NULL)
        return 2;
    snprintf(path, sizeof path, "%s/large.mlpackage", folder);
    int status = apart(write_package, path);
    for (int round = 0; round < 3 && status == 0; round++)
        status = apart(load_package, path);
    snprintf(command, sizeof command, "rm -rf %s", folder);
    if (system(command) != 0)
        status = 1;
    time_one(1, calls); /* last, as an engine that was used does not survive a fork */
    time_one(2, calls);
    return err.status != MW_OK ? 1 : status;
}

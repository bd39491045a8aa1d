/* What people wait for: one picture, the first picture of a program that has just started, and the tool itself.
 *
 *     latency [--mw PATH] [--rounds N] [--times F]
 *
 * picture  the CNN of examples/mnist_cnn.c by mw_predictor_predict, and by hand.c, whose scores are the same
 * cold     a process that opens a package of a MB and predicts one picture, from its start to its end
 * tool     `mw --version` and `mw info` of that package, with --mw
 *
 * All of it is processor time of one thread, and the least of the rounds, as other work on a machine only adds. Each
 * line ends with what is promised; with --times F, which a test gives, more than F times that is a failure. */
#include "../bench.h"
#include "hand.h"

#include <millwright/millwright.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PIXELS = HAND_SIDE * HAND_SIDE, CALLS = 200, HIDDEN_OF_PACKAGE = 160 };

extern char **environ;

static mw_error err;

typedef struct latency_options {
    const char *self, *mw;
    int rounds;
    double times;
} latency_options;

/* ---- the network ---- */

static void fill(float *values, int count, float bound, uint64_t *random)
{
    for (int i = 0; i < count; i++)
        values[i] = bound * (2.0f * bench_uniform(random) - 1.0f);
}

static void fill_weights(hand_weights *w)
{
    uint64_t random = 1;
    fill(w->conv1, HAND_C1 * 9, 0.33f, &random);
    fill(w->bias1, HAND_C1, 0.33f, &random);
    fill(w->conv2, HAND_C2 * HAND_C1 * 9, 0.08f, &random);
    fill(w->bias2, HAND_C2, 0.08f, &random);
    fill(w->fc1, HAND_HIDDEN * HAND_FLAT, 0.025f, &random);
    fill(w->fc1_bias, HAND_HIDDEN, 0.025f, &random);
    fill(w->fc2, HAND_CLASSES * HAND_HIDDEN, 0.09f, &random);
    fill(w->fc2_bias, HAND_CLASSES, 0.09f, &random);
}

static mw_tensor *constant(mw_tensor *x, mw_shape shape, const float *values)
{
    return mw_constant(mw_tensor_graph(x), MW_F32, shape, values);
}

static mw_tensor *convolve(mw_tensor *x, int64_t in, int64_t out, const float *weight, const float *bias)
{
    mw_conv_options same = mw_conv_defaults();
    same.pad_type = MW_PAD_SAME;
    mw_pool_options half = mw_pool_defaults(MW_SHAPE(2, 2));
    half.stride[0] = half.stride[1] = 2;
    x = mw_conv(x, constant(x, MW_SHAPE(out, in, 3, 3), weight), constant(x, MW_SHAPE(out), bias), &same);
    return mw_max_pool(mw_relu(x), &half);
}

static mw_tensor *layer(mw_tensor *x, int64_t in, int64_t out, const float *weight, const float *bias)
{
    return mw_linear(x, constant(x, MW_SHAPE(out, in), weight), constant(x, MW_SHAPE(out), bias));
}

static mw_graph *make_graph(const hand_weights *w)
{
    mw_graph *graph = mw_graph_create(NULL, &err);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(1, 1, HAND_SIDE, HAND_SIDE));
    x = convolve(x, 1, HAND_C1, w->conv1, w->bias1);
    x = convolve(x, HAND_C1, HAND_C2, w->conv2, w->bias2);
    x = mw_reshape(x, MW_SHAPE(1, HAND_FLAT));
    x = mw_relu(layer(x, HAND_FLAT, HAND_HIDDEN, w->fc1, w->fc1_bias));
    mw_output(layer(x, HAND_HIDDEN, HAND_CLASSES, w->fc2, w->fc2_bias), "scores");
    return graph;
}

/* The same with a wider layer, so that the file has a MB. */
static bool write_package(const char *path)
{
    mw_graph *graph = mw_graph_create(NULL, &err);
    uint64_t random = 2;
    float *values = bench_alloc((size_t)HIDDEN_OF_PACKAGE * HAND_FLAT, sizeof *values);
    fill(values, HIDDEN_OF_PACKAGE * HAND_FLAT, 0.02f, &random);
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(1, 1, HAND_SIDE, HAND_SIDE));
    x = convolve(convolve(x, 1, HAND_C1, values, values), HAND_C1, HAND_C2, values, values);
    x = mw_reshape(x, MW_SHAPE(1, HAND_FLAT));
    x = mw_relu(layer(x, HAND_FLAT, HIDDEN_OF_PACKAGE, values, values));
    mw_output(layer(x, HIDDEN_OF_PACKAGE, HAND_CLASSES, values, values), "scores");
    mw_graph_write(graph, path, NULL, &err);
    mw_graph_destroy(graph);
    free(values);
    return err.status == MW_OK;
}

/* ---- predicting ---- */

typedef struct predictor {
    mw_model *model;
    mw_predictor *it;
    float pixels[PIXELS], scores[HAND_CLASSES];
    mw_feed feed;
    mw_batch batch;
    mw_result result;
} predictor;

static void fill_predictor(predictor *p, mw_model *model)
{
    uint64_t random = 3;
    fill(p->pixels, PIXELS, 1.0f, &random);
    p->model = model;
    p->it = mw_predictor_create(model, &err);
    p->feed = (mw_feed){.name = "x", .dtype = MW_F32, .data = p->pixels, .count = PIXELS};
    p->batch = (mw_batch){.feeds = &p->feed, .feed_count = 1, .examples = 1};
    p->result = (mw_result){"scores", MW_F32, p->scores, HAND_CLASSES};
}

static void free_predictor(predictor *p)
{
    mw_predictor_destroy(p->it);
    mw_model_destroy(p->model);
}

static mw_model_options one_thread(mw_compile_options *compile)
{
    mw_model_options options = mw_model_defaults();
    *compile = mw_compile_defaults();
    compile->threads = 1;
    options.compile = compile;
    return options;
}

/* ---- figures ---- */

static bool report(const latency_options *o, const char *what, const char *metric, double value, double promise)
{
    printf("latency\t%s\t%s\t%.4g\tpromised %.4g\n", what, metric, value, promise);
    const bool held = o->times == 0.0 || value <= o->times * promise;
    if (!held)
        fprintf(stderr, "%s: %s is %.4g, more than %g times the %.4g promised\n", what, metric, value, o->times,
                promise);
    return held;
}

static double least(double a, double b) { return a < b ? a : b; }

static double differences(const float *a, const float *b)
{
    double most = 0.0;
    for (int i = 0; i < HAND_CLASSES; i++) {
        const double difference = (double)a[i] - (double)b[i];
        most = difference > most ? difference : -difference > most ? -difference : most;
    }
    return most;
}

/* Microseconds of a call. The two take turns, so that what else the machine does falls on both. */
static void time_both(predictor *p, hand_net *net, int rounds, double out[2])
{
    float scores[HAND_CLASSES];
    out[0] = out[1] = 1e9;
    for (int round = 0; round < rounds; round++) {
        const double begin = bench_cpu();
        for (int i = 0; i < CALLS; i++)
            mw_predictor_predict(p->it, &p->batch, &p->result, 1, &err);
        const double middle = bench_cpu();
        for (int i = 0; i < CALLS; i++)
            hand_predict(net, p->pixels, scores);
        out[0] = least(out[0], (middle - begin) * 1e6 / CALLS);
        out[1] = least(out[1], (bench_cpu() - middle) * 1e6 / CALLS);
    }
}

static bool measure_picture(const latency_options *o)
{
    hand_weights *weights = bench_alloc(1, sizeof *weights);
    fill_weights(weights);
    hand_net *net = hand_create(weights);
    mw_graph *graph = make_graph(weights);
    mw_compile_options compile;
    const mw_model_options options = one_thread(&compile);
    predictor p;
    fill_predictor(&p, mw_model_create(graph, &options, &err));
    mw_predictor_predict(p.it, &p.batch, &p.result, 1, &err);
    float scores[HAND_CLASSES];
    hand_predict(net, p.pixels, scores);
    bool good = err.status == MW_OK && differences(p.scores, scores) < 1e-4;
    if (!good)
        fprintf(stderr, "the scores differ by %g. %s\n", differences(p.scores, scores), err.message);
    double times[2];
    time_both(&p, net, o->rounds, times);
    printf("latency\tpicture\tpredictor_us\t%.2f\n", times[0]);
    printf("latency\tpicture\thand_us\t%.2f\n", times[1]);
    good = report(o, "picture", "predictor_by_hand", times[0] / times[1], 1.2) && good;
    free_predictor(&p);
    mw_graph_destroy(graph);
    free(net);
    free(weights);
    return good;
}

/* ---- processes ---- */

/* What a process does that is started for one picture. */
static int predict_cold(const char *path)
{
    predictor p;
    fill_predictor(&p, mw_model_open(path, NULL, &err));
    mw_predictor_predict(p.it, &p.batch, &p.result, 1, &err);
    if (err.status != MW_OK)
        fprintf(stderr, "%s\n", err.message);
    free_predictor(&p);
    return err.status != MW_OK;
}

static double seconds_of(struct timeval t) { return (double)t.tv_sec + 1e-6 * (double)t.tv_usec; }

/* Processor milliseconds of a process from its start to its end; -1 if it fails. */
static double run_once(const char *const *command)
{
    pid_t child;
    int status;
    struct rusage usage;
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", 1 /* O_WRONLY */, 0);
    const int failed = posix_spawn(&child, command[0], &actions, NULL, (char *const *)(uintptr_t)command, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (failed != 0 || wait4(child, &status, 0, &usage) != child || status != 0)
        return -1.0;
    return (seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime)) * 1e3;
}

static bool measure_process(const latency_options *o, const char *what, const char *metric, double promise,
                            const char *const *command)
{
    double best = 1e9;
    for (int round = 0; round < o->rounds; round++)
        best = least(best, run_once(command));
    if (best >= 0.0)
        return report(o, what, metric, best, promise);
    fprintf(stderr, "%s: it fails\n", command[0]);
    return false;
}

static bool measure_processes(const latency_options *o)
{
    char path[] = "/tmp/latency-XXXXXX", package[64];
    if (mkdtemp(path) == NULL)
        return false;
    snprintf(package, sizeof package, "%s/net.mlpackage", path);
    bool good = write_package(package);
    if (!good)
        fprintf(stderr, "%s\n", err.message);
    good = good &&
           measure_process(o, "cold", "first_picture_ms", 10.0, (const char *const[]){o->self, "cold", package, NULL});
    if (good && o->mw != NULL) {
        good = measure_process(o, "tool", "version_ms", 5.0, (const char *const[]){o->mw, "--version", NULL});
        good = measure_process(o, "tool", "info_ms", 5.0, (const char *const[]){o->mw, "info", package, NULL}) && good;
    }
    char remove[96];
    snprintf(remove, sizeof remove, "rm -r %s", path);
    return system(remove) == 0 && good;
}

static bool parse(latency_options *o, int argc, char **argv)
{
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--mw") == 0)
            o->mw = argv[i + 1];
        else if (strcmp(argv[i], "--times") == 0)
            o->times = strtod(argv[i + 1], NULL);
        else if (strcmp(argv[i], "--rounds") != 0 || !bench_count(argv[i + 1], &o->rounds))
            return false;
    }
    return argc % 2 == 1;
}

int main(int argc, char **argv)
{
    latency_options o = {.self = argv[0], .rounds = 21};
    if (argc == 3 && strcmp(argv[1], "cold") == 0)
        return predict_cold(argv[2]);
    if (!parse(&o, argc, argv)) {
        fprintf(stderr, "usage: %s [--mw PATH] [--rounds N] [--times F]\n", argv[0]);
        return 2;
    }
    const bool quick = measure_picture(&o);
    return measure_processes(&o) && quick ? 0 : 1;
}

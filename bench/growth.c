/* How the time of a step and of its compiling grow with batch, length and layers of transformers, LSTMs and
 * convolutional networks, and how a step shrinks with threads. The exponent is that of the time as a power of the work,
 * fitted over all sizes: above 1 something grows faster than the work. Compiling is held against the layers or the
 * length alone. */
#include "nets.h"
#include "workloads.h"

#include <math.h>
#include <unistd.h>

enum { SIZES_MAX = 5, WORDS = 512 };

/* A network of a size, of which one number is varied. */
typedef struct growing {
    const char *name, *what;
    mw_tensor *(*net)(mw_graph *graph, const char *what, int size);
    int sizes[SIZES_MAX]; /* up to a 0 */
    bool longer;          /* the program grows with it */
} growing;

static int either(const char *what, const char *wanted, int size, int usual)
{
    return strcmp(what, wanted) == 0 ? size : usual;
}

static mw_tensor *gpt(mw_graph *graph, const char *what, int size)
{
    const gpt_form form = {.layers = either(what, "layers", size, 2),
                           .heads = 4,
                           .width = 256,
                           .words = WORDS,
                           .positions = 1024,
                           .batch = either(what, "batch", size, 4),
                           .tokens = either(what, "tokens", size, 64)};
    return net_gpt(graph, &form);
}

static mw_tensor *lstm(mw_graph *graph, const char *what, int size)
{
    const lstm_form form = {.layers = either(what, "layers", size, 1),
                            .hidden = 128,
                            .inputs = 64,
                            .steps = either(what, "steps", size, 32),
                            .batch = either(what, "batch", size, 16)};
    return net_lstm(graph, &form, false);
}

static mw_tensor *resnet(mw_graph *graph, const char *what, int size)
{
    const vision_form form = {either(what, "batch", size, 4), either(what, "side", size, 32),
                              either(what, "width", size, 16)};
    return net_resnet(graph, &form);
}

static mw_tensor *mobilenet(mw_graph *graph, const char *what, int size)
{
    const vision_form form = {either(what, "batch", size, 4), either(what, "side", size, 32), 16};
    return net_mobilenet(graph, &form);
}

static const growing networks[] = {{"gpt", "batch", gpt, {1, 4, 16, 64}, false},
                                   {"gpt", "tokens", gpt, {16, 64, 256, 1024}, false},
                                   {"gpt", "layers", gpt, {1, 2, 4, 8, 16}, true},
                                   {"lstm", "batch", lstm, {1, 4, 16, 64, 256}, false},
                                   {"lstm", "steps", lstm, {8, 16, 32, 64, 128}, true},
                                   {"lstm", "layers", lstm, {1, 2, 4, 8}, true},
                                   {"resnet", "batch", resnet, {1, 4, 16, 64}, false},
                                   {"resnet", "side", resnet, {16, 32, 64, 128}, false},
                                   {"resnet", "width", resnet, {4, 8, 16, 32, 64}, false},
                                   {"mobilenet", "batch", mobilenet, {1, 4, 16, 64}, false},
                                   {"mobilenet", "side", mobilenet, {16, 32, 64, 128}, false}};

typedef struct measured {
    double step, compile, work; /* seconds, seconds, multiplications */
} measured;

static measured measure(const bench_options *o, const growing *g, int size, mw_error *err)
{
    measured m = {0};
    mw_graph *graph = mw_graph_create(NULL, err);
    mw_tensor *loss = g->net(graph, g->what, size);
    m.work = net_products;
    bench_feeds drawn = bench_draw(graph, 10); /* classes, of which words have more */
    const double start = bench_now();
    mw_trainer *trainer = bench_train(o, loss, mw_adam(1e-4f), err);
    m.compile = bench_now() - start;
    const mw_batch batch = {.feeds = drawn.feed, .feed_count = drawn.count, .examples = 1};
    m.step = bench_step_seconds(o, trainer, &batch, err);
    mw_trainer_destroy(trainer);
    bench_free(&drawn);
    mw_graph_destroy(graph);
    return m;
}

static void emit(const char *metric, const growing *g, const char *what, int size, double value)
{
    char name[64], number[16] = "";
    if (size > 0)
        snprintf(number, sizeof number, "%d", size);
    snprintf(name, sizeof name, "%s.%s.%s%s", metric, g->name, what, number);
    bench_emit("scaling", name, value);
}

/* The slope of log y over log x by least squares. */
static double exponent(const double *x, const double *y, int count)
{
    double mx = 0.0, my = 0.0, xy = 0.0, xx = 0.0;
    for (int i = 0; i < count; i++)
        mx += log(x[i]) / count, my += log(y[i]) / count;
    for (int i = 0; i < count; i++) {
        xy += (log(x[i]) - mx) * (log(y[i]) - my);
        xx += (log(x[i]) - mx) * (log(x[i]) - mx);
    }
    return xy / xx;
}

static void grow(const bench_options *o, const growing *g, mw_error *err)
{
    double sizes[SIZES_MAX], work[SIZES_MAX], step[SIZES_MAX], compile[SIZES_MAX];
    int count = 0;
    const int most = o->steps == 1 ? 2 : SIZES_MAX;
    for (; count < most && g->sizes[count] > 0 && err->status == MW_OK; count++) {
        const measured m = measure(o, g, g->sizes[count], err);
        sizes[count] = g->sizes[count], work[count] = m.work, step[count] = m.step, compile[count] = m.compile;
        emit("step_ms", g, g->what, g->sizes[count], 1e3 * m.step);
        if (g->longer)
            emit("compile_ms", g, g->what, g->sizes[count], 1e3 * m.compile);
    }
    if (err->status != MW_OK)
        return;
    emit("exponent", g, g->what, 0, exponent(work, step, count));
    emit("exponent_last", g, g->what, 0, exponent(work + count - 2, step + count - 2, 2));
    if (g->longer)
        emit("compile_exponent", g, g->what, 0, exponent(sizes, compile, count));
}

/* At the usual sizes, with one thread and then twice as many each time. */
static void spread(const bench_options *o, const growing *g, mw_error *err)
{
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    double one = 0.0;
    for (int threads = 1; threads <= processors && err->status == MW_OK; threads *= 2) {
        bench_options with = *o;
        with.threads = threads;
        const double seconds = measure(&with, g, 16, err).step;
        one = threads == 1 ? seconds : one;
        emit("speedup", g, "threads", threads, one / seconds);
    }
}

void bench_growth(const bench_options *o, mw_error *err)
{
    for (size_t i = 0; i < sizeof networks / sizeof *networks && err->status == MW_OK; i++) {
        grow(o, &networks[i], err);
        if (strcmp(networks[i].what, "batch") == 0)
            spread(o, &networks[i], err);
    }
}

/* Values that a reverse pass reads are made again there rather than kept (compile/plan/redo.c): trainings of networks
 * of many kinds give the same bits with and without it, and need less memory where a cheap value is kept. */
#include "support/check.h"
#include "support/on_engine.h"

#include <millwright/millwright.h>
#include <millwright/plan.h>
#include <stdio.h>
#include <string.h>

enum { N = 4, C = 16, SIDE = 16, LAYERS = 8, STEPS = 3, TEXT = 24 };

typedef mw_tensor *layer_maker(mw_tensor *x, const char *name);

static mw_tensor *conv(mw_tensor *x, const char *name)
{
    mw_conv_options options = mw_conv_defaults();
    options.pad_type = MW_PAD_SAME;
    return mw_conv_layer(x, C, MW_SHAPE(3, 3), name, &options);
}

static mw_tensor *norm(mw_tensor *x, const char *name)
{
    char text[TEXT + 8];
    snprintf(text, sizeof text, "%.24s_norm", name);
    return mw_batch_norm_layer(conv(x, name), 0.1f, 1e-5f, text);
}

static mw_tensor *norm_relu(mw_tensor *x, const char *name) { return mw_relu(norm(x, name)); }
static mw_tensor *norm_silu(mw_tensor *x, const char *name) { return mw_silu(norm(x, name)); }
static mw_tensor *gelu(mw_tensor *x, const char *name) { return mw_gelu(conv(x, name), MW_GELU_TANH); }
static mw_tensor *residual(mw_tensor *x, const char *name) { return mw_relu(mw_add(norm(x, name), x)); }

/* A product whose factor is read far behind, too. */
static mw_tensor *gate(mw_tensor *x, const char *name) { return mw_mul(mw_sigmoid(conv(x, name)), x); }

/* Random: its numbers are those of the forward pass. */
static mw_tensor *drop(mw_tensor *x, const char *name)
{
    char text[TEXT + 8];
    snprintf(text, sizeof text, "%s_drop", name);
    return mw_relu(mw_dropout(norm(x, name), 0.3f, text));
}

/* Chains of growing tensors, and one that stands in one twice. */
static mw_tensor *grow(mw_tensor *x, const char *name)
{
    mw_tensor *h = norm_relu(x, name);
    return mw_concat((mw_tensor *[]){x, h}, 2, 1);
}

static mw_tensor *twice(mw_tensor *x, const char *name)
{
    char text[TEXT + 8];
    mw_tensor *h = norm_relu(x, name);
    snprintf(text, sizeof text, "%s_again", name);
    return norm_relu(mw_concat((mw_tensor *[]){h, x, h}, 3, 1), text);
}

/* Of each row; what it is made of is a row's number. */
static mw_tensor *rows(mw_tensor *x, const char *name)
{
    char text[TEXT + 8];
    snprintf(text, sizeof text, "%.24s_norm", name);
    return mw_relu(mw_layer_norm_layer(conv(x, name), 1, 1e-5f, text));
}

/* What is kept is only the result: there is nothing to make it of. */
static mw_tensor *relu(mw_tensor *x, const char *name) { return mw_relu(conv(x, name)); }

typedef struct network {
    const char *what;
    layer_maker *layer;
    bool segments; /* of two layers each, that are computed anew */
    bool less;     /* memory on one thread of the CPU */
} network;

static const network networks[] = {
    {.what = "batch norm and relu", .layer = norm_relu, .less = true},
    {.what = "batch norm and silu", .layer = norm_silu, .less = true},
    {.what = "batch norm and sum", .layer = residual, .less = true},
    {.what = "gelu", .layer = gelu},
    {.what = "gate", .layer = gate},
    {.what = "dropout", .layer = drop},
    {.what = "growing concatenations", .layer = grow, .less = true},
    {.what = "one tensor twice", .layer = twice, .less = true},
    {.what = "layer norm", .layer = rows},
    {.what = "relu", .layer = relu},
    {.what = "segments", .layer = norm_relu, .segments = true},
};

static mw_tensor *loss_of(mw_graph *graph, const network *c)
{
    mw_tensor *h = mw_input(graph, "x", MW_F32, MW_SHAPE(N, C, SIDE, SIDE)), *start = h;
    for (int i = 0; i < LAYERS; i++) {
        char name[TEXT];
        snprintf(name, sizeof name, "l%d", i);
        h = c->layer(h, name);
        if (c->segments && i % 2 == 1)
            h = start = mw_recompute(h, &start, 1);
    }
    return mw_reduce_mean(mw_square(mw_add_scalar(h, -0.5)), MW_ALL_AXES, false);
}

static mw_trainer *make(const network *c, mw_device device, int threads, const char *off, mw_error *err)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_trainer_options options = mw_trainer_defaults(loss_of(graph, c), mw_sgd(0.05f));
    options.compile = engine_options(device, threads);
    options.compile.passes.off = off;
    mw_trainer *trainer = mw_trainer_create(&options, err);
    mw_graph_destroy(graph);
    return trainer;
}

static void train(mw_trainer *trainer, float losses[STEPS], mw_error *err)
{
    static float x[N * C * SIDE * SIDE];
    for (size_t i = 0; i < sizeof x / sizeof *x; i++)
        x[i] = (float)((i * 7919 + i / 31) % 251) / 125.0f - 1.0f;
    const mw_feed feed = {.name = "x", .dtype = MW_F32, .data = x, .count = sizeof x / sizeof *x, .scale = 1.0f};
    const mw_batch batch = {.feeds = &feed, .feed_count = 1, .examples = N};
    for (int i = 0; i < STEPS && err->status == MW_OK; i++)
        mw_trainer_step(trainer, &batch, &losses[i], err);
}

static uint64_t memory_of(mw_trainer *trainer, mw_error *err)
{
    mw_plan *plan = mw_plan_create_trainer(trainer, MW_TRAINER_STEP, err);
    const uint64_t bytes = mw_plan_get_totals(plan).intermediate_bytes;
    mw_plan_destroy(plan);
    return bytes;
}

static void check_network(const network *c, mw_device device, int threads)
{
    mw_error err = {0};
    float with[STEPS] = {0}, without[STEPS] = {1};
    mw_trainer *redo = make(c, device, threads, NULL, &err), *kept = make(c, device, threads, "redo", &err);
    check_note(err.status == MW_OK, __FILE__, __LINE__, "%s: %s", c->what, err.message);
    REQUIRE(redo != NULL && kept != NULL);
    train(redo, with, &err);
    train(kept, without, &err);
    const uint64_t less = memory_of(redo, &err), more = memory_of(kept, &err);
    check_note(err.status == MW_OK, __FILE__, __LINE__, "%s: %s", c->what, err.message);
    check_note(memcmp(with, without, sizeof with) == 0, __FILE__, __LINE__, "%s, %d threads: %.9g is not %.9g", c->what,
               threads, (double)with[STEPS - 1], (double)without[STEPS - 1]);
    /* a row's number may be kept for longer */
    check_note(less <= more + more / 64, __FILE__, __LINE__, "%s, %d threads: %llu bytes, %llu before", c->what,
               threads, (unsigned long long)less, (unsigned long long)more);
    if (c->less && threads == 1 && device == MW_DEVICE_CPU)
        check_note(less < more - more / 16, __FILE__, __LINE__, "%s: %llu bytes, %llu before", c->what,
                   (unsigned long long)less, (unsigned long long)more);
    mw_trainer_destroy(redo);
    mw_trainer_destroy(kept);
}

static void test_values_made_again_have_their_bits(void)
{
    for (size_t i = 0; i < sizeof networks / sizeof *networks; i++)
        for (int threads = 1; threads <= 3; threads++)
            check_network(&networks[i], MW_DEVICE_CPU, threads);
}

static void test_on_the_ane_too(void)
{
    for (size_t i = 0; i < sizeof networks / sizeof *networks; i++)
        check_network(&networks[i], MW_DEVICE_ANE, 1);
}

int main(void)
{
    RUN(test_values_made_again_have_their_bits);
    RUN(test_on_the_ane_too);
    return check_finish();
}

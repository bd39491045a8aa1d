/* options.flush_subnormals: arithmetic on the CPU takes subnormals for 0 and gives 0 for them, in runs, on every
 * thread, and in what is computed when the program is compiled; nothing else changes, and without it they are kept. */
#include "support/check.h"
#include "support/on_engine.h"
#include "support/setting.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#if defined(__x86_64__) || defined(__aarch64__)
enum { CAN_FLUSH = true };
#else
enum { CAN_FLUSH = false };
#endif

enum { SMALL = 5, LARGE = 200000 };

typedef struct how {
    mw_device device;
    int threads;
    bool flush;
} how;

static mw_program *compile(const mw_graph *graph, how h, mw_error *err)
{
    mw_compile_options options = engine_options(h.device, h.threads);
    options.flush_subnormals = h.flush;
    return mw_program_create(graph, &options, err);
}

/* Every element of what (x a) b gives in two operations. */
static bool gives(int64_t count, how h, float x, float a, float b, float expected)
{
    mw_error err = {0};
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *in = mw_input(graph, "x", MW_F32, MW_SHAPE(count));
    mw_tensor *y = mw_mul(mw_mul(in, mw_scalar(graph, MW_F32, (double)a)), mw_scalar(graph, MW_F32, (double)b));
    mw_output(y, "y");
    mw_program *program = compile(graph, h, &err);
    float *values = calloc((size_t)count, sizeof *values);
    for (int64_t i = 0; i < count; i++)
        values[i] = x;
    mw_program_write(program, "x", MW_F32, values, (size_t)count, &err);
    mw_program_run(program, &err);
    mw_program_read(program, "y", MW_F32, values, (size_t)count, &err);
    int64_t same = 0;
    while (same < count && values[same] == expected)
        same++;
    free(values);
    mw_program_destroy(program);
    mw_graph_destroy(graph);
    return CHECK_OK(err) && same == count;
}

static void test_results_and_operands_count_as_zero(void)
{
    if (!CAN_FLUSH)
        return;
    for (int fuse = 0; fuse < 2; fuse++) {
        setting_begin("MW_ENGINE_FUSE", fuse == 0 ? "0" : "1");
        for (int threads = 1; threads <= 4; threads++) {
            const int64_t count = threads == 1 ? SMALL : LARGE;
            const how kept = {MW_DEVICE_CPU, threads, false}, flushed = {MW_DEVICE_CPU, threads, true};
            CHECK(gives(count, kept, 0x1p-100f, 0x1p-40f, 0x1p40f, 0x1p-100f)); /* a result */
            CHECK(gives(count, flushed, 0x1p-100f, 0x1p-40f, 0x1p40f, 0.0f));
            CHECK(gives(count, kept, 0x1p-130f, 0x1p60f, 1.0f, 0x1p-70f)); /* an operand */
            CHECK(gives(count, flushed, 0x1p-130f, 0x1p60f, 1.0f, 0.0f));
            CHECK(gives(count, flushed, 0x1p-126f, 1.0f, 1.0f, 0x1p-126f)); /* the smallest that is kept */
        }
        setting_end("MW_ENGINE_FUSE");
    }
}

/* What depends on constants alone is computed once, under the same rule. */
static void test_constants_are_folded_by_the_same_rule(void)
{
    for (int flush = 0; flush < 2; flush++) {
        mw_error err = {0};
        float y = -1.0f;
        mw_graph *graph = mw_graph_create(NULL, NULL);
        mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(1));
        const float tiny = 0x1p-100f;
        mw_tensor *c = mw_constant(graph, MW_F32, MW_SHAPE(1), &tiny);
        mw_output(mw_mul(mw_mul(mw_mul(c, mw_scalar(graph, MW_F32, 0x1p-40)), mw_scalar(graph, MW_F32, 0x1p40)), x),
                  "z");
        mw_program *program = compile(graph, (how){MW_DEVICE_CPU, 1, flush == 1}, &err);
        const float one = 1.0f;
        mw_program_write(program, "x", MW_F32, &one, 1, &err);
        mw_program_run(program, &err);
        mw_program_read(program, "z", MW_F32, &y, 1, &err);
        CHECK_OK(err);
        CHECK(y == (flush == 1 && CAN_FLUSH ? 0.0f : 0x1p-100f));
        mw_program_destroy(program);
        mw_graph_destroy(graph);
    }
}

/* There a subnormal fp16 is as good as any other, or flushed by the profile. */
static void test_the_model_of_the_ane_keeps_to_its_profile(void)
{
    const how flushed = {MW_DEVICE_ANE, 1, true};
    CHECK(gives(SMALL, flushed, 0x1p-14f, 0x1p-4f, 1.0f, 0x1p-18f));
    CHECK(gives(SMALL, flushed, 0x1p-24f, 1.0f, 0x1p4f, 0x1p-20f));
}

/* A deep linear chain: the gradient of its first layers vanishes. */
static mw_trainer *make_trainer(bool flush, float scale, mw_error *err)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *h = mw_input(graph, "x", MW_F32, MW_SHAPE(4, 8));
    char name[16];
    for (int i = 0; i < 12; i++) {
        snprintf(name, sizeof name, "w%d", i);
        h = mw_tanh(mw_linear(h, mw_parameter(graph, name, MW_F32, MW_SHAPE(8, 8), mw_init_normal(0.0f, scale)), NULL));
    }
    mw_trainer_options options = mw_trainer_defaults(mw_reduce_mean(mw_square(h), MW_ALL_AXES, false), mw_sgd(0.5f));
    options.compile = engine_options(MW_DEVICE_CPU, 1);
    options.compile.flush_subnormals = flush;
    mw_trainer *trainer = mw_trainer_create(&options, err);
    mw_graph_destroy(graph);
    return trainer;
}

static void train(bool flush, float scale, float out[64])
{
    mw_error err = {0};
    float x[32];
    for (int i = 0; i < 32; i++)
        x[i] = (float)sin(0.7 * i);
    const mw_feed feed = {.name = "x", .dtype = MW_F32, .data = x, .count = 32, .scale = 1.0f};
    const mw_batch batch = {.feeds = &feed, .feed_count = 1, .examples = 4};
    mw_trainer *trainer = make_trainer(flush, scale, &err);
    for (int i = 0; i < 5; i++)
        mw_trainer_step(trainer, &batch, NULL, &err);
    mw_trainer_read(trainer, "w0", MW_F32, out, 64, &err);
    mw_trainer_destroy(trainer);
    CHECK_OK(err);
}

static void test_training_without_subnormals_has_the_same_bits(void)
{
    float kept[64], flushed[64];
    train(false, 0.35f, kept);
    train(true, 0.35f, flushed);
    CHECK(memcmp(kept, flushed, sizeof kept) == 0);
    train(false, 1e-4f, kept); /* vanishes: too little to move a weight, either way */
    train(true, 1e-4f, flushed);
    CHECK(memcmp(kept, flushed, sizeof kept) == 0);
}

int main(void)
{
    RUN(test_results_and_operands_count_as_zero);
    RUN(test_constants_are_folded_by_the_same_rule);
    RUN(test_the_model_of_the_ane_keeps_to_its_profile);
    RUN(test_training_without_subnormals_has_the_same_bits);
    return check_finish();
}

/* A thousand parts, as of a long sequence: cut, turned around and joined, and the gradient of that. */
#include "support/check.h"
#include "support/on_engine.h"

enum { PARTS = 1000, WIDTH = 2 };

/* The parts of x, the last first. */
static mw_tensor *turned(mw_tensor *x, const int64_t *sizes)
{
    mw_tensor *parts[PARTS], *back[PARTS];
    const mw_status status = sizes != NULL ? mw_split_sizes(x, sizes, PARTS, 0, parts) : mw_split(x, PARTS, 0, parts);
    for (int i = 0; status == MW_OK && i < PARTS; i++)
        back[i] = parts[PARTS - 1 - i];
    return status == MW_OK ? mw_concat(back, PARTS, 0) : NULL;
}

/* Small integers, which fp16 has. */
static float number(int i) { return (float)(i % 7 - 3); }

/* The loss is sum(w * turned(p)) / 1024, so that one step of plain descent with rate 1024 takes w, turned, off p. */
static void check_step(mw_device device, const int64_t *sizes)
{
    mw_error err = {0};
    float weights[PARTS * WIDTH], p[PARTS * WIDTH] = {0}, loss = 1.0F;
    for (int i = 0; i < PARTS * WIDTH; i++)
        weights[i] = number(i);
    mw_graph *g = mw_graph_create(NULL, NULL);
    mw_tensor *parameter = mw_parameter(g, "p", MW_F32, MW_SHAPE(PARTS, WIDTH), mw_init_zeros());
    mw_tensor *w = mw_input(g, "w", MW_F32, MW_SHAPE(PARTS, WIDTH));
    mw_tensor *sum = mw_reduce_sum(mw_mul(turned(parameter, sizes), w), MW_AXES(0, 1), false);
    mw_trainer *trainer = engine_trainer(mw_mul_scalar(sum, 1.0 / 1024.0), mw_sgd(1024.0F), device, 1, &err);
    const mw_feed feed = {.name = "w", .dtype = MW_F32, .data = weights, .count = PARTS * WIDTH, .scale = 1.0F};
    mw_trainer_step(trainer, &(mw_batch){.feeds = &feed, .feed_count = 1, .examples = 1}, &loss, &err);
    mw_trainer_read(trainer, "p", MW_F32, p, PARTS * WIDTH, &err);
    CHECK_OK(err);
    CHECK_NEAR(loss, 0.0, 0.0);
    for (int i = 0; i < PARTS; i++)
        for (int k = 0; k < WIDTH; k++)
            CHECK_NEAR(p[i * WIDTH + k], -number((PARTS - 1 - i) * WIDTH + k), 0.0);
    mw_trainer_destroy(trainer);
    mw_graph_destroy(g);
}

static void test_a_thousand_parts_have_a_gradient(void)
{
    int64_t sizes[PARTS];
    for (int i = 0; i < PARTS; i++)
        sizes[i] = 1;
    check_step(MW_DEVICE_CPU, NULL);
    check_step(MW_DEVICE_ANE, NULL);
    check_step(MW_DEVICE_CPU, sizes);
    check_step(MW_DEVICE_ANE, sizes);
}

int main(void)
{
    RUN(test_a_thousand_parts_have_a_gradient);
    return check_finish();
}

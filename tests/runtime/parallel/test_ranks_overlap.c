/* Gradients travel while the backward pass goes on: the same bits and bytes. */
#include "support/check.h"
#include "support/ranks.h"

#include <millwright/millwright.h>
#include <stdlib.h>

enum { BATCH = 64, WIDTH = 384, LAYERS = 8, STEPS = 9 };

typedef struct seen {
    int segments;
    mw_error err[RANKS_MAX];
    float last[RANKS_MAX][WIDTH];
    mw_trainer_counters counters[RANKS_MAX];
    size_t calls[RANKS_MAX];
    uint64_t sent; /* bytes of rank 0 in a step */
} seen;

static mw_trainer *make(mw_communicator *c, int segments, mw_error *err)
{
    mw_graph *g = mw_graph_create(NULL, NULL);
    mw_tensor *x = mw_input(g, "x", MW_F32, MW_SHAPE(BATCH, WIDTH)), *h = x;
    for (int i = 0; i < LAYERS; i++) {
        char name[16];
        snprintf(name, sizeof name, "fc%d", i);
        h = mw_tanh(mw_dense(h, WIDTH, name));
    }
    mw_trainer_options o = mw_trainer_defaults(mw_mse(h, mw_mul_scalar(x, 0.5)), mw_sgd(0.01f));
    o.ranks.communicator = c;
    o.ranks.bucket_bytes = WIDTH * WIDTH * 4;
    o.memory.segments = segments;
    o.compile.threads = 1;
    mw_trainer *t = mw_trainer_create(&o, err);
    mw_graph_destroy(g);
    return t;
}

static void job(mw_communicator *c, int rank, void *user)
{
    seen *s = user;
    mw_trainer *t = make(c, s->segments, &s->err[rank]);
    float *x = calloc(BATCH * WIDTH, sizeof *x);
    const mw_feed feed = {.name = "x", .dtype = MW_F32, .data = x, .count = BATCH * WIDTH};
    const mw_batch batch = {.feeds = &feed, .feed_count = 1, .examples = BATCH};
    for (int step = 0; step < STEPS; step++) {
        for (int i = 0; i < BATCH * WIDTH; i++)
            x[i] = (float)((i * 7 + step * 13 + rank * 5) % 29) / 29.0f - 0.5f;
        const uint64_t before = mw_communicator_get_info(c).bytes_sent;
        mw_trainer_step(t, &batch, NULL, &s->err[rank]);
        if (rank == 0)
            s->sent = mw_communicator_get_info(c).bytes_sent - before;
    }
    s->counters[rank] = mw_trainer_get_info(t).counters;
    mw_trainer_read(t, "fc0.bias", MW_F32, s->last[rank], WIDTH, &s->err[rank]);
    s->calls[rank] = mw_trainer_get_info(t).parts.calls;
    free(x);
    mw_trainer_destroy(t);
}

static seen *run(int segments, double bytes_per_second)
{
    seen *s = calloc(1, sizeof *s);
    s->segments = segments;
    ranks_run(&(ranks_network){.size = 2, .bytes_per_second = bytes_per_second, .latency = 50e-6}, job, s);
    for (int rank = 0; rank < 2; rank++)
        CHECK_OK(s->err[rank]);
    return s;
}

static void test_a_step_that_is_cut_sends_the_same(void)
{
    seen *whole = run(1, 0.0), *cut = run(0, 0.0);
    CHECK_INT(whole->calls[0], 1);
    CHECK(cut->calls[0] > 2);
    CHECK(memcmp(whole->last[0], cut->last[0], sizeof cut->last[0]) == 0);
    CHECK(memcmp(whole->last[0], cut->last[1], sizeof cut->last[0]) == 0);
    CHECK_INT(cut->sent, whole->sent);
    const double parameters = (double)LAYERS * (WIDTH + 1) * WIDTH * 4; /* 2 (n - 1) / n of them, and the record */
    CHECK((double)cut->sent >= parameters && (double)cut->sent < parameters + 1024.0);
    free(whole);
    free(cut);
}

/* How much of it depends on what else the machine does; bench/ranks has times beside a model. */
static void test_what_is_computed_first_is_sent_meanwhile(void)
{
    seen *whole = run(1, 2e8), *cut = run(0, 2e8);
    CHECK_INT(whole->counters[0].early_bytes, 0);
    CHECK_INT(whole->counters[0].exchanged_bytes, cut->counters[0].exchanged_bytes);
    CHECK(cut->counters[0].early_bytes > 0 && cut->counters[0].early_bytes < cut->counters[0].exchanged_bytes);
    free(whole);
    free(cut);
}

int main(void)
{
    RUN(test_a_step_that_is_cut_sends_the_same);
    RUN(test_what_is_computed_first_is_sent_meanwhile);
    return check_finish();
}

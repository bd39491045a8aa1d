/* Trainers of several ranks beside one that accumulates the same batches: the same bits, whatever the network does. */
#include "ranks_net.h"
#include "support/check.h"

#include <stdlib.h>
#include <string.h>

enum { STEPS = 20 };

typedef struct outcome {
    float losses[STEPS];
    float weights[NET_WEIGHTS];
    mw_error err;
    mw_trainer_counters counters;
} outcome;

/* One rank that accumulates what `ranks` ranks have: losses are the means of as many. */
static void train_alone(const net_setting *s, int ranks, outcome *out)
{
    mw_trainer *t = net_make(s, ranks * s->accumulate, NULL, 1, &out->err);
    net_examples e;
    for (int step = 0; step < STEPS; step++) {
        double sum = 0.0;
        for (int k = 0; k < ranks; k++) {
            float loss;
            mw_trainer_step(t, net_batch(&e, step * ranks + k), &loss, &out->err);
            sum += (double)loss;
        }
        out->losses[step] = (float)(sum / ranks);
    }
    net_read(t, out->weights, &out->err);
    out->counters = mw_trainer_get_info(t).counters;
    mw_trainer_destroy(t);
}

typedef struct together {
    const net_setting *setting;
    outcome of[RANKS_MAX];
} together;

static void train_job(mw_communicator *c, int rank, void *user)
{
    together *all = user;
    outcome *out = &all->of[rank];
    const int ranks = mw_communicator_get_info(c).size;
    mw_trainer *t = net_make(all->setting, all->setting->accumulate, c, (uint64_t)rank + 1, &out->err);
    net_examples e;
    for (int step = 0; step < STEPS; step++)
        mw_trainer_step(t, net_batch(&e, step * ranks + rank), &out->losses[step], &out->err);
    net_read(t, out->weights, &out->err);
    out->counters = mw_trainer_get_info(t).counters;
    mw_trainer_destroy(t);
}

static void check_same(const together *all, const outcome *alone, int ranks)
{
    CHECK_STR(alone->err.message, "");
    for (int rank = 0; rank < ranks; rank++) {
        const outcome *out = &all->of[rank];
        CHECK_STR(out->err.message, "");
        CHECK(memcmp(out->losses, alone->losses, sizeof out->losses) == 0);
        CHECK(memcmp(out->weights, alone->weights, sizeof out->weights) == 0);
    }
}

/* Each rank adds up two batches for an update. */
static void accumulate_job(mw_communicator *c, int rank, void *user)
{
    together *all = user;
    outcome *out = &all->of[rank];
    const int ranks = mw_communicator_get_info(c).size;
    mw_trainer *t = net_make(all->setting, 2, c, 1, &out->err);
    net_examples e;
    for (int step = 0; step < STEPS; step++)
        mw_trainer_step(t, net_batch(&e, step * ranks + rank), &out->losses[step], &out->err);
    net_read(t, out->weights, &out->err);
    mw_trainer_destroy(t);
}

static void accumulate_alone(const net_setting *s, int ranks, outcome *out)
{
    mw_trainer *t = net_make(s, 2 * ranks, NULL, 1, &out->err);
    net_examples e;
    for (int step = 0; step < STEPS; step++) {
        double sum = 0.0;
        for (int k = 0; k < ranks; k++) {
            float loss;
            mw_trainer_step(t, net_batch(&e, step * ranks + k), &loss, &out->err);
            sum += (double)loss;
        }
        out->losses[step] = (float)(sum / ranks);
    }
    mw_trainer_destroy(t);
}

static void test_ranks_have_the_bits_of_one_that_accumulates(void)
{
    static const net_setting settings[] = {
        {.accumulate = 1},
        {.accumulate = 1, .half = true},
        {.accumulate = 1, .dropout = true},
        {.accumulate = 1, .dropout = true, .half = true, .dynamic = true},
        {.accumulate = 1, .clip = true, .average = true},
        {.accumulate = 1, .clip = true, .average = true, .half = true},
        {.accumulate = 1, .bucket_bytes = 1024},
        {.accumulate = 1, .bucket_bytes = 1024, .half = true, .dynamic = true},
        {.accumulate = 1, .bucket_bytes = 1024, .segments = 3, .dropout = true},
    };
    together *all = calloc(1, sizeof *all);
    outcome *alone = calloc(1, sizeof *alone);
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        for (int ranks = 1; ranks <= 5; ranks++) {
            memset(all, 0, sizeof *all);
            memset(alone, 0, sizeof *alone);
            all->setting = &settings[i];
            ranks_run(&(ranks_network){.size = ranks, .shuffle = (unsigned)(i + 1), .latency = 1e-5}, train_job, all);
            train_alone(&settings[i], ranks, alone);
            check_same(all, alone, ranks);
        }
    free(all);
    free(alone);
}

/* ---- against one rank with the whole batch ---- */

/* Accumulating ranks add in another order than one does, and so does one large batch. */
static void check_close(const together *all, const outcome *alone, int ranks, double tolerance)
{
    for (int rank = 0; rank < ranks; rank++) {
        CHECK_STR(all->of[rank].err.message, "");
        for (int step = 0; step < STEPS; step++)
            CHECK_NEAR(all->of[rank].losses[step], alone->losses[step], tolerance);
        CHECK(memcmp(all->of[rank].weights, all->of[0].weights, sizeof alone->weights) == 0);
    }
}

/* fp32 keeps 1e-6 of losses around 1.6 over these steps; fp16 rounds gradients and weights to 11 bits in each. */
static void test_accumulating_ranks_agree_with_one_within_rounding(void)
{
    together *all = calloc(1, sizeof *all);
    outcome *alone = calloc(1, sizeof *alone);
    for (int half = 0; half < 2; half++)
        for (int ranks = 2; ranks <= 4; ranks++) {
            const net_setting s = {.accumulate = 2, .half = half != 0};
            memset(all, 0, sizeof *all);
            memset(alone, 0, sizeof *alone);
            all->setting = &s;
            ranks_run(&(ranks_network){.size = ranks}, accumulate_job, all);
            accumulate_alone(&s, ranks, alone);
            check_close(all, alone, ranks, half ? 4e-3 : 1e-6);
        }
    free(all);
    free(alone);
}

/* ---- batch norm ---- */

static void read_running(mw_trainer *t, float *out, mw_error *err)
{
    mw_trainer_read(t, "bn.running_mean", MW_F32, out, NET_HIDDEN, err);
    mw_trainer_read(t, "bn.running_var", MW_F32, out + NET_HIDDEN, NET_HIDDEN, err);
}

typedef struct statistics {
    float values[RANKS_MAX][2 * NET_HIDDEN];
    mw_error err[RANKS_MAX];
} statistics;

static void statistics_job(mw_communicator *c, int rank, void *user)
{
    statistics *s = user;
    const net_setting setting = {.batch_norm = true};
    mw_trainer *t = net_make(&setting, 1, c, 1, &s->err[rank]);
    net_examples e;
    mw_trainer_step(t, net_batch(&e, rank), NULL, &s->err[rank]);
    read_running(t, s->values[rank], &s->err[rank]);
    mw_trainer_destroy(t);
}

/* One step from the same start: each rank alone has these statistics. */
static void test_running_statistics_are_the_mean_over_ranks(void)
{
    enum { RANKS = 3 };
    const net_setting setting = {.batch_norm = true};
    statistics *s = calloc(1, sizeof *s);
    float alone[RANKS][2 * NET_HIDDEN];
    ranks_run(&(ranks_network){.size = RANKS}, statistics_job, s);
    for (int rank = 0; rank < RANKS; rank++) {
        mw_error err = {0};
        mw_trainer *t = net_make(&setting, 1, NULL, 1, &err);
        net_examples e;
        mw_trainer_step(t, net_batch(&e, rank), NULL, &err);
        read_running(t, alone[rank], &err);
        CHECK_OK(err);
        CHECK_OK(s->err[rank]);
        mw_trainer_destroy(t);
    }
    for (int i = 0; i < 2 * NET_HIDDEN; i++) {
        const double mean = ((double)alone[0][i] + (double)alone[1][i] + (double)alone[2][i]) / 3.0;
        CHECK_NEAR(s->values[0][i], mean, 1e-6);
        CHECK(s->values[1][i] == s->values[0][i] && s->values[2][i] == s->values[0][i]);
    }
    free(s);
}

int main(void)
{
    RUN(test_ranks_have_the_bits_of_one_that_accumulates);
    RUN(test_accumulating_ranks_agree_with_one_within_rounding);
    RUN(test_running_statistics_are_the_mean_over_ranks);
    return check_finish();
}

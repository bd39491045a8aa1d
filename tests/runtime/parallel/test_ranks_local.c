/* Ranks that train apart for some steps: their parameters become the mean, or what the outer optimizer's formula says
 * of it, and they are equal whenever somebody looks. */
#include "ranks_net.h"
#include "support/check.h"
#include "support/folder.h"

#include <math.h>
#include <stdlib.h>

enum { RANKS = 3, MEETINGS = 4, LOCAL = 5 };

typedef struct seen {
    net_setting setting;
    int what;
    mw_error err[RANKS_MAX];
    float weights[RANKS_MAX][MEETINGS][NET_WEIGHTS];
    uint64_t sent[RANKS_MAX][MEETINGS * LOCAL];
    double loss[RANKS_MAX];
    int64_t examples[RANKS_MAX];
    float running[RANKS_MAX];
} seen;

static void job(mw_communicator *c, int rank, void *user)
{
    seen *s = user;
    mw_trainer *t = net_make(&s->setting, 1, c, (uint64_t)rank + 1, &s->err[rank]);
    net_examples e;
    for (int step = 0; step < MEETINGS * LOCAL; step++) {
        const uint64_t before = mw_communicator_get_info(c).bytes_sent;
        mw_trainer_step(t, net_batch(&e, step * RANKS + rank), NULL, &s->err[rank]);
        s->sent[rank][step] = mw_communicator_get_info(c).bytes_sent - before;
        if (step % LOCAL == LOCAL - 1)
            net_read(t, s->weights[rank][step / LOCAL], &s->err[rank]);
    }
    mw_trainer_destroy(t);
}

static void set_weights(mw_trainer *t, const float *from, mw_error *err)
{
    static const char *const names[] = {"fc1.weight", "fc1.bias", "fc2.weight", "fc2.bias"};
    static const size_t counts[] = {NET_IN * NET_HIDDEN, NET_HIDDEN, NET_HIDDEN * NET_OUT, NET_OUT};
    for (size_t i = 0; i < 4; from += counts[i++])
        mw_trainer_write(t, names[i], MW_F32, from, counts[i], err);
}

/* By trainers of one rank each, and the formula in double precision. */
static void check_formula(const seen *s, double rate, double momentum)
{
    mw_error err = {0};
    net_setting alone = s->setting;
    alone.local_steps = 0, alone.outer_rate = alone.outer_momentum = 0.0f;
    mw_trainer *t[RANKS];
    double anchor[NET_WEIGHTS], speed[NET_WEIGHTS] = {0};
    float now[NET_WEIGHTS];
    for (int rank = 0; rank < RANKS; rank++)
        t[rank] = net_make(&alone, 1, NULL, 1, &err);
    net_read(t[0], now, &err);
    for (int i = 0; i < NET_WEIGHTS; i++)
        anchor[i] = (double)now[i];
    for (int meeting = 0; meeting < MEETINGS; meeting++) {
        double mean[NET_WEIGHTS] = {0};
        for (int rank = 0; rank < RANKS; rank++) {
            net_examples e;
            for (int k = 0; k < LOCAL; k++)
                mw_trainer_step(t[rank], net_batch(&e, (meeting * LOCAL + k) * RANKS + rank), NULL, &err);
            net_read(t[rank], now, &err);
            for (int i = 0; i < NET_WEIGHTS; i++)
                mean[i] += (double)now[i] / RANKS;
        }
        double most = 0.0;
        for (int i = 0; i < NET_WEIGHTS; i++) {
            const double d = anchor[i] - mean[i];
            speed[i] = momentum * speed[i] + d;
            anchor[i] -= rate * (d + momentum * speed[i]);
            now[i] = s->weights[0][meeting][i];
            most = fmax(most, fabs((double)now[i] - anchor[i]));
            anchor[i] = (double)now[i]; /* rounding does not add up */
        }
        CHECK(most < 2e-6);
        for (int rank = 0; rank < RANKS; rank++) {
            CHECK(memcmp(s->weights[rank][meeting], s->weights[0][meeting], sizeof now) == 0);
            set_weights(t[rank], now, &err);
        }
    }
    CHECK_OK(err);
    for (int rank = 0; rank < RANKS; rank++)
        mw_trainer_destroy(t[rank]);
}

/* SGD has no state that would keep the ranks apart. */
static void test_meetings_follow_the_formula(void)
{
    static const float outer[][2] = {{0.0f, 0.0f}, {0.7f, 0.9f}, {1.0f, 0.5f}};
    seen *s = calloc(1, sizeof *s);
    for (int k = 0; k < 3; k++) {
        *s = (seen){
            .setting = {.sgd = true, .local_steps = LOCAL, .outer_rate = outer[k][0], .outer_momentum = outer[k][1]}};
        ranks_run(&(ranks_network){.size = RANKS, .shuffle = 2, .latency = 1e-5}, job, s);
        for (int rank = 0; rank < RANKS; rank++)
            CHECK_OK(s->err[rank]);
        check_formula(s, k == 0 ? 1.0 : (double)outer[k][0], (double)outer[k][1]);
    }
    free(s);
}

static void test_nothing_is_sent_between_meetings(void)
{
    seen *s = calloc(1, sizeof *s);
    *s = (seen){.setting = {.local_steps = LOCAL}};
    ranks_run(&(ranks_network){.size = RANKS}, job, s);
    for (int step = 0; step < MEETINGS * LOCAL; step++)
        CHECK(step % LOCAL == LOCAL - 1 ? s->sent[1][step] > 4 * NET_WEIGHTS : s->sent[1][step] == 0);
    free(s);
}

/* ---- whoever looks sees equal ranks ---- */

static void look_job(mw_communicator *c, int rank, void *user)
{
    seen *s = user;
    mw_trainer *t = net_make(&s->setting, 1, c, 1, &s->err[rank]);
    mw_dataset *data = net_data(4 * NET_BATCH + 1, 3);
    net_examples e;
    mw_evaluation found;
    for (int step = 0; step < 3; step++)
        mw_trainer_step(t, net_batch(&e, step * RANKS + rank), NULL, &s->err[rank]);
    if (s->what == 0)
        mw_trainer_evaluate(t, data, NULL, &found, &s->err[rank]);
    else
        mw_trainer_save(t, "x.safetensors", NULL, &s->err[rank]);
    net_read(t, s->weights[rank][0], &s->err[rank]);
    mw_trainer_read(t, "bn.running_mean", MW_F32, s->weights[rank][1], NET_HIDDEN, &s->err[rank]);
    mw_dataset_destroy(data);
    mw_trainer_destroy(t);
}

static void test_ranks_meet_before_they_are_measured_or_saved(void)
{
    char folder[512];
    seen *s = calloc(1, sizeof *s);
    REQUIRE(folder_enter(folder));
    for (int what = 0; what < 2; what++) {
        *s = (seen){.setting = {.local_steps = 100, .batch_norm = true, .average = true, .half = what == 1},
                    .what = what};
        ranks_run(&(ranks_network){.size = RANKS}, look_job, s);
        for (int rank = 0; rank < RANKS; rank++) {
            CHECK_OK(s->err[rank]);
            CHECK(memcmp(s->weights[rank], s->weights[0], sizeof s->weights[0]) == 0);
        }
    }
    folder_leave(folder);
    free(s);
}

/* ---- a bad batch ---- */

static void bad_job(mw_communicator *c, int rank, void *user)
{
    seen *s = user;
    mw_trainer *t = net_make(&s->setting, 1, c, 1, &s->err[rank]);
    net_examples e;
    for (int step = 0; step < 2 * LOCAL && s->err[rank].status == MW_OK; step++) {
        net_batch(&e, step * RANKS + rank);
        if (rank == 1 && step == 2)
            e.x[3] = NAN;
        mw_trainer_step(t, &e.batch, NULL, &s->err[rank]);
    }
    mw_trainer_destroy(t);
}

static void test_a_refused_step_ends_all_at_the_next_meeting(void)
{
    seen *s = calloc(1, sizeof *s);
    *s = (seen){.setting = {.local_steps = LOCAL}};
    ranks_run(&(ranks_network){.size = RANKS}, bad_job, s);
    CHECK_INT(s->err[1].status, MW_ERROR_NUMERIC);
    CHECK_ERROR(s->err[0], MW_ERROR_COMMUNICATION, "rank 1: ");
    CHECK_ERROR(s->err[2], MW_ERROR_COMMUNICATION, "rank 1: ");
    free(s);
}

int main(void)
{
    RUN(test_meetings_follow_the_formula);
    RUN(test_nothing_is_sent_between_meetings);
    RUN(test_ranks_meet_before_they_are_measured_or_saved);
    RUN(test_a_refused_step_ends_all_at_the_next_meeting);
    return check_finish();
}

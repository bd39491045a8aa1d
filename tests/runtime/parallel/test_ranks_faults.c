/* What one rank of several does wrong or meets: all end alike, say which rank it was, and lose nothing. */
#include "ranks_net.h"
#include "runtime/trainer/object/trainer_object.h"
#include "support/check.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

typedef struct seen {
    mw_error err[RANKS_MAX], later[RANKS_MAX];
    float before[RANKS_MAX][NET_WEIGHTS], after[RANKS_MAX][NET_WEIGHTS];
    mw_trainer_counters counters[RANKS_MAX];
    float loss[RANKS_MAX];
    int bad; /* the rank that is to blame */
    int what;
} seen;

enum { RANKS = 4 };

/* ---- a bad batch on one rank ---- */

enum { NOT_FINITE, BEYOND, MISSING, LABEL, KINDS };

static void spoil(net_examples *e, int what)
{
    if (what == NOT_FINITE)
        e->x[7] = NAN;
    else if (what == BEYOND) /* finite, but its loss is not */
        for (int i = 0; i < NET_BATCH * NET_IN; i++)
            e->x[i] = 3e38f;
    else if (what == MISSING)
        e->batch.feed_count = 1;
    else
        e->y[2] = NET_OUT + 3;
}

static void bad_batch_job(mw_communicator *c, int rank, void *user)
{
    seen *s = user;
    const net_setting setting = {0};
    mw_trainer *t = net_make(&setting, 1, c, 1, &s->err[rank]);
    net_examples e;
    mw_trainer_step(t, net_batch(&e, rank), NULL, &s->err[rank]);
    net_read(t, s->before[rank], &s->err[rank]);
    net_batch(&e, RANKS + rank);
    if (rank == s->bad)
        spoil(&e, s->what);
    if (s->err[rank].status == MW_OK)
        mw_trainer_step(t, &e.batch, NULL, &s->err[rank]);
    net_read(t, s->after[rank], &s->later[rank]);
    mw_trainer_step(t, net_batch(&e, 2 * RANKS + rank), &s->loss[rank], &s->later[rank]); /* it goes on */
    s->counters[rank] = mw_trainer_get_info(t).counters;
    mw_trainer_destroy(t);
}

static void test_a_batch_that_one_rank_refuses_is_refused_by_all(void)
{
    static const mw_status expected[KINDS] = {MW_ERROR_NUMERIC, MW_ERROR_NUMERIC, MW_ERROR_ARGUMENT, MW_ERROR_ARGUMENT};
    seen *s = calloc(1, sizeof *s);
    for (int what = 0; what < KINDS; what++)
        for (int bad = 0; bad < RANKS; bad += 3) {
            memset(s, 0, sizeof *s);
            s->bad = bad, s->what = what;
            ranks_run(&(ranks_network){.size = RANKS, .shuffle = 3, .latency = 1e-5}, bad_batch_job, s);
            char name[40];
            snprintf(name, sizeof name, "rank %d", bad);
            for (int rank = 0; rank < RANKS; rank++) {
                CHECK_ERROR(s->err[rank], expected[what], rank == bad ? "" : name);
                CHECK(memcmp(s->before[rank], s->after[rank], sizeof s->after[rank]) == 0);
                CHECK_STR(s->later[rank].message, "");
                CHECK(s->loss[rank] == s->loss[0] && s->loss[rank] > 0.0f);
                CHECK_INT(s->counters[rank].steps, 2);
                CHECK_INT(s->counters[rank].refused_steps, expected[what] == MW_ERROR_NUMERIC);
            }
        }
    free(s);
}

/* ---- a loss scale that is decided together ---- */

static void scale_job(mw_communicator *c, int rank, void *user)
{
    seen *s = user;
    const net_setting setting = {.dynamic = true, .half = true};
    mw_trainer *t = net_make(&setting, 1, c, 1, &s->err[rank]);
    net_examples e;
    for (int step = 0; step < 6; step++) {
        net_batch(&e, step * RANKS + rank);
        for (int i = 0; rank == s->bad && step == 2 && i < NET_BATCH * NET_IN; i++)
            e.x[i] *= 3e4f; /* its gradients overflow fp16 */
        mw_trainer_step(t, &e.batch, &s->loss[rank], &s->err[rank]);
        s->before[rank][step] = mw_trainer_get_info(t).loss_scale;
    }
    net_read(t, s->after[rank], &s->err[rank]);
    s->counters[rank] = mw_trainer_get_info(t).counters;
    mw_trainer_destroy(t);
}

static void test_a_skipped_step_halves_the_scale_of_all(void)
{
    seen *s = calloc(1, sizeof *s);
    s->bad = 2;
    ranks_run(&(ranks_network){.size = RANKS}, scale_job, s);
    CHECK(s->before[0][2] < s->before[0][1]);
    for (int rank = 0; rank < RANKS; rank++) {
        CHECK_OK(s->err[rank]);
        CHECK(memcmp(s->before[rank], s->before[0], 6 * sizeof(float)) == 0);
        CHECK(memcmp(s->after[rank], s->after[0], sizeof s->after[0]) == 0);
        CHECK(s->counters[rank].refused_steps >= 1);
        CHECK_INT(s->counters[rank].refused_steps, s->counters[0].refused_steps);
    }
    free(s);
}

/* ---- unequal ranks ---- */

static const struct {
    net_setting setting;
    int accumulate;
    const char *what;
} unequal[] = {
    {{.hidden = 12}, 1, "another model"},
    {{.rate = 0.02f}, 1, "another learning rate"},
    {{.clip = true}, 1, "another optimizer"},
    {{.average = true}, 1, "another optimizer"},
    {{.dropout = true}, 1, "another model"},
    {{.batch = 4}, 1, "another batch size"},
    {{0}, 2, "another number of batches to accumulate"},
};

static void unequal_job(mw_communicator *c, int rank, void *user)
{
    seen *s = user;
    const net_setting plain = {0};
    const bool odd = rank == s->bad;
    mw_trainer *t =
        net_make(odd ? &unequal[s->what].setting : &plain, odd ? unequal[s->what].accumulate : 1, c, 1, &s->err[rank]);
    mw_trainer_destroy(t);
}

static void test_what_differs_is_found_before_the_first_step(void)
{
    seen *s = calloc(1, sizeof *s);
    for (s->what = 0; s->what < (int)(sizeof unequal / sizeof *unequal); s->what++) {
        s->bad = s->what % 2 == 0 ? 2 : 1;
        memset(s->err, 0, sizeof s->err);
        ranks_run(&(ranks_network){.size = 3}, unequal_job, s);
        for (int rank = 0; rank < 3; rank++) {
            CHECK_ERROR(s->err[rank], MW_ERROR_ARGUMENT, unequal[s->what].what);
            CHECK_CONTAINS(s->err[rank].message, s->bad == 2 ? "rank 2" : "rank 1");
        }
    }
    free(s);
}

/* A trainer that one rank cannot make, and a call that one rank gets wrong: the others do not wait for the timeout. */
static void failing_job(mw_communicator *c, int rank, void *user)
{
    seen *s = user;
    const net_setting good = {0}, bad = {.segments = -7};
    mw_trainer *t = net_make(s->what == 0 && rank == 1 ? &bad : &good, 1, c, 1, &s->err[rank]);
    net_examples e;
    if (t != NULL)
        mw_trainer_step(t, s->what == 1 && rank == 1 ? NULL : net_batch(&e, rank), NULL, &s->err[rank]);
    mw_trainer_destroy(t);
}

static void test_what_one_rank_cannot_do_ends_the_others_at_once(void)
{
    seen *s = calloc(1, sizeof *s);
    const time_t begin = time(NULL);
    for (s->what = 0; s->what < 2; s->what++) {
        memset(s->err, 0, sizeof s->err);
        ranks_run(&(ranks_network){.size = 3}, failing_job, s);
        CHECK_ERROR(s->err[1], MW_ERROR_ARGUMENT, s->what == 0 ? "segments" : "batch is NULL");
        CHECK_CONTAINS(s->err[0].message, "rank 1");
        CHECK_CONTAINS(s->err[2].message, "rank 1");
    }
    CHECK(difftime(time(NULL), begin) < 25.0);
    free(s);
}

/* ---- parameters that one rank alone changes ---- */

static void write_job(mw_communicator *c, int rank, void *user)
{
    seen *s = user;
    const net_setting setting = {0};
    mw_trainer *t = net_make(&setting, 1, c, 1, &s->err[rank]);
    net_examples e;
    mw_trainer_step(t, net_batch(&e, rank), NULL, &s->err[rank]);
    const float bias[NET_OUT] = {1.0f, 2.0f, 3.0f, 4.0f, 5.0f};
    if (rank == s->bad)
        mw_trainer_write(t, "fc2.bias", MW_F32, bias, NET_OUT, &s->err[rank]);
    mw_trainer_step(t, net_batch(&e, RANKS + rank), &s->loss[rank], &s->err[rank]);
    net_read(t, s->after[rank], &s->err[rank]);
    mw_trainer_destroy(t);
}

static void test_ranks_go_on_with_what_rank_0_has(void)
{
    seen *s = calloc(1, sizeof *s);
    float bias[2];
    for (s->bad = 0; s->bad < 2; s->bad++) {
        ranks_run(&(ranks_network){.size = RANKS}, write_job, s);
        for (int rank = 0; rank < RANKS; rank++) {
            CHECK_OK(s->err[rank]);
            CHECK(s->loss[rank] == s->loss[0]);
            CHECK(memcmp(s->after[rank], s->after[0], sizeof s->after[0]) == 0);
        }
        bias[s->bad] = s->after[0][NET_WEIGHTS - 1];
    }
    CHECK_NEAR(bias[0], 5.0, 0.1); /* rank 0 wrote it */
    CHECK_NEAR(bias[1], 0.0, 0.2); /* rank 1 did, which does not count */
    free(s);
}

/* ---- a rank that computes something else ---- */

static void apart_job(mw_communicator *c, int rank, void *user)
{
    seen *s = user;
    const net_setting setting = {.verify_steps = 4};
    mw_trainer *t = net_make(&setting, 1, c, 1, &s->err[rank]);
    net_examples e;
    for (int step = 0; step < 12 && s->err[rank].status == MW_OK; step++) {
        if (rank == s->bad && step == 5) /* one bit of its memory */
            *(unsigned char *)mw__state_find(&t->owner.state, "fc1.weight")->data ^= 1;
        mw_trainer_step(t, net_batch(&e, step * RANKS + rank), NULL, &s->err[rank]);
    }
    s->counters[rank] = mw_trainer_get_info(t).counters;
    mw_trainer_destroy(t);
}

static void test_a_rank_that_goes_apart_is_found(void)
{
    seen *s = calloc(1, sizeof *s);
    for (s->bad = 1; s->bad < RANKS; s->bad += 2) {
        memset(s->err, 0, sizeof s->err);
        ranks_run(&(ranks_network){.size = RANKS}, apart_job, s);
        for (int rank = 0; rank < RANKS; rank++) {
            CHECK_ERROR(s->err[rank], MW_ERROR_COMMUNICATION,
                        s->bad == 1 ? "rank 1 has gone apart" : "rank 3 has gone");
            CHECK_INT(s->counters[rank].steps, 8);
        }
    }
    free(s);
}

/* ---- options ---- */

static void option_job(mw_communicator *c, int rank, void *user)
{
    static const net_setting bad[] = {{.wire = (mw_wire)3},
                                      {.bucket_bytes = 1023},
                                      {.bucket_bytes = MW_MESSAGE_MAX + 1},
                                      {.verify_steps = -2},
                                      {.local_steps = -1},
                                      {.local_steps = 10001},
                                      {.outer_momentum = 0.5f},
                                      {.outer_rate = 0.5f},
                                      {.local_steps = 2, .outer_momentum = 1.0f},
                                      {.local_steps = 2, .outer_rate = -1.0f},
                                      {.local_steps = 2, .outer_rate = NAN}};
    seen *s = user;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        mw_error err = {0};
        mw_trainer *t = net_make(&bad[i], 1, c, 1, &err);
        s->what += t == NULL && err.status == MW_ERROR_ARGUMENT && err.message[0] != '\0';
        mw_trainer_destroy(t);
    }
    s->bad = rank + (int)(sizeof bad / sizeof *bad);
}

static void test_options_of_ranks_out_of_range_are_refused(void)
{
    seen *s = calloc(1, sizeof *s);
    ranks_run(&(ranks_network){.size = 1}, option_job, s);
    CHECK_INT(s->what, s->bad);
    free(s);
}

/* ---- a rank that is gone ---- */

static void silent_job(mw_communicator *c, int rank, void *user)
{
    seen *s = user;
    const net_setting setting = {0};
    mw_communicator_set_timeout(c, 0.4, &s->err[rank]);
    mw_trainer *t = net_make(&setting, 1, c, 1, &s->err[rank]);
    net_examples e;
    for (int step = 0; step < 30 && s->err[rank].status == MW_OK; step++) {
        net_read(t, s->before[rank], &s->err[rank]);
        mw_trainer_step(t, net_batch(&e, step * RANKS + rank), NULL, &s->err[rank]);
    }
    mw_trainer_step(t, net_batch(&e, 0), NULL, &s->later[rank]);
    mw_trainer_destroy(t);
}

static void test_a_rank_that_falls_silent_is_named(void)
{
    seen *s = calloc(1, sizeof *s);
    for (int repetition = 0; repetition < 6; repetition++) {
        const int bad = repetition % RANKS;
        memset(s, 0, sizeof *s);
        ranks_run(&(ranks_network){.size = RANKS, .silent = bad, .silent_after = 40 + 7 * repetition}, silent_job, s);
        char name[40];
        snprintf(name, sizeof name, "rank %d", bad);
        for (int rank = 0; rank < RANKS; rank++) {
            CHECK_INT(s->err[rank].status, MW_ERROR_COMMUNICATION);
            if (rank != bad)
                CHECK_CONTAINS(s->err[rank].message, name);
            CHECK_ERROR(s->later[rank], MW_ERROR_STATE, "dead since");
        }
    }
    free(s);
}

int main(void)
{
    RUN(test_a_batch_that_one_rank_refuses_is_refused_by_all);
    RUN(test_a_skipped_step_halves_the_scale_of_all);
    RUN(test_what_differs_is_found_before_the_first_step);
    RUN(test_what_one_rank_cannot_do_ends_the_others_at_once);
    RUN(test_ranks_go_on_with_what_rank_0_has);
    RUN(test_a_rank_that_goes_apart_is_found);
    RUN(test_options_of_ranks_out_of_range_are_refused);
    RUN(test_a_rank_that_falls_silent_is_named);
    return check_finish();
}

/* What ranks do together, over threads: values, bits, what goes over the wire, and how it ends when one of them fails.
 */
#include "base/number/fp16.h"
#include "support/check.h"
#include "support/ranks.h"

#include <math.h>
#include <millwright/millwright.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { COUNT = 1003 };

/* Sizes differ by many powers of two, so that another order of additions gives other bits. */
static float value_of(int rank, size_t i)
{
    return (float)sin((double)(i * 31 + (size_t)rank * 7 + 1)) *
           ldexpf(1.0f, (int)(i * 5 + (size_t)rank * 11) % 24 - 12);
}

typedef struct seen {
    mw_status status[RANKS_MAX];
    mw_error err[RANKS_MAX];
    float sums[RANKS_MAX][COUNT];
    uint16_t halves[RANKS_MAX][COUNT];
    double doubles[RANKS_MAX][COUNT];
    mw_communicator_info counters[RANKS_MAX];
    size_t count;
    size_t wrong[RANKS_MAX]; /* of what a rank got */
} seen;

/* ---- sums ---- */

static void sum_job(mw_communicator *c, int rank, void *user)
{
    seen *s = user;
    for (size_t i = 0; i < s->count; i++) {
        s->sums[rank][i] = value_of(rank, i);
        s->halves[rank][i] = mw__fp16_from_float(value_of(rank, i));
        s->doubles[rank][i] = (double)value_of(rank, i) / 3.0;
    }
    mw_error *err = &s->err[rank];
    mw_communicator_allreduce(c, s->sums[rank], s->count, MW_F32, err);
    s->counters[rank] = mw_communicator_get_info(c);
    mw_communicator_allreduce(c, s->halves[rank], s->count, MW_F16, err);
    mw_communicator_allreduce(c, s->doubles[rank], s->count, MW_F64, err);
    mw_communicator_barrier(c, err);
}

static void check_sums(const seen *s, int size)
{
    size_t wrong = 0;
    for (size_t i = 0; i < s->count; i++) {
        float sum = value_of(0, i);
        uint16_t half = mw__fp16_from_float(value_of(0, i));
        double wide = (double)value_of(0, i) / 3.0;
        for (int rank = 1; rank < size; rank++) {
            sum = sum + value_of(rank, i);
            const double exact =
                (double)mw__fp16_to_float(half) + (double)mw__fp16_to_float(mw__fp16_from_float(value_of(rank, i)));
            half = mw__fp16_from_double(exact);
            wide += (double)value_of(rank, i) / 3.0;
        }
        for (int rank = 0; rank < size; rank++)
            wrong += memcmp(&s->sums[rank][i], &sum, sizeof sum) != 0 || s->halves[rank][i] != half ||
                     memcmp(&s->doubles[rank][i], &wide, sizeof wide) != 0;
    }
    CHECK_INT(wrong, 0);
}

static void test_sums_have_the_bits_of_the_order_of_ranks(void)
{
    static const size_t counts[] = {COUNT, 1, 2, 5, 64};
    seen *s = calloc(1, sizeof *s);
    for (int size = 1; size <= 9; size++)
        for (size_t k = 0; k < sizeof counts / sizeof *counts; k++)
            for (unsigned shuffle = 0; shuffle < 3; shuffle++) {
                memset(s, 0, sizeof *s);
                s->count = counts[k];
                ranks_run(&(ranks_network){.size = size, .shuffle = shuffle, .latency = 1e-5}, sum_job, s);
                for (int rank = 0; rank < size; rank++)
                    CHECK_STR(s->err[rank].message, "");
                check_sums(s, size);
            }
    free(s);
}

static void test_no_more_than_the_bound_goes_over_the_wire(void)
{
    seen *s = calloc(1, sizeof *s);
    for (int size = 2; size <= 8; size++) {
        s->count = 840; /* a multiple of each */
        ranks_run(&(ranks_network){.size = size}, sum_job, s);
        for (int rank = 0; rank < size; rank++) {
            CHECK_INT(s->counters[rank].bytes_sent, 2 * (size - 1) * 840 / size * 4);
            CHECK_INT(s->counters[rank].bytes_received, 2 * (size - 1) * 840 / size * 4);
            CHECK_INT(s->counters[rank].messages_sent, 2 * (size - 1));
        }
    }
    free(s);
}

/* ---- broadcasts and records ---- */

static void spread_job(mw_communicator *c, int rank, void *user)
{
    seen *s = user;
    const int size = mw_communicator_get_info(c).size;
    mw_error *err = &s->err[rank];
    for (int root = 0; root < size; root++) {
        for (size_t i = 0; i < COUNT; i++)
            s->sums[rank][i] = rank == root ? value_of(root, i) : -1.0f;
        mw_communicator_broadcast(c, root, s->sums[rank], sizeof s->sums[rank], err);
        for (size_t i = 0; i < COUNT; i++)
            s->wrong[rank] += s->sums[rank][i] != value_of(root, i);
    }
    int records[RANKS_MAX][3] = {{0}};
    const int own[3] = {rank, rank * rank, -rank};
    mw_communicator_gather(c, own, sizeof own, records, err);
    for (int from = 0; from < size; from++)
        s->wrong[rank] += records[from][0] != from || records[from][1] != from * from || records[from][2] != -from;
    s->status[rank] = mw_communicator_get_info(c).rank == rank ? MW_OK : MW_ERROR_STATE;
}

static void test_broadcasts_and_records_reach_all(void)
{
    seen *s = calloc(1, sizeof *s);
    for (int size = 1; size <= 9; size++) {
        ranks_run(&(ranks_network){.size = size, .shuffle = 5, .latency = 1e-5}, spread_job, s);
        for (int rank = 0; rank < size; rank++) {
            CHECK_STR(s->err[rank].message, "");
            CHECK_INT(s->status[rank], MW_OK);
            CHECK_INT(s->wrong[rank], 0);
        }
    }
    free(s);
}

/* ---- failures ---- */

static void barrier_job(mw_communicator *c, int rank, void *user)
{
    seen *s = user;
    mw_communicator_set_timeout(c, 0.3, &s->err[rank]);
    for (int i = 0; i < 3 && s->err[rank].status == MW_OK; i++)
        mw_communicator_barrier(c, &s->err[rank]);
    mw_error later = {0};
    s->status[rank] = mw_communicator_barrier(c, &later);
    CHECK(s->status[rank] == MW_OK || strstr(later.message, "dead since") != NULL);
}

static void test_a_silent_rank_is_named_by_all(void)
{
    seen *s = calloc(1, sizeof *s);
    for (int silent = 0; silent < 4; silent++) {
        memset(s, 0, sizeof *s);
        ranks_run(&(ranks_network){.size = 4, .silent = silent, .silent_after = 5}, barrier_job, s);
        char name[40];
        snprintf(name, sizeof name, "rank %d", silent);
        for (int rank = 0; rank < 4; rank++) {
            if (rank == silent)
                continue;
            CHECK_INT(s->err[rank].status, MW_ERROR_COMMUNICATION);
            CHECK(strstr(s->err[rank].message, name) != NULL);
            CHECK_INT(s->status[rank], MW_ERROR_STATE);
        }
    }
    free(s);
}

static void test_a_transport_that_fails_ends_all_with_its_reason(void)
{
    seen *s = calloc(1, sizeof *s);
    ranks_run(&(ranks_network){.size = 3, .failing = 1, .failing_after = 4}, barrier_job, s);
    CHECK_STR(s->err[1].message, "the cable was pulled");
    for (int rank = 0; rank < 3; rank++)
        CHECK_INT(s->err[rank].status, MW_ERROR_COMMUNICATION);
    free(s);
}

static void leaving_job(mw_communicator *c, int rank, void *user)
{
    seen *s = user;
    mw_communicator_barrier(c, &s->err[rank]);
    if (rank == 2)
        mw_communicator_fail(c, "the disk of rank 2 is full");
    mw_communicator_barrier(c, &s->err[rank]);
}

static void test_a_rank_that_fails_tells_the_others_at_once(void)
{
    seen *s = calloc(1, sizeof *s);
    const clock_t before = clock();
    ranks_run(&(ranks_network){.size = 4}, leaving_job, s);
    for (int rank = 0; rank < 4; rank++)
        if (rank != 2) {
            CHECK_INT(s->err[rank].status, MW_ERROR_COMMUNICATION);
            CHECK_STR(s->err[rank].message, "rank 2: the disk of rank 2 is full");
        }
    CHECK_INT(s->err[2].status, MW_ERROR_STATE);
    CHECK((double)(clock() - before) / CLOCKS_PER_SEC < 20.0); /* not by the time limit of 30 s */
    free(s);
}

static void unequal_job(mw_communicator *c, int rank, void *user)
{
    seen *s = user;
    memset(s->sums[rank], 0, sizeof s->sums[rank]);
    mw_communicator_allreduce(c, s->sums[rank], rank == 1 ? 900 : 300, MW_F32, &s->err[rank]);
}

static void test_unequal_calls_are_found(void)
{
    seen *s = calloc(1, sizeof *s);
    ranks_run(&(ranks_network){.size = 3}, unequal_job, s);
    int told = 0;
    for (int rank = 0; rank < 3; rank++) {
        CHECK_INT(s->err[rank].status, MW_ERROR_COMMUNICATION);
        told += strstr(s->err[rank].message, "the ranks do not make the same calls") != NULL;
    }
    CHECK(told > 0);
    free(s);
}

/* ---- arguments ---- */

static int finished;
static void count_finish(void *user, bool clean)
{
    (void)user, (void)clean;
    finished++;
}

#define REFUSED(...)                                                                                                   \
    do {                                                                                                               \
        mw_error err = {0};                                                                                            \
        mw_transport t = ranks_alone();                                                                                \
        const int before = finished;                                                                                   \
        t.finish = count_finish;                                                                                       \
        __VA_ARGS__;                                                                                                   \
        CHECK(mw_communicator_create(&t, NULL, &err) == NULL);                                                         \
        CHECK_INT(err.status, MW_ERROR_ARGUMENT);                                                                      \
        CHECK_INT(finished, before + (t.struct_size == sizeof t));                                                     \
    } while (0)

static void test_bad_transports_are_refused_and_finished(void)
{
    REFUSED(t.struct_size = 0);
    REFUSED(t.name = NULL);
    REFUSED(t.rank = 1);
    REFUSED(t.rank = -1);
    REFUSED(t.size = 0);
    REFUSED(t.size = MW_RANKS_MAX + 1);
    REFUSED(t.send = NULL);
    REFUSED(t.receive = NULL);
    REFUSED(t.test = NULL);
    REFUSED(t.cancel = NULL);
}

static void argument_job(mw_communicator *c, int rank, void *user)
{
    seen *s = user;
    float x = 0.0f;
    mw_error err = {0};
    s->status[0] = mw_communicator_broadcast(c, 2, &x, sizeof x, &err);
    s->status[1] = mw_communicator_broadcast(c, 0, NULL, 4, NULL);
    s->status[2] = mw_communicator_gather(c, &x, 0, &x, NULL);
    s->status[3] = mw_communicator_allreduce(c, &x, 1, MW_I32, NULL);
    s->status[4] = mw_communicator_set_timeout(c, 0.0, NULL);
    s->status[5] = mw_communicator_barrier(c, &err); /* skipped */
    s->status[6] = mw_communicator_barrier(c, NULL);
    s->count = (size_t)rank;
}

static void test_bad_arguments_are_refused_and_nothing_is_dead(void)
{
    static const mw_status expected[] = {MW_ERROR_ARGUMENT,
                                         MW_ERROR_ARGUMENT,
                                         MW_ERROR_ARGUMENT,
                                         MW_ERROR_DTYPE,
                                         MW_ERROR_ARGUMENT,
                                         MW_ERROR_ARGUMENT,
                                         MW_OK};
    seen *s = calloc(1, sizeof *s);
    ranks_run(&(ranks_network){.size = 1}, argument_job, s);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        CHECK_INT(s->status[i], expected[i]);
    free(s);
}

int main(void)
{
    RUN(test_sums_have_the_bits_of_the_order_of_ranks);
    RUN(test_no_more_than_the_bound_goes_over_the_wire);
    RUN(test_broadcasts_and_records_reach_all);
    RUN(test_a_silent_rank_is_named_by_all);
    RUN(test_a_transport_that_fails_ends_all_with_its_reason);
    RUN(test_a_rank_that_fails_tells_the_others_at_once);
    RUN(test_unequal_calls_are_found);
    RUN(test_bad_transports_are_refused_and_finished);
    RUN(test_bad_arguments_are_refused_and_nothing_is_dead);
    return check_finish();
}

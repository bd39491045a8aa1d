/* What one rank does that the others do not: all refuse together, and say which rank it was. By night each 20 times. */
#include "mpi/nets.h"
#include "mpi/on_ranks.h"

#include <stdlib.h>

enum { BATCH = 8, WEIGHTS = 784 * 256 };

static int repetitions(void) { return getenv("MW_NIGHTLY") != NULL ? 20 : 1; }

/* ---- a batch that no step may be made of ---- */

static void check_unchanged(mw_trainer *t, const float *before, mw_error *err)
{
    float *after = malloc(WEIGHTS * sizeof *after);
    mw_trainer_read(t, "fc1.weight", MW_F32, after, WEIGHTS, err);
    CHECK_OK(*err);
    CHECK(memcmp(before, after, WEIGHTS * sizeof *after) == 0);
    free(after);
}

static void check_named(const mw_error *err, int bad)
{
    char name[32];
    snprintf(name, sizeof name, "rank %d", bad);
    CHECK_INT(err->status, MW_ERROR_NUMERIC);
    CHECK_CONTAINS(err->message, on_ranks_rank() == bad ? "step 3" : name);
}

/* NaN is found when the batch is fed; a picture whose sums overflow, by the flag of the step. */
static void check_spoiled(mw_trainer *t, net_batch *b, int bad, float value)
{
    mw_error err = {0}, refused = {0};
    float loss = 0.0f, *before = malloc(WEIGHTS * sizeof *before);
    const int64_t first = on_ranks_rank() * BATCH;
    mw_trainer_read(t, "fc1.weight", MW_F32, before, WEIGHTS, &err);
    const mw_batch *batch = net_batch_fill(b, first);
    for (size_t i = 0; i < 784 && on_ranks_rank() == bad; i++)
        net_batch_spoil(b, 784 + i, value);
    mw_trainer_step(t, batch, &loss, &refused);
    check_named(&refused, bad);
    check_unchanged(t, before, &err);
    free(before);
}

static void check_bad_batches(net *n, int bad)
{
    mw_error err = {0};
    float loss = 0.0f;
    n->ranks = on_ranks_communicator();
    mw_trainer *t = net_trainer(n, &err);
    net_batch *b = net_batch_create(n);
    for (int step = 0; step < 2; step++)
        mw_trainer_step(t, net_batch_fill(b, (step * 4 + on_ranks_rank()) * BATCH), &loss, &err);
    CHECK_OK(err);
    check_spoiled(t, b, bad, NAN);
    check_spoiled(t, b, bad, 3e38f);
    CHECK_INT(mw_trainer_get_info(t).counters.refused_steps, 2);
    mw_trainer_step(t, net_batch_fill(b, on_ranks_rank() * BATCH), &loss, &err);
    CHECK_OK(err);
    net_batch_destroy(b);
    mw_trainer_destroy(t);
    CHECK_INT(mw_communicator_finish(n->ranks, &err), MW_OK);
}

static void test_nan_on_one_rank_is_refused_by_all(void)
{
    net n = {.kind = NET_MLP, .batch = BATCH, .accumulate = 1, .device = MW_DEVICE_CPU, .seed = 1};
    for (int i = 0; i < repetitions() * on_ranks_size(); i++)
        check_bad_batches(&n, i % on_ranks_size());
}

/* ---- ranks that are not alike ---- */

typedef enum difference {
    BATCH_SIZE,
    NETWORK,
    ACCUMULATION,
    OPTIMIZER,
    BETA,
    CLIPPING,
    LOSS_SCALE,
    DIFFERENCES
} difference;

static mw_trainer *make_other(const net *n, difference what, mw_error *err)
{
    net other = *n;
    other.batch += what == BATCH_SIZE;
    other.accumulate += what == ACCUMULATION;
    other.kind = what == NETWORK ? NET_CNN : n->kind;
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_trainer_options o = net_options(&other, graph);
    if (what == OPTIMIZER)
        o.optimizer = mw_sgd(1e-3f);
    if (what == BETA)
        mw_optimizer_set(&o.optimizer, MW_OPTIMIZER_BETA2, 0.99f);
    if (what == CLIPPING)
        o.clipping.norm = 1.0f;
    if (what == LOSS_SCALE)
        o.precision.loss_scale = 8.0f;
    mw_trainer *t = mw_trainer_create(&o, err);
    mw_graph_destroy(graph);
    return t;
}

static void check_difference(difference what, int odd, const char *said)
{
    mw_error err = {0};
    char name[96];
    mw_communicator *c = on_ranks_communicator();
    const net n = {.kind = NET_MLP, .batch = BATCH, .accumulate = 1, .device = MW_DEVICE_CPU, .seed = 1, .ranks = c};
    mw_trainer *t = on_ranks_rank() == odd ? make_other(&n, what, &err) : net_trainer(&n, &err);
    snprintf(name, sizeof name, "rank %d has another %s", odd > 0 ? odd : 1, said);
    CHECK(t == NULL);
    CHECK_CONTAINS(err.message, name);
    mw_trainer_destroy(t);
    mw_communicator_destroy(c);
}

static void test_unequal_ranks_are_found_before_the_first_step(void)
{
    static const char *const said[DIFFERENCES] = {"batch size", "model or loss", "number of batches to accumulate",
                                                  "optimizer",  "optimizer",     "optimizer",
                                                  "model"};
    if (on_ranks_size() == 1)
        SKIP("one rank is like itself");
    for (int i = 0; i < repetitions(); i++)
        for (int what = 0; what < DIFFERENCES; what++)
            check_difference((difference)what, (what + i) % on_ranks_size(), said[what]);
}

/* ---- calls that do not fit ---- */

static void check_sizes(size_t own, size_t of_others, int odd)
{
    mw_error err = {0}, later = {0};
    mw_communicator *c = on_ranks_communicator();
    float *data = calloc(own > of_others ? own : of_others, sizeof *data);
    mw_communicator_allreduce(c, data, on_ranks_rank() == odd ? own : of_others, MW_F32, &err);
    CHECK_INT(err.status, MW_ERROR_COMMUNICATION);
    CHECK_CONTAINS(err.message, "the ranks do not make the same calls in the same order");
    CHECK_INT(mw_communicator_barrier(c, &later), MW_ERROR_STATE);
    CHECK_CONTAINS(later.message, "dead since");
    mw_communicator_destroy(c);
    free(data);
}

/* Longer messages than there is room for, shorter ones, and some that are both, as each has its share. */
static void test_messages_of_another_size_end_all(void)
{
    if (on_ranks_size() == 1)
        SKIP("one rank sends no messages");
    for (int odd = 0; odd < on_ranks_size(); odd++) {
        check_sizes(900, 300, odd);
        check_sizes(300, 900, odd);
    }
}

/* Trainers and calls of a communicator that ended say so, and nothing waits. */
static void test_a_rank_that_fails_tells_the_others(void)
{
    mw_error err = {0};
    mw_communicator *c = on_ranks_communicator();
    const int last = on_ranks_size() - 1;
    if (on_ranks_rank() == last)
        mw_communicator_fail(c, "its disk is full");
    else {
        mw_communicator_barrier(c, &err); /* which the last rank does not come to */
        char text[64];
        snprintf(text, sizeof text, "rank %d: its disk is full", last);
        CHECK_ERROR(err, MW_ERROR_COMMUNICATION, text);
    }
    mw_communicator_destroy(c);
}

int main(int argc, char **argv)
{
    on_ranks_begin(&argc, &argv);
    RUN(test_nan_on_one_rank_is_refused_by_all);
    RUN(test_unequal_ranks_are_found_before_the_first_step);
    RUN(test_messages_of_another_size_end_all);
    RUN(test_a_rank_that_fails_tells_the_others);
    return on_ranks_finish();
}

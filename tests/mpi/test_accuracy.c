/* What several ranks learn beside one rank that has the same batches as a whole: no better or worse than another seed
 * does. By night only, as it trains each network some times to the end. */
#include "mpi/nets.h"
#include "mpi/on_ranks.h"
#include "support/evaluated.h"
#include "support/night.h"

enum { SEEDS = 4, BATCH = 96, HELD_OUT = 50000, TESTED = 4800 };

typedef struct results {
    double of[SEEDS]; /* accuracy in percent */
    mw_error err;
} results;

/* What was not learned from; of the text, which is short, what was. */
static mw_dataset *make_test(const net *n, mw_error *err)
{
    const bool text = n->kind == NET_CHARACTERS;
    net whole = *n;
    whole.batch = text ? TESTED / 10 : TESTED;
    net_batch *b = net_batch_create(&whole);
    const mw_batch *batch = net_batch_fill(b, text ? 0 : HELD_OUT);
    const int64_t count = whole.batch, width = (int64_t)batch->feeds[0].count / count;
    mw_column columns[2] = {{.name = "x", .dtype = batch->feeds[0].dtype, .data = batch->feeds[0].data},
                            {.name = "y", .dtype = MW_I32, .data = batch->feeds[1].data}};
    columns[0].shape = n->kind == NET_CNN ? MW_SHAPE(1, 28, 28) : MW_SHAPE(width);
    if (text)
        columns[1].shape = MW_SHAPE(width);
    mw_dataset *set = mw_dataset_create(columns, 2, count, true, err);
    net_batch_destroy(b);
    return set;
}

/* This rank's batches of `ranks`. */
static double train(const net *n, int rank, int ranks, mw_error *err)
{
    const int steps = n->kind == NET_CHARACTERS ? 600 : 400;
    double loss, accuracy = 0.0;
    mw_dataset *test = make_test(n, err);
    mw_trainer *t = net_trainer(n, err);
    net_batch *b = net_batch_create(n);
    for (int step = 0; step < steps && err->status == MW_OK; step++)
        mw_trainer_step(t, net_batch_fill(b, (step * ranks + rank) * n->batch), NULL, err);
    evaluated(t, test, &loss, &accuracy, err);
    net_batch_destroy(b);
    mw_trainer_destroy(t);
    mw_dataset_destroy(test);
    return 100.0 * accuracy;
}

/* Each rank by itself, with other seeds; then all know all. */
static results train_alone(net n, mw_communicator *c)
{
    results own = {.err = {0}}, all = {.err = {0}};
    float found[SEEDS] = {0};
    n.batch = BATCH, n.ranks = NULL;
    for (int seed = on_ranks_rank(); seed < SEEDS; seed += on_ranks_size()) {
        n.seed = (uint64_t)seed + 1;
        found[seed] = (float)train(&n, 0, 1, &own.err);
    }
    CHECK_OK(own.err);
    mw_communicator_allreduce(c, found, SEEDS, MW_F32, &all.err);
    CHECK_OK(all.err);
    for (int seed = 0; seed < SEEDS; seed++)
        all.of[seed] = (double)found[seed];
    return all;
}

static results train_together(net n, mw_communicator *c)
{
    results all = {.err = {0}};
    n.batch = BATCH / on_ranks_size(), n.ranks = c;
    for (int seed = 0; seed < SEEDS; seed++) {
        n.seed = (uint64_t)seed + 1;
        all.of[seed] = train(&n, on_ranks_rank(), on_ranks_size(), &all.err);
    }
    CHECK_OK(all.err);
    return all;
}

static void summarize(const results *r, double *least, double *mean, double *most)
{
    *least = *most = r->of[0];
    *mean = 0.0;
    for (int i = 0; i < SEEDS; i++) {
        *least = fmin(*least, r->of[i]);
        *most = fmax(*most, r->of[i]);
        *mean += r->of[i] / SEEDS;
    }
}

/* The mean of the seeds is where that of one rank is, as far as these lie apart, and none is far outside. */
static void check_net(net_kind kind, mw_device device)
{
    if (!night_has_come())
        SKIP("by night: each network is trained eight times");
    if (on_ranks_size() != 2 + night_share(3))
        SKIP("another number of ranks has its turn this night");
    mw_error err = {0};
    double alone[3], together[3];
    mw_communicator *c = on_ranks_communicator();
    mw_communicator_set_timeout(c, 600.0, &err);
    const net n = {.kind = kind, .accumulate = 1, .device = device};
    const results one = train_alone(n, c), many = train_together(n, c);
    summarize(&one, &alone[0], &alone[1], &alone[2]);
    summarize(&many, &together[0], &together[1], &together[2]);
    const double spread = alone[2] - alone[0];
    CHECK_NEAR(together[1], alone[1], spread);
    CHECK(together[0] >= alone[0] - spread && together[2] <= alone[2] + spread);
    CHECK(alone[0] > (kind == NET_CHARACTERS ? 40.0 : 90.0)); /* they have learned */
    if (on_ranks_rank() == 0)
        printf("%s, %s, %d ranks: %.2f %% (%.2f to %.2f); one rank: %.2f %% (%.2f to %.2f)\n", net_name(kind),
               device == MW_DEVICE_ANE ? "fp16" : "fp32", on_ranks_size(), together[1], together[0], together[2],
               alone[1], alone[0], alone[2]);
    CHECK_INT(mw_communicator_finish(c, &err), MW_OK);
}

static void test_ranks_learn_the_mlp_as_one_does(void) { check_net(NET_MLP, MW_DEVICE_CPU); }
static void test_ranks_learn_the_cnn_as_one_does(void) { check_net(NET_CNN, MW_DEVICE_CPU); }
static void test_ranks_learn_the_transformer_as_one_does(void) { check_net(NET_CHARACTERS, MW_DEVICE_CPU); }
static void test_ranks_learn_the_cnn_in_fp16_as_one_does(void) { check_net(NET_CNN, MW_DEVICE_ANE); }
static void test_ranks_learn_the_transformer_in_fp16_as_one_does(void) { check_net(NET_CHARACTERS, MW_DEVICE_ANE); }

int main(int argc, char **argv)
{
    on_ranks_begin(&argc, &argv);
    RUN(test_ranks_learn_the_mlp_as_one_does);
    RUN(test_ranks_learn_the_cnn_as_one_does);
    RUN(test_ranks_learn_the_transformer_as_one_does);
    RUN(test_ranks_learn_the_cnn_in_fp16_as_one_does);
    RUN(test_ranks_learn_the_transformer_in_fp16_as_one_does);
    return on_ranks_finish();
}

/* Ranks that share out the states of the optimizer: the same bits as where each has them all, to the last byte of a
 * checkpoint, with less memory. */
#include "ranks_net.h"
#include "support/check.h"
#include "support/folder.h"

#include <math.h>
#include <stdlib.h>

enum { STEPS = 12, FILE_MAX = 1 << 16 };

typedef struct file {
    size_t size;
    char bytes[FILE_MAX];
} file;

static void read_file(const char *path, file *out)
{
    FILE *f = fopen(path, "rb");
    out->size = f != NULL ? fread(out->bytes, 1, FILE_MAX, f) : 0;
    CHECK(out->size > 1000 && out->size < FILE_MAX);
    if (f != NULL)
        fclose(f);
}

static bool is_same(const file *a, const file *b)
{
    return a->size == b->size && memcmp(a->bytes, b->bytes, a->size) == 0;
}

typedef struct run {
    net_setting setting;
    int accumulate, steps;
    const char *from, *to; /* checkpoints before the first step and behind the last; or NULL */
    const char *again;     /* saved as soon as it is loaded */
    int loader;            /* the rank that loads; -1 = all do */
    int writer;            /* from 1: rank that replaces a bias in the middle */
    int first;             /* batch */
    mw_error err[RANKS_MAX];
    float weights[RANKS_MAX][NET_WEIGHTS], losses[RANKS_MAX][STEPS];
    uint64_t sent[RANKS_MAX], state_bytes[RANKS_MAX]; /* of the last step; of the states */
} run;

static void step(run *r, mw_trainer *t, mw_communicator *c, int rank, int index)
{
    net_examples e;
    const int ranks = mw_communicator_get_info(c).size;
    const float bias[NET_OUT] = {0.1f, 0.2f, -0.3f, 0.4f, 0.5f};
    const uint64_t before = mw_communicator_get_info(c).bytes_sent;
    if (r->writer == rank + 1 && index == STEPS / 2)
        mw_trainer_write(t, "fc2.bias", MW_F32, bias, NET_OUT, &r->err[rank]);
    mw_trainer_step(t, net_batch(&e, (r->first + index) * ranks + rank), &r->losses[rank][index], &r->err[rank]);
    r->sent[rank] = mw_communicator_get_info(c).bytes_sent - before;
}

static void job(mw_communicator *c, int rank, void *user)
{
    run *r = user;
    mw_error *err = &r->err[rank];
    mw_trainer *t = net_make(&r->setting, r->accumulate, c, (uint64_t)rank + 1, err);
    r->state_bytes[rank] = mw_trainer_get_info(t).counters.state_bytes_in;
    if (r->from != NULL && (r->loader < 0 || r->loader == rank))
        mw_trainer_load(t, r->from, NULL, err);
    if (r->again != NULL)
        mw_trainer_save(t, r->again, NULL, err);
    for (int i = 0; i < r->steps; i++)
        step(r, t, c, rank, i);
    net_read(t, r->weights[rank], err);
    if (r->to != NULL)
        mw_trainer_save(t, r->to, NULL, err);
    mw_trainer_destroy(t);
}

static void go(run *r, int ranks)
{
    ranks_run(&(ranks_network){.size = ranks, .shuffle = 5, .latency = 1e-5}, job, r);
    for (int rank = 0; rank < ranks; rank++) {
        CHECK_STR(r->err[rank].message, "");
        CHECK(memcmp(r->weights[rank], r->weights[0], sizeof r->weights[0]) == 0);
    }
}

/* ---- the same bits ---- */

static mw_optimizer compensated(mw_optimizer o)
{
    mw_optimizer_set(&o, MW_OPTIMIZER_COMPENSATED, true);
    return o;
}

static void check_sharded(const net_setting *setting, int accumulate, int ranks, int writer)
{
    static run whole, sharded;
    static file files[2];
    whole = (run){.setting = *setting, .accumulate = accumulate, .steps = STEPS, .to = "whole", .writer = writer};
    sharded = whole;
    sharded.setting.shards = true;
    sharded.to = "sharded";
    go(&whole, ranks);
    go(&sharded, ranks);
    CHECK(memcmp(whole.losses, sharded.losses, sizeof whole.losses) == 0);
    CHECK(memcmp(whole.weights, sharded.weights, sizeof whole.weights) == 0);
    read_file("whole", &files[0]);
    read_file("sharded", &files[1]);
    CHECK(is_same(&files[0], &files[1]));
    if (check_global.failures_here > 0)
        printf("%d ranks, optimizer %s, half %d\n", ranks, mw_optimizer_name(&setting->optimizer), setting->half);
}

static void test_every_optimizer_has_the_bits_of_whole_states(void)
{
    mw_optimizer momentum = mw_sgd_momentum(0.05f, 0.9f, true), rms = mw_rmsprop(3e-3f), adamw = mw_adamw(1e-2f, 0.1f);
    mw_optimizer_set(&rms, MW_OPTIMIZER_CENTERED, 1);
    mw_optimizer_set(&rms, MW_OPTIMIZER_MOMENTUM, 0.8);
    mw_optimizer_set(&momentum, MW_OPTIMIZER_WEIGHT_DECAY, 0.01);
    const mw_optimizer optimizers[] = {mw_sgd(0.1f),
                                       momentum,
                                       mw_adam(1e-2f),
                                       adamw,
                                       rms,
                                       mw_adagrad(0.05f),
                                       mw_lion(2e-3f, 0.1f),
                                       compensated(mw_adam(1e-2f)),
                                       compensated(momentum)};
    char folder[512];
    REQUIRE(folder_enter(folder));
    for (size_t i = 0; i < sizeof optimizers / sizeof *optimizers; i++)
        for (int half = 0; half < 2; half++)
            check_sharded(&(net_setting){.optimizer = optimizers[i], .half = half != 0}, 1, 2 + (int)i % 3, 0);
    folder_leave(folder);
}

static void test_all_options_have_the_bits_of_whole_states(void)
{
    mw_parameter_group bias = mw_parameter_group_defaults("*.bias");
    mw_parameter_group_set(&bias, MW_GROUP_RATE_FACTOR, 2);
    mw_parameter_group_set(&bias, MW_GROUP_WEIGHT_DECAY, 0);
    const mw_parameter_group frozen = mw_parameter_group_frozen("fc1.*");
    const mw_optimizer adamw = mw_adamw(1e-2f, 0.1f);
    const net_setting settings[] = {
        {.clip = true},
        {.clip = true, .bucket_bytes = 1024, .clip_value = 0.01f},
        {.average = true},
        {.average = true, .clip = true},
        {.dropout = true, .bucket_bytes = 1024},
        {.batch_norm = true, .bucket_bytes = 1024, .segments = 3},
        {.optimizer = adamw, .groups = &bias, .group_count = 1},
        {.optimizer = adamw, .groups = &frozen, .group_count = 1},
        {.dynamic = true},
        {.wire = MW_WIRE_BF16},
        {.wire = MW_WIRE_FP16, .bucket_bytes = 1024},
    };
    char folder[512];
    REQUIRE(folder_enter(folder));
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        for (int half = 0; half < 2; half++) {
            net_setting s = settings[i];
            s.half = half != 0;
            for (int ranks = 1; ranks <= 4; ranks += 1 + (int)i % 2)
                check_sharded(&s, 1, ranks, 0);
        }
    folder_leave(folder);
}

/* Ranks that have nothing of a parameter, or of most of them; batches that are added up; values that are replaced. */
static void test_odd_ranks_have_the_bits_of_whole_states(void)
{
    const mw_optimizer adam = compensated(mw_adam(1e-2f));
    char folder[512];
    REQUIRE(folder_enter(folder));
    check_sharded(&(net_setting){.bucket_bytes = 1024}, 1, 16, 0);
    check_sharded(&(net_setting){.half = true, .clip = true}, 1, 16, 0);
    check_sharded(&(net_setting){.dropout = true}, 3, 3, 0);
    check_sharded(&(net_setting){.half = true, .average = true}, 2, 4, 0);
    for (int writer = 1; writer <= 2; writer++)
        for (int half = 0; half < 2; half++)
            check_sharded(&(net_setting){.half = half != 0, .optimizer = adam, .average = true}, 1, 3, writer);
    folder_leave(folder);
}

/* ---- files ---- */

/* Saved by four, gone on with by three and by one, whoever loads it. */
static void test_a_checkpoint_is_of_any_number_of_ranks(void)
{
    static run four, other, whole;
    static file files[2];
    char folder[512];
    REQUIRE(folder_enter(folder));
    for (int half = 0; half < 2; half++) {
        const net_setting setting = {.half = half != 0, .average = true, .shards = true};
        four = (run){.setting = setting, .accumulate = 1, .steps = STEPS, .to = "four"};
        go(&four, 4);
        for (int ranks = 1; ranks <= 3; ranks += 2)
            for (int loader = -1; loader <= 0; loader++) {
                other = (run){.setting = setting, .accumulate = 1, .from = "four", .again = "again", .to = "other"};
                other.loader = loader, other.steps = STEPS, other.first = STEPS;
                whole = other;
                whole.setting.shards = false;
                whole.to = "whole", whole.again = NULL;
                go(&other, ranks);
                go(&whole, ranks);
                read_file("four", &files[0]), read_file("again", &files[1]);
                CHECK(is_same(&files[0], &files[1]));
                read_file("other", &files[0]), read_file("whole", &files[1]);
                CHECK(is_same(&files[0], &files[1]));
                CHECK(memcmp(other.weights, whole.weights, sizeof whole.weights) == 0);
            }
    }
    folder_leave(folder);
}

/* Not rank 0: its file does not count, as elsewhere. */
static void test_what_another_rank_loads_does_not_count(void)
{
    static run r, plain;
    static file files[2];
    char folder[512];
    REQUIRE(folder_enter(folder));
    r = (run){.setting = {.shards = true}, .accumulate = 1, .steps = STEPS, .to = "first"};
    go(&r, 3);
    plain = (run){.setting = {.shards = true}, .accumulate = 1, .steps = 5, .to = "plain"};
    r = plain;
    r.from = "first", r.loader = 1, r.to = "loaded";
    go(&plain, 3);
    go(&r, 3);
    CHECK(memcmp(r.weights, plain.weights, sizeof r.weights) == 0);
    read_file("plain", &files[0]), read_file("loaded", &files[1]);
    CHECK(is_same(&files[0], &files[1]));
    folder_leave(folder);
}

/* ---- refused steps ---- */

typedef struct refused {
    bool half;
    mw_error err[RANKS_MAX], later[RANKS_MAX];
    float weights[RANKS_MAX][2][NET_WEIGHTS];
    float scale[RANKS_MAX];
} refused;

static void nan_job(mw_communicator *c, int rank, void *user)
{
    refused *r = user;
    const net_setting setting = {.shards = true, .half = r->half};
    mw_trainer *t = net_make(&setting, 1, c, 1, &r->later[rank]);
    net_examples e;
    mw_trainer_step(t, net_batch(&e, rank), NULL, &r->later[rank]);
    mw_trainer_save(t, "before", NULL, &r->later[rank]);
    net_batch(&e, 4 + rank);
    if (rank == 2)
        e.x[3] = NAN;
    mw_trainer_step(t, &e.batch, NULL, &r->err[rank]);
    mw_trainer_save(t, "after", NULL, &r->later[rank]);
    mw_trainer_step(t, net_batch(&e, 8 + rank), NULL, &r->later[rank]);
    mw_trainer_destroy(t);
}

static void check_files_equal(void)
{
    static file files[2];
    read_file("before", &files[0]), read_file("after", &files[1]);
    CHECK(is_same(&files[0], &files[1]));
}

static void test_nan_on_one_rank_is_refused_by_all(void)
{
    static refused r;
    char folder[512];
    REQUIRE(folder_enter(folder));
    for (int half = 0; half < 2; half++) {
        r = (refused){.half = half != 0};
        ranks_run(&(ranks_network){.size = 4}, nan_job, &r);
        for (int rank = 0; rank < 4; rank++) {
            CHECK_ERROR(r.err[rank], MW_ERROR_NUMERIC, rank == 2 ? "" : "rank 2");
            CHECK_OK(r.later[rank]);
        }
        check_files_equal();
    }
    folder_leave(folder);
}

/* Gradients of one input grow until their sum overflows, in the part of one rank, where no rank's own does. */
static void overflow_job(mw_communicator *c, int rank, void *user)
{
    refused *r = user;
    const net_setting setting = {.shards = true, .half = true};
    mw_trainer *t = net_make(&setting, 1, c, 1, &r->later[rank]);
    net_examples e;
    for (float size = 16.0f; size < 6e4f && r->err[rank].status == MW_OK; size *= 1.1f) {
        net_batch(&e, 0);
        for (int i = 0; i < NET_BATCH; i++)
            e.x[i * NET_IN] = size;
        mw_trainer_save(t, "before", NULL, &r->later[rank]);
        mw_trainer_step(t, &e.batch, NULL, &r->err[rank]);
    }
    mw_trainer_save(t, "after", NULL, &r->later[rank]);
    mw_trainer_destroy(t);
}

static void test_a_part_that_overflows_refuses_the_step_on_all(void)
{
    static refused r;
    char folder[512];
    REQUIRE(folder_enter(folder));
    r = (refused){.half = true};
    ranks_run(&(ranks_network){.size = 4}, overflow_job, &r);
    for (int rank = 0; rank < 4; rank++) {
        CHECK_ERROR(r.err[rank], MW_ERROR_NUMERIC, "the batches of all ranks are good");
        CHECK_OK(r.later[rank]);
    }
    check_files_equal();
    folder_leave(folder);
}

static void scale_job(mw_communicator *c, int rank, void *user)
{
    refused *r = user;
    const net_setting setting = {.shards = true, .half = true, .dynamic = true};
    mw_trainer *t = net_make(&setting, 1, c, 1, &r->err[rank]);
    net_examples e;
    for (int i = 0; i < 5; i++) {
        net_batch(&e, i * 4 + rank);
        for (int k = 0; rank == 1 && i == 2 && k < NET_BATCH * NET_IN; k++)
            e.x[k] *= 3e4f;
        mw_trainer_step(t, &e.batch, NULL, &r->err[rank]);
        r->scale[rank] = i == 1 ? mw_trainer_get_info(t).loss_scale : r->scale[rank];
    }
    r->scale[rank] /= mw_trainer_get_info(t).loss_scale;
    net_read(t, r->weights[rank][0], &r->err[rank]);
    mw_trainer_destroy(t);
}

static void test_a_skipped_step_halves_the_scale_of_all(void)
{
    static refused r;
    r = (refused){.half = true};
    ranks_run(&(ranks_network){.size = 4}, scale_job, &r);
    for (int rank = 0; rank < 4; rank++) {
        CHECK_OK(r.err[rank]);
        CHECK(r.scale[rank] >= 2.0f && r.scale[rank] == r.scale[0]);
        CHECK(memcmp(r.weights[rank][0], r.weights[0][0], sizeof r.weights[0][0]) == 0);
    }
}

/* ---- an exchange that is cut off ---- */

static void cut_job(mw_communicator *c, int rank, void *user)
{
    refused *r = user;
    const net_setting setting = {.shards = true, .bucket_bytes = 1024};
    char path[32];
    mw_communicator_set_timeout(c, 0.5, &r->later[rank]);
    mw_trainer *t = net_make(&setting, 1, c, 1, &r->err[rank]);
    net_examples e;
    for (int i = 0; i < 3 && r->err[rank].status == MW_OK; i++) {
        net_read(t, r->weights[rank][0], &r->later[rank]);
        mw_trainer_step(t, net_batch(&e, i * 3 + rank), NULL, &r->err[rank]);
    }
    net_read(t, r->weights[rank][1], &r->later[rank]);
    snprintf(path, sizeof path, "rank%d", rank);
    mw_trainer_save_weights(t, path, &r->later[rank]);
    mw_trainer_destroy(t);
}

/* Wherever it fails: weights are those of a step, or nobody gets them. */
static void test_weights_of_two_steps_are_given_to_nobody(void)
{
    static refused r;
    static run whole;
    char folder[512];
    int torn = 0, good = 0;
    REQUIRE(folder_enter(folder));
    for (int message = 22; message < 80; message++) {
        r = (refused){.half = false};
        ranks_run(&(ranks_network){.size = 3, .failing = 1, .failing_after = message}, cut_job, &r);
        for (int rank = 0; rank < 3 && r.err[rank].status == MW_ERROR_COMMUNICATION; rank++) {
            if (r.later[rank].status == MW_OK) {
                good++;
                CHECK(memcmp(r.weights[rank][0], r.weights[rank][1], sizeof whole.weights[0]) == 0);
                continue;
            }
            torn++;
            CHECK_ERROR(r.later[rank], MW_ERROR_STATE, "of two steps");
        }
    }
    CHECK(torn > 0 && good > 0);
    folder_leave(folder);
}

/* ---- options, bytes ---- */

static void unequal_job(mw_communicator *c, int rank, void *user)
{
    run *r = user;
    net_setting s = r->setting;
    if (rank == 1 && r->first == 0)
        s.shards = !s.shards;
    else if (rank == 1)
        s.bucket_bytes = 2048;
    mw_trainer *t = net_make(&s, 1, c, 1, &r->err[rank]);
    mw_trainer_destroy(t);
}

static void test_ranks_that_share_out_otherwise_are_found(void)
{
    static run r;
    for (int what = 0; what < 2; what++) {
        r = (run){.setting = {.shards = true}, .first = what};
        ranks_run(&(ranks_network){.size = 3}, unequal_job, &r);
        for (int rank = 0; rank < 3; rank++)
            CHECK_ERROR(r.err[rank], MW_ERROR_ARGUMENT, "rank 1 has another optimizer");
    }
}

static void odd_job(mw_communicator *c, int rank, void *user)
{
    run *r = user;
    float data[NET_IN * NET_HIDDEN];
    mw_trainer *t = net_make(&r->setting, 1, c, 1, &r->err[rank]);
    if (t != NULL)
        mw_trainer_read(t, "fc1.weight#m", MW_F32, data, NET_IN * NET_HIDDEN, &r->err[rank]);
    mw_trainer_destroy(t);
}

static mw_status update(const mw_update_call *call, mw_tensor **out_p, mw_tensor **out_states, mw_error *err)
{
    (void)out_states, (void)err;
    *out_p = mw_sub(call->p, mw_mul_scalar(call->g, 0.1));
    return MW_OK;
}

static void test_what_goes_not_with_it_is_refused(void)
{
    static run r;
    const mw_optimizer_rule rule = mw_optimizer_rule_defaults("own", update);
    r = (run){.setting = {.shards = true, .optimizer = mw_optimizer_custom(0.1f, &rule)}};
    ranks_run(&(ranks_network){.size = 2}, odd_job, &r);
    CHECK_ERROR(r.err[0], MW_ERROR_UNSUPPORTED,
                "shard_states is for optimizers that change each element by itself; one of your own");
    r = (run){.setting = {.shards = true, .optimizer = mw_muon(0.1f, 0.0f)}};
    ranks_run(&(ranks_network){.size = 2}, odd_job, &r);
    CHECK_ERROR(r.err[0], MW_ERROR_UNSUPPORTED, "change each element by itself; muon gets parameters as a whole");
    r = (run){.setting = {.shards = true, .local_steps = 4}};
    ranks_run(&(ranks_network){.size = 2}, odd_job, &r);
    CHECK_ERROR(r.err[0], MW_ERROR_ARGUMENT, "ranks.shard_states and ranks.local_steps 4");
    r = (run){.setting = {.shards = true}};
    ranks_run(&(ranks_network){.size = 2}, odd_job, &r);
    CHECK_ERROR(r.err[0], MW_ERROR_UNSUPPORTED, "each rank has a part of \"fc1.weight#m\"");
}

/* Adam has two states of a parameter. Gradients and parameters travel once, as sums would; with a norm sums, too. */
static void test_memory_and_bytes_are_as_the_formulas_say(void)
{
    static run whole, sharded, clipped;
    const double bytes = 4.0 * NET_WEIGHTS;
    for (int ranks = 2; ranks <= 4; ranks++) {
        const double way = (ranks - 1.0) / ranks * bytes, small = 64.0 * ranks;
        whole = (run){.accumulate = 1, .steps = 2};
        sharded = clipped = whole;
        sharded.setting.shards = clipped.setting.shards = clipped.setting.clip = true;
        go(&whole, ranks), go(&sharded, ranks), go(&clipped, ranks);
        CHECK_NEAR((double)whole.state_bytes[0], 3.0 * bytes, 0.0);
        for (int rank = 0; rank < ranks; rank++) {
            CHECK_NEAR((double)sharded.state_bytes[rank], bytes + 2.0 * bytes / ranks, 16.0);
            CHECK_NEAR((double)sharded.sent[rank], (double)whole.sent[rank], small);
            CHECK_NEAR((double)clipped.sent[rank] - (double)whole.sent[rank], way, small);
        }
    }
}

int main(void)
{
    RUN(test_every_optimizer_has_the_bits_of_whole_states);
    RUN(test_all_options_have_the_bits_of_whole_states);
    RUN(test_odd_ranks_have_the_bits_of_whole_states);
    RUN(test_a_checkpoint_is_of_any_number_of_ranks);
    RUN(test_what_another_rank_loads_does_not_count);
    RUN(test_nan_on_one_rank_is_refused_by_all);
    RUN(test_a_part_that_overflows_refuses_the_step_on_all);
    RUN(test_a_skipped_step_halves_the_scale_of_all);
    RUN(test_weights_of_two_steps_are_given_to_nobody);
    RUN(test_ranks_that_share_out_otherwise_are_found);
    RUN(test_what_goes_not_with_it_is_refused);
    RUN(test_memory_and_bytes_are_as_the_formulas_say);
    return check_finish();
}

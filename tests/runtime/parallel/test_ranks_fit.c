/* mw_trainer_fit on several ranks: the same training as of one that accumulates, one checkpoint for any number of
 * ranks, stops that all make together, files that only rank 0 has. */
#include "ranks_net.h"
#include "support/check.h"
#include "support/folder.h"

#include <math.h>
#include <millwright/data.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { EXAMPLES = 24 * NET_BATCH, VALIDATION = 3 * NET_BATCH + 4 };

typedef struct run {
    const net_setting *setting;
    const char *checkpoint;
    mw_schedule schedule;
    int64_t epochs;
    int64_t stop_at; /* step at which rank `stopper` wants to stop; 0 = none */
    int stopper;
    bool parts;   /* each rank has a part of the data */
    int odd_data; /* this rank has other data; 0 = none */
    bool unwritable;
    mw_error err[RANKS_MAX];
    float weights[RANKS_MAX][NET_WEIGHTS];
    mw_evaluation found[RANKS_MAX];
    double last_loss[RANKS_MAX];
    int64_t steps[RANKS_MAX];
} run;

typedef struct watcher {
    run *r;
    int rank;
} watcher;

static bool watch(void *user, const mw_progress *progress)
{
    const watcher *w = user;
    w->r->last_loss[w->rank] = progress->loss;
    if (progress->epoch_end && progress->validation.examples > 0)
        w->r->found[w->rank] = progress->validation;
    return w->rank == w->r->stopper && w->r->stop_at > 0 && progress->step >= w->r->stop_at;
}

static mw_fit_options options_of(run *r, watcher *w, const mw_dataset *train, const mw_dataset *test)
{
    mw_fit_options fit = mw_fit_defaults(train, r->epochs);
    fit.data.validation = test;
    fit.checkpoint.path = r->checkpoint;
    fit.schedule.rate = r->schedule;
    fit.progress.quiet = fit.progress.ignore_signals = true;
    fit.progress.function = watch;
    fit.progress.user = w;
    fit.data.seed = 3;
    return fit;
}

static void fit_one(run *r, int rank, mw_communicator *c, int accumulate)
{
    mw_error *err = &r->err[rank];
    mw_dataset *whole = net_data(EXAMPLES, r->odd_data > 0 && rank == r->odd_data ? 2 : 1);
    mw_dataset *train = r->parts ? mw_dataset_shard(whole, rank, mw_communicator_get_info(c).size, err) : whole;
    mw_dataset *test = net_data(VALIDATION, 7);
    watcher w = {.r = r, .rank = rank};
    mw_trainer *t = net_make(r->setting, accumulate, c, 1, err);
    const mw_fit_options fit = options_of(r, &w, train, test);
    mw_trainer_fit(t, &fit, err);
    mw_error reading = {0};
    net_read(t, r->weights[rank], &reading);
    r->steps[rank] = mw_trainer_get_info(t).steps;
    mw_trainer_destroy(t);
    mw_dataset_destroy(test);
    mw_dataset_destroy(whole);
    if (train != whole)
        mw_dataset_destroy(train);
}

static void fit_job(mw_communicator *c, int rank, void *user) { fit_one(user, rank, c, 1); }

static void check_alike(const run *r, int ranks)
{
    for (int rank = 0; rank < ranks; rank++) {
        CHECK_OK(r->err[rank]);
        CHECK(memcmp(r->weights[rank], r->weights[0], sizeof r->weights[0]) == 0);
        CHECK(r->found[rank].loss == r->found[0].loss && r->found[rank].examples == VALIDATION);
        CHECK(r->last_loss[rank] == r->last_loss[0]);
    }
}

static void test_fit_is_that_of_one_rank_that_accumulates(void)
{
    static const net_setting settings[] = {{0}, {.half = true}, {.dropout = true}, {.shards = true, .average = true}};
    run *together = calloc(1, sizeof *together), *alone = calloc(1, sizeof *alone);
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++)
        for (int ranks = 2; ranks <= 4; ranks++) {
            *together = (run){.setting = &settings[i], .epochs = 3};
            *alone = (run){.setting = &settings[i], .epochs = 3};
            ranks_run(&(ranks_network){.size = ranks, .shuffle = 9, .latency = 1e-5}, fit_job, together);
            fit_one(alone, 0, NULL, ranks);
            CHECK_OK(alone->err[0]);
            check_alike(together, ranks);
            CHECK(memcmp(together->weights[0], alone->weights[0], sizeof alone->weights[0]) == 0);
            CHECK_NEAR(together->found[0].loss, alone->found[0].loss, 1e-12);
            CHECK_NEAR(together->found[0].metrics[0].value, alone->found[0].metrics[0].value, 1e-12);
            CHECK_INT(together->steps[0], alone->steps[0]);
        }
    free(together);
    free(alone);
}

static double every_third(void *user, int64_t step, int64_t steps)
{
    (void)user;
    return step % 3 == 0 ? 1.0 : (double)(steps - step) / (double)steps;
}

/* The steps of a schedule are updates on both sides. */
static void test_a_schedule_is_that_of_one_rank_that_accumulates(void)
{
    const net_setting plain = {0};
    const mw_schedule kinds[] = {mw_schedule_cosine(0.1),
                                 mw_schedule_linear(0.2),
                                 mw_schedule_one_cycle(0.3, 25, 1e4),
                                 mw_schedule_step(5, 0.5),
                                 mw_schedule_custom(every_third, NULL),
                                 mw_schedule_constant()};
    const size_t count = sizeof kinds / sizeof *kinds;
    run *together = calloc(1, sizeof *together), *alone = calloc(1, sizeof *alone);
    for (size_t i = 0; i < 2 * count; i++) {
        mw_schedule schedule = kinds[i % count];
        const int ranks = 2 + (int)(i % 3);
        schedule.warmup_steps = i < count ? 0 : 4;
        *together = (run){.setting = &plain, .epochs = 2, .schedule = schedule};
        *alone = (run){.setting = &plain, .epochs = 2, .schedule = schedule};
        ranks_run(&(ranks_network){.size = ranks}, fit_job, together);
        fit_one(alone, 0, NULL, ranks);
        CHECK_OK(alone->err[0]);
        check_alike(together, ranks);
        check_note(memcmp(together->weights[0], alone->weights[0], sizeof alone->weights[0]) == 0, __FILE__, __LINE__,
                   "schedule %d, warm-up %d, %d ranks: other weights", (int)schedule.kind, (int)schedule.warmup_steps,
                   ranks);
    }
    free(together);
    free(alone);
}

static void test_parts_of_a_set_train_too(void)
{
    const net_setting plain = {0};
    run *r = calloc(1, sizeof *r);
    *r = (run){.setting = &plain, .epochs = 8, .parts = true};
    ranks_run(&(ranks_network){.size = 3}, fit_job, r);
    check_alike(r, 3);
    CHECK(r->last_loss[0] < 1.3);
    CHECK_INT(r->steps[0], 8 * 8);
    free(r);
}

/* ---- stopping and going on ---- */

static void check_stop(bool shards)
{
    const net_setting dropout = {.dropout = true, .shards = shards};
    char folder[512];
    run *r = calloc(1, sizeof *r), *whole = calloc(1, sizeof *whole);
    REQUIRE(folder_enter(folder));
    *whole = (run){.setting = &dropout, .epochs = 3};
    ranks_run(&(ranks_network){.size = 3}, fit_job, whole);
    *r = (run){.setting = &dropout, .epochs = 3, .checkpoint = "run.safetensors", .stopper = 2, .stop_at = 11};
    ranks_run(&(ranks_network){.size = 3}, fit_job, r);
    for (int rank = 0; rank < 3; rank++) {
        CHECK_INT(r->err[rank].status, MW_ERROR_STOPPED);
        CHECK_INT(r->steps[rank], 12); /* told at the step behind */
    }
    *r = (run){.setting = &dropout, .epochs = 3, .checkpoint = "run.safetensors"};
    ranks_run(&(ranks_network){.size = 3}, fit_job, r);
    check_alike(r, 3);
    CHECK(memcmp(r->weights[0], whole->weights[0], sizeof r->weights[0]) == 0);
    CHECK(r->found[0].loss == whole->found[0].loss);
    folder_leave(folder);
    free(r);
    free(whole);
}

static void test_a_stop_is_one_of_all_and_the_run_goes_on_to_the_bit(void)
{
    check_stop(false);
    check_stop(true);
}

/* Stopped on one number of ranks, gone on with on another: from the same weights, to the end of the epochs. */
static void test_a_checkpoint_is_of_any_number_of_ranks(void)
{
    const net_setting plain = {.dropout = true}, shards = {.dropout = true, .shards = true};
    char folder[512];
    run *r = calloc(1, sizeof *r);
    REQUIRE(folder_enter(folder));
    for (int next = 1; next <= 3; next += 2) {
        *r = (run){.setting = &shards, .epochs = 6, .checkpoint = "run.safetensors", .stopper = 0, .stop_at = 8};
        ranks_run(&(ranks_network){.size = 4}, fit_job, r);
        CHECK_INT(r->err[0].status, MW_ERROR_STOPPED);
        const double before = r->found[0].loss;
        *r = (run){.setting = &plain, .epochs = 6, .checkpoint = "run.safetensors"};
        ranks_run(&(ranks_network){.size = next}, fit_job, r);
        check_alike(r, next);
        CHECK(r->found[0].loss < before);
        /* 9 steps of 4 ranks are 36 batches: one epoch of 24 and 12 more, of which 132 - 24 are left */
        CHECK_INT(r->steps[0], 9 + (6 * 24 - 36) / next);
        CHECK_INT(remove("run.safetensors"), 0);
    }
    folder_leave(folder);
    free(r);
}

/* ---- failures ---- */

static void test_other_data_is_found_before_the_first_step(void)
{
    const net_setting plain = {0};
    run *r = calloc(1, sizeof *r);
    *r = (run){.setting = &plain, .epochs = 2, .odd_data = 1};
    ranks_run(&(ranks_network){.size = 3}, fit_job, r);
    for (int rank = 0; rank < 3; rank++) {
        CHECK_ERROR(r->err[rank], MW_ERROR_ARGUMENT, "rank 1 has other training data");
        CHECK_INT(r->steps[rank], 0);
    }
    free(r);
}

static void test_a_file_that_rank_0_cannot_write_ends_all(void)
{
    const net_setting plain = {0};
    char folder[512];
    run *r = calloc(1, sizeof *r);
    REQUIRE(folder_enter(folder));
    CHECK_INT(mkdir("run.safetensors", 0700), 0); /* a folder of that name */
    *r = (run){.setting = &plain, .epochs = 2, .checkpoint = "run.safetensors"};
    ranks_run(&(ranks_network){.size = 3}, fit_job, r);
    for (int rank = 0; rank < 3; rank++) {
        CHECK_INT(r->err[rank].status, r->err[0].status);
        CHECK(r->err[rank].status != MW_OK);
        CHECK_INT(r->steps[rank], 0);
        if (rank > 0)
            CHECK_CONTAINS(r->err[rank].message, "rank 0: ");
    }
    CHECK_INT(rmdir("run.safetensors"), 0);
    folder_leave(folder);
    free(r);
}

int main(void)
{
    RUN(test_fit_is_that_of_one_rank_that_accumulates);
    RUN(test_a_schedule_is_that_of_one_rank_that_accumulates);
    RUN(test_parts_of_a_set_train_too);
    RUN(test_a_stop_is_one_of_all_and_the_run_goes_on_to_the_bit);
    RUN(test_a_checkpoint_is_of_any_number_of_ranks);
    RUN(test_other_data_is_found_before_the_first_step);
    RUN(test_a_file_that_rank_0_cannot_write_ends_all);
    return check_finish();
}

/* mw_trainer_fit: what it trains, reports and saves, how it stops and goes on. */
#include "runtime/files.h"
#include "runtime/fit/fit.h"
#include "runtime/small.h"
#include "runtime/trainer/object/trainer_access.h"
#include "support/check.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BATCHES = SMALL_EXAMPLES / SMALL_N };

static mw_dataset *make_data(mw_error *err)
{
    const small_data data = small_make_data();
    const mw_column columns[] = {
        {.name = "x", .dtype = MW_F32, .shape = MW_SHAPE(SMALL_D), .data = data.x},
        {.name = "y", .dtype = MW_I32, .data = data.y},
    };
    return mw_dataset_create(columns, 2, SMALL_EXAMPLES, true, err);
}

static mw_trainer *make_trainer(mw_optimizer optimizer, mw_device device, bool with_metric, mw_error *err)
{
    small_net net = small_create(NULL);
    mw_trainer_options options = mw_trainer_defaults(net.loss, optimizer);
    options.metric = with_metric ? net.accuracy : NULL;
    options.compile.device = device;
    options.compile.provider = MW_PROVIDER_ENGINE;
    options.compile.threads = 1;
    mw_trainer *trainer = mw_trainer_create(&options, err);
    mw_graph_destroy(net.graph);
    return trainer;
}

static mw_trainer *make_adam(mw_error *err) { return make_trainer(mw_adam(0.02f), MW_DEVICE_CPU, true, err); }

static bool same_state(mw_trainer *a, mw_trainer *b)
{
    const mw__state_set *left = mw__trainer_state(a), *right = mw__trainer_state(b);
    bool same = left->count == right->count && left->count > 0;
    for (size_t i = 0; same && i < left->count; i++)
        same = memcmp(left->entries[i].data, right->entries[i].data, left->entries[i].size) == 0;
    return same;
}

/* What a callback saw, and what it is to do. */
typedef struct watch {
    int calls, epoch_ends;
    int64_t stop_at; /* step at which it asks to stop; 0 = never */
    bool at_end;     /* only at the end of an epoch */
    bool signals;    /* raises SIGINT instead */
    mw_progress last, last_end;
    float rates[200];
    mw_trainer *trainer;
} watch;

static bool on_progress(void *user, const mw_progress *progress)
{
    watch *seen = user;
    if (seen->trainer != NULL && !progress->epoch_end)
        seen->rates[progress->step - 1] = mw_trainer_get_info(seen->trainer).learning_rate;
    seen->calls++;
    seen->epoch_ends += progress->epoch_end;
    seen->last = *progress;
    if (progress->epoch_end)
        seen->last_end = *progress;
    const bool stop = seen->stop_at != 0 && progress->step == seen->stop_at && progress->epoch_end == seen->at_end;
    if (stop && seen->signals) {
        raise(SIGINT);
        return false;
    }
    return stop;
}

static mw_fit_options make_fit(const mw_dataset *data, int64_t epochs, watch *seen)
{
    mw_fit_options fit = mw_fit_defaults(data, epochs);
    fit.progress.quiet = true;
    fit.data.seed = 3;
    fit.progress.function = on_progress;
    fit.progress.user = seen;
    return fit;
}

static void test_fit_trains_and_reports(void)
{
    mw_error err = {0};
    mw_dataset *data = make_data(&err);
    mw_trainer *trainer = make_adam(&err);
    REQUIRE(data != NULL && trainer != NULL);
    watch seen = {0};
    mw_fit_options fit = make_fit(data, 20, &seen);
    fit.data.validation = data;
    CHECK_INT(mw_trainer_fit(trainer, &fit, &err), MW_OK);
    CHECK_OK(err);
    CHECK_INT(seen.epoch_ends, 20);
    CHECK_INT(seen.calls, 20 * (BATCHES + 1));
    CHECK_INT(mw_trainer_get_info(trainer).steps, 20 * BATCHES);
    const mw_progress *end = &seen.last_end;
    CHECK(end->epoch == 20 && end->epochs == 20 && end->step == 20 * BATCHES && end->steps == 20 * BATCHES);
    CHECK(end->epoch_end && end->seconds >= 0.0 && end->seconds_left == 0.0);
    const small_data raw = small_make_data();
    const small_weights weights = small_read(trainer, &err);
    CHECK_NEAR(end->validation.loss, small_loss(&weights, &raw, 0, SMALL_EXAMPLES), 1e-5);
    CHECK_NEAR(end->validation.metrics[0].value, small_accuracy(&weights, &raw, 0, SMALL_EXAMPLES), 1e-6);
    CHECK(end->loss < 0.5); /* from about log 3 */
    CHECK(end->validation.metrics[0].value > 0.8);
    mw_trainer_destroy(trainer);
    mw_dataset_destroy(data);
}

/* mw_trainer_fit is the loop that anybody could write. */
static void test_fit_equals_the_open_loop(void)
{
    mw_error err = {0};
    mw_dataset *data = make_data(&err);
    mw_trainer *fitted = make_adam(&err), *looped = make_adam(&err);
    REQUIRE(data != NULL && fitted != NULL && looped != NULL);
    watch seen = {0};
    const mw_fit_options fit = make_fit(data, 3, &seen);
    mw_trainer_fit(fitted, &fit, &err);
    mw_loader_options options = mw_loader_defaults(data, SMALL_N);
    options.seed = 3;
    mw_loader *loader = mw_loader_create(&options, &err);
    double sum = 0.0;
    for (int epoch = 0; epoch < 3; epoch++) {
        float loss;
        sum = 0.0;
        for (const mw_batch *batch; (batch = mw_loader_next(loader, &err)) != NULL;) {
            mw_trainer_step(looped, batch, &loss, &err);
            sum += (double)loss;
        }
    }
    CHECK_OK(err);
    CHECK(same_state(fitted, looped));
    CHECK_NEAR(seen.last_end.loss, sum / BATCHES, 1e-12);
    mw_loader_destroy(loader);
    mw_trainer_destroy(fitted);
    mw_trainer_destroy(looped);
    mw_dataset_destroy(data);
}

static void check_rates(mw_schedule schedule, const mw_dataset *data, const char *checkpoint)
{
    mw_error err = {0};
    mw_trainer *trainer = make_adam(&err);
    REQUIRE(trainer != NULL);
    watch seen = {.trainer = trainer};
    mw_fit_options fit = make_fit(data, 4, &seen);
    const mw_program *program = mw_trainer_program(trainer);
    fit.schedule.rate = schedule;
    fit.checkpoint.path = checkpoint;
    CHECK_INT(mw_trainer_fit(trainer, &fit, &err), MW_OK);
    for (int64_t t = 0; t < 4 * BATCHES; t++)
        CHECK_NEAR(seen.rates[t], (double)0.02f * mw_schedule_factor(&schedule, t, 4 * BATCHES), 1e-8);
    CHECK(mw_trainer_get_info(trainer).learning_rate == 0.02f); /* as it was */
    CHECK(mw_trainer_program(trainer) == program);              /* fed, not compiled */
    CHECK_OK(err);
    mw_trainer_destroy(trainer);
}

/* 1, 1/2, 1/4, 1, ... */
static double saw(void *user, int64_t step, int64_t steps)
{
    (void)user;
    return step < steps ? pow(0.5, (double)(step % 3)) : (double)NAN;
}

static void test_fit_moves_the_learning_rate(void)
{
    mw_error err = {0};
    mw_dataset *data = make_data(&err);
    mw_schedule warm = mw_schedule_cosine(0.1);
    warm.warmup_steps = BATCHES;
    REQUIRE(data != NULL);
    check_rates(mw_schedule_constant(), data, NULL);
    check_rates(mw_schedule_linear(0.0), data, scratch("rates")); /* saving must not disturb it */
    check_rates(mw_schedule_cosine(0.0), data, NULL);
    check_rates(mw_schedule_step(3, 0.5), data, NULL);
    check_rates(mw_schedule_one_cycle(0.3, 25, 1e4), data, NULL);
    check_rates(mw_schedule_custom(saw, NULL), data, NULL);
    check_rates(warm, data, NULL);
    mw_dataset_destroy(data);
}

static double nan_at_3(void *user, int64_t step, int64_t steps)
{
    (void)user, (void)steps;
    return step == 2 ? (double)NAN : 1.0;
}

static void test_fit_ends_at_a_factor_that_is_no_number(void)
{
    mw_error err = {0};
    mw_dataset *data = make_data(&err);
    mw_trainer *trainer = make_adam(&err);
    REQUIRE(data != NULL && trainer != NULL);
    watch seen = {0};
    mw_fit_options fit = make_fit(data, 1, &seen);
    fit.schedule.rate = mw_schedule_custom(nan_at_3, NULL);
    CHECK_INT(mw_trainer_fit(trainer, &fit, &err), MW_ERROR_ARGUMENT);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "the schedule gave the factor nan for step 3");
    CHECK_INT(mw_trainer_get_info(trainer).steps, 2);
    CHECK(mw_trainer_get_info(trainer).learning_rate == 0.02f);
    mw_error refused = {0};
    fit.schedule.rate = mw_schedule_constant();
    fit.schedule.rate.warmup_steps = BATCHES + 1;
    CHECK_INT(mw_trainer_fit(trainer, &fit, &refused), MW_ERROR_ARGUMENT);
    CHECK_ERROR(refused, MW_ERROR_ARGUMENT, "a warm-up of 6 steps in a training of 5");
    mw_trainer_destroy(trainer);
    mw_dataset_destroy(data);
}

/* The tail of a cosine is below the smallest fp16 number; with weight decay even earlier. */
static void test_fit_keeps_the_tail_of_a_schedule_on_fp16(void)
{
    mw_error err = {0};
    mw_dataset *data = make_data(&err);
    mw_trainer *trainer = make_trainer(mw_adamw(1e-3f, 0.01f), MW_DEVICE_ANE, false, &err);
    CHECK_OK(err);
    REQUIRE(data != NULL && trainer != NULL);
    watch seen = {.trainer = trainer};
    mw_fit_options fit = make_fit(data, 40, &seen);
    fit.schedule.rate = mw_schedule_cosine(0.0);
    CHECK_INT(mw_trainer_fit(trainer, &fit, &err), MW_OK);
    CHECK_OK(err);
    CHECK(seen.rates[199] > 0.0f && seen.rates[199] < 2e-5f);
    for (int t = 1; t < 200; t++) /* the power of two that stands in is less than twice the last rate that is held */
        CHECK(seen.rates[t] < 2.0f * seen.rates[t - 1]);
    CHECK(seen.rates[198] == seen.rates[199]);
    mw_trainer_destroy(trainer);
    mw_dataset_destroy(data);
}

/* ---- stopping and going on ---- */

/* Stops at step `stop_at`, goes on in a new trainer, and compares with a run that was never stopped. */
static void check_goes_on(int64_t stop_at, bool at_end, bool signals, mw_schedule schedule)
{
    mw_error err = {0};
    mw_dataset *data = make_data(&err);
    mw_trainer *straight = make_adam(&err), *first = make_adam(&err), *second = make_adam(&err);
    REQUIRE(data != NULL && straight != NULL && first != NULL && second != NULL);
    watch all = {0}, before = {.stop_at = stop_at, .at_end = at_end, .signals = signals}, after = {0};
    mw_fit_options fit = make_fit(data, 4, &all);
    fit.schedule.rate = schedule;
    fit.data.validation = data;
    CHECK_INT(mw_trainer_fit(straight, &fit, &err), MW_OK);

    remove(scratch("run"));
    fit.checkpoint.path = scratch("run");
    fit.progress.user = &before;
    mw_error stopped = {0};
    CHECK_INT(mw_trainer_fit(first, &fit, &stopped), MW_ERROR_STOPPED);
    CHECK_CONTAINS(stopped.message, "the same run goes on from");
    CHECK_INT(mw_trainer_get_info(first).steps, stop_at);
    fit.progress.user = &after;
    CHECK_INT(mw_trainer_fit(second, &fit, &err), MW_OK);
    CHECK_OK(err);
    CHECK_INT(mw_trainer_get_info(second).steps, 4 * BATCHES);
    CHECK(same_state(straight, second));
    CHECK_INT(before.calls + after.calls, all.calls);
    CHECK_INT(before.epoch_ends + after.epoch_ends, 4);
    CHECK(all.last_end.validation.loss == after.last_end.validation.loss);
    CHECK_NEAR(after.last_end.loss, all.last_end.loss, 0.0);
    mw_trainer_destroy(straight);
    mw_trainer_destroy(first);
    mw_trainer_destroy(second);
    mw_dataset_destroy(data);
}

static void test_fit_goes_on_from_the_middle_of_an_epoch(void)
{
    check_goes_on(BATCHES + 2, false, false, mw_schedule_constant());
    check_goes_on(1, false, false, mw_schedule_linear(0.0));
    check_goes_on(3 * BATCHES + 4, false, false, mw_schedule_cosine(0.0));
    check_goes_on(BATCHES + 1, false, false, mw_schedule_one_cycle(0.4, 10, 10));
    mw_schedule warm = mw_schedule_step(4, 0.5);
    warm.warmup_steps = 2 * BATCHES;
    check_goes_on(BATCHES + 3, false, false, warm); /* within the warm-up */
}

static void test_fit_goes_on_from_the_end_of_an_epoch(void)
{
    check_goes_on(2 * BATCHES, true, false, mw_schedule_cosine(0.0));
    check_goes_on(4 * BATCHES, false, false,
                  mw_schedule_cosine(0.0)); /* after the last step, before the last validation */
    check_goes_on(2 * BATCHES, false, false, mw_schedule_cosine(0.0));
}

static void on_signal(int number) { (void)number; }

static void test_fit_stops_on_ctrl_c_and_goes_on(void)
{
    struct sigaction mine = {0}, found = {0};
    mine.sa_handler = on_signal;
    sigaction(SIGINT, &mine, NULL);
    check_goes_on(BATCHES + 2, false, true, mw_schedule_linear(0.0));
    check_goes_on(2 * BATCHES, true, true, mw_schedule_linear(0.0));
    sigaction(SIGINT, NULL, &found);
    CHECK(found.sa_handler == on_signal); /* given back */
    mine.sa_handler = SIG_DFL;
    sigaction(SIGINT, &mine, NULL);
}

static void test_fit_leaves_an_ignored_ctrl_c_ignored(void)
{
    mw_error err = {0};
    mw_dataset *data = make_data(&err);
    mw_trainer *trainer = make_adam(&err);
    REQUIRE(data != NULL && trainer != NULL);
    signal(SIGINT, SIG_IGN);
    watch seen = {.stop_at = 3, .signals = true};
    mw_fit_options fit = make_fit(data, 2, &seen);
    CHECK_INT(mw_trainer_fit(trainer, &fit, &err), MW_OK);
    signal(SIGINT, on_signal);
    fit.progress.ignore_signals = true;
    CHECK_INT(mw_trainer_fit(trainer, &fit, &err), MW_OK);
    signal(SIGINT, SIG_DFL);
    CHECK_INT(seen.epoch_ends, 4);
    mw_trainer_destroy(trainer);
    mw_dataset_destroy(data);
}

static void test_fit_of_a_finished_run_only_validates(void)
{
    mw_error err = {0};
    mw_dataset *data = make_data(&err);
    mw_trainer *first = make_adam(&err), *second = make_adam(&err);
    REQUIRE(data != NULL && first != NULL && second != NULL);
    watch seen = {0}, again = {0};
    mw_fit_options fit = make_fit(data, 2, &seen);
    char path[500];
    snprintf(path, sizeof path, "%s/deeper/run", scratch("folder")); /* the folders are made */
    fit.checkpoint.path = path;
    fit.data.validation = data;
    CHECK_INT(mw_trainer_fit(first, &fit, &err), MW_OK);
    CHECK_OK(err);
    fit.progress.user = &again;
    CHECK_INT(mw_trainer_fit(second, &fit, &err), MW_OK);
    CHECK_OK(err);
    CHECK_INT(again.calls, 1);
    CHECK_INT(mw_trainer_get_info(second).steps, 2 * BATCHES);
    CHECK(same_state(first, second));
    CHECK(again.last.epoch_end && again.last.validation.loss == seen.last_end.validation.loss);
    CHECK(again.last.loss == seen.last_end.loss);
    fit.epochs = 3; /* more epochs: it goes on */
    again = (watch){0};
    CHECK_INT(mw_trainer_fit(second, &fit, &err), MW_OK);
    CHECK_INT(again.calls, BATCHES + 1);
    remove(path);
    rmdir(scratch("folder/deeper"));
    mw_trainer_destroy(first);
    mw_trainer_destroy(second);
    mw_dataset_destroy(data);
}

static void test_fit_refuses_a_corrupt_checkpoint(void)
{
    mw_error err = {0};
    mw_dataset *data = make_data(&err);
    mw_trainer *trainer = make_adam(&err);
    REQUIRE(data != NULL && trainer != NULL);
    watch seen = {0};
    mw_fit_options fit = make_fit(data, 2, &seen);
    fit.checkpoint.path = scratch("corrupt");
    static const char *const contents[] = {"", "not a checkpoint at all"};
    for (int i = 0; i < 2; i++) {
        put_file(scratch("corrupt"), contents[i], strlen(contents[i]));
        mw_error refused = {0};
        CHECK_INT(mw_trainer_fit(trainer, &fit, &refused), MW_ERROR_FORMAT);
        size_t size = 0;
        unsigned char *bytes = get_file(scratch("corrupt"), &size);
        CHECK(size == strlen(contents[i])); /* not overwritten */
        free(bytes);
    }
    CHECK_INT(seen.calls, 0);
    CHECK_INT(mw_trainer_get_info(trainer).steps, 0);

    remove(scratch("corrupt"));
    fit.epochs = 1;
    CHECK_INT(mw_trainer_fit(trainer, &fit, &err), MW_OK);
    fit.epochs = 2;
    fit.data.seed = 4; /* the position would mean other examples */
    mw_error other = {0};
    CHECK_INT(mw_trainer_fit(trainer, &fit, &other), MW_ERROR_ARGUMENT);
    CHECK_CONTAINS(other.message, "shuffled and seed 3, this one has");
    fit.data.seed = 3;
    fit.data.keep_order = true;
    other = (mw_error){0};
    CHECK_INT(mw_trainer_fit(trainer, &fit, &other), MW_ERROR_ARGUMENT);
    mw_trainer_destroy(trainer);
    mw_dataset_destroy(data);
}

static void test_fit_rejects_bad_options(void)
{
    mw_error err = {0};
    mw_dataset *data = make_data(&err);
    mw_trainer *trainer = make_adam(&err);
    REQUIRE(data != NULL && trainer != NULL);
    mw_fit_options bad[6];
    for (int i = 0; i < 6; i++)
        bad[i] = mw_fit_defaults(data, 1);
    bad[0].struct_size = 0;
    bad[1].data.training = NULL;
    bad[2].epochs = 0;
    bad[3].schedule.rate.kind = (mw_schedule_kind)9;
    bad[4].checkpoint.path = "";
    bad[5].epochs = INT64_MAX;
    for (int i = 0; i < 6; i++) {
        mw_error refused = {0};
        bad[i].progress.quiet = true;
        CHECK_INT(mw_trainer_fit(trainer, &bad[i], &refused), MW_ERROR_ARGUMENT);
        CHECK_INT(mw_trainer_fit(trainer, &bad[i], NULL), MW_ERROR_ARGUMENT);
    }
    mw_error none = {0};
    const mw_fit_options fit = mw_fit_defaults(data, 1);
    CHECK_INT(mw_trainer_fit(NULL, &fit, &none), MW_ERROR_ARGUMENT);
    CHECK_INT(mw_trainer_fit(trainer, &fit, &none), MW_ERROR_ARGUMENT); /* set already */
    CHECK_INT(mw_trainer_get_info(trainer).steps, 0);
    mw_trainer_destroy(trainer);
    mw_dataset_destroy(data);
}

/* Example 17 cannot be learned from. */
static mw_status make_bad_example(void *user, int64_t example, size_t column, void *out, mw_error *err)
{
    const bool fails = *(const bool *)user;
    (void)err;
    if (example == 17 && fails)
        return MW_ERROR_FILE;
    if (column == 1) {
        *(int32_t *)out = (int32_t)(example % SMALL_C);
        return MW_OK;
    }
    for (int i = 0; i < SMALL_D; i++)
        ((float *)out)[i] = example == 17 ? (float)NAN : (float)(example + i) / 50.0f;
    return MW_OK;
}

static void check_ends_at_the_bad_example(bool fails, mw_status status, const char *part)
{
    const mw_column columns[] = {{.name = "x", .dtype = MW_F32, .shape = MW_SHAPE(SMALL_D)},
                                 {.name = "y", .dtype = MW_I32}};
    mw_error err = {0};
    mw_dataset *data = mw_dataset_create_callback(columns, 2, SMALL_EXAMPLES, make_bad_example, &fails, &err);
    mw_trainer *trainer = make_adam(&err);
    REQUIRE(data != NULL && trainer != NULL);
    watch seen = {0};
    mw_fit_options fit = make_fit(data, 2, &seen);
    fit.data.keep_order = true;
    fit.schedule.rate = mw_schedule_linear(0.0);
    fit.checkpoint.path = scratch("never");
    CHECK_INT(mw_trainer_fit(trainer, &fit, &err), status);
    CHECK_ERROR(err, status, part);
    CHECK_INT(mw_trainer_get_info(trainer).steps, 17 / SMALL_N);
    CHECK(mw_trainer_get_info(trainer).learning_rate == 0.02f);
    CHECK(!file_exists(scratch("never")));
    mw_trainer_destroy(trainer);
    mw_dataset_destroy(data);
}

static void test_fit_ends_at_the_first_bad_example(void)
{
    check_ends_at_the_bad_example(false, MW_ERROR_NUMERIC, "17");
    check_ends_at_the_bad_example(true, MW_ERROR_FILE, "example 17 of column \"x\"");
}

static void test_fit_names_a_missing_column(void)
{
    const small_data raw = small_make_data();
    const mw_column column = {.name = "x", .dtype = MW_F32, .shape = MW_SHAPE(SMALL_D), .data = raw.x};
    mw_error err = {0};
    mw_dataset *data = mw_dataset_create(&column, 1, SMALL_EXAMPLES, false, &err);
    mw_trainer *trainer = make_adam(&err);
    REQUIRE(data != NULL && trainer != NULL);
    watch seen = {0};
    const mw_fit_options fit = make_fit(data, 2, &seen);
    CHECK_INT(mw_trainer_fit(trainer, &fit, &err), MW_ERROR_ARGUMENT);
    CHECK_CONTAINS(err.message, "\"y\"");
    mw_trainer_destroy(trainer);
    mw_dataset_destroy(data);
}

/* A checkpoint that the user's own loop wrote has a position, too. */
static void test_fit_goes_on_from_a_checkpoint_of_the_open_loop(void)
{
    mw_error err = {0};
    mw_dataset *data = make_data(&err);
    mw_trainer *first = make_adam(&err), *second = make_adam(&err);
    REQUIRE(data != NULL && first != NULL && second != NULL);
    const mw_loader_position position = {.epoch = 1, .batch = 2};
    CHECK_INT(mw_trainer_save(first, scratch("open"), &position, &err), MW_OK);
    watch seen = {0};
    mw_fit_options fit = make_fit(data, 2, &seen);
    fit.checkpoint.path = scratch("open");
    CHECK_INT(mw_trainer_fit(second, &fit, &err), MW_OK);
    CHECK_OK(err);
    CHECK_INT(mw_trainer_get_info(second).steps, BATCHES - 2);
    fit.checkpoint.path = scratch("far");
    const mw_loader_position beyond = {.epoch = 0, .batch = BATCHES + 1}; /* of a larger data set */
    CHECK_INT(mw_trainer_save(first, scratch("far"), &beyond, &err), MW_OK);
    const int64_t steps = mw_trainer_get_info(second).steps;
    CHECK_INT(mw_trainer_fit(second, &fit, &err), MW_ERROR_ARGUMENT);
    CHECK_CONTAINS(err.message, "an epoch has 5 batches");
    CHECK_INT(mw_trainer_get_info(second).steps, steps); /* as it was */
    mw_trainer_destroy(first);
    mw_trainer_destroy(second);
    mw_dataset_destroy(data);
}

/* ---- what is shown ---- */

static void test_progress_lines(void)
{
    char text[256];
    mw_progress progress = {.epoch = 2, .epochs = 5, .step = 780, .steps = 2340, .loss = 0.12345, .seconds_left = 75.2};
    mw__progress_line(text, sizeof text, &progress, 912.7, 200);
    CHECK_STR(text, "epoch 2/5  loss 0.1235  step 780/2340  912 steps/s  1:15 min left");
    mw__progress_line(text, sizeof text, &progress, 912.7, 20);
    CHECK_STR(text, "epoch 2/5  loss 0.1"); /* one column is left free */
    mw__progress_line(text, sizeof text, &progress, 912.7, 0);
    CHECK_STR(text, "epoch 2/5  loss 0.1235  step 780/2340  912 steps/s  1:15 min left");
    progress.seconds_left = 7325.0;
    progress.loss = -2.5e-7;
    mw__progress_line(text, sizeof text, &progress, 0.0, 200);
    CHECK_STR(text, "epoch 2/5  loss -2.5e-07  step 780/2340  0 steps/s  2:02 h left");
    progress.validation.loss = 1e12;
    progress.validation.metric_count = 2;
    progress.validation.metrics[0] = (mw_measure){"accuracy", 0.97651};
    progress.validation.metrics[1] = (mw_measure){"top 5", 1.0};
    progress.seconds = 9.96;
    progress.loss = 0.0;
    mw__epoch_line(text, sizeof text, &progress, true);
    CHECK_STR(text, "epoch 2/5  loss 0.0000  validation loss 1e+12  accuracy 0.9765  top 5 1.0000  10.0 s");
    progress.seconds = 0.0327;
    mw__epoch_line(text, sizeof text, &progress, false);
    CHECK_STR(text, "epoch 2/5  loss 0.0000  0.0 s");
    char small[8];
    mw__epoch_line(small, sizeof small, &progress, true);
    CHECK_STR(small, "epoch 2");
}

/* Elsewhere than on a terminal: plain lines, one per epoch. */
static void test_fit_prints_one_line_per_epoch_to_a_file(void)
{
    mw_error err = {0};
    mw_dataset *data = make_data(&err);
    mw_trainer *trainer = make_adam(&err);
    REQUIRE(data != NULL && trainer != NULL);
    mw_fit_options fit = mw_fit_defaults(data, 3);
    fit.data.validation = data;
    fflush(stderr);
    const int kept = dup(STDERR_FILENO);
    FILE *to = fopen(scratch("stderr"), "wb");
    REQUIRE(to != NULL && kept >= 0);
    dup2(fileno(to), STDERR_FILENO);
    const mw_status status = mw_trainer_fit(trainer, &fit, &err);
    fit.progress.quiet = true;
    mw_trainer_fit(trainer, &fit, &err);
    fflush(stderr);
    dup2(kept, STDERR_FILENO);
    close(kept);
    fclose(to);
    CHECK_INT(status, MW_OK);
    size_t size = 0;
    char *text = (char *)get_file(scratch("stderr"), &size);
    REQUIRE(text != NULL);
    text[size] = '\0';
    int lines = 0;
    for (size_t i = 0; i < size; i++)
        lines += text[i] == '\n';
    CHECK_INT(lines, 3);
    CHECK(strncmp(text, "epoch 1/3  loss ", 16) == 0);
    CHECK_CONTAINS(text, "\nepoch 3/3  loss ");
    CHECK_CONTAINS(text, "  accuracy 0.");
    CHECK(strchr(text, '\r') == NULL && strchr(text, '\033') == NULL);
    free(text);
    mw_trainer_destroy(trainer);
    mw_dataset_destroy(data);
}

int main(void)
{
    RUN(test_progress_lines);
    RUN(test_fit_trains_and_reports);
    RUN(test_fit_equals_the_open_loop);
    RUN(test_fit_moves_the_learning_rate);
    RUN(test_fit_ends_at_a_factor_that_is_no_number);
    RUN(test_fit_keeps_the_tail_of_a_schedule_on_fp16);
    RUN(test_fit_goes_on_from_the_middle_of_an_epoch);
    RUN(test_fit_goes_on_from_the_end_of_an_epoch);
    RUN(test_fit_stops_on_ctrl_c_and_goes_on);
    RUN(test_fit_leaves_an_ignored_ctrl_c_ignored);
    RUN(test_fit_of_a_finished_run_only_validates);
    RUN(test_fit_refuses_a_corrupt_checkpoint);
    RUN(test_fit_rejects_bad_options);
    RUN(test_fit_ends_at_the_first_bad_example);
    RUN(test_fit_names_a_missing_column);
    RUN(test_fit_goes_on_from_a_checkpoint_of_the_open_loop);
    RUN(test_fit_prints_one_line_per_epoch_to_a_file);
    return check_finish();
}

/* What mw_trainer_fit makes of its validations: an early end, a smaller rate, the best state at the end; a validation
 * set that is a share of the training set; rates and lines of callbacks. The rules are written out once more here, over
 * the values that a run without them reports. */
#include "runtime/files.h"
#include "runtime/metrics/metrics_lines.h"
#include "runtime/parallel/ranks_net.h"
#include "runtime/small.h"
#include "runtime/state/state.h"
#include "runtime/trainer/object/trainer_access.h"
#include "support/check.h"
#include "support/folder.h"

#include <math.h>
#include <millwright/data.h>
#include <stdlib.h>
#include <unistd.h>

enum { BATCHES = SMALL_EXAMPLES / SMALL_N, EPOCHS = 30 };

static char folder[512];

/* ---- the run ---- */

/* Some labels are wrong, so that what is learned too well is wrong, too. */
static mw_dataset *make_validation(mw_error *err)
{
    small_data data = small_make_data();
    for (int i = 0; i < SMALL_EXAMPLES; i += 5)
        data.y[i] = (data.y[i] + 1) % SMALL_C;
    const mw_column columns[] = {{.name = "x", .dtype = MW_F32, .shape = MW_SHAPE(SMALL_D), .data = data.x},
                                 {.name = "y", .dtype = MW_I32, .data = data.y}};
    return mw_dataset_create(columns, 2, SMALL_EXAMPLES, true, err);
}

static mw_dataset *make_data(mw_error *err)
{
    const small_data data = small_make_data();
    const mw_column columns[] = {{.name = "x", .dtype = MW_F32, .shape = MW_SHAPE(SMALL_D), .data = data.x},
                                 {.name = "y", .dtype = MW_I32, .data = data.y}};
    return mw_dataset_create(columns, 2, SMALL_EXAMPLES, true, err);
}

static mw_trainer *make_trainer(mw_error *err)
{
    small_net net = small_create_stateful(NULL);
    mw_tensor *nan = mw_log(mw_add_scalar(net.accuracy, -2.0), 0.0f);
    const mw_metric metrics[] = {{"accuracy", net.accuracy}, {"nothing", nan}};
    mw_trainer_options options = mw_trainer_defaults(net.loss, mw_adam(0.05f));
    options.metrics = metrics;
    options.metric_count = 2;
    options.compile.provider = MW_PROVIDER_ENGINE;
    options.compile.device = MW_DEVICE_CPU;
    options.compile.threads = 1;
    mw_trainer *trainer = mw_trainer_create(&options, err);
    mw_graph_destroy(net.graph);
    return trainer;
}

typedef struct seen {
    mw_trainer *trainer;
    int64_t stop_at; /* step; 0 = never */
    bool at_end;
    int epochs;
    double loss[EPOCHS], accuracy[EPOCHS];
    float rate[EPOCHS * BATCHES]; /* of each step */
    int64_t waited[EPOCHS], best_epoch[EPOCHS];
    unsigned char *state[EPOCHS]; /* after each epoch */
    size_t state_size;
} seen;

static unsigned char *copy_state(mw_trainer *trainer, size_t *out_size)
{
    const mw__state_set *set = mw__trainer_state(trainer);
    unsigned char *copy = NULL;
    *out_size = 0;
    for (size_t i = 0; i < set->count; i++) {
        copy = realloc(copy, *out_size + set->entries[i].size);
        memcpy(copy + *out_size, set->entries[i].data, set->entries[i].size);
        *out_size += set->entries[i].size;
    }
    return copy;
}

static bool watch(void *user, const mw_progress *progress)
{
    seen *s = user;
    const int64_t epoch = progress->epoch - 1;
    if (progress->epoch_end && epoch < EPOCHS) {
        s->epochs = (int)progress->epoch;
        s->loss[epoch] = progress->validation.loss;
        s->accuracy[epoch] = progress->validation.metrics[0].value;
        s->waited[epoch] = progress->waited;
        s->best_epoch[epoch] = progress->best_epoch;
        free(s->state[epoch]);
        s->state[epoch] = copy_state(s->trainer, &s->state_size);
    } else if (progress->step <= EPOCHS * BATCHES) {
        s->rate[progress->step - 1] = mw_trainer_get_info(s->trainer).learning_rate;
    }
    return s->stop_at != 0 && progress->step == s->stop_at && progress->epoch_end == s->at_end;
}

static void seen_free(seen *s)
{
    for (int i = 0; i < EPOCHS; i++)
        free(s->state[i]);
    mw_trainer_destroy(s->trainer);
    *s = (seen){0};
}

static mw_fit_options options_of(const mw_dataset *train, const mw_dataset *test)
{
    mw_fit_options fit = mw_fit_defaults(train, EPOCHS);
    fit.data.validation = test;
    fit.progress.quiet = fit.progress.ignore_signals = true;
    fit.stopping.best_by = "loss";
    fit.data.seed = 3;
    return fit;
}

/* A fresh trainer with these options; the callback is ours. */
static mw_status run(const mw_fit_options *options, seen *s, mw_error *err)
{
    mw_dataset *train = make_data(err), *test = make_validation(err);
    mw_fit_options fit = *options;
    mw_trainer_destroy(s->trainer);
    s->trainer = make_trainer(err);
    fit.data.training = train;
    fit.data.validation = options->data.validation_share > 0.0 ? NULL : test;
    fit.progress.function = watch;
    fit.progress.user = s;
    const mw_status status = mw_trainer_fit(s->trainer, &fit, err);
    mw_dataset_destroy(train);
    mw_dataset_destroy(test);
    return status;
}

static void check_bits(const seen *s, const unsigned char *state)
{
    size_t size;
    unsigned char *now = copy_state(s->trainer, &size);
    CHECK(state != NULL && size == s->state_size && memcmp(now, state, size) == 0);
    free(now);
}

/* What runs without any of it see. */
static void run_plain(seen *s)
{
    mw_error err = {0};
    mw_fit_options fit = options_of(NULL, NULL);
    fit.stopping.best_by = NULL;
    run(&fit, s, &err);
    CHECK_OK(err);
    CHECK_INT(s->epochs, EPOCHS);
}

/* ---- an early end ---- */

typedef struct rule {
    bool accuracy;
    int64_t patience;
    double min_delta;
} rule;

static const rule rules[] = {{false, 1, 0.0}, {false, 3, 0.0},  {false, 2, 0.01}, {false, 4, 0.1},
                             {true, 2, 0.0},  {true, 5, 0.001}, {false, 29, 0.0}};
enum { RULES = sizeof rules / sizeof rules[0] };

/* The epoch after which it ends, and the best until then. */
static int expected_end(const rule *r, const seen *s, int *out_best)
{
    double reference = 0.0, best = 0.0;
    int64_t waited = 0;
    for (int i = 0; i < EPOCHS; i++) {
        const double value = r->accuracy ? -s->accuracy[i] : s->loss[i]; /* less is better */
        waited = i == 0 || value < reference - r->min_delta ? 0 : waited + 1;
        reference = waited == 0 ? value : reference;
        if (i == 0 || value < best)
            *out_best = i + 1;
        best = i == 0 || value < best ? value : best;
        if (waited == r->patience)
            return i + 1;
    }
    return EPOCHS;
}

static void apply(const rule *r, mw_fit_options *fit)
{
    fit->stopping.best_by = r->accuracy ? "accuracy" : "loss";
    fit->stopping.best_highest = r->accuracy;
    fit->stopping.patience = r->patience;
    fit->stopping.min_delta = r->min_delta;
}

static void test_patience_ends_a_run(void)
{
    seen plain = {0}, early = {0};
    int ended_early = 0;
    run_plain(&plain);
    for (int i = 0; i < RULES; i++) {
        mw_error err = {0};
        mw_fit_summary summary;
        int best = 0;
        const int end = expected_end(&rules[i], &plain, &best);
        mw_fit_options fit = options_of(NULL, NULL);
        apply(&rules[i], &fit);
        fit.summary = &summary;
        CHECK_INT(run(&fit, &early, &err), MW_OK);
        CHECK_OK(err);
        check_note(early.epochs == end, __FILE__, __LINE__, "rule %d: ends at %d, not %d", i, early.epochs, end);
        CHECK_INT(mw_trainer_get_info(early.trainer).steps, end * BATCHES);
        check_bits(&early, plain.state[end - 1]); /* it changes nothing else */
        CHECK(summary.end == (end < EPOCHS || rules[i].patience == 29 ? summary.end : MW_FIT_FINISHED));
        CHECK(end == EPOCHS || summary.end == MW_FIT_EARLY);
        CHECK(summary.epochs == end && summary.steps == end * BATCHES && !summary.restored);
        CHECK_INT(summary.best_epoch, best);
        CHECK(summary.best == (rules[i].accuracy ? plain.accuracy[best - 1] : plain.loss[best - 1]));
        CHECK(summary.validation.loss == plain.loss[end - 1]);
        CHECK_INT(early.best_epoch[end - 1], best);
        ended_early += end < EPOCHS;
    }
    CHECK(ended_early >= 4); /* else the data shows nothing */
    seen_free(&plain);
    seen_free(&early);
}

/* Stopped anywhere, also behind the last step of an epoch, and started again. */
static void test_going_on_ends_at_the_same_epoch(void)
{
    seen plain = {0}, parts = {0};
    run_plain(&plain);
    for (int i = 0; i < RULES; i += 2) {
        int best = 0;
        const int end = expected_end(&rules[i], &plain, &best);
        for (int64_t at = 1; at <= end * BATCHES; at += 3) {
            mw_error err = {0};
            mw_fit_summary summary;
            mw_fit_options fit = options_of(NULL, NULL);
            folder_empty(".");
            apply(&rules[i], &fit);
            fit.checkpoint.path = "run.safetensors";
            fit.summary = &summary;
            parts.stop_at = at, parts.at_end = at % BATCHES == 0 && at % 2 == 0;
            const mw_status status = run(&fit, &parts, &err);
            CHECK(status == MW_ERROR_STOPPED || (status == MW_OK && at == end * BATCHES));
            CHECK(summary.end == (status == MW_OK ? summary.end : MW_FIT_STOPPED));
            parts.stop_at = 0;
            for (int again = 0; again < 2; again++) {
                err = (mw_error){0};
                CHECK_INT(run(&fit, &parts, &err), MW_OK);
                CHECK_OK(err);
                CHECK_INT(parts.epochs, end);
                CHECK_INT(mw_trainer_get_info(parts.trainer).steps, end * BATCHES);
                CHECK(summary.end == (end < EPOCHS ? MW_FIT_EARLY : summary.end) && summary.best_epoch == best);
                check_bits(&parts, plain.state[end - 1]);
            }
        }
    }
    seen_free(&plain);
    seen_free(&parts);
}

static void test_what_is_no_number_is_waited_out(void)
{
    seen s = {0};
    mw_error err = {0};
    mw_fit_summary summary;
    mw_fit_options fit = options_of(NULL, NULL);
    fit.stopping.best_by = "nothing";
    fit.stopping.patience = 4;
    fit.stopping.restore_best = true;
    fit.summary = &summary;
    run(&fit, &s, &err);
    CHECK_OK(err);
    CHECK_INT(s.epochs, 4);
    CHECK(summary.end == MW_FIT_EARLY && summary.best_epoch == 0 && !summary.restored);
    seen_free(&s);
}

static void test_longer_patience_goes_on(void)
{
    seen plain = {0}, s = {0};
    mw_error err = {0};
    int best = 0;
    rule r = rules[0];
    run_plain(&plain);
    folder_empty(".");
    mw_fit_options fit = options_of(NULL, NULL);
    apply(&r, &fit);
    fit.checkpoint.path = "longer.safetensors";
    run(&fit, &s, &err);
    const int first = s.epochs;
    r.patience = fit.stopping.patience = 3;
    run(&fit, &s, &err);
    CHECK_OK(err);
    CHECK(first < s.epochs && s.epochs == expected_end(&r, &plain, &best));
    seen_free(&plain);
    seen_free(&s);
}

/* ---- the best at the end ---- */

static void test_the_best_is_restored(void)
{
    seen plain = {0}, s = {0};
    run_plain(&plain);
    for (int i = 0; i < RULES; i++)
        for (int saved = 0; saved < 2; saved++) {
            mw_error err = {0};
            mw_fit_summary summary;
            int best = 0;
            expected_end(&rules[i], &plain, &best);
            mw_fit_options fit = options_of(NULL, NULL);
            folder_empty(".");
            apply(&rules[i], &fit);
            fit.stopping.restore_best = true;
            fit.schedule.rate = mw_schedule_constant();
            fit.checkpoint.path = saved ? "best.safetensors" : NULL;
            fit.summary = &summary;
            run(&fit, &s, &err);
            CHECK_OK(err);
            CHECK(summary.restored && summary.best_epoch == best);
            CHECK_INT(mw_trainer_get_info(s.trainer).steps, best * BATCHES);
            check_bits(&s, plain.state[best - 1]);
            if (!saved)
                continue;
            run(&fit, &s, &err); /* it is over, and ends the same */
            CHECK_OK(err);
            check_bits(&s, plain.state[best - 1]);
        }
    seen_free(&plain);
    seen_free(&s);
}

static void test_a_run_that_is_stopped_is_not_set_back(void)
{
    seen plain = {0}, s = {.stop_at = 20 * BATCHES, .at_end = true};
    mw_error err = {0};
    mw_fit_summary summary;
    run_plain(&plain);
    mw_fit_options fit = options_of(NULL, NULL);
    fit.stopping.restore_best = true;
    fit.summary = &summary;
    CHECK_INT(run(&fit, &s, &err), MW_ERROR_STOPPED);
    CHECK(summary.end == MW_FIT_STOPPED && !summary.restored && summary.epochs == 20);
    check_bits(&s, plain.state[19]);
    seen_free(&plain);
    seen_free(&s);
}

/* ---- a smaller rate ---- */

/* Rates of the steps by the rule, from the losses that the run itself found. */
static void expected_rates(const seen *s, const mw_fit_options *o, float *out)
{
    float base = 0.05f;
    double reference = 0.0;
    int64_t waited = 0;
    for (int epoch = 0; epoch < EPOCHS; epoch++) {
        for (int i = 0; i < BATCHES; i++) {
            const int step = epoch * BATCHES + i;
            out[step] = (float)((double)base * mw_schedule_factor(&o->schedule.rate, step, EPOCHS * BATCHES));
        }
        waited = epoch == 0 || s->loss[epoch] < reference - o->stopping.min_delta ? 0 : waited + 1;
        reference = waited == 0 ? s->loss[epoch] : reference;
        if (waited < o->schedule.plateau_patience)
            continue;
        waited = 0;
        const float next = (float)fmax((double)base * o->schedule.plateau_factor, o->schedule.plateau_least);
        base = next < base ? next : base;
    }
}

static void check_rates(const seen *s, const mw_fit_options *fit)
{
    float rates[EPOCHS * BATCHES];
    expected_rates(s, fit, rates);
    for (int i = 0; i < EPOCHS * BATCHES; i++)
        if (s->rate[i] != 0.0f) /* this call took the step */
            check_note(s->rate[i] == rates[i], __FILE__, __LINE__, "rate of step %d: %g, not %g", i, (double)s->rate[i],
                       (double)rates[i]);
    CHECK(rates[EPOCHS * BATCHES - 1] < 0.05f);
}

static void test_a_plateau_makes_the_rate_smaller(void)
{
    for (int k = 0; k < 3; k++) {
        mw_error err = {0};
        seen whole = {0}, parts = {.stop_at = 61};
        mw_fit_options fit = options_of(NULL, NULL);
        folder_empty(".");
        fit.schedule.plateau_patience = 1 + k;
        fit.schedule.plateau_factor = 0.5;
        fit.schedule.plateau_least = k == 0 ? 0.004 : 0.0;
        fit.stopping.min_delta = 0.02;
        fit.schedule.rate = k == 1 ? mw_schedule_cosine(0.1) : mw_schedule_constant();
        run(&fit, &whole, &err);
        CHECK_OK(err);
        check_rates(&whole, &fit);
        fit.checkpoint.path = "plateau.safetensors";
        CHECK_INT(run(&fit, &parts, &err), MW_ERROR_STOPPED);
        err = (mw_error){0};
        parts.stop_at = 0;
        run(&fit, &parts, &err);
        CHECK_OK(err);
        CHECK(memcmp(whole.rate, parts.rate, sizeof whole.rate) == 0);
        check_bits(&parts, whole.state[EPOCHS - 1]);
        seen_free(&whole);
        seen_free(&parts);
    }
}

/* ---- a share of the training set ---- */

static void test_a_share_is_a_split(void)
{
    mw_error err = {0};
    seen shared = {0}, split = {0};
    mw_fit_options fit = options_of(NULL, NULL);
    fit.data.validation_share = 0.2;
    run(&fit, &shared, &err);
    CHECK_OK(err);
    mw_dataset *whole = make_data(&err), *parts[2];
    const int64_t counts[] = {-1, SMALL_EXAMPLES / 5};
    mw_dataset_split(whole, counts, 2, 3, parts, &err);
    fit.data.validation_share = 0.0;
    fit.data.training = parts[0];
    fit.data.validation = parts[1];
    fit.progress.function = watch;
    fit.progress.user = &split;
    split.trainer = make_trainer(&err);
    mw_trainer_fit(split.trainer, &fit, &err);
    CHECK_OK(err);
    CHECK(memcmp(shared.loss, split.loss, sizeof shared.loss) == 0 && shared.loss[0] > 0.0);
    CHECK_INT(mw_trainer_get_info(shared.trainer).steps, EPOCHS * 4);
    check_bits(&shared, split.state[EPOCHS - 1]);
    mw_dataset_destroy(parts[0]);
    mw_dataset_destroy(parts[1]);
    mw_dataset_destroy(whole);
    seen_free(&shared);
    seen_free(&split);
}

/* ---- callbacks ---- */

typedef struct scaler {
    mw_trainer *trainer;
    float rates[EPOCHS * BATCHES];
    mw_error err;
} scaler;

/* After steps 10 and 33 half the rate; a line at the end of each epoch. */
static bool halve(void *user, const mw_progress *progress)
{
    scaler *s = user;
    if (progress->epoch_end) {
        const mw_metrics_field fields[] = {{.name = "mine", .value = (double)progress->epoch}, {"note", 0.0, "text"}};
        mw_trainer_log(s->trainer, fields, 2, &s->err);
        return false;
    }
    const float rate = mw_trainer_get_info(s->trainer).learning_rate;
    s->rates[progress->step - 1] = rate;
    CHECK(progress->learning_rate == rate);
    if (progress->step == 10 || progress->step == 33)
        mw_trainer_set_learning_rate(s->trainer, 0.5f * rate, &s->err);
    return false;
}

static void test_a_callback_reschedules_and_logs(void)
{
    mw_error err = {0};
    scaler s = {.trainer = make_trainer(&err)};
    mw_dataset *data = make_data(&err);
    mw_fit_options fit = mw_fit_defaults(data, EPOCHS);
    fit.progress.quiet = fit.progress.ignore_signals = true;
    fit.schedule.rate = mw_schedule_cosine(0.1);
    fit.metrics.path = "logged.jsonl";
    fit.progress.function = halve;
    fit.progress.user = &s;
    mw_trainer_fit(s.trainer, &fit, &err);
    CHECK_OK(err);
    CHECK_OK(s.err);
    for (int i = 0; i < EPOCHS * BATCHES; i++) {
        const double part = i < 10 ? 1.0 : i < 33 ? 0.5 : 0.25;
        CHECK_NEAR(s.rates[i], 0.05 * part * mw_schedule_factor(&fit.schedule.rate, i, EPOCHS * BATCHES), 1e-8);
    }
    lines all = lines_read("logged.jsonl");
    CHECK_INT(lines_count(&all, "log"), EPOCHS);
    const char *line = lines_at(&all, "log", 6);
    CHECK(line_number(line, "mine") == 7.0 && line_number(line, "step") == 7 * BATCHES);
    CHECK(line_says(line, "note", "text"));
    lines_free(&all);
    CHECK_INT(mw_trainer_log(s.trainer, NULL, 0, &err), MW_ERROR_STATE); /* it is over */
    mw_trainer_destroy(s.trainer);
    mw_dataset_destroy(data);
}

static void test_the_metrics_say_that_it_ended_early(void)
{
    mw_error err = {0};
    seen s = {0};
    mw_fit_options fit = options_of(NULL, NULL);
    fit.stopping.patience = 2;
    fit.metrics.path = "early.jsonl";
    run(&fit, &s, &err);
    CHECK_OK(err);
    lines all = lines_read("early.jsonl");
    CHECK(line_says(all.text[all.count - 1], "reason", "early"));
    CHECK_INT(lines_count(&all, "epoch"), s.epochs);
    CHECK(line_number(lines_at(&all, "epoch", 0), "best") == 1.0);
    CHECK(line_number(lines_at(&all, "epoch", (size_t)s.epochs - 1), "best") == 0.0);
    lines_free(&all);
    seen_free(&s);
}

/* ---- several ranks ---- */

typedef struct rank_result {
    mw_error err;
    mw_fit_summary summary;
    float weights[NET_WEIGHTS];
} rank_result;

static const char *rank_checkpoint; /* of rank 0, or NULL */

static void fit_rank(mw_communicator *c, int rank, void *user)
{
    rank_result *r = (rank_result *)user + rank;
    const net_setting plain = {.rate = 0.05f};
    mw_dataset *train = net_data(12 * NET_BATCH, 1), *test = net_data(6 * NET_BATCH, 5);
    mw_trainer *trainer = net_make(&plain, 1, c, 1, &r->err);
    mw_fit_options fit = mw_fit_defaults(train, 40);
    fit.data.validation = test;
    fit.progress.quiet = fit.progress.ignore_signals = true;
    fit.stopping.best_by = "loss";
    fit.stopping.patience = 3;
    fit.schedule.plateau_patience = 2;
    fit.schedule.plateau_factor = 0.5;
    fit.stopping.restore_best = true;
    fit.checkpoint.path = rank_checkpoint;
    fit.summary = &r->summary;
    mw_trainer_fit(trainer, &fit, &r->err);
    mw_error reading = {0};
    net_read(trainer, r->weights, &reading);
    mw_trainer_destroy(trainer);
    mw_dataset_destroy(train);
    mw_dataset_destroy(test);
}

static void test_ranks_end_together(void)
{
    rank_result *results = calloc(RANKS_MAX, sizeof *results);
    float first[NET_WEIGHTS];
    for (int saved = 0; saved < 3; saved++) {
        memset(results, 0, RANKS_MAX * sizeof *results);
        rank_checkpoint = saved > 0 ? "ranks.safetensors" : NULL; /* the third time it is over already */
        ranks_run(&(ranks_network){.size = 3}, fit_rank, results);
        for (int i = 0; i < 3; i++) {
            CHECK_OK(results[i].err);
            CHECK(results[i].summary.end == MW_FIT_EARLY && results[i].summary.restored);
            CHECK(results[i].summary.epochs == results[0].summary.epochs && results[i].summary.epochs > 3);
            CHECK(results[i].summary.best_epoch == results[0].summary.epochs - 3);
            CHECK(memcmp(results[i].weights, results[0].weights, sizeof first) == 0);
        }
        if (saved == 0)
            memcpy(first, results[0].weights, sizeof first);
        CHECK(memcmp(results[0].weights, first, sizeof first) == 0);
    }
    free(results);
}

/* ---- what is refused ---- */

static void test_options_are_checked(void)
{
    static const struct {
        mw_fit_options fields; /* that are set */
        const char *why;
    } cases[] = {
        {{.stopping.patience = -1}, "patience is -1"},
        {{.stopping.min_delta = -0.5}, "min_delta -0.5"},
        {{.stopping.patience = 1, .stopping.best_by = "f1"}, "best_by is \"f1\""},
        {{.schedule.plateau_patience = -2}, "plateau_patience is -2"},
        {{.schedule.plateau_patience = 1, .schedule.plateau_factor = 1.0}, "plateau_factor is 1"},
        {{.schedule.plateau_patience = 1, .schedule.plateau_factor = 0.0}, "plateau_factor is 0"},
        {{.schedule.plateau_patience = 1, .schedule.plateau_factor = 0.5, .schedule.plateau_least = -1.0},
         "plateau_least is -1"},
        {{.data.validation_share = 1.0}, "validation_share is 1"},
        {{.data.validation_share = -0.1}, "validation_share is -0.1"},
        {{.data.validation_share = 0.001}, "leaves 0 of 40"},
        {{.data.validation_share = 0.999}, "leaves 40 of 40"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        mw_error err = {0};
        seen s = {0};
        mw_fit_summary summary = {0};
        mw_fit_options fit = options_of(NULL, NULL);
        const mw_fit_options *f = &cases[i].fields;
        fit.stopping.best_by = f->stopping.best_by != NULL ? f->stopping.best_by : fit.stopping.best_by;
        fit.stopping.patience = f->stopping.patience, fit.stopping.min_delta = f->stopping.min_delta;
        fit.schedule.plateau_patience = f->schedule.plateau_patience,
        fit.schedule.plateau_factor = f->schedule.plateau_factor;
        fit.schedule.plateau_least = f->schedule.plateau_least, fit.data.validation_share = f->data.validation_share;
        fit.summary = &summary;
        CHECK_INT(run(&fit, &s, &err), MW_ERROR_ARGUMENT);
        CHECK_ERROR(err, MW_ERROR_ARGUMENT, cases[i].why);
        CHECK(summary.end == MW_FIT_FAILED && mw_trainer_get_info(s.trainer).steps == 0);
        seen_free(&s);
    }
}

static void test_options_that_want_others_say_so(void)
{
    mw_error err = {0};
    mw_dataset *data = make_data(&err), *part = mw_dataset_shard(data, 0, 2, &err);
    mw_trainer *t = make_trainer(&err);
    for (int i = 0; i < 6; i++) {
        static const char *const why[] = {"patience compares",     "plateau_patience compares",
                                          "restore_best compares", "no validation set",
                                          "wants another",         "before mw_dataset_shard"};
        mw_fit_options fit = mw_fit_defaults(i == 5 ? part : data, 1);
        fit.progress.quiet = true;
        fit.stopping.patience = i == 0;
        fit.schedule.plateau_patience = i == 1, fit.schedule.plateau_factor = 0.5;
        fit.stopping.restore_best = i == 2;
        fit.stopping.best_by = i == 3 ? "loss" : NULL;
        fit.data.validation = i == 4 ? data : NULL;
        fit.data.validation_share = i >= 4 ? 0.5 : 0.0;
        err = (mw_error){0};
        CHECK_INT(mw_trainer_fit(t, &fit, &err), MW_ERROR_ARGUMENT);
        CHECK_ERROR(err, MW_ERROR_ARGUMENT, why[i]);
    }
    mw_trainer_destroy(t);
    mw_dataset_destroy(part);
    mw_dataset_destroy(data);
}

int main(void)
{
    if (!folder_enter(folder))
        return 1;
    RUN(test_patience_ends_a_run);
    RUN(test_going_on_ends_at_the_same_epoch);
    RUN(test_what_is_no_number_is_waited_out);
    RUN(test_longer_patience_goes_on);
    RUN(test_the_best_is_restored);
    RUN(test_a_run_that_is_stopped_is_not_set_back);
    RUN(test_a_plateau_makes_the_rate_smaller);
    RUN(test_a_share_is_a_split);
    RUN(test_a_callback_reschedules_and_logs);
    RUN(test_the_metrics_say_that_it_ended_early);
    RUN(test_ranks_end_together);
    RUN(test_options_are_checked);
    RUN(test_options_that_want_others_say_so);
    folder_leave(folder);
    return check_finish();
}

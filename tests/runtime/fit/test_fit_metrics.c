/* What mw_trainer_fit writes to streams of metrics: the numbers of the loop that anybody could write, going on with
 * what was written, and how a run ended. */
#include "runtime/files.h"
#include "runtime/metrics/metrics_lines.h"
#include "runtime/metrics/system.h"
#include "runtime/parallel/ranks_net.h"
#include "runtime/small.h"
#include "support/check.h"
#include "support/folder.h"

#include <millwright/millwright.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BATCHES = SMALL_EXAMPLES / SMALL_N, EPOCHS = 6, STEPS = EPOCHS * BATCHES };

static char folder[512];

static mw_trainer *make(mw_optimizer optimizer, int accumulate, int dispatch_steps, mw_error *err)
{
    small_net net = small_create(NULL);
    mw_trainer_options options = mw_trainer_defaults(net.loss, optimizer);
    options.metric = net.accuracy;
    options.accumulate = accumulate;
    options.dispatch_steps = dispatch_steps;
    options.compile.device = MW_DEVICE_CPU;
    options.compile.provider = MW_PROVIDER_ENGINE;
    options.compile.threads = 1;
    mw_trainer *trainer = mw_trainer_create(&options, err);
    mw_graph_destroy(net.graph);
    return trainer;
}

static mw_dataset *make_data(mw_error *err)
{
    const small_data data = small_make_data();
    const mw_column columns[] = {{.name = "x", .dtype = MW_F32, .shape = MW_SHAPE(SMALL_D), .data = data.x},
                                 {.name = "y", .dtype = MW_I32, .data = data.y}};
    return mw_dataset_create(columns, 2, SMALL_EXAMPLES, true, err);
}

static mw_fit_options make_fit(const mw_dataset *data, const char *metrics, int64_t every)
{
    mw_fit_options fit = mw_fit_defaults(data, EPOCHS);
    fit.progress.quiet = fit.progress.ignore_signals = true;
    fit.data.seed = 3;
    fit.metrics.path = metrics;
    fit.metrics.steps = every;
    fit.schedule.rate = mw_schedule_cosine(0.1);
    return fit;
}

/* The loop without mw_trainer_fit: the loss and rate of every step. */
static void loop(double *losses, double *rates, mw_error *err)
{
    mw_dataset *data = make_data(err);
    mw_trainer *trainer = make(mw_adam(0.02f), 1, 1, err);
    mw_loader_options options = mw_loader_defaults(data, SMALL_N);
    options.seed = 3;
    mw_loader *loader = mw_loader_create(&options, err);
    const mw_schedule schedule = mw_schedule_cosine(0.1);
    for (int step = 0; step < STEPS;) {
        const mw_batch *batch = mw_loader_next(loader, err);
        if (batch == NULL)
            continue;
        float loss;
        rates[step] = (double)(float)(0.02f * mw_schedule_factor(&schedule, step, STEPS));
        mw_trainer_set_learning_rate(trainer, (float)rates[step], err);
        if (mw_trainer_step(trainer, batch, &loss, err) != MW_OK)
            break;
        losses[step++] = (double)loss;
    }
    mw_loader_destroy(loader);
    mw_trainer_destroy(trainer);
    mw_dataset_destroy(data);
}

static double mean(const double *values, int from, int to)
{
    double sum = 0.0;
    for (int i = from; i < to; i++)
        sum += values[i];
    return sum / (to - from);
}

static void check_steps(const lines *all, int every, const double *losses, const double *rates)
{
    CHECK_INT(lines_count(all, "step"), STEPS / every);
    for (int i = 0; i < STEPS / every; i++) {
        const char *line = lines_at(all, "step", (size_t)i);
        const int last = (i + 1) * every;
        CHECK_INT(line_number(line, "step"), last);
        CHECK_INT(line_number(line, "epoch"), (last + BATCHES - 1) / BATCHES);
        CHECK_NEAR(line_number(line, "loss"), mean(losses, last - every, last), 1e-15);
        CHECK_NEAR(line_number(line, "learning_rate"), rates[last - 1], 1e-9);
        CHECK_INT(line_number(line, "updates"), last);
        CHECK(line_number(line, "refused_steps") == 0.0 && line_number(line, "loss_scale") == 1.0);
        CHECK(line_number(line, "seconds") >= 0.0 && line_number(line, "examples_per_second") > 0.0);
        CHECK(line_number(line, "rss_bytes") > 1e6);
    }
}

static void test_the_numbers_are_those_of_the_open_loop(void)
{
    double losses[STEPS], rates[STEPS];
    mw_error err = {0};
    loop(losses, rates, &err);
    for (int every = 1; every <= 7; every += 3) {
        mw_dataset *data = make_data(&err);
        mw_trainer *trainer = make(mw_adam(0.02f), 1, 1, &err);
        mw_fit_options fit = make_fit(data, "run.jsonl", every);
        fit.data.validation = data;
        mw_trainer_fit(trainer, &fit, &err);
        CHECK_OK(err);
        lines all = lines_read("run.jsonl");
        check_steps(&all, every, losses, rates);
        CHECK_INT(lines_count(&all, "epoch"), EPOCHS);
        for (int i = 0; i < EPOCHS; i++) {
            const char *line = lines_at(&all, "epoch", (size_t)i);
            CHECK(line_number(line, "epoch") == i + 1 && line_number(line, "step") == (i + 1) * BATCHES);
            CHECK_NEAR(line_number(line, "loss"), mean(losses, i * BATCHES, (i + 1) * BATCHES), 1e-14);
        }
        mw_evaluation found;
        mw_trainer_evaluate(trainer, data, NULL, &found, &err);
        const char *line = lines_at(&all, "epoch", EPOCHS - 1);
        CHECK(line_number(line, "validation/loss") == found.loss);
        CHECK(line_number(line, "validation/accuracy") == found.metrics[0].value);
        CHECK(!line_has(line, "best"));
        lines_free(&all);
        mw_trainer_destroy(trainer);
        mw_dataset_destroy(data);
    }
}

static void test_the_first_line_says_what_the_run_is(void)
{
    mw_error err = {0};
    mw_dataset *data = make_data(&err);
    mw_trainer *trainer = make(mw_adamw(0.02f, 0.01f), 1, 1, &err);
    mw_fit_options fit = make_fit(data, "first.jsonl", 0);
    fit.data.validation = data;
    mw_trainer_fit(trainer, &fit, &err);
    CHECK_OK(err);
    lines all = lines_read("first.jsonl");
    const char *line = all.text[0];
    char host[256] = "";
    gethostname(host, sizeof host - 1);
    CHECK(line_says(line, "kind", "run") && line_says(line, "millwright", mw_version()));
    CHECK(line_number(line, "format") == 1.0 && line_says(line, "device", "CPU"));
    CHECK_INT(line_number(line, "model_parameters"), SMALL_PARAMETERS);
    CHECK(line_number(line, "model_operations") >= 6.0 && line_number(line, "program_operations") > 20.0);
    CHECK(line_number(line, "program_bytes") > 4.0 * SMALL_PARAMETERS && line_number(line, "threads") == 1.0);
    CHECK_CONTAINS(line, "\"optimizer\":\"adam beta1=0.9 beta2=0.999 ");
    CHECK(line_number(line, "learning_rate") == 0.02 && line_says(line, "schedule", "cosine"));
    CHECK(line_number(line, "batch") == SMALL_N && line_number(line, "steps") == STEPS);
    CHECK(line_number(line, "training_examples") == SMALL_EXAMPLES && line_number(line, "order_seed") == 3.0);
    CHECK(line_says(line, "metrics", "accuracy") && line_number(line, "metrics_steps") == 1.0);
    CHECK(strlen(host) < 5 || strstr(line, host) == NULL); /* nothing that tells one machine from others */
    CHECK(strstr(line, folder) == NULL);
    CHECK(line_says(all.text[all.count - 1], "reason", "finished"));
    lines_free(&all);
    mw_trainer_destroy(trainer);
    mw_dataset_destroy(data);
}

static void test_metrics_change_no_bit(void)
{
    mw_error err = {0};
    mw_dataset *data = make_data(&err);
    mw_trainer *with = make(mw_adam(0.02f), 1, 1, &err), *without = make(mw_adam(0.02f), 1, 1, &err);
    const char *const more[] = {"bits.csv", "bits/"};
    mw_fit_options fit = make_fit(data, "bits.jsonl", 1);
    fit.metrics.more = more;
    fit.metrics.more_count = 2;
    mw_trainer_fit(with, &fit, &err);
    fit = make_fit(data, NULL, 0);
    mw_trainer_fit(without, &fit, &err);
    CHECK_OK(err);
    const small_snapshot a = small_take(with), b = small_take(without);
    small_check_same(&a, &b);
    CHECK(file_exists("bits/events.out.tfevents.0.millwright"));
    lines table = lines_read("bits.csv"), all = lines_read("bits.jsonl");
    CHECK_INT(table.count, 1 + STEPS + EPOCHS);
    CHECK_INT(all.count, 2 + STEPS + EPOCHS);
    lines_free(&table);
    lines_free(&all);
    mw_trainer_destroy(with);
    mw_trainer_destroy(without);
    mw_dataset_destroy(data);
}

/* ---- going on ---- */

typedef struct stop {
    int64_t at;
    bool at_end;
} stop;

static bool stops(void *user, const mw_progress *progress)
{
    const stop *s = user;
    return progress->step == s->at && progress->epoch_end == s->at_end;
}

typedef struct setting {
    const char *name;
    int accumulate, dispatch_steps;
    int64_t every;
    bool best;
} setting;

static mw_status fit_until(const setting *s, const char *metrics, const char *checkpoint, stop *at, mw_error *err)
{
    mw_dataset *data = make_data(err);
    mw_trainer *trainer = make(mw_adam(0.02f), s->accumulate, s->dispatch_steps, err);
    mw_fit_options fit = make_fit(data, metrics, s->every);
    fit.data.validation = data;
    fit.checkpoint.path = checkpoint;
    fit.checkpoint.steps = 4;
    fit.stopping.best_by = s->best ? "accuracy" : NULL;
    fit.stopping.best_highest = true;
    fit.progress.function = stops;
    fit.progress.user = at;
    const mw_status status = mw_trainer_fit(trainer, &fit, err);
    mw_trainer_destroy(trainer);
    mw_dataset_destroy(data);
    return status;
}

/* Lines of steps and epochs, without what the clock decides. */
static void check_same_lines(const lines *a, const lines *b)
{
    static const char *const keys[] = {"step", "epoch", "loss", "learning_rate", "validation/loss", "best"};
    for (int k = 0; k < 2; k++) {
        const char *kind = k == 0 ? "step" : "epoch";
        const size_t count = lines_count(a, kind);
        CHECK(count > 0 && lines_count(b, kind) == count);
        for (size_t i = 0; i < count; i++)
            for (size_t j = 0; j < sizeof keys / sizeof keys[0]; j++) {
                const double x = line_number(lines_at(a, kind, i), keys[j]);
                const double y = line_number(lines_at(b, kind, i), keys[j]);
                check_note(x == y || (isnan(x) && isnan(y)), __FILE__, __LINE__, "%s %zu: %s is %.17g, not %.17g", kind,
                           i, keys[j], y, x);
            }
    }
}

static void test_going_on_writes_what_one_run_writes(void)
{
    static const setting settings[] = {
        {"plain", 1, 1, 3, false}, {"best", 1, 1, 2, true}, {"accumulated", 5, 1, 4, false}, {"many", 1, 3, 4, false}};
    for (size_t i = 0; i < sizeof settings / sizeof settings[0]; i++)
        for (int64_t at = 1; at < STEPS; at += 4) {
            mw_error err = {0};
            stop never = {0}, here = {at, at % BATCHES == 0 && at % 2 == 1};
            folder_empty(".");
            fit_until(&settings[i], "whole.jsonl", "whole.safetensors", &never, &err);
            CHECK_OK(err);
            const mw_status status = fit_until(&settings[i], "parts.jsonl", "parts.safetensors", &here, &err);
            CHECK(status == MW_OK || status == MW_ERROR_STOPPED); /* a dispatch may pass the step */
            err = (mw_error){0};
            fit_until(&settings[i], "parts.jsonl", "parts.safetensors", &never, &err);
            CHECK_OK(err);
            lines whole = lines_read("whole.jsonl"), parts = lines_read("parts.jsonl");
            check_same_lines(&whole, &parts);
            CHECK_INT(lines_count(&parts, "run"), 1);
            CHECK_INT(lines_count(&parts, "resume"), status == MW_OK ? 0 : 1);
            CHECK_INT(lines_count(&parts, "end"), status == MW_OK ? 1 : 2);
            CHECK(line_says(lines_at(&parts, "end", 0), "reason", status == MW_OK ? "finished" : "stopped"));
            lines_free(&whole);
            lines_free(&parts);
        }
}

/* A process that was killed after it wrote lines that its checkpoint does not have. */
static void test_lines_behind_the_checkpoint_go(void)
{
    const setting plain = {"plain", 1, 1, 1, false};
    mw_error err = {0};
    stop never = {0};
    for (int64_t at = 4; at < STEPS; at += 4) { /* where it was saved, at an end of an epoch, too */
        stop here = {at, false};
        size_t size;
        folder_empty(".");
        fit_until(&plain, "whole.jsonl", "whole.safetensors", &never, &err);
        CHECK_INT(fit_until(&plain, "killed.jsonl", "killed.safetensors", &here, &err), MW_ERROR_STOPPED);
        err = (mw_error){0};
        unsigned char *old = get_file("killed.safetensors", &size);
        fit_until(&plain, "killed.jsonl", "killed.safetensors", &never, &err);
        put_file("killed.safetensors", old, size); /* the clock goes back */
        fit_until(&plain, "killed.jsonl", "killed.safetensors", &never, &err);
        CHECK_OK(err);
        free(old);
        lines whole = lines_read("whole.jsonl"), killed = lines_read("killed.jsonl");
        check_same_lines(&whole, &killed);
        CHECK_INT(lines_count(&killed, "resume"), 2);
        lines_free(&whole);
        lines_free(&killed);
    }
}

/* ---- ends ---- */

static void test_a_refused_step_is_the_last_line(void)
{
    mw_error err = {0};
    mw_dataset *data = make_data(&err);
    mw_trainer *trainer = make(mw_sgd(1e4f), 1, 1, &err);
    mw_fit_options fit = make_fit(data, "refused.jsonl", 1);
    fit.schedule.rate = mw_schedule_constant();
    fit.epochs = 100000;
    const float weights[SMALL_C * SMALL_H] = {3e38f, -3e38f, 3e38f}; /* what follows overflows */
    mw_trainer_write(trainer, "fc2.weight", MW_F32, weights, SMALL_C * SMALL_H, &err);
    CHECK_OK(err);
    CHECK_INT(mw_trainer_fit(trainer, &fit, &err), MW_ERROR_NUMERIC);
    lines all = lines_read("refused.jsonl");
    const char *line = all.text[all.count - 1];
    CHECK(line_says(line, "kind", "end") && line_says(line, "reason", "refused"));
    CHECK(line_says(line, "operation", err.operation) && line_has(line, "tensor"));
    CHECK(strstr(line, "is refused") != NULL);
    lines_free(&all);
    mw_trainer_destroy(trainer);
    mw_dataset_destroy(data);
}

static void test_what_cannot_be_written_ends_the_run_at_once(void)
{
    mw_error err = {0};
    mw_dataset *data = make_data(&err);
    mw_trainer *trainer = make(mw_adam(0.02f), 1, 1, &err);
    folder_put("mine.csv", "my table\n");
    mw_fit_options fit = make_fit(data, "mine.csv", 1);
    CHECK_INT(mw_trainer_fit(trainer, &fit, &err), MW_ERROR_FILE);
    CHECK_CONTAINS(err.message, "mine.csv");
    CHECK_INT(mw_trainer_get_info(trainer).steps, 0);
    CHECK(folder_holds("mine.csv", "my table\n"));
    mw_trainer_destroy(trainer);
    mw_dataset_destroy(data);
}

static void test_options_are_checked(void)
{
    mw_error err = {0};
    const char *const paths[] = {"a.csv", NULL, "", "b.csv", "c.csv", "d.csv", "e.csv", "f.csv"};
    mw_dataset *data = make_data(&err);
    mw_trainer *trainer = make(mw_adam(0.02f), 1, 1, &err);
    const mw_fit_options base = make_fit(data, NULL, 0);
    static const struct {
        const char *metrics;
        size_t first, count;
        int64_t every;
        const char *why;
    } cases[] = {
        {"", 0, 0, 0, "empty"},        {NULL, 0, 2, 0, "file 1 is NULL"}, {"a.csv", 2, 1, 0, "file 1 is empty"},
        {"a.csv", 0, 8, 0, "9 files"}, {"a.csv", 0, 0, -1, "-1 steps"},   {"a.png", 0, 0, 0, "no format"}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        mw_fit_options fit = base;
        fit.metrics.path = cases[i].metrics;
        fit.metrics.more = paths + cases[i].first;
        fit.metrics.more_count = cases[i].count;
        fit.metrics.steps = cases[i].every;
        err = (mw_error){0};
        mw_trainer_fit(trainer, &fit, &err);
        CHECK_ERROR(err, MW_ERROR_ARGUMENT, cases[i].why);
    }
    mw_fit_options fit = base;
    fit.metrics.more_count = 1;
    err = (mw_error){0};
    mw_trainer_fit(trainer, &fit, &err);
    CHECK_ERROR(err, MW_ERROR_ARGUMENT, "metrics.more is NULL");
    mw_trainer_destroy(trainer);
    mw_dataset_destroy(data);
}

/* ---- ranks ---- */

static void fit_rank(mw_communicator *c, int rank, void *user)
{
    mw_error *errors = user, *err = &errors[rank];
    const net_setting plain = {0};
    mw_dataset *data = net_data(24 * NET_BATCH, 1);
    mw_trainer *trainer = net_make(&plain, 1, c, 1, err);
    mw_fit_options fit = make_fit(data, "ranks.jsonl", 1);
    fit.checkpoint.path = "ranks.safetensors";
    mw_trainer_fit(trainer, &fit, err);
    mw_trainer_destroy(trainer);
    mw_dataset_destroy(data);
}

static void test_rank_0_writes(void)
{
    mw_error errors[RANKS_MAX];
    memset(errors, 0, sizeof errors);
    ranks_run(&(ranks_network){.size = 3}, fit_rank, errors);
    for (int i = 0; i < 3; i++)
        CHECK_OK(errors[i]);
    lines all = lines_read("ranks.jsonl");
    CHECK_INT(lines_count(&all, "run"), 1);
    CHECK_INT(lines_count(&all, "step"), EPOCHS * 8);
    CHECK_INT(line_number(all.text[0], "ranks"), 3);
    lines_free(&all);
}

/* ---- the system ---- */

static void test_energy_is_added_up_and_wraps(void)
{
    mw__energy energy;
    mw__energy_begin_in(&energy, ".");
    CHECK(mw__energy_read_in(&energy, ".") < 0.0); /* nothing is told */
    CHECK(mkdir("intel-rapl:0", 0700) == 0 && mkdir("intel-rapl:1", 0700) == 0);
    folder_put("intel-rapl:0/name", "package-0\n");
    folder_put("intel-rapl:0/energy_uj", "9000000\n");
    folder_put("intel-rapl:0/max_energy_range_uj", "10000000\n");
    folder_put("intel-rapl:1/name", "psys\n"); /* has the package in it */
    folder_put("intel-rapl:1/energy_uj", "0\n");
    folder_put("intel-rapl:1/max_energy_range_uj", "10000000\n");
    mw__energy_begin_in(&energy, ".");
    folder_put("intel-rapl:0/energy_uj", "9500000\n");
    folder_put("intel-rapl:1/energy_uj", "7000000\n");
    CHECK_NEAR(mw__energy_read_in(&energy, "."), 0.5, 1e-12);
    folder_put("intel-rapl:0/energy_uj", "1000000\n"); /* wrapped */
    CHECK_NEAR(mw__energy_read_in(&energy, "."), 2.0, 1e-12);
}

int main(void)
{
    if (!folder_enter(folder))
        return 1;
    RUN(test_the_numbers_are_those_of_the_open_loop);
    RUN(test_the_first_line_says_what_the_run_is);
    RUN(test_metrics_change_no_bit);
    RUN(test_going_on_writes_what_one_run_writes);
    RUN(test_lines_behind_the_checkpoint_go);
    RUN(test_a_refused_step_is_the_last_line);
    RUN(test_what_cannot_be_written_ends_the_run_at_once);
    RUN(test_options_are_checked);
    RUN(test_rank_0_writes);
    RUN(test_energy_is_added_up_and_wraps);
    folder_leave(folder);
    return check_finish();
}

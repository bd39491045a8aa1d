/* Checkpoints within epochs, those that stay and the best: when they are saved, what they are called, which are
 * removed, and that a run goes on from each of them with the same bits, also if it was killed. */
#include "base/file/file.h"
#include "child_net.h"
#include "runtime/files.h"
#include "runtime/fit/fit.h"
#include "runtime/small.h"
#include "support/check.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { BATCHES = SMALL_EXAMPLES / SMALL_N, EPOCHS = 4, STEPS = EPOCHS * BATCHES };

/* What a callback saw: the step in the checkpoint at each step, before that step saves; the validations. */
typedef struct watch {
    mw_trainer *probe; /* reads the checkpoint */
    const char *checkpoint;
    const char *copies; /* not NULL: the checkpoint at step n is copied to this name with n behind it */
    int64_t saved[STEPS + 1];
    double losses[EPOCHS + 1], accuracies[EPOCHS + 1];
    int64_t stop_at;
} watch;

static void copy(const char *from, const char *to)
{
    size_t size = 0;
    unsigned char *bytes = get_file(from, &size);
    CHECK(bytes != NULL && put_file(to, bytes, size));
    free(bytes);
}

static bool look(void *user, const mw_progress *progress)
{
    watch *w = user;
    mw_error err = {0};
    if (progress->epoch_end) {
        w->losses[progress->epoch] = progress->validation.loss;
        w->accuracies[progress->epoch] = progress->validation.metrics[0].value;
        return false;
    }
    if (w->probe != NULL && file_exists(w->checkpoint)) {
        CHECK_INT(mw_trainer_load(w->probe, w->checkpoint, NULL, &err), MW_OK);
        w->saved[progress->step] = mw_trainer_get_info(w->probe).steps;
    }
    if (w->copies != NULL && file_exists(w->checkpoint)) {
        char name[64];
        snprintf(name, sizeof name, "%s%d", w->copies, (int)progress->step);
        copy(w->checkpoint, scratch(name));
    }
    return w->stop_at > 0 && progress->step >= w->stop_at;
}

static mw_fit_options make_fit(const mw_dataset *data, const char *checkpoint, watch *w)
{
    mw_fit_options fit = mw_fit_defaults(data, EPOCHS);
    fit.progress.quiet = true;
    fit.data.seed = 3;
    fit.checkpoint.path = checkpoint;
    fit.data.validation = data;
    fit.progress.function = look;
    fit.progress.user = w;
    return fit;
}

static bool same_files(const char *a, const char *b)
{
    size_t a_size = 0, b_size = 0;
    unsigned char *left = get_file(a, &a_size), *right = get_file(b, &b_size);
    const bool same = left != NULL && right != NULL && a_size == b_size && memcmp(left, right, a_size) == 0;
    free(left);
    free(right);
    return same;
}

/* scratch() forgets after some calls; these paths live as long as a test. */
static const char *lasting(char *path, const char *name)
{
    snprintf(path, 400, "%s", scratch(name));
    return path;
}

static bool exists(const char *name, int step)
{
    char path[64];
    snprintf(path, sizeof path, "%s.step-%d", name, step);
    return file_exists(scratch(path));
}

static void forget(const char *name)
{
    char path[64];
    remove(scratch(name));
    snprintf(path, sizeof path, "%s.best", name);
    remove(scratch(path));
    for (int step = 0; step <= STEPS; step++) {
        snprintf(path, sizeof path, "%s.step-%d", name, step);
        remove(scratch(path));
    }
}

/* ---- when ---- */

static void check_saved(int64_t steps, double seconds, const int64_t expected[STEPS + 1])
{
    mw_error err = {0};
    child_net net = child_make(&err), probe = child_make(&err);
    char path[400];
    watch w = {.probe = probe.trainer, .checkpoint = lasting(path, "when")};
    forget("when");
    mw_fit_options fit = make_fit(net.data, w.checkpoint, &w);
    fit.checkpoint.steps = steps;
    fit.checkpoint.seconds = seconds;
    CHECK_INT(mw_trainer_fit(net.trainer, &fit, &err), MW_OK);
    CHECK_OK(err);
    for (int step = 1; step <= STEPS; step++)
        CHECK_INT(w.saved[step], expected[step]);
    CHECK_INT(mw_trainer_load(probe.trainer, w.checkpoint, NULL, &err), MW_OK);
    CHECK_INT(mw_trainer_get_info(probe.trainer).steps, STEPS);
    child_free(&net);
    child_free(&probe);
}

/* At step n the latest save was at the last multiple below n, or the end of the epoch before. */
static void test_saves_every_so_many_steps(void)
{
    static const int64_t every[] = {0, 1, 2, 3, 7};
    for (int i = 0; i < 5; i++) {
        int64_t expected[STEPS + 1] = {0};
        for (int64_t step = 1; step <= STEPS; step++) {
            const int64_t multiple = every[i] > 0 ? (step - 1) / every[i] * every[i] : 0;
            const int64_t epoch = (step - 1) / BATCHES * BATCHES;
            expected[step] = multiple > epoch ? multiple : epoch;
        }
        check_saved(every[i], 0.0, expected);
    }
}

static void test_saves_every_so_many_seconds(void)
{
    int64_t each[STEPS + 1] = {0}, none[STEPS + 1] = {0};
    for (int64_t step = 1; step <= STEPS; step++) {
        each[step] = step - 1;
        none[step] = (step - 1) / BATCHES * BATCHES;
    }
    check_saved(0, 1e-9, each);
    check_saved(0, 1e9, none);
}

/* ---- which stay ---- */

static void test_keeps_the_last_saves_and_nothing_else(void)
{
    mw_error err = {0};
    child_net net = child_make(&err), probe = child_make(&err);
    watch w = {0};
    forget("last");
    put_file(scratch("last.step-1"), "mine", 4); /* a step at which this run does not save */
    put_file(scratch("last.step-17x"), "mine", 4);
    char path[400];
    mw_fit_options fit = make_fit(net.data, lasting(path, "last"), &w);
    fit.checkpoint.steps = 3;
    fit.checkpoint.keep_last = 3;
    CHECK_INT(mw_trainer_fit(net.trainer, &fit, &err), MW_OK);
    CHECK_OK(err); /* 3 5 6 9 10 12 15 18 20 */
    for (int step = 2; step <= STEPS; step++)
        CHECK(exists("last", step) == (step == 15 || step == 18 || step == 20));
    CHECK(file_exists(scratch("last.step-1")) && file_exists(scratch("last.step-17x")));
    CHECK(same_files(scratch("last"), scratch("last.step-20")));
    CHECK_INT(mw_trainer_load(probe.trainer, scratch("last.step-18"), NULL, &err), MW_OK);
    CHECK_INT(mw_trainer_get_info(probe.trainer).steps, 18);
    remove(scratch("last.step-17x"));
    child_free(&net);
    child_free(&probe);
}

static void check_name(const char *path, const char *expected)
{
    char *made = mw__kept_path(NULL, path, "best", NULL);
    CHECK_STR(made, expected);
    mw__free(NULL, made);
}

static void test_names_keep_the_ending(void)
{
    check_name("run/mnist.safetensors", "run/mnist.best.safetensors");
    check_name("run.1/mnist", "run.1/mnist.best");
    check_name("a.b.c", "a.b.best.c");
    check_name(".hidden", ".hidden.best");
    check_name("x/.hidden", "x/.hidden.best");
}

/* Runs with a learning rate at which the validation goes up and down; the best by the callback's own record. */
static void check_best(const char *by, bool highest)
{
    mw_error err = {0};
    child_net net = child_make(&err), probe = child_make(&err);
    watch w = {0};
    forget("judged");
    char path[400];
    mw_fit_options fit = make_fit(net.data, lasting(path, "judged"), &w);
    fit.stopping.best_by = by;
    fit.stopping.best_highest = highest;
    mw_trainer_set_learning_rate(net.trainer, 0.7f, &err);
    CHECK_INT(mw_trainer_fit(net.trainer, &fit, &err), MW_OK);
    const double *values = strcmp(by, "loss") == 0 ? w.losses : w.accuracies;
    int best = 1;
    for (int epoch = 2; epoch <= EPOCHS; epoch++)
        best = (highest ? values[epoch] > values[best] : values[epoch] < values[best]) ? epoch : best;
    CHECK(values[1] != values[EPOCHS]);
    mw_loader_position position;
    CHECK_INT(mw_trainer_load(probe.trainer, scratch("judged.best"), &position, &err), MW_OK);
    CHECK_INT(mw_trainer_get_info(probe.trainer).steps, best * BATCHES);
    CHECK(position.epoch == best && position.batch == 0);
    mw_evaluation found;
    mw_trainer_evaluate(probe.trainer, net.data, NULL, &found, &err);
    CHECK(found.loss == w.losses[best] && found.metrics[0].value == w.accuracies[best]);
    CHECK_OK(err);
    child_free(&net);
    child_free(&probe);
}

static void test_keeps_the_best(void)
{
    check_best("loss", false);
    check_best("loss", true);
    check_best("accuracy", true);
    check_best("accuracy", false);
}

/* Another number, or the other end of it, starts anew; the same one goes on. */
static void test_the_best_so_far_goes_on(void)
{
    mw_error err = {0};
    child_net net = child_make(&err), probe = child_make(&err);
    watch w = {0};
    forget("judged");
    char path[400];
    mw_fit_options fit = make_fit(net.data, lasting(path, "judged"), &w);
    fit.epochs = 2;
    fit.stopping.best_by = "loss";
    fit.stopping.best_highest = true; /* the first epoch: training lowers it */
    CHECK_INT(mw_trainer_fit(net.trainer, &fit, &err), MW_OK);
    CHECK(w.losses[1] > w.losses[2]);
    fit.epochs = 3;
    CHECK_INT(mw_trainer_fit(net.trainer, &fit, &err), MW_OK);
    mw_trainer_load(probe.trainer, scratch("judged.best"), NULL, &err);
    CHECK_INT(mw_trainer_get_info(probe.trainer).steps, BATCHES);
    fit.stopping.best_by = "accuracy";
    fit.epochs = 4;
    CHECK_INT(mw_trainer_fit(net.trainer, &fit, &err), MW_OK);
    mw_trainer_load(probe.trainer, scratch("judged.best"), NULL, &err);
    CHECK_INT(mw_trainer_get_info(probe.trainer).steps, 4 * BATCHES);
    CHECK_OK(err);
    child_free(&net);
    child_free(&probe);
}

/* ---- file systems without links ---- */

static int no_link(const char *from, const char *to)
{
    (void)from, (void)to;
    errno = EPERM;
    return -1;
}

static void test_without_links_the_checkpoint_is_saved_twice(void)
{
    mw_error err = {0};
    child_net net = child_make(&err), other = child_make(&err);
    watch w = {0};
    mw__file_calls calls = mw__file_real_calls;
    forget("linked");
    forget("saved");
    mw_fit_options fit = make_fit(net.data, scratch("linked"), &w);
    fit.checkpoint.keep_last = 2;
    fit.stopping.best_by = "loss";
    CHECK_INT(mw_trainer_fit(net.trainer, &fit, &err), MW_OK);
    calls.link = no_link;
    mw__file_set_calls(&calls);
    fit.checkpoint.path = scratch("saved");
    CHECK_INT(mw_trainer_fit(other.trainer, &fit, &err), MW_OK);
    mw__file_set_calls(NULL);
    CHECK_OK(err);
    CHECK(same_files(scratch("linked.best"), scratch("saved.best")));
    CHECK(same_files(scratch("linked.step-15"), scratch("saved.step-15")));
    CHECK(!exists("saved", 10));
    child_free(&net);
    child_free(&other);
}

/* ---- going on ---- */

/* Random numbers, fp16 with a dynamic scale, averages, accumulation, dispatches of several steps. */
static mw_trainer *make_rich(int accumulate, int dispatch_steps, mw_error *err)
{
    small_net net = small_create_stateful(NULL);
    mw_trainer_options options = mw_trainer_defaults(net.loss, mw_adamw(0.02f, 0.01f));
    options.metric = net.accuracy;
    options.compile.provider = MW_PROVIDER_ENGINE;
    options.compile.device = MW_DEVICE_ANE;
    options.compile.threads = 1;
    options.precision.dynamic = true;
    options.precision.interval = 3;
    options.average_decay = 0.9f;
    options.accumulate = accumulate;
    options.dispatch_steps = dispatch_steps;
    mw_trainer *trainer = mw_trainer_create(&options, err);
    mw_graph_destroy(net.graph);
    return trainer;
}

/* From the checkpoint of every step, as a kill right behind its save would leave it. */
static void check_goes_on_from_each(int accumulate, int dispatch_steps)
{
    mw_error err = {0};
    child_net net = child_make(&err);
    char path[400];
    watch w = {.checkpoint = lasting(path, "rich"), .copies = "rich.copy"}, none = {0};
    mw_trainer *calm = make_rich(accumulate, dispatch_steps, &err);
    forget("rich");
    mw_fit_options fit = make_fit(net.data, w.checkpoint, &w);
    fit.schedule.rate = mw_schedule_cosine(0.1);
    fit.checkpoint.steps = 1;
    fit.stopping.best_by = "loss";
    fit.checkpoint.keep_last = 2;
    CHECK_INT(mw_trainer_fit(calm, &fit, &err), MW_OK);
    CHECK_OK(err);
    copy(scratch("rich"), scratch("calm"));
    copy(scratch("rich.best"), scratch("calm.best"));
    fit.progress.user = &none;
    int tried = 0;
    for (int step = 1; step <= STEPS; step++) {
        char name[64];
        snprintf(name, sizeof name, "rich.copy%d", step);
        if (!file_exists(scratch(name)))
            continue;
        tried++;
        copy(scratch(name), scratch("rich"));
        remove(scratch(name));
        mw_trainer *trainer = make_rich(accumulate, dispatch_steps, &err);
        CHECK_INT(mw_trainer_fit(trainer, &fit, &err), MW_OK);
        CHECK(same_files(scratch("rich"), scratch("calm")));
        CHECK(same_files(scratch("rich.best"), scratch("calm.best")));
        mw_trainer_destroy(trainer);
    }
    CHECK(tried >= STEPS / dispatch_steps - 1);
    CHECK_OK(err);
    mw_trainer_destroy(calm);
    child_free(&net);
}

static void test_goes_on_from_the_middle_of_an_epoch(void) { check_goes_on_from_each(1, 1); }
static void test_goes_on_from_the_middle_of_an_accumulation(void) { check_goes_on_from_each(5, 1); }
static void test_goes_on_from_the_middle_of_an_epoch_of_dispatches(void) { check_goes_on_from_each(1, 2); }

static int train(const char *checkpoint)
{
    mw_error err = {0};
    child_net net = child_make(&err);
    mw_trainer *trainer = make_rich(1, 1, &err);
    mw_fit_options fit = make_fit(net.data, checkpoint, NULL);
    fit.progress.function = NULL;
    fit.epochs = 20;
    fit.checkpoint.steps = 2;
    fit.checkpoint.keep_last = 3;
    fit.stopping.best_by = "loss";
    mw_trainer_fit(trainer, &fit, &err);
    if (err.status != MW_OK)
        printf("%s\n", err.message);
    return err.status != MW_OK;
}

static int train_in_child(const char *checkpoint, long nanoseconds)
{
    int status = -1;
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0)
        _exit(train(checkpoint));
    if (nanoseconds > 0) {
        const struct timespec time = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000};
        nanosleep(&time, NULL);
        kill(child, SIGKILL);
    }
    CHECK(waitpid(child, &status, 0) == child);
    return status;
}

/* The newest, the best and each that stays are those of a run that was left alone, and no other file is there. */
static void test_a_killed_run_keeps_the_same_files(void)
{
    char calm[400], killed[400];
    snprintf(calm, sizeof calm, "%s", scratch("alone"));
    snprintf(killed, sizeof killed, "%s", scratch("shot"));
    struct timespec begin, end;
    clock_gettime(CLOCK_MONOTONIC, &begin);
    CHECK_INT(train_in_child(calm, 0), 0);
    clock_gettime(CLOCK_MONOTONIC, &end);
    const long time = (long)(end.tv_sec - begin.tv_sec) * 1000000000 + (end.tv_nsec - begin.tv_nsec);
    int shot = 0;
    long wait = time / 8;
    for (int i = 0; i < 60 && shot < 6; i++) {
        const int status = train_in_child(killed, wait + 1);
        shot += WIFSIGNALED(status);
        wait = WIFSIGNALED(status) ? wait + time / 50 : wait / 2; /* the machine may be quicker now than it was */
        if (!WIFSIGNALED(status) && shot < 6)
            remove(killed); /* finished before: another training */
    }
    CHECK(shot >= 3);
    CHECK_INT(train_in_child(killed, 0), 0);
    CHECK(same_files(calm, killed));
    CHECK(same_files(scratch("alone.best"), scratch("shot.best")));
    for (int step = 0; step <= 20 * BATCHES; step++) {
        char a[64], b[64];
        snprintf(a, sizeof a, "alone.step-%d", step);
        snprintf(b, sizeof b, "shot.step-%d", step);
        CHECK(file_exists(scratch(a)) == (step == 96 || step == 98 || step == 100));
        CHECK(file_exists(scratch(a)) ? same_files(scratch(a), scratch(b)) : !file_exists(scratch(b)));
    }
}

/* ---- refused ---- */

static void test_options_out_of_range_are_refused(void)
{
    mw_error err = {0};
    child_net net = child_make(&err);
    watch w = {0};
    mw_fit_options bad[8];
    for (int i = 0; i < 8; i++)
        bad[i] = make_fit(net.data, scratch("refused"), &w);
    static const char *const parts[] = {"checkpoint every -1 steps", "every -2 seconds",     "every nan seconds",
                                        "keep_last is -1",           "keep_last is 1001",    "best_by is \"f1\"",
                                        "no validation set",         "checkpoint.steps says"};
    bad[0].checkpoint.steps = -1;
    bad[1].checkpoint.seconds = -2.0;
    bad[2].checkpoint.seconds = (double)NAN;
    bad[3].checkpoint.keep_last = -1;
    bad[4].checkpoint.keep_last = 1001;
    bad[5].stopping.best_by = "f1";
    bad[6].stopping.best_by = "loss";
    bad[6].data.validation = NULL;
    bad[7].checkpoint.path = NULL;
    bad[7].checkpoint.steps = 5;
    for (int i = 0; i < 8; i++) {
        mw_error refused = {0};
        CHECK_INT(mw_trainer_fit(net.trainer, &bad[i], &refused), MW_ERROR_ARGUMENT);
        CHECK_CONTAINS(refused.message, parts[i]);
    }
    CHECK_INT(mw_trainer_get_info(net.trainer).steps, 0);
    child_free(&net);
}

/* Before the first step: a name that is too long, alone or with what is added for those that are kept; a folder that is
 * full of nothing but a refusal. */
static void test_what_cannot_be_saved_is_refused_before_it_trains(void)
{
    mw_error err = {0};
    child_net net = child_make(&err);
    watch w = {0};
    char name[300], path[700], folder[400];
    memset(name, 'n', sizeof name);
    for (int i = 0; i < 2; i++) {
        mw_error refused = {0};
        name[i == 0 ? 256 : 255] = '\0';
        snprintf(path, sizeof path, "%s", scratch(name));
        mw_fit_options fit = make_fit(net.data, path, &w);
        fit.checkpoint.keep_last = i == 1;
        CHECK_INT(mw_trainer_fit(net.trainer, &fit, &refused), MW_ERROR_FILE);
        CHECK_CONTAINS(refused.message, "File name too long");
    }
    snprintf(folder, sizeof folder, "%s", scratch("readonly"));
    snprintf(path, sizeof path, "%s/run", folder);
    CHECK(mkdir(folder, 0500) == 0);
    const mw_fit_options fit = make_fit(net.data, path, &w);
    if (geteuid() != 0) /* whom nothing keeps from writing */
        CHECK_INT(mw_trainer_fit(net.trainer, &fit, &err), MW_ERROR_FILE);
    CHECK_INT(mw_trainer_get_info(net.trainer).steps, 0);
    child_free(&net);
}

/* The longest names that file systems take, with all that stands beside the file for a moment. */
static void test_long_names_are_saved_to(void)
{
    char name[300], path[700];
    memset(name, 'n', sizeof name);
    for (int length = 244; length <= 255; length += 11) {
        mw_error err = {0};
        child_net net = child_make(&err);
        watch w = {0};
        memset(name, 'n', 255);
        name[length] = '\0';
        snprintf(path, sizeof path, "%s", scratch(name));
        const mw_fit_options fit = make_fit(net.data, path, &w);
        CHECK_INT(mw_trainer_fit(net.trainer, &fit, &err), MW_OK);
        CHECK_OK(err);
        CHECK(access(path, R_OK) == 0);
        unlink(path);
        child_free(&net);
    }
}

/* A list of files to be removed is not taken from a checkpoint that somebody changed. */
static void test_a_list_that_does_not_rise_is_refused(void)
{
    mw_error err = {0};
    child_net net = child_make(&err);
    int64_t kept[MW__KEEP_MAX + 1] = {5, 3};
    mw__fit_record record = {.order = "o", .batches = BATCHES, .kept = kept, .kept_count = 2};
    CHECK_INT(mw__checkpoint_save(net.trainer, scratch("falling"), (mw_loader_position){0}, &record, &err), MW_OK);
    CHECK_INT(mw__checkpoint_load(net.trainer, scratch("falling"), NULL, &record, &err), MW_ERROR_FORMAT);
    CHECK_CONTAINS(err.message, "mw.fit.kept");
    child_free(&net);
}

int main(void)
{
    unsetenv("MW_E5RT_LIBRARY");
    scratch("");
    RUN(test_a_killed_run_keeps_the_same_files); /* forks, and so comes first */
    RUN(test_saves_every_so_many_steps);
    RUN(test_saves_every_so_many_seconds);
    RUN(test_keeps_the_last_saves_and_nothing_else);
    RUN(test_names_keep_the_ending);
    RUN(test_keeps_the_best);
    RUN(test_the_best_so_far_goes_on);
    RUN(test_without_links_the_checkpoint_is_saved_twice);
    RUN(test_goes_on_from_the_middle_of_an_epoch);
    RUN(test_goes_on_from_the_middle_of_an_accumulation);
    RUN(test_goes_on_from_the_middle_of_an_epoch_of_dispatches);
    RUN(test_options_out_of_range_are_refused);
    RUN(test_what_cannot_be_saved_is_refused_before_it_trains);
    RUN(test_long_names_are_saved_to);
    RUN(test_a_list_that_does_not_rise_is_refused);
    return check_finish();
}

/* Every writer of the library under a limit on file sizes (ulimit -f), where the system's own answer is a signal that
 * ends the process: each is an error that names the file, and leaves nothing behind. */
#include "runtime/files.h"
#include "runtime/fit/child_net.h"
#include "support/check.h"
#include "tuned.h"

#include <dirent.h>
#include <millwright/inspect.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

enum { LIMIT = 40 }; /* bytes: fewer than any of these files has */

static void limit_files(rlim_t bytes)
{
    const struct rlimit limit = {.rlim_cur = bytes, .rlim_max = RLIM_INFINITY};
    CHECK_INT(setrlimit(RLIMIT_FSIZE, &limit), 0);
}

static void check_refused(mw_status status, const mw_error *err, const char *what)
{
    sigset_t pending;
    check_note(status == MW_ERROR_FILE && strstr(err->message, "ulimit -f") != NULL, __FILE__, __LINE__,
               "%s: %d \"%s\"", what, (int)status, err->message);
    CHECK(sigpending(&pending) == 0 && sigismember(&pending, SIGXFSZ) == 0);
}

/* ---- what a trainer writes ---- */

typedef mw_status writer(mw_trainer *trainer, const char *path, mw_error *err);

static mw_status save(mw_trainer *trainer, const char *path, mw_error *err)
{
    return mw_trainer_save(trainer, path, NULL, err);
}

static mw_status export(mw_trainer *trainer, const char *path, mw_error *err)
{
    return mw_trainer_export(trainer, NULL, path, NULL, err);
}

static const struct {
    const char *name;
    writer *write;
} writers[] = {
    {"mw_trainer_save", save}, {"mw_trainer_save_weights", mw_trainer_save_weights}, {"mw_trainer_export", export}};
enum { WRITERS = sizeof writers / sizeof writers[0] };

static void write_each(void *user)
{
    (void)user;
    mw_error err = {0};
    child_net net = child_make(&err);
    for (int i = 0; i < WRITERS; i++) {
        mw_error full = {0};
        const char *path = scratch(writers[i].name);
        limit_files(LIMIT);
        check_refused(writers[i].write(net.trainer, path, &full), &full, writers[i].name);
        limit_files(RLIM_INFINITY);
        check_note(writers[i].write(net.trainer, path, &err) == MW_OK, __FILE__, __LINE__, "%s: %s", writers[i].name,
                   err.message);
    }
    CHECK_INT(scratch_count(), WRITERS); /* no temporary stayed */
    child_free(&net);
}

static void test_what_a_trainer_writes(void) { child_check(write_each, NULL); }

/* ---- programs ---- */

static void write_plans(void *user)
{
    (void)user;
    mw_error err = {0}, full[2] = {0};
    mw_graph *source = tuned_read(MW_F32, "planned", &err);
    mw_program *program = mw_program_create(source, NULL, &err);
    mw_program_profile(program, 1, &err);
    mw_program_run(program, &err);
    mw_plan *plan = mw_plan_create(program, &err);
    limit_files(LIMIT);
    check_refused(mw_plan_write(plan, scratch("plan"), &full[0]), &full[0], "mw_plan_write");
    check_refused(mw_plan_write_trace(plan, scratch("trace"), &full[1]), &full[1], "mw_plan_write_trace");
    limit_files(RLIM_INFINITY);
    CHECK_INT(mw_plan_write(plan, scratch("plan"), &err), MW_OK);
    CHECK_INT(mw_plan_write_trace(plan, scratch("trace"), &err), MW_OK);
    CHECK_OK(err);
    mw_plan_destroy(plan);
    mw_program_destroy(program);
    mw_graph_destroy(source);
}

static void test_plans_and_traces(void) { child_check(write_plans, NULL); }

static void write_programs(void *user)
{
    (void)user;
    mw_error err = {0};
    mw_graph *source = tuned_read(MW_F32, "source", &err);
    static const char *const weights[] = {"fc1_weight"};
    const mw_lora_options options = mw_lora_defaults(weights, 1);
    mw_graph *adapted = mw_graph_lora(source, &options, &err);
    mw_trainer *trainer = tuned_trainer(adapted, MW_DEVICE_CPU, 0.01f, &err);
    REQUIRE(CHECK_OK(err));
    mw_error full[4] = {0};
    limit_files(LIMIT);
    check_refused(mw_graph_write(source, scratch("written"), NULL, &full[0]), &full[0], "mw_graph_write");
    check_refused(mw_trainer_export(trainer, source, scratch("tuned"), NULL, &full[1]), &full[1], "mw_trainer_export");
    check_refused(mw_trainer_save_lora(trainer, scratch("lora"), &full[2]), &full[2], "mw_trainer_save_lora");
    mw_program *program = mw_program_create(source, NULL, &full[3]);
    CHECK(program == NULL);
    check_refused(full[3].status, &full[3], "mw_program_create");
    limit_files(RLIM_INFINITY);
    CHECK_INT(mw_graph_write(source, scratch("written"), NULL, &err), MW_OK);
    CHECK_INT(mw_trainer_export(trainer, source, scratch("tuned"), NULL, &err), MW_OK);
    CHECK_INT(mw_trainer_save_lora(trainer, scratch("lora"), &err), MW_OK);
    mw_trainer_destroy(trainer);
    mw_graph_destroy(adapted);
    mw_graph_destroy(source);
}

static void test_programs_and_adapters(void) { child_check(write_programs, NULL); }

/* ---- the loop ---- */

/* The limit comes in the second epoch: the checkpoint of the first stays, and the weights in the trainer go on. */
static bool limit_later(void *user, const mw_progress *progress)
{
    (void)user;
    if (progress->epoch_end && progress->epoch == 1)
        limit_files(LIMIT);
    return false;
}

static void fit_to_the_limit(void *user)
{
    (void)user;
    mw_error err = {0}, full = {0};
    child_net net = child_make(&err);
    mw_fit_options fit = mw_fit_defaults(net.data, 3);
    fit.progress.quiet = true;
    fit.checkpoint.path = scratch("fitted");
    fit.progress.function = limit_later;
    check_refused(mw_trainer_fit(net.trainer, &fit, &full), &full, "mw_trainer_fit");
    limit_files(RLIM_INFINITY);
    const int64_t epoch = mw_trainer_steps(net.trainer) / 2;
    CHECK_INT(mw_trainer_load(net.trainer, fit.checkpoint.path, NULL, &err), MW_OK);
    CHECK_INT(mw_trainer_steps(net.trainer), epoch);
    CHECK_OK(err);
    child_free(&net);
}

static void test_a_checkpoint_in_the_loop(void) { child_check(fit_to_the_limit, NULL); }

int main(void)
{
    scratch(""); /* the folder is this process's */
    RUN(test_what_a_trainer_writes);
    RUN(test_plans_and_traces);
    RUN(test_programs_and_adapters);
    RUN(test_a_checkpoint_in_the_loop);
    return check_finish();
}

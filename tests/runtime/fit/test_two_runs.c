/* Two trainings on one checkpoint: the second is refused and told of the first, whatever path leads there; what a
 * killed one leaves of its lock is no hindrance, and nothing of it stays. */
#include "base/file/file.h"
#include "base/file/lock.h"
#include "child_net.h"
#include "runtime/files.h"
#include "runtime/small.h"
#include "support/check.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char path[400], lock_path[420], linked[400];

static mw_fit_options make_fit(const child_net *net)
{
    mw_fit_options fit = mw_fit_defaults(net->data, 2);
    fit.progress.quiet = true;
    fit.checkpoint.path = path;
    return fit;
}

/* Says after the first epoch that it runs, and then waits to be killed. */
static bool run_for_ever(void *user, const mw_progress *progress)
{
    const int *tell = user;
    if (progress->epoch_end && write(*tell, "r", 1) == 1)
        for (;;)
            pause();
    return false;
}

static pid_t start_other(void)
{
    int ends[2];
    char ready = 0;
    if (!CHECK(pipe(ends) == 0))
        return -1;
    const pid_t child = fork();
    if (child == 0) {
        mw_error err = {0};
        child_net net = child_make(&err);
        mw_fit_options fit = make_fit(&net);
        fit.progress.function = run_for_ever;
        fit.progress.user = &ends[1];
        mw_trainer_fit(net.trainer, &fit, &err);
        _exit(1);
    }
    close(ends[1]);
    CHECK(read(ends[0], &ready, 1) == 1);
    close(ends[0]);
    return child;
}

static void check_refused(mw_status status, const mw_error *err, const char *holder)
{
    CHECK_INT(status, MW_ERROR_FILE);
    CHECK_CONTAINS(err->message, "is being written by another training or save");
    CHECK_CONTAINS(err->message, holder);
    CHECK_CONTAINS(err->message, ".safetensors");
}

/* Runs in a child, as the parent forks again later. */
static void try_beside(void *user)
{
    const pid_t other = *(const pid_t *)user;
    char holder[64];
    mw_error err = {0}, refused[3] = {0};
    child_net net = child_make(&err);
    snprintf(holder, sizeof holder, "process %ld on ", (long)other);
    mw_fit_options fit = make_fit(&net);
    check_refused(mw_trainer_fit(net.trainer, &fit, &refused[0]), &refused[0], holder);
    fit.checkpoint.path = linked;
    check_refused(mw_trainer_fit(net.trainer, &fit, &refused[1]), &refused[1], holder);
    check_refused(mw_trainer_save(net.trainer, path, NULL, &refused[2]), &refused[2], holder);
    CHECK_INT(mw_trainer_get_info(net.trainer).steps, 0);
    CHECK_INT(mw_trainer_load(net.trainer, path, NULL, &err), MW_OK); /* reading needs no lock */
    CHECK_INT(mw_trainer_save(net.trainer, scratch("beside.safetensors"), NULL, &err), MW_OK);
    CHECK_OK(err);
    CHECK(file_exists(lock_path)); /* the refused ones left it alone */
}

static void go_on(void *user)
{
    (void)user;
    mw_error err = {0};
    child_net net = child_make(&err);
    const mw_fit_options fit = make_fit(&net);
    CHECK_INT(mw_trainer_fit(net.trainer, &fit, &err), MW_OK);
    CHECK_OK(err);
    CHECK_INT(mw_trainer_get_info(net.trainer).steps, 2 * (SMALL_EXAMPLES / SMALL_N));
}

static void test_a_second_process_is_refused_and_told(void)
{
    pid_t other = start_other();
    REQUIRE(other > 0);
    CHECK(symlink("two.safetensors", linked) == 0);
    child_check(try_beside, &other);
    kill(other, SIGKILL);
    CHECK(waitpid(other, NULL, 0) == other);
    CHECK(file_exists(lock_path)); /* nobody could remove it */
    child_check(go_on, NULL);
    CHECK(!file_exists(lock_path));
    remove(path);
    remove(linked);
}

/* ---- within one process ---- */

static bool try_within(void *user, const mw_progress *progress)
{
    child_net *nets = user;
    if (progress->step != 3 || progress->epoch_end)
        return false;
    mw_error err = {0}, refused[2] = {0};
    char holder[64];
    snprintf(holder, sizeof holder, "process %ld on ", (long)getpid());
    const mw_fit_options fit = make_fit(&nets[1]);
    check_refused(mw_trainer_fit(nets[1].trainer, &fit, &refused[0]), &refused[0], holder);
    check_refused(mw_trainer_save(nets[1].trainer, path, NULL, &refused[1]), &refused[1], holder);
    CHECK_INT(mw_trainer_save(nets[0].trainer, path, NULL, &err), MW_OK); /* the one that trains may */
    CHECK(file_exists(lock_path));
    return false;
}

static void test_a_second_trainer_of_the_process_is_refused(void)
{
    mw_error err = {0};
    child_net nets[2] = {child_make(&err), child_make(&err)};
    mw_fit_options fit = make_fit(&nets[0]);
    fit.progress.function = try_within;
    fit.progress.user = nets;
    CHECK_INT(mw_trainer_fit(nets[0].trainer, &fit, &err), MW_OK);
    CHECK(!file_exists(lock_path));
    CHECK_INT(mw_trainer_fit(nets[1].trainer, &fit, &err), MW_OK); /* after it */
    CHECK_INT(mw_trainer_save(nets[1].trainer, path, NULL, &err), MW_OK);
    CHECK_OK(err);
    CHECK(!file_exists(lock_path));
    remove(path);
    child_free(&nets[0]);
    child_free(&nets[1]);
}

static bool validate_beside(void *user, const mw_progress *progress)
{
    child_net *other = user;
    mw_error err = {0};
    const mw_fit_options fit = make_fit(other);
    CHECK(progress->epoch_end);
    CHECK_INT(mw_trainer_fit(other->trainer, &fit, &err), MW_OK);
    CHECK_OK(err);
    return false;
}

/* A run that was finished before only reads. */
static void test_finished_runs_do_not_exclude_each_other(void)
{
    mw_error err = {0};
    child_net nets[2] = {child_make(&err), child_make(&err)};
    mw_fit_options fit = make_fit(&nets[0]);
    CHECK_INT(mw_trainer_fit(nets[0].trainer, &fit, &err), MW_OK);
    fit.progress.function = validate_beside;
    fit.progress.user = &nets[1];
    CHECK_INT(mw_trainer_fit(nets[0].trainer, &fit, &err), MW_OK);
    CHECK_OK(err);
    CHECK_INT(mw_trainer_get_info(nets[1].trainer).steps, 2 * (SMALL_EXAMPLES / SMALL_N));
    remove(path);
    child_free(&nets[0]);
    child_free(&nets[1]);
}

/* ---- where there are no locks ---- */

static int lines;

static void count_lines(void *user, mw_log_level level, const char *line)
{
    (void)user;
    lines += level == MW_LOG_WARNING && strstr(line, "cannot be locked") != NULL;
}

static int no_locks(int descriptor, int how)
{
    (void)descriptor, (void)how;
    errno = ENOLCK;
    return -1;
}

static void test_without_locks_it_trains_and_warns(void)
{
    mw_error err = {0};
    child_net net = child_make(&err);
    mw__file_calls calls = mw__file_real_calls;
    const mw_fit_options fit = make_fit(&net);
    calls.lock = no_locks;
    mw__file_set_calls(&calls);
    mw_log_set(count_lines, NULL);
    CHECK_INT(mw_trainer_fit(net.trainer, &fit, &err), MW_OK);
    mw_log_set(NULL, NULL);
    mw__file_set_calls(NULL);
    CHECK_OK(err);
    CHECK_INT(lines, 1);
    CHECK(file_exists(path));
    remove(path);
    CHECK(!file_exists(lock_path));
    child_free(&net);
}

/* What is no file stays, and is not followed. */
static void test_a_link_in_the_place_of_the_lock_is_not_followed(void)
{
    mw_error err = {0};
    mw__lock lock;
    char victim[400];
    snprintf(victim, sizeof victim, "%s", scratch("victim"));
    put_file(victim, "mine", 4);
    CHECK(symlink(victim, lock_path) == 0);
    lines = 0;
    mw_log_set(count_lines, NULL);
    CHECK_INT(mw__lock_take(&lock, NULL, path, NULL, &err), MW_OK);
    mw_log_set(NULL, NULL);
    CHECK_INT(lines, 1);
    mw__lock_release(&lock);
    size_t size = 0;
    unsigned char *bytes = get_file(victim, &size);
    CHECK(size == 4 && memcmp(bytes, "mine", 4) == 0);
    free(bytes);
    struct stat status;
    CHECK(lstat(lock_path, &status) == 0 && S_ISLNK(status.st_mode));
    remove(lock_path);
}

int main(void)
{
    unsetenv("MW_E5RT_LIBRARY");
    snprintf(path, sizeof path, "%s", scratch("two.safetensors"));
    snprintf(linked, sizeof linked, "%s", scratch("linked.safetensors"));
    snprintf(lock_path, sizeof lock_path, "%s.mwlock", path);
    RUN(test_a_second_process_is_refused_and_told); /* forks, and so comes first */
    RUN(test_a_second_trainer_of_the_process_is_refused);
    RUN(test_finished_runs_do_not_exclude_each_other);
    RUN(test_without_locks_it_trains_and_warns);
    RUN(test_a_link_in_the_place_of_the_lock_is_not_followed);
    return check_finish();
}

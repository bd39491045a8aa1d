/* A training that is killed while it compiles, saves or names what it saved: the next run goes on, and nothing of the
 * killed one stays, neither beside the checkpoint nor where temporary folders are. */
#include "base/file/file.h"
#include "child_net.h"
#include "runtime/files.h"
#include "runtime/small.h"
#include "support/check.h"

#include <dirent.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static char temporary[400], saves[400], checkpoint[500];

static int count_in(const char *folder)
{
    DIR *opened = opendir(folder);
    int count = 0;
    for (const struct dirent *entry; opened != NULL && (entry = readdir(opened)) != NULL;)
        count += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    if (opened != NULL)
        closedir(opened);
    return count;
}

/* ---- the call at which a process kills itself ---- */

static int countdown;

static void count_down(void)
{
    if (--countdown == 0)
        kill(getpid(), SIGKILL);
}

static long dying_write(int descriptor, const void *data, size_t size)
{
    count_down();
    return mw__file_real_calls.write(descriptor, data, size);
}

static int dying_rename(int folder, const char *from, const char *to)
{
    count_down();
    return mw__file_real_calls.rename(folder, from, to);
}

static int dying_link(const char *from, const char *to)
{
    const int result = mw__file_real_calls.link(from, to);
    count_down();
    return result;
}

/* Compiles, trains and saves; dies at the n-th call of the kind, or lives if n is 0. */
typedef struct plan {
    mw__file_calls calls;
    int at;
} plan;

static void train(void *user)
{
    const plan *p = user;
    mw_error err = {0};
    countdown = p->at;
    mw__file_set_calls(&p->calls);
    child_net net = child_make(&err);
    mw_fit_options fit = mw_fit_defaults(net.data, 3);
    fit.progress.quiet = true;
    fit.checkpoint.path = checkpoint;
    fit.data.validation = net.data;
    fit.checkpoint.steps = 2;
    fit.checkpoint.keep_last = 2;
    fit.stopping.best_by = "loss";
    CHECK_INT(mw_trainer_fit(net.trainer, &fit, &err), MW_OK);
    CHECK_OK(err);
    child_free(&net);
}

static int die(mw__file_calls calls, int at)
{
    plan p = {.calls = calls, .at = at};
    return child_run(train, &p);
}

static void check_clean(const char *kind, int at)
{
    plan calm = {.calls = mw__file_real_calls};
    child_check(train, &calm);
    check_note(count_in(temporary) == 0, __FILE__, __LINE__, "killed at %s %d: %d temporary folders", kind, at,
               count_in(temporary));
    check_note(count_in(saves) == 4, __FILE__, __LINE__, "killed at %s %d: %d files", kind, at, count_in(saves));
}

/* The checkpoint, two that stay, the best: 4 files. Some deaths must have left something, or this shows nothing. */
static void check_deaths(const char *kind, mw__file_calls calls, int every)
{
    int left = 0, died = 0;
    for (int at = 1;; at += every) {
        const int status = die(calls, at);
        if (!WIFSIGNALED(status))
            break;
        died++;
        left += count_in(temporary) > 0 || count_in(saves) > 4;
        check_clean(kind, at);
        mw__file_remove_folder(saves);
        CHECK(mkdir(saves, 0700) == 0);
    }
    CHECK(died > 2 && left > 0);
}

static void test_killed_while_it_writes(void)
{
    mw__file_calls calls = mw__file_real_calls;
    calls.write = dying_write;
    check_deaths("write", calls, 3);
}

static void test_killed_before_it_renames(void)
{
    mw__file_calls calls = mw__file_real_calls;
    calls.rename = dying_rename;
    check_deaths("rename", calls, 2);
}

static void test_killed_after_it_links(void)
{
    mw__file_calls calls = mw__file_real_calls;
    calls.link = dying_link;
    check_deaths("link", calls, 1);
}

/* ---- while another lives ---- */

static bool wait_for_ever(void *user, const mw_progress *progress)
{
    (void)progress;
    if (write(*(const int *)user, "r", 1) == 1)
        for (;;)
            pause();
    return false;
}

/* A folder that is kept for the life of its process, here by a stop inside a write. */
static int stop_here;

static long stopping_write(int descriptor, const void *data, size_t size)
{
    wait_for_ever(&stop_here, NULL);
    return mw__file_real_calls.write(descriptor, data, size);
}

static void test_the_folder_of_a_living_process_stays(void)
{
    int ends[2];
    char ready = 0;
    REQUIRE(pipe(ends) == 0);
    const pid_t other = fork();
    if (other == 0) {
        plan p = {.calls = mw__file_real_calls};
        stop_here = ends[1];
        p.calls.write = stopping_write;
        train(&p);
        _exit(1);
    }
    CHECK(read(ends[0], &ready, 1) == 1);
    CHECK_INT(count_in(temporary), 1);
    plan calm = {.calls = mw__file_real_calls};
    child_check(train, &calm);
    CHECK_INT(count_in(temporary), 1);
    kill(other, SIGKILL);
    CHECK(waitpid(other, NULL, 0) == other);
    child_check(train, &calm);
    CHECK_INT(count_in(temporary), 0);
    close(ends[0]);
    close(ends[1]);
}

int main(void)
{
    unsetenv("MW_E5RT_LIBRARY");
    snprintf(temporary, sizeof temporary, "%s", scratch("temporary"));
    snprintf(saves, sizeof saves, "%s", scratch("saves"));
    snprintf(checkpoint, sizeof checkpoint, "%s/run.safetensors", saves);
    if (mkdir(temporary, 0700) != 0 || mkdir(saves, 0700) != 0 || setenv("TMPDIR", temporary, 1) != 0)
        return 1;
    RUN(test_killed_while_it_writes);
    RUN(test_killed_before_it_renames);
    RUN(test_killed_after_it_links);
    RUN(test_the_folder_of_a_living_process_stays);
    return check_finish();
}

/* What signals do while mw_trainer_fit runs: the first SIGINT or SIGTERM asks, the second ends the process, and what
 * the host had set is there again afterwards. A log pipe that nobody reads is an error. */
#include "child_net.h"
#include "runtime/files.h"
#include "runtime/small.h"
#include "support/check.h"

#include <millwright/ane_e5rt.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { BATCHES = SMALL_EXAMPLES / SMALL_N, EPOCHS = 3 };

/* ---- asking a training to stop ---- */

/* Signals that the callback raises at step `at`. */
typedef struct raiser {
    int64_t at;
    int signals[2]; /* 0 = none */
    int64_t calls;
} raiser;

static bool raise_them(void *user, const mw_progress *progress)
{
    raiser *r = user;
    r->calls++;
    for (int i = 0; i < 2 && progress->step == r->at && !progress->epoch_end; i++)
        if (r->signals[i] != 0)
            raise(r->signals[i]);
    return false;
}

static mw_fit_options make_fit(const child_net *net, raiser *r)
{
    mw_fit_options fit = mw_fit_defaults(net->data, EPOCHS);
    fit.progress.quiet = true;
    fit.progress.function = raise_them;
    fit.progress.user = r;
    return fit;
}

static void on_action(int number, siginfo_t *info, void *context) { (void)number, (void)info, (void)context; }

static void on_signal(int number) { (void)number; }

static void stop_and_go_on(void *user)
{
    const int number = *(const int *)user;
    mw_error err = {0}, stopped = {0};
    child_net straight = child_make(&err), first = child_make(&err), second = child_make(&err);
    raiser none = {0}, term = {.at = BATCHES + 2, .signals = {number}};
    mw_fit_options fit = make_fit(&straight, &none);
    CHECK_INT(mw_trainer_fit(straight.trainer, &fit, &err), MW_OK);
    CHECK_INT(mw_fit_signal(), 0);
    fit = make_fit(&first, &term);
    fit.checkpoint.path = scratch("asked");
    remove(fit.checkpoint.path);
    CHECK_INT(mw_trainer_fit(first.trainer, &fit, &stopped), MW_ERROR_STOPPED);
    CHECK_CONTAINS(stopped.message, number == SIGTERM ? "stopped by SIGTERM after step 7" : "stopped by SIGINT");
    CHECK_INT(mw_fit_signal(), number);
    CHECK_INT(mw_trainer_get_info(first.trainer).steps, BATCHES + 2);
    fit.progress.user = &none;
    CHECK_INT(mw_trainer_fit(second.trainer, &fit, &err), MW_OK);
    CHECK_OK(err);
    CHECK_INT(mw_fit_signal(), 0);
    const small_snapshot a = small_take(straight.trainer), b = small_take(second.trainer);
    small_check_same(&a, &b);
}

static void test_sigterm_and_sigint_save_and_go_on_with_the_same_bits(void)
{
    int numbers[] = {SIGTERM, SIGINT};
    scratch(""); /* the folder is the parent's */
    for (int i = 0; i < 2; i++)
        child_check(stop_and_go_on, &numbers[i]);
}

static bool same_action(const struct sigaction *a, const struct sigaction *b)
{
    bool same = a->sa_flags == b->sa_flags && a->sa_sigaction == b->sa_sigaction;
    for (int i = 1; i < 32; i++)
        same = same && sigismember(&a->sa_mask, i) == sigismember(&b->sa_mask, i);
    return same;
}

/* With flags and mask of its own, whether or not the signal came. */
static void find_the_handler_again(void *user)
{
    const int number = *(const int *)user;
    mw_error err = {0}, stopped = {0};
    child_net net = child_make(&err);
    struct sigaction mine = {0}, before, after;
    mine.sa_sigaction = on_action;
    mine.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigemptyset(&mine.sa_mask);
    sigaddset(&mine.sa_mask, SIGUSR1);
    sigaction(number, &mine, NULL);
    sigaction(number, NULL, &before);
    raiser r = {0};
    const mw_fit_options fit = make_fit(&net, &r);
    CHECK_INT(mw_trainer_fit(net.trainer, &fit, &err), MW_OK);
    sigaction(number, NULL, &after);
    CHECK(same_action(&before, &after));
    r = (raiser){.at = 1, .signals = {number}};
    CHECK_INT(mw_trainer_fit(net.trainer, &fit, &stopped), MW_ERROR_STOPPED);
    sigaction(number, NULL, &after);
    CHECK(same_action(&before, &after));
}

static void test_the_handlers_of_the_host_are_there_again(void)
{
    int numbers[] = {SIGTERM, SIGINT};
    for (int i = 0; i < 2; i++)
        child_check(find_the_handler_again, &numbers[i]);
}

static bool set_a_handler(void *user, const mw_progress *progress)
{
    (void)user, (void)progress;
    signal(SIGTERM, on_signal);
    return false;
}

static void keep_the_new_handler(void *user)
{
    (void)user;
    mw_error err = {0};
    child_net net = child_make(&err);
    mw_fit_options fit = make_fit(&net, NULL);
    fit.progress.function = set_a_handler;
    CHECK_INT(mw_trainer_fit(net.trainer, &fit, &err), MW_OK);
    CHECK(signal(SIGTERM, SIG_DFL) == on_signal);
}

static void test_a_handler_that_the_host_sets_meanwhile_stays(void) { child_check(keep_the_new_handler, NULL); }

static void stay_ignored(void *user)
{
    (void)user;
    mw_error err = {0};
    child_net net = child_make(&err);
    raiser r = {.at = 2, .signals = {SIGTERM, SIGTERM}};
    const mw_fit_options fit = make_fit(&net, &r);
    signal(SIGTERM, SIG_IGN);
    CHECK_INT(mw_trainer_fit(net.trainer, &fit, &err), MW_OK);
    CHECK_INT(r.calls, EPOCHS * (BATCHES + 1));
    CHECK(signal(SIGTERM, SIG_DFL) == SIG_IGN);
}

static void test_an_ignored_sigterm_stays_ignored(void) { child_check(stay_ignored, NULL); }

static void be_asked_twice(void *user)
{
    mw_error err = {0};
    child_net net = child_make(&err);
    const mw_fit_options fit = make_fit(&net, user);
    mw_trainer_fit(net.trainer, &fit, &err);
}

static void test_the_second_signal_ends_the_process(void)
{
    raiser pairs[] = {{.at = 1, .signals = {SIGTERM, SIGTERM}},
                      {.at = 1, .signals = {SIGTERM, SIGINT}},
                      {.at = 1, .signals = {SIGINT, SIGTERM}},
                      {.at = 1, .signals = {SIGINT, SIGINT}}};
    for (int i = 0; i < 4; i++) {
        const int status = child_run(be_asked_twice, &pairs[i]);
        CHECK(WIFSIGNALED(status) && WTERMSIG(status) == pairs[i].signals[1]);
    }
}

/* ---- a log that cannot be written ---- */

static void close_the_log(void)
{
    int ends[2];
    REQUIRE(pipe(ends) == 0);
    close(ends[0]);
    dup2(ends[1], STDERR_FILENO);
    close(ends[1]);
}

static bool is_pending(int number)
{
    sigset_t pending;
    return sigpending(&pending) == 0 && sigismember(&pending, number) == 1;
}

static bool is_blocked(int number)
{
    sigset_t mask;
    return sigprocmask(SIG_BLOCK, NULL, &mask) == 0 && sigismember(&mask, number) == 1;
}

static void write_to_a_closed_pipe(void *user)
{
    const char *checkpoint = user;
    mw_error err = {0}, closed = {0};
    child_net net = child_make(&err);
    raiser none = {0};
    mw_fit_options fit = make_fit(&net, &none);
    fit.progress.quiet = false;
    fit.checkpoint.path = checkpoint;
    close_the_log();
    CHECK_INT(mw_trainer_fit(net.trainer, &fit, &closed), MW_ERROR_FILE);
    CHECK_CONTAINS(closed.message, "nobody reads the pipe");
    CHECK_INT(mw_trainer_get_info(net.trainer).steps, BATCHES); /* to the first line */
    CHECK(file_exists(checkpoint));
    CHECK(!is_pending(SIGPIPE) && !is_blocked(SIGPIPE));
    CHECK(signal(SIGPIPE, SIG_DFL) == SIG_DFL);
    fit.progress.quiet = true;
    CHECK_INT(mw_trainer_fit(net.trainer, &fit, &err), MW_OK); /* goes on */
    CHECK_INT(mw_trainer_get_info(net.trainer).steps, EPOCHS * BATCHES);
}

static void test_a_closed_log_pipe_is_an_error(void)
{
    char path[400];
    snprintf(path, sizeof path, "%s", scratch("piped"));
    child_check(write_to_a_closed_pipe, path);
}

/* A SIGPIPE that came to the host before is not taken away. */
static void keep_what_is_pending(void *user)
{
    (void)user;
    mw_error err = {0}, closed = {0};
    child_net net = child_make(&err);
    raiser none = {0};
    mw_fit_options fit = make_fit(&net, &none);
    fit.progress.quiet = false;
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    sigprocmask(SIG_BLOCK, &set, NULL);
    raise(SIGPIPE);
    close_the_log();
    CHECK_INT(mw_trainer_fit(net.trainer, &fit, &closed), MW_ERROR_FILE);
    CHECK(is_pending(SIGPIPE) && is_blocked(SIGPIPE));
}

static void test_a_pending_sigpipe_of_the_host_stays_pending(void) { child_check(keep_what_is_pending, NULL); }

/* A daemon has no standard error. */
static void train_without_standard_error(void *user)
{
    (void)user;
    mw_error err = {0};
    child_net net = child_make(&err);
    raiser none = {0};
    mw_fit_options fit = make_fit(&net, &none);
    fit.progress.quiet = false;
    close(STDERR_FILENO);
    CHECK_INT(mw_trainer_fit(net.trainer, &fit, &err), MW_OK);
}

static void test_a_closed_standard_error_is_none(void) { child_check(train_without_standard_error, NULL); }

/* These calls print the reason of a failure themselves. */
static void fail_beside_a_closed_pipe(void *user)
{
    (void)user;
    close_the_log();
    CHECK(ane_e5rt_program_execute(NULL) != 0);
    CHECK(!is_pending(SIGPIPE) && !is_blocked(SIGPIPE));
}

static void test_a_failed_call_that_prints_survives_a_closed_pipe(void)
{
    unsetenv("MW_ANE_E5RT_QUIET");
    child_check(fail_beside_a_closed_pipe, NULL);
}

static void log_past_the_limit(void *user)
{
    mw_error err = {0}, full = {0};
    child_net net = child_make(&err);
    raiser none = {0};
    mw_fit_options fit = make_fit(&net, &none);
    const struct rlimit few = {.rlim_cur = 10, .rlim_max = RLIM_INFINITY};
    fit.progress.quiet = false;
    REQUIRE(freopen(user, "wb", stderr) != NULL);
    CHECK_INT(setrlimit(RLIMIT_FSIZE, &few), 0);
    CHECK_INT(mw_trainer_fit(net.trainer, &fit, &full), MW_ERROR_FILE);
    CHECK_CONTAINS(full.message, "cannot write the progress");
}

static void test_a_log_at_the_limit_of_files_is_an_error(void)
{
    char path[400];
    snprintf(path, sizeof path, "%s", scratch("log"));
    child_check(log_past_the_limit, path);
}

int main(void)
{
    RUN(test_sigterm_and_sigint_save_and_go_on_with_the_same_bits);
    RUN(test_the_handlers_of_the_host_are_there_again);
    RUN(test_a_handler_that_the_host_sets_meanwhile_stays);
    RUN(test_an_ignored_sigterm_stays_ignored);
    RUN(test_the_second_signal_ends_the_process);
    RUN(test_a_closed_log_pipe_is_an_error);
    RUN(test_a_pending_sigpipe_of_the_host_stays_pending);
    RUN(test_a_closed_standard_error_is_none);
    RUN(test_a_failed_call_that_prints_survives_a_closed_pipe);
    RUN(test_a_log_at_the_limit_of_files_is_an_error);
    return check_finish();
}

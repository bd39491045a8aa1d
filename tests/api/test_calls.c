/* Every public function with NULL, destroyed objects and numbers at the edges: an error or an answer, never a crash.
 * The calls are made from the headers (make_calls.py), so that a new function is among them by itself. */
#include "base/number/random.h"
#include "calls.h"
#include "support/check.h"
#include "support/folder.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* Results that are lent or in a struct of the caller's are not told from others here: nobody frees them. */
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) { return "leak:call_mw_"; }

static const calls_row *current;
static int values[CALLS_PARAMETERS];
static long call_count;

/* Under a signal: only what is safe there. */
static void name_current(int number)
{
    char line[512];
    int length = snprintf(line, sizeof line, "FAILED %s with values", current->name);
    for (int i = 0; i < current->parameter_count; i++)
        length += snprintf(line + length, sizeof line - (size_t)length, " %d", values[i]);
    length += snprintf(line + length, sizeof line - (size_t)length, ": signal %d\n0 passed, 1 failed\n", number);
    if (write(STDOUT_FILENO, line, (size_t)length) < 0)
        _exit(2);
    _exit(1);
}

/* An array has room for a fixed number of elements: a larger count would be the caller's fault. */
static bool is_fair(const calls_row *row)
{
    bool largest = false, array = false;
    for (int i = 0; i < row->parameter_count; i++) {
        const calls_parameter *p = &row->parameters[i];
        largest = largest || values[i] == p->largest;
        array = array || (p->is_array && values[i] != p->null);
    }
    return !largest || !array;
}

/* Whether the call has a destroyed object and a place for an error. */
static bool must_fail(const calls_row *row)
{
    bool destroyed = false, told = false;
    for (int i = 0; i < row->parameter_count; i++) {
        const calls_parameter *p = &row->parameters[i];
        destroyed = destroyed || (values[i] == p->destroyed && !p->is_array);
        told = told || (p->is_error && values[i] == 0);
    }
    return destroyed && told;
}

static bool is_closing(const calls_row *row)
{
    static const char *const verbs[] = {"_destroy", "_close", "_finish"};
    for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++)
        if (strstr(row->name, verbs[i]) != NULL)
            return true;
    return false;
}

static void call_once(const calls_row *row)
{
    if (!is_fair(row))
        return;
    failure = (mw_error){0};
    row->call(values);
    call_count++;
    if (must_fail(row) && failure.status == MW_OK)
        check_note(false, __FILE__, __LINE__, "%s took a destroyed object: values %d %d %d", row->name, values[0],
                   values[1], values[2]);
    calls_mend_graphs();
    if (is_closing(row))
        REQUIRE(calls_make_again());
}

/* Several values at once that are not the good ones. */
static void call_at_random(const calls_row *row, uint64_t seed)
{
    enum { TIMES = 24 };
    mw__random random = {.seed = seed};
    for (int n = 0; n < TIMES && row->parameter_count > 2; n++) {
        for (int i = 0; i < row->parameter_count; i++)
            values[i] = (int)mw__random_below(&random, (uint64_t)row->parameters[i].count);
        call_once(row);
    }
}

/* The good values, each other value alone, and each pair of others. */
static void call_in_order(const calls_row *row)
{
    memset(values, 0, sizeof values);
    call_once(row);
    for (int i = 0; i < row->parameter_count; i++)
        for (int a = 1; a < row->parameters[i].count; a++) {
            values[i] = a;
            call_once(row);
            for (int j = i + 1; j < row->parameter_count; j++) {
                for (values[j] = 1; values[j] < row->parameters[j].count; values[j]++)
                    call_once(row);
                values[j] = 0;
            }
            values[i] = 0;
        }
}

#ifndef MW_HAVE_CALLS
const calls_row calls_rows[1];
const size_t calls_row_count = 0;
#endif

static void test_every_function_takes_whatever_it_is_given(void)
{
    if (calls_row_count == 0)
        SKIP("the calls are written by a Python program, and there is no Python");
    REQUIRE(calls_make());
    for (size_t i = 0; i < calls_row_count; i++) {
        current = &calls_rows[i];
        call_in_order(current);
        call_at_random(current, i);
    }
    calls_destroy();
    check_note(call_count > 20000, __FILE__, __LINE__, "only %ld calls", call_count);
    printf("%ld calls of %zu functions\n", call_count, calls_row_count);
}

/* Whether the row asks something of an object that a child can only destroy, and has a place for an error. */
static bool must_fail_in_child(const calls_row *row)
{
    bool ends = false, told = false;
    for (int i = 0; i < row->parameter_count; i++) {
        ends = ends || row->parameters[i].ends_at_fork;
        told = told || row->parameters[i].is_error;
    }
    return ends && told;
}

static void check_in_child(const calls_row *row)
{
    current = row;
    memset(values, 0, sizeof values);
    failure = (mw_error){0};
    row->call(values);
    const bool right = failure.status == MW_ERROR_STATE && strstr(failure.message, "forked") != NULL;
    check_note(right, __FILE__, __LINE__, "%s in a child: %s \"%s\"", row->name, mw_status_name(failure.status),
               failure.message);
}

/* Every function of such objects, then the destroying ones, which are fine. */
static void check_child(void)
{
    int rows = 0;
    for (size_t i = 0; i < calls_row_count; i++)
        if (must_fail_in_child(&calls_rows[i]) && !is_closing(&calls_rows[i])) {
            check_in_child(&calls_rows[i]);
            rows++;
        }
    CHECK(rows > 40);
    calls_destroy();
}

static void test_a_child_of_fork_can_only_destroy(void)
{
    int status = -1;
    if (calls_row_count == 0)
        SKIP("the calls are written by a Python program, and there is no Python");
    REQUIRE(calls_make());
    fflush(stdout);
    const pid_t child = fork();
    if (child == 0) {
        alarm(100); /* a hang ends as a signal */
        check_global.failures_here = 0;
        check_child();
        fflush(stdout);
        _exit(check_global.failures_here == 0 ? 0 : 1);
    }
    CHECK(child > 0 && waitpid(child, &status, 0) == child && status == 0);
    calls_destroy();
}

int main(void)
{
    char folder[512];
    if (!folder_enter(folder))
        return 1;
    const int signals[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
    for (size_t i = 0; i < sizeof signals / sizeof signals[0]; i++)
        signal(signals[i], name_current);
    RUN(test_every_function_takes_whatever_it_is_given);
    RUN(test_a_child_of_fork_can_only_destroy);
    folder_leave(folder);
    return check_finish();
}

/* Work in parts, on threads that live for one call. */
#include "base/thread/share.h"

#include "base/thread/thread.h"
#include "support/check.h"

#include <stdatomic.h>

enum { PARTS_MAX = 1000 };

static atomic_int runs[PARTS_MAX];

static void count_part(void *user, size_t part)
{
    (void)user;
    atomic_fetch_add(&runs[part], 1);
}

static void check_once(int threads, size_t parts)
{
    for (size_t i = 0; i < PARTS_MAX; i++)
        atomic_store(&runs[i], 0);
    mw__share(threads, parts, count_part, NULL);
    for (size_t i = 0; i < PARTS_MAX; i++)
        CHECK_INT(atomic_load(&runs[i]), i < parts);
}

static void test_each_part_is_computed_once(void)
{
    static const size_t parts[] = {0, 1, 2, 7, PARTS_MAX};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        for (int threads = 0; threads < 6; threads++)
            check_once(threads, parts[i]);
    check_once(1000, PARTS_MAX); /* more than are ever started */
}

static int refused;

static bool refuse_thread(void *user, const char *name, void *(*run)(void *argument), void *argument, void **out)
{
    (void)user, (void)name, (void)run, (void)argument, (void)out;
    refused++;
    return false;
}

static void join_nothing(void *user, void *handle) { (void)user, (void)handle; }

static void test_threads_that_are_refused_are_done_without(void)
{
    mw_error err = {0};
    const mw_thread_hooks hooks = {.start = refuse_thread, .join = join_nothing};
    mw__thread_hooks_put(&hooks, &err);
    CHECK_OK(err);
    check_once(4, 100);
    CHECK_INT(refused, 3);
    mw__thread_hooks_put(NULL, &err);
    CHECK_OK(err);
}

int main(void)
{
    RUN(test_each_part_is_computed_once);
    RUN(test_threads_that_are_refused_are_done_without);
    return check_finish();
}

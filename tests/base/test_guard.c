/* Owner marks and the table of live objects, without the objects. */
#include "base/memory/guard.h"
#include "base/memory/live.h"
#include "support/check.h"

#include <pthread.h>
#include <stdlib.h>

/* ---- guards ---- */

static void test_a_call_inside_a_call_of_the_library_passes(void)
{
    mw__guard guard = {0};
    mw__entry outer, inner;
    mw_error err = {0};
    CHECK_INT(mw__guard_enter(&outer, &guard, "thing", "first", MW__LENT_NEVER, &err), MW_OK);
    CHECK_INT(mw__guard_enter(&inner, &guard, "thing", "second", MW__LENT_NEVER, &err), MW_OK);
    CHECK(!mw__guard_leave(&inner));
    CHECK(!mw__guard_leave(&outer));
    CHECK(mw__guard_close(&guard));
    CHECK_OK(err);
}

static void test_a_callback_is_let_in_only_where_it_is_lent_to(void)
{
    static const mw__lent kinds[] = {MW__LENT_NEVER, MW__LENT_IN_PROGRESS};
    for (int call = 0; call < 2; call++) {
        for (int callback = 0; callback < 2; callback++) {
            mw__guard guard = {0};
            mw__entry outer, inner;
            mw_error err = {0};
            CHECK_INT(mw__guard_enter(&outer, &guard, "thing", "first", MW__LENT_NEVER, &err), MW_OK);
            const mw__callback before = mw__callback_begin("some callback", kinds[callback]);
            const mw_status status = mw__guard_enter(&inner, &guard, "thing", "second", kinds[call], &err);
            CHECK_INT(status, call == 1 && callback == 1 ? MW_OK : MW_ERROR_STATE);
            if (status == MW_OK)
                CHECK(!mw__guard_leave(&inner));
            else
                CHECK_ERROR(err, MW_ERROR_STATE, "second: called by the some callback while first is at work");
            mw__callback_end(before);
            CHECK(!mw__guard_leave(&outer));
        }
    }
}

static void test_what_is_closed_inside_is_freed_by_the_outermost_call(void)
{
    mw__guard guard = {0};
    mw__entry outer, inner;
    CHECK_INT(mw__guard_enter(&outer, &guard, "thing", "first", MW__LENT_NEVER, NULL), MW_OK);
    CHECK_INT(mw__guard_enter(&inner, &guard, "thing", "second", MW__LENT_NEVER, NULL), MW_OK);
    CHECK(!mw__guard_is_closed(&guard) && !mw__guard_close(&guard) && mw__guard_is_closed(&guard));
    CHECK(!mw__guard_leave(&inner));
    CHECK(mw__guard_leave(&outer));
}

/* Threads that enter and leave; what they count is safe only if one is inside at a time. */
typedef struct shared {
    mw__guard guard;
    int counted; /* guarded by it */
    atomic_int entered, refused;
} shared;

static void *enter_often(void *user)
{
    shared *s = user;
    for (int i = 0; i < 20000; i++) {
        mw__entry entry;
        mw_error err = {0};
        if (mw__guard_enter(&entry, &s->guard, "thing", "a call", MW__LENT_NEVER, &err) != MW_OK) {
            atomic_fetch_add(&s->refused, strstr(err.message, "another thread is inside") != NULL ? 1 : 1000000);
            continue;
        }
        s->counted++;
        atomic_fetch_add(&s->entered, 1);
        mw__guard_leave(&entry);
    }
    return NULL;
}

static void test_one_thread_is_inside_at_a_time(void)
{
    static shared s;
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        REQUIRE(pthread_create(&threads[i], NULL, enter_often, &s) == 0);
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
    CHECK_INT(s.counted, atomic_load(&s.entered));
    CHECK_INT(atomic_load(&s.entered) + atomic_load(&s.refused), 60000);
}

/* ---- the table ---- */

static void test_the_table_knows_what_lives_and_as_what(void)
{
    _Alignas(16) static char things[2][16];
    CHECK_INT(mw__live_add(things[0], MW__LIVE_LOADER, NULL), MW_OK);
    CHECK(mw__live_has(things[0], MW__LIVE_LOADER));
    CHECK(!mw__live_has(things[0], MW__LIVE_PLAN) && !mw__live_has(things[1], MW__LIVE_LOADER));
    CHECK(!mw__live_has(NULL, MW__LIVE_LOADER));
    CHECK(!mw__live_remove(things[0], MW__LIVE_PLAN, "wrong kind"));
    CHECK(mw__live_remove(things[0], MW__LIVE_LOADER, "destroy"));
    CHECK(!mw__live_remove(things[0], MW__LIVE_LOADER, "destroy again"));
    CHECK(!mw__live_has(things[0], MW__LIVE_LOADER));
}

/* A sliding window of live addresses: entries come and go often enough to fill, rebuild and enlarge the table. */
static void test_the_table_holds_any_number_for_any_time(void)
{
    enum { WINDOW = 3000, ALL = 40000 };
    static const uintptr_t base = 1 << 20;
    int wrong = 0;
    for (uintptr_t i = 0; i < ALL + WINDOW; i++) {
        if (i < ALL)
            CHECK_INT(mw__live_add((const void *)(base + 16 * i), MW__LIVE_PROGRAM, NULL), MW_OK);
        if (i >= WINDOW) {
            const void *oldest = (const void *)(base + 16 * (i - WINDOW));
            wrong += !mw__live_has(oldest, MW__LIVE_PROGRAM);
            wrong += !mw__live_remove(oldest, MW__LIVE_PROGRAM, "destroy");
            wrong += mw__live_has(oldest, MW__LIVE_PROGRAM);
        }
    }
    CHECK_INT(wrong, 0);
}

/* Readers see what lives all the time, however often the table is rebuilt beside them. */
static atomic_bool done;
static atomic_int missed;
_Alignas(16) static char constant_thing[16];

static void *look(void *user)
{
    (void)user;
    while (!atomic_load(&done))
        atomic_fetch_add(&missed, !mw__live_has(constant_thing, MW__LIVE_DATASET));
    return NULL;
}

static void test_readers_need_no_lock(void)
{
    pthread_t reader;
    CHECK_INT(mw__live_add(constant_thing, MW__LIVE_DATASET, NULL), MW_OK);
    REQUIRE(pthread_create(&reader, NULL, look, NULL) == 0);
    for (uintptr_t i = 0; i < 200000; i++) {
        mw__live_add((const void *)((uintptr_t)(1 << 24) + 16 * i), MW__LIVE_GRAPH, NULL);
        mw__live_remove((const void *)((uintptr_t)(1 << 24) + 16 * i), MW__LIVE_GRAPH, "destroy");
    }
    atomic_store(&done, true);
    pthread_join(reader, NULL);
    CHECK_INT(atomic_load(&missed), 0);
    CHECK(mw__live_remove(constant_thing, MW__LIVE_DATASET, "destroy"));
}

int main(void)
{
    RUN(test_a_call_inside_a_call_of_the_library_passes);
    RUN(test_a_callback_is_let_in_only_where_it_is_lent_to);
    RUN(test_what_is_closed_inside_is_freed_by_the_outermost_call);
    RUN(test_one_thread_is_inside_at_a_time);
    RUN(test_the_table_knows_what_lives_and_as_what);
    RUN(test_the_table_holds_any_number_for_any_time);
    RUN(test_readers_need_no_lock);
    return check_finish();
}

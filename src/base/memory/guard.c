/* Owner marks of objects and the callbacks that a thread is in. One atomic word holds the owner and whether the object
 * was destroyed, so that exactly one of the thread that leaves and the one that destroys frees it. */
#include "base/memory/guard.h"

static _Thread_local mw__callback current;
atomic_int mw__callbacks_under_way;

#define CLOSED ((uintptr_t)1)

/* ---- callbacks ---- */

mw__callback mw__callback_begin(const char *what, mw__lent lent)
{
    const mw__callback outer = current;
    current = (mw__callback){.depth = outer.depth + 1, .lent = lent, .what = what};
    atomic_fetch_add_explicit(&mw__callbacks_under_way, 1, memory_order_relaxed);
    return outer;
}

void mw__callback_end(mw__callback outer)
{
    atomic_fetch_sub_explicit(&mw__callbacks_under_way, 1, memory_order_relaxed);
    current = outer;
}

/* ---- entering and leaving ---- */

static mw_status refuse_thread(const mw__guard *guard, const char *what, const char *call, mw_error *err)
{
    const char *other = atomic_load_explicit(&guard->call, memory_order_relaxed);
    return mw__fail(err, MW_ERROR_STATE,
                    "%s: the %s is in use: another thread is inside %s; a %s takes one call at a time", call, what,
                    other != NULL ? other : "a call", what);
}

/* This thread is inside already: by a call of the library's own, or of the user's in a callback. */
static mw_status enter_again(mw__guard *guard, const char *what, const char *call, mw__lent lent, mw_error *err)
{
    const bool called_back = current.depth > guard->callbacks;
    const char *outer = atomic_load_explicit(&guard->call, memory_order_relaxed);
    if (called_back && (lent == MW__LENT_NEVER || current.lent == MW__LENT_NEVER))
        return mw__fail(err, MW_ERROR_STATE,
                        "%s: called by the %s while %s is at work on the same %s; make the call when %s has returned",
                        call, current.what, outer, what, outer);
    return MW_OK;
}

mw_status mw__guard_enter_again(mw__entry *out, mw__guard *guard, const char *what, const char *call, mw__lent lent,
                                mw_error *err)
{
    uintptr_t found = 0;
    *out = (mw__entry){0};
    if (atomic_compare_exchange_strong_explicit(&guard->owner, &found, mw__thread_mark(), memory_order_acquire,
                                                memory_order_relaxed))
        atomic_store_explicit(&guard->call, call, memory_order_relaxed);
    else if ((found & ~CLOSED) != mw__thread_mark())
        return refuse_thread(guard, what, call, err);
    else
        MW_TRY(enter_again(guard, what, call, lent, err));
    *out = (mw__entry){.guard = guard, .call = call, .callbacks = guard->callbacks};
    guard->callbacks = current.depth;
    guard->depth++;
    return MW_OK;
}

bool mw__guard_close(mw__guard *guard)
{
    return atomic_fetch_or_explicit(&guard->owner, CLOSED, memory_order_acq_rel) == 0;
}

bool mw__guard_is_closed(const mw__guard *guard)
{
    return (atomic_load_explicit(&guard->owner, memory_order_relaxed) & CLOSED) != 0;
}

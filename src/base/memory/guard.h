/* Who is inside an object: public calls on one object come one at a time, and a callback does not call into the object
 * whose call it interrupts.
 *
 *     mw__entry entry;
 *     MW_TRY(mw__guard_enter(&entry, &loader->guard, "loader", __func__, MW__LENT_NEVER, err));
 *     const mw_batch *batch = next(loader, err);
 *     if (mw__guard_leave(&entry))
 *         free_loader(loader);          // a callback destroyed it
 *
 * Public calls that the library itself makes meanwhile, in the same thread, pass. */
#ifndef MW__BASE_MEMORY_GUARD_H
#define MW__BASE_MEMORY_GUARD_H

#include "base/text/error.h"

#include <pthread.h>
#include <stdatomic.h>

/* All zero: nobody is inside. */
typedef struct mw__guard {
    _Atomic(uintptr_t) owner;   /* the thread that is inside, 0 = none; the lowest bit: destroyed meanwhile */
    _Atomic(const char *) call; /* the outermost that is inside */
    int depth;                  /* calls that are inside, one in the other; the owner's, as is the next */
    int callbacks;              /* that had begun in this thread when the innermost call did */
} mw__guard;

/* Whether a call may come from a callback of a call on the same object. */
typedef enum mw__lent { MW__LENT_NEVER, MW__LENT_IN_PROGRESS } mw__lent;

typedef struct mw__entry {
    mw__guard *guard; /* NULL: nothing was entered */
    void *object;
    const char *call;
    int callbacks; /* to be restored */
} mw__entry;

/* Where somebody is inside already, or a callback is under way in some thread. */
mw_status mw__guard_enter_again(mw__entry *out, mw__guard *guard, const char *what, const char *call, mw__lent lent,
                                mw_error *err);
extern atomic_int mw__callbacks_under_way;

/* The mark of this thread: no two that live have the same, and it is a multiple of 2 (an address). */
static inline uintptr_t mw__thread_mark(void) { return (uintptr_t)pthread_self(); }

/* `what` is the object's word in messages. Inline, as a step of a tiny network takes less than a microsecond.
 *  errors  MW_ERROR_STATE if another thread is inside, or this one by way of a callback that does not lend the object
 */
static inline mw_status mw__guard_enter(mw__entry *out, mw__guard *guard, const char *what, const char *call,
                                        mw__lent lent, mw_error *err)
{
    uintptr_t nobody = 0;
    if (atomic_load_explicit(&mw__callbacks_under_way, memory_order_relaxed) != 0 ||
        !atomic_compare_exchange_strong_explicit(&guard->owner, &nobody, mw__thread_mark(), memory_order_acquire,
                                                 memory_order_relaxed))
        return mw__guard_enter_again(out, guard, what, call, lent, err);
    atomic_store_explicit(&guard->call, call, memory_order_relaxed);
    guard->callbacks = 0;
    guard->depth = 1;
    *out = (mw__entry){.guard = guard, .call = call};
    return MW_OK;
}
/* True if the object was destroyed meanwhile and this was the outermost call: the caller frees it now. */
static inline bool mw__guard_leave(const mw__entry *entry)
{
    mw__guard *guard = entry->guard;
    if (guard == NULL)
        return false;
    guard->callbacks = entry->callbacks;
    if (--guard->depth > 0)
        return false;
    uintptr_t mine = mw__thread_mark();
    return !atomic_compare_exchange_strong_explicit(&guard->owner, &mine, 0, memory_order_release,
                                                    memory_order_acquire);
}
/* For destroying: true if nobody is inside, and nobody will be; else the call that is inside frees the object. */
bool mw__guard_close(mw__guard *guard);
/* True once that has happened: loops that call back end. */
bool mw__guard_is_closed(const mw__guard *guard);

/* Around every call of a function of the user's. `what` is its word in messages; the progress callback lends the
 * objects of the call that it interrupts. */
typedef struct mw__callback {
    int depth; /* callbacks of this thread that have not returned */
    mw__lent lent;
    const char *what;
} mw__callback;
MW__SIBLING mw__callback mw__callback_begin(const char *what, mw__lent lent);
MW__SIBLING void mw__callback_end(mw__callback outer);

#endif

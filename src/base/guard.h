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
#ifndef MW__BASE_GUARD_H
#define MW__BASE_GUARD_H

#include "base/error.h"

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

/* `what` is the object's word in messages.
 *  errors  MW_ERROR_STATE if another thread is inside, or this one by way of a callback that does not lend the object
 */
mw_status mw__guard_enter(mw__entry *out, mw__guard *guard, const char *what, const char *call, mw__lent lent,
                          mw_error *err);
/* True if the object was destroyed meanwhile and this was the outermost call: the caller frees it now. */
bool mw__guard_leave(const mw__entry *entry);
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
mw__callback mw__callback_begin(const char *what, mw__lent lent);
void mw__callback_end(mw__callback outer);

#endif

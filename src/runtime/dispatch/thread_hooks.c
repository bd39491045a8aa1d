/* Setting the hooks for threads: of this library with the engine in it, and of every other library that was loaded.
 * Process-wide and mutable, because libraries are: the list of them, which only grows. */
#include "runtime/dispatch/thread_hooks.h"

#include "base/memory/alloc.h"
#include "base/thread/thread.h"

#include <stdatomic.h>

typedef struct loaded {
    mw__symbols symbols;
    struct loaded *next;
} loaded;

static _Atomic(loaded *) libraries;

static mw_status tell(const mw__symbols *s, const mw_thread_hooks *hooks, mw_error *err)
{
    const mw_thread_hooks none = {0}, *given = hooks != NULL ? hooks : &none;
    return MW__E5RT(s, mw_set_thread_hooks, given->start, given->join, given->user);
}

static bool is_known(const mw__symbols *s)
{
    for (const loaded *l = atomic_load(&libraries); l != NULL; l = l->next)
        if (l->symbols.mw_set_thread_hooks == s->mw_set_thread_hooks)
            return true;
    return false;
}

static mw_status remember(const mw__symbols *s, mw_error *err)
{
    if (is_known(s))
        return MW_OK;
    loaded *fresh = mw__alloc(NULL, 1, sizeof *fresh, err);
    if (fresh == NULL)
        return MW_ERROR_MEMORY;
    fresh->symbols = *s;
    fresh->next = atomic_load(&libraries);
    while (!atomic_compare_exchange_weak(&libraries, &fresh->next, fresh))
        ;
    return MW_OK;
}

mw_status mw__dispatch_tell_thread_hooks(const mw__symbols *library, mw_error *err)
{
    const mw_thread_hooks *hooks = mw__thread_hooks_now();
    if (library->mw_set_thread_hooks == NULL)
        return MW_OK;
    MW_TRY(remember(library, err));
    return hooks != NULL ? tell(library, hooks, err) : MW_OK;
}

/* The engine in this library has the same base, so that it sets the hooks of both. */
static mw_status tell_all(const mw_thread_hooks *hooks, mw_error *err)
{
    mw__symbols own;
    MW_TRY(mw__symbols_load(&own, MW_PROVIDER_ENGINE, err));
    MW_TRY(tell(&own, hooks, err));
    for (const loaded *l = atomic_load(&libraries); l != NULL; l = l->next)
        MW_TRY(tell(&l->symbols, hooks, err));
    return MW_OK;
}

mw_status mw_thread_hooks_set(const mw_thread_hooks *hooks, mw_error *err)
{
    if (mw__skips(err))
        return err->status;
    MW_TRY(mw__thread_hooks_check(hooks, err));
    const mw_thread_hooks *before = mw__thread_hooks_now();
    const mw_status status = tell_all(hooks, err);
    if (status != MW_OK)
        tell_all(before, NULL);
    return status;
}

/* Owners of device state: one call at a time on an owner and on all that share with it, and how long its state lives.
 */
#include "runtime/state/owner.h"

#include "base/memory/live.h"
#include "runtime/dispatch/dispatch.h"

void mw__state_owner_init(mw__state_owner *owner, const mw__state_owner_kind *kind, const mw_allocator *allocator,
                          const mw__symbols *symbols)
{
    owner->kind = kind;
    atomic_init(&owner->users, 1);
    mw__state_init(&owner->state, allocator, symbols);
}

/* ---- one call at a time ---- */

mw_status mw__state_owner_enter(mw__entry *out, mw__state_owner *owner, const char *call, mw__lent lent, mw_error *err)
{
    *out = (mw__entry){0};
    if (owner == NULL)
        return MW_OK; /* the call has its own message for it */
    MW_TRY(mw__live_check(owner, MW__LIVE_TRAINER, call, err));
    MW_TRY(mw__guard_enter(out, &owner->guard, owner->kind->word, call, lent, err));
    out->object = owner;
    if (owner->guard.depth > 1 || !mw__state_owner_is_shared(owner))
        return MW_OK;
    const mw_status status = mw__family_enter(owner, &owner->in_family, call, err);
    if (status == MW_OK)
        return MW_OK;
    if (mw__guard_leave(out))
        mw__state_owner_release(owner);
    *out = (mw__entry){0};
    return status;
}

mw_status mw__state_owner_leave(const mw__entry *entry, mw_status status, mw_error *err)
{
    mw__state_owner *owner = entry->object;
    if (owner != NULL && owner->guard.depth == 1)
        mw__family_leave(&owner->in_family);
    if (!mw__guard_leave(entry))
        return status;
    const char *word = owner->kind->word;
    mw__state_owner_release(owner);
    mw_error_clear(err);
    return mw__fail(err, MW_ERROR_STATE, "%s: the %s was destroyed meanwhile, by a callback or another thread",
                    entry->call, word);
}

/* ---- sharing ---- */

/* The first lender of a chain has the guard of all. */
static mw__state_owner *root_of(mw__state_owner *owner)
{
    while (owner->lender != NULL)
        owner = owner->lender;
    return owner;
}

bool mw__state_owner_is_shared(const mw__state_owner *owner)
{
    return owner->lender != NULL || atomic_load(&((mw__state_owner *)(uintptr_t)owner)->users) > 1;
}

/* Between the steps of one that fits, its progress callback may use the others. */
mw_status mw__family_enter(mw__state_owner *owner, mw__family_entry *out, const char *call, mw_error *err)
{
    *out = (mw__family_entry){.inside = false};
    MW_TRY(mw__guard_enter(&out->entry, &root_of(owner)->family, "state that trainers share", call,
                           MW__LENT_IN_PROGRESS, err));
    out->inside = true;
    return MW_OK;
}

void mw__family_leave(mw__family_entry *entry)
{
    if (entry->inside)
        mw__guard_leave(&entry->entry); /* never closed */
    entry->inside = false;
}

mw_status mw__state_owner_check_lender(const mw__state_owner *lender, const mw__symbols *symbols, const char *option,
                                       mw_error *err)
{
    MW_TRY(mw__live_check(lender, MW__LIVE_TRAINER, option, err));
    MW_TRY(lender->kind->check_lender(lender, option, err));
    if (lender->state.symbols->buffer_object_alloc != symbols->buffer_object_alloc)
        return mw__fail(err, MW_ERROR_UNSUPPORTED,
                        "%s: that %s runs on another e5rt library, whose memory is not this one's", option,
                        lender->kind->word);
    return MW_OK;
}

void mw__state_owner_lend(mw__state_owner *lender) { atomic_fetch_add(&lender->users, 1); }

/* Its state may be that of others, too: then it goes with the last of them. */
void mw__state_owner_release(mw__state_owner *owner)
{
    if (atomic_fetch_sub(&owner->users, 1) > 1)
        return;
    mw__state_owner *lender = owner->lender;
    owner->kind->destroy(owner);
    if (lender != NULL)
        mw__state_owner_release(lender);
}

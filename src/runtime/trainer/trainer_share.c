/* Trainers and programs on one device state: who lends to whom, how long that lives, and that one call at a time is on
 * all of them. */
#include "runtime/trainer/build/trainer_alias.h"
#include "runtime/trainer/trainer_object.h"

#include "base/memory/live.h"

/* The first lender of a chain has the guard of all. */
static mw_trainer *root_of(mw_trainer *trainer)
{
    while (trainer->lender != NULL)
        trainer = trainer->lender;
    return trainer;
}

bool mw__trainer_is_shared(const mw_trainer *trainer)
{
    return trainer->lender != NULL || atomic_load(&((mw_trainer *)(uintptr_t)trainer)->users) > 1;
}

/* Between the steps of one that fits, its progress callback may use the others. */
mw_status mw__family_enter(mw_trainer *trainer, mw__family_entry *out, const char *call, mw_error *err)
{
    *out = (mw__family_entry){.inside = false};
    MW_TRY(mw__guard_enter(&out->entry, &root_of(trainer)->family, "state that trainers share", call,
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

mw_status mw__trainer_check_lender(const mw_trainer *lender, const mw__target *target, const char *option,
                                   mw_error *err)
{
    MW_TRY(mw__live_check(lender, MW__LIVE_TRAINER, option, err));
    MW_TRY(mw__trainer_check_alive(lender, err));
    if (lender->ranks != NULL)
        return mw__fail(err, MW_ERROR_UNSUPPORTED,
                        "%s: that trainer is a rank of several, which share nothing with "
                        "others",
                        option);
    if (lender->target.symbols.buffer_object_alloc != target->symbols.buffer_object_alloc)
        return mw__fail(err, MW_ERROR_UNSUPPORTED,
                        "%s: that trainer runs on another e5rt library, whose memory is not this one's", option);
    return MW_OK;
}

void mw__trainer_lend(mw_trainer *lender) { atomic_fetch_add(&lender->users, 1); }

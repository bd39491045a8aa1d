/* The owner of device state: a trainer begins with one of these. Programs and other trainers borrow its buffers, keep
 * it alive and wait for it, and know nothing else of it. */
#ifndef MW__RUNTIME_STATE_OWNER_H
#define MW__RUNTIME_STATE_OWNER_H

#include "base/memory/guard.h"
#include "runtime/state/state.h"

#include <millwright/trainer.h>
#include <stdatomic.h>

typedef struct mw__state_owner mw__state_owner;

/* What the owner is besides. */
typedef struct mw__state_owner_kind {
    const char *word; /* for messages: "trainer" */
    /* Why it may lend nothing; `option` is that of the borrower. */
    mw_status (*check_lender)(const mw__state_owner *owner, const char *option, mw_error *err);
    void (*destroy)(mw__state_owner *owner); /* nobody uses it any more */
    /* What programs get in the place of an entry: itself, or its average. */
    const mw__state_entry *(*lent_entry)(const mw__state_owner *owner, const mw__state_entry *entry);
} mw__state_owner_kind;

/* Being inside all that share state, beside the object itself. */
typedef struct mw__family_entry {
    bool inside;
    mw__entry entry;
} mw__family_entry;

struct mw__state_owner {
    const mw__state_owner_kind *kind;
    mw__guard guard;
    mw__state_set state;
    mw__state_owner *lender; /* whose buffers some of the state are (share.trainer of its options); or NULL */
    atomic_int users;        /* itself, and those that it lends to */
    mw__guard family;        /* of the first lender: around calls on all that share with it */
    mw__family_entry in_family;
};

/* The trainer's own; NULL for NULL. */
static inline mw__state_owner *mw__state_owner_of(mw_trainer *trainer)
{
    return (mw__state_owner *)(void *)trainer; /* it is the first member (trainer_object.h) */
}

void mw__state_owner_init(mw__state_owner *owner, const mw__state_owner_kind *kind, const mw_allocator *allocator,
                          const struct mw__symbols *symbols);

/* Around a public call; a NULL owner passes.
 *  errors  MW_ERROR_STATE if the owner is destroyed, or in use (base/memory/guard.h) */
mw_status mw__state_owner_enter(mw__entry *out, mw__state_owner *owner, const char *call, mw__lent lent, mw_error *err);
/* `status`; MW_ERROR_STATE if the owner was destroyed meanwhile, which frees it. */
mw_status mw__state_owner_leave(const mw__entry *entry, mw_status status, mw_error *err);

/* ---- sharing ---- */

/* Whether it shares with anything. */
bool mw__state_owner_is_shared(const mw__state_owner *owner);
/* Around the outermost call on an object that shares with the owner. */
mw_status mw__family_enter(mw__state_owner *owner, mw__family_entry *out, const char *call, mw_error *err);
void mw__family_leave(mw__family_entry *entry);

/* Whether it may lend to what is made for that library; the caller has entered it. `option` asks for it. */
mw_status mw__state_owner_check_lender(const mw__state_owner *lender, const struct mw__symbols *symbols,
                                       const char *option, mw_error *err);
/* One more uses its state, until mw__state_owner_release, which frees the owner after the last. */
void mw__state_owner_lend(mw__state_owner *lender);
void mw__state_owner_release(mw__state_owner *owner);

#endif

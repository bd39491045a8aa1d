/* States of which each rank has a part, as files have them: gathered by rank 0 before a save, and spread from there
 * after a load. */
#include "base/number/types.h"
#include "runtime/trainer/build/trainer_state.h"
#include "runtime/trainer/ranks/trainer_ranks.h"

#include <string.h>

/* "fc1.weight#m": the gradient of "fc1.weight". */
static size_t gradient_of(const mw_trainer *t, size_t entry)
{
    const char *name = t->owner.state.entries[entry].name;
    return mw__trainer_gradient_of(t, name, (size_t)(strrchr(name, '#') - name));
}

static size_t whole_size(const mw__state_entry *entry)
{
    return (size_t)mw_shape_count(entry->whole) * mw__number_dtype_size(entry->dtype);
}

static bool is_first(const mw_trainer *t) { return mw__communicator_rank(t->ranks->communicator) == 0; }

/* ---- as files have them ---- */

mw__state_entry mw__trainer_whole(const mw_trainer *t, size_t index)
{
    mw__state_entry entry = t->owner.state.entries[index];
    if (!entry.is_part)
        return entry;
    entry.shape = entry.whole;
    entry.size = whole_size(&entry);
    entry.data = t->ranks->shards->wholes[index];
    return entry;
}

void mw__trainer_take_whole(mw_trainer *t, size_t entry, void **data)
{
    mw__trainer_shards *s = t->ranks->shards;
    if (!is_first(t))
        return;
    mw__free(t->allocator, s->wholes[entry]);
    s->wholes[entry] = *data;
    s->marks[entry] = MW__MARK_LOADED;
    *data = NULL;
}

void mw__trainer_drop_wholes(mw_trainer *t)
{
    mw__trainer_shards *s = t->ranks != NULL ? t->ranks->shards : NULL;
    for (size_t i = 0; s != NULL && s->wholes != NULL && i < t->owner.state.count; i++) {
        mw__free(t->allocator, s->wholes[i]);
        s->wholes[i] = NULL;
    }
}

/* ---- gathering ---- */

/* With one tag for all: what a rank sends comes in order. */
static mw_status exchange_pieces(mw_communicator *c, int peer, int tag, char *data, size_t size, mw_error *err)
{
    const bool receives = c->transport.rank == 0;
    for (size_t first = 0; first < size; first += MW_MESSAGE_MAX) {
        const size_t piece = size - first < MW_MESSAGE_MAX ? size - first : MW_MESSAGE_MAX;
        MW_TRY(receives ? mw__exchange_receive(&c->exchange, c, peer, tag, data + first, piece, err)
                        : mw__exchange_send(&c->exchange, c, peer, tag, data + first, piece, err));
        MW_TRY(mw__exchange_wait(&c->exchange, c, err));
        mw__exchange_reset(&c->exchange);
    }
    return MW_OK;
}

static mw_status gather_state(mw_trainer *t, size_t index, int tag, mw_error *err)
{
    mw_communicator *c = t->ranks->communicator;
    const mw__state_entry *entry = &t->owner.state.entries[index];
    const size_t exchanged = gradient_of(t, index), bytes = mw__number_dtype_size(entry->dtype);
    if (!is_first(t))
        return exchange_pieces(c, 0, tag, entry->data, entry->size, err);
    char *whole = t->ranks->shards->wholes[index] = mw__alloc(t->allocator, whole_size(entry), 1, err);
    if (whole == NULL)
        return MW_ERROR_MEMORY;
    memcpy(whole + mw__trainer_part(t, exchanged, 0).first * bytes, entry->data, entry->size);
    for (int rank = 1; rank < mw__communicator_size(c); rank++) {
        const mw__owned part = mw__trainer_part(t, exchanged, rank);
        MW_TRY(exchange_pieces(c, rank, tag, whole + part.first * bytes, part.count * bytes, err));
    }
    return MW_OK;
}

static mw_status gather_all(mw_trainer *t, mw_error *err)
{
    mw_status status = MW_OK;
    mw_communicator *c = t->ranks->communicator;
    const int tag = mw__communicator_take_tags(c);
    for (size_t i = 0; status == MW_OK && i < t->owner.state.count; i++)
        if (t->owner.state.entries[i].is_part)
            status = gather_state(t, i, tag, err);
    mw__exchange_cancel(&c->exchange, c);
    mw__exchange_reset(&c->exchange);
    return status;
}

/* What rank 0 has loaded is in place first. */
mw_status mw__trainer_gather_wholes(mw_trainer *t, mw_error *err)
{
    mw__trainer_ranks *r = t->ranks;
    if (r == NULL || r->shards == NULL)
        return MW_OK;
    uint8_t marked = 0;
    MW_TRY(mw__communicator_check(r->communicator, "saving", err));
    for (size_t i = 0; i < t->owner.state.count; i++)
        marked |= r->shards->marks[i];
    MW_TRY(mw__ranks_broadcast(r->communicator, 0, &marked, sizeof marked, err));
    if (marked != 0)
        MW_TRY(mw__trainer_equalize(t, err));
    return mw__communicator_end(r->communicator, gather_all(t, err), err);
}

/* ---- spreading ---- */

static mw_status spread_state(mw_trainer *t, size_t index, mw_error *err)
{
    mw__trainer_ranks *r = t->ranks;
    mw__state_entry *entry = &t->owner.state.entries[index];
    const size_t size = whole_size(entry),
                 first = mw__trainer_part(t, gradient_of(t, index), mw__communicator_rank(r->communicator)).first;
    char *whole = is_first(t) ? r->shards->wholes[index] : mw__alloc(t->allocator, size, 1, err);
    if (whole == NULL)
        return MW_ERROR_MEMORY;
    const mw_status status = mw__ranks_broadcast(r->communicator, 0, whole, size, err);
    if (status == MW_OK)
        memcpy(entry->data, whole + first * mw__number_dtype_size(entry->dtype), entry->size);
    if (!is_first(t))
        mw__free(t->allocator, whole);
    return status;
}

mw_status mw__trainer_spread_wholes(mw_trainer *t, mw_error *err)
{
    mw__trainer_shards *s = t->ranks->shards;
    if (s == NULL)
        return MW_OK;
    MW_TRY(mw__ranks_broadcast(t->ranks->communicator, 0, s->marks, t->owner.state.count, err));
    for (size_t i = 0; i < t->owner.state.count; i++) {
        if (t->owner.state.entries[i].is_part && (s->marks[i] & MW__MARK_LOADED) != 0)
            MW_TRY(mw__communicator_end(t->ranks->communicator, spread_state(t, i, err), err));
        if (t->owner.state.entries[i].is_part && (s->marks[i] & MW__MARK_DROPPED) != 0)
            mw__state_fill(&t->owner.state.entries[i], 0.0);
    }
    memset(s->marks, 0, t->owner.state.count);
    mw__trainer_drop_wholes(t);
    return MW_OK;
}

/* Pairs of neighbors. How often each comes is in a table; those that wait are in a heap with the count that they had
 * when they were put there, which is looked at again when their turn comes: counts of what waits only fall. */
#include "text/train/train.h"

#include "base/text/error.h"

enum { FIRST_SLOTS = 4096 };

typedef struct mw__pair_slot {
    mw__pair pair; /* all bits = empty */
    int64_t count;
    size_t fresh; /* place among the fresh plus 1; 0 = not among them */
} mw__pair_slot;

/* ---- the table ---- */

static size_t slot_of(const mw__pair_table *t, mw__pair pair)
{
    uint64_t mixed = (pair ^ pair >> 32) * 0x9e3779b97f4a7c15U;
    mixed ^= mixed >> 29;
    size_t at = (size_t)mixed & (t->slot_count - 1);
    while (t->slots[at].pair != pair && t->slots[at].pair != UINT64_MAX)
        at = (at + 1) & (t->slot_count - 1);
    return at;
}

/* At most half of the slots are taken. */
static mw_status grow_table(mw__pair_table *t, mw_error *err)
{
    const size_t count = t->slot_count > 0 ? 2 * t->slot_count : FIRST_SLOTS, before = t->slot_count;
    mw__pair_slot *const old = t->slots, *slots = mw__alloc(t->allocator, count, sizeof *slots, err);
    if (slots == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < count; i++)
        slots[i].pair = UINT64_MAX;
    t->slots = slots;
    t->slot_count = count;
    for (size_t i = 0; i < before; i++)
        if (old[i].pair != UINT64_MAX)
            slots[slot_of(t, old[i].pair)] = old[i];
    mw__free(t->allocator, old);
    return MW_OK;
}

/* Its slot, made if need be; NULL without memory. Valid until the next call. */
static mw__pair_slot *slot_for(mw__pair_table *t, mw__pair pair, mw_error *err)
{
    if (2 * (t->used + 1) > t->slot_count && grow_table(t, err) != MW_OK)
        return NULL;
    mw__pair_slot *slot = &t->slots[slot_of(t, pair)];
    if (slot->pair == UINT64_MAX) {
        *slot = (mw__pair_slot){.pair = pair};
        t->used++;
    }
    return slot;
}

mw_status mw__pairs_count(mw__pair_table *table, mw__pair pair, int64_t by, mw_error *err)
{
    mw__pair_slot *slot = slot_for(table, pair, err);
    if (slot == NULL)
        return MW_ERROR_MEMORY;
    slot->count += by;
    return MW_OK;
}

mw_status mw__pairs_found(mw__pair_table *table, mw__pair pair, int64_t by, int32_t place, mw_error *err)
{
    mw__pair_table *const t = table;
    mw__pair_slot *slot = slot_for(t, pair, err);
    if (slot == NULL)
        return MW_ERROR_MEMORY;
    slot->count += by;
    if (slot->fresh == 0) {
        if (t->fresh_count == t->fresh_capacity)
            MW_TRY(mw__grow(t->allocator, &t->fresh, &t->fresh_capacity, t->fresh_count + 1, sizeof *t->fresh, err));
        t->fresh[t->fresh_count++] = (mw__pair_entry){.pair = pair};
        slot->fresh = t->fresh_count;
    }
    mw__pair_places *places = &t->fresh[slot->fresh - 1].places;
    if (places->count == places->capacity)
        MW_TRY(
            mw__grow(t->allocator, &places->items, &places->capacity, places->count + 1, sizeof *places->items, err));
    places->items[places->count++] = place;
    return MW_OK;
}

/* ---- the heap ---- */

static bool pair_comes_first(const mw__pair_entry *a, const mw__pair_entry *b)
{
    return a->count > b->count || (a->count == b->count && a->pair < b->pair);
}

#define HEAP_ENTRY mw__pair_entry
#define HEAP_FIRST pair_comes_first
#define HEAP_SINK  sink_pair
#define HEAP_RISE  rise_pair
#include "text/model/heap.def"

mw_status mw__pairs_queue(mw__pair_table *table, mw_error *err)
{
    mw__pair_table *const t = table;
    const size_t most = t->heap_count + t->fresh_count;
    if (most > t->heap_capacity)
        MW_TRY(mw__grow(t->allocator, &t->heap, &t->heap_capacity, most, sizeof *t->heap, err));
    for (size_t i = 0; i < t->fresh_count; i++) {
        mw__pair_entry entry = t->fresh[i];
        mw__pair_slot *slot = &t->slots[slot_of(t, entry.pair)];
        slot->fresh = 0;
        entry.count = slot->count;
        t->heap[t->heap_count] = entry;
        rise_pair(t->heap, t->heap_count++);
    }
    t->fresh_count = 0;
    return MW_OK;
}

bool mw__pairs_next(mw__pair_table *table, int64_t least, mw__pair_entry *out)
{
    mw__pair_table *const t = table;
    while (t->heap_count > 0) {
        mw__pair_entry *top = &t->heap[0];
        const int64_t now = t->slots[slot_of(t, top->pair)].count;
        if (top->count != now) {
            top->count = now;
            sink_pair(t->heap, t->heap_count, 0);
            continue;
        }
        if (now < least || now < 1)
            return false;
        *out = *top;
        t->heap[0] = t->heap[--t->heap_count];
        if (t->heap_count > 0)
            sink_pair(t->heap, t->heap_count, 0);
        return true;
    }
    return false;
}

void mw__pairs_deinit(mw__pair_table *table)
{
    for (size_t i = 0; i < table->fresh_count; i++)
        mw__free(table->allocator, table->fresh[i].places.items);
    for (size_t i = 0; i < table->heap_count; i++)
        mw__free(table->allocator, table->heap[i].places.items);
    mw__free(table->allocator, table->fresh);
    mw__free(table->allocator, table->heap);
    mw__free(table->allocator, table->slots);
    *table = (mw__pair_table){.allocator = table->allocator};
}

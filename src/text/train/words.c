/* Counting words: a table by their texts. */
#include "text/train/train.h"

#include "base/number/hash.h"
#include "base/text/error.h"

#include <string.h>

enum { FIRST_SLOTS = 4096 };

static size_t slot_of(const mw__bpe_word_counts *c, const char *text, size_t size)
{
    size_t at = (size_t)mw__hash64(text, size, 0) & (c->slot_count - 1);
    while (c->slots[at] != 0) {
        const mw__counted_word *w = &c->items[c->slots[at] - 1];
        if (w->size == size && memcmp(w->text, text, size) == 0)
            break;
        at = (at + 1) & (c->slot_count - 1);
    }
    return at;
}

/* At most half of the slots are taken. */
static mw_status grow_slots(mw__bpe_word_counts *c, mw_error *err)
{
    const size_t count = c->slot_count > 0 ? 2 * c->slot_count : FIRST_SLOTS;
    uint32_t *slots = mw__alloc(c->allocator, count, sizeof *slots, err);
    if (slots == NULL)
        return MW_ERROR_MEMORY;
    mw__free(c->allocator, c->slots);
    c->slots = slots;
    c->slot_count = count;
    for (size_t i = 0; i < c->count; i++)
        slots[slot_of(c, c->items[i].text, c->items[i].size)] = (uint32_t)i + 1;
    return MW_OK;
}

static mw_status count_word(mw__bpe_word_counts *c, const char *text, size_t size, mw_error *err)
{
    if (2 * (c->count + 1) > c->slot_count)
        MW_TRY(grow_slots(c, err));
    const size_t slot = slot_of(c, text, size);
    if (c->slots[slot] != 0) {
        c->items[c->slots[slot] - 1].count++;
        return MW_OK;
    }
    if (c->count == c->capacity)
        MW_TRY(mw__grow(c->allocator, &c->items, &c->capacity, c->count + 1, sizeof *c->items, err));
    c->items[c->count++] = (mw__counted_word){text, (uint32_t)size, 1};
    c->slots[slot] = (uint32_t)c->count;
    return MW_OK;
}

mw_status mw__bpe_word_counts_add(mw__bpe_word_counts *counts, mw__scanner *scan, const char *text, size_t size,
                                  mw_error *err)
{
    for (size_t at = 0, word; at < size; at += word) {
        word = scan(text + at, text + size);
        if (word > INT32_MAX || counts->count == INT32_MAX)
            return mw__fail(err, MW_ERROR_UNSUPPORTED, "a text of words beyond 2^31 bytes, or of as many words");
        MW_TRY(count_word(counts, text + at, word, err));
    }
    return MW_OK;
}

void mw__bpe_word_counts_deinit(mw__bpe_word_counts *counts)
{
    mw__free(counts->allocator, counts->items);
    mw__free(counts->allocator, counts->slots);
    *counts = (mw__bpe_word_counts){.allocator = counts->allocator};
}

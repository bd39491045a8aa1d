/* Prefixes of texts, in a table with open addresses. */
#include "text/model/trie.h"

#include <string.h>

mw__trie *mw__trie_create(const mw_allocator *allocator, size_t bytes, mw_error *err)
{
    size_t slots = 64;
    while (slots < 2 * bytes)
        slots *= 2;
    mw__trie *trie = mw__alloc(allocator, 1, sizeof *trie + slots * sizeof *trie->slots, err);
    if (trie == NULL)
        return NULL;
    trie->slot_count = slots;
    memset(trie->slots, 0xff, slots * sizeof *trie->slots);
    return trie;
}

static mw__trie_slot *free_slot(mw__trie *trie, uint64_t key)
{
    uint64_t mixed = key * 0x9e3779b97f4a7c15U;
    mixed ^= mixed >> 31;
    size_t at = (size_t)mixed & (trie->slot_count - 1);
    while (trie->slots[at].key != UINT64_MAX && trie->slots[at].key != key)
        at = (at + 1) & (trie->slot_count - 1);
    return &trie->slots[at];
}

void mw__trie_add(mw__trie *trie, const char *text, size_t size, int32_t id)
{
    uint32_t from = 0;
    for (size_t i = 0; i < size; i++) {
        const uint64_t key = (uint64_t)from << 8 | (unsigned char)text[i];
        mw__trie_slot *slot = free_slot(trie, key);
        if (slot->key == UINT64_MAX)
            *slot = (mw__trie_slot){key, ++trie->prefixes, -1};
        if (i + 1 == size && slot->id < 0)
            slot->id = id;
        from = slot->to;
    }
}

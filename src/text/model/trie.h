/* Prefixes of texts, byte by byte: which texts begin at a place, in one walk. */
#ifndef MW__TEXT_MODEL_TRIE_H
#define MW__TEXT_MODEL_TRIE_H

#include "base/memory/alloc.h"

/* A step from a prefix by a byte. Prefixes are numbered from 1; 0 is the empty one. */
typedef struct mw__trie_slot {
    uint64_t key; /* prefix << 8 | byte; all bits = empty */
    uint32_t to;
    int32_t id; /* of the text that ends there; -1 = none */
} mw__trie_slot;

typedef struct mw__trie {
    size_t slot_count; /* a power of two */
    uint32_t prefixes;
    mw__trie_slot slots[];
} mw__trie;

/* One with room for texts of so many bytes together; freed with mw__free. */
mw__trie *mw__trie_create(const mw_allocator *allocator, size_t bytes, mw_error *err);
/* The first text that is added counts, of equal ones. */
void mw__trie_add(mw__trie *trie, const char *text, size_t size, int32_t id);

/* Where a byte leads from a prefix: NULL = nowhere. */
static inline const mw__trie_slot *mw__trie_step(const mw__trie *trie, uint32_t from, unsigned char byte)
{
    const uint64_t key = (uint64_t)from << 8 | byte;
    uint64_t mixed = key * 0x9e3779b97f4a7c15U;
    mixed ^= mixed >> 31;
    size_t at = (size_t)mixed & (trie->slot_count - 1);
    while (trie->slots[at].key != key) {
        if (trie->slots[at].key == UINT64_MAX)
            return NULL;
        at = (at + 1) & (trie->slot_count - 1);
    }
    return &trie->slots[at];
}

#endif

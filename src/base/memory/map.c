/* The one user of uthash, wrapped so that its macros, which allocate and would exit, stay in this file: allocations go
 * through the map's allocator, and a failed one leaves the map as it was. */
#include "base/memory/map.h"

#include "base/memory/checked.h"
#include "base/number/hash.h"

#include <limits.h>
#include <string.h>

/* These name locals of the functions below: `map` and `out_of_memory`. */
#define HASH_NONFATAL_OOM                     1
#define uthash_nonfatal_oom(entry)            ((void)(entry), out_of_memory = true)
#define uthash_malloc(size)                   map->allocator->resize(map->allocator->user, NULL, (size))
#define uthash_free(pointer, size)            mw__free(map->allocator, (pointer))
#define HASH_FUNCTION(key, length, out_value) ((out_value) = (unsigned)mw__hash64((key), (length), map->seed))
#include <uthash.h>

typedef struct mw__map_entry {
    UT_hash_handle hh;
    void *value;
    char key[]; /* hh.keylen bytes and a NUL */
} map_entry;

/* Blocks of entries: most maps hold few, some every name of a program. */
enum { FEW = 32, FEW_BYTES = 2048, MANY_BYTES = 16384 };

/* Names come from files that others made. The seed differs from map to map, so that a file cannot be built to put all
 * its names into one bucket; lookups do not depend on it. */
void mw__map_init(mw__map *map, const mw_allocator *allocator)
{
    const uintptr_t place = (uintptr_t)map;
    *map = (mw__map){.allocator = mw__allocator_or_default(allocator), .seed = mw__hash64(&place, sizeof place, 0)};
    mw__arena_init(&map->entries, allocator);
    map->entries.block_size = FEW_BYTES;
}

void mw__map_deinit(mw__map *map)
{
    HASH_CLEAR(hh, map->head);
    mw__arena_deinit(&map->entries);
}

static map_entry *find_entry(const mw__map *map, const char *key, size_t length)
{
    map_entry *entry = NULL;
    if (map->head != NULL && length < UINT_MAX)
        HASH_FIND(hh, map->head, key, (unsigned)length, entry);
    return entry;
}

void *mw__map_get_n(const mw__map *map, const char *key, size_t length)
{
    const map_entry *entry = find_entry(map, key, length);
    return entry != NULL ? entry->value : NULL;
}

void *mw__map_get(const mw__map *map, const char *key) { return mw__map_get_n(map, key, strlen(key)); }

static mw_status add_entry(mw__map *map, map_entry *entry, size_t length, mw_error *err)
{
    bool out_of_memory = false;
    HASH_ADD_KEYPTR(hh, map->head, entry->key, (unsigned)length, entry);
    if (!out_of_memory)
        return MW_OK;
    return mw__fail(err, MW_ERROR_MEMORY, "out of memory: a map of %zu names", mw__map_count(map));
}

mw_status mw__map_set_n(mw__map *map, const char *key, size_t length, void *value, mw_error *err)
{
    map_entry *entry = find_entry(map, key, length);
    if (entry != NULL) {
        entry->value = value;
        return MW_OK;
    }
    size_t bytes;
    if (length >= UINT_MAX || !mw__add_size(sizeof(map_entry) + 1, length, &bytes))
        return mw__fail(err, MW_ERROR_ARGUMENT, "a name of %zu bytes is too long", length);
    if (mw__map_count(map) == FEW)
        map->entries.block_size = MANY_BYTES;
    entry = mw__arena_alloc(&map->entries, 1, bytes, err);
    if (entry == NULL)
        return MW_ERROR_MEMORY;
    entry->value = value;
    if (length > 0)
        memcpy(entry->key, key, length);
    return add_entry(map, entry, length, err);
}

mw_status mw__map_set(mw__map *map, const char *key, void *value, mw_error *err)
{
    return mw__map_set_n(map, key, strlen(key), value, err);
}

size_t mw__map_count(const mw__map *map) { return HASH_COUNT(map->head); }

size_t mw__map_longest_chain(const mw__map *map)
{
    size_t longest = 0;
    const UT_hash_table *table = map->head != NULL ? map->head->hh.tbl : NULL;
    for (unsigned i = 0; table != NULL && i < table->num_buckets; i++)
        longest = table->buckets[i].count > longest ? table->buckets[i].count : longest;
    return longest;
}

/* A map from strings to pointers; the one user of uthash. Keys are copied. */
#ifndef MW__BASE_MEMORY_MAP_H
#define MW__BASE_MEMORY_MAP_H

#include "base/memory/alloc.h"
#include "base/visible.h"

typedef struct mw__map {
    const mw_allocator *allocator;
    struct mw__map_entry *head;
    mw__arena entries;
    uint64_t seed; /* of the hash; differs from map to map */
} mw__map;

MW__SIBLING void mw__map_init(mw__map *map, const mw_allocator *allocator);
MW__SIBLING void mw__map_deinit(mw__map *map);

/* NULL if absent. */
MW__SIBLING void *mw__map_get(const mw__map *map, const char *key);
MW__SIBLING void *mw__map_get_n(const mw__map *map, const char *key, size_t length);

/* Adds or replaces; `value` must not be NULL. */
MW__SIBLING mw_status mw__map_set(mw__map *map, const char *key, void *value, mw_error *err);
MW__SIBLING mw_status mw__map_set_n(mw__map *map, const char *key, size_t length, void *value, mw_error *err);

size_t mw__map_count(const mw__map *map);
/* The most entries that one lookup may have to compare with. */
size_t mw__map_longest_chain(const mw__map *map);

#endif

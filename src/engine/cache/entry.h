/* An entry of the cache: the folder <location>/<build>/<key>, which is the bundle that clients see.
 *
 *     model.mil, weights/   the program as it was compiled
 *     analytics.mil         the same text, with what is in analytics.h at each operation
 *     entry                 written last: the key's record, where the program was placed, sizes and sums of the files
 *
 * Writers of one location come one at a time (flock on <location>/lock, which ends with a process however that ends),
 * and each file appears whole or not at all, so that who is killed leaves no `entry`, or a whole one. Readers take no
 * lock and trust nothing: an entry whose record is another, or whose files are not those that it names, is none. */
#ifndef MW__ENGINE_CACHE_ENTRY_H
#define MW__ENGINE_CACHE_ENTRY_H

#include "engine/cache/key.h"

typedef struct mw__cache_entry {
    const mw_allocator *allocator;
    char *folder; /* of the bundle */
    char *manifest;
    size_t manifest_size;
    uint64_t bytes; /* of its files */
} mw__cache_entry;

/* <location>/<build>/<key>; freed with mw__free. */
char *mw__entry_folder(const mw_allocator *allocator, const char *location, const char *key, mw_error *err);

/* Reads the manifest and looks at every file. `record`: what it must be of; NULL = anything. False: there is no such
 * entry, or it is damaged; then there is nothing to deinitialize. */
bool mw__entry_open(mw__cache_entry *entry, const mw_allocator *allocator, const char *folder, const mw__text *record);
void mw__entry_deinit(mw__cache_entry *entry);
/* The line of its manifest. */
bool mw__entry_find(const mw__cache_entry *entry, const char *name, mw__record_line *out);

/* What is stored. */
typedef struct mw__entry_content {
    const mw__library *library;
    const mw__source *source;
    const mw__key *key;
    const mw__compile_options *options;
    bool replace; /* also an entry that is sound */
} mw__entry_content;

/* Writes the entry, durable, and then lets the least recently used go (bound.h). Nothing if there is a sound one. */
mw_status mw__entry_store(const mw_allocator *allocator, const char *location, const char *folder,
                          const mw__entry_content *content, mw_error *err);

/* Notes that it was used now. */
void mw__entry_touch(const char *folder, const mw_allocator *allocator);
/* Removes it, its manifest first. */
void mw__entry_remove(const char *folder, const mw_allocator *allocator);

#define MW__ENTRY_MANIFEST  "entry"
#define MW__ENTRY_ANALYTICS "analytics.mil"

#endif

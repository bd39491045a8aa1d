/* Keeps a cache within its bounds. */
#ifndef MW__ENGINE_CACHE_BOUND_H
#define MW__ENGINE_CACHE_BOUND_H

#include "engine/cache/entry.h"
#include "engine/core/config.h"

/* Removes what was used least recently, of whatever build, until entries and their bytes are as few as the
 * configuration says, and what has no manifest. `kept` (may be NULL) goes last: false if it alone is too large. Only
 * for who holds the lock of the location. */
bool mw__cache_keep_bounds(const mw_allocator *allocator, const char *location, const mw__config *config,
                           const char *kept);

/* Removes the entries of that model, of whatever build and options. */
void mw__cache_purge_model(const mw_allocator *allocator, const char *location, const char *model);

#endif

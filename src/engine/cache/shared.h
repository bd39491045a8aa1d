/* Compiled libraries that this process may share, and what it has compiled. A library is immutable, so that one serves
 * every compilation of the same key and location as long as someone holds it; the last few are held here. */
#ifndef MW__ENGINE_CACHE_SHARED_H
#define MW__ENGINE_CACHE_SHARED_H

#include "engine/cache/key.h"

/* Retained for the caller; NULL if there is none. `bundle`: its folder. */
mw__library *mw__cache_shared_find(const char *bundle);

/* Enters a library that was just compiled, which has its bundle's folder. `weights`: bytes that it holds; what is
 * large, or not from the C library's heap, is not held longer than others hold it. */
void mw__cache_shared_add(mw__library *library, uint64_t weights);

/* The bundle was compiled in this process; of the newest 1024 that is known. */
void mw__cache_shared_note(const char *bundle);
bool mw__cache_shared_is_noted(const char *bundle);

/* Libraries of that location are found no more. */
void mw__cache_shared_drop_inside(const char *location);
/* What is held is let go; for tests. */
void mw__cache_shared_drop(void);

#endif

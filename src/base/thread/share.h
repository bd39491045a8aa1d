/* Work in independent parts, taken by several threads for the length of one call. */
#ifndef MW__BASE_THREAD_SHARE_H
#define MW__BASE_THREAD_SHARE_H

#include "base/visible.h"

#include <stddef.h>

/* Computes one part; of several threads at once. */
typedef void mw__share_part(void *user, size_t part);

/* Calls run(user, part) for each part below `parts`, on at most `threads` threads, of which the caller is one; 0: as
 * many as there are processors. Returns when all have returned. Threads that cannot be had are done without. */
MW__SIBLING void mw__share(int threads, size_t parts, mw__share_part *run, void *user);

#endif

/* Blocks of Apple's C, as far as a completion needs them. */
#ifndef MW__ENGINE_SURFACE_BLOCK_H
#define MW__ENGINE_SURFACE_BLOCK_H

#include "base/memory/alloc.h"

/* A copy with what the block has captured; NULL with err set. `block` is not NULL. */
void *mw__objc_block_copy(const void *block, const mw_allocator *allocator, mw_error *err);
/* Calls it as void (^)(uint64_t stream, uint64_t request, int status); one that takes fewer arguments does not notice.
 */
void mw__objc_block_call(void *copy, uint64_t stream, uint64_t request, int status);
void mw__objc_block_release(void *copy);

#endif

/* Sums of files, against damage: a hash of 64 bits, which no one need break to write an entry of his own. */
#ifndef MW__ENGINE_CACHE_SUM_H
#define MW__ENGINE_CACHE_SUM_H

#include "base/memory/alloc.h"

#define MW__SUM_HEX  17
#define MW__SUM_LINE 40

uint64_t mw__cache_sum_of(const void *data, size_t size);
void mw__cache_sum_text(uint64_t sum, char out[MW__SUM_HEX]);

/* "size sum" of a regular file below the folder; false if it cannot be read. */
bool mw__cache_sum_file(const mw_allocator *allocator, const char *folder, const char *name, char out[MW__SUM_LINE],
                        uint64_t *out_bytes);

#endif

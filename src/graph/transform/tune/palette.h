/* Tables of few numbers for many: k-means in one dimension. */
#ifndef MW__GRAPH_TRANSFORM_TUNE_PALETTE_H
#define MW__GRAPH_TRANSFORM_TUNE_PALETTE_H

#include "base/memory/alloc.h"

/* Fills table[0..entries), ascending, for values[0..count), which are finite, and index[i], the entry next to
 * values[i]. The result depends on the values alone: the entries start at quantiles and move until they stand still, or
 * 64 times.
 * errors  MW_ERROR_MEMORY: it takes 12 bytes for each value */
mw_status mw__palette_make(const mw_allocator *allocator, const float *values, size_t count, float *table,
                           size_t entries, unsigned char *index, mw_error *err);

#endif

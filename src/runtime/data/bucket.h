/* What loaders do with mw_dataset_bucket. */
#ifndef MW__RUNTIME_DATA_BUCKET_H
#define MW__RUNTIME_DATA_BUCKET_H

#include "base/number/random.h"
#include "runtime/data/data.h"

/* Brings examples of one limit together in batches, and orders these at random; NULL `random`: from the shortest.
 *  order, room  [examples] */
void mw__length_buckets_order(const mw__length_buckets *buckets, uint32_t *order, uint32_t *room, size_t examples,
                              size_t batch, mw__random *random);
/* What a batch of these examples is cut to. */
int64_t mw__length_buckets_limit(const mw__length_buckets *buckets, const int64_t *ids, int64_t count);

#endif

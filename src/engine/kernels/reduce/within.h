/* Whether all elements of tensors are within limits: the test before an update, watched where the elements are made. */
#ifndef MW__ENGINE_KERNELS_REDUCE_WITHIN_H
#define MW__ENGINE_KERNELS_REDUCE_WITHIN_H

#include "engine/core/config.h"
#include "engine/core/step.h"

/* False for NaN too. */
typedef bool mw__within_loop(const float *x, int64_t count, float limit);

/* A step that reads one buffer of fp32 by rows and writes a number for each unit: 1 if something in it is beyond the
 * limit. Only their sum matters, so whoever runs several units may say it of the first. The fusion group that makes the
 * buffer can do its work. */
struct mw__finite_check {
    float limit;
    int64_t elements, count; /* of a unit, of all */
    mw__within_loop *loop;
};

/* A product of the first two reads, of fp32, by rows: no element is further from 0 than `terms` products of the largest
 * of either. */
struct mw__factors {
    int64_t count[2], terms;
};

/* A step that says of a product what `watch` would say of its result, in one number, and does not need it: if the
 * largest of either factor do not prove that all is within the limit, it computes the rows once more, some at a time.
 */
mw__step *mw__finite_check_factors(mw__arena *arena, const mw__step *product, const mw__step *watch, mw__level level,
                                   mw_error *err);

/* The numbers of the units [begin, end). */
void mw__finite_check_write(float *out, int64_t begin, int64_t end, bool beyond);

#endif

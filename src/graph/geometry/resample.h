/* Images sampled anew: where each element of the result stands in x, for every operation of ops/image.def that resizes.
 * The shape rule, the kernel and the VJP ask here, so that positions are computed once.
 *
 *     mw__resample axes[2];
 *     MW_TRY(mw__resample_read(op, shape, axes, err));
 *     const mw__tap tap = mw__resample_tap(&axes[1], j); // y[j] = (1 - tap.weight) x[tap.low] + tap.weight x[tap.high]
 */
#ifndef MW__GRAPH_GEOMETRY_RESAMPLE_H
#define MW__GRAPH_GEOMETRY_RESAMPLE_H

#include "graph/ir/op_table.h"
#include <millwright/ops/image.h>

/* One axis. */
typedef struct mw__resample {
    int64_t in, out; /* in may be MW_DIM_UNKNOWN, and out where it depends on in; else both >= 1 */
    mw_sampling_mode sampling;
    bool nearest;
} mw__resample;

typedef struct mw__tap {
    int64_t low, high; /* in [0, in) */
    double weight;     /* of high, in [0, 1); low has the rest */
} mw__tap;

/* The last two axes of x, height before width. An axis that `resize` leaves alone has in = out = 1: it counts among
 * the images. */
mw_status mw__resample_read(const mw__op *op, mw_shape x, mw__resample out[2], mw_error *err);

/* The same for an operation with a result: an extent that is computed is the declared one. */
mw_status mw__resample_plan(const mw__op *op, mw_shape x, mw__resample out[2], mw_error *err);

/* Element i of the result; both extents must be known. */
mw__tap mw__resample_tap(const mw__resample *axis, int64_t i);

/* MIL's name; NULL for a value outside the enumeration. */
const char *mw__sampling_name(mw_sampling_mode mode);
const char *mw__interpolation_name(mw_interpolation_mode mode);

#endif

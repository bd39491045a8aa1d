/* Roots of sums of squares, as norms and deviations are written: rsqrt(reduce_mean(square(x)) + e) and its like. */
#ifndef MW__MIL_LEGALIZE_NUMBERS_SQUARES_H
#define MW__MIL_LEGALIZE_NUMBERS_SQUARES_H

#include "graph/ir/ir_types.h"

/* From which number on a square is infinite in fp16: the root of 65520, which rounds to infinity. */
#define MW__SQUARE_END 255.969

/* The root of gain * mean(x^2) + rest, or its reciprocal. */
typedef struct mw__root {
    const mw_tensor *x;
    const mw__op *sum; /* that adds the squares */
    mw_axes axes;      /* of the mean, each from 0 on */
    mw_shape kept;     /* the shape of x with those axes 1 */
    int64_t count;     /* elements of one mean */
    double gain, rest; /* above 0; 0 or more */
    bool is_reciprocal;
} mw__root;

/* True for pow(x, exponent) with that constant. */
bool mw__squares_is_power(const mw__op *op, double exponent);
/* True for x^2, however it is written. */
bool mw__squares_is_square(const mw__op *op);
/* Whether the operation is such a root of an x of known extents: sqrt, rsqrt or pow, over a sum, a mean or a
 * reduce_sum_square, with constants that multiply it and that are added. */
bool mw__squares_find_root(const mw__op *op, mw__root *out);

#endif

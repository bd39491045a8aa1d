/* Operations between codes that are no products: what is moved, and means. */
#ifndef MW__ENGINE_KERNELS_INT8_INT8_BETWEEN_H
#define MW__ENGINE_KERNELS_INT8_INT8_BETWEEN_H

#include "engine/kernels/int8/int8.h"

enum { MW__INT8_MOVED_MOST = 64 /* tensors that are joined */ };

/* One tensor that is moved: table[byte of its code] is the byte of the result. */
typedef struct mw__int8_moved {
    const mw_tensor *codes;
    mw_shape shape; /* as the operation has it */
    uint8_t table[256];
} mw__int8_moved;

/* concat, pad, transpose, and what resizes by the nearest element, of codes. */
typedef struct mw__int8_move_match {
    const mw__op *op;
    const mw_tensor *result;
    const mw__int8_moved *moved; // [count]
    size_t count;
    uint8_t fill; /* the byte of what pad puts around */
} mw__int8_move_match;

/* Whether it is one of them, with positions that are known. */
bool mw__int8_move_suits(const mw__op *op);

/* The mean of windows, or of all but the first two axes: code = clamp(round(sum (x_scale / (count y_scale))) + y_zero,
 * low, high), with the sum of codes less their zero points in int32 and the rest in fp32; ties to even. */
typedef struct mw__int8_mean_match {
    mw__int8_product_match base; /* op: avg_pool or reduce_mean; x, x_scale, x_zero; what is said of the result */
} mw__int8_mean_match;

bool mw__int8_mean_suits(const mw__op *op);

#endif

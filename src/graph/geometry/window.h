/* Windows that slide over the spatial axes of [N, C, *S]: the arithmetic that pooling and convolution share. Shape
 * rules, kernels and patterns ask here, so that pads and extents are computed once.
 *
 *     mw__window windows[MW__WINDOW_AXES];
 *     MW_TRY(mw__op_windows(op, mw__rule_shape(infer, "x"), kernel, windows, infer->err));
 *     for (int i = 0; i < x.rank - 2; i++)
 *         result.dim[2 + i] = windows[i].out; */
#ifndef MW__GRAPH_GEOMETRY_WINDOW_H
#define MW__GRAPH_GEOMETRY_WINDOW_H

#include "base/visible.h"
#include "graph/ir/op_table.h"

#define MW__WINDOW_AXES 3 /* spatial axes, at most */

/* One spatial axis. Element k of window o stands at o * stride - before + k * dilation of x; whatever is outside
 * [0, in) is padding, or, in the last windows under ceil_mode, past the padding. */
typedef struct mw__window {
    int64_t in;                       /* extent of x; MW_DIM_UNKNOWN, as is kernel, where it is not known */
    int64_t kernel, stride, dilation; /* each >= 1 */
    int64_t span;                     /* (kernel - 1) * dilation + 1: from the first element to the last */
    int64_t before, after;            /* padding; 0 while in or kernel is unknown and the padding depends on it */
    int64_t out;                      /* windows; MW_DIM_UNKNOWN where not known */
} mw__window;

/* Reads strides, dilations, pad_type and pad of an operation, each where its row has it, beside kernel extents that the
 * caller found; `in` comes from x [N, C, *S] of rank 3 to 5. before and after hold `pad` if the pad type is custom,
 * else 0; out is not set. */
mw_status mw__window_read(const mw__op *op, mw_shape x, const int64_t *kernel, mw__window out[MW__WINDOW_AXES],
                          mw_pad_type *out_type, mw_error *err);

/* mw__window_read, then pads for `same` and the output extents:
 *   valid, custom     floor((in + before + after - span) / stride) + 1
 *   with ceil_mode    ceil instead of floor, less 1 if the axis is padded and its last window would start at or beyond
 *                     in + before; padding must be equal on both sides, at most two spatial axes
 *   same              ceil(in / stride), padding as needed, an odd one after (same_lower, ios16: before) */
MW__SIBLING mw_status mw__op_windows(const mw__op *op, mw_shape x, const int64_t *kernel,
                                     mw__window out[MW__WINDOW_AXES], mw_error *err);

/* MIL's name, "same_lower"; NULL for a value outside the enumeration. */
const char *mw__pad_type_name(mw_pad_type type);

/* The elements [*out_begin, *out_end) of window `at` that stand inside x, as indices k; an empty range if none does. */
void mw__window_inside(const mw__window *window, int64_t at, int64_t *out_begin, int64_t *out_end);

/* The elements of window `at` that stand before in + after: all of them but in windows that ceil_mode cuts. */
int64_t mw__window_padded(const mw__window *window, int64_t at);

#endif

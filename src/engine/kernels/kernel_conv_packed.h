/* Convolution, and its transpose, as products of packed panels. Results form grids: one for conv; for its transpose by
 * a stride s one for each remainder of a position by s, so that no tap meets a zero between elements. Of a grid
 *
 *     y[o][start + j spread] = bias[o] + sum over i of weight[i][o] x[i's channel][j step + i's offset]
 *
 * where i runs over input channels and, within each, taps in order: one chain of multiply-adds from 0 on, so that the
 * bits do not depend on tiles, partitions or the kernel that takes the convolution (kernel_conv_direct.h, x86/).
 *
 * A panel of x is `lanes` positions by up to MW__PACKED_DEPTH of i, gathered straight from the planes and multiplied
 * while it is in the first-level cache; the weight lies packed, [depth, rows] for each panel of output channels. */
#ifndef MW__ENGINE_KERNELS_KERNEL_CONV_PACKED_H
#define MW__ENGINE_KERNELS_KERNEL_CONV_PACKED_H

#include "engine/kernels/kernel_conv.h"

#define MW__PACKED_DEPTH 256
#define MW__PACKED_LANES 32 /* at most */

/* Lanes [first, first + count) of one vector, whose elements of x are `step` apart. */
typedef struct mw__packed_run {
    int64_t lane_0; /* where that of lane 0 would be, from the plane of the first channel of example 0 */
    int16_t first, count;
    uint32_t mask; /* a bit for each of the lanes */
} mw__packed_run;

/* Which elements of x a panel takes under each tap: runs [begin[t vectors + v], begin[t vectors + v + 1]). */
typedef struct mw__packed_source {
    const int32_t *begin;
    const mw__packed_run *runs;
    int64_t taps, step;
} mw__packed_source;

/* panel [count, vectors * width] from tap `tap` of the channel at x on, whose planes are `area` apart. */
typedef void mw__packed_gather(const mw__packed_source *source, const float *x, int64_t area, int64_t tap,
                               int64_t count, float *panel);
/* c [rows, lanes] = or += a [depth, rows] times panel [depth, lanes] */
typedef void mw__packed_product(int64_t depth, const float *a, const float *panel, float *c, bool add);

/* y[i spread] = c[i] + bias */
typedef void mw__packed_store(float *y, int64_t spread, const float *c, int64_t count, float bias);

/* c [rows, lanes] = or += the sum over i < count of a [i, rows] times the vectors at x + at[i] */
typedef void mw__packed_sums(int64_t count, const float *a, const float *x, const int32_t *at, float *c, bool add);
/* out[i pitch + r] = x[r stride + i] for r < rows, and 0 for r from there to fill, which is at most `width`; i < count
 */
typedef void mw__packed_transpose(const float *x, int64_t stride, int64_t rows, int64_t count, int64_t fill, float *out,
                                  int64_t pitch);
/* out[r] = x[r stride] for r < rows, and 0 from there to fill, which is at most `rows` of the code */
typedef void mw__packed_column(const float *x, int64_t stride, int64_t rows, int64_t fill, float *out);

/* By one instruction set. */
typedef struct mw__packed_code {
    int64_t rows;           /* of a panel of the weight, at most */
    int64_t width, vectors; /* lanes of a vector, vectors of a panel */
    mw__packed_gather *gather;
    mw__packed_product *const *products; /* [rows - 1] */
    mw__packed_store *store;
    mw__packed_sums *const (*sums)[2]; /* [rows - 1][vectors - 1] */
    mw__packed_transpose *transpose;
    mw__packed_column *column;
} mw__packed_code;

#if MW_HAVE_AVX512
extern const mw__packed_code mw__packed_avx512;
#endif
/* The widest at that level. */
const mw__packed_code *mw__packed_code_of(mw__level level);

/* What is convolved. */
typedef struct mw__packed_request {
    const mw_tensor *x, *weight, *bias, *result; /* bias: or NULL */
    mw__conv_window window;
    int64_t groups;
    bool transposed; /* x is window's y, result its x; weight [inputs, outputs / groups, taps] */
} mw__packed_request;

/* Why the packed kernels do not take it, a static sentence; NULL: they do. */
const char *mw__conv_packed_declines(const mw__packed_request *request);
mw_status mw__plan_conv_packed(mw__planner *planner, const mw__packed_request *request, mw_error *err);

#endif

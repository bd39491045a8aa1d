/* Winograd's convolution for kernels of 3 x 3 that move by one: of each tile of x, `points` wide, a polynomial's values
 * at that many points are taken, those of the kernel likewise, and of their products, summed over channels, the tile of
 * y follows, `side` wide:
 *
 *     y = A' [ sum over c of (G w[o][c] G') (B' x[c] B) ] A          points = side + 2
 *
 * For a side of 4 that is 36 products for 16 results, where the sums themselves take 144. The gradient by the weight is
 * the same with other roles: dy is the kernel, 4 wide, and the result 3 wide, of the same points.
 *
 * Vectors hold channels. x is read into frames [rows, columns, width], V [points^2, tiles, channels] is made of them, a
 * product for each pair of points gives M [points^2, tiles, outputs], and y is made of that; V and M stay in the
 * second-level cache. Every sum runs over channels in order (gemm_blocked.h), whatever is cut into which tiles: bits
 * depend on the instructions alone. They are not those of the sums themselves: docs/numerics.md says how far they are.
 */
#ifndef MW__ENGINE_KERNELS_WINOGRAD_WINOGRAD_H
#define MW__ENGINE_KERNELS_WINOGRAD_WINOGRAD_H

#include "engine/kernels/conv/kernel_conv_packed.h"
#include "engine/kernels/winograd_rows.h"

#define MW__WINOGRAD_POINTS 6 /* at most */
#define MW__WINOGRAD_SIDE   4 /* at most */

/* Of tiles that stand side by side in frames: out [points^2, tiles], where a pair of points is `point` floats apart and
 * a tile `tile`; rows[i]: of the first tile, whose columns are `width` apart. */
typedef void mw__winograd_values(const float *const *rows, int64_t tiles, float *out, int64_t point, int64_t tile);
/* rows [side] of y = bias + what follows of m, which lies likewise */
typedef void mw__winograd_results(const float *m, int64_t point, int64_t tile, int64_t tiles, const float *bias,
                                  float *const *rows);
/* out [points^2] of a kernel [9, width]; and [9, width] of sums [points^2] */
typedef void mw__winograd_kernel(const float *from, int64_t point, float *out);

/* Tiles of one size. */
typedef struct mw__winograd_form {
    int64_t side, points;
    mw__winograd_values *x, *dy;
    mw__winograd_results *y;
    mw__winograd_kernel *weight, *dweight;
} mw__winograd_form;

#define MW__WINOGRAD_LINE 4 /* results of a tile of winograd_lines.h */

/* The same along lines. Of tiles t < count of each of `dilation` lines, whose positions take turns in a frame
 * [positions, width]: out [points, count dilation] */
typedef void mw__winograd_values_of_line(const float *frame, int64_t dilation, int64_t count, float *out, int64_t point,
                                         int64_t tile);
/* frame of y = bias + what follows of m */
typedef void mw__winograd_results_of_line(const float *m, int64_t point, int64_t tile, int64_t dilation, int64_t count,
                                          const float *bias, float *frame);

typedef struct mw__winograd_line_form {
    int64_t taps, points; /* of a group of taps, 3 or 4 */
    mw__winograd_values_of_line *x, *dy;
    mw__winograd_results_of_line *y;
    mw__winograd_kernel *weight, *dweight; /* of [taps, width] */
} mw__winograd_line_form;

/* By one instruction set. */
typedef struct mw__winograd_code {
    int64_t width;                      /* of a vector */
    const mw__winograd_form *form;      /* [2]: of sides 4 and 2 */
    const mw__winograd_line_form *line; /* [2]: of 3 and 4 taps */
} mw__winograd_code;

extern const mw__winograd_code mw__winograd_base;
#if defined(__x86_64__)
extern const mw__winograd_code mw__winograd_avx2;
#endif
#if MW_HAVE_AVX512
extern const mw__winograd_code mw__winograd_avx512;
#endif
/* The widest at that level. */
const mw__winograd_code *mw__winograd_code_of(mw__level level);

#endif

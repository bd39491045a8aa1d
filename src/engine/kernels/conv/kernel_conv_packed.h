/* Convolution, and its transpose, as products of packed panels. Results form grids: one for conv; for its transpose by
 * a stride s one for each remainder of a position by s, so that no tap meets a zero between elements. Of a grid
 *
 *     y[o][start + j spread] = bias[o] + sum over i of weight[i][o] x[i's channel][j step + i's offset]
 *
 * where i runs over input channels and, within each, taps in order: one chain of multiply-adds from 0 on, so that the
 * bits do not depend on tiles, partitions or the kernel that takes the convolution (kernel_conv_direct.h, *_avx512.c).
 *
 * A panel of x is `lanes` positions by up to MW__PACKED_DEPTH of i, gathered straight from the planes and multiplied
 * while it is in the first-level cache; the weight lies packed, [depth, rows] for each panel of output channels. */
#ifndef MW__ENGINE_KERNELS_KERNEL_CONV_PACKED_H
#define MW__ENGINE_KERNELS_KERNEL_CONV_PACKED_H

#include "engine/kernels/conv/kernel_conv.h"
#include "engine/kernels/math/math.h"

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

/* A position: a row of a, and a panel of x. */
typedef struct mw__packed_place {
    uint16_t a, x;
} mw__packed_place;

/* c [rows, lanes] = or += the sum over i < count of row at[i].a of a [.., rows] times the panel at[i].x of x [..,
 * lanes]
 */
typedef void mw__packed_sums(int64_t count, const float *a, const float *x, const mw__packed_place *at, float *c,
                             bool add);
/* out[i pitch + r] = x[r stride + i] for r < rows, and 0 for r from there to fill, which is at most `width`; i < count
 */
typedef void mw__packed_transpose(const float *x, int64_t stride, int64_t rows, int64_t count, int64_t fill, float *out,
                                  int64_t pitch);
/* out[r] = x[r stride] for r < rows, and 0 from there to fill, which is at most `rows` of the code */
typedef void mw__packed_column(const float *x, int64_t stride, int64_t rows, int64_t fill, float *out);

/* For each of `lines` rows of x, `stride` apart: out[i] = x[i step] for begin <= i < end, and 0 for the others below
 * count, after which the next begins; step > 0. What is outside is not read. */
typedef void mw__packed_lines(const float *x, int64_t stride, int64_t lines, int64_t step, int64_t begin, int64_t end,
                              int64_t count, float *out);
/* For each of `lines` rows, `pitch` apart, y[2 i] = even[i] and y[2 i + 1] = odd[i], `count` of both, in rows `stride`
 * apart; what is outside is not touched. */
typedef void mw__packed_weave(const float *even, const float *odd, int64_t pitch, int64_t lines, int64_t count,
                              float *y, int64_t stride);

#define MW__PACKED_OUTPUTS 3 /* that share the elements of x, at most */

/* Of so many planes of y, which lie `between` floats apart, from a weight [taps, outputs]. */
typedef struct mw__packed_outputs {
    int64_t count, between;
    const float *weight, *bias;
    float *y;
} mw__packed_outputs;

/* y[o][i] = bias[o] + the sum over taps of weight[t][o] x[at[t] + i], i < count; y and x go on for MW__PACKED_SLACK
 * floats. */
typedef void mw__packed_taps(int64_t taps, const int32_t *at, const float *x, int64_t count,
                             const mw__packed_outputs *out);
/* Adds dy[i] x[at[t] + i] to sums[t][lane of i], i < count; beyond count dy is 0 up to a whole vector. */
typedef void mw__packed_dots(int64_t taps, const int32_t *at, const float *x, const float *dy, int64_t count,
                             float *sums);

/* Planes without a border, whose positions lie as those of x do: what lane i % width of a vector reads under a tap is
 * x[at[t] + i] where that bit of mask[t][i / width] is set, and 0 elsewhere, which is not touched. Bits from count on
 * are not set; mask [taps, vectors of count]. */
typedef struct mw__packed_flat {
    int64_t taps, count, inside; /* inside: elements of x */
    const int32_t *at;
    const uint16_t *mask;
} mw__packed_flat;

/* y[i] = bias + the sum over taps of weight[t] times that, i < count */
typedef void mw__packed_flat_taps(const mw__packed_flat *flat, const float *weight, const float *x, float bias,
                                  float *y);
/* A plane and its result. */
typedef struct mw__packed_plane {
    const float *weight, *x;
    float bias, *y;
} mw__packed_plane;

enum { MW__PACKED_FEW = 4 };
/* The same of so many planes that are a vector each, as are their x. */
typedef void mw__packed_flat_few(const mw__packed_flat *flat, const mw__packed_plane *planes);

/* The planes that come next, to be fetched beforehand. */
typedef struct mw__packed_next {
    const float *x, *dy;
} mw__packed_next;
/* Adds dy[i] times that to sums[t][lane of i], i < count. */
typedef void mw__packed_flat_dots(const mw__packed_flat *flat, const float *x, const float *dy,
                                  const mw__packed_next *next, float *sums);
/* The same of MW__PACKED_FEW planes that are a vector each, `x_step` and `dy_step` apart, one after the other. */
typedef void mw__packed_flat_few_dots(const mw__packed_flat *flat, const float *x, int64_t x_step, const float *dy,
                                      int64_t dy_step, float *sums);

/* out[i] = the lanes of sums[i] added up as the product of vectors adds them that has lanes of this width (gemm.h), of
 * `rest` elements after its last whole vector; i < count */
typedef void mw__packed_totals(int64_t count, int64_t rest, const float *sums, float *out);

#define MW__PACKED_SLACK 128

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
    mw__packed_lines *lines;
    mw__packed_weave *weave;
    mw__packed_taps *taps;
    mw__packed_dots *dots;
    mw__packed_flat_taps *flat_taps; /* these three: or NULL */
    mw__packed_flat_dots *flat_dots;
    mw__packed_totals *totals;
    mw__packed_flat_few *flat_few; /* these two: or NULL */
    mw__packed_flat_few_dots *flat_few_dots;
} mw__packed_code;

/* Whether planes are so small. */
MW__INLINE bool mw__packed_is_few(const mw__packed_code *code, const mw__packed_flat *flat)
{
    return code->flat_few != NULL && flat->count <= code->width && flat->inside <= code->width;
}

#if MW_HAVE_AVX512
extern const mw__packed_code mw__packed_avx512;
#endif
#if defined(__x86_64__)
mw__packed_flat_taps mw__packed_flat_taps_avx2;
mw__packed_flat_dots mw__packed_flat_dots_avx2;
#endif
/* The widest at that level. */
const mw__packed_code *mw__packed_code_of(mw__level level);

/* ---- grids ---- */

typedef struct mw__packed_tap {
    int64_t offset[3]; /* of x, from j step */
    int64_t element;   /* of the kernel */
} mw__packed_tap;

typedef struct mw__packed_grid {
    int64_t extent[3], start[3];
    int64_t area;  /* positions of an example */
    int64_t depth; /* inputs * taps */
    int64_t taps;
    const mw__packed_tap *tap;
    int64_t weights; /* floats before its panels in those of a group */
} mw__packed_grid;

/* What is done to sums in the form for chips (kernel_conv_columns.c), before they are stored. Each may be NULL. */
typedef struct mw__packed_finish {
    const char *label;    /* of the step */
    mw__loop1 *round;     /* to the sum */
    mw__loop1 *add;       /* adds the bias, which is p; what it makes of the sum is no longer what `round` gives */
    mw__loop1 *after;     /* to the sum with its bias */
    unsigned sum, biased; /* what `round` and `after` do (mw__round) */
} mw__packed_finish;

/* What is convolved. */
typedef struct mw__packed_request {
    const mw_tensor *x, *weight, *bias, *result; /* bias: or NULL */
    mw__conv_window window;
    int64_t groups;
    bool transposed; /* x is window's y, result its x; weight [inputs, outputs / groups, taps] */
    /* NULL, or the product of a matrix with columns is computed: its sums start anew every MW__PACKED_DEPTH of i, with
     * all taps of the kernel counted, and are added, as those of mw__gemm do; x of the transpose has zeros between its
     * elements there, which are left out here. */
    const mw__packed_finish *columns;
    const mw_tensor *dy; /* of a gradient by the weight, of each example by itself: then there is no weight */
} mw__packed_request;

struct mw__conv_columns_match; /* engine/kernels/pattern_plans.h */
/* The request of a product of columns; without a weight if it is no convolution. */
mw__packed_request mw__conv_columns_request(mw__planner *planner, const struct mw__conv_columns_match *match);
/* Whether it is one of kernel_conv_avx512.h, compiled so. */
bool mw__conv_columns_in_order(const struct mw__conv_columns_match *match, const mw__config *config, int partitions,
                               mw__packed_request *out); /* sums of the request have the order of `columns` */
bool mw__conv_columns_in_lanes(const struct mw__conv_columns_match *match, const mw__config *config, int partitions);

/* Why the packed kernels do not take it, a static sentence; NULL: they do. */
const char *mw__conv_packed_declines(const mw__packed_request *request);
mw_status mw__plan_conv_packed(mw__planner *planner, const mw__packed_request *request, mw_error *err);

/* Of small images, whose lanes are examples: kernel_conv_examples.c, for mw__plan_conv_packed. */
const char *mw__conv_examples_declines(const mw__packed_request *request);
mw_status mw__plan_conv_examples(mw__planner *planner, const mw__packed_request *request, mw_error *err);

/* The request of a conv or conv_transpose; false if extents are not known. */
bool mw__conv_request_read(const mw__op *op, mw__packed_request *out);
/* The rows (implementation.h) that both have; subject: the operation. */
const char *mw__conv_row_packed_declines(const void *op);
const char *mw__conv_row_depthwise_declines(const void *op);
const char *mw__conv_row_few_declines(const void *op);
const char *mw__conv_row_few_narrow_declines(const void *op);
mw_status mw__plan_conv_row_packed(mw__planner *planner, const mw__op *op, mw_error *err);
mw_status mw__plan_conv_row_depthwise(mw__planner *planner, const mw__op *op, mw_error *err);
const char *mw__conv_row_winograd_declines(const void *op);
mw_status mw__plan_conv_row_winograd(mw__planner *planner, const mw__op *op, mw_error *err);
const char *mw__conv_row_lines_declines(const void *op);
mw_status mw__plan_conv_row_lines(mw__planner *planner, const mw__op *op, mw_error *err);
#define MW__CONV_PACKED_ROW                                                                                            \
    {                                                                                                                  \
        .name = "packed", .level = MW__LEVEL_BASE, .declines = mw__conv_row_packed_declines,                           \
        .plan = mw__plan_conv_row_packed, .takes_packed = true, .adds_freely = true                                    \
    }
#define MW__CONV_DEPTHWISE_ROW                                                                                         \
    {                                                                                                                  \
        .name = "depthwise", .level = MW__LEVEL_BASE, .declines = mw__conv_row_depthwise_declines,                     \
        .plan = mw__plan_conv_row_depthwise, .adds_freely = true                                                       \
    }
/* Before the direct kernel where vectors are wide, and behind it where they are not. */
#define MW__CONV_FEW_ROW                                                                                               \
    {                                                                                                                  \
        .name = "few", .level = MW__LEVEL_AVX2, .declines = mw__conv_row_few_declines,                                 \
        .plan = mw__plan_conv_row_depthwise, .adds_freely = true                                                       \
    }
#define MW__CONV_FEW_NARROW_ROW                                                                                        \
    {                                                                                                                  \
        .name = "few.narrow", .level = MW__LEVEL_BASE, .declines = mw__conv_row_few_narrow_declines,                   \
        .plan = mw__plan_conv_row_depthwise, .adds_freely = true                                                       \
    }

/* What is taken: elements of a kernel, those along an axis, grids. */
enum { MW__PACKED_TAPS = 8192, MW__PACKED_EXTENT = 2048, MW__PACKED_GRIDS = 64 };

/* How many grids it has, at most one more than are taken; and their extents and taps. NULL after a failed allocation.
 */
int64_t mw__packed_grids(const mw__packed_request *request);
mw__packed_grid *mw__packed_fill_grids(mw__planner *planner, const mw__packed_request *request);
/* Without the taps that meet nothing but the border, whose products are zeros. */
void mw__packed_drop_taps(mw__planner *planner, const mw__packed_request *request, mw__packed_grid *grids);

/* Of a channel for each group, by itself: kernel_conv_depthwise.c. */
const char *mw__conv_depthwise_declines(const mw__packed_request *request);
mw_status mw__plan_conv_depthwise(mw__planner *planner, const mw__packed_request *request, mw_error *err);
/* The same where few output channels of a group have several input channels. */
const char *mw__conv_few_declines(const mw__packed_request *request);
/* The gradient by the weight of each example, as the products with its columns add: kernel_conv_depthwise_dweight.c. */
const char *mw__conv_depthwise_dots_decline(const mw__packed_request *request, mw__level level);
mw_status mw__plan_conv_depthwise_dots(mw__planner *planner, const mw__packed_request *request, mw_error *err);

#endif

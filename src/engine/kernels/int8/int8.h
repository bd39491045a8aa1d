/* Products of 8-bit codes with sums of int32, which are exact: numbers of uint8 in the lanes of vectors times numbers
 * of int8, four at a time. Whatever takes part is brought into these types, and the zero points are subtracted from the
 * sums:
 *
 *     sum (u - zero_u) (s - zero_s) = sum u s - zero_s sum u - zero_u sum s + n zero_u zero_s
 *
 * Convolution has pixels in the lanes, and panels of weights; products of matrices weights in the lanes, and panels of
 * rows. A quad is four numbers that are multiplied and added together.
 *
 * Codes that nothing but operations on codes reads may lie in quads of channels: [C/4, N, .., 4] in the place of
 * [N, C, ..], as uint8, a code of int8 and 128 (compile/patterns/patterns_int8_layout.c). */
#ifndef MW__ENGINE_KERNELS_INT8_INT8_H
#define MW__ENGINE_KERNELS_INT8_INT8_H

#include "engine/core/kernel.h"
#include "engine/kernels/pattern_plans.h"

enum { MW__INT8_ROWS_MOST = 8, MW__INT8_LANES_MOST = 48 };

/* sums[r][lane] = start[r] + the sum over `depth` quads k of those at x + offset[k] + 4 lane times panel[k][r], modulo
 * 2^32: parts may lie outside of int32 where the whole does not. */
typedef void mw__int8_tile(const uint8_t *x, const int32_t *offset, int64_t depth, const int32_t *panel,
                           const int32_t *start, int32_t *sums);

typedef struct mw__int8_code {
    const char *name;
    int rows, lanes, vectors; /* of a tile */
    bool wide;                /* panels have the two even numbers of a quad as 16 bits, then the odd ones */
    mw__int8_tile *tile[3];   /* [vectors]: of that many and one of its vectors, whose rows lie alike */
    mw__int8_tile *one;       /* of panels with a single row */
} mw__int8_code;

/* The processor's best one that a level may use. */
const mw__int8_code *mw__int8_code_of(mw__level level);
/* All that the processor has, the best one first; NULL behind the last. */
const mw__int8_code *mw__int8_tiles_at(size_t index);

/* ---- panels ---- */

/* int32 of a panel of so many quads. */
int64_t mw__int8_panel_count(const mw__int8_code *code, int64_t depth, int rows);
/* Puts the quad of a row. */
void mw__int8_panel_put(const mw__int8_code *code, int rows, int64_t quad, int row, const int8_t s[4], int32_t *panel);

/* ---- results ---- */

/* What becomes of a sum: code = clamp(round(real), low, high) + zero with real = sum scale + shift, or the real number
 * itself. Ties go to the even number. */
typedef struct mw__int8_finish {
    mw_dtype dtype;  /* I8, U8 or F32 */
    float low, high; /* before the zero point is added */
    int32_t zero;
    bool shifts; /* not all shifts are 0 */
    bool fits;   /* real numbers are less than 2^31 */
} mw__int8_finish;

/* Rows of `count` sums as results; by two numbers for each row. */
typedef struct mw__int8_rows {
    int64_t rows, count, step; /* step: between rows of sums */
    const float *scale, *shift;
    size_t out_step; /* in bytes */
} mw__int8_rows;
typedef void mw__int8_finish_rows(const mw__int8_finish *finish, const int32_t *sums, const mw__int8_rows *r,
                                  void *out);
/* Four rows side by side as quads, which out_step is between; of codes alone, of so many rows. */
typedef mw__int8_finish_rows mw__int8_finish_quads;
/* The same, as operand `own` of a sum with others, which lie as out does. */
typedef struct mw__int8_joined {
    const struct mw__int8_sum *sum;
    int own;
    float least; /* added to a code of its own before its zero point is: that, less the zero point in the sum */
    const void *others;
} mw__int8_joined;
typedef void mw__int8_finish_joined(const mw__int8_finish *finish, const int32_t *sums, const mw__int8_rows *r,
                                    const mw__int8_joined *joined, void *out);
/* By four numbers for each lane; add[i] - by u[i] is added to the sum. */
typedef struct mw__int8_lanes {
    const int32_t *add, *u; /* u: 0 to 255 */
    const float *scale, *shift;
} mw__int8_lanes;
typedef void mw__int8_finish_lanes(const mw__int8_finish *finish, const int32_t *sums, int64_t count,
                                   const mw__int8_lanes *lanes, int32_t by, void *out);

/* ---- products as they are asked for ---- */

/* The codes of the sum of two tensors of codes. */
typedef struct mw__int8_sum_match {
    mw__int8_product_match base; /* op: add; of the rest what is said of the result */
    const mw_tensor *x[2];
    float scale[2];
    int zero[2];
} mw__int8_sum_match;

/* How codes are added to codes: the arithmetic is that of the operations one by one, and so are the bits. */
typedef struct mw__int8_sum {
    float scale[2], y_scale, low, high;
    uint8_t flip[2];
    int32_t least[2], y_zero; /* least: the smallest code less the zero point */
    bool divides;             /* by y_scale; else its reciprocal gives the same code for every pair of codes */
    bool fits;                /* no sum is 2^30 steps of the result or more */
    void (*add)(const struct mw__int8_sum *b, const uint8_t *x, const uint8_t *y, int64_t count, uint8_t *out);
} mw__int8_sum;

/* quads: all three lie so. */
mw__int8_sum mw__int8_sum_of(const mw__int8_sum_match *match, bool quads, mw__level level);

/* table[the largest code of each window]; in the order of the bytes of codes. */
typedef struct mw__int8_pool_match {
    mw__int8_product_match base; /* op: max_pool; x; result */
    uint8_t table[256];
} mw__int8_pool_match;

/* Whether a value lies in quads. */
MW__INLINE bool mw__int8_in_quads(const mw__int8_product_match *m, const mw_tensor *value)
{
    return m->quads != NULL && m->quads[value->id];
}
/* What makes codes of that type those of a value: 128, or nothing. */
MW__INLINE uint8_t mw__int8_flip_of(const mw__int8_product_match *m, const mw_tensor *value)
{
    return value->type->dtype == MW_I8 && !mw__int8_in_quads(m, value) ? 128 : 0;
}

/* Whether every window has an element. */
bool mw__int8_pool_suits(const mw__op *pool);

/* The same for all ways to compute it, by output channel. */
typedef struct mw__int8_numbers {
    mw__int8_finish finish;
    int32_t *add;         /* the bias, where its numbers are steps of the sum; else 0 */
    float *scale, *shift; /* shift: the bias, where they are not */
} mw__int8_numbers;

/* The integer that stands for a code or zero point among int8, or among uint8. */
MW__INLINE int mw__int8_signed(mw_dtype dtype, int code) { return dtype == MW_U8 ? code - 128 : code; }
MW__INLINE int mw__int8_unsigned(mw_dtype dtype, int code) { return dtype == MW_U8 ? code : code + 128; }
/* The byte of a code as it lies in memory, as an integer. */
MW__INLINE int mw__int8_code_at(mw_dtype dtype, const uint8_t *codes, int64_t at)
{
    return dtype == MW_U8 ? codes[at] : (int8_t)codes[at];
}

mw_status mw__int8_plan_conv(mw__planner *planner, const mw__int8_product_match *match, const mw__int8_numbers *numbers,
                             mw_error *err);
mw_status mw__int8_plan_rows(mw__planner *planner, const mw__int8_product_match *match, const mw__int8_numbers *numbers,
                             mw_error *err);
mw_status mw__int8_plan_sum(mw__planner *planner, const mw__int8_sum_match *match, mw_error *err);
mw_status mw__int8_plan_pool(mw__planner *planner, const mw__int8_pool_match *match, mw_error *err);
/* Where a step that reads x in its layout, element by element, puts its result: the buffer of the result, or one that a
 * step behind takes rows from. */
uint32_t mw__int8_plan_result(mw__planner *planner, const mw__int8_product_match *m, const mw_tensor *x);
void mw__int8_plan_unweave(mw__planner *planner, const mw__int8_product_match *m, uint32_t from);
/* Whether it has one group. */
bool mw__int8_conv_is_whole(const mw__op *conv);
/* Why there is no plan for the shapes of a convolution; NULL: there is one. */
const char *mw__int8_conv_declines(const mw__op *conv);

mw__int8_finish_rows *mw__int8_rows_of(mw__level level);
mw__int8_finish_quads *mw__int8_quads_of(mw__level level);
mw__int8_finish_lanes *mw__int8_lanes_of(mw__level level);
/* NULL: there is none, or it does not take these. */
mw__int8_finish_joined *mw__int8_joined_of(mw__level level, const mw__int8_finish *finish, const mw__int8_sum *sum);

#endif

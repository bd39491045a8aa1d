/* The kernels of fusion patterns: for each what was matched, whether the kernel takes it, and its plan. The rows are
 * passes/patterns.def. */
#ifndef MW__ENGINE_KERNELS_PATTERN_PLANS_H
#define MW__ENGINE_KERNELS_PATTERN_PLANS_H

#include "engine/core/step.h"
#include "graph/geometry/window.h"
#include "graph/patterns/conv.h"

/* ---- max_pool ---- */

/* max_pool(relu(x)) */
typedef struct mw__relu_max_pool_match {
    const mw__op *pool;
    const mw_tensor *x;
} mw__relu_max_pool_match;

bool mw__relu_max_pool_suits(const mw__op *pool);

/* The gradient of y = max_pool(x), or of max_pool(relu(x)), by x. */
typedef struct mw__max_pool_gradient_match {
    const mw__op *pool;
    const mw_tensor *x, *y, *dy, *dx;
    bool relu;
} mw__max_pool_gradient_match;

/* `half`: what is added is rounded to fp16, so that sums of several must stay as they are written. */
bool mw__max_pool_gradient_suits(const mw__op *pool, bool half);

/* The same gradient, by what the pooling took: x is not read. */
typedef struct mw__unpool_match {
    const mw__op *pool;
    const mw_tensor *dy, *dx;
    bool relu;
    const uint32_t *argmax; /* the buffer of what was taken, set when the pooling is planned */
} mw__unpool_match;

/* ---- avg_pool ---- */

/* The mean of each window of dy spread by the stride with zeros, as the gradient of avg_pool is written: dx, whose
 * windows are given; missing axes stand in front. */
typedef struct mw__avg_pool_gradient_match {
    mw__window axis[MW__WINDOW_AXES];
    const mw_tensor *dy, *dx;
} mw__avg_pool_gradient_match;

/* ---- resizing ---- */

/* height^T (dy width): dx, of matrices of interpolation [*out, *in] that are constants. */
typedef struct mw__resize_gradient_match {
    const mw_tensor *dy, *height, *width, *dx;
} mw__resize_gradient_match;

bool mw__resizing_suits(const mw_tensor *height, const mw_tensor *width);

/* ---- conv ---- */

/* The transpose of a convolution, as its gradient by x is written: dx of those numbers. */
typedef struct mw__conv_dx_match {
    mw__conv conv;
    const mw_tensor *dy, *weight, *dx;
} mw__conv_dx_match;

bool mw__conv_dx_suits(const mw__conv_dx_match *match);

/* A convolution by the elements of a kernel that the text spreads with zeros. */
typedef struct mw__conv_dilated_match {
    mw__conv conv;
    const mw_tensor *x, *weight, *bias, *y; /* bias: or NULL */
} mw__conv_dilated_match;

bool mw__conv_dilated_suits(const mw__conv_dilated_match *match);

/* dweight = the gradient of conv by its weight, dbias = that by its bias. */
typedef struct mw__conv_dweight_match {
    const mw__op *conv; /* NULL: there is only its transpose */
    mw__conv numbers;
    const mw_tensor *x, *dy, *dweight;
    const mw_tensor *dbias; /* the sum of dy over batch and space; or NULL */
} mw__conv_dweight_match;

/* Asks all but dweight and dbias. `weight`: that of conv or of its transpose, whose gradient dweight is. */
bool mw__conv_dweight_suits(const mw__conv_dweight_match *match, const mw_tensor *weight);

/* The same, where dy is the gradient of a pooling that is known by what it took. */
typedef struct mw__conv_dweight_argmax_match {
    mw__conv_dweight_match dweight;
    const mw__unpool_match *source; /* whose dx is dy */
} mw__conv_dweight_argmax_match;

bool mw__conv_dweight_argmax_suits(const mw__op *conv, const mw__op *pool);

/* A matmul with the columns of a convolution for chips, or its sum with a bias. */
typedef struct mw__conv_columns_match {
    const mw__op *product;
    const mw_tensor *x; /* what the columns are taken of, with its border */
    mw__conv conv;
    const mw_tensor *bias; /* [1, O, 1, ..]: added to each channel of the product; or NULL */
    const mw_tensor *result;
    const mw__conv_dx_match *transpose; /* the product is this, too; or NULL */
} mw__conv_columns_match;

/* max_pool(conv), or max_pool(relu(conv)). */
typedef struct mw__conv_max_pool_match {
    const mw__op *conv;                    /* or NULL: */
    const mw__conv_columns_match *columns; /* the form for chips, with a bias */
    const mw__op *pool;
    const mw_tensor *y; /* of the convolution */
    bool relu;
    uint32_t *argmax; /* where the buffer of what is taken is to be put; NULL: it is not wanted */
} mw__conv_max_pool_match;

/* Whether fp32 convolutions of that kind are computed by Winograd's way (kernels/winograd) rather than joined with what
 * is before or after them: then results do not depend on what is fused. */
bool mw__conv_approximates(const mw__op *conv, const mw__config *config);

bool mw__conv_max_pool_suits(const mw__conv_max_pool_match *match, const mw__config *config, int partitions);

/* conv of the gradient of a pooling, by what that took. */
typedef struct mw__conv_by_argmax_match {
    const mw__op *conv;                    /* or NULL: */
    const mw__conv_columns_match *columns; /* the form for chips, which is the transpose of another */
    const mw__unpool_match *source;        /* whose dx is its x */
} mw__conv_by_argmax_match;

bool mw__conv_by_argmax_suits(const mw__op *conv, const mw__op *pool);
bool mw__conv_columns_by_argmax_suits(const mw__conv_columns_match *match, const mw__op *pool, const mw__config *config,
                                      int partitions);

/* The product `matmul` of columns: the numbers of their convolution, read but not compared, and x. */
bool mw__conv_columns_read(const mw__op *matmul, const mw_tensor **out_x, mw__conv *out);
/* y, what the product of columns is reshaped to, has their channels on axis 1. */
bool mw__conv_columns_bias_suits(const mw__conv_columns_match *columns, const mw_tensor *y);
/* The zeros around another value that x is, as before[axes]; that value, or x where there are none. */
const mw_tensor *mw__conv_columns_inside(const mw_tensor *x, int axes, int64_t *before);

/* The gradient by the weight in the form for chips: of each example the product of dy with its columns, then the sum of
 * these over the examples, a product with ones. */
typedef struct mw__conv_columns_dweight_match {
    mw__conv_dweight_match dweight; /* without dbias */
    const mw_tensor *each, *result; /* the products and their sum */
} mw__conv_columns_dweight_match;

/* Whether one step does both, in the order of the two products, by so many partitions. */
bool mw__conv_columns_dweight_suits(const mw__conv_columns_dweight_match *match, const mw__config *config,
                                    int partitions);

/* The same, where dy is the gradient of a pooling that is known by what it took. */
typedef struct mw__conv_columns_argmax_match {
    mw__conv_columns_dweight_match columns;
    const mw__unpool_match *source; /* whose dx is dy */
} mw__conv_columns_argmax_match;

bool mw__conv_columns_argmax_suits(const mw__conv_columns_dweight_match *match, const mw__op *pool,
                                   const mw__config *config, int partitions);

/* ---- matmul ---- */

/* x y, or with `adds` its product with x transposed, where x [rows, ..] has a one where the truths are, and zeros. */
typedef struct mw__lookup_match {
    const mw_tensor *low, *high; /* truths, [rows, lows] and [rows, highs], a column being high * lows + low, of which
                                    those of the product are the first; at most one of a row is true. high: or NULL */
    int64_t rows;
    const mw_tensor *table, *result; /* table: y */
    bool adds;
} mw__lookup_match;

bool mw__lookup_suits(const mw__lookup_match *match, const mw__config *config);

#define MW__PRODUCTS_MOST 7 /* with `before` what a step may read */

/* before + the products, one after the other; without `before` the first two are added to each other. */
typedef struct mw__matmul_sum_match {
    const mw_tensor *before; /* or NULL */
    const mw__op *product[MW__PRODUCTS_MOST];
    const mw_tensor *sum[MW__PRODUCTS_MOST]; /* with that product; NULL: it is the first of them */
    size_t count;
    const mw__op *ops[2 * MW__PRODUCTS_MOST]; /* the products and the additions */
    size_t op_count;
    const mw_tensor *result;
} mw__matmul_sum_match;

/* Whether a product may be one of them. */
bool mw__matmul_sum_suits(const mw__op *product, const mw__config *config, int partitions);

/* ---- products of codes ---- */

/* conv, linear, or matmul by a matrix, of x_scale (x - x_zero) and constants scale (weight - zero), of integers of 8
 * bits: codes of another scale, or the real numbers. */
typedef struct mw__int8_product_match {
    const mw__op *op;
    const mw_tensor *x; /* codes */
    float x_scale;
    int x_zero;
    const uint8_t *weight; /* codes, as the operation has its weight */
    mw_dtype weight_dtype;
    bool weight_turned;     /* of matmul: y is transposed, so that rows are outputs as they are in linear */
    int64_t outputs, depth; /* products of a sum */
    const float *scales;    // [outputs]
    const int *zeros;       // [outputs]
    const float *bias;      // [outputs], or NULL
    const mw_tensor *result;
    float y_scale; /* these three of codes alone */
    int y_zero;
    int low, high;                        /* the codes that may be: a relu leaves none below y_zero */
    const bool *quads;                    /* by value id: codes that lie in quads (int8.h) */
    const struct mw__int8_sum_match *sum; /* of a conv: its codes are operand `own` of this and nothing else, and the
                                             sum is computed instead; or NULL */
    int own;
} mw__int8_product_match;

/* ---- flags ---- */

/* A tensor that is looked at. */
typedef struct mw__good {
    const mw_tensor *x;
    float limit;
} mw__good;

/* 1 if all elements of several tensors are within limits, else 0. */
typedef struct mw__all_within_match {
    const mw__good *goods;
    size_t count;
    const mw_tensor *result;
    const mw_tensor *flag; /* whether the result is above a number between 0 and 1; or NULL */
} mw__all_within_match;

/* The x of reduce_min(select(abs(x) <= limit, 1, 0)) over all axes, or without the minimum of a single number; NULL if
 * `good` is not that. */
const mw_tensor *mw__all_within_read(const mw_tensor *good, float *out_limit);

/* ---- the plans ---- */

/* Of each row, by the payload of its name. */
#define MW_PATTERN(id, name, roots, over, level, how, guard, match, plan, declined, reason)                            \
    struct mw__##plan##_match;                                                                                         \
    mw_status mw__plan_##plan(mw__planner *planner, const struct mw__##plan##_match *found, mw_error *err);
#include "passes/patterns.def"

#endif

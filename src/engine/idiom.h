/* Idioms, gradients above all: groups of operations that one kernel computes. They are recognised by running the
 * builder that wrote them (graph/idioms/) on placeholders and comparing structure, so that writer and recogniser cannot
 * drift. Only the last operation of a group gets another plan; the others, where nobody else needs them, are dropped
 * with all steps that no output depends on. MW_ENGINE_FUSE=0 and MW_ENGINE_REF=1 recognise nothing. */
#ifndef MW__ENGINE_IDIOM_H
#define MW__ENGINE_IDIOM_H

#include "engine/plan.h"
#include "engine/widen.h"
#include "graph/idioms/conv.h"

typedef enum mw__idiom_kind {
    MW__IDIOM_NONE,
    MW__IDIOM_CONV_DWEIGHT,
    MW__IDIOM_MAX_POOL_GRADIENT,
    MW__IDIOM_RELU_MAX_POOL,          /* max_pool of relu: x is what relu is taken of */
    MW__IDIOM_RELU_MAX_POOL_GRADIENT, /* by that x */
    MW__IDIOM_CONV_COLUMNS,           /* matmul with the columns of a convolution for chips, or its sum with a bias */
    MW__IDIOM_ALL_WITHIN,             /* 1 if all of several tensors are finite or within limits, else 0 */
    MW__IDIOM_MADE,                   /* by another idiom, which stands before it */
    MW__IDIOM_CONV_MAX_POOL,          /* max_pool of conv, or of its relu */
    MW__IDIOM_CONV_PICKED,            /* conv of the gradient of such a pooling, by what that took */
    MW__IDIOM_COUNT
} mw__idiom_kind;

/* A tensor that is looked at. */
typedef struct mw__good {
    const mw_tensor *x;
    float limit;
} mw__good;

typedef struct mw__idiom {
    mw__idiom_kind kind;
    const mw__op *forward;       /* whose gradient it is */
    const mw_tensor *x, *y, *dy; /* operand and result of `forward`, cotangent of y */
    const mw_tensor *result;
    const mw_tensor *dbias;   /* conv: the sum of dy over batch and space, wanted too; or NULL */
    const mw__conv *columns;  /* of which convolution; x is what they are taken of, with its border */
    const mw__op *product;    /* that matmul */
    const mw_tensor *bias;    /* [1, O, 1, ..]: added to each channel of the product; or NULL */
    const mw__op *const *ops; /* all that it computes, in the order of the text */
    size_t op_count;
    const mw__good *goods; /* MW__IDIOM_ALL_WITHIN */
    size_t good_count;
    const mw_tensor *flag; /* of it: whether the product is above a number between 0 and 1, or NULL */
    const mw__op *conv;    /* MW__IDIOM_CONV_MAX_POOL: whose result is pooled, after relu if `relu` */
    bool relu;
    uint32_t *picks; /* of it and of its gradient: the buffer of what it took, set when it is planned; else NULL */
    /* of a conv or its dweight: the gradient that dy is, to be taken by its picks; or NULL */
    const struct mw__idiom *source;
} mw__idiom;

/* One entry for each operation of the body, in `arena`: what its result is, or MW__IDIOM_NONE. NULL with err set after
 * a failed allocation. */
mw__idiom *mw__idioms_find(const mw__function *function, const mw__rounding *rounding, mw__arena *arena, mw_error *err);

/* Joins convolutions with the poolings after them, and with the gradients of those, where the result between them is
 * not needed. In idiom_join.c. */
mw_status mw__idioms_join(const mw__function *function, mw__idiom *idioms, mw__arena *arena, mw_error *err);

/* Numbers that say whether tensors are within limits, and their products. In idiom_within.c. */
mw_status mw__idioms_find_within(const mw__function *function, mw__idiom *idioms, mw__arena *arena, mw_error *err);

/* One more operation that it computes. */
mw_status mw__idiom_add_op(mw__arena *arena, mw__idiom *idiom, const mw__op *op, mw_error *err);

/* Plans the group as steps of its own. */
mw_status mw__plan_idiom(mw__planner *planner, const mw__idiom *idiom, mw_error *err);

/* ---- by kind: what the kernel takes, and its plan ---- */

bool mw__conv_dweight_suits(const mw__op *conv);
mw_status mw__plan_conv_dweight(mw__planner *planner, const mw__idiom *idiom, mw_error *err);
bool mw__conv_dweight_picks_suits(const mw__op *conv, const mw__op *pool);
/* The product `matmul` of columns: the numbers of their convolution, read but not compared, and x. */
bool mw__conv_columns_read(const mw__op *matmul, const mw_tensor **out_x, mw__conv *out);
/* y, what the product of columns is reshaped to, has their channels on axis 1. */
bool mw__conv_columns_bias_suits(const mw__idiom *columns, const mw_tensor *y);
mw_status mw__plan_conv_columns(mw__planner *planner, const mw__idiom *idiom, mw_error *err);
/* The x of reduce_min(select(abs(x) <= limit, 1, 0)) over all axes, or without the minimum of a single number; NULL if
 * `good` is not that. */
const mw_tensor *mw__all_within_read(const mw_tensor *good, float *out_limit);
mw_status mw__plan_all_within(mw__planner *planner, const mw__idiom *idiom, mw_error *err);
bool mw__relu_max_pool_suits(const mw__op *pool);
mw_status mw__plan_relu_max_pool(mw__planner *planner, const mw__idiom *idiom, mw_error *err);
/* `half`: what is added is rounded to fp16, so that sums of several must stay as they are written. */
bool mw__max_pool_gradient_suits(const mw__op *pool, bool half);
mw_status mw__plan_max_pool_gradient(mw__planner *planner, const mw__idiom *idiom, mw_error *err);
mw_status mw__plan_unpool(mw__planner *planner, const mw__idiom *idiom, mw_error *err);
bool mw__conv_max_pool_suits(const mw__op *conv, const mw__op *pool);
mw_status mw__plan_conv_max_pool(mw__planner *planner, const mw__idiom *idiom, mw_error *err);
bool mw__conv_picked_suits(const mw__op *conv, const mw__op *pool);
mw_status mw__plan_conv_picked(mw__planner *planner, const mw__idiom *idiom, mw_error *err);

#endif

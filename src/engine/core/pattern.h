/* Patterns, gradients above all: groups of operations that one kernel computes. They are recognised by running the
 * builder that wrote them (graph/patterns/) on placeholders and comparing structure, so that writer and recogniser
 * cannot drift. Only the last operation of a group gets another plan; the others, where nobody else needs them, are
 * dropped with all steps that no output depends on. MW_ENGINE_FUSE=0 and MW_ENGINE_REF=1 recognise nothing. */
#ifndef MW__ENGINE_CORE_PATTERN_H
#define MW__ENGINE_CORE_PATTERN_H

#include "engine/core/step.h"
#include "graph/patterns/conv.h"

typedef enum mw__pattern_kind {
    MW__PATTERN_NONE,
    MW__PATTERN_CONV_DWEIGHT,
    MW__PATTERN_MAX_POOL_GRADIENT,
    MW__PATTERN_RELU_MAX_POOL,          /* max_pool of relu: x is what relu is taken of */
    MW__PATTERN_RELU_MAX_POOL_GRADIENT, /* by that x */
    MW__PATTERN_CONV_COLUMNS,           /* matmul with the columns of a convolution for chips, or its sum with a bias */
    MW__PATTERN_ALL_WITHIN,             /* 1 if all of several tensors are finite or within limits, else 0 */
    MW__PATTERN_MADE,                   /* by another pattern, which stands before it */
    MW__PATTERN_CONV_MAX_POOL,          /* max_pool of conv, or of its relu */
    MW__PATTERN_CONV_BY_ARGMAX,         /* conv of the gradient of such a pooling, by what that took */
    MW__PATTERN_COUNT
} mw__pattern_kind;

/* A tensor that is looked at. */
typedef struct mw__good {
    const mw_tensor *x;
    float limit;
} mw__good;

typedef struct mw__pattern {
    mw__pattern_kind kind;
    const mw__op *forward;       /* whose gradient it is */
    const mw_tensor *x, *y, *dy; /* operand and result of `forward`, cotangent of y */
    const mw_tensor *result;
    const mw_tensor *dbias;   /* conv: the sum of dy over batch and space, wanted too; or NULL */
    const mw__conv *columns;  /* of which convolution; x is what they are taken of, with its border */
    const mw__op *product;    /* that matmul */
    const mw_tensor *bias;    /* [1, O, 1, ..]: added to each channel of the product; or NULL */
    const mw__op *const *ops; /* all that it computes, in the order of the text */
    size_t op_count;
    const mw__good *goods; /* MW__PATTERN_ALL_WITHIN */
    size_t good_count;
    const mw_tensor *flag; /* of it: whether the product is above a number between 0 and 1, or NULL */
    const mw__op *conv;    /* MW__PATTERN_CONV_MAX_POOL: whose result is pooled, after relu if `relu` */
    bool relu;
    uint32_t *argmax; /* of it and of its gradient: the buffer of what it took, set when it is planned; else NULL */
    /* of a conv or its dweight: the gradient that dy is, to be taken by its argmax; or NULL */
    const struct mw__pattern *source;
} mw__pattern;

#endif

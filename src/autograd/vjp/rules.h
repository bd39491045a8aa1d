/* The rules by name, for their definitions, and what several families share. */
#ifndef MW__AUTOGRAD_VJP_RULES_H
#define MW__AUTOGRAD_VJP_RULES_H

#include "autograd/vjp/vjp.h"
#include "base/visible.h"

#define MW_TRAITS(id, traits)
#define MW_EXPAND(id, function)
#define MW_KERNEL(id, storage, rounding, rule, flops)
#define MW_ARG(id, arg, kind, type, fallback)
#define MW_END(id)
#define MW_OP(id, name, since, shape, vjp, kernel) mw__vjp_rule mw__vjp_##vjp;
#include "graph/ops/all.def"
#undef MW_OP
#undef MW_END
#undef MW_ARG
#undef MW_TRAITS
#undef MW_EXPAND
#undef MW_KERNEL

/* Of a convolution's transpose whose weight is computed (mw__composite.transposed). */
mw__vjp_rule mw__vjp_conv_transposed;
/* Of a convolution's weight that is spread with zeros (mw__composite.spread). */
mw__vjp_rule mw__vjp_conv_spread;

/* Of the forward operation: the shape of its x, and its axis counted from 0. */
mw_shape mw__vjp_x_shape(const mw__vjp *vjp);
int mw__vjp_axis_of(const mw__vjp *vjp, int rank);

/* A scalar of the element type of x. */
MW__SIBLING mw_tensor *mw__vjp_scalar_like(mw_tensor *x, double value);

/* cond ? a : 0. */
MW__SIBLING mw_tensor *mw__where(mw_tensor *cond, mw_tensor *a);

/* dx = dy slope, for the one operand x. */
void mw__vjp_scale(mw__vjp *vjp, mw_tensor *slope);

/* The constant scalar argument `arg` of the operation, in the element type of its x. */
mw_tensor *mw__vjp_scalar(mw__vjp *vjp, const char *arg);

/* 1 - t. */
MW__SIBLING mw_tensor *mw__one_minus(mw_tensor *t);

/* The derivative of tanh at x. */
mw_tensor *mw__vjp_tanh_slope(mw_tensor *x);

/* x repeated to `shape`, which it broadcasts to. */
mw_tensor *mw__vjp_broadcast_to(mw_tensor *x, mw_shape shape);

/* Replaces one axis of `y` by its adjoint under y[j] = x[source[j]], j < count; x has `extent` elements there. */
mw_tensor *mw__unmap_axis(mw_tensor *y, int axis, const int32_t *source, int64_t count, int64_t extent);

/* What a call of autograd.h calls its arguments, for its messages; `seed` NULL = it takes none. `within`: a rule
 * differentiates, and what must be found out about the graph beforehand is known. */
typedef struct mw__gradient_words {
    const char *call, *root, *seed;
    bool within;
} mw__gradient_words;

/* mw_backward in the words of the call that the user wrote. */
mw_status mw__gradient(const mw__gradient_words *words, const mw_pullback *pullback, mw_tensor *const *x, size_t count,
                       mw_tensor **out_dx, mw_error *err);

/* What gradients flow through: a tensor of fp32 or fp16. */
MW__SIBLING bool mw__is_float_tensor(const mw_tensor *value);

/* One that belongs to the graph and has a gradient; `what` and index name it. */
mw_status mw__gradient_check_tensor(const mw__gradient_words *words, const mw_graph *graph, const mw_tensor *value,
                                    const char *what, size_t index, mw_error *err);

/* Tensors of the graph with something of their type and shape for each, or nothing for scalars. */
mw_status mw__gradient_check(const mw__gradient_words *words, const mw_graph *graph, mw_tensor *const *roots,
                             mw_tensor *const *seeds, size_t count, mw_error *err);

#endif

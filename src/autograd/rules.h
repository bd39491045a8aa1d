/* The rules by name, for their definitions, and what several families share. */
#ifndef MW__AUTOGRAD_RULES_H
#define MW__AUTOGRAD_RULES_H

#include "autograd/vjp.h"

#define MW_EXPAND(id, function)
#define MW_ARG(id, arg, kind, type, fallback)
#define MW_END(id)
#define MW_OP(id, name, since, shape, vjp, kernel) mw__vjp_rule mw__vjp_##vjp;
#include "graph/ops/all.def"
#undef MW_OP
#undef MW_END
#undef MW_ARG
#undef MW_EXPAND

/* A scalar of the element type of x. */
mw_tensor *mw__scalar_like(mw_tensor *x, double value);

/* cond ? a : 0. */
mw_tensor *mw__where(mw_tensor *cond, mw_tensor *a);

/* dx = dy slope, for the one operand x. */
void mw__vjp_scale(mw__vjp *vjp, mw_tensor *slope);

/* The constant scalar argument `arg` of the operation, in the element type of its x. */
mw_tensor *mw__vjp_scalar(mw__vjp *vjp, const char *arg);

/* 1 - t. */
mw_tensor *mw__one_minus(mw_tensor *t);

/* The derivative of tanh at x. */
mw_tensor *mw__tanh_slope(mw_tensor *x);

/* x repeated to `shape`, which it broadcasts to. */
mw_tensor *mw__broadcast_to(mw_tensor *x, mw_shape shape);

/* Replaces one axis of `y` by its adjoint under y[j] = x[source[j]], j < count; x has `extent` elements there. */
mw_tensor *mw__unmap_axis(mw_tensor *y, int axis, const int32_t *source, int64_t count, int64_t extent);

#endif

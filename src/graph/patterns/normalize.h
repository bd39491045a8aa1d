/* What normalization with run-time vectors is made of: expansions, layers and gradients write it with these. */
#ifndef MW__GRAPH_PATTERNS_NORMALIZE_H
#define MW__GRAPH_PATTERNS_NORMALIZE_H

#include "graph/ir/ir.h"

/* The axes of x that are marked. */
mw_axes mw__marked_axes(mw_shape shape, const bool *marks);

/* `vector`, whose extents are those of the marked axes of x in order, in a shape that broadcasts to x, in the dtype of
 * x: a vector over channels becomes [C, 1, 1]. */
mw_tensor *mw__along_axes(mw_tensor *vector, mw_tensor *x, const bool *marks);

/* x * gamma + beta, gamma and beta as above; NULL = none. */
mw_tensor *mw__affine(mw_tensor *x, mw_tensor *gamma, mw_tensor *beta, const bool *marks);

/* For layers. The last `count` axes of x and their extents. False leaves an error on the graph, if x has one. */
bool mw__last_axes(mw_tensor *x, const char *operation, int count, mw_axes *out_axes, mw_shape *out_extents);

/* `name`.weight, ones, and `name`.bias, zeros (out_bias NULL = none). False as above. */
bool mw__norm_parameters(mw_tensor *x, const char *operation, const char *name, mw_shape shape, mw_tensor **out_weight,
                         mw_tensor **out_bias);

/* What norms add under their root: finite and 0 or more. */
bool mw__is_epsilon(double epsilon);
/* False, with an error on the graph of x, for another. */
bool mw__check_epsilon(const mw_tensor *x, const char *operation, float epsilon);

#endif

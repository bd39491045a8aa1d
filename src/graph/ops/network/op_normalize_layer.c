/* Normalization layers: those with new parameters, and group_norm, which is made of layer_norm. rms_norm is a composite
 * with a gradient of its own and lives in src/autograd. */
#include <millwright/ops/normalize.h>

#include <millwright/ops/shape.h>

#include "base/number/float_mode.h"
#include "graph/ir/rule.h"
#include "graph/patterns/normalize.h"

/* ---- group_norm ---- */

static bool check_groups(mw_tensor *x, int64_t groups)
{
    char text[200];
    const mw_shape shape = mw_tensor_shape(x);
    mw__shape_print(shape, text, sizeof text);
    if (shape.rank < 3)
        mw__graph_fail(x->graph, MW_ERROR_SHAPE, "group_norm: x %s has rank %d, at least 3 is wanted: [N, C, ..]", text,
                       shape.rank);
    else if (mw_shape_count(shape) < 0)
        mw__graph_fail(x->graph, MW_ERROR_SHAPE, "group_norm: every extent of x %s must be known", text);
    else if (groups < 1 || shape.dim[1] % groups != 0)
        mw__graph_fail(x->graph, MW_ERROR_ARGUMENT,
                       "group_norm: the %lld channels of x %s are no multiple of %lld groups", (long long)shape.dim[1],
                       text, (long long)groups);
    else
        return true;
    return false;
}

static bool check_channels(mw_tensor *vector, const char *arg, mw_tensor *x)
{
    char has[200];
    const mw_shape shape = mw_tensor_shape(vector);
    const int64_t channels = mw_tensor_shape(x).dim[1];
    if (vector == NULL || (shape.rank == 1 && shape.dim[0] == channels))
        return true;
    mw__graph_fail(x->graph, MW_ERROR_SHAPE, "group_norm: %s %s must be [%lld]: one number for each channel of x", arg,
                   mw__shape_print(shape, has, sizeof has), (long long)channels);
    return false;
}

mw_tensor *mw_group_norm(mw_tensor *x, int64_t groups, mw_tensor *gamma, mw_tensor *beta, float epsilon)
{
    MW__FLOAT_SCOPE;
    static const bool channel_axis[MW_RANK_MAX] = {false, true};
    if (x == NULL || x->graph->error.status != MW_OK || !check_groups(x, groups) ||
        !mw__check_epsilon(x, "group_norm", epsilon))
        return NULL;
    if (!check_channels(gamma, "gamma", x) || !check_channels(beta, "beta", x))
        return NULL;
    const mw_shape shape = mw_tensor_shape(x);
    if (mw_shape_count(shape) == 0)
        return mw__affine(x, gamma, beta, channel_axis);
    const int64_t n = shape.dim[0], group = mw_shape_count(shape) / (n * groups);
    mw_tensor *rows = mw__reshape_to(x, MW_SHAPE(n, groups, group));
    mw_tensor *y = mw__reshape_to(mw_layer_norm(rows, MW_AXES(2), NULL, NULL, epsilon), shape);
    return mw__affine(y, gamma, beta, channel_axis);
}

/* ---- layers ---- */

/* [C] of x [N, C, ..]. */
static bool channels(mw_tensor *x, const char *operation, mw_shape *out_extents)
{
    if (x == NULL || x->graph->error.status != MW_OK)
        return false;
    const mw_shape shape = mw_tensor_shape(x);
    if (shape.rank < 3) {
        mw__graph_fail(x->graph, MW_ERROR_SHAPE, "%s: x has rank %d, at least 3 is wanted: [N, C, ..]", operation,
                       shape.rank);
        return false;
    }
    *out_extents = MW_SHAPE(shape.dim[1]);
    return true;
}

mw_tensor *mw_layer_norm_layer(mw_tensor *x, int axis_count, float epsilon, const char *name)
{
    MW__FLOAT_SCOPE;
    mw_axes axes;
    mw_shape extents;
    mw_tensor *weight, *bias;
    if (!mw__last_axes(x, "layer_norm", axis_count, &axes, &extents) ||
        !mw__norm_parameters(x, "layer_norm", name, extents, &weight, &bias))
        return NULL;
    const char *outer = x->graph->scope;
    x->graph->scope = name;
    mw_tensor *y = mw_layer_norm(x, axes, weight, bias, epsilon);
    x->graph->scope = outer;
    return y;
}

mw_tensor *mw_group_norm_layer(mw_tensor *x, int64_t groups, float epsilon, const char *name)
{
    MW__FLOAT_SCOPE;
    mw_shape extents;
    mw_tensor *weight, *bias;
    if (!channels(x, "group_norm", &extents) || !check_groups(x, groups) ||
        !mw__norm_parameters(x, "group_norm", name, extents, &weight, &bias))
        return NULL;
    const char *outer = x->graph->scope;
    x->graph->scope = name;
    mw_tensor *y = mw_group_norm(x, groups, weight, bias, epsilon);
    x->graph->scope = outer;
    return y;
}

mw_tensor *mw_instance_norm_layer(mw_tensor *x, float epsilon, const char *name)
{
    MW__FLOAT_SCOPE;
    mw_shape extents;
    mw_tensor *weight, *bias;
    if (!channels(x, "instance_norm", &extents) ||
        !mw__norm_parameters(x, "instance_norm", name, extents, &weight, &bias))
        return NULL;
    const char *outer = x->graph->scope;
    x->graph->scope = name;
    mw_tensor *y = mw_instance_norm(x, weight, bias, epsilon);
    x->graph->scope = outer;
    return y;
}

/* Vectors over some axes, what is done with them after normalization, and the parameters of normalization layers. */
#include "graph/patterns/normalize.h"

#include <millwright/ops/elementwise.h>
#include <millwright/ops/shape.h>

#include "graph/ir/rule.h"

#include <math.h>

mw_axes mw__marked_axes(mw_shape shape, const bool *marks)
{
    mw_axes axes = {0};
    for (int i = 0; i < shape.rank; i++)
        if (marks[i])
            axes.axis[axes.count++] = i;
    return axes;
}

mw_tensor *mw__along_axes(mw_tensor *vector, mw_tensor *x, const bool *marks)
{
    if (vector == NULL || x == NULL)
        return NULL;
    const mw_shape shape = mw_tensor_shape(x);
    const mw_shape own = mw_tensor_shape(vector);
    mw_shape wide = {.rank = 0};
    for (int i = 0, next = 0; i < shape.rank; i++)
        if (wide.rank > 0 || marks[i])
            wide.dim[wide.rank++] = marks[i] && next < own.rank ? own.dim[next++] : 1;
    if (mw_tensor_dtype(vector) != mw_tensor_dtype(x))
        vector = mw_cast(vector, mw_tensor_dtype(x));
    return mw_shape_equal(wide, own) ? vector : mw__reshape_to(vector, wide);
}

mw_tensor *mw__affine(mw_tensor *x, mw_tensor *gamma, mw_tensor *beta, const bool *marks)
{
    if (gamma != NULL)
        x = mw_mul(x, mw__along_axes(gamma, x, marks));
    return beta != NULL ? mw_add(x, mw__along_axes(beta, x, marks)) : x;
}

bool mw__norm_parameters(mw_tensor *x, const char *operation, const char *name, mw_shape shape, mw_tensor **out_weight,
                         mw_tensor **out_bias)
{
    if (x == NULL || x->graph->error.status != MW_OK)
        return false;
    if (name == NULL || name[0] == '\0') {
        mw__graph_fail(x->graph, MW_ERROR_ARGUMENT, "%s: the name is empty", operation);
        return false;
    }
    *out_weight = mw__layer_parameter(x, operation, name, "weight", shape, mw_init_constant(1.0f));
    if (out_bias != NULL)
        *out_bias = mw__layer_parameter(x, operation, name, "bias", shape, mw_init_zeros());
    return x->graph->error.status == MW_OK;
}

bool mw__last_axes(mw_tensor *x, const char *operation, int count, mw_axes *out_axes, mw_shape *out_extents)
{
    if (x == NULL || x->graph->error.status != MW_OK)
        return false;
    const mw_shape shape = mw_tensor_shape(x);
    if (count < 1 || count > shape.rank) {
        mw__graph_fail(x->graph, MW_ERROR_ARGUMENT, "%s: %d axes of rank %d; 1 to %d are allowed", operation, count,
                       shape.rank, shape.rank);
        return false;
    }
    *out_axes = (mw_axes){.count = count};
    *out_extents = (mw_shape){.rank = count};
    for (int i = 0; i < count; i++) {
        out_axes->axis[i] = shape.rank - count + i;
        out_extents->dim[i] = shape.dim[shape.rank - count + i];
    }
    return true;
}

bool mw__is_epsilon(double epsilon) { return epsilon >= 0.0 && isfinite(epsilon); }

bool mw__check_epsilon(const mw_tensor *x, const char *operation, float epsilon)
{
    if (!mw__is_epsilon((double)epsilon))
        mw__graph_fail(x->graph, MW_ERROR_ARGUMENT, "%s: epsilon is %g; it must be finite and 0 or more", operation,
                       (double)epsilon);
    return mw__is_epsilon((double)epsilon);
}

/* rms_norm: a composite with its own gradient, which is shorter than that of its operations. */
#include "autograd/vjp/rules.h"
#include "base/number/float_mode.h"
#include "graph/patterns/normalize.h"

/* Inputs of the record. The gradient goes to x and the weight; r and n are what the forward pass has of it. Without a
 * weight, y is n. */
enum { INPUT_X, INPUT_R, INPUT_WEIGHT, INPUT_N, INPUT_COUNT };

/* y = n w with n = x r, r = (mean(x^2) + epsilon)^-1/2; g = dy w:
 * dx = r (g - n mean(g n)), dw = sum of dy n */
static void vjp_rms_norm(mw__vjp *vjp)
{
    const bool weighted = vjp->composite->input_count == INPUT_COUNT;
    mw_tensor *n = weighted ? mw__vjp_input(vjp, INPUT_N) : vjp->y[0];
    mw_tensor *r = mw__vjp_input(vjp, INPUT_R), *dy = vjp->dy[0];
    if (weighted && mw__vjp_wants_input(vjp, INPUT_WEIGHT))
        mw__vjp_set_input(vjp, INPUT_WEIGHT, mw_mul(dy, n));
    if (!mw__vjp_wants_input(vjp, INPUT_X))
        return;
    mw_tensor *g = weighted ? mw_mul(dy, mw__vjp_input(vjp, INPUT_WEIGHT)) : dy;
    const mw_shape shape = mw_tensor_shape(n), kept = mw_tensor_shape(r);
    bool marks[MW_RANK_MAX];
    for (int i = 0; i < shape.rank; i++)
        marks[i] = shape.dim[i] != kept.dim[i];
    const mw_axes axes = mw__marked_axes(shape, marks);
    mw_tensor *along = mw_mul(g, n);
    if (axes.count > 0)
        along = mw_reduce_mean(along, axes, true);
    mw_tensor *across = mw_sub(g, mw_mul(n, along));
    mw__vjp_set_input(vjp, INPUT_X, mw_mul(r, across));
}

static bool check_weight(mw_tensor *x, mw_tensor *weight, const bool *marks)
{
    char has[200], wants[200];
    const mw_shape shape = mw_tensor_shape(x), own = mw_tensor_shape(weight);
    mw_shape wanted = {.rank = 0};
    for (int i = 0; i < shape.rank; i++)
        if (marks[i])
            wanted.dim[wanted.rank++] = shape.dim[i];
    if (weight == NULL || mw_shape_equal(own, wanted))
        return true;
    mw__graph_fail(x->graph, MW_ERROR_SHAPE, "rms_norm: weight %s does not fit x: %s is wanted",
                   mw__shape_print(own, has, sizeof has), mw__shape_print(wanted, wants, sizeof wants));
    return false;
}

mw_tensor *mw_rms_norm(mw_tensor *x, mw_axes axes, mw_tensor *weight, float epsilon)
{
    MW__FLOAT_SCOPE;
    if (x == NULL || !mw__check_epsilon(x, "rms_norm", epsilon))
        return NULL;
    const int rank = mw_tensor_shape(x).rank;
    bool marks[MW_RANK_MAX] = {false};
    mw_tensor *mean = mw_reduce_mean(mw_square(x), axes, true); /* checks the axes */
    if (mean == NULL)
        return NULL;
    for (int i = 0; i < rank; i++)
        marks[i] = axes.count == 0;
    for (int i = 0; i < axes.count; i++)
        marks[axes.axis[i] < 0 ? axes.axis[i] + rank : axes.axis[i]] = true;
    if (!check_weight(x, weight, marks))
        return NULL;
    mw_tensor *r = mw_rsqrt(mean, epsilon);
    mw_tensor *n = mw_mul(x, r);
    mw_tensor *along = mw__along_axes(weight, x, marks);
    mw_tensor *inputs[INPUT_COUNT] = {x, r, along, n};
    const mw__composite composite = {.name = "rms_norm",
                                     .inputs = inputs,
                                     .input_count = weight != NULL ? INPUT_COUNT : INPUT_WEIGHT,
                                     .vjp = vjp_rms_norm};
    return mw__composite_attach(weight != NULL ? mw_mul(n, along) : n, &composite);
}

mw_tensor *mw_rms_norm_layer(mw_tensor *x, int axis_count, float epsilon, const char *name)
{
    MW__FLOAT_SCOPE;
    mw_axes axes;
    mw_shape extents;
    mw_tensor *weight;
    if (!mw__last_axes(x, "rms_norm", axis_count, &axes, &extents) ||
        !mw__norm_parameters(x, "rms_norm", name, extents, &weight, NULL))
        return NULL;
    const char *outer = x->graph->scope;
    x->graph->scope = name;
    mw_tensor *y = mw_rms_norm(x, axes, weight, epsilon);
    x->graph->scope = outer;
    return y;
}

/* Normalization along axes: shape rules, constructors and expansions of ops/normalize.def. The layers are in
 * op_normalize_layer.c. */
#include <millwright/ops/normalize.h>

#include <millwright/ops/elementwise.h>

#include "base/number/float_mode.h"
#include "graph/ir/rule.h"
#include "graph/patterns/normalize.h"

#include <inttypes.h>
#include <math.h>

/* ---- what the shape rules share ---- */

static mw_status check_rank(const mw__infer *infer, int low, int high)
{
    char x[240];
    const int rank = mw__rule_shape(infer, "x").rank;
    if (rank >= low && rank <= high)
        return MW_OK;
    mw__arg_print(infer->op, "x", x, sizeof x);
    if (high == MW_RANK_MAX)
        return mw__rule_fail(infer, MW_ERROR_SHAPE, "%s has rank %d, at least %d is wanted; add axes with expand_dims",
                             x, rank, low);
    return mw__rule_fail(infer, MW_ERROR_SHAPE, "%s has rank %d, %d to %d are allowed: [N, C, ..]; use reshape", x,
                         rank, low, high);
}

static bool same_extents(mw_shape shape, mw_shape wanted)
{
    bool good = shape.rank == wanted.rank;
    for (int i = 0; good && i < shape.rank; i++)
        good = mw__dim_fits(shape.dim[i], wanted.dim[i]);
    return good;
}

/* A vector argument, if it is given, has the extents `wanted`. */
static mw_status check_vector(const mw__infer *infer, const char *arg, mw_shape wanted)
{
    if (!mw__arg_present(infer->op, arg))
        return MW_OK;
    if (same_extents(mw__rule_shape(infer, arg), wanted))
        return MW_OK;
    char vector[240], x[240], extents[200];
    return mw__rule_fail(infer, MW_ERROR_SHAPE, "%s does not fit %s: %s is wanted",
                         mw__arg_print(infer->op, arg, vector, sizeof vector),
                         mw__arg_print(infer->op, "x", x, sizeof x), mw__shape_print(wanted, extents, sizeof extents));
}

static mw_status check_number(const mw__infer *infer, const char *arg)
{
    double value;
    return mw__arg_float(infer->op, arg, &value)
               ? MW_OK
               : mw__rule_fail(infer, MW_ERROR_ARGUMENT, "%s must be one constant number", arg);
}

/* Added under a root that a variance or a mean of squares may leave at 0. */
static mw_status check_epsilon(const mw__infer *infer)
{
    double epsilon;
    MW_TRY(check_number(infer, "epsilon"));
    if (mw__arg_float(infer->op, "epsilon", &epsilon) && !mw__is_epsilon(epsilon))
        return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "epsilon is %g; it must be finite and 0 or more", epsilon);
    return MW_OK;
}

static mw_status check_finite(const mw__infer *infer, const char *arg)
{
    double value;
    MW_TRY(check_number(infer, arg));
    if (mw__arg_float(infer->op, arg, &value) && !isfinite(value))
        return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "%s is %g; it must be finite", arg, value);
    return MW_OK;
}

static mw_status check_channel_vectors(const mw__infer *infer, const char *const *args, size_t count)
{
    const mw_shape channels = MW_SHAPE(mw__rule_shape(infer, "x").dim[1]);
    for (size_t i = 0; i < count; i++)
        MW_TRY(check_vector(infer, args[i], channels));
    return check_epsilon(infer);
}

/* ---- shape rules ---- */

mw_status mw__shape_softmax(mw__infer *infer)
{
    const mw_shape shape = mw__rule_shape(infer, "x");
    int axis;
    MW_TRY(mw__rule_axis(infer, "axis", shape.rank, &axis));
    return mw__rule_result(infer, mw__rule_dtype(infer, "x"), shape);
}

mw_status mw__shape_batch_norm(mw__infer *infer)
{
    static const char *const vectors[] = {"mean", "variance", "gamma", "beta"};
    MW_TRY(check_rank(infer, 3, 5));
    MW_TRY(check_channel_vectors(infer, vectors, 4));
    return mw__shape_same_as_x(infer);
}

mw_status mw__shape_instance_norm(mw__infer *infer)
{
    static const char *const vectors[] = {"gamma", "beta"};
    MW_TRY(check_rank(infer, 3, 4));
    MW_TRY(check_channel_vectors(infer, vectors, 2));
    return mw__shape_same_as_x(infer);
}

mw_status mw__shape_layer_norm(mw__infer *infer)
{
    const mw_shape x = mw__rule_shape(infer, "x");
    const bool all = !mw__arg_present(infer->op, "axes");
    bool marks[MW_RANK_MAX];
    size_t count;
    mw_shape vector = {.rank = 0};
    MW_TRY(mw__rule_axes(infer, "axes", x.rank, marks, &count));
    if (!all && count == 0)
        return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "axes is empty; leave it out to normalize over every axis");
    for (int i = 0; i < x.rank; i++)
        if (all || marks[i])
            vector.dim[vector.rank++] = x.dim[i];
    MW_TRY(check_vector(infer, "gamma", vector));
    MW_TRY(check_vector(infer, "beta", vector));
    MW_TRY(check_epsilon(infer));
    return mw__shape_same_as_x(infer);
}

mw_status mw__shape_l2_norm(mw__infer *infer)
{
    MW_TRY(check_rank(infer, 3, MW_RANK_MAX));
    MW_TRY(check_epsilon(infer));
    return mw__shape_same_as_x(infer);
}

mw_status mw__shape_local_response_norm(mw__infer *infer)
{
    static const char *const numbers[] = {"alpha", "beta", "k"};
    int64_t size;
    MW_TRY(check_rank(infer, 3, MW_RANK_MAX));
    MW_TRY(mw__rule_int(infer, "size", &size));
    if (size < 1)
        return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "size %" PRId64 " must be at least 1", size);
    for (size_t i = 0; i < 3; i++)
        MW_TRY(check_finite(infer, numbers[i]));
    return mw__shape_same_as_x(infer);
}

/* ---- expansions: the same value with run-time vectors ---- */

static const bool channel_axis[MW_RANK_MAX] = {false, true};

/* Fails for a vector that would not fit, with the words of the operation's own rule; true otherwise. */
static bool fits_vector(const char *operation, const mw_tensor *vector, const char *arg, mw_shape wanted)
{
    char has[200], extents[200];
    if (vector == NULL || same_extents(mw_tensor_shape(vector), wanted))
        return true;
    mw__graph_fail(vector->graph, MW_ERROR_SHAPE, "%s: %s %s does not fit x: %s is wanted", operation, arg,
                   mw__shape_print(mw_tensor_shape(vector), has, sizeof has),
                   mw__shape_print(wanted, extents, sizeof extents));
    return false;
}

/* The axes along which gamma and beta of a layer_norm lie: those it normalizes. */
static void mark_axes(const mw__op *op, int rank, bool *marks)
{
    int64_t axes[MW_RANK_MAX];
    size_t count = 0;
    const bool all = !mw__arg_ints(op, "axes", axes, MW_RANK_MAX, &count);
    for (int i = 0; i < rank; i++)
        marks[i] = all;
    for (size_t i = 0; i < count; i++)
        marks[axes[i] < 0 ? axes[i] + rank : axes[i]] = true;
}

static mw_shape marked_extents(mw_shape shape, const bool *marks)
{
    mw_shape extents = {.rank = 0};
    for (int i = 0; i < shape.rank; i++)
        if (marks[i])
            extents.dim[extents.rank++] = shape.dim[i];
    return extents;
}

/* `operation` without gamma and beta. */
static mw_tensor *expand_plain(mw_graph *graph, const char *operation, const mw_argument *arguments, size_t count)
{
    static const char *const passed[] = {"x", "axes", "epsilon"};
    mw__build build = mw__build_begin_graph(operation, graph);
    for (size_t i = 0; i < sizeof passed / sizeof *passed; i++) {
        mw_tensor *value = mw__argument_find(arguments, count, passed[i]);
        if (value != NULL)
            mw__build_set(&build, passed[i], value);
    }
    return mw__build_end(&build);
}

static mw_tensor *expand_affine(const char *operation, mw_tensor *y, const bool *marks, const mw_argument *arguments,
                                size_t count)
{
    mw_tensor *gamma = mw__argument_find(arguments, count, "gamma"),
              *beta = mw__argument_find(arguments, count, "beta");
    const mw_shape wanted = marked_extents(mw_tensor_shape(y), marks);
    if (!fits_vector(operation, gamma, "gamma", wanted) || !fits_vector(operation, beta, "beta", wanted))
        return NULL;
    return mw__affine(y, gamma, beta, marks);
}

mw_tensor *mw__expand_layer_norm(mw_graph *graph, const mw_argument *arguments, size_t count, mw_tensor **out_more)
{
    (void)out_more;
    bool marks[MW_RANK_MAX];
    mw_tensor *y = expand_plain(graph, "layer_norm", arguments, count);
    if (y == NULL)
        return NULL;
    mark_axes(y->op, mw_tensor_shape(y).rank, marks);
    return expand_affine("layer_norm", y, marks, arguments, count);
}

mw_tensor *mw__expand_instance_norm(mw_graph *graph, const mw_argument *arguments, size_t count, mw_tensor **out_more)
{
    (void)out_more;
    mw_tensor *y = expand_plain(graph, "instance_norm", arguments, count);
    return y != NULL ? expand_affine("instance_norm", y, channel_axis, arguments, count) : NULL;
}

mw_tensor *mw__expand_batch_norm(mw_graph *graph, const mw_argument *arguments, size_t count, mw_tensor **out_more)
{
    (void)out_more;
    static const char *const names[] = {"mean", "variance", "gamma", "beta"};
    mw_tensor *x = mw__argument_find(arguments, count, "x"), *vectors[4];
    const mw_tensor *epsilon = mw__argument_find(arguments, count, "epsilon");
    for (size_t i = 0; i < 4; i++)
        vectors[i] = mw__argument_find(arguments, count, names[i]);
    if (x == NULL || vectors[0] == NULL || vectors[1] == NULL)
        return mw__graph_fail(graph, MW_ERROR_ARGUMENT, "batch_norm: argument %s is missing",
                              x == NULL            ? "x"
                              : vectors[0] == NULL ? "mean"
                                                   : "variance");
    const mw_shape shape = mw_tensor_shape(x);
    if (shape.rank < 3 || shape.rank > 5)
        return mw__graph_fail(graph, MW_ERROR_SHAPE, "batch_norm: x has rank %d, 3 to 5 are allowed", shape.rank);
    for (size_t i = 0; i < 4; i++)
        if (!fits_vector("batch_norm", vectors[i], names[i], MW_SHAPE(shape.dim[1])))
            return NULL;
    const bool given = epsilon != NULL && epsilon->payload != NULL && epsilon->payload->data != NULL;
    mw_tensor *scale = mw_rsqrt(vectors[1], given ? (float)mw__payload_float(epsilon->payload, 0) : 1e-5f);
    mw_tensor *centered = mw_sub(x, mw__along_axes(vectors[0], x, channel_axis));
    return mw__affine(mw_mul(centered, mw__along_axes(scale, x, channel_axis)), vectors[2], vectors[3], channel_axis);
}

/* ---- constructors ---- */

mw_tensor *mw_softmax(mw_tensor *x, int axis)
{
    MW__FLOAT_SCOPE;
    mw__build build = mw__build_begin("softmax", x);
    mw__build_set(&build, "x", x);
    mw__build_int(&build, "axis", axis);
    return mw__build_end(&build);
}

typedef struct named {
    const char *name;
    mw_tensor *value; /* NULL: left out */
} named;

/* An operation with an epsilon and vectors, which are left to its expansion where one of them is not a constant. */
static mw_tensor *normalize(const char *operation, mw_tensor *x, mw_axes axes, const named *vectors, size_t count,
                            float epsilon)
{
    if (x != NULL && !mw__check_epsilon(x, operation, epsilon)) /* what is expanded does not meet the shape rule */
        return NULL;
    mw__build build = mw__build_begin(operation, x);
    bool constant = true;
    mw_argument arguments[8];
    size_t given = 0;
    mw__build_set(&build, "x", x);
    if (axes.count != 0)
        mw__build_axes(&build, "axes", axes);
    mw__build_float(&build, "epsilon", (double)epsilon);
    for (size_t i = 0; i < count; i++) {
        if (vectors[i].value == NULL)
            continue;
        constant = constant && mw__is_constant(vectors[i].value);
        mw__build_set(&build, vectors[i].name, vectors[i].value);
    }
    if (build.failed || constant)
        return mw__build_end(&build);
    for (size_t i = 0; i < build.op->slot_count; i++)
        if (build.op->slots[i].count == 1)
            arguments[given++] = (mw_argument){
                .name = build.op->slots[i].name, .values = &build.op->slots[i].operands[0].value, .count = 1};
    return build.row->expand(x->graph, arguments, given, NULL);
}

mw_tensor *mw_batch_norm(mw_tensor *x, mw_tensor *mean, mw_tensor *variance, mw_tensor *gamma, mw_tensor *beta,
                         float epsilon)
{
    MW__FLOAT_SCOPE;
    if (x == NULL || mean == NULL || variance == NULL)
        return NULL;
    const named vectors[] = {{"mean", mean}, {"variance", variance}, {"gamma", gamma}, {"beta", beta}};
    return normalize("batch_norm", x, MW_ALL_AXES, vectors, 4, epsilon);
}

mw_tensor *mw_instance_norm(mw_tensor *x, mw_tensor *gamma, mw_tensor *beta, float epsilon)
{
    MW__FLOAT_SCOPE;
    const named vectors[] = {{"gamma", gamma}, {"beta", beta}};
    return normalize("instance_norm", x, MW_ALL_AXES, vectors, 2, epsilon);
}

mw_tensor *mw_layer_norm(mw_tensor *x, mw_axes axes, mw_tensor *gamma, mw_tensor *beta, float epsilon)
{
    MW__FLOAT_SCOPE;
    const named vectors[] = {{"gamma", gamma}, {"beta", beta}};
    return normalize("layer_norm", x, axes, vectors, 2, epsilon);
}

mw_tensor *mw_l2_norm(mw_tensor *x, float epsilon)
{
    MW__FLOAT_SCOPE;
    return normalize("l2_norm", x, MW_ALL_AXES, NULL, 0, epsilon);
}

mw_tensor *mw_local_response_norm(mw_tensor *x, int size, float alpha, float beta, float k)
{
    MW__FLOAT_SCOPE;
    mw__build build = mw__build_begin("local_response_norm", x);
    mw__build_set(&build, "x", x);
    mw__build_int(&build, "size", size);
    mw__build_float(&build, "alpha", (double)alpha);
    mw__build_float(&build, "beta", (double)beta);
    mw__build_float(&build, "k", (double)k);
    return mw__build_end(&build);
}

/* Softmax and norms. */
#include "format/onnx/read/import.h"

#include <millwright/ops/compare.h>
#include <millwright/ops/elementwise.h>
#include <millwright/ops/gather.h>
#include <millwright/ops/normalize.h>
#include <millwright/ops/reduce.h>
#include <millwright/ops/shape.h>

#include <string.h>

/* ---- softmax ---- */

static mw_tensor *hardmax(mw_tensor *x, int axis)
{
    if (x == NULL)
        return NULL;
    mw_tensor *best = mw_reduce_argmax(x, axis, false);
    return mw_one_hot(best, mw_tensor_shape(x).dim[axis], axis, mw_tensor_dtype(x), 1, 0);
}

static mw_tensor *along(const mw__onnx_node *node, mw_tensor *x, int axis)
{
    const char *name = node->proto->op_type;
    return strcmp(name, "Softmax") == 0      ? mw_softmax(x, axis)
           : strcmp(name, "LogSoftmax") == 0 ? mw_log_softmax(x, axis)
                                             : hardmax(x, axis);
}

/* Before opset 13 the axes from `axis` on are one. */
mw_status mw__onnx_softmax(mw__onnx_node *node)
{
    int axis;
    const mw_shape shape = mw__onnx_shape(node, 0);
    const bool joined = node->opset < 13;
    const int64_t given = mw__onnx_int(node, "axis", joined ? 1 : -1);
    mw_tensor *x = mw__onnx_in(node, 0);
    if (joined && given == shape.rank)
        return mw__onnx_refuse(node, "axis %lld leaves nothing to normalize", (long long)given);
    MW_TRY(mw__onnx_axis(node, given, shape.rank, &axis));
    if (!joined || axis == shape.rank - 1)
        return mw__onnx_give(node, along(node, x, axis));
    return mw__onnx_give(node, mw_reshape(along(node, mw_flatten2d(x, axis), 1), shape));
}

/* ---- norms ---- */

/* By the running statistics, with their own vectors [C]; MIL's batch_norm wants rank 3 to 5. */
static mw_tensor *by_statistics(mw_tensor *x, mw_tensor *const v[4], float epsilon)
{
    if (x == NULL)
        return NULL;
    const mw_shape shape = mw_tensor_shape(x);
    if (shape.rank != 2)
        return mw_batch_norm(x, v[2], v[3], v[0], v[1], epsilon);
    mw_tensor *longer = mw_expand_dims(x, MW_AXES(2));
    return mw_reshape(mw_batch_norm(longer, v[2], v[3], v[0], v[1], epsilon), shape);
}

/* old momentum + new (1 - momentum) */
static mw_tensor *follow_mean(mw_tensor *old, mw_tensor *now, double momentum)
{
    mw_tensor *kept = mw_mul_scalar(old, momentum);
    return mw_add(kept, mw_mul_scalar(now, 1 - momentum));
}

/* With the statistics of the batch, which are given out too. */
static mw_status in_training(mw__onnx_node *node, mw_tensor *x, mw_tensor *const v[4], float epsilon)
{
    mw_axes axes = {0};
    for (int i = 0; i < mw__onnx_shape(node, 0).rank; i++)
        if (i != 1)
            axes.axis[axes.count++] = i;
    mw_tensor *mean = mw_reduce_mean(x, axes, true);
    mw_tensor *variance = mw_reduce_mean(mw_square(mw_sub(x, mean)), axes, true);
    mean = mw_squeeze(mean, axes);
    variance = mw_squeeze(variance, axes);
    mw_tensor *const now[4] = {v[0], v[1], mean, variance};
    const double momentum = mw__onnx_float(node, "momentum", 0.9f);
    MW_TRY(mw__onnx_give(node, by_statistics(x, now, epsilon)));
    MW_TRY(mw__onnx_set(node, 1, mw__onnx_type(node, 3), follow_mean(v[2], mean, momentum)));
    return mw__onnx_set(node, 2, mw__onnx_type(node, 4), follow_mean(v[3], variance, momentum));
}

mw_status mw__onnx_batch_norm(mw__onnx_node *node)
{
    const float epsilon = (float)mw__onnx_float(node, "epsilon", 1e-5f);
    mw_tensor *x = mw__onnx_in(node, 0), *v[4];
    for (size_t i = 0; i < 4; i++)
        v[i] = mw__onnx_in(node, 1 + i);
    if (mw__onnx_shape(node, 0).rank < 2 || mw__onnx_shape(node, 0).rank > 5)
        return mw__onnx_refuse(node, "its input has rank %d; 2 to 5 are supported", mw__onnx_shape(node, 0).rank);
    if (mw__onnx_int(node, "spatial", 1) == 0)
        return mw__onnx_refuse(node, "spatial = 0 is not supported");
    if (mw__onnx_int(node, "training_mode", 0) != 0)
        return in_training(node, x, v, epsilon);
    if (node->out_count > 1)
        return mw__onnx_refuse(node, "it gives statistics, as in training");
    return mw__onnx_give(node, by_statistics(x, v, epsilon));
}

mw_status mw__onnx_instance_norm(mw__onnx_node *node)
{
    const mw_shape shape = mw__onnx_shape(node, 0);
    const float epsilon = (float)mw__onnx_float(node, "epsilon", 1e-5f);
    mw_tensor *x = mw__onnx_in(node, 0), *gamma = mw__onnx_in(node, 1), *beta = mw__onnx_in(node, 2);
    if (shape.rank == 3 || shape.rank == 4)
        return mw__onnx_give(node, mw_instance_norm(x, gamma, beta, epsilon));
    if (shape.rank != 5)
        return mw__onnx_refuse(node, "its input has rank %d; 3 to 5 are supported", shape.rank);
    mw_shape flat = MW_SHAPE(shape.dim[0], shape.dim[1], shape.dim[2], shape.dim[3] * shape.dim[4]);
    return mw__onnx_give(node, mw_reshape(mw_instance_norm(mw_reshape(x, flat), gamma, beta, epsilon), shape));
}

/* Mean and 1 / sqrt(variance + epsilon), with the axes kept: further results of LayerNormalization. */
static mw_status set_statistics(mw__onnx_node *node, mw_tensor *x, mw_axes axes, float epsilon)
{
    mw_tensor *mean = mw_reduce_mean(x, axes, true);
    mw_tensor *variance = mw_reduce_mean(mw_square(mw_sub(x, mean)), axes, true);
    MW_TRY(mw__onnx_set(node, 1, MW__ONNX_FLOAT, mw__onnx_to(mean, MW_F32)));
    return mw__onnx_set(node, 2, MW__ONNX_FLOAT, mw__onnx_to(mw_rsqrt(variance, epsilon), MW_F32));
}

mw_status mw__onnx_layer_norm(mw__onnx_node *node)
{
    int axis;
    const mw_shape shape = mw__onnx_shape(node, 0);
    const float epsilon = (float)mw__onnx_float(node, "epsilon", 1e-5f);
    MW_TRY(mw__onnx_axis(node, mw__onnx_int(node, "axis", -1), shape.rank, &axis));
    if (mw__onnx_int(node, "stash_type", 1) != 1)
        return mw__onnx_refuse(node, "statistics of another type than float");
    mw_axes axes = {.count = shape.rank - axis};
    for (int i = 0; i < axes.count; i++)
        axes.axis[i] = axis + i;
    mw_tensor *x = mw__onnx_in(node, 0), *gamma = mw__onnx_in(node, 1), *beta = mw__onnx_in(node, 2);
    MW_TRY(mw__onnx_give(node, mw_layer_norm(x, axes, gamma, beta, epsilon)));
    return node->out_count > 1 ? set_statistics(node, x, axes, epsilon) : MW_OK;
}

/* Until opset 20 gamma and beta are one number a group. */
static mw_tensor *per_channel(mw_tensor *v, int64_t groups, int64_t channels)
{
    if (v == NULL || mw_tensor_shape(v).rank != 1 || mw_tensor_shape(v).dim[0] == channels)
        return v;
    mw_tensor *spread = mw_tile(mw_reshape(v, MW_SHAPE(groups, 1)), MW_SHAPE(1, channels / groups));
    return mw_reshape(spread, MW_SHAPE(channels));
}

mw_status mw__onnx_group_norm(mw__onnx_node *node)
{
    const int64_t groups = mw__onnx_int(node, "num_groups", 0);
    const mw_shape shape = mw__onnx_shape(node, 0);
    if (shape.rank < 2 || groups < 1 || shape.dim[1] % groups != 0)
        return mw__onnx_refuse(node, "num_groups %lld does not fit its input", (long long)groups);
    mw_tensor *gamma = per_channel(mw__onnx_in(node, 1), groups, shape.dim[1]);
    mw_tensor *beta = per_channel(mw__onnx_in(node, 2), groups, shape.dim[1]);
    const float epsilon = (float)mw__onnx_float(node, "epsilon", 1e-5f);
    return mw__onnx_give(node, mw_group_norm(mw__onnx_in(node, 0), groups, gamma, beta, epsilon));
}

/* x gamma / sqrt(mean of squares over the axes from `axis` on + epsilon) */
mw_status mw__onnx_rms_norm(mw__onnx_node *node)
{
    int axis;
    const int rank = mw__onnx_shape(node, 0).rank;
    const float epsilon = (float)mw__onnx_float(node, "epsilon", 1e-5f);
    MW_TRY(mw__onnx_axis(node, mw__onnx_int(node, "axis", -1), rank, &axis));
    if (mw__onnx_int(node, "stash_type", 1) != 1)
        return mw__onnx_refuse(node, "statistics of another type than float");
    mw_axes axes = {.count = rank - axis};
    for (int i = 0; i < axes.count; i++)
        axes.axis[i] = axis + i;
    mw_tensor *x = mw__onnx_in(node, 0), *wide = mw__onnx_to(x, MW_F32);
    mw_tensor *factor = mw_rsqrt(mw_reduce_mean(mw_square(wide), axes, true), epsilon);
    const int type = mw__onnx_type(node, 1);
    mw_tensor *normal = mw__onnx_to(mw_mul(wide, factor), mw__onnx_dtype(type));
    return mw__onnx_set(node, 0, type, mw_mul(normal, mw__onnx_in(node, 1)));
}

/* (x - mean) / (sqrt(mean of squares - mean^2) + 1e-9) */
mw_status mw__onnx_mean_variance(mw__onnx_node *node)
{
    int64_t list[MW_RANK_MAX] = {0, 2, 3};
    size_t count;
    mw_axes axes = {0};
    MW_TRY(mw__onnx_ints(node, "axes", list, MW_RANK_MAX, &count));
    axes.count = (int)(count > 0 ? count : 3);
    for (int i = 0; i < axes.count; i++)
        MW_TRY(mw__onnx_axis(node, list[i], mw__onnx_shape(node, 0).rank, &axes.axis[i]));
    mw_tensor *x = mw__onnx_in(node, 0), *centered = mw_sub(x, mw_reduce_mean(x, axes, true));
    mw_tensor *deviation = mw_sqrt(mw_reduce_mean(mw_square(centered), axes, true));
    return mw__onnx_give(node, mw_real_div(centered, mw_add_scalar(deviation, 1e-9)));
}

mw_status mw__onnx_lrn(mw__onnx_node *node)
{
    const int64_t size = mw__onnx_int(node, "size", 0);
    const double alpha = mw__onnx_float(node, "alpha", 1e-4f), beta = mw__onnx_float(node, "beta", 0.75);
    if (size < 1 || size > INT32_MAX || size % 2 == 0)
        return mw__onnx_refuse(node, "size %lld: odd windows are supported", (long long)size);
    const float bias = (float)mw__onnx_float(node, "bias", 1);
    return mw__onnx_give(node,
                         mw_local_response_norm(mw__onnx_in(node, 0), (int)size, (float)alpha, (float)beta, bias));
}

/* 1 where x is 0: what has no size is not divided. */
static mw_tensor *or_one(mw_tensor *x)
{
    if (x == NULL)
        return NULL;
    mw_graph *graph = mw_tensor_graph(x);
    const mw_dtype dtype = mw_tensor_dtype(x);
    mw_tensor *nothing = mw_equal(x, mw_scalar(graph, dtype, 0));
    return mw_select(nothing, mw_scalar(graph, dtype, 1), x);
}

mw_status mw__onnx_lp_norm(mw__onnx_node *node)
{
    int axis;
    const int64_t p = mw__onnx_int(node, "p", 2);
    MW_TRY(mw__onnx_axis(node, mw__onnx_int(node, "axis", -1), mw__onnx_shape(node, 0).rank, &axis));
    if (p != 1 && p != 2)
        return mw__onnx_refuse(node, "p = %lld", (long long)p);
    mw_tensor *x = mw__onnx_in(node, 0);
    const mw_axes axes = MW_AXES(axis);
    mw_tensor *norm = p == 1 ? mw_reduce_l1_norm(x, axes, true) : mw_reduce_l2_norm(x, axes, true);
    return mw__onnx_give(node, mw_real_div(x, or_one(norm)));
}

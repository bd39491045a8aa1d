/* Normalization along axes.
 *
 *     mw_tensor *p = mw_softmax(logits, -1);
 *     mw_tensor *h = mw_layer_norm_layer(x, 1, 1e-5f, "ln1");   // parameters ln1.weight and ln1.bias [D], x is [.., D]
 *
 * N examples, C channels. mean() and var() in the formulas divide by the number of elements. Each operation of MIL
 * computes in fp32 inside and rounds once. A NULL operand yields NULL (except where NULL is said to mean none); results
 * live as long as the graph.
 *
 * Threads: as the rest of a graph: calls on one graph come one at a time, from any thread; other graphs do not mind. */
#ifndef MILLWRIGHT_OPS_NORMALIZE_H
#define MILLWRIGHT_OPS_NORMALIZE_H

#include <millwright/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/** y = softmax(x) along axis.
 *  x       [.., n, ..]  F16 or F32
 *  axis    in [-rank, rank); negative counts from the end
 *  return  [.., n, ..]  dtype of x
 *  errors  MW_ERROR_ARGUMENT if axis is out of range, MW_ERROR_DTYPE
 *  vjp     dx = y * (dy - sum(dy * y, axis))
 *  source  MIL softmax; the maximum is subtracted first */
MW_API mw_tensor *mw_softmax(mw_tensor *x, int axis);

/** y = log softmax(x) along axis, as z - log sum e^z with z = x - max(x).
 *  x       [.., n, ..]  F16 or F32
 *  axis    as mw_softmax
 *  return  [.., n, ..]  dtype of x. The relative error is at most 2^-20 in F32 and 2^-8 in F16, also where y is near 0
 *          (for the right class of a confident prediction). The gradient of one element has the same precision, except
 *          where e^z is below the smallest number of the type
 *  errors  as mw_softmax
 *  vjp     dx = dy - softmax(x) sum(dy, axis)
 *  source  PyTorch LogSoftmax; a composite of reduce_max, exp, two sums and a logarithm */
MW_API mw_tensor *mw_log_softmax(mw_tensor *x, int axis);

/* ---- by statistics of x ---- */

/** y = (x - mean(x)) / sqrt(var(x) + epsilon) * gamma + beta, with mean and var over the axes jointly.
 *  x        [..]  F16 or F32
 *  axes     in [-rank, rank), each once; MW_ALL_AXES = every axis
 *  gamma    extents of those axes in ascending order  F16 or F32; NULL = none
 *  beta     as gamma
 *  epsilon  finite and >= 0, rounded to the dtype of x; another is MW_ERROR_ARGUMENT. MIL's own default is 1e-5
 *  return   [..]  dtype of x
 *  errors   MW_ERROR_ARGUMENT for an axis out of range or repeated, MW_ERROR_SHAPE if gamma or beta does not fit,
 *           MW_ERROR_DTYPE
 *  vjp      with n = (x - mean(x)) r, r = (var(x) + epsilon)^-1/2 and g = dy gamma:
 *           dx = r (g - mean(g) - n mean(g n)), dgamma = sum of dy n, dbeta = sum of dy
 *  source   MIL layer_norm, whose gamma and beta must be constants: with others this is layer_norm, mul and add. The
 *           mean is taken out before the squares are summed */
MW_API mw_tensor *mw_layer_norm(mw_tensor *x, mw_axes axes, mw_tensor *gamma, mw_tensor *beta, float epsilon);

/** y = (x - mean(x)) / sqrt(var(x) + epsilon) * gamma + beta, with mean and var over the positions of one channel
 *  of one example.
 *  x        [N, C, L] or [N, C, H, W]  F16 or F32
 *  gamma    [C]  F16 or F32; NULL = none
 *  beta     [C]  as gamma
 *  epsilon  as mw_layer_norm
 *  return   shape and dtype of x
 *  errors   MW_ERROR_SHAPE for another rank or vectors that do not fit, MW_ERROR_DTYPE
 *  vjp      as mw_layer_norm
 *  source   MIL instance_norm; expanded like mw_layer_norm */
MW_API mw_tensor *mw_instance_norm(mw_tensor *x, mw_tensor *gamma, mw_tensor *beta, float epsilon);

/** y = (x - mean(x)) / sqrt(var(x) + epsilon) * gamma + beta, with mean and var over the channels of one group and
 *  their positions.
 *  x        [N, C, ..]  F16 or F32; every extent must be known
 *  groups   > 0; divides C. Group i has channels i * C / groups to (i + 1) * C / groups - 1
 *  gamma    [C]  F16 or F32; NULL = none
 *  beta     [C]  as gamma
 *  epsilon  as mw_layer_norm
 *  return   shape and dtype of x
 *  errors   MW_ERROR_ARGUMENT if groups does not divide C, MW_ERROR_SHAPE
 *  vjp      as mw_layer_norm
 *  source   PyTorch GroupNorm; layer_norm over a reshaped x */
MW_API mw_tensor *mw_group_norm(mw_tensor *x, int64_t groups, mw_tensor *gamma, mw_tensor *beta, float epsilon);

/** y = x / sqrt(mean(x^2) + epsilon) * weight, with the mean over the axes jointly.
 *  x        [..]  F16 or F32; in F16 elements from 256 on overflow when they are squared. Not on the ANE, for which x
 *           is divided by its largest element first
 *  axes     as mw_layer_norm
 *  weight   extents of those axes in ascending order, dtype F16 or F32; NULL = none
 *  epsilon  as mw_layer_norm; added to the mean, not a lower bound of it
 *  return   [..]  dtype of x
 *  errors   MW_ERROR_ARGUMENT for an axis out of range or repeated, MW_ERROR_SHAPE if the weight does not fit,
 *           MW_ERROR_DTYPE
 *  vjp      with r = (mean(x^2) + epsilon)^-1/2, n = x r and g = dy weight:
 *           dx = r (g - n mean(g n)), dweight = sum of dy n
 *  source   Zhang and Sennrich 2019, as in PyTorch's RMSNorm; square, reduce_mean, rsqrt and mul */
MW_API mw_tensor *mw_rms_norm(mw_tensor *x, mw_axes axes, mw_tensor *weight, float epsilon);

/** y = x / sqrt(sum(x^2) + epsilon), with the sum over the last three axes.
 *  x        [.., C, H, W], rank 3 or more  F16 or F32
 *  epsilon  as mw_layer_norm. MIL's own default is 1e-6
 *  return   shape and dtype of x
 *  errors   MW_ERROR_SHAPE for a lower rank, MW_ERROR_DTYPE
 *  vjp      with r = (sum(x^2) + epsilon)^-1/2: dx = r (dy - y sum(dy y))
 *  source   MIL l2_norm */
MW_API mw_tensor *mw_l2_norm(mw_tensor *x, float epsilon);

/* ---- by given statistics ---- */

/** y = (x - mean) / sqrt(variance + epsilon) * gamma + beta, each channel with its own numbers.
 *  x         [N, C, ..] of rank 3 to 5  F16 or F32
 *  mean      [C]  F16 or F32
 *  variance  [C]  F16 or F32
 *  gamma     [C]  F16 or F32; NULL = none
 *  beta      [C]  as gamma
 *  epsilon   finite and >= 0, rounded to the dtype of x (run-time vectors: of variance). MIL's own default is 1e-5
 *  return    shape and dtype of x
 *  errors    MW_ERROR_SHAPE for another rank or vectors that do not fit, MW_ERROR_DTYPE
 *  vjp       with r = (variance + epsilon)^-1/2, n = (x - mean) r and g = dy gamma: dx = g r, dgamma = sum of dy n,
 *            dbeta = sum of dy, dmean = -sum of g r, dvariance = -sum of g n r^2 / 2
 *  source    MIL batch_norm, whose vectors must be constants: with others this is sub, rsqrt, mul and add */
MW_API mw_tensor *mw_batch_norm(mw_tensor *x, mw_tensor *mean, mw_tensor *variance, mw_tensor *gamma, mw_tensor *beta,
                                float epsilon);

/** y = x / (k + alpha / size * sum(x^2))^beta, with the sum over a window of channels around each.
 *  x       [N, C, ..] of rank 3 or more  F16 or F32
 *  size    > 0: channels c - size / 2 to c + (size - 1) / 2, cut at the ends; an even window has one more below c,
 *          as in PyTorch. The sum is divided by size also where the window is cut
 *  alpha   MIL's own default is 1e-4
 *  beta    MIL's own default is 0.75
 *  k       MIL's own default is 1
 *  return  shape and dtype of x
 *  errors  MW_ERROR_SHAPE for a lower rank, MW_ERROR_ARGUMENT for size < 1, MW_ERROR_DTYPE
 *  vjp     with d = k + alpha / size * sum(x^2): dx = dy d^-beta - 2 alpha beta / size x s, s the sum of dy y / d
 *          over the channels whose window holds this one
 *  source  MIL local_response_norm; PyTorch for even sizes */
MW_API mw_tensor *mw_local_response_norm(mw_tensor *x, int size, float alpha, float beta, float k);

/* ---- layers ---- */

/** mw_layer_norm over the last axes with new parameters: PyTorch's LayerNorm.
 *  x           [..]  F16 or F32; the normalized extents must be known
 *  axis_count  in [1, rank]
 *  epsilon     as mw_layer_norm
 *  name        the parameters are `name`.weight (ones) and `name`.bias (zeros), in the extents of those axes and the
 *              dtype of x
 *  return      [..]  dtype of x
 *  errors      MW_ERROR_ARGUMENT for a bad axis_count or a name that is empty or taken, MW_ERROR_SHAPE,
 *              MW_ERROR_DTYPE
 *  vjp         as mw_layer_norm */
MW_API mw_tensor *mw_layer_norm_layer(mw_tensor *x, int axis_count, float epsilon, const char *name);

/** mw_rms_norm over the last axes with the new parameter `name`.weight (ones): PyTorch's RMSNorm. Arguments as
 *  mw_layer_norm_layer. */
MW_API mw_tensor *mw_rms_norm_layer(mw_tensor *x, int axis_count, float epsilon, const char *name);

/** mw_group_norm with the new parameters `name`.weight (ones) and `name`.bias (zeros), both [C]: PyTorch's
 *  GroupNorm. */
MW_API mw_tensor *mw_group_norm_layer(mw_tensor *x, int64_t groups, float epsilon, const char *name);

/** mw_instance_norm with the new parameters `name`.weight (ones) and `name`.bias (zeros), both [C]: PyTorch's
 *  InstanceNorm with affine = True. */
MW_API mw_tensor *mw_instance_norm_layer(mw_tensor *x, float epsilon, const char *name);

/** y = (x - mean) / sqrt(variance + epsilon) * weight + bias for each channel: PyTorch's BatchNorm1d, 2d and 3d.
 *  In training mean and (biased) variance are those of the batch, and the running ones follow: running = (1 -
 *  momentum) * running + momentum * statistic, the variance unbiased there (n / (n - 1)). Evaluation
 *  (mw_trainer_evaluate, mw_trainer_predict, mw_graph_evaluation) takes the running ones.
 *  x         [N, C, ..], rank 2 or more  F16 or F32; known extents, more than one element per channel
 *  momentum  in [0, 1]; PyTorch has 0.1. (Its momentum = None, the plain average, is not there.)
 *  epsilon   >= 0; PyTorch has 1e-5, which fp16 holds with few bits
 *  name      the parameters are `name`.weight (ones) and `name`.bias (zeros), the states `name`.running_mean (zeros)
 *            and `name`.running_var (ones), all [C] in the dtype of x. PyTorch's num_batches_tracked is left out
 *  return    shape and dtype of x
 *  errors    MW_ERROR_SHAPE for a lower rank, unknown extents or one element per channel; MW_ERROR_ARGUMENT for
 *            numbers out of range or a name that is empty or taken; MW_ERROR_DTYPE
 *  vjp       of the operations that it is made of; through mean and variance of the batch too
 *  source    Ioffe and Szegedy 2015, as in PyTorch */
MW_API mw_tensor *mw_batch_norm_layer(mw_tensor *x, float momentum, float epsilon, const char *name);

#ifdef __cplusplus
}
#endif
#endif

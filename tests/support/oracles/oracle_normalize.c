/* The reference evaluator: normalization. Each element looks for its own group by coordinates. */
#include "support/oracles/oracle.h"

#include <math.h>

static bool softmax(oracle *o, const mw__op *op)
{
    mw_shape shape = oracle_shape(op, "x");
    int64_t axis = -1, inner = 1;
    mw__arg_int(op, "axis", &axis);
    axis += axis < 0 ? shape.rank : 0;
    for (int i = (int)axis + 1; i < shape.rank; i++)
        inner *= shape.dim[i];
    const double *x = oracle_arg(o, op, "x");
    double *y = o->data[op->results[0]->id];
    for (int64_t i = 0; i < mw_shape_count(shape); i++) {
        int64_t n = shape.dim[axis], first = i / (n * inner) * n * inner + i % inner;
        double largest = -INFINITY, sum = 0.0;
        for (int64_t k = 0; k < n; k++)
            largest = fmax(largest, x[first + k * inner]);
        for (int64_t k = 0; k < n; k++)
            sum += exp(x[first + k * inner] - largest);
        y[i] = exp(x[i] - largest) / sum;
    }
    return true;
}

/* Mean and variance over the elements that agree with element i outside `axes`. */
static void moments(mw_shape shape, const double *x, const bool *axes, int64_t i, double *mean, double *spread)
{
    double sum = 0.0, squares = 0.0, count = 0.0;
    *mean = 0.0;
    int64_t at[MW_RANK_MAX] = {0}, other[MW_RANK_MAX] = {0};
    oracle_unravel(shape, i, at);
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t k = 0; k < mw_shape_count(shape); k++) {
            bool same = true;
            oracle_unravel(shape, k, other);
            for (int a = 0; a < shape.rank; a++)
                same = same && (axes[a] || at[a] == other[a]);
            if (same && pass == 0)
                sum += x[k], count += 1.0;
            else if (same)
                squares += (x[k] - *mean) * (x[k] - *mean);
        }
        if (pass == 0)
            *mean = sum / count;
    }
    *spread = squares / count;
}

static double vector(oracle *o, const mw__op *op, const char *arg, int64_t index, double absent)
{
    return mw__arg_present(op, arg) ? oracle_arg(o, op, arg)[index] : absent;
}

/* The index of element i within the extents of `axes`. */
static int64_t index_along(mw_shape shape, const bool *axes, int64_t i)
{
    int64_t at[MW_RANK_MAX] = {0}, index = 0;
    oracle_unravel(shape, i, at);
    for (int a = 0; a < shape.rank; a++)
        if (axes[a])
            index = index * shape.dim[a] + at[a];
    return index;
}

static void by_moments(oracle *o, const mw__op *op, const bool *axes, const bool *affine)
{
    mw_shape shape = oracle_shape(op, "x");
    const double *x = oracle_arg(o, op, "x");
    double *y = o->data[op->results[0]->id], mean, variance;
    for (int64_t i = 0; i < mw_shape_count(shape); i++) {
        int64_t k = index_along(shape, affine, i);
        moments(shape, x, axes, i, &mean, &variance);
        y[i] = (x[i] - mean) / sqrt(variance + oracle_number(op, "epsilon")) * vector(o, op, "gamma", k, 1.0) +
               vector(o, op, "beta", k, 0.0);
    }
}

static bool layer_norm(oracle *o, const mw__op *op)
{
    int64_t list[2 * MW_RANK_MAX];
    bool axes[MW_RANK_MAX] = {false};
    int rank = oracle_shape(op, "x").rank;
    size_t count = oracle_ints(op, "axes", list);
    for (size_t i = 0; i < count; i++)
        axes[(list[i] + rank) % rank] = true;
    for (int i = 0; i < rank && count == 0; i++)
        axes[i] = true;
    by_moments(o, op, axes, axes);
    return true;
}

static bool instance_norm(oracle *o, const mw__op *op)
{
    const bool axes[MW_RANK_MAX] = {false, false, true, true}, channel[MW_RANK_MAX] = {false, true};
    by_moments(o, op, axes, channel);
    return true;
}

static bool batch_norm(oracle *o, const mw__op *op)
{
    const bool channel[MW_RANK_MAX] = {false, true};
    mw_shape shape = oracle_shape(op, "x");
    const double *x = oracle_arg(o, op, "x");
    double *y = o->data[op->results[0]->id];
    for (int64_t i = 0; i < mw_shape_count(shape); i++) {
        int64_t c = index_along(shape, channel, i);
        double root = sqrt(vector(o, op, "variance", c, 0.0) + oracle_number(op, "epsilon"));
        y[i] = (x[i] - vector(o, op, "mean", c, 0.0)) / root * vector(o, op, "gamma", c, 1.0) +
               vector(o, op, "beta", c, 0.0);
    }
    return true;
}

static bool l2_norm(oracle *o, const mw__op *op)
{
    mw_shape shape = oracle_shape(op, "x");
    const double *x = oracle_arg(o, op, "x");
    double *y = o->data[op->results[0]->id];
    int64_t block = shape.dim[shape.rank - 1] * shape.dim[shape.rank - 2] * shape.dim[shape.rank - 3];
    for (int64_t i = 0; i < mw_shape_count(shape); i++) {
        double sum = oracle_number(op, "epsilon");
        for (int64_t k = i / block * block; k < (i / block + 1) * block; k++)
            sum += x[k] * x[k];
        y[i] = x[i] / sqrt(sum);
    }
    return true;
}

static bool local_response_norm(oracle *o, const mw__op *op)
{
    mw_shape shape = oracle_shape(op, "x");
    const double *x = oracle_arg(o, op, "x");
    double *y = o->data[op->results[0]->id];
    int64_t size = oracle_int(op, "size"), inner = 1;
    for (int a = 2; a < shape.rank; a++)
        inner *= shape.dim[a];
    for (int64_t i = 0; i < mw_shape_count(shape); i++) {
        double sum = 0.0;
        int64_t c = i / inner % shape.dim[1];
        for (int64_t other = 0; other < shape.dim[1]; other++)
            if (other - c >= -(size / 2) && other - c < size - size / 2)
                sum += x[i + (other - c) * inner] * x[i + (other - c) * inner];
        y[i] = x[i] /
               pow(oracle_number(op, "k") + oracle_number(op, "alpha") * sum / (double)size, oracle_number(op, "beta"));
    }
    return true;
}

bool oracle_of_normalize(oracle *o, const mw__op *op)
{
    static const oracle_row rows[] = {
        {"softmax", softmax},       {"batch_norm", batch_norm},
        {"layer_norm", layer_norm}, {"instance_norm", instance_norm},
        {"l2_norm", l2_norm},       {"local_response_norm", local_response_norm},
    };
    return oracle_find(rows, sizeof rows / sizeof *rows, o, op);
}

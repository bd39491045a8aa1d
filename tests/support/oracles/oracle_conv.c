/* The reference evaluator: ops/conv.def. The numbers are read from the arguments here, not through the library's rules;
 * only the extents of the result are taken from its type. */
#include "support/oracles/oracle.h"

#include <stdlib.h>
#include <string.h>

typedef struct geometry {
    int axes;
    int64_t stride[3], dilation[3], before[3], groups;
    mw_shape x, weight, y;
} geometry;

static void read_or_ones(const mw__op *op, const char *arg, int64_t out[3])
{
    int64_t values[2 * MW_RANK_MAX];
    const size_t count = oracle_ints(op, arg, values);
    for (size_t i = 0; i < 3; i++)
        out[i] = i < count ? values[i] : 1;
}

/* Zeros before an axis of `data` elements that gives `windows` windows. */
static int64_t border(const mw__op *op, int axis, int64_t data, int64_t windows, int64_t stride, int64_t reach)
{
    const char *type = mw__arg_string(op, "pad_type");
    int64_t pad[2 * MW_RANK_MAX] = {0};
    oracle_ints(op, "pad", pad);
    const bool given = strcmp(op->kind, "conv_transpose") == 0 && mw__arg_present(op, "output_shape");
    if (!given && (type == NULL || strcmp(type, "valid") == 0))
        return 0;
    if (!given && strcmp(type, "custom") == 0)
        return pad[2 * axis];
    int64_t total = (windows - 1) * stride + reach - data;
    total = total < 0 ? 0 : total;
    return type != NULL && strcmp(type, "same_lower") == 0 ? (total + 1) / 2 : total / 2;
}

static geometry read(const mw__op *op)
{
    geometry g = {.x = oracle_shape(op, "x"), .weight = oracle_shape(op, "weight"), .y = op->results[0]->type->shape};
    const bool transpose = strcmp(op->kind, "conv_transpose") == 0;
    g.axes = g.x.rank - 2;
    g.groups = oracle_int(op, "groups");
    read_or_ones(op, "strides", g.stride);
    read_or_ones(op, "dilations", g.dilation);
    for (int i = 0; i < g.axes; i++) {
        const int64_t reach = (g.weight.dim[i + 2] - 1) * g.dilation[i] + 1;
        const int64_t data = transpose ? g.y.dim[i + 2] : g.x.dim[i + 2];
        const int64_t windows = transpose ? g.x.dim[i + 2] : g.y.dim[i + 2];
        g.before[i] = border(op, i, data, windows, g.stride[i], reach);
    }
    return g;
}

/* Where tap `k` of window `p` stands on the data; false in the border. */
static bool meet(const geometry *g, mw_shape data, const int64_t *p, const int64_t *k, int64_t *at)
{
    for (int i = 0; i < g->axes; i++) {
        at[i + 2] = p[i + 2] * g->stride[i] + k[i + 2] * g->dilation[i] - g->before[i];
        if (at[i + 2] < 0 || at[i + 2] >= data.dim[i + 2])
            return false;
    }
    return true;
}

static void add_bias(oracle *o, const mw__op *op, mw_shape y, double *out)
{
    int64_t at[MW_RANK_MAX];
    const double *bias = mw__arg_present(op, "bias") ? oracle_arg(o, op, "bias") : NULL;
    for (int64_t i = 0; i < mw_shape_count(y); i++) {
        oracle_unravel(y, i, at);
        out[i] = bias != NULL ? bias[at[1]] : 0.0;
    }
}

/* The weight, or a copy of it that is freed later. */
static const double *weight_of(oracle *o, const mw__op *op, double **out_made)
{
    const double *weight = oracle_arg(o, op, "weight");
    *out_made = NULL;
    if (strcmp(op->kind, "conv_quantized") != 0)
        return weight;
    const double *scale = oracle_arg(o, op, "quant_scale"), *offset = oracle_arg(o, op, "quant_bias");
    const mw_shape shape = oracle_shape(op, "weight");
    const bool scales = mw_shape_count(oracle_shape(op, "quant_scale")) > 1;
    const bool offsets = mw_shape_count(oracle_shape(op, "quant_bias")) > 1;
    const int64_t count = mw_shape_count(shape), each = count / shape.dim[0];
    *out_made = malloc((size_t)count * sizeof **out_made);
    for (int64_t i = 0; i < count; i++)
        (*out_made)[i] = weight[i] * scale[scales ? i / each : 0] + offset[offsets ? i / each : 0];
    return *out_made;
}

/* Windows stand on y for conv, which collects from x, and on x for conv_transpose, which adds to y: every element of
 * them meets every element of the weight of its channel. */
static bool convolve(oracle *o, const mw__op *op, bool transpose)
{
    const geometry g = read(op);
    const mw_shape windows = transpose ? g.x : g.y, data = transpose ? g.y : g.x;
    double *made, *y = o->data[op->results[0]->id];
    add_bias(o, op, g.y, y);
    if (mw_shape_count(g.weight) == 0)
        return true;
    const double *x = oracle_arg(o, op, "x"), *weight = weight_of(o, op, &made);
    const int64_t each = mw_shape_count(g.weight) / g.weight.dim[0], group = g.weight.dim[0] / g.groups;
    for (int64_t i = 0; i < mw_shape_count(windows); i++) {
        int64_t p[MW_RANK_MAX], k[MW_RANK_MAX], at[MW_RANK_MAX];
        oracle_unravel(windows, i, p);
        for (int64_t j = p[1] * each; j < (p[1] + 1) * each; j++) {
            oracle_unravel(g.weight, j, k);
            at[0] = p[0];
            at[1] = p[1] / group * g.weight.dim[1] + k[1];
            if (!meet(&g, data, p, k, at))
                continue;
            const int64_t met = oracle_ravel(data, at);
            y[transpose ? met : i] += x[transpose ? i : met] * weight[j];
        }
    }
    free(made);
    return true;
}

static bool conv(oracle *o, const mw__op *op) { return convolve(o, op, false); }
static bool conv_transpose(oracle *o, const mw__op *op) { return convolve(o, op, true); }

bool oracle_of_conv(oracle *o, const mw__op *op)
{
    static const oracle_row rows[] = {{"conv", conv}, {"conv_quantized", conv}, {"conv_transpose", conv_transpose}};
    return oracle_find(rows, sizeof rows / sizeof *rows, o, op);
}

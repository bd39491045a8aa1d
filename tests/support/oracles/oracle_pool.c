/* The reference evaluator: ops/pool.def. Every window visits every element of its kernel and asks where it stands. */
#include "support/oracles/oracle.h"

#include <math.h>
#include <string.h>

typedef struct windows {
    int axes;
    mw_shape in, out;
    int64_t kernel[MW_RANK_MAX], stride[MW_RANK_MAX], before[MW_RANK_MAX], after[MW_RANK_MAX];
} windows;

static windows windows_of(const mw__op *op)
{
    windows w = {.in = oracle_shape(op, "x"), .out = op->results[0]->type->shape};
    int64_t pad[2 * MW_RANK_MAX] = {0}, numbers[2 * MW_RANK_MAX];
    const char *type = mw__arg_string(op, "pad_type");
    w.axes = w.in.rank - 2;
    oracle_ints(op, "kernel_sizes", w.kernel);
    const size_t strides = oracle_ints(op, "strides", numbers);
    for (int i = 0; i < w.axes; i++)
        w.stride[i] = strides > 0 ? numbers[i] : 1;
    oracle_ints(op, "pad", pad);
    for (int i = 0; i < w.axes; i++) {
        const double total = (double)((w.out.dim[2 + i] - 1) * w.stride[i] + w.kernel[i] - w.in.dim[2 + i]);
        const double half = total > 0 ? total / 2 : 0;
        w.before[i] = strcmp(type, "custom") == 0       ? pad[2 * i]
                      : strcmp(type, "same") == 0       ? (int64_t)floor(half)
                      : strcmp(type, "same_lower") == 0 ? (int64_t)ceil(half)
                                                        : 0;
        w.after[i] = strcmp(type, "custom") == 0 ? pad[2 * i + 1] : (int64_t)(2 * half) - w.before[i];
        if (strcmp(type, "valid") == 0)
            w.after[i] = 0;
    }
    return w;
}

/* 2 inside x, 1 in the padding, 0 beyond; *out_index = the element of x. */
static int locate(const windows *w, const int64_t *at, const int64_t *k, int64_t *out_index)
{
    int where = 2;
    *out_index = at[0] * w->in.dim[1] + at[1];
    for (int i = 0; i < w->axes; i++) {
        const int64_t position = at[2 + i] * w->stride[i] + k[i] - w->before[i];
        if (position < 0 || position >= w->in.dim[2 + i])
            where = where > 0 && position < w->in.dim[2 + i] + w->after[i] ? 1 : 0;
        *out_index = *out_index * w->in.dim[2 + i] + position;
    }
    return where;
}

static double window(const mw__op *op, const windows *w, const double *x, const int64_t *at)
{
    mw_shape kernel = {.rank = w->axes};
    for (int i = 0; i < w->axes; i++)
        kernel.dim[i] = w->kernel[i];
    double most = -INFINITY, sum = 0.0, squares = 0.0;
    int64_t inside = 0, padded = 0;
    for (int64_t e = 0; e < mw_shape_count(kernel); e++) {
        int64_t k[MW_RANK_MAX], index;
        oracle_unravel(kernel, e, k);
        const int where = locate(w, at, k, &index);
        padded += where > 0;
        if (where < 2)
            continue;
        inside++;
        most = isnan(x[index]) || isnan(most) ? NAN : fmax(most, x[index]);
        sum += x[index];
        squares += x[index] * x[index];
    }
    if (strcmp(op->kind, "max_pool") == 0)
        return most;
    if (strcmp(op->kind, "l2_pool") == 0)
        return sqrt(squares);
    const int64_t count = oracle_flag(op, "exclude_padding_from_average", 0) ? inside : padded;
    return count > 0 ? sum / (double)count : 0.0;
}

static bool pool(oracle *o, const mw__op *op)
{
    const windows w = windows_of(op);
    const double *x = oracle_arg(o, op, "x");
    double *y = o->data[op->results[0]->id];
    for (int64_t i = 0; i < mw_shape_count(w.out); i++) {
        int64_t at[MW_RANK_MAX];
        oracle_unravel(w.out, i, at);
        y[i] = window(op, &w, x, at);
    }
    return true;
}

bool oracle_of_pool(oracle *o, const mw__op *op)
{
    static const oracle_row rows[] = {{"max_pool", pool}, {"avg_pool", pool}, {"l2_pool", pool}};
    return oracle_find(rows, sizeof rows / sizeof *rows, o, op);
}

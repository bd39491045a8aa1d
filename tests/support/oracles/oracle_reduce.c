/* The reference evaluator: reductions. */
#include "support/oracles/oracle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double fmax_nan(double x, double y) { return isnan(x) || isnan(y) ? NAN : fmax(x, y); }
static double fmin_nan(double x, double y) { return isnan(x) || isnan(y) ? NAN : fmin(x, y); }

static void reduced_axes(const mw__op *op, mw_shape in, bool *reduced)
{
    int64_t axes[MW_RANK_MAX];
    size_t count = 0;
    bool given = mw__arg_ints(op, "axes", axes, MW_RANK_MAX, &count);
    for (int i = 0; i < in.rank; i++)
        reduced[i] = !given;
    for (size_t i = 0; given && i < count; i++)
        reduced[axes[i] < 0 ? axes[i] + in.rank : axes[i]] = true;
}

static double reduce_step(const char *name, double sum, double x, double largest)
{
    if (strcmp(name, "reduce_max") == 0)
        return fmax_nan(sum, x);
    if (strcmp(name, "reduce_min") == 0)
        return fmin_nan(sum, x);
    if (strcmp(name, "reduce_prod") == 0)
        return sum * x;
    if (strcmp(name, "reduce_sum_square") == 0 || strcmp(name, "reduce_l2_norm") == 0)
        return sum + x * x;
    if (strcmp(name, "reduce_l1_norm") == 0)
        return sum + fabs(x);
    return sum + (strcmp(name, "reduce_log_sum_exp") == 0 ? exp(x - largest) : x);
}

static double reduce_start(const char *name)
{
    return strcmp(name, "reduce_max") == 0    ? -INFINITY
           : strcmp(name, "reduce_min") == 0  ? INFINITY
           : strcmp(name, "reduce_prod") == 0 ? 1.0
                                              : 0.0;
}

static double reduce_end(const mw__op *op, double sum, double count, double largest)
{
    if (strcmp(op->kind, "reduce_mean") == 0)
        return sum / count;
    if (strcmp(op->kind, "reduce_log_sum_exp") == 0)
        return largest + log(sum);
    if (strcmp(op->kind, "reduce_log_sum") == 0)
        return log(sum);
    return strcmp(op->kind, "reduce_l2_norm") == 0 ? sqrt(sum) : sum;
}

static bool reduce(oracle *o, const mw__op *op)
{
    mw_shape in = oracle_shape(op, "x"), kept = in;
    bool reduced[MW_RANK_MAX];
    reduced_axes(op, in, reduced);
    for (int i = 0; i < in.rank; i++)
        kept.dim[i] = reduced[i] ? 1 : in.dim[i];
    int64_t count = mw_shape_count(in), results = mw_shape_count(kept);
    const double *x = oracle_arg(o, op, "x");
    double *y = o->data[op->results[0]->id], *largest = malloc((size_t)(results + 1) * sizeof *largest);
    for (int64_t r = 0; r < results; r++) {
        largest[r] = -INFINITY;
        y[r] = reduce_start(op->kind);
    }
    for (int64_t i = 0; i < count; i++) {
        double *most = &largest[oracle_broadcast(in, kept, i)];
        *most = fmax(*most, x[i]);
    }
    for (int64_t i = 0; i < count; i++) {
        int64_t r = oracle_broadcast(in, kept, i);
        y[r] = reduce_step(op->kind, y[r], x[i], isinf(largest[r]) ? 0.0 : largest[r]);
    }
    for (int64_t r = 0; r < results; r++) {
        y[r] = reduce_end(op, y[r], (double)count / (double)results, isinf(largest[r]) ? 0.0 : largest[r]);
        if (op->results[0]->type->dtype == MW_I32)
            y[r] = trunc(y[r]);
    }
    free(largest);
    return true;
}

/* ---- along one axis ---- */

static int axis_of(const mw__op *op, mw_shape shape)
{
    const int64_t axis = oracle_int(op, "axis");
    return (int)(axis < 0 ? axis + shape.rank : axis);
}

/* The elements of x that differ from `at` only along the axis are visited; at[axis] is left where it was. */
static bool arg(oracle *o, const mw__op *op)
{
    const mw_shape in = oracle_shape(op, "x");
    const int axis = axis_of(op, in);
    const bool min = strcmp(op->kind, "reduce_argmin") == 0;
    const double *x = oracle_arg(o, op, "x");
    double *y = o->data[op->results[0]->id];
    mw_shape kept = in;
    kept.dim[axis] = 1;
    for (int64_t r = 0; r < mw_shape_count(kept); r++) {
        int64_t at[MW_RANK_MAX];
        oracle_unravel(kept, r, at);
        double best = NAN;
        for (at[axis] = 0; at[axis] < in.dim[axis]; at[axis]++) {
            const double v = x[oracle_ravel(in, at)];
            if (at[axis] == 0 || (min ? v < best : v > best))
                best = v, y[r] = (double)at[axis];
        }
    }
    return true;
}

static bool cumsum(oracle *o, const mw__op *op)
{
    const mw_shape in = oracle_shape(op, "x");
    const int axis = axis_of(op, in);
    const bool reverse = oracle_flag(op, "reverse", 0), exclusive = oracle_flag(op, "exclusive", 0);
    const double *x = oracle_arg(o, op, "x");
    double *y = o->data[op->results[0]->id];
    for (int64_t i = 0; i < mw_shape_count(in); i++) {
        int64_t at[MW_RANK_MAX];
        oracle_unravel(in, i, at);
        const int64_t own = at[axis];
        y[i] = 0.0;
        for (at[axis] = 0; at[axis] < in.dim[axis]; at[axis]++)
            if ((at[axis] == own && !exclusive) || (reverse ? at[axis] > own : at[axis] < own))
                y[i] += x[oracle_ravel(in, at)];
    }
    return true;
}

bool oracle_of_reduce(oracle *o, const mw__op *op)
{
    static const oracle_row rows[] = {{"reduce_argmax", arg}, {"reduce_argmin", arg}, {"cumsum", cumsum}};
    if (oracle_find(rows, sizeof rows / sizeof *rows, o, op))
        return true;
    return strncmp(op->kind, "reduce_", 7) == 0 && reduce(o, op);
}

/* The reference evaluator: reductions. */
#include "support/oracle.h"

#include <math.h>
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
    return sum + (strcmp(name, "reduce_log_sum_exp") == 0 ? exp(x - largest) : x);
}

static double reduce_start(const char *name)
{
    return strcmp(name, "reduce_max") == 0 ? -INFINITY : strcmp(name, "reduce_min") == 0 ? INFINITY : 0.0;
}

static bool reduce(oracle *o, const mw__op *op)
{
    if (strncmp(op->kind, "reduce_", 7) != 0)
        return false;
    mw_shape in = oracle_shape(op, "x"), kept = in;
    bool reduced[MW_RANK_MAX];
    reduced_axes(op, in, reduced);
    for (int i = 0; i < in.rank; i++)
        kept.dim[i] = reduced[i] ? 1 : in.dim[i];
    int64_t count = mw_shape_count(in), results = mw_shape_count(kept);
    const double *x = oracle_arg(o, op, "x");
    double *y = o->data[op->results[0]->id];
    for (int64_t r = 0; r < results; r++) {
        double largest = -INFINITY, sum = reduce_start(op->kind);
        for (int64_t i = 0; i < count; i++)
            if (oracle_broadcast(in, kept, i) == r)
                largest = fmax(largest, x[i]);
        largest = isinf(largest) ? 0.0 : largest;
        for (int64_t i = 0; i < count; i++)
            if (oracle_broadcast(in, kept, i) == r)
                sum = reduce_step(op->kind, sum, x[i], largest);
        double share = sum * (double)results / (double)count;
        y[r] = strcmp(op->kind, "reduce_mean") == 0 ? op->results[0]->type->dtype == MW_I32 ? trunc(share) : share
               : strcmp(op->kind, "reduce_log_sum_exp") == 0 ? largest + log(sum)
                                                             : sum;
    }
    return true;
}

bool oracle_of_reduce(oracle *o, const mw__op *op) { return reduce(o, op); }

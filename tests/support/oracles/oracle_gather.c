/* The reference evaluator: elements chosen by indices. */
#include "support/oracles/oracle.h"

#include <math.h>
#include <string.h>

static bool one_hot(oracle *o, const mw__op *op)
{
    mw_shape out = op->results[0]->type->shape, in = oracle_shape(op, "indices");
    int64_t axis = oracle_int(op, "axis");
    axis += axis < 0 ? out.rank : 0;
    double on = oracle_arg(o, op, "on_value")[0], off = oracle_arg(o, op, "off_value")[0];
    for (int64_t i = 0; i < mw_shape_count(out); i++) {
        int64_t at[MW_RANK_MAX], from[MW_RANK_MAX];
        oracle_unravel(out, i, at);
        for (int k = 0, n = 0; k < out.rank; k++)
            if (k != axis)
                from[n++] = at[k];
        bool hit = oracle_arg(o, op, "indices")[oracle_ravel(in, from)] == (double)at[axis];
        o->data[op->results[0]->id][i] = hit ? on : off;
    }
    return true;
}

/* An index into `extent`, or -1 if it is outside. */
static int64_t resolve(const mw__op *op, double index, int64_t extent)
{
    if (index < 0 && op->row->since < MW_IOS17)
        index += (double)extent;
    return index >= 0 && index < (double)extent ? (int64_t)index : -1;
}

/* Element `at` of what the indices choose, as coordinates in the tensor of shape `in`; false if an index is outside.
 * Also for the scatters, whose updates are what is chosen. */
static bool locate(oracle *o, const mw__op *op, mw_shape in, const int64_t *at, int64_t *from)
{
    const double *indices = oracle_arg(o, op, "indices");
    mw_shape is = oracle_shape(op, "indices");
    int64_t where[MW_RANK_MAX] = {0};
    bool along = strstr(op->kind, "_along_axis") != NULL, inside = true;
    int batch = strncmp(op->kind, "gather", 6) == 0 && !along && op->row->since >= MW_IOS16
                    ? (int)oracle_int(op, "batch_dims")
                    : 0;
    if (strstr(op->kind, "_nd") != NULL) {
        int depth = (int)is.dim[is.rank - 1], lead = is.rank - 1;
        for (int k = 0; k < in.rank; k++) {
            if (k >= batch + depth || k < batch) {
                from[k] = k < batch ? at[k] : at[k - depth - batch + lead];
                continue;
            }
            for (int i = 0; i < lead; i++)
                where[i] = at[i];
            where[lead] = k - batch;
            from[k] = resolve(op, indices[oracle_ravel(is, where)], in.dim[k]);
            inside = inside && from[k] >= 0;
        }
        return inside;
    }
    int axis = (int)oracle_int(op, "axis");
    axis += axis < 0 ? in.rank : 0;
    int added = along ? 1 : is.rank - batch;
    for (int k = 0; k < is.rank; k++)
        where[k] = along || k < batch ? at[k] : at[axis + k - batch];
    for (int k = 0; k < in.rank; k++)
        from[k] = k < axis ? at[k] : k > axis ? at[k - 1 + added] : 0;
    from[axis] = resolve(op, indices[oracle_ravel(is, where)], in.dim[axis]);
    return from[axis] >= 0;
}

static bool gather(oracle *o, const mw__op *op)
{
    mw_shape out = op->results[0]->type->shape, in = oracle_shape(op, "x");
    for (int64_t i = 0; i < mw_shape_count(out); i++) {
        int64_t at[MW_RANK_MAX] = {0}, from[MW_RANK_MAX] = {0};
        oracle_unravel(out, i, at);
        bool inside = locate(o, op, in, at, from);
        o->data[op->results[0]->id][i] = inside ? oracle_arg(o, op, "x")[oracle_ravel(in, from)] : 0.0;
    }
    return true;
}

static double combine(const char *mode, double a, double b, bool whole)
{
    if (strcmp(mode, "update") == 0)
        return b;
    if (strcmp(mode, "add") == 0 || strcmp(mode, "sub") == 0)
        return mode[0] == 'a' ? a + b : a - b;
    if (strcmp(mode, "mul") == 0)
        return a * b;
    if (strcmp(mode, "div") == 0)
        return whole ? trunc(a / b) : a / b;
    return strcmp(mode, "max") == 0 ? fmax(a, b) : fmin(a, b);
}

static bool scatter(oracle *o, const mw__op *op)
{
    mw_shape data = oracle_shape(op, "data"), updates = oracle_shape(op, "updates");
    double *out = o->data[op->results[0]->id];
    bool whole = op->results[0]->type->dtype == MW_I32;
    for (int64_t i = 0; i < mw_shape_count(data); i++)
        out[i] = oracle_arg(o, op, "data")[i];
    for (int64_t i = 0; i < mw_shape_count(updates); i++) {
        int64_t at[MW_RANK_MAX] = {0}, from[MW_RANK_MAX] = {0};
        oracle_unravel(updates, i, at);
        if (!locate(o, op, data, at, from))
            continue;
        double *into = &out[oracle_ravel(data, from)];
        *into = combine(mw__arg_string(op, "mode"), *into, oracle_arg(o, op, "updates")[i], whole);
    }
    return true;
}

static bool non_zero(oracle *o, const mw__op *op)
{
    mw_shape in = oracle_shape(op, "x");
    double *out = o->data[op->results[0]->id];
    for (int64_t i = 0; i < mw_shape_count(in); i++) {
        int64_t at[MW_RANK_MAX];
        oracle_unravel(in, i, at);
        for (int k = 0; oracle_arg(o, op, "x")[i] != 0.0 && k < in.rank; k++)
            *out++ = (double)at[k];
    }
    return true;
}

bool oracle_of_gather(oracle *o, const mw__op *op)
{
    static const oracle_row rows[] = {
        {"one_hot", one_hot},   {"gather", gather},   {"gather_along_axis", gather},   {"gather_nd", gather},
        {"non_zero", non_zero}, {"scatter", scatter}, {"scatter_along_axis", scatter}, {"scatter_nd", scatter}};
    return oracle_find(rows, sizeof rows / sizeof *rows, o, op);
}

/* The reference evaluator: elements chosen by indices. */
#include "support/oracle.h"

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

static bool gather(oracle *o, const mw__op *op)
{
    mw_shape out = op->results[0]->type->shape, in = oracle_shape(op, "x"), is = oracle_shape(op, "indices");
    int axis = (int)oracle_int(op, "axis"), batch = op->row->since >= MW_IOS16 ? (int)oracle_int(op, "batch_dims") : 0;
    axis += axis < 0 ? in.rank : 0;
    const double *indices = oracle_arg(o, op, "indices");
    for (int64_t i = 0; i < mw_shape_count(out); i++) {
        int64_t at[MW_RANK_MAX] = {0}, where[MW_RANK_MAX] = {0}, from[MW_RANK_MAX] = {0};
        oracle_unravel(out, i, at);
        for (int k = 0; k < is.rank; k++)
            where[k] = k < batch ? at[k] : at[axis + k - batch];
        double index = indices[oracle_ravel(is, where)];
        for (int k = 0; k < in.rank; k++)
            from[k] = k < axis ? at[k] : k > axis ? at[k - 1 + is.rank - batch] : (int64_t)index;
        from[axis] += index < 0 && op->row->since < MW_IOS17 ? in.dim[axis] : 0;
        o->data[op->results[0]->id][i] = oracle_arg(o, op, "x")[oracle_ravel(in, from)];
    }
    return true;
}

bool oracle_of_gather(oracle *o, const mw__op *op)
{
    static const oracle_row rows[] = {{"one_hot", one_hot}, {"gather", gather}};
    return oracle_find(rows, sizeof rows / sizeof *rows, o, op);
}

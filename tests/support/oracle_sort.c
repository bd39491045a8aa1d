/* The reference evaluator: argsort and topk, by counting who comes before whom. */
#include "support/oracle.h"

#include <math.h>
#include <string.h>

/* NaN is larger than every number. */
static bool larger(double a, double b) { return isnan(a) ? !isnan(b) : a > b; }

/* How many elements of the row come before element i. */
static int64_t rank_in_row(const double *x, int64_t stride, int64_t count, int64_t i, bool ascending)
{
    int64_t rank = 0;
    for (int64_t j = 0; j < count; j++) {
        double a = x[i * stride], b = x[j * stride];
        bool before = ascending ? larger(a, b) : larger(b, a), equal = !larger(a, b) && !larger(b, a);
        rank += before || (equal && j < i);
    }
    return rank;
}

static bool sort(oracle *o, const mw__op *op)
{
    mw_shape in = oracle_shape(op, "x"), out = op->results[0]->type->shape;
    bool topk = strcmp(op->kind, "topk") == 0, ascending = oracle_flag(op, "ascending", 0);
    int64_t axis = oracle_int(op, "axis"), stride = 1;
    axis += axis < 0 ? in.rank : 0;
    for (int i = (int)axis + 1; i < in.rank; i++)
        stride *= in.dim[i];
    for (int64_t i = 0; i < mw_shape_count(in); i++) {
        int64_t at[MW_RANK_MAX] = {0};
        oracle_unravel(in, i, at);
        int64_t index = at[axis];
        const double *row = oracle_arg(o, op, "x") + i - index * stride;
        at[axis] = rank_in_row(row, stride, in.dim[axis], index, ascending);
        if (at[axis] >= out.dim[axis])
            continue;
        int64_t to = oracle_ravel(out, at);
        o->data[op->results[0]->id][to] = topk ? row[index * stride] : (double)index;
        if (op->result_count == 2)
            o->data[op->results[1]->id][to] = (double)index;
    }
    return true;
}

bool oracle_of_sort(oracle *o, const mw__op *op)
{
    static const oracle_row rows[] = {{"argsort", sort}, {"topk", sort}};
    return oracle_find(rows, sizeof rows / sizeof *rows, o, op);
}

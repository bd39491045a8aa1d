/* The reference evaluator: choice. */
#include "support/oracles/oracle.h"

static bool choose(oracle *o, const mw__op *op)
{
    const double *a = oracle_arg(o, op, "a"), *b = oracle_arg(o, op, "b"), *c = oracle_arg(o, op, "cond");
    mw_shape out = op->results[0]->type->shape;
    for (int64_t i = 0; i < mw_shape_count(out); i++)
        o->data[op->results[0]->id][i] = c[oracle_broadcast(out, oracle_shape(op, "cond"), i)] != 0.0
                                             ? a[oracle_broadcast(out, oracle_shape(op, "a"), i)]
                                             : b[oracle_broadcast(out, oracle_shape(op, "b"), i)];
    return true;
}

bool oracle_of_compare(oracle *o, const mw__op *op)
{
    static const oracle_row rows[] = {{"select", choose}};
    return oracle_find(rows, sizeof rows / sizeof *rows, o, op);
}

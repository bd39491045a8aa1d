/* The reference evaluator: normalisation. */
#include "support/oracle.h"

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

bool oracle_of_normalize(oracle *o, const mw__op *op)
{
    static const oracle_row rows[] = {{"softmax", softmax}};
    return oracle_find(rows, sizeof rows / sizeof *rows, o, op);
}

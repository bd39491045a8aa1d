/* The reference evaluator: matrix products. */
#include "support/oracle.h"

#include <string.h>

/* A matrix inside a batch: element (r, c) of the operand after its transpose. */
static double element(const double *data, mw_shape shape, mw_shape batch, int64_t b, int64_t r, int64_t c, bool t)
{
    mw_shape own = {.rank = shape.rank - 2};
    memcpy(own.dim, shape.dim, sizeof own.dim);
    int64_t rows = shape.dim[shape.rank - 2], columns = shape.dim[shape.rank - 1];
    int64_t base = oracle_broadcast(batch, own, b) * rows * columns;
    return data[base + (t ? c * columns + r : r * columns + c)];
}

static mw_shape with_rank_2(mw_shape shape, bool column)
{
    if (shape.rank >= 2)
        return shape;
    return column ? MW_SHAPE(shape.dim[0], 1) : MW_SHAPE(1, shape.dim[0]);
}

static bool matmul(oracle *o, const mw__op *op)
{
    bool tx = false, ty = false;
    mw__arg_bool(op, "transpose_x", &tx);
    mw__arg_bool(op, "transpose_y", &ty);
    mw_shape xs = with_rank_2(oracle_shape(op, "x"), false), ys = with_rank_2(oracle_shape(op, "y"), true), batch = {0};
    batch.rank = (xs.rank > ys.rank ? xs.rank : ys.rank) - 2;
    for (int i = 0; i < batch.rank; i++) {
        int xi = i - (batch.rank + 2 - xs.rank), yi = i - (batch.rank + 2 - ys.rank);
        int64_t a = xi >= 0 ? xs.dim[xi] : 1, b = yi >= 0 ? ys.dim[yi] : 1;
        batch.dim[i] = a == 1 ? b : a;
    }
    int64_t m = xs.dim[xs.rank - (tx ? 1 : 2)], k = xs.dim[xs.rank - (tx ? 2 : 1)], n = ys.dim[ys.rank - (ty ? 2 : 1)];
    const double *x = oracle_arg(o, op, "x"), *y = oracle_arg(o, op, "y");
    double *z = o->data[op->results[0]->id];
    for (int64_t b = 0; b < mw_shape_count(batch); b++)
        for (int64_t i = 0; i < m; i++)
            for (int64_t j = 0; j < n; j++, z++) {
                *z = 0.0;
                for (int64_t l = 0; l < k; l++)
                    *z += element(x, xs, batch, b, i, l, tx) * element(y, ys, batch, b, l, j, ty);
            }
    return true;
}

static bool linear(oracle *o, const mw__op *op)
{
    const double *x = oracle_arg(o, op, "x"), *w = oracle_arg(o, op, "weight");
    const double *bias = mw__arg_present(op, "bias") ? oracle_arg(o, op, "bias") : NULL;
    int64_t out = oracle_shape(op, "weight").dim[0], in = oracle_shape(op, "weight").dim[1];
    double *z = o->data[op->results[0]->id];
    for (int64_t i = 0; i < oracle_count(op->results[0]); i++) {
        z[i] = bias != NULL ? bias[i % out] : 0.0;
        for (int64_t l = 0; l < in; l++)
            z[i] += x[i / out * in + l] * w[i % out * in + l];
    }
    return true;
}

bool oracle_of_matmul(oracle *o, const mw__op *op)
{
    static const oracle_row rows[] = {{"matmul", matmul}, {"linear", linear}};
    return oracle_find(rows, sizeof rows / sizeof *rows, o, op);
}

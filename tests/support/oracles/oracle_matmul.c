/* The reference evaluator: matrix products. */
#include "support/oracles/oracle.h"

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

/* Any equation of two operands: every combination of letters adds one product. */
typedef struct letters {
    char name[16];
    int64_t extent[16], at[16];
    int count;
} letters;

static int find_letter(letters *all, char name)
{
    for (int i = 0; i < all->count; i++)
        if (all->name[i] == name)
            return i;
    all->name[all->count] = name;
    all->extent[all->count] = 1; /* until an operand says otherwise */
    return all->count++;
}

/* The element that the letters stand at; extents of 1 are broadcast. */
static int64_t position(letters *all, const char *word, mw_shape shape)
{
    int64_t index = 0;
    for (int i = 0; i < shape.rank; i++) {
        const int letter = find_letter(all, word[i]);
        if (shape.dim[i] != 1)
            all->extent[letter] = shape.dim[i];
        index = index * shape.dim[i] + (shape.dim[i] == 1 ? 0 : all->at[letter]);
    }
    return index;
}

static bool einsum(oracle *o, const mw__op *op)
{
    char equation[64];
    size_t length = 0;
    for (const char *c = mw__arg_string(op, "equation"); *c != '\0' && length < sizeof equation - 1; c++)
        if (*c != ' ')
            equation[length++] = *c;
    equation[length] = '\0';
    const mw__operand *in;
    mw__arg_values(op, "values", &in);
    const mw_tensor *a = in[0].value, *b = in[1].value, *z = op->results[0];
    const char *second = strchr(equation, ',') + 1, *third = strchr(equation, '>') + 1;
    letters all = {.count = 0};
    position(&all, equation, a->type->shape); /* learns the extents */
    position(&all, second, b->type->shape);
    int64_t combinations = 1;
    for (int i = 0; i < all.count; i++)
        combinations *= all.extent[i];
    memset(o->data[z->id], 0, (size_t)oracle_count(z) * sizeof(double));
    for (int64_t index = 0; index < combinations; index++) {
        int64_t rest = index;
        for (int i = all.count - 1; i >= 0; rest /= all.extent[i--])
            all.at[i] = rest % all.extent[i];
        const double x = o->data[a->id][position(&all, equation, a->type->shape)];
        const double y = o->data[b->id][position(&all, second, b->type->shape)];
        o->data[z->id][position(&all, third, z->type->shape)] += x * y;
    }
    return true;
}

bool oracle_of_matmul(oracle *o, const mw__op *op)
{
    static const oracle_row rows[] = {{"matmul", matmul}, {"linear", linear}, {"einsum", einsum}};
    return oracle_find(rows, sizeof rows / sizeof *rows, o, op);
}

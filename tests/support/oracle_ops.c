/* The reference evaluator's arithmetic: element-wise, comparison, reduction, matrix product, softmax, in double. */
#include "support/oracle.h"

#include <math.h>
#include <string.h>

static double number(const mw__op *op, const char *arg)
{
    double value = 0.0;
    mw__arg_float(op, arg, &value);
    return value;
}

/* ---- element-wise ---- */

static double floor_division(double x, double y) { return floor(x / y); }
static double fmax_nan(double x, double y) { return isnan(x) || isnan(y) ? NAN : fmax(x, y); }
static double fmin_nan(double x, double y) { return isnan(x) || isnan(y) ? NAN : fmin(x, y); }
static double op_add(double x, double y) { return x + y; }
static double op_sub(double x, double y) { return x - y; }
static double op_mul(double x, double y) { return x * y; }
static double op_div(double x, double y) { return x / y; }
static double op_eq(double x, double y) { return x == y; }
static double op_ne(double x, double y) { return x != y; }
static double op_lt(double x, double y) { return x < y; }
static double op_le(double x, double y) { return x <= y; }
static double op_gt(double x, double y) { return x > y; }
static double op_ge(double x, double y) { return x >= y; }

static const struct {
    const char *name;
    double (*f)(double, double);
} binaries[] = {{"add", op_add},       {"sub", op_sub},
                {"mul", op_mul},       {"real_div", op_div},
                {"pow", pow},          {"floor_div", floor_division},
                {"maximum", fmax_nan}, {"minimum", fmin_nan},
                {"equal", op_eq},      {"not_equal", op_ne},
                {"less", op_lt},       {"less_equal", op_le},
                {"greater", op_gt},    {"greater_equal", op_ge}};

static bool binary(oracle *o, const mw__op *op)
{
    for (size_t b = 0; b < sizeof binaries / sizeof *binaries; b++) {
        if (strcmp(op->kind, binaries[b].name) != 0)
            continue;
        const double *x = oracle_arg(o, op, "x"), *y = oracle_arg(o, op, "y");
        mw_shape out = op->results[0]->type->shape, xs = oracle_shape(op, "x"), ys = oracle_shape(op, "y");
        bool whole = op->results[0]->type->dtype == MW_I32;
        for (int64_t i = 0; i < mw_shape_count(out); i++) {
            double z = binaries[b].f(x[oracle_broadcast(out, xs, i)], y[oracle_broadcast(out, ys, i)]);
            o->data[op->results[0]->id][i] = whole ? trunc(z) : z;
        }
        return true;
    }
    return false;
}

static double gelu(const mw__op *op, double x)
{
    const char *mode = mw__arg_string(op, "mode");
    if (strcmp(mode, "TANH_APPROXIMATION") == 0)
        return 0.5 * x * (1.0 + tanh(sqrt(2.0 / acos(-1.0)) * (x + 0.044715 * x * x * x)));
    if (strcmp(mode, "SIGMOID_APPROXIMATION") == 0)
        return x / (1.0 + exp(-1.702 * x));
    return 0.5 * x * erfc(-x / sqrt(2.0));
}

static bool unary_value(const mw__op *op, double x, double *y)
{
    const char *name = op->kind;
#define CASE(mil, value)                                                                                               \
    if (strcmp(name, mil) == 0) {                                                                                      \
        *y = (value);                                                                                                  \
        return true;                                                                                                   \
    }
    CASE("abs", fabs(x))
    CASE("sign", x > 0 ? 1.0 : x < 0 ? -1.0 : 0.0)
    CASE("square", x * x)
    CASE("sqrt", sqrt(x))
    CASE("rsqrt", 1.0 / sqrt(x + number(op, "epsilon")))
    CASE("inverse", 1.0 / (x + number(op, "epsilon")))
    CASE("exp", exp(x))
    CASE("log", log(x + number(op, "epsilon")))
    CASE("erf", erf(x))
    CASE("tanh", tanh(x))
    CASE("sigmoid", 1.0 / (1.0 + exp(-x)))
    CASE("relu", x > 0 ? x : 0.0)
    CASE("silu", x / (1.0 + exp(-x)))
    CASE("gelu", gelu(op, x))
    CASE("clip", fmin(fmax(x, number(op, "alpha")), number(op, "beta")))
    CASE("logical_not", x == 0.0)
    CASE("identity", x)
#undef CASE
    return false;
}

static bool unary(oracle *o, const mw__op *op)
{
    const mw_tensor *x = op->row != NULL && op->slot_count > 0 && op->result_count == 1 ? op->results[0] : NULL;
    double unused;
    if (x == NULL || !unary_value(op, 0.5, &unused))
        return false;
    const double *in = oracle_arg(o, op, "x");
    for (int64_t i = 0; i < oracle_count(x); i++)
        unary_value(op, in[i], &o->data[x->id][i]);
    return true;
}

static bool cast(oracle *o, const mw__op *op)
{
    const double *x = oracle_arg(o, op, "x");
    double *y = o->data[op->results[0]->id];
    mw_dtype to = op->results[0]->type->dtype;
    for (int64_t i = 0; i < oracle_count(op->results[0]); i++)
        y[i] = to == MW_BOOL ? x[i] != 0.0 : to == MW_F32 || to == MW_F16 ? x[i] : trunc(x[i]);
    return true;
}

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

/* ---- matrix product ---- */

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

/* ---- reductions ---- */

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

bool oracle_operation(oracle *o, const mw__op *op)
{
    if (binary(o, op) || unary(o, op) || reduce(o, op))
        return true;
    static const struct {
        const char *name;
        bool (*run)(oracle *o, const mw__op *op);
    } rows[] = {{"cast", cast}, {"select", choose}, {"matmul", matmul}, {"linear", linear}, {"softmax", softmax}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(op->kind, rows[i].name) == 0)
            return rows[i].run(o, op);
    return false;
}

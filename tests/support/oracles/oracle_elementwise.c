/* The reference evaluator: element-wise arithmetic. */
#include "support/oracles/oracle.h"

#include <math.h>
#include <string.h>

static double floor_division(double x, double y) { return floor(x / y); }
static double fmax_nan(double x, double y) { return isnan(x) || isnan(y) ? NAN : fmax(x, y); }
static double fmin_nan(double x, double y) { return isnan(x) || isnan(y) ? NAN : fmin(x, y); }
static double op_add(double x, double y) { return x + y; }
static double op_sub(double x, double y) { return x - y; }
static double op_mul(double x, double y) { return x * y; }
static double op_div(double x, double y) { return x / y; }
static double op_mod(double x, double y) { return x - floor(x / y) * y; }
static double op_and(double x, double y) { return x != 0.0 && y != 0.0; }
static double op_or(double x, double y) { return x != 0.0 || y != 0.0; }
static double op_xor(double x, double y) { return (x != 0.0) != (y != 0.0); }
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
                {"greater", op_gt},    {"greater_equal", op_ge},
                {"mod", op_mod},       {"logical_and", op_and},
                {"logical_or", op_or}, {"logical_xor", op_xor}};

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

static bool whole(const mw__op *op) { return op->results[0]->type->dtype == MW_I32; }

static double wrapped_power_of_two(double x) { return x < 0 || x > 31 ? 0.0 : x == 31 ? -exp2(31) : exp2(x); }

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
    CASE("rsqrt", 1.0 / sqrt(x + oracle_number(op, "epsilon")))
    CASE("inverse", 1.0 / (x + oracle_number(op, "epsilon")))
    CASE("exp", exp(x))
    CASE("log", log(x + oracle_number(op, "epsilon")))
    CASE("erf", erf(x))
    CASE("tanh", tanh(x))
    CASE("exp2", whole(op) ? wrapped_power_of_two(x) : exp2(x))
    CASE("floor", floor(x))
    CASE("ceil", ceil(x))
    CASE("round", x - remainder(x, 1.0)) /* remainder is taken from the nearest integer, ties to even */
    CASE("sin", sin(x))
    CASE("cos", cos(x))
    CASE("tan", tan(x))
    CASE("asin", asin(x))
    CASE("acos", acos(x))
    CASE("atan", atan(x))
    CASE("sinh", (exp(x) - exp(-x)) / 2)
    CASE("cosh", (exp(x) + exp(-x)) / 2)
    CASE("atanh", (log1p(x) - log1p(-x)) / 2)
    CASE("threshold", fmax(x, oracle_number(op, "alpha")))
    CASE("clip", fmin(fmax(x, oracle_number(op, "alpha")), oracle_number(op, "beta")))
    CASE("logical_not", x == 0.0)
#undef CASE
    return false;
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

bool oracle_of_elementwise(oracle *o, const mw__op *op)
{
    if (binary(o, op) || oracle_map(o, op, unary_value))
        return true;
    static const oracle_row rows[] = {{"cast", cast}};
    return oracle_find(rows, sizeof rows / sizeof *rows, o, op);
}

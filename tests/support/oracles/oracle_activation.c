/* The reference evaluator: ops/activation.def. */
#include "support/oracles/oracle.h"

#include <math.h>
#include <string.h>

static double gelu(const mw__op *op, double x)
{
    const char *mode = mw__arg_string(op, "mode");
    if (strcmp(mode, "TANH_APPROXIMATION") == 0)
        return 0.5 * x * (1.0 + tanh(sqrt(2.0 / acos(-1.0)) * (x + 0.044715 * x * x * x)));
    if (strcmp(mode, "SIGMOID_APPROXIMATION") == 0)
        return x / (1.0 + exp(-1.702 * x));
    return 0.5 * x * erfc(-x / sqrt(2.0));
}

static bool value(const mw__op *op, double x, double *y)
{
    const char *name = op->kind;
#define CASE(mil, value)                                                                                               \
    if (strcmp(name, mil) == 0) {                                                                                      \
        *y = (value);                                                                                                  \
        return true;                                                                                                   \
    }
    CASE("sigmoid", 1.0 / (1.0 + exp(-x)))
    CASE("relu", x < 0 ? 0.0 : x)
    CASE("silu", x / (1.0 + exp(-x)))
    CASE("gelu", gelu(op, x))
    CASE("relu6", x < 0 ? 0.0 : x > 6 ? 6.0 : x)
    CASE("leaky_relu", x >= 0 ? x : oracle_number(op, "alpha") * x)
    CASE("clamped_relu", fmin(x >= 0 ? x : oracle_number(op, "alpha") * x, oracle_number(op, "beta")))
    CASE("thresholded_relu", x >= oracle_number(op, "alpha") ? x : 0.0)
    CASE("elu", x > 0 ? x : oracle_number(op, "alpha") * expm1(x))
    CASE("softplus", log1p(exp(x)))
    CASE("softsign", x / (1.0 + fabs(x)))
    CASE("scaled_tanh", oracle_number(op, "alpha") * tanh(oracle_number(op, "beta") * x))
    CASE("sigmoid_hard", fmin(fmax(oracle_number(op, "alpha") * x + oracle_number(op, "beta"), 0.0), 1.0))
    CASE("linear_activation", oracle_number(op, "alpha") * x + oracle_number(op, "beta"))
#undef CASE
    return false;
}

/* prelu and softplus_parametric: x [N, C, ..] with vectors [C]. */
static bool per_channel(oracle *o, const mw__op *op)
{
    const bool slopes = strcmp(op->kind, "prelu") == 0;
    const double *x = oracle_arg(o, op, "x"), *alpha = oracle_arg(o, op, "alpha");
    const double *beta = slopes ? NULL : oracle_arg(o, op, "beta");
    const mw_shape shape = oracle_shape(op, "x");
    for (int64_t i = 0; i < mw_shape_count(shape); i++) {
        int64_t at[MW_RANK_MAX];
        oracle_unravel(shape, i, at);
        const int64_t c = at[1];
        o->data[op->results[0]->id][i] =
            slopes ? (x[i] >= 0 ? x[i] : alpha[c] * x[i]) : alpha[c] * log1p(exp(beta[c] * x[i]));
    }
    return true;
}

bool oracle_of_activation(oracle *o, const mw__op *op)
{
    static const oracle_row rows[] = {{"prelu", per_channel}, {"softplus_parametric", per_channel}};
    return oracle_map(o, op, value) || oracle_find(rows, sizeof rows / sizeof *rows, o, op);
}

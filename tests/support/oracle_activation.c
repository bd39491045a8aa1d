/* The reference evaluator: ops/activation.def. */
#include "support/oracle.h"

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
    CASE("relu", x > 0 ? x : 0.0)
    CASE("silu", x / (1.0 + exp(-x)))
    CASE("gelu", gelu(op, x))
#undef CASE
    return false;
}

bool oracle_of_activation(oracle *o, const mw__op *op) { return oracle_map(o, op, value); }

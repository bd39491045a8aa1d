/* Activations: shape rules and constructors of ops/activation.def. */
#include <millwright/op_activation.h>

#include "graph/rule.h"

#include <string.h>

/* ---- shape rules ---- */

static const char *const gelu_modes[] = {
    [MW_GELU_EXACT] = "EXACT", [MW_GELU_TANH] = "TANH_APPROXIMATION", [MW_GELU_SIGMOID] = "SIGMOID_APPROXIMATION"};
#define GELU_MODES (sizeof gelu_modes / sizeof gelu_modes[0])

mw_status mw__shape_gelu(mw__infer *infer)
{
    const char *mode = mw__arg_string(infer->op, "mode");
    for (size_t i = 0; mode != NULL && i < GELU_MODES; i++) {
        if (strcmp(mode, gelu_modes[i]) == 0)
            return mw__shape_same_as_x(infer);
    }
    return mw__rule_fail(infer, MW_ERROR_ARGUMENT,
                         "mode \"%s\" is none of EXACT, TANH_APPROXIMATION, SIGMOID_APPROXIMATION",
                         mode != NULL ? mode : "");
}

/* ---- constructors ---- */

mw_tensor *mw_relu(mw_tensor *x) { return mw__unary("relu", x); }
mw_tensor *mw_sigmoid(mw_tensor *x) { return mw__unary("sigmoid", x); }
mw_tensor *mw_silu(mw_tensor *x) { return mw__unary("silu", x); }

mw_tensor *mw_gelu(mw_tensor *x, mw_gelu_mode mode)
{
    if (x == NULL)
        return NULL;
    if ((unsigned)mode >= GELU_MODES)
        return mw__graph_fail(x->graph, MW_ERROR_ARGUMENT, "gelu: mode %d is no mw_gelu_mode", (int)mode);
    mw__build build = mw__build_begin("gelu", x);
    mw__build_set(&build, "x", x);
    mw__build_string(&build, "mode", gelu_modes[mode]);
    return mw__build_end(&build);
}

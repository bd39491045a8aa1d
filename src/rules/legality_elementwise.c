/* Rows of what is computed element by element. */
#include "rules/legality.h"

#include <math.h>
#include <string.h>

static bool is_one_of(const mw__op *op, const char *const *kinds)
{
    bool found = false;
    for (; op != NULL && *kinds != NULL; kinds++)
        found = found || strcmp(op->kind, *kinds) == 0;
    return found;
}

static const mw__op *producer(const mw__op *op, const char *argument)
{
    const mw_tensor *value = mw__legality_argument(op, argument);
    return value != NULL ? value->op : NULL;
}

static bool starts_with(const mw__op *op, const char *start)
{
    return op != NULL && strncmp(op->kind, start, strlen(start)) == 0;
}

/* ---- a constant operand ---- */

static bool one_number(const mw_tensor *value, double *out)
{
    const mw__payload *payload = value != NULL ? value->payload : NULL;
    if (payload == NULL || payload->data == NULL || (mw__payload_count(payload) != 1 && !payload->splat))
        return false;
    const mw_dtype dtype = mw_tensor_dtype(value);
    if (dtype != MW_F16 && dtype != MW_F32)
        return false;
    *out = mw__payload_float(payload, 0);
    return true;
}

/* The operation that makes the operand beside a constant number. */
static const mw__op *beside_number(const mw__op *op, double *out)
{
    if (one_number(mw__legality_argument(op, "y"), out))
        return producer(op, "x");
    return one_number(mw__legality_argument(op, "x"), out) ? producer(op, "y") : NULL;
}

/* What fp16 rounds to 0 is 0. */
static bool zero_of_reduction(const mw__legality *legality, const mw__op *op, mw__trip *trip)
{
    double number;
    const mw__op *reduction = beside_number(op, &number);
    (void)legality;
    (void)trip;
    return starts_with(reduction, "reduce_") && fabs(number) < 0x1p-25;
}

static bool scaled_rounding(const mw__legality *legality, const mw__op *op, mw__trip *trip)
{
    static const char *const kinds[] = {"floor", "ceil", "round", NULL};
    double number;
    const mw__op *rounding = beside_number(op, &number);
    (void)legality;
    trip->what = rounding != NULL ? rounding->kind : NULL;
    return is_one_of(rounding, kinds);
}

static bool two_constants(const mw__legality *legality, const mw__op *op, mw__trip *trip)
{
    const mw_tensor *x = mw__legality_argument(op, "x"), *y = mw__legality_argument(op, "y");
    (void)legality;
    (void)trip;
    return x != NULL && y != NULL && mw__is_constant(x) && mw__is_constant(y);
}

/* ---- squares ---- */

bool mw__legality_square_is_wide(const mw__op *op, mw__trip *trip)
{
    const mw_shape shape = op->result_count == 1 ? mw_tensor_shape(op->results[0]) : (mw_shape){0};
    trip->there = shape.rank > 0 ? shape.dim[shape.rank - 1] : 0;
    trip->limit = 64;
    return trip->there % 128 > 64;
}

static bool after_square(const mw__legality *legality, const mw__op *op, mw__trip *trip)
{
    const mw__op *square = producer(op, "x");
    (void)legality;
    return square != NULL && strcmp(square->kind, "square") == 0 && mw__legality_square_is_wide(square, trip);
}

static bool of_reduction(const mw__legality *legality, const mw__op *op, mw__trip *trip)
{
    const mw_tensor *x = mw__legality_argument(op, "x"), *y = mw__legality_argument(op, "y");
    (void)trip;
    return !mw__legality_chip(legality)->squares_reductions && starts_with(producer(op, "x"), "reduce_") &&
           (strcmp(op->kind, "square") == 0 || x == y);
}

static bool lacks_sine(const mw__legality *legality, const mw__op *op, mw__trip *trip)
{
    (void)op;
    (void)trip;
    return !mw__legality_chip(legality)->has_sine;
}

/* ---- broadcasts ---- */

/* Along the third axis of five. */
static bool broadcasts_depth(const mw__legality *legality, const mw__op *op, mw__trip *trip)
{
    const mw_shape result = op->result_count == 1 ? mw_tensor_shape(op->results[0]) : (mw_shape){0};
    (void)legality;
    if (!mw__op_has(op, MW__TRAIT_ELEMENTWISE) || result.rank != 5 || result.dim[2] <= 1)
        return false;
    for (size_t i = 0; i < op->slot_count; i++) {
        const mw_tensor *value = op->slots[i].count == 1 ? op->slots[i].operands[0].value : NULL;
        const mw_shape shape = value != NULL ? mw_tensor_shape(value) : (mw_shape){0};
        const int axis = shape.rank - 3;
        if (op->row->args[i].kind == MW__CONST || shape.rank < 1 || (axis >= 0 && shape.dim[axis] != 1) ||
            mw_shape_count(shape) == 1)
            continue;
        *trip = (mw__trip){.tensor = value, .limit = 1, .there = result.dim[2]};
        return true;
    }
    return false;
}

static const mw__legality_row rows[] = {
    MW__NO_CHIP("acos", acos),
    MW__NO_CHIP("asin", asin),
    MW__NO_CHIP("atanh", atanh),
    MW__NO_CHIP("cosh", cosh),
    {.id = "logical_and",
     .operations = MW__OPERATIONS("logical_and"),
     .chips = MW__ON_ALL,
     .judges = MW__BY_DIRECT,
     .stage = MW__STAGE_LOWERING,
     .op = mw__legality_always,
     .rule = "the ANE does not run it",
     .source =
         "operation sweep of ANEForge on the ANE; Core ML on M4 offers it to the ANE (" MW__SWEEP "), where or and "
         "xor were not tried",
     .rewrite = MW__RULE_logical_and},
    MW__NO_CHIP("logical_or", logical_or),
    MW__NO_CHIP("logical_xor", logical_xor),
    MW__NO_CHIP("mod", mod),
    MW__NO_CHIP("sinh", sinh),
    MW__NO_CHIP("tan", tan),
    {.id = "sine",
     .operations = MW__OPERATIONS("sin", "cos"),
     .chips = MW__ON_BELOW_H15,
     .op = lacks_sine,
     .rule = "it came with h15 (M3)",
     .source = "ane-guide, appendix A, minimum family A15; ANEForge, operation floors",
     .rewrite = MW__RULE_sine},
    {.id = "square_nonlinearity",
     .operations = MW__OPERATIONS("relu", "sigmoid", "tanh", "silu", "gelu", "elu", "exp", "sqrt", "rsqrt", "log",
                                  "softplus", "leaky_relu", "relu6"),
     .chips = MW__ON_NAMED,
     .stage = MW__STAGE_LOWERING,
     .op = after_square,
     .rule = "it follows square, and the width {there} modulo 128 is above {limit}; write mul(x, x)",
     .source = "ANEForge, compile walls",
     .rewrite = MW__RULE_square},
    {.id = "zero_of_reduction",
     .operations = MW__OPERATIONS("mul"),
     .chips = MW__ON_NAMED,
     .stage = MW__STAGE_LOWERING,
     .op = zero_of_reduction,
     .rule = "a reduction times 0 never finishes compiling; subtract it from itself",
     .source = "ANEForge, compile walls",
     .rewrite = MW__RULE_zero_of_reduction},
    {.id = "rounding_scale",
     .operations = MW__OPERATIONS("mul"),
     .chips = MW__ON_NAMED,
     .stage = MW__STAGE_RUN,
     .verdict = MW__WARNED,
     .op = scaled_rounding,
     .rule = "{what} times a number loses the number; multiply by a constant of the full shape",
     .source = "ANEForge, issue 112",
     .rewrite = MW__RULE_rounding_scale},
    {.id = "softplus_overflow",
     .operations = MW__OPERATIONS("softplus"),
     .chips = MW__ON_NAMED,
     .stage = MW__STAGE_RUN,
     .verdict = MW__WARNED,
     .op = mw__legality_always,
     .rule = "from ln 65504 = 11.09 on it is 0; softplus(-abs(x)) + relu(x) is not",
     .source = "ANEForge, issue 113",
     .rewrite = MW__RULE_softplus},
    {.id = "round_large",
     .operations = MW__OPERATIONS("round"),
     .chips = MW__ON_NAMED,
     .stage = MW__STAGE_RUN,
     .verdict = MW__WARNED,
     .op = mw__legality_always,
     .rule = "from 1024 on it is wrong, where every fp16 number is whole: select(|x| < 1024, round(x), x)",
     .source = "ANEForge, issue 116",
     .rewrite = MW__RULE_round},
    {.id = "square_after_reduction",
     .operations = MW__OPERATIONS("square", "mul"),
     .chips = MW__ON_BELOW_H14,
     .verdict = MW__NOTED,
     .op = of_reduction,
     .rule = "the square of a reduction is no part of its layer here",
     .validator = "square operation after reduction is not supported",
     .source = "ane-guide, chapter 24, support byte 0x494; ANEForge measured no difference. It is let through"},
    {.id = "goc_constants",
     .operations = MW__OPERATIONS("add", "mul"),
     .chips = MW__ON_NAMED,
     .verdict = MW__NOTED,
     .op = two_constants,
     .rule = "a layer of scale and shift wants one operand that is computed; both are constants",
     .validator = "Must have 2 inputs when convert EW to GOC",
     .source = "ane-guide, chapter 22"},
    {.id = "identity",
     .operations = MW__OPERATIONS("identity", "reshape_like"),
     .chips = MW__ON_NAMED,
     .stage = MW__STAGE_LOWERING,
     .verdict = MW__NOTED,
     .op = mw__legality_always,
     .rule = "it may not compile alone",
     .source = "ane-guide, appendix A: native; ANEForge, operation sweep on M5: does not compile. It is let through"},
    {.id = "broadcast_depth",
     .chips = MW__ON_BELOW_H14,
     .op = broadcasts_depth,
     .rule = "the third of five axes is broadcast from {limit} to {there}",
     .validator = "Broadcast along depth axis is not supported on this architecture",
     .source = "ane-guide, chapter 17"},
};

const mw__legality_family mw__legality_elementwise = {"elementwise", rows, sizeof rows / sizeof *rows};

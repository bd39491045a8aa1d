/* Rows of reductions and of what orders elements. */
#include "rules/legality.h"

static int64_t extent_along(const mw__op *op, const char *argument)
{
    const mw_shape x = mw__legality_shape(op, "x");
    int64_t axis = 0;
    if (op->row == NULL || !mw__arg_int(op, argument, &axis))
        return 0;
    axis += axis < 0 ? x.rank : 0;
    return axis >= 0 && axis < x.rank ? x.dim[axis] : 0;
}

static bool far_axis(const mw__legality *legality, const mw__op *op, mw__trip *trip)
{
    int64_t axes[MW_RANK_MAX];
    size_t count = 0;
    (void)legality;
    trip->limit = 4;
    if (op->row == NULL || !mw__arg_ints(op, "axes", axes, MW_RANK_MAX, &count))
        return false;
    for (size_t i = 0; i < count; i++) {
        trip->there = axes[i] < 0 ? axes[i] + mw__legality_shape(op, "x").rank : axes[i];
        if (trip->there > trip->limit)
            return true;
    }
    return false;
}

static bool long_argument(const mw__legality *legality, const mw__op *op, mw__trip *trip)
{
    trip->limit = mw__legality_chip(legality)->argument_max;
    trip->there = extent_along(op, "axis");
    return trip->there > trip->limit;
}

static bool lacks_sort(const mw__legality *legality, const mw__op *op, mw__trip *trip)
{
    (void)op;
    (void)trip;
    return !mw__legality_chip(legality)->has_sort;
}

static const mw__legality_row rows[] = {
    {.id = "cumsum",
     .operations = MW__OPERATIONS("cumsum"),
     .chips = MW__ON_ALL,
     .stage = MW__STAGE_LOWERING,
     .op = mw__legality_always,
     .rule = "the ANE does not run it",
     .source = "operation sweep of ANEForge on the ANE; ane-guide, appendix A, has it on M1 outside the common path. "
               "Refusal is taken",
     .rewrite = MW__RULE_cumsum},
    MW__NO_CHIP("reduce_argmax", argument),
    {.id = "reduce_argmin",
     .operations = MW__OPERATIONS("reduce_argmin"),
     .chips = MW__ON_ALL,
     .stage = MW__STAGE_LOWERING,
     .op = mw__legality_always,
     .rule = "the ANE does not run it",
     .source = "operation sweep of ANEForge on the ANE; ane-guide, appendix A, has it from h15 on. Refusal is taken",
     .rewrite = MW__RULE_argument},
    MW__NO_CHIP("reduce_prod", product),
    {.id = "non_maximum_suppression",
     .operations = MW__OPERATIONS("non_maximum_suppression"),
     .chips = MW__ON_ALL,
     .stage = MW__STAGE_LOWERING,
     .op = mw__legality_always,
     .rule = "the ANE does not run it",
     .source = "operation sweep of ANEForge, where it runs on the CPU"},
    {.id = "reduce_axis",
     .operations =
         MW__OPERATIONS("reduce_sum", "reduce_mean", "reduce_max", "reduce_min", "reduce_log_sum_exp",
                        "reduce_sum_square", "reduce_l1_norm", "reduce_l2_norm", "reduce_log_sum", "reduce_prod"),
     .chips = MW__ON_NAMED,
     .op = far_axis,
     .rule = "axis {there} is reduced, the last that can be is {limit}",
     .validator = "Reduction layer can only have one bottom",
     .source = "ane-guide, chapter 22"},
    {.id = "argument_extent",
     .operations = MW__OPERATIONS("reduce_argmax", "reduce_argmin"),
     .chips = MW__ON_NAMED,
     .op = long_argument,
     .rule = "the axis has {there} elements, at most {limit} are searched",
     .validator = "ArgMinMax left padding value should be smaller than kernel width %d, but %d is given",
     .source = "ane-guide, chapter 22",
     .rewrite = MW__RULE_argument},
    {.id = "sort",
     .operations = MW__OPERATIONS("topk", "argsort"),
     .chips = MW__ON_BELOW_H14,
     .stage = MW__STAGE_LOWERING,
     .op = lacks_sort,
     .rule = "it came with h14 (M2); the validator of h13 takes it",
     .source = "ane-guide, appendix A, measured on M1; ANEForge, operation floors"},
    {.id = "topk_direct",
     .operations = MW__OPERATIONS("topk"),
     .chips = MW__ON_H16,
     .judges = MW__BY_DIRECT,
     .stage = MW__STAGE_LOWERING,
     .op = mw__legality_always,
     .rule = "the compiler for M4 stops with error 22 (RCAS check)",
     .source =
         MW__SWEEP ", topk along the width; M6 takes it, and Core ML on M4 runs it on the ANE all the same, in 6 to "
                   "10 ms"},
    {.id = "coreml_argsort",
     .operations = MW__OPERATIONS("argsort"),
     .chips = MW__ON_NAMED,
     .judges = MW__BY_COREML,
     .stage = MW__STAGE_PLANNER,
     .op = mw__legality_always,
     .rule = "Core ML does not offer it to the ANE",
     .source = MW__SWEEP_M4},
    {.id = "argsort_sweep",
     .operations = MW__OPERATIONS("argsort"),
     .chips = MW__ON_NAMED,
     .stage = MW__STAGE_LOWERING,
     .verdict = MW__WARNED,
     .op = mw__legality_always,
     .rule = "it may not compile",
     .source = "ane-guide, appendix A: native from h14 on; ANEForge, operation sweep on M5: does not compile. It is "
               "let through"},
};

const mw__legality_family mw__legality_reduce = {"reduce", rows, sizeof rows / sizeof *rows};

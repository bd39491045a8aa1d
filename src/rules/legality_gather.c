/* Rows of gathers and scatters. */
#include "rules/legality.h"

/* fp16 is what an int32 port of the program becomes. */
static bool half_indices(const mw__legality *legality, const mw__op *op, mw__trip *trip)
{
    const mw_tensor *indices = mw__legality_argument(op, "indices");
    trip->tensor = indices;
    return indices != NULL && (mw__legality_half(legality, indices) || mw_tensor_dtype(indices) == MW_F16);
}

/* Data of several images or of volumes. */
static bool batched_data(const mw__legality *legality, const mw__op *op, mw__trip *trip)
{
    const mw_shape x = mw__legality_shape(op, "x");
    (void)legality;
    trip->tensor = mw__legality_argument(op, "x");
    trip->limit = 1;
    trip->there = x.rank >= 4 ? x.dim[0] : 1;
    if (x.rank == 5 && x.dim[2] > trip->there)
        trip->there = x.dim[2];
    return trip->there > 1;
}

static bool computed_indices(const mw__legality *legality, const mw__op *op, mw__trip *trip)
{
    (void)legality;
    trip->tensor = mw__legality_argument(op, "indices");
    return mw__legality_computed(trip->tensor);
}

static bool constant_indices(const mw__legality *legality, const mw__op *op, mw__trip *trip)
{
    return !computed_indices(legality, op, trip);
}

#define HALF(operation_, source_)                                                                                      \
    {                                                                                                                  \
        .id = #operation_ "_half", .operations = MW__OPERATIONS(#operation_), .chips = MW__ON_ALL, .op = half_indices, \
        .rule = "its int32 indices come from an input, which is an fp16 port on the ANE, and fp16 cannot be an index", \
        .source = source_, .rewrite = MW__RULE_##operation_                                                            \
    }

static const mw__legality_row rows[] = {
    HALF(gather, "MIL reference, gather takes integer indices"),
    HALF(gather_along_axis, "MIL reference, gather_along_axis takes integer indices"),
    HALF(gather_nd, "MIL reference, gather_nd takes integer indices"),
    HALF(one_hot, "MIL reference, one_hot takes integer indices"),
    MW__NO_CHIP("non_zero", non_zero),
    MW__NO_CHIP("scatter", put),
    MW__NO_CHIP("scatter_along_axis", put),
    MW__NO_CHIP("scatter_nd", put),
    {.id = "gather_batch",
     .operations = MW__OPERATIONS("gather", "gather_along_axis", "gather_nd"),
     .chips = MW__ON_BELOW_H14,
     .op = batched_data,
     .rule = "the data has {there} images or planes, and {limit} is taken",
     .validator = "Cannot decompose layer on this architecture",
     .source = "ane-guide, chapters 17 and 22, measured on M1"},
    {.id = "coreml_gather_computed",
     .operations = MW__OPERATIONS("gather"),
     .chips = MW__ON_NAMED,
     .judges = MW__BY_COREML,
     .stage = MW__STAGE_PLANNER,
     .op = computed_indices,
     .rule = "its indices are computed, and Core ML does not offer it to the ANE",
     .source = MW__SWEEP_M4 "; gather_nd and gather_along_axis are offered"},
    {.id = "coreml_gather_constant",
     .operations = MW__OPERATIONS("gather"),
     .chips = MW__ON_H13,
     .judges = MW__BY_COREML,
     .stage = MW__STAGE_PLANNER,
     .op = constant_indices,
     .rule = "Core ML does not offer it to the ANE of M1",
     .source = "M6 study, costs that the planner records for H13G: none for the ANE; on M4 it is offered"},
    {.id = "gather_sweep",
     .operations = MW__OPERATIONS("gather", "gather_along_axis", "gather_nd"),
     .chips = MW__ON_NAMED,
     .stage = MW__STAGE_LOWERING,
     .verdict = MW__WARNED,
     .op = mw__legality_always,
     .rule = "it may not compile",
     .source = "ane-guide, appendix A: native; ANEForge, operation sweep on M5: not implemented. It is let through"},
    {.id = "one_hot",
     .operations = MW__OPERATIONS("one_hot"),
     .chips = MW__ON_NAMED,
     .stage = MW__STAGE_LOWERING,
     .op = mw__legality_always,
     .rule = "the ANE does not run it; compare with a range",
     .source = "operation sweep of ANEForge on M5; ane-guide, appendix A",
     .rewrite = MW__RULE_one_hot},
};

const mw__legality_family mw__legality_gather = {"gather", rows, sizeof rows / sizeof *rows};

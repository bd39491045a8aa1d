/* Rows of what moves elements. */
#include "graph/constants/compressed.h"
#include "rules/legality.h"

#include <string.h>

/* ---- transpose and concat ---- */

static bool moves_long_axis(const mw__legality *legality, const mw__op *op, mw__trip *trip)
{
    int64_t perm[MW_RANK_MAX];
    size_t count = 0;
    const mw_shape x = mw__legality_shape(op, "x");
    trip->limit = mw__legality_chip(legality)->transpose_max;
    if (trip->limit == 0 || op->row == NULL || !mw__arg_ints(op, "perm", perm, MW_RANK_MAX, &count))
        return false;
    for (size_t i = 0; i < count && (int)count == x.rank; i++) {
        const int64_t axis = perm[i] < 0 ? perm[i] + x.rank : perm[i];
        trip->there = axis >= 0 && axis < x.rank && axis != (int64_t)i ? x.dim[axis] : 0;
        if (trip->there > trip->limit)
            return true;
    }
    return false;
}

static bool computed_axis(const mw__legality *legality, const mw__op *op, mw__trip *trip)
{
    (void)legality;
    trip->tensor = mw__legality_argument(op, "axis");
    return mw__legality_computed(trip->tensor);
}

static size_t values_of(const mw__op *op, const mw__operand **out)
{
    *out = NULL;
    for (size_t i = 0; i < op->slot_count; i++)
        if (strcmp(op->slots[i].name, "values") == 0) {
            *out = op->slots[i].operands;
            return op->slots[i].count;
        }
    return 0;
}

static bool one_value(const mw__legality *legality, const mw__op *op, mw__trip *trip)
{
    const mw__operand *values;
    (void)legality;
    trip->limit = 2;
    trip->there = (int64_t)values_of(op, &values);
    return trip->there < trip->limit;
}

/* ---- slices ---- */

static bool is_slice(const mw__op *op)
{
    return op->row != NULL && (strcmp(op->kind, "slice_by_index") == 0 || strcmp(op->kind, "slice_by_size") == 0);
}

/* True if the last axis is known to begin elsewhere than at 0. */
static bool begins_inside(const mw__op *op)
{
    int64_t begin[MW_RANK_MAX];
    bool mask[MW_RANK_MAX] = {false};
    size_t count = 0, masks = 0;
    const int rank = mw__legality_shape(op, "x").rank;
    if (!is_slice(op) || rank < 1 || !mw__arg_ints(op, "begin", begin, MW_RANK_MAX, &count) || (int)count != rank)
        return false;
    if (strcmp(op->kind, "slice_by_index") == 0 && mw__arg_bools(op, "begin_mask", mask, MW_RANK_MAX, &masks) &&
        (int)masks == rank && mask[rank - 1])
        return false;
    return begin[rank - 1] != 0;
}

static bool clamps(const mw__legality *legality, const mw__op *op, mw__trip *trip)
{
    (void)legality;
    trip->limit = 4094;
    return begins_inside(op);
}

/* Two slices or more that begin inside a row, joined. */
static bool joins_slices(const mw__legality *legality, const mw__op *op, mw__trip *trip)
{
    const mw__operand *values;
    const size_t count = values_of(op, &values);
    (void)legality;
    for (size_t i = 0; i < count; i++) {
        const mw__op *maker = values[i].value != NULL ? values[i].value->op : NULL;
        trip->there += maker != NULL && begins_inside(maker);
    }
    return trip->there >= 2;
}

static bool computed_begin_any(const mw__legality *legality, const mw__op *op, mw__trip *trip)
{
    (void)legality;
    trip->tensor = mw__legality_argument(op, "begin");
    return mw__legality_computed(trip->tensor);
}

static bool computed_begin(const mw__legality *legality, const mw__op *op, mw__trip *trip)
{
    static const char *const names[] = {"begin", "end", "size"};
    for (size_t i = 0; !mw__legality_chip(legality)->has_sort && i < sizeof names / sizeof *names; i++) {
        trip->tensor = mw__legality_argument(op, names[i]);
        trip->what = names[i];
        if (mw__legality_computed(trip->tensor))
            return true;
    }
    return false;
}

/* ---- factors ---- */

/* A product of 2, 3, 4 and 8. */
static bool is_factor(int64_t number)
{
    while (number > 1 && number % 2 == 0)
        number /= 2;
    while (number > 1 && number % 3 == 0)
        number /= 3;
    return number <= 1;
}

static bool other_factor(const mw__op *op, const char *argument, mw__trip *trip)
{
    int64_t factors[MW_RANK_MAX];
    size_t count = 0;
    if (op->row == NULL || !mw__arg_ints(op, argument, factors, MW_RANK_MAX, &count))
        return false;
    for (size_t i = 0; i < count; i++) {
        trip->there = factors[i];
        if (!is_factor(factors[i]))
            return true;
    }
    return false;
}

static bool other_reps(const mw__legality *legality, const mw__op *op, mw__trip *trip)
{
    (void)legality;
    return other_factor(op, "reps", trip);
}

static bool other_block(const mw__legality *legality, const mw__op *op, mw__trip *trip)
{
    const bool batch = strcmp(op->kind, "space_to_batch") == 0 || strcmp(op->kind, "batch_to_space") == 0;
    (void)legality;
    return other_factor(op,
                        batch                                      ? "block_shape"
                        : strcmp(op->kind, "pixel_shuffle") == 0   ? "upscale_factor"
                        : strcmp(op->kind, "pixel_unshuffle") == 0 ? "downscale_factor"
                                                                   : "block_size",
                        trip);
}

/* ---- pads ---- */

/* Beyond the last two axes of x [.., channels, height, width]. */
static bool beyond_plane(const mw__op *op)
{
    int64_t pad[2 * MW_RANK_MAX];
    size_t count = 0;
    const int rank = mw__legality_shape(op, "x").rank;
    bool any = false;
    if (op->row == NULL || rank < 3 || !mw__arg_ints(op, "pad", pad, 2 * MW_RANK_MAX, &count) ||
        count > 2 * (size_t)rank)
        return false;
    const int first = rank - (int)(count / 2); /* the pads are those of the last axes */
    for (size_t i = 0; i < count; i++)
        any = any || (pad[i] != 0 && first + (int)(i / 2) < rank - 2);
    return any;
}

static bool pads_channels(const mw__legality *legality, const mw__op *op, mw__trip *trip)
{
    (void)legality;
    (void)trip;
    return beyond_plane(op);
}

static bool mirrors(const mw__legality *legality, const mw__op *op, mw__trip *trip)
{
    trip->what = op->row != NULL ? mw__arg_string(op, "mode") : NULL;
    return !mw__legality_chip(legality)->has_texture_engine && trip->what != NULL && strcmp(trip->what, "reflect") == 0;
}

/* ---- reshape, and what is made of nothing ---- */

static bool reshapes_beyond(const mw__legality *legality, const mw__op *op, mw__trip *trip)
{
    const int rank = op->result_count == 1 ? mw_tensor_shape(op->results[0]).rank : 0;
    trip->limit = mw__legality_chip(legality)->rank_max;
    trip->there = rank;
    return rank > trip->limit;
}

static bool of_compressed(const mw__legality *legality, const mw__op *op, mw__trip *trip)
{
    (void)legality;
    trip->tensor = mw__legality_argument(op, "x");
    return trip->tensor != NULL && trip->tensor->op != NULL && mw__op_is_constexpr(trip->tensor->op);
}

static const mw__legality_row rows[] = {
    MW__NO_CHIP("band_part", band),
    MW__NO_CHIP("reverse_sequence", turned),
    MW__NO_CHIP("sliding_windows", windows),
    {.id = "transpose_extent",
     .operations = MW__OPERATIONS("transpose"),
     .chips = MW__ON_NAMED,
     .op = moves_long_axis,
     .rule = "an axis of {there} elements is moved, at most {limit} can be",
     .validator = "NE Input Transpose is not supported for this arch",
     .source =
         "ane-guide, appendix A; ANEForge, limits by chip: 8388607, and 16777215 from h16 on. The guide is taken"},
    {.id = "concat_axis",
     .operations = MW__OPERATIONS("concat"),
     .chips = MW__ON_NAMED,
     .op = computed_axis,
     .rule = "the axis must be a constant",
     .validator = "ANE Concat supports only supports const positive axis",
     .source = "ane-guide, chapter 22"},
    {.id = "concat_values",
     .operations = MW__OPERATIONS("concat"),
     .chips = MW__ON_NAMED,
     .op = one_value,
     .rule = "it joins {there} values, at least {limit} are wanted",
     .validator = "both concat inputs must have the same layout",
     .source = "ane-guide, chapter 22",
     .rewrite = MW__RULE_concat_one},
    {.id = "concat_slices",
     .operations = MW__OPERATIONS("concat"),
     .chips = MW__ON_BELOW_H16,
     .stage = MW__STAGE_RUN,
     .verdict = MW__WARNED,
     .op = joins_slices,
     .rule = "{there} slices that begin inside a row are joined, which gives other elements; slice another axis",
     .source = "ANEForge, compile walls"},
    {.id = "slice_clamp",
     .operations = MW__OPERATIONS("slice_by_index", "slice_by_size"),
     .chips = MW__ON_BELOW_H16,
     .stage = MW__STAGE_RUN,
     .verdict = MW__WARNED,
     .op = clamps,
     .rule = "a slice that begins inside a row gives infinity for numbers beyond {limit}; slice another axis",
     .source = "ane-guide, chapters 3 and 17, measured on M1 and M2, by its reading of the compiler not on M3; "
               "ANEForge: before h16. All before h16 are taken"},
    {.id = "dynamic_slice",
     .operations = MW__OPERATIONS("slice_by_index", "slice_by_size"),
     .chips = MW__ON_BELOW_H14,
     .stage = MW__STAGE_LOWERING,
     .op = computed_begin,
     .rule = "{what} is computed, which h14 (M2) can; the validator of h13 takes it",
     .source = "ane-guide, appendix A, measured on M1; ANEForge, operation floors",
     .rewrite = MW__RULE_placed},
    {.id = "coreml_slice_begin",
     .operations = MW__OPERATIONS("slice_by_size"),
     .chips = MW__ON_NAMED,
     .judges = MW__BY_COREML,
     .stage = MW__STAGE_PLANNER,
     .op = computed_begin_any,
     .rule = "its begin is computed, and Core ML does not offer it to the ANE",
     .source = MW__SWEEP_M4 "; slice_by_index was not tried"},
    {.id = "slice_update",
     .operations = MW__OPERATIONS("slice_update"),
     .chips = MW__ON_NAMED,
     .stage = MW__STAGE_LOWERING,
     .op = mw__legality_always,
     .rule = "the ANE does not run it",
     .source = "operation sweep of ANEForge on M5",
     .rewrite = MW__RULE_update},
    {.id = "tile_factor",
     .operations = MW__OPERATIONS("tile"),
     .chips = MW__ON_NAMED,
     .op = other_reps,
     .rule = "{there} is no product of the factors 2, 3, 4 and 8",
     .source = "ane-guide, appendix A, list of factors; ANEForge, tile",
     .rewrite = MW__RULE_tile_copies},
    {.id = "block_factor",
     .operations = MW__OPERATIONS("space_to_batch", "batch_to_space", "space_to_depth", "depth_to_space",
                                  "pixel_shuffle", "pixel_unshuffle"),
     .chips = MW__ON_NAMED,
     .op = other_block,
     .rule = "{there} is no product of the factors 2, 3, 4 and 8",
     .validator = "Input batch n is not divisible by factor x * factor y",
     .source = "ane-guide, appendix A, list of factors"},
    {.id = "pad_channels",
     .operations = MW__OPERATIONS("pad"),
     .chips = MW__ON_NAMED,
     .judges = MW__BY_DIRECT,
     .op = pads_channels,
     .rule = "only the last two axes can be padded; join constants with concat",
     .validator = "Channel padding is not supported on ANE",
     .source = "ane-guide, chapter 22; Core ML on M4 offers it to the ANE (" MW__SWEEP ")",
     .rewrite = MW__RULE_pad_channels},
    {.id = "pad_mode",
     .operations = MW__OPERATIONS("pad"),
     .chips = MW__ON_BELOW_H14,
     .op = mirrors,
     .rule = "the mode {what} came with the texture engine of h14 (M2)",
     .validator = "Architecture does not support padding mode.",
     .source = "ane-guide, chapters 22 and 24",
     .rewrite = MW__RULE_pad_mode},
    {.id = "reshape_rank",
     .operations = MW__OPERATIONS("reshape", "expand_dims"),
     .chips = MW__ON_NAMED,
     .op = reshapes_beyond,
     .rule = "the result has rank {there}, at most {limit} is taken",
     .validator = "Cannot reshape a tensor of rank > 5",
     .source = "ane-guide, chapter 22"},
    {.id = "compressed_reshape",
     .operations = MW__OPERATIONS("reshape", "transpose", "expand_dims", "squeeze"),
     .chips = MW__ON_NAMED,
     .stage = MW__STAGE_LOWERING,
     .verdict = MW__WARNED,
     .op = of_compressed,
     .rule = "a constant that is compressed is not led through it; store the weight in its shape",
     .source = "ANEForge, compile walls"},
    {.id = "shape",
     .operations = MW__OPERATIONS("shape"),
     .chips = MW__ON_NAMED,
     .stage = MW__STAGE_LOWERING,
     .op = mw__legality_always,
     .rule = "the ANE does not run it",
     .source = "operation sweep of ANEForge on M5; ane-guide, appendix A",
     .rewrite = MW__RULE_known_shape},
    {.id = "range",
     .operations = MW__OPERATIONS("range_1d"),
     .chips = MW__ON_BELOW_H14,
     .stage = MW__STAGE_LOWERING,
     .op = mw__legality_always,
     .rule = "it does not compile; make the numbers a constant",
     .source = "ane-guide, chapter 22, measured on M1; ANEForge, operation sweep on M5: right, so nothing is said of "
               "later chips",
     .rewrite = MW__RULE_known_range},
    {.id = "coreml_range",
     .operations = MW__OPERATIONS("range_1d"),
     .chips = MW__ON_NAMED,
     .judges = MW__BY_COREML,
     .stage = MW__STAGE_PLANNER,
     .op = mw__legality_always,
     .rule = "Core ML does not offer it to the ANE; make the numbers a constant",
     .source = MW__SWEEP_M4},
    {.id = "reverse",
     .operations = MW__OPERATIONS("reverse"),
     .chips = MW__ON_NAMED,
     .verdict = MW__NOTED,
     .op = mw__legality_always,
     .rule = "no validator knows it; it runs all the same",
     .source = "ane-guide, chapter 22; ANEForge runs it on M1"},
};

const mw__legality_family mw__legality_shape_rules = {"shape", rows, sizeof rows / sizeof *rows};

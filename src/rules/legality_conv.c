/* Rows of convolution and pooling. */
#include "rules/legality.h"

#include <string.h>

static bool computed_weight(const mw__legality *legality, const mw__op *op, mw__trip *trip)
{
    (void)legality;
    trip->tensor = mw__legality_argument(op, "weight");
    return mw__legality_computed(trip->tensor);
}

static bool computed_weight_batched(const mw__legality *legality, const mw__op *op, mw__trip *trip)
{
    const mw_shape x = mw__legality_shape(op, "x");
    trip->limit = 1;
    trip->there = x.rank > 0 ? x.dim[0] : 0;
    return computed_weight(legality, op, trip) && trip->there > 1;
}

static bool computed_weight_single(const mw__legality *legality, const mw__op *op, mw__trip *trip)
{
    return computed_weight(legality, op, trip) && !computed_weight_batched(legality, op, trip);
}

/* ---- extents of kernels: weight [O, C / groups, .., height, width] ---- */

static bool long_kernel(const mw__op *op, int from_last, int64_t limit, mw__trip *trip)
{
    const mw_shape weight = mw__legality_shape(op, "weight");
    trip->limit = limit;
    trip->there = weight.rank > 2 + from_last ? weight.dim[weight.rank - 1 - from_last] : 0;
    return trip->there > limit;
}

static bool wide_kernel(const mw__legality *legality, const mw__op *op, mw__trip *trip)
{
    return long_kernel(op, 0, mw__legality_chip(legality)->kernel_width_max, trip);
}

/* Core ML offers a square that is wider than what the compiler takes: it compiles for minutes and takes gigabytes. */
static bool wide_kernel_coreml(const mw__legality *legality, const mw__op *op, mw__trip *trip)
{
    const mw_shape weight = mw__legality_shape(op, "weight");
    const bool square = weight.rank == 4 && weight.dim[2] == weight.dim[3];
    return wide_kernel(legality, op, trip) &&
           !(square && trip->there <= mw__legality_chip(legality)->kernel_square_coreml);
}

static bool tall_kernel(const mw__legality *legality, const mw__op *op, mw__trip *trip)
{
    return long_kernel(op, 1, mw__legality_chip(legality)->kernel_height_max, trip);
}

static bool deep_kernel(const mw__legality *legality, const mw__op *op, mw__trip *trip)
{
    return long_kernel(op, 2, mw__legality_chip(legality)->kernel_depth_max, trip);
}

static bool is_volume(const mw__legality *legality, const mw__op *op, mw__trip *trip)
{
    (void)legality;
    trip->limit = 4;
    trip->there = mw__legality_shape(op, "x").rank;
    return trip->there > 4;
}

/* A kernel taller than what it slides over, as it is without padding. */
static bool kernel_beyond_input(const mw__legality *legality, const mw__op *op, mw__trip *trip)
{
    const mw_shape weight = mw__legality_shape(op, "weight"), x = mw__legality_shape(op, "x");
    (void)legality;
    if (weight.rank != 4 || x.rank != 4)
        return false;
    trip->limit = x.dim[2];
    trip->there = weight.dim[2];
    return trip->limit > 0 && trip->there > trip->limit;
}

static bool uneven_groups(const mw__legality *legality, const mw__op *op, mw__trip *trip)
{
    const mw_shape weight = mw__legality_shape(op, "weight"), x = mw__legality_shape(op, "x");
    (void)legality;
    if (op->row == NULL || weight.rank < 3 || x.rank < 3 || !mw__arg_int(op, "groups", &trip->limit) || trip->limit < 1)
        return false;
    trip->there = x.dim[1] % trip->limit != 0 ? x.dim[1] : weight.dim[0];
    return trip->there > 0 && trip->there % trip->limit != 0;
}

/* All that makes one channel of the result. */
static bool large_kernel(const mw__legality *legality, const mw__op *op, mw__trip *trip)
{
    const mw_shape weight = mw__legality_shape(op, "weight");
    trip->limit = mw__legality_chip(legality)->kernel_stream;
    if (weight.rank < 3 || mw_shape_count(weight) < 0)
        return false;
    const int64_t elements = mw__shape_span(weight, 1, weight.rank);
    trip->there = elements < INT64_MAX / 2 ? 2 * elements : INT64_MAX;
    return trip->there > trip->limit;
}

static bool large_batch(const mw__legality *legality, const mw__op *op, mw__trip *trip)
{
    const mw_shape x = mw__legality_shape(op, "x");
    (void)legality;
    trip->limit = 128;
    trip->there = x.rank == 4 ? x.dim[0] : 0;
    return trip->there > trip->limit;
}

/* ---- pooling: kernel_sizes [.., height, width] ---- */

static size_t pool_kernel(const mw__op *op, int64_t out[MW_RANK_MAX])
{
    size_t count = 0;
    return op->row != NULL && mw__arg_ints(op, "kernel_sizes", out, MW_RANK_MAX, &count) ? count : 0;
}

static bool wide_window(const mw__legality *legality, const mw__op *op, mw__trip *trip)
{
    int64_t kernel[MW_RANK_MAX];
    const size_t count = pool_kernel(op, kernel);
    trip->limit = mw__legality_chip(legality)->max_pool_width_max;
    trip->there = count > 0 ? kernel[count - 1] : 0;
    return trip->there > trip->limit;
}

static bool long_window(const mw__legality *legality, const mw__op *op, mw__trip *trip)
{
    int64_t kernel[MW_RANK_MAX];
    const size_t count = pool_kernel(op, kernel);
    trip->limit = mw__legality_chip(legality)->pool_window_max;
    for (size_t i = 0; i < count; i++) {
        trip->there = kernel[i];
        if (trip->there > trip->limit)
            return true;
    }
    return false;
}

static bool window_beyond_input(const mw__legality *legality, const mw__op *op, mw__trip *trip)
{
    int64_t kernel[MW_RANK_MAX];
    const mw_shape x = mw__legality_shape(op, "x");
    const size_t count = pool_kernel(op, kernel);
    (void)legality;
    for (size_t i = 0; i < count && (int)i + 2 < x.rank; i++) {
        trip->limit = x.dim[i + 2];
        trip->there = kernel[i];
        if (trip->limit > 0 && trip->there > trip->limit)
            return true;
    }
    return false;
}

static bool wide_padding(const mw__legality *legality, const mw__op *op, mw__trip *trip)
{
    int64_t kernel[MW_RANK_MAX], pad[2 * MW_RANK_MAX];
    size_t pads = 0;
    const size_t count = pool_kernel(op, kernel);
    const char *type = op->row != NULL ? mw__arg_string(op, "pad_type") : NULL;
    (void)legality;
    if (type == NULL || strcmp(type, "custom") != 0 || !mw__arg_ints(op, "pad", pad, 2 * MW_RANK_MAX, &pads))
        return false;
    for (size_t i = 0; i < pads && i / 2 < count; i++) {
        trip->limit = kernel[i / 2] - 1;
        trip->there = pad[i];
        if (trip->there > trip->limit)
            return true;
    }
    return false;
}

static const mw__legality_row rows[] = {
    {.id = "conv_kernel_width",
     .operations = MW__OPERATIONS("conv"),
     .chips = MW__ON_ALL,
     .judges = MW__BY_DIRECT,
     .op = wide_kernel,
     .rule = "the kernel is wider than {limit}",
     .validator = "Invalid conv kernel %s = %zd, It should be in [%zd,%zd]",
     .source =
         "ANEForge, limits by chip: 13 on h13, 13 untried on h14 and h15, 15 from h16 on; ane-guide, appendix A: "
         "13 on h13 (measured, chapter 17), 16 from h14 on; " MW__SWEEP ": 15 on M4 and M6, 16 refused. 15 is taken "
         "from h14 on, and where no chip is named",
     .rewrite = MW__RULE_wide_conv},
    {.id = "coreml_conv_kernel_width",
     .operations = MW__OPERATIONS("conv"),
     .chips = MW__ON_ALL,
     .judges = MW__BY_COREML,
     .stage = MW__STAGE_PLANNER,
     .op = wide_kernel_coreml,
     .rule = "the kernel is {there} wide, and {limit} is offered to the ANE",
     .source = MW__SWEEP ": Core ML on M4 offers 15 and not 16, but for a square of 16; of other chips the limits of "
                         "conv_kernel_width are taken"},
    {.id = "conv_computed_weight",
     .operations = MW__OPERATIONS("conv"),
     .chips = MW__ON_ALL,
     .stage = MW__STAGE_LOWERING,
     .op = computed_weight_batched,
     .rule = "a weight that is not a constant needs a batch of 1; use the decomposed form",
     .source = "ANEForge, dynamic convolution",
     .rewrite = MW__RULE_conv_decomposed},
    {.id = "conv_transpose_computed_weight",
     .operations = MW__OPERATIONS("conv_transpose"),
     .chips = MW__ON_ALL,
     .op = computed_weight,
     .rule = "its weight must be a constant; use the decomposed form",
     .source = "ANEForge, dynamic convolution"},
    {.id = "conv_quantized",
     .operations = MW__OPERATIONS("conv_quantized"),
     .chips = MW__ON_ALL,
     .stage = MW__STAGE_LOWERING,
     .op = mw__legality_always,
     .rule = "the ANE does not run it; mw_program_create writes it as a conv",
     .source = "operation sweep of ANEForge on the ANE"},
    {.id = "conv_computed_weight_single",
     .operations = MW__OPERATIONS("conv"),
     .chips = MW__ON_NAMED,
     .stage = MW__STAGE_RUN,
     .verdict = MW__WARNED,
     .op = computed_weight_single,
     .rule = "a weight that is not a constant may be ignored",
     .source = "ANEForge: a convolution of its own for a batch of 1, and a report that the weight is ignored; it is "
               "let through, and not written",
     .rewrite = MW__RULE_conv_decomposed},
    {.id = "conv_transpose_kernel_width",
     .operations = MW__OPERATIONS("conv_transpose"),
     .chips = MW__ON_NAMED,
     .op = wide_kernel,
     .rule = "the kernel is {there} wide, at most {limit} is taken",
     .validator = "Invalid conv kernel %s = %zd, It should be in [%zd,%zd]",
     .source = "ANEForge, limits by chip: 13 on h13, 13 untried on h14 and h15, 15 from h16 on; ane-guide, appendix A: "
               "13 on h13 (measured, chapter 17), 16 from h14 on. 15 is taken from h14 on, and where no chip is named"},
    {.id = "conv_kernel_height",
     .operations = MW__OPERATIONS("conv", "conv_transpose"),
     .chips = MW__ON_NAMED,
     .op = tall_kernel,
     .rule = "the kernel is {there} high, at most {limit} is taken",
     .validator = "Invalid conv kernel %s = %zd, It should be in [%zd,%zd]",
     .source = "ane-guide, appendix A: 29 on M1, 32 from M2 on; " MW__SWEEP ": 31 taken and 32 refused on M4 and M6, "
               "which is taken for them. Transposed convolutions were not swept"},
    {.id = "conv_kernel_depth",
     .operations = MW__OPERATIONS("conv", "conv_transpose"),
     .chips = MW__ON_NAMED,
     .op = deep_kernel,
     .rule = "the kernel is {there} deep, at most {limit} is taken",
     .validator = "Invalid conv kernel %s = %zd, It should be in [%zd,%zd]",
     .source = "ane-guide, appendix A"},
    {.id = "conv_volume",
     .operations = MW__OPERATIONS("conv", "conv_transpose"),
     .chips = MW__ON_NAMED,
     .judges = MW__BY_DIRECT,
     .stage = MW__STAGE_LOWERING,
     .op = is_volume,
     .rule = "x has rank {there}: convolutions of volumes pass the validator and do not compile",
     .source = "ane-guide, chapter 22 and appendix A; Core ML on M4 offers them to the ANE (" MW__SWEEP ")"},
    {.id = "conv_kernel_beyond_input",
     .operations = MW__OPERATIONS("conv"),
     .chips = MW__ON_NAMED,
     .verdict = MW__WARNED,
     .op = kernel_beyond_input,
     .rule = "the kernel is {there} high, its input without padding {limit}",
     .validator = "Invalid conv kernel %s = %zd, It should be in [%zd,%zd]",
     .source = "ane-guide, chapter 17, which does not say whether padding counts; it is let through"},
    {.id = "conv_groups",
     .operations = MW__OPERATIONS("conv"),
     .chips = MW__ON_NAMED,
     .op = uneven_groups,
     .rule = "{there} channels are no multiple of {limit} groups",
     .validator = "input/output channels should be divisible by num group",
     .source = "ane-guide, chapter 22"},
    {.id = "conv_kernel_memory",
     .operations = MW__OPERATIONS("conv", "conv_transpose"),
     .chips = MW__ON_NAMED,
     .op = large_kernel,
     .rule = "the kernel of one channel has {there} bytes, at most {limit} are streamed",
     .source = "ane-guide, appendix A"},
    {.id = "conv_batch",
     .operations = MW__OPERATIONS("conv"),
     .chips = MW__ON_BELOW_H14,
     .stage = MW__STAGE_LOWERING,
     .verdict = MW__WARNED,
     .op = large_batch,
     .rule = "the batch is {there}: compiling takes longer with it, and about 1000 never ends; up to {limit} is fine",
     .source = "ANEForge, compile walls, seen on M1"},
    {.id = "max_pool_width",
     .operations = MW__OPERATIONS("max_pool"),
     .chips = MW__ON_SWEPT,
     .op = wide_window,
     .rule = "the window is {there} wide, at most {limit} is taken; its height and avg_pool go further",
     .source = MW__SWEEP ", M4 and M6: 8x8 and 9x1 are taken, 1x9, 9x9 and 13x13 to 15x15 are refused, of avg_pool all "
                         "up to 14x14 are taken",
     .rewrite = MW__RULE_wide_pool},
    {.id = "pool_window",
     .operations = MW__OPERATIONS("max_pool", "avg_pool", "l2_pool"),
     .chips = MW__ON_NAMED,
     .stage = MW__STAGE_RUN,
     .verdict = MW__WARNED,
     .op = long_window,
     .rule = "a window of {there} is longer than {limit}",
     .validator = "Pooling mode \"%s\" is not available on this ANE architecture.",
     .source = "ane-guide, appendix A, and the catalog of ANEForge: 29 on M1, 31 from M2 on; ane-guide, chapter 17: "
               "128 runs, in tiles with other borders. It is let through"},
    {.id = "pool_input",
     .operations = MW__OPERATIONS("max_pool", "avg_pool", "l2_pool"),
     .chips = MW__ON_NAMED,
     .op = window_beyond_input,
     .rule = "the window is {there}, its input {limit}",
     .validator = "Pool layer must have only one single input.",
     .source = "ane-guide, chapter 22"},
    {.id = "pool_padding",
     .operations = MW__OPERATIONS("max_pool", "avg_pool", "l2_pool"),
     .chips = MW__ON_NAMED,
     .op = wide_padding,
     .rule = "the padding is {there}, at most {limit} is below the window",
     .source = "ane-guide, chapter 22"},
};

const mw__legality_family mw__legality_conv = {"conv", rows, sizeof rows / sizeof *rows};

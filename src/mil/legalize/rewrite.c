/* The rows of mil/legalize/rewrite.h; tests/mil/test_rewrite.c and test_split*.c hold what they make of a program. */
#include "mil/legalize/rewrite.h"
#include "mil/legalize/legalize.h"

#include "base/text/error.h"
#include "base/text/string_builder.h"

#include <string.h>

#define OPERATIONS(...)                                                                                                \
    (const char *const[]) { __VA_ARGS__, NULL }

static const mw__split_indexing from_x = {.table = "x"};
static const mw__split_indexing from_batches = {.table = "x", .batched = true};
static const mw__split_indexing into_data = {.table = "data", .puts = true};
static const mw__split_indexing into_result = {.table = NULL};

static const mw__rewrite rows[] = {
    /* ---- operations that a chip refuses ---- */
    {.name = "logical_and",
     .operations = OPERATIONS("logical_and"),
     .decompose = {.when = mw__decompose_always, .emit = mw__decompose_and},
     .reason = "the product of 0 and 1",
     .wants = "extents that are known"},
    {.name = "logical_or",
     .operations = OPERATIONS("logical_or"),
     .decompose = {.when = mw__decompose_always, .emit = mw__decompose_or},
     .reason = "the sum of 0 and 1 is above 0",
     .wants = "extents that are known"},
    {.name = "logical_xor",
     .operations = OPERATIONS("logical_xor"),
     .decompose = {.when = mw__decompose_always, .emit = mw__decompose_xor},
     .reason = "two numbers that differ",
     .wants = "extents that are known"},
    {.name = "argument",
     .operations = OPERATIONS("reduce_argmax", "reduce_argmin"),
     .decompose = {.when = mw__decompose_counts, .emit = mw__decompose_argument},
     .reason = "the smallest of the positions where x is the extreme one",
     .wants = "an axis of at most 524288 elements"},
    {.name = "band",
     .operations = OPERATIONS("band_part"),
     .decompose = {.when = mw__decompose_is_band, .emit = mw__decompose_band},
     .reason = "which elements stay follows from the shape: a constant selects them",
     .wants = "fp16, fp32, int32 or bool, and a matrix of at most 4194304 elements"},
    {.name = "cumsum",
     .operations = OPERATIONS("cumsum"),
     .decompose = {.when = mw__decompose_is_sum, .emit = mw__decompose_cumsum},
     .reason = "the product with a triangle of ones",
     .wants = "fp16 or fp32, and an axis of at most 2048 elements"},
    {.name = "cosh",
     .operations = OPERATIONS("cosh"),
     .decompose = {.when = mw__decompose_always, .emit = mw__decompose_cosh},
     .reason = "half the sum of two exponentials",
     .wants = "extents that are known"},
    {.name = "sinh",
     .operations = OPERATIONS("sinh"),
     .decompose = {.when = mw__decompose_always, .emit = mw__decompose_sinh},
     .reason = "half the difference of two exponentials, a polynomial near 0",
     .wants = "extents that are known"},
    {.name = "tan",
     .operations = OPERATIONS("tan"),
     .decompose = {.when = mw__decompose_always, .emit = mw__decompose_tan},
     .reason = "sine by cosine",
     .wants = "extents that are known"},
    {.name = "asin",
     .operations = OPERATIONS("asin"),
     .decompose = {.when = mw__decompose_always, .emit = mw__decompose_asin},
     .reason = "the series near 0, elsewhere pi / 2 less twice that of half the angle",
     .wants = "extents that are known"},
    {.name = "acos",
     .operations = OPERATIONS("acos"),
     .decompose = {.when = mw__decompose_always, .emit = mw__decompose_acos},
     .reason = "pi / 2 less asin",
     .wants = "extents that are known"},
    {.name = "atanh",
     .operations = OPERATIONS("atanh"),
     .decompose = {.when = mw__decompose_always, .emit = mw__decompose_atanh},
     .reason = "half a logarithm, the series near 0",
     .wants = "extents that are known"},
    {.name = "mod",
     .operations = OPERATIONS("mod"),
     .decompose = {.when = mw__decompose_always, .emit = mw__decompose_mod},
     .reason = "x - floor(x / y) y",
     .wants = "extents that are known"},
    {.name = "product",
     .operations = OPERATIONS("reduce_prod"),
     .decompose = {.when = mw__decompose_is_product, .emit = mw__decompose_product},
     .reason = "the halves of an axis are multiplied, again and again",
     .wants = "elements, and extents that are known"},
    {.name = "windows",
     .operations = OPERATIONS("sliding_windows"),
     .decompose = {.when = mw__decompose_is_windows, .emit = mw__decompose_windows},
     .reason = "slices side by side",
     .wants = "at most 1024 windows, or windows of at most 1024 elements"},
    {.name = "turned",
     .operations = OPERATIONS("reverse_sequence"),
     .decompose = {.when = mw__decompose_is_turned, .emit = mw__decompose_turned},
     .reason = "a product with a matrix that has a 1 where an element comes from",
     .wants = "matrices of at most 16777216 elements, the square of the axis for each sequence"},
    {.name = "drawn",
     .operations = OPERATIONS("random_bernoulli", "random_normal", "random_uniform"),
     .decompose = {.when = mw__decompose_is_drawn, .emit = mw__decompose_drawn},
     .reason = "with a fixed seed the numbers are the same in every run: constants",
     .wants = "a fixed seed and at most 4194304 numbers, or a distribution of one number; dropout and noise layers "
              "have a generator of their own, which runs there"},
    {.name = "gather_nd",
     .operations = OPERATIONS("gather_nd"),
     .decompose = {.when = mw__decompose_is_gather_nd, .emit = mw__decompose_gather_nd},
     .reason = "a product with rows that have a 1 where all coordinates meet",
     .wants = "at most 16777216 pairs of a coordinate and a place"},
    {.name = "non_zero",
     .operations = OPERATIONS("non_zero"),
     .decompose = {.when = mw__decompose_is_non_zero, .emit = mw__decompose_non_zero},
     .reason = "the running count of elements that are not 0 says which row of all coordinates each is",
     .wants = "a result of declared extents, and at most 2048 elements"},
    {.name = "put",
     .operations = OPERATIONS("scatter", "scatter_along_axis", "scatter_nd"),
     .decompose = {.when = mw__decompose_is_put, .emit = mw__decompose_put},
     .reason = "an update is selected where its index is the place, and reduced over all updates",
     .wants = "fp16, fp32 or int32 (which is not divided), and at most 16777216 pairs of an update and a place"},
    {.name = "placed",
     .operations = OPERATIONS("slice_by_index", "slice_by_size"),
     .decompose = {.when = mw__decompose_is_placed, .emit = mw__decompose_placed},
     .reason = "a product with a matrix that has a 1 where an element comes from",
     .wants = "a result of known extents, which fit x"},
    {.name = "update",
     .operations = OPERATIONS("slice_update"),
     .decompose = {.when = mw__decompose_is_update, .emit = mw__decompose_update},
     .reason = "the update is brought to its place by a product, or spread if it is one row, and selected there",
     .wants = "an update of known extents, which fit x"},
    {.name = "declared",
     .operations = OPERATIONS("fill", "one_hot", "reshape", "resize", "tile"),
     .decompose = {.when = mw__decompose_is_declared, .emit = mw__decompose_declared},
     .reason = "extents that are fed follow from the declared result",
     .wants = "a result of known extents"},
    {.name = "crop",
     .operations = OPERATIONS("crop_resize"),
     .decompose = {.when = mw__decompose_is_crop, .emit = mw__decompose_crop},
     .reason = "rows and columns are products with matrices, constant if the boxes are",
     .wants = "boxes that are constants, with at most 4194304 weights along an axis"},
    {.name = "sampling",
     .operations = OPERATIONS("resample", "affine"),
     .decompose = {.when = mw__decompose_is_sampling, .emit = mw__decompose_crop},
     .reason = "an element is a product of the image with a weight for each pixel"},
    {.name = "same_cast",
     .operations = OPERATIONS("cast"),
     .decompose = {.when = mw__decompose_is_same, .emit = mw__decompose_same},
     .reason = "integers that are cast to their own type are what they were"},
    {.name = "wide_conv",
     .operations = OPERATIONS("conv"),
     .decompose = {.when = mw__decompose_is_wide_conv, .emit = mw__decompose_wide_conv},
     .reason = "parts of a kernel that is too wide are channels of shifted inputs",
     .wants = "a weight that is a constant"},
    /* ---- indices, and integers in digits ---- */
    {.name = "index_nothing",
     .operations = OPERATIONS("gather", "gather_along_axis", "one_hot", "scatter"),
     .split = {.when = mw__split_takes_nothing, .emit = mw__split_nothing},
     .reason = "a product with a one-hot matrix wants elements"},
    {.name = "gather",
     .operations = OPERATIONS("gather"),
     .split =
         {.indexing = &from_batches, .blocks = mw__split_index_fits, .when = mw__split_takes, .emit = mw__split_gather},
     .reason = "fp16 cannot be an index; a product with one-hot rows is exact",
     .wants = "indices that come from an input by sums, limits, choices and moves, and a table of at most 524288 rows"},
    {.name = "gather_along_axis",
     .operations = OPERATIONS("gather_along_axis"),
     .split =
         {.indexing = &from_x, .blocks = mw__split_index_fits, .when = mw__split_takes, .emit = mw__split_along_axis},
     .reason = "fp16 cannot be an index; of the elements selected by one-hot numbers one is not 0",
     .wants = "indices of an input that goes unchanged to it, and a table of at most 524288 rows"},
    {.name = "one_hot",
     .operations = OPERATIONS("one_hot"),
     .split =
         {.indexing = &into_result, .blocks = mw__split_index_fits, .when = mw__split_takes, .emit = mw__split_one_hot},
     .reason = "fp16 cannot be an index; a number is matched with a constant range",
     .wants = "indices that come from an input by sums, limits, choices and moves, and at most 524288 classes"},
    {.name = "scatter",
     .operations = OPERATIONS("scatter"),
     .split =
         {.indexing = &into_data, .blocks = mw__split_index_fits, .when = mw__split_takes, .emit = mw__split_scatter},
     .reason = "fp16 cannot be an index; a product with one-hot columns adds each update to its row",
     .wants = "sums (mode add) of floating point at such indices as of gather"},
    {.name = "match",
     .operations = OPERATIONS("select"),
     .split = {.digits = mw__split_always,
               .blocks = mw__split_result_is_long,
               .when = mw__split_is_match,
               .emit = mw__split_match},
     .reason = "select(a = b, 1, 0) is the product that the comparison in digits was made of"},
    {.name = "comparison",
     .operations = OPERATIONS("equal", "not_equal"),
     .split = {.digits = mw__split_always,
               .blocks = mw__split_result_is_long,
               .when = mw__split_compares,
               .emit = mw__split_comparison},
     .reason = "numbers are equal if both digits are"},
    {.name = "offset",
     .operations = OPERATIONS("add", "sub"),
     .split = {.digits = mw__split_makes_index, .when = mw__split_result_is_wide, .emit = mw__split_digit_sum},
     .reason = "an index is the sum of digits, of which the low one carries"},
    {.name = "order",
     .operations = OPERATIONS("less", "less_equal", "greater", "greater_equal"),
     .split = {.digits = mw__split_makes_index, .when = mw__split_compares, .emit = mw__split_order},
     .reason = "the high digit decides, the low one where it is the same: indices below 0 count from the end"},
    {.name = "limit",
     .operations = OPERATIONS("maximum", "minimum"),
     .split = {.digits = mw__split_makes_index, .when = mw__split_result_is_wide, .emit = mw__split_bound},
     .reason = "the larger index is that with the larger high digit, or the larger low one beside the same"},
    {.name = "extreme",
     .operations = OPERATIONS("reduce_min", "reduce_max"),
     .split = {.digits = mw__split_always, .when = mw__split_result_is_wide, .emit = mw__split_extreme},
     .reason = "the high digit decides, the low one among the numbers that share it"},
    {.name = "cast",
     .operations = OPERATIONS("cast"),
     .split = {.digits = mw__split_casts_integers,
               .blocks = mw__split_result_is_long,
               .when = mw__split_result_is_wide,
               .emit = mw__split_cast},
     .reason = "digits have one type, whichever integers they stand for"},
    /* ---- long axes in blocks ---- */
    {.name = "reshape",
     .operations = OPERATIONS("reshape", "expand_dims", "squeeze"),
     .split = {.digits = mw__split_always,
               .blocks = mw__split_reshape_fits,
               .when = mw__split_has_parts,
               .emit = mw__split_reshape},
     .reason = "each part has a shape of its own"},
    {.name = "sum",
     .operations = OPERATIONS("reduce_sum", "reduce_sum_square", "reduce_l1_norm"),
     .split = {.blocks = mw__split_x_is_long, .when = mw__split_reduces_blocks, .emit = mw__split_sum},
     .reason = "the sum over the blocks' results"},
    {.name = "mean",
     .operations = OPERATIONS("reduce_mean"),
     .split = {.blocks = mw__split_x_is_long, .when = mw__split_reduces_blocks, .emit = mw__split_mean},
     .reason = "the sum over the blocks' means, each by its share of the axis"},
    {.name = "reduction",
     .operations = OPERATIONS("reduce_max", "reduce_min", "reduce_prod", "reduce_l2_norm", "reduce_log_sum_exp"),
     .split = {.blocks = mw__split_x_is_long, .when = mw__split_reduces_blocks, .emit = mw__split_reduction},
     .reason = "the same reduction of the blocks' results"},
    {.name = "softmax",
     .operations = OPERATIONS("softmax"),
     .split = {.blocks = mw__split_x_is_long, .when = mw__split_normalizes_blocks, .emit = mw__split_softmax},
     .reason = "maximum and sum are those of all blocks"},
    {.name = "linear",
     .operations = OPERATIONS("linear"),
     .split = {.blocks = mw__split_linear_fits, .when = mw__split_has_parts, .emit = mw__split_linear},
     .reason = "weight and bias are constants, of which each block takes its rows"},
    {.name = "contraction",
     .operations = OPERATIONS("matmul"),
     .split = {.blocks = mw__split_matmul_fits, .when = mw__split_contracts_blocks, .emit = mw__split_contraction},
     .reason = "the sum of the blocks' products"},
    {.name = "elementwise",
     .elementwise = true,
     .split = {.blocks = mw__split_result_is_long, .when = mw__split_has_parts, .emit = mw__split_each_part},
     .reason = "each element of the result depends on that of the operands; extents of 1 are repeated"},
    {.name = "identity",
     .operations = OPERATIONS("identity"),
     .split = {.digits = mw__split_always,
               .blocks = mw__split_result_is_long,
               .when = mw__split_has_parts,
               .emit = mw__split_each_part},
     .reason = "elements stay where they are"},
    {.name = "transpose",
     .operations = OPERATIONS("transpose"),
     .split = {.digits = mw__split_always,
               .blocks = mw__split_x_is_long,
               .when = mw__split_has_parts,
               .emit = mw__split_each_part},
     .reason = "the long axis moves whole"},
    {.name = "concat",
     .operations = OPERATIONS("concat"),
     .split = {.digits = mw__split_always,
               .blocks = mw__split_concat_fits,
               .when = mw__split_has_parts,
               .emit = mw__split_each_part},
     .reason = "joined along another axis"},
    {.name = "slice",
     .operations = OPERATIONS("slice_by_index"),
     .split = {.digits = mw__split_always,
               .blocks = mw__split_slice_fits,
               .when = mw__split_has_parts,
               .emit = mw__split_each_part},
     .reason = "the long axis is taken whole, and no argument holds its extent"},
    {.name = "tile",
     .operations = OPERATIONS("tile"),
     .split = {.digits = mw__split_always,
               .blocks = mw__split_tile_fits,
               .when = mw__split_has_parts,
               .emit = mw__split_each_part},
     .reason = "repeated along another axis"},
    {.name = "move",
     .operations = OPERATIONS("slice_by_size", "stack", "split", "reverse"),
     .split = {.digits = mw__split_always, .when = mw__split_has_parts, .emit = mw__split_each_part},
     .reason = "both digits move alike"},
    {.name = "each_part",
     .operations = NULL,
     .split = {.when = mw__split_has_parts, .emit = mw__split_each_part},
     .reason = "an operation of the rows above, along an axis that is in no blocks"},
    /* ---- fp16 ---- */
    {.name = "half_constant",
     .operations = OPERATIONS("const"),
     .legalize = {.half_ports = true, .when = mw__half_is_constant, .emit = mw__half_constant},
     .reason = "fp32 is fp16; what it does not hold is replaced (narrow.h)"},
    {.name = "half_scaled",
     .operations = OPERATIONS("constexpr_affine_dequantize", "constexpr_blockwise_shift_scale"),
     .legalize = {.half_ports = true, .when = mw__half_is_scaled, .emit = mw__half_scaled},
     .reason = "a scale of fp32 that fp16 rounds would move its weights, which are rounded again: they are expanded"},
    {.name = "half_cast",
     .operations = OPERATIONS("cast"),
     .legalize = {.half_ports = true, .when = mw__half_is_cast, .emit = mw__half_cast},
     .reason = "a cast to fp32 is one to fp16, and none for what is fp16"},
    {.name = "half_constexpr_cast",
     .operations = OPERATIONS("constexpr_cast"),
     .legalize = {.half_ports = true, .when = mw__half_is_constexpr_cast, .emit = mw__half_constexpr_cast},
     .reason = "a constant that is fp16 in the file stays that"},
    {.name = "half_range",
     .operations = OPERATIONS("range_1d"),
     .legalize = {.half_ports = true, .when = mw__half_is_range, .emit = mw__half_range},
     .reason = "integers that are combined only with fp16 ones are made in fp16, without a cast, which the ANE lacks"},
    {.name = "rounded_range",
     .operations = OPERATIONS("range_1d"),
     .legalize = {.half_ports = true, .when = mw__extent_is_rounded_range, .emit = mw__extent_range},
     .reason = "of a step that fp16 rounds there would be another count: the numbers are rounded, not what makes them"},
    {.name = "exact_factor",
     .operations = OPERATIONS("upsample_bilinear", "upsample_nearest_neighbor"),
     .legalize = {.half_ports = true, .when = mw__extent_is_factor, .emit = mw__extent_factor},
     .reason = "an extent follows from the factor, which stays fp32 where fp16 rounds it"},
    {.name = "far_range",
     .operations = OPERATIONS("range_1d"),
     .legalize = {.half_ports = true, .when = mw__half_is_far_range, .emit = mw__half_refuse_range},
     .reason = "rounded to fp16, the numbers of two classes would be one"},
    {.name = "conv_decomposed",
     .operations = OPERATIONS("conv"),
     .legalize = {.refused = true,
                  .kept = MW__REWRITE_CONV_DECOMPOSED,
                  .when = mw__conv_has_computed_weight,
                  .emit = mw__conv_decompose},
     .reason = "the ANE refuses a computed weight for a batch above 1 and ignores it for a batch of 1 "
               "(ANEForge, dynamic convolution)",
     .wants = "operands that are computed or constants of their own"},
    {.name = "recurrent_steps",
     .operations = OPERATIONS("lstm", "gru", "rnn"),
     .legalize =
         {.half_ports = true, .refused = true, .when = mw__recurrent_is_refused, .emit = mw__recurrent_decompose},
     .reason = "the ANE has no operation over time (operation sweep of ANEForge on the ANE)",
     .wants = "a known number of steps"},
    {.name = "fraction",
     .operations = OPERATIONS("real_div", "pow", "exp2", "reduce_mean", "reduce_l2_norm", "reduce_log_sum",
                              "reduce_log_sum_exp", "resize"),
     .legalize = {.half_ports = true, .when = mw__half_is_fraction, .emit = mw__half_fraction},
     .reason = "an int32 result that is computed in fp16 has no fraction"},
    {.name = "mixed_fraction",
     .operations = NULL,
     .legalize = {.half_ports = true, .when = mw__half_is_mixed_fraction, .emit = mw__half_fraction},
     .reason = "the same of operands that differ in type"},
    {.name = "half_operands",
     .operations = NULL,
     .legalize = {.half_ports = true, .when = mw__half_has_operands, .emit = mw__half_operands},
     .reason = "operands have one type: an int32 one becomes fp16 beside one that is; fp32 literals are fp16"},
    /* ---- what the chip that is named lacks ---- */
    {.name = "sine",
     .operations = OPERATIONS("sin", "cos"),
     .fit = {.when = mw__workaround_always, .emit = mw__workaround_sine},
     .reason = "a series of what is left of the nearest multiple of pi"},
    {.name = "softplus",
     .operations = OPERATIONS("softplus"),
     .fit = {.when = mw__workaround_always, .emit = mw__workaround_softplus},
     .reason = "from 10 on it is x"},
    {.name = "round",
     .operations = OPERATIONS("round"),
     .fit = {.when = mw__workaround_always, .emit = mw__workaround_round},
     .reason = "from 1024 on every fp16 number is whole"},
    {.name = "square",
     .operations = OPERATIONS("square"),
     .fit = {.own = true, .when = mw__workaround_is_wide_square, .emit = mw__workaround_square},
     .reason = "a nonlinearity may follow a product"},
    {.name = "zero_of_reduction",
     .operations = OPERATIONS("mul"),
     .fit = {.when = mw__workaround_is_zero, .emit = mw__workaround_zero},
     .reason = "a value less itself"},
    {.name = "rounding_scale",
     .operations = OPERATIONS("mul"),
     .fit = {.when = mw__workaround_is_scale, .emit = mw__workaround_scale},
     .reason = "a constant of the full shape is not folded into the rounding"},
    {.name = "known_range",
     .operations = OPERATIONS("range_1d"),
     .fit = {.when = mw__workaround_is_range, .emit = mw__workaround_range},
     .reason = "numbers that are known are a constant"},
    {.name = "known_shape",
     .operations = OPERATIONS("shape"),
     .fit = {.when = mw__workaround_is_known_shape, .emit = mw__workaround_known_shape},
     .reason = "extents that are known are a constant"},
    {.name = "tile_copies",
     .operations = OPERATIONS("tile"),
     .fit = {.when = mw__workaround_is_tile, .emit = mw__workaround_tile},
     .reason = "one element is repeated by a product with ones, more are joined"},
    {.name = "concat_one",
     .operations = OPERATIONS("concat"),
     .fit = {.when = mw__workaround_always, .emit = mw__workaround_concat_one},
     .reason = "of one value nothing is joined"},
    {.name = "pad_channels",
     .operations = OPERATIONS("pad"),
     .fit = {.when = mw__workaround_is_pad, .emit = mw__workaround_pad},
     .reason = "borders are joined"},
    {.name = "pad_mode",
     .operations = OPERATIONS("pad"),
     .fit = {.when = mw__workaround_is_pad, .emit = mw__workaround_pad},
     .reason = "borders are slices in the opposite order"},
    {.name = "matmul_rank",
     .operations = OPERATIONS("matmul"),
     .fit = {.when = mw__workaround_is_product, .emit = mw__workaround_product},
     .reason = "batches are one axis"},
    {.name = "linear_rank",
     .operations = OPERATIONS("linear"),
     .fit = {.when = mw__workaround_is_linear, .emit = mw__workaround_linear},
     .reason = "all axes but the last are one"},
    {.name = "layer_norm_rank",
     .operations = OPERATIONS("layer_norm"),
     .fit = {.when = mw__workaround_is_norm, .emit = mw__workaround_norm},
     .reason = "axes that are not normalized are one"},
    {.name = "attention",
     .operations = OPERATIONS("scaled_dot_product_attention"),
     .fit = {.when = mw__workaround_always, .emit = mw__workaround_attention},
     .reason = "products and a softmax"},
};

const mw__rewrite *mw__rewrite_at(size_t index) { return index < sizeof rows / sizeof *rows ? &rows[index] : NULL; }

/* ---- switches ---- */

static const char *const switches[MW__REWRITE_SWITCHES] = {[MW__REWRITE_CONV_DECOMPOSED] = "conv_decomposed",
                                                           [MW__REWRITE_BLOCKS] = "blocks",
                                                           [MW__REWRITE_DIGITS] = "digits"};

static mw__rewrite_switch find_switch(const char *name, size_t length)
{
    size_t i = MW__REWRITE_ALWAYS + 1;
    while (i < MW__REWRITE_SWITCHES && (strlen(switches[i]) != length || memcmp(switches[i], name, length) != 0))
        i++;
    return (mw__rewrite_switch)i;
}

/* "conv_decomposed, blocks, digits" */
static const char *list_switches(char *buffer, size_t size)
{
    mw__string_builder phrase = mw__string_builder_begin(buffer, size);
    for (size_t i = MW__REWRITE_ALWAYS + 1; i < MW__REWRITE_SWITCHES; i++) {
        mw__string_builder_puts(&phrase, phrase.used > 0 ? ", " : "");
        mw__string_builder_puts(&phrase, switches[i]);
    }
    return buffer;
}

mw_status mw__mil_parse_kept(const char *names, unsigned *out_kept, mw_error *err)
{
    char all[100];
    *out_kept = 0;
    for (const char *name = names; name != NULL && *name != '\0';) {
        const size_t length = strcspn(name, ",");
        const mw__rewrite_switch kept = find_switch(name, length);
        if (kept == MW__REWRITE_SWITCHES)
            return mw__fail(err, MW_ERROR_ARGUMENT, "MW_MIL_KEEP has \"%.*s\", which is none of %s",
                            (int)(length < 100 ? length : 100), name, list_switches(all, sizeof all));
        *out_kept |= 1u << kept;
        name += length;
        name += *name == ',';
    }
    return MW_OK;
}

/* ---- finding ---- */

static bool is_for(const mw__rewrite *row, const mw__op *op)
{
    if (row->elementwise)
        return op->row != NULL && mw__row_is_elementwise(op->row);
    if (row->operations == NULL)
        return true;
    for (const char *const *operation = row->operations; *operation != NULL; operation++)
        if (strcmp(*operation, op->kind) == 0)
            return true;
    return false;
}

/* A program that was read may be wrong in anything; what breaks its own rule is copied, and refused for that. */
static bool is_sound(const mw__op *op)
{
    mw_error err = {0};
    return mw__op_verify(op, &err) == MW_OK;
}

const mw__rewrite *mw__rewrite_decompose(const mw__legality *legality, const mw__op *op)
{
    bool checked = false;
    for (size_t i = 0; op->row != NULL && op->result_count == 1 && i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].decompose.emit == NULL || !is_for(&rows[i], op))
            continue;
        if (!checked && !is_sound(op))
            return NULL;
        checked = true;
        if (rows[i].decompose.when(legality, op))
            return &rows[i];
    }
    return NULL;
}

const mw__rewrite *mw__rewrite_legalize(const mw__legalizer *legalizer, const mw__op *op)
{
    const mw__device_traits *device = legalizer->legality.device;
    for (size_t i = 0; op->row != NULL && i < sizeof rows / sizeof *rows; i++)
        if (rows[i].legalize.emit != NULL && (device->half_ports || !rows[i].legalize.half_ports) &&
            is_for(&rows[i], op) && rows[i].legalize.when(legalizer, op) &&
            (legalizer->kept & 1u << rows[i].legalize.kept) == 0)
            return &rows[i];
    return NULL;
}

const mw__rewrite *mw__rewrite_split(const mw__split *split, const mw__op *op)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].split.emit != NULL && is_for(&rows[i], op) && rows[i].split.when(split, op))
            return &rows[i];
    return NULL;
}

const mw__rewrite *mw__rewrite_fit(const mw__legality *legality, const mw__op *op)
{
    if (mw__legality_chip(legality)->chip == MW_CHIP_AUTO || op->row == NULL || op->result_count != 1)
        return NULL;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].fit.emit != NULL && is_for(&rows[i], op) &&
            (rows[i].fit.own || mw__legality_wants(legality, op, rows[i].name)) && is_sound(op) &&
            rows[i].fit.when(legality, op))
            return &rows[i];
    return NULL;
}

const mw__rewrite *mw__rewrite_named(const char *name)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].name, name) == 0)
            return &rows[i];
    return NULL;
}

const mw__rewrite *mw__rewrite_wanting(const char *operation, size_t *at)
{
    for (; *at < sizeof rows / sizeof *rows; ++*at)
        for (const char *const *name = rows[*at].operations; rows[*at].wants != NULL && *name != NULL; name++)
            if (strcmp(*name, operation) == 0)
                return &rows[(*at)++];
    return NULL;
}

const mw__split_indexing *mw__rewrite_indexing(const mw__op *op)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].split.indexing != NULL && is_for(&rows[i], op))
            return op->row != NULL && is_sound(op) ? rows[i].split.indexing : NULL;
    return NULL;
}

bool mw__rewrite_takes_digits(const mw__split *split, const mw__op *op)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].split.digits != NULL && is_for(&rows[i], op))
            return rows[i].split.digits(split, op);
    return false;
}

bool mw__rewrite_takes_blocks(const mw__split *split, const mw__op *op)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (rows[i].split.blocks != NULL && is_for(&rows[i], op))
            return rows[i].split.blocks(split, op);
    return false;
}

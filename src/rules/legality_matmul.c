/* Rows of products, attention and normalization. That a product has two operands and attention three or four (Apple:
 * "Matrix mult. layer can only have two bottoms", "4 or 5 bottoms must be present for SDPA") is held by the operation
 * table: no text is read that lacks one. */
#include "rules/legality.h"

#include <string.h>

static mw_dtype type_of(const mw__op *op, const char *name)
{
    const mw_tensor *value = mw__legality_argument(op, name);
    return value != NULL ? mw_tensor_dtype(value) : MW_DTYPE_NONE;
}

/* ---- matmul and linear ---- */

/* Of rank 5, the third axis. */
static bool is_deep(const mw__op *op, const char *name, mw__trip *trip)
{
    const mw_shape shape = mw__legality_shape(op, name);
    trip->tensor = mw__legality_argument(op, name);
    trip->limit = 1;
    trip->there = shape.rank == 5 ? shape.dim[2] : 1;
    return trip->there > 1;
}

static bool deep_operand(const mw__legality *legality, const mw__op *op, mw__trip *trip)
{
    (void)legality;
    return is_deep(op, "x", trip) || is_deep(op, "y", trip);
}

static bool deep_x(const mw__legality *legality, const mw__op *op, mw__trip *trip)
{
    (void)legality;
    return is_deep(op, "x", trip);
}

static bool is_transposed(const mw__op *op, const char *operand, const char *flag)
{
    bool set = false;
    const mw_tensor *value = mw__legality_argument(op, operand);
    return (op->row != NULL && mw__arg_bool(op, flag, &set) && set) ||
           (value != NULL && value->op != NULL && strcmp(value->op->kind, "transpose") == 0);
}

static bool transposed_volume(const mw__legality *legality, const mw__op *op, mw__trip *trip)
{
    (void)legality;
    trip->there = mw__legality_shape(op, "x").rank;
    trip->limit = 4;
    return trip->there >= 5 && (is_transposed(op, "x", "transpose_x") || is_transposed(op, "y", "transpose_y"));
}

/* The extent that a product of two computed operands sums over; 0 of other products. */
static int64_t inner_extent(const mw__op *op)
{
    const mw_shape x = mw__legality_shape(op, "x");
    bool turned = false;
    if (op->row == NULL || x.rank < 2 || !mw__legality_computed(mw__legality_argument(op, "y")) ||
        mw__is_constant(mw__arg(op, "x")))
        return 0;
    mw__arg_bool(op, "transpose_x", &turned);
    const int64_t extent = x.dim[x.rank - (turned ? 2 : 1)];
    return extent > 0 ? extent : 0;
}

static bool long_inner(const mw__legality *legality, const mw__op *op, mw__trip *trip)
{
    trip->limit = mw__legality_chip(legality)->inner_extent_max;
    trip->there = inner_extent(op);
    return trip->there > trip->limit;
}

/* The right operand is held as a kernel is: all that makes one column of the result. */
static bool large_operand(const mw__legality *legality, const mw__op *op, mw__trip *trip)
{
    const int64_t extent = inner_extent(op);
    trip->limit = mw__legality_chip(legality)->kernel_memory;
    trip->tensor = mw__legality_argument(op, "y");
    trip->there = extent < INT64_MAX / 2 ? 2 * extent : 0;
    return trip->there > trip->limit;
}

static bool linear_volume(const mw__legality *legality, const mw__op *op, mw__trip *trip)
{
    (void)legality;
    trip->there = mw__legality_shape(op, "x").rank;
    trip->limit = 4;
    return trip->there > trip->limit;
}

static bool other_equation(const mw__legality *legality, const mw__op *op, mw__trip *trip)
{
    (void)legality;
    trip->what = op->row != NULL ? mw__arg_string(op, "equation") : NULL;
    return trip->what == NULL || strcmp(trip->what, "nchw,nwhu->nchu") != 0;
}

/* ---- attention: query [B, .., L, E], key and value [B, .., S, E], mask [.., L, S] ---- */

static int64_t length_of(const mw__op *op, const char *name)
{
    const mw_shape shape = mw__legality_shape(op, name);
    return shape.rank >= 2 ? shape.dim[shape.rank - 2] : 0;
}

static bool many_sequences(const mw__legality *legality, const mw__op *op, mw__trip *trip)
{
    const mw_shape query = mw__legality_shape(op, "query");
    (void)legality;
    trip->limit = 1;
    trip->there = query.rank >= 3 ? query.dim[0] : 1;
    return trip->there > 1;
}

static bool long_sequences(const mw__legality *legality, const mw__op *op, mw__trip *trip)
{
    const int64_t queries = length_of(op, "query"), keys = length_of(op, "key");
    const int64_t shorter = queries < keys ? queries : keys, longer = queries < keys ? keys : queries;
    (void)legality;
    trip->limit = longer > 2048 ? 2048 : 511;
    trip->there = longer > 2048 ? longer : shorter;
    return trip->there > trip->limit;
}

static bool many_masks(const mw__legality *legality, const mw__op *op, mw__trip *trip)
{
    const mw_shape mask = mw__legality_shape(op, "attn_mask");
    (void)legality;
    trip->tensor = mw__legality_argument(op, "attn_mask");
    trip->limit = trip->there = 1;
    for (int i = 0; i + 2 < mask.rank; i++)
        trip->there = mask.dim[i] > trip->there ? mask.dim[i] : trip->there;
    return trip->there > 1;
}

static bool other_mask(const mw__legality *legality, const mw__op *op, mw__trip *trip)
{
    const mw_dtype mask = type_of(op, "attn_mask");
    (void)legality;
    trip->tensor = mw__legality_argument(op, "attn_mask");
    trip->what = mw_dtype_name(mask);
    return trip->tensor != NULL && mask != type_of(op, "query");
}

static bool uneven_lengths(const mw__legality *legality, const mw__op *op, mw__trip *trip)
{
    (void)legality;
    trip->limit = length_of(op, "key");
    trip->there = length_of(op, "value");
    return trip->limit != trip->there;
}

/* ---- norms ---- */

static bool lacks_softmax(const mw__legality *legality, const mw__op *op, mw__trip *trip)
{
    (void)op;
    (void)trip;
    return !mw__legality_chip(legality)->has_softmax;
}

static bool lacks_norms(const mw__legality *legality, const mw__op *op, mw__trip *trip)
{
    (void)op;
    (void)trip;
    return !mw__legality_chip(legality)->has_norms;
}

static const mw__legality_row rows[] = {
    {.id = "matmul_depth",
     .operations = MW__OPERATIONS("matmul"),
     .chips = MW__ON_NAMED,
     .op = deep_operand,
     .rule = "the third of five axes has {there} elements, and {limit} is taken; merge axes with reshape",
     .validator = "depth > 1 is not supported for MatMult",
     .source = "ane-guide, chapter 22",
     .rewrite = MW__RULE_matmul_rank},
    {.id = "matmul_transposed_rank",
     .operations = MW__OPERATIONS("matmul"),
     .chips = MW__ON_NAMED,
     .stage = MW__STAGE_LOWERING,
     .op = transposed_volume,
     .rule = "of rank {there}, it does not compile with a transpose; merge axes with reshape",
     .source = "ANEForge, compile walls",
     .rewrite = MW__RULE_matmul_rank},
    {.id = "matmul_inner_extent",
     .operations = MW__OPERATIONS("matmul"),
     .chips = MW__ON_SWEPT,
     .op = long_inner,
     .rule = "the product of two computed operands sums over {there} elements, at most {limit} are taken",
     .source = MW__SWEEP ", M4 and M6: 32768 is taken, 40000 and more are refused, nothing between was tried. Of "
                         "constant operands no word",
     .rewrite = MW__RULE_matmul_parts},
    {.id = "matmul_kernel_memory",
     .operations = MW__OPERATIONS("matmul"),
     .chips = MW__ON_NOT_SWEPT,
     .verdict = MW__WARNED,
     .op = large_operand,
     .rule = "a column of the right operand has {there} bytes, and {limit} stay in the kernel memory",
     .validator = "can not fit the Kmem",
     .source = "ane-guide, chapter 22; its appendix A has 64 KiB that stay and 16 MiB that are streamed, and does not "
               "say which is meant. It is let through; M4 and M6 refuse it, as matmul_inner_extent says"},
    {.id = "linear_rank",
     .operations = MW__OPERATIONS("linear"),
     .chips = MW__ON_NAMED,
     .op = linear_volume,
     .rule = "x has rank {there}, at most {limit} is taken; merge axes with reshape",
     .validator = "ANE cannot support Linear with input rank >= 5",
     .source = "ane-guide, chapter 22",
     .rewrite = MW__RULE_linear_rank},
    {.id = "einsum_equation",
     .operations = MW__OPERATIONS("einsum"),
     .chips = MW__ON_NAMED,
     .stage = MW__STAGE_LOWERING,
     .verdict = MW__WARNED,
     .op = other_equation,
     .rule = "the equation {what} was not tried",
     .source = "ANEForge, which runs nchw,nwhu->nchu"},
    {.id = "attention_batch",
     .operations = MW__OPERATIONS("scaled_dot_product_attention"),
     .chips = MW__ON_NAMED,
     .stage = MW__STAGE_LOWERING,
     .op = many_sequences,
     .rule = "it runs for a batch of {limit}, and this one is of {there}; write matmul, softmax, matmul",
     .source = "ANEForge, the forms that it runs in one operation",
     .rewrite = MW__RULE_attention},
    {.id = "attention_length",
     .operations = MW__OPERATIONS("scaled_dot_product_attention"),
     .chips = MW__ON_NAMED,
     .stage = MW__STAGE_LOWERING,
     .op = long_sequences,
     .rule = "a sequence has {there} elements, at most {limit} are taken; write matmul, softmax, matmul",
     .source = "ANEForge, the forms that it runs in one operation: the shorter one below 512, both at most 2048",
     .rewrite = MW__RULE_attention},
    {.id = "attention_mask_planes",
     .operations = MW__OPERATIONS("scaled_dot_product_attention"),
     .chips = MW__ON_NAMED,
     .stage = MW__STAGE_LOWERING,
     .op = many_masks,
     .rule = "the mask has {there} planes, and {limit} for all heads is taken",
     .source = "ANEForge, the forms that it runs in one operation",
     .rewrite = MW__RULE_attention},
    {.id = "attention_mask_type",
     .operations = MW__OPERATIONS("scaled_dot_product_attention"),
     .chips = MW__ON_NAMED,
     .op = other_mask,
     .rule = "the mask is {what}, which is not the type of the query",
     .validator = "Mask format must be same as Q, K and V",
     .source = "ane-guide, chapter 22",
     .rewrite = MW__RULE_attention},
    {.id = "attention_lengths",
     .operations = MW__OPERATIONS("scaled_dot_product_attention"),
     .chips = MW__ON_NAMED,
     .op = uneven_lengths,
     .rule = "key has {limit} elements, value {there}",
     .validator = "K and V must have same sequence length i.e C dim",
     .source = "ane-guide, chapter 22"},
    {.id = "softmax",
     .operations = MW__OPERATIONS("softmax"),
     .chips = MW__ON_OLDER,
     .op = lacks_softmax,
     .rule = "it came with h13 (M1)",
     .validator = "Softmax is not supported by this ANE architecture",
     .source = "ane-guide, chapter 24, support byte 0x815"},
    {.id = "norms",
     .operations = MW__OPERATIONS("instance_norm", "layer_norm"),
     .chips = MW__ON_OLDER,
     .op = lacks_norms,
     .rule = "it came with h13 (M1)",
     .source = "ane-guide, chapter 24, support byte 0x816"},
    {.id = "layer_norm_depth",
     .operations = MW__OPERATIONS("layer_norm"),
     .chips = MW__ON_NAMED,
     .op = deep_x,
     .rule = "the third of five axes has {there} elements, and {limit} is taken",
     .validator = "... does not yet support depth > 1",
     .source = "ane-guide, chapter 22",
     .rewrite = MW__RULE_layer_norm_rank},
    {.id = "layer_norm_context",
     .operations = MW__OPERATIONS("layer_norm"),
     .chips = MW__ON_NAMED,
     .stage = MW__STAGE_LOWERING,
     .verdict = MW__NOTED,
     .op = mw__legality_always,
     .rule = "alone it runs; among other operations ANEForge writes it from reductions",
     .source = "ANEForge, operation sweep against its emitter"},
};

const mw__legality_family mw__legality_matmul = {"matmul", rows, sizeof rows / sizeof *rows};

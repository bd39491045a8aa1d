/* Rows of whole programs and of every operation in them. */
#include "graph/constants/compressed.h"
#include "rules/legality.h"

#include <string.h>

static bool no_mil(const mw__legality *legality, const mw__function *function, mw__trip *trip)
{
    (void)function;
    trip->what = mw__legality_chip(legality)->name;
    return !mw__legality_chip(legality)->runs_mil;
}

/* ---- shapes ---- */

static bool high_rank(const mw__legality *legality, const mw_tensor *value, mw__trip *trip)
{
    const int most = mw__legality_chip(legality)->rank_max;
    if (value == NULL || value->type->kind != MW__TENSOR || value->type->shape.rank <= most)
        return false;
    *trip = (mw__trip){.tensor = value, .limit = most, .there = value->type->shape.rank};
    return true;
}

static bool is_const(const mw__op *op)
{
    return (op->row != NULL && op->row->id == MW__OP_const) || mw__op_is_constexpr(op);
}

/* A constant is refused where it is used, a compressed one too: its tables have two axes more than it, and stay in the
 * file, as do tables that are compressed themselves. */
static bool any_high_rank(const mw__legality *legality, const mw__op *op, mw__trip *trip)
{
    if (is_const(op))
        return false;
    for (size_t i = 0; i < op->result_count; i++)
        if (high_rank(legality, op->results[i], trip))
            return true;
    for (size_t i = 0; i < op->slot_count; i++)
        for (size_t k = 0; k < op->slots[i].count; k++)
            if (high_rank(legality, op->slots[i].operands[k].value, trip))
                return true;
    return false;
}

/* Rank 4 is batch, channels, height, width. */
static int64_t extent_max(const mw__chip_row *chip, int rank, int axis)
{
    if (rank == 4 && axis < 2)
        return axis == 0 ? chip->batch_max : chip->channels_max;
    return rank == 5 && axis == 2 ? chip->depth_max : chip->axis_max;
}

bool mw__legality_is_long(const mw__legality *legality, const mw_tensor *value, mw__trip *trip)
{
    const mw_shape shape = value != NULL ? mw_tensor_shape(value) : (mw_shape){0};
    const mw__chip_row *chip = mw__legality_chip(legality);
    for (int i = 0; i < shape.rank; i++)
        if (shape.dim[i] > extent_max(chip, shape.rank, i)) {
            *trip = (mw__trip){.tensor = value, .limit = extent_max(chip, shape.rank, i), .there = shape.dim[i]};
            return true;
        }
    return false;
}

/* Results, and constants that are matrices or more: each value once, and inputs as ports. */
static bool any_long(const mw__legality *legality, const mw__op *op, mw__trip *trip)
{
    for (size_t i = 0; i < op->result_count; i++)
        if (!is_const(op) && mw__legality_is_long(legality, op->results[i], trip))
            return true;
    for (size_t i = 0; op->row != NULL && !is_const(op) && i < op->slot_count; i++)
        for (size_t k = 0; k < op->slots[i].count; k++) {
            const mw_tensor *value = op->slots[i].operands[k].value;
            if (value != NULL && mw__is_constant(value) && mw_tensor_shape(value).rank > 1 &&
                mw__legality_is_long(legality, value, trip))
                return true;
        }
    return false;
}

static bool is_open(const mw_tensor *value) { return value != NULL && mw_shape_count(mw_tensor_shape(value)) < 0; }

/* Where an extent stops being known; what it spreads to is no finding of its own. */
static bool opens(const mw__legality *legality, const mw__op *op, mw__trip *trip)
{
    bool before = false;
    (void)legality;
    for (size_t i = 0; i < op->slot_count; i++)
        for (size_t k = 0; k < op->slots[i].count; k++)
            before = before || is_open(op->slots[i].operands[k].value);
    for (size_t i = 0; i < op->result_count && !before; i++)
        if (op->results[i]->type->kind == MW__TENSOR && is_open(op->results[i])) {
            trip->tensor = op->results[i];
            return true;
        }
    return false;
}

/* ---- types ---- */

static bool is_wide(mw_dtype dtype) { return dtype == MW_F32 || dtype == MW_F64 || dtype == MW_BF16; }

/* One finding for all of them. */
static bool computes_wide(const mw__legality *legality, const mw__function *function, mw__trip *trip)
{
    const mw__block *body = function->body;
    (void)legality;
    for (size_t i = 0; i < body->op_count; i++)
        for (size_t k = 0; k < body->ops[i]->result_count; k++) {
            const mw_tensor *result = body->ops[i]->results[k];
            if (is_const(body->ops[i]) || !is_wide(mw_tensor_dtype(result)))
                continue;
            trip->there++;
            trip->tensor = trip->tensor != NULL ? trip->tensor : result;
            trip->what = mw_dtype_name(mw_tensor_dtype(trip->tensor));
        }
    return trip->there > 0;
}

static bool is_int32(mw_dtype dtype) { return dtype == MW_I32; }

/* True if the first result or a computed operand has the type. Of topk the first result are the values: nobody may read
 * the positions. */
static bool touches_type(const mw__op *op, bool (*is_type)(mw_dtype), mw__trip *trip)
{
    trip->tensor = op->result_count > 0 ? op->results[0] : NULL;
    bool found = trip->tensor != NULL && is_type(mw_tensor_dtype(trip->tensor));
    for (size_t i = 0; i < op->slot_count; i++)
        for (size_t k = 0; k < op->slots[i].count && !found; k++) {
            trip->tensor = op->slots[i].operands[k].value;
            found = mw__legality_computed(trip->tensor) && is_type(mw_tensor_dtype(trip->tensor));
        }
    trip->what = found ? mw_dtype_name(mw_tensor_dtype(trip->tensor)) : NULL;
    return found;
}

static bool touches_int32(const mw__legality *legality, const mw__op *op, mw__trip *trip)
{
    (void)legality;
    return !is_const(op) && touches_type(op, is_int32, trip);
}

static bool computes_wide_here(const mw__legality *legality, const mw__op *op, mw__trip *trip)
{
    (void)legality;
    return !is_const(op) && strcmp(op->kind, "cast") != 0 && touches_type(op, is_wide, trip);
}

static bool is_fp8(const mw__legality *legality, const mw__op *op, mw__trip *trip)
{
    if (mw__legality_chip(legality)->has_fp8)
        return false;
    for (size_t i = 0; i < op->result_count; i++) {
        const mw_dtype dtype = mw_tensor_dtype(op->results[i]);
        trip->what = mw_dtype_name(dtype);
        if (dtype == MW_F8E4M3FN || dtype == MW_F8E5M2)
            return true;
    }
    return false;
}

static bool casts_to_int32(const mw__legality *legality, const mw__op *op, mw__trip *trip)
{
    (void)legality;
    (void)trip;
    return op->result_count == 1 && mw_tensor_dtype(op->results[0]) == MW_I32;
}

/* ---- arguments ---- */

static bool computed_constant(const mw__legality *legality, const mw__op *op, mw__trip *trip)
{
    (void)legality;
    for (size_t i = 0; op->row != NULL && i < op->slot_count; i++) {
        const mw_tensor *value = op->slots[i].count == 1 ? op->slots[i].operands[0].value : NULL;
        if (op->row->args[i].kind != MW__CONST || !mw__legality_computed(value))
            continue;
        trip->tensor = value;
        trip->what = op->slots[i].name;
        return true;
    }
    return false;
}

static bool many_weights(const mw__legality *legality, const mw__function *function, mw__trip *trip)
{
    const mw__block *body = function->body;
    (void)legality;
    trip->limit = (int64_t)1 << 31;
    for (size_t i = 0; i < body->op_count; i++) {
        size_t size = 0;
        for (size_t k = 0; is_const(body->ops[i]) && k < body->ops[i]->result_count; k++)
            if (mw__type_bytes(body->ops[i]->results[k]->type, &size) && size < (size_t)INT64_MAX / 2 &&
                trip->there < INT64_MAX / 2)
                trip->there += (int64_t)size;
    }
    return trip->there > trip->limit;
}

static const mw__legality_row rows[] = {
    {.id = "mil",
     .chips = MW__ON_OLDER,
     .function = no_mil,
     .rule = "{what} runs no MIL; the first chip that does is h13 (M1)",
     .validator = "MIL is only supported for H13+ ANE architectures",
     .source = "ane-guide, chapter 24; ANEForge, families"},
    {.id = "rank",
     .chips = MW__ON_ALL,
     .op = any_high_rank,
     .rule = "the ANE has at most {limit} dimensions; merge some with reshape",
     .validator = "Rank ... must be between 0 and 5",
     .source = "MIL reference, maximum rank"},
    {.id = "extent",
     .chips = MW__ON_NAMED,
     .op = any_long,
     .rule = "an axis has {there} elements, at most {limit} are taken",
     .source =
         "ane-guide, appendix A, measured on M1; ANEForge, limits by chip. Of the batch of rank 4 ANEForge says "
         "nothing; the 65536 of the guide is taken. " MW__SWEEP ", M4 and M6: 65536 channels or columns are taken and "
         "65537 refused",
     .rewrite = MW__RULE_blocks},
    {.id = "open_extent",
     .chips = MW__ON_NAMED,
     .stage = MW__STAGE_LOWERING,
     .op = opens,
     .rule = "an extent of its result is not known when the program is compiled",
     .validator = "unsupported operation",
     .source = "ane-guide, chapter 22"},
    {.id = "float_type",
     .chips = MW__ON_NAMED,
     .judges = MW__BY_DIRECT,
     .stage = MW__STAGE_LOWERING,
     .function = computes_wide,
     .rule = "{there} results are {what}; the ANE computes in fp16",
     .source = "ANEForge: its questions and answers have fp32 between casts, its plans and its sweep do not; refusal "
               "is taken",
     .rewrite = MW__RULE_fp16},
    {.id = "fp8_type",
     .chips = MW__ON_NAMED,
     .op = is_fp8,
     .rule = "{what} came with h18",
     .source = "ane-guide, chapter 24, support byte 0x52d"},
    {.id = "cast_int32",
     .operations = MW__OPERATIONS("cast"),
     .chips = MW__ON_BELOW_H14,
     .stage = MW__STAGE_LOWERING,
     .op = casts_to_int32,
     .rule = "a cast to int32 is refused; round with floor, which stays fp16",
     .source = "ane-guide, chapter 22, measured on M1; ANEForge has casts as not implemented on M5 too (the form of "
               "its sweep), of which only this one is taken",
     .rewrite = MW__RULE_same_cast},
    {.id = "argument_computed",
     .chips = MW__ON_NAMED,
     .op = computed_constant,
     .rule = "{what} must be a constant",
     .validator = "Scale is expected to be constant",
     .source = "MIL reference, constant arguments"},
    {.id = "weights_size",
     .chips = MW__ON_NAMED,
     .stage = MW__STAGE_LOAD,
     .function = many_weights,
     .rule = "its constants have {there} bytes, beyond about {limit}; run it in parts",
     .source = "ANEForge, issue 45: 1.5 GB load, 3.4 GB do not"},
    {.id = "control",
     .operations = MW__OPERATIONS("cond", "while_loop"),
     .chips = MW__ON_NAMED,
     .stage = MW__STAGE_LOWERING,
     .op = mw__legality_always,
     .rule = "branches and loops do not compile; they are unrolled where their counts are known",
     .source = "operation sweep of ANEForge on M5; ane-guide, appendix A"},
    {.id = "lists",
     .operations = MW__OPERATIONS("make_list", "list_gather", "list_length", "list_read", "list_scatter", "list_write"),
     .chips = MW__ON_NAMED,
     .stage = MW__STAGE_LOWERING,
     .op = mw__legality_always,
     .rule = "lists do not compile; they become tensors",
     .source = "operation sweep of ANEForge on M5; ane-guide, appendix A"},
    {.id = "states",
     .operations = MW__OPERATIONS("read_state", "write_state"),
     .chips = MW__ON_NAMED,
     .stage = MW__STAGE_LOWERING,
     .op = mw__legality_always,
     .rule = "states do not compile; they become ports, and an output shares the memory of its input",
     .source = "operation sweep of ANEForge on M5; ane-guide, appendix A"},
    {.id = "coreml_float_type",
     .chips = MW__ON_NAMED,
     .judges = MW__BY_COREML,
     .stage = MW__STAGE_PLANNER,
     .op = computes_wide_here,
     .rule = "it computes in {what}, and only casts from and to it are offered to the ANE; compute in fp16",
     .source = MW__SWEEP ", Core ML on M4: fp32 models whose computation coremltools makes fp16 are offered with their "
                         "casts. Refusal of the rest is ANEForge's, as float_type says"},
    {.id = "coreml_int32",
     .chips = MW__ON_NAMED,
     .judges = MW__BY_COREML,
     .stage = MW__STAGE_PLANNER,
     .op = touches_int32,
     .rule = "it reads or makes int32, which Core ML does not offer to the ANE",
     .source = MW__SWEEP_M4},
};

const mw__legality_family mw__legality_program = {"program", rows, sizeof rows / sizeof *rows};

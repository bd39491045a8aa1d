/* Rows of what a device refuses: operation, mask, predicate, rule, source. Each row has a published source; what a
 * device accepts in a decomposed lowering is rewritten by the rows of rewrite.c or by the patterns. */
#include "mil/legality.h"
#include "graph/constants/compressed.h"
#include "mil/rewrite.h"

#include <stdio.h>
#include <string.h>

bool mw__legality_half(const mw__legality *legality, const mw_tensor *value)
{
    return legality->half != NULL && value != NULL && value->id < legality->count && legality->half[value->id];
}

/* ---- predicates: true means refused ---- */

typedef bool refuses(const mw__legality *legality, const mw__op *op);

static bool always(const mw__legality *legality, const mw__op *op)
{
    (void)legality;
    (void)op;
    return true;
}

static bool high_rank(const mw__legality *legality, const mw_tensor *value)
{
    return value != NULL && value->type->kind == MW__TENSOR && value->type->shape.rank > legality->device->rank_max;
}

/* A constant is refused where it is used, a compressed one too: its tables have two axes more than it, and stay in the
 * file, as do tables that are compressed themselves. */
static bool any_high_rank(const mw__legality *legality, const mw__op *op)
{
    if ((op->row != NULL && op->row->id == MW__OP_const) || mw__op_is_constexpr(op))
        return false;
    for (size_t i = 0; i < op->result_count; i++)
        if (high_rank(legality, op->results[i]))
            return true;
    for (size_t i = 0; i < op->slot_count; i++)
        for (size_t k = 0; k < op->slots[i].count; k++)
            if (high_rank(legality, op->slots[i].operands[k].value))
                return true;
    return false;
}

/* The first value of an argument, by name; also for operations without a row. */
static const mw_tensor *argument(const mw__op *op, const char *name)
{
    for (size_t i = 0; i < op->slot_count; i++)
        if (strcmp(op->slots[i].name, name) == 0 && op->slots[i].count > 0)
            return op->slots[i].operands[0].value;
    return NULL;
}

static bool half_indices(const mw__legality *legality, const mw__op *op)
{
    const mw_tensor *indices = argument(op, "indices");
    return indices != NULL && (mw__legality_half(legality, indices) || mw_tensor_dtype(indices) == MW_F16);
}

/* Positions and counts. */
static bool half_integers(const mw__legality *legality, const mw__op *op)
{
    for (size_t i = 0; op->row != NULL && i < op->slot_count; i++) {
        const mw__arg_row *arg = &op->row->args[i];
        if (arg->type != MW__INT && arg->type != MW__INDEX && arg->type != MW__I32)
            continue;
        for (size_t k = 0; k < op->slots[i].count; k++) {
            const mw_tensor *value = op->slots[i].operands[k].value;
            if (mw__legality_half(legality, value) || (value != NULL && mw_tensor_dtype(value) == MW_F16))
                return true;
        }
    }
    return false;
}

static bool computed(const mw_tensor *value) { return value != NULL && !mw__is_constant(value); }

static bool computed_weight(const mw__legality *legality, const mw__op *op)
{
    (void)legality;
    return computed(argument(op, "weight"));
}

static bool computed_weight_batched(const mw__legality *legality, const mw__op *op)
{
    const mw_shape x = mw_tensor_shape(argument(op, "x"));
    return computed_weight(legality, op) && x.rank > 0 && x.dim[0] > 1;
}

static bool wide_kernel(const mw__legality *legality, const mw__op *op)
{
    const mw_shape weight = mw_tensor_shape(argument(op, "weight"));
    return weight.rank > 2 && weight.dim[weight.rank - 1] > legality->device->kernel_width_max;
}

/* ---- rows ---- */

typedef struct legality_row {
    const char *operation; /* NULL = any */
    uint64_t devices;      /* that refuse, in e5rt's mask */
    refuses *predicate;
    const char *rule; /* what is refused, with a hint */
    const char *source;
} legality_row;

#define ANE(operation_, predicate_, rule_, source_)                                                                    \
    {                                                                                                                  \
        operation_, MW_DEVICE_ANE, predicate_, rule_, source_                                                          \
    }
#define ANE_REFUSES(operation_)                                                                                        \
    ANE(operation_, always, "the ANE does not run it", "operation sweep of ANEForge on the ANE")

static const legality_row rows[] = {
    ANE(NULL, any_high_rank, "the ANE has at most 5 dimensions; merge some with reshape",
        "MIL reference, maximum rank"),
    ANE("gather", half_indices,
        "its int32 indices come from an input, which is an fp16 port on the ANE, and fp16 cannot be an index",
        "MIL reference, gather takes integer indices"),
    ANE("gather_along_axis", half_indices,
        "its int32 indices come from an input, which is an fp16 port on the ANE, and fp16 cannot be an index",
        "MIL reference, gather_along_axis takes integer indices"),
    ANE("gather_nd", half_indices,
        "its int32 indices come from an input, which is an fp16 port on the ANE, and fp16 cannot be an index",
        "MIL reference, gather_nd takes integer indices"),
    ANE("one_hot", half_indices,
        "its int32 indices come from an input, which is an fp16 port on the ANE, and fp16 cannot be an index",
        "MIL reference, one_hot takes integer indices"),
    ANE("conv", wide_kernel, "the kernel is wider than 15", "ANEForge, limits by chip"),
    ANE("conv", computed_weight_batched, "a weight that is not a constant needs a batch of 1; use the decomposed form",
        "ANEForge, dynamic convolution"),
    ANE("conv_transpose", computed_weight, "its weight must be a constant; use the decomposed form",
        "ANEForge, dynamic convolution"),
    ANE_REFUSES("acos"),
    ANE_REFUSES("asin"),
    ANE_REFUSES("atanh"),
    ANE_REFUSES("band_part"),
    ANE("classify", always, "the ANE does not run it; mw_compile writes it as the index of the largest probability",
        "operation sweep of ANEForge on the ANE"),
    ANE("conv_quantized", always, "the ANE does not run it; mw_compile writes it as a conv",
        "operation sweep of ANEForge on the ANE"),
    ANE_REFUSES("cosh"),
    ANE_REFUSES("crop_resize"),
    ANE_REFUSES("cumsum"),
    ANE_REFUSES("gru"),
    ANE_REFUSES("logical_and"),
    ANE_REFUSES("logical_or"),
    ANE_REFUSES("logical_xor"),
    ANE_REFUSES("lstm"),
    ANE_REFUSES("mod"),
    ANE_REFUSES("non_zero"),
    ANE_REFUSES("random_bernoulli"),
    ANE_REFUSES("random_categorical"),
    ANE_REFUSES("random_normal"),
    ANE_REFUSES("random_uniform"),
    ANE("non_maximum_suppression", always, "the ANE does not run it",
        "operation sweep of ANEForge, where it runs on the CPU"),
    ANE_REFUSES("reduce_argmax"),
    ANE_REFUSES("reduce_argmin"),
    ANE_REFUSES("reduce_prod"),
    ANE_REFUSES("reverse_sequence"),
    ANE_REFUSES("rnn"),
    ANE_REFUSES("scatter"),
    ANE_REFUSES("scatter_along_axis"),
    ANE_REFUSES("scatter_nd"),
    ANE_REFUSES("sinh"),
    ANE_REFUSES("sliding_windows"),
    ANE_REFUSES("tan"),
    ANE(NULL, half_integers,
        "integer inputs are fp16 ports on the ANE, and those cannot say where or how many; make the number a constant",
        "MIL reference, the argument takes integers"),
};

/* "; rewrite crop did not apply: it wants .." for each row that could have stood for it. */
static const char *tried(const mw__op *op, char *buffer, size_t size)
{
    size_t at = 0, length = 0;
    buffer[0] = '\0';
    for (const mw__rewrite *row; length < size && (row = mw__rewrite_wanting(op->kind, &at)) != NULL;)
        length += (size_t)snprintf(buffer + length, size - length, "; rewrite %s did not apply, which wants %s",
                                   row->name, row->wants);
    return buffer;
}

static mw_status refuse(const legality_row *row, const mw__op *op, mw_error *err)
{
    char subject[160], rewrites[300];
    if (op->row != NULL) /* no device takes what breaks its own rule */
        MW_TRY(mw__op_verify(op, err));
    mw__fail(err, MW_ERROR_UNSUPPORTED, "%s: %s (source: %s)%s", mw__op_subject(op, subject, sizeof subject), row->rule,
             row->source, tried(op, rewrites, sizeof rewrites));
    mw__error_subject(err, op->kind, op->result_count > 0 ? op->results[0]->name : NULL);
    if (op->line != 0)
        mw__error_position(err, (int)op->line, (int)op->column);
    return MW_ERROR_UNSUPPORTED;
}

static mw_status check_block(const mw__legality *legality, const mw__block *block, mw_error *err)
{
    for (size_t i = 0; i < block->op_count; i++)
        MW_TRY(mw__legality_check_op(legality, block->ops[i], err));
    return MW_OK;
}

mw_status mw__legality_check_op(const mw__legality *legality, const mw__op *op, mw_error *err)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const legality_row *row = &rows[i];
        if ((row->devices & legality->device->mask) == 0 ||
            (row->operation != NULL && strcmp(row->operation, op->kind) != 0))
            continue;
        if (row->predicate(legality, op))
            return refuse(row, op, err);
    }
    for (size_t i = 0; i < op->block_count; i++)
        MW_TRY(check_block(legality, op->blocks[i], err));
    return MW_OK;
}

/* ---- ports ---- */

static mw_status check_port(const mw__legality *legality, const mw_tensor *value, const char *side, bool allowed,
                            const char *hint, mw_error *err)
{
    if (allowed && !high_rank(legality, value))
        return MW_OK;
    const char *name = mw_tensor_name(value);
    if (high_rank(legality, value))
        mw__fail(err, MW_ERROR_UNSUPPORTED,
                 "%s \"%s\" has rank %d; the ANE has at most 5 dimensions (source: MIL reference, maximum rank)", side,
                 name, value->type->shape.rank);
    else
        mw__fail(err, MW_ERROR_UNSUPPORTED, "%s \"%s\" is %s; %s (source: ANEForge, ports)", side, name,
                 mw_dtype_name(mw_tensor_dtype(value)), hint);
    mw__error_subject(err, NULL, name);
    return MW_ERROR_UNSUPPORTED;
}

mw_status mw__legality_check_ports(const mw__legality *legality, const mw__function *function, mw_error *err)
{
    const mw__block *body = function->body;
    if (!legality->device->half_ports)
        return MW_OK;
    for (size_t i = 0; i < body->input_count; i++) {
        const mw_tensor *input = body->inputs[i];
        const mw_dtype dtype = mw_tensor_dtype(input);
        const bool allowed = dtype == MW_F16 || dtype == MW_U8 || input->type->kind == MW__STATE;
        MW_TRY(check_port(legality, input, "input", allowed, "the ANE takes fp16 and uint8", err));
    }
    for (size_t i = 0; i < body->output_count; i++) {
        const bool allowed = mw_tensor_dtype(body->outputs[i]) == MW_F16;
        MW_TRY(check_port(legality, body->outputs[i], "output", allowed,
                          "the ANE returns fp16; convert it with cast, or select between two numbers", err));
    }
    return MW_OK;
}

mw_status mw__mil_check_legal(const mw_graph *graph, const mw__device_traits *device, mw_error *err)
{
    const mw__legality legality = {.device = device};
    if (mw__failed(err))
        return err->status;
    for (size_t i = 0; i < graph->function_count; i++) {
        MW_TRY(check_block(&legality, graph->functions[i]->body, err));
        MW_TRY(mw__legality_check_ports(&legality, graph->functions[i], err));
    }
    return MW_OK;
}

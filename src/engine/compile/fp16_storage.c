/* Rewrites a function so that intermediates of fp16 are held in fp32 (engine/widen.h). Decides nothing about rounding
 * beyond which values need it; engine/round.c does it. */
#include "engine/compile/fp16_storage.h"
#include "engine/kernels/kernel_table.h"

#include "base/fp16.h"
#include "engine/core/kernel.h"
#include "graph/rule.h"

#include <string.h>

typedef enum form {
    NARROW,  /* operands and results are fp16 in memory */
    WIDE,    /* .. fp32 */
    ELEMENT, /* reads both; writes fp32, or fp16 where the result is a port */
    MOVER    /* as its operands are */
} form;

typedef struct widener {
    mw_graph *graph;
    mw__block *body;
    mw_tensor **wide, **narrow;   /* by id of a value of the text: its two forms, NULL = not made */
    bool *output, *half, *wanted; /* likewise */
    size_t value_count;
    mw_error *err;
} widener;

/* ---- operations ---- */

static form form_of(const mw__op *op)
{
    static const struct {
        mw__kernel_plan *plan;
        form form;
    } forms[] = {
        {mw__kernel_binary, ELEMENT},
        {mw__kernel_unary, ELEMENT},
        {mw__kernel_compare, ELEMENT},
        {mw__kernel_select, ELEMENT},
        {mw__kernel_cast, ELEMENT},
        {mw__kernel_matmul, WIDE},
        {mw__kernel_linear, WIDE},
        {mw__kernel_einsum, WIDE},
        {mw__kernel_conv, WIDE},
        {mw__kernel_conv_transpose, WIDE},
        {mw__kernel_pool, WIDE},
        {mw__kernel_reduce, WIDE},
        {mw__kernel_softmax, WIDE},
        {mw__kernel_layer_norm, WIDE},
        {mw__kernel_batch_norm, WIDE},
        {mw__kernel_instance_norm, WIDE},
        {mw__kernel_l2_norm, WIDE},
        {mw__kernel_local_response_norm, WIDE},
        {mw__kernel_per_channel, WIDE},
        {mw__kernel_scaled_dot_product_attention, WIDE},
        {mw__kernel_scatter, WIDE},
        {mw__kernel_fill, WIDE},
        {mw__kernel_view, MOVER},
        {mw__kernel_transpose, MOVER},
        {mw__kernel_slice, MOVER},
        {mw__kernel_slice_update, MOVER},
        {mw__kernel_concat, MOVER},
        {mw__kernel_split, MOVER},
        {mw__kernel_stack, MOVER},
        {mw__kernel_tile, MOVER},
        {mw__kernel_pad, WIDE},
        {mw__kernel_reverse, MOVER},
        {mw__kernel_gather, MOVER},
        {mw__kernel_crop, MOVER},
        {mw__kernel_band_part, MOVER},
        {mw__kernel_sliding_windows, MOVER},
        {mw__kernel_space_to_depth, MOVER},
        {mw__kernel_depth_to_space, MOVER},
        {mw__kernel_pixel_shuffle, MOVER},
        {mw__kernel_pixel_unshuffle, MOVER},
    };
    mw__kernel_plan *plan = op->row != NULL ? mw__kernel_find(op->row->id) : NULL;
    for (size_t i = 0; plan != NULL && i < sizeof forms / sizeof *forms; i++)
        if (forms[i].plan == plan)
            return forms[i].form;
    return NARROW;
}

/* Of operands that are fp16 numbers the result is one. */
static bool is_exact(const mw__op *op)
{
    if (op->row != NULL && op->row->id == MW__OP_cast)
        return mw__arg(op, "x")->type->dtype == MW_BOOL;
    static const char *const names[] = {"maximum",    "minimum",    "abs",   "sign",      "relu",
                                        "floor",      "ceil",       "round", "select",    "max_pool",
                                        "reduce_max", "reduce_min", "fill",  "fill_like", "pad"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(op->kind, names[i]) == 0)
            return true;
    return false;
}

/* ---- the two forms of a value ---- */

static bool is_half(const mw_tensor *value) { return value->type->kind == MW__TENSOR && value->type->dtype == MW_F16; }

/* Of the text, and declared fp16; its type may have been changed since. */
static bool has_forms(const widener *w, const mw_tensor *value)
{
    return value != NULL && value->id < w->value_count && (w->wide[value->id] != NULL || w->narrow[value->id] != NULL);
}

static mw_tensor *twin_of(widener *w, const mw_tensor *value, mw_dtype dtype)
{
    const mw__type *type = mw__type_tensor(w->graph, dtype, value->type->shape, w->err);
    mw_tensor *twin = type != NULL ? mw__value_create(w->graph, type, value->hint, w->err) : NULL;
    if (twin != NULL)
        twin->name = value->name;
    return twin;
}

/* The value in the other type, by an operation that is put here. */
static mw_tensor *convert(widener *w, mw_tensor *value, mw_dtype dtype)
{
    const mw__row *row = mw__row_find("cast", w->body->function->opset, NULL);
    mw__op *op = mw__op_create(w->graph, row, "cast", 0, w->err);
    mw_tensor *twin = twin_of(w, value, dtype);
    mw__operand *operand = mw__arena_alloc(&w->graph->arena, 1, sizeof *operand, w->err);
    mw_tensor **results = mw__arena_alloc(&w->graph->arena, 1, sizeof(mw_tensor *), w->err);
    if (op == NULL || twin == NULL || operand == NULL || results == NULL)
        return NULL;
    operand->value = value;
    for (size_t i = 0; i < op->slot_count; i++)
        if (strcmp(op->slots[i].name, "x") == 0) {
            op->slots[i].operands = operand;
            op->slots[i].count = 1;
        }
    results[0] = twin;
    op->results = results;
    op->result_count = 1;
    twin->op = op;
    return mw__block_add_op(w->body, op, w->err) == MW_OK ? twin : NULL;
}

static mw_tensor *widen_constant(widener *w, const mw_tensor *value)
{
    mw_tensor *twin = twin_of(w, value, MW_F32);
    mw__payload *payload = mw__arena_alloc(&w->graph->arena, 1, sizeof *payload, w->err);
    const size_t count = value->payload->size / sizeof(uint16_t);
    float *data = mw__arena_alloc(&w->graph->arena, count, sizeof *data, w->err);
    if (twin == NULL || payload == NULL || data == NULL)
        return NULL;
    mw__fp16_to_float_n(data, value->payload->data, count);
    *payload =
        (mw__payload){.type = twin->type, .data = data, .size = count * sizeof *data, .splat = value->payload->splat};
    twin->payload = payload;
    return twin;
}

static mw_tensor *as_wide(widener *w, mw_tensor *value)
{
    mw_tensor **wide = &w->wide[value->id];
    if (*wide == NULL)
        *wide = value->payload != NULL ? widen_constant(w, value) : convert(w, value, MW_F32);
    return *wide;
}

static mw_tensor *as_narrow(widener *w, mw_tensor *value)
{
    mw_tensor **narrow = &w->narrow[value->id];
    if (*narrow == NULL)
        *narrow = convert(w, value, MW_F16);
    return *narrow;
}

/* ---- one operation ---- */

typedef mw_tensor *form_function(widener *w, mw_tensor *value);

/* As it was computed; constants cost nothing wide. */
static mw_tensor *as_made(widener *w, mw_tensor *value) { return value->payload != NULL ? as_wide(w, value) : value; }

static mw_status give_operands(widener *w, mw__op *op, form_function *give)
{
    for (size_t i = 0; i < op->slot_count; i++)
        for (size_t j = 0; j < op->slots[i].count; j++) {
            mw__operand *operand = &op->slots[i].operands[j];
            if (!has_forms(w, operand->value))
                continue;
            operand->value = give(w, operand->value);
            if (operand->value == NULL)
                return MW_ERROR_MEMORY;
        }
    return MW_OK;
}

/* A mover takes its operands wide if one of them is there wide, or if it can run once, when compiled. */
static form form_of_mover(const widener *w, const mw__op *op)
{
    bool constant = true;
    for (size_t i = 0; i < op->slot_count; i++)
        for (size_t j = 0; j < op->slots[i].count; j++) {
            const mw_tensor *value = op->slots[i].operands[j].value;
            if (has_forms(w, value) && w->wide[value->id] != NULL && value->payload == NULL)
                return WIDE;
            constant = constant && value != NULL && value->payload != NULL;
        }
    return constant ? WIDE : NARROW;
}

static mw_status give_result(widener *w, mw_tensor *value, form as, bool exact)
{
    w->half[value->id] = true;
    w->wanted[value->id] = !exact;
    if (as == NARROW || (as == ELEMENT && w->output[value->id])) {
        w->narrow[value->id] = value;
        return MW_OK;
    }
    const mw__type *type = mw__type_tensor(w->graph, MW_F32, value->type->shape, w->err);
    if (type == NULL)
        return MW_ERROR_MEMORY;
    value->type = type;
    w->wide[value->id] = value;
    return !w->output[value->id] || as_narrow(w, value) != NULL ? MW_OK : MW_ERROR_MEMORY;
}

static bool is_constant_op(const mw__op *op) { return op->row != NULL && op->row->id == MW__OP_const; }

static mw_status widen_op(widener *w, mw__op *op)
{
    static form_function *const give[] = {[NARROW] = as_narrow, [WIDE] = as_wide, [ELEMENT] = as_made};
    if (is_constant_op(op))
        return mw__block_add_op(w->body, op, w->err);
    const form own = form_of(op), as = own == MOVER ? form_of_mover(w, op) : own;
    const bool exact = own == MOVER || own == NARROW || is_exact(op);
    MW_TRY(give_operands(w, op, give[as]));
    MW_TRY(mw__block_add_op(w->body, op, w->err));
    for (size_t i = 0; i < op->result_count; i++)
        if (is_half(op->results[i]))
            MW_TRY(give_result(w, op->results[i], as, exact));
    return MW_OK;
}

/* ---- the function ---- */

/* True if there is anything to widen and all of it can be: no operation holds blocks, every constant is loaded. */
static bool suits(const mw__block *body)
{
    bool half = false;
    for (size_t i = 0; i < body->op_count; i++) {
        const mw__op *op = body->ops[i];
        if (op->block_count > 0)
            return false;
        for (size_t r = 0; r < op->result_count; r++) {
            const mw_tensor *result = op->results[r];
            half = half || is_half(result);
        }
        for (size_t s = 0; s < op->slot_count; s++)
            for (size_t j = 0; j < op->slots[s].count; j++) {
                const mw_tensor *value = op->slots[s].operands[j].value;
                if (value == NULL || (value->payload != NULL && is_half(value) && value->payload->data == NULL))
                    return false;
                half = half || is_half(value);
            }
    }
    return half;
}

static mw_status init(widener *w, mw__function *function, mw__arena *arena, mw_error *err)
{
    *w = (widener){.graph = function->graph, .body = function->body, .value_count = function->graph->value_count};
    w->err = err;
    const mw_allocator *allocator = w->graph->allocator;
    w->half = mw__arena_alloc(arena, w->value_count, sizeof *w->half, err);
    w->wanted = mw__arena_alloc(arena, w->value_count, sizeof *w->wanted, err);
    w->wide = mw__alloc(allocator, w->value_count, sizeof(mw_tensor *), err);
    w->narrow = mw__alloc(allocator, w->value_count, sizeof(mw_tensor *), err);
    w->output = mw__alloc(allocator, w->value_count, sizeof *w->output, err);
    return w->half != NULL && w->wanted != NULL && w->wide != NULL && w->narrow != NULL && w->output != NULL
               ? MW_OK
               : MW_ERROR_MEMORY;
}

static void deinit(const widener *w)
{
    mw__free(w->graph->allocator, w->wide);
    mw__free(w->graph->allocator, w->narrow);
    mw__free(w->graph->allocator, w->output);
}

/* Inputs and constants are fp16 in memory. */
static void note_narrow(widener *w)
{
    for (size_t i = 0; i < w->value_count; i++) {
        mw_tensor *value = w->graph->values[i];
        if (is_half(value) && (value->payload != NULL || value->op == NULL))
            w->narrow[i] = value;
    }
    for (size_t i = 0; i < w->body->output_count; i++)
        w->output[w->body->outputs[i]->id] = true;
}

static mw_status widen(widener *w)
{
    mw__block *body = w->body;
    mw__op *const *const ops = body->ops; /* the arena keeps them */
    const size_t op_count = body->op_count;
    note_narrow(w);
    body->ops = NULL;
    body->op_count = body->op_capacity = 0;
    for (size_t i = 0; i < op_count; i++)
        MW_TRY(widen_op(w, ops[i]));
    for (size_t i = 0; i < body->output_count; i++)
        if (has_forms(w, body->outputs[i]))
            body->outputs[i] = w->narrow[body->outputs[i]->id];
    return MW_OK;
}

mw_status mw__widen_function(mw__function *function, mw__arena *arena, mw__rounding *out, mw_error *err)
{
    widener w;
    *out = (mw__rounding){0};
    if (mw__kernel_level() == MW__LEVEL_REF || !suits(function->body))
        return MW_OK;
    mw_status status = init(&w, function, arena, err);
    if (status == MW_OK)
        status = widen(&w);
    if (status == MW_OK)
        *out = (mw__rounding){.half = w.half, .wanted = w.wanted, .count = w.value_count};
    deinit(&w);
    return status;
}

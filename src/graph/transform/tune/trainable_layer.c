/* The layers of a program, counted from its results. A layer is an operation with a kernel or a table; a bias, a norm
 * or a scale belongs to the layer before it. Branches beside each other are as deep as they are far from a result, by
 * the longest way. */
#include "graph/random/generator.h"
#include "graph/transform/tune/trainable.h"

#include <string.h>

typedef struct layers {
    unsigned char *fixed;  /* by value: it depends on constants and parameters alone */
    uint32_t *below;       /* by value: the most layers on a way from it to a result */
    uint32_t *near;        /* by value that is fixed: the depth of its nearest use by one that is not; 0 = none */
    const mw__op **holder; /* by value: that use */
    unsigned char *kernel; /* by value: a kernel or a table of an operation */
} layers;

typedef void each_operand(layers *l, const mw__op *op, const mw__slot *slot, mw_tensor *value, uint32_t depth);

static void visit_members(layers *l, const mw__op *op, const mw__slot *slot, const mw__operand *list, size_t count,
                          uint32_t depth, each_operand *visit)
{
    for (size_t i = 0; list != NULL && i < count; i++) {
        if (list[i].value != NULL)
            visit(l, op, slot, list[i].value, depth);
        visit_members(l, op, slot, list[i].members, list[i].member_count, depth, visit);
    }
}

static void visit_operands(layers *l, const mw__op *op, uint32_t depth, each_operand *visit)
{
    for (size_t i = 0; i < op->slot_count; i++)
        visit_members(l, op, &op->slots[i], op->slots[i].operands, op->slots[i].count, depth, visit);
}

/* ---- what depends on no input ---- */

static bool is_given(const mw_tensor *value)
{
    return value->type->kind == MW__TENSOR && (mw__is_constant(value) || mw__is_resident(value)) &&
           !mw__is_generator(value);
}

static bool are_fixed(const layers *l, const mw__operand *list, size_t count)
{
    for (size_t i = 0; list != NULL && i < count; i++) {
        const mw_tensor *value = list[i].value;
        if (value != NULL && !is_given(value) && !l->fixed[value->id])
            return false;
        if (!are_fixed(l, list[i].members, list[i].member_count))
            return false;
    }
    return true;
}

static bool is_fixed_op(const layers *l, const mw__op *op)
{
    if (op->block_count > 0 || op->row == NULL || mw__op_has(op, MW__TRAIT_RANDOM))
        return mw__op_is_const(op);
    for (size_t i = 0; i < op->slot_count; i++)
        if (!are_fixed(l, op->slots[i].operands, op->slots[i].count))
            return false;
    return true;
}

static void mark_fixed(layers *l, const mw__block *block)
{
    for (size_t i = 0; i < block->input_count; i++)
        l->fixed[block->inputs[i]->id] = is_given(block->inputs[i]);
    for (size_t i = 0; i < block->op_count; i++) {
        const mw__op *op = block->ops[i];
        const bool fixed = is_fixed_op(l, op);
        for (size_t k = 0; k < op->result_count; k++)
            l->fixed[op->results[k]->id] = fixed;
        for (size_t k = 0; k < op->block_count; k++)
            mark_fixed(l, op->blocks[k]);
    }
}

/* ---- kernels ---- */

static bool is_adapter(const mw_tensor *value)
{
    static const char *const ends[] = {MW__LORA_A, MW__LORA_B};
    const size_t length = value->name != NULL ? strlen(value->name) : 0;
    for (int i = 0; i < 2; i++)
        if (length > strlen(ends[i]) && strcmp(value->name + length - strlen(ends[i]), ends[i]) == 0)
            return true;
    return false;
}

/* Adapters stand beside the layer that they are for. */
static void mark_kernel(layers *l, const mw__op *op, const mw__slot *slot, mw_tensor *value, uint32_t depth)
{
    const mw_weight_role role = mw__tune_role_in_table(op, slot->name);
    const mw_tensor *origin = mw__tune_origin(value);
    const mw_dtype dtype = value->type->kind == MW__TENSOR ? value->type->dtype : MW_DTYPE_NONE;
    (void)depth;
    if ((role != MW_WEIGHT_KERNEL && role != MW_WEIGHT_TABLE) || (dtype != MW_F16 && dtype != MW_F32) ||
        !(l->fixed[value->id] || is_given(value)) || origin == NULL || is_adapter(origin))
        return;
    if (role == MW_WEIGHT_KERNEL || origin->payload == NULL || !mw__guess_is_buffer(origin))
        l->kernel[value->id] = 1;
}

static bool holds_kernel(const layers *l, const mw__op *op)
{
    bool holds = false;
    if (op->result_count > 0 && l->fixed[op->results[0]->id])
        return false;
    for (size_t i = 0; i < op->slot_count; i++)
        for (size_t k = 0; op->slots[i].operands != NULL && k < op->slots[i].count; k++) {
            const mw_tensor *value = op->slots[i].operands[k].value;
            const mw_weight_role role = mw__tune_role_in_table(op, op->slots[i].name);
            holds = holds ||
                    (value != NULL && l->kernel[value->id] && (role == MW_WEIGHT_KERNEL || role == MW_WEIGHT_TABLE));
        }
    for (size_t i = 0; i < op->block_count; i++)
        for (size_t k = 0; k < op->blocks[i]->op_count; k++)
            holds = holds || holds_kernel(l, op->blocks[i]->ops[k]);
    return holds;
}

/* ---- from the results ---- */

static void note_use(layers *l, const mw__op *op, const mw__slot *slot, mw_tensor *value, uint32_t depth)
{
    const mw_tensor *result = op->result_count > 0 ? op->results[0] : NULL;
    const bool goes_on = result != NULL && l->fixed[result->id];
    const uint32_t near = goes_on ? l->near[result->id] : depth;
    (void)slot;
    if (near == 0 || (l->near[value->id] != 0 && l->near[value->id] < near))
        return;
    l->near[value->id] = near;
    l->holder[value->id] = goes_on ? l->holder[result->id] : op;
}

static void note_below(layers *l, const mw__op *op, const mw__slot *slot, mw_tensor *value, uint32_t below)
{
    (void)op, (void)slot;
    l->below[value->id] = below > l->below[value->id] ? below : l->below[value->id];
}

/* `own`: 1 if the operation of "main" in which this one stands has a layer; `after`: layers behind that. */
static void walk_back(layers *l, const mw__op *op, uint32_t after, uint32_t own)
{
    for (size_t i = op->block_count; i-- > 0;)
        for (size_t k = op->blocks[i]->op_count; k-- > 0;)
            walk_back(l, op->blocks[i]->ops[k], after, own);
    visit_operands(l, op, after + 1, note_use);
    visit_operands(l, op, after + own, note_below);
}

static void walk_main(layers *l, const mw__block *body)
{
    for (size_t i = body->op_count; i-- > 0;) {
        const mw__op *op = body->ops[i];
        uint32_t after = 0;
        for (size_t k = 0; k < op->result_count; k++)
            after = l->below[op->results[k]->id] > after ? l->below[op->results[k]->id] : after;
        walk_back(l, op, after, holds_kernel(l, op));
    }
}

/* ---- the whole ---- */

static void mark_kernels(layers *l, const mw__block *block)
{
    for (size_t i = 0; i < block->op_count; i++) {
        visit_operands(l, block->ops[i], 0, mark_kernel);
        for (size_t k = 0; k < block->ops[i]->block_count; k++)
            mark_kernels(l, block->ops[i]->blocks[k]);
    }
}

static bool make_tables(mw__arena *arena, size_t count, layers *out, mw_error *err)
{
    *out = (layers){.fixed = mw__arena_alloc(arena, count, 1, err),
                    .below = mw__arena_alloc(arena, count, sizeof *out->below, err),
                    .near = mw__arena_alloc(arena, count, sizeof *out->near, err),
                    .holder = mw__arena_alloc(arena, count, sizeof *out->holder, err),
                    .kernel = mw__arena_alloc(arena, count, 1, err)};
    return out->fixed != NULL && out->below != NULL && out->near != NULL && out->holder != NULL && out->kernel != NULL;
}

/* ranks[depth]: how many depths up to this one have a kernel. A kernel that is used several times, as by each step of a
 * recurrent layer, has the depth of its last use, so that some have none. */
static uint32_t *rank_depths(mw__arena *arena, const layers *l, size_t count, uint32_t *out_most, mw_error *err)
{
    uint32_t most = 0, used = 0;
    for (size_t i = 0; i < count; i++)
        most = l->kernel[i] && l->near[i] > most ? l->near[i] : most;
    uint32_t *ranks = mw__arena_alloc(arena, (size_t)most + 1, sizeof *ranks, err);
    for (size_t i = 0; ranks != NULL && i < count; i++)
        if (l->kernel[i])
            ranks[l->near[i]] = 1;
    for (uint32_t depth = 1; ranks != NULL && depth <= most; depth++) {
        const bool has = ranks[depth] != 0;
        ranks[depth] = used + 1;
        used += has;
    }
    *out_most = used;
    if (ranks != NULL)
        ranks[0] = most;
    return ranks;
}

static const char *name_of(const mw__op *op)
{
    const char *name = op == NULL             ? NULL
                       : op->name != NULL     ? op->name
                       : op->result_count > 0 ? op->results[0]->name
                                              : NULL;
    return name != NULL ? name : "";
}

mw_status mw__tune_find_layers(mw__arena *arena, const mw__function *function, mw__tune_items *items, mw_error *err)
{
    layers l;
    uint32_t most = 0;
    const size_t count = function->graph->value_count;
    if (!make_tables(arena, count, &l, err))
        return MW_ERROR_MEMORY;
    mark_fixed(&l, function->body);
    mark_kernels(&l, function->body);
    walk_main(&l, function->body);
    const uint32_t *ranks = rank_depths(arena, &l, count, &most, err);
    if (ranks == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < items->count; i++) {
        mw_weight *weight = &items->items[i].weight;
        const uint32_t near = l.near[items->items[i].value->id];
        weight->layer = name_of(l.holder[items->items[i].value->id]);
        weight->depth = near == 0 || most == 0 ? 0 : near > ranks[0] ? (int)most : (int)ranks[near];
    }
    items->layer_count = most;
    return MW_OK;
}

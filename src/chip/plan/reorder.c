/* Layers in the order of the schedule: every index of a layer becomes its position. */
#include "chip/plan/plan.h"

#include <stdlib.h>

static size_t moved(const mw__chip_planner *p, size_t layer)
{
    return layer == MW_CHIP_NONE ? MW_CHIP_NONE : p->layers[layer].position;
}

static int ascending(const void *a, const void *b)
{
    const size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

static void move_indices(const mw__chip_planner *p, size_t *indices, size_t count)
{
    for (size_t i = 0; i < count; i++)
        indices[i] = moved(p, indices[i]);
    if (count > 1)
        qsort(indices, count, sizeof *indices, ascending);
}

static void move_all(mw__chip_planner *p)
{
    for (size_t i = 0; i < p->plan->op_count; i++)
        p->plan->ops[i].layer = moved(p, p->plan->ops[i].layer);
    for (size_t i = 0; i < p->plan->split_count; i++)
        p->plan->splits[i].layer = moved(p, p->plan->splits[i].layer);
    for (size_t v = 0; v < p->value_count; v++) {
        p->values[v].producer = moved(p, p->values[v].producer);
        move_indices(p, p->values[v].readers, p->values[v].reader_count);
    }
    for (size_t i = 0; i < p->layer_count; i++) {
        move_indices(p, p->layers[i].next, p->layers[i].next_count);
        move_indices(p, p->layers[i].before, p->layers[i].before_count);
        p->layers[i].merge = moved(p, p->layers[i].merge);
    }
}

/* What went into an operand is of the layer that reads it: the first of the schedule, if several do. */
static void place_operands(mw__chip_planner *p, const mw__chip_plan_layer *layer, size_t index)
{
    for (size_t s = 0; s < layer->head->slot_count; s++)
        for (size_t k = 0; k < layer->head->slots[s].count; k++) {
            const mw_tensor *value = layer->head->slots[s].operands[k].value;
            for (; value != NULL; value = p->alias[value->id]) {
                const size_t maker = p->made_by[value->id];
                mw_chip_plan_op *op = maker != MW_CHIP_NONE ? &p->plan->ops[maker] : NULL;
                const bool is_one = op != NULL && (op->slot == MW_CHIP_SLOT_OPERAND || op->slot == MW_CHIP_SLOT_GAIN);
                if (is_one && p->alias[value->id] != NULL && op->layer == MW_CHIP_NONE)
                    op->layer = index;
            }
        }
}

/* The operations of each layer, in the order of the program. */
static mw_status list_ops(mw__chip_planner *p)
{
    size_t *counts = mw__arena_alloc(&p->scratch, p->layer_count, sizeof *counts, p->err);
    size_t **lists = mw__arena_alloc(&p->scratch, p->layer_count, sizeof *lists, p->err);
    if (counts == NULL || lists == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < p->plan->op_count; i++)
        if (p->plan->ops[i].layer != MW_CHIP_NONE)
            counts[p->plan->ops[i].layer]++;
    for (size_t i = 0; i < p->layer_count; i++) {
        lists[i] = mw__arena_alloc(&p->plan->arena, counts[i], sizeof *lists[i], p->err);
        if (lists[i] == NULL)
            return MW_ERROR_MEMORY;
        p->layers[i].public.ops = lists[i];
    }
    for (size_t i = 0; i < p->plan->op_count; i++) {
        const size_t layer = p->plan->ops[i].layer;
        if (layer != MW_CHIP_NONE)
            lists[layer][p->layers[layer].public.op_count++] = i;
    }
    return MW_OK;
}

static mw_status name_layers(mw__chip_planner *p)
{
    for (size_t i = 0; i < p->layer_count; i++) {
        const mw__op *tail = p->body->ops[p->layers[i].tail_index];
        mw_chip_layer *layer = &p->layers[i].public;
        layer->kind = p->layers[i].kind->name;
        layer->engine = p->layers[i].is_cut ? MW_CHIP_ENGINE_BRIDGE : p->layers[i].kind->engine;
        layer->multiplies = p->layers[i].kind->class == MW__LAYER_PRODUCT && !p->layers[i].is_cut;
        layer->name = mw__chip_plan_string(p, tail->result_count > 0 ? tail->results[0]->name : tail->kind);
    }
    return p->err->status;
}

mw_status mw__chip_plan_reorder(mw__chip_planner *p)
{
    mw__chip_plan_layer *sorted = mw__arena_alloc(&p->scratch, p->layer_count, sizeof *sorted, p->err);
    if (sorted == NULL)
        return MW_ERROR_MEMORY;
    move_all(p);
    for (size_t i = 0; i < p->layer_count; i++)
        sorted[i] = p->layers[p->order[i]];
    for (size_t i = 0; i < p->layer_count; i++)
        p->layers[i] = sorted[i];
    for (size_t i = 0; i < p->layer_count; i++)
        place_operands(p, &p->layers[i], i);
    MW_TRY(list_ops(p));
    return name_layers(p);
}

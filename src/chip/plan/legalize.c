/* Phase 2: layers are held to the rules and limits of the chip, which cuts them and may undo what was fused. */
#include "chip/plan/plan.h"

#include "graph/ir/count.h"

#include <stdlib.h>
#include <string.h>

/* ---- what is refused ---- */

typedef struct refusal {
    char message[512];
    const char *rule;
} refusal;

static bool take_refusal(void *user, const mw__legality_row *row, const mw__trip *trip)
{
    refusal *r = user;
    if (row->verdict != MW__REFUSED)
        return true;
    mw__legality_describe(row, trip, r->message, sizeof r->message);
    r->rule = row->id;
    return false;
}

/* The operations of the layer from `from` on leave it, as a layer of their own. */
static size_t leave_layer(mw__chip_planner *p, size_t layer, size_t from)
{
    const size_t made = mw__chip_plan_add_layer(p, from, mw__chip_plan_kind(p, p->body->ops[from]));
    if (made == MW_CHIP_NONE)
        return made;
    mw__chip_plan_layer *l = &p->layers[layer], *new = &p->layers[made];
    new->tail_index = l->tail_index;
    for (size_t i = l->head_index; i <= new->tail_index; i++) {
        mw_chip_plan_op *op = &p->plan->ops[i];
        if (op->layer == layer && i < from && op->slot != MW_CHIP_SLOT_ELIMINATED)
            l->tail_index = i;
        if (op->layer == layer && i >= from)
            op->layer = made;
    }
    return made;
}

/* The operation of the layer behind `at`, or MW_CHIP_NONE. */
static size_t next_of_layer(const mw__chip_planner *p, size_t layer, size_t at)
{
    for (size_t i = at + 1; i <= p->layers[layer].tail_index; i++)
        if (p->plan->ops[i].layer == layer)
            return i;
    return MW_CHIP_NONE;
}

static void make_bridge(mw__chip_planner *p, size_t layer, const refusal *r)
{
    mw__chip_plan_layer *l = &p->layers[layer];
    const size_t next = next_of_layer(p, layer, l->head_index);
    l->is_cut = true;
    l->public.refused = mw__chip_plan_string(p, r->message);
    l->public.refused_rule = r->rule;
    if (next != MW_CHIP_NONE)
        leave_layer(p, layer, next);
    mw__chip_plan_note(p, l->head_index, MW_CHIP_SLOT_OPERATION, layer, MW__PLAN_refused, "%s: %s", r->rule,
                       r->message);
}

static mw_status refuse_layer(mw__chip_planner *p, size_t at, const refusal *r)
{
    const size_t layer = p->plan->ops[at].layer;
    if (p->layers[layer].is_cut)
        return MW_OK;
    if (p->layers[layer].head_index == at) {
        make_bridge(p, layer, r);
        return p->err->status;
    }
    const size_t made = leave_layer(p, layer, at);
    if (made == MW_CHIP_NONE)
        return p->err->status;
    MW_TRY(mw__chip_plan_add_split(p, made, MW__PLAN_undone, 0, 0, r->message));
    make_bridge(p, made, r);
    return p->err->status;
}

static mw_status ask_rules(mw__chip_planner *p)
{
    for (size_t i = 0; i < p->body->op_count; i++) {
        refusal r = {.rule = NULL};
        if (p->plan->ops[i].layer == MW_CHIP_NONE || p->is_unsound[i])
            continue;
        mw__legality_ask_op(&p->legality, p->body->ops[i], take_refusal, &r);
        if (r.rule != NULL)
            MW_TRY(refuse_layer(p, i, &r));
    }
    return p->err->status;
}

/* ---- bytes of layers ---- */

static void add_weights(mw__chip_planner *p)
{
    for (size_t i = 0; i < p->body->op_count; i++) {
        const mw_chip_plan_op *op = &p->plan->ops[i];
        if (op->layer == MW_CHIP_NONE || p->is_unsound[i])
            continue;
        mw_chip_layer *layer = &p->layers[op->layer].public;
        const uint64_t weights = mw__op_traffic(p->body->ops[i]).weights;
        layer->weight_bytes =
            mw__chip_plan_add(layer->weight_bytes, (int64_t)(weights < INT64_MAX ? weights : INT64_MAX));
        if (op->rule == &mw__chip_plan_rules[MW__PLAN_activation_table])
            layer->weight_bytes += p->chip->lut_bytes;
        if (op->slot == MW_CHIP_SLOT_OPERATION)
            layer->flops += mw__op_products(p->body->ops[i]);
    }
}

static mw_status measure_layer(mw__chip_planner *p, mw__chip_plan_layer *layer)
{
    size_t count = 0;
    const mw_tensor **inputs = mw__chip_plan_layer_inputs(p, layer, &count);
    const mw__op *tail = p->body->ops[layer->tail_index];
    if (inputs == NULL)
        return MW_ERROR_MEMORY;
    layer->public.bytes_in = layer->public.bytes_out = 0;
    for (size_t i = 0; i < count; i++)
        layer->public.bytes_in = mw__chip_plan_add(layer->public.bytes_in, mw__chip_plan_value_bytes(p, inputs[i]));
    for (size_t i = 0; i < tail->result_count; i++)
        layer->public.bytes_out =
            mw__chip_plan_add(layer->public.bytes_out, mw__chip_plan_value_bytes(p, tail->results[i]));
    layer->footprint = mw__chip_plan_add(layer->public.bytes_in, layer->public.bytes_out);
    return MW_OK;
}

static mw_status measure_layers(mw__chip_planner *p)
{
    for (size_t i = 0; i < p->layer_count; i++)
        MW_TRY(measure_layer(p, &p->layers[i]));
    return MW_OK;
}

/* ---- capacity ---- */

static size_t parts_of(int64_t bytes, int64_t limit) { return bytes > limit ? (size_t)((bytes - 1) / limit) + 1 : 1; }

static mw_status split_kernel(mw__chip_planner *p, size_t index)
{
    mw_chip_layer *layer = &p->layers[index].public;
    layer->weights_stay = layer->weight_bytes <= p->chip->kernel_memory;
    layer->kernel_parts = parts_of(layer->weight_bytes, p->kernel_max);
    if (layer->kernel_parts == 1)
        return MW_OK;
    return mw__chip_plan_add_split(p, index, MW__PLAN_kernel_memory, p->kernel_max, layer->weight_bytes,
                                   "bytes of weights; cut along the output channels");
}

/* A transpose in the last slot of a layer of tiles leaves it. */
static mw_status recut_transpose(mw__chip_planner *p, size_t index)
{
    const mw__chip_plan_layer *layer = &p->layers[index];
    size_t at = layer->head_index + 1;
    while (at <= layer->tail_index &&
           !(p->plan->ops[at].layer == index && p->plan->ops[at].slot == MW_CHIP_SLOT_TRANSPOSE &&
             p->body->ops[at]->row->id == MW__OP_transpose))
        at++;
    if (at > layer->tail_index || p->options->keep_fusions)
        return MW_OK;
    const size_t made = leave_layer(p, index, at);
    if (made == MW_CHIP_NONE)
        return p->err->status;
    mw__chip_plan_note(p, at, MW_CHIP_SLOT_TRANSPOSE, made, MW__PLAN_transpose_recut, "what is before it is %zu tiles",
                       p->layers[index].public.tiles);
    MW_TRY(measure_layer(p, &p->layers[index]));
    MW_TRY(measure_layer(p, &p->layers[made]));
    p->layers[index].public.tiles = parts_of(p->layers[index].footprint, p->chip->working_set);
    return mw__chip_plan_add_split(p, made, MW__PLAN_transpose_recut, p->chip->working_set, p->layers[index].footprint,
                                   "bytes of the layer that it was fused into");
}

static mw_status tile(mw__chip_planner *p, size_t index)
{
    mw__chip_plan_layer *layer = &p->layers[index];
    layer->public.tiles = parts_of(layer->footprint, p->chip->working_set);
    if (layer->public.tiles == 1)
        return MW_OK;
    MW_TRY(mw__chip_plan_add_split(p, index, MW__PLAN_working_set, p->chip->working_set, layer->footprint,
                                   "bytes of operands and results; cut by rows"));
    return recut_transpose(p, index);
}

/* ---- the order of heads again ---- */

static int by_head(const void *a, const void *b)
{
    const size_t x = ((const mw__chip_plan_layer *)a)->head_index, y = ((const mw__chip_plan_layer *)b)->head_index;
    return (x > y) - (x < y);
}

static mw_status renumber(mw__chip_planner *p)
{
    size_t *now = mw__arena_alloc(&p->scratch, p->layer_count, sizeof *now, p->err);
    if (now == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < p->layer_count; i++)
        p->layers[i].position = i;
    if (p->layer_count > 0)
        qsort(p->layers, p->layer_count, sizeof *p->layers, by_head);
    for (size_t i = 0; i < p->layer_count; i++) {
        now[p->layers[i].position] = i;
        p->layers[i].position = MW_CHIP_NONE;
    }
    for (size_t i = 0; i < p->plan->op_count; i++)
        if (p->plan->ops[i].layer != MW_CHIP_NONE)
            p->plan->ops[i].layer = now[p->plan->ops[i].layer];
    for (size_t i = 0; i < p->plan->split_count; i++)
        p->plan->splits[i].layer = now[p->plan->splits[i].layer];
    return MW_OK;
}

mw_status mw__chip_plan_legalize(mw__chip_planner *p)
{
    MW_TRY(ask_rules(p));
    add_weights(p);
    MW_TRY(measure_layers(p));
    for (size_t i = 0; i < p->layer_count; i++) {
        MW_TRY(split_kernel(p, i));
        MW_TRY(tile(p, i));
    }
    return renumber(p);
}

/* Phase 4: where each value lies, by the nine states of the allocator. */
#include "base/number/integer.h"
#include "chip/plan/place.h"
#include "chip/plan/plan.h"

/* ---- lives ---- */

/* Layers that are issued at once live at the same time. */
size_t mw__chip_plan_begin(const mw__chip_planner *p, size_t layer)
{
    const size_t partner = p->layers[layer].public.partner;
    return partner != MW_CHIP_NONE && partner < layer ? partner : layer;
}

size_t mw__chip_plan_end(const mw__chip_planner *p, size_t layer)
{
    const size_t partner = p->layers[layer].public.partner;
    return partner != MW_CHIP_NONE && partner > layer ? partner : layer;
}

static void set_life(const mw__chip_planner *p, mw__chip_plan_value *value)
{
    const size_t last = value->reader_count > 0 ? value->readers[value->reader_count - 1] : MW_CHIP_NONE;
    const size_t from = value->producer != MW_CHIP_NONE ? value->producer : 0;
    value->public.first = value->producer != MW_CHIP_NONE ? mw__chip_plan_begin(p, from) : 0;
    value->public.last = last != MW_CHIP_NONE ? mw__chip_plan_end(p, last) : value->public.first;
    if (value->public.is_output && p->layer_count > 0)
        value->public.last = p->layer_count - 1;
    value->public.producer = value->producer;
    value->public.readers = value->readers;
    value->public.reader_count = value->reader_count;
}

/* ---- which state ---- */

static void say(mw__chip_plan_value *value, mw_chip_allocation allocation, mw_chip_memory memory, const char *reason)
{
    value->public.allocation = allocation;
    value->public.memory = memory;
    value->public.reason = reason;
}

static bool leaves_partition(const mw__chip_planner *p, const mw__chip_plan_value *value)
{
    const mw__chip_plan_layer *from = &p->layers[value->producer];
    bool leaves = from->is_cut;
    for (size_t i = 0; i < value->reader_count; i++)
        leaves = leaves || p->layers[value->readers[i]].public.partition != from->public.partition;
    return leaves;
}

/* Made of what an earlier layer chained, or holds in a ring. */
static bool depends(const mw__chip_planner *p, const mw__chip_plan_layer *layer)
{
    bool found = false;
    for (size_t i = 0; i < layer->public.input_count; i++) {
        const mw_chip_allocation a = p->values[layer->public.inputs[i]].public.allocation;
        found = found || a == MW_CHIP_ALLOCATION_CHAINED || a == MW_CHIP_ALLOCATION_RING ||
                a == MW_CHIP_ALLOCATION_RING_DEPENDENT;
    }
    return found;
}

static bool is_chained(const mw__chip_planner *p, const mw__chip_plan_value *value)
{
    return value->is_chainable && p->layers[value->producer].public.partner == MW_CHIP_NONE &&
           p->layers[value->readers[0]].public.partner == MW_CHIP_NONE;
}

/* ---- in place ---- */

static bool is_on_chip(const mw__chip_plan_value *value)
{
    const mw_chip_allocation a = value->public.allocation;
    return value->public.memory == MW_CHIP_MEMORY_ON_CHIP && a != MW_CHIP_ALLOCATION_CHAINED &&
           a != MW_CHIP_ALLOCATION_RING && a != MW_CHIP_ALLOCATION_RING_DEPENDENT;
}

/* The operand ends with this layer alone, and is of the same shape. */
static bool may_write_over(const mw__chip_planner *p, const mw__chip_plan_value *value,
                           const mw__chip_plan_value *operand)
{
    const size_t last = operand->readers[operand->reader_count - 1],
                 partner = p->layers[value->producer].public.partner;
    return operand->producer != MW_CHIP_NONE && last == value->producer && partner == MW_CHIP_NONE &&
           operand->public.last == last && mw_shape_equal(operand->public.shape, value->public.shape) &&
           operand->public.bytes == value->public.bytes;
}

/* The operand that the value is written over, in memory `where`; or MW_CHIP_NONE. */
static size_t find_over(const mw__chip_planner *p, const mw__chip_plan_value *value, mw_chip_memory where)
{
    const mw__chip_plan_layer *layer = &p->layers[value->producer];
    const bool by_element = layer->kind->class == MW__LAYER_ELEMENTWISE || layer->kind->class == MW__LAYER_EPILOGUE;
    if (p->options->no_in_place || !by_element || layer->public.output_count != 1)
        return MW_CHIP_NONE;
    for (size_t i = 0; i < layer->public.input_count; i++) {
        const mw__chip_plan_value *operand = &p->values[layer->public.inputs[i]];
        const bool there =
            where == MW_CHIP_MEMORY_ON_CHIP ? is_on_chip(operand) : operand->public.memory == MW_CHIP_MEMORY_DRAM;
        if (there && may_write_over(p, value, operand))
            return layer->public.inputs[i];
    }
    return MW_CHIP_NONE;
}

/* ---- all of it ---- */

static void allocate_dram(const mw__chip_planner *p, mw__chip_plan_value *value, const char *reason)
{
    say(value, MW_CHIP_ALLOCATION_STREAMED, MW_CHIP_MEMORY_DRAM, reason);
    value->public.over = find_over(p, value, MW_CHIP_MEMORY_DRAM);
    if (value->public.over != MW_CHIP_NONE)
        say(value, MW_CHIP_ALLOCATION_IN_PLACE_DRAM, MW_CHIP_MEMORY_DRAM,
            "written over an operand in DRAM that ends here");
}

static void allocate_chip(const mw__chip_planner *p, mw__chip_plan_value *value)
{
    const bool dependent = depends(p, &p->layers[value->producer]);
    value->public.over = find_over(p, value, MW_CHIP_MEMORY_ON_CHIP);
    if (value->public.over != MW_CHIP_NONE)
        say(value, dependent ? MW_CHIP_ALLOCATION_IN_PLACE_DEPENDENT : MW_CHIP_ALLOCATION_IN_PLACE,
            MW_CHIP_MEMORY_ON_CHIP, "written over an operand that ends here");
    else if (dependent)
        say(value, MW_CHIP_ALLOCATION_DEPENDENT, MW_CHIP_MEMORY_ON_CHIP, "made of what was chained");
    else
        say(value, MW_CHIP_ALLOCATION_RESIDENT, MW_CHIP_MEMORY_ON_CHIP, "all of its readers are in its partition");
}

static void allocate_value(const mw__chip_planner *p, mw__chip_plan_value *value)
{
    const mw__chip_plan_layer *from = value->producer != MW_CHIP_NONE ? &p->layers[value->producer] : NULL;
    value->public.extent = value->public.bytes;
    if (from == NULL || value->public.is_output) {
        say(value, MW_CHIP_ALLOCATION_STREAMED, MW_CHIP_MEMORY_PORT, from == NULL ? "an input" : "a result");
        value->public.extent = 0;
    } else if (leaves_partition(p, value)) {
        allocate_dram(p, value, "another partition reads it");
    } else if (value->is_ring) {
        value->public.extent = value->ring_bytes;
        say(value, depends(p, from) ? MW_CHIP_ALLOCATION_RING_DEPENDENT : MW_CHIP_ALLOCATION_RING,
            MW_CHIP_MEMORY_ON_CHIP, "windows of rows pass from tile to tile");
    } else if (from->public.tiles > 1) {
        allocate_dram(p, value, "it is written tile by tile");
    } else if (is_chained(p, value)) {
        say(value, MW_CHIP_ALLOCATION_CHAINED, MW_CHIP_MEMORY_ON_CHIP,
            "one reader, directly behind, on the same engine");
    } else {
        allocate_chip(p, value);
    }
}

/* In the order of layers, so that what an operand is stands first. */
static void allocate_values(const mw__chip_planner *p)
{
    for (size_t v = 0; v < p->value_count; v++) {
        set_life(p, &p->values[v]);
        if (p->values[v].producer == MW_CHIP_NONE)
            allocate_value(p, &p->values[v]);
    }
    for (size_t i = 0; i < p->layer_count; i++)
        for (size_t k = 0; k < p->layers[i].public.output_count; k++)
            allocate_value(p, &p->values[p->layers[i].public.outputs[k]]);
}

static void stream_weights(mw__chip_planner *p)
{
    int64_t offset = 0;
    for (size_t i = 0; i < p->layer_count; i++) {
        mw_chip_layer *layer = &p->layers[i].public;
        layer->weight_offset = offset;
        offset = layer->weight_bytes < INT64_MAX / 4 - offset
                     ? mw__i64_round_up(offset + layer->weight_bytes, p->options->alignment)
                     : INT64_MAX / 4;
    }
    p->plan->totals.weight_bytes = offset;
}

mw_status mw__chip_plan_allocate(mw__chip_planner *p)
{
    allocate_values(p);
    stream_weights(p);
    return mw__chip_plan_place(p);
}

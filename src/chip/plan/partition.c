/* Partitions: a layer joins the open one unless what is on chip at once would pass the budget. */
#include "base/number/integer.h"
#include "chip/plan/plan.h"

/* Bytes on chip of what the layer writes. */
static int64_t bytes_of_output(const mw__chip_planner *p, const mw__chip_plan_layer *layer,
                               const mw__chip_plan_value *value)
{
    if (value->is_ring)
        return value->ring_bytes;
    if (layer->public.tiles > 1 || value->public.is_output)
        return mw__i64_min(value->public.bytes, p->options->stream_tile);
    return value->public.bytes;
}

/* Beside what is on chip already. */
static int64_t need(const mw__chip_planner *p, const mw__chip_plan_layer *layer)
{
    int64_t bytes = 0;
    for (size_t i = 0; i < layer->public.output_count; i++)
        bytes += bytes_of_output(p, layer, &p->values[layer->public.outputs[i]]);
    for (size_t i = 0; i < layer->public.input_count; i++) {
        const mw__chip_plan_value *value = &p->values[layer->public.inputs[i]];
        if (value->held == 0)
            bytes += mw__i64_min(value->public.bytes, p->options->stream_tile);
    }
    return bytes;
}

mw_status mw__chip_plan_open_partition(mw__chip_planner *p, size_t segment)
{
    mw_chip_plan *plan = p->plan;
    MW_TRY(mw__grow(plan->allocator, &plan->partitions, &plan->partition_capacity, plan->partition_count + 1,
                    sizeof *plan->partitions, p->err));
    plan->partitions[plan->partition_count++] = (mw_chip_partition){
        .first_layer = p->scheduled, .segment = segment, .closed_by = &mw__chip_plan_rules[MW__PLAN_segment_end]};
    for (size_t i = 0; i < p->value_count; i++)
        p->values[i].held = 0;
    p->live = 0;
    return MW_OK;
}

/* Values that nobody waits for any more give their place back. */
static void release_inputs(mw__chip_planner *p, const mw__chip_plan_layer *layer)
{
    for (size_t i = 0; i < layer->public.input_count; i++) {
        mw__chip_plan_value *value = &p->values[layer->public.inputs[i]];
        if (--value->left > 0)
            continue;
        p->live -= value->held;
        value->held = 0;
    }
}

static void hold_outputs(mw__chip_planner *p, const mw__chip_plan_layer *layer)
{
    for (size_t i = 0; i < layer->public.output_count; i++) {
        mw__chip_plan_value *value = &p->values[layer->public.outputs[i]];
        const bool stays = value->left > 0 && !value->public.is_output && (layer->public.tiles == 1 || value->is_ring);
        value->held = stays ? bytes_of_output(p, layer, value) : 0;
        p->live += value->held;
    }
}

static mw_status close_if_full(mw__chip_planner *p, const mw__chip_plan_layer *layer)
{
    mw_chip_partition *open = &p->plan->partitions[p->plan->partition_count - 1];
    const int64_t next = p->live + need(p, layer), peak = next > open->peak ? next : open->peak;
    if (peak <= p->budget || open->layer_count == 0)
        return MW_OK;
    open->closed_by = &mw__chip_plan_rules[MW__PLAN_partition_full];
    open->refused_peak = peak;
    return mw__chip_plan_open_partition(p, open->segment);
}

mw_status mw__chip_plan_append(mw__chip_planner *p, size_t index)
{
    mw__chip_plan_layer *layer = &p->layers[index];
    MW_TRY(close_if_full(p, layer));
    mw_chip_partition *open = &p->plan->partitions[p->plan->partition_count - 1];
    const int64_t peak = p->live + need(p, layer);
    open->peak = peak > open->peak ? peak : open->peak;
    open->layer_count++;
    layer->public.partition = p->plan->partition_count - 1;
    layer->public.segment = open->segment;
    layer->position = p->scheduled;
    p->order[p->scheduled++] = index;
    release_inputs(p, layer);
    hold_outputs(p, layer);
    for (size_t i = 0; i < layer->next_count; i++)
        p->layers[layer->next[i]].waits--;
    return MW_OK;
}

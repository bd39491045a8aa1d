/* What each layer takes, when it starts, and the plan as it is read. */
#include "chip/cost/cost.h"
#include "chip/plan/plan.h"

static void time_layer(mw_chip_layer *layer, const mw_chip_rates *rates)
{
    const int64_t bytes = mw__chip_plan_add(mw__chip_plan_add(layer->bytes_in, layer->bytes_out), layer->weight_bytes);
    const mw_chip_cost cost = mw_chip_cost_of(rates, layer->flops, (uint64_t)bytes);
    layer->bound = cost.compute_us > cost.bandwidth_us ? MW_CHIP_BOUND_COMPUTE : MW_CHIP_BOUND_BANDWIDTH;
    layer->time_us = cost.compute_us > cost.bandwidth_us ? cost.compute_us : cost.bandwidth_us;
}

/* One after the other; of two that are issued at once the second starts with the first. */
static double start_layers(mw__chip_planner *p, const mw_chip_rates *rates)
{
    double now = 0;
    for (size_t i = 0; i < p->layer_count; i++) {
        mw_chip_layer *layer = &p->layers[i].public;
        time_layer(layer, rates);
        const bool joins = layer->partner != MW_CHIP_NONE && layer->partner < i;
        layer->start_us = joins ? p->layers[layer->partner].public.start_us : now;
        const double end = layer->start_us + layer->time_us;
        now = end > now ? end : now;
    }
    return now;
}

static int64_t streamed(const mw__chip_planner *p)
{
    int64_t bytes = 0;
    for (size_t v = 0; v < p->value_count; v++) {
        const mw__chip_plan_value *value = &p->values[v];
        if (value->public.memory == MW_CHIP_MEMORY_ON_CHIP)
            continue;
        const int64_t moves = (int64_t)value->reader_count + (value->producer != MW_CHIP_NONE ? 1 : 0);
        bytes += value->public.bytes < (INT64_MAX - bytes) / (moves > 0 ? moves : 1) ? value->public.bytes * moves : 0;
    }
    return bytes;
}

static void add_up(mw__chip_planner *p)
{
    mw_chip_plan *plan = p->plan;
    mw_chip_plan_totals *t = &plan->totals;
    mw_chip_rates rates;
    const bool known = mw_chip_rates_find(p->chip->chip, MW_CHIP_ANE, MW_CHIP_FITTED, &rates); /* else times are 0 */
    const double work = start_layers(p, known ? &rates : NULL);
    t->chip = p->chip->chip;
    t->ops = plan->op_count;
    for (size_t i = 0; i < plan->op_count; i++) {
        t->eliminated += plan->ops[i].layer == MW_CHIP_NONE;
        t->constants += plan->ops[i].rule == &mw__chip_plan_rules[MW__PLAN_constant];
    }
    for (size_t i = 0; i < p->layer_count; i++) {
        t->bridges += p->layers[i].is_cut;
        t->flops += p->layers[i].public.flops;
    }
    t->layers = p->layer_count;
    t->segments = plan->segment_count;
    t->partitions = plan->partition_count;
    t->values = p->value_count;
    t->splits = plan->split_count;
    t->working_set = p->chip->working_set;
    t->budget = p->budget;
    t->streamed_bytes = streamed(p);
    t->floor_us = rates.floor_us;
    t->time_us = work + t->floor_us * (double)plan->segment_count;
}

mw_status mw__chip_plan_time(mw__chip_planner *p)
{
    mw_chip_plan *plan = p->plan;
    add_up(p);
    plan->layers = mw__arena_alloc(&plan->arena, p->layer_count, sizeof *plan->layers, p->err);
    plan->values = mw__arena_alloc(&plan->arena, p->value_count, sizeof *plan->values, p->err);
    if (plan->layers == NULL || plan->values == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < p->layer_count; i++)
        plan->layers[i] = p->layers[i].public;
    for (size_t i = 0; i < p->value_count; i++)
        plan->values[i] = p->values[i].public;
    plan->layer_count = p->layer_count;
    plan->value_count = p->value_count;
    return MW_OK;
}

/* Which layers are issued at once on the two engines, and what keeps others from it. */
#include "chip/plan/plan.h"

/* ---- chaining: what could be ---- */

/* The shape in which the reader takes the value: of the operand of its head that it is. */
static bool reads_as_written(const mw__chip_planner *p, const mw__chip_plan_layer *reader,
                             const mw__chip_plan_value *value)
{
    bool same = false;
    for (size_t s = 0; s < reader->head->slot_count; s++)
        for (size_t k = 0; k < reader->head->slots[s].count; k++) {
            const mw_tensor *operand = reader->head->slots[s].operands[k].value;
            if (operand != NULL && !mw__chip_plan_is_constant(p, operand) &&
                mw__chip_plan_resolve(p, operand) == value->tensor)
                same = same || mw_shape_equal(mw_tensor_shape(operand), value->public.shape);
        }
    return same;
}

/* The conjunction of the guide: the chip chains, one outgoing layer, one engine and class of engine, the geometry of
 * the consumer, directly behind, and rows for its first tile. */
static bool is_chainable(const mw__chip_planner *p, const mw__chip_plan_value *value)
{
    if (p->options->no_chaining || value->producer == MW_CHIP_NONE || value->reader_count != 1 ||
        value->public.is_output)
        return false;
    const mw__chip_plan_layer *from = &p->layers[value->producer], *to = &p->layers[value->readers[0]];
    if (from->next_count != 1 || from->public.output_count != 1 || from->is_cut || to->is_cut)
        return false;
    if (from->public.engine != to->public.engine || from->public.partition != to->public.partition)
        return false;
    const bool covers = from->public.tiles == 1 && to->public.tiles == 1; /* all rows are there */
    return covers && to->position == from->position + 1 && reads_as_written(p, to, value);
}

static bool has_chainable_input(const mw__chip_planner *p, const mw__chip_plan_layer *layer)
{
    bool found = false;
    for (size_t i = 0; i < layer->public.input_count; i++)
        found = found || p->values[layer->public.inputs[i]].is_chainable;
    return found;
}

/* ---- pairs ---- */

static bool streams_out(const mw__chip_planner *p, const mw__chip_plan_layer *layer)
{
    bool streams = false;
    for (size_t i = 0; i < layer->public.output_count; i++) {
        const mw__chip_plan_value *value = &p->values[layer->public.outputs[i]];
        streams = streams || value->public.is_output || layer->public.tiles > 1;
        for (size_t k = 0; k < value->reader_count; k++)
            streams = streams || p->layers[value->readers[k]].public.partition != layer->public.partition;
    }
    return streams;
}

/* A product whose weights stay on chip does not block its partner. */
static bool is_exempt(const mw__chip_plan_layer *layer)
{
    return layer->public.multiplies && layer->public.weight_bytes > 0 && layer->public.weights_stay;
}

static bool is_neural(const mw__chip_plan_layer *layer) { return layer->public.multiplies; }

static bool is_planar(const mw__chip_plan_layer *layer) { return layer->public.engine == MW_CHIP_ENGINE_PLANAR; }

/* Whether the later layer waits for the earlier one, or for one between them. */
static bool waits(const mw__chip_planner *p, const mw__chip_plan_layer *first, const mw__chip_plan_layer *second)
{
    bool found = false;
    for (size_t i = 0; i < second->before_count; i++)
        found = found || second->before[i] >= first->position;
    (void)p;
    return found;
}

static mw__chip_plan_rule_id judge_pair(const mw__chip_planner *p, const mw__chip_plan_layer *first,
                                        const mw__chip_plan_layer *second)
{
    if (first->public.partition != second->public.partition)
        return MW__PLAN_not_scheduled;
    if (!(is_neural(first) && is_planar(second)) && !(is_planar(first) && is_neural(second)))
        return MW__PLAN_same_engine_class;
    if (waits(p, first, second))
        return MW__PLAN_producer_consumer;
    if (has_chainable_input(p, first) || has_chainable_input(p, second))
        return MW__PLAN_chained_input;
    if (streams_out(p, first) && streams_out(p, second) && !is_exempt(first) && !is_exempt(second))
        return MW__PLAN_both_stream;
    if (first->public.partner != MW_CHIP_NONE || second->public.partner != MW_CHIP_NONE)
        return MW__PLAN_already_issued;
    return MW__PLAN_co_issue;
}

static mw_status add_pair(mw__chip_planner *p, size_t first, size_t second)
{
    mw_chip_plan *plan = p->plan;
    const mw__chip_plan_rule_id rule = judge_pair(p, &p->layers[first], &p->layers[second]);
    MW_TRY(mw__grow(plan->allocator, &plan->pairs, &plan->pair_capacity, plan->pair_count + 1, sizeof *plan->pairs,
                    p->err));
    plan->pairs[plan->pair_count++] = (mw_chip_pair){
        .first = first, .second = second, .issued = rule == MW__PLAN_co_issue, .rule = &mw__chip_plan_rules[rule]};
    if (rule == MW__PLAN_co_issue) {
        p->layers[first].public.partner = second;
        p->layers[second].public.partner = first;
        p->plan->totals.issued_pairs++;
    }
    return MW_OK;
}

mw_status mw__chip_plan_pair(mw__chip_planner *p)
{
    for (size_t v = 0; v < p->value_count; v++)
        p->values[v].is_chainable = is_chainable(p, &p->values[v]);
    for (size_t i = 0; i < p->layer_count; i++)
        for (size_t d = 1; d <= p->options->co_issue_window && d < p->layer_count - i; d++)
            MW_TRY(add_pair(p, i, i + d));
    return MW_OK;
}

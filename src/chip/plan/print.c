/* Plans as text for people. */
#include "chip/plan/print.h"
#include "base/memory/live.h"
#include "base/text/printable.h"

#include <string.h>

/* ---- shared by the writers ---- */

mw_status mw__chip_plan_writes(const mw_chip_plan *plan, const char *call, mw_error *err)
{
    if (plan == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "%s: the plan is NULL", call);
    return mw__live_check(plan, MW__LIVE_CHIP_PLAN, call, err);
}

void mw__chip_plan_put_fixed(mw__text *text, double value, int decimals)
{
    static const double powers[] = {1, 10, 100, 1000};
    const double scaled = value * powers[decimals] + 0.5;
    const long long whole = scaled < 9e18 ? (long long)scaled : 9000000000000000000LL;
    const long long power = (long long)powers[decimals];
    mw__text_printf(text, "%lld", whole / power);
    if (decimals > 0)
        mw__text_printf(text, ".%0*lld", decimals, whole % power);
}

void mw__chip_plan_put_bytes(mw__text *text, int64_t bytes)
{
    if (bytes < 1024)
        mw__text_printf(text, "%lld B", (long long)bytes);
    else if (bytes < 1024 * 1024)
        mw__chip_plan_put_fixed(text, (double)bytes / 1024, 1), mw__text_puts(text, " KB");
    else
        mw__chip_plan_put_fixed(text, (double)bytes / (1024 * 1024), 2), mw__text_puts(text, " MB");
}

/* ---- text ---- */

enum { REASON = 300 };

static void put_name(mw__text *text, const char *name)
{
    mw__text_puts(text, "\"");
    mw__text_show(text, name != NULL ? name : "?", MW__PRINTABLE_NAME);
    mw__text_puts(text, "\"");
}

static void put_head(mw__text *text, const mw_chip_plan *plan)
{
    const mw_chip_plan_totals *t = &plan->totals;
    mw__text_printf(text, "%s (%s): %zu operations, %zu eliminated (%zu constants), %zu layers\n", plan->chip->name,
                    plan->chip->product[0] != '\0' ? plan->chip->product : "in no Mac of its own", t->ops,
                    t->eliminated, t->constants, t->layers);
    mw__text_printf(text, "%zu dispatches (%zu bridges), %zu partitions, %zu splits, %zu pairs issued at once\n",
                    t->segments, t->bridges, t->partitions, t->splits, t->issued_pairs);
    mw__text_puts(text, "on chip ");
    mw__chip_plan_put_bytes(text, t->on_chip_peak);
    mw__text_puts(text, " of ");
    mw__chip_plan_put_bytes(text, t->working_set);
    mw__text_puts(text, ", between partitions ");
    mw__chip_plan_put_bytes(text, t->dram_bytes);
    mw__text_puts(text, ", streamed ");
    mw__chip_plan_put_bytes(text, t->streamed_bytes);
    mw__text_puts(text, ", weights ");
    mw__chip_plan_put_bytes(text, t->weight_bytes);
    mw__text_puts(text, "\nestimated ");
    mw__chip_plan_put_fixed(text, t->time_us, 1);
    mw__text_puts(text, " us, of these ");
    mw__chip_plan_put_fixed(text, t->floor_us, 0);
    mw__text_puts(text, " for each dispatch\n");
}

static void put_op(mw__text *text, const mw_chip_plan_op *op)
{
    mw__text_printf(text, "        %-10s ", mw_chip_slot_name(op->slot));
    mw__text_show(text, op->operation, MW__PRINTABLE_NAME);
    mw__text_puts(text, " ");
    put_name(text, op->tensor);
    mw__text_printf(text, "  %s: ", op->rule->id);
    mw__text_show(text, op->reason, REASON);
    mw__text_puts(text, "\n");
}

static void put_layer(mw__text *text, const mw_chip_plan *plan, size_t index)
{
    const mw_chip_layer *l = &plan->layers[index];
    mw__text_printf(text, "    %zu %s ", index, l->kind);
    put_name(text, l->name);
    mw__text_printf(text, ", %s, ", mw_chip_engine_name(l->engine));
    mw__chip_plan_put_fixed(text, l->time_us, 2);
    mw__text_printf(text, " us (%s)", l->bound == MW_CHIP_BOUND_COMPUTE ? "compute" : "bandwidth");
    if (l->weight_bytes > 0) {
        mw__text_puts(text, ", weights ");
        mw__chip_plan_put_bytes(text, l->weight_bytes);
        mw__text_puts(text, l->weights_stay ? " stay" : " streamed");
    }
    if (l->tiles > 1 || l->kernel_parts > 1)
        mw__text_printf(text, ", %zu tiles, %zu kernel parts", l->tiles, l->kernel_parts);
    if (l->partner != MW_CHIP_NONE)
        mw__text_printf(text, ", with layer %zu", l->partner);
    mw__text_puts(text, "\n");
    for (size_t i = 0; i < l->op_count; i++)
        put_op(text, &plan->ops[l->ops[i]]);
}

static void put_partition(mw__text *text, const mw_chip_plan *plan, size_t index)
{
    const mw_chip_partition *part = &plan->partitions[index];
    mw__text_printf(text, "  partition %zu: %zu layers, peak ", index, part->layer_count);
    mw__chip_plan_put_bytes(text, part->peak);
    mw__text_printf(text, ", closed by %s", part->closed_by->id);
    if (part->refused_peak > 0) {
        mw__text_puts(text, " (the next layer: ");
        mw__chip_plan_put_bytes(text, part->refused_peak);
        mw__text_puts(text, ")");
    }
    mw__text_puts(text, "\n");
    for (size_t i = 0; i < part->layer_count; i++)
        put_layer(text, plan, part->first_layer + i);
}

static void put_segments(mw__text *text, const mw_chip_plan *plan)
{
    size_t part = 0;
    for (size_t i = 0; i < plan->segment_count; i++) {
        const mw_chip_segment *s = &plan->segments[i];
        mw__text_printf(text, "\nsegment %zu: %zu layers%s", i, s->layer_count, s->is_bridge ? ", a bridge" : "");
        if (s->engines > 1)
            mw__text_printf(text, ", on both engines: %zu and %zu of %zu parts", s->first_engine_parts,
                            s->parts - s->first_engine_parts, s->parts);
        mw__text_puts(text, "\n");
        for (; part < plan->partition_count && plan->partitions[part].segment == i; part++)
            put_partition(text, plan, part);
    }
}

static void put_splits(mw__text *text, const mw_chip_plan *plan)
{
    mw__text_puts(text, plan->split_count > 0 ? "\nsplits\n" : "");
    for (size_t i = 0; i < plan->split_count; i++) {
        const mw_chip_split *s = &plan->splits[i];
        mw__text_printf(text, "  layer %zu %s: ", s->layer, s->rule->id);
        mw__text_show(text, s->reason, REASON);
        if (s->limit > 0)
            mw__text_printf(text, " (%lld, at most %lld)", (long long)s->there, (long long)s->limit);
        mw__text_puts(text, "\n");
    }
}

static void put_eliminated(mw__text *text, const mw_chip_plan *plan)
{
    const mw_chip_plan_rule *constant = mw_chip_plan_rule_at(0);
    mw__text_puts(text, "\neliminated, beside constants\n");
    for (size_t i = 0; i < plan->op_count; i++)
        if (plan->ops[i].layer == MW_CHIP_NONE && plan->ops[i].rule != constant)
            put_op(text, &plan->ops[i]);
}

static void put_values(mw__text *text, const mw_chip_plan *plan)
{
    static const char *const memories[] = {"chip", "dram", "port"};
    mw__text_puts(text, "\nvalues\n");
    for (size_t i = 0; i < plan->value_count; i++) {
        const mw_chip_value *v = &plan->values[i];
        mw__text_printf(text, "  %zu ", i);
        put_name(text, v->name);
        mw__text_puts(text, " ");
        mw__chip_plan_put_bytes(text, v->bytes);
        mw__text_printf(text, ", %d %s, %s", (int)v->allocation, mw_chip_allocation_name(v->allocation),
                        memories[v->memory]);
        if (v->memory != MW_CHIP_MEMORY_PORT)
            mw__text_printf(text, " at %lld", (long long)v->offset);
        mw__text_printf(text, ", layers %zu to %zu: %s\n", v->first, v->last, v->reason);
    }
}

char *mw_chip_plan_print(const mw_chip_plan *plan, mw_error *err)
{
    mw__text text;
    if (mw__skips(err) || mw__chip_plan_writes(plan, __func__, err) != MW_OK)
        return NULL;
    mw__text_init(&text, mw__allocator_default()); /* mw_string_free knows no other */
    put_head(&text, plan);
    put_segments(&text, plan);
    put_splits(&text, plan);
    put_eliminated(&text, plan);
    put_values(&text, plan);
    return mw__text_take(&text, err);
}

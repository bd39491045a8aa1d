#include "plan_properties.h"
#include "base/memory/alloc.h"
#include "base/text/json.h"
#include "support/check.h"

#include <millwright/chip_all.h>

#include <stdlib.h>
#include <string.h>

static const char *subject;

#define HOLDS(condition, index)                                                                                        \
    check_note((condition), __FILE__, __LINE__, "%s, at %zu: %s", subject, (size_t)(index), #condition)

/* ---- operations ---- */

static size_t times_listed(const mw_chip_plan *plan, size_t op)
{
    size_t count = 0;
    const mw_chip_layer *l;
    for (size_t i = 0; (l = mw_chip_plan_layer_at(plan, i)) != NULL; i++)
        for (size_t k = 0; k < l->op_count; k++)
            count += l->ops[k] == op;
    return count;
}

static void check_ops(const mw_chip_plan *plan)
{
    const mw_chip_plan_op *op;
    for (size_t i = 0; (op = mw_chip_plan_op_at(plan, i)) != NULL; i++) {
        const bool eliminated = op->layer == MW_CHIP_NONE;
        HOLDS(eliminated == (op->slot == MW_CHIP_SLOT_ELIMINATED), i);
        HOLDS(op->rule != NULL && op->reason != NULL && op->reason[0] != '\0', i);
        HOLDS(times_listed(plan, i) == (eliminated ? 0 : 1), i);
        HOLDS(eliminated || mw_chip_plan_layer_at(plan, op->layer) != NULL, i);
    }
    HOLDS(mw_chip_plan_get_totals(plan).ops == 0 || mw_chip_plan_op_at(plan, mw_chip_plan_get_totals(plan).ops) == NULL,
          0);
}

/* ---- order ---- */

static void check_order(const mw_chip_plan *plan)
{
    const mw_chip_value *v;
    for (size_t i = 0; (v = mw_chip_plan_value_at(plan, i)) != NULL; i++)
        for (size_t k = 0; k < v->reader_count; k++) {
            HOLDS(v->producer == MW_CHIP_NONE || v->producer < v->readers[k], i);
            HOLDS(v->first <= v->readers[k] && v->readers[k] <= v->last, i);
            HOLDS(k == 0 || v->readers[k - 1] < v->readers[k], i);
        }
}

static void check_lists(const mw_chip_plan *plan)
{
    const mw_chip_layer *l;
    for (size_t i = 0; (l = mw_chip_plan_layer_at(plan, i)) != NULL; i++) {
        for (size_t k = 0; k < l->input_count; k++) {
            const mw_chip_value *v = mw_chip_plan_value_at(plan, l->inputs[k]);
            bool reads = false;
            for (size_t r = 0; v != NULL && r < v->reader_count; r++)
                reads = reads || v->readers[r] == i;
            HOLDS(reads, i);
        }
        for (size_t k = 0; k < l->output_count; k++)
            HOLDS(mw_chip_plan_value_at(plan, l->outputs[k])->producer == i, i);
        HOLDS(l->time_us >= 0 && l->start_us >= 0 && l->op_count > 0, i);
    }
}

/* ---- partitions and segments ---- */

static void check_partitions(const mw_chip_plan *plan)
{
    size_t layer = 0;
    const mw_chip_partition *part;
    const mw_chip_plan_totals t = mw_chip_plan_get_totals(plan);
    for (size_t i = 0; (part = mw_chip_plan_partition_at(plan, i)) != NULL; i++) {
        HOLDS(part->first_layer == layer && part->layer_count > 0, i);
        HOLDS(part->peak <= t.budget || part->layer_count == 1, i);
        HOLDS(part->refused_peak == 0 || part->refused_peak > t.budget, i);
        for (size_t k = 0; k < part->layer_count; k++, layer++) {
            HOLDS(mw_chip_plan_layer_at(plan, layer)->partition == i, i);
            HOLDS(mw_chip_plan_layer_at(plan, layer)->segment == part->segment, i);
        }
    }
    HOLDS(layer == t.layers, layer);
}

static void check_segments(const mw_chip_plan *plan)
{
    size_t layer = 0;
    const mw_chip_segment *s;
    for (size_t i = 0; (s = mw_chip_plan_segment_at(plan, i)) != NULL; i++) {
        HOLDS(s->first_layer == layer && s->layer_count > 0, i);
        HOLDS(!s->is_bridge || s->layer_count == 1, i);
        for (size_t k = 0; k < s->layer_count; k++, layer++)
            HOLDS((mw_chip_plan_layer_at(plan, layer)->refused != NULL) == s->is_bridge, layer);
    }
    HOLDS(layer == mw_chip_plan_get_totals(plan).layers, layer);
}

/* ---- memory ---- */

static size_t root(const mw_chip_plan *plan, size_t value)
{
    while (mw_chip_plan_value_at(plan, value)->over != MW_CHIP_NONE)
        value = mw_chip_plan_value_at(plan, value)->over;
    return value;
}

static bool live_at_once(const mw_chip_value *a, const mw_chip_value *b)
{
    return a->first <= b->last && b->first <= a->last;
}

static bool shares_bytes(const mw_chip_value *a, const mw_chip_value *b)
{
    return a->memory == b->memory && a->offset < b->offset + b->extent && b->offset < a->offset + a->extent;
}

static void check_overlaps(const mw_chip_plan *plan)
{
    const mw_chip_value *a, *b;
    for (size_t i = 0; (a = mw_chip_plan_value_at(plan, i)) != NULL; i++)
        for (size_t k = 0; k < i; k++) {
            b = mw_chip_plan_value_at(plan, k);
            if (a->memory == MW_CHIP_MEMORY_PORT || !live_at_once(a, b) || !shares_bytes(a, b))
                continue;
            HOLDS(root(plan, i) == root(plan, k), i); /* written over: the last read is the write */
            HOLDS(a->first == b->last || b->first == a->last, i);
        }
}

static void check_value(const mw_chip_plan *plan, size_t index)
{
    const mw_chip_value *v = mw_chip_plan_value_at(plan, index);
    const mw_chip_allocation a = v->allocation;
    const bool in_dram = a == MW_CHIP_ALLOCATION_STREAMED || a == MW_CHIP_ALLOCATION_IN_PLACE_DRAM;
    const bool over = a == MW_CHIP_ALLOCATION_IN_PLACE || a == MW_CHIP_ALLOCATION_IN_PLACE_DEPENDENT ||
                      a == MW_CHIP_ALLOCATION_IN_PLACE_DRAM;
    HOLDS(in_dram == (v->memory != MW_CHIP_MEMORY_ON_CHIP), index);
    HOLDS(over == (v->over != MW_CHIP_NONE), index);
    HOLDS((v->producer == MW_CHIP_NONE || v->is_output) == (v->memory == MW_CHIP_MEMORY_PORT), index);
    HOLDS(v->offset >= 0 && v->extent >= 0 && v->extent <= v->bytes, index);
    HOLDS(v->memory != MW_CHIP_MEMORY_ON_CHIP || v->offset + v->extent <= mw_chip_plan_get_totals(plan).working_set,
          index);
    for (size_t k = 0; v->memory == MW_CHIP_MEMORY_ON_CHIP && k < v->reader_count; k++)
        HOLDS(mw_chip_plan_layer_at(plan, v->readers[k])->partition ==
                  mw_chip_plan_layer_at(plan, v->producer)->partition,
              index);
    if (a != MW_CHIP_ALLOCATION_CHAINED)
        return;
    const mw_chip_layer *from = mw_chip_plan_layer_at(plan, v->producer),
                        *to = mw_chip_plan_layer_at(plan, v->readers[0]);
    HOLDS(v->reader_count == 1 && v->readers[0] == v->producer + 1 && from->engine == to->engine, index);
    HOLDS(from->partner == MW_CHIP_NONE && to->partner == MW_CHIP_NONE, index);
}

/* ---- pairs ---- */

static bool reads_from(const mw_chip_plan *plan, size_t later, size_t earlier)
{
    const mw_chip_layer *l = mw_chip_plan_layer_at(plan, later);
    bool found = false;
    for (size_t k = 0; k < l->input_count; k++)
        found = found || mw_chip_plan_value_at(plan, l->inputs[k])->producer == earlier;
    return found;
}

static void check_pairs(const mw_chip_plan *plan)
{
    const mw_chip_pair *pair;
    size_t issued = 0;
    for (size_t i = 0; (pair = mw_chip_plan_pair_at(plan, i)) != NULL; i++) {
        const mw_chip_layer *a = mw_chip_plan_layer_at(plan, pair->first),
                            *b = mw_chip_plan_layer_at(plan, pair->second);
        HOLDS(pair->first < pair->second, i);
        if (!pair->issued)
            continue;
        issued++;
        HOLDS(a->partner == pair->second && b->partner == pair->first && a->partition == b->partition, i);
        HOLDS(a->multiplies != b->multiplies, i);
        HOLDS((a->multiplies ? b : a)->engine == MW_CHIP_ENGINE_PLANAR, i);
        HOLDS(!reads_from(plan, pair->second, pair->first) && a->start_us == b->start_us, i);
    }
    HOLDS(issued == mw_chip_plan_get_totals(plan).issued_pairs, issued);
}

/* ---- writers ---- */

static mw_status count_item(void *user, const mw__json_item *item, mw_error *err)
{
    (void)item, (void)err;
    ++*(size_t *)user;
    return MW_OK;
}

static void check_json(const mw_chip_plan *plan)
{
    mw_error err = {0};
    size_t items = 0;
    char *json = mw_chip_plan_print_json(plan, &err), *again = mw_chip_plan_print_json(plan, &err);
    CHECK_OK(err);
    if (json == NULL || again == NULL)
        return;
    HOLDS(strcmp(json, again) == 0, 0);
    mw__json_read_all(mw__allocator_default(), json, strlen(json), count_item, &items, &err);
    check_note(err.status == MW_OK && items > 20, __FILE__, __LINE__, "%s: %s", subject, err.message);
    mw_string_free(json);
    mw_string_free(again);
}

/* Every element is closed, in order; text holds no markup of its own. */
static void check_svg(const mw_chip_plan *plan)
{
    mw_error err = {0};
    char *svg = mw_chip_plan_print_svg(plan, &err), open[64][16];
    size_t depth = 0, most = 0;
    CHECK_OK(err);
    for (const char *c = svg; c != NULL && (c = strchr(c, '<')) != NULL;) {
        const char *end = strchr(c, '>');
        const size_t length = strcspn(c + 1, " />");
        if (!HOLDS(end != NULL && memchr(c + 1, '<', (size_t)(end - c - 1)) == NULL && depth < 60, depth))
            break;
        if (c[1] == '/') {
            const size_t name = strcspn(c + 2, ">");
            HOLDS(depth > 0 && strncmp(open[depth - 1], c + 2, name) == 0 && open[depth - 1][name] == '\0', depth);
            depth -= depth > 0;
        } else if (end[-1] != '/') {
            snprintf(open[depth++], sizeof open[0], "%.*s", (int)(length < 15 ? length : 15), c + 1);
            most = depth > most ? depth : most;
        }
        c = end;
    }
    HOLDS(depth == 0 && most >= 2, depth);
    mw_string_free(svg);
}

void plan_check_properties(const mw_chip_plan *plan, const char *name)
{
    subject = name;
    if (plan == NULL)
        return;
    check_ops(plan);
    check_order(plan);
    check_lists(plan);
    check_partitions(plan);
    check_segments(plan);
    check_overlaps(plan);
    for (size_t i = 0; mw_chip_plan_value_at(plan, i) != NULL; i++)
        check_value(plan, i);
    check_pairs(plan);
    check_json(plan);
    check_svg(plan);
}

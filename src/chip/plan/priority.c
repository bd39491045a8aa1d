/* Which of two ready layers is scheduled first: the tie-breaks of the list scheduler, in their order. */
#include "chip/plan/plan.h"

/* ---- ring buffers ---- */

/* Rows of a window that is slid over the operand; 1: none is. */
static int64_t window_rows(const mw__op *op)
{
    int64_t size[MW_RANK_MAX] = {1};
    size_t count = 0;
    if (op->row == NULL)
        return 1;
    if (mw__arg_exists(op, "kernel_sizes") && mw__arg_ints(op, "kernel_sizes", size, MW_RANK_MAX, &count))
        return size[0];
    if (!mw__op_is(op, "conv"))
        return 1;
    const mw_shape weight = mw_tensor_shape(mw__arg(op, "weight"));
    return weight.rank > 2 ? weight.dim[2] : 1;
}

/* Of the windows that the options say. */
static int64_t ring_bytes(const mw__chip_planner *p, const mw__chip_plan_value *value)
{
    const mw_shape shape = value->public.shape;
    const int64_t rows = shape.rank > 2 ? shape.dim[2] : 1;
    const int64_t kept = window_rows(p->layers[value->readers[0]].head) * p->options->ring_windows;
    return kept < rows ? value->public.bytes / rows * kept : value->public.bytes;
}

static bool is_ring(const mw__chip_planner *p, const mw__chip_plan_value *value)
{
    if (value->producer == MW_CHIP_NONE || value->reader_count != 1 || value->public.is_output ||
        p->options->no_ring_buffers)
        return false;
    const mw__chip_plan_layer *from = &p->layers[value->producer], *to = &p->layers[value->readers[0]];
    return from->public.tiles > 1 && to->public.tiles > 1 && !from->is_cut && !to->is_cut && window_rows(to->head) > 1;
}

static bool reads_ring(const mw__chip_planner *p, const mw__chip_plan_layer *layer)
{
    bool found = false;
    for (size_t i = 0; i < layer->public.input_count; i++)
        found = found || p->values[layer->public.inputs[i]].is_ring;
    return found;
}

/* ---- branches ---- */

/* From the end: a branch goes on while a layer has one reader that reads nothing else. */
void mw__chip_plan_find_branches(mw__chip_planner *p)
{
    for (size_t v = 0; v < p->value_count; v++)
        if (is_ring(p, &p->values[v])) {
            p->values[v].is_ring = true;
            p->values[v].ring_bytes = ring_bytes(p, &p->values[v]);
        }
    for (size_t i = p->layer_count; i-- > 0;) {
        mw__chip_plan_layer *layer = &p->layers[i];
        layer->merge = MW_CHIP_NONE;
        layer->branch_bytes = layer->footprint;
        if (layer->next_count != 1)
            continue;
        const mw__chip_plan_layer *next = &p->layers[layer->next[0]];
        layer->merge = next->before_count > 1 ? layer->next[0] : next->merge;
        if (next->before_count == 1 && next->branch_bytes > layer->branch_bytes)
            layer->branch_bytes = next->branch_bytes;
    }
}

/* What reads the same values and is scheduled, or is not. */
static int64_t branch_score(const mw__chip_planner *p, const mw__chip_plan_layer *layer)
{
    int64_t scheduled = 0, left = 0;
    for (size_t i = 0; i < layer->public.input_count; i++) {
        const mw__chip_plan_value *value = &p->values[layer->public.inputs[i]];
        if (value->producer == MW_CHIP_NONE)
            continue;
        scheduled += (int64_t)(value->reader_count - value->left);
        left += (int64_t)value->left - 1;
    }
    return p->options->branch_score == MW_CHIP_SCORE_NONE        ? 0
           : p->options->branch_score == MW_CHIP_SCORE_SCHEDULED ? scheduled
                                                                 : -left;
}

/* What the layers that read from it read, too, and is scheduled, or is not. */
static int64_t merge_score(const mw__chip_planner *p, const mw__chip_plan_layer *layer)
{
    int64_t scheduled = 0, left = 0;
    for (size_t i = 0; i < layer->next_count; i++) {
        const mw__chip_plan_layer *next = &p->layers[layer->next[i]];
        scheduled += (int64_t)(next->before_count - next->waits);
        left += (int64_t)next->waits - 1;
    }
    return p->options->merge_score == MW_CHIP_SCORE_NONE        ? 0
           : p->options->merge_score == MW_CHIP_SCORE_SCHEDULED ? scheduled
                                                                : -left;
}

/* The working set decides between branches of one diamond whose ends fit: the larger one first, as long as it fits.
 * Positive: a first. */
static int working_set_test(const mw__chip_planner *p, const mw__chip_plan_layer *a, const mw__chip_plan_layer *b)
{
    if (a->merge == MW_CHIP_NONE || a->merge != b->merge || a->before_count != 1 || b->before_count != 1 ||
        a->before[0] != b->before[0] || a->branch_bytes == b->branch_bytes)
        return 0;
    const int64_t ends = p->layers[a->before[0]].public.bytes_out + p->layers[a->merge].public.bytes_in;
    const mw__chip_plan_layer *larger = a->branch_bytes > b->branch_bytes ? a : b;
    if (ends > p->chip->working_set || larger->branch_bytes > p->chip->working_set - p->live)
        return 0;
    return larger == a ? 1 : -1;
}

static int compare_numbers(int64_t a, int64_t b) { return (a > b) - (a < b); }

bool mw__chip_plan_goes_first(const mw__chip_planner *p, size_t a, size_t b)
{
    const mw__chip_plan_layer *x = &p->layers[a], *y = &p->layers[b];
    int order = (int)reads_ring(p, x) - (int)reads_ring(p, y);
    if (order == 0)
        order = compare_numbers(branch_score(p, x), branch_score(p, y));
    if (order == 0)
        order = compare_numbers(merge_score(p, x), merge_score(p, y));
    if (order == 0)
        order = working_set_test(p, x, y);
    if (order == 0 && p->options->order == MW_CHIP_ORDER_LEVEL)
        order = compare_numbers((int64_t)y->level, (int64_t)x->level);
    return order != 0 ? order > 0 : a < b; /* both the order of the program and that of the nodes */
}

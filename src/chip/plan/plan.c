/* mw_chip_plan as an object: making it phase by phase, and reading it. */
#include "chip/plan/plan.h"

#include "base/memory/live.h"
#include "base/number/float_mode.h"
#include "base/text/printable.h"
#include "mil/check/form.h"

#include <stdarg.h>
#include <string.h>

mw_chip_plan_options mw_chip_plan_defaults(void)
{
    return (mw_chip_plan_options){.struct_size = sizeof(mw_chip_plan_options),
                                  .absorbers = MW_CHIP_ABSORB_REDUCTIONS,
                                  .margin = 0.9,
                                  .stream_tile = 65536,
                                  .co_issue_window = 1,
                                  .row_alignment = 64,
                                  .alignment = 64,
                                  .ring_windows = 2};
}

/* ---- options ---- */

enum { ALIGNMENT_MAX = 1 << 20, WINDOW_MAX = 64 };

static bool is_alignment(int64_t value) { return value >= 1 && value <= ALIGNMENT_MAX; }

static mw_status check_numbers(const mw_chip_plan_options *o, mw_error *err)
{
    if (!(o->margin > 0 && o->margin <= 1))
        return mw__fail(err, MW_ERROR_ARGUMENT, "margin is not above 0 and at most 1");
    if (!is_alignment(o->row_alignment) || !is_alignment(o->alignment))
        return mw__fail(err, MW_ERROR_ARGUMENT, "an alignment is not in 1 to %d", (int)ALIGNMENT_MAX);
    if (o->co_issue_window > WINDOW_MAX)
        return mw__fail(err, MW_ERROR_ARGUMENT, "co_issue_window is %zu, at most %d", o->co_issue_window,
                        (int)WINDOW_MAX);
    if (o->matmul_weight_max < 0 || o->kernel_max < 0 || o->stream_tile < 0 || o->ring_windows < 1 ||
        o->ring_windows > ALIGNMENT_MAX)
        return mw__fail(err, MW_ERROR_ARGUMENT, "a number of bytes is negative, or ring_windows not in 1 to %d",
                        (int)ALIGNMENT_MAX);
    return MW_OK;
}

static mw_status check_options(const mw_chip_plan_options *o, mw_error *err)
{
    if (o->struct_size != sizeof *o)
        return mw__fail(err, MW_ERROR_ARGUMENT, "chip plan options were not made by mw_chip_plan_defaults");
    const bool known = (unsigned)o->absorbers <= MW_CHIP_ABSORB_ANY && (unsigned)o->scale <= MW_CHIP_SCALE_WEIGHTS &&
                       (unsigned)o->concat <= MW_CHIP_CONCAT_CHANNELS &&
                       (unsigned)o->branch_score <= MW_CHIP_SCORE_NONE &&
                       (unsigned)o->merge_score <= MW_CHIP_SCORE_NONE && (unsigned)o->order <= MW_CHIP_ORDER_LEVEL;
    return known ? check_numbers(o, err)
                 : mw__fail(err, MW_ERROR_ARGUMENT, "an option of the plan has a value that there is not");
}

/* ---- making ---- */

static bool prepare_planner(mw__chip_planner *p)
{
    const size_t values = p->main->graph->value_count, ops = p->body->op_count;
    p->alias = mw__arena_alloc(&p->scratch, values, sizeof *p->alias, p->err);
    p->uses = mw__arena_alloc(&p->scratch, values, sizeof *p->uses, p->err);
    p->made_by = mw__arena_alloc(&p->scratch, values, sizeof *p->made_by, p->err);
    p->is_constant = mw__arena_alloc(&p->scratch, values, sizeof *p->is_constant, p->err);
    p->is_unsound = mw__arena_alloc(&p->scratch, ops, sizeof *p->is_unsound, p->err);
    p->folded_concat = mw__arena_alloc(&p->scratch, ops, sizeof *p->folded_concat, p->err);
    p->plan->ops = mw__arena_alloc(&p->plan->arena, ops, sizeof *p->plan->ops, p->err);
    return p->alias != NULL && p->uses != NULL && p->made_by != NULL && p->is_constant != NULL &&
           p->is_unsound != NULL && p->folded_concat != NULL && p->plan->ops != NULL;
}

/* Of a program as it stands, which may be wrong in anything. */
static bool is_unsound(const mw__op *op)
{
    mw_error why = {0};
    return op->row == NULL || op->block_count > 0 || mw__op_verify(op, &why) != MW_OK;
}

static mw_status number_results(mw__chip_planner *p)
{
    for (size_t i = 0; i < p->main->graph->value_count; i++)
        p->made_by[i] = MW_CHIP_NONE;
    for (size_t i = 0; i < p->body->op_count; i++) {
        const mw__op *op = p->body->ops[i];
        for (size_t r = 0; r < op->result_count; r++)
            p->made_by[op->results[r]->id] = i;
        p->is_unsound[i] = is_unsound(op);
        p->plan->ops[i] =
            (mw_chip_plan_op){.operation = mw__chip_plan_string(p, op->kind),
                              .tensor = mw__chip_plan_string(p, op->result_count > 0 ? op->results[0]->name : NULL),
                              .layer = MW_CHIP_NONE,
                              .text_line = (int)op->line};
    }
    p->plan->op_count = p->body->op_count;
    return p->err->status;
}

static mw_status run_phases(mw__chip_planner *p)
{
    static mw_status (*const phases[])(mw__chip_planner *) = {
        number_results,        mw__chip_plan_collapse, mw__chip_plan_fuse, mw__chip_plan_legalize,
        mw__chip_plan_connect, mw__chip_plan_schedule, mw__chip_plan_pair, mw__chip_plan_allocate,
        mw__chip_plan_share,   mw__chip_plan_time,     mw__chip_plan_step};
    for (size_t i = 0; i < sizeof phases / sizeof *phases; i++)
        if (phases[i](p) != MW_OK || mw__failed(p->err))
            return p->err->status;
    return MW_OK;
}

static int64_t or_default(int64_t given, int64_t fallback) { return given != 0 ? given : fallback; }

static mw_status make_stages(mw_chip_plan *plan, const mw_graph *form, const mw__legality *legality,
                             const mw_chip_plan_options *options, mw_error *err)
{
    mw__chip_planner p = {.heap = plan->allocator,
                          .plan = plan,
                          .options = options,
                          .legality = *legality,
                          .chip = plan->chip,
                          .main = mw__graph_main(form),
                          .matmul_weight_max = or_default(options->matmul_weight_max, plan->chip->working_set),
                          .kernel_max = or_default(options->kernel_max, plan->chip->kernel_stream),
                          .budget = (int64_t)(options->margin * (double)plan->chip->working_set),
                          .err = err};
    p.body = p.main->body;
    mw__arena_init(&p.scratch, plan->allocator);
    const mw_status status = prepare_planner(&p) ? run_phases(&p) : MW_ERROR_MEMORY;
    mw__free(plan->allocator, p.layers);
    mw__arena_deinit(&p.scratch);
    return status;
}

static mw_status make_of_form(mw_chip_plan *plan, const mw_graph *source, const mw_chip_plan_options *options,
                              mw_error *err)
{
    const mw__legality legality = {.device = mw__device_find(MW_DEVICE_ANE), .chip = plan->chip};
    mw__chip_form form = {0};
    if (options->as_it_is)
        return make_stages(plan, source, &legality, options, err);
    mw_status status = mw__chip_form_make(&form, source, &legality, plan->allocator, err);
    if (status == MW_OK)
        status = make_stages(plan, form.legal.graph, &legality, options, err);
    mw__chip_form_deinit(&form);
    return status;
}

static mw_status make_of_graph(mw_chip_plan *plan, const mw_graph *graph, const mw_chip_plan_options *options,
                               mw_error *err)
{
    mw_graph *source = mw__chip_copy_named(graph, options->function, plan->allocator, err);
    const mw_status status = source != NULL ? make_of_form(plan, source, options, err) : err->status;
    mw__graph_free(source);
    return status;
}

static mw_chip_plan *make_plan(const mw__chip_row *chip, const mw_chip_plan_options *options, mw_error *err)
{
    const mw_allocator *allocator = mw__allocator_or_default(options->allocator);
    mw_chip_plan *plan = mw__live_make(allocator, sizeof *plan, MW__LIVE_CHIP_PLAN, err);
    if (plan == NULL)
        return NULL;
    plan->allocator = allocator;
    plan->chip = chip;
    mw__arena_init(&plan->arena, allocator);
    return plan;
}

static mw_status check_arguments(const mw_graph *graph, mw_chip chip, const mw_chip_plan_options *options,
                                 const mw__chip_row **out_chip, mw_error *err)
{
    if (graph == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_chip_plan_create: the graph is NULL");
    MW_TRY(check_options(options, err));
    MW_TRY(mw__chip_find_known(chip, out_chip, err));
    return mw_graph_check(graph, err);
}

mw_chip_plan *mw_chip_plan_create(const mw_graph *graph, mw_chip chip, const mw_chip_plan_options *options,
                                  mw_error *err)
{
    MW__FLOAT_SCOPE;
    mw_error own = {0};
    err = err != NULL ? err : &own;
    if (mw__skips(err))
        return NULL;
    const mw_chip_plan_options defaults = mw_chip_plan_defaults();
    options = options != NULL ? options : &defaults;
    const mw__chip_row *row;
    mw_chip_plan *plan =
        check_arguments(graph, chip, options, &row, err) == MW_OK ? make_plan(row, options, err) : NULL;
    if (plan == NULL)
        return NULL;
    mw__graph_hold(graph);
    if (mw__graph_drop(graph, __func__, make_of_graph(plan, graph, options, err), err) == MW_OK)
        return plan;
    mw_chip_plan_destroy(plan);
    return NULL;
}

void mw_chip_plan_destroy(mw_chip_plan *plan)
{
    if (plan == NULL || !mw__live_remove(plan, MW__LIVE_CHIP_PLAN, __func__))
        return;
    const mw_allocator *allocator = plan->allocator;
    mw__free(allocator, plan->splits);
    mw__free(allocator, plan->segments);
    mw__free(allocator, plan->partitions);
    mw__free(allocator, plan->pairs);
    mw__arena_deinit(&plan->arena);
    mw__free(allocator, plan);
}

/* ---- writing ---- */

const char *mw__chip_plan_string(mw__chip_planner *p, const char *string)
{
    return string != NULL ? mw__arena_string(&p->plan->arena, string, strlen(string), p->err) : NULL;
}

void mw__chip_plan_note(mw__chip_planner *p, size_t op, mw_chip_slot slot, size_t layer, mw__chip_plan_rule_id rule,
                        const char *format, ...)
{
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    mw__printable_vprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    mw_chip_plan_op *o = &p->plan->ops[op];
    o->slot = slot;
    o->layer = layer;
    o->rule = &mw__chip_plan_rules[rule];
    o->reason = mw__chip_plan_string(p, text);
}

size_t mw__chip_plan_add_layer(mw__chip_planner *p, size_t op, const mw__chip_layer_kind *kind)
{
    if (p->layer_count == MW__PLAN_LAYERS_MAX) {
        mw__fail(p->err, MW_ERROR_UNSUPPORTED, "a plan has at most %d layers", (int)MW__PLAN_LAYERS_MAX);
        return MW_CHIP_NONE;
    }
    if (mw__grow(p->heap, &p->layers, &p->layer_capacity, p->layer_count + 1, sizeof *p->layers, p->err) != MW_OK)
        return MW_CHIP_NONE;
    p->layers[p->layer_count] = (mw__chip_plan_layer){
        .kind = kind,
        .head = p->body->ops[op],
        .head_index = op,
        .tail_index = op,
        .position = MW_CHIP_NONE,
        .public = {.kernel_parts = 1, .tiles = 1, .partner = MW_CHIP_NONE, .engine = kind->engine}};
    return p->layer_count++;
}

mw_status mw__chip_plan_add_split(mw__chip_planner *p, size_t layer, mw__chip_plan_rule_id rule, int64_t limit,
                                  int64_t there, const char *reason)
{
    mw_chip_plan *plan = p->plan;
    MW_TRY(mw__grow(plan->allocator, &plan->splits, &plan->split_capacity, plan->split_count + 1, sizeof *plan->splits,
                    p->err));
    plan->splits[plan->split_count++] = (mw_chip_split){.layer = layer,
                                                        .rule = &mw__chip_plan_rules[rule],
                                                        .reason = mw__chip_plan_string(p, reason),
                                                        .limit = limit,
                                                        .there = there};
    return p->err->status;
}

/* ---- reading ---- */

#define ITEM(plan, index, items, count)                                                                                \
    (mw__live_has(plan, MW__LIVE_CHIP_PLAN) && (index) < (plan)->count ? &(plan)->items[index] : NULL)

mw_chip_plan_totals mw_chip_plan_get_totals(const mw_chip_plan *plan)
{
    return mw__live_has(plan, MW__LIVE_CHIP_PLAN) ? plan->totals : (mw_chip_plan_totals){0};
}

const mw_chip_plan_op *mw_chip_plan_op_at(const mw_chip_plan *plan, size_t index)
{
    return ITEM(plan, index, ops, op_count);
}

const mw_chip_layer *mw_chip_plan_layer_at(const mw_chip_plan *plan, size_t index)
{
    return ITEM(plan, index, layers, layer_count);
}

const mw_chip_split *mw_chip_plan_split_at(const mw_chip_plan *plan, size_t index)
{
    return ITEM(plan, index, splits, split_count);
}

const mw_chip_segment *mw_chip_plan_segment_at(const mw_chip_plan *plan, size_t index)
{
    return ITEM(plan, index, segments, segment_count);
}

const mw_chip_partition *mw_chip_plan_partition_at(const mw_chip_plan *plan, size_t index)
{
    return ITEM(plan, index, partitions, partition_count);
}

const mw_chip_pair *mw_chip_plan_pair_at(const mw_chip_plan *plan, size_t index)
{
    return ITEM(plan, index, pairs, pair_count);
}

const mw_chip_value *mw_chip_plan_value_at(const mw_chip_plan *plan, size_t index)
{
    return ITEM(plan, index, values, value_count);
}

const mw_chip_time *mw_chip_plan_time_at(const mw_chip_plan *plan, size_t index)
{
    return ITEM(plan, index, times, time_count);
}

#include "engine/cache/analytics.h"

#include "base/memory/map.h"
#include "base/text/text.h"
#include "engine/compile/plan/work.h"
#include "rules/legality.h"

#include <stdio.h>
#include <string.h>

/* Nominal rates, the same everywhere, so that an estimate is a function of the program: what a step takes is the larger
 * of its arithmetic and its memory traffic. */
#define FLOPS_PER_SECOND 5e10
#define BYTES_PER_SECOND 1e10

typedef struct maker {
    const mw__library *library;
    mw__legality chip; /* whose rules are asked */
    mw__arena *arena;
    mw__arena scratch;
    mw__map seconds;          /* by the name of a result: double */
    mw__segmented *segmented; /* by operation of the function's body, if there is a segmenter */
    const mw__segmented *here;
    mw__placement *list;
    size_t count;
    mw__text path;
    mw_error *err;
} maker;

const char *mw__backend_of(const mw__library *library) { return library->device->is_chip ? "ane" : "bnns"; }

static const char *name_of(const mw_tensor *value) { return value->name != NULL ? value->name : value->hint; }

static size_t count_ops(const mw__block *block)
{
    size_t count = 0;
    for (size_t i = 0; i < block->op_count; i++) {
        count += !mw__op_is(block->ops[i], "const");
        for (size_t b = 0; b < block->ops[i]->block_count; b++)
            count += count_ops(block->ops[i]->blocks[b]);
    }
    return count;
}

/* ---- estimates ---- */

static mw_status add_seconds(maker *m, const mw__op *op, double seconds)
{
    const char *name = op->result_count > 0 ? name_of(op->results[0]) : NULL;
    if (name == NULL)
        return MW_OK;
    double *sum = mw__map_get(&m->seconds, name);
    if (sum == NULL) {
        sum = mw__arena_alloc(&m->scratch, 1, sizeof *sum, m->err);
        if (sum == NULL)
            return MW_ERROR_MEMORY;
        MW_TRY(mw__map_set(&m->seconds, name, sum, m->err));
    }
    *sum += seconds;
    return MW_OK;
}

/* A step of several operations is shared by them alike. */
static mw_status estimate_step(maker *m, const mw__plan *plan, const mw__step *step)
{
    uint64_t *sizes = mw__arena_alloc(&m->scratch, step->read_count + step->write_count, sizeof *sizes, m->err);
    if (sizes == NULL)
        return MW_ERROR_MEMORY;
    const mw__work work = mw__step_work(plan->buffers, step, sizes, sizes + step->read_count);
    const double moving = (double)(work.bytes_read + work.bytes_written) / BYTES_PER_SECOND;
    const double computing = (work.flops > 0.0 ? work.flops : 0.0) / FLOPS_PER_SECOND / plan->partitions;
    const double seconds = computing > moving ? computing : moving;
    if (step->group.count == 0)
        return step->op != NULL ? add_seconds(m, step->op, seconds) : MW_OK;
    for (size_t i = 0; i < step->group.count; i++)
        MW_TRY(add_seconds(m, step->group.ops[i], seconds / (double)step->group.count));
    return MW_OK;
}

/* ---- what the segmenter says ---- */

/* What it cannot place is where the program is. */
static mw_status segment(maker *m, const mw__function *function)
{
    mw__segmenter_function *given = mw__engine_given_segmenter();
    const mw__library *library = m->library;
    mw_error why = {0};
    m->segmented = NULL;
    if (given == NULL || library->segmenter == MW__SEGMENTER_NONE)
        return MW_OK;
    const mw__segmenter_request request = {
        .function = function, .chip = library->chip, .mask = library->mask, .segmenter = library->segmenter};
    m->segmented = mw__arena_alloc(&m->scratch, function->body->op_count, sizeof *m->segmented, m->err);
    if (m->segmented == NULL)
        return MW_ERROR_MEMORY;
    const mw_status status = given(&request, m->segmented, m->scratch.allocator, &why);
    if (status == MW_ERROR_MEMORY)
        return mw__fail(m->err, status, "%s", why.message);
    if (status != MW_OK)
        m->segmented = NULL;
    return MW_OK;
}

static const char *backend_name(uint64_t bit)
{
    return bit == MW_DEVICE_ANE ? "ane" : bit == MW_DEVICE_GPU ? "mps_graph" : "bnns";
}

/* An operation of a block is part of its owner, and costs what that does. */
static void place(const maker *m, bool nested, mw__placement *out)
{
    const bool ane = (m->here->takers & MW_DEVICE_ANE) != 0;
    out->backend = backend_name(m->here->backend);
    out->support = ane ? "ane mps_graph bnns" : "mps_graph bnns";
    out->seconds = nested ? 0.0 : m->here->seconds;
}

/* ---- what the rules say ---- */

static bool add_message(void *user, const mw__legality_row *row, const mw__trip *trip)
{
    char rule[300];
    mw__text *messages = user;
    mw__legality_describe(row, trip, rule, sizeof rule);
    mw__text_printf(messages, "%s%s: ", messages->size > 0 ? "\n" : "", row->id);
    mw__text_puts(messages, rule);
    return true;
}

static bool is_refused(void *user, const mw__legality_row *row, const mw__trip *trip)
{
    (void)trip;
    *(bool *)user = row->verdict == MW__REFUSED;
    return !*(bool *)user;
}

static mw_status judge_op(maker *m, const mw__op *op, mw__placement *out)
{
    bool refused = false;
    mw__text messages;
    mw__text_init(&messages, m->scratch.allocator);
    mw__legality_ask_op(&m->chip, op, is_refused, &refused);
    mw__legality_ask_op(&m->chip, op, add_message, &messages);
    out->support = refused ? "bnns" : "ane bnns";
    out->messages = "";
    mw_status status = mw__text_check(&messages, m->err);
    if (status == MW_OK && messages.size > 0) {
        out->messages = mw__arena_string(m->arena, messages.data, messages.size, m->err);
        status = out->messages != NULL ? MW_OK : MW_ERROR_MEMORY;
    }
    mw__text_deinit(&messages);
    return status;
}

/* ---- operations ---- */

static mw_status add_block(maker *m, const mw__block *block);

static mw_status add_op(maker *m, const mw__op *op)
{
    mw__placement *to = &m->list[m->count++];
    const char *name = op->result_count > 0 ? name_of(op->results[0]) : NULL;
    const double *seconds = name != NULL ? mw__map_get(&m->seconds, name) : NULL;
    *to = (mw__placement){.kind = op->kind,
                          .name = name != NULL ? name : "",
                          .backend = mw__backend_of(m->library),
                          .seconds = seconds != NULL ? *seconds : 0.0};
    to->path = mw__arena_string(m->arena, m->path.data, m->path.size, m->err);
    if (to->path == NULL)
        return MW_ERROR_MEMORY;
    MW_TRY(judge_op(m, op, to));
    if (m->here != NULL)
        place(m, op->block->owner != NULL, to);
    return MW_OK;
}

static void go_back(mw__text *path, size_t size)
{
    path->size = size;
    if (path->data != NULL)
        path->data[size] = '\0';
}

static mw_status add_within(maker *m, const mw__op *op)
{
    const size_t size = m->path.size;
    for (size_t b = 0; b < op->block_count; b++) {
        mw__text_printf(&m->path, "/%zu", b);
        MW_TRY(add_block(m, op->blocks[b]));
        go_back(&m->path, size);
    }
    return MW_OK;
}

static mw_status add_block(maker *m, const mw__block *block)
{
    const size_t size = m->path.size;
    for (size_t i = 0; i < block->op_count; i++) {
        mw__text_printf(&m->path, "/%zu", i);
        MW_TRY(mw__text_check(&m->path, m->err));
        if (block->owner == NULL)
            m->here = m->segmented != NULL ? &m->segmented[i] : NULL;
        if (!mw__op_is(block->ops[i], "const"))
            MW_TRY(add_op(m, block->ops[i]));
        MW_TRY(add_within(m, block->ops[i]));
        go_back(&m->path, size);
    }
    return MW_OK;
}

static mw_status add_function(maker *m, size_t index)
{
    const mw__plan *plan = &m->library->programs[index].plan;
    mw__map_deinit(&m->seconds);
    mw__map_init(&m->seconds, m->scratch.allocator);
    for (size_t s = 0; s < plan->step_count; s++)
        MW_TRY(estimate_step(m, plan, plan->steps[s]));
    go_back(&m->path, 0);
    mw__text_puts(&m->path, m->library->programs[index].name);
    MW_TRY(segment(m, m->library->graph->functions[index]));
    return add_block(m, m->library->graph->functions[index]->body);
}

static mw_status make_analytics(maker *m)
{
    const mw_graph *graph = m->library->graph;
    size_t count = 0;
    for (size_t f = 0; f < graph->function_count; f++)
        count += count_ops(graph->functions[f]->body);
    m->list = mw__arena_alloc(m->arena, count, sizeof *m->list, m->err);
    if (m->list == NULL)
        return MW_ERROR_MEMORY;
    for (size_t f = 0; f < graph->function_count; f++)
        MW_TRY(add_function(m, f));
    return MW_OK;
}

mw_status mw__analytics_make(const mw__library *library, mw__arena *arena, mw__analytics *out, mw_error *err)
{
    const mw__legality chip = {.device = mw__device_find(MW_DEVICE_ANE), .chip = library->chip};
    maker m = {.library = library, .chip = chip, .arena = arena, .err = err};
    mw__arena_init(&m.scratch, arena->allocator);
    mw__map_init(&m.seconds, arena->allocator);
    mw__text_init(&m.path, arena->allocator);
    const mw_status status = make_analytics(&m);
    *out = (mw__analytics){.placements = m.list, .count = m.count};
    mw__text_deinit(&m.path);
    mw__map_deinit(&m.seconds);
    mw__arena_deinit(&m.scratch);
    return status;
}

/* ---- as attributes ---- */

static const mw__payload *make_string(mw_graph *graph, const char *text, mw_error *err)
{
    static const mw__type type = {.kind = MW__TENSOR, .dtype = MW_STRING};
    mw__payload *payload = mw__arena_alloc(&graph->arena, 1, sizeof *payload, err);
    const char **strings = mw__arena_alloc(&graph->arena, 1, sizeof *strings, err);
    if (payload == NULL || strings == NULL)
        return NULL;
    strings[0] = mw__arena_string(&graph->arena, text, strlen(text), err);
    *payload = (mw__payload){.type = &type, .strings = strings};
    return strings[0] != NULL ? payload : NULL;
}

static const mw__payload *make_number(mw_graph *graph, double number, mw_error *err)
{
    static const mw__type type = {.kind = MW__TENSOR, .dtype = MW_F64};
    mw__payload *payload = mw__arena_alloc(&graph->arena, 1, sizeof *payload, err);
    double *data = mw__arena_alloc(&graph->arena, 1, sizeof *data, err);
    if (payload == NULL || data == NULL)
        return NULL;
    *data = number;
    *payload = (mw__payload){.type = &type, .data = data, .size = sizeof *data};
    return payload;
}

enum { ATTRIBUTES = 6 };

static mw_status annotate_op(mw_graph *graph, mw__op *op, const mw__placement *from, mw_error *err)
{
    const size_t count = op->attribute_count;
    mw__attribute *all = mw__arena_alloc(&graph->arena, count + ATTRIBUTES, sizeof *all, err);
    if (all == NULL)
        return MW_ERROR_MEMORY;
    if (count > 0)
        memcpy(all, op->attributes, count * sizeof *all);
    const mw__attribute added[ATTRIBUTES] = {{"SelectedBackend", make_string(graph, from->backend, err)},
                                             {"BackendSupport", make_string(graph, from->support, err)},
                                             {"EstimatedRuntime", make_number(graph, from->seconds, err)},
                                             {"OpType", make_string(graph, from->kind, err)},
                                             {"OpPath", make_string(graph, from->path, err)},
                                             {"ValidationMessages", make_string(graph, from->messages, err)}};
    memcpy(all + count, added, sizeof added);
    for (size_t i = 0; i < ATTRIBUTES; i++)
        if (added[i].value == NULL)
            return MW_ERROR_MEMORY;
    op->attributes = all;
    op->attribute_count = count + ATTRIBUTES;
    return MW_OK;
}

static mw_status annotate_block(const mw__analytics *analytics, size_t *at, mw_graph *graph, const mw__block *block,
                                mw_error *err)
{
    for (size_t i = 0; i < block->op_count; i++) {
        mw__op *op = block->ops[i];
        if (!mw__op_is(op, "const") && *at < analytics->count)
            MW_TRY(annotate_op(graph, op, &analytics->placements[(*at)++], err));
        for (size_t b = 0; b < op->block_count; b++)
            MW_TRY(annotate_block(analytics, at, graph, op->blocks[b], err));
    }
    return MW_OK;
}

mw_status mw__analytics_annotate(const mw__analytics *analytics, mw_graph *graph, mw_error *err)
{
    size_t at = 0;
    for (size_t f = 0; f < graph->function_count; f++)
        MW_TRY(annotate_block(analytics, &at, graph, graph->functions[f]->body, err));
    return MW_OK;
}

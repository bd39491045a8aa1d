/* Where the operations of a program run, and why not on the ANE: from its text, the mask and the rules of the chip. */
#include "graph/ir/ir.h"
#include "graph/ir/names.h"
#include "mil/check/report.h"
#include "runtime/program/program_object.h"

#include <millwright/mil.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

typedef struct mw__placements {
    const mw_allocator *allocator;
    mw__arena arena;
    mw_placement *items;
    size_t count, capacity;
} mw__placements;

void mw__placements_free(mw__placements *placements)
{
    if (placements == NULL)
        return;
    const mw_allocator *allocator = placements->allocator;
    mw__arena_deinit(&placements->arena);
    mw__free(allocator, placements->items);
    mw__free(allocator, placements);
}

static const char *copy(mw__placements *p, const char *text, mw_error *err)
{
    return mw__arena_string(&p->arena, text, strlen(text), err);
}

/* ---- reasons ---- */

static const char *reason_of(mw__placements *p, const mw_program *program, mw_error *err)
{
    char text[256];
    const char *model = program->device->is_chip && strcmp(program->provider, "engine") == 0
                            ? ", which the engine's model of it computes"
                            : "";
    snprintf(text, sizeof text, "it was compiled for the %s alone (device mask %u)%s", program->device->name,
             (unsigned)program->device->mask, model);
    return copy(p, text, err);
}

/* The first rule that refuses the value, as the findings have it. */
static const char *refusal_of(const mw_chip_report *report, const char *tensor)
{
    for (size_t i = 0; report != NULL && i < report->count; i++) {
        const mw_chip_finding *finding = report->findings[i];
        if (finding->verdict == MW_CHIP_REFUSED && finding->tensor != NULL && strcmp(finding->tensor, tensor) == 0)
            return finding->message;
    }
    return NULL;
}

/* ---- making the list ---- */

static mw_status add_placement(mw__placements *p, const mw_program *program, const mw__op *op, const char *reason,
                               const mw_chip_report *report, mw_error *err)
{
    const char *tensor = op->result_count > 0 && op->results[0]->name != NULL ? op->results[0]->name : "";
    const char *refusal = refusal_of(report, tensor);
    MW_TRY(mw__grow(p->allocator, &p->items, &p->capacity, p->count + 1, sizeof *p->items, err));
    mw_placement *item = &p->items[p->count];
    *item = (mw_placement){.operation = copy(p, op->kind, err),
                           .tensor = copy(p, tensor, err),
                           .provider = program->provider,
                           .device = (mw_device)program->device->mask,
                           .reason = reason,
                           .elsewhere = refusal != NULL ? copy(p, refusal, err) : NULL};
    p->count++;
    return mw__failed(err) ? err->status : MW_OK;
}

static mw_status list(mw__placements *p, const mw_program *program, const mw_graph *graph, mw_error *err)
{
    const mw__function *function = mw__function_choose(graph, NULL, err);
    const char *reason = reason_of(p, program, err);
    if (function == NULL || reason == NULL)
        return MW_ERROR_MEMORY;
    const mw_chip_check_options options = {.struct_size = sizeof options};
    mw_chip_report *report = program->device->is_chip ? NULL
                                                      : mw__chip_report_create(graph, program->chip->chip, &options,
                                                                               "mw_program_placement", err);
    mw_status status = mw__failed(err) ? err->status : MW_OK;
    for (size_t i = 0; i < function->body->op_count && status == MW_OK; i++)
        if (function->body->ops[i]->result_count == 0 || function->body->ops[i]->results[0]->payload == NULL)
            status = add_placement(p, program, function->body->ops[i], reason, report, err);
    mw__chip_report_destroy(report, "mw_program_placement");
    return status;
}

static mw__placements *make_placements(const mw_program *program)
{
    mw_error err = {0};
    mw_graph_options options = mw_graph_defaults();
    options.allocator = program->allocator;
    mw__placements *p = mw__alloc(program->allocator, 1, sizeof *p, &err);
    if (p == NULL)
        return NULL;
    p->allocator = program->allocator;
    mw__arena_init(&p->arena, p->allocator);
    mw_graph *graph = mw_graph_parse_mil(program->mil, strlen(program->mil), NULL, &options, &err);
    const mw_status status = graph != NULL ? list(p, program, graph, &err) : MW_ERROR_MEMORY;
    mw_graph_destroy(graph);
    if (status == MW_OK)
        return p;
    mw__placements_free(p);
    return NULL;
}

/* Several threads may ask first: one list stays. */
static const mw__placements *get(const mw_program *program)
{
    const mw_program *settled = mw__program_now(program);
    if (settled == NULL || settled->mil == NULL)
        return NULL;
    _Atomic(mw__placements *) *slot = &((mw_program *)settled)->placements;
    mw__placements *there = atomic_load(slot);
    if (there != NULL)
        return there;
    mw__placements *made = make_placements(settled);
    if (made == NULL || atomic_compare_exchange_strong(slot, &there, made))
        return made;
    mw__placements_free(made);
    return there;
}

size_t mw_program_placement_count(const mw_program *program)
{
    const mw__placements *p = mw__live_has(program, MW__LIVE_PROGRAM) ? get(program) : NULL;
    return p != NULL ? p->count : 0;
}

bool mw_program_placement(const mw_program *program, size_t index, mw_placement *out)
{
    if (out == NULL || index >= mw_program_placement_count(program))
        return false;
    *out = get(program)->items[index];
    return true;
}

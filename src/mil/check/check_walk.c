/* All rows that hold in a function. */
#include "mil/check/report.h"

#include "base/memory/checked.h"

#include <string.h>

typedef struct walk {
    mw__findings *findings;
    mw__arena *arena;
    const mw__legality *legality;
    mw_error *err;
    /* where it is */
    const mw__op *op;
    const mw_tensor *port;
} walk;

static const char *name_of(const mw_tensor *value) { return value != NULL ? value->name : NULL; }

static bool add_trip(void *user, const mw__legality_row *row, const mw__trip *trip)
{
    walk *w = user;
    char message[512];
    mw__legality_describe(row, trip, message, sizeof message);
    mw__finding *finding = mw__findings_add(w->findings, w->arena, row, message, w->err);
    if (finding == NULL)
        return false;
    const mw_tensor *result = w->op != NULL && w->op->result_count > 0 ? w->op->results[0] : w->port;
    mw_chip_finding *f = &finding->public;
    f->limit = trip->limit;
    f->there = trip->there;
    f->operation = mw__arena_keep(w->arena, w->op != NULL ? w->op->kind : NULL, w->err);
    f->tensor = mw__arena_keep(w->arena, name_of(result), w->err);
    f->operand = mw__arena_keep(w->arena, trip->tensor != result ? name_of(trip->tensor) : NULL, w->err);
    f->text_line = w->op != NULL ? (int)w->op->line : 0;
    f->text_column = w->op != NULL ? (int)w->op->column : 0;
    return !mw__failed(w->err);
}

/* What no device takes: operations that are not known, and those that break their own row of the operation table. */
static bool add_unsound(walk *w, const char *id, const char *message)
{
    const mw__legality_row row = {.id = id,
                                  .stage = MW__STAGE_VALIDATOR,
                                  .verdict = MW__REFUSED,
                                  .rule = "",
                                  .source = "MIL reference, as in docs/operations.md"};
    mw__finding *finding = mw__findings_add(w->findings, w->arena, &row, message, w->err);
    if (finding == NULL)
        return false;
    finding->public.operation = mw__arena_keep(w->arena, w->op->kind, w->err);
    finding->public.tensor = mw__arena_keep(w->arena, w->op->result_count > 0 ? w->op->results[0]->name : NULL, w->err);
    finding->public.text_line = (int)w->op->line;
    finding->public.text_column = (int)w->op->column;
    return !mw__failed(w->err);
}

static bool walk_sound(walk *w, const mw__op *op)
{
    mw_error why = {0};
    if (op->row == NULL)
        return add_unsound(w, "unknown_operation", "the operation is not known");
    return mw__op_verify(op, &why) == MW_OK || add_unsound(w, "operation_rule", why.message);
}

static bool walk_block(walk *w, const mw__block *block)
{
    for (size_t i = 0; i < block->op_count; i++) {
        w->op = block->ops[i];
        if (!walk_sound(w, w->op) || !mw__legality_ask_op(w->legality, w->op, add_trip, w))
            return false;
        const mw__op *op = block->ops[i];
        for (size_t k = 0; k < op->block_count; k++)
            if (!walk_block(w, op->blocks[k]))
                return false;
    }
    w->op = NULL;
    return true;
}

static bool walk_ports(walk *w, mw_tensor *const *ports, size_t count, bool are_outputs)
{
    for (size_t i = 0; i < count; i++) {
        w->port = ports[i];
        if (!mw__legality_ask_port(w->legality, ports[i], are_outputs, add_trip, w))
            return false;
    }
    w->port = NULL;
    return true;
}

mw_status mw__chip_walk(mw__findings *findings, mw__arena *arena, const mw__legality *legality,
                        const mw__function *function, mw_error *err)
{
    walk w = {.findings = findings, .arena = arena, .legality = legality, .err = err};
    const mw__block *body = function->body;
    if (mw__failed(err))
        return err->status;
    const bool all = mw__legality_ask_function(legality, function, add_trip, &w) && walk_block(&w, body) &&
                     walk_ports(&w, body->inputs, body->input_count, false) &&
                     walk_ports(&w, body->outputs, body->output_count, true);
    return all ? MW_OK : mw__failed(err) ? err->status : MW_ERROR_MEMORY;
}

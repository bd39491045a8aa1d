/* Decisions of a differentiated graph: one more program, whose outputs are what comparisons, chosen places and steps
 * give. See gradcheck_decisions.h. */
#include "inspect/gradcheck_decisions.h"

#include "autograd/vjp/rules.h"
#include "base/number/hash.h"
#include "graph/transform/clone/clone.h"
#include "runtime/program/feed.h"

#include <millwright/op_elementwise.h>
#include <millwright/op_shape.h>
#include <stdio.h>
#include <string.h>

/* ---- what is decided ---- */

static bool operand_depends(const mw__operand *operand, const unsigned char *depends)
{
    if (operand->value != NULL)
        return depends[operand->value->id] != 0;
    for (size_t i = 0; i < operand->member_count; i++)
        if (operand_depends(&operand->members[i], depends))
            return true;
    return false;
}

static bool op_depends(const mw__op *op, const unsigned char *depends)
{
    for (size_t i = 0; i < op->slot_count; i++)
        for (size_t k = 0; k < op->slots[i].count; k++)
            if (operand_depends(&op->slots[i].operands[k], depends))
                return true;
    return false;
}

/* The derivative of a step is zero wherever it exists; the quotient of a modulus is one. */
static bool is_decision(const mw__op *op, const mw_tensor *result)
{
    if (result->type->kind != MW__TENSOR)
        return false;
    return !mw__is_float_tensor(result) || (op->row != NULL && mw__vjp_is_zero(op->row->id)) ||
           strcmp(op->kind, "mod") == 0;
}

static mw_status mark_dependent(mw__arena *arena, const mw_graph *graph, mw_tensor *const *x, size_t count,
                                unsigned char **out_marks, mw_error *err)
{
    unsigned char *marks = mw__arena_alloc(arena, graph->value_count, 1, err);
    if (marks == NULL)
        return MW_ERROR_MEMORY;
    memset(marks, 0, graph->value_count);
    for (size_t i = 0; i < count; i++)
        marks[x[i]->id] = 1;
    const mw__block *body = graph->current->body;
    for (size_t i = 0; i < body->op_count; i++) {
        const mw__op *op = body->ops[i];
        for (size_t k = 0; op_depends(op, marks) && k < op->result_count; k++)
            marks[op->results[k]->id] = 1;
    }
    *out_marks = marks;
    return MW_OK;
}

/* x first, so that every one is a port; then what is decided. */
static mw_status list_roots(mw__decisions *d, mw__arena *arena, const mw_graph *graph, mw_tensor *const *x,
                            size_t count, mw_tensor ***out_roots, mw_error *err)
{
    unsigned char *marks = NULL;
    MW_TRY(mark_dependent(arena, graph, x, count, &marks, err));
    mw_tensor **roots = mw__arena_alloc(arena, graph->value_count + count, sizeof(mw_tensor *), err);
    if (roots == NULL)
        return MW_ERROR_MEMORY;
    memcpy(roots, x, count * sizeof(mw_tensor *));
    const mw__block *body = graph->current->body;
    for (size_t i = 0; i < body->op_count; i++)
        for (size_t k = 0; k < body->ops[i]->result_count; k++) {
            mw_tensor *result = body->ops[i]->results[k];
            if (marks[result->id] != 0 && is_decision(body->ops[i], result))
                roots[count + d->count++] = result;
        }
    *out_roots = roots;
    return MW_OK;
}

/* ---- the program ---- */

static const char *decision_name(size_t index, char *buffer, size_t size)
{
    snprintf(buffer, size, "gradcheck.decision.%zu", index);
    return buffer;
}

/* A value of its own for an output: a number that tells what was decided. */
static mw_tensor *shown(mw_tensor *decision)
{
    const mw__op *op = decision->op;
    if (op != NULL && strcmp(op->kind, "mod") == 0)
        decision = mw_floor_div(mw__arg(op, "x"), mw__arg(op, "y"));
    return mw_tensor_dtype(decision) == MW_F32 ? mw_identity(decision) : mw_cast(decision, MW_F32);
}

static mw_status declare_outputs(mw__decisions *d, mw__arena *arena, mw_tensor *const *decisions, mw_error *err)
{
    size_t largest = 1;
    char name[48];
    d->sizes = mw__arena_alloc(arena, d->count, sizeof *d->sizes, err);
    if (d->sizes == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < d->count; i++) {
        d->sizes[i] = (size_t)mw_shape_count(mw_tensor_shape(decisions[i]));
        largest = d->sizes[i] > largest ? d->sizes[i] : largest;
        mw_output(shown(decisions[i]), decision_name(i, name, sizeof name));
    }
    d->values = mw__arena_alloc(arena, largest, sizeof *d->values, err);
    return d->values != NULL ? mw_graph_check(d->graph, err) : MW_ERROR_MEMORY;
}

static mw_status feed_program(mw__decisions *d, const mw_batch *batch, mw_error *err)
{
    static const mw_batch nothing = {.feeds = NULL};
    mw__feeder feeder;
    uint64_t bytes = 0;
    MW_TRY(mw__feeder_init(&feeder, d->program, d->graph, NULL, NULL, err));
    return mw__feeder_feed(&feeder, batch != NULL ? batch : &nothing, 0, &bytes, err);
}

mw_status mw__decisions_init(mw__decisions *d, mw__arena *arena, const mw_graph *graph, mw_tensor *const *x,
                             size_t count, const mw_compile_options *compile, const mw_batch *batch, mw_error *err)
{
    *d = (mw__decisions){0};
    mw_tensor **roots = NULL;
    MW_TRY(list_roots(d, arena, graph, x, count, &roots, err));
    if (d->count == 0)
        return MW_OK;
    mw_tensor **copies = mw__arena_alloc(arena, count + d->count, sizeof(mw_tensor *), err);
    if (copies == NULL)
        return MW_ERROR_MEMORY;
    const mw__clone_options how = {.roots = roots, .root_count = count + d->count, .form = MW__CLONE_TRAINING};
    d->graph = mw__clone_graph(arena->allocator, graph, &how, copies, err);
    if (d->graph == NULL)
        return mw__status_or(err, MW_ERROR_ARGUMENT);
    MW_TRY(declare_outputs(d, arena, copies + count, err));
    mw_compile_options options = *compile;
    options.device = MW_DEVICE_CPU;
    options.keep_folder = NULL;
    d->program = mw_program_create(d->graph, &options, err);
    return d->program != NULL ? feed_program(d, batch, err) : mw__status_or(err, MW_ERROR_DEVICE);
}

void mw__decisions_deinit(mw__decisions *d)
{
    mw_program_destroy(d->program);
    mw__graph_free(d->graph);
}

mw_status mw__decisions_read(mw__decisions *d, uint64_t *out_hash, mw_error *err)
{
    char name[48];
    *out_hash = 0;
    MW_TRY(mw_program_run(d->program, err));
    for (size_t i = 0; i < d->count; i++) {
        if (d->sizes[i] == 0)
            continue;
        MW_TRY(mw_program_read(d->program, decision_name(i, name, sizeof name), MW_F32, d->values, d->sizes[i], err));
        *out_hash = mw__hash64(d->values, d->sizes[i] * sizeof *d->values, *out_hash);
    }
    return MW_OK;
}

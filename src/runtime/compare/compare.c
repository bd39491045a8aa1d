/* Running a program on both sides and comparing what is visible; the data that both are fed. */
#include "runtime/compare/compare.h"

#include "base/memory/live.h"
#include "graph/ir/ir.h"
#include "runtime/program/lowered.h"

#include <math.h>
#include <string.h>

mw_status mw__compare_check_options(const mw_compare_options *o, mw_error *err)
{
    if (o->struct_size != sizeof *o)
        return mw__fail(err, MW_ERROR_ARGUMENT, "compare options were not made by mw_compare_defaults");
    if (o->reference.share.trainer != NULL || o->device.share.trainer != NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "a comparison writes what it runs on: %s.share.trainer is not for it",
                        o->reference.share.trainer != NULL ? "reference" : "device");
    if (o->reference.share.program != NULL)
        MW_TRY(mw__live_check(o->reference.share.program, MW__LIVE_PROGRAM, "mw_comparison_create", err));
    if (!(o->relative >= 0.0) || !(o->absolute >= 0.0) || isinf(o->relative) || isinf(o->absolute))
        return mw__fail(err, MW_ERROR_ARGUMENT, "the tolerances of a comparison are %g and %g: at least 0, and finite",
                        o->relative, o->absolute);
    return MW_OK;
}

/* ---- programs ---- */

static mw_program *compile_side(const mw__compare_run *run, const mw_graph *graph, int side, mw_error *err)
{
    return mw__program_compile_graph(graph, &run->sides[side], &run->targets[side], err);
}

mw_compile_options mw__compare_side(const mw_compile_options *asked)
{
    mw_compile_options side = *asked;
    side.function = NULL;
    side.keep_folder = NULL;
    side.share.program = NULL; /* copied: ours are written */
    side.share.trainer = NULL;
    return side;
}

static mw_status resolve_run(mw__compare_run *run, mw_error *err)
{
    const mw_compare_options *o = run->request->options;
    run->sides[0] = mw__compare_side(&o->reference);
    run->sides[1] = mw__compare_side(&o->device);
    run->sides[1].seed = o->reference.seed;
    for (int side = 0; side < 2; side++)
        MW_TRY(mw__target_resolve(&run->sides[side], &run->targets[side], err));
    return MW_OK;
}

static mw_status run_shown(mw__compare_run *run, mw_error *err)
{
    const mw__compare_request *request = run->request;
    for (int side = 0; side < 2; side++) {
        run->programs[side] = compile_side(run, run->shown, side, err);
        if (run->programs[side] == NULL)
            return mw__status_or(err, MW_ERROR_DEVICE);
        run->comparison->where[side] = mw__arena_keep(&run->comparison->arena, run->programs[side]->where, err);
        if (run->comparison->where[side] == NULL)
            return MW_ERROR_MEMORY;
    }
    MW_TRY(request->fill(request->user, run->programs[0], run->programs[1], err));
    MW_TRY(mw__compare_keep_inputs(run->comparison, run->programs[0], err));
    for (int side = 0; side < 2; side++)
        MW_TRY(mw_program_run(run->programs[side], err));
    return MW_OK;
}

/* Inputs that were written over by their next values are fed once more. */
static mw_status count_changed(const mw__compare_run *run, int side, const mw_program *plain, mw_error *err)
{
    mw_program *shown = run->programs[side];
    for (size_t i = plain->input_count; i < plain->port_count; i++) {
        const size_t other = mw__program_find(shown, plain->ports[i].name);
        const size_t bytes = mw__program_elements(plain, i) * (size_t)mw_dtype_bits(plain->ports[i].dtype) / 8;
        if (other >= shown->port_count || shown->ports[other].dtype != plain->ports[i].dtype)
            return mw__fail(err, MW_ERROR_STATE, "output \"%s\" is not the same with inner values as outputs",
                            plain->ports[i].name);
        run->comparison->changed[side] +=
            memcmp(mw__program_data(plain, i), mw__program_data(shown, other), bytes) != 0;
    }
    return MW_OK;
}

/* The program as it is without us. */
static mw_status run_plain(const mw__compare_run *run, mw_error *err)
{
    mw_program *plain[2] = {NULL, NULL};
    mw_status status = MW_OK;
    for (int side = 0; side < 2 && status == MW_OK; side++) {
        plain[side] = compile_side(run, run->request->graph, side, err);
        status = plain[side] != NULL ? MW_OK : mw__status_or(err, MW_ERROR_DEVICE);
    }
    if (status == MW_OK)
        status = run->request->fill(run->request->user, plain[0], plain[1], err);
    for (int side = 0; side < 2 && status == MW_OK; side++) {
        status = mw_program_run(plain[side], err);
        if (status == MW_OK)
            status = count_changed(run, side, plain[side], err);
    }
    mw_program_destroy(plain[0]);
    mw_program_destroy(plain[1]);
    return status;
}

/* ---- results ---- */

const char *mw__compare_parameter(const mw__op *op)
{
    for (size_t i = 0; i < op->slot_count; i++)
        for (size_t k = 0; k < op->slots[i].count; k++) {
            const mw_tensor *value = op->slots[i].operands[k].value;
            if (value != NULL && value->role == MW__PARAMETER)
                return value->name;
        }
    return NULL;
}

static mw_status make_items(const mw__compare_run *run, size_t count, mw_error *err)
{
    mw_comparison *c = run->comparison;
    mw__names names = {0};
    const mw__function *function = mw__graph_main(run->request->graph);
    c->items = mw__arena_alloc(&c->arena, count, sizeof *c->items, err);
    mw_status status = c->items != NULL ? mw__names_assign(function, &names, err) : MW_ERROR_MEMORY;
    for (c->count = 0; status == MW_OK && c->count < count; c->count++) {
        const mw__compare_value *value = &run->values[c->count];
        mw_compared *item = &c->items[c->count];
        *item = (mw_compared){.operation = mw__arena_keep(&c->arena, value->op->kind, err),
                              .tensor = mw__arena_keep(&c->arena, mw__names_get(&names, value->value), err),
                              .parameter = mw__arena_keep(&c->arena, mw__compare_parameter(value->op), err),
                              .dtype = value->value->type->dtype,
                              .shape = value->value->type->shape};
        if (c->accumulated_only)
            item->skipped = "local errors were not asked for";
        status = mw__failed(err) ? err->status : MW_OK;
    }
    mw__names_deinit(&names);
    return status;
}

static mw_status compare_values(const mw__compare_run *run, mw_error *err)
{
    mw_comparison *c = run->comparison;
    for (size_t i = 0; i < c->count; i++)
        MW_TRY(mw__difference_of_ports(run->programs[0], run->programs[1], run->values[i].port, c->items[i].dtype,
                                       run->request->options, &c->items[i].accumulated, err));
    return c->accumulated_only ? MW_OK : mw__compare_locally(run, err);
}

/* ---- overflows ---- */

static void mark_operands(bool *marks, const mw__op *op);

static void mark_list(bool *marks, const mw__operand *operands, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (operands[i].value != NULL)
            marks[operands[i].value->id] = true;
        else
            mark_list(marks, operands[i].members, operands[i].member_count);
    }
}

static void mark_operands(bool *marks, const mw__op *op)
{
    for (size_t i = 0; i < op->slot_count; i++)
        mark_list(marks, op->slots[i].operands, op->slots[i].count);
    for (size_t b = 0; b < op->block_count; b++)
        for (size_t i = 0; i < op->blocks[b]->op_count; i++)
            mark_operands(marks, op->blocks[b]->ops[i]);
}

/* Backwards from what leaves the program: an infinity counts where the infinities that it makes get there. */
static mw_status forgive_overflows(const mw__compare_run *run, mw_error *err)
{
    mw_comparison *c = run->comparison;
    const mw_graph *graph = run->request->graph;
    const mw__block *body = mw__graph_main(graph)->body;
    bool *leaves = mw__alloc(c->allocator, graph->value_count, sizeof *leaves, err);
    if (leaves == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < body->output_count; i++)
        leaves[body->outputs[i]->id] = true;
    for (size_t i = 0; i < body->input_count; i++)
        if (body->inputs[i]->next != NULL)
            leaves[body->inputs[i]->next->id] = true;
    for (size_t i = c->count; i-- > 0;) {
        mw_compared *item = &c->items[i];
        if (item->accumulated.not_finite > 0 && leaves[run->values[i].value->id]) {
            mark_operands(leaves, run->values[i].op);
            continue;
        }
        item->accumulated.beyond -= item->accumulated.overflowed;
        item->local.beyond -= item->local.overflowed;
    }
    mw__free(c->allocator, leaves);
    return MW_OK;
}

mw_status mw__compare_check(const mw_graph *graph, mw_error *err)
{
    const mw__function *function = mw__graph_main(graph);
    if (function == NULL || function->body->output_count == 0)
        return mw__fail(err, MW_ERROR_ARGUMENT, "the graph has no output: declare results with mw_output");
    for (size_t i = 0; i < function->body->input_count; i++)
        if (function->body->inputs[i]->type->kind == MW__TENSOR &&
            mw_shape_count(function->body->inputs[i]->type->shape) < 0)
            return mw__fail(err, MW_ERROR_SHAPE, "input \"%s\" has `?` extents: compare what mw_graph_specialize makes",
                            function->body->inputs[i]->name);
    return MW_OK;
}

static mw_status run_all(mw__compare_run *run, mw__arena *scratch, mw_error *err)
{
    const mw__function *function = mw__graph_main(run->request->graph);
    size_t count = 0;
    MW_TRY(mw__compare_check(run->request->graph, err));
    MW_TRY(resolve_run(run, err));
    run->shown = mw__compare_show(function, NULL, scratch, &run->values, &count, err);
    if (run->shown == NULL)
        return mw__status_or(err, MW_ERROR_MEMORY);
    MW_TRY(run_shown(run, err));
    MW_TRY(make_items(run, count, err));
    MW_TRY(compare_values(run, err));
    MW_TRY(forgive_overflows(run, err));
    return run_plain(run, err);
}

static mw_comparison *make_comparison(const mw_compare_options *options, mw_error *err)
{
    const mw_allocator *allocator = mw__allocator_or_default(options->allocator);
    mw_comparison *c = mw__live_make(allocator, sizeof *c, MW__LIVE_COMPARISON, err);
    if (c == NULL)
        return NULL;
    c->allocator = allocator;
    c->accumulated_only = options->accumulated_only;
    mw__arena_init(&c->arena, allocator);
    return c;
}

void mw__comparison_destroy(mw_comparison *c, const char *call)
{
    if (c == NULL || !mw__live_remove(c, MW__LIVE_COMPARISON, call))
        return;
    const mw_allocator *allocator = c->allocator;
    mw__arena_deinit(&c->arena);
    mw__free(allocator, c);
}

const mw_compared *mw__comparison_first(const mw_comparison *c, bool accumulated)
{
    for (size_t i = 0; i < c->count; i++)
        if ((accumulated ? c->items[i].accumulated : c->items[i].local).beyond > 0)
            return &c->items[i];
    return NULL;
}

mw_comparison *mw__compare_graph(const mw__compare_request *request, mw_error *err)
{
    mw__arena scratch;
    mw__compare_run run = {.request = request, .comparison = make_comparison(request->options, err)};
    if (run.comparison == NULL)
        return NULL;
    mw__arena_init(&scratch, run.comparison->allocator);
    const mw_status status = run_all(&run, &scratch, err);
    mw_program_destroy(run.programs[0]);
    mw_program_destroy(run.programs[1]);
    mw__graph_free(run.shown);
    mw__arena_deinit(&scratch);
    if (status == MW_OK)
        return run.comparison;
    mw__comparison_destroy(run.comparison, "mw_comparison_destroy");
    return NULL;
}

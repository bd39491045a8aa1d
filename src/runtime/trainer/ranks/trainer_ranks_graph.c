/* What ranks exchange, as operations: the end of the step, and the programs behind the exchange. */
#include "runtime/trainer/build/trainer_check.h"
#include "runtime/trainer/build/trainer_state.h"
#include "runtime/trainer/options/trainer_numbers.h"
#include "runtime/trainer/ranks/trainer_ranks.h"

#include "autograd/vjp/vjp.h"
#include "graph/ir/ir_make.h"
#include <millwright/millwright.h>
#include <string.h>

/* ---- before the exchange ---- */

/* "fc1.weight#gradient#next" */
static mw_status add_exchange_output(mw__trainer_build *b, const mw_tensor *like, const char *suffix, mw_tensor *value,
                                     mw_error *err)
{
    const char *name = mw__trainer_join(b, mw_tensor_name(like), suffix, MW__NEXT, err);
    if (name == NULL)
        return MW_ERROR_MEMORY;
    mw_output(value, name);
    return mw_graph_check(b->graph, err);
}

/* A gradient that is always 0 is in its buffer from the beginning. */
mw_status mw__trainer_add_exchange_outputs(mw__trainer_build *b, mw_error *err)
{
    for (size_t i = 0; i < b->count; i++)
        if (!mw__gradient_is_zero(b->gradients[i]))
            MW_TRY(add_exchange_output(b, b->parameters[i], MW__GRADIENT, b->gradients[i], err));
    for (size_t i = 0; i < b->state_count; i++)
        MW_TRY(add_exchange_output(b, b->states[i], MW__CANDIDATE, b->states[i]->next, err));
    return MW_OK;
}

/* ---- behind it ---- */

static mw_tensor *input_like(mw__trainer_build *b, const mw_tensor *like)
{
    return mw_input(b->graph, mw_tensor_name(like), mw_tensor_dtype(like), mw_tensor_shape(like));
}

static mw_status count_sums(mw__trainer_build *b, size_t count, mw_error *err)
{
    if (b->trainer->numbers.accumulate == 1 || mw__trainer_pass_has_parts(b->kind))
        return MW_OK;
    b->sums = mw__arena_alloc(&b->arena, count, sizeof *b->sums, err);
    return b->sums != NULL ? MW_OK : MW_ERROR_MEMORY;
}

static mw_status make_room(mw__trainer_build *b, const mw__trainer_build *from, mw_error *err)
{
    const mw_trainer *t = b->trainer;
    mw__arena_init(&b->arena, t->allocator);
    b->scalars = mw__arena_alloc(&b->arena, mw__trainer_scalar_sets(t), sizeof *b->scalars, err);
    b->parameters = mw__arena_alloc(&b->arena, from->count, sizeof *b->parameters, err);
    b->gradients = mw__arena_alloc(&b->arena, from->count, sizeof *b->gradients, err);
    b->states = mw__arena_alloc(&b->arena, from->state_count, sizeof *b->states, err);
    if (b->scalars == NULL || b->parameters == NULL || b->gradients == NULL || b->states == NULL)
        return MW_ERROR_MEMORY;
    b->raw = b->gradients; /* until they are clipped */
    return count_sums(b, from->count, err);
}

static mw_status take_parameters(mw__trainer_build *b, const mw__trainer_build *from, mw_error *err)
{
    b->count = from->count;
    for (size_t i = 0; i < b->count; i++) {
        b->parameters[i] = input_like(b, from->parameters[i]);
        MW_TRY(mw_graph_check(b->graph, err));
        MW_TRY(mw__trainer_resident(b, b->parameters[i], MW__GRADIENT, &b->gradients[i], err));
        if (b->sums != NULL)
            MW_TRY(mw__trainer_resident(b, b->parameters[i], MW__SUM, &b->sums[i], err));
    }
    return MW_OK;
}

static mw_status take_states(mw__trainer_build *b, const mw__trainer_build *from, mw_error *err)
{
    b->state_count = from->state_count;
    for (size_t i = 0; i < b->state_count; i++) {
        b->states[i] = input_like(b, from->states[i]);
        MW_TRY(mw_graph_check(b->graph, err));
        MW_TRY(mw__trainer_resident(b, b->states[i], MW__CANDIDATE, &b->states[i]->next, err));
    }
    return MW_OK;
}

/* ---- parts ---- */

/* The finite check measures the gradients of all ranks, which are there as a whole then. */
static mw_status take_norm(mw__trainer_build *b, const mw__trainer_build *from, mw_error *err)
{
    if (b->trainer->numbers.clip_norm == 0.0)
        return MW_OK;
    if (b->kind == MW__PASS_PARTS_UPDATE) {
        b->norm = mw_input(b->graph, "step#norm", mw_tensor_dtype(from->loss), mw_shape_scalar());
        return mw_graph_check(b->graph, err);
    }
    b->count = from->count;
    for (size_t i = 0; i < from->count; i++)
        MW_TRY(mw__trainer_resident(b, from->parameters[i], MW__GRADIENT, &b->gradients[i], err));
    MW_TRY(mw__trainer_build_norm(b, err));
    mw_output(b->norm, "step#norm");
    return mw_graph_check(b->graph, err);
}

/* Those parameters of which this rank has a part, and that part of them. */
static mw_status take_parts(mw__trainer_build *b, const mw__trainer_build *from, mw_error *err)
{
    const mw_trainer *t = b->trainer;
    MW_TRY(take_norm(b, from, err));
    b->count = 0;
    for (size_t i = 0; i < from->count; i++) {
        const char *name = mw_tensor_name(from->parameters[i]);
        const mw__owned part = mw__trainer_part(t, mw__trainer_gradient_of(t, name, strlen(name)),
                                                mw__communicator_rank(t->ranks->communicator));
        if (part.count == 0)
            continue;
        mw_tensor *p = mw_input(b->graph, name, mw_tensor_dtype(from->parameters[i]), MW_SHAPE((int64_t)part.count));
        MW_TRY(mw_graph_check(b->graph, err));
        b->parameters[b->count] = p;
        MW_TRY(mw__trainer_resident(b, p, MW__SHARE, &b->gradients[b->count++], err));
    }
    return MW_OK;
}

/* Each rank has added up gradients as a whole, and begins anew with all of them. */
static mw_status clear_sums(mw__trainer_build *b, const mw__trainer_build *from, mw_error *err)
{
    for (size_t i = 0; b->trainer->numbers.accumulate > 1 && i < from->count; i++) {
        mw_tensor *sum = NULL;
        MW_TRY(mw__trainer_resident(b, from->parameters[i], MW__SUM, &sum, err));
        MW_TRY(mw__trainer_next(b, sum, mw_fill(b->graph, mw_tensor_dtype(sum), mw_tensor_shape(sum), 0.0), err));
    }
    return MW_OK;
}

/* The flag is that of all ranks. */
static mw_status build_judged(mw__trainer_build *b, const mw__trainer_build *from, mw_error *err)
{
    mw_tensor *one = mw__trainer_number(b, 1.0);
    b->ok = mw_greater(b->agreed, mw__trainer_number(b, 0.5));
    b->ok_number = mw_select(b->ok, one, mw__trainer_number(b, 0.0));
    b->ok_output = mw_output(b->ok_number, "step#ok");
    MW_TRY(mw_graph_check(b->graph, err));
    MW_TRY(mw__trainer_build_updates(b, err));
    return clear_sums(b, from, err);
}

/* a' of each parameter, which is p' already. */
static mw_status build_averages(mw__trainer_build *b, const mw__trainer_build *from, mw_error *err)
{
    b->graph->stage = MW__STEP_UPDATE;
    for (size_t i = 0; i < from->count; i++) {
        mw_tensor *p = input_like(b, from->parameters[i]), *average = NULL;
        MW_TRY(mw_graph_check(b->graph, err));
        MW_TRY(mw__trainer_resident(b, p, MW__AVERAGE, &average, err));
        mw_tensor *next = NULL;
        MW_TRY(mw__trainer_average(b, average, p, &next, err));
        MW_TRY(mw__trainer_next_always(b, average, next, err));
    }
    return MW_OK;
}

/* ---- all of it ---- */

/* Clipping keeps the gradients as they came for the flag. */
static mw_status clip(mw__trainer_build *b, mw_error *err)
{
    mw_tensor **raw = mw__arena_alloc(&b->arena, b->count, sizeof *raw, err);
    if (raw == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < b->count; i++)
        raw[i] = b->gradients[i];
    b->raw = raw;
    return mw__trainer_clip(b, err);
}

/* Behind a finite check nobody asks for the loss. */
static mw_status take_numbers(mw__trainer_build *b, const mw__trainer_build *from, mw_error *err)
{
    const mw_dtype dtype = mw_tensor_dtype(from->loss);
    if (b->kind != MW__PASS_PARTS_CHECK)
        b->agreed = mw_input(b->graph, "step#agreed", dtype, mw_shape_scalar());
    b->loss = b->kind == MW__PASS_PARTS_UPDATE ? b->agreed : mw_input(b->graph, "step#loss", dtype, mw_shape_scalar());
    MW_TRY(mw_graph_check(b->graph, err));
    if (b->kind != MW__PASS_PARTS_CHECK)
        mw__trainer_need_scale(b);
    return mw_graph_check(b->graph, err);
}

mw_status mw__trainer_build_apply(mw__trainer_build *b, const mw__trainer_build *from, mw_error *err)
{
    MW_TRY(make_room(b, from, err));
    mw_graph_options options = mw_graph_defaults();
    options.allocator = b->trainer->allocator;
    options.opset = mw__graph_main(from->graph)->opset;
    b->graph = mw__graph_make(&options, err);
    if (b->graph == NULL)
        return MW_ERROR_MEMORY;
    b->graph->lowering = from->graph->lowering;
    b->graph->stage = MW__STEP_GATE;
    if (b->kind == MW__PASS_AVERAGES)
        return build_averages(b, from, err);
    MW_TRY(take_numbers(b, from, err));
    MW_TRY(mw__trainer_pass_has_parts(b->kind) ? take_parts(b, from, err) : take_parameters(b, from, err));
    MW_TRY(take_states(b, from, err));
    MW_TRY(clip(b, err));
    if (b->kind == MW__PASS_PARTS_UPDATE)
        return build_judged(b, from, err);
    MW_TRY(mw__trainer_build_gate(b, err));
    b->ok_output = mw_output(b->ok_number, "step#ok");
    MW_TRY(mw_graph_check(b->graph, err));
    return b->kind == MW__PASS_PARTS_CHECK ? MW_OK : mw__trainer_build_updates(b, err);
}

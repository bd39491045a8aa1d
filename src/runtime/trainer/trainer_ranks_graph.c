/* What ranks exchange, as operations: the end of the step, and the programs behind the exchange. */
#include "runtime/trainer/trainer_check.h"
#include "runtime/trainer/trainer_ranks.h"
#include "runtime/trainer/trainer_state.h"

#include "autograd/vjp.h"
#include "graph/ir_make.h"
#include <millwright/millwright.h>

/* ---- before the exchange ---- */

/* "fc1.weight#gradient#next" */
static mw_status hand_on(mw__trainer_build *b, const mw_tensor *like, const char *suffix, mw_tensor *value,
                         mw_error *err)
{
    const char *name = mw__trainer_join(b, mw_tensor_name(like), suffix, MW__NEXT, err);
    if (name == NULL)
        return MW_ERROR_MEMORY;
    mw_output(value, name);
    return mw_graph_check(b->graph, err);
}

/* A gradient that is always 0 is in its buffer from the beginning. */
mw_status mw__trainer_hand_on(mw__trainer_build *b, mw_error *err)
{
    for (size_t i = 0; i < b->count; i++)
        if (!mw__gradient_is_zero(b->gradients[i]))
            MW_TRY(hand_on(b, b->parameters[i], MW__GRADIENT, b->gradients[i], err));
    for (size_t i = 0; i < b->state_count; i++)
        MW_TRY(hand_on(b, b->states[i], MW__CANDIDATE, b->states[i]->next, err));
    return MW_OK;
}

/* ---- behind it ---- */

static mw_tensor *input_like(mw__trainer_build *b, const mw_tensor *like)
{
    return mw_input(b->graph, mw_tensor_name(like), mw_tensor_dtype(like), mw_tensor_shape(like));
}

static mw_status make_room(mw__trainer_build *b, const mw__trainer_build *from, mw_error *err)
{
    const mw_trainer *t = b->trainer;
    mw__arena_init(&b->arena, t->allocator);
    b->scalars = mw__arena_alloc(&b->arena, 2 * t->group_count, sizeof *b->scalars, err);
    b->parameters = mw__arena_alloc(&b->arena, from->count, sizeof *b->parameters, err);
    b->gradients = mw__arena_alloc(&b->arena, from->count, sizeof *b->gradients, err);
    b->states = mw__arena_alloc(&b->arena, from->state_count, sizeof *b->states, err);
    if (b->scalars == NULL || b->parameters == NULL || b->gradients == NULL || b->states == NULL)
        return MW_ERROR_MEMORY;
    b->raw = b->gradients; /* until they are clipped */
    if (t->accumulate > 1)
        b->sums = mw__arena_alloc(&b->arena, from->count, sizeof *b->sums, err);
    return t->accumulate > 1 && b->sums == NULL ? MW_ERROR_MEMORY : MW_OK;
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

mw_status mw__trainer_build_apply(mw__trainer_build *b, const mw__trainer_build *from, mw_error *err)
{
    MW_TRY(make_room(b, from, err));
    mw_graph_options options = mw_graph_defaults();
    options.allocator = b->trainer->allocator;
    options.opset = mw__function_find(from->graph, "main")->opset;
    b->graph = mw__graph_make(&options, err);
    if (b->graph == NULL)
        return MW_ERROR_MEMORY;
    b->graph->lowering = from->graph->lowering;
    b->graph->stage = MW__STEP_GATE;
    b->loss = mw_input(b->graph, "step#loss", mw_tensor_dtype(from->loss), mw_shape_scalar());
    b->agreed = mw_input(b->graph, "step#agreed", mw_tensor_dtype(from->loss), mw_shape_scalar());
    MW_TRY(mw_graph_check(b->graph, err));
    mw__trainer_need_scale(b);
    MW_TRY(take_parameters(b, from, err));
    MW_TRY(take_states(b, from, err));
    MW_TRY(clip(b, err));
    MW_TRY(mw__trainer_build_gate(b, err));
    b->ok_output = mw_output(b->ok_number, "step#ok");
    MW_TRY(mw_graph_check(b->graph, err));
    return mw__trainer_build_updates(b, err);
}

/* The step as a graph, from the copy of the loss to the outputs. Scaling and clipping are in trainer_scale.c, the
 * flag that gates it in trainer_check.c, the optimizer's part in trainer_update.c. */
#include "autograd/vjp/vjp.h"
#include "base/text/text.h"
#include "graph/transform/segment/prune.h"
#include "runtime/trainer/build/trainer_build.h"
#include "runtime/trainer/build/trainer_check.h"
#include "runtime/trainer/build/trainer_state.h"
#include "runtime/trainer/options/trainer_numbers.h"
#include "runtime/trainer/options/trainer_options.h"
#include "runtime/trainer/watch/trainer_watched.h"

#include <millwright/millwright.h>
#include <string.h>

static mw_status collect_parameters(mw__trainer_build *b, mw_error *err)
{
    const mw__block *body = mw__graph_main(b->graph)->body;
    b->parameters = mw__arena_alloc(&b->arena, body->input_count, sizeof *b->parameters, err);
    b->gradients = mw__arena_alloc(&b->arena, body->input_count, sizeof *b->gradients, err);
    b->raw = mw__arena_alloc(&b->arena, body->input_count, sizeof *b->raw, err);
    if (b->parameters == NULL || b->gradients == NULL || b->raw == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < body->input_count; i++) {
        mw_tensor *input = body->inputs[i];
        if (input->role == MW__PARAMETER &&
            !b->trainer->optimizer.groups[mw__trainer_group_of(b->trainer, input->name)].frozen)
            b->parameters[b->count++] = input;
    }
    if (b->count == 0)
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "trainer: the loss depends on no parameter%s; make some with mw_parameter or mw_dense",
                        b->trainer->optimizer.group_count > 1 ? " that is not frozen" : "");
    return MW_OK;
}

/* Training that changes nothing would look like training. */
static mw_status check_gradients(mw__trainer_build *b, mw_error *err)
{
    size_t unreached = 0;
    mw_tensor **still = mw__arena_alloc(&b->arena, b->count, sizeof *still, err);
    if (still == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < b->count; i++)
        if (mw__gradient_is_zero(b->gradients[i]))
            still[unreached++] = b->parameters[i];
    if (unreached == b->count)
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "trainer: no parameter gets a gradient: every path from the loss is cut (by mw_stop_gradient, "
                        "a comparison, a cast to integers, sign or floor_div, or a tensor without elements)");
    if (unreached == 0 || b->kind == MW__PASS_SUM || b->ends_before_check)
        return MW_OK; /* the step has said it */
    return mw__trainer_keep_unreached(b->trainer, still, unreached, err);
}

/* The sum over the batches so far takes the place of each gradient. */
static mw_status add_earlier(mw__trainer_build *b, mw_error *err)
{
    if (b->trainer->numbers.accumulate == 1)
        return MW_OK;
    b->sums = mw__arena_alloc(&b->arena, b->count, sizeof *b->sums, err);
    if (b->sums == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < b->count; i++) {
        MW_TRY(mw__trainer_resident(b, b->parameters[i], MW__SUM, &b->sums[i], err));
        b->gradients[i] = mw_add(b->sums[i], b->gradients[i]);
    }
    return mw_graph_check(b->graph, err);
}

/* In the scale of the loss. */
static mw_status build_probe(mw__trainer_build *b, mw_error *err)
{
    const mw_trainer *t = b->trainer;
    if (b->probe == NULL)
        return MW_OK;
    if (mw_tensor_shape(b->probe).rank > 0)
        b->probe = mw_squeeze(b->probe, MW_ALL_AXES);
    mw__trainer_need_scale(b);
    mw_tensor *seed = t->numbers.scale_interval > 0 ? b->scale : mw__trainer_number(b, t->numbers.loss_scale);
    b->probes = mw__arena_alloc(&b->arena, b->count, sizeof *b->probes, err);
    if (b->probes == NULL)
        return MW_ERROR_MEMORY;
    MW_TRY(mw_graph_check(b->graph, err));
    return mw_backward(&(mw_pullback){.roots = &b->probe, .seeds = &seed, .root_count = 1}, b->parameters, b->count,
                       b->probes, err);
}

static mw_status build_gradients(mw__trainer_build *b, mw_error *err)
{
    const mw_trainer *t = b->trainer;
    if (t->numbers.loss_scale == 1.0 && t->numbers.accumulate == 1 && t->numbers.scale_interval == 0 &&
        !t->strategy->sums_gradients)
        return mw_grad(b->loss, b->parameters, b->count, b->gradients, err);
    mw_tensor *seed = mw__trainer_start(b);
    MW_TRY(mw_graph_check(b->graph, err));
    MW_TRY(mw_backward(&(mw_pullback){.roots = &b->loss, .seeds = &seed, .root_count = 1}, b->parameters, b->count,
                       b->gradients, err));
    return MW_OK;
}

const char *mw__trainer_join(mw__trainer_build *b, const char *a, const char *middle, const char *end, mw_error *err)
{
    mw__text text;
    mw__text_init(&text, b->arena.allocator);
    mw__text_printf(&text, "%s%s%s", a, middle, end);
    const char *copy =
        mw__text_check(&text, err) == MW_OK ? mw__arena_string(&b->arena, text.data, text.size, err) : NULL;
    mw__text_deinit(&text);
    return copy;
}

/* A name for an output that the user's names do not have. */
static const char *free_name(const mw_graph *graph, const mw_tensor *value, const char *name, const char *other)
{
    const mw_tensor *holder = mw_graph_find(graph, name);
    return holder == NULL || holder == value ? name : other;
}

static mw_status build_results(mw__trainer_build *b, mw_error *err)
{
    b->loss_output = mw_output(b->loss, free_name(b->graph, b->loss, "loss", "step.loss"));
    b->ok_output = mw_output(b->ok_number, free_name(b->graph, NULL, "ok", "step.ok"));
    return mw_graph_check(b->graph, err);
}

mw_status mw__trainer_build_gradients(mw__trainer_build *b, mw_error *err)
{
    MW_TRY(collect_parameters(b, err));
    b->graph->stage = MW__STEP_FORWARD;
    if (mw_tensor_shape(b->loss).rank > 0)
        b->loss = mw_squeeze(b->loss, MW_ALL_AXES);
    MW_TRY(mw_graph_check(b->graph, err));
    b->graph->stage = MW__STEP_BACKWARD;
    MW_TRY(build_gradients(b, err));
    MW_TRY(build_probe(b, err));
    return check_gradients(b, err);
}

mw_status mw__trainer_build_checked(mw__trainer_build *b, mw_error *err)
{
    b->graph->stage = MW__STEP_GATE;
    mw__trainer_rescale(b);
    MW_TRY(add_earlier(b, err));
    memcpy(b->raw, b->gradients, b->count * sizeof *b->raw);
    if (b->kind != MW__PASS_EXCHANGE)
        MW_TRY(mw__trainer_clip(b, err));
    if (b->ends_before_check)
        return MW_OK;
    MW_TRY(mw__trainer_build_gate(b, err));
    MW_TRY(build_results(b, err));
    if (b->kind != MW__PASS_SUM)
        MW_TRY(mw__trainer_name_watched(b, err));
    return mw__trainer_show_values(b, err);
}

mw_status mw__trainer_build_ends(mw__trainer_build *b, mw_error *err)
{
    if (b->ends_before_check)
        return MW_OK;
    if (b->kind == MW__PASS_EXCHANGE) {
        MW_TRY(mw__trainer_show_norms(b, err));
        return b->trainer->strategy->end_step(b, err);
    }
    MW_TRY(mw__trainer_build_updates(b, err));
    return mw__prune(mw__graph_main(b->graph), err);
}

mw_status mw__trainer_build_updates(mw__trainer_build *b, mw_error *err)
{
    b->graph->stage = MW__STEP_UPDATE;
    for (size_t i = 0; i < b->count; i++)
        MW_TRY(mw__trainer_build_update(b, i, err));
    for (size_t i = 0; i < b->state_count; i++)
        MW_TRY(mw__trainer_next(b, b->states[i], b->states[i]->next, err));
    MW_TRY(mw__trainer_build_scale(b, err));
    MW_TRY(mw__trainer_show_parameters(b, err));
    return mw__trainer_show_norms(b, err);
}

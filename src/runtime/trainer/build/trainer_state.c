/* Making the state set of a trainer. */
#include "runtime/trainer/build/trainer_state.h"

#include "base/memory/large_pages.h"
#include "graph/random/generator.h"
#include "graph/transform/clone/clone.h"
#include "runtime/trainer/build/trainer_check.h"
#include "runtime/trainer/options/trainer_numbers.h"
#include "runtime/trainer/options/trainer_options.h"

#include <millwright/millwright.h>
#include <string.h>

/* ---- entries ---- */

/* The step has it for an input, and no group freezes it. */
static bool is_trained(const mw__trainer_build *b, const char *name)
{
    const mw_trainer *t = b->trainer;
    const mw_tensor *input = mw_graph_find(b->graph, name);
    return input != NULL && input->role == MW__PARAMETER && !t->optimizer.groups[mw__trainer_group_of(t, name)].frozen;
}

/* An entry of a variant is its trainer's, which has it under that name. */
static mw_status add_entry(mw_trainer *t, const char *name, mw_dtype dtype, mw_shape shape, bool is_weight,
                           mw_error *err)
{
    if (t->variants.main == NULL)
        return mw__state_add(&t->owner.state, name, dtype, shape, is_weight, err);
    const mw__state_entry *entry = mw__state_find(&t->variants.main->owner.state, name);
    if (entry != NULL && entry->dtype == dtype && mw_shape_equal(entry->shape, shape))
        return mw__state_borrow(&t->owner.state, entry, is_weight, err);
    return mw__fail(
        err, MW_ERROR_ARGUMENT,
        "trainer: the graph of a variant has \"%.96s\", which that of the loss has not in this type and shape", name);
}

/* A state of a parameter, starting at 0. */
static mw_status add_state(mw__trainer_build *b, const mw_tensor *parameter, const char *suffix, mw_shape shape,
                           mw_error *err)
{
    mw_trainer *t = b->trainer;
    const char *name = mw__trainer_join(b, parameter->name, suffix, "", err);
    if (name == NULL)
        return MW_ERROR_MEMORY;
    const mw_dtype dtype = mw__trainer_stored(t, parameter->type->dtype);
    MW_TRY(add_entry(t, name, dtype, shape, false, err));
    const mw__state_entry *entry = &t->owner.state.entries[t->owner.state.count - 1];
    if (entry->borrowed)
        return MW_OK;
    mw__pages_use_large(t->allocator, entry->data, entry->size); /* the first step writes all of it */
    t->progress.counters.state_bytes_in += entry->size;
    return MW_OK;
}

/* Of the optimizer's: of several ranks each may have a part. */
static mw_status add_optimizer_state(mw__trainer_build *b, const mw_tensor *parameter, const char *suffix,
                                     mw_shape whole, mw_error *err)
{
    mw_trainer *t = b->trainer;
    mw__owned part;
    if (t->strategy->own_part == NULL || !t->strategy->own_part(t, parameter->name, &part))
        return add_state(b, parameter, suffix, whole, err);
    MW_TRY(add_state(b, parameter, suffix, MW_SHAPE((int64_t)part.count), err));
    t->owner.state.entries[t->owner.state.count - 1].is_part = true;
    t->owner.state.entries[t->owner.state.count - 1].whole = whole;
    return MW_OK;
}

/* A moving average starts where the parameter does. */
static mw_status add_average(mw__trainer_build *b, const mw_tensor *parameter, mw_error *err)
{
    MW_TRY(add_state(b, parameter, MW__AVERAGE, parameter->type->shape, err));
    mw__state_entry *entries = b->trainer->owner.state.entries;
    const mw__state_entry *average = &entries[b->trainer->owner.state.count - 1];
    if (!average->borrowed)
        memcpy(average->data, mw__state_find(&b->trainer->owner.state, parameter->name)->data, average->size);
    return MW_OK;
}

static mw_status add_states_of(mw__trainer_build *b, const mw_tensor *parameter, mw_error *err)
{
    mw_trainer *t = b->trainer;
    const mw__optimizer_states *states;
    MW_TRY(mw__trainer_states_of(t, parameter, &states, err));
    for (size_t i = 0; i < states->count; i++) {
        const mw__optimizer_state *state = &states->items[i];
        const char *suffix = mw__trainer_join(b, "#", state->name, "", err);
        if (suffix == NULL)
            return MW_ERROR_MEMORY;
        MW_TRY(add_optimizer_state(b, parameter, suffix, state->shape, err));
        mw__state_entry *entry = &t->owner.state.entries[t->owner.state.count - 1];
        entry->least = state->least, entry->most = state->most;
        if (state->initial != 0.0 && !entry->borrowed)
            mw__state_fill(entry, state->initial);
    }
    if (t->numbers.accumulate > 1)
        MW_TRY(add_state(b, parameter, MW__SUM, parameter->type->shape, err));
    return t->numbers.average_decay != 0.0 ? add_average(b, parameter, err) : MW_OK;
}

/* What share.trainer has by that name is taken from there. */
static mw_status borrow(mw_trainer *t, const mw_tensor *parameter, mw_dtype dtype, bool is_weight, bool *out,
                        mw_error *err)
{
    char ours[64], theirs[64];
    const mw__state_entry *entry =
        t->owner.lender != NULL ? mw__state_find(&t->owner.lender->state, parameter->name) : NULL;
    *out = entry != NULL;
    if (entry == NULL)
        return MW_OK;
    if (entry->dtype == dtype && mw_shape_equal(entry->shape, parameter->type->shape))
        return mw__state_borrow(&t->owner.state, entry, is_weight, err);
    return mw__fail(err, entry->dtype != dtype ? MW_ERROR_DTYPE : MW_ERROR_SHAPE,
                    "trainer: \"%.96s\" is %s %s, and %s %s in the trainer to share it with", parameter->name,
                    mw_dtype_name(dtype), mw__shape_print(parameter->type->shape, ours, sizeof ours),
                    mw_dtype_name(entry->dtype), mw__shape_print(entry->shape, theirs, sizeof theirs));
}

static mw_status add_resident(mw__trainer_build *b, const mw_tensor *parameter, bool is_weight, mw_error *err)
{
    mw_trainer *t = b->trainer;
    const mw_dtype dtype = mw__trainer_stored(t, parameter->type->dtype);
    bool borrowed;
    MW_TRY(borrow(t, parameter, dtype, is_weight, &borrowed, err));
    if (borrowed)
        return is_trained(b, parameter->name) ? add_states_of(b, parameter, err) : MW_OK;
    MW_TRY(add_entry(t, parameter->name, dtype, parameter->type->shape, is_weight, err));
    mw__state_entry *entry = &t->owner.state.entries[t->owner.state.count - 1];
    MW_TRY(mw__parameter_fill(parameter, dtype, &t->compile, t->allocator, entry->data, err));
    t->progress.counters.state_bytes_in += entry->size;
    return is_trained(b, parameter->name) ? add_states_of(b, parameter, err) : MW_OK;
}

static mw_status add_number(mw__trainer_build *b, const mw_tensor *input, double value, double least, double most,
                            mw_error *err)
{
    mw_trainer *t = b->trainer;
    const mw_dtype dtype = mw__trainer_stored(t, mw_tensor_dtype(input));
    MW_TRY(add_entry(t, mw_tensor_name(input), dtype, mw_shape_scalar(), false, err));
    mw__state_entry *entry = &t->owner.state.entries[t->owner.state.count - 1];
    if (entry->borrowed)
        return MW_OK;
    t->progress.counters.state_bytes_in += entry->size;
    entry->least = least, entry->most = most;
    mw__state_fill(entry, value);
    return MW_OK;
}

static mw_status add_scale(mw__trainer_build *b, mw_error *err)
{
    if (b->scale == NULL)
        return MW_OK;
    MW_TRY(add_number(b, b->scale, b->trainer->numbers.first_scale, 1.0, MW__LOSS_SCALE_MAX, err));
    return add_number(b, b->good_steps, 0.0, 0.0, (double)b->trainer->numbers.scale_interval, err);
}

/* What the evaluation of the model reads. */
static mw_graph *copy_evaluation(const mw_trainer *t, mw_error *err)
{
    mw_tensor *roots[MW_METRICS_MAX + 2] = {t->model.loss};
    size_t count = 1;
    for (size_t i = 0; i < t->model.metric_count; i++)
        roots[count++] = t->model.metrics[i].tensor;
    if (t->model.prediction != NULL)
        roots[count++] = t->model.prediction;
    const mw__clone_options options = {.roots = roots, .root_count = count, .form = MW__CLONE_EVALUATION};
    return mw__clone_graph(t->allocator, t->model.graph, &options, NULL, err);
}

/* States are weights if evaluation reads them: a running mean is, the position of a random generator never. */
static bool is_weight(const mw_graph *evaluation, const mw_tensor *value)
{
    if (value->role == MW__PARAMETER)
        return true;
    return !mw__is_generator(value) && mw_graph_find(evaluation, value->name) != NULL;
}

static mw_status check_shared(const mw_trainer *t, mw_error *err)
{
    bool found = t->owner.lender == NULL;
    for (size_t i = 0; i < t->owner.state.count; i++)
        found = found || t->owner.state.entries[i].borrowed;
    return found ? MW_OK
                 : mw__fail(err, MW_ERROR_ARGUMENT,
                            "trainer: no parameter or state has the name of one of the trainer to share with");
}

mw_status mw__trainer_build_state(mw__trainer_build *b, mw_error *err)
{
    const mw__block *body = mw__graph_main(b->trainer->model.graph)->body;
    mw_graph *evaluation = copy_evaluation(b->trainer, err);
    mw_status status = evaluation != NULL ? MW_OK : mw__status_or(err, MW_ERROR_STATE);
    for (size_t i = 0; status == MW_OK && i < body->input_count; i++) {
        const mw_tensor *value = body->inputs[i];
        if (mw__is_resident(value))
            status = add_resident(b, value, is_weight(evaluation, value), err);
    }
    mw__graph_free(evaluation);
    if (status == MW_OK)
        status = check_shared(b->trainer, err);
    return status == MW_OK ? add_scale(b, err) : status;
}

/* ---- binding ---- */

/* "fc1.weight" and "fc1.weight#next" are the same buffer. */
bool mw__trainer_bind(void *user, const mw_port *port, mw__device_buffer *out)
{
    const mw_trainer *t = user;
    const size_t length = strlen(port->name), suffix = port->is_output ? strlen(MW__NEXT) : 0;
    if (length < suffix || (suffix > 0 && strcmp(port->name + length - suffix, MW__NEXT) != 0))
        return false;
    const mw__state_entry *entry = mw__state_find_n(&t->owner.state, port->name, length - suffix);
    if (entry == NULL && t->strategy->find_exchanged != NULL)
        entry = t->strategy->find_exchanged(t, port->name, length - suffix);
    if (entry == NULL || entry->dtype != port->dtype)
        return false;
    entry = mw__trainer_exported_entry(t, entry);
    *out = (mw__device_buffer){.object = entry->buffer, .data = entry->data, .size = entry->size};
    return true;
}

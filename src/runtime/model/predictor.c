/* Predictors: their states, and which of their runs answers a call. */
#include "base/number/float_mode.h"
#include "runtime/dispatch/dispatch.h"
#include "runtime/model/model_object.h"

#include <string.h>

/* ---- states ---- */

mw__model_state *mw__predictor_state(const mw_predictor *predictor, const char *name)
{
    for (size_t i = 0; i < predictor->state_count; i++)
        if (strcmp(predictor->states[i].name, name) == 0)
            return &predictor->states[i];
    return NULL;
}

/* The first values are in the first plan's program, which never runs. */
static void reset(const mw_predictor *predictor)
{
    const mw_program *first = predictor->model->first->program;
    for (size_t i = 0; i < predictor->state_count; i++) {
        const mw__model_state *state = &predictor->states[i];
        memcpy(state->buffer.data, mw__program_data(first, mw__program_find(first, state->name)), state->buffer.size);
    }
}

static mw_status add_state(mw_predictor *predictor, size_t input, mw_error *err)
{
    const mw_program *first = predictor->model->first->program;
    const mw_port *port = &first->ports[input];
    mw__device_buffer source;
    if (!mw__program_buffer(first, input, &source))
        return mw__fail(err, MW_ERROR_UNSUPPORTED,
                        "state \"%s\" is held in parts on this device, which only mw_program_create can run",
                        port->name);
    mw__model_state *state = &predictor->states[predictor->state_count++];
    *state = (mw__model_state){.name = port->name, .dtype = port->dtype, .count = mw__program_elements(first, input)};
    return mw__dispatch_buffer_alloc(mw__dispatch_symbols(first->dispatch), source.size, &state->buffer, err);
}

static mw_status make_states(mw_predictor *predictor, mw_error *err)
{
    const mw_program *first = predictor->model->first->program;
    predictor->states = mw__alloc(predictor->allocator, first->input_count, sizeof *predictor->states, err);
    if (predictor->states == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = first->input_count; i < first->port_count; i++) {
        const size_t input = mw__model_state_input(first, i);
        if (input < first->input_count && mw__predictor_state(predictor, first->ports[input].name) == NULL)
            MW_TRY(add_state(predictor, input, err));
    }
    reset(predictor);
    return MW_OK;
}

/* ---- runs ---- */

static void drop_run(mw_predictor *predictor, size_t index)
{
    mw__model_run *run = predictor->runs[index];
    predictor->main = predictor->main != run ? predictor->main : NULL;
    predictor->single = predictor->single != run ? predictor->single : NULL;
    predictor->runs[index] = predictor->runs[--predictor->run_count];
    mw__model_run_free(predictor, run);
}

/* Makes room for one more: the one that ran longest ago goes, but never those of the shapes of the moment. */
static void make_room(mw_predictor *predictor)
{
    size_t oldest = predictor->run_count;
    for (size_t i = 0; i < predictor->run_count; i++) {
        const mw__model_run *run = predictor->runs[i];
        if (run != predictor->main && run != predictor->single &&
            (oldest == predictor->run_count || run->used < predictor->runs[oldest]->used))
            oldest = i;
    }
    if (predictor->run_count >= predictor->model->run_max && oldest < predictor->run_count)
        drop_run(predictor, oldest);
}

static mw__model_run *find_run(const mw_predictor *predictor, const mw__model_plan *plan)
{
    for (size_t i = 0; i < predictor->run_count; i++)
        if (predictor->runs[i]->plan == plan)
            return predictor->runs[i];
    return NULL;
}

/* Room for run_max, and two that stay whatever it says. */
static mw_status take_run(mw_predictor *predictor, const mw_shape *shapes, int64_t wanted, mw__model_run **out,
                          mw_error *err)
{
    mw__model_plan *plan;
    MW_TRY(mw__model_plan_take(predictor->model, shapes, wanted, &plan, err));
    *out = find_run(predictor, plan);
    if (*out != NULL) {
        mw__model_plan_drop(predictor->model, plan); /* it has a use of its own */
        return MW_OK;
    }
    make_room(predictor);
    *out = mw__model_run_make(predictor, plan, err);
    if (*out == NULL) {
        mw__model_plan_drop(predictor->model, plan);
        return mw__status_or(err, MW_ERROR_DEVICE);
    }
    (*out)->used = ++predictor->clock;
    predictor->runs[predictor->run_count++] = *out;
    return MW_OK;
}

static int64_t wanted_batch(const mw_model *model) { return model->asked > 0 ? model->asked : model->first->wanted; }

/* One example alone, in a model whose runs take more: a plan of its own, if the program can be brought to it. */
static bool wants_single(const mw_predictor *predictor)
{
    const mw_model *model = predictor->model;
    return predictor->main->plan->examples > 1 && predictor->state_count == 0 && model->latency;
}

mw_status mw__predictor_choose(mw_predictor *predictor, int64_t left, mw__model_run **out, mw_error *err)
{
    *out = predictor->main;
    if (left != 1 || !wants_single(predictor))
        return MW_OK;
    if (predictor->single == NULL) {
        mw_error why = {0};
        const mw_status status = take_run(predictor, predictor->shapes, 1, &predictor->single, &why);
        if (status != MW_OK)
            return mw__fail(err, status, "%s", why.message);
    }
    *out = predictor->single;
    (*out)->used = ++predictor->clock;
    return MW_OK;
}

/* ---- making and freeing ---- */

static void free_predictor(mw_predictor *predictor)
{
    mw_model *model = predictor->model;
    const mw_allocator *allocator = predictor->allocator;
    while (predictor->run_count > 0)
        drop_run(predictor, predictor->run_count - 1);
    for (size_t i = 0; i < predictor->state_count; i++)
        mw__dispatch_buffer_release(mw__dispatch_symbols(model->first->program->dispatch),
                                    &predictor->states[i].buffer);
    mw__free(allocator, predictor->runs);
    mw__free(allocator, predictor->states);
    mw__free(allocator, predictor->shapes);
    mw__free(allocator, predictor);
    mw__model_release(model);
}

static mw_status make_predictor(mw_predictor *predictor, mw_error *err)
{
    const mw_model *model = predictor->model;
    predictor->shapes = mw__alloc(predictor->allocator, model->input_count, sizeof *predictor->shapes, err);
    predictor->runs = mw__alloc(predictor->allocator, model->run_max + 2, sizeof(mw__model_run *), err);
    if (predictor->shapes == NULL || predictor->runs == NULL)
        return MW_ERROR_MEMORY;
    if (model->input_count > 0)
        memcpy(predictor->shapes, model->shapes, model->input_count * sizeof *predictor->shapes);
    MW_TRY(make_states(predictor, err));
    return take_run(predictor, predictor->shapes, wanted_batch(model), &predictor->main, err);
}

/* The use of the model that is the predictor's. */
static mw_status hold(mw_model *model, const char *call, mw_error *err)
{
    MW_TRY(mw__live_check(model, MW__LIVE_MODEL, call, err));
    MW_TRY(mw__model_is_ready(model, call, err));
    pthread_mutex_lock(&model->mutex);
    model->users++;
    pthread_mutex_unlock(&model->mutex);
    return MW_OK;
}

mw_predictor *mw__predictor_make(mw_model *model, const char *call, mw_error *err)
{
    if (hold(model, call, err) != MW_OK)
        return NULL;
    mw_predictor *predictor = mw__alloc(model->allocator, 1, sizeof *predictor, err);
    if (predictor == NULL) {
        mw__model_release(model);
        return NULL;
    }
    *predictor = (mw_predictor){.allocator = model->allocator, .call = call, .model = model};
    if (make_predictor(predictor, err) == MW_OK && mw__live_add(predictor, MW__LIVE_PREDICTOR, err) == MW_OK)
        return predictor;
    free_predictor(predictor);
    return NULL;
}

mw_predictor *mw_predictor_create(mw_model *model, mw_error *err)
{
    MW__FLOAT_SCOPE;
    mw_error own = {0};
    err = err != NULL ? err : &own;
    return mw__skips(err) ? NULL : mw__predictor_make(model, __func__, err);
}

void mw_predictor_destroy(mw_predictor *predictor)
{
    if (predictor != NULL && mw__live_remove(predictor, MW__LIVE_PREDICTOR, __func__) &&
        mw__guard_close(&predictor->guard))
        free_predictor(predictor);
}

/* ---- one call at a time ---- */

mw_status mw__predictor_enter(mw__entry *out, mw_predictor *predictor, const char *call, mw_error *err)
{
    *out = (mw__entry){0};
    MW_TRY(mw__live_check(predictor, MW__LIVE_PREDICTOR, call, err));
    MW_TRY(mw__guard_enter(out, &predictor->guard, "predictor", call, MW__LENT_NEVER, err));
    out->object = predictor;
    return MW_OK;
}

mw_status mw__predictor_leave(const mw__entry *entry, mw_status status, mw_error *err)
{
    if (!mw__guard_leave(entry))
        return status;
    free_predictor(entry->object);
    mw_error_clear(err);
    return mw__fail(err, MW_ERROR_STATE, "%s: the predictor was destroyed meanwhile, by a callback or another thread",
                    entry->call);
}

/* ---- shapes ---- */

static mw_status set_shapes(mw_predictor *predictor, const mw_input_shape *shapes, size_t count, mw_error *err)
{
    const mw_model *model = predictor->model;
    mw__model_run *run;
    mw_shape *chosen = mw__alloc(predictor->allocator, model->input_count, sizeof *chosen, err);
    if (chosen == NULL)
        return MW_ERROR_MEMORY;
    if (model->input_count > 0)
        memcpy(chosen, predictor->shapes, model->input_count * sizeof *chosen);
    mw_status status = mw__model_put_shapes(model, shapes, count, chosen, err);
    if (status == MW_OK)
        status = take_run(predictor, chosen, wanted_batch(model), &run, err);
    if (status == MW_OK) {
        if (model->input_count > 0)
            memcpy(predictor->shapes, chosen, model->input_count * sizeof *chosen);
        predictor->single = run == predictor->main ? predictor->single : NULL;
        predictor->main = run;
        run->used = ++predictor->clock;
    }
    mw__free(predictor->allocator, chosen);
    return status;
}

mw_status mw_predictor_set_shapes(mw_predictor *predictor, const mw_input_shape *shapes, size_t count, mw_error *err)
{
    MW__FLOAT_SCOPE;
    if (mw__skips(err))
        return err->status;
    if (shapes == NULL && count > 0)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_predictor_set_shapes: shapes is NULL");
    mw__entry entry;
    MW_TRY(mw__predictor_enter(&entry, predictor, __func__, err));
    return mw__predictor_leave(&entry, set_shapes(predictor, shapes, count, err), err);
}

/* ---- states from outside ---- */

mw_status mw_predictor_reset(mw_predictor *predictor, mw_error *err)
{
    if (mw__skips(err))
        return err->status;
    mw__entry entry;
    MW_TRY(mw__predictor_enter(&entry, predictor, __func__, err));
    reset(predictor);
    return mw__predictor_leave(&entry, MW_OK, err);
}

static mw_status find_state(const mw_predictor *predictor, const char *name, const void *data, size_t count,
                            mw__model_state **out, mw_error *err)
{
    *out = name != NULL ? mw__predictor_state(predictor, name) : NULL;
    if (*out == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "the program has no state \"%.96s\"; it has %zu",
                        name != NULL ? name : "(NULL)", predictor->state_count);
    if (count != (*out)->count)
        return mw__fail(err, MW_ERROR_SHAPE, "state \"%s\" has %zu elements, not %zu", name, (*out)->count, count);
    return data != NULL || count == 0 ? MW_OK
                                      : mw__fail(err, MW_ERROR_ARGUMENT, "the memory for state \"%s\" is NULL", name);
}

mw_status mw_predictor_read(mw_predictor *predictor, const char *name, mw_dtype dtype, void *out_data, size_t count,
                            mw_error *err)
{
    MW__FLOAT_SCOPE;
    if (mw__skips(err))
        return err->status;
    mw__entry entry;
    mw__model_state *state;
    MW_TRY(mw__predictor_enter(&entry, predictor, __func__, err));
    mw_status status = find_state(predictor, name, out_data, count, &state, err);
    if (status == MW_OK)
        status = mw__model_copy(out_data, dtype, state->buffer.data, state->dtype, count, name, err);
    return mw__predictor_leave(&entry, status, err);
}

mw_status mw_predictor_write(mw_predictor *predictor, const char *name, mw_dtype dtype, const void *data, size_t count,
                             mw_error *err)
{
    MW__FLOAT_SCOPE;
    if (mw__skips(err))
        return err->status;
    mw__entry entry;
    mw__model_state *state;
    MW_TRY(mw__predictor_enter(&entry, predictor, __func__, err));
    mw_status status = find_state(predictor, name, data, count, &state, err);
    if (status == MW_OK)
        status = mw__model_copy(state->buffer.data, state->dtype, data, dtype, count, name, err);
    return mw__predictor_leave(&entry, status, err);
}

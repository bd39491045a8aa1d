/* A plan with buffers of one predictor: constants and parameters are the plan's, inputs and results the run's own, and
 * states those of the predictor, which all its runs share. */
#include "runtime/dispatch/dispatch.h"
#include "runtime/model/model_object.h"

#include <string.h>

/* ---- states ---- */

size_t mw__model_state_input(const mw_program *program, size_t port)
{
    for (size_t i = 0; i < program->input_count; i++)
        if (program->ports[port].is_output && mw__program_data(program, port) == mw__program_data(program, i))
            return i;
    return program->input_count;
}

/* True if an output writes the memory of input `port`. */
static bool is_state(const mw_program *program, size_t port)
{
    for (size_t i = program->input_count; i < program->port_count; i++)
        if (mw__model_state_input(program, i) == port)
            return true;
    return false;
}

static mw_status bind_state(const mw_predictor *predictor, const mw_program *program, size_t input, size_t port,
                            const mw__device_buffer **bound, mw_error *err)
{
    const mw__model_state *state = mw__predictor_state(predictor, program->ports[input].name);
    const mw__port_place *place = &program->places[port];
    if (state == NULL || mw__place_is_split(place))
        return mw__fail(err, MW_ERROR_UNSUPPORTED,
                        "state \"%s\" is held in parts on this device, which only mw_program_create can run",
                        program->ports[input].name);
    bound[place->first] = &state->buffer;
    return MW_OK;
}

/* ---- binding ---- */

static mw_status bind_ports(const mw_predictor *predictor, const mw_program *program, const mw__device_buffer **bound,
                            mw_error *err)
{
    for (size_t i = 0; i < program->port_count; i++) {
        const mw__port_place *place = &program->places[i];
        const bool output = program->ports[i].is_output;
        const size_t input = output ? mw__model_state_input(program, i) : i;
        if (input < program->input_count && (output || is_state(program, i)))
            MW_TRY(bind_state(predictor, program, input, i, bound, err));
        for (size_t k = 0; !output && program->ports[i].is_parameter && k < place->count; k++)
            if (bound[place->first + k] == NULL)
                bound[place->first + k] = mw__dispatch_buffer(program->dispatch, place->first + k);
    }
    return MW_OK;
}

static mw_status make_series(const mw_predictor *predictor, mw__model_run *run, mw_error *err)
{
    const mw_program *program = run->plan->program;
    const size_t count = mw__dispatch_port_count(program->dispatch);
    const mw__device_buffer **bound = mw__alloc(predictor->allocator, count, sizeof *bound, err);
    if (bound == NULL)
        return MW_ERROR_MEMORY;
    mw_status status = bind_ports(predictor, program, bound, err);
    if (status == MW_OK) {
        run->series = mw__series_create(program->dispatch, 1, bound, err);
        status = run->series != NULL ? MW_OK : mw__status_or(err, MW_ERROR_DEVICE);
    }
    mw__free(predictor->allocator, bound);
    return status;
}

/* Ports in parts: the whole is the run's, and copied to the parts and from them. */
static mw_status make_places(mw__model_run *run, mw_error *err)
{
    const mw_program *program = run->plan->program;
    run->places = mw__arena_alloc(&run->arena, program->port_count, sizeof *run->places, err);
    if (run->places == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < program->port_count; i++) {
        mw__port_place *place = &run->places[i];
        *place = program->places[i];
        if (!mw__place_is_split(place) || (!program->ports[i].is_output && program->ports[i].is_parameter))
            continue;
        place->staged = true;
        place->whole.data = mw__arena_alloc(&run->arena, place->whole.size > 0 ? place->whole.size : 1, 1, err);
        if (place->whole.data == NULL)
            return MW_ERROR_MEMORY;
    }
    return MW_OK;
}

static mw_status make_feeder(mw__model_run *run, mw_error *err)
{
    const mw__feeder *pattern = &run->plan->feeder;
    run->feeder.ports = mw__arena_alloc(&run->arena, pattern->count, sizeof *run->feeder.ports, err);
    if (run->feeder.ports == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < pattern->count; i++) {
        run->feeder.ports[i] = pattern->ports[i];
        run->feeder.ports[i].data =
            mw__model_run_data(run, mw__program_find(run->plan->program, pattern->ports[i].name));
    }
    run->feeder.count = pattern->count;
    return MW_OK;
}

mw__model_run *mw__model_run_make(mw_predictor *predictor, mw__model_plan *plan, mw_error *err)
{
    mw__model_run *run = mw__alloc(predictor->allocator, 1, sizeof *run, err);
    if (run == NULL)
        return NULL;
    *run = (mw__model_run){.plan = plan};
    mw__arena_init(&run->arena, predictor->allocator);
    if (make_series(predictor, run, err) == MW_OK && make_places(run, err) == MW_OK && make_feeder(run, err) == MW_OK)
        return run;
    run->plan = NULL; /* it stays the caller's */
    mw__model_run_free(predictor, run);
    return NULL;
}

void mw__model_run_free(const mw_predictor *predictor, mw__model_run *run)
{
    mw__series_destroy(run->series);
    mw__arena_deinit(&run->arena);
    if (run->plan != NULL)
        mw__model_plan_drop(predictor->model, run->plan);
    mw__free(predictor->allocator, run);
}

/* ---- running ---- */

void *mw__model_run_data(const mw__model_run *run, size_t port)
{
    const mw__port_place *place = &run->places[port];
    return place->staged ? place->whole.data : mw__series_data(run->series, 0, place->first);
}

static void *part_data(const void *user, size_t port) { return mw__series_data(user, 0, port); }

mw_status mw__model_run_execute(mw__model_run *run, mw_error *err)
{
    const mw_program *program = run->plan->program;
    for (size_t i = 0; i < program->input_count; i++)
        if (run->places[i].staged && !program->ports[i].is_parameter)
            MW_TRY(mw__place_push(&run->places[i], &program->ports[i], run->places[i].whole.data, part_data,
                                  run->series, err));
    MW_TRY(mw__series_execute(run->series, err));
    for (size_t i = program->input_count; i < program->port_count; i++)
        mw__place_pull(&run->places[i], part_data, run->series);
    return MW_OK;
}

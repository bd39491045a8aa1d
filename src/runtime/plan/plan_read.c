/* Plans: asks the library behind e5rt for one and translates it. Profiling is switched here too. */
#include "runtime/plan/plan_read.h"

#include "base/number/float_mode.h"
#include "runtime/evaluate/view.h"
#include "runtime/program/program_object.h"

#include <string.h>

/* ---- what the library must have ---- */

static bool shows_plans(const mw__symbols *s)
{
    return s->mw_plan_create != NULL && s->mw_plan_release != NULL && s->mw_plan_get_data != NULL &&
           s->mw_execution_stream_operation_set_profiling != NULL;
}

/* Bindings are part of a plan, so it begins as the first run does. */
static mw_status prepare_program(mw_program *program, const char *call, mw_error *err)
{
    if (program == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "%s: the program is NULL", call);
    if (!shows_plans(mw__dispatch_symbols(program->dispatch)))
        return mw__fail(err, MW_ERROR_UNSUPPORTED,
                        "%s: the program runs on \"%s\", which shows neither plans nor profiles; compile with "
                        "MW_PROVIDER_ENGINE to see those of Millwright's own engine",
                        call, program->where);
    if (mw__dispatch_chain(program->dispatch) != NULL)
        return mw__fail(
            err, MW_ERROR_UNSUPPORTED,
            "%s: the step is in segments, which have no plan together; make the trainer with memory.segments = 1 "
            "to see that of the whole",
            call);
    return mw__dispatch_encode(program->dispatch, err);
}

static mw_status part_of(mw_trainer *trainer, mw_trainer_part part, const char *call, mw_program **out, mw_error *err)
{
    *out = NULL;
    if (trainer == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "%s: the trainer is NULL", call);
    MW_TRY(mw__trainer_check_alive(trainer, err));
    if (part == MW_TRAINER_STEP)
        *out = trainer->step.program;
    else if (part == MW_TRAINER_ACCUMULATION && trainer->accumulation.program != NULL)
        *out = trainer->accumulation.program;
    else if (part == MW_TRAINER_ACCUMULATION)
        return mw__fail(err, MW_ERROR_ARGUMENT, "%s: the trainer accumulates no gradients (option accumulate)", call);
    else if (part == MW_TRAINER_EVALUATION)
        MW_TRY(mw__trainer_evaluation(trainer, out, err));
    else if (part == MW_TRAINER_PREDICTION)
        MW_TRY(mw__trainer_predictor(trainer, out, err));
    else
        return mw__fail(err, MW_ERROR_ARGUMENT, "%s: a trainer has no part %d", call, (int)part);
    return MW_OK;
}

/* ---- profiling ---- */

static mw_status profile(mw_program *program, size_t runs, mw_error *err)
{
    enum { RUNS_MAX = 1 << 20 };
    if (runs > RUNS_MAX)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_program_profile: %zu runs are more than the %d that are kept", runs,
                        RUNS_MAX);
    MW_TRY(mw__program_resolve(program, &program, err));
    MW_TRY(prepare_program(program, "mw_program_profile", err));
    return MW__E5RT(mw__dispatch_symbols(program->dispatch), mw_execution_stream_operation_set_profiling,
                    mw__dispatch_operation(program->dispatch), runs);
}

mw_status mw__program_profile(mw_program *program, size_t runs, mw_error *err)
{
    MW__FLOAT_SCOPE;
    if (mw__failed(err) && mw__skipped(err, "mw_program_profile"))
        return err->status;
    mw__entry entry;
    MW_TRY(mw__program_enter(&entry, program, "mw_program_profile", err));
    return mw__program_leave(&entry, profile(program, runs, err), err);
}

static mw_status profile_part(mw_trainer *trainer, mw_trainer_part part, size_t runs, mw_error *err)
{
    mw_program *program;
    MW_TRY(part_of(trainer, part, "mw_trainer_profile", &program, err));
    return mw__program_profile(program, runs, err);
}

mw_status mw__trainer_profile(mw_trainer *trainer, mw_trainer_part part, size_t runs, mw_error *err)
{
    MW__FLOAT_SCOPE;
    if (mw__failed(err) && mw__skipped(err, "mw_trainer_profile"))
        return err->status;
    mw__entry entry;
    MW_TRY(mw__trainer_enter(&entry, trainer, "mw_trainer_profile", MW__LENT_IN_PROGRESS, err));
    return mw__trainer_leave(&entry, profile_part(trainer, part, runs, err), err);
}

/* ---- translating ---- */

/* The user's names of ports by those of the program: of outputs, or of inputs. */
static mw_status map_ports(mw__map *names, const mw_program *program, bool output, mw_error *err)
{
    for (size_t i = 0; i < program->port_count; i++)
        for (size_t k = 0; k < program->places[i].count && program->ports[i].is_output == output; k++)
            if (mw__map_get(names, program->places[i].parts[k].mil_name) == NULL)
                MW_TRY(mw__map_set(names, program->places[i].parts[k].mil_name,
                                   (void *)(uintptr_t)program->ports[i].name, err));
    return MW_OK;
}

static const char *buffer_name(const mw__map names[2], const e5rt_mw_buffer *buffer)
{
    const bool output = buffer->kind == E5RT_MW_BUFFER_OUTPUT;
    const char *name =
        output || buffer->kind == E5RT_MW_BUFFER_INPUT ? mw__map_get(&names[output], buffer->name) : NULL;
    return name != NULL ? name : buffer->name;
}

static mw_status translate_named(mw_plan *plan, const mw__map names[2], mw_error *err)
{
    const e5rt_mw_plan *data = plan->data;
    plan->buffers = mw__arena_alloc(&plan->arena, data->buffer_count, sizeof *plan->buffers, err);
    if (plan->buffers == NULL)
        return MW_ERROR_MEMORY;
    for (size_t b = 0; b < data->buffer_count; b++) {
        const e5rt_mw_buffer *from = &data->buffers[b];
        mw_plan_buffer *to = &plan->buffers[b];
        const char *name = buffer_name(names, from);
        *to = (mw_plan_buffer){.name = mw__arena_string(&plan->arena, name, strlen(name), err),
                               .kind = (mw_plan_buffer_kind)from->kind,
                               .bytes = from->size,
                               .offset = from->offset,
                               .used = from->first_step <= from->last_step,
                               .memory = from->memory};
        if (to->name == NULL)
            return MW_ERROR_MEMORY;
        if (to->used) {
            to->first_step = from->first_step, to->last_step = from->last_step;
            to->first_phase = from->first_phase, to->last_phase = from->last_phase;
        }
    }
    return MW_OK;
}

static mw_status translate_buffers(mw_plan *plan, const mw_program *program, mw_error *err)
{
    mw__map names[2];
    mw_status status = MW_OK;
    for (int output = 0; output < 2; output++) {
        mw__map_init(&names[output], plan->allocator);
        if (status == MW_OK)
            status = map_ports(&names[output], program, output != 0, err);
    }
    if (status == MW_OK)
        status = translate_named(plan, names, err);
    mw__map_deinit(&names[0]);
    mw__map_deinit(&names[1]);
    return status;
}

static mw_status translate_accesses(mw_plan *plan, const e5rt_mw_access *from, size_t count, const mw_plan_access **out,
                                    mw_error *err)
{
    mw_plan_access *to = mw__arena_alloc(&plan->arena, count, sizeof *to, err);
    if (to == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < count; i++)
        to[i] = (mw_plan_access){.buffer = from[i].buffer, .bytes = from[i].size};
    *out = to;
    return MW_OK;
}

static mw_status translate_step(mw_plan *plan, const e5rt_mw_step *from, mw_plan_step *to, mw_error *err)
{
    mw_plan_operation *operations = mw__arena_alloc(&plan->arena, from->operation_count, sizeof *operations, err);
    if (operations == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < from->operation_count; i++)
        operations[i] = (mw_plan_operation){.kind = from->operations[i].kind, .name = from->operations[i].name};
    *to = (mw_plan_step){.kernel = from->label,
                         .implementation = from->implementation,
                         .declined = from->declined,
                         .phase = from->phase,
                         .threads = from->partitions,
                         .units = from->units,
                         .operations = operations,
                         .operation_count = from->operation_count,
                         .read_count = from->read_count,
                         .write_count = from->write_count,
                         .bytes_read = from->bytes_read,
                         .bytes_written = from->bytes_written,
                         .flops = from->flops};
    MW_TRY(translate_accesses(plan, from->reads, from->read_count, &to->reads, err));
    return translate_accesses(plan, from->writes, from->write_count, &to->writes, err);
}

static mw_status translate_steps(mw_plan *plan, mw_error *err)
{
    const e5rt_mw_plan *data = plan->data;
    plan->steps = mw__arena_alloc(&plan->arena, data->step_count, sizeof *plan->steps, err);
    if (plan->steps == NULL)
        return MW_ERROR_MEMORY;
    for (size_t s = 0; s < data->step_count; s++)
        MW_TRY(translate_step(plan, &data->steps[s], &plan->steps[s], err));
    return MW_OK;
}

static void sum_buffers(const mw_plan *plan, mw_plan_totals *t)
{
    for (size_t b = 0; b < t->buffer_count; b++) {
        const mw_plan_buffer *buffer = &plan->buffers[b];
        if (buffer->kind == MW_PLAN_CONSTANT)
            t->constant_bytes += buffer->bytes;
        else if (buffer->kind != MW_PLAN_INTERMEDIATE && buffer->memory == b)
            t->port_bytes += buffer->bytes;
    }
}

static mw_status sum_up(mw_plan *plan, const char *where, mw_error *err)
{
    const e5rt_mw_plan *data = plan->data;
    mw_plan_totals *t = &plan->totals;
    *t = (mw_plan_totals){.where = mw__arena_string(&plan->arena, where, strlen(where), err),
                          .threads = data->partitions,
                          .team = data->team != 0,
                          .phase_count = data->phase_count,
                          .step_count = data->step_count,
                          .buffer_count = data->buffer_count,
                          .intermediate_bytes = data->intermediate_size,
                          .scratch_bytes = data->scratch_size,
                          .profiled_runs = data->runs_profiled};
    sum_buffers(plan, t);
    for (size_t s = 0; s < t->step_count; s++) {
        const mw_plan_step *step = &plan->steps[s];
        t->bytes_read += step->bytes_read;
        t->bytes_written += step->bytes_written;
        t->flops += step->flops >= 0.0 ? step->flops : 0.0;
        t->unknown_flops += step->flops < 0.0;
    }
    return t->where != NULL ? MW_OK : MW_ERROR_MEMORY;
}

/* ---- creating ---- */

static mw_status fetch(mw_plan *plan, const mw_program *program, mw_error *err)
{
    const mw__symbols *symbols = &plan->symbols;
    MW_TRY(MW__E5RT(symbols, mw_plan_create, &plan->handle, mw__dispatch_operation(program->dispatch)));
    MW_TRY(MW__E5RT(symbols, mw_plan_get_data, plan->handle, &plan->data));
    if (plan->data->version != E5RT_MW_PLAN_VERSION)
        return mw__fail(err, MW_ERROR_UNSUPPORTED,
                        "\"%s\" writes plans of version %llu, this library reads version %d: use an engine of the same "
                        "Millwright",
                        program->where, (unsigned long long)plan->data->version, E5RT_MW_PLAN_VERSION);
    MW_TRY(translate_buffers(plan, program, err));
    MW_TRY(translate_steps(plan, err));
    MW_TRY(sum_up(plan, program->where, err));
    return mw__program_plan_measure(plan, err);
}

static mw_status create_plan(mw_program *program, mw_plan **out, mw_error *err)
{
    MW_TRY(mw__program_resolve(program, &program, err));
    MW_TRY(prepare_program(program, "mw_plan_create", err));
    mw_plan *plan = mw__live_make(program->allocator, sizeof *plan, MW__LIVE_PLAN, err);
    if (plan == NULL)
        return MW_ERROR_MEMORY;
    plan->allocator = program->allocator;
    plan->symbols = *mw__dispatch_symbols(program->dispatch);
    mw__arena_init(&plan->arena, plan->allocator);
    const mw_status status = fetch(plan, program, err);
    if (status == MW_OK)
        *out = plan;
    else
        mw__program_plan_destroy(plan, "mw_plan_create");
    return status;
}

mw_plan *mw__program_plan_create(mw_program *program, mw_error *err)
{
    MW__FLOAT_SCOPE;
    mw_plan *plan = NULL;
    mw__entry entry;
    if ((mw__failed(err) && mw__skipped(err, "mw_plan_create")) ||
        mw__program_enter(&entry, program, "mw_plan_create", err) != MW_OK)
        return NULL;
    mw__program_leave(&entry, create_plan(program, &plan, err), err);
    return plan;
}

mw_plan *mw__trainer_plan_create(mw_trainer *trainer, mw_trainer_part part, mw_error *err)
{
    MW__FLOAT_SCOPE;
    if (mw__failed(err) && mw__skipped(err, "mw_plan_create_trainer"))
        return NULL;
    mw_program *program;
    mw_plan *plan = NULL;
    mw__entry entry;
    if (mw__trainer_enter(&entry, trainer, "mw_plan_create_trainer", MW__LENT_IN_PROGRESS, err) != MW_OK)
        return NULL;
    mw_status status = part_of(trainer, part, "mw_plan_create_trainer", &program, err);
    if (status == MW_OK)
        status = create_plan(program, &plan, err);
    mw__trainer_leave(&entry, status, err);
    return plan;
}

void mw__program_plan_destroy(mw_plan *plan, const char *call)
{
    if (plan == NULL || !mw__live_remove(plan, MW__LIVE_PLAN, call))
        return;
    if (plan->handle != NULL)
        plan->symbols.mw_plan_release(&plan->handle);
    mw__arena_deinit(&plan->arena);
    mw__free(plan->allocator, plan);
}

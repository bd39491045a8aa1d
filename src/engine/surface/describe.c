/* Writes down what encode decided: steps, buffers with their lives, tasks, and the runs of the profile. */
#include "engine/surface/describe.h"
#include "engine/compile/plan/work.h"
#include "engine/core/partition.h"

#include "engine/run/profile.h"

#include <string.h>

typedef struct describer {
    const mw__program *program;
    const mw__command_list *commands;
    const mw__layout *layout;
    mw__arena *arena;
    e5rt_mw_buffer *lives; /* by buffer of the layout */
    uint64_t *index;       /* by buffer of the layout: its place in the list of those that are shown */
    e5rt_mw_plan *out;
} describer;

static const char *name_of(const mw_tensor *value)
{
    return value == NULL ? "" : value->name != NULL ? value->name : value->hint;
}

/* ---- buffers ---- */

static void touch(const describer *d, const mw__step_operand *operands, size_t count, size_t step)
{
    const uint64_t phase = d->layout->phase[step];
    for (size_t i = 0; i < count; i++) {
        e5rt_mw_buffer *life = &d->lives[operands[i].buffer];
        if (life->first_step > life->last_step) {
            life->first_step = step;
            life->first_phase = phase;
        }
        life->last_step = step;
        life->last_phase = phase;
    }
}

static e5rt_mw_buffer_kind kind_of(mw__buffer_kind kind)
{
    switch (kind) {
    case MW__BUFFER_INPUT:
        return E5RT_MW_BUFFER_INPUT;
    case MW__BUFFER_OUTPUT:
        return E5RT_MW_BUFFER_OUTPUT;
    case MW__BUFFER_CONSTANT:
        return E5RT_MW_BUFFER_CONSTANT;
    default:
        return E5RT_MW_BUFFER_INTERMEDIATE;
    }
}

static void find_lives(const describer *d)
{
    const mw__layout *layout = d->layout;
    for (size_t b = 0; b < layout->buffer_count; b++) {
        const mw__buffer *buffer = &layout->buffers[b];
        d->lives[b] = (e5rt_mw_buffer){.name = name_of(buffer->value),
                                       .kind = kind_of(buffer->kind),
                                       .size = buffer->size,
                                       .offset = buffer->kind == MW__BUFFER_LOCAL ? layout->offset[b] : 0,
                                       .first_step = 1,
                                       .first_phase = 1};
    }
    for (size_t s = 0; s < layout->step_count; s++) {
        touch(d, layout->steps[s]->reads, layout->steps[s]->read_count, s);
        touch(d, layout->steps[s]->writes, layout->steps[s]->write_count, s);
    }
}

static bool is_shown(const describer *d, size_t buffer)
{
    const mw__buffer_kind kind = d->layout->buffers[buffer].kind;
    return kind == MW__BUFFER_INPUT || kind == MW__BUFFER_OUTPUT ||
           d->lives[buffer].first_step <= d->lives[buffer].last_step;
}

static mw_status describe_buffers(describer *d, mw_error *err)
{
    const size_t count = d->layout->buffer_count;
    d->lives = mw__arena_alloc(d->arena, count, sizeof *d->lives, err);
    d->index = mw__arena_alloc(d->arena, count, sizeof *d->index, err);
    e5rt_mw_buffer *shown = mw__arena_alloc(d->arena, count, sizeof *shown, err);
    size_t *first = mw__arena_alloc(d->arena, count, sizeof *first, err); /* by memory: who stands for it, and 1 */
    if (d->lives == NULL || d->index == NULL || shown == NULL || first == NULL)
        return MW_ERROR_MEMORY;
    find_lives(d);
    for (size_t b = 0; b < count; b++) {
        if (!is_shown(d, b))
            continue;
        const uint32_t memory = d->layout->memory[b];
        d->index[b] = d->out->buffer_count++;
        first[memory] = first[memory] > 0 ? first[memory] : d->index[b] + 1;
        d->lives[b].memory = first[memory] - 1;
        shown[d->index[b]] = d->lives[b];
    }
    d->out->buffers = shown;
    return MW_OK;
}

/* ---- steps ---- */

static mw_status describe_operands(const describer *d, const mw__step_operand *operands, size_t count,
                                   const uint64_t *sizes, const e5rt_mw_access **out, mw_error *err)
{
    e5rt_mw_access *list = mw__arena_alloc(d->arena, count, sizeof *list, err);
    if (list == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < count; i++)
        list[i] = (e5rt_mw_access){.buffer = d->index[operands[i].buffer], .size = sizes[i]};
    *out = list;
    return MW_OK;
}

static mw_status describe_operations(const describer *d, const mw__step *step, e5rt_mw_step *out, mw_error *err)
{
    const mw__op *const alone = step->op;
    const mw__op *const *ops = step->group.count > 0 ? step->group.ops : &alone;
    const size_t count = step->group.count > 0 ? step->group.count : alone != NULL;
    e5rt_mw_mil_operation *list = mw__arena_alloc(d->arena, count, sizeof *list, err);
    if (list == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < count; i++)
        list[i] = (e5rt_mw_mil_operation){.kind = ops[i]->kind, .name = name_of(ops[i]->results[0])};
    out->operations = list;
    out->operation_count = count;
    return MW_OK;
}

static uint64_t count_partitions(const mw__step *step, int partitions)
{
    uint64_t count = 0;
    for (int partition = 0; partition < partitions; partition++)
        count +=
            mw__partition_begin(step, partition, partitions) < mw__partition_begin(step, partition + 1, partitions);
    return count;
}

static mw_status describe_step(const describer *d, size_t s, e5rt_mw_step *out, mw_error *err)
{
    const mw__step *step = d->layout->steps[s];
    uint64_t *sizes = mw__arena_alloc(d->arena, step->read_count + step->write_count, sizeof *sizes, err);
    if (sizes == NULL)
        return MW_ERROR_MEMORY;
    const mw__work work = mw__step_work(d->layout->buffers, step, sizes, sizes + step->read_count);
    *out = (e5rt_mw_step){.label = step->report.label,
                          .implementation = step->report.implementation != NULL ? step->report.implementation : "",
                          .declined = step->report.declined != NULL ? step->report.declined : "",
                          .phase = d->layout->phase[s],
                          .partitions = count_partitions(step, d->layout->partitions),
                          .units = (uint64_t)step->units,
                          .read_count = step->read_count,
                          .write_count = step->write_count,
                          .bytes_read = work.bytes_read,
                          .bytes_written = work.bytes_written,
                          .flops = work.flops};
    MW_TRY(describe_operands(d, step->reads, step->read_count, work.read, &out->reads, err));
    MW_TRY(describe_operands(d, step->writes, step->write_count, work.written, &out->writes, err));
    return describe_operations(d, step, out, err);
}

static mw_status describe_steps(const describer *d, mw_error *err)
{
    e5rt_mw_step *steps = mw__arena_alloc(d->arena, d->layout->step_count, sizeof *steps, err);
    if (steps == NULL)
        return MW_ERROR_MEMORY;
    for (size_t s = 0; s < d->layout->step_count; s++)
        MW_TRY(describe_step(d, s, &steps[s], err));
    d->out->steps = steps;
    d->out->step_count = d->layout->step_count;
    return MW_OK;
}

static mw_status describe_tasks(const describer *d, mw_error *err)
{
    const mw__command_list *commands = d->commands;
    e5rt_mw_task *tasks = mw__arena_alloc(d->arena, commands->task_count, sizeof *tasks, err);
    if (tasks == NULL)
        return MW_ERROR_MEMORY;
    for (size_t t = 0; t < commands->task_count; t++)
        tasks[t] = (e5rt_mw_task){.step = commands->places[t].step, .partition = commands->places[t].partition};
    d->out->tasks = tasks;
    d->out->task_count = commands->task_count;
    return MW_OK;
}

/* ---- the profile ---- */

static const e5rt_mw_span *copy_spans(const describer *d, const mw__profile_span *spans, mw_error *err)
{
    const size_t count = d->commands->task_count;
    e5rt_mw_span *copy = mw__arena_alloc(d->arena, count, sizeof *copy, err);
    for (size_t t = 0; copy != NULL && t < count; t++)
        copy[t] = (e5rt_mw_span){.begin = spans[t].begin, .end = spans[t].end};
    return copy;
}

static mw_status describe_runs(const describer *d, mw_error *err)
{
    const mw__profile *profile = d->commands->profile;
    if (profile == NULL)
        return MW_OK;
    const size_t count = mw__profile_kept(profile);
    e5rt_mw_run *runs = mw__arena_alloc(d->arena, count, sizeof *runs, err);
    if (runs == NULL)
        return MW_ERROR_MEMORY;
    for (size_t r = 0; r < count; r++) {
        const mw__profile_run *run = mw__profile_run_at(profile, r);
        runs[r] = (e5rt_mw_run){.number = run->number,
                                .span = {.begin = run->span.begin, .end = run->span.end},
                                .threads = run->members,
                                .tasks = copy_spans(d, mw__profile_spans_at(profile, r), err)};
        if (runs[r].tasks == NULL)
            return MW_ERROR_MEMORY;
    }
    d->out->runs = runs;
    d->out->run_count = count;
    d->out->runs_profiled = profile->run_count;
    return MW_OK;
}

mw_status mw__surface_describe_plan(const mw__program *program, const mw__command_list *commands, mw__arena *arena,
                                    e5rt_mw_plan *out, mw_error *err)
{
    *out = (e5rt_mw_plan){.version = E5RT_MW_PLAN_VERSION,
                          .summary = program->summary,
                          .partitions = (uint64_t)commands->partitions,
                          .phase_count = commands->phase_count,
                          .team = !commands->alone,
                          .intermediate_size = commands->size,
                          .scratch_size = commands->scratch};
    describer d = {.program = program, .commands = commands, .layout = commands->layout, .arena = arena, .out = out};
    MW_TRY(describe_buffers(&d, err));
    MW_TRY(describe_steps(&d, err));
    MW_TRY(describe_tasks(&d, err));
    return describe_runs(&d, err);
}

/* Encode: a planned function and its bindings become a command list. Checks the bindings, finds the aliases by address
 * range, and calls, in this order, order.c, phases.c and memory.c; then writes down every partition's calls. */
#include "base/memory/checked.h"
#include "engine/core/partition.h"
#include "engine/run/command_list.h"
#include "engine/run/profile.h"
#include "engine/run/team.h"

#include <stdlib.h>
#include <string.h>

/* Down to this part of what waking the team costs a run takes a team that is awake anyway. */
#define BRIEF 4.0

typedef struct ports {
    const mw__program *program;
    const mw__binding *inputs, *outputs;
} ports;

/* ---- bindings ---- */

static mw_status check_binding(const char *kind, const mw__port_info *port, const mw__binding *binding, mw_error *err)
{
    if (binding->data == NULL)
        return mw__fail(err, MW_ERROR_STATE, "%s port \"%s\" is not bound: bind a buffer of at least %zu bytes", kind,
                        port->name, port->size);
    if (binding->size < port->size)
        return mw__fail(err, MW_ERROR_ARGUMENT, "%s port \"%s\" needs %zu bytes, its buffer has %zu", kind, port->name,
                        port->size, binding->size);
    if ((uintptr_t)binding->data % port->alignment != 0)
        return mw__fail(err, MW_ERROR_ARGUMENT, "%s port \"%s\": its buffer is not aligned to an element of %zu bytes",
                        kind, port->name, port->alignment);
    return MW_OK;
}

static mw_status check_bindings(const ports *p, mw_error *err)
{
    for (size_t i = 0; i < p->program->input_count; i++)
        MW_TRY(check_binding("input", &p->program->inputs[i], &p->inputs[i], err));
    for (size_t i = 0; i < p->program->output_count; i++)
        MW_TRY(check_binding("output", &p->program->outputs[i], &p->outputs[i], err));
    return MW_OK;
}

/* ---- aliases ---- */

static bool overlap(const mw__binding *a, size_t a_size, const mw__binding *b, size_t b_size)
{
    const uintptr_t a_begin = (uintptr_t)a->data, b_begin = (uintptr_t)b->data;
    return a_begin < b_begin + b_size && b_begin < a_begin + a_size;
}

static mw_status check_outputs_apart(const ports *p, size_t output, mw_error *err)
{
    const mw__port_info *all = p->program->outputs;
    for (size_t i = 0; i < output; i++)
        if (overlap(&p->outputs[i], all[i].size, &p->outputs[output], all[output].size))
            return mw__fail(err, MW_ERROR_ARGUMENT, "output ports \"%s\" and \"%s\" overlap in memory", all[i].name,
                            all[output].name);
    return MW_OK;
}

enum { OUTPUTS_MANY = 64 };

typedef struct span {
    uintptr_t begin, end;
} span;

static int compare_spans(const void *left, const void *right)
{
    const span *a = left, *b = right;
    return (a->begin > b->begin) - (a->begin < b->begin);
}

/* Of many outputs most are found to be apart in the order of their memory, without a look at each pair. */
static mw_status are_apart(const ports *p, mw__arena *arena, bool *out, mw_error *err)
{
    const size_t count = p->program->output_count;
    *out = false;
    if (count < OUTPUTS_MANY)
        return MW_OK;
    span *spans = mw__arena_alloc(arena, count, sizeof *spans, err);
    if (spans == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < count; i++) {
        const uintptr_t begin = (uintptr_t)p->outputs[i].data;
        spans[i] = (span){begin, begin + p->program->outputs[i].size};
    }
    qsort(spans, count, sizeof *spans, compare_spans);
    *out = true;
    for (size_t i = 1; i < count; i++)
        *out = *out && spans[i - 1].end <= spans[i].begin;
    return MW_OK;
}

static mw_status find_aliases(const ports *p, size_t output, mw__alias *aliases, size_t *count, mw_error *err)
{
    const mw__port_info *out = &p->program->outputs[output];
    for (size_t i = 0; i < p->program->input_count; i++) {
        const mw__port_info *in = &p->program->inputs[i];
        if (!overlap(&p->inputs[i], in->size, &p->outputs[output], out->size))
            continue;
        if (p->inputs[i].data != p->outputs[output].data || in->size != out->size)
            return mw__fail(err, MW_ERROR_ARGUMENT,
                            "output port \"%s\" (%zu bytes) overlaps input port \"%s\" (%zu bytes) in part: to share "
                            "memory they must begin at the same byte and have the same size",
                            out->name, out->size, in->name, in->size);
        aliases[(*count)++] = (mw__alias){.output = out->buffer, .input = in->buffer};
    }
    return MW_OK;
}

static mw_status set_aliases(const ports *p, mw__layout *layout, mw_error *err)
{
    /* outputs do not overlap, so an input that is aliased exactly has one output */
    mw__alias *aliases = mw__arena_alloc(layout->arena, p->program->input_count, sizeof *aliases, err);
    bool apart;
    if (aliases == NULL)
        return MW_ERROR_MEMORY;
    MW_TRY(are_apart(p, layout->arena, &apart, err));
    for (size_t i = 0; i < p->program->output_count; i++) {
        if (!apart)
            MW_TRY(check_outputs_apart(p, i, err));
        MW_TRY(find_aliases(p, i, aliases, &layout->alias_count, err));
    }
    layout->aliases = aliases;
    for (size_t i = 0; i < layout->alias_count; i++)
        layout->memory[aliases[i].input] = aliases[i].output;
    return MW_OK;
}

/* ---- layout ---- */

static mw_status begin_layout(const ports *p, mw__layout *layout, mw_error *err)
{
    const mw__plan *plan = &p->program->plan;
    const size_t spare = p->program->output_count; /* temporaries and their copies */
    layout->partitions = plan->partitions;
    layout->buffer_count = plan->buffer_count;
    layout->step_count = plan->step_count;
    layout->buffers = mw__arena_alloc(layout->keep, plan->buffer_count + spare, sizeof *layout->buffers, err);
    layout->memory = mw__arena_alloc(layout->keep, plan->buffer_count + spare, sizeof *layout->memory, err);
    layout->steps = mw__arena_alloc(layout->keep, plan->step_count + spare, sizeof *layout->steps, err);
    if (layout->buffers == NULL || layout->memory == NULL || layout->steps == NULL)
        return MW_ERROR_MEMORY;
    memcpy(layout->buffers, plan->buffers, plan->buffer_count * sizeof *plan->buffers);
    memcpy(layout->steps, plan->steps, plan->step_count * sizeof *plan->steps);
    for (uint32_t b = 0; b < plan->buffer_count + spare; b++)
        layout->memory[b] = b;
    return set_aliases(p, layout, err);
}

/* ---- the command list ---- */

typedef struct emitter {
    const ports *ports;
    const mw__layout *layout;
    mw__command_list *commands;
    mw__intermediates *room; /* or NULL */
    size_t scratch;          /* bytes of one partition */
    mw__kernel_task *tasks;
    mw__task_place *places; /* by task */
    size_t task_count;
    const void *const **in; /* by step: addresses */
    void *const **out;
} emitter;

static void *address(const emitter *e, uint32_t buffer)
{
    const mw__buffer *what = &e->layout->buffers[buffer];
    switch (what->kind) {
    case MW__BUFFER_CONSTANT:
        return (void *)(uintptr_t)what->data; /* only ever read */
    case MW__BUFFER_INPUT:
        return e->ports->inputs[what->port].data;
    case MW__BUFFER_OUTPUT:
        return e->ports->outputs[what->port].data;
    default:
        return (char *)e->commands->memory + e->layout->offset[buffer];
    }
}

static void resolve_step(emitter *e, size_t s)
{
    const mw__step *step = e->layout->steps[s];
    void **all = e->commands->addresses + e->commands->address_count;
    for (size_t i = 0; i < step->read_count; i++)
        all[i] = address(e, step->reads[i].buffer);
    for (size_t i = 0; i < step->write_count; i++)
        all[step->read_count + i] = address(e, step->writes[i].buffer);
    e->in[s] = (const void *const *)all;
    e->out[s] = all + step->read_count;
    e->commands->address_count += step->read_count + step->write_count;
}

static mw_status resolve_all(emitter *e, mw_error *err)
{
    const mw__layout *layout = e->layout;
    size_t count = 0;
    for (size_t s = 0; s < layout->step_count; s++)
        count += layout->steps[s]->read_count + layout->steps[s]->write_count;
    e->commands->addresses = mw__arena_alloc(&e->commands->arena, count, sizeof(void *), err);
    if (e->commands->addresses == NULL)
        return MW_ERROR_MEMORY;
    for (size_t s = 0; s < layout->step_count; s++)
        resolve_step(e, s);
    return MW_OK;
}

/* ---- blocks ---- */

static mw__binding binding_of(const mw__layout *layout, uint32_t buffer, const void *data)
{
    return (mw__binding){.data = (void *)(uintptr_t)data, .size = layout->buffers[buffer].size};
}

static mw_status encode_block(const emitter *e, size_t s, size_t which, const mw_allocator *allocator,
                              mw__command_list *commands, mw_error *err)
{
    const mw__layout *layout = e->layout;
    const mw__step *step = layout->steps[s];
    const mw__nested *nested = step->nested;
    const mw__program *program = &nested->programs[which];
    const size_t first = !nested->loop;
    mw__binding *inputs = mw__arena_alloc(layout->arena, program->input_count, sizeof *inputs, err);
    mw__binding *outputs = mw__arena_alloc(layout->arena, program->output_count, sizeof *outputs, err);
    if (inputs == NULL || outputs == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < program->input_count; i++)
        inputs[i] = binding_of(layout, step->reads[first + i].buffer, e->in[s][first + i]);
    for (size_t i = 0; i < program->output_count; i++) {
        const uint32_t write = nested->writes[which][i];
        outputs[i] = binding_of(layout, step->writes[write].buffer, e->out[s][write]);
    }
    return mw__encode(program, inputs, outputs, allocator, NULL, commands, err);
}

static mw_status encode_nested(const emitter *e, size_t s, const mw_allocator *allocator, mw_error *err)
{
    const mw__step *step = e->layout->steps[s];
    mw__nested_commands *made = mw__arena_alloc(&e->commands->arena, 1, sizeof *made, err);
    if (made == NULL)
        return MW_ERROR_MEMORY;
    ((mw__nested_commands **)(uintptr_t)e->commands->nested)[e->layout->phase[s]] = made;
    made->loop = step->nested->loop;
    made->flag = made->loop ? e->out[s][step->write_count - 1] : e->in[s][0];
    for (size_t i = 0; i < 2; i++) {
        MW_TRY(encode_block(e, s, i, allocator, &made->programs[i], err));
        e->commands->scratch += made->programs[i].size + made->programs[i].scratch;
    }
    return MW_OK;
}

static mw_status encode_blocks(const emitter *e, const mw_allocator *allocator, mw_error *err)
{
    const mw__layout *layout = e->layout;
    for (size_t s = 0; s < layout->step_count; s++) {
        if (layout->steps[s]->nested == NULL)
            continue;
        if (e->commands->nested == NULL)
            e->commands->nested =
                mw__arena_alloc(&e->commands->arena, layout->phase_count, sizeof(mw__nested_commands *), err);
        if (e->commands->nested == NULL)
            return MW_ERROR_MEMORY;
        MW_TRY(encode_nested(e, s, allocator, err));
    }
    return MW_OK;
}

/* ---- tasks ---- */

static void emit_tasks(emitter *e, size_t s, int partition)
{
    const mw__step *step = e->layout->steps[s];
    const int partitions = e->layout->partitions;
    const int64_t begin = mw__partition_begin(step, partition, partitions),
                  end = mw__partition_begin(step, partition + 1, partitions);
    if (begin >= end)
        return;
    char *scratch = (char *)e->commands->memory + e->layout->size + (size_t)partition * e->scratch;
    e->places[e->task_count] = (mw__task_place){.step = (uint32_t)s, .partition = (uint32_t)partition};
    e->tasks[e->task_count++] = (mw__kernel_task){
        .run = step->run,
        .call = {
            .block = step->block, .in = e->in[s], .out = e->out[s], .scratch = scratch, .begin = begin, .end = end}};
}

static void emit_phases(emitter *e, mw__command_chain *chains)
{
    const mw__layout *layout = e->layout;
    for (size_t first = 0, end; first < layout->step_count; first = end) {
        const size_t phase = layout->phase[first];
        for (end = first + 1; end < layout->step_count && layout->phase[end] == phase; end++) {
        }
        for (int partition = 0; partition < layout->partitions; partition++) {
            mw__command_chain *chain = &chains[phase * (size_t)layout->partitions + (size_t)partition];
            const size_t before = e->task_count;
            for (size_t s = first; s < end; s++)
                emit_tasks(e, s, partition);
            *chain = (mw__command_chain){.tasks = e->tasks + before, .count = e->task_count - before};
        }
    }
}

static mw_status alloc_memory(emitter *e, const mw_allocator *allocator, mw_error *err)
{
    const mw__layout *layout = e->layout;
    size_t all;
    for (size_t s = 0; s < layout->step_count; s++)
        e->scratch = layout->steps[s]->scratch > e->scratch ? layout->steps[s]->scratch : e->scratch;
    if (!mw__round_up_size(e->scratch, 64, &e->scratch) ||
        !mw__mul_size(e->scratch, (size_t)layout->partitions, &all) || !mw__add_size(all, layout->size, &all))
        return mw__fail(err, MW_ERROR_MEMORY, "scratch memory exceeds the address space");
    e->commands->size = layout->size;
    if (e->room != NULL && mw__intermediates_reserve(e->room, all, err) != MW_OK)
        return MW_ERROR_MEMORY;
    e->commands->memory = e->room != NULL ? e->room->memory : mw__alloc_large(allocator, all, err);
    return e->commands->memory != NULL ? MW_OK : MW_ERROR_MEMORY;
}

static void choose_team(const mw__layout *layout, double wake, mw__command_list *commands)
{
    double cost = 0;
    for (size_t s = 0; s < layout->step_count; s++)
        cost += layout->steps[s]->cost;
    commands->partitions = layout->partitions;
    commands->alone = layout->partitions == 1 || cost < wake / BRIEF;
    commands->brief = cost < wake;
    if (!commands->alone)
        mw__team_reserve(layout->partitions);
}

/* What plans are shown from. */
static mw_status keep_layout(const mw__layout *layout, mw__command_list *commands, mw_error *err)
{
    mw__layout *kept = mw__arena_alloc(&commands->arena, 1, sizeof *kept, err);
    if (kept == NULL)
        return MW_ERROR_MEMORY;
    *kept = *layout;
    kept->arena = kept->keep = NULL;
    kept->aliases = NULL; /* they were in the other arena */
    kept->alias_count = 0;
    commands->layout = kept;
    return MW_OK;
}

static mw_status make_commands(const ports *p, const mw__layout *layout, const mw_allocator *allocator,
                               mw__intermediates *room, mw__command_list *commands, mw_error *err)
{
    emitter e = {.ports = p, .layout = layout, .commands = commands, .room = room};
    mw__arena *arena = &commands->arena;
    const size_t partitions = (size_t)layout->partitions;
    mw__command_chain *chains = mw__arena_alloc(arena, layout->phase_count * partitions, sizeof *chains, err);
    e.tasks = mw__arena_alloc(arena, layout->step_count * partitions, sizeof *e.tasks, err);
    e.places = mw__arena_alloc(arena, layout->step_count * partitions, sizeof *e.places, err);
    e.in = mw__arena_alloc(layout->arena, layout->step_count, sizeof *e.in, err);
    e.out = mw__arena_alloc(layout->arena, layout->step_count, sizeof *e.out, err);
    if (chains == NULL || e.tasks == NULL || e.places == NULL || e.in == NULL || e.out == NULL)
        return MW_ERROR_MEMORY;
    MW_TRY(alloc_memory(&e, allocator, err));
    MW_TRY(resolve_all(&e, err));
    commands->phase_count = layout->phase_count;
    commands->scratch = e.scratch * partitions;
    MW_TRY(encode_blocks(&e, allocator, err));
    emit_phases(&e, chains);
    commands->chains = chains;
    commands->tasks = e.tasks;
    commands->places = e.places;
    commands->task_count = e.task_count;
    commands->flush = p->program->flush;
    choose_team(layout, p->program->plan.wake, commands);
    return keep_layout(layout, commands, err);
}

static mw_status encode(const ports *p, mw__layout *layout, const mw_allocator *allocator, mw__intermediates *room,
                        mw__command_list *commands, mw_error *err)
{
    MW_TRY(check_bindings(p, err));
    MW_TRY(begin_layout(p, layout, err));
    MW_TRY(mw__order_steps(layout, err));
    MW_TRY(mw__assign_phases(layout, err));
    MW_TRY(mw__layout_place_buffers(layout, err));
    return make_commands(p, layout, allocator, room, commands, err);
}

mw_status mw__encode(const mw__program *program, const mw__binding *inputs, const mw__binding *outputs,
                     const mw_allocator *allocator, mw__intermediates *room, mw__command_list *commands, mw_error *err)
{
    const ports p = {.program = program, .inputs = inputs, .outputs = outputs};
    mw__arena arena;
    mw__arena_init(&arena, allocator);
    *commands = (mw__command_list){0};
    mw__arena_init(&commands->arena, allocator);
    mw__layout layout = {.arena = &arena, .keep = &commands->arena};
    const mw_status status = encode(&p, &layout, allocator, room, commands, err);
    mw__arena_deinit(&arena);
    if (status != MW_OK && room != NULL)
        commands->memory = NULL; /* the room's */
    if (status != MW_OK)
        mw__command_list_deinit(commands);
    else if (room != NULL)
        mw__intermediates_add(room, commands);
    return status;
}

static void deinit_nested(const mw__command_list *commands)
{
    for (size_t phase = 0; commands->nested != NULL && phase < commands->phase_count; phase++)
        for (size_t i = 0; commands->nested[phase] != NULL && i < 2; i++)
            mw__command_list_deinit(&commands->nested[phase]->programs[i]);
}

void mw__command_list_deinit(mw__command_list *commands)
{
    if (commands->room != NULL)
        mw__intermediates_remove(commands);
    deinit_nested(commands);
    mw__profile_destroy(commands->profile);
    mw__free_aligned(commands->arena.allocator, commands->memory);
    if (commands->arena.allocator != NULL)
        mw__arena_deinit(&commands->arena);
    *commands = (mw__command_list){0};
}

/* Plans: what must hold of that of any program, and what a test may ask of one. See run.h. */
#include "engine/kernels/fused/fused.h"
#include "engine/run/command_list.h"
#include "run.h"
#include "support/check.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static bool is_local(const e5rt_mw_buffer *b) { return b->kind == E5RT_MW_BUFFER_INTERMEDIATE; }

/* Partitions run ahead of each other inside a phase, so that with several of them a phase is one moment. */
static uint64_t first_of(const e5rt_mw_plan *plan, const e5rt_mw_buffer *b)
{
    return plan->partitions == 1 ? b->first_step : b->first_phase;
}

static uint64_t last_of(const e5rt_mw_plan *plan, const e5rt_mw_buffer *b)
{
    return plan->partitions == 1 ? b->last_step : b->last_phase;
}

static bool may_share(const e5rt_mw_plan *plan, const e5rt_mw_buffer *a, const e5rt_mw_buffer *b)
{
    if (!is_local(a) || !is_local(b) || a->offset >= b->offset + b->size || b->offset >= a->offset + a->size)
        return true;
    if (a->memory == b->memory) /* in place: the last reader of one writes the other */
        return a->size == b->size && (a->last_step <= b->first_step || b->last_step <= a->first_step);
    return last_of(plan, a) < first_of(plan, b) || last_of(plan, b) < first_of(plan, a);
}

static bool check_memory(const e5rt_mw_plan *plan)
{
    bool good = true;
    for (uint64_t i = 0; i < plan->buffer_count; i++)
        for (uint64_t j = 0; j < i; j++)
            good = check_note(may_share(plan, &plan->buffers[i], &plan->buffers[j]), __FILE__, __LINE__,
                              "\"%s\" and \"%s\" live at once in the same bytes", plan->buffers[i].name,
                              plan->buffers[j].name) &&
                   good;
    return good;
}

/* Bytes of what lives at `time`; members of a group in place count once. */
static uint64_t live_at(const e5rt_mw_plan *plan, uint64_t time)
{
    uint64_t sum = 0;
    bool *counted = calloc(plan->buffer_count + 1, 1);
    for (uint64_t i = 0; i < plan->buffer_count; i++) {
        const e5rt_mw_buffer *b = &plan->buffers[i];
        if (!is_local(b) || first_of(plan, b) > time || last_of(plan, b) < time || counted[b->memory])
            continue;
        counted[b->memory] = true;
        sum += b->size;
    }
    free(counted);
    return sum;
}

static bool check_peak(const e5rt_mw_plan *plan)
{
    bool good = true;
    for (uint64_t time = 0; time < plan->step_count; time++)
        good = check_note(live_at(plan, time) <= plan->intermediate_size, __FILE__, __LINE__,
                          "%llu bytes live at %llu in memory of %llu", (unsigned long long)live_at(plan, time),
                          (unsigned long long)time, (unsigned long long)plan->intermediate_size) &&
               good;
    for (uint64_t i = 0; i < plan->buffer_count; i++)
        good = check_note(!is_local(&plan->buffers[i]) ||
                              plan->buffers[i].offset + plan->buffers[i].size <= plan->intermediate_size,
                          __FILE__, __LINE__, "\"%s\" ends beyond the memory", plan->buffers[i].name) &&
               good;
    return good;
}

static bool touches(const e5rt_mw_access *list, uint64_t count, uint64_t buffer)
{
    for (uint64_t i = 0; i < count; i++)
        if (list[i].buffer == buffer)
            return true;
    return false;
}

/* Lives are those of the steps' operands, and an intermediate begins with a write. */
static bool check_lives(const e5rt_mw_plan *plan)
{
    bool good = true;
    for (uint64_t i = 0; i < plan->buffer_count; i++) {
        const e5rt_mw_buffer *b = &plan->buffers[i];
        uint64_t first = plan->step_count, last = 0;
        for (uint64_t s = 0; s < plan->step_count; s++) {
            const e5rt_mw_step *step = &plan->steps[s];
            if (!touches(step->reads, step->read_count, i) && !touches(step->writes, step->write_count, i))
                continue;
            first = first < s ? first : s;
            last = s;
        }
        if (first == plan->step_count)
            continue;
        good = check_note(first == b->first_step && last == b->last_step &&
                              plan->steps[first].phase == b->first_phase && plan->steps[last].phase == b->last_phase,
                          __FILE__, __LINE__, "the life of \"%s\" is told wrong", b->name) &&
               good;
        good = check_note(!is_local(b) || touches(plan->steps[first].writes, plan->steps[first].write_count, i),
                          __FILE__, __LINE__, "\"%s\" is read before it is written", b->name) &&
               good;
    }
    return good;
}

/* Tasks come phase by phase, in a phase thread by thread, in a thread step by step, and every step has some. */
static bool check_tasks(const e5rt_mw_plan *plan)
{
    bool good = true;
    for (uint64_t t = 1; t < plan->task_count; t++) {
        const e5rt_mw_task *a = &plan->tasks[t - 1], *b = &plan->tasks[t];
        const uint64_t p = plan->steps[a->step].phase, q = plan->steps[b->step].phase;
        good =
            good &&
            (p < q || (p == q && (a->partition < b->partition || (a->partition == b->partition && a->step < b->step))));
    }
    for (uint64_t s = 0; s < plan->step_count; s++) {
        uint64_t threads = 0;
        for (uint64_t t = 0; t < plan->task_count; t++)
            threads += plan->tasks[t].step == s;
        good = good && threads == plan->steps[s].partitions && threads <= plan->partitions;
    }
    return check_note(good, __FILE__, __LINE__, "the tasks are not those of the steps");
}

static bool check_aliases(const run_program *r, const e5rt_mw_plan *plan)
{
    bool good = true;
    const void *data[2 * RUN_PORTS] = {NULL};
    for (uint64_t i = 0; i < plan->buffer_count && i < 2 * RUN_PORTS; i++)
        for (int p = 0; p < r->port_count; p++)
            if (plan->buffers[i].kind <= E5RT_MW_BUFFER_OUTPUT &&
                strcmp(r->ports[p].name, plan->buffers[i].name) == 0 &&
                r->ports[p].output == (plan->buffers[i].kind == E5RT_MW_BUFFER_OUTPUT))
                data[i] = r->ports[p].data;
    for (uint64_t i = 0; i < plan->buffer_count && i < 2 * RUN_PORTS; i++)
        for (uint64_t j = 0; j < i; j++)
            good = good && (data[i] == NULL || data[j] == NULL ||
                            (data[i] == data[j]) == (plan->buffers[i].memory == plan->buffers[j].memory));
    return check_note(good, __FILE__, __LINE__, "ports on one memory are not those that the plan says");
}

bool run_check_plan(const run_program *r)
{
    void *handle = NULL;
    const e5rt_mw_plan *plan = NULL;
    bool good = check_note(e5rt_mw_plan_create(&handle, r->operation) == 0 && e5rt_mw_plan_get_data(handle, &plan) == 0,
                           __FILE__, __LINE__, "no plan: %s", e5rt_get_last_error_message());
    if (good) {
        good = check_memory(plan) && good;
        good = check_peak(plan) && good;
        good = check_lives(plan) && good;
        good = check_tasks(plan) && good;
        good = check_aliases(r, plan) && good;
    }
    if (handle != NULL)
        e5rt_mw_plan_release(&handle);
    return good;
}

/* ---- a library's plan ---- */

/* Zeroed memory for each port, inputs first; to be freed with drop_ports. NULL without memory. */
static mw__binding *make_ports(const mw__program *program)
{
    mw__binding *ports = calloc(program->input_count + program->output_count, sizeof *ports);
    for (size_t i = 0; ports != NULL && i < program->input_count + program->output_count; i++) {
        const mw__port_info *port =
            i < program->input_count ? &program->inputs[i] : &program->outputs[i - program->input_count];
        ports[i] = (mw__binding){.data = calloc(1, port->size + 1), .size = port->size};
    }
    return ports;
}

static void drop_ports(const mw__program *program, mw__binding *ports)
{
    for (size_t i = 0; ports != NULL && i < program->input_count + program->output_count; i++)
        free(ports[i].data);
    free(ports);
}

static bool find_facts(const mw__program *program, run_facts *out)
{
    mw_error err = {0};
    mw__command_list commands;
    mw__binding *ports = make_ports(program);
    if (!check_note(ports != NULL, __FILE__, __LINE__, "no memory for ports"))
        return false;
    const clock_t before = clock();
    mw__encode(program, ports, ports + program->input_count, NULL, NULL, &commands, &err);
    const clock_t after = clock();
    if (CHECK_OK(err)) {
        *out = (run_facts){.steps = program->plan.step_count,
                           .phases = commands.phase_count,
                           .memory = commands.size,
                           .partitions = program->plan.partitions,
                           .seconds = (double)(after - before) / CLOCKS_PER_SEC};
        mw__command_list_deinit(&commands);
    }
    drop_ports(program, ports);
    return err.status == MW_OK;
}

bool run_find_facts(const char *text, uint64_t threads, run_facts *out)
{
    mw_error err = {0};
    mw__library *library = run_library(text, threads, &err);
    *out = (run_facts){0};
    CHECK_OK(err);
    const bool found = library != NULL && find_facts(&library->programs[0], out);
    if (library != NULL)
        mw__object_release(library);
    return found;
}

/* In a chain every step that it runs counts. */
static size_t has_label(const mw__step *step, const char *label)
{
    size_t count = strcmp(step->report.label, label) == 0;
    for (size_t i = 0; i < mw__unit_chain_stages(step); i++)
        count += has_label(mw__unit_chain_stage(step, i), label);
    return count;
}

static size_t count_label(const mw__plan *plan, const char *label)
{
    size_t count = 0;
    for (size_t s = 0; s < plan->step_count; s++)
        count += has_label(plan->steps[s], label);
    return count;
}

void run_check_labels(const char *what, const char *text, const run_label *labels, size_t count)
{
    run_check_labels_for(E5RT_CPU, what, text, labels, count);
}

void run_check_labels_for(uint64_t mask, const char *what, const char *text, const run_label *labels, size_t count)
{
    mw_error err = {0};
    mw__library *library = run_library_for(mask, text, 2, &err);
    if (!check_note(library != NULL, __FILE__, __LINE__, "%s: %s", what, err.message))
        return;
    for (size_t i = 0; i < count; i++) {
        const size_t found = count_label(&library->programs[0].plan, labels[i].label);
        check_note(found == labels[i].count, __FILE__, __LINE__, "%s: %s stands %zu times, not %zu", what,
                   labels[i].label, found, labels[i].count);
    }
    mw__object_release(library);
}

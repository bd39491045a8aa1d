/* What must hold of the plan of any program: see run_check_plan in run.h. */
#include "run.h"
#include "support/check.h"

#include <stdlib.h>
#include <string.h>

static bool is_local(const e5rt_mw_buffer *b) { return b->kind == E5RT_MW_BUFFER_INTERMEDIATE; }

/* Lanes run ahead of each other inside a phase, so that with several of them a phase is one moment. */
static uint64_t first_of(const e5rt_mw_plan *plan, const e5rt_mw_buffer *b)
{
    return plan->lanes == 1 ? b->first_step : b->first_phase;
}

static uint64_t last_of(const e5rt_mw_plan *plan, const e5rt_mw_buffer *b)
{
    return plan->lanes == 1 ? b->last_step : b->last_phase;
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

/* Tasks come phase by phase, in a phase lane by lane, in a lane step by step, and every step has some. */
static bool check_tasks(const e5rt_mw_plan *plan)
{
    bool good = true;
    for (uint64_t t = 1; t < plan->task_count; t++) {
        const e5rt_mw_task *a = &plan->tasks[t - 1], *b = &plan->tasks[t];
        const uint64_t p = plan->steps[a->step].phase, q = plan->steps[b->step].phase;
        good = good && (p < q || (p == q && (a->lane < b->lane || (a->lane == b->lane && a->step < b->step))));
    }
    for (uint64_t s = 0; s < plan->step_count; s++) {
        uint64_t lanes = 0;
        for (uint64_t t = 0; t < plan->task_count; t++)
            lanes += plan->tasks[t].step == s;
        good = good && lanes == plan->steps[s].lanes && lanes <= plan->lanes;
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

/* ---- steps by label ---- */

size_t run_count_label(const mw__library *library, const char *label)
{
    const mw__plan *plan = &library->programs[0].plan;
    size_t count = 0;
    for (size_t s = 0; s < plan->step_count; s++)
        count += strcmp(plan->steps[s]->label, label) == 0;
    return count;
}

size_t run_count_label_in(const char *text, const char *label)
{
    mw_error err = {0};
    mw__library *library = run_library(text, 2, &err);
    CHECK_OK(err);
    const size_t count = library != NULL ? run_count_label(library, label) : 0;
    mw__object_release(library);
    return count;
}

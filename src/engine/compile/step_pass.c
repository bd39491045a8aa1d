#include "engine/compile/step_pass.h"

#include "base/text/text.h"

#include <string.h>

/* ---- invariants ---- */

bool mw__steps_anything(const mw__planner *planner)
{
    (void)planner;
    return true;
}

mw_status mw__steps_find_live(const mw__planner *planner, bool **out, mw_error *err)
{
    const mw_allocator *heap = planner->arena->allocator;
    bool *needed = mw__alloc(heap, planner->buffer_count, sizeof *needed, err);
    bool *live = *out = mw__alloc(heap, planner->step_count, sizeof *live, err);
    for (size_t b = 0; needed != NULL && b < planner->buffer_count; b++)
        needed[b] = planner->buffers[b].kind == MW__BUFFER_OUTPUT;
    for (size_t s = planner->step_count; needed != NULL && live != NULL && s-- > 0;) {
        const mw__step *step = planner->steps[s];
        for (size_t i = 0; i < step->write_count; i++)
            live[s] = live[s] || needed[step->writes[i].buffer];
        for (size_t i = 0; live[s] && i < step->read_count; i++)
            needed[step->reads[i].buffer] = true;
    }
    const bool all = needed != NULL && live != NULL;
    mw__free(heap, needed);
    return all ? MW_OK : MW_ERROR_MEMORY;
}

static bool is_there(const mw__planner *planner, const bool *written, uint32_t buffer)
{
    return planner->buffers[buffer].kind != MW__BUFFER_LOCAL || written[buffer] || planner->buffers[buffer].size == 0;
}

/* True if memory does not suffice to tell. */
bool mw__steps_ordered(const mw__planner *planner)
{
    mw_error ignored = {0};
    bool holds = true, *live = NULL;
    const mw_allocator *heap = planner->arena->allocator;
    bool *written = mw__alloc(heap, planner->buffer_count, sizeof *written, &ignored);
    const bool can_tell = written != NULL && mw__steps_find_live(planner, &live, &ignored) == MW_OK;
    for (size_t s = 0; can_tell && holds && s < planner->step_count; s++) {
        const mw__step *step = planner->steps[s];
        for (size_t i = 0; live[s] && i < step->read_count; i++)
            holds = holds && is_there(planner, written, step->reads[i].buffer);
        for (size_t i = 0; i < step->write_count; i++)
            written[step->writes[i].buffer] = true;
    }
    mw__free(heap, live);
    mw__free(heap, written);
    return holds;
}

/* ---- text ---- */

static void print_operands(mw__text *text, const mw__planner *planner, const mw__step_operand *operands, size_t count)
{
    static const char *const kinds[] = {[MW__BUFFER_INPUT] = "in",
                                        [MW__BUFFER_OUTPUT] = "out",
                                        [MW__BUFFER_CONSTANT] = "const",
                                        [MW__BUFFER_LOCAL] = "b"};
    for (size_t i = 0; i < count; i++) {
        const mw__buffer *buffer = &planner->buffers[operands[i].buffer];
        mw__text_printf(text, " %s%u[%zu]", kinds[buffer->kind], (unsigned)operands[i].buffer, buffer->size);
    }
}

/* "conv const3[288] in1[3136] -> b9[12544]", bytes in brackets. */
static void print_step(mw__text *text, const mw__planner *planner, const mw__step *step)
{
    mw__text_puts(text, step->report.label != NULL ? step->report.label : "?");
    print_operands(text, planner, step->reads, step->read_count);
    mw__text_puts(text, " ->");
    print_operands(text, planner, step->writes, step->write_count);
    mw__text_puts(text, "\n");
}

/* ---- a run ---- */

bool mw__step_pass_is_off(const mw__plan_request *request, mw__rule_id id)
{
    const bool optional = (mw__pass_rule_of(id)->flags & MW__RULE_REQUIRED) == 0 && id != MW__RULE_patterns;
    return mw__pass_is_off(request->log, id) || (optional && !request->config->fuse);
}

/* Operations until there are steps. */
static size_t count_of(mw__rule_id id, const mw__plan_request *request, const mw__planner *planner)
{
    const bool has_steps = id != MW__RULE_patterns && id != MW__RULE_kernels;
    return has_steps ? planner->step_count : mw__pass_count_function(request->function);
}

mw_status mw__step_pass_begin(mw__step_run *run, const mw__plan_request *request, const mw__planner *planner,
                              const mw__step_pass *pass, mw_error *err)
{
    run->pass = pass;
    run->before = NULL;
    const bool watched = mw__pass_is_watched(request->log);
    const size_t count = watched ? count_of(pass->id, request, planner) : 0;
    mw__pass_begin(&run->run, request->log, pass->id, request->name, count);
    if (!watched)
        return MW_OK;
    run->count = planner->step_count;
    run->before = mw__arena_alloc(planner->arena, run->count, sizeof *run->before, err);
    if (run->before == NULL)
        return MW_ERROR_MEMORY;
    if (run->count > 0)
        memcpy(run->before, planner->steps, run->count * sizeof *run->before);
    return MW_OK;
}

static bool has_changed(const mw__step_run *run, const mw__planner *planner)
{
    return run->count != planner->step_count ||
           (run->count > 0 && memcmp(run->before, planner->steps, run->count * sizeof *run->before) != 0);
}

/* Patterns change no step: they say whose plan comes next. */
static bool has_hits(const mw__pass_run *run)
{
    bool any = false;
    for (size_t i = MW__RULE_FIRST_PATTERN; i < MW__RULE_COUNT; i++)
        any = any || run->hits[i] > 0;
    return any;
}

mw_status mw__step_pass_end(mw__step_run *run, const mw__planner *planner, mw_error *err)
{
    mw__text text;
    if (!mw__pass_is_watched(run->run.log))
        return MW_OK;
    const bool plans = run->pass->id == MW__RULE_patterns;
    const bool changed = plans ? has_hits(&run->run) : has_changed(run, planner);
    const bool wanted = changed && !plans && mw__pass_wants_text(run->run.log);
    mw__text_init(&text, planner->arena->allocator);
    for (size_t s = 0; wanted && s < planner->step_count; s++)
        print_step(&text, planner, planner->steps[s]);
    const mw_status status = mw__text_check(&text, err);
    if (status == MW_OK)
        mw__pass_end(&run->run, &(mw__pass_result){.after = plans ? run->run.before : planner->step_count,
                                                   .changed = changed,
                                                   .text = wanted ? text.data : NULL,
                                                   .broken = run->pass->holds(planner) ? NULL : run->pass->invariant});
    mw__text_deinit(&text);
    return status;
}

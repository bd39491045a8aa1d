/* Programs of graphs in their flat form: next values of states are bound to the states' own ports. */
#include "runtime/program/lowered.h"

#include "mil/legalize/flat_form.h"

static mw_program *create_lowered(const mw__flat_form *lowered, const mw__program_request *request, mw_error *err)
{
    mw__program_request changed = *request;
    changed.graph = lowered->graph != NULL ? lowered->graph : request->graph;
    mw_program *program = mw__program_create(&changed, err);
    if (program == NULL)
        return NULL;
    program->hidden_count = lowered->state_count;
    const mw__function *source = mw__graph_main(request->graph);
    if (source != NULL && mw__program_take_classes(program, source, err) != MW_OK) {
        mw_program_destroy(program);
        return NULL;
    }
    for (size_t i = 0; i < lowered->state_count; i++)
        if (mw_program_alias(program, lowered->next[i], lowered->states[i], err) != MW_OK) {
            mw_program_destroy(program);
            return NULL;
        }
    return program;
}

bool mw__has_state(const mw__function *function)
{
    for (size_t i = 0; i < function->body->input_count; i++)
        if (function->body->inputs[i]->type->kind == MW__STATE)
            return true;
    return false;
}

mw_program *mw__lowered_create(const mw__program_request *request, mw_error *err)
{
    mw__flat_form form;
    mw__pass_log log;
    mw__program_request heard = *request;
    mw__program_log_init(&log, request->options, request->target);
    heard.log = &log;
    mw_program *program = mw__flat_form_make(request->graph, request->target->device, &log, &form, err) == MW_OK
                              ? create_lowered(&form, &heard, err)
                              : NULL;
    mw__flat_form_deinit(&form);
    mw__pass_log_deinit(&log);
    return program;
}

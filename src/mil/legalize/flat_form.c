/* States as ports, and flattening. */
#include "mil/legalize/flat_form.h"

#include "graph/transform/lower.h"
#include "mil/pass_text.h"
#include "passes/invariant.h"
#include <millwright/ops/shape.h>

#include <stdio.h>
#include <string.h>

/* A free name for the port of a state's next value. */
static const char *next_name(mw_graph *graph, const char *state, mw_error *err)
{
    char name[MW_NAME_MAX + 1];
    for (int i = 1; i < 1000; i++) {
        snprintf(name, sizeof name, i == 1 ? "%.200s_next" : "%.200s_next_%d", state, i);
        if (mw_graph_find(graph, name) == NULL)
            return mw__arena_string(&graph->arena, name, strlen(name), err);
    }
    mw__fail(err, MW_ERROR_ARGUMENT, "state \"%.200s\": no name is free for its next value", state);
    return NULL;
}

static mw_status add_next(mw__flat_form *out, const mw__lowered *lowered, mw_error *err)
{
    mw_graph *graph = out->graph;
    out->states = mw__arena_alloc(&graph->arena, lowered->state_count, sizeof *out->states, err);
    out->next = mw__arena_alloc(&graph->arena, lowered->state_count, sizeof *out->next, err);
    if (out->states == NULL || out->next == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < lowered->state_count; i++) {
        const char *name = next_name(graph, lowered->states[i].input->name, err);
        if (name == NULL)
            return mw__failed(err) ? err->status : MW_ERROR_MEMORY;
        mw_output(mw_identity(lowered->states[i].last), name);
        MW_TRY(mw_graph_check(graph, err));
        out->states[i] = lowered->states[i].input->name;
        out->next[i] = name;
        out->state_count++;
    }
    return MW_OK;
}

/* *out_any false: there is nothing to do. */
static mw_status lower_states(mw__flat_form *out, const mw_graph *graph, const mw__device_traits *device, bool *out_any,
                              mw_error *err)
{
    const mw__function *main = mw__graph_main(graph);
    (void)device;
    *out_any = mw__wants_lowering(main, true);
    if (!*out_any)
        return MW_OK;
    mw_graph_options options = mw_graph_defaults();
    options.allocator = graph->allocator;
    options.opset = main->opset;
    out->graph = mw__graph_make(&options, err);
    if (out->graph == NULL)
        return MW_ERROR_MEMORY;
    mw__lowered lowered;
    MW_TRY(mw__lower(main, out->graph, &(mw__lower_options){.role = MW__RESIDENT, .keep_lists = true}, &lowered, err));
    return add_next(out, &lowered, err);
}

static mw_status flatten(mw__flat_form *out, const mw_graph *graph, const mw__device_traits *device, bool *out_any,
                         mw_error *err)
{
    mw_error why = {0};
    *out_any = device->half_ports && mw__wants_lowering(mw__graph_main(graph), false);
    if (!*out_any)
        return MW_OK;
    mw_graph *flat = mw_graph_flatten(graph, &why);
    if (flat == NULL) {
        mw__fail(err, why.status,
                 "the ANE runs no loops, branches and lists (source: operation sweep of ANEForge, where they do not "
                 "compile), and this program cannot be flattened: %s",
                 why.message);
        if (why.text_line > 0)
            mw__error_position(err, why.text_line, why.text_column);
        return why.status;
    }
    /* the names of the states are those of the older graph, which goes */
    for (size_t i = 0; i < out->state_count; i++) {
        out->states[i] = mw_tensor_name(mw_graph_find(flat, out->states[i]));
        out->next[i] = mw_tensor_name(mw_graph_find(flat, out->next[i]));
    }
    const char **states = mw__arena_alloc(&flat->arena, out->state_count, sizeof *states, err);
    const char **next = mw__arena_alloc(&flat->arena, out->state_count, sizeof *next, err);
    for (size_t i = 0; states != NULL && next != NULL && i < out->state_count; i++) {
        states[i] = out->states[i];
        next[i] = out->next[i];
    }
    mw__graph_free(out->graph);
    out->graph = flat;
    out->flattened = true;
    out->states = states;
    out->next = next;
    return states != NULL && next != NULL ? MW_OK : MW_ERROR_MEMORY;
}

/* ---- in order ---- */

typedef struct form_pass {
    mw__rule_id id;
    mw_status (*make)(mw__flat_form *out, const mw_graph *graph, const mw__device_traits *device, bool *out_any,
                      mw_error *err);
    mw__invariant *holds;
    const char *invariant;
} form_pass;

static const form_pass passes[] = {
#define MW_PASS_FORM(id, need, function, invariant, sentence)                                                          \
    {MW__RULE_##id, function, mw__holds_##invariant, #invariant},
#include "passes/pipeline.def"
};

static mw_status run_pass(mw__flat_form *out, const form_pass *pass, const mw_graph *source,
                          const mw__device_traits *device, mw__pass_log *log, mw_error *err)
{
    bool any = false;
    mw__pass_run run;
    const mw_graph *from = out->graph != NULL ? out->graph : source;
    mw__mil_begin_pass(&run, log, pass->id, from);
    if (!mw__pass_is_off(log, pass->id))
        MW_TRY(pass->make(out, from, device, &any, err));
    const mw_graph *made = out->graph != NULL ? out->graph : source;
    const mw__pass_promise promise = {pass->holds, pass->invariant, device};
    return mw__mil_end_pass(&run, made, any, &promise, err);
}

mw_status mw__flat_form_make(const mw_graph *graph, const mw__device_traits *device, mw__pass_log *log,
                             mw__flat_form *out, mw_error *err)
{
    *out = (mw__flat_form){0};
    if (mw__graph_main(graph) == NULL)
        return MW_OK; /* refused later */
    for (size_t i = 0; i < sizeof passes / sizeof *passes; i++)
        MW_TRY(run_pass(out, &passes[i], graph, device, log, err));
    return MW_OK;
}

void mw__flat_form_deinit(const mw__flat_form *form)
{
    if (form->flattened)
        mw_graph_destroy(form->graph);
    else
        mw__graph_free(form->graph);
}

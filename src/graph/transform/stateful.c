/* States of a graph as states of MIL, which a program keeps between its runs. */
#include "base/number/float_mode.h"
#include "graph/ir/ir.h"
#include "graph/transform/clone/clone.h"

#include <millwright/function.h>
#include <millwright/ops/elementwise.h>

/* Core ML's states are fp16. */
static const mw__type *state_type(mw_graph *to, mw_shape shape)
{
    mw__type *type = mw__arena_alloc(&to->arena, 1, sizeof *type, &to->error);
    const mw__type **element = mw__arena_alloc(&to->arena, 1, sizeof *element, &to->error);
    if (type == NULL || element == NULL)
        return NULL;
    *element = mw__type_tensor(to, MW_F16, shape, &to->error);
    *type = (mw__type){.kind = MW__STATE, .count = 1, .element = element};
    return *element != NULL ? type : NULL;
}

static mw_tensor *make_state(mw_graph *to, const mw_tensor *source)
{
    const mw__type *type = state_type(to, source->type->shape);
    mw_tensor *state = type != NULL ? mw__value_create(to, type, source->hint, &to->error) : NULL;
    if (mw_name(state, source->name) == NULL || mw__block_add_input(to->current->body, state, &to->error) != MW_OK)
        return NULL;
    state->role = MW__INPUT; /* from now on it keeps its name */
    return state;
}

/* What is computed with the state from here on. */
static mw_tensor *read_state(mw_graph *to, mw_tensor *state, mw_dtype wanted)
{
    mw__build build = mw__build_begin_graph("read_state", to);
    mw__build_set(&build, "input", state);
    mw_tensor *value = mw__build_end(&build);
    return wanted == MW_F16 ? value : mw_cast(value, wanted);
}

static bool keep_input(void *user, mw__clone *clone, const mw_tensor *value)
{
    mw_graph *to = clone->to;
    (void)user;
    if (value->role != MW__RESIDENT)
        return false;
    const mw_dtype dtype = mw_tensor_dtype(value);
    if (dtype != MW_F16 && dtype != MW_F32) {
        mw__graph_fail(to, MW_ERROR_DTYPE, "mw_graph_stateful: state \"%.96s\" is %s, and Core ML's are fp16",
                       value->name, mw_dtype_name(dtype));
        return true;
    }
    mw_tensor *state = make_state(to, value);
    if (state != NULL)
        mw__clone_set(clone, value, read_state(to, state, dtype));
    return true;
}

static void write_state(mw__clone *clone, const mw_tensor *source)
{
    mw_tensor *state = mw_graph_find(clone->to, source->name), *value = mw__clone_get(clone, source->next);
    if (state == NULL || value == NULL)
        return; /* the graph has its error */
    mw__build build = mw__build_begin_graph("write_state", clone->to);
    mw__build_set(&build, "input", state);
    mw__build_set(&build, "data", mw_tensor_dtype(value) == MW_F16 ? value : mw_cast(value, MW_F16));
    mw__build_end_many(&build, NULL, 0, NULL);
}

/* No copy of a state is one that a trainer would assign. */
static void write_all(void *user, mw__clone *clone)
{
    const mw__block *body = clone->from->body;
    (void)user;
    for (size_t i = 0; i < body->input_count; i++) {
        const mw_tensor *source = body->inputs[i];
        if (source->role != MW__RESIDENT)
            continue;
        if (source->next != NULL)
            write_state(clone, source);
        mw__clone_set(clone, source, NULL);
    }
}

static mw_status check_states(const mw_graph *graph, mw_error *err)
{
    if (graph == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_graph_stateful: the graph is NULL");
    MW_TRY(mw_graph_check(graph, err));
    const mw__block *body = mw__graph_main(graph)->body;
    for (size_t i = 0; i < body->input_count; i++)
        if (body->inputs[i]->role == MW__RESIDENT)
            return MW_OK;
    return mw__fail(err, MW_ERROR_ARGUMENT, "mw_graph_stateful: the graph has no state (mw_state)");
}

mw_graph *mw_graph_stateful(const mw_graph *graph, mw_error *err)
{
    MW__FLOAT_SCOPE;
    mw_error own = {0};
    err = err != NULL ? err : &own;
    if (mw__skips(err) || check_states(graph, err) != MW_OK)
        return NULL;
    const mw__clone_options options = {.input = keep_input, .finish = write_all, .keep_outputs = true};
    mw_graph *made = mw__clone_graph(graph->allocator, graph, &options, NULL, err);
    if (made == NULL || mw_graph_check(made, err) == MW_OK)
        return mw__graph_publish(made, err);
    mw__graph_free(made);
    return NULL;
}

/* Inputs, parameters, names, results and what can be asked of a tensor. */
#include "base/memory/checked.h"
#include "base/number/float_mode.h"
#include "base/text/name.h"
#include "graph/ir/classify.h"
#include "graph/ir/layer.h"
#include "graph/ir/rule.h"
#include "graph/ir/uses.h"
#include "graph/random/init.h"
#include <millwright/ops/shape.h>

#include <stdio.h>
#include <string.h>

/* ---- names ---- */

/* Enters `name` for a value of "main"; NULL leaves an error on the graph. The copy lives in the arena. */
static const char *claim_name(mw_graph *graph, const char *name, mw_tensor *value, const char *what)
{
    if (mw__name_check(what, name, &graph->error) != MW_OK)
        return NULL;
    const mw_tensor *other = mw__map_get(&graph->names, name);
    if (other != NULL && other != value) {
        mw__graph_fail(graph, MW_ERROR_ARGUMENT, "%s: the name \"%s\" is taken", what, name);
        return NULL;
    }
    const char *copy = mw__arena_string(&graph->arena, name, strlen(name), &graph->error);
    if (copy == NULL || mw__map_set(&graph->names, name, value, &graph->error) != MW_OK)
        return NULL;
    return copy;
}

mw_tensor *mw_name(mw_tensor *x, const char *name)
{
    if (x == NULL || x->graph->error.status != MW_OK)
        return NULL;
    if (x->role != MW__VALUE && (name == NULL || strcmp(name, x->name) != 0))
        return mw__graph_fail(x->graph, MW_ERROR_ARGUMENT, "mw_name: \"%s\" is a port and keeps its name", x->name);
    const char *copy = claim_name(x->graph, name, x, "mw_name");
    if (copy == NULL)
        return NULL;
    x->name = copy;
    return x;
}

/* ---- leaves ---- */

/* What one use ignores must not reach another that would make something of it. */
void mw__limit_indices(mw_tensor *indices, int64_t limit, const int64_t *ignored)
{
    while (indices != NULL && indices->op != NULL && mw__is_rearrangement(indices->op))
        indices = mw__arg(indices->op, "x");
    if (indices == NULL || indices->role != MW__INPUT)
        return;
    if (indices->index_limit == 0 || indices->index_limit > limit)
        indices->index_limit = limit;
    const bool agreed = ignored != NULL && indices->index_use != MW__INDEX_STRICT &&
                        (indices->index_use == MW__INDEX_UNUSED || indices->index_ignored == *ignored);
    indices->index_use = agreed ? MW__INDEX_IGNORES : MW__INDEX_STRICT;
    indices->index_ignored = agreed ? *ignored : 0;
}

const mw__part *mw__part_copy(mw_graph *graph, const mw__part *part)
{
    if (part == NULL)
        return NULL;
    mw__part *copy = mw__arena_alloc(&graph->arena, 1, sizeof *copy, &graph->error);
    const char *whole = mw__arena_string(&graph->arena, part->whole, strlen(part->whole), &graph->error);
    if (copy == NULL || whole == NULL)
        return NULL;
    *copy = *part;
    copy->whole = whole;
    return copy;
}

const mw__port_note *mw__graph_copy_port_note(mw_graph *graph, const mw__port_note *note)
{
    mw__port_note *copy = note != NULL ? mw__arena_alloc(&graph->arena, 1, sizeof *copy, &graph->error) : NULL;
    if (copy == NULL)
        return NULL;
    *copy = (mw__port_note){.dtype = note->dtype};
    for (int i = 0; i < MW_RANK_MAX; i++)
        if (note->extents[i] != NULL)
            copy->extents[i] =
                mw__arena_string(&graph->arena, note->extents[i], strlen(note->extents[i]), &graph->error);
    return graph->error.status == MW_OK ? copy : NULL;
}

/* A missing name is refused when it is claimed; messages of earlier checks show it like this. */
static const char *shown_name(const char *name) { return name != NULL && name[0] != '\0' ? name : "(no name)"; }

static const char *role_name(mw__role role)
{
    return role == MW__INPUT ? "input" : role == MW__PARAMETER ? "parameter" : "state";
}

static mw_tensor *add_leaf(mw_graph *graph, const char *name, mw_dtype dtype, mw_shape shape, mw__role role)
{
    const char *what = role_name(role);
    if (mw_dtype_bits(dtype) == 0)
        return mw__graph_fail(graph, MW_ERROR_DTYPE, "%s \"%s\": %s has no elements in memory", what, shown_name(name),
                              mw_dtype_name(dtype));
    mw_error why = {0};
    if (mw__shape_check(shape, &why) != MW_OK)
        return mw__graph_fail(graph, MW_ERROR_SHAPE, "%s \"%s\": %s", what, shown_name(name), why.message);
    const mw__type *type = mw__type_tensor(graph, dtype, shape, &graph->error);
    mw_tensor *value = type != NULL ? mw__value_create(graph, type, what, &graph->error) : NULL;
    if (value == NULL)
        return NULL;
    value->name = claim_name(graph, name, value, what);
    if (value->name == NULL)
        return NULL;
    value->role = role;
    return mw__block_add_input(graph->current->body, value, &graph->error) == MW_OK ? value : NULL;
}

mw_tensor *mw_input(mw_graph *graph, const char *name, mw_dtype dtype, mw_shape shape)
{
    if (graph == NULL || graph->error.status != MW_OK)
        return NULL;
    return add_leaf(graph, name, dtype, shape, MW__INPUT);
}

/* The record of how a parameter starts, with a copy of its data. */
static const mw__init *copy_init(mw_graph *graph, const mw__type *type, mw__init init)
{
    mw__init *copy = mw__arena_alloc(&graph->arena, 1, sizeof *copy, &graph->error);
    if (copy == NULL)
        return NULL;
    *copy = init;
    size_t size;
    if (init.data == NULL)
        return copy;
    if (!mw__type_bytes(type, &size))
        return NULL;
    void *data = mw__arena_alloc(&graph->arena, size, 1, &graph->error);
    if (data == NULL)
        return NULL;
    memcpy(data, init.data, size);
    copy->data = data;
    return copy;
}

static mw_tensor *add_resident(mw_graph *graph, const char *name, mw_dtype dtype, mw_shape shape, mw_init start,
                               mw__role role)
{
    const mw__init init = mw__init_of(&start);
    if (graph == NULL || graph->error.status != MW_OK)
        return NULL;
    const char *shown = shown_name(name), *what = role_name(role);
    if (dtype != MW_F32 && dtype != MW_F16)
        return mw__graph_fail(graph, MW_ERROR_DTYPE, "%s \"%s\": %s cannot be %s, only fp32 and fp16", what, shown,
                              mw_dtype_name(dtype), role == MW__PARAMETER ? "trained" : "kept");
    if (mw__shape_check(shape, NULL) == MW_OK && mw_shape_count(shape) < 0)
        return mw__graph_fail(graph, MW_ERROR_SHAPE, "%s \"%s\": every extent must be known", what, shown);
    mw_error why = {0};
    if (mw__init_check(&init, &why) != MW_OK)
        return mw__graph_fail(graph, why.status, "%s \"%s\": %s", what, shown, why.message);
    mw_tensor *value;
    if (mw__layer_reuse(graph, name, dtype, shape, &init, role, &value))
        return value;
    value = add_leaf(graph, name, dtype, shape, role);
    if (value == NULL || mw__layer_note(graph, value) != MW_OK)
        return NULL;
    value->init = copy_init(graph, value->type, init);
    return value->init != NULL ? value : NULL;
}

mw_tensor *mw_parameter(mw_graph *graph, const char *name, mw_dtype dtype, mw_shape shape, mw_init init)
{
    MW__FLOAT_SCOPE;
    return add_resident(graph, name, dtype, shape, init, MW__PARAMETER);
}

mw_tensor *mw_state(mw_graph *graph, const char *name, mw_dtype dtype, mw_shape shape, mw_init init)
{
    MW__FLOAT_SCOPE;
    return add_resident(graph, name, dtype, shape, init, MW__RESIDENT);
}

mw_tensor *mw_state_assign(mw_tensor *state, mw_tensor *value)
{
    if (state == NULL || value == NULL || state->graph->error.status != MW_OK)
        return NULL;
    mw_graph *graph = state->graph;
    char a[160], b[160];
    if (state->role != MW__RESIDENT)
        return mw__graph_fail(graph, MW_ERROR_ARGUMENT, "mw_state_assign: %s is no state: make it with mw_state",
                              mw__tensor_print(state, a, sizeof a));
    if (value->graph != graph)
        return mw__graph_mixed(value, graph, "mw_state_assign", "value");
    if (state->next != NULL && !mw__layer_reassigns(state))
        return mw__graph_fail(graph, MW_ERROR_ARGUMENT, "mw_state_assign \"%s\": it is assigned already", state->name);
    if (mw_tensor_dtype(value) != mw_tensor_dtype(state))
        return mw__graph_fail(graph, MW_ERROR_DTYPE, "mw_state_assign \"%s\": the value is %s, the state %s",
                              state->name, mw_dtype_name(mw_tensor_dtype(value)),
                              mw_dtype_name(mw_tensor_dtype(state)));
    if (!mw_shape_equal(mw_tensor_shape(value), mw_tensor_shape(state)))
        return mw__graph_fail(graph, MW_ERROR_SHAPE, "mw_state_assign \"%s\": the value is %s, the state %s",
                              state->name, mw__shape_print(mw_tensor_shape(value), a, sizeof a),
                              mw__shape_print(mw_tensor_shape(state), b, sizeof b));
    state->next = value;
    return state;
}

/* The parameter or state `layer`.`part`, in the dtype of x. */
static mw_tensor *add_part(mw_tensor *x, const char *names[3], mw_shape shape, mw_init init, mw__role role)
{
    char name[MW_NAME_MAX + 1];
    const int length = snprintf(name, sizeof name, "%s.%s", names[1], names[2]);
    if (length < 0 || (size_t)length >= sizeof name)
        return mw__graph_fail(x->graph, MW_ERROR_ARGUMENT, "%s: the name is longer than %zu bytes", names[0],
                              sizeof name - strlen(names[2]) - 2);
    return add_resident(x->graph, name, mw_tensor_dtype(x), shape, init, role);
}

mw_tensor *mw__layer_parameter(mw_tensor *x, const char *operation, const char *layer, const char *part, mw_shape shape,
                               mw_init init)
{
    return add_part(x, (const char *[]){operation, layer, part}, shape, init, MW__PARAMETER);
}

mw_tensor *mw__layer_state(mw_tensor *x, const char *operation, const char *layer, const char *part, mw_shape shape,
                           mw_init init)
{
    return add_part(x, (const char *[]){operation, layer, part}, shape, init, MW__RESIDENT);
}

/* ---- results ---- */

mw_tensor *mw_output(mw_tensor *x, const char *name)
{
    if (x == NULL || x->graph->error.status != MW_OK)
        return NULL;
    char shown[MW__TENSOR_TEXT];
    mw_graph *graph = x->graph;
    mw__block *body = graph->current->body;
    if (x->type->kind != MW__TENSOR && mw__classify_of(x) == NULL)
        return mw__graph_fail(graph, MW_ERROR_DTYPE, "output \"%s\": %s is a %s, not a tensor", shown_name(name),
                              mw__tensor_print(x, shown, sizeof shown), x->type->kind == MW__LIST ? "list" : "state");
    if (x->role != MW__VALUE || x->payload != NULL || x->op == NULL || x->is_output)
        x = mw_identity(x);
    if (x == NULL)
        return NULL;
    const char *copy = claim_name(graph, name, x, "output");
    if (copy == NULL || mw__block_add_output(body, x, &graph->error) != MW_OK)
        return NULL;
    x->name = copy;
    return x;
}

mw_tensor *mw_stop_gradient(mw_tensor *x)
{
    mw_tensor *leaf = mw_identity(x); /* a mark on x itself would stop its other uses too */
    if (leaf != NULL)
        leaf->stop_gradient = true;
    return leaf;
}

/* ---- queries ---- */

mw_dtype mw_tensor_dtype(const mw_tensor *x)
{
    return x != NULL && x->type != NULL && x->type->kind == MW__TENSOR ? x->type->dtype : MW_DTYPE_NONE;
}

mw_shape mw_tensor_shape(const mw_tensor *x)
{
    return x != NULL && x->type != NULL && x->type->kind == MW__TENSOR ? x->type->shape : mw_shape_scalar();
}

const char *mw_tensor_name(const mw_tensor *x) { return x != NULL && x->name != NULL ? x->name : ""; }

mw_tensor *mw_graph_find(const mw_graph *graph, const char *name)
{
    return graph != NULL && name != NULL ? mw__map_get(&graph->names, name) : NULL;
}

mw_graph *mw_tensor_graph(const mw_tensor *x) { return x != NULL ? x->graph : NULL; }

void mw_string_free(char *string) { mw__free(NULL, string); }

/* Layers that are applied several times: the first application makes parameters and states, later ones get them by
 * name. */
#include "graph/ir/layer.h"

#include "base/memory/guard.h"
#include "base/number/float_mode.h"
#include "base/text/name.h"
#include "graph/ir/ir_make.h"
#include "graph/ir/rule.h"
#include "graph/random/generator.h"
#include "graph/random/init.h"

#include <string.h>

typedef struct resident {
    mw_tensor *value;
    size_t seen; /* the last application that asked for it */
    struct resident *next;
} resident;

struct mw_layer {
    mw_graph *graph;
    const char *name;
    mw_layer_function *function;
    void *user;
    size_t applications;
    bool applying;
    resident *residents;
};

/* ---- what constructors ask ---- */

size_t mw__layer_application(const mw_graph *graph)
{
    return graph->layer != NULL ? graph->layer->applications + 1 : 0;
}

static resident *find_resident(const mw_layer *layer, const char *name)
{
    for (resident *at = layer->residents; at != NULL; at = at->next)
        if (strcmp(at->value->name, name) == 0)
            return at;
    return NULL;
}

static mw_status check_same(const mw_layer *layer, const resident *known, mw_dtype dtype, mw_shape shape, mw__role role)
{
    char first[64], now[64];
    const mw_tensor *value = known->value;
    const mw_dtype had = mw_tensor_dtype(value);
    const mw_shape was = mw_tensor_shape(value);
    const size_t number = layer->applications + 1;
    if (value->role != role)
        mw__graph_fail(layer->graph, MW_ERROR_ARGUMENT,
                       "layer \"%s\": application %zu asks for \"%s\" as a %s, the first made "
                       "a %s",
                       layer->name, number, value->name, role == MW__PARAMETER ? "parameter" : "state",
                       value->role == MW__PARAMETER ? "parameter" : "state");
    else if (had != dtype)
        mw__graph_fail(layer->graph, MW_ERROR_DTYPE,
                       "layer \"%s\": application %zu asks for \"%s\" in %s, the first made it "
                       "in %s",
                       layer->name, number, value->name, mw_dtype_name(dtype), mw_dtype_name(had));
    else if (!mw_shape_equal(was, shape))
        mw__graph_fail(layer->graph, MW_ERROR_SHAPE,
                       "layer \"%s\": application %zu asks for \"%s\" of shape %s, the first made "
                       "it %s",
                       layer->name, number, value->name, mw__shape_print(shape, now, sizeof now),
                       mw__shape_print(was, first, sizeof first));
    else if (known->seen == number)
        mw__graph_fail(layer->graph, MW_ERROR_ARGUMENT, "layer \"%s\": it asks for \"%s\" twice in one application",
                       layer->name, value->name);
    return layer->graph->error.status;
}

bool mw__layer_reuse(mw_graph *graph, const char *name, mw_dtype dtype, mw_shape shape, const mw__init *init,
                     mw__role role, mw_tensor **out)
{
    const mw_layer *layer = graph->layer;
    *out = NULL;
    if (layer == NULL || layer->applications == 0 || name == NULL || mw__init_draws_integers(init))
        return false; /* generators of random numbers are new each time */
    resident *known = find_resident(layer, name);
    if (known == NULL) {
        mw__graph_fail(graph, MW_ERROR_ARGUMENT,
                       "layer \"%s\": application %zu asks for \"%s\", which the first has not made", layer->name,
                       layer->applications + 1, name);
        return true;
    }
    if (check_same(layer, known, dtype, shape, role) != MW_OK)
        return true;
    known->seen = layer->applications + 1;
    *out = known->value;
    return true;
}

mw_status mw__layer_note(mw_graph *graph, mw_tensor *value)
{
    if (graph->layer == NULL)
        return MW_OK;
    resident *made = mw__arena_alloc(&graph->arena, 1, sizeof *made, &graph->error);
    if (made == NULL)
        return graph->error.status;
    *made = (resident){.value = value, .seen = graph->layer->applications + 1, .next = graph->layer->residents};
    graph->layer->residents = made;
    return MW_OK;
}

bool mw__layer_reassigns(const mw_tensor *state)
{
    const mw_layer *layer = state->graph->layer;
    return layer != NULL && layer->applications > 0 && find_resident(layer, state->name) != NULL;
}

/* ---- the layer ---- */

void *mw__layer_memory(mw_graph *graph, size_t size)
{
    return graph == NULL || graph->error.status != MW_OK ? NULL
                                                         : mw__arena_alloc(&graph->arena, 1, size, &graph->error);
}

mw_layer *mw_layer_create(mw_graph *graph, const char *name, mw_layer_function *function, void *user)
{
    mw_error why = {0};
    if (graph == NULL || graph->error.status != MW_OK)
        return NULL;
    if (mw__name_check("layer", name, &why) != MW_OK || function == NULL) {
        mw__graph_fail(graph, MW_ERROR_ARGUMENT, "mw_layer_create: %s",
                       why.status != MW_OK ? why.message : "there is no function");
        return NULL;
    }
    /* with the tensors: looked at when the graph is gone */
    mw_layer *layer = mw__arena_alloc(&graph->tensors, 1, sizeof *layer, &graph->error);
    const char *copy = mw__arena_string(&graph->arena, name, strlen(name), &graph->error);
    if (layer == NULL || copy == NULL)
        return NULL;
    *layer = (mw_layer){.graph = graph, .name = copy, .function = function, .user = user};
    return layer;
}

static bool check_operands(mw_layer *layer, mw_tensor *const *x, size_t count)
{
    mw_graph *graph = layer->graph;
    if (x == NULL || count == 0)
        mw__graph_fail(graph, MW_ERROR_ARGUMENT, "layer \"%s\": it is applied to nothing", layer->name);
    for (size_t i = 0; i < count && graph->error.status == MW_OK; i++) {
        if (x[i] == NULL)
            mw__graph_fail(graph, MW_ERROR_ARGUMENT, "layer \"%s\": operand %zu is NULL", layer->name, i);
        else if (x[i]->graph != graph)
            mw__graph_mixed(x[i], graph, "mw_layer_apply", "an operand");
    }
    if (layer->applying)
        mw__graph_fail(graph, MW_ERROR_ARGUMENT, "layer \"%s\": its function applies it again, and would not end",
                       layer->name);
    return graph->error.status == MW_OK;
}

/* False if the graph is gone. */
static bool call(mw_layer *layer, mw_tensor *const *x, size_t count, mw_tensor **out)
{
    mw_graph *graph = layer->graph;
    mw_layer *outer_layer = graph->layer;
    mw__graph_hold(graph);
    graph->layer = layer;
    layer->applying = true;
    const mw__callback outer = mw__callback_begin("function of a layer", MW__LENT_NEVER);
    *out = layer->function(layer->user, graph, layer->name, x, count);
    mw__callback_end(outer);
    layer->applying = false;
    graph->layer = outer_layer;
    return mw__graph_drop(graph, "mw_layer_apply", MW_OK, NULL) == MW_OK;
}

mw_tensor *mw_layer_apply(mw_layer *layer, mw_tensor *const *x, size_t count)
{
    MW__FLOAT_SCOPE;
    mw_tensor *y = NULL;
    if (layer == NULL || layer->graph->error.status != MW_OK || !check_operands(layer, x, count) ||
        !call(layer, x, count, &y))
        return NULL;
    mw_graph *graph = layer->graph;
    if (graph->error.status != MW_OK)
        return NULL;
    if (y == NULL)
        return mw__graph_fail(graph, MW_ERROR_ARGUMENT, "layer \"%s\": its function gave nothing", layer->name);
    if (y->graph != graph)
        return mw__graph_mixed(y, graph, "mw_layer_apply", "the result");
    layer->applications++;
    return y;
}

mw_tensor *mw_layer_apply_one(mw_layer *layer, mw_tensor *x) { return mw_layer_apply(layer, &x, 1); }

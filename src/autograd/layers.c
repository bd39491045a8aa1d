/* The layers of millwright/ops/layer.h that there are: the constructors of single layers, with their numbers kept. */
#include "graph/ir/layer.h"

#include <millwright/millwright.h>

typedef struct numbers {
    int64_t count, dim;
    int axis_count;
    float epsilon, momentum;
    mw_shape kernel;
    mw_conv_options conv;
    bool has_conv;
} numbers;

static mw_tensor *dense(void *user, mw_graph *graph, const char *name, mw_tensor *const *x, size_t count)
{
    const numbers *n = user;
    (void)graph, (void)count;
    return mw_dense(x[0], n->count, name);
}

static mw_tensor *conv(void *user, mw_graph *graph, const char *name, mw_tensor *const *x, size_t count)
{
    const numbers *n = user;
    (void)graph, (void)count;
    return mw_conv_layer(x[0], n->count, n->kernel, name, n->has_conv ? &n->conv : NULL);
}

static mw_tensor *embedding(void *user, mw_graph *graph, const char *name, mw_tensor *const *x, size_t count)
{
    const numbers *n = user;
    (void)graph, (void)count;
    return mw_embedding(x[0], n->count, n->dim, name);
}

static mw_tensor *layer_norm(void *user, mw_graph *graph, const char *name, mw_tensor *const *x, size_t count)
{
    const numbers *n = user;
    (void)graph, (void)count;
    return mw_layer_norm_layer(x[0], n->axis_count, n->epsilon, name);
}

static mw_tensor *batch_norm(void *user, mw_graph *graph, const char *name, mw_tensor *const *x, size_t count)
{
    const numbers *n = user;
    (void)graph, (void)count;
    return mw_batch_norm_layer(x[0], n->momentum, n->epsilon, name);
}

static mw_layer *make_layer(mw_graph *graph, const char *name, mw_layer_function *function, numbers given)
{
    numbers *kept = mw__layer_memory(graph, sizeof *kept);
    if (kept == NULL)
        return NULL;
    *kept = given;
    return mw_layer_create(graph, name, function, kept);
}

mw_layer *mw_layer_dense(mw_graph *graph, int64_t units, const char *name)
{
    return make_layer(graph, name, dense, (numbers){.count = units});
}

mw_layer *mw_layer_conv(mw_graph *graph, int64_t channels, mw_shape kernel, const char *name,
                        const mw_conv_options *options)
{
    numbers n = {.count = channels, .kernel = kernel, .has_conv = options != NULL};
    if (options != NULL)
        n.conv = *options;
    return make_layer(graph, name, conv, n);
}

mw_layer *mw_layer_embedding(mw_graph *graph, int64_t count, int64_t dim, const char *name)
{
    return make_layer(graph, name, embedding, (numbers){.count = count, .dim = dim});
}

mw_layer *mw_layer_layer_norm(mw_graph *graph, int axis_count, float epsilon, const char *name)
{
    return make_layer(graph, name, layer_norm, (numbers){.axis_count = axis_count, .epsilon = epsilon});
}

mw_layer *mw_layer_batch_norm(mw_graph *graph, float momentum, float epsilon, const char *name)
{
    return make_layer(graph, name, batch_norm, (numbers){.momentum = momentum, .epsilon = epsilon});
}

/* Layers that are applied more than once with one set of parameters: a twin network, an encoder of two sentences, a
 * table for words that is read at both ends.
 *
 *     mw_layer *encoder = mw_layer_dense(graph, 64, "encoder");
 *     mw_tensor *a = mw_layer_apply_one(encoder, x);   // makes encoder.weight, encoder.bias
 *     mw_tensor *b = mw_layer_apply_one(encoder, y);   // reads them
 *
 * The gradient of a parameter is the sum over its uses. In files, trainers and messages it is as any other.
 *
 * Threads: as the rest of a graph: calls on one graph come one at a time, from any thread. */
#ifndef MILLWRIGHT_OPS_LAYER_H
#define MILLWRIGHT_OPS_LAYER_H

#include <millwright/ops/conv.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mw_layer mw_layer;

/** What a layer of one's own computes: it appends to `graph`, to which all of x belong, with the constructors, those of
 *  layers among them. mw_parameter and mw_state (and whatever calls them: mw_dense, ..) make a tensor in the first
 *  application and return it in each later one; there type and shape must be the same, and nothing new is made.
 *  name    of the layer, for its parameters' names: "name.weight"
 *  return  the result, a tensor of `graph`; NULL after an error */
typedef mw_tensor *mw_layer_function(void *user, mw_graph *graph, const char *name, mw_tensor *const *x, size_t count);

/** A layer of one's own. Nothing is made before it is applied.
 *  name    for messages and `function`; copied
 *  user    handed to the function; must stay valid as long as the layer is applied
 *  return  lives as long as the graph, which owns it; NULL with an error on the graph
 *  errors  MW_ERROR_ARGUMENT for a missing function, or a name that could not be saved */
MW_API mw_layer *mw_layer_create(mw_graph *graph, const char *name, mw_layer_function *function, void *user);

/** y = layer(x[0], .., x[count - 1]).
 *  return  lives as long as the graph; NULL for NULL
 *  states  Running statistics follow every application in their order, as PyTorch's do; noise and dropout draw other
 *          numbers in each. Of a state that a function of one's own assigns, the value of the last application counts
 *  errors  MW_ERROR_ARGUMENT if an x is NULL or of another graph, if the function applies its own layer, gives nothing
 *          or a tensor of another graph, asks for a parameter in a later application that the first has not made, or
 *          for one twice in one application; MW_ERROR_SHAPE, MW_ERROR_DTYPE if a parameter would have another shape or
 *          type than in the first (the message has both); what the function's constructors say */
MW_API mw_tensor *mw_layer_apply(mw_layer *layer, mw_tensor *const *x, size_t count);
/** mw_layer_apply of one tensor. */
MW_API mw_tensor *mw_layer_apply_one(mw_layer *layer, mw_tensor *x);

/* ---- layers that there are ----
 * Numbers, parameters and errors are those of the constructor that makes one of each application; all of them take one
 * tensor. */

/** A layer of mw_dense. */
MW_API mw_layer *mw_layer_dense(mw_graph *graph, int64_t units, const char *name);
/** A layer of mw_conv_layer.
 *  options  NULL = mw_conv_defaults(); copied */
MW_API mw_layer *mw_layer_conv(mw_graph *graph, int64_t channels, mw_shape kernel, const char *name,
                               const mw_conv_options *options);
/** A layer of mw_embedding: x are indices. */
MW_API mw_layer *mw_layer_embedding(mw_graph *graph, int64_t count, int64_t dim, const char *name);
/** A layer of mw_layer_norm_layer. */
MW_API mw_layer *mw_layer_layer_norm(mw_graph *graph, int axis_count, float epsilon, const char *name);
/** A layer of mw_batch_norm_layer: each application normalizes by its own batch, and the running statistics follow all
 *  of them. */
MW_API mw_layer *mw_layer_batch_norm(mw_graph *graph, float momentum, float epsilon, const char *name);

#ifdef __cplusplus
}
#endif
#endif

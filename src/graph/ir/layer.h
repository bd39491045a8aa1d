/* Layers that are applied several times: what the constructors of parameters and states ask. */
#ifndef MW__GRAPH_IR_LAYER_H
#define MW__GRAPH_IR_LAYER_H

#include "graph/ir/ir.h"

#include <millwright/ops/layer.h>

/* True if a layer is being applied again, so that *out is the tensor that its first application made, or NULL with an
 * error on the graph. */
bool mw__layer_reuse(mw_graph *graph, const char *name, mw_dtype dtype, mw_shape shape, const mw__init *init,
                     mw__role role, mw_tensor **out);
/* A parameter or state that was made belongs to the layer that is being applied, if one is. */
mw_status mw__layer_note(mw_graph *graph, mw_tensor *value);

/* Which application is under way, from 1; 0 = none. */
size_t mw__layer_application(const mw_graph *graph);
/* Whether a state may be assigned again: it belongs to a layer that is being applied again. */
bool mw__layer_reassigns(const mw_tensor *state);
/* What a state holds after the applications so far. */
static inline mw_tensor *mw__layer_state_now(mw_tensor *state)
{
    return state != NULL && state->next != NULL ? state->next : state;
}

/* Memory beside the layer, zeroed, for its `user`. */
void *mw__layer_memory(mw_graph *graph, size_t size);

#endif

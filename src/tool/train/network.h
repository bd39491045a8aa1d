/* Networks as lists of layers. */
#ifndef MW__TOOL_TRAIN_NETWORK_H
#define MW__TOOL_TRAIN_NETWORK_H

#include "tool/config.h"

#include <millwright/millwright.h>

/* What layers must know of the data. */
typedef struct network_data {
    int64_t classes; /* what {"dense": "classes"} has */
    int64_t rate;    /* of sounds, samples in a second; 0 = they are none */
} network_data;

/* x through the layers of an array of settings: a text ("relu") or an object whose first key is the kind ({"dense":
 * 64}).
 *  return  NULL with c->err set */
mw_tensor *network_build(config *c, const config_node *layers, mw_tensor *x, const network_data *data);

/* [batch, rest]; x itself if it has no more than two axes. */
mw_tensor *network_flat(mw_tensor *x);

/* Offers the keys that may stand in a layer, by its first one. */
void network_offer_options(const config_node *layer, mw__spelling *spelling);

/* The kinds of layers, for the documents: NULL behind the last. */
const char *network_kind_at(size_t index, const char **out_text);

#endif

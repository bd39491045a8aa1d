/* One step of a recurrent network: what recurrent.c writes over time. */
#ifndef MW__GRAPH_PATTERNS_RECURRENT_CELL_H
#define MW__GRAPH_PATTERNS_RECURRENT_CELL_H

#include "graph/patterns/recurrent.h"

/* The weights of one direction as the steps use them: rows that are multiplied together, side by side. */
typedef struct mw__cell_weights {
    mw_tensor *input, *input_bias;   /* of the product over all steps; the gates of gru in the order r, z, n */
    mw_tensor *hidden, *hidden_bias; /* lstm, rnn: all gates; gru: r and z, with reset_after all */
    mw_tensor *last;                 /* gru without reset_after: n */
    mw_tensor *peephole[3];          /* lstm: of i, f, o; or NULL */
} mw__cell_weights;

/* False after an error, which is left on the graph. */
bool mw__cell_prepare(const mw__recurrent *r, const mw_recurrent_weights *weights, mw__cell_weights *out);

/* From the product with this step's x, [1, B, G H], and the states before it, [1, B, H], those after it; NULL after an
 * error. */
void mw__cell_step(const mw__recurrent *r, const mw__cell_weights *weights, mw_tensor *sums, mw_tensor **h,
                   mw_tensor **c);

#endif

/* The recurrent pattern: lstm, gru and rnn written out over time, with nothing in it that a chip refuses. It stands for
 * the operation where its weights are computed, on chips, and in gradients. */
#ifndef MW__GRAPH_PATTERNS_RECURRENT_H
#define MW__GRAPH_PATTERNS_RECURRENT_H

#include "graph/ir/ir.h"

#include <millwright/ops/recurrent.h>

typedef enum mw__cell { MW__CELL_LSTM, MW__CELL_GRU, MW__CELL_RNN } mw__cell;

/* A recurrent operation: its operands and numbers. */
typedef struct mw__recurrent {
    mw__cell cell;
    int gates;              /* G */
    mw_direction direction; /* half[1] is used by MW_BIDIRECTIONAL */
    bool sequence;          /* all outputs are wanted */
    bool reset_after;
    bool torch_order;    /* gates stand as in PyTorch, i, f, z, o and r, z, n; a layer's, not an operation's */
    bool keeps_operands; /* gates are put in order by operations, though weights are constants: a gradient wants them */
    bool names_parts;    /* constants that are put in order keep their names, with the gates behind: "w.gates021" */
    mw_activation gate, candidate, output; /* candidate: z of lstm; output: n of gru, h of rnn */
    double clip;                           /* INFINITY = none */
    mw_tensor *x, *h, *c;                  /* c NULL but for lstm */
    mw_recurrent_weights half[2];
} mw__recurrent;

/* The most steps that are written out, and the most operations that may stand before them. */
enum { MW__RECURRENT_STEPS = 16384, MW__RECURRENT_OPS = 131072 };

/* MIL's word for an activation, NULL for none of them; and the other way, 0 for another word. */
const char *mw__activation_name(mw_activation activation);
mw_activation mw__activation_find(const char *name);
const char *mw__direction_name(mw_direction direction);
mw_direction mw__direction_find(const char *name);

/* False if a constant argument is not one that the shape rule takes, or is not loaded. */
bool mw__recurrent_read(const mw__op *op, mw__recurrent *out);

/* True if that half takes the last step first. */
static inline bool mw__recurrent_is_reverse(const mw__recurrent *r, int half)
{
    return half == 1 || r->direction == MW_REVERSE;
}

/* True if outputs stay in the order of the work: coremltools' tests want it so of a reverse rnn, unlike lstm and gru.
 */
static inline bool mw__recurrent_keeps_order(const mw__recurrent *r) { return r->cell == MW__CELL_RNN; }

/* Appends the steps of one direction, without an axis of directions: states are [1, B, H], outputs [S or 1, B, H]; h
 * and c of `r` are not looked at. The results are y, h and c, NULL after an error, which is left on the graph. */
void mw__recurrent_write_half(const mw__recurrent *r, int half, mw_tensor *h, mw_tensor *c, mw_tensor *out_results[3]);

/* Appends the operations; the results are y, h and c, NULL after an error, which is left on the graph. */
void mw__recurrent_write(const mw__recurrent *r, mw_tensor *out_results[3]);

#endif

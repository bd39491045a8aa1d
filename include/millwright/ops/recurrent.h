/* Recurrent networks: LSTM, GRU and the plain one.
 *
 *     // [S, B, I] -> r.y [S, B, 128], parameters as in PyTorch
 *     mw_recurrent r = mw_lstm_layer(x, 128, "lstm", NULL);
 *
 *     mw_recurrent_options options = mw_recurrent_defaults();       // the operation, with weights of one's own
 *     options.direction = MW_BIDIRECTIONAL;
 *     options.back = backward;
 *     r = mw_lstm(x, NULL, NULL, &forward, &options);
 *
 * S is the number of steps, B the batch, I inputs and H hidden elements, D directions: 2 for MW_BIDIRECTIONAL, else 1.
 * S and H must be known. Element types: F32, and from MW_IOS17 on F16; all of one operation are the same.
 *
 * Weights that are constants make one operation of MIL, which the engine runs as one product for all inputs and one
 * small product a step. With others (parameters, say), in gradients and on the ANE, which has none of the three, the
 * steps are written out: some ten operations each, and as many gradients.
 *
 * A NULL operand yields NULL (except where NULL is said to mean none); results live as long as the graph.
 *
 * Threads: as the rest of a graph: calls on one graph come one at a time, from any thread; other graphs do not mind. */
#ifndef MILLWRIGHT_OPS_RECURRENT_H
#define MILLWRIGHT_OPS_RECURRENT_H

#include <millwright/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/** In which order the steps are taken. */
typedef enum mw_direction {
    MW_FORWARD = 1,
    MW_REVERSE,      /* from the last step to the first */
    MW_BIDIRECTIONAL /* both, each with weights of its own; mw_lstm */
} mw_direction;

/** What gates and cells are passed through. */
typedef enum mw_activation {
    MW_ACTIVATION_TANH = 1,
    MW_ACTIVATION_SIGMOID,
    MW_ACTIVATION_HARD_SIGMOID, /* min(max(0.2 x + 0.5, 0), 1) */
    MW_ACTIVATION_RELU,
    MW_ACTIVATION_LINEAR,     /* x */
    MW_ACTIVATION_SCALED_TANH /* tanh: MIL gives its scales no place, and its tests want the plain one */
} mw_activation;

/** The weights of one direction; G is the number of gates, whose rows lie one below the other: of lstm 4 in the order
 *  i, f, o, z (PyTorch's is i, f, z, o), of gru 3 in the order r, n, z (PyTorch's is r, z, n), of rnn 1. */
typedef struct mw_recurrent_weights {
    mw_tensor *weight_ih;  /* [G H, I] */
    mw_tensor *weight_hh;  /* [G H, H] */
    mw_tensor *bias;       /* [G H]; NULL = none */
    mw_tensor *peephole;   /* lstm: [3 H], of i, f, o; NULL = none */
    mw_tensor *input_bias; /* gru from MW_IOS18 on: [3 H], beside the product with x; NULL = none */
} mw_recurrent_weights;

/** Numbers of a recurrent operation; from mw_recurrent_defaults, then changed. */
typedef struct mw_recurrent_options {
    size_t struct_size;                 /* set by mw_recurrent_defaults */
    mw_direction direction;             /* MW_FORWARD */
    bool last_only;                     /* y is the output of the last step taken alone, [1, B, D H]; false */
    mw_activation recurrent_activation; /* lstm, gru: of the gates; MW_ACTIVATION_SIGMOID */
    mw_activation cell_activation;      /* lstm: of z; MW_ACTIVATION_TANH */
    mw_activation activation;           /* of the output; MW_ACTIVATION_TANH */
    double clip;                        /* lstm: bounds c to [-clip, clip]; 0 = not */
    bool reset_after;                   /* gru from MW_IOS18 on: r scales W h + b, not h; false */
    mw_recurrent_weights back;          /* MW_BIDIRECTIONAL: the weights of the reverse direction */
} mw_recurrent_options;

/** Returns options with everything at its default, which stands beside each. */
MW_API mw_recurrent_options mw_recurrent_defaults(void);

/** What they give; all NULL on failure, whose error is left on the graph. */
typedef struct mw_recurrent {
    mw_tensor *y; /* [S, B, D H], the output of each step in the place of its input */
    mw_tensor *h; /* [B, D H], the output of the last step taken */
    mw_tensor *c; /* lstm: likewise its cell; else NULL */
} mw_recurrent;

/** i = s(Wi x + Ui h + bi), f = s(Wf x + Uf h + bf), z = t(Wz x + Uz h + bz), c' = f c + i z,
 *  o = s(Wo x + Uo h + bo), h' = o a(c'), with s the recurrent, t the cell's and a the output's activation. A peephole
 *  adds Pi c, Pf c and Po c' in the gates; a clip bounds c' before it is used.
 *  x        [S, B, I]
 *  h, c     [B, D H], the states before the first step, forward first; NULL = zeros, then B must be known
 *  weights  of the forward direction (or the reverse one)
 *  options  NULL = mw_recurrent_defaults
 *  errors   MW_ERROR_SHAPE, MW_ERROR_DTYPE, MW_ERROR_ARGUMENT for options that lstm has not or that were not made by
 *           mw_recurrent_defaults
 *  vjp      that of the steps, one by one
 *  source   MIL lstm */
MW_API mw_recurrent mw_lstm(mw_tensor *x, mw_tensor *h, mw_tensor *c, const mw_recurrent_weights *weights,
                            const mw_recurrent_options *options);

/** r = s(Wr x + Ur h + br), z = s(Wz x + Uz h + bz), n = a(Wn x + Un (r h) + bn), h' = (1 - z) n + z h; with
 *  reset_after n = a(Wn x + r (Un h + bn)). An input bias is added to W x. There is no MW_BIDIRECTIONAL, no clip and no
 *  peephole; the rest is as mw_lstm.
 *  source  MIL gru */
MW_API mw_recurrent mw_gru(mw_tensor *x, mw_tensor *h, const mw_recurrent_weights *weights,
                           const mw_recurrent_options *options);

/** h' = a(W x + U h + b). With MW_REVERSE y has the outputs in the order of the work, the last input's first, as MIL's
 *  tests want it. No MW_BIDIRECTIONAL, no clip, no peephole; the rest as mw_lstm.
 *  source  MIL rnn */
MW_API mw_recurrent mw_rnn(mw_tensor *x, mw_tensor *h, const mw_recurrent_weights *weights,
                           const mw_recurrent_options *options);

/** Numbers of a recurrent layer; from mw_recurrent_layer_defaults, then changed. */
typedef struct mw_recurrent_layer_options {
    size_t struct_size; /* set by mw_recurrent_layer_defaults */
    int layers;         /* each over the outputs of the one before, 1 to 1000; 1 */
    bool bidirectional; /* both directions, side by side; false */
    bool batch_first;   /* x and y are [B, S, ..] (states are not); false */
    bool bias;          /* true */
    float dropout;      /* of the outputs of all layers but the last, in [0, 1); 0 */
    mw_tensor *h, *c;   /* [layers D, B, H], the states before the first step, in the order l0, l0_reverse, l1, ..;
                         * NULL = zeros; c of mw_lstm_layer alone */
} mw_recurrent_layer_options;

/** Returns options with everything at its default, which stands beside each. */
MW_API mw_recurrent_layer_options mw_recurrent_layer_defaults(void);

/** mw_lstm with new parameters: PyTorch's LSTM.
 *  x        [S, B, I], all known  F16 or F32
 *  hidden   H > 0
 *  name     the parameters are `name`.weight_ih_l0 [4 H, I], .weight_hh_l0 [4 H, H], .bias_ih_l0 [4 H] and
 *           .bias_hh_l0 [4 H], with the gates in PyTorch's order (i, f, z, o); of the reverse direction the same with
 *           _reverse behind, of further layers with l1, .. and [4 H, D H]. All uniform in +-1/sqrt(H), dtype of x. With
 *           a dropout, mw_dropout's states are `name`.dropout_l0.generator, ..
 *  options  NULL = mw_recurrent_layer_defaults
 *  return   y [S, B, D H], or [B, S, D H] with batch_first; h and c [layers D, B, H]
 *  errors   MW_ERROR_SHAPE, MW_ERROR_DTYPE, MW_ERROR_ARGUMENT for numbers out of range, options that were not made by
 *           mw_recurrent_layer_defaults, or a name that is empty or taken
 *  vjp      that of the steps, one by one
 *  source   PyTorch LSTM, without proj_size */
MW_API mw_recurrent mw_lstm_layer(mw_tensor *x, int64_t hidden, const char *name,
                                  const mw_recurrent_layer_options *options);

/** mw_gru with reset_after and new parameters: PyTorch's GRU. As mw_lstm_layer, with 3 H rows in the order r, z, n, and
 *  without c.
 *  source  PyTorch GRU */
MW_API mw_recurrent mw_gru_layer(mw_tensor *x, int64_t hidden, const char *name,
                                 const mw_recurrent_layer_options *options);

#ifdef __cplusplus
}
#endif
#endif

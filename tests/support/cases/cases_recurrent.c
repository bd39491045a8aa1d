/* Cases of ops/recurrent.def. To cover a row: one builder if none fits, one line in the table. */
#include "support/cases/op_case_rows.h"

#include "base/number/fp16.h"

/* A constant of at most 96 small numbers that are exact in fp16; `salt` makes one unlike the other. */
static mw_tensor *constant(mw_tensor *like, mw_shape shape, int salt)
{
    float wide[96];
    uint16_t half[96];
    for (int i = 0; i < 96; i++) {
        wide[i] = (float)((i + salt) * (37 + salt) % 29 - 14) / 32.0F;
        half[i] = mw__fp16_from_float(wide[i]);
    }
    const mw_dtype dtype = mw_tensor_dtype(like);
    return mw_constant(mw_tensor_graph(like), dtype, shape, dtype == MW_F16 ? (const void *)half : wide);
}

/* All results in one vector. */
static mw_tensor *joined(mw_recurrent r)
{
    mw_tensor *all[3];
    size_t count = 0;
    if (r.y != NULL)
        all[count++] = mw_reshape(r.y, MW_SHAPE(-1));
    if (r.h != NULL)
        all[count++] = mw_reshape(r.h, MW_SHAPE(-1));
    if (r.c != NULL)
        all[count++] = mw_reshape(r.c, MW_SHAPE(-1));
    return count > 1 ? mw_concat(all, count, 0) : NULL;
}

/* Constants for the shapes of x and h. */
static mw_recurrent_weights weights(mw_tensor *x, int64_t hidden, int gates, int salt)
{
    const mw_shape shape = mw_tensor_shape(x);
    return (mw_recurrent_weights){.weight_ih = constant(x, MW_SHAPE(gates * hidden, shape.dim[2]), salt),
                                  .weight_hh = constant(x, MW_SHAPE(gates * hidden, hidden), salt + 1),
                                  .bias = constant(x, MW_SHAPE(gates * hidden), salt + 2)};
}

/* ---- lstm: x, h, c ---- */

typedef enum extra { PLAIN = 0, BARE = 1, PEEPHOLE = 2, CLIP = 4, LAST = 8, ZERO = 16 } extra;

static mw_tensor *lstm(mw_tensor *const *in, mw_direction direction, int extras, const mw_activation kinds[3])
{
    mw_recurrent_options options = mw_recurrent_defaults();
    const int64_t hidden = mw_tensor_shape(in[1]).dim[1] / (direction == MW_BIDIRECTIONAL ? 2 : 1);
    mw_recurrent_weights forward = weights(in[0], hidden, 4, 1);
    options.direction = direction;
    options.back = weights(in[0], hidden, 4, 7);
    options.last_only = (extras & LAST) != 0;
    options.clip = (extras & CLIP) != 0 ? 0.25 : 0.0;
    if (kinds != NULL) {
        options.recurrent_activation = kinds[0];
        options.cell_activation = kinds[1];
        options.activation = kinds[2];
    }
    if ((extras & BARE) != 0)
        forward.bias = options.back.bias = NULL;
    if ((extras & PEEPHOLE) != 0) {
        forward.peephole = constant(in[0], MW_SHAPE(3 * hidden), 4);
        options.back.peephole = constant(in[0], MW_SHAPE(3 * hidden), 5);
    }
    const bool zero = (extras & ZERO) != 0;
    return joined(mw_lstm(in[0], zero ? NULL : in[1], zero ? NULL : in[2], &forward, &options));
}

#define KINDS(a, b, c)                                                                                                 \
    (const mw_activation[]) { MW_ACTIVATION_##a, MW_ACTIVATION_##b, MW_ACTIVATION_##c }

/* clang-format off */
BUILD(lstm, lstm(in, MW_FORWARD, PLAIN, NULL))
BUILD(lstm_reverse, lstm(in, MW_REVERSE, BARE, NULL))
BUILD(lstm_both, lstm(in, MW_BIDIRECTIONAL, PLAIN, NULL))
BUILD(lstm_both_last, lstm(in, MW_BIDIRECTIONAL, LAST | PEEPHOLE | CLIP, NULL))
BUILD(lstm_last, lstm(in, MW_REVERSE, LAST, NULL))
BUILD(lstm_zero, lstm(in, MW_FORWARD, ZERO, NULL))
BUILD(lstm_peephole, lstm(in, MW_FORWARD, PEEPHOLE, NULL))
BUILD(lstm_clip, lstm(in, MW_FORWARD, CLIP, NULL))
BUILD(lstm_hard, lstm(in, MW_FORWARD, PLAIN, KINDS(HARD_SIGMOID, LINEAR, SCALED_TANH)))
BUILD(lstm_relu, lstm(in, MW_FORWARD, PLAIN, KINDS(TANH, RELU, SIGMOID)))
/* clang-format on */

/* ---- gru: x, h ---- */

static mw_tensor *gru(mw_tensor *const *in, mw_direction direction, int extras, bool after, mw_activation gate)
{
    mw_recurrent_options options = mw_recurrent_defaults();
    const int64_t hidden = mw_tensor_shape(in[1]).dim[1];
    mw_recurrent_weights forward = weights(in[0], hidden, 3, 1);
    options.direction = direction;
    options.reset_after = after;
    options.last_only = (extras & LAST) != 0;
    options.recurrent_activation = gate;
    if ((extras & BARE) != 0)
        forward.bias = NULL;
    if (after)
        forward.input_bias = constant(in[0], MW_SHAPE(3 * hidden), 6);
    return joined(mw_gru(in[0], in[1], &forward, &options));
}

/* clang-format off */
BUILD(gru, gru(in, MW_FORWARD, PLAIN, false, MW_ACTIVATION_SIGMOID))
BUILD(gru_reverse, gru(in, MW_REVERSE, BARE, false, MW_ACTIVATION_HARD_SIGMOID))
BUILD(gru_last, gru(in, MW_REVERSE, LAST, false, MW_ACTIVATION_SIGMOID))
BUILD(gru_after, gru(in, MW_FORWARD, PLAIN, true, MW_ACTIVATION_SIGMOID))
BUILD(gru_after_bare, gru(in, MW_REVERSE, BARE, true, MW_ACTIVATION_SIGMOID))
/* clang-format on */

/* ---- rnn: x, h ---- */

static mw_tensor *rnn(mw_tensor *const *in, mw_direction direction, int extras, mw_activation kind)
{
    mw_recurrent_options options = mw_recurrent_defaults();
    mw_recurrent_weights forward = weights(in[0], mw_tensor_shape(in[1]).dim[1], 1, 1);
    options.direction = direction;
    options.activation = kind;
    options.last_only = (extras & LAST) != 0;
    if ((extras & BARE) != 0)
        forward.bias = NULL;
    return joined(mw_rnn(in[0], in[1], &forward, &options));
}

/* clang-format off */
BUILD(rnn, rnn(in, MW_FORWARD, PLAIN, MW_ACTIVATION_TANH))
BUILD(rnn_reverse, rnn(in, MW_REVERSE, BARE, MW_ACTIVATION_SIGMOID))
BUILD(rnn_last, rnn(in, MW_REVERSE, LAST, MW_ACTIVATION_TANH))
/* clang-format on */

#define STEPS "sums in another order and functions of 2 ulp, which the steps after them pass on"

/* clang-format off */
static const op_case rows[] = {
    LOOSE("lstm", "", b_lstm, 32, 2, STEPS, F(3, -1, 1, 4, 3, 2), F(2, -1, 1, 3, 3), F(2, -1, 1, 3, 3)),
    LOOSE("lstm", "reverse, no bias", b_lstm_reverse, 32, 2, STEPS, F(3, -1, 1, 4, 3, 2), F(2, -1, 1, 3, 3), F(2, -1, 1, 3, 3)),
    LOOSE("lstm", "bidirectional", b_lstm_both, 32, 2, STEPS, F(3, -1, 1, 4, 3, 2), F(2, -1, 1, 3, 6), F(2, -1, 1, 3, 6)),
    LOOSE("lstm", "bidirectional, last output, peephole, clip", b_lstm_both_last, 32, 2, STEPS, F(3, -1, 1, 4, 3, 2), F(2, -1, 1, 3, 6), F(2, -1, 1, 3, 6)),
    LOOSE("lstm", "reverse, last output", b_lstm_last, 32, 2, STEPS, F(3, -1, 1, 3, 2, 3), F(2, -1, 1, 2, 4), F(2, -1, 1, 2, 4)),
    LOOSE("lstm", "states of zeros", b_lstm_zero, 32, 2, STEPS, F(3, -1, 1, 3, 2, 3), F(2, -1, 1, 2, 4), F(2, -1, 1, 2, 4)),
    LOOSE("lstm", "peephole", b_lstm_peephole, 32, 2, STEPS, F(3, -1, 1, 3, 2, 3), F(2, -1, 1, 2, 4), F(2, -1, 1, 2, 4)),
    LOOSE("lstm", "clip", b_lstm_clip, 32, 2, STEPS, F(3, -1, 1, 3, 2, 3), F(2, -1, 1, 2, 4), F(2, -1, 1, 2, 4)),
    LOOSE("lstm", "hard sigmoid, linear, scaled tanh", b_lstm_hard, 32, 2, STEPS, F(3, -1, 1, 3, 2, 3), F(2, -1, 1, 2, 4), F(2, -1, 1, 2, 4)),
    LOOSE("lstm", "tanh, relu, sigmoid", b_lstm_relu, 32, 2, STEPS, F(3, -1, 1, 3, 2, 3), F(2, -1, 1, 2, 4), F(2, -1, 1, 2, 4)),
    LOOSE("lstm", "one step of one row", b_lstm, 32, 2, STEPS, F(3, -1, 1, 1, 1, 2), F(2, -1, 1, 1, 3), F(2, -1, 1, 1, 3)),
    LOOSE("lstm", "many rows", b_lstm, 32, 2, STEPS, F(3, -1, 1, 3, 37, 2), F(2, -1, 1, 37, 3), F(2, -1, 1, 37, 3)),
    LOOSE("gru", "", b_gru, 32, 2, STEPS, F(3, -1, 1, 4, 3, 2), F(2, -1, 1, 3, 3)),
    LOOSE("gru", "reverse, no bias, hard sigmoid", b_gru_reverse, 32, 2, STEPS, F(3, -1, 1, 4, 3, 2), F(2, -1, 1, 3, 3)),
    LOOSE("gru", "reverse, last output", b_gru_last, 32, 2, STEPS, F(3, -1, 1, 4, 3, 2), F(2, -1, 1, 3, 3)),
    LOOSE("gru", "reset after", b_gru_after, 32, 2, STEPS, F(3, -1, 1, 4, 3, 2), F(2, -1, 1, 3, 4)),
    LOOSE("gru", "reset after, reverse, no bias", b_gru_after_bare, 32, 2, STEPS, F(3, -1, 1, 4, 3, 2), F(2, -1, 1, 3, 4)),
    LOOSE("gru", "many rows", b_gru, 32, 2, STEPS, F(3, -1, 1, 3, 37, 2), F(2, -1, 1, 37, 3)),
    LOOSE("rnn", "", b_rnn, 32, 2, STEPS, F(3, -1, 1, 4, 3, 2), F(2, -1, 1, 3, 3)),
    LOOSE("rnn", "reverse, no bias, sigmoid", b_rnn_reverse, 32, 2, STEPS, F(3, -1, 1, 4, 3, 2), F(2, -1, 1, 3, 5)),
    LOOSE("rnn", "reverse, last output", b_rnn_last, 32, 2, STEPS, F(3, -1, 1, 4, 3, 2), F(2, -1, 1, 3, 3)),
};
/* clang-format on */

OP_CASES(recurrent, rows)

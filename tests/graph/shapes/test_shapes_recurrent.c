/* Shape rules of recurrent networks, and what their constructors refuse. */
#include "shape_words.h"

#include "graph/ir/rule.h"

/* At most 64 elements of 0.5, in both types: 0x3800 is it in fp16. */
static mw_tensor *fixed(mw_graph *g, mw_dtype dtype, mw_shape shape)
{
    float wide[64];
    uint16_t half[64];
    for (int i = 0; i < 64; i++) {
        wide[i] = 0.5F;
        half[i] = 0x3800;
    }
    return mw_constant(g, dtype, shape, dtype == MW_F16 ? (const void *)half : wide);
}

/* Constants for `gates` gates, 2 inputs and 3 hidden elements. */
static mw_recurrent_weights weights(mw_graph *g, mw_dtype dtype, int64_t gates)
{
    return (mw_recurrent_weights){.weight_ih = fixed(g, dtype, S(gates * 3, 2)),
                                  .weight_hh = fixed(g, dtype, S(gates * 3, 3)),
                                  .bias = fixed(g, dtype, S(gates * 3))};
}

/* The defaults but for one field; they hold until the next call. */
typedef enum choice { LAST, REVERSE, BOTH, AFTER, CLIP, NO_DIRECTION, NO_ACTIVATION, NO_SIZE } choice;

static const mw_recurrent_options *but(mw_graph *g, choice what)
{
    static mw_recurrent_options options;
    options = mw_recurrent_defaults();
    options.last_only = what == LAST;
    options.reset_after = what == AFTER;
    options.clip = what == CLIP ? -1.0 : 0.0;
    if (what == REVERSE)
        options.direction = MW_REVERSE;
    if (what == NO_DIRECTION)
        options.direction = (mw_direction)9;
    if (what == NO_ACTIVATION)
        options.activation = (mw_activation)0;
    if (what == NO_SIZE)
        options.struct_size = 0;
    if (what != BOTH)
        return &options;
    options.direction = MW_BIDIRECTIONAL;
    options.back = weights(g, MW_F32, 4);
    return &options;
}

#define COMPUTED(ih, hh) (&(mw_recurrent_weights){.weight_ih = (ih), .weight_hh = (hh)})
#define FIXED(gates)     COMPUTED(fixed(g, MW_F32, S((gates)*3, 2)), fixed(g, MW_F32, S((gates)*3, 3)))

static mw_recurrent lstm(mw_graph *g, mw_dtype dtype, mw_shape x, mw_shape state, const mw_recurrent_options *options)
{
    const mw_recurrent_weights w = weights(g, dtype, 4);
    return mw_lstm(leaf(g, dtype, x), leaf(g, dtype, state), leaf(g, dtype, state), &w, options);
}

static mw_recurrent gru(mw_graph *g, mw_shape x, mw_shape state, const mw_recurrent_options *options)
{
    const mw_recurrent_weights w = weights(g, MW_F32, 3);
    return mw_gru(leaf(g, MW_F32, x), leaf(g, MW_F32, state), &w, options);
}

static mw_recurrent rnn(mw_graph *g, mw_shape x, mw_shape state, const mw_recurrent_options *options)
{
    const mw_recurrent_weights w = weights(g, MW_F32, 1);
    return mw_rnn(leaf(g, MW_F32, x), leaf(g, MW_F32, state), &w, options);
}

static void test_shapes_of_sequences_and_states(void)
{
    GIVES(MW_F32, S(5, 4, 3), lstm(g, MW_F32, S(5, 4, 2), S(4, 3), NULL).y);
    GIVES(MW_F16, S(4, 3), lstm(g, MW_F16, S(5, 4, 2), S(4, 3), NULL).h);
    GIVES(MW_F32, S(4, 3), lstm(g, MW_F32, S(5, 4, 2), S(4, 3), NULL).c);
    GIVES(MW_F32, S(1, 4, 3), lstm(g, MW_F32, S(5, 4, 2), S(4, 3), but(g, LAST)).y);
    GIVES(MW_F32, S(5, 4, 6), lstm(g, MW_F32, S(5, 4, 2), S(4, 6), but(g, BOTH)).y);
    GIVES(MW_F32, S(4, 6), lstm(g, MW_F32, S(5, 4, 2), S(4, 6), but(g, BOTH)).c);
    GIVES(MW_F32, S(-1, 4, 3), lstm(g, MW_F32, S(-1, 4, 2), S(-1, 3), NULL).y);
    GIVES(MW_F32, S(5, -1, 3), lstm(g, MW_F32, S(5, -1, -1), S(-1, 3), NULL).y);
    GIVES(MW_F32, S(5, 0, 3), gru(g, S(5, 0, 2), S(0, 3), NULL).y);
    GIVES(MW_F32, S(1, 4, 3), gru(g, S(5, 4, 2), S(4, 3), but(g, LAST)).y);
    GIVES(MW_F32, S(4, 3), gru(g, S(5, 4, 2), S(4, 3), but(g, AFTER)).h);
    GIVES(MW_F32, S(5, 4, 3), rnn(g, S(5, 4, 2), S(4, 3), but(g, REVERSE)).y);
    GIVES_IN(MW_IOS15, MW_F32, S(5, 4, 3), gru(g, S(5, 4, 2), S(4, 3), NULL).y);
    GIVES(MW_F32, S(4, 3), mw_lstm(F(5, 4, 2), NULL, NULL, FIXED(4), NULL).c);
}

/* Weights that are computed give the same shapes, and no operation of the name. */
static void test_computed_weights_are_written_out(void)
{
    GIVES(MW_F32, S(5, 4, 3), mw_lstm(F(5, 4, 2), NULL, NULL, COMPUTED(F(12, 2), F(12, 3)), NULL).y);
    GIVES(MW_F32, S(4, 3),
          mw_gru(F(5, 4, 2), F(4, 3), &(mw_recurrent_weights){.weight_ih = F(9, 2), .weight_hh = F(9, 3), .bias = F(9)},
                 NULL)
              .h);
    GIVES(MW_F32, S(5, -1, 3), mw_rnn(F(5, -1, 2), F(-1, 3), COMPUTED(F(3, 2), F(3, 3)), NULL).y);
    REFUSES(MW_ERROR_UNSUPPORTED, "the number of steps and the hidden elements must be known",
            mw_lstm(F(-1, 4, 2), F(4, 3), F(4, 3), COMPUTED(F(12, 2), F(12, 3)), NULL).y);
    REFUSES(MW_ERROR_UNSUPPORTED,
            "rnn: 1000000000 steps beside 5 operations; written out one by one there may be 16384",
            mw_rnn(F(1000000000, 1, 1), F(1, 1), COMPUTED(F(1, 1), F(1, 1)), NULL).y);
    REFUSES(MW_ERROR_SHAPE, "lstm: weight_hh \"a3\" [12, 4] is not [gates * hidden, hidden] = [16, 4]",
            mw_lstm(F(5, 4, 2), NULL, NULL, COMPUTED(F(16, 2), mw_input(g, "a3", MW_F32, S(12, 4))), NULL).y);
    REFUSES(MW_ERROR_ARGUMENT, "lstm: has 3 results, room is given for 1",
            op(g, "lstm", "x", F(5, 4, 2), "initial_h", F(4, 3), "initial_c", F(4, 3), "weight_ih", F(12, 2),
               "weight_hh", F(12, 3), NULL));
}

static void test_shapes_that_do_not_fit(void)
{
    REFUSES(MW_ERROR_SHAPE, "[5, 4] must be [steps, batch, inputs]", rnn(g, S(5, 4), S(4, 3), NULL).y);
    REFUSES(MW_ERROR_SHAPE, "[0, 4, 2] has no steps", rnn(g, S(0, 4, 2), S(4, 3), NULL).y);
    REFUSES(MW_ERROR_SHAPE, "is not [gates * hidden, inputs] = [9, 7]", gru(g, S(5, 4, 7), S(4, 3), NULL).y);
    REFUSES(MW_ERROR_SHAPE, "is not [batch, directions * hidden] = [4, 3]", gru(g, S(5, 4, 2), S(5, 3), NULL).y);
    REFUSES(MW_ERROR_SHAPE, "is not [batch, directions * hidden] = [4, 6]",
            lstm(g, MW_F32, S(5, 4, 2), S(4, 3), but(g, BOTH)).y);
    REFUSES(MW_ERROR_SHAPE, "weight_hh [6] must be [1 * hidden, hidden]",
            mw_rnn(F(5, 4, 2), F(4, 3), COMPUTED(fixed(g, MW_F32, S(3, 2)), fixed(g, MW_F32, S(6))), NULL).y);
    REFUSES(MW_ERROR_SHAPE, "states of zeros want x", mw_gru(F(5, -1, 2), NULL, FIXED(3), NULL).y);
    REFUSES_IN(MW_IOS16, MW_ERROR_DTYPE, "x is fp16, which needs ios17", lstm(g, MW_F16, S(5, 4, 2), S(4, 3), NULL).y);
    REFUSES(MW_ERROR_DTYPE, "fp16", mw_rnn(F(5, 4, 2), H(4, 3), FIXED(1), NULL).y);
}

static void test_options_that_an_operation_has_not(void)
{
    REFUSES(MW_ERROR_ARGUMENT, "lstm: the options were not made by mw_recurrent_defaults",
            lstm(g, MW_F32, S(5, 4, 2), S(4, 3), but(g, NO_SIZE)).y);
    REFUSES(MW_ERROR_ARGUMENT, "direction is none", rnn(g, S(5, 4, 2), S(4, 3), but(g, NO_DIRECTION)).y);
    REFUSES(MW_ERROR_ARGUMENT, "an activation is none", gru(g, S(5, 4, 2), S(4, 3), but(g, NO_ACTIVATION)).y);
    REFUSES(MW_ERROR_ARGUMENT, "gru: has no bidirectional form", gru(g, S(5, 4, 2), S(4, 6), but(g, BOTH)).y);
    REFUSES(MW_ERROR_ARGUMENT, "clip and peephole are of lstm alone", rnn(g, S(5, 4, 2), S(4, 3), but(g, CLIP)).y);
    REFUSES(MW_ERROR_ARGUMENT, "reset_after and input_bias are of gru alone",
            lstm(g, MW_F32, S(5, 4, 2), S(4, 3), but(g, AFTER)).y);
    REFUSES_IN(MW_IOS17, MW_ERROR_ARGUMENT, "reset_after and input_bias need opset ios18",
               gru(g, S(5, 4, 2), S(4, 3), but(g, AFTER)).y);
    REFUSES(MW_ERROR_ARGUMENT, "clip -1 must be 0 or more", lstm(g, MW_F32, S(5, 4, 2), S(4, 3), but(g, CLIP)).y);
    REFUSES(MW_ERROR_ARGUMENT, "bidirectional wants weight_ih_back",
            op(g, "lstm", "x", F(5, 4, 2), "initial_h", F(4, 6), "initial_c", F(4, 6), "weight_ih",
               fixed(g, MW_F32, S(12, 2)), "weight_hh", fixed(g, MW_F32, S(12, 3)), "direction",
               mw__constant_string(g, "bidirectional", "direction"), NULL));
    REFUSES(MW_ERROR_ARGUMENT, "activation is \"swish\", none of tanh",
            op(g, "rnn", "x", F(5, 4, 2), "initial_h", F(4, 3), "weight_ih", fixed(g, MW_F32, S(3, 2)), "weight_hh",
               fixed(g, MW_F32, S(3, 3)), "activation", mw__constant_string(g, "swish", "activation"), NULL));
}

/* ---- layers ---- */

static const mw_recurrent_layer_options *layered(int layers, bool both, bool first, mw_tensor *h, mw_tensor *c)
{
    static mw_recurrent_layer_options options;
    options = mw_recurrent_layer_defaults();
    options.layers = layers;
    options.bidirectional = both;
    options.batch_first = first;
    options.h = h;
    options.c = c;
    return &options;
}

static void test_shapes_of_layers(void)
{
    GIVES(MW_F32, S(5, 4, 3), mw_lstm_layer(F(5, 4, 2), 3, "l", NULL).y);
    GIVES(MW_F16, S(6, 4, 3), mw_lstm_layer(H(5, 4, 2), 3, "l", layered(3, true, false, NULL, NULL)).c);
    GIVES(MW_F32, S(4, 5, 6), mw_gru_layer(F(4, 5, 2), 3, "l", layered(2, true, true, NULL, NULL)).y);
    GIVES(MW_F32, S(2, 4, 3), mw_gru_layer(F(5, 4, 2), 3, "l", layered(2, false, false, F(2, 4, 3), NULL)).h);
    GIVES_IN(MW_IOS15, MW_F16, S(5, 4, 3), mw_lstm_layer(H(5, 4, 2), 3, "l", NULL).y);
}

/* Names and extents of PyTorch's state dict, of a second layer over both directions. */
static void test_parameters_have_the_names_of_torch(void)
{
    GIVES(MW_F32, S(12, 6),
          (mw_lstm_layer(F(5, 4, 2), 3, "l", layered(2, true, false, NULL, NULL)),
           mw_graph_find(g, "l.weight_ih_l1_reverse")));
    GIVES(MW_F32, S(9, 3), (mw_gru_layer(F(5, 4, 2), 3, "l", NULL), mw_graph_find(g, "l.weight_hh_l0")));
    GIVES(MW_F32, S(12), (mw_lstm_layer(F(5, 4, 2), 3, "l", NULL), mw_graph_find(g, "l.bias_hh_l0")));
}

static mw_recurrent dropping(mw_tensor *x, float p)
{
    mw_recurrent_layer_options options = mw_recurrent_layer_defaults();
    options.layers = 2;
    options.dropout = p;
    return mw_gru_layer(x, 3, "l", &options);
}

/* Between layers, not behind the last. */
static void test_dropout_stands_between_layers(void)
{
    GIVES(MW_F32, S(2, 8), (dropping(F(5, 4, 2), 0.5F), mw_graph_find(g, "l.dropout_l0.generator")));
    mw_graph *g = make_graph(MW_IOS18, NULL);
    CHECK(dropping(F(5, 4, 2), 0.5F).y != NULL);
    CHECK(mw_graph_find(g, "l.dropout_l1.generator") == NULL);
    mw_graph_destroy(g);
}

static void test_layers_refuse(void)
{
    REFUSES(MW_ERROR_ARGUMENT, "gru_layer \"l\": dropout 1.5 is outside [0, 1)", dropping(F(5, 4, 2), 1.5F).y);
    REFUSES(MW_ERROR_SHAPE, "lstm_layer \"l\": x must have steps, batch and inputs, all known and positive, not [5, 4]",
            mw_lstm_layer(F(5, 4), 3, "l", NULL).y);
    REFUSES(MW_ERROR_SHAPE, "all known and positive, not [?, 4, 2]", mw_gru_layer(F(-1, 4, 2), 3, "l", NULL).y);
    REFUSES(MW_ERROR_DTYPE, "x is int32, not fp16 or fp32", mw_gru_layer(N(5, 4, 2), 3, "l", NULL).y);
    REFUSES(MW_ERROR_ARGUMENT, "0 hidden elements are outside", mw_gru_layer(F(5, 4, 2), 0, "l", NULL).y);
    REFUSES(MW_ERROR_ARGUMENT, "1001 layers are outside [1, 1000]",
            mw_gru_layer(F(5, 4, 2), 3, "l", layered(1001, false, false, NULL, NULL)).y);
    REFUSES(MW_ERROR_ARGUMENT, "lstm_layer: the name is empty", mw_lstm_layer(F(5, 4, 2), 3, "", NULL).y);
    REFUSES(MW_ERROR_ARGUMENT, "not made by mw_recurrent_layer_defaults",
            mw_lstm_layer(F(5, 4, 2), 3, "l", &(mw_recurrent_layer_options){.layers = 1}).y);
    REFUSES(MW_ERROR_ARGUMENT, "has no cells to begin with",
            mw_gru_layer(F(5, 4, 2), 3, "l", layered(1, false, false, NULL, F(1, 4, 3))).y);
    REFUSES(MW_ERROR_SHAPE, "h [1, 4, 3] is not [layers * directions, batch, hidden] = [2, 4, 3]",
            mw_lstm_layer(F(5, 4, 2), 3, "l", layered(1, true, false, F(1, 4, 3), NULL)).y);
    REFUSES(MW_ERROR_ARGUMENT, "l.weight_ih_l0",
            (mw_lstm_layer(F(5, 4, 2), 3, "l", NULL), mw_gru_layer(F(5, 4, 2), 3, "l", NULL).y));
}

/* A NULL that is no "none" gives nothing, and the graph has no error of its own. */
static void test_a_missing_operand_yields_nothing(void)
{
    mw_graph *g = make_graph(MW_IOS18, NULL);
    const mw_recurrent_weights none = {.bias = NULL};
    CHECK(mw_lstm(NULL, NULL, NULL, FIXED(4), NULL).y == NULL);
    CHECK(mw_gru(F(5, 4, 2), NULL, NULL, NULL).h == NULL);
    CHECK(mw_rnn(F(5, 4, 2), NULL, &none, NULL).y == NULL);
    CHECK(mw_lstm_layer(NULL, 3, "l", NULL).y == NULL);
    CHECK(mw_graph_check(g, NULL) == MW_OK);
    mw_graph_destroy(g);
}

int main(void)
{
    RUN(test_shapes_of_sequences_and_states);
    RUN(test_computed_weights_are_written_out);
    RUN(test_shapes_that_do_not_fit);
    RUN(test_options_that_an_operation_has_not);
    RUN(test_shapes_of_layers);
    RUN(test_parameters_have_the_names_of_torch);
    RUN(test_dropout_stands_between_layers);
    RUN(test_layers_refuse);
    RUN(test_a_missing_operand_yields_nothing);
    return check_finish();
}

/* Recurrent networks over words: a tagger by a bidirectional LSTM (Huang, Xu and Yu 2015), and a translator by GRUs
 * with attention and input feeding (Cho and others 2014; Luong, Pham and Manning 2015). B texts, S words read, T words
 * written, E elements of a word, H hidden ones. */
#include "zoo.h"

#include <math.h>

/* Indices [..] -> [.., width], with the start of the papers. */
static mw_tensor *word_vectors(mw_tensor *x, int words, int width, const char *name)
{
    const mw_init start = mw_init_uniform(-0.1f, 0.1f);
    return mw_gather(mw_parameter(mw_tensor_graph(x), name, MW_F32, MW_SHAPE(words, width), start), x, 0);
}

mw_tensor *zoo_lstm_tagger(zoo_form *form)
{
    const int steps = form->tiny ? 6 : 64, words = form->tiny ? 64 : 10000, tags = form->tiny ? 5 : 20;
    const int width = form->tiny ? 8 : 128, hidden = form->tiny ? 12 : 256;
    mw_tensor *x = zoo_integers(form, "x", MW_SHAPE(form->batch, steps), words);
    x = word_vectors(x, words, width, "words.weight");
    mw_recurrent_layer_options options = mw_recurrent_layer_defaults();
    options.layers = 2;
    options.bidirectional = options.batch_first = true;
    mw_tensor *h = zoo_dense(mw_lstm_layer(x, hidden, "lstm", &options).y, tags, "tags");
    return zoo_by_classes(form, mw_reshape(h, MW_SHAPE((int64_t)form->batch * steps, tags)));
}

/* ---- the translator ---- */

typedef struct translator {
    int batch, read, written, words, width, hidden;
    mw_tensor *weight_ih, *weight_hh, *bias_ih, *bias_hh; /* [3 H, E + H], [3 H, H], [3 H], [3 H] */
    mw_tensor *match, *join, *join_bias;                  /* [H, H], [H, 2 H], [H] */
    mw_tensor *encoded;                                   /* [B, S, H] */
} translator;

static mw_tensor *uniform_weight(mw_graph *graph, const char *name, mw_shape shape, int fan)
{
    const float bound = 1.0f / sqrtf((float)fan);
    return mw_parameter(graph, name, MW_F32, shape, mw_init_uniform(-bound, bound));
}

static void declare_decoder(mw_graph *graph, translator *n)
{
    const int64_t hidden = n->hidden, inputs = n->width + n->hidden;
    n->weight_ih = uniform_weight(graph, "cell.weight_ih", MW_SHAPE(3 * hidden, inputs), n->hidden);
    n->weight_hh = uniform_weight(graph, "cell.weight_hh", MW_SHAPE(3 * hidden, hidden), n->hidden);
    n->bias_ih = uniform_weight(graph, "cell.bias_ih", MW_SHAPE(3 * hidden), n->hidden);
    n->bias_hh = uniform_weight(graph, "cell.bias_hh", MW_SHAPE(3 * hidden), n->hidden);
    n->match = uniform_weight(graph, "match.weight", MW_SHAPE(hidden, hidden), n->hidden);
    n->join = uniform_weight(graph, "join.weight", MW_SHAPE(hidden, 2 * hidden), 2 * n->hidden);
    n->join_bias = uniform_weight(graph, "join.bias", MW_SHAPE(hidden), 2 * n->hidden);
}

/* A step of GRU in PyTorch's form: x [B, E + H], h [B, H]. */
static mw_tensor *gru_step(mw_tensor *x, mw_tensor *h, const translator *n)
{
    mw_tensor *in[3] = {NULL}, *kept[3] = {NULL};
    mw_split(mw_linear(x, n->weight_ih, n->bias_ih), 3, 1, in);
    mw_split(mw_linear(h, n->weight_hh, n->bias_hh), 3, 1, kept);
    mw_tensor *reset = mw_sigmoid(mw_add(in[0], kept[0])), *update = mw_sigmoid(mw_add(in[1], kept[1]));
    mw_tensor *fresh = mw_tanh(mw_add(in[2], mw_mul(reset, kept[2])));
    return mw_add(mw_mul(update, mw_sub(h, fresh)), fresh);
}

/* h [B, H] -> what the encoder has said, weighted by how well it matches h: [B, H]. */
static mw_tensor *context_of(mw_tensor *h, const translator *n)
{
    mw_tensor *query = mw_expand_dims(mw_linear(h, n->match, NULL), MW_AXES(1)); /* [B, 1, H] */
    mw_tensor *weights = mw_softmax(mw_matmul(query, n->encoded, MW_TRANSPOSE_Y), -1);
    return mw_squeeze(mw_matmul(weights, n->encoded, MW_TRANSPOSE_NONE), MW_AXES(1));
}

static mw_tensor *at_step(mw_tensor *x, int step)
{
    const mw_slice one[] = {
        {.from_start = true, .to_end = true}, {.begin = step, .squeeze = true}, {.from_start = true, .to_end = true}};
    return mw_slice_by_index(x, one);
}

/* The words before [B, T, E] and the last state of the encoder [B, H] -> [B, T, H]. */
static mw_tensor *decoded(mw_tensor *before, mw_tensor *h, const translator *n)
{
    enum { STEPS_MAX = 64 };
    mw_tensor *out[STEPS_MAX], *fed = mw_fill_like(h, MW_F32, 0.0);
    for (int step = 0; step < n->written && step < STEPS_MAX; step++) {
        h = gru_step(mw_concat((mw_tensor *[]){at_step(before, step), fed}, 2, 1), h, n);
        mw_tensor *joined = mw_concat((mw_tensor *[]){h, context_of(h, n)}, 2, 1);
        fed = out[step] = mw_tanh(mw_linear(joined, n->join, n->join_bias));
    }
    return mw_stack(out, (size_t)n->written, 1);
}

mw_tensor *zoo_seq2seq(zoo_form *form)
{
    translator n = form->tiny ? (translator){form->batch, 6, 5, 64, 8, .hidden = 12}
                              : (translator){form->batch, 30, 24, 8000, 128, .hidden = 256};
    mw_tensor *x = zoo_integers(form, "x", MW_SHAPE(n.batch, n.read), n.words);
    mw_tensor *before = zoo_integers(form, "before", MW_SHAPE(n.batch, n.written), n.words);
    mw_recurrent_layer_options options = mw_recurrent_layer_defaults();
    options.batch_first = true;
    const mw_recurrent encoder =
        mw_gru_layer(word_vectors(x, n.words, n.width, "source.weight"), n.hidden, "encoder", &options);
    n.encoded = encoder.y;
    declare_decoder(form->graph, &n);
    mw_tensor *h =
        decoded(word_vectors(before, n.words, n.width, "target.weight"), mw_squeeze(encoder.h, MW_AXES(0)), &n);
    h = zoo_dense(h, n.words, "out");
    return zoo_by_classes(form, mw_reshape(h, MW_SHAPE((int64_t)n.batch * n.written, n.words)));
}

/* Small random nets as data: a list of layers, some with layers inside of them. A net is one line of text, so that a
 * case that fails can be given to the test again. Values between layers are [N, S, F]: examples, steps, features. */
#ifndef TESTS_COMBINE_NET_H
#define TESTS_COMBINE_NET_H

#include "base/number/random.h"

#include <millwright/millwright.h>

enum { NET_LAYERS = 40, NET_TEXT = 1024, NET_NAMES = 64, NET_CLASSES = 3, NET_WORDS = 5, NET_DEPTH = 8 };

typedef enum net_kind {
    NET_DENSE,
    NET_FIXED, /* a dense layer of constants */
    NET_CONV,
    NET_CONV2,
    NET_POOL,
    NET_BATCH_NORM,
    NET_LAYER_NORM,
    NET_LSTM,
    NET_GRU,
    NET_RNN,
    NET_ATTENTION,
    NET_EMBED,
    NET_DROPOUT,
    NET_NOISE,
    NET_SHARED, /* a layer that every other `shared` of this width is, too */
    NET_OUTER,  /* adds the value with which the outermost block of this shape started */
    NET_TANH,
    NET_RELU,
    NET_GELU,
    NET_SIGMOID,
    NET_SOFTMAX,
    NET_STOP,      /* half of the value has no gradient */
    NET_CUSTOM,    /* a tanh with a gradient of its own, which is half of the right one */
    NET_LOOP,      /* so many trips */
    NET_WHILE,     /* at most so many, as long as the values are large */
    NET_COND,      /* the layers before `else`, or those behind it */
    NET_ELSE,      /* the other branch */
    NET_LIST,      /* a loop that keeps each value in a list */
    NET_RECOMPUTE, /* a segment, if the option says so */
    NET_KINDS
} net_kind;

typedef struct net_row {
    const char *name;
    bool has_size, is_block;
    int weight;     /* how often it is drawn */
    bool in_blocks; /* loops and branches may have it */
} net_row;

/* Row of a kind. */
const net_row *net_row_of(net_kind kind);

typedef struct net_layer {
    net_kind kind;
    int size;
    int depth; /* layers behind a block that are deeper are inside of it */
} net_layer;

typedef enum net_loss {
    NET_MSE,
    NET_HUBER,
    NET_CE,
    NET_CE_SOFT,
    NET_BCE,
    NET_FOCAL,
    NET_BINARY_FOCAL,
    NET_DICE,
    NET_PINBALL,
    NET_COSINE,
    NET_TRIPLET,
    NET_INFO_NCE,
    NET_NT_XENT,
    NET_CTC,
    NET_LOSSES
} net_loss;
typedef enum net_optimizer {
    NET_SGD,
    NET_MOMENTUM,
    NET_ADAM,
    NET_RMSPROP,
    NET_LION,
    NET_MUON,
    NET_OPTIMIZERS
} net_optimizer;

typedef struct net {
    int examples, steps, features;
    net_loss loss;
    net_optimizer optimizer;
    bool planted; /* a run with `watch` is wrong if it has a gelu: to see that it is found */
    bool slow;    /* a hundredth of the learning rate, at which what diverged does not */
    int count;
    net_layer layers[NET_LAYERS];
} net;

/* The layer behind the last one inside of layer `at`. */
int net_end(const net *n, int at);
bool net_has(const net *n, net_kind kind);
/* Features of the value that layer `at` gets. */
int net_width_at(const net *n, int at);
/* True if a layer of the kind is inside of a block of the other kind. */
bool net_has_inside(const net *n, net_kind kind, net_kind block);

void net_print(const net *n, char out[NET_TEXT]);
/* Reads what net_print writes, and returns what follows it; NULL if it is no net. */
const char *net_parse(net *out, const char *text);
void net_draw(net *out, mw__random *random);

/* ---- as a graph ---- */

/* How a net is built. */
typedef struct net_form {
    int examples;          /* 0 = the net's */
    bool recompute;        /* segments are segments */
    bool fixed_is_trained; /* constants of `fixed` layers are parameters with the same values */
} net_form;

/* The graph with result "z" [N, NET_CLASSES]. */
mw_graph *net_build(const net *n, const net_form *form, mw_error *err);
/* Appends the loss of "z", with the input "t": labels, or rows of values. */
mw_tensor *net_add_loss(const net *n, mw_tensor *z);
bool net_takes_labels(const net *n);
const char *net_loss_word(net_loss loss);
mw_optimizer net_optimizer_of(const net *n);

/* What `examples` examples are fed: number `batch`. */
typedef struct net_feeds {
    mw_feed feeds[3];
    mw_batch batch;
    float x[512], t[64];
    int32_t tokens[128], labels[16];
} net_feeds;
void net_feed(net_feeds *out, const net *n, int examples, int batch);

/* Inside of net_build. */
typedef struct net_builder {
    const net *n;
    const net_form *form;
    mw_graph *graph;
    mw_tensor *tokens;
    int examples;
    mw_layer *shared[64];
    mw_tensor *fixed[NET_LAYERS][2]; /* weight and bias of the `fixed` layers, which stand outside of all blocks */
    mw_tensor *outer[NET_DEPTH * 2];
    int outer_count;
} net_builder;

mw_tensor *net_layers(net_builder *b, int first, int end, mw_tensor *x);
mw_tensor *net_block(net_builder *b, int at, mw_tensor *x);
/* x with as many features as `like`, by a layer of its own where it has others. */
mw_tensor *net_fit(mw_tensor *x, const mw_tensor *like, int at);
/* count numbers in [-1, 1) that depend on `stream` alone. */
void net_numbers(float *out, int count, uint64_t stream);

#endif

/* Networks of language models: what families have in common and where they differ, as rows, and the parts that graphs
 * are built of. */
#ifndef MW__TEXT_NET_NET_H
#define MW__TEXT_NET_NET_H

#include <millwright/text_model.h>

typedef enum mw__language_norm { MW__NET_LAYER_NORM, MW__NET_RMS_NORM, MW__NET_RMS_NORM_FROM_ONE } mw__language_norm;
typedef enum mw__language_activation { MW__NET_SILU, MW__NET_GELU, MW__NET_GELU_TANH } mw__language_activation;

/* A family. Names are those of its files, below the prefix of a layer; NULL where it has no such part. */
typedef struct mw__family {
    const char *name;
    mw__language_norm norm;
    mw__language_activation activation;
    const char *words, *places; /* tables of words and of learned positions */
    const char *types;          /* .. and of kinds of tokens */
    const char *words_norm;     /* of the sum of these rows */
    const char *layer;          /* "model.layers.%d." */
    const char *before_attention, *after_attention, *before_mlp, *after_mlp; /* norms */
    const char *query, *key, *value, *mixed;                                 /* products of attention */
    const char *joined;                /* query, key and value by one product, [width, 3 width] */
    const char *query_norm, *key_norm; /* over the width of a head */
    const char *gate, *up, *down;      /* without a gate: down(activation(up)) */
    const char *last_norm, *head;
    const char *pooler;                   /* of an encoder: tanh of a product of the first token */
    const char *head_product, *head_norm; /* before the head of masked words */
    const char *head_bias;
    const char *adapted[2];          /* weights that get adapters, as fnmatch(3) */
    bool attention_bias, every_bias; /* of query, key and value; of all products */
    bool inputs_first;               /* weights are [inputs, outputs] */
    bool encoder;                    /* tokens look at all of their text; it writes none */
    bool sums_normed;                /* the norms after attention and MLP are of the sum with what came in */
    bool scales_words;               /* rows of the table are multiplied by the root of the width */
    bool every_second_window;
    bool tied; /* unless the file says otherwise; likewise: */
    int64_t positions;
    float epsilon;
    const char *epsilon_key; /* in config.json */
} mw__family;

/* The row of a name; NULL if there is none. */
const mw__family *mw__language_family(const char *name);

/* config.json, or that of a folder; `err` is not NULL. */
mw_status mw__language_config_read(const char *path, mw_text_config *out, mw_error *err);

/* What is being built. */
typedef struct mw__net {
    const mw_text_config *config;
    const mw__family *family;
    const mw_text_graph_options *options;
    mw_graph *graph;
    bool assigns;             /* the next values of the cache are assigned to it, and no outputs */
    mw_tensor *cosine, *sine; /* [tokens, head_width / 2] of the angles of these tokens, or [batch, 1, tokens, ..]; NULL
                               * without rotary positions */
    mw_tensor *mask, *window; /* BOOL: where a token may look; in a layer with a window (masks.c) */
    mw_tensor *at;            /* how many tokens came before; NULL without a cache */
    mw_tensor *before;        /* [batch, 1], of these how many stand before a text; NULL for one text */
    mw_tensor *starts;        /* [batch, tokens], where a token's document begins; NULL: all of a window is one */
} mw__net;

/* The product of x [.., inputs] with the weight `part`.weight of a layer. */
mw_tensor *mw__language_product(const mw__net *net, mw_tensor *x, int64_t outputs, int layer, const char *part,
                                bool bias);
/* A norm over the last axis; layer -1: of the network. */
mw_tensor *mw__language_norm_of(const mw__net *net, mw_tensor *x, int layer, const char *part);
mw_tensor *mw__language_parameter(const mw__net *net, int layer, const char *part, const char *what, mw_shape shape,
                                  mw_init init);
/* A matrix of fp16 is widened where it is multiplied. */
mw_tensor *mw__language_widened(mw_tensor *weight);
/* x + y with the norm `part` of y or of the sum; NULL = none */
mw_tensor *mw__language_join(const mw__net *net, mw_tensor *x, mw_tensor *y, int layer, const char *part);
/* The activation of the family. */
mw_tensor *mw__language_activated(const mw__net *net, mw_tensor *x);
/* x + attention(x), [batch, tokens, width] */
mw_tensor *mw__language_attend(const mw__net *net, mw_tensor *x, int layer);

/* mw_text_graph of one text with a cache, whose next values are assigned to it (mw_state_assign). Of one token "last"
 * is no input. */
mw_graph *mw__language_stateful(const mw_text_config *config, const mw_text_graph_options *options, mw_error *err);
/* ---- masks.c ---- */

/* Sets net->mask and net->window: not later than the token, and within the window. `slots`: where the tokens stand in
 * the cache, or the text. */
void mw__language_make_masks(mw__net *net, mw_tensor *slots);
/* Sets net->mask by the input "mask": all tokens of a text. */
void mw__language_make_text_mask(mw__net *net);

/* ---- encoder.c ---- */

/* What an encoder gives out of its hidden states [batch, tokens, width]; `words`: the table. */
void mw__language_end_encoder(const mw__net *net, mw_tensor *hidden, mw_tensor *words);
/* The loss of the input "labels". */
void mw__language_end_with_loss(const mw__net *net, mw_tensor *logits);
/* What an encoder is not built with. */
mw_status mw__language_check_encoder(const mw_text_config *config, const mw_text_graph_options *options, mw_error *err);

/* ---- rope.c ---- */

/* By how much a pair of channels turns for each position; `scaled`: as the configuration scales positions. */
double mw__language_frequency(const mw_text_config *config, int64_t pair, bool scaled);

/* Sets net->cosine and net->sine. `places`: [tokens] or [batch, tokens] I32, the tokens' positions. */
void mw__language_rotate_begin(mw__net *net, mw_tensor *places, mw_error *err);
/* x [batch, heads, tokens, head_width], each pair of channels turned by its position's angle. */
mw_tensor *mw__language_rotated(const mw__net *net, mw_tensor *x);

/* ---- tuning.c ---- */

mw_status mw__language_check_tuning(const mw_text_tuning *tuning, mw_error *err);
/* The graph with what `tuning` says of its parameters; takes it over. NULL with err set on failure. */
mw_graph *mw__language_tuned(mw_graph *graph, const mw_text_tuning *tuning, const mw__family *family, mw_error *err);

#endif

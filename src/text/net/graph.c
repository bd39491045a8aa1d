/* The graph of a network: words, layers, head, loss. */
#include "base/text/error.h"
#include "text/net/net.h"

#include <math.h>

mw_text_graph_options mw_text_graph_defaults(void)
{
    return (mw_text_graph_options){
        .struct_size = sizeof(mw_text_graph_options), .batch = 1, .tokens = 128, .weights = MW_F32};
}

/* ---- layers ---- */

static mw_tensor *feed_forward(const mw__net *net, mw_tensor *x, int layer)
{
    const mw__family *f = net->family;
    const mw_text_config *c = net->config;
    mw_tensor *h = f->before_mlp != NULL ? mw__language_norm_of(net, x, layer, f->before_mlp) : x;
    mw_tensor *up = mw__language_product(net, h, c->hidden, layer, f->up, f->every_bias), *gate = NULL;
    if (f->gate != NULL)
        gate = mw__language_product(net, h, c->hidden, layer, f->gate, f->every_bias);
    up = gate == NULL ? mw__language_activated(net, up) : mw_mul(mw__language_activated(net, gate), up);
    return mw__language_join(net, x, mw__language_product(net, up, c->width, layer, f->down, f->every_bias), layer,
                             f->after_mlp);
}

/* ---- the ends ---- */

typedef struct ends {
    mw_tensor *tokens, *places, *words;
    mw_tensor *types; /* NULL without kinds of tokens */
} ends;

/* Positions of a document count from its begin. Rotary ones need it not: only how far tokens are apart counts there. */
static mw_tensor *begin_documents(mw__net *net, mw_tensor *slots)
{
    const mw_text_graph_options *o = net->options;
    net->starts = mw_input(net->graph, "starts", MW_I32, MW_SHAPE(o->batch, o->tokens));
    return net->family->places != NULL ? mw_sub(slots, net->starts) : slots;
}

/* Where the tokens stand in the cache; `places`: in their texts, from which what stands before them is left out. */
static mw_tensor *begin_places(mw__net *net, ends *e)
{
    const mw_text_graph_options *o = net->options;
    mw_tensor *slots = mw_range_1d(net->graph, MW_I32, 0.0, (double)o->tokens, 1.0);
    e->places = o->apart ? begin_documents(net, slots) : slots;
    if (o->cache == 0)
        return slots;
    net->at = mw_input(net->graph, "at", MW_I32, MW_SHAPE(1));
    e->places = slots = mw_add(slots, net->at);
    if (o->batch == 1)
        return slots;
    net->before = mw_input(net->graph, "before", MW_I32, MW_SHAPE(o->batch, 1));
    mw_tensor *all = mw_tile(mw_reshape(slots, MW_SHAPE(1, o->tokens)), MW_SHAPE(o->batch, 1));
    e->places = mw_maximum(mw_sub(all, net->before), mw_constant(net->graph, MW_I32, MW_SHAPE(1), (int32_t[]){0}));
    return all;
}

/* [rows, width] */
static mw_tensor *table_of(const mw__net *net, const char *part, int64_t rows)
{
    return mw__language_parameter(net, -1, part, "", MW_SHAPE(rows, net->config->width), mw_init_normal(0.0F, 0.02F));
}

static ends begin_net(mw__net *net, mw_error *err)
{
    const mw_text_graph_options *o = net->options;
    const mw_text_config *c = net->config;
    ends e = {.tokens = mw_input(net->graph, "tokens", MW_I32, MW_SHAPE(o->batch, o->tokens))};
    mw_tensor *slots = begin_places(net, &e);
    e.words = table_of(net, net->family->words, c->words);
    if (net->family->places == NULL)
        mw__language_rotate_begin(net, e.places, err);
    if (net->family->types != NULL)
        e.types = mw_input(net->graph, "types", MW_I32, MW_SHAPE(o->batch, o->tokens));
    if (net->family->encoder)
        mw__language_make_text_mask(net);
    else
        mw__language_make_masks(net, slots);
    return e;
}

/* Rows of a table that may be fp16. */
static mw_tensor *look_up(mw_tensor *table, mw_tensor *rows)
{
    mw_tensor *x = mw_gather(table, rows, 0);
    return mw_tensor_dtype(x) == MW_F32 ? x : mw_cast(x, MW_F32);
}

static mw_tensor *embed(const mw__net *net, const ends *e)
{
    const mw_text_config *c = net->config;
    const mw__family *f = net->family;
    mw_tensor *x = look_up(e->words, e->tokens);
    if (f->scales_words)
        x = mw_mul_scalar(x, sqrt((double)c->width));
    if (f->places != NULL)
        x = mw_add(x, look_up(table_of(net, f->places, c->positions), e->places));
    if (f->types != NULL)
        x = mw_add(x, look_up(table_of(net, f->types, c->types), e->types));
    return f->words_norm != NULL ? mw__language_norm_of(net, x, -1, f->words_norm) : x;
}

static mw_tensor *head_of(const mw__net *net, const ends *e, mw_tensor *x)
{
    const mw_text_config *c = net->config;
    mw_tensor *weight = c->tied ? e->words : table_of(net, net->family->head, c->words);
    mw_tensor *logits = mw_linear(x, mw__language_widened(weight), NULL);
    if (c->logit_softcap <= 0.0)
        return logits;
    return mw_mul_scalar(mw_tanh(mw_mul_scalar(logits, 1.0 / c->logit_softcap)), c->logit_softcap);
}

static void build(mw__net *net, mw_error *err)
{
    const ends e = begin_net(net, err);
    mw_tensor *x = embed(net, &e);
    for (int layer = 0; layer < (int)net->config->layers; layer++)
        x = feed_forward(net, mw__language_attend(net, x, layer), layer);
    if (net->family->encoder) {
        mw__language_end_encoder(net, x, e.words);
        return;
    }
    if (net->at != NULL) /* only the head of the token that is asked for is computed */
        x = mw_reshape(net->assigns && net->options->tokens == 1
                           ? x
                           : mw_gather(x, mw_input(net->graph, "last", MW_I32, MW_SHAPE(1)), 1),
                       MW_SHAPE(net->options->batch, net->config->width));
    mw_tensor *logits = head_of(net, &e, mw__language_norm_of(net, x, -1, net->family->last_norm));
    if (net->options->loss)
        mw__language_end_with_loss(net, logits);
    else
        mw_output(logits, "logits");
}

static mw_status check_graph(const mw_text_config *c, const mw_text_graph_options *o, mw_error *err)
{
    if (c == NULL || c->struct_size != sizeof *c || o->struct_size != sizeof *o ||
        mw__language_family(c->family) == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "a network of text: the configuration has no family");
    if (c->layers < 1 || c->width < 1 || c->heads < 1 || c->kv_heads < 1 || c->heads % c->kv_heads != 0 ||
        c->head_width < 2 || c->head_width % 2 != 0 || c->hidden < 1 || c->words < 1 || c->layers > 10000)
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "a network of text: %lld layers, width %lld, %lld heads in %lld groups of %lld, hidden %lld",
                        (long long)c->layers, (long long)c->width, (long long)c->heads, (long long)c->kv_heads,
                        (long long)c->head_width, (long long)c->hidden);
    if (o->batch < 1 || o->tokens < 1 || o->cache < 0 || ((o->loss || o->apart) && o->cache > 0))
        return mw__fail(err, MW_ERROR_ARGUMENT, "a network of text: batch %lld, %lld tokens, a cache of %lld%s",
                        (long long)o->batch, (long long)o->tokens, (long long)o->cache,
                        o->cache <= 0 ? ""
                        : o->loss     ? " and a loss"
                        : o->apart    ? " and documents apart"
                                      : "");
    if (o->weights != MW_F32 && (o->weights != MW_F16 || o->loss))
        return mw__fail(err, MW_ERROR_ARGUMENT, "a network of text: weights are fp32, or fp16 without a loss");
    const int64_t most = o->cache > 0 ? o->cache : o->tokens;
    if (most > c->positions)
        return mw__fail(err, MW_ERROR_ARGUMENT, "a network of text: %lld tokens, and it has %lld positions",
                        (long long)most, (long long)c->positions);
    if (mw__language_family(c->family)->encoder)
        MW_TRY(mw__language_check_encoder(c, o, err));
    return mw__language_check_tuning(&o->tuning, err);
}

static mw_graph *make_graph(const mw_text_config *config, const mw_text_graph_options *options, bool assigns,
                            mw_error *err)
{
    if (check_graph(config, options, err) != MW_OK)
        return NULL;
    mw__net net = {.config = config,
                   .family = mw__language_family(config->family),
                   .options = options,
                   .assigns = assigns,
                   .graph = mw_graph_create(NULL, err)};
    if (net.graph == NULL)
        return NULL;
    build(&net, err);
    if (mw_graph_check(net.graph, err) == MW_OK && err->status == MW_OK)
        return mw__language_tuned(net.graph, &options->tuning, net.family, err);
    mw_graph_destroy(net.graph);
    return NULL;
}

mw_graph *mw_text_graph(const mw_text_config *config, const mw_text_graph_options *options, mw_error *err)
{
    mw_error own = {0};
    if (mw__skips(err))
        return NULL;
    const mw_text_graph_options o = options != NULL ? *options : mw_text_graph_defaults();
    return make_graph(config, &o, false, err != NULL ? err : &own);
}

mw_graph *mw__language_stateful(const mw_text_config *config, const mw_text_graph_options *options, mw_error *err)
{
    return make_graph(config, options, true, err);
}

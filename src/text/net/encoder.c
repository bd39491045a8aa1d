/* What stands behind the layers of an encoder: hidden states, the pooler, and the head of masked words. */
#include "base/text/error.h"
#include "text/net/net.h"

/* Labels of -100 do not count, as in PyTorch. */
void mw__language_end_with_loss(const mw__net *net, mw_tensor *logits)
{
    const mw_text_graph_options *o = net->options;
    mw_cross_entropy_options options = mw_cross_entropy_defaults();
    options.ignore_index = -100;
    mw_tensor *labels = mw_input(net->graph, "labels", MW_I32, MW_SHAPE(o->batch, o->tokens));
    mw_output(mw_cross_entropy_with(logits, labels, &options), "loss");
}

/* tanh(W h_0 + b), [batch, width] */
static void end_with_pooler(const mw__net *net, mw_tensor *hidden)
{
    const int64_t batch = net->options->batch, width = net->config->width;
    mw_tensor *first = mw_slice_by_size(hidden, (int64_t[]){0, 0, 0}, (int64_t[]){batch, 1, width});
    first = mw_reshape(first, MW_SHAPE(batch, width));
    mw_output(mw_tanh(mw__language_product(net, first, width, -1, net->family->pooler, true)), "pooled");
}

/* [batch, tokens, words] */
static mw_tensor *logits_of(const mw__net *net, mw_tensor *hidden, mw_tensor *words)
{
    const mw_text_config *c = net->config;
    const mw__family *f = net->family;
    mw_tensor *x = mw__language_product(net, hidden, c->width, -1, f->head_product, true);
    x = mw__language_norm_of(net, mw__language_activated(net, x), -1, f->head_norm);
    if (!c->tied)
        words = mw__language_parameter(net, -1, f->head, "", MW_SHAPE(c->words, c->width), mw_init_normal(0.0F, 0.02F));
    mw_tensor *bias = mw__language_parameter(net, -1, f->head_bias, "", MW_SHAPE(c->words), mw_init_zeros());
    return mw_linear(x, mw__language_widened(words), bias);
}

void mw__language_end_encoder(const mw__net *net, mw_tensor *hidden, mw_tensor *words)
{
    mw_tensor *logits = net->config->word_head ? logits_of(net, hidden, words) : NULL;
    if (net->options->loss) {
        mw__language_end_with_loss(net, logits);
        return;
    }
    mw_output(hidden, "hidden");
    if (net->config->pooler)
        end_with_pooler(net, hidden);
    if (logits != NULL)
        mw_output(logits, "logits");
}

mw_status mw__language_check_encoder(const mw_text_config *c, const mw_text_graph_options *o, mw_error *err)
{
    if (o->cache > 0)
        return mw__fail(
            err, MW_ERROR_ARGUMENT,
            "a network of text: %s is an encoder, which looks at whole texts: it has no cache, here of %lld", c->family,
            (long long)o->cache);
    if (o->apart)
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "a network of text: %s is an encoder, and an example one text: there are no documents to set "
                        "apart",
                        c->family);
    if (o->loss && !c->word_head)
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "a network of text: this %s has no head of masked words (cls.predictions), and so no loss of "
                        "its own; another one is built on the output \"hidden\" of a graph without",
                        c->family);
    if (c->types < 1 || c->kv_heads != c->heads || c->head_width * c->heads != c->width)
        return mw__fail(
            err, MW_ERROR_ARGUMENT,
            "a network of text: %s with %lld kinds of tokens, width %lld, %lld heads in %lld groups of %lld", c->family,
            (long long)c->types, (long long)c->width, (long long)c->heads, (long long)c->kv_heads,
            (long long)c->head_width);
    return MW_OK;
}

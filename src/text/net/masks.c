/* Where tokens look. */
#include "text/net/net.h"

/* x [tokens] or [batch, tokens] -> once for each head of a group, [rows, 1] or [batch, 1, rows, 1] */
static mw_tensor *row_numbers(const mw__net *net, mw_tensor *x)
{
    const int64_t each = net->config->heads / net->config->kv_heads, rows = each * net->options->tokens;
    const bool of_texts = mw_tensor_shape(x).rank == 2;
    if (each > 1)
        x = mw_tile(x, of_texts ? MW_SHAPE(1, each) : MW_SHAPE(each));
    return mw_reshape(x, of_texts ? MW_SHAPE(net->options->batch, 1, rows, 1) : MW_SHAPE(rows, 1));
}

/* What stands before a text is hidden from it, but never a token from itself: a row without keys would be NaN. */
static mw_tensor *hide_padding(const mw__net *net, mw_tensor *mask, mw_tensor *key, mw_tensor *own)
{
    mw_tensor *first = mw_reshape(net->before, MW_SHAPE(net->options->batch, 1, 1, 1));
    mw_tensor *seen = mw_logical_or(mw_greater_equal(key, first), mw_greater_equal(key, own));
    return mw_logical_and(mask, seen);
}

/* BOOL [rows, keys], or [batch, 1, rows, keys] */
void mw__language_make_masks(mw__net *net, mw_tensor *slots)
{
    const int64_t keys = net->at != NULL ? net->options->cache : net->options->tokens;
    mw_tensor *key = mw_reshape(mw_range_1d(net->graph, MW_I32, 0.0, (double)keys, 1.0), MW_SHAPE(1, keys));
    mw_tensor *own = row_numbers(net, slots);
    net->mask = mw_less_equal(key, own);
    if (net->before != NULL)
        net->mask = hide_padding(net, net->mask, key, own);
    if (net->starts != NULL)
        net->mask = mw_logical_and(net->mask, mw_greater_equal(key, row_numbers(net, net->starts)));
    if (net->config->window <= 0 || net->config->window >= keys)
        return;
    mw_tensor *oldest = mw_add_scalar(own, -(double)net->config->window);
    net->window = mw_logical_and(net->mask, mw_greater(key, oldest));
}

/* BOOL [batch, 1, 1, tokens] */
void mw__language_make_text_mask(mw__net *net)
{
    const mw_text_graph_options *o = net->options;
    mw_tensor *given = mw_input(net->graph, "mask", MW_I32, MW_SHAPE(o->batch, o->tokens));
    mw_tensor *none = mw_constant(net->graph, MW_I32, MW_SHAPE(1), (int32_t[]){0});
    net->mask = mw_reshape(mw_greater(given, none), MW_SHAPE(o->batch, 1, 1, o->tokens));
}

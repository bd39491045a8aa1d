/* Blocks of a net: loops, branches, lists and segments. The value of a block has the shape that it started with. */
#include "net.h"

typedef struct block {
    net_builder *b;
    int at;
    mw_tensor *x; /* of a branch: what it starts from */
} block;

static mw_tensor *scalar(const block *k, double value) { return mw_scalar(k->b->graph, MW_I32, value); }

static mw_tensor *mean_size(mw_tensor *x) { return mw_reduce_mean(mw_abs(x), MW_ALL_AXES, false); }

static mw_tensor *inside(const block *k, int first, int end, mw_tensor *x)
{
    k->b->outer[k->b->outer_count++] = x;
    mw_tensor *y = net_fit(net_layers(k->b, first, end, x), x, first);
    k->b->outer_count--;
    return y;
}

static mw_tensor *whole(const block *k, mw_tensor *x) { return inside(k, k->at + 1, net_end(k->b->n, k->at), x); }

/* ---- loops ---- */

static mw_tensor *goes_on(void *user, mw_tensor *const *vars, size_t count)
{
    const block *k = user;
    const net_layer *l = &k->b->n->layers[k->at];
    mw_tensor *bounded = mw_less(vars[0], scalar(k, l->size));
    (void)count;
    if (l->kind != NET_WHILE)
        return bounded;
    mw_tensor *large = mw_greater(mean_size(vars[1]), mw_scalar(k->b->graph, MW_F32, 0.2));
    return l->size % 2 == 0 ? mw_logical_and(bounded, large) : mw_logical_and(large, bounded);
}

/* A loop that ends by its values halves them. */
static void trip(void *user, mw_tensor *const *vars, size_t count, mw_tensor **out)
{
    const block *k = user;
    out[0] = mw_add(vars[0], scalar(k, 1));
    out[1] = whole(k, vars[1]);
    if (k->b->n->layers[k->at].kind == NET_WHILE)
        out[1] = mw_mul_scalar(out[1], 0.5);
    if (count == 3)
        out[2] = mw_list_write(vars[2], vars[0], out[1]);
}

static mw_tensor *add_loop(block *k, mw_tensor *x)
{
    mw_tensor *vars[2] = {scalar(k, 0), x}, *out[2];
    mw_while_loop(vars, 2, goes_on, trip, k, out);
    return out[1];
}

/* The list is read at every place, or at one. */
static mw_tensor *add_list(block *k, mw_tensor *x)
{
    const int length = k->b->n->layers[k->at].size;
    const int32_t places[3] = {0, 1, 2};
    mw_tensor *list = mw_make_list(k->b->graph, MW_F32, mw_tensor_shape(x), length, false);
    mw_tensor *vars[3] = {scalar(k, 0), x, list}, *out[3];
    mw_while_loop(vars, 3, goes_on, trip, k, out);
    if (length % 2 != 0)
        return mw_add(out[1], mw_list_read(out[2], mw_sub(out[0], scalar(k, length))));
    mw_tensor *all = mw_list_gather(out[2], mw_constant(k->b->graph, MW_I32, MW_SHAPE(length), places));
    return mw_reduce_sum(all, MW_AXES(0), false);
}

/* ---- branches ---- */

static int find_else(const block *k)
{
    const net *n = k->b->n;
    const int end = net_end(n, k->at);
    for (int i = k->at + 1; i < end; i = net_end(n, i))
        if (n->layers[i].kind == NET_ELSE)
            return i;
    return end;
}

static void yes(void *user, mw_tensor **out, size_t count)
{
    const block *k = user;
    (void)count;
    out[0] = mw_mul_scalar(inside(k, k->at + 1, find_else(k), k->x), 2.0);
}

static void no(void *user, mw_tensor **out, size_t count)
{
    const block *k = user;
    const int end = net_end(k->b->n, k->at), at = find_else(k);
    (void)count;
    out[0] = mw_mul_scalar(inside(k, at < end ? at + 1 : end, end, k->x), 0.75);
}

static mw_tensor *add_branch(block *k, mw_tensor *x)
{
    mw_tensor *out = NULL, *mean = mw_reduce_mean(x, MW_ALL_AXES, false);
    k->x = x;
    /* not 0, which is the mean behind a norm but for its rounding */
    mw_cond(mw_greater(mean, mw_scalar(k->b->graph, MW_F32, 0.0371)), yes, no, k, &out, 1);
    return out;
}

/* ---- segments ---- */

static mw_tensor *add_segment(const block *k, mw_tensor *x)
{
    mw_tensor *starts[NET_DEPTH * 2 + 1] = {x};
    size_t count = 1;
    for (int i = 0; i < k->b->outer_count && net_has_inside(k->b->n, NET_OUTER, NET_RECOMPUTE); i++)
        if (k->b->outer[i] != x)
            starts[count++] = k->b->outer[i];
    mw_tensor *y = mw_tanh(whole(k, x));
    return k->b->form->recompute ? mw_recompute(y, starts, count) : y;
}

mw_tensor *net_block(net_builder *b, int at, mw_tensor *x)
{
    block k = {.b = b, .at = at};
    switch (b->n->layers[at].kind) {
    case NET_COND:
        return add_branch(&k, x);
    case NET_LIST:
        return add_list(&k, x);
    case NET_RECOMPUTE:
        return add_segment(&k, x);
    default:
        return add_loop(&k, x);
    }
}

/* Random nets full of kinks: see kinked_nets.h. */
#include "kinked_nets.h"

#include "base/number/random.h"

#include <stdio.h>
#include <string.h>

typedef struct builder {
    kinked_net *net;
    mw__random random;
    int places, plant;
} builder;

static int pick(builder *b, int count) { return (int)mw__random_below(&b->random, (uint64_t)count); }

static const char *name_of(builder *b, char *buffer)
{
    snprintf(buffer, 16, "l%zu", b->net->count++);
    return buffer;
}

/* ---- the planted fault ---- */

static mw_status scaled_rule(const mw_custom_vjp_call *call, mw_tensor **out_dx, mw_error *err)
{
    (void)err;
    out_dx[0] = mw_mul_scalar(call->dy, *(const double *)call->user);
    return MW_OK;
}

/* Place number `plant` of the net. */
static mw_tensor *place(builder *b, mw_tensor *h)
{
    if (b->places++ != b->plant)
        return h;
    return mw_custom_vjp("planted", mw_identity(h), &h, 1, scaled_rule, &b->net->factor);
}

/* ---- layers ---- */

static mw_tensor *sorted(builder *b, mw_tensor *h)
{
    mw_tensor *values = NULL, *indices = NULL;
    const mw_shape shape = mw_tensor_shape(h);
    mw_topk(h, pick(b, 2) == 0 ? shape.dim[1] : (shape.dim[1] + 1) / 2, 1, pick(b, 2) == 0, &values, &indices);
    return values;
}

/* prelu wants three axes. */
static mw_tensor *leaking(builder *b, mw_tensor *h)
{
    char name[16];
    const mw_shape shape = mw_tensor_shape(h);
    mw_tensor *alpha =
        mw_parameter(b->net->graph, name_of(b, name), MW_F32, MW_SHAPE(shape.dim[1]), mw_init_uniform(0.05F, 0.4F));
    if (shape.rank > 2)
        return mw_prelu(h, alpha);
    return mw_squeeze(mw_prelu(mw_expand_dims(h, MW_AXES(2)), alpha), MW_AXES(2));
}

static mw_tensor *kinked(builder *b, mw_tensor *h)
{
    switch (pick(b, 10)) {
    case 0:
    case 1:
        h = mw_relu(h);
        break;
    case 2:
        h = mw_leaky_relu(h, 0.1F);
        break;
    case 3:
        h = mw_abs(h);
        break;
    case 4:
        h = mw_clip(h, -0.5F, 0.7F);
        break;
    case 5:
        h = mw_maximum(h, mw_mul_scalar(h, -0.3));
        break;
    case 6:
        h = mw_minimum(mw_tanh(h), mw_sin(h));
        break;
    case 7:
        h = sorted(b, h);
        break;
    case 8:
        h = leaking(b, h);
        break;
    default:
        h = mw_relu6(mw_mul_scalar(h, 3.0));
        break;
    }
    return place(b, h);
}

static mw_tensor *conv(builder *b, mw_tensor *h, int64_t channels, int64_t kernel)
{
    char name[16];
    mw_conv_options options = mw_conv_defaults();
    options.pad_type = MW_PAD_SAME;
    return mw_conv_layer(h, channels, MW_SHAPE(kernel, kernel), name_of(b, name), &options);
}

static mw_tensor *normed(builder *b, mw_tensor *h)
{
    char name[16];
    switch (pick(b, 4)) {
    case 0:
        return mw_batch_norm_layer(h, 0.1F, 1e-5F, name_of(b, name));
    case 1:
        return mw_group_norm_layer(h, 1, 1e-5F, name_of(b, name));
    default:
        return h;
    }
}

static mw_tensor *pooled(mw_tensor *h)
{
    mw_pool_options options = mw_pool_defaults(MW_SHAPE(2, 2));
    options.stride[0] = options.stride[1] = 2;
    return mw_max_pool(h, &options);
}

/* ---- forms ---- */

static mw_tensor *dense(builder *b, mw_tensor *h, int64_t units)
{
    char name[16];
    return mw_dense(h, units, name_of(b, name));
}

static mw_tensor *perceptron(builder *b, mw_tensor *x)
{
    mw_tensor *h = x;
    const int depth = 2 + pick(b, 3);
    for (int i = 0; i < depth; i++)
        h = kinked(b, dense(b, h, 6 + pick(b, 10)));
    return dense(b, h, 3);
}

static mw_tensor *tail(builder *b, mw_tensor *h)
{
    h = pick(b, 2) == 0 ? mw_reduce_mean(h, MW_AXES(2, 3), false) : mw_reduce_max(h, MW_AXES(2, 3), false);
    return dense(b, place(b, h), 3);
}

static mw_tensor *convolutional(builder *b, mw_tensor *x)
{
    mw_tensor *h = x;
    for (int i = 0; i < 2; i++)
        h = pooled(kinked(b, normed(b, conv(b, h, 4 + pick(b, 4), 3))));
    return tail(b, place(b, h));
}

static mw_tensor *residual(builder *b, mw_tensor *x)
{
    const int64_t channels = 4 + pick(b, 3);
    mw_tensor *h = mw_relu(normed(b, conv(b, x, channels, 3)));
    for (int i = 0; i < 2; i++) {
        mw_tensor *inner = mw_relu(normed(b, conv(b, h, channels, 3)));
        inner = place(b, normed(b, conv(b, inner, channels, 3)));
        h = place(b, pick(b, 2) == 0 ? mw_relu(mw_add(h, inner)) : mw_leaky_relu(mw_add(h, inner), 0.2F));
    }
    return tail(b, pick(b, 2) == 0 ? pooled(h) : h);
}

static mw_tensor *twice(builder *b, mw_tensor *h, int64_t channels)
{
    h = place(b, mw_relu(normed(b, conv(b, h, channels, 3))));
    return place(b, mw_relu(normed(b, conv(b, h, channels, 3))));
}

static mw_tensor *u_net(builder *b, mw_tensor *x)
{
    char name[16];
    mw_conv_options up = mw_conv_defaults();
    up.stride[0] = up.stride[1] = 2;
    mw_tensor *top = twice(b, x, 3), *bottom = twice(b, pooled(top), 5);
    mw_tensor *raised = pick(b, 2) == 0 ? mw_conv_transpose_layer(bottom, 3, MW_SHAPE(2, 2), name_of(b, name), &up)
                                        : mw_upsample_nearest_neighbor(bottom, 2.0F, 2.0F);
    mw_tensor *both[2] = {top, raised};
    return conv(b, twice(b, mw_concat(both, 2, 1), 4), 2, 1);
}

static mw_tensor *choosing(builder *b, mw_tensor *x)
{
    mw_tensor *a = dense(b, x, 8), *c = dense(b, x, 8);
    mw_tensor *h = place(b, mw_select(mw_greater(a, c), mw_square(a), mw_tanh(c)));
    h = kinked(b, mw_concat((mw_tensor *[]){h, mw_maximum(a, c), sorted(b, c)}, 3, 1));
    return mw_reduce_min(dense(b, h, 4), MW_AXES(1), true);
}

static mw_tensor *scalar_of(builder *b, mw_tensor *y)
{
    mw_tensor *target = mw_input(b->net->graph, "target", MW_F32, mw_tensor_shape(y));
    switch (pick(b, 4)) {
    case 0:
        return mw_mse(y, target);
    case 1:
        return mw_huber(y, target, 0.3F);
    case 2:
        return mw_l1(y, target);
    default:
        return mw_binary_cross_entropy(y, mw_sigmoid(target), NULL);
    }
}

/* ---- the net ---- */

static void list_leaves(kinked_net *net, mw_tensor *x)
{
    mw_weight weights[KINKED_LEAVES];
    size_t found = 0;
    mw_error err = {0};
    net->count = 0;
    mw_graph_weights(net->graph, weights, KINKED_LEAVES, &found, &err);
    for (size_t i = 0; i < found && i + 1 < KINKED_LEAVES; i++)
        if (weights[i].is_parameter)
            net->leaves[net->count++] = mw_graph_find(net->graph, weights[i].name);
    net->leaves[net->count++] = x;
}

static void feed_net(kinked_net *net, mw_tensor *x, mw_tensor *y, mw__random *random)
{
    for (int i = 0; i < KINKED_INPUT; i++) {
        net->x[i] = 2.0F * mw__random_uniform(random) - 1.0F;
        net->target[i] = 2.0F * mw__random_uniform(random) - 1.0F;
    }
    const mw_shape shapes[2] = {mw_tensor_shape(x), mw_tensor_shape(y)};
    net->feeds[0] = (mw_feed){.name = "x", .dtype = MW_F32, .data = net->x};
    net->feeds[1] = (mw_feed){.name = "target", .dtype = MW_F32, .data = net->target};
    for (int i = 0; i < 2; i++) {
        net->feeds[i].count = (size_t)mw_shape_count(shapes[i]);
        net->feeds[i].scale = 1.0F;
    }
    net->batch = (mw_batch){.feeds = net->feeds, .feed_count = 2, .examples = (size_t)shapes[0].dim[0]};
}

void kinked_net_init(kinked_net *net, int form, uint64_t seed, int plant, double factor)
{
    static const char *const names[] = {"perceptron", "convolutional", "residual", "u-net", "choosing"};
    *net = (kinked_net){.graph = mw_graph_create(NULL, NULL), .factor = factor};
    builder b = {.net = net, .random = {.seed = seed * 8 + (uint64_t)form}, .plant = plant};
    snprintf(net->form, sizeof net->form, "%s", names[form]);
    const bool flat = form == 0 || form == 4;
    mw_tensor *x = mw_input(net->graph, "x", MW_F32, flat ? MW_SHAPE(5, 6) : MW_SHAPE(2, 2, 8, 8));
    mw_tensor *(*const forms[])(builder *, mw_tensor *) = {perceptron, convolutional, residual, u_net, choosing};
    mw_tensor *y = forms[form](&b, x);
    net->y = scalar_of(&b, y);
    list_leaves(net, x);
    net->places = b.places;
    feed_net(net, x, y, &b.random);
}

void kinked_net_deinit(kinked_net *net) { mw_graph_destroy(net->graph); }

/* Four networks and what their tests ask of them. */
#include "nets.h"
#include "support/on_engine.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- what they share ---- */

static mw_tensor *conv(mw_tensor *x, int64_t channels, int64_t kernel, int64_t stride, int64_t pad, bool bias,
                       const char *name)
{
    mw_conv_options options = mw_conv_defaults();
    options.pad_type = MW_PAD_CUSTOM;
    options.bias = bias;
    for (int i = 0; i < 2; i++) {
        options.stride[i] = stride;
        options.pad[2 * i] = options.pad[2 * i + 1] = pad;
    }
    return mw_conv_layer(x, channels, MW_SHAPE(kernel, kernel), name, &options);
}

static mw_tensor *conv_transpose(mw_tensor *x, int64_t channels, const char *name)
{
    mw_conv_options options = mw_conv_defaults();
    options.pad_type = MW_PAD_CUSTOM;
    for (int i = 0; i < 2; i++) {
        options.stride[i] = 2;
        options.pad[2 * i] = options.pad[2 * i + 1] = 1;
    }
    return mw_conv_transpose_layer(x, channels, MW_SHAPE(4, 4), name, &options);
}

static mw_tensor *max_pool(mw_tensor *x)
{
    mw_pool_options options = mw_pool_defaults(MW_SHAPE(2, 2));
    options.stride[0] = options.stride[1] = 2;
    return mw_max_pool(x, &options);
}

/* ---- conv ---- */

static mw_tensor *conv_net(mw_graph *graph)
{
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(16, 1, 12, 12));
    mw_tensor *y = mw_input(graph, "y", MW_I32, MW_SHAPE(16));
    mw_tensor *h = max_pool(mw_relu(conv(x, 8, 3, 1, 1, true, "conv1")));
    h = max_pool(mw_relu(conv(h, 16, 3, 1, 0, true, "conv2")));
    h = mw_relu(mw_dense(mw_reshape(h, MW_SHAPE(16, 64)), 32, "fc1"));
    return mw_cross_entropy(mw_dense(h, 10, "fc2"), y);
}

/* ---- resnet: two residual blocks with batch norm ---- */

/* conv `outer`.conv`part` and batch norm `outer`.bn`part` of kernel 3. */
static mw_tensor *normed(mw_tensor *x, int64_t channels, int64_t stride, const char *outer, const char *part)
{
    char name[32];
    snprintf(name, sizeof name, "%sconv%s", outer, part);
    x = conv(x, channels, 3, stride, 1, false, name);
    snprintf(name, sizeof name, "%sbn%s", outer, part);
    return mw_batch_norm_layer(x, 0.1f, 1e-5f, name);
}

static mw_tensor *resnet(mw_graph *graph)
{
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(8, 3, 8, 8));
    mw_tensor *y = mw_input(graph, "y", MW_I32, MW_SHAPE(8));
    mw_tensor *h = mw_relu(normed(x, 8, 1, "", ""));
    h = mw_relu(mw_add(h, normed(mw_relu(normed(h, 8, 1, "block1.", "1")), 8, 1, "block1.", "2")));
    mw_tensor *shortcut = conv(h, 16, 1, 2, 0, false, "block2.shortcut");
    h = normed(mw_relu(normed(h, 16, 2, "block2.", "1")), 16, 1, "block2.", "2");
    h = mw_reduce_mean(mw_relu(mw_add(h, shortcut)), MW_AXES(2, 3), false);
    return mw_cross_entropy(mw_dense(h, 10, "fc"), y);
}

/* ---- transformer: N sequences of T tokens, width D, H heads ---- */

enum { N = 4, T = 12, D = 32, H = 4, VOCABULARY = 16 };

static mw_tensor *heads(mw_tensor *x) /* [N, T, D] -> [N, H, T, D / H] */
{
    return mw_transpose(mw_reshape(x, MW_SHAPE(N, T, H, D / H)), MW_AXES(0, 2, 1, 3));
}

static mw_tensor *attention(mw_tensor *x)
{
    bool seen[T * T];
    mw_tensor *qkv[3];
    for (int i = 0; i < T * T; i++)
        seen[i] = i % T <= i / T;
    if (mw_split(mw_dense(x, 3 * D, "qkv"), 3, 2, qkv) != MW_OK)
        return NULL;
    mw_tensor *q = heads(qkv[0]), *k = heads(qkv[1]), *v = heads(qkv[2]);
    mw_tensor *mask = mw_constant(mw_tensor_graph(x), MW_BOOL, MW_SHAPE(T, T), seen);
    mw_tensor *scores = mw_mul_scalar(mw_matmul(q, k, MW_TRANSPOSE_Y), 1.0 / sqrt((double)(D / H)));
    mw_tensor *far = mw_scalar(mw_tensor_graph(x), MW_F32, -1e9);
    mw_tensor *h = mw_matmul(mw_softmax(mw_select(mask, scores, far), -1), v, MW_TRANSPOSE_NONE);
    return mw_dense(mw_reshape(mw_transpose(h, MW_AXES(0, 2, 1, 3)), MW_SHAPE(N, T, D)), D, "proj");
}

static mw_tensor *transformer(mw_graph *graph)
{
    mw_tensor *x = mw_input(graph, "x", MW_I32, MW_SHAPE(N, T));
    mw_tensor *y = mw_input(graph, "y", MW_I32, MW_SHAPE(N * T));
    mw_tensor *h = mw_embedding(x, VOCABULARY, D, "embedding");
    h = mw_add(h, mw_parameter(graph, "position", MW_F32, MW_SHAPE(T, D), mw_init_zeros()));
    h = mw_add(h, attention(mw_layer_norm_layer(h, 1, 1e-5f, "norm1")));
    mw_tensor *wide = mw_gelu(mw_dense(mw_layer_norm_layer(h, 1, 1e-5f, "norm2"), 4 * D, "fc1"), MW_GELU_TANH);
    h = mw_add(h, mw_dense(wide, D, "fc2"));
    mw_tensor *logits = mw_dense(mw_layer_norm_layer(h, 1, 1e-5f, "norm3"), VOCABULARY, "head");
    return mw_cross_entropy(mw_reshape(logits, MW_SHAPE(N * T, VOCABULARY)), y);
}

/* ---- vae ---- */

/* -x log s - (1 - x) log(1 - s) with s = sigmoid(z), which is softplus(z) - x z */
static mw_tensor *cross_entropy_with_logits(mw_tensor *z, mw_tensor *x)
{
    mw_tensor *product = mw_mul(x, z);
    return mw_sub(mw_log(mw_add_scalar(mw_exp(z), 1.0), 0.0f), product);
}

static mw_tensor *autoencoder(mw_graph *graph)
{
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(16, 1, 16, 16));
    mw_tensor *noise = mw_input(graph, "noise", MW_F32, MW_SHAPE(16, 8));
    mw_tensor *h = mw_relu(conv(mw_relu(conv(x, 4, 4, 2, 1, true, "enc1")), 8, 4, 2, 1, true, "enc2"));
    h = mw_reshape(h, MW_SHAPE(16, 128));
    mw_tensor *mean = mw_dense(h, 8, "mean"), *log_variance = mw_dense(h, 8, "log_variance");
    mw_tensor *z = mw_add(mean, mw_mul(mw_exp(mw_mul_scalar(log_variance, 0.5)), noise));
    mw_tensor *image = mw_reshape(mw_relu(mw_dense(z, 128, "fc")), MW_SHAPE(16, 8, 4, 4));
    mw_tensor *logits = conv_transpose(mw_relu(conv_transpose(image, 4, "dec1")), 1, "dec2");
    mw_tensor *reconstruction = mw_reduce_sum(cross_entropy_with_logits(logits, x), MW_AXES(1, 2, 3), false);
    mw_tensor *spread = mw_add(mw_square(mean), mw_exp(log_variance));
    mw_tensor *terms = mw_sub(mw_add_scalar(log_variance, 1.0), spread);
    mw_tensor *divergence = mw_mul_scalar(mw_reduce_sum(terms, MW_AXES(1), false), -0.5);
    return mw_mul_scalar(mw_reduce_mean(mw_add(reconstruction, divergence), MW_ALL_AXES, false), 1.0 / 256.0);
}

/* ---- by name ---- */

static const struct {
    const char *name;
    mw_tensor *(*build)(mw_graph *graph); /* the loss */
    int64_t batch;
} nets[] = {{"conv", conv_net, 16}, {"resnet", resnet, 8}, {"transformer", transformer, N}, {"vae", autoencoder, 16}};

static size_t find(const char *name)
{
    size_t i = 0;
    while (strcmp(nets[i].name, name) != 0)
        i++;
    return i;
}

int64_t nets_batch(const char *name) { return nets[find(name)].batch; }

mw_trainer *nets_trainer(const char *name, mw_optimizer optimizer, mw_error *err)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_tensor *loss = nets[find(name)].build(graph);
    mw_trainer *trainer = NULL;
    if (mw_graph_check(graph, err) == MW_OK) {
        trainer = engine_trainer(loss, optimizer, MW_DEVICE_CPU, 2, err);
    }
    mw_graph_destroy(graph);
    return trainer;
}

size_t nets_count(const mw_trainer *trainer, const char *name)
{
    const mw_program *program = mw_trainer_program(trainer);
    for (size_t i = 0; i < mw_program_get_info(program).port_count; i++) {
        mw_port port;
        if (mw_program_port_at(program, i, &port) && strcmp(port.name, name) == 0)
            return (size_t)mw_shape_count(port.shape);
    }
    return 0;
}

/* The networks of examples/mnist_mlp.c, mnist_cnn.c and, smaller, char_transformer.c. */
#include "mpi/nets.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PIXELS = 784, T = 24, D = 32, HEADS = 2, LAYERS = 2, LETTERS = 96, TEXT = 4096 };

/* ---- networks ---- */

static mw_tensor *build_mlp(mw_tensor *x)
{
    return mw_dense(mw_gelu(mw_dense(x, 256, "fc1"), MW_GELU_TANH), 10, "fc2");
}

static mw_tensor *convolve(mw_tensor *x, int64_t channels, const char *name)
{
    mw_conv_options same = mw_conv_defaults();
    same.pad_type = MW_PAD_SAME;
    mw_pool_options halve = mw_pool_defaults(MW_SHAPE(2, 2));
    halve.stride[0] = halve.stride[1] = 2;
    return mw_max_pool(mw_relu(mw_conv_layer(x, channels, MW_SHAPE(3, 3), name, &same)), &halve);
}

static mw_tensor *build_cnn(mw_tensor *x)
{
    mw_tensor *pooled = convolve(convolve(x, 16, "conv1"), 32, "conv2");
    mw_tensor *flat = mw_reshape(pooled, MW_SHAPE(mw_tensor_shape(x).dim[0], 32 * 7 * 7));
    return mw_dense(mw_relu(mw_dense(flat, 128, "fc1")), 10, "fc2");
}

static mw_tensor *causal_mask(mw_graph *graph)
{
    static float mask[T][T];
    for (int query = 0; query < T; query++)
        for (int key = 0; key < T; key++)
            mask[query][key] = key > query ? -30000.0f : 0.0f;
    return mw_constant(graph, MW_F32, MW_SHAPE(T, T), mask);
}

static const char *name_of(char *buffer, int layer, const char *part)
{
    snprintf(buffer, 32, "layer%d.%s", layer, part);
    return buffer;
}

static mw_tensor *attend(mw_tensor *x, mw_tensor *mask, int layer)
{
    char name[32];
    const int64_t n = mw_tensor_shape(x).dim[0];
    mw_tensor *parts[3] = {NULL};
    mw_tensor *heads = mw_dense(x, 3 * D, name_of(name, layer, "qkv"));
    heads = mw_transpose(mw_reshape(heads, MW_SHAPE(n, T, 3, HEADS, D / HEADS)), MW_AXES(2, 0, 3, 1, 4));
    mw_split(heads, 3, 0, parts);
    for (int i = 0; i < 3; i++)
        parts[i] = mw_reshape(parts[i], MW_SHAPE(n, HEADS, T, D / HEADS));
    mw_tensor *mixed =
        mw_transpose(mw_scaled_dot_product_attention(parts[0], parts[1], parts[2], mask), MW_AXES(0, 2, 1, 3));
    return mw_dense(mw_reshape(mixed, MW_SHAPE(n, T, D)), D, name_of(name, layer, "projection"));
}

static mw_tensor *block(mw_tensor *x, mw_tensor *mask, int layer)
{
    char name[32];
    x = mw_add(x, attend(mw_layer_norm_layer(x, 1, 1e-5f, name_of(name, layer, "norm1")), mask, layer));
    mw_tensor *wide = mw_layer_norm_layer(x, 1, 1e-5f, name_of(name, layer, "norm2"));
    wide = mw_gelu(mw_dense(wide, 4 * D, name_of(name, layer, "fc1")), MW_GELU_TANH);
    return mw_add(x, mw_dense(wide, D, name_of(name, layer, "fc2")));
}

static mw_tensor *build_characters(mw_tensor *x)
{
    mw_graph *graph = mw_tensor_graph(x);
    mw_tensor *table = mw_parameter(graph, "letter.weight", MW_F32, MW_SHAPE(LETTERS, D), mw_init_normal(0, 0.02f));
    mw_tensor *place = mw_parameter(graph, "place.weight", MW_F32, MW_SHAPE(T, D), mw_init_normal(0, 0.02f));
    mw_tensor *h = mw_add(mw_gather(table, x, 0), place);
    mw_tensor *mask = causal_mask(graph);
    for (int layer = 0; layer < LAYERS; layer++)
        h = block(h, mask, layer);
    return mw_dense(mw_layer_norm_layer(h, 1, 1e-5f, "norm"), LETTERS, "head");
}

const char *net_name(net_kind kind)
{
    static const char *const names[] = {"MLP", "CNN", "characters"};
    return names[kind];
}

const char *net_first_parameter(net_kind kind, size_t *out_count)
{
    static const char *const names[] = {"fc1.weight", "conv1.weight", "letter.weight"};
    static const size_t counts[] = {PIXELS * 256, 16 * 9, LETTERS * D};
    *out_count = counts[kind];
    return names[kind];
}

mw_trainer_options net_options(const net *n, mw_graph *graph)
{
    const bool text = n->kind == NET_CHARACTERS;
    mw_tensor *x = n->kind == NET_MLP   ? mw_input(graph, "x", MW_F32, MW_SHAPE(n->batch, PIXELS))
                   : n->kind == NET_CNN ? mw_input(graph, "x", MW_F32, MW_SHAPE(n->batch, 1, 28, 28))
                                        : mw_input(graph, "x", MW_I32, MW_SHAPE(n->batch, T));
    mw_tensor *y = mw_input(graph, "y", MW_I32, text ? MW_SHAPE(n->batch, T) : MW_SHAPE(n->batch));
    mw_tensor *logits = n->kind == NET_MLP ? build_mlp(x) : n->kind == NET_CNN ? build_cnn(x) : build_characters(x);
    mw_trainer_options o = mw_trainer_defaults(mw_cross_entropy(logits, y), mw_adam(1e-3f));
    o.metric = mw_accuracy(logits, y);
    o.accumulate = n->accumulate;
    o.ranks.communicator = n->ranks;
    o.ranks.shard_states = n->shards;
    o.compile.device = n->device;
    o.compile.seed = n->seed;
    o.compile.threads = 1;
    return o;
}

mw_trainer *net_trainer(const net *n, mw_error *err)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    const mw_trainer_options options = net_options(n, graph);
    mw_trainer *trainer = mw_trainer_create(&options, err);
    mw_graph_destroy(graph);
    return trainer;
}

/* ---- batches ---- */

struct net_batch {
    net_kind kind;
    int64_t count;
    float *x;
    int32_t *letters, *y;
    char text[TEXT];
    FILE *images, *labels;
    mw_feed feeds[2];
    mw_batch batch;
};

net_batch *net_batch_create(const net *n)
{
    net_batch *b = calloc(1, sizeof *b);
    b->kind = n->kind;
    b->count = n->batch;
    b->x = calloc((size_t)n->batch * PIXELS, sizeof *b->x);
    b->letters = calloc((size_t)n->batch * T, sizeof *b->letters);
    b->y = calloc((size_t)n->batch * T, sizeof *b->y);
    b->images = fopen(MW_DATA_DIR "/mnist/train-images-idx3-ubyte", "rb");
    b->labels = fopen(MW_DATA_DIR "/mnist/train-labels-idx1-ubyte", "rb");
    FILE *source = fopen(MW_TESTS_DIR "/mpi/nets.c", "rb");
    if (source != NULL) {
        const size_t length = fread(b->text, 1, sizeof b->text, source);
        fclose(source);
        memset(b->text + length, ' ', sizeof b->text - length);
    }
    return b;
}

void net_batch_destroy(net_batch *b)
{
    if (b->images != NULL)
        fclose(b->images);
    if (b->labels != NULL)
        fclose(b->labels);
    free(b->x);
    free(b->letters);
    free(b->y);
    free(b);
}

/* A digit of MNIST; where that was not fetched, blots whose places are those of their class. */
static void fill_digit(net_batch *b, int64_t example, float *x, int32_t *y)
{
    unsigned char pixels[PIXELS], label = (unsigned char)(example * 7 % 10);
    const bool real = b->images != NULL && b->labels != NULL &&
                      fseek(b->images, 16 + (long)example * PIXELS, SEEK_SET) == 0 &&
                      fread(pixels, 1, PIXELS, b->images) == PIXELS &&
                      fseek(b->labels, 8 + (long)example, SEEK_SET) == 0 && fread(&label, 1, 1, b->labels) == 1;
    for (int i = 0; i < PIXELS && !real; i++)
        pixels[i] = (unsigned char)(i / 4 % (label + 3) == 0 ? 255 - (i * 31 + (int)example * 17) % 97 : 0);
    for (int i = 0; i < PIXELS; i++)
        x[i] = (float)pixels[i] / 255.0f;
    *y = label;
}

static void fill_line(const net_batch *b, int64_t example, int32_t *x, int32_t *y)
{
    const int64_t first = example * 37 % (TEXT - T - 1);
    for (int i = 0; i < T; i++) {
        x[i] = (unsigned char)b->text[first + i] % LETTERS;
        y[i] = (unsigned char)b->text[first + i + 1] % LETTERS;
    }
}

const mw_batch *net_batch_fill(net_batch *b, int64_t first)
{
    const bool text = b->kind == NET_CHARACTERS;
    for (int64_t i = 0; i < b->count; i++) {
        if (text)
            fill_line(b, first + i, b->letters + i * T, b->y + i * T);
        else
            fill_digit(b, first + i, b->x + i * PIXELS, b->y + i);
    }
    b->feeds[0] = text ? (mw_feed){.name = "x", .dtype = MW_I32, .data = b->letters, .count = (size_t)b->count * T}
                       : (mw_feed){.name = "x", .dtype = MW_F32, .data = b->x, .count = (size_t)b->count * PIXELS};
    b->feeds[1] = (mw_feed){.name = "y", .dtype = MW_I32, .data = b->y, .count = (size_t)b->count * (text ? T : 1)};
    b->batch = (mw_batch){.feeds = b->feeds, .feed_count = 2, .examples = b->count};
    return &b->batch;
}

bool net_batch_spoil(net_batch *b, size_t index, float value)
{
    if (b->kind == NET_CHARACTERS)
        return false;
    b->x[index] = value;
    return true;
}

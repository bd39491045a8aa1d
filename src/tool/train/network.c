/* A list of layers becomes a graph. Names are those of PyTorch's Sequential, by kind: dense1, conv2, .. */
#include "tool/train/network.h"

#include <millwright/log_mel.h>
#include <stdio.h>
#include <string.h>

/* A file of settings is short, and `repeat` in `repeat` multiplies: what a network may have in all. */
enum { LAYERS_MAX = 10000, REPEAT_MAX = 1000 };

typedef struct building {
    config *c;
    const network_data *data;
    int count; /* of layers so far, for names */
    int built; /* the same with each layer of a recurrent stack */
    const config_node *node;
    char name[64];
} building;

typedef mw_tensor *build_layer(building *b, mw_tensor *x, const config_node *options, const config_node *value);

static mw_tensor *build_list(building *b, const config_node *layers, mw_tensor *x);

/* ---- values ---- */

static int64_t whole(building *b, const config_node *value, int64_t low)
{
    if (value == NULL || value->kind != CONFIG_NUMBER || value->number < (double)low || value->number > 1e9 ||
        value->number != (double)(int64_t)value->number) {
        config_fail(b->c, value != NULL ? value : b->node, "a whole number from %lld on is expected", (long long)low);
        return low;
    }
    return (int64_t)value->number;
}

/* Whether so many layers more may be built. */
static bool has_room(building *b, int more)
{
    b->built += more;
    if (b->built > LAYERS_MAX)
        config_fail(b->c, b->node, "a network has at most %d layers, those of \"repeat\" counted each time",
                    LAYERS_MAX);
    return b->built <= LAYERS_MAX;
}

/* Units: a number, or "classes". */
static int64_t units(building *b, const config_node *value)
{
    if (value != NULL && value->kind == CONFIG_STRING && strcmp(value->text, "classes") == 0)
        return b->data->classes;
    return whole(b, value, 1);
}

/* k, or [k, l, ..], for the spatial axes of x. */
static mw_shape kernel_of(building *b, const config_node *value, mw_tensor *x)
{
    mw_shape shape = {.rank = mw_tensor_shape(x).rank - 2};
    const config_node *item = value != NULL && value->kind == CONFIG_ARRAY ? value->first : value;
    if (shape.rank < 1 || shape.rank > 3) {
        config_fail(b->c, b->node, "this layer needs [batch, channels, ..] with one to three axes behind");
        shape.rank = 1;
    }
    for (int i = 0; i < shape.rank; i++) {
        shape.dim[i] = whole(b, item, 1);
        item = value != NULL && value->kind == CONFIG_ARRAY && item != NULL ? item->next : item;
    }
    if (value != NULL && value->kind == CONFIG_ARRAY && item != NULL)
        config_fail(b->c, item, "the list has more numbers than the %d axes behind the channels", shape.rank);
    return shape;
}

static void put_axes(building *b, const config_node *options, const char *key, mw_tensor *x, int64_t *out)
{
    const config_node *value = config_get(options, key);
    const mw_shape shape = value != NULL ? kernel_of(b, value, x) : (mw_shape){0};
    for (int i = 0; i < shape.rank; i++)
        out[i] = shape.dim[i];
}

static mw_pad_type pad_of(building *b, const config_node *options, int otherwise)
{
    static const char *const names[] = {"valid", "same", NULL};
    return config_choice(b->c, options, "pad", names, otherwise) == 1 ? MW_PAD_SAME : MW_PAD_VALID;
}

mw_tensor *network_flat(mw_tensor *x)
{
    const mw_shape shape = mw_tensor_shape(x);
    return x == NULL || shape.rank <= 2 ? x
                                        : mw_reshape(x, MW_SHAPE(shape.dim[0], mw_shape_count(shape) / shape.dim[0]));
}

/* ---- layers ---- */

static mw_tensor *dense(building *b, mw_tensor *x, const config_node *options, const config_node *value)
{
    const bool keep = config_bool(b->c, options, "keep_axes", false);
    return mw_dense(keep ? x : network_flat(x), units(b, value), b->name);
}

static mw_tensor *conv_with(building *b, mw_tensor *x, const config_node *options, const config_node *value,
                            mw_tensor *(*layer)(mw_tensor *, int64_t, mw_shape, const char *, const mw_conv_options *))
{
    mw_conv_options o = mw_conv_defaults();
    const config_node *kernel = config_get(options, "kernel");
    const config_node three = {.kind = CONFIG_NUMBER, .number = 3};
    put_axes(b, options, "stride", x, o.stride);
    put_axes(b, options, "dilation", x, o.dilation);
    o.groups = config_integer(b->c, options, "groups", 1, 1, 1 << 20);
    o.bias = config_bool(b->c, options, "bias", true);
    o.pad_type = pad_of(b, options, 1);
    return layer(x, units(b, value), kernel_of(b, kernel != NULL ? kernel : &three, x), b->name, &o);
}

static mw_tensor *conv(building *b, mw_tensor *x, const config_node *options, const config_node *value)
{
    return conv_with(b, x, options, value, mw_conv_layer);
}

static mw_tensor *conv_transpose(building *b, mw_tensor *x, const config_node *options, const config_node *value)
{
    return conv_with(b, x, options, value, mw_conv_transpose_layer);
}

static mw_tensor *pool_with(building *b, mw_tensor *x, const config_node *options, const config_node *value,
                            mw_tensor *(*pool)(mw_tensor *, const mw_pool_options *))
{
    mw_pool_options o = mw_pool_defaults(kernel_of(b, value, x));
    for (int i = 0; i < o.kernel.rank; i++)
        o.stride[i] = o.kernel.dim[i];
    put_axes(b, options, "stride", x, o.stride);
    o.pad_type = pad_of(b, options, 0);
    return pool(x, &o);
}

static mw_tensor *max_pool(building *b, mw_tensor *x, const config_node *options, const config_node *value)
{
    return pool_with(b, x, options, value, mw_max_pool);
}

static mw_tensor *avg_pool(building *b, mw_tensor *x, const config_node *options, const config_node *value)
{
    return pool_with(b, x, options, value, mw_avg_pool);
}

/* The mean over all axes but batch and channels. */
static mw_tensor *global_avg_pool(building *b, mw_tensor *x, const config_node *options, const config_node *value)
{
    (void)b, (void)options, (void)value;
    mw_axes axes = {.count = mw_tensor_shape(x).rank - 2};
    for (int i = 0; i < axes.count; i++)
        axes.axis[i] = i + 2;
    return axes.count > 0 ? mw_reduce_mean(x, axes, false) : x;
}

static mw_tensor *flatten(building *b, mw_tensor *x, const config_node *options, const config_node *value)
{
    (void)b, (void)options, (void)value;
    return network_flat(x);
}

/* Whether a list ends where a shape is full. */
static bool has_all(building *b, const config_node *rest)
{
    if (rest != NULL)
        config_fail(b->c, rest, "a tensor has at most %d axes, the batch among them", MW_RANK_MAX);
    return rest == NULL;
}

/* {"reshape": [1, 28, 28]}: the batch stays. */
static mw_tensor *reshape(building *b, mw_tensor *x, const config_node *options, const config_node *value)
{
    (void)options;
    mw_shape shape = {.rank = 1, .dim = {mw_tensor_shape(x).dim[0]}};
    const config_node *item = value != NULL ? value->first : NULL;
    for (; item != NULL && shape.rank < MW_RANK_MAX; item = item->next)
        shape.dim[shape.rank++] = whole(b, item, 1);
    return has_all(b, item) ? mw_reshape(x, shape) : NULL;
}

/* {"transpose": [2, 1]}: axes behind the batch, counted from 1. */
static mw_tensor *transpose(building *b, mw_tensor *x, const config_node *options, const config_node *value)
{
    (void)options;
    mw_axes axes = {.count = 1};
    const config_node *item = value != NULL ? value->first : NULL;
    for (; item != NULL && axes.count < MW_RANK_MAX; item = item->next)
        axes.axis[axes.count++] = (int)whole(b, item, 1);
    return has_all(b, item) ? mw_transpose(x, axes) : NULL;
}

static mw_tensor *batch_norm(building *b, mw_tensor *x, const config_node *options, const config_node *value)
{
    (void)value;
    const double momentum = config_number(b->c, options, "momentum", 0.1, 0, 1);
    return mw_batch_norm_layer(x, (float)momentum, (float)config_number(b->c, options, "epsilon", 1e-5, 0, 1), b->name);
}

static mw_tensor *layer_norm(building *b, mw_tensor *x, const config_node *options, const config_node *value)
{
    (void)value;
    return mw_layer_norm_layer(x, 1, (float)config_number(b->c, options, "epsilon", 1e-5, 0, 1), b->name);
}

static mw_tensor *dropout(building *b, mw_tensor *x, const config_node *options, const config_node *value)
{
    (void)options;
    if (value == NULL || value->kind != CONFIG_NUMBER || value->number < 0 || value->number >= 1)
        config_fail(b->c, value != NULL ? value : b->node, "dropout takes a probability in 0 .. 1, 1 excluded");
    return b->c->err->status == MW_OK ? mw_dropout(x, (float)value->number, b->name) : NULL;
}

static mw_tensor *embedding(building *b, mw_tensor *x, const config_node *options, const config_node *value)
{
    return mw_embedding(x, config_integer(b->c, options, "count", 0, 1, 1 << 30), whole(b, value, 1), b->name);
}

/* [batch, steps, features]; the last step alone, unless all are asked for. */
static mw_tensor *recurrent_with(building *b, mw_tensor *x, const config_node *options, const config_node *value,
                                 mw_recurrent (*layer)(mw_tensor *, int64_t, const char *,
                                                       const mw_recurrent_layer_options *))
{
    mw_recurrent_layer_options o = mw_recurrent_layer_defaults();
    o.layers = (int)config_integer(b->c, options, "layers", 1, 1, 1000);
    if (!has_room(b, o.layers - 1))
        return NULL;
    o.bidirectional = config_bool(b->c, options, "bidirectional", false);
    o.dropout = (float)config_number(b->c, options, "dropout", 0, 0, 0.999);
    if (o.dropout > 0.0f && o.layers == 1)
        config_fail(b->c, config_get(options, "dropout"), "\"dropout\" has no effect here; it is between \"layers\"");
    o.batch_first = true;
    const bool sequence = config_bool(b->c, options, "sequence", false);
    mw_tensor *y = layer(x, whole(b, value, 1), b->name, &o).y;
    if (sequence || y == NULL)
        return y;
    const mw_shape s = mw_tensor_shape(y);
    const int64_t last = s.dim[1] - 1;
    mw_tensor *end = mw_slice_by_size(y, (const int64_t[]){0, last, 0}, (const int64_t[]){s.dim[0], 1, s.dim[2]});
    return mw_reshape(end, MW_SHAPE(s.dim[0], s.dim[2]));
}

static mw_tensor *lstm(building *b, mw_tensor *x, const config_node *options, const config_node *value)
{
    return recurrent_with(b, x, options, value, mw_lstm_layer);
}

static mw_tensor *gru(building *b, mw_tensor *x, const config_node *options, const config_node *value)
{
    return recurrent_with(b, x, options, value, mw_gru_layer);
}

/* Self-attention of so many heads. */
static mw_tensor *attention(building *b, mw_tensor *x, const config_node *options, const config_node *value)
{
    (void)options;
    return mw_multi_head_attention_layer(x, NULL, NULL, whole(b, value, 1), NULL, b->name);
}

/* x + layers(x). */
static mw_tensor *residual(building *b, mw_tensor *x, const config_node *options, const config_node *value)
{
    (void)options;
    mw_tensor *y = build_list(b, value, x);
    return y != NULL ? mw_add(x, y) : NULL;
}

/* {"repeat": 4, "layers": [..]}. */
static mw_tensor *repeat(building *b, mw_tensor *x, const config_node *options, const config_node *value)
{
    const config_node *layers = config_get(options, "layers");
    const int64_t times = whole(b, value, 1);
    if (times > REPEAT_MAX)
        config_fail(b->c, value, "layers are repeated at most %d times, not %lld", REPEAT_MAX, (long long)times);
    for (int64_t i = 0; i < times && b->c->err->status == MW_OK && x != NULL; i++)
        x = build_list(b, layers, x);
    return x;
}

/* [batch, channels, samples] to [batch, channels, bands, times]. */
static mw_tensor *log_mel(building *b, mw_tensor *x, const config_node *options, const config_node *value)
{
    static const char *const scales[] = {"htk", "slaney", NULL};
    const int64_t rate = config_integer(b->c, options, "rate", b->data->rate, 1000, 384000);
    mw_log_mel_options o = mw_log_mel_defaults(rate);
    (void)value;
    if (rate == 0) {
        config_fail(b->c, b->node, "the data is no sound: say how many samples a second has, \"rate\"");
        return NULL;
    }
    o.mels = config_integer(b->c, options, "mels", o.mels, 1, 512);
    o.hop = config_integer(b->c, options, "hop", o.hop, 1, 1 << 15);
    o.window = config_integer(b->c, options, "window", o.window, 2, 1 << 15);
    while (o.fft < o.window)
        o.fft *= 2;
    o.fft = config_integer(b->c, options, "fft", o.fft, o.window, 1 << 15);
    o.low = (float)config_number(b->c, options, "low", 0, 0, (double)rate / 2);
    o.high = (float)config_number(b->c, options, "high", (double)rate / 2, 0, (double)rate / 2);
    o.scale = config_choice(b->c, options, "scale", scales, 0) == 1 ? MW_MEL_SLANEY : MW_MEL_HTK;
    o.floor = (float)config_number(b->c, options, "floor", (double)o.floor, 1e-30, 1e30);
    return mw_log_mel(x, &o);
}

static mw_tensor *gelu(building *b, mw_tensor *x, const config_node *options, const config_node *value)
{
    (void)value;
    static const char *const names[] = {"exact", "tanh", "sigmoid", NULL};
    static const mw_gelu_mode modes[] = {MW_GELU_EXACT, MW_GELU_TANH, MW_GELU_SIGMOID};
    return mw_gelu(x, modes[config_choice(b->c, options, "mode", names, 0)]);
}

static mw_tensor *leaky_relu(building *b, mw_tensor *x, const config_node *options, const config_node *value)
{
    (void)value;
    return mw_leaky_relu(x, (float)config_number(b->c, options, "alpha", 0.01, -1e6, 1e6));
}

static mw_tensor *elu(building *b, mw_tensor *x, const config_node *options, const config_node *value)
{
    (void)value;
    return mw_elu(x, (float)config_number(b->c, options, "alpha", 1, -1e6, 1e6));
}

static mw_tensor *softmax(building *b, mw_tensor *x, const config_node *options, const config_node *value)
{
    (void)b, (void)options, (void)value;
    return mw_softmax(x, -1);
}

#define PLAIN(name, call)                                                                                              \
    static mw_tensor *name(building *b, mw_tensor *x, const config_node *options, const config_node *value)            \
    {                                                                                                                  \
        (void)b, (void)options, (void)value;                                                                           \
        return call(x);                                                                                                \
    }
PLAIN(relu, mw_relu)
PLAIN(relu6, mw_relu6)
PLAIN(plain_tanh, mw_tanh)
PLAIN(sigmoid, mw_sigmoid)
PLAIN(silu, mw_silu)
PLAIN(softplus, mw_softplus)

/* ---- the table ---- */

#define CONV      "kernel, stride, dilation, groups, pad, bias"
#define RECURRENT "layers, bidirectional, dropout, sequence"

static const struct {
    const char *kind;
    build_layer *build;
    const char *text;
    bool bare;           /* takes no value */
    const char *options; /* the keys that may stand beside it; "name" may always */
    const char *also;    /* what other programs call it */
} rows[] = {
    {"dense", dense, "units, or \"classes\"; flattens what has more axes, unless keep_axes", false, "keep_axes",
     "linear, fc, fully_connected"},
    {"conv", conv, "channels; kernel (3), stride, dilation, groups, pad (\"same\"), bias", false, CONV,
     "conv1d, conv2d, conv3d, convolution"},
    {"conv_transpose", conv_transpose, "channels; as conv", false, CONV, "deconv, conv2d_transpose"},
    {"max_pool", max_pool, "kernel; stride (the kernel), pad (\"valid\")", false, "stride, pad",
     "maxpool2d, max_pooling, pool"},
    {"avg_pool", avg_pool, "kernel; stride (the kernel), pad (\"valid\")", false, "stride, pad",
     "avgpool2d, average_pool, mean_pool"},
    {"global_avg_pool", global_avg_pool, "the mean of each channel", true, "",
     "adaptive_avg_pool, global_average_pool"},
    {"flatten", flatten, "[batch, rest]", true, "", "view"},
    {"reshape", reshape, "extents behind the batch", false, "", "unflatten"},
    {"transpose", transpose, "axes behind the batch, from 1", false, "", "permute"},
    {"batch_norm", batch_norm, "momentum (0.1), epsilon (1e-5)", true, "momentum, epsilon",
     "batchnorm2d, batch_normalization, bn"},
    {"layer_norm", layer_norm, "over the last axis; epsilon (1e-5)", true, "epsilon", "layernorm, layer_normalization"},
    {"dropout", dropout, "probability", false, "", "drop"},
    {"embedding", embedding, "width; count", false, "count", "embed"},
    {"lstm", lstm, "units; layers, bidirectional, dropout, sequence (all steps, not the last alone)", false, RECURRENT,
     "rnn"},
    {"gru", gru, "units; as lstm", false, RECURRENT, "rnn"},
    {"attention", attention, "heads; self-attention over [batch, steps, width]", false, "",
     "self_attention, multi_head_attention, mha"},
    {"log_mel", log_mel,
     "sounds as pictures of bands and times; mels (64), window (1/40 s), hop (1/100 s), fft, low, high (Hz), scale "
     "(htk, slaney), floor (1e-6), rate",
     true, "mels, window, hop, fft, low, high, scale, floor, rate", "mel_spectrogram, melspectrogram, spectrogram"},
    {"residual", residual, "a list of layers, whose result is added to what went in", false, "", "skip, shortcut"},
    {"repeat", repeat, "how often, up to 1000; layers. A network has at most 10000 in all", false, "layers", "times"},
    {"relu", relu, "", true, "", ""},
    {"relu6", relu6, "", true, "", ""},
    {"leaky_relu", leaky_relu, "alpha (0.01)", true, "alpha", "lrelu"},
    {"elu", elu, "alpha (1)", true, "alpha", ""},
    {"gelu", gelu, "mode: exact, tanh, sigmoid", true, "mode", ""},
    {"silu", silu, "", true, "", "swish"},
    {"tanh", plain_tanh, "", true, "", ""},
    {"sigmoid", sigmoid, "", true, "", "logistic"},
    {"softplus", softplus, "", true, "", ""},
    {"softmax", softmax, "over the last axis", true, "", ""},
};

const char *network_kind_at(size_t index, const char **out_text)
{
    if (index >= sizeof rows / sizeof rows[0])
        return NULL;
    *out_text = rows[index].text;
    return rows[index].kind;
}

void network_offer_options(const config_node *layer, mw__spelling *spelling)
{
    const char *kind = layer->first != NULL && layer->first->key != NULL ? layer->first->key : "";
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (strcmp(kind, rows[i].kind) == 0)
            mw__spelling_offer_list(spelling, rows[i].options);
    }
    mw__spelling_offer(spelling, "name");
}

/* The layer that was meant: by its name, or else by that of other programs. */
static const char *hint_kind(const char *typed, char *out, size_t size)
{
    mw__spelling spelling;
    mw__spelling_init(&spelling, typed);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        mw__spelling_offer(&spelling, rows[i].kind);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        mw__spelling also;
        mw__spelling_init(&also, typed);
        mw__spelling_offer_list(&also, rows[i].also);
        if (also.count > 0 && also.distance == 0) {
            snprintf(out, size, "; here it is \"%s\"", rows[i].kind);
            return out;
        }
    }
    return mw__spelling_hint(&spelling, "", out, size);
}

/* {"batch_norm": true, "momentum": 0.2}: what stands beside such a kind says nothing. */
static void check_bare(building *b, const config_node *value, const char *kind)
{
    const bool says_nothing = value->kind == CONFIG_NULL || (value->kind == CONFIG_BOOL && value->number != 0) ||
                              (value->kind == CONFIG_NUMBER && value->number == 0);
    if (!says_nothing)
        config_fail(b->c, value, "\"%.60s\" takes no value: write true, and its options behind it", kind);
}

static build_layer *find_kind(building *b, const char *kind, const config_node *value)
{
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        if (strcmp(kind, rows[i].kind) != 0)
            continue;
        if (rows[i].bare && value != NULL)
            check_bare(b, value, kind);
        return rows[i].build;
    }
    char hint[120];
    hint_kind(kind, hint, sizeof hint);
    config_fail(b->c, b->node, "there is no layer \"%.60s\"%s", kind,
                hint[0] != '\0' ? hint : "; dense, conv, max_pool, relu .. are (mw help layers)");
    return NULL;
}

/* The graph's error, at the place of the layer. */
static mw_tensor *check_layer(building *b, const mw_graph *graph, mw_tensor *y, const char *kind)
{
    mw_error why = {0};
    if (y == NULL && b->c->err->status == MW_OK && mw_graph_check(graph, &why) != MW_OK)
        config_fail(b->c, b->node, "%.40s: %.230s", kind, why.message);
    else if (y == NULL && b->c->err->status == MW_OK)
        config_fail(b->c, b->node, "%.40s does not fit here", kind);
    return b->c->err->status == MW_OK ? y : NULL;
}

/* "dense1": the next number that is free, as a model below may have such layers. */
static void make_name(building *b, const mw_graph *graph, const char *kind, char *out, size_t size)
{
    static const char *const parts[] = {".weight", ".bias", ".weight_ih_l0", ".in_proj_weight", ".generator"};
    char whole[80];
    bool taken = true;
    for (int i = 0; taken && i < 100000; i++) {
        snprintf(out, size, "%.30s%d", kind, b->count + 1 + i);
        taken = false;
        for (size_t k = 0; k < sizeof parts / sizeof parts[0]; k++) {
            snprintf(whole, sizeof whole, "%s%s", out, parts[k]);
            taken = taken || mw_graph_find(graph, whole) != NULL;
        }
    }
    b->count++;
}

static mw_tensor *build_one(building *b, const config_node *layer, mw_tensor *x)
{
    b->node = layer;
    const bool is_text = layer->kind == CONFIG_STRING;
    if (!is_text && (layer->kind != CONFIG_OBJECT || layer->first == NULL)) {
        config_fail(b->c, layer, "a layer is a text, \"relu\", or an object, {\"dense\": 64}");
        return NULL;
    }
    const char *kind = is_text ? layer->text : layer->first->key;
    const config_node *options = is_text ? NULL : layer, *value = is_text ? NULL : config_get(layer, kind);
    build_layer *build = find_kind(b, kind, value);
    if (build == NULL)
        return NULL;
    char standard[48];
    make_name(b, mw_tensor_graph(x), kind, standard, sizeof standard);
    snprintf(b->name, sizeof b->name, "%s", config_string(b->c, options, "name", standard));
    mw_tensor *y = b->c->err->status == MW_OK && has_room(b, 1) ? build(b, x, options, value) : NULL;
    b->node = layer;
    return check_layer(b, mw_tensor_graph(x), y, kind);
}

static mw_tensor *build_list(building *b, const config_node *layers, mw_tensor *x)
{
    const config_node *whole_list = b->node;
    if (layers == NULL || layers->kind != CONFIG_ARRAY) {
        config_fail(b->c, layers != NULL ? layers : whole_list, "a list of layers is expected here: [ .. ]");
        return NULL;
    }
    for (const config_node *layer = layers->first; layer != NULL && x != NULL; layer = layer->next)
        x = build_one(b, layer, x);
    return x;
}

mw_tensor *network_build(config *c, const config_node *layers, mw_tensor *x, const network_data *data)
{
    building b = {.c = c, .data = data, .node = layers};
    return build_list(&b, layers, x);
}

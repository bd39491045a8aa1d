/* LSTM and Whisper's encoder of nets.h. */
#include "nets.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- LSTM; B texts of S steps with I inputs, H hidden ---- */

typedef struct lstm_weights {
    mw_tensor *ih, *hh;           /* [4 H, I], [4 H, H] */
    mw_tensor *bias_ih, *bias_hh; /* [4 H] */
} lstm_weights;

static mw_tensor *weight(mw_graph *graph, const char *name, int layer, mw_shape shape, int hidden)
{
    char full[48];
    snprintf(full, sizeof full, "lstm.%s_l%d", name, layer);
    const float bound = 1.0f / sqrtf((float)hidden);
    return mw_parameter(graph, full, MW_F32, shape, mw_init_uniform(-bound, bound));
}

static lstm_weights weights_of(mw_graph *graph, int inputs, int hidden, int layer)
{
    return (lstm_weights){weight(graph, "weight_ih", layer, MW_SHAPE(4 * hidden, inputs), hidden),
                          weight(graph, "weight_hh", layer, MW_SHAPE(4 * hidden, hidden), hidden),
                          weight(graph, "bias_ih", layer, MW_SHAPE(4 * hidden), hidden),
                          weight(graph, "bias_hh", layer, MW_SHAPE(4 * hidden), hidden)};
}

/* Columns from `first` of [B, 4 H]. */
static mw_tensor *gate(mw_tensor *gates, int batch, int hidden, int number)
{
    return mw_slice_by_size(gates, (int64_t[]){0, (int64_t)number * hidden}, (int64_t[]){batch, hidden});
}

/* x [B, I], h and c [B, H]; the gates in PyTorch's order. */
static void cell(mw_tensor *x, const lstm_weights *w, int batch, int hidden, mw_tensor **h, mw_tensor **c)
{
    mw_tensor *gates = mw_add(mw_linear(x, w->ih, w->bias_ih), mw_linear(*h, w->hh, w->bias_hh));
    mw_tensor *in = mw_sigmoid(gate(gates, batch, hidden, 0)), *keep = mw_sigmoid(gate(gates, batch, hidden, 1));
    mw_tensor *new = mw_tanh(gate(gates, batch, hidden, 2)), *out = mw_sigmoid(gate(gates, batch, hidden, 3));
    *c = mw_add(mw_mul(keep, *c), mw_mul(in, new));
    *h = mw_mul(out, mw_tanh(*c));
}

static mw_tensor *by_slices(mw_tensor *x, const lstm_form *f)
{
    mw_graph *graph = mw_tensor_graph(x);
    mw_tensor **steps = calloc((size_t)f->steps, sizeof(mw_tensor *)), *h = NULL;
    if (steps == NULL)
        return NULL;
    for (int s = 0; s < f->steps; s++) {
        const mw_slice one[] = {
            {.from_start = true, .to_end = true}, {.begin = s, .squeeze = true}, {.from_start = true, .to_end = true}};
        steps[s] = mw_slice_by_index(x, one);
    }
    for (int layer = 0; layer < f->layers; layer++) {
        const lstm_weights w = weights_of(graph, layer == 0 ? f->inputs : f->hidden, f->hidden, layer);
        mw_tensor *c = h = mw_fill(graph, MW_F32, MW_SHAPE(f->batch, f->hidden), 0.0);
        for (int s = 0; s < f->steps; s++) {
            cell(steps[s], &w, f->batch, f->hidden, &h, &c);
            steps[s] = h;
        }
    }
    free(steps);
    return h;
}

static mw_tensor *layered(mw_tensor *x, const lstm_form *f)
{
    mw_recurrent_layer_options options = mw_recurrent_layer_defaults();
    options.layers = f->layers;
    options.batch_first = true;
    mw_tensor *h = mw_lstm_layer(x, f->hidden, "lstm", &options).h; /* [layers, B, H] */
    const mw_slice last[] = {
        {.begin = -1, .squeeze = true}, {.from_start = true, .to_end = true}, {.from_start = true, .to_end = true}};
    return mw_slice_by_index(h, last);
}

mw_tensor *net_lstm(mw_graph *graph, const lstm_form *f, bool by_layer)
{
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(f->batch, f->steps, f->inputs));
    mw_tensor *y = mw_input(graph, "y", MW_I32, MW_SHAPE(f->batch));
    net_products = 0.0;
    for (int layer = 0; layer < f->layers; layer++)
        net_products += 4.0 * f->batch * f->steps * f->hidden * (f->hidden + (layer == 0 ? f->inputs : f->hidden));
    mw_tensor *h = by_layer ? layered(x, f) : by_slices(x, f);
    return mw_cross_entropy(mw_dense(h, 10, "fc"), y);
}

/* ---- Whisper ---- */

static mw_tensor *convolve(mw_tensor *x, int channels, int stride, const char *name)
{
    mw_conv_options options = mw_conv_defaults();
    options.stride[0] = stride;
    options.pad_type = MW_PAD_CUSTOM;
    options.pad[0] = options.pad[1] = 1;
    return mw_gelu(mw_conv_layer(x, channels, MW_SHAPE(3), name, &options), MW_GELU_EXACT);
}

/* [T, D]: sines of the position in the first half of the channels, cosines in the second. */
static mw_tensor *sinusoids(mw_graph *graph, int positions, int width)
{
    const int half = width / 2;
    float *values = malloc((size_t)positions * (size_t)width * sizeof *values);
    for (int t = 0; values != NULL && t < positions; t++) {
        for (int i = 0; i < half; i++) {
            const double angle = t * exp(-log(10000.0) / (half - 1) * i);
            values[t * width + i] = (float)sin(angle);
            values[t * width + half + i] = (float)cos(angle);
        }
    }
    mw_tensor *table = mw_constant(graph, MW_F32, MW_SHAPE(positions, width), values);
    free(values);
    return table;
}

static const char *part(char buffer[48], int layer, const char *name)
{
    snprintf(buffer, 48, "blocks.%d.%s", layer, name);
    return buffer;
}

/* [B, T, D] -> [B, H, T, E] */
static mw_tensor *in_heads(mw_tensor *x, const whisper_form *f)
{
    const mw_shape shape = MW_SHAPE(f->batch, f->positions, f->heads, f->width / f->heads);
    return mw_transpose(mw_reshape(x, shape), MW_AXES(0, 2, 1, 3));
}

static mw_tensor *attend(mw_tensor *x, const whisper_form *f, int layer)
{
    char name[48];
    mw_tensor *h = mw_layer_norm_layer(x, 1, 1e-5f, part(name, layer, "attn_ln"));
    mw_tensor *query = mw_dense(h, f->width, part(name, layer, "attn.query"));
    mw_tensor *key_weight = mw_parameter(mw_tensor_graph(x), part(name, layer, "attn.key.weight"), MW_F32,
                                         MW_SHAPE(f->width, f->width), mw_init_kaiming_uniform()); /* has no bias */
    mw_tensor *key = mw_linear(h, key_weight, NULL), *value = mw_dense(h, f->width, part(name, layer, "attn.value"));
    mw_tensor *mixed = mw_scaled_dot_product_attention(in_heads(query, f), in_heads(key, f), in_heads(value, f), NULL);
    mw_tensor *rows = mw_reshape(mw_transpose(mixed, MW_AXES(0, 2, 1, 3)), mw_tensor_shape(x));
    return mw_add(x, mw_dense(rows, f->width, part(name, layer, "attn.out")));
}

static mw_tensor *feed_forward(mw_tensor *x, const whisper_form *f, int layer)
{
    char name[48];
    mw_tensor *h = mw_layer_norm_layer(x, 1, 1e-5f, part(name, layer, "mlp_ln"));
    h = mw_gelu(mw_dense(h, 4 * f->width, part(name, layer, "mlp.0")), MW_GELU_EXACT);
    return mw_add(x, mw_dense(h, f->width, part(name, layer, "mlp.2")));
}

mw_tensor *net_whisper(mw_graph *graph, const whisper_form *f)
{
    mw_tensor *x = mw_input(graph, "x", MW_F32, MW_SHAPE(f->batch, 80, 2 * f->positions));
    const double rows = (double)f->batch * f->positions, d = f->width;
    net_products = rows * 3 * d * (2 * 80 + d) + f->layers * rows * (12 * d * d + 2.0 * f->positions * d);
    mw_tensor *h = convolve(convolve(x, f->width, 1, "conv1"), f->width, 2, "conv2"); /* [B, D, T] */
    h = mw_add(mw_transpose(h, MW_AXES(0, 2, 1)), sinusoids(graph, f->positions, f->width));
    for (int layer = 0; layer < f->layers; layer++)
        h = feed_forward(attend(h, f, layer), f, layer);
    return mw_layer_norm_layer(h, 1, 1e-5f, "ln_post");
}

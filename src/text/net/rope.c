/* Rotary positions: tables of cosines and sines that are computed here in double, so that a device of fp16 never sees
 * an angle of thousands. */
#include "base/memory/alloc.h"
#include "text/net/net.h"

#include <math.h>

/* Llama 3 slows what turns slowly: below one turn in the positions that were trained by `factor`, above `high` turns
 * not at all, and smoothly between. */
static double scaled_frequency(const mw_text_config *c, double frequency)
{
    static const double turn = 6.283185307179586;
    if (c->rope_factor == 1.0)
        return frequency;
    const double turns = c->rope_original * frequency / turn;
    if (turns < c->rope_low)
        return frequency / c->rope_factor;
    if (turns > c->rope_high)
        return frequency;
    const double part = (turns - c->rope_low) / (c->rope_high - c->rope_low);
    return (1.0 - part) * frequency / c->rope_factor + part * frequency;
}

double mw__language_frequency(const mw_text_config *c, int64_t pair, bool scaled)
{
    const double frequency = pow(c->rope_theta, -2.0 * (double)pair / (double)c->head_width);
    return scaled ? scaled_frequency(c, frequency) : frequency;
}

static mw_tensor *table_of(const mw__net *net, int64_t rows, double (*function)(double), mw_error *err)
{
    const int64_t half = net->config->head_width / 2;
    float *values = mw__alloc(mw__allocator_default(), (size_t)(rows * half), sizeof *values, err);
    if (values == NULL)
        return NULL;
    for (int64_t k = 0; k < half; k++) {
        const double frequency = mw__language_frequency(net->config, k, true);
        for (int64_t i = 0; i < rows; i++)
            values[i * half + k] = (float)function((double)i * frequency);
    }
    mw_tensor *made = mw_constant(net->graph, MW_F32, MW_SHAPE(rows, half), values);
    mw__free(mw__allocator_default(), values);
    return made;
}

void mw__language_rotate_begin(mw__net *net, mw_tensor *places, mw_error *err)
{
    const int64_t rows = net->at != NULL ? net->options->cache : net->options->tokens;
    net->cosine = table_of(net, rows, cos, err);
    net->sine = table_of(net, rows, sin, err);
    if (net->at == NULL)
        return;
    net->cosine = mw_gather(net->cosine, places, 0);
    net->sine = mw_gather(net->sine, places, 0);
    if (net->before == NULL)
        return;
    const mw_shape shape = MW_SHAPE(net->options->batch, 1, net->options->tokens, net->config->head_width / 2);
    net->cosine = mw_reshape(net->cosine, shape);
    net->sine = mw_reshape(net->sine, shape);
}

mw_tensor *mw__language_rotated(const mw__net *net, mw_tensor *x)
{
    mw_tensor *half[2] = {NULL, NULL};
    mw_split(x, 2, 3, half);
    mw_tensor *first = mw_sub(mw_mul(half[0], net->cosine), mw_mul(half[1], net->sine));
    mw_tensor *second = mw_add(mw_mul(half[1], net->cosine), mw_mul(half[0], net->sine));
    return mw_concat((mw_tensor *[]){first, second}, 2, 3);
}

/* A training step of the classifiers. Members split rows of the batch forward,
 * rows of the weights backward; an update follows the gradient of its rows at
 * once. Big products go to the BLAS, on the member's own thread. */
#include "images.h"
#include "../bench.h"
#include "matrix.h"

#include <math.h>

image_net image_net_create(bool convolutional, int threads)
{
    uint64_t random = 1;
    const int d = convolutional ? POOLED2 : PIXELS, h = convolutional ? 128 : 256;
    image_net net = {
        .convolutional = convolutional,
        .inputs = d,
        .hidden = h,
        .threads = threads,
        .w1 = parameter_create(d * h, 1.0f / sqrtf((float)d), &random),
        .b1 = parameter_create(h, 1.0f / sqrtf((float)d), &random),
        .w2 = parameter_create(h * HEAD, 1.0f / sqrtf((float)h), &random),
        .b2 = parameter_create(HEAD, 0.0f, &random),
        .dz = bench_alloc(BATCH * HEAD, sizeof(float)),
    };
    for (int i = 0; i < h; i++)
        memset(net.w2.w + HEAD * i + CLASSES, 0, (HEAD - CLASSES) * sizeof(float));
    float **const wide[] = {&net.x, &net.dx}, **const narrow[] = {&net.h, &net.a, &net.da_dh, &net.da};
    for (int i = 0; i < (convolutional ? 2 : 1); i++)
        *wide[i] = bench_alloc((size_t)(BATCH * d), sizeof(float));
    for (int i = 0; i < 4; i++)
        *narrow[i] = bench_alloc((size_t)(BATCH * h), sizeof(float));
    for (int i = 0; i < threads; i++)
        net.scratch[i] = bench_alloc((size_t)(CLASSES * h), sizeof(float));
    if (convolutional)
        net.conv = conv_create(BATCH, threads, &random);
    return net;
}

static void convert(const uint8_t *pixels, int count, float *out)
{
    for (int i = 0; i < count; i++)
        out[i] = (float)pixels[i] * (1.0f / 255.0f);
}

/* Rows [from, to) of the batch. */
static void gather(image_net *net, const image_set *set, const int *order, int from, int to)
{
    for (int i = from; i < to; i++) {
        const uint8_t *pixels = set->pixels + (size_t)PIXELS * (size_t)order[i];
        net->labels[i] = set->labels[order[i]];
        if (!net->convolutional)
            convert(pixels, PIXELS, net->x + PIXELS * i);
        for (int r = 0; net->convolutional && r < 28; r++)
            convert(pixels + 28 * r, 28, net->conv.images + IMAGE * i + IMAGE_ROW * (r + 1) + 1);
    }
}

/* h = x w1, a = activation(h + b1) and its derivative, for rows [from, to). */
static void hidden_forward(image_net *net, int from, int to)
{
    const int d = net->inputs, h = net->hidden;
    const matrix x = matrix_of(net->x, BATCH, d), sums = matrix_of(net->h, BATCH, h);
    multiply(rows_of(x, from, to), matrix_of(net->w1.w, d, h), 1.0f, 0.0f, rows_of(sums, from, to));
    for (int r = from; r < to; r++) {
        for (int c = 0; c < h; c += LANES) {
            const vec sum = load(net->h + r * h + c) + load(net->b1.w + c);
            vec a = choose(sum > splat(0.0f), sum, splat(0.0f)),
                slope = choose(sum > splat(0.0f), splat(1.0f), splat(0.0f));
            if (!net->convolutional)
                gelu(sum, &a, &slope);
            store(net->a + r * h + c, a);
            store(net->da_dh + r * h + c, slope);
        }
    }
}

/* The last layer both ways: da = (dz w2^T) times the derivative of the
 * activation, for rows [from, to). */
static void head_both(image_net *net, int id, int from, int to)
{
    const int h = net->hidden;
    head_forward(net->a, h, net->w2.w, net->b2.w, net->labels, net->dz, from, to, BATCH, &net->sums[id]);
    head_backward_x(net->dz, net->w2.w, net->scratch[id], net->da, h, from, to);
    for (int i = from * h; i < to * h; i += LANES)
        store(net->da + i, load(net->da + i) * load(net->da_dh + i));
}

/* dx = da w1^T for rows [from, to), then the gradients of the convolutions. */
static void conv_both(image_net *net, const member *self, int from, int to)
{
    const int d = net->inputs, h = net->hidden;
    const matrix dx = matrix_of(net->dx, BATCH, d), da = matrix_of(net->da, BATCH, h);
    multiply(rows_of(da, from, to), turn(matrix_of(net->w1.w, d, h)), 1.0f, 0.0f, rows_of(dx, from, to));
    if (self->id == 0)
        conv_turn(&net->conv);
    team_barrier(self->of);
    conv_backward(&net->conv, self->id, net->dx, from, to);
}

/* Gradient and update of the member's rows of w1, b1 and w2. */
static void dense_update(image_net *net, const member *self, int t)
{
    const int d = net->inputs, h = net->hidden, id = self->id;
    int from = team_start(self->of, id, d, LANES), to = team_start(self->of, id + 1, d, LANES);
    const matrix x = matrix_of(net->x, BATCH, d), dw = matrix_of(net->w1.g, d, h);
    multiply(turn(columns_of(x, from, to)), matrix_of(net->da, BATCH, h), 1.0f, 0.0f, rows_of(dw, from, to));
    parameter_adam(&net->w1, from * h, to * h, t);
    from = team_start(self->of, id, h, LANES), to = team_start(self->of, id + 1, h, LANES);
    column_sums(net->da, h, BATCH, net->b1.g, from, to);
    parameter_adam(&net->b1, from, to, t);
    head_backward_w(net->a, net->dz, net->w2.g, h, from, to, BATCH);
    parameter_adam(&net->w2, from * HEAD, to * HEAD, t);
}

void image_net_step(image_net *net, const member *self, const image_set *set, const int *order)
{
    const int from = team_start(self->of, self->id, BATCH, 8), to = team_start(self->of, self->id + 1, BATCH, 8);
    const int t = net->steps + 1;
    gather(net, set, order, from, to);
    if (net->convolutional)
        conv_forward(&net->conv, net->x, from, to);
    hidden_forward(net, from, to);
    head_both(net, self->id, from, to);
    if (net->convolutional)
        conv_both(net, self, from, to);
    team_barrier(self->of); /* weights are read up to here, x and da are whole from here */
    dense_update(net, self, t);
    if (self->id == 0) {
        column_sums(net->dz, HEAD, BATCH, net->b2.g, 0, HEAD);
        parameter_adam(&net->b2, 0, HEAD, t);
        if (net->convolutional)
            conv_update(&net->conv, net->threads, t);
        net->steps = t;
    }
    team_barrier(self->of);
}

void image_net_infer(image_net *net, int count)
{
    if (net->convolutional)
        conv_forward(&net->conv, net->x, 0, count);
    hidden_forward(net, 0, count);
    head_forward(net->a, net->hidden, net->w2.w, net->b2.w, net->labels, NULL, 0, count, count, &net->sums[0]);
}

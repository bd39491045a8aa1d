/* The gradients of the convolutions of conv.h. */
#include "../bench.h"
#include "conv.h"
#include "conv_tile.h"
#include "head.h"

/* The gradient of two rows [2 n, C] before the pool: dy [n, C] at the pixel
 * that was picked, 0 elsewhere. */
INLINE void unpool(const float *dy, const int32_t *picked, int channels, int n, float *upper, float *lower)
{
    for (int p = 0; p < n; p++) {
        for (int c = 0; c < channels; c += LANES) {
            const vec d = load(dy + p * channels + c);
            const mask which = load_int(picked + p * channels + c);
            const int left = 2 * p * channels + c, right = left + channels;
            store(upper + left, choose(which == 0, d, splat(0.0f)));
            store(upper + right, choose(which == 1, d, splat(0.0f)));
            store(lower + left, choose(which == 2, d, splat(0.0f)));
            store(lower + right, choose(which == 3, d, splat(0.0f)));
        }
    }
}

/* One row of the gradient of conv2's input: 14 pixels of 16 channels from 16
 * of 32. */
static void row_32_to_16(const float *dy, const float *w, float *dx)
{
    conv_row(dy, C2, 16, w, C1, 14, WIDE ? 14 : 5, dx);
}

/* dw [taps, 16] += sum over a row of 28 pixels of x, seen through each tap,
 * times d [28, 16]; with db [16] not NULL it gets the sum of d. */
INLINE void image_row(const float *x, const float *d, const int *offset, const int taps, float *dw, float *db)
{
    vec sum[TAPS][PARTS], bias[PARTS];
    UNROLL
    for (int i = 0; i < taps; i++) {
        UNROLL
        for (int v = 0; v < PARTS; v++)
            sum[i][v] = load(dw + C1 * i + v * LANES);
    }
    UNROLL
    for (int v = 0; v < PARTS; v++)
        bias[v] = splat(0.0f);
    for (int p = 0; p < 28; p++) {
        UNROLL
        for (int v = 0; v < PARTS; v++) {
            const vec dv = load(d + C1 * p + v * LANES);
            bias[v] += dv;
            UNROLL
            for (int i = 0; i < taps; i++)
                sum[i][v] += splat(x[p + offset[i]]) * dv;
        }
    }
    UNROLL
    for (int v = 0; v < PARTS && db != NULL; v++)
        store(db + v * LANES, load(db + v * LANES) + bias[v]);
    UNROLL
    for (int i = 0; i < taps; i++) {
        UNROLL
        for (int v = 0; v < PARTS; v++)
            store(dw + C1 * i + v * LANES, sum[i][v]);
    }
}

/* Sums of w1 and b1 over one image, given dy [14, 14, 16] after the first pool.
 */
static void backward_1(conv_sums *sums, const float *image, const float *dy, const int32_t *picked)
{
    float rows[2][28 * C1];
    for (int r = 0; r < 14; r++) {
        unpool(dy + 14 * C1 * r, picked + 14 * C1 * r, C1, 14, rows[0], rows[1]);
        for (int half = 0; half < 2; half++) {
            const float *x = image + (2 * r + half) * IMAGE_ROW;
            const int taps[TAPS] = {
                0, 1, 2, IMAGE_ROW, IMAGE_ROW + 1, IMAGE_ROW + 2, 2 * IMAGE_ROW, 2 * IMAGE_ROW + 1, 2 * IMAGE_ROW + 2};
            const int first = WIDE ? TAPS : 5; /* more sums do not fit into 16 registers */
            image_row(x, rows[half], taps, first, sums->w1, sums->b1);
            if (!WIDE)
                image_row(x, rows[half], taps + 5, 4, sums->w1 + 5 * C1, NULL);
        }
    }
}

/* Sums of w2 and b2 over one image, given the inner part of dy [16, 16, 32] and
 * x [16, 16, 16]. */
static void backward_w2(conv_sums *sums, const float *x, const float *dy)
{
    for (int r = 0; r < 14; r++) {
        for (int p = 0; p < 14; p++) {
            for (int c = 0; c < C2; c += LANES)
                store(sums->b2 + c, load(sums->b2 + c) + load(dy + (r * 16 + p) * C2 + c));
        }
    }
    for (int tap = 0; tap < TAPS; tap++) {
        for (int half = 0; half < C2; half += 2 * LANES) {
            const float *under = x + (tap / 3 * 16 + tap % 3) * C1;
            float *w = sums->w2 + tap * C1 * C2 + half;
            weight_tile(under, dy + half, w, TILE_CHANNELS);
            weight_tile(under + TILE_CHANNELS, dy + half, w + TILE_CHANNELS * C2, TILE_CHANNELS);
            if (!WIDE)
                weight_tile(under + 12, dy + half, w + 12 * C2, 4);
        }
    }
}

void conv_turn(const conv_net *net)
{
    for (int tap = 0; tap < TAPS; tap++) {
        for (int i = 0; i < C1; i++) {
            for (int o = 0; o < C2; o++)
                net->w2_turned[((TAPS - 1 - tap) * C2 + o) * C1 + i] = net->w2.w[(tap * C1 + i) * C2 + o];
        }
    }
}

void conv_backward(const conv_net *net, int id, const float *dy, int from, int to)
{
    conv_sums *sums = net->sums[id];
    float dx2[14 * 14 * C1];
    memset(sums, 0, sizeof *sums);
    for (int n = from; n < to; n++) {
        float *inner = sums->dy2 + 17 * C2;
        for (int r = 0; r < 7; r++) {
            const int at = POOLED2 * n + 7 * C2 * r;
            float *upper = inner + 2 * r * 16 * C2;
            unpool(dy + at, net->picked2 + at, C2, 7, upper, upper + 16 * C2);
        }
        backward_w2(sums, net->pooled1 + POOLED1 * n, inner);
        for (int r = 0; r < 14; r++)
            row_32_to_16(sums->dy2 + r * 16 * C2, net->w2_turned, dx2 + 14 * C1 * r);
        backward_1(sums, net->images + IMAGE * n, dx2, net->picked1 + PICKED1 * n);
    }
}

static void add_up(parameter *p, const conv_net *net, int threads, size_t place, int t)
{
    memset(p->g, 0, sizeof(float) * (size_t)p->count);
    for (int id = 0; id < threads; id++) {
        const float *sum = (const float *)((const char *)net->sums[id] + place);
        for (int i = 0; i < p->count; i++)
            p->g[i] += sum[i];
    }
    parameter_adam(p, 0, p->count, t);
}

void conv_update(conv_net *net, int threads, int t)
{
    add_up(&net->w1, net, threads, offsetof(conv_sums, w1), t);
    add_up(&net->b1, net, threads, offsetof(conv_sums, b1), t);
    add_up(&net->w2, net, threads, offsetof(conv_sums, w2), t);
    add_up(&net->b2, net, threads, offsetof(conv_sums, b2), t);
}

/* The convolutions of conv.h: forward, and the passes that both directions
 * share. The tiles keep 12 to 16 sums in registers, which hides the latency of
 * multiply-add. */
#include "conv.h"
#include "../bench.h"
#include "conv_tile.h"

conv_net conv_create(int batch, int threads, uint64_t *random)
{
    const size_t n = (size_t)batch;
    conv_net net = {
        .w1 = parameter_create(TAPS * C1, 1.0f / 3.0f, random),
        .b1 = parameter_create(C1, 1.0f / 3.0f, random),
        .w2 = parameter_create(TAPS * C1 * C2, 1.0f / 12.0f, random),
        .b2 = parameter_create(C2, 1.0f / 12.0f, random),
        .images = bench_alloc(n * IMAGE, sizeof(float)),
        .pooled1 = bench_alloc(n * POOLED1, sizeof(float)),
        .picked1 = bench_alloc(n * PICKED1, sizeof(int32_t)),
        .picked2 = bench_alloc(n * POOLED2, sizeof(int32_t)),
        .w2_turned = bench_alloc(TAPS * C2 * C1, sizeof(float)),
    };
    for (int i = 0; i < threads; i++)
        net.sums[i] = bench_alloc(1, sizeof(conv_sums));
    return net;
}

/* One row of conv1 before bias: 28 pixels of 16 channels from 30 of one. */
static void row_1_to_16(const float *x, const float *w, float *y)
{
    conv_row(x, 1, IMAGE_ROW, w, C1, 28, WIDE ? 14 : 6, y);
}

/* One row of conv2 before bias: 14 pixels of 32 channels from 16 of 16. */
static void row_16_to_32(const float *x, const float *w, float *y) { conv_row(x, C1, 16, w, C2, 14, WIDE ? 7 : 3, y); }

/* y [n, C] = relu(max of 2x2 pixels + bias) from two rows [2 n, C]; picked [n,
 * C] tells which of them. The bias can be added after the maximum: it is the
 * same for all four. */
INLINE void pool(const float *upper, const float *lower, const float *bias, int channels, int n, float *y,
                 int32_t *picked)
{
    for (int p = 0; p < n; p++) {
        for (int c = 0; c < channels; c += LANES) {
            const int left = 2 * p * channels + c, right = left + channels;
            const vec others[3] = {load(upper + right), load(lower + left), load(lower + right)};
            vec largest = load(upper + left);
            mask which = splat_int(0);
            for (int i = 0; i < 3; i++) {
                const mask more = others[i] > largest;
                which = choose_int(more, splat_int(i + 1), which);
                largest = choose(more, others[i], largest);
            }
            largest += load(bias + c);
            const mask alive = largest > splat(0.0f);
            store(y + p * channels + c, choose(alive, largest, splat(0.0f)));
            store_int(picked + p * channels + c, choose_int(alive, which, splat_int(-1)));
        }
    }
}

void conv_forward(const conv_net *net, float *y, int from, int to)
{
    float rows[2][28 * C1]; /* [28, 16] or [14, 32] */
    for (int n = from; n < to; n++) {
        const float *image = net->images + IMAGE * n;
        float *pooled = net->pooled1 + POOLED1 * n;
        for (int r = 0; r < 14; r++) {
            for (int half = 0; half < 2; half++)
                row_1_to_16(image + (2 * r + half) * IMAGE_ROW, net->w1.w, rows[half]);
            pool(rows[0], rows[1], net->b1.w, C1, 14, pooled + (r + 1) * POOLED1_ROW + C1,
                 net->picked1 + PICKED1 * n + 14 * C1 * r);
        }
        for (int r = 0; r < 7; r++) {
            for (int half = 0; half < 2; half++)
                row_16_to_32(pooled + (2 * r + half) * POOLED1_ROW, net->w2.w, rows[half]);
            pool(rows[0], rows[1], net->b2.w, C2, 7, y + POOLED2 * n + 7 * C2 * r,
                 net->picked2 + POOLED2 * n + 7 * C2 * r);
        }
    }
}

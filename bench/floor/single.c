/* One example through W1's network: a matrix times a vector, bound by the 803 KB of weights that it reads. */
#include "single.h"
#include "vector.h"

enum { D = 784, H = 256, ROWS = 4 };

/* a[o..o + 3] = rows o to o + 3 of w times x, plus b */
INLINE void four_rows(const float *w, const float *x, const float *b, float *a)
{
    vec sum[ROWS][2] = {{splat(0.0f)}};
    for (int i = 0; i < D; i += 2 * LANES) {
        const vec low = load(x + i), high = load(x + i + LANES);
        UNROLL
        for (int r = 0; r < ROWS; r++) {
            sum[r][0] += low * load(w + r * D + i);
            sum[r][1] += high * load(w + r * D + i + LANES);
        }
    }
    for (int r = 0; r < ROWS; r++)
        a[r] = b[r] + add_lanes(sum[r][0] + sum[r][1]);
}

void single_infer(const image_net *net, const float *w1_turned, const float *x, float *out_scores)
{
    float a[H];
    for (int o = 0; o < H; o += ROWS)
        four_rows(w1_turned + o * D, x, net->b1.w + o, a + o);
    for (int o = 0; o < H; o += LANES) {
        vec y, slope;
        gelu(load(a + o), &y, &slope);
        store(a + o, y);
    }
    vec low = load(net->b2.w), high = load(net->b2.w + LANES);
    for (int o = 0; o < H; o++) {
        low += a[o] * load(net->w2.w + HEAD * o);
        high += a[o] * load(net->w2.w + HEAD * o + LANES);
    }
    store(out_scores, low);
    store(out_scores + LANES, high);
}

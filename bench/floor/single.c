/* One example through W1's network: a matrix times a vector, bound by the 803
 * KB of weights that it reads. */
#include "single.h"
#include "vector.h"

enum { D = 784, H = 256, ROWS = 8 };

/* a[0..7] = eight rows of w times x, plus b */
INLINE void eight_rows(const float *w, const float *x, const float *b, float *a)
{
    vec sum[ROWS];
    UNROLL
    for (int r = 0; r < ROWS; r++)
        sum[r] = splat(0.0f);
    for (int i = 0; i < D; i += LANES) {
        const vec values = load(x + i);
        UNROLL
        for (int r = 0; r < ROWS; r++)
            sum[r] += values * load(w + r * D + i);
    }
    UNROLL
    for (int r = 0; r < ROWS; r++)
        a[r] = b[r] + add_lanes(sum[r]);
}

void single_infer(const image_net *net, const float *w1_turned, const float *x, float *out_scores)
{
    float a[H];
    for (int o = 0; o < H; o += ROWS)
        eight_rows(w1_turned + o * D, x, net->b1.w + o, a + o);
    for (int o = 0; o < H; o += LANES) {
        vec y, slope;
        gelu(load(a + o), &y, &slope);
        store(a + o, y);
    }
    for (int v = 0; v < PARTS; v++) {
        vec even = load(net->b2.w + v * LANES), odd = splat(0.0f);
        for (int o = 0; o < H; o += 2) {
            even += a[o] * load(net->w2.w + HEAD * o + v * LANES);
            odd += a[o + 1] * load(net->w2.w + HEAD * (o + 1) + v * LANES);
        }
        store(out_scores + v * LANES, even + odd);
    }
}

/* W4: a step of a network 16-16-1 on a batch of 4, mean squared error and gradient descent, in one function. A row of
 * 16 is two vectors; everything but w1 stays in registers. */
#include "tiny.h"
#include "vector.h"

enum { N = 4, D = 16 };

/* h [N, 16] = relu(x w1 + b1) */
INLINE void hidden(const tiny_net *net, vec h[N][2])
{
    UNROLL
    for (int n = 0; n < N; n++)
        h[n][0] = load(net->b1), h[n][1] = load(net->b1 + LANES);
    UNROLL
    for (int i = 0; i < D; i++) {
        const vec low = load(net->w1[i]), high = load(net->w1[i] + LANES);
        UNROLL
        for (int n = 0; n < N; n++) {
            const vec x = splat(net->x[n][i]);
            h[n][0] += x * low;
            h[n][1] += x * high;
        }
    }
    UNROLL
    for (int n = 0; n < N; n++) {
        h[n][0] = choose(h[n][0] > splat(0.0f), h[n][0], splat(0.0f));
        h[n][1] = choose(h[n][1] > splat(0.0f), h[n][1], splat(0.0f));
    }
}

/* w1 -= rate x^T dh */
INLINE void update_w1(tiny_net *net, vec dh[N][2], float rate)
{
    UNROLL
    for (int i = 0; i < D; i++) {
        vec low = splat(0.0f), high = splat(0.0f);
        UNROLL
        for (int n = 0; n < N; n++) {
            const vec x = splat(net->x[n][i]);
            low += x * dh[n][0];
            high += x * dh[n][1];
        }
        store(net->w1[i], load(net->w1[i]) - rate * low);
        store(net->w1[i] + LANES, load(net->w1[i] + LANES) - rate * high);
    }
}

void tiny_step(tiny_net *net)
{
    const float rate = 0.01f;
    vec h[N][2], dh[N][2], dw2[2] = {splat(0.0f), splat(0.0f)}, db1[2] = {splat(0.0f), splat(0.0f)};
    const vec w2[2] = {load(net->w2), load(net->w2 + LANES)};
    float db2 = 0;
    hidden(net, h);
    UNROLL
    for (int n = 0; n < N; n++) {
        const float z = net->b2 + add_lanes(h[n][0] * w2[0] + h[n][1] * w2[1]);
        const float dz = (z - net->y[n]) * (2.0f / N);
        db2 += dz;
        UNROLL
        for (int v = 0; v < 2; v++) {
            dw2[v] += dz * h[n][v];
            dh[n][v] = choose(h[n][v] > splat(0.0f), dz * w2[v], splat(0.0f));
            db1[v] += dh[n][v];
        }
    }
    update_w1(net, dh, rate);
    UNROLL
    for (int v = 0; v < 2; v++) {
        store(net->w2 + v * LANES, w2[v] - rate * dw2[v]);
        store(net->b1 + v * LANES, load(net->b1 + v * LANES) - rate * db1[v]);
    }
    net->b2 -= rate * db2;
}

/* W4: a step of a network 16-16-1 on a batch of 4, mean squared error and
 * gradient descent, in one function. Everything but w1 stays in registers. */
#include "tiny.h"
#include "vector.h"

enum { N = 4, D = 16, CHAINS = 2 / PARTS }; /* CHAINS of sums side by side hide the latency of multiply-add */

INLINE vec positive(vec x) { return choose(x > splat(0.0f), x, splat(0.0f)); }

/* h [N, 16] = relu(x w1 + b1) */
INLINE void hidden(const tiny_net *net, vec h[N][PARTS])
{
    vec sum[CHAINS][N][PARTS];
    UNROLL
    for (int i = 0; i < CHAINS * N * PARTS; i++) {
        const int v = i % PARTS;
        sum[i / (N * PARTS)][i / PARTS % N][v] = i < N * PARTS ? load(net->b1 + v * LANES) : splat(0.0f);
    }
    UNROLL
    for (int i = 0; i < D; i++) {
        UNROLL
        for (int n = 0; n < N; n++) {
            UNROLL
            for (int v = 0; v < PARTS; v++)
                sum[i % CHAINS][n][v] += splat(net->x[n][i]) * load(net->w1[i] + v * LANES);
        }
    }
    UNROLL
    for (int n = 0; n < N; n++) {
        UNROLL
        for (int v = 0; v < PARTS; v++)
            h[n][v] = positive(CHAINS == 2 ? sum[0][n][v] + sum[CHAINS - 1][n][v] : sum[0][n][v]);
    }
}

/* w1 -= rate x^T dh */
INLINE void update_w1(tiny_net *net, vec dh[N][PARTS], float rate)
{
    UNROLL
    for (int i = 0; i < D; i++) {
        UNROLL
        for (int v = 0; v < PARTS; v++) {
            vec dw1 = splat(0.0f);
            UNROLL
            for (int n = 0; n < N; n++)
                dw1 += splat(net->x[n][i]) * dh[n][v];
            store(net->w1[i] + v * LANES, load(net->w1[i] + v * LANES) - rate * dw1);
        }
    }
}

void tiny_step(tiny_net *net)
{
    const float rate = 0.01f;
    vec h[N][PARTS], dh[N][PARTS], w2[PARTS], dw2[PARTS], db1[PARTS];
    float db2 = 0;
    UNROLL
    for (int v = 0; v < PARTS; v++)
        w2[v] = load(net->w2 + v * LANES), dw2[v] = db1[v] = splat(0.0f);
    hidden(net, h);
    UNROLL
    for (int n = 0; n < N; n++) {
        vec products = h[n][0] * w2[0];
        if (PARTS == 2)
            products += h[n][PARTS - 1] * w2[PARTS - 1];
        const float dz = (net->b2 + add_lanes(products) - net->y[n]) * (2.0f / N);
        db2 += dz;
        UNROLL
        for (int v = 0; v < PARTS; v++) {
            dw2[v] += dz * h[n][v];
            dh[n][v] = choose(h[n][v] > splat(0.0f), dz * w2[v], splat(0.0f));
            db1[v] += dh[n][v];
        }
    }
    update_w1(net, dh, rate);
    UNROLL
    for (int v = 0; v < PARTS; v++) {
        store(net->w2 + v * LANES, w2[v] - rate * dw2[v]);
        store(net->b1 + v * LANES, load(net->b1 + v * LANES) - rate * db1[v]);
    }
    net->b2 -= rate * db2;
}

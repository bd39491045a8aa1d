/* Causal attention, one head of one example after the other. The products cover
 * the masked half as well: leaving it out would save 3 % of the step's
 * arithmetic. */
#include "block.h"
#include "matrix.h"

#include <math.h>

/* What member `part` (0 queries, 1 keys, 2 values) of a head is, in a [R, 3 D]
 * array. */
static matrix head_part(float *heads, int example, int head, int part)
{
    return (matrix){heads + example * T * 3 * D + part * D + head * E, T, E, 3 * D, false};
}

static matrix head_of(float *mixed, int example, int head)
{
    return (matrix){mixed + example * T * D + head * E, T, E, D, false};
}

/* p = softmax of the first `count` numbers of p [T]; the rest becomes 0. */
static void softmax(float *p, int count)
{
    static const float ends[2 * LANES] = {[LANES... 2 * LANES - 1] = -1e30f};
    const int whole = (count + LANES - 1) / LANES * LANES;
    vec largest = splat(-1e30f), sum = splat(0.0f);
    store(p + whole - LANES, load(p + whole - LANES) + load(ends + LANES - (count - (whole - LANES))));
    for (int c = 0; c < whole; c += LANES)
        largest = choose(load(p + c) > largest, load(p + c), largest);
    float top = largest[0];
    for (int i = 1; i < LANES; i++)
        top = largest[i] > top ? largest[i] : top;
    for (int c = 0; c < whole; c += LANES) {
        const vec e = choose(load(p + c) > splat(-1e29f), exponential(load(p + c) - top), splat(0.0f));
        store(p + c, e);
        sum += e;
    }
    const float scale = 1.0f / add_lanes(sum);
    for (int c = 0; c < T; c += LANES)
        store(p + c, c < whole ? load(p + c) * scale : splat(0.0f));
}

void attention_forward(block *net, int from, int to)
{
    for (int n = from; n < to; n++) {
        for (int h = 0; h < H; h++) {
            const matrix p = matrix_of(net->weights + (n * H + h) * T * T, T, T);
            const matrix q = head_part(net->heads, n, h, 0), k = head_part(net->heads, n, h, 1);
            multiply(q, turn(k), 1.0f / sqrtf(E), 0.0f, p);
            for (int t = 0; t < T; t++)
                softmax(p.at + t * T, t + 1);
            multiply(p, head_part(net->heads, n, h, 2), 1.0f, 0.0f, head_of(net->mixed, n, h));
        }
    }
}

/* d [T, T] becomes p (d - sum of p d over the row). */
static void softmax_backward(const float *p, float *d)
{
    for (int t = 0; t < T; t++, p += T, d += T) {
        vec sum = splat(0.0f);
        for (int c = 0; c < T; c += LANES)
            sum += load(p + c) * load(d + c);
        const float along = add_lanes(sum);
        for (int c = 0; c < T; c += LANES)
            store(d + c, load(p + c) * (load(d + c) - along));
    }
}

void attention_backward(block *net, int id, int from, int to)
{
    const matrix d = matrix_of(net->dscores[id], T, T);
    for (int n = from; n < to; n++) {
        for (int h = 0; h < H; h++) {
            const matrix p = matrix_of(net->weights + (n * H + h) * T * T, T, T), dr = head_of(net->dmixed, n, h);
            const matrix q = head_part(net->heads, n, h, 0), k = head_part(net->heads, n, h, 1);
            const float scale = 1.0f / sqrtf(E);
            multiply(turn(p), dr, 1.0f, 0.0f, head_part(net->dheads, n, h, 2));
            multiply(dr, turn(head_part(net->heads, n, h, 2)), 1.0f, 0.0f, d);
            softmax_backward(p.at, d.at);
            multiply(d, k, scale, 0.0f, head_part(net->dheads, n, h, 0));
            multiply(turn(d), q, scale, 0.0f, head_part(net->dheads, n, h, 1));
        }
    }
}

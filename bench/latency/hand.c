/* Channels lie last, so that a vector holds channels of one pixel; weights are ordered once for that. Sums stay in
 * registers over a row of pixels. Nothing is skipped, split over threads or rounded to less than fp32. */
#include "hand.h"
#include "../bench.h"

enum { LANES = 16, WIDE = HAND_SIDE + 2, HALF = HAND_SIDE / 2, HALF_WIDE = HALF + 2, ROW = 7 };
enum { VEC2 = HAND_C2 / LANES, VECH = HAND_HIDDEN / LANES, TAPS = 9 };

typedef float vec __attribute__((vector_size(LANES * sizeof(float))));
typedef int32_t mask __attribute__((vector_size(LANES * sizeof(int32_t))));

struct hand_net {
    vec conv1[TAPS], bias1;
    vec conv2[TAPS][HAND_C1][VEC2], bias2[VEC2];
    vec fc1[HAND_FLAT][VECH], fc1_bias[VECH]; /* of pixel * HAND_C2 + channel */
    vec fc2[HAND_HIDDEN], fc2_bias;           /* classes filled up with zeros */
    float picture[WIDE][WIDE];                /* a border of zeros */
    vec pooled[HALF_WIDE][HALF_WIDE];         /* likewise */
    float flat[HAND_FLAT];
};

hand_net *hand_create(const hand_weights *w)
{
    hand_net *net = bench_alloc(1, sizeof *net);
    for (int o = 0; o < HAND_C1; o++) {
        net->bias1[o] = w->bias1[o];
        for (int t = 0; t < TAPS; t++)
            net->conv1[t][o] = w->conv1[o * TAPS + t];
    }
    for (int o = 0; o < HAND_C2; o++) {
        net->bias2[o / LANES][o % LANES] = w->bias2[o];
        for (int i = 0; i < HAND_C1 * TAPS; i++)
            net->conv2[i % TAPS][i / TAPS][o / LANES][o % LANES] = w->conv2[o * HAND_C1 * TAPS + i];
    }
    for (int o = 0; o < HAND_HIDDEN; o++) {
        net->fc1_bias[o / LANES][o % LANES] = w->fc1_bias[o];
        for (int i = 0; i < HAND_FLAT; i++)
            net->fc1[i % 49 * HAND_C2 + i / 49][o / LANES][o % LANES] = w->fc1[o * HAND_FLAT + i];
    }
    for (int o = 0; o < HAND_CLASSES; o++) {
        net->fc2_bias[o] = w->fc2_bias[o];
        for (int i = 0; i < HAND_HIDDEN; i++)
            net->fc2[i][o] = w->fc2[o * HAND_HIDDEN + i];
    }
    return net;
}

static inline vec largest(vec a, vec b)
{
    const mask m = a > b;
    return (vec)(((mask)a & m) | ((mask)b & ~m));
}

static inline vec pool(vec a, vec b, vec c, vec d)
{
    const vec zero = {0};
    return largest(largest(largest(a, b), largest(c, d)), zero); /* the ReLU of the largest is the largest ReLU */
}

/* Two rows of two pixels of the first convolution at a time. */
static void first(hand_net *net)
{
    for (int y = 0; y < HALF; y++) {
        for (int x = 0; x < HALF; x++) {
            vec sum[2][2] = {{net->bias1, net->bias1}, {net->bias1, net->bias1}};
            for (int t = 0; t < TAPS; t++) {
                for (int i = 0; i < 4; i++)
                    sum[i / 2][i % 2] += net->picture[2 * y + i / 2 + t / 3][2 * x + i % 2 + t % 3] * net->conv1[t];
            }
            net->pooled[y + 1][x + 1] = pool(sum[0][0], sum[0][1], sum[1][0], sum[1][1]);
        }
    }
}

/* ROW pixels of a row of the second convolution. */
static inline void row_of_second(const hand_net *net, int y, int x, vec out[ROW][VEC2])
{
    vec sum[ROW][VEC2];
    for (int p = 0; p < ROW; p++)
        sum[p][0] = net->bias2[0], sum[p][1] = net->bias2[1];
    for (int t = 0; t < TAPS; t++) {
        const float *in = (const float *)&net->pooled[y + t / 3][x + t % 3];
        for (int c = 0; c < HAND_C1; c++) {
            const vec low = net->conv2[t][c][0], high = net->conv2[t][c][1];
#pragma GCC unroll 7
            for (int p = 0; p < ROW; p++) {
                sum[p][0] += in[p * HAND_C1 + c] * low;
                sum[p][1] += in[p * HAND_C1 + c] * high;
            }
        }
    }
    memcpy(out, sum, sizeof sum);
}

static void second(hand_net *net)
{
    for (int y = 0; y < HALF; y += 2) {
        vec rows[2][HALF][VEC2];
        for (int i = 0; i < 4; i++)
            row_of_second(net, y + i / 2, i % 2 * ROW, rows[i / 2] + i % 2 * ROW);
        for (int x = 0; x < HALF; x += 2) {
            for (int v = 0; v < VEC2; v++) {
                const vec most = pool(rows[0][x][v], rows[0][x + 1][v], rows[1][x][v], rows[1][x + 1][v]);
                memcpy(net->flat + (y / 2 * ROW + x / 2) * HAND_C2 + v * LANES, &most, sizeof most);
            }
        }
    }
}

static void layers(const hand_net *net, float *scores)
{
    vec hidden[VECH], sum[2] = {net->fc2_bias, {0}};
    for (int v = 0; v < VECH; v++)
        hidden[v] = net->fc1_bias[v];
    for (int i = 0; i < HAND_FLAT; i++) {
#pragma GCC unroll 8
        for (int v = 0; v < VECH; v++)
            hidden[v] += net->flat[i] * net->fc1[i][v];
    }
    for (int v = 0; v < VECH; v++)
        hidden[v] = largest(hidden[v], (vec){0});
    for (int i = 0; i < HAND_HIDDEN; i++)
        sum[i % 2] += hidden[i / LANES][i % LANES] * net->fc2[i];
    sum[0] += sum[1];
    memcpy(scores, &sum[0], HAND_CLASSES * sizeof *scores);
}

void hand_predict(hand_net *net, const float *picture, float *scores)
{
    for (int y = 0; y < HAND_SIDE; y++)
        memcpy(&net->picture[y + 1][1], picture + y * HAND_SIDE, HAND_SIDE * sizeof *picture);
    first(net);
    second(net);
    layers(net, scores);
}

/* The last layer: rows are taken four at a time, so that each vector of weights that is loaded is used four times. */
#include "head.h"
#include "vector.h"

#include <math.h>

enum { ROWS = 4 };

/* Softmax, loss and gradient of one row; z is its 16 scores. */
static void classify(vec low, vec high, int label, float *dz, int batch, head_sums *sums)
{
    float z[HEAD];
    store(z, low);
    store(z + LANES, high);
    int best = 0;
    for (int c = 1; c < CLASSES; c++)
        best = z[c] > z[best] ? c : best;
    const float largest = z[best];
    const mask real = {-1, -1, 0, 0, 0, 0, 0, 0}; /* classes 8 and 9; the rest is padding */
    const vec e_low = exponential(low - largest), e_high = choose(real, exponential(high - largest), splat(0.0f));
    const float sum = add_lanes(e_low + e_high);
    sums->correct += best == label;
    sums->loss += (double)(logf(sum) - (z[label] - largest));
    if (dz == 0)
        return;
    const vec scale = splat(1.0f / (sum * (float)batch));
    store(dz, e_low * scale);
    store(dz + LANES, e_high * scale);
    dz[label] -= 1.0f / (float)batch;
}

void head_forward(const float *x, int k, const float *w, const float *b, const uint8_t *labels, float *dz, int from,
                  int to, int batch, head_sums *sums)
{
    for (int r = from; r < to; r += ROWS) {
        vec z[ROWS][2];
        for (int i = 0; i < ROWS; i++)
            z[i][0] = load(b), z[i][1] = load(b + LANES);
        for (int j = 0; j < k; j++) {
            const vec low = load(w + HEAD * j), high = load(w + HEAD * j + LANES);
            UNROLL
            for (int i = 0; i < ROWS; i++) {
                const vec xs = splat(x[(r + i) * k + j]);
                z[i][0] += xs * low;
                z[i][1] += xs * high;
            }
        }
        for (int i = 0; i < ROWS; i++)
            classify(z[i][0], z[i][1], labels[r + i], dz != 0 ? dz + HEAD * (r + i) : 0, batch, sums);
    }
}

void head_backward_x(const float *dz, const float *w, float *scratch, float *dx, int k, int from, int to)
{
    for (int j = 0; j < k; j++) {
        for (int c = 0; c < CLASSES; c++)
            scratch[c * k + j] = w[HEAD * j + c];
    }
    for (int r = from; r < to; r += ROWS) {
        for (int j = 0; j < k; j += 2 * LANES) {
            vec sum[ROWS][2] = {{splat(0.0f)}};
            UNROLL
            for (int c = 0; c < CLASSES; c++) {
                const vec low = load(scratch + c * k + j), high = load(scratch + c * k + j + LANES);
                UNROLL
                for (int i = 0; i < ROWS; i++) {
                    const vec zs = splat(dz[HEAD * (r + i) + c]);
                    sum[i][0] += zs * low;
                    sum[i][1] += zs * high;
                }
            }
            for (int i = 0; i < ROWS; i++) {
                store(dx + (r + i) * k + j, sum[i][0]);
                store(dx + (r + i) * k + j + LANES, sum[i][1]);
            }
        }
    }
}

void head_backward_w(const float *x, const float *dz, float *dw, int k, int from, int to, int batch)
{
    for (int j = from; j < to; j += ROWS) {
        vec sum[ROWS][2] = {{splat(0.0f)}};
        for (int r = 0; r < batch; r++) {
            const vec low = load(dz + HEAD * r), high = load(dz + HEAD * r + LANES);
            UNROLL
            for (int i = 0; i < ROWS; i++) {
                const vec xs = splat(x[r * k + j + i]);
                sum[i][0] += xs * low;
                sum[i][1] += xs * high;
            }
        }
        for (int i = 0; i < ROWS; i++)
            store(dw + HEAD * (j + i), sum[i][0]), store(dw + HEAD * (j + i) + LANES, sum[i][1]);
    }
}

void column_sums(const float *x, int columns, int rows, float *sums, int from, int to)
{
    for (int c = from; c < to; c += LANES) {
        vec sum = splat(0.0f);
        for (int r = 0; r < rows; r++)
            sum += load(x + r * columns + c);
        store(sums + c, sum);
    }
}

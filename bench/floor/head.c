/* The last layer: several rows are taken at a time, so that each vector of
 * weights that is loaded is used by all. */
#include "head.h"
#include "vector.h"

#include <math.h>

enum { ROWS = 8 / PARTS };

INLINE void clear(vec sum[ROWS][PARTS])
{
    UNROLL
    for (int i = 0; i < ROWS; i++) {
        UNROLL
        for (int v = 0; v < PARTS; v++)
            sum[i][v] = splat(0.0f);
    }
}

/* Softmax, loss and gradient of one row; z [16] are its scores and become exp(z
 * - largest). */
static void classify(float *z, int label, float *dz, int batch, head_sums *sums)
{
    static const int32_t real[HEAD] = {-1, -1, -1, -1, -1, -1, -1, -1, -1, -1}; /* the rest is padding */
    int best = 0;
    for (int c = 1; c < CLASSES; c++)
        best = z[c] > z[best] ? c : best;
    const float largest = z[best], own = z[label];
    vec sum = splat(0.0f);
    for (int c = 0; c < HEAD; c += LANES) {
        const vec e = choose(load_int(real + c), exponential(load(z + c) - largest), splat(0.0f));
        store(z + c, e);
        sum += e;
    }
    const float total = add_lanes(sum);
    sums->correct += best == label;
    sums->loss += (double)(logf(total) - (own - largest));
    if (dz == 0)
        return;
    for (int c = 0; c < HEAD; c += LANES)
        store(dz + c, load(z + c) * splat(1.0f / (total * (float)batch)));
    dz[label] -= 1.0f / (float)batch;
}

void head_forward(const float *x, int k, const float *w, const float *b, const uint8_t *labels, float *dz, int from,
                  int to, int batch, head_sums *sums)
{
    for (int r = from; r < to; r += ROWS) {
        vec sum[ROWS][PARTS];
        float z[ROWS][HEAD];
        clear(sum);
        for (int j = 0; j < k; j++) {
            UNROLL
            for (int i = 0; i < ROWS; i++) {
                UNROLL
                for (int v = 0; v < PARTS; v++)
                    sum[i][v] += splat(x[(r + i) * k + j]) * load(w + HEAD * j + v * LANES);
            }
        }
        UNROLL
        for (int i = 0; i < ROWS; i++) {
            UNROLL
            for (int v = 0; v < PARTS; v++)
                store(z[i] + v * LANES, sum[i][v] + load(b + v * LANES));
        }
        for (int i = 0; i < ROWS; i++)
            classify(z[i], labels[r + i], dz != 0 ? dz + HEAD * (r + i) : 0, batch, sums);
    }
}

void head_backward_x(const float *dz, const float *w, float *scratch, float *dx, int k, int from, int to)
{
    for (int j = 0; j < k; j++) {
        for (int c = 0; c < CLASSES; c++)
            scratch[c * k + j] = w[HEAD * j + c];
    }
    for (int r = from; r < to; r += ROWS) {
        for (int j = 0; j < k; j += PARTS * LANES) {
            vec sum[ROWS][PARTS];
            clear(sum);
            UNROLL
            for (int c = 0; c < CLASSES; c++) {
                UNROLL
                for (int i = 0; i < ROWS; i++) {
                    UNROLL
                    for (int v = 0; v < PARTS; v++)
                        sum[i][v] += splat(dz[HEAD * (r + i) + c]) * load(scratch + c * k + j + v * LANES);
                }
            }
            UNROLL
            for (int i = 0; i < ROWS; i++) {
                UNROLL
                for (int v = 0; v < PARTS; v++)
                    store(dx + (r + i) * k + j + v * LANES, sum[i][v]);
            }
        }
    }
}

void head_backward_w(const float *x, const float *dz, float *dw, int k, int from, int to, int batch)
{
    for (int j = from; j < to; j += ROWS) {
        vec sum[ROWS][PARTS];
        clear(sum);
        for (int r = 0; r < batch; r++) {
            UNROLL
            for (int i = 0; i < ROWS; i++) {
                UNROLL
                for (int v = 0; v < PARTS; v++)
                    sum[i][v] += splat(x[r * k + j + i]) * load(dz + HEAD * r + v * LANES);
            }
        }
        UNROLL
        for (int i = 0; i < ROWS; i++) {
            UNROLL
            for (int v = 0; v < PARTS; v++)
                store(dw + HEAD * (j + i) + v * LANES, sum[i][v]);
        }
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

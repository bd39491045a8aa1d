/* The inner loops of a 3x3 convolution. Every count is a constant where these
 * are called, so that the sums become registers. */
#ifndef FLOOR_CONV_TILE_H
#define FLOOR_CONV_TILE_H

#include "vector.h"

enum {
    TILE_PIXELS = 14,
    TILE_VECTORS = 32 / LANES,
    WIDE = PARTS == 1, /* 32 registers instead of 16 */
    TILE_CHANNELS = WIDE ? 8 : 6,
};

/* y [pixels, out] = sum over the nine taps and `in` channels of x [.., in],
 * whose rows are `pitch` pixels long, times w [9, in, out]. The sums, pixels *
 * out / LANES of them, have to fit into the registers: 12, or 14 of 32. */
INLINE void conv_tile(const float *x, const int in, const int pitch, const float *w, const int out, const int pixels,
                      float *y)
{
    const int vectors = out / LANES;
    vec sum[TILE_PIXELS][TILE_VECTORS];
    UNROLL
    for (int p = 0; p < pixels; p++) {
        UNROLL
        for (int v = 0; v < vectors; v++)
            sum[p][v] = splat(0.0f);
    }
    for (int tap = 0; tap < 9; tap++) {
        const float *from = x + (tap / 3 * pitch + tap % 3) * in;
        for (int c = 0; c < in; c++, w += out) {
            vec weights[TILE_VECTORS];
            UNROLL
            for (int v = 0; v < vectors; v++)
                weights[v] = load(w + v * LANES);
            UNROLL
            for (int p = 0; p < pixels; p++) {
                const vec value = splat(from[p * in + c]);
                UNROLL
                for (int v = 0; v < vectors; v++)
                    sum[p][v] += value * weights[v];
            }
        }
    }
    UNROLL
    for (int p = 0; p < pixels; p++) {
        UNROLL
        for (int v = 0; v < vectors; v++)
            store(y + p * out + v * LANES, sum[p][v]);
    }
}

/* A row of `pixels`, in tiles of `tile` and what is left. */
INLINE void conv_row(const float *x, const int in, const int pitch, const float *w, const int out, const int pixels,
                     const int tile, float *y)
{
    const int rest = pixels % tile;
    for (int p = 0; p + tile <= pixels; p += tile)
        conv_tile(x + p * in, in, pitch, w, out, tile, y + p * out);
    if (rest > 0)
        conv_tile(x + (pixels - rest) * in, in, pitch, w, out, rest, y + (pixels - rest) * out);
}

/* dw [channels, 2 LANES of 32] += sum over 14x14 pixels of x [16, 16, 16] (from
 * its first pixel under the tap) times two vectors of the channels at dy [16,
 * 16, 32] (from its first inner pixel). */
INLINE void weight_tile(const float *x, const float *dy, float *dw, const int channels)
{
    vec sum[TILE_CHANNELS][2];
    UNROLL
    for (int i = 0; i < channels; i++)
        sum[i][0] = load(dw + 32 * i), sum[i][1] = load(dw + 32 * i + LANES);
    for (int r = 0; r < 14; r++) {
        for (int p = 0; p < 14; p++) {
            const float *values = x + (r * 16 + p) * 16, *d = dy + (r * 16 + p) * 32;
            const vec low = load(d), high = load(d + LANES);
            UNROLL
            for (int i = 0; i < channels; i++) {
                const vec value = splat(values[i]);
                sum[i][0] += value * low;
                sum[i][1] += value * high;
            }
        }
    }
    UNROLL
    for (int i = 0; i < channels; i++)
        store(dw + 32 * i, sum[i][0]), store(dw + 32 * i + LANES, sum[i][1]);
}

#endif

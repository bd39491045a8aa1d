/* A row of y of the convolution of kernel_conv_avx512.h, in tiles, and its way to planes. Taps that lie in the border
 * are left out: whole rows of the kernel, and columns of it for the first and the last position of a row. A sum begins
 * at +0, and so 0 times a finite weight changes it no more than a -0, which underflow makes, into +0; adding a bias
 * other than -0 does the same. Panels that cannot promise that (pack_run) are multiplied whole, with the zeros of the
 * frame. */
#include "base/number/integer.h"
#include "engine/kernels/common_avx512.h"
#include "engine/kernels/conv/kernel_conv_avx512.h"

#define POSITIONS 14 /* of a tile */

/* i runs from begin to end, with gaps: from stop on `gap` are left out, and then after each `run`. */
typedef struct tile {
    const float *x; /* of the first position */
    const int32_t *tap;
    const float *weight; /* [depth, 16 or 32] */
    int64_t begin, stop, end;
    int64_t run, gap;
    int64_t columns;   /* of the kernel; a run begins at the first one, but that from `begin` perhaps */
    int64_t low, high; /* the first position is inside from column `low` on, the last one before column `high` */
    const float *bias; /* [16 or 32] */
    float *out;        /* [positions, MW__CONV_PANEL] */
    bool add;          /* to what it holds, in place of the bias */
} tile;

typedef void tile_function(const tile *t);

/* positions, vectors and edge are constants where this is inlined; edge: `low` and `high` say something */
MW__INLINE void tile_body(const int positions, const int vectors, const bool edge, const tile *t)
{
    __m512 sum[POSITIONS][2];
    UNROLL for (int p = 0; p < positions; p++) UNROLL for (int v = 0; v < vectors; v++) sum[p][v] = _mm512_setzero_ps();
    int64_t column = edge ? t->begin % t->columns : 0;
    for (int64_t i = t->begin, stop = t->stop; i < t->end; i += t->gap, stop = mw__i64_min(i + t->run, t->end)) {
        for (; i < stop; i++) {
            const float *x = t->x + t->tap[i], *weight = t->weight + i * LANES * vectors;
            __m512 w[2];
            UNROLL for (int v = 0; v < vectors; v++) w[v] = _mm512_loadu_ps(weight + v * LANES);
            UNROLL for (int p = 0; p < positions; p++)
            {
                if (edge && ((p == 0 && column < t->low) || (p == positions - 1 && column >= t->high)))
                    continue;
                const __m512 value = _mm512_set1_ps(x[p]);
                UNROLL for (int v = 0; v < vectors; v++) sum[p][v] = _mm512_fmadd_ps(value, w[v], sum[p][v]);
            }
            if (edge)
                column = column + 1 < t->columns ? column + 1 : 0;
        }
    }
    UNROLL for (int v = 0; v < vectors; v++)
    {
        const __m512 bias = _mm512_loadu_ps(t->bias + v * LANES);
        UNROLL for (int p = 0; p < positions; p++)
        {
            float *out = t->out + p * MW__CONV_PANEL + v * LANES;
            _mm512_storeu_ps(out, _mm512_add_ps(sum[p][v], t->add ? _mm512_loadu_ps(out) : bias));
        }
    }
}

#define TILE(positions)                                                                                                \
    static void tile_##positions##_1(const tile *t) { tile_body(positions, 1, false, t); }                             \
    static void tile_##positions##_2(const tile *t) { tile_body(positions, 2, false, t); }                             \
    static void edge_##positions##_1(const tile *t) { tile_body(positions, 1, true, t); }                              \
    static void edge_##positions##_2(const tile *t) { tile_body(positions, 2, true, t); }
TILE(1)
TILE(2)
TILE(3)
TILE(4)
TILE(5)
TILE(6)
TILE(7)
TILE(8)
TILE(9)
TILE(10)
TILE(11)
TILE(12)
TILE(13)
TILE(14)

#define LISTED(name)                                                                                                   \
    {                                                                                                                  \
        name##_1, name##_2                                                                                             \
    }
/* [edge][positions - 1][vectors - 1] */
static tile_function *const tiles[2][POSITIONS][2] = {
    {LISTED(tile_1), LISTED(tile_2), LISTED(tile_3), LISTED(tile_4), LISTED(tile_5), LISTED(tile_6), LISTED(tile_7),
     LISTED(tile_8), LISTED(tile_9), LISTED(tile_10), LISTED(tile_11), LISTED(tile_12), LISTED(tile_13),
     LISTED(tile_14)},
    {LISTED(edge_1), LISTED(edge_2), LISTED(edge_3), LISTED(edge_4), LISTED(edge_5), LISTED(edge_6), LISTED(edge_7),
     LISTED(edge_8), LISTED(edge_9), LISTED(edge_10), LISTED(edge_11), LISTED(edge_12), LISTED(edge_13),
     LISTED(edge_14)}};

/* Elements of the kernel along an axis. */
typedef struct span {
    int64_t low, high;
} span;

/* Rows of small pictures are so short that divisions count. */
static int64_t divide(int64_t a, int64_t b) { return b == 1 ? a : a / b; }

/* Those under which a position of y lies on x. */
static span inside(const mw__conv_window *w, int axis, int64_t position)
{
    const int64_t start = position * w->stride[axis] - w->before[axis], step = w->dilation[axis];
    const int64_t after = w->in[axis] - start; /* elements from there on */
    const int64_t low = start < 0 ? mw__i64_min(divide(-start + step - 1, step), w->kernel[axis]) : 0;
    const int64_t high = after > 0 ? mw__i64_min(divide(after - 1, step) + 1, w->kernel[axis]) : 0;
    return (span){.low = low, .high = high > low ? high : low};
}

/* i in [begin, end) under rows of the kernel. */
static void set_range(const mw__conv_window *w, span rows, int64_t begin, int64_t end, tile *t)
{
    const int64_t low = rows.low * w->kernel[2], high = rows.high * w->kernel[2], at = begin > 0 ? begin % w->taps : 0;
    t->run = high - low, t->gap = w->taps - t->run, t->end = end;
    t->begin = at < low ? begin - at + low : at < high ? begin : begin - at + w->taps + low;
    t->stop = t->begin - (at >= low && at < high ? at : low) + high;
    if (t->gap == 0)
        t->stop = end;
    t->begin = mw__i64_min(t->begin, end), t->stop = mw__i64_min(t->stop, end);
}

void mw__conv_avx512_row(const mw__conv_avx512 *c, const float *frame, const float *packed, int64_t panel, int64_t band,
                         int64_t row, float *out)
{
    const mw__conv_window *w = &c->window;
    const int64_t width = w->out[2], lanes = mw__conv_avx512_panel(c, panel), vectors = lanes / LANES;
    const int64_t parts = (width + POSITIONS - 1) / POSITIONS, block = c->blocks ? MW__PACKED_DEPTH : c->depth;
    tile t = {.weight = packed + panel * mw__conv_avx512_panel_floats(c), .tap = c->tap, .columns = w->kernel[2]};
    t.bias = t.weight + c->depth * lanes;
    const bool whole = t.bias[lanes] != 0.0f; /* zeros of the border, too */
    const span rows = whole ? (span){0, w->kernel[1]} : inside(w, 1, band * c->band + row);
    for (int64_t part = 0, begin = 0, end; part < parts; part++, begin = end) { /* of nearly equal size */
        end = divide(width * (part + 1), parts);
        t.x = frame + row * w->stride[1] * c->pitch + begin;
        t.out = out + begin * MW__CONV_PANEL;
        t.low = whole || begin > 0 ? 0 : inside(w, 2, 0).low;
        t.high = whole || end < width ? t.columns : inside(w, 2, width - 1).high;
        const bool edge = t.low > 0 || t.high < t.columns;
        for (int64_t i = 0; i < c->depth; i += block) {
            set_range(w, rows, i, mw__i64_min(i + block, c->depth), &t);
            t.add = i > 0;
            tiles[edge][end - begin - 1][vectors - 1](&t);
        }
    }
}

/* ---- lines to planes ---- */

static void transpose_square(const float *x, int64_t positions, int64_t channels, float *planes, int64_t area)
{
    const __mmask16 mask = (__mmask16)((1u << positions) - 1);
    __m512 r[LANES];
    UNROLL for (int i = 0; i < LANES; i++) r[i] = _mm512_loadu_ps(x + i * MW__CONV_PANEL);
    mw__transpose_avx512(r);
    UNROLL for (int i = 0; i < LANES; i++)
    {
        if (i < channels) {
            mw__kernel_prefetch(planes + i * area,
                                MW__CONV_LINE * (int64_t)sizeof *planes); /* for the next line's stores */
            _mm512_mask_storeu_ps(planes + i * area, mask, r[i]);
        }
    }
}

void mw__conv_avx512_transpose(const float *x, int64_t positions, int64_t channels, float *planes, int64_t area)
{
    for (int64_t p = 0; p < positions; p += LANES)
        for (int64_t o = 0; o < channels; o += LANES)
            transpose_square(x + p * MW__CONV_PANEL + o, mw__i64_min(LANES, positions - p),
                             mw__i64_min(LANES, channels - o), planes + o * area + p, area);
}

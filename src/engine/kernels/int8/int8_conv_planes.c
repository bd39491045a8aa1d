#include "engine/kernels/int8/int8_conv.h"
#include "engine/kernels/int8/int8_copy.h"

#include <string.h>

static void fill_border(uint32_t *out, int64_t count, uint32_t border)
{
    for (int64_t i = 0; i < count; i++)
        out[i] = border;
}

static void lay_border(const mw__int8_conv *b, const mw__int8_plane *p, const uint8_t *row, int64_t from, int64_t to,
                       uint32_t *out)
{
    (void)p, (void)row;
    fill_border(out + from, to - from, b->border);
}

/* Quads of which some bytes are border. */
static void lay_edges(const mw__int8_conv *b, const mw__int8_plane *p, const uint8_t *row, int64_t from, int64_t to,
                      uint32_t *out)
{
    for (int64_t i = from; i < to; i++) {
        uint8_t bytes[4];
        memcpy(bytes, &b->border, 4);
        for (int64_t j = 0; j < 4; j++) {
            const int64_t w = p->begin[2] + i * b->stride[2] + j * b->along;
            if (w >= 0 && w < b->in[2] && (b->across == 0 || j < p->count))
                bytes[j] = row[j * b->across + w] ^ (uint8_t)b->flip;
        }
        memcpy(&out[i], bytes, 4);
    }
}

/* `count` is a constant where this is inlined: compilers make the loop below of vectors of 64 bytes, and rows are
 * shorter than that. */
MW__INLINE void weave_block(const uint8_t *const x[4], int64_t at, const int count, uint32_t flip, uint32_t *out)
{
    const uint8_t *x0 = x[0] + at, *x1 = x[1] + at, *x2 = x[2] + at, *x3 = x[3] + at;
    out += at;
    MW__VECTORIZE
    for (int i = 0; i < count; i++)
        out[i] = ((uint32_t)x0[i] | (uint32_t)x1[i] << 8 | (uint32_t)x2[i] << 16 | (uint32_t)x3[i] << 24) ^ flip;
}

/* Blocks of one size, of which the last one repeats some of the one before. */
MW__INLINE void weave_blocks(const uint8_t *const x[4], int64_t count, const int size, uint32_t flip, uint32_t *out)
{
    for (int64_t at = 0; at + size <= count; at += size)
        weave_block(x, at, size, flip, out);
    if (count % size != 0)
        weave_block(x, count - size, size, flip, out);
}

MW__INLINE void weave(const uint8_t *const x[4], int64_t count, uint32_t flip, uint32_t *out)
{
    if (count >= 64)
        weave_blocks(x, count, 64, flip, out);
    else if (count >= 16)
        weave_blocks(x, count, 16, flip, out);
    else if (count >= 4)
        weave_blocks(x, count, 4, flip, out);
    else
        weave_blocks(x, count, 1, flip, out);
}

#define SPAN 256 /* quads that are woven at a time, of which some are taken */

/* Every second one: bytes that lie side by side are woven faster than others. */
MW__INLINE void weave_half(const uint8_t *const x[4], int64_t count, uint32_t flip, uint32_t *out)
{
    uint32_t all[SPAN];
    for (int64_t at = 0; at < count; at += SPAN / 2) {
        const int64_t here = mw__i64_min(count - at, SPAN / 2);
        const uint8_t *const from[4] = {x[0] + 2 * at, x[1] + 2 * at, x[2] + 2 * at, x[3] + 2 * at};
        weave(from, 2 * here - 1, flip, all);
        for (int64_t i = 0; i < here; i++)
            out[at + i] = all[2 * i];
    }
}

MW__INLINE void weave_some(const uint8_t *const x[4], int64_t count, int64_t stride, uint32_t flip, uint32_t *out)
{
    for (int64_t i = 0; i < count; i++, out++)
        *out = ((uint32_t)x[0][i * stride] | (uint32_t)x[1][i * stride] << 8 | (uint32_t)x[2][i * stride] << 16 |
                (uint32_t)x[3][i * stride] << 24) ^
               flip;
}

/* Quads of which no byte is border. */
MW__INLINE void weave_inside(const mw__int8_conv *b, const mw__int8_plane *p, const uint8_t *row, int64_t from,
                             int64_t count, uint32_t *out)
{
    const int64_t s = b->stride[2];
    const uint8_t *x[4];
    for (int64_t j = 0; j < 4; j++) /* channels that are not there have weights of 0 */
        x[j] = row + (j < p->count ? j : 0) * b->across + p->begin[2] + from * s + j * b->along;
    if (s == 1)
        weave(x, count, b->flip, out);
    else if (s == 2)
        weave_half(x, count, b->flip, out);
    else
        weave_some(x, count, s, b->flip, out);
}

/* row: of the plane's first channel. */
MW__INLINE void lay_row(const mw__int8_conv *b, const mw__int8_plane *p, const uint8_t *row, uint32_t *out)
{
    const int64_t s = b->stride[2], extent = b->extent[2], begin = p->begin[2];
    const int64_t room = b->in[2] - 1 - begin - 3 * b->along; /* for the first byte of the last quad */
    const int64_t high = room < 0 ? 0 : mw__i64_min(room / s + 1, extent);
    const int64_t low = mw__i64_min(begin < 0 ? (-begin + s - 1) / s : 0, high);
    void (*const edges)(const mw__int8_conv *, const mw__int8_plane *, const uint8_t *, int64_t, int64_t, uint32_t *) =
        b->along == 0 ? lay_border : lay_edges;
    edges(b, p, row, 0, low, out);
    if (low < high)
        weave_inside(b, p, row, low, high - low, out + low);
    edges(b, p, row, high, extent, out);
}
/* ---- of quads ---- */

MW__INLINE void lay_quads_row(const mw__int8_conv *b, const uint32_t *x, int64_t low, int64_t high,
                              const int64_t stride, uint32_t *out)
{
    fill_border(out, low, b->border);
    mw__int8_copy(x, stride, high - low, out + low);
    fill_border(out + high, b->extent[2] - high, b->border);
}

/* ---- planes ---- */

/* Which row of x a row of the plane is; -1: it is border. */
MW__INLINE int64_t row_of(const mw__int8_conv *b, const mw__int8_plane *p, int64_t i, int64_t k)
{
    const int64_t d = p->begin[0] + i * b->stride[0], h = p->begin[1] + k * b->stride[1];
    return d < 0 || d >= b->in[0] || h < 0 || h >= b->in[1] ? -1 : d * b->in[1] + h;
}

MW__INLINE void lay_body(const mw__int8_conv *b, const mw__int8_plane *p, const uint8_t *x, uint32_t *out)
{
    x += p->channel * (mw__int8_conv_x_size(b) / b->channels);
    for (int64_t i = 0; i < b->extent[0]; i++)
        for (int64_t k = 0; k < b->extent[1]; k++, out += b->extent[2]) {
            const int64_t row = row_of(b, p, i, k);
            if (row < 0)
                fill_border(out, b->extent[2], b->border);
            else
                lay_row(b, p, x + row * b->in[2], out);
        }
}
MW__BASE_AVX2_AVX512(lay, (const mw__int8_conv *b, const mw__int8_plane *p, const uint8_t *x, uint32_t *out),
                     (b, p, x, out))

/* `stride` is a constant where this is inlined, or that of the rows. */
MW__INLINE void lay_quads_rows(const mw__int8_conv *b, const mw__int8_plane *p, const uint32_t *x, const int64_t stride,
                               uint32_t *out)
{
    const int64_t extent = b->extent[2], begin = p->begin[2], room = b->in[2] - 1 - begin;
    const int64_t high = room < 0 ? 0 : mw__i64_min(room / stride + 1, extent);
    const int64_t low = mw__i64_min(begin < 0 ? (-begin + stride - 1) / stride : 0, high);
    for (int64_t i = 0; i < b->extent[0]; i++)
        for (int64_t k = 0; k < b->extent[1]; k++, out += extent) {
            const int64_t row = row_of(b, p, i, k);
            if (row < 0)
                fill_border(out, extent, b->border);
            else
                lay_quads_row(b, x + row * b->in[2] + begin + low * stride, low, high, stride, out);
        }
}

MW__INLINE void lay_quads_body(const mw__int8_conv *b, const mw__int8_plane *p, const uint8_t *x, uint32_t *out)
{
    const uint32_t *const quads =
        (const uint32_t *)(const void *)(x + p->channel * (b->images * (mw__int8_conv_x_size(b) / b->channels)));
    if (b->stride[2] == 1)
        lay_quads_rows(b, p, quads, 1, out);
    else if (b->stride[2] == 2)
        lay_quads_rows(b, p, quads, 2, out);
    else
        lay_quads_rows(b, p, quads, b->stride[2], out);
}
MW__BASE_AVX2_AVX512(lay_quads, (const mw__int8_conv *b, const mw__int8_plane *p, const uint8_t *x, uint32_t *out),
                     (b, p, x, out))

void (*mw__int8_conv_lay_of(mw__level level, bool quads))(const mw__int8_conv *, const mw__int8_plane *,
                                                          const uint8_t *, uint32_t *)
{
    return quads ? MW__DISPATCH_BEST(lay_quads, level) : MW__DISPATCH_BEST(lay, level);
}

void mw__int8_conv_run_planes(const mw__kernel_call *call)
{
    const mw__int8_conv *b = call->block;
    const int64_t image_step = b->x_quads ? mw__int8_conv_x_size(b) / b->channels * 4 : mw__int8_conv_x_size(b);
    for (int64_t unit = call->begin; unit < call->end; unit++)
        b->lay_plane(b, &b->planes[unit / b->images], (const uint8_t *)call->in[0] + unit % b->images * image_step,
                     (uint32_t *)call->out[0] + unit * b->plane_quads);
}

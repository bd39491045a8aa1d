#include "engine/kernels/int8/int8_conv.h"

#include <string.h>

static void fill_border(uint32_t *out, int64_t count, uint32_t border)
{
    for (int64_t i = 0; i < count; i++)
        out[i] = border;
}

/* Quads of which some bytes are border. */
static void lay_edges(const mw__int8_conv *b, const mw__int8_plane *p, const uint8_t *row, int64_t from, int64_t to,
                      uint32_t *out)
{
    const int64_t channel = mw__int8_conv_x_size(b) / b->channels;
    for (int64_t i = from; i < to; i++) {
        uint8_t bytes[4];
        memcpy(bytes, &b->border, 4);
        for (int64_t j = 0; j < 4; j++) {
            const int64_t w = p->begin[2] + i * b->stride[2] + j * b->along;
            if (w >= 0 && w < b->in[2] && (b->across == 0 || j < p->count))
                bytes[j] = row[j * b->across * channel + w] ^ (uint8_t)b->flip;
        }
        memcpy(&out[i], bytes, 4);
    }
}

MW__INLINE void weave(const uint8_t *const x[4], int64_t count, const int64_t stride, uint32_t flip, uint32_t *out)
{
    const uint8_t *x0 = x[0], *x1 = x[1], *x2 = x[2], *x3 = x[3];
    MW__VECTORIZE
    for (int64_t i = 0; i < count; i++)
        out[i] = ((uint32_t)x0[i * stride] | (uint32_t)x1[i * stride] << 8 | (uint32_t)x2[i * stride] << 16 |
                  (uint32_t)x3[i * stride] << 24) ^
                 flip;
}

/* row: of the plane's first channel. */
MW__INLINE void lay_body(const mw__int8_conv *b, const mw__int8_plane *p, const uint8_t *row, uint32_t *out)
{
    const int64_t s = b->stride[2], extent = b->extent[2], begin = p->begin[2],
                  channel = mw__int8_conv_x_size(b) / b->channels;
    const uint8_t *x[4];
    int64_t low = begin < 0 ? (-begin + s - 1) / s : 0;
    int64_t high = (b->in[2] - 1 - begin - 3 * b->along) / s + 1;
    high = b->in[2] - 1 - begin - 3 * b->along < 0 ? 0 : mw__i64_min(high, extent);
    low = mw__i64_min(low, high);
    for (int64_t j = 0; j < 4; j++) /* channels that are not there have weights of 0 */
        x[j] = row + (j < p->count ? j : 0) * b->across * channel + begin + low * s + j * b->along;
    lay_edges(b, p, row, 0, low, out);
    if (s == 1)
        weave(x, high - low, 1, b->flip, out + low);
    else if (s == 2)
        weave(x, high - low, 2, b->flip, out + low);
    else
        weave(x, high - low, s, b->flip, out + low);
    lay_edges(b, p, row, high, extent, out);
}
MW__BASE_AVX2_AVX512(lay, (const mw__int8_conv *b, const mw__int8_plane *p, const uint8_t *row, uint32_t *out),
                     (b, p, row, out))

void mw__int8_conv_lay_plane(const mw__int8_conv *b, const mw__int8_plane *p, const uint8_t *x, uint32_t *out)
{
    x += p->channel * (mw__int8_conv_x_size(b) / b->channels);
    for (int64_t i = 0; i < b->extent[0]; i++) {
        const int64_t d = p->begin[0] + i * b->stride[0];
        for (int64_t k = 0; k < b->extent[1]; k++, out += b->extent[2]) {
            const int64_t h = p->begin[1] + k * b->stride[1];
            if (d < 0 || d >= b->in[0] || h < 0 || h >= b->in[1])
                fill_border(out, b->extent[2], b->border);
            else
                b->lay_row(b, p, x + (d * b->in[1] + h) * b->in[2], out);
        }
    }
}

void (*mw__int8_conv_lay_row_of(mw__level level))(const mw__int8_conv *, const mw__int8_plane *, const uint8_t *,
                                                  uint32_t *)
{
    return MW__DISPATCH_BEST(lay, level);
}

void mw__int8_conv_run_planes(const mw__kernel_call *call)
{
    const mw__int8_conv *b = call->block;
    for (int64_t unit = call->begin; unit < call->end; unit++) {
        const int64_t at = unit / b->images, image = unit % b->images;
        mw__int8_conv_lay_plane(b, &b->planes[at], (const uint8_t *)call->in[0] + image * mw__int8_conv_x_size(b),
                                (uint32_t *)call->out[0] + unit * b->plane_quads);
    }
}

/* Frames, and masks of planes that are read where they lie: kernel_conv_depthwise.h. */
#include "base/number/integer.h"
#include "engine/kernels/conv/kernel_conv_depthwise.h"

#include <string.h>

#define FRAME_MOST 4194304 /* floats */
#define EXTENT     65536

bool mw__depthwise_fits(const mw__conv_window *w)
{
    for (int i = 0; i < 3; i++)
        if (w->in[i] > EXTENT || w->out[i] > EXTENT || w->kernel[i] > EXTENT / w->dilation[i] ||
            w->before[i] > EXTENT || w->stride[i] > MW__DEPTHWISE_STEP)
            return false;
    /* what any of the frames below covers */
    const int64_t rows = mw__i64_max(w->in[1], w->out[1] * w->stride[1]) + 2 * w->kernel[1] * w->dilation[1];
    const int64_t columns = mw__i64_max(w->in[2], w->out[2] * w->stride[2]) + 2 * w->kernel[2] * w->dilation[2];
    return w->taps <= MW__DEPTHWISE_TAPS && rows <= FRAME_MOST / columns;
}

/* ---- the frame ---- */

/* Which of `count` elements from `first` on, `step` apart, lie within [0, extent). */
static void find_inside(int64_t first, int64_t step, int64_t extent, int64_t count, int32_t *out_begin,
                        int32_t *out_end)
{
    const int64_t inside = extent > first ? mw__i64_divide_up(extent - first, step) : 0;
    *out_begin = (int32_t)mw__i64_min(first < 0 ? mw__i64_divide_up(-first, step) : 0, count);
    *out_end = (int32_t)mw__i64_max(*out_begin, mw__i64_min(inside, count));
}

mw__depthwise_frame mw__depthwise_frame_of(const int64_t in[2], const int64_t step[2], const int64_t extent[2],
                                           const int64_t low[2], const int64_t high[2])
{
    mw__depthwise_frame f = {.in = {in[0], in[1]}, .step = {step[0], step[1]}, .first = {low[0], low[1]}};
    f.rows = extent[0] + (high[0] - low[0]) / step[0];
    f.pitch = extent[1] + (high[1] - low[1]) / step[1];
    f.floats = step[0] * step[1] * f.rows * f.pitch + MW__PACKED_SLACK;
    for (int i = 0; i < 2; i++)
        for (int64_t r = 0; r < step[i]; r++)
            find_inside(low[i] + r, step[i], in[i], i == 0 ? f.rows : f.pitch, &f.begin[i][r], &f.end[i][r]);
    return f;
}

int64_t mw__depthwise_begin(int64_t offset, int64_t step)
{
    return (offset >= 0 ? offset / step : -mw__i64_divide_up(-offset, step)) * step;
}

int32_t mw__depthwise_place_of(const mw__depthwise_frame *f, int64_t row, int64_t column)
{
    const int64_t y = row - f->first[0], x = column - f->first[1];
    const int64_t plane = y % f->step[0] * f->step[1] + x % f->step[1];
    return (int32_t)((plane * f->rows + y / f->step[0]) * f->pitch + x / f->step[1]);
}

/* Rows of one remainder that lie outside of x. */
static void clear_rows(const mw__depthwise_frame *f, int64_t begin, int64_t end, float *frame)
{
    if (f->reused && end > begin)
        memset(frame + begin * f->pitch, 0, (size_t)((end - begin) * f->pitch) * sizeof *frame);
}

void mw__depthwise_fill_frame(const mw__depthwise_frame *f, const mw__packed_code *code, const float *x, int64_t row,
                              const float *next, float *frame)
{
    const int64_t first = mw__i64_clamp(f->first[0] + row, 0, f->in[0]);
    const int64_t rows = mw__i64_min(f->rows * f->step[0], f->in[0] - first);
    mw__depthwise_ask_for(mw__depthwise_plane(next, first * f->in[1]), rows * f->in[1]);
    for (int64_t py = 0; py < f->step[0]; py++) {
        int32_t top = f->begin[0][py], end = f->end[0][py];
        if (row > 0)
            find_inside(f->first[0] + row + py, f->step[0], f->in[0], f->rows, &top, &end);
        const int64_t from = f->first[0] + row + py + top * f->step[0];
        for (int64_t px = 0; px < f->step[1]; px++, frame += f->rows * f->pitch) {
            const int64_t offset = from * f->in[1] + f->first[1] + px;
            clear_rows(f, 0, top, frame);
            clear_rows(f, end, f->rows, frame);
            code->lines((const float *)((uintptr_t)x + (uintptr_t)(offset * (int64_t)sizeof *x)), f->step[0] * f->in[1],
                        end - top, f->step[1], f->begin[1][px], f->end[1][px], f->pitch, frame + top * f->pitch);
        }
    }
}

/* ---- planes without a frame ---- */

bool mw__depthwise_is_flat(const mw__packed_code *code, const int64_t in[2], int64_t rows, int64_t columns,
                           int64_t taps)
{
    return code->flat_taps != NULL && columns == in[1] &&
           mw__depthwise_vectors(rows * columns, code) * taps <= MW__DEPTHWISE_MASKS;
}

void mw__depthwise_fill_flat(const mw__packed_code *code, const int64_t in[2], int64_t count, const int64_t offset[2],
                             int32_t *at, uint16_t *mask)
{
    *at = (int32_t)(offset[0] * in[1] + offset[1]);
    for (int64_t i = 0; i < count; i++) {
        const int64_t y = i / in[1] + offset[0], x = i % in[1] + offset[1];
        if (y >= 0 && y < in[0] && x >= 0 && x < in[1])
            mask[i / code->width] |= (uint16_t)(1u << i % code->width);
    }
}

/* ---- bands of planes without a frame ---- */

#define AREA_LEAST 8192 /* floats of a plane that is cut */
#define BAND_LEAST 512  /* floats */

/* Rows that begin anew with a vector, if there are not too many of them. */
static int64_t period_of(const mw__packed_code *code, int64_t width)
{
    const int64_t least = mw__i64_divide_up(BAND_LEAST, width);
    for (int64_t rows = least; rows < 2 * least + code->width; rows++)
        if (rows * width % code->width == 0)
            return rows;
    return 2 * least;
}

static bool fill_band(mw__planner *planner, const mw__packed_code *code, const int64_t in[2], int64_t row, int64_t rows,
                      int64_t taps, const int64_t (*offset)[2], mw__packed_flat *out)
{
    const int64_t vectors = mw__depthwise_vectors(rows * in[1], code);
    uint16_t *const mask = mw__plan_block(planner, (size_t)(vectors * taps + 1) * sizeof *mask);
    int32_t *const at = mw__plan_block(planner, (size_t)taps * sizeof *at);
    *out = (mw__packed_flat){.taps = taps, .count = rows * in[1], .inside = in[0] * in[1], .at = at, .mask = mask};
    for (int64_t t = 0; mask != NULL && at != NULL && t < taps; t++) {
        const int64_t from[2] = {row + offset[t][0], offset[t][1]};
        mw__depthwise_fill_flat(code, in, rows * in[1], from, &at[t], mask + t * vectors);
        at[t] -= (int32_t)(row * in[1]);
    }
    return mask != NULL && at != NULL;
}

const mw__depthwise_bands *mw__depthwise_cut(mw__planner *planner, const mw__packed_code *code, const int64_t in[2],
                                             int64_t rows, int64_t taps, const int64_t (*offset)[2])
{
    int64_t low = 0, high = 0;
    for (int64_t t = 0; t < taps; t++)
        low = mw__i64_min(low, offset[t][0]), high = mw__i64_max(high, offset[t][0]);
    const int64_t top = mw__i64_min(-low, rows), end = mw__i64_clamp(in[0] - high, top, rows);
    const int64_t period = period_of(code, in[1]), times = (end - top) / period, rest = top + times * period;
    const int64_t cut = mw__depthwise_vectors((top + period + rows - rest) * in[1], code) * taps;
    if (code->flat_taps == NULL || times < 2 || rows * in[1] < AREA_LEAST || cut > MW__DEPTHWISE_MASKS)
        return NULL;
    mw__depthwise_bands *const out = mw__plan_block(planner, sizeof *out);
    bool made = out != NULL;
    const int64_t first[3] = {0, top, rest}, count[3] = {top, period, rows - rest};
    for (int i = 0; i < 3 && made; i++) {
        out->band[i].row = first[i], out->band[i].rows = count[i], out->band[i].times = i == 1 ? times : count[i] > 0;
        made = fill_band(planner, code, in, first[i], count[i], taps, offset, &out->band[i].flat);
    }
    return made ? out : NULL;
}

/* Numbers of a convolution, strips of tiles, and frames. */
#include "engine/kernels/winograd/winograd_plan.h"
#include "base/number/integer.h"

#include <string.h>

/* ---- numbers ---- */

const mw__winograd_code *mw__winograd_code_of(mw__level level)
{
#if MW_HAVE_AVX512
    if (level == MW__LEVEL_AVX512)
        return &mw__winograd_avx512;
#endif
#if defined(__x86_64__)
    if (level >= MW__LEVEL_AVX2)
        return &mw__winograd_avx2;
#endif
    (void)level;
    return &mw__winograd_base;
}

#define APART 16 /* floats, so that pairs of points are not at the same place of the caches */

void mw__winograd_init(mw__winograd *w, const mw__planner *planner, const mw__packed_request *r)
{
    const mw__conv_window *window = &r->window;
    const mw_shape x = mw__shape_of(r->x), y = mw__shape_of(r->result);
    *w = (mw__winograd){.shape = {.examples = x.dim[0], .inputs = x.dim[1], .outputs = y.dim[1]}};
    for (int i = 0; i < 2; i++) {
        w->shape.in[i] = r->transposed ? window->out[i + 1] : window->in[i + 1];
        w->shape.out[i] = r->transposed ? window->in[i + 1] : window->out[i + 1];
        w->shape.before[i] = r->transposed ? 2 - window->before[i + 1] : window->before[i + 1];
    }
    w->code = mw__winograd_code_of(mw__plan_level(planner));
    w->form = &w->code->form[mw__winograd_side(r) == 2];
    w->turn = mw__packed_code_of(mw__plan_level(planner));
    w->set = mw__gemm_set_of(mw__plan_config(planner));
    w->pairs = w->form->points * w->form->points;
    w->columns = w->set->columns;
    w->panels = mw__i64_divide_up(w->shape.outputs, w->columns);
    w->weight_point = w->shape.inputs * w->columns + APART;
}

/* ---- frames ---- */

mw__winograd_cut mw__winograd_cut_of(const int64_t out[2], int64_t side, int64_t most)
{
    mw__winograd_cut cut = {
        .side = side, .tiles = mw__i64_divide_up(out[1], side), .down = mw__i64_divide_up(out[0], side)};
    cut.across = mw__i64_divide_up(cut.tiles, most);
    cut.strip = mw__i64_divide_up(cut.tiles, cut.across);
    cut.across = mw__i64_divide_up(cut.tiles, cut.strip);
    return cut;
}

mw__winograd_strip mw__winograd_strip_of(const mw__winograd_cut *cut, int64_t at)
{
    const int64_t first = at % cut->across * cut->strip;
    return (mw__winograd_strip){.example = at / cut->across / cut->down,
                                .row = at / cut->across % cut->down * cut->side,
                                .column = first * cut->side,
                                .tiles = mw__i64_min(cut->strip, cut->tiles - first)};
}

/* A vector of planes, of which `here` are there, to the frame. */
static void read_planes(const mw__winograd *w, const mw__winograd_planes *of, const float *planes, int64_t here,
                        float *frame)
{
    const int64_t width = w->code->width, left = of->from[1], area = of->extent[0] * of->extent[1];
    const int64_t low = mw__i64_clamp(-left, 0, of->columns),
                  high = mw__i64_clamp(of->extent[1] - left, low, of->columns);
    for (int64_t i = 0; i < of->rows; i++, frame += of->columns * width) {
        const int64_t row = of->from[0] + i;
        const bool inside = row >= 0 && row < of->extent[0] && high > low;
        const int64_t begin = inside ? low : 0, end = inside ? high : 0;
        memset(frame, 0, (size_t)(begin * width) * sizeof *frame);
        if (inside)
            w->turn->transpose(planes + row * of->extent[1] + left + low, area, here, high - low, width,
                               frame + low * width, width);
        memset(frame + end * width, 0, (size_t)((of->columns - end) * width) * sizeof *frame);
    }
}

void mw__winograd_take(const mw__winograd *w, const mw__winograd_planes *of, int64_t tiles, float *frame, float *out,
                       int64_t point, int64_t tile)
{
    const int64_t width = w->code->width, area = of->extent[0] * of->extent[1];
    const float *rows[MW__WINOGRAD_POINTS];
    for (int64_t i = 0; i < of->rows; i++)
        rows[i] = frame + i * of->columns * width;
    for (int64_t c = 0; c < of->channels; c += width) {
        read_planes(w, of, of->planes + c * area, mw__i64_min(width, of->channels - c), frame);
        of->values(rows, tiles, out + c, point, tile);
    }
}

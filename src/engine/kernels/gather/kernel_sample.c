/* Images sampled at places: kernels of ops/sample.def. A unit is one row of the result; places and elements are found
 * in double and rounded once. Three functions say where an element is taken from, one takes it. */
#include "engine/core/kernel.h"
#include "graph/geometry/sampling.h"

#include <math.h>
#include <string.h>

typedef struct sample_block sample_block;

/* A row and a column in pixels. */
typedef struct place {
    double at[2];
} place;

/* The place of element (i, j), of the set of places `plane`. */
typedef place find_place(const sample_block *block, const void *places, int64_t plane, int64_t i, int64_t j);

struct sample_block {
    mw__sample s;
    find_place *find;
    mw_dtype result, places, index;
    size_t index_read; /* which of the reads says which image */
};

static double number_at(const void *data, mw_dtype dtype, int64_t at)
{
    return dtype == MW_F32 ? (double)((const float *)data)[at] : (double)mw__index_load(data, dtype, at);
}

/* ---- where ---- */

static double in_pixels(const mw__sample_axis *axis, double at) { return at * axis->scale + axis->shift; }

static place find_at(const sample_block *block, const void *places, int64_t plane, int64_t i, int64_t j)
{
    const mw__sample_axis *axis = block->s.axis;
    const int64_t from = 2 * ((plane * axis[0].out + i) * axis[1].out + j);
    return (place){{in_pixels(&axis[0], number_at(places, block->places, from + 1)),
                    in_pixels(&axis[1], number_at(places, block->places, from))}};
}

static place find_affine(const sample_block *block, const void *places, int64_t plane, int64_t i, int64_t j)
{
    const mw__sample *s = &block->s;
    const double x = mw__sample_coordinate(s, 1, j), y = mw__sample_coordinate(s, 0, i);
    double m[6];
    for (int k = 0; k < 6; k++)
        m[k] = number_at(places, block->places, 6 * plane + k);
    return (place){
        {in_pixels(&s->axis[0], m[3] * x + m[4] * y + m[5]), in_pixels(&s->axis[1], m[0] * x + m[1] * y + m[2])}};
}

static place find_in_box(const sample_block *block, const void *places, int64_t plane, int64_t i, int64_t j)
{
    const mw__sample *s = &block->s;
    double box[4];
    for (int k = 0; k < 4; k++)
        box[k] = number_at(places, block->places, plane * s->box_numbers + s->box_numbers - 4 + k);
    return (place){{mw__sample_in_box(s, box, 0, i), mw__sample_in_box(s, box, 1, j)}};
}

/* ---- the border ---- */

static double clamp(double at, double low, double high) { return at < low ? low : at > high ? high : at; }

/* Mirrored until it lies in the image: at the centers of the outermost pixels, or at their outer edges. */
static double mirror(double at, double extent, bool at_edges)
{
    const double low = at_edges ? -0.5 : 0.0, span = at_edges ? extent : extent > 1.0 ? extent - 1.0 : 1.0;
    const double turns = fabs(fmod(at - low, 2.0 * span));
    return clamp((turns > span ? 2.0 * span - turns : turns) + low, 0.0, extent - 1.0);
}

/* A place of which every pixel around it can be asked for: outside a constant border nothing is left of the image. */
static double bounded(const mw__sample *s, int axis, double at)
{
    const double extent = (double)s->axis[axis].in;
    if (s->kind == MW__SAMPLE_BOXES)
        return clamp(at, 0.0, extent - 1.0);
    switch (s->border) {
    case MW_BORDER_CONSTANT:
        return clamp(at, -2.0, extent + 1.0);
    case MW_BORDER_NEAREST:
        return clamp(at, 0.0, extent - 1.0);
    default:
        return mirror(at, extent, s->border == MW_BORDER_SYMMETRIC);
    }
}

static bool is_outside(const mw__sample *s, place p)
{
    bool outside = false;
    for (int i = 0; i < 2; i++)
        outside = outside || p.at[i] < -MW__SAMPLE_SLACK || p.at[i] > (double)(s->axis[i].in - 1) + MW__SAMPLE_SLACK;
    return s->kind == MW__SAMPLE_BOXES && outside;
}

/* ---- what ---- */

static double pixel(const mw__sample *s, const float *image, double row, double column)
{
    const int64_t i = (int64_t)row, j = (int64_t)column;
    const bool inside = i >= 0 && i < s->axis[0].in && j >= 0 && j < s->axis[1].in;
    return inside ? (double)image[i * s->axis[1].in + j] : s->value;
}

/* No product with a weight of 0, which would make NaN of an infinity that has no part in it, and no pixel beyond the
 * last. */
static double along_row(const mw__sample *s, const float *image, double row, double column)
{
    const double left = floor(column), part = column - left;
    const double first = pixel(s, image, row, left);
    return part > 0.0 ? (1.0 - part) * first + part * pixel(s, image, row, left + 1.0) : first;
}

static double sampled(const mw__sample *s, const float *image, place p)
{
    if (isnan(p.at[0]) || isnan(p.at[1]))
        return NAN;
    if (is_outside(s, p))
        return s->value;
    const double row = bounded(s, 0, p.at[0]), column = bounded(s, 1, p.at[1]);
    if (isnan(row) || isnan(column)) /* an infinite one cannot be mirrored */
        return NAN;
    if (s->nearest)
        return pixel(s, image, nearbyint(row), nearbyint(column));
    const double top = floor(row), part = row - top;
    const double above = along_row(s, image, top, column);
    return part > 0.0 ? (1.0 - part) * above + part * along_row(s, image, top + 1.0, column) : above;
}

/* -1 if there is no such image. */
static int64_t image_of(const sample_block *block, const mw__kernel_call *call, int64_t m)
{
    const mw__sample *s = &block->s;
    if (s->index == NULL)
        return mw__sample_image(s, m);
    const int64_t from = s->box_numbers == 5 ? 5 * m : m;
    const double index = number_at(call->in[block->index_read], block->index, from);
    return index > -1.0 && index < (double)s->images ? (int64_t)index : -1;
}

static void sample_run(const mw__kernel_call *call)
{
    const sample_block *block = call->block;
    const mw__sample *s = &block->s;
    const int64_t height = s->axis[0].out, width = s->axis[1].out, pixels = s->axis[0].in * s->axis[1].in;
    for (int64_t row = call->begin; row < call->end; row++) {
        const int64_t i = row % height, c = row / height % s->channels, m = row / height / s->channels;
        const int64_t image = image_of(block, call, m), plane = mw__sample_plane(s, m);
        const float *from = (const float *)call->in[0] + (image < 0 ? 0 : image * s->channels + c) * pixels;
        float *out = call->scratch;
        for (int64_t j = 0; j < width; j++)
            out[j] =
                image < 0 ? (float)s->value : (float)sampled(s, from, block->find(block, call->in[1], plane, i, j));
        mw__tile_store(call->out[0], block->result, row * width, width, out);
    }
}

/* ---- planning ---- */

typedef struct numbers {
    uint32_t buffer;
    mw_dtype dtype; /* as they are read: fp16 is widened by a step of its own */
} numbers;

static numbers plan_numbers(mw__planner *planner, const mw_tensor *value)
{
    const mw_dtype dtype = mw__dtype_of(value);
    if (dtype == MW_F32 || dtype == MW_F16)
        return (numbers){mw__plan_floats(planner, value), MW_F32};
    return (numbers){mw__plan_buffer(planner, value), dtype};
}

mw_status mw__kernel_sample(mw__planner *planner, const mw__op *op, mw_error *err)
{
    static find_place *const finds[] = {
        [MW__SAMPLE_AT] = find_at, [MW__SAMPLE_AFFINE] = find_affine, [MW__SAMPLE_BOXES] = find_in_box};
    const mw_tensor *result = op->results[0];
    mw__sample sample;
    MW_TRY(mw__sample_read(op, &sample, err));
    sample_block *block = mw__plan_block(planner, sizeof *block);
    if (block == NULL || mw__count_of(result) == 0)
        return mw__plan_check(planner, err);
    *block = (sample_block){.s = sample, .find = finds[sample.kind], .result = mw__dtype_of(result)};
    const mw__sample *s = &block->s;
    const numbers x = plan_numbers(planner, mw__arg(op, "x")), places = plan_numbers(planner, mw__arg(op, s->places));
    const bool apart = s->index != NULL && strcmp(s->index, s->places) != 0;
    const numbers index = apart ? plan_numbers(planner, mw__arg(op, s->index)) : places;
    const double count = (double)mw__count_of(result);
    block->places = places.dtype, block->index = index.dtype, block->index_read = apart ? 2 : 1;
    mw__step *step = mw__plan_step(planner, sample_run, op->row->name, mw__count_of(result) / s->axis[1].out,
                                   mw__cost(count * 20.0, count * 100.0));
    step->block = block;
    step->scratch = (size_t)s->axis[1].out * sizeof(float);
    mw__step_read(planner, step, x.buffer, MW__WHOLE, 0, false);
    mw__step_read(planner, step, places.buffer, MW__WHOLE, 0, false);
    if (apart)
        mw__step_read(planner, step, index.buffer, MW__WHOLE, 0, false);
    mw__step_write(planner, step, mw__plan_buffer(planner, result), MW__ROWS,
                   (size_t)s->axis[1].out * mw__dtype_size(block->result));
    return mw__plan_check(planner, err);
}

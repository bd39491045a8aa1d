/* The elements of images at places: see the header. Everything is fp32 until the result.
 *
 * M images of the result, P sets of places (M is a multiple of P), I x J elements each; images [M, C, H, W]. Places and
 * weights along rows are [P, I, J] or, of boxes, [P, I, 1], along columns [P, I, J] or [P, 1, J]. */
#include "graph/patterns/sample.h"

#include <math.h>
#include <millwright/millwright.h>

/* What is known while one is written. */
typedef struct writing {
    const mw__sample *s;
    mw_graph *graph;
    mw_tensor *at[2];           /* rows and columns in pixels */
    const mw__payload *numbers; /* constant boxes, in double then; or NULL */
} writing;

static mw_tensor *as_float(mw_tensor *x) { return x == NULL || mw_tensor_dtype(x) == MW_F32 ? x : mw_cast(x, MW_F32); }

static mw_tensor *number_tensor(const writing *w, double value) { return mw_scalar(w->graph, MW_F32, value); }

/* x * scale + shift, without what does nothing. */
static mw_tensor *scaled(const writing *w, mw_tensor *x, double scale, double shift)
{
    if (scale != 1.0)
        x = mw_mul(x, number_tensor(w, scale));
    return shift != 0.0 ? mw_add(x, number_tensor(w, shift)) : x;
}

/* Element k of the last axis, as `shape`. */
static mw_tensor *last(mw_tensor *x, int64_t k, mw_shape shape)
{
    const mw_shape own = mw_tensor_shape(x);
    int64_t begin[MW_RANK_MAX] = {0}, size[MW_RANK_MAX] = {0};
    for (int i = 0; i < own.rank; i++)
        size[i] = own.dim[i];
    if (own.rank > 0)
        begin[own.rank - 1] = k, size[own.rank - 1] = 1;
    mw_tensor *part = mw_slice_by_size(x, begin, size);
    return part != NULL ? mw__reshape_to(part, shape) : NULL;
}

/* `count` numbers of a function of the index, as `shape`. */
typedef double number_of(const mw__sample *s, int axis, int64_t i);

static mw_tensor *constants(const writing *w, int axis, number_of *value, mw_shape shape)
{
    const int64_t count = w->s->axis[axis].out;
    float *data = mw__arena_alloc(&w->graph->arena, (size_t)count, sizeof *data, &w->graph->error);
    for (int64_t i = 0; data != NULL && i < count; i++)
        data[i] = (float)value(w->s, axis, i);
    return data != NULL ? mw_constant(w->graph, MW_F32, shape, data) : NULL;
}

/* ---- where ---- */

static void find_at(writing *w, mw_tensor *coordinates)
{
    const mw__sample *s = w->s;
    const mw_shape shape = MW_SHAPE(s->planes, s->axis[0].out, s->axis[1].out);
    for (int i = 0; i < 2; i++)
        w->at[i] = scaled(w, last(coordinates, 1 - i, shape), s->axis[i].scale, s->axis[i].shift);
}

static void find_affine(writing *w, mw_tensor *matrix)
{
    const mw__sample *s = w->s;
    mw_tensor *x = constants(w, 1, mw__sample_coordinate, MW_SHAPE(1, 1, s->axis[1].out));
    mw_tensor *y = constants(w, 0, mw__sample_coordinate, MW_SHAPE(1, s->axis[0].out, 1));
    for (int i = 0; i < 2; i++) {
        const int64_t row = i == 0 ? 3 : 0; /* b0 b1 b2 makes rows */
        mw_tensor *across = mw_mul(last(matrix, row, MW_SHAPE(s->planes, 1, 1)), x);
        mw_tensor *down = mw_mul(last(matrix, row + 1, MW_SHAPE(s->planes, 1, 1)), y);
        mw_tensor *moved = mw_add(across, last(matrix, row + 2, MW_SHAPE(s->planes, 1, 1)));
        w->at[i] = scaled(w, mw_add(down, moved), s->axis[i].scale, s->axis[i].shift);
    }
}

static void find_in_boxes(writing *w, mw_tensor *boxes)
{
    const mw__sample *s = w->s;
    const mw__sample_length length = mw__sample_length_of(s);
    mw_tensor *flat = mw__reshape_to(boxes, MW_SHAPE(s->planes, s->box_numbers));
    for (int i = 0; i < 2; i++) {
        const int64_t from = s->box_numbers - 4 + (i ^ (int)s->width_first), out = s->axis[i].out;
        mw_tensor *first = last(flat, from, MW_SHAPE(s->planes, 1, 1));
        mw_tensor *second = last(flat, from + 2, MW_SHAPE(s->planes, 1, 1));
        mw_tensor *start = s->centered ? mw_sub(first, mw_mul(second, number_tensor(w, 0.5))) : first;
        mw_tensor *span = scaled(w, s->centered ? second : mw_sub(second, first), s->axis[i].factor, 0.0);
        start = scaled(w, start, s->axis[i].factor, 0.0);
        if (s->whole_if_inverted) {
            mw_tensor *inverted = mw_less(span, number_tensor(w, 0.0));
            start = mw_select(inverted, number_tensor(w, 0.0), start);
            span = mw_select(inverted, number_tensor(w, (double)(s->axis[i].in - 1)), span);
        }
        if (length == MW__LENGTH_EXTENT)
            span = mw_add(span, number_tensor(w, 1.0));
        else if (length == MW__LENGTH_POSITIVE)
            span = mw_maximum(span, number_tensor(w, 1.0));
        mw_tensor *part = constants(w, i, mw__sample_fraction, i == 0 ? MW_SHAPE(1, out, 1) : MW_SHAPE(1, 1, out));
        start = scaled(w, start, 1.0, mw__sample_box_shift(s));
        w->at[i] = mw_add(start, mw_mul(span, part));
    }
}

/* ---- the border ---- */

/* In [0, extent - 1]. */
static mw_tensor *clamped(mw_tensor *at, int64_t extent)
{
    return extent > 1 ? mw_clip(at, 0.0f, (float)(extent - 1)) : mw_sub(at, at);
}

/* low + span - |(at - low) mod (2 span) - span| */
static mw_tensor *mirrored(const writing *w, mw_tensor *at, int64_t extent, bool at_edges)
{
    const double low = at_edges ? -0.5 : 0.0, span = at_edges ? (double)extent : fmax((double)extent - 1.0, 1.0);
    mw_tensor *from = scaled(w, at, 1.0, -low);
    mw_tensor *turns = mw_floor(mw_mul(from, number_tensor(w, 0.5 / span)));
    mw_tensor *inside = mw_sub(from, mw_mul(turns, number_tensor(w, 2.0 * span)));
    mw_tensor *far = mw_abs(mw_sub(inside, number_tensor(w, span)));
    return clamped(mw_sub(number_tensor(w, span + low), far), extent);
}

/* Truth as 1 and 0. */
static mw_tensor *counted(const writing *w, mw_tensor *truth)
{
    mw_tensor *one = number_tensor(w, 1.0);
    return mw_select(truth, one, number_tensor(w, 0.0));
}

/* 1 where low <= at <= high. */
static mw_tensor *within(const writing *w, mw_tensor *at, double low, double high)
{
    mw_tensor *above = counted(w, mw_greater_equal(at, number_tensor(w, low)));
    return mw_mul(above, counted(w, mw_less_equal(at, number_tensor(w, high))));
}

/* Places that the image has, but of a constant border. *out_inside: what the weights are multiplied by, or NULL. */
static mw_tensor *bounded(const writing *w, int axis, mw_tensor **out_inside)
{
    const mw__sample *s = w->s;
    const int64_t extent = s->axis[axis].in;
    mw_tensor *at = w->at[axis];
    *out_inside = NULL;
    if (s->kind == MW__SAMPLE_BOXES) {
        *out_inside = within(w, at, -MW__SAMPLE_SLACK, (double)(extent - 1) + MW__SAMPLE_SLACK);
        return clamped(at, extent);
    }
    switch (s->border) {
    case MW_BORDER_CONSTANT:
        return at;
    case MW_BORDER_NEAREST:
        return clamped(at, extent);
    default:
        return mirrored(w, at, extent, s->border == MW_BORDER_SYMMETRIC);
    }
}

/* ---- weights ---- */

/* Along an axis: the pixels that have a share (native: the two around the place, or the nearest; on a chip every one)
 * and what share, NULL = all. The sum of the weights, if it is asked for, is less than 1 where a part comes from
 * outside. */
typedef struct weights {
    int count;
    mw_tensor *index[2], *weight[2], *sum;
} weights;

/* True if something comes from outside. */
static bool has_rest(const mw__sample *s)
{
    return s->value != 0.0 && (s->kind == MW__SAMPLE_BOXES || s->border == MW_BORDER_CONSTANT);
}

static mw_tensor *times_tensors(mw_tensor *a, mw_tensor *b) { return a == NULL ? b : b == NULL ? a : mw_mul(a, b); }

static weights weights_native(const writing *w, int axis)
{
    const mw__sample *s = w->s;
    const int64_t extent = s->axis[axis].in;
    weights r = {.count = s->nearest ? 1 : 2};
    mw_tensor *inside, *at = bounded(w, axis, &inside);
    mw_tensor *low = s->nearest ? mw_round(at) : mw_floor(at), *part = s->nearest ? NULL : mw_sub(at, low);
    for (int k = 0; k < r.count; k++) {
        mw_tensor *pixel = k == 0 ? low : mw_add(low, number_tensor(w, 1.0));
        if (s->kind != MW__SAMPLE_BOXES && s->border == MW_BORDER_CONSTANT)
            inside = within(w, pixel, 0.0, (double)(extent - 1));
        mw_tensor *share = s->nearest || k == 1 ? part : mw_sub(number_tensor(w, 1.0), part);
        r.weight[k] = times_tensors(share, inside);
        r.index[k] = mw_cast(clamped(pixel, extent), MW_I32);
    }
    if (has_rest(s))
        r.sum = r.count == 2 ? mw_add(r.weight[0], r.weight[1]) : r.weight[0];
    return r;
}

/* [P, I, J, extent], of which I or J may be 1. */
static weights weights_chip(const writing *w, int axis)
{
    const mw__sample *s = w->s;
    const int64_t extent = s->axis[axis].in;
    mw_tensor *inside, *at = bounded(w, axis, &inside);
    mw_tensor *pixels = mw_range_1d(w->graph, MW_F32, 0.0, (double)extent, 1.0);
    mw_tensor *far = mw_abs(mw_sub(mw_expand_dims(s->nearest ? mw_round(at) : at, MW_AXES(3)), pixels));
    weights r = {.count = 1};
    if (s->nearest)
        r.weight[0] = counted(w, mw_less(far, number_tensor(w, 0.5)));
    else
        r.weight[0] = mw_relu(mw_sub(number_tensor(w, 1.0), far));
    if (inside != NULL)
        r.weight[0] = mw_mul(r.weight[0], mw_expand_dims(inside, MW_AXES(3)));
    if (has_rest(s))
        r.sum = mw_reduce_sum(r.weight[0], MW_AXES(3), false);
    return r;
}

/* The share of every pixel at element i of a crop. */
static void weigh_pixels(const mw__sample *s, const double box[4], int axis, int64_t i, float *out)
{
    const double last_pixel = (double)(s->axis[axis].in - 1), at = mw__sample_in_box(s, box, axis, i);
    const bool inside = at >= -MW__SAMPLE_SLACK && at <= last_pixel + MW__SAMPLE_SLACK;
    const double place = inside ? fmin(fmax(at, 0.0), last_pixel) : -2.0; /* which no pixel is near */
    for (int64_t k = 0; k < s->axis[axis].in; k++)
        out[k] = (float)fmax(0.0, 1.0 - fabs(place - (double)k));
}

static weights weights_constant(const writing *w, int axis)
{
    const mw__sample *s = w->s;
    const int64_t in = s->axis[axis].in, out = s->axis[axis].out;
    weights r = {.count = 1};
    float *data =
        mw__arena_alloc(&w->graph->arena, (size_t)(s->planes * out), (size_t)in * sizeof *data, &w->graph->error);
    for (int64_t at = 0; data != NULL && at < s->planes * out; at++) {
        double box[4];
        for (int64_t k = 0; k < 4; k++)
            box[k] = mw__payload_float(w->numbers, (size_t)(at / out * s->box_numbers + s->box_numbers - 4 + k));
        weigh_pixels(s, box, axis, at % out, data + at * in);
    }
    const mw_shape shape = axis == 0 ? MW_SHAPE(s->planes, out, 1, in) : MW_SHAPE(s->planes, 1, out, in);
    r.weight[0] = data != NULL ? mw_constant(w->graph, MW_F32, shape, data) : NULL;
    if (has_rest(s))
        r.sum = mw_reduce_sum(r.weight[0], MW_AXES(3), false);
    return r;
}

/* ---- images ---- */

/* Constant indices by slices, which every device has. */
static mw_tensor *images_chosen(const writing *w, mw_tensor *x, const mw__payload *index, int64_t stride)
{
    const mw__sample *s = w->s;
    mw_tensor **parts = mw__arena_alloc(&w->graph->arena, (size_t)s->count, sizeof *parts, &w->graph->error);
    const int64_t size[4] = {1, s->channels, s->axis[0].in, s->axis[1].in};
    for (int64_t m = 0; parts != NULL && m < s->count; m++) {
        const int64_t begin[4] = {(int64_t)mw__payload_float(index, (size_t)(m * stride)), 0, 0, 0};
        parts[m] = mw_slice_by_size(x, begin, size);
    }
    return parts == NULL ? NULL : s->count > 1 ? mw_concat(parts, (size_t)s->count, 0) : parts[0];
}

/* [R] int32, the first of five numbers; of an image that does not exist one beyond the last, which a gather leaves out
 * (it may count negative ones from the end). */
static mw_tensor *whole_index(const writing *w, mw_tensor *boxes)
{
    const mw__sample *s = w->s;
    mw_tensor *flat = as_float(mw__reshape_to(boxes, MW_SHAPE(s->planes, 5)));
    mw_tensor *index = last(flat, 0, MW_SHAPE(s->planes)), *beyond = number_tensor(w, (double)s->images);
    mw_tensor *known = mw_select(mw_greater(index, number_tensor(w, -1.0)), index, beyond);
    return mw_cast(mw_minimum(known, beyond), MW_I32);
}

/* [M, C, H, W], those that the sets of places are for. */
static mw_tensor *images_of(const writing *w, const mw__sample_operands *operands)
{
    const mw__sample *s = w->s;
    mw_tensor *x = as_float(operands->x), *index = operands->index;
    const int64_t begin[4] = {0}, size[4] = {s->count, s->channels, s->axis[0].in, s->axis[1].in};
    if (s->each || (s->images == 1 && w->numbers != NULL))
        return s->planes > 1 ? mw_tile(x, MW_SHAPE(s->planes, 1, 1, 1)) : x;
    if (w->numbers != NULL && s->index != NULL)
        return images_chosen(w, x, s->box_numbers == 5 ? w->numbers : index->payload, s->box_numbers == 5 ? 5 : 1);
    if (s->box_numbers == 5)
        index = whole_index(w, operands->places);
    if (index != NULL)
        return mw_gather(x, index, 0);
    return s->count < s->images ? mw_slice_by_size(x, begin, size) : x;
}

/* [P, ..] for each of the M images. */
static mw_tensor *for_each_image(const writing *w, mw_tensor *x)
{
    const int64_t times = w->s->count / w->s->planes;
    mw_shape shape = mw_tensor_shape(x), split = {.rank = shape.rank + 1}, reps = split;
    if (x == NULL || times == 1 || shape.dim[0] != w->s->planes)
        return x;
    for (int i = 0; i < split.rank; i++) {
        split.dim[i] = i == 0 ? shape.dim[0] : i == 1 ? 1 : shape.dim[i - 1];
        reps.dim[i] = i == 1 ? times : 1;
    }
    shape.dim[0] *= times;
    return mw__reshape_to(mw_tile(mw__reshape_to(x, split), reps), shape);
}

/* ---- the two forms ---- */

/* The pixels (rows.index[k], columns.index[l]) of every channel, times their weights. */
static mw_tensor *product_native(const writing *w, mw_tensor *images, const weights *rows, const weights *columns,
                                 int k, int l)
{
    const mw__sample *s = w->s;
    const int64_t elements = s->axis[0].out * s->axis[1].out;
    mw_tensor *down = mw_mul(rows->index[k], mw_scalar(w->graph, MW_I32, (double)s->axis[1].in));
    mw_tensor *flat = mw_add(down, columns->index[l]); /* [P, I, J] */
    mw_tensor *each = mw__reshape_to(for_each_image(w, flat), MW_SHAPE(s->count, 1, elements));
    mw_tensor *taken = mw_gather_along_axis(images, mw_tile(each, MW_SHAPE(1, s->channels, 1)), 2);
    mw_tensor *share = for_each_image(w, times_tensors(rows->weight[k], columns->weight[l]));
    return share != NULL ? mw_mul(taken, mw__reshape_to(share, MW_SHAPE(s->count, 1, elements))) : taken;
}

static mw_tensor *written_native(const writing *w, mw_tensor *images, const weights *rows, const weights *columns)
{
    const mw__sample *s = w->s;
    mw_tensor *flat = mw__reshape_to(images, MW_SHAPE(s->count, s->channels, s->axis[0].in * s->axis[1].in));
    mw_tensor *sum = NULL;
    for (int k = 0; k < rows->count; k++)
        for (int l = 0; l < columns->count; l++) {
            mw_tensor *product = product_native(w, flat, rows, columns, k, l);
            sum = sum == NULL ? product : mw_add(sum, product);
        }
    return sum != NULL ? mw__reshape_to(sum, MW_SHAPE(s->count, s->channels, s->axis[0].out, s->axis[1].out)) : NULL;
}

/* Rows and columns apart, of boxes: two products with matrices [I, H] and [J, W] for each image. */
static mw_tensor *written_by_axis(const writing *w, mw_tensor *images, const weights *rows, const weights *columns)
{
    const mw__sample *s = w->s;
    mw_tensor *down =
        for_each_image(w, mw__reshape_to(rows->weight[0], MW_SHAPE(s->planes, 1, s->axis[0].out, s->axis[0].in)));
    mw_tensor *across =
        for_each_image(w, mw__reshape_to(columns->weight[0], MW_SHAPE(s->planes, 1, s->axis[1].out, s->axis[1].in)));
    return mw_matmul(down, mw_matmul(images, across, MW_TRANSPOSE_Y), MW_TRANSPOSE_NONE);
}

/* One product with a matrix [I J, H W] for each image. */
static mw_tensor *written_whole(const writing *w, mw_tensor *images, const weights *rows, const weights *columns)
{
    const mw__sample *s = w->s;
    const int64_t elements = s->axis[0].out * s->axis[1].out, height = s->axis[0].in, width = s->axis[1].in;
    mw_tensor *down = mw__reshape_to(rows->weight[0], MW_SHAPE(s->planes, elements, height, 1));
    mw_tensor *both = mw_mul(down, mw__reshape_to(columns->weight[0], MW_SHAPE(s->planes, elements, 1, width)));
    mw_tensor *share = for_each_image(w, mw__reshape_to(both, MW_SHAPE(s->planes, elements, height * width)));
    mw_tensor *flat = mw__reshape_to(images, MW_SHAPE(s->count, s->channels, height * width));
    mw_tensor *taken = mw_matmul(flat, share, MW_TRANSPOSE_Y);
    return mw__reshape_to(taken, MW_SHAPE(s->count, s->channels, s->axis[0].out, s->axis[1].out));
}

/* What comes from outside has the rest of the weight. */
static mw_tensor *filled(const writing *w, mw_tensor *y, const weights *rows, const weights *columns)
{
    const mw__sample *s = w->s;
    if (!has_rest(s))
        return y;
    mw_tensor *inside = mw_mul(rows->sum, columns->sum), *rest = mw_sub(number_tensor(w, 1.0), inside);
    mw_tensor *each = for_each_image(w, mw_mul(rest, number_tensor(w, s->value)));
    return mw_add(y, mw__reshape_to(each, MW_SHAPE(s->count, 1, s->axis[0].out, s->axis[1].out)));
}

static bool is_loaded(const mw_tensor *value) { return value->payload != NULL && value->payload->data != NULL; }

bool mw__sample_is_constant(const mw__sample *sample, const mw_tensor *places, const mw_tensor *index)
{
    const bool apart = sample->index != NULL && sample->box_numbers == 4;
    if (sample->kind != MW__SAMPLE_BOXES || !is_loaded(places) || (apart && (index == NULL || !is_loaded(index))))
        return false;
    for (int64_t m = 0; sample->index != NULL && m < sample->count; m++) {
        const double at =
            apart ? mw__payload_float(index->payload, (size_t)m) : mw__payload_float(places->payload, (size_t)(5 * m));
        if (!(at > -1.0 && at < (double)sample->images))
            return false;
    }
    return true;
}

typedef weights weigh_axis(const writing *w, int axis);

mw_tensor *mw__sample_write(const mw__sample *sample, const mw__sample_operands *operands, mw_shape shape)
{
    static void (*const find[])(writing *, mw_tensor *) = {
        [MW__SAMPLE_AT] = find_at, [MW__SAMPLE_AFFINE] = find_affine, [MW__SAMPLE_BOXES] = find_in_boxes};
    if (operands->x == NULL || operands->places == NULL)
        return NULL;
    writing w = {.s = sample, .graph = mw_tensor_graph(operands->x)};
    if (operands->chip && mw__sample_is_constant(sample, operands->places, operands->index))
        w.numbers = operands->places->payload;
    else
        find[sample->kind](&w, as_float(operands->places));
    weigh_axis *const weigh_by = w.numbers != NULL ? weights_constant : operands->chip ? weights_chip : weights_native;
    const weights rows = weigh_by(&w, 0), columns = weigh_by(&w, 1);
    mw_tensor *images = images_of(&w, operands), *y;
    if (!operands->chip)
        y = written_native(&w, images, &rows, &columns);
    else if (sample->kind == MW__SAMPLE_BOXES)
        y = written_by_axis(&w, images, &rows, &columns);
    else
        y = written_whole(&w, images, &rows, &columns);
    y = filled(&w, y, &rows, &columns);
    const mw_dtype dtype = mw_tensor_dtype(operands->x);
    if (dtype != MW_F32)
        y = mw_cast(y, dtype);
    return y == NULL || mw_shape_equal(mw_tensor_shape(y), shape) ? y : mw__reshape_to(y, shape);
}

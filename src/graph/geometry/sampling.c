/* Sampling at places: reading the arguments, and coordinates as coremltools' documentation of image_resizing defines
 * them. */
#include "graph/geometry/sampling.h"

#include "graph/geometry/resample.h"
#include "graph/ir/rule.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static const char *const borders[] = {[MW_BORDER_CONSTANT] = "constant",
                                      [MW_BORDER_NEAREST] = "border",
                                      [MW_BORDER_REFLECT] = "reflection",
                                      [MW_BORDER_SYMMETRIC] = "symmetric"};
static const char *const coordinates[] = {[MW_COORDINATES_MINUS_ONE_TO_ONE] = "normalized_minus_one_to_one",
                                          [MW_COORDINATES_ZERO_TO_ONE] = "normalized_zero_to_one",
                                          [MW_COORDINATES_PIXELS] = "unnormalized"};
static const char *const boxes[] = {[MW_BOX_CORNERS_HEIGHT_FIRST] = "CORNERS_HEIGHT_FIRST",
                                    [MW_BOX_CORNERS_WIDTH_FIRST] = "CORNERS_WIDTH_FIRST",
                                    [MW_BOX_CENTER_SIZE_HEIGHT_FIRST] = "CENTER_SIZE_HEIGHT_FIRST",
                                    [MW_BOX_CENTER_SIZE_WIDTH_FIRST] = "CENTER_SIZE_WIDTH_FIRST"};
static const char *const samplings[] = {"bilinear", "nearest"};
#define COUNT(names) (sizeof(names) / sizeof(names)[0])

const char *mw__border_name(mw_border border) { return (unsigned)border < COUNT(borders) ? borders[border] : NULL; }

const char *mw__coordinates_name(mw_coordinates mode)
{
    return (unsigned)mode < COUNT(coordinates) ? coordinates[mode] : NULL;
}

const char *mw__box_name(mw_box box) { return (unsigned)box < COUNT(boxes) ? boxes[box] : NULL; }

const char *mw__nearest_name(bool nearest) { return samplings[nearest]; }

/* ---- words ---- */

/* "a, b, c" */
static void list_words(const char *const *words, size_t count, char *out, size_t size)
{
    out[0] = '\0';
    for (size_t i = 0; i < count; i++) {
        strncat(out, i > 0 ? ", " : "", size - strlen(out) - 1);
        strncat(out, words[i], size - strlen(out) - 1);
    }
}

static mw_status read_word(const mw__infer *infer, const char *arg, const char *const *words, size_t count, int *out)
{
    const char *text = mw__arg_string(infer->op, arg);
    char known[120];
    *out = 0;
    for (size_t i = 0; text != NULL && i < count; i++) {
        if (strcmp(text, words[i]) == 0) {
            *out = (int)i;
            return MW_OK;
        }
    }
    list_words(words, count, known, sizeof known);
    return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "%s \"%s\" is none of %s", arg, text != NULL ? text : "", known);
}

static mw_status read_number(const mw__infer *infer, const char *arg, double *out)
{
    return mw__arg_float(infer->op, arg, out)
               ? MW_OK
               : mw__rule_fail(infer, MW_ERROR_ARGUMENT, "%s must be one constant number", arg);
}

/* The default of box_coordinate_mode is spelled so in coremltools. */
static mw_status read_box_mode(const mw__infer *infer, mw__sample *s)
{
    const char *text = mw__arg_string(infer->op, "box_coordinate_mode");
    int box = MW_BOX_CORNERS_HEIGHT_FIRST;
    if (text == NULL || strcmp(text, "CONRNERS_HEIGHT_FIRST") != 0)
        MW_TRY(read_word(infer, "box_coordinate_mode", boxes, COUNT(boxes), &box));
    s->centered = box == MW_BOX_CENTER_SIZE_HEIGHT_FIRST || box == MW_BOX_CENTER_SIZE_WIDTH_FIRST;
    s->width_first = box == MW_BOX_CORNERS_WIDTH_FIRST || box == MW_BOX_CENTER_SIZE_WIDTH_FIRST;
    return MW_OK;
}

static mw_status read_grid(const mw__infer *infer, mw__sample *s)
{
    const char *names[MW_SAMPLING_OFFSET_CORNERS + 1];
    int grid;
    for (size_t i = 0; i < COUNT(names); i++)
        names[i] = mw__sampling_name((mw_sampling_mode)i);
    MW_TRY(read_word(infer, "sampling_mode", names, COUNT(names), &grid));
    s->grid = (mw_sampling_mode)grid;
    return MW_OK;
}

/* ---- coordinates ---- */

/* With align_corners the ends of the range are the centers of the outermost pixels, else their outer edges. */
static void set_scale(mw__sample_axis *axis, mw_coordinates mode, bool align)
{
    const double n = (double)axis->in, length = align ? n - 1.0 : n;
    axis->scale = 1.0, axis->shift = 0.0;
    if (mode == MW_COORDINATES_ZERO_TO_ONE)
        axis->scale = length, axis->shift = align ? 0.0 : -0.5;
    else if (mode == MW_COORDINATES_MINUS_ONE_TO_ONE)
        axis->scale = length / 2.0, axis->shift = (n - 1.0) / 2.0;
}

static mw_status read_coordinates(const mw__infer *infer, mw__sample *s)
{
    int nearest, border, mode;
    MW_TRY(read_word(infer, "sampling_mode", samplings, COUNT(samplings), &nearest));
    MW_TRY(read_word(infer, "padding_mode", borders, COUNT(borders), &border));
    MW_TRY(read_number(infer, "padding_value", &s->value));
    MW_TRY(read_word(infer, "coordinates_mode", coordinates, COUNT(coordinates), &mode));
    MW_TRY(mw__rule_bool(infer, "align_corners", &s->align));
    s->nearest = nearest == 1;
    s->border = (mw_border)border;
    s->coordinates = (mw_coordinates)mode;
    for (int i = 0; i < 2; i++)
        set_scale(&s->axis[i], s->coordinates, s->align);
    return MW_OK;
}

/* The inverse for the result's own extent; of one element, the first end of the range. */
static double coordinate_of(mw_coordinates mode, bool align, int64_t extent, int64_t i)
{
    const double n = (double)extent, at = (double)i;
    if (mode == MW_COORDINATES_PIXELS)
        return at;
    const double part = !align ? (at + 0.5) / n : extent > 1 ? at / (n - 1.0) : 0.0;
    return mode == MW_COORDINATES_ZERO_TO_ONE ? part : 2.0 * part - 1.0;
}

double mw__sample_coordinate(const mw__sample *sample, int axis, int64_t i)
{
    return coordinate_of(sample->coordinates, sample->align, sample->axis[axis].out, i);
}

/* ---- the three operations ---- */

static bool is_integer(mw_dtype dtype) { return dtype != MW_F32 && dtype != MW_F16; }

static mw_status check_dtype(const mw__infer *infer, const char *arg, mw_dtype dtype, bool half, bool small)
{
    const bool integer = dtype == MW_U8 || dtype == MW_I8 || dtype == MW_U16 || dtype == MW_I16;
    if (dtype == MW_F32 || dtype == MW_I32 || (half && dtype == MW_F16) || (small && integer))
        return MW_OK;
    return mw__rule_fail(infer, MW_ERROR_DTYPE, "%s is %s; %s", arg, mw_dtype_name(dtype),
                         dtype == MW_F16 ? "fp16 needs ios16"
                         : integer       ? "integers but int32 need ios17"
                                         : "it must be a number of at most 32 bits");
}

static mw_status read_at(const mw__infer *infer, mw__sample *s)
{
    const mw_shape at = mw__rule_shape(infer, "coordinates");
    const mw_opset opset = infer->op->block->function->opset;
    MW_TRY(
        check_dtype(infer, "coordinates", mw__rule_dtype(infer, "coordinates"), opset >= MW_IOS16, opset >= MW_IOS17));
    if (at.rank != 4 || !mw__dim_fits(at.dim[3], 2) || !mw__dim_fits(at.dim[0], s->images))
        return mw__rule_fail(infer, MW_ERROR_SHAPE, "coordinates must be [%" PRId64 ", H, W, 2], for each image of x",
                             s->images);
    s->places = "coordinates";
    s->planes = s->count = at.dim[0] != MW_DIM_UNKNOWN ? at.dim[0] : s->images;
    s->axis[0].out = at.dim[1], s->axis[1].out = at.dim[2];
    return read_coordinates(infer, s);
}

static mw_status read_size(const mw__infer *infer, const char *arg, int64_t *out)
{
    MW_TRY(mw__rule_int(infer, arg, out));
    return *out >= 1 && *out <= INT32_MAX
               ? MW_OK
               : mw__rule_fail(infer, MW_ERROR_ARGUMENT, "%s is %" PRId64 ", it must be at least 1", arg, *out);
}

static mw_status read_affine(const mw__infer *infer, mw__sample *s)
{
    const mw_shape matrix = mw__rule_shape(infer, "transform_matrix");
    s->kind = MW__SAMPLE_AFFINE;
    s->places = "transform_matrix";
    if (matrix.rank != 2 || !mw__dim_fits(matrix.dim[1], 6) ||
        (!mw__dim_fits(matrix.dim[0], 1) && !mw__dim_fits(matrix.dim[0], s->images)))
        return mw__rule_fail(infer, MW_ERROR_SHAPE, "transform_matrix must be [1, 6] or [%" PRId64 ", 6]", s->images);
    s->planes = matrix.dim[0], s->count = s->images;
    MW_TRY(read_size(infer, "output_height", &s->axis[0].out));
    MW_TRY(read_size(infer, "output_width", &s->axis[1].out));
    return read_coordinates(infer, s);
}

/* [R, 1, 4 or 5, 1, 1] */
static mw_status read_roi(const mw__infer *infer, mw__sample *s)
{
    const mw_shape roi = mw__rule_shape(infer, "roi");
    const bool shaped =
        roi.rank == 5 && mw__dim_fits(roi.dim[1], 1) && mw__dim_fits(roi.dim[3], 1) && mw__dim_fits(roi.dim[4], 1);
    if (!shaped || (roi.dim[2] != 4 && roi.dim[2] != 5))
        return mw__rule_fail(infer, MW_ERROR_SHAPE,
                             "roi must be [R, 1, 4, 1, 1], or [R, 1, 5, 1, 1] with the index of an image first");
    s->places = "roi";
    s->box_numbers = (int)roi.dim[2];
    s->planes = roi.dim[0];
    s->each = s->box_numbers == 4;
    s->index = s->each ? NULL : "roi";
    s->count = !s->each ? s->planes : s->planes < 0 || s->images < 0 ? MW_DIM_UNKNOWN : s->planes * s->images;
    return MW_OK;
}

static mw_status read_boxes(const mw__infer *infer, mw__sample *s)
{
    const mw_shape shape = mw__rule_shape(infer, "boxes"), index = mw__rule_shape(infer, "box_indices");
    const bool indexed = mw__arg_present(infer->op, "box_indices");
    MW_TRY(check_dtype(infer, "boxes", mw__rule_dtype(infer, "boxes"), true, true));
    if (shape.rank != 2 || !mw__dim_fits(shape.dim[1], 4))
        return mw__rule_fail(infer, MW_ERROR_SHAPE, "boxes must be [R, 4]");
    if (indexed && (index.rank != 1 || !mw__dim_fits(index.dim[0], shape.dim[0])))
        return mw__rule_fail(infer, MW_ERROR_SHAPE, "box_indices must have an index for each of the %" PRId64 " boxes",
                             shape.dim[0]);
    if (!indexed && s->images >= 0 && shape.dim[0] > s->images)
        return mw__rule_fail(infer, MW_ERROR_SHAPE,
                             "%" PRId64 " boxes are more than the %" PRId64
                             " images; box_indices can say which is whose",
                             shape.dim[0], s->images);
    s->places = "boxes";
    s->box_numbers = 4;
    s->planes = s->count = shape.dim[0];
    s->index = indexed ? "box_indices" : NULL;
    return MW_OK;
}

static mw_status read_crop(const mw__infer *infer, mw__sample *s)
{
    const bool roi = mw__row_arg(infer->op->row, "roi") != NULL;
    bool normalized;
    double scale;
    s->kind = MW__SAMPLE_BOXES;
    MW_TRY(roi ? read_roi(infer, s) : read_boxes(infer, s));
    MW_TRY(read_size(infer, "target_height", &s->axis[0].out));
    MW_TRY(read_size(infer, "target_width", &s->axis[1].out));
    MW_TRY(read_box_mode(infer, s));
    MW_TRY(read_grid(infer, s));
    MW_TRY(mw__rule_bool(infer, "normalized_coordinates", &normalized));
    MW_TRY(read_number(infer, "spatial_scale", &scale));
    if (mw__row_arg(infer->op->row, "pad_value") != NULL)
        MW_TRY(read_number(infer, "pad_value", &s->value));
    if (normalized && is_integer(mw__rule_dtype(infer, s->places)))
        return mw__rule_fail(infer, MW_ERROR_DTYPE, "boxes of integers cannot be normalized coordinates");
    /* what Apple's own test of crop_resize has: roi_invert, normalized, UNALIGN_CORNERS */
    s->whole_if_inverted = normalized && !s->centered && s->grid == MW_SAMPLING_UNALIGN_CORNERS;
    for (int i = 0; i < 2; i++)
        s->axis[i].factor = normalized ? scale * (double)(s->axis[i].in - 1) : scale;
    return MW_OK;
}

mw_status mw__sample_read(const mw__op *op, mw__sample *out, mw_error *err)
{
    const mw__infer infer = {.op = op, .err = err};
    const mw_shape x = mw_tensor_shape(mw__arg(op, "x"));
    if (x.rank != 4)
        return mw__rule_fail(&infer, MW_ERROR_SHAPE, "x must be [N, C, H, W], not of rank %d", x.rank);
    if (x.dim[2] == 0 || x.dim[3] == 0)
        return mw__rule_fail(&infer, MW_ERROR_SHAPE, "axis %d of x is empty: there is nothing to sample",
                             x.dim[2] == 0 ? 2 : 3);
    *out = (mw__sample){.images = x.dim[0], .channels = x.dim[1], .axis = {{.in = x.dim[2]}, {.in = x.dim[3]}}};
    switch (op->row->id) {
    case MW__OP_resample:
        return read_at(&infer, out);
    case MW__OP_affine:
        return read_affine(&infer, out);
    default:
        return read_crop(&infer, out);
    }
}

/* ---- the grid of a box ---- */

double mw__sample_fraction(const mw__sample *sample, int axis, int64_t i)
{
    const double out = (double)sample->axis[axis].out, at = (double)i;
    switch (sample->grid) {
    case MW_SAMPLING_STRICT_ALIGN_CORNERS:
        return out > 1.0 ? at / (out - 1.0) : 0.0;
    case MW_SAMPLING_ALIGN_CORNERS:
        return out > 1.0 ? at / (out - 1.0) : 0.5;
    case MW_SAMPLING_UNALIGN_CORNERS:
    case MW_SAMPLING_OFFSET_CORNERS:
        return (at + 0.5) / out;
    default: /* the spacing (n - n / out) / (out - 1) of n pixels is n / out */
        return at / out;
    }
}

mw__sample_length mw__sample_length_of(const mw__sample *sample)
{
    switch (sample->grid) {
    case MW_SAMPLING_STRICT_ALIGN_CORNERS:
    case MW_SAMPLING_ALIGN_CORNERS:
        return MW__LENGTH_SPAN;
    case MW_SAMPLING_OFFSET_CORNERS:
        return MW__LENGTH_POSITIVE;
    default:
        return MW__LENGTH_EXTENT;
    }
}

double mw__sample_box_shift(const mw__sample *sample)
{
    return sample->grid == MW_SAMPLING_UNALIGN_CORNERS ? -0.5 : 0.0;
}

double mw__sample_in_box(const mw__sample *sample, const double box[4], int axis, int64_t i)
{
    const double factor = sample->axis[axis].factor;
    const double first = box[axis ^ (int)sample->width_first], second = box[2 + (axis ^ (int)sample->width_first)];
    double start = (sample->centered ? first - second / 2.0 : first) * factor;
    double span = (sample->centered ? second : second - first) * factor;
    if (sample->whole_if_inverted && span < 0.0) {
        start = 0.0;
        span = (double)(sample->axis[axis].in - 1);
    }
    const mw__sample_length length = mw__sample_length_of(sample);
    double pixels = length == MW__LENGTH_EXTENT ? span + 1.0 : span;
    if (length == MW__LENGTH_POSITIVE && span < 1.0)
        pixels = 1.0;
    return start + mw__sample_fraction(sample, axis, i) * pixels + mw__sample_box_shift(sample);
}

/* The usual changes of images, as a map. Letters: H, W of the source; h, w of what comes out; pixels are `pixel` bytes
 * in `planes` planes: one plane of all channels, or one per channel with channels_first. */
#include "base/number/float_mode.h"
#include "data/data.h"
#include "runtime/data/data.h"

#include <math.h>
#include <string.h>

enum { PAD_MAX = 4096, SHIFT_MAX = 4096 };

/* What a number of an example is drawn for. */
typedef enum draw { CROP_Y, CROP_X, SHIFT_Y, SHIFT_X, FLIP, FLIP_VERTICAL, BRIGHTNESS, CONTRAST } draw;

typedef struct augmentation {
    mw__data_map map; /* first, as of every map */
    mw_augment_options options;
    const mw_dataset *source; /* outlives it */
    size_t column;
    bool is_float;
    int64_t height, width, planes, out_height, out_width;
    size_t pixel; /* bytes */
} augmentation;

/* Where a row or column of what comes out lies in the source: first + step * i, or nowhere. */
typedef struct axis_map {
    int64_t first, step; /* step is 1 or -1 */
} axis_map;

/* ---- places ---- */

static int64_t place_of(const mw_map_example *example, draw number, int64_t places)
{
    return (int64_t)floor((double)mw_map_example_uniform(example, number) * (double)places);
}

/* i -> mirrored -> moved by `shift` -> in the crop -> without the padding; what the shift uncovers is nowhere. */
static axis_map map_axis(int64_t out_extent, int64_t offset, int64_t shift, bool mirrored)
{
    const int64_t first = offset - shift;
    return mirrored ? (axis_map){first + out_extent - 1, -1} : (axis_map){first, 1};
}

typedef struct placing {
    axis_map y, x;
    int64_t shift_y, shift_x;
} placing;

static placing draw_places(const augmentation *a, const mw_map_example *example)
{
    const mw_augment_options *o = &a->options;
    const int64_t rows = a->height + 2 * o->pad - a->out_height + 1, columns = a->width + 2 * o->pad - a->out_width + 1;
    placing p = {.shift_y = place_of(example, SHIFT_Y, 2 * (int64_t)o->shift + 1) - o->shift,
                 .shift_x = place_of(example, SHIFT_X, 2 * (int64_t)o->shift + 1) - o->shift};
    p.y = map_axis(a->out_height, place_of(example, CROP_Y, rows) - o->pad, p.shift_y,
                   mw_map_example_uniform(example, FLIP_VERTICAL) < o->flip_vertical);
    p.x = map_axis(a->out_width, place_of(example, CROP_X, columns) - o->pad, p.shift_x,
                   mw_map_example_uniform(example, FLIP) < o->flip);
    return p;
}

/* True if row (or column) i of what comes out is one of the source; *out is its number. */
static bool find_source(axis_map axis, int64_t shift, int64_t i, int64_t out_extent, int64_t extent, int64_t *out)
{
    const int64_t at = axis.step > 0 ? i : out_extent - 1 - i; /* before it was mirrored */
    *out = axis.first + axis.step * i;
    return at - shift >= 0 && at - shift < out_extent && *out >= 0 && *out < extent;
}

/* ---- pixels ---- */

static void put_fill(const augmentation *a, char *out, int64_t pixels)
{
    const size_t bytes = (size_t)pixels * a->pixel;
    if (!a->is_float) {
        memset(out, (int)a->options.fill, bytes);
        return;
    }
    for (size_t at = 0; at < bytes; at += sizeof(float))
        memcpy(out + at, &a->options.fill, sizeof(float));
}

static void put_row(const augmentation *a, const placing *p, const char *in, char *out)
{
    int64_t x;
    for (int64_t i = 0; i < a->out_width; i++, out += a->pixel) {
        if (find_source(p->x, p->shift_x, i, a->out_width, a->width, &x))
            memcpy(out, in + (size_t)x * a->pixel, a->pixel);
        else
            put_fill(a, out, 1);
    }
}

static void put_plane(const augmentation *a, const placing *p, const char *in, char *out)
{
    const size_t in_row = (size_t)a->width * a->pixel, out_row = (size_t)a->out_width * a->pixel;
    int64_t y;
    for (int64_t i = 0; i < a->out_height; i++, out += out_row) {
        if (find_source(p->y, p->shift_y, i, a->out_height, a->height, &y))
            put_row(a, p, in + (size_t)y * in_row, out);
        else
            put_fill(a, out, a->out_width);
    }
}

/* ---- brightness and contrast ---- */

static double centered(const mw_map_example *example, draw number, float half)
{
    return (2.0 * (double)mw_map_example_uniform(example, number) - 1.0) * (double)half;
}

static double mean_of(const augmentation *a, const void *image, size_t count)
{
    double sum = 0.0;
    for (size_t i = 0; i < count; i++)
        sum += a->is_float ? (double)((const float *)image)[i] : (double)((const uint8_t *)image)[i];
    return sum / (double)count;
}

static uint8_t to_byte(double value)
{
    return (uint8_t)(value <= 0.0 ? 0.0 : value >= 255.0 ? 255.0 : floor(value + 0.5));
}

static void jitter(const augmentation *a, const mw_map_example *example, void *image, size_t count)
{
    const double range = a->is_float ? 1.0 : 255.0;
    const double more = centered(example, BRIGHTNESS, a->options.brightness) * range;
    const double factor = 1.0 + centered(example, CONTRAST, a->options.contrast);
    const double mean = mean_of(a, image, count);
    float *const floats = image;
    uint8_t *const bytes = image;
    for (size_t i = 0; i < count; i++) {
        const double x = a->is_float ? (double)floats[i] : (double)bytes[i];
        const double y = mean + (x - mean) * factor + more;
        if (a->is_float)
            floats[i] = (float)y;
        else
            bytes[i] = to_byte(y);
    }
}

/* ---- the map ---- */

static mw_status augment(void *user, const mw_map_example *example, mw_error *err)
{
    const augmentation *a = user;
    (void)err;
    for (size_t i = 0; i < a->source->column_count; i++) {
        if (i != a->column)
            memcpy(example->out[i], example->in[i], a->source->example_bytes[i]);
    }
    const placing p = draw_places(a, example);
    const size_t in_plane = (size_t)(a->height * a->width) * a->pixel;
    const size_t out_plane = (size_t)(a->out_height * a->out_width) * a->pixel;
    char *out = example->out[a->column];
    for (int64_t i = 0; i < a->planes; i++)
        put_plane(a, &p, (const char *)example->in[a->column] + (size_t)i * in_plane, out + (size_t)i * out_plane);
    if (a->options.brightness > 0.0f || a->options.contrast > 0.0f)
        jitter(a, example, out, (size_t)a->planes * out_plane / (a->is_float ? sizeof(float) : 1));
    return MW_OK;
}

mw_augment_options mw_augment_defaults(const char *column)
{
    return (mw_augment_options){.struct_size = sizeof(mw_augment_options), .column = column};
}

static bool is_part(float value, float most) { return value >= 0.0f && value <= most; }

static mw_status check_numbers(const mw_augment_options *o, mw_error *err)
{
    if (o->pad < 0 || o->pad > PAD_MAX || o->shift < 0 || o->shift > SHIFT_MAX)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_dataset_augment: pad %d and shift %d; each is 0 to %d", o->pad,
                        o->shift, PAD_MAX);
    if (!is_part(o->flip, 1.0f) || !is_part(o->flip_vertical, 1.0f))
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "mw_dataset_augment: flip %g and flip_vertical %g; a probability is 0 "
                        "to 1",
                        (double)o->flip, (double)o->flip_vertical);
    if (!is_part(o->brightness, 1.0f) || !is_part(o->contrast, 1.0f))
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_dataset_augment: brightness %g and contrast %g; each is 0 to 1",
                        (double)o->brightness, (double)o->contrast);
    return MW_OK;
}

static mw_status find_column(augmentation *a, mw_error *err)
{
    const mw_dataset *source = a->source;
    while (a->column < source->column_count && strcmp(source->columns[a->column].name, a->options.column) != 0)
        a->column++;
    if (a->column == source->column_count)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_dataset_augment: the data set has no column \"%.100s\"",
                        a->options.column);
    const mw_column *column = &source->columns[a->column];
    a->is_float = column->dtype == MW_F32;
    if (column->dtype != MW_U8 && !a->is_float)
        return mw__fail(err, MW_ERROR_DTYPE, "mw_dataset_augment: column \"%.100s\" is %s; images are U8 or F32",
                        column->name, mw_dtype_name(column->dtype));
    if (!a->is_float &&
        (a->options.fill < 0.0f || a->options.fill > 255.0f || a->options.fill != floorf(a->options.fill)))
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_dataset_augment: fill %g; a U8 image holds integers of 0 to 255",
                        (double)a->options.fill);
    return MW_OK;
}

/* [H, W], [H, W, C] or [C, H, W] */
static mw_status measure_image(augmentation *a, mw_column *column, mw_error *err)
{
    const bool first = a->options.channels_first && column->shape.rank == 3;
    int64_t *dim = column->shape.dim;
    if (column->shape.rank != 2 && column->shape.rank != 3)
        return mw__fail(err, MW_ERROR_SHAPE,
                        "mw_dataset_augment: column \"%.100s\" has rank %d; an image is [H, W], "
                        "[H, W, C] or [C, H, W]",
                        column->name, column->shape.rank);
    int64_t *const height = &dim[first ? 1 : 0], *const width = &dim[first ? 2 : 1];
    a->height = *height;
    a->width = *width;
    a->planes = first ? dim[0] : 1;
    a->pixel = (a->is_float ? sizeof(float) : 1) * (size_t)(first || column->shape.rank == 2 ? 1 : dim[2]);
    const mw_augment_options *o = &a->options;
    const int64_t most_h = *height + 2 * o->pad, most_w = *width + 2 * o->pad;
    if (o->crop_height < 0 || o->crop_width < 0 || o->crop_height > most_h || o->crop_width > most_w)
        return mw__fail(err, MW_ERROR_SHAPE,
                        "mw_dataset_augment: a crop of %lld x %lld from images of %lld x %lld, "
                        "padded",
                        (long long)o->crop_height, (long long)o->crop_width, (long long)most_h, (long long)most_w);
    *height = a->out_height = o->crop_height > 0 ? o->crop_height : most_h;
    *width = a->out_width = o->crop_width > 0 ? o->crop_width : most_w;
    return MW_OK;
}

static mw_dataset *map_images(augmentation *a, mw_error *err)
{
    const mw_dataset *source = a->source;
    mw_column *columns = mw__alloc(source->allocator, source->column_count, sizeof *columns, err);
    if (columns == NULL)
        return NULL;
    memcpy(columns, source->columns, source->column_count * sizeof *columns);
    mw_dataset *dataset = NULL;
    if (measure_image(a, &columns[a->column], err) == MW_OK)
        dataset = mw__data_map_make(source, columns, source->column_count, &a->map, a->options.seed, err);
    mw__free(source->allocator, columns);
    return dataset;
}

static mw_status check_options(const mw_dataset *source, const mw_augment_options *options, mw_error *err)
{
    if (source == NULL || options == NULL || options->struct_size != sizeof *options || options->column == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_dataset_augment: no %s",
                        source == NULL ? "source" : "options of mw_augment_defaults that name a column");
    MW_TRY(mw__dataset_check(source, "mw_dataset_augment", err));
    return check_numbers(options, err);
}

mw_dataset *mw_dataset_augment(const mw_dataset *source, const mw_augment_options *options, mw_error *err)
{
    MW__FLOAT_SCOPE;
    if (mw__skips(err) || check_options(source, options, err) != MW_OK)
        return NULL;
    augmentation *a = mw__alloc(source->allocator, 1, sizeof *a, err);
    if (a == NULL)
        return NULL;
    a->map = (mw__data_map){.function = augment, .user = a};
    a->options = *options;
    a->source = source;
    mw_dataset *dataset = find_column(a, err) == MW_OK ? map_images(a, err) : NULL;
    a->options.column = NULL; /* the user's */
    if (dataset == NULL)
        mw__free(source->allocator, a);
    return dataset;
}

/* The usual changes of images, as a map. Letters: H, W of the source; h, w of what comes out; pixels are `pixel` bytes
 * in `planes` planes: one plane of all channels, or one per channel with channels_first. */
#include "data/augment/augment.h"
#include "base/number/float_mode.h"
#include "data/data.h"
#include "runtime/data/data.h"

#include <math.h>
#include <string.h>

typedef struct augmentation {
    mw__data_map map; /* first, as of every map */
    mw_augment_options options;
    const mw_dataset *source; /* outlives it */
    size_t column;
    bool is_float;
    int64_t height, width, planes, out_height, out_width;
    int64_t channels;
    size_t pixel; /* bytes */
} augmentation;

/* Where a row or column of what comes out lies in the source: first + step * i, or nowhere. */
typedef struct axis_map {
    int64_t first, step; /* step is 1 or -1 */
} axis_map;

/* ---- places ---- */

static int64_t place_of(const mw_map_example *example, mw__augment_draw number, int64_t places)
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
    placing p = {.shift_y = place_of(example, MW__DRAW_SHIFT_Y, 2 * (int64_t)o->shift + 1) - o->shift,
                 .shift_x = place_of(example, MW__DRAW_SHIFT_X, 2 * (int64_t)o->shift + 1) - o->shift};
    p.y = map_axis(a->out_height, place_of(example, MW__DRAW_CROP_Y, rows) - o->pad, p.shift_y,
                   mw_map_example_uniform(example, MW__DRAW_FLIP_VERTICAL) < o->flip_vertical);
    p.x = map_axis(a->out_width, place_of(example, MW__DRAW_CROP_X, columns) - o->pad, p.shift_x,
                   mw_map_example_uniform(example, MW__DRAW_FLIP) < o->flip);
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

/* ---- rotation ---- */

/* Element c of a pixel of what was cut out, or fill where there is none. */
static double fetch(const augmentation *a, const placing *p, const char *in, int64_t i, int64_t j, int64_t c)
{
    int64_t y, x;
    if (i < 0 || j < 0 || i >= a->out_height || j >= a->out_width ||
        !find_source(p->y, p->shift_y, i, a->out_height, a->height, &y) ||
        !find_source(p->x, p->shift_x, j, a->out_width, a->width, &x))
        return (double)a->options.fill;
    const char *pixel = in + (size_t)(y * a->width + x) * a->pixel;
    return a->is_float ? (double)((const float *)(const void *)pixel)[c] : (double)((const uint8_t *)pixel)[c];
}

/* Between the four pixels about (y, x), whose centers are whole numbers. */
static double interpolate(const augmentation *a, const placing *p, const char *in, double y, double x, int64_t c)
{
    const int64_t i = (int64_t)floor(y), j = (int64_t)floor(x);
    const double down = y - floor(y), right = x - floor(x);
    const double above = fetch(a, p, in, i, j, c) * (1.0 - right) + fetch(a, p, in, i, j + 1, c) * right;
    const double below = fetch(a, p, in, i + 1, j, c) * (1.0 - right) + fetch(a, p, in, i + 1, j + 1, c) * right;
    return above * (1.0 - down) + below * down;
}

/* As put_plane, turned about the middle. `out` is one plane. */
static void put_turned(const augmentation *a, const placing *p, double angle, const char *in,
                       const mw__augment_image *out)
{
    const double cosine = cos(angle), sine = sin(angle);
    const double middle_y = 0.5 * (double)(a->out_height - 1), middle_x = 0.5 * (double)(a->out_width - 1);
    for (int64_t i = 0; i < a->out_height; i++) {
        for (int64_t j = 0; j < a->out_width; j++) {
            const double y = (double)i - middle_y, x = (double)j - middle_x;
            const double from_y = x * sine + y * cosine + middle_y, from_x = x * cosine - y * sine + middle_x;
            for (int64_t c = 0; c < out->channels; c++)
                mw__augment_put(out, mw__augment_place(out, i, j, c), interpolate(a, p, in, from_y, from_x, c));
        }
    }
}

/* ---- brightness and contrast ---- */

static double centered(const mw_map_example *example, mw__augment_draw number, float half)
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
    const double more = centered(example, MW__DRAW_BRIGHTNESS, a->options.brightness) * range;
    const double factor = 1.0 + centered(example, MW__DRAW_CONTRAST, a->options.contrast);
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

static double draw_angle(const augmentation *a, const mw_map_example *example)
{
    const double turn = 2.0 * (double)mw_map_example_uniform(example, MW__DRAW_ANGLE) - 1.0;
    return turn * (double)a->options.rotate * (3.14159265358979323846 / 180.0);
}

static mw__augment_image plane_of(const augmentation *a, char *pixels)
{
    const int64_t channels = a->planes > 1 ? 1 : a->channels;
    return (mw__augment_image){.pixels = pixels,
                               .is_float = a->is_float,
                               .height = a->out_height,
                               .width = a->out_width,
                               .channels = channels,
                               .row = a->out_width * channels,
                               .column = channels,
                               .channel = 1};
}

static mw__augment_image image_of(const augmentation *a, char *pixels)
{
    mw__augment_image image = plane_of(a, pixels);
    image.channels = a->channels;
    if (a->planes > 1)
        image.channel = a->out_height * a->out_width;
    return image;
}

/* What changes all pixels of an image that was cut out. */
static void change_pixels(const augmentation *a, const mw_map_example *example, char *out, size_t out_plane)
{
    const mw__augment_image image = image_of(a, out);
    if (a->options.brightness > 0.0f || a->options.contrast > 0.0f)
        jitter(a, example, out, (size_t)a->planes * out_plane / (a->is_float ? sizeof(float) : 1));
    if (mw__augment_has_color(&a->options.color))
        mw__augment_color(&a->options.color, example, &image);
    if (a->options.erase.probability > 0.0f)
        mw__augment_erase(&a->options.erase, example, &image);
}

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
    for (int64_t i = 0; i < a->planes; i++) {
        const char *from = (const char *)example->in[a->column] + (size_t)i * in_plane;
        if (a->options.rotate > 0.0f) {
            const mw__augment_image plane = plane_of(a, out + (size_t)i * out_plane);
            put_turned(a, &p, draw_angle(a, example), from, &plane);
        } else
            put_plane(a, &p, from, out + (size_t)i * out_plane);
    }
    change_pixels(a, example, out, out_plane);
    return MW_OK;
}

/* Of U8 both are bytes. */
static mw_status check_fill(const char *name, float fill, mw_error *err)
{
    if (fill >= 0.0f && fill <= 255.0f && fill == floorf(fill))
        return MW_OK;
    return mw__fail(err, MW_ERROR_ARGUMENT, "mw_dataset_augment: %s %g; a U8 image holds integers of 0 to 255", name,
                    (double)fill);
}

static mw_status find_column(augmentation *a, mw_error *err)
{
    MW_TRY(mw__picture_find_column(a->source, "mw_dataset_augment", a->options.column, &a->column, err));
    a->is_float = a->source->columns[a->column].dtype == MW_F32;
    if (a->source->columns[a->column].dtype == MW_U8) {
        MW_TRY(check_fill("fill", a->options.fill, err));
        MW_TRY(check_fill("erase.value", a->options.erase.value, err));
    }
    return MW_OK;
}

static mw_status check_channels(const augmentation *a, const char *name, mw_error *err)
{
    const mw_color_jitter *color = &a->options.color;
    const bool of_color = color->saturation > 0.0f || color->hue > 0.0f;
    if (!mw__augment_has_color(color) || a->channels == 3 || (a->channels == 1 && !of_color))
        return MW_OK;
    return mw__fail(
        err, MW_ERROR_SHAPE,
        "mw_dataset_augment: column \"%.100s\" has %lld channels; color is of 3 (of 1 without saturation and "
        "hue); if they stand in front say channels_first",
        name, (long long)a->channels);
}

/* [H, W], [H, W, C] or [C, H, W] */
static mw_status measure_image(augmentation *a, mw_column *column, mw_error *err)
{
    mw__augment_image image;
    MW_TRY(mw__picture_measure(column, "mw_dataset_augment", a->options.channels_first, &image, err));
    const bool first = a->options.channels_first && column->shape.rank == 3;
    int64_t *const height = &column->shape.dim[first ? 1 : 0], *const width = &column->shape.dim[first ? 2 : 1];
    a->height = image.height;
    a->width = image.width;
    a->planes = first ? image.channels : 1;
    a->channels = image.channels;
    a->pixel = (a->is_float ? sizeof(float) : 1) * (size_t)(first ? 1 : a->channels);
    const mw_augment_options *o = &a->options;
    const int64_t most_h = *height + 2 * o->pad, most_w = *width + 2 * o->pad;
    if (o->crop_height < 0 || o->crop_width < 0 || o->crop_height > most_h || o->crop_width > most_w)
        return mw__fail(err, MW_ERROR_SHAPE,
                        "mw_dataset_augment: a crop of %lld x %lld from images of %lld x %lld, "
                        "padded",
                        (long long)o->crop_height, (long long)o->crop_width, (long long)most_h, (long long)most_w);
    MW_TRY(check_channels(a, column->name, err));
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
    return mw__augment_check_numbers(options, err);
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

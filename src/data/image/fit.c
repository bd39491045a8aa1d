/* Which part of a picture is taken, and where it goes. Letters: h, w of the picture; H, W of the result. */
#include "data/image/fit.h"

#include "base/number/random.h"
#include "data/image/resize.h"

#include <math.h>
#include <string.h>

enum { TRIES = 10, NUMBERS = 4 };

/* ---- which part ---- */

static mw__image_box box_in_middle(const mw__image *image, double height, double width)
{
    const double top = ((double)image->height - height) * 0.5, left = ((double)image->width - width) * 0.5;
    return (mw__image_box){.left = left, .top = top, .right = left + width, .bottom = top + height};
}

/* The largest part whose width by height is `ratio`. */
static mw__image_box largest_box(const mw__image *image, double ratio, double share)
{
    const double h = (double)image->height, w = (double)image->width;
    const double height = w >= ratio * h ? h : w / ratio, width = w >= ratio * h ? ratio * h : w;
    return box_in_middle(image, height * share, width * share);
}

static double draw_number(uint64_t seed, uint64_t number)
{
    mw__random random = {.seed = seed, .position = number};
    return (double)mw__random_uniform(&random);
}

static double draw_between(uint64_t seed, uint64_t number, double low, double high)
{
    return low + (high - low) * draw_number(seed, number);
}

/* True if it fits. */
static bool draw_box(const mw__image *image, const mw_image_random_crop *random, uint64_t seed, uint64_t first,
                     mw__image_box *out)
{
    const double h = (double)image->height, w = (double)image->width;
    const double area = h * w * draw_between(seed, first, (double)random->scale_least, (double)random->scale_most);
    const double ratio =
        exp(draw_between(seed, first + 1, log((double)random->ratio_least), log((double)random->ratio_most)));
    const double width = rint(sqrt(area * ratio)), height = rint(sqrt(area / ratio));
    if (width < 1.0 || height < 1.0 || width > w || height > h)
        return false;
    const double top = floor(draw_number(seed, first + 2) * (h - height + 1.0));
    const double left = floor(draw_number(seed, first + 3) * (w - width + 1.0));
    *out = (mw__image_box){.left = left, .top = top, .right = left + width, .bottom = top + height};
    return true;
}

static mw__image_box choose_box(const mw__image *image, const mw_image_random_crop *random, uint64_t seed)
{
    mw__image_box box;
    for (uint64_t k = 0; k < TRIES; k++)
        if (draw_box(image, random, seed, NUMBERS * k, &box))
            return box;
    const double own = (double)image->width / (double)image->height;
    return largest_box(image, fmin(fmax(own, (double)random->ratio_least), (double)random->ratio_most), 1.0);
}

/* ---- where it goes ---- */

static void fill_background(const mw_image_options *options, const mw__image *image, uint8_t *out)
{
    uint8_t color[3];
    mw__image one = {.height = 1, .width = 1, .channels = 3, .pixels = color};
    memcpy(color, options->background, 3);
    if (image->channels == 1)
        mw__image_to_gray(&one);
    for (int64_t i = 0; i < options->height * options->width; i++, out += image->channels)
        memcpy(out, color, (size_t)image->channels);
}

/* The whole picture as large as it fits, in the middle; halves are rounded to even, as Pillow does. */
static mw__image_view place_whole(const mw_image_options *o, const mw__image *image, uint8_t *out)
{
    const double h = (double)image->height, w = (double)image->width, H = (double)o->height, W = (double)o->width;
    mw__image_view view = {.height = o->height,
                           .width = o->width,
                           .stride = (size_t)(o->width * image->channels),
                           .channels = image->channels};
    if (w / h > W / H)
        view.height = (int64_t)fmax(1.0, rint(h / w * W));
    else if (w / h < W / H)
        view.width = (int64_t)fmax(1.0, rint(w / h * H));
    const int64_t top = (int64_t)rint((double)(o->height - view.height) * 0.5);
    const int64_t left = (int64_t)rint((double)(o->width - view.width) * 0.5);
    view.pixels = out + (size_t)top * view.stride + (size_t)(left * image->channels);
    return view;
}

static mw__image_view view_of(const mw_image_options *options, int channels, uint8_t *out)
{
    return (mw__image_view){.pixels = out,
                            .height = options->height,
                            .width = options->width,
                            .stride = (size_t)(options->width * channels),
                            .channels = channels};
}

static mw_status check_size(const mw_image_options *options, const mw__image *image, const char *path, mw_error *err)
{
    if (image->height == options->height && image->width == options->width)
        return MW_OK;
    return mw__fail(err, MW_ERROR_FORMAT,
                    "\"%.300s\" is %lld x %lld pixels, others %lld x %lld: pictures of several sizes want a fit with a "
                    "height and a width",
                    path, (long long)image->height, (long long)image->width, (long long)options->height,
                    (long long)options->width);
}

mw_status mw__image_fit(const mw_image_options *options, const mw__image *image, const char *path, uint64_t seed,
                        uint8_t *out, mw_error *err)
{
    const mw__image_view in = {.pixels = image->pixels,
                               .height = image->height,
                               .width = image->width,
                               .stride = (size_t)(image->width * image->channels),
                               .channels = image->channels};
    mw__image_view to = view_of(options, image->channels, out);
    mw__image_box box = box_in_middle(image, (double)image->height, (double)image->width);
    switch (options->fit) {
    case MW_IMAGE_FIT_NONE:
        MW_TRY(check_size(options, image, path, err));
        memcpy(out, image->pixels, (size_t)image->height * in.stride);
        return MW_OK;
    case MW_IMAGE_FIT_STRETCH:
        break;
    case MW_IMAGE_FIT_CROP:
        box = largest_box(image, (double)options->width / (double)options->height, (double)options->crop);
        break;
    case MW_IMAGE_FIT_PAD:
        fill_background(options, image, out);
        to = place_whole(options, image, out);
        break;
    case MW_IMAGE_FIT_RANDOM_CROP:
        box = choose_box(image, &options->random, seed);
        break;
    }
    return mw__image_resize(options->allocator, &in, &box, &to, err);
}

/* Reads, unpacks, turns, blends, fits and lays out; whatever is allocated on the way is freed here. */
#include "data/image/load.h"

#include "base/file/file.h"
#include "data/image/fit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PATH_ROOM = 512 };

/* Twice the extent that comes out, of the part that is taken. */
static void want_size(const mw_image_options *o, int orientation, mw__image_source *out)
{
    const double share = o->fit == MW_IMAGE_FIT_RANDOM_CROP ? sqrt((double)o->random.scale_least)
                         : o->fit == MW_IMAGE_FIT_CROP      ? (double)o->crop
                                                            : 1.0;
    const int64_t height = (int64_t)ceil(2.0 * (double)o->height / share);
    const int64_t width = (int64_t)ceil(2.0 * (double)o->width / share);
    const bool lies = orientation > 4; /* rows are columns */
    out->height_wanted = !o->reduce ? 0 : lies ? width : height;
    out->width_wanted = !o->reduce ? 0 : lies ? height : width;
}

static mw_status unpack_file(const mw_image_options *options, const mw__file *file, const char *path, mw__image *out,
                             mw_error *err)
{
    char *data;
    MW_TRY(mw__file_read_open(options->allocator, file, path, MW__IMAGE_FILE_MAX, &data, err));
    mw__image_source source = {.allocator = options->allocator,
                               .data = (const uint8_t *)data,
                               .size = (size_t)file->size,
                               .path = path,
                               .pixels_max = options->pixels_max,
                               .keep_alpha = options->blend};
    const int orientation = mw__image_orientation(source.data, source.size);
    want_size(options, orientation, &source);
    mw_status status = mw__image_read(&source, out, err);
    if (status == MW_OK)
        status = mw__image_turn(options->allocator, out, orientation, err);
    mw__free(options->allocator, data);
    return status;
}

/* For messages. */
static void put_path(const char *folder, const char *name, char out[PATH_ROOM])
{
    snprintf(out, PATH_ROOM, "%s%s%s", folder != NULL ? folder : "", folder != NULL ? "/" : "", name);
}

mw_status mw__image_open(const mw_image_options *options, const char *folder, const char *name, mw__image *out,
                         mw_error *err)
{
    char path[PATH_ROOM];
    mw__file file;
    *out = (mw__image){0};
    put_path(folder, name, path);
    MW_TRY(folder != NULL ? mw__file_open_below(&file, folder, name, err) : mw__file_open(&file, name, err));
    const mw_status status = unpack_file(options, &file, path, out, err);
    mw__file_close(&file);
    if (status != MW_OK) {
        mw__free(options->allocator, out->pixels);
        *out = (mw__image){0};
        return status;
    }
    mw__image_blend(out, options->background);
    if (options->channels == 1)
        mw__image_to_gray(out);
    return MW_OK;
}

size_t mw__image_bytes(const mw_image_options *options)
{
    return (size_t)(options->height * options->width) * (size_t)options->channels;
}

/* [H, W, C] to [C, H, W] */
static void split_planes(const uint8_t *in, size_t pixels, int channels, uint8_t *out)
{
    for (size_t i = 0; i < pixels; i++)
        for (int c = 0; c < channels; c++)
            out[(size_t)c * pixels + i] = *in++;
}

static mw_status fit_planes(const mw_image_options *options, const mw__image *image, const char *path, uint64_t seed,
                            uint8_t *out, mw_error *err)
{
    if (!options->channels_first || options->channels == 1)
        return mw__image_fit(options, image, path, seed, out, err);
    uint8_t *mixed = mw__alloc(options->allocator, mw__image_bytes(options), 1, err);
    if (mixed == NULL)
        return MW_ERROR_MEMORY;
    const mw_status status = mw__image_fit(options, image, path, seed, mixed, err);
    if (status == MW_OK)
        split_planes(mixed, (size_t)(options->height * options->width), options->channels, out);
    mw__free(options->allocator, mixed);
    return status;
}

mw_status mw__image_load(const mw_image_options *options, const char *folder, const char *name, uint64_t seed,
                         uint8_t *out, mw_error *err)
{
    char path[PATH_ROOM];
    mw__image image;
    MW_TRY(mw__image_open(options, folder, name, &image, err));
    put_path(folder, name, path);
    const mw_status status = fit_planes(options, &image, path, seed, out, err);
    mw__free(options->allocator, image.pixels);
    return status;
}

/* Which decoder a picture is for, and what all share. */
#include "data/image/image.h"
#include "base/memory/checked.h"

#include <string.h>

mw_status mw__image_check_size(const mw__image_source *source, uint64_t height, uint64_t width, mw_error *err)
{
    if (height == 0 || width == 0 || height > (uint64_t)source->pixels_max / width)
        return mw__fail(err, MW_ERROR_FORMAT, "\"%.300s\" is a picture of %llu x %llu pixels, more than %lld in all",
                        source->path, (unsigned long long)height, (unsigned long long)width,
                        (long long)source->pixels_max);
    return MW_OK;
}

mw_status mw__image_begin(const mw__image_source *source, uint64_t height, uint64_t width, int channels, mw__image *out,
                          mw_error *err)
{
    MW_TRY(mw__image_check_size(source, height, width, err));
    out->height = (int64_t)height;
    out->width = (int64_t)width;
    out->channels = channels;
    out->pixels = mw__alloc(source->allocator, (size_t)(height * width), (size_t)channels, err);
    return out->pixels != NULL ? MW_OK : MW_ERROR_MEMORY;
}

static mw_status read_by_mark(const mw__image_source *source, mw__image *out, mw_error *err)
{
    const uint8_t *data = source->data;
    if (source->size >= 8 && memcmp(data, "\x89PNG\r\n\x1a\n", 8) == 0)
        return mw__png_read(source, out, err);
    if (source->size >= 3 && memcmp(data, "\xff\xd8\xff", 3) == 0)
        return mw__jpeg_read(source, out, err);
    if (source->size >= 12 && memcmp(data, "RIFF", 4) == 0 && memcmp(data + 8, "WEBP", 4) == 0)
        return mw__webp_read(source, out, err);
    return mw__fail(err, MW_ERROR_FORMAT, "\"%.300s\" is neither PNG nor JPEG nor WebP", source->path);
}

mw_status mw__image_read(const mw__image_source *source, mw__image *out, mw_error *err)
{
    *out = (mw__image){0};
    const mw_status status = read_by_mark(source, out, err);
    if (status != MW_OK) {
        mw__free(source->allocator, out->pixels);
        *out = (mw__image){0};
    }
    return status;
}

static uint8_t mix_bytes(unsigned over, unsigned under, unsigned alpha)
{
    return (uint8_t)((2 * (over * alpha + under * (255 - alpha)) + 255) / 510);
}

void mw__image_blend(mw__image *image, const uint8_t background[3])
{
    const uint8_t *in = image->pixels;
    uint8_t *out = image->pixels;
    if (image->channels != 4)
        return;
    for (int64_t i = 0; i < image->height * image->width; i++, in += 4, out += 3) {
        const uint8_t alpha = in[3];
        for (int c = 0; c < 3; c++)
            out[c] = mix_bytes(in[c], background[c], alpha);
    }
    image->channels = 3;
}

void mw__image_to_gray(mw__image *image)
{
    const uint8_t *rgb = image->pixels;
    if (image->channels != 3)
        return;
    for (int64_t i = 0; i < image->height * image->width; i++, rgb += 3)
        image->pixels[i] = (uint8_t)((19595u * rgb[0] + 38470u * rgb[1] + 7471u * rgb[2] + 0x8000u) >> 16);
    image->channels = 1;
}

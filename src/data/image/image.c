/* Which decoder a picture is for, and what both share. */
#include "data/image/image.h"
#include "base/memory/checked.h"

#include <string.h>

mw_status mw__image_begin(const mw_allocator *allocator, const char *path, uint64_t height, uint64_t width,
                          int64_t pixels_max, mw__image *out, mw_error *err)
{
    if (height == 0 || width == 0 || height > (uint64_t)pixels_max / width)
        return mw__fail(err, MW_ERROR_FORMAT, "\"%.300s\" is a picture of %llu x %llu pixels, more than %lld in all",
                        path, (unsigned long long)height, (unsigned long long)width, (long long)pixels_max);
    out->height = (int64_t)height;
    out->width = (int64_t)width;
    out->pixels = mw__alloc(allocator, (size_t)(height * width), 3, err);
    return out->pixels != NULL ? MW_OK : MW_ERROR_MEMORY;
}

mw_status mw__image_read(const mw_allocator *allocator, const void *data, size_t size, const char *path,
                         int64_t pixels_max, mw__image *out, mw_error *err)
{
    mw_status status;
    *out = (mw__image){0};
    if (size >= 8 && memcmp(data, "\x89PNG\r\n\x1a\n", 8) == 0)
        status = mw__png_read(allocator, data, size, path, pixels_max, out, err);
    else if (size >= 3 && memcmp(data, "\xff\xd8\xff", 3) == 0)
        status = mw__jpeg_read(allocator, data, size, path, pixels_max, out, err);
    else
        return mw__fail(err, MW_ERROR_FORMAT, "\"%.300s\" is neither PNG nor JPEG", path);
    if (status != MW_OK) {
        mw__free(allocator, out->pixels);
        *out = (mw__image){0};
    }
    return status;
}

void mw__image_to_gray(const mw__image *image, uint8_t *out)
{
    const uint8_t *rgb = image->pixels;
    for (int64_t i = 0; i < image->height * image->width; i++, rgb += 3)
        out[i] = (uint8_t)((19595u * rgb[0] + 38470u * rgb[1] + 7471u * rgb[2] + 0x8000u) >> 16);
}

/* Pictures: PNG and JPEG as rows of bytes, by libpng and libjpeg. Each is optional at build time. */
#ifndef MW__DATA_IMAGE_IMAGE_H
#define MW__DATA_IMAGE_IMAGE_H

#include "base/memory/alloc.h"

/* The largest file that is read. */
#define MW__IMAGE_FILE_MAX ((size_t)1 << 30)

typedef struct mw__image {
    int64_t height, width;
    uint8_t *pixels; /* [height, width, 3], red, green, blue; mw__free */
} mw__image;

/* A picture in memory, by its first bytes. Its size is looked at before anything is allocated for it; then it is at
 * most 3 bytes a pixel for the result, and for the library 6 bytes a pixel (a progressive JPEG) and 16 MiB.
 *  pixels_max  refused beyond
 *  errors      MW_ERROR_FORMAT, naming `path`; MW_ERROR_UNSUPPORTED if the library was left out at build time */
mw_status mw__image_read(const mw_allocator *allocator, const void *data, size_t size, const char *path,
                         int64_t pixels_max, mw__image *out, mw_error *err);

/* The decoders: out->pixels is NULL or to be freed, also on failure. */
mw_status mw__png_read(const mw_allocator *allocator, const void *data, size_t size, const char *path,
                       int64_t pixels_max, mw__image *out, mw_error *err);
mw_status mw__jpeg_read(const mw_allocator *allocator, const void *data, size_t size, const char *path,
                        int64_t pixels_max, mw__image *out, mw_error *err);

/* Makes room for a picture whose header was read. */
mw_status mw__image_begin(const mw_allocator *allocator, const char *path, uint64_t height, uint64_t width,
                          int64_t pixels_max, mw__image *out, mw_error *err);

/* out [height, width] = 0.299 red + 0.587 green + 0.114 blue, in 16 bits and rounded. */
void mw__image_to_gray(const mw__image *image, uint8_t *out);

#endif

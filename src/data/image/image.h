/* Pictures: PNG, JPEG and WebP as rows of bytes, by libpng, libjpeg and libwebp. Each is optional at build time. */
#ifndef MW__DATA_IMAGE_IMAGE_H
#define MW__DATA_IMAGE_IMAGE_H

#include "base/memory/alloc.h"

/* The largest file that is read. */
#define MW__IMAGE_FILE_MAX ((size_t)1 << 30)

typedef struct mw__image {
    int64_t height, width;
    int channels;    /* 3: red, green, blue; 4: and how opaque; 1: gray */
    uint8_t *pixels; /* [height, width, channels]; mw__free */
} mw__image;

/* A file in memory, and what is asked of it. */
typedef struct mw__image_source {
    const mw_allocator *allocator;
    const uint8_t *data;
    size_t size;
    const char *path;                    /* for messages */
    int64_t pixels_max;                  /* refused beyond */
    int64_t height_wanted, width_wanted; /* a JPEG may be unpacked smaller, but not than these; 0 = whole */
    bool keep_alpha; /* 4 channels where a picture has transparency; else it is dropped, and there are 3 */
} mw__image_source;

/* A picture by its first bytes, as it is stored: not yet turned. Its size is looked at before anything is allocated for
 * it; then it is at most 4 bytes a pixel for the result, and for the library 6 bytes a pixel (a progressive JPEG; 12
 * for WebP) and 16 MiB.
 *  errors  MW_ERROR_FORMAT, naming the path; MW_ERROR_UNSUPPORTED if the library was left out at build time */
mw_status mw__image_read(const mw__image_source *source, mw__image *out, mw_error *err);

/* The decoders: out->pixels is NULL or to be freed, also on failure. */
mw_status mw__png_read(const mw__image_source *source, mw__image *out, mw_error *err);
mw_status mw__jpeg_read(const mw__image_source *source, mw__image *out, mw_error *err);
mw_status mw__webp_read(const mw__image_source *source, mw__image *out, mw_error *err);

/* Refuses a picture of more pixels than the source takes, or of none. */
mw_status mw__image_check_size(const mw__image_source *source, uint64_t height, uint64_t width, mw_error *err);
/* Makes room for a picture whose header was read. */
mw_status mw__image_begin(const mw__image_source *source, uint64_t height, uint64_t width, int channels, mw__image *out,
                          mw_error *err);

/* What Exif says of how the camera was held: 1 (upright) to 8, 1 if it says nothing that can be read. Looks at JPEG's
 * APP1, PNG's eXIf, WebP's EXIF; allocates nothing and reads each byte of the file at most once. */
int mw__image_orientation(const uint8_t *data, size_t size);
/* Turns and mirrors it upright: at most one more picture of its size while it works. */
mw_status mw__image_turn(const mw_allocator *allocator, mw__image *image, int orientation, mw_error *err);

/* In place: 4 channels become 3, c = (c * a + background * (255 - a)) / 255, rounded. */
void mw__image_blend(mw__image *image, const uint8_t background[3]);
/* In place: 3 channels become 1, 0.299 red + 0.587 green + 0.114 blue, in 16 bits and rounded. */
void mw__image_to_gray(mw__image *image);

#endif

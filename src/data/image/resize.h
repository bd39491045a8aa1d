/* Pictures of another size: antialiased bilinear, in the integers that Pillow has. */
#ifndef MW__DATA_IMAGE_RESIZE_H
#define MW__DATA_IMAGE_RESIZE_H

#include "base/memory/alloc.h"

/* A part of a picture, in pixels from its upper left corner; edges may lie between pixels. */
typedef struct mw__image_box {
    double left, top, right, bottom;
} mw__image_box;

/* Rows of bytes with `channels` a pixel. */
typedef struct mw__image_view {
    uint8_t *pixels; /* [height, width, channels], `stride` bytes from row to row */
    int64_t height, width;
    size_t stride;
    int channels; /* 1 to 4 */
} mw__image_view;

/* Fills out with what lies in the box of `in`: row and column i of n cover the n-th part of the box; what a pixel
 * covers counts by a triangle of that width, at least 2 pixels wide, cut at the edges of the picture and brought to the
 * sum 1. Columns are made first and rounded to bytes. Allocates at most 8 bytes for each row and column of the box and
 * 28 for each of the result, and 4 times the bytes of the rows of the result that one row of the picture counts for: 2
 * or 3 of them where it shrinks, at most all.
 *  box  inside `in`, right > left, bottom > top */
mw_status mw__image_resize(const mw_allocator *allocator, const mw__image_view *in, const mw__image_box *box,
                           const mw__image_view *out, mw_error *err);

#endif

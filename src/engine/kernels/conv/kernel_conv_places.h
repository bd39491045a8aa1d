/* Which positions of a chunk of y an element of the kernel needs: under the others lies the border, whose products are
 * zeros. A sum begins at +0 and its result is added to +0, so that leaving them out changes no bit, as long as dy is
 * finite. */
#ifndef MW__ENGINE_KERNELS_CONV_KERNEL_CONV_PLACES_H
#define MW__ENGINE_KERNELS_CONV_KERNEL_CONV_PLACES_H

#include "engine/kernels/conv/kernel_conv_packed.h"

/* Whether all of them are finite: else products with zeros are NaN, and none may be left out. */
typedef bool mw__conv_finite(const float *x, int64_t count);
mw__conv_finite *mw__conv_finite_of(mw__level level);

/* Which of `count` elements from `start` on, `stride` apart, lie within [0, extent): [out[0], out[1]). */
void mw__conv_reach(int64_t start, int64_t stride, int64_t extent, int64_t count, int64_t out[2]);

/* A chunk: of `each` images, planes of examples, `height` lines of `width` positions; or of one, of whole lines or
 * parts of them. */
typedef struct mw__conv_chunk {
    int64_t each, height, width;
    int64_t rows, columns; /* of an image of a frame */
} mw__conv_chunk;

typedef struct mw__conv_places {
    const mw__packed_place *at; /* [each, lines, columns] */
    int64_t top, lines;         /* lines of an image that are listed, from `top` on */
    int64_t left, columns;      /* of each line */
    int64_t low, high;          /* lines of y that lie on x */
} mw__conv_places;

/* [1 + taps of a plane of the kernel], the first of all positions. *out_fewer: one of the others has fewer. NULL after
 * a failed allocation. */
const mw__conv_places *mw__conv_list_places(mw__planner *planner, const mw__conv_window *window,
                                            const mw__conv_chunk *chunk, bool *out_fewer);

/* Listed places that follow each other. */
typedef struct mw__places_run {
    const mw__packed_place *at;
    int64_t count;
} mw__places_run;

/* Those of positions [begin, end) of image `image` of a chunk whose first line is `row` of y, of `lines`. */
mw__places_run mw__conv_places_of(const mw__conv_places *places, const mw__conv_chunk *chunk, int64_t row,
                                  int64_t lines, int64_t image, int64_t begin, int64_t end);

#endif

/* Planes of convolutions whose groups have one input channel, or few output channels: copied into frames, or read where
 * they lie. kernel_conv_depthwise_choice.c says which are taken, kernel_conv_depthwise.c computes with them, and
 * kernel_conv_depthwise_dweight.c computes the gradient by the weight. */
#ifndef MW__ENGINE_KERNELS_KERNEL_CONV_DEPTHWISE_H
#define MW__ENGINE_KERNELS_KERNEL_CONV_DEPTHWISE_H

#include "engine/kernels/conv/kernel_conv_packed.h"

#define MW__DEPTHWISE_TAPS  512
#define MW__DEPTHWISE_NEAR  4096  /* floats that stay in the first-level cache beside those of a loop */
#define MW__DEPTHWISE_MASKS 16384 /* of a step: they are read for each plane, and stay in the first-level cache */

/* Whether planes have a frame: of extents that are not extreme. */
bool mw__depthwise_fits(const mw__conv_window *window);

/* ---- frames ---- */

#define MW__DEPTHWISE_STEP 16 /* at most */

typedef struct mw__depthwise_frame {
    int64_t in[2], step[2]; /* of a plane of x */
    int64_t first[2];       /* of row and column: where the planes begin, in elements of x */
    int64_t rows, pitch;    /* of each plane */
    int64_t floats;
    bool reused; /* for bands of rows or planes elsewhere: rows outside of x have to be cleared */
    /* by the remainder of row and column: which of a plane's lie within x */
    int32_t begin[2][MW__DEPTHWISE_STEP], end[2][MW__DEPTHWISE_STEP];
} mw__depthwise_frame;

/* What taps with offsets from `low` to `high` reach from `extent` positions. */
mw__depthwise_frame mw__depthwise_frame_of(const int64_t in[2], const int64_t step[2], const int64_t extent[2],
                                           const int64_t low[2], const int64_t high[2]);
/* Planes begin at multiples of the step, as a row of x does: `offset` or what lies before it. */
int64_t mw__depthwise_begin(int64_t offset, int64_t step);
/* Where in a frame the element at `row`, `column` of x lies. */
int32_t mw__depthwise_place_of(const mw__depthwise_frame *frame, int64_t row, int64_t column);
/* The frame of plane x from `row` rows after its first on, but for the rows outside of it, which are zero already
 * unless it is reused; `next` is a plane that comes later, or lies outside of any object. */
void mw__depthwise_fill_frame(const mw__depthwise_frame *f, const mw__packed_code *code, const float *x, int64_t row,
                              const float *next, float *frame);
/* Fetches a plane beforehand: they lie in pages of their own, of which some processors fetch nothing by themselves. */
static inline void mw__depthwise_ask_for(const float *plane, int64_t floats)
{
    for (int64_t i = 0; i < floats; i += 16) /* a cache line */
        mw__kernel_prefetch(plane, i * (int64_t)sizeof *plane);
}

/* ---- planes without a frame ---- */

static inline int64_t mw__depthwise_vectors(int64_t count, const mw__packed_code *code)
{
    return (count + code->width - 1) / code->width;
}

/* Whether the code takes planes [rows, in[1]] as they lie, under taps one element apart. */
bool mw__depthwise_is_flat(const mw__packed_code *code, const int64_t in[2], int64_t rows, int64_t columns,
                           int64_t taps);
/* Where in a plane `in` the positions of y, rows as long as its own, find their elements under a tap at `offset` from
 * them. at, mask: of this tap. */
void mw__depthwise_fill_flat(const mw__packed_code *code, const int64_t in[2], int64_t count, const int64_t offset[2],
                             int32_t *at, uint16_t *mask);

/* A large plane in bands of rows: those that meet the border above, those that meet none, so many times, and the rest.
 * Their masks stay in the first-level cache. */
typedef struct mw__depthwise_bands {
    struct {
        int64_t row, rows, times;
        mw__packed_flat flat; /* from the first of its rows on */
    } band[3];
} mw__depthwise_bands;

/* NULL where planes [rows, in[1]] of y are better not cut, or after a failed allocation. offset: of each tap. */
const mw__depthwise_bands *mw__depthwise_cut(mw__planner *planner, const mw__packed_code *code, const int64_t in[2],
                                             int64_t rows, int64_t taps, const int64_t (*offset)[2]);

/* Perhaps outside of x. */
static inline const float *mw__depthwise_plane(const void *x, int64_t at)
{
    return (const float *)((uintptr_t)x + (uintptr_t)(at * (int64_t)sizeof(float)));
}

#endif

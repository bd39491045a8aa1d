/* max_pool by windows of 2 x 2, two elements apart, that remembers which element it took: a byte a window, counted
 * along rows, or MW__PICK_NONE where none gets a gradient (a NaN, or what relu stops). The gradient then needs neither
 * x nor y. AVX-512 only; the other form is kernel_pool_two.c. */
#ifndef MW__ENGINE_KERNELS_KERNEL_POOL_ARGMAX_H
#define MW__ENGINE_KERNELS_KERNEL_POOL_ARGMAX_H

#include "engine/core/kernel.h"

#define MW__PICK_NONE 4

typedef struct mw__picked {
    int64_t in[2], out[2]; /* rows and columns, of x and of y */
    int64_t count;         /* windows of a plane */
} mw__picked;

/* True if the pooling has such windows, inside x, in fp32. */
bool mw__pool_picks_suits(const mw__op *pool);
mw__picked mw__picked_of(const mw__op *pool);

/* One plane: writes dy + 0 at the picked elements and 0 at the others of its windows, in rows `pitch` apart; elements
 * outside of all windows are left alone. */
void mw__unpool(const mw__picked *picked, const float *dy, const uint8_t *picks, float *dx, int64_t pitch);

/* ---- the elements that have a gradient, as a list ---- */

/* Where picked elements lie in some frame. */
typedef struct mw__pick_places {
    const int32_t *corner; /* [windows, rounded up to 16]: of the first element of a window */
    int32_t element[16];   /* what the others of a window add */
} mw__pick_places;

/* With that many floats from an element of x to the next in its row, and to the next in its column. */
mw__pick_places mw__pick_places_of(mw__planner *planner, const mw__picked *picked, int64_t right, int64_t down);

typedef struct mw__pick_list {
    float *d;
    int32_t *at;
} mw__pick_list;

size_t mw__pick_list_bytes(const mw__picked *picked);
mw__pick_list mw__pick_list_in(const mw__picked *picked, float *memory);

/* The elements of a plane that have a gradient; returns their count. The sum of all d is added to bias [16]. */
int64_t mw__pick(const mw__picked *picked, const mw__pick_places *places, const float *dy, const uint8_t *picks,
                 const mw__pick_list *list, float *bias);
/* The same in the order of x. */
int64_t mw__pick_in_order(const mw__picked *picked, const mw__pick_places *places, const float *dy,
                          const uint8_t *picks, const mw__pick_list *list);

#endif

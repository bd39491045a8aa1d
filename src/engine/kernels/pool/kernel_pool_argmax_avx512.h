/* max_pool by windows of 2 x 2, two elements apart, that remembers which element it took: a byte a window, counted
 * along rows, or MW__ARGMAX_NONE where none gets a gradient (a NaN, or what relu stops). The gradient then needs
 * neither x nor y. AVX-512 only; the other form is kernel_pool_two.c. */
#ifndef MW__ENGINE_KERNELS_KERNEL_POOL_ARGMAX_H
#define MW__ENGINE_KERNELS_KERNEL_POOL_ARGMAX_H

#include "engine/core/kernel.h"

#define MW__ARGMAX_NONE 4

typedef struct mw__argmax_windows {
    int64_t in[2], out[2]; /* rows and columns, of x and of y */
    int64_t count;         /* windows of a plane */
} mw__argmax_windows;

/* True if the pooling has such windows, inside x, in fp32. */
bool mw__pool_argmax_suits(const mw__op *pool);
mw__argmax_windows mw__argmax_windows_of(const mw__op *pool);

/* One plane: writes dy + 0 at the chosen elements and 0 at the others of its windows, in rows `pitch` apart; elements
 * outside of all windows are left alone. */
void mw__unpool(const mw__argmax_windows *pooling, const float *dy, const uint8_t *argmax, float *dx, int64_t pitch);

/* ---- the elements that have a gradient, as a list ---- */

/* Where chosen elements lie in some frame. */
typedef struct mw__argmax_places {
    const int32_t *corner; /* [windows, rounded up to 16]: of the first element of a window */
    int32_t element[16];   /* what the others of a window add */
} mw__argmax_places;

/* With that many floats from an element of x to the next in its row, and to the next in its column. */
mw__argmax_places mw__argmax_places_of(mw__planner *planner, const mw__argmax_windows *pooling, int64_t right,
                                       int64_t down);

typedef struct mw__argmax_list {
    float *d;
    int32_t *at;
} mw__argmax_list;

size_t mw__argmax_list_bytes(const mw__argmax_windows *pooling);
mw__argmax_list mw__argmax_list_in(const mw__argmax_windows *pooling, float *memory);

/* The elements of a plane that have a gradient; returns their count. The sum of all d is added to bias [16]. */
int64_t mw__argmax_collect(const mw__argmax_windows *pooling, const mw__argmax_places *places, const float *dy,
                           const uint8_t *argmax, const mw__argmax_list *list, float *bias);
/* The same in the order of x. */
int64_t mw__argmax_collect_in_order(const mw__argmax_windows *pooling, const mw__argmax_places *places, const float *dy,
                                    const uint8_t *argmax, const mw__argmax_list *list);

#endif

/* max_pool by windows of 2 x 2, two elements apart, that remembers which element it took: a byte a window, counted
 * along rows, or MW__PICK_NONE where none gets a gradient (a NaN, or what relu stops). The gradient then needs neither
 * x nor y. AVX-512 only; the other form is kernel_pool_two.c. */
#ifndef MW__ENGINE_KERNEL_POOL_PICKS_H
#define MW__ENGINE_KERNEL_POOL_PICKS_H

#include "engine/kernel.h"

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

#endif

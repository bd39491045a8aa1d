/* What the files of the recurrent kernels share: one direction of a network as it is planned. */
#ifndef MW__ENGINE_KERNELS_RECURRENT_KERNEL_RECURRENT_H
#define MW__ENGINE_KERNELS_RECURRENT_KERNEL_RECURRENT_H

#include "engine/core/kernel.h"
#include "engine/kernels/gemm/gemm.h"
#include "engine/kernels/math/math.h"
#include "graph/patterns/recurrent.h"

typedef struct mw__recurrent_activation {
    mw_activation kind;
    mw__loop1 *loop; /* NULL: linear */
    float p, q;
} mw__recurrent_activation;

/* Loops over the elements of a gate. */
typedef struct mw__recurrent_passes {
    void (*add)(float *out, const float *x, int64_t count);
    void (*mul)(float *out, const float *x, const float *y, int64_t count);
    void (*mul_add)(float *out, const float *x, const float *y, int64_t count);
    void (*keep)(float *c, const float *gates, int64_t count);              /* c = f c + i z, from gates i, f, o, z */
    void (*bound)(float *c, float limit, int64_t count);                    /* a NaN stays */
    void (*blend)(float *h, const float *n, const float *z, int64_t count); /* h = (1 - z) n + z h */
} mw__recurrent_passes;

/* Letters: S steps, B rows of the batch, G gates of H elements. */
typedef struct mw__recurrent_block {
    mw__cell cell;
    int64_t steps, batch, inputs, hidden, gates;
    int64_t width, column; /* of a row of states and results; where this direction begins in it */
    bool reverse, keeps_order, sequence, reset_after, clips;
    bool turned; /* weight_hh is read as its transpose, [H, G H] */
    float clip;
    mw__recurrent_activation gate, candidate, output;
    mw__recurrent_passes pass;
    mw_dtype dtype;                         /* of the results */
    int biases;                             /* of the product with x */
    int at_c, at_peephole, at_bias;         /* among the reads; 0 = it has none */
    mw__gemm_code code, part_code;          /* of all gates, and of one */
    size_t c_at, sums_at, work_at, gemm_at; /* in scratch, after h [rows, H]: bytes */
} mw__recurrent_block;

/* The kernels of the steps, of which a unit is a row of the batch. Reads: the product with x [S, B, G H], weight_hh, h,
 * and where the block says they stand, c, the peephole and a bias. Writes: y, h, and c if there is one. */
mw__kernel mw__recurrent_run; /* vectors over the gates of a row */
mw__kernel mw__recurrent_ref; /* element by element, as the formulas have it */

mw__recurrent_passes mw__recurrent_passes_of(mw__level level);

#endif

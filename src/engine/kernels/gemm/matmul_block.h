/* What planning a product (kernel_matmul.c) and running it (kernel_matmul_run.c) share. */
#ifndef MW__ENGINE_KERNELS_GEMM_MATMUL_BLOCK_H
#define MW__ENGINE_KERNELS_GEMM_MATMUL_BLOCK_H

#include "base/number/fp16.h"
#include "engine/core/buffer.h"
#include "engine/core/kernel.h"
#include "engine/core/unpack.h"
#include "engine/kernels/gemm/gemm_blocked.h"
#include "engine/kernels/gemm/kernel_matmul.h"
#include "engine/kernels/math/math_chip.h"

#define MW__MATMUL_COLUMNS 64   /* a unit when columns are split, as in mw__units_of */
#define MW__MATMUL_WIDTH   1024 /* columns of a block of y that several rows of x share, where y is fp16 */

typedef struct mw__matmul_block {
    int64_t m, n, k;
    int64_t ldx, ldy;
    bool transpose_x, transpose_y, by_columns, has_bias, single; /* one matrix */
    mw_dtype dtype;
    mw__gemm_code code;
    mw__gemm_shape shape;         /* of mw__matmul_small_run */
    size_t panel;                 /* bytes of scratch before those of the product */
    mw__nd_iter batch;            /* operands: x, y, in matrices times their elements */
    const mw__codes *codes;       /* of int8 numbers; or NULL */
    const mw__compressed *packed; /* y, if it stays as it is stored; then there is no buffer of it */
    bool half_y;                  /* y is read as fp16 and widened in parts */
    bool turned;                  /* y is read as its transpose, which is kept */
    mw__loop1 *fed;               /* of what is widened; NULL: as it is */
    int64_t strip;                /* columns of y that are expanded at a time */
    size_t strip_at;              /* where in scratch */
} mw__matmul_block;

typedef struct mw__matmul_piece {
    const void *x, *y; /* of this matrix */
    void *out;         /* likewise */
    int64_t row, rows, column, columns;
} mw__matmul_piece;

/* Rows of an F16 result that wait in scratch, of `n` columns. */
int64_t mw__matmul_panel_rows(int64_t m, int64_t n);
/* One fp32 product by rows without a bias, and any other. */
void mw__matmul_small_run(const mw__kernel_call *call);
void mw__matmul_run(const mw__kernel_call *call);

#endif

/* Products with the columns of one group of one example, which are never made: with AVX-512, what the columns hold is
 * read from the image with its border, at an offset for each element of the kernel. Each sum runs over k in order, in
 * blocks of MW__COLUMNS_BLOCK that are added, as those of mw__gemm do, and so has its bits. */
#ifndef MW__ENGINE_KERNELS_CONV_KERNEL_CONV_COLUMNS_AVX512_H
#define MW__ENGINE_KERNELS_CONV_KERNEL_CONV_COLUMNS_AVX512_H

#include "engine/core/kernel.h"

#define MW__COLUMNS_BLOCK 256
#define MW__COLUMNS_SLACK 32 /* floats after an image that are read and not used */

typedef struct mw__columns_avx512 {
    int64_t outputs, depth;   /* rows of the left matrix or of dy; channels times elements of the kernel */
    int64_t rows, width;      /* positions */
    int64_t row_step, x_step; /* floats of the image between rows, and between positions of a row */
    const int32_t *tap;       /* [depth] */
    int64_t channels, area;   /* of the image; floats of one */
    const int32_t *where;     /* [positions], for kernel_conv_columns_sparse.c: in its frame; NULL: not to be used */
} mw__columns_avx512;

/* Bytes of scratch, 64-aligned, for each of the two. */
size_t mw__columns_avx512_scratch(const mw__columns_avx512 *columns);

/* y [outputs, rows * width] = left [outputs, depth] times the columns; x_step is 1. */
void mw__columns_avx512_product(const mw__columns_avx512 *columns, const float *left, const float *image, float *y,
                                float *scratch);
/* dw [outputs, depth] = dy [outputs, rows * width] times the transposed columns. */
void mw__columns_avx512_dweight(const mw__columns_avx512 *columns, const float *dy, const float *image, float *dw,
                                float *scratch);

/* A way to multiply that makes no columns: a row in kernel_conv_columns.c. */
typedef struct mw__columns_kernel {
    size_t (*scratch)(const mw__columns_avx512 *columns);
    void (*product)(const mw__columns_avx512 *columns, const float *left, const float *image, float *y, float *scratch);
    void (*dweight)(const mw__columns_avx512 *columns, const float *dy, const float *image, float *dw, float *scratch);
} mw__columns_kernel;

extern const mw__columns_kernel mw__columns_kernel_avx512;

/* The same where few elements of dy are not zero; else false, and nothing is done. */
bool mw__columns_sparse_dweight(const mw__columns_avx512 *columns, const float *dy, const float *image, float *dw,
                                float *scratch);
size_t mw__columns_sparse_scratch(const mw__columns_avx512 *columns);

/* ---- sums with listed elements of dy, of kernel_conv_columns_sparse.c ---- */

/* Of one output channel: the elements in order, and where they lie in a frame whose positions have the channels of the
 * image, rounded up to 16, side by side. */
typedef struct mw__columns_listed {
    const float *d;
    const int32_t *at; /* floats of the frame before what the first element of the kernel meets */
    int64_t count;
    const float *frame;
    float *sums; /* [elements of the kernel, channels rounded up to 16] */
    bool add;    /* to what they are, in one addition each */
} mw__columns_listed;

/* tap: floats of one channel's plane of the frame before each element of the kernel */
void mw__columns_sum_listed(const mw__columns_avx512 *columns, const mw__columns_listed *listed);
/* Such sums to dw [channels, elements of the kernel]. */
void mw__columns_put_sums(const mw__columns_avx512 *columns, const float *sums, float *dw);
bool mw__columns_is_finite(const float *x, int64_t count);

/* out [columns, out_step] = transpose of x [rows, x_step]; rows is at most 16, and as many floats are written in a row
 * of out. */
void mw__columns_avx512_transpose(const float *x, int64_t rows, int64_t x_step, int64_t columns, float *out,
                                  int64_t out_step);

#endif

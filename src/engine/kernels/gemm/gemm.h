/* C = A B in fp32 on one partition: by a BLAS, or by built-in code for small products, few rows with AVX2, processors
 * with AVX-512 and machines without a BLAS. */
#ifndef MW__ENGINE_KERNELS_GEMM_GEMM_H
#define MW__ENGINE_KERNELS_GEMM_GEMM_H

#include "engine/core/kernel.h"
#include "engine/kernels/gemm/blas.h"
#include "engine/kernels/implementation.h"

#include <stddef.h>
#include <stdint.h>

/* Operands that are int8 codes times scales (gemm_codes.c). */
typedef struct mw__gemm_codes {
    const float *row_scales, *column_scales;
    bool each_row, each_column; /* else one for all */
} mw__gemm_codes;

/* C [m, n] = op(A) [m, k] op(B) [k, n], row-major with leading extents; op(A) is the transpose of A [k, m] when
 * `transpose_a`. k = 0 gives zeros. C overlaps neither operand. */
typedef struct mw__gemm_shape {
    int64_t m, n, k;
    int64_t lda, ldb, ldc;
    bool transpose_a, transpose_b;
    const float *start; /* what sums begin with, of each row or each column; NULL: 0. Of fixed-point sums alone */
    bool start_of_rows;
    const mw__gemm_codes *codes; /* sums are integers; NULL: the operands are numbers */
} mw__gemm_shape;

/* Bytes that the built-in code needs as scratch for products of at most m rows. */
size_t mw__gemm_scratch(int64_t m, int64_t n, int64_t k);

/* c[j] = a . row j of b, both dense: for a product that is one row. */
typedef void mw__gemm_dots(int64_t n, int64_t k, const float *a, const float *b, int64_t ldb, float *c);

/* The same of a b of fp16, with the sums of what it is widened to. */
typedef void mw__gemm_half_dots(int64_t n, int64_t k, const float *a, const uint16_t *b, int64_t ldb, float *c);

/* c = a row times b, which is not transposed; the row's numbers lie step_a apart. Of more columns than
 * MW__GEMM_ROW_MOST parts of rows lie too far apart for this. */
typedef void mw__gemm_row(int64_t n, int64_t k, const float *a, int64_t step_a, const float *b, int64_t ldb, float *c);
enum { MW__GEMM_ROW_MOST = 256 };

/* The product by one instruction set: a row in gemm.c, the widest first. k > 0; the order of the sums is that of the
 * built-in code, whatever m and n are. */
typedef struct mw__gemm_kernel {
    const char *name;
    bool (*here)(const mw__config *config); /* the processor has the instructions, and may use them */
    const struct mw__gemm_set *set;         /* gemm_blocked.h; plans hold the scratch of the most of all */
    mw__gemm_dots *dots;
    mw__gemm_dots *long_dots; /* of a large b, in another order */
    mw__gemm_half_dots *half_dots;
    mw__gemm_row *row;
} mw__gemm_kernel;

/* The first row that the processor has; NULL if it has none. */
const mw__gemm_kernel *mw__gemm_kernel_here(const mw__config *config);

/* Which code runs, decided when planned. */
typedef struct mw__gemm_code {
    mw__blas_sgemm *sgemm; /* NULL = built-in */
    mw__level level;
    const mw__gemm_kernel *kernel; /* multiplies, if it is not NULL */
    mw__gemm_dots *dots;           /* of a product that is a vector; NULL: that of the level */
    bool dots_are_long;            /* they are those of a large b */
    mw__gemm_half_dots *half_dots; /* NULL: b is widened first */
    mw__gemm_row *row;             /* of a row and few columns; NULL: that of the level */
    const char *name;              /* of the row */
    mw__sums sums;
    bool drops; /* of fixed-point sums: small products are 0 (rules/arithmetic.def, product_drops) */
} mw__gemm_code;

/* The ways to multiply; subject: a request. */
typedef struct mw__gemm_request {
    const mw__config *config;
    int64_t m, n, k;
    bool transpose_b; /* known to be */
    bool in_strips;   /* B comes in parts: no BLAS, whose sums may depend on how much it is given */
} mw__gemm_request;
mw__implementations mw__gemm_implementations(void);

mw__gemm_code mw__gemm_choose(const mw__config *config, int64_t m, int64_t n, int64_t k);
/* The same for the operation that is planned, whose steps are shown with it. */
mw__gemm_code mw__plan_gemm(mw__planner *planner, int64_t m, int64_t n, int64_t k);
/* The same of more than extents; the configuration is that of the planner. */
mw__gemm_code mw__plan_gemm_request(mw__planner *planner, mw__gemm_request request);

/* The loops in blocks that give the same bits as this code for a product that is no vector and 1 < k <= MW__GEMM_DEPTH;
 * NULL if there are none, as with a BLAS. */
const struct mw__gemm_set *mw__gemm_blocks(const mw__gemm_code *code);

/* Whether a B that is transposed and read by many products, of so few rows as this one, is better turned once for all
 * of them: it takes less, and the sums and their order are the same. */
bool mw__gemm_gains_turned(const mw__gemm_code *code, int64_t m, int64_t n, int64_t k);

/* What multiplies large matrices: "AVX-512", "libopenblas.so.0" or "built-in". Loads a BLAS only if it would be used.
 */
const char *mw__gemm_name(const mw__config *config);

/* `scratch` is 64-aligned, mw__gemm_scratch bytes. */
void mw__gemm(const mw__gemm_code *code, const mw__gemm_shape *shape, const float *a, const float *b, float *c,
              void *scratch);

/* The product of codes, in gemm_codes.c. */
void mw__gemm_of_codes(const mw__gemm_code *code, const mw__gemm_shape *shape, const float *a, const float *b,
                       float *c);

/* Parts of it, in gemm_small.c. */

/* One row, or one column with dense results; false if it is neither. */
bool mw__gemm_vector(const mw__gemm_code *code, const mw__gemm_shape *shape, const float *a, const float *b, float *c);
/* A column times a row, k = 1; false if it is none, or the row does not lie dense. */
bool mw__gemm_outer(mw__level level, const mw__gemm_shape *shape, const float *a, const float *b, float *c);
/* c [n] += a [k] b [k, n], as it is computed for a product that is such a row if k begins at a multiple of 4. */
void mw__gemm_row_add(mw__level level, int64_t n, int64_t k, const float *a, const float *b, float *c);
/* For small matrices. `panel`: 16 k floats. */
void mw__gemm_small(mw__level level, const mw__gemm_shape *shape, const float *a, const float *b, float *c,
                    float *panel);

/* Three nested loops with double sums: what the tests compare with. */
void mw__gemm_ref(const mw__gemm_shape *shape, const float *a, const float *b, float *c);

#endif

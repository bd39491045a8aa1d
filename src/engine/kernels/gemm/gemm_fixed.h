/* Products whose sums are fixed point with 16 fraction bits, as on M4 and M6 (rules/arithmetic.def,
 * product_fixed_point): each product is rounded to a multiple of 2^-16, halves away from zero, and added as an integer
 * to the sum, which begins with the bias. A sum that reaches 32768 on its way through k is infinite and stays so.
 *
 * Integers may be added in any order, and modulo 2^32 where the sum is known to end within its range. So a tile of sums
 * is computed as fast as one of fp32 if a bound proves that none of its partial sums can reach 32768: by
 * Cauchy-Schwarz they are at most |a| |b|, the norms of the row and of the column. Where the bound fails, the sums are
 * taken one product after the other. The bits depend on neither, nor on how rows and columns are cut.
 *
 * In the fast tile a product is the last bits of fp32: a b + 192 has an ulp of 2^-16. So that a tie goes away from
 * zero, a has its last bit set, which fp16 numbers have not: it is too little to change anything else. */
#ifndef MW__ENGINE_KERNELS_GEMM_GEMM_FIXED_H
#define MW__ENGINE_KERNELS_GEMM_GEMM_FIXED_H

#include "engine/kernels/gemm/gemm_blocked.h"
#include "rules/fixed_point.h"

#define MW__FIXED_COLUMNS 32 /* of a tile, at most */

/* What the tiles are made of. */
#define MW__FIXED_NARROW      192.0f /* 1.5 * 2^7: ulp 2^-16, for products below MW__FIXED_NARROW_MOST */
#define MW__FIXED_NARROW_BITS 0x43400000u
#define MW__FIXED_NARROW_MOST 63.0f
#define MW__FIXED_WIDE        3145728.0f /* 1.5 * 2^21: ulp 2^-2, which is 2^14 units */
#define MW__FIXED_WIDE_BITS   0x4a400000u
#define MW__FIXED_WIDE_SHIFT  14

/* `rows` rows of A times the columns of the set: sums [rows, columns], in units, modulo 2^32. */
typedef struct mw__fixed_tile {
    int64_t rows, k;
    const float *a;      /* [k, rows], each with its last bit set */
    const float *limits; /* [k, rows]: what of B is smaller is dropped; NULL: nothing is */
    const float *b;      /* [k, columns] */
    int32_t *sums;
} mw__fixed_tile;

/* An instruction set. `rows` is a power of 2; its tiles are of that and the smaller powers. */
typedef struct mw__fixed_set {
    int64_t rows, columns;
    void (*pack)(float *out, int64_t width, const mw__gemm_lanes *lanes); /* as that of mw__gemm_set */
    void (*narrow)(const mw__fixed_tile *tile); /* every product is below MW__FIXED_NARROW_MOST */
    void (*wide)(const mw__fixed_tile *tile);   /* below MW__FIXED_CEILING */
} mw__fixed_set;

extern const mw__fixed_set mw__fixed_set_base;
#if defined(__x86_64__)
extern const mw__fixed_set mw__fixed_set_avx2;
#endif
#if MW_HAVE_AVX512
extern const mw__fixed_set mw__fixed_set_avx512;
#endif

/* Some of C, one product after the other: what has no proof, and the reference. */
typedef struct mw__fixed_part {
    const mw__gemm_shape *shape;
    const float *a, *b;
    float *c; /* of the whole */
    int64_t i, rows, j, columns;
    bool drops;
} mw__fixed_part;
void mw__fixed_in_order(mw__level level, const mw__fixed_part *part);

/* The largest of some rows or columns over all of k. */
typedef struct mw__fixed_extent {
    float square; /* of a norm, rounded up */
    float most;   /* absolute */
    bool plain;   /* all are finite fp16 numbers */
} mw__fixed_extent;
/* of `count` lanes of k elements: element [l, p] at l + p * step if they lie side by side, else at l * step + p */
mw__fixed_extent mw__fixed_extent_of(mw__level level, const float *from, int64_t count, int64_t k, int64_t step,
                                     bool side_by_side);

/* Sets the last bit of each of `count` numbers of A; limits: what each drops of B, or NULL. */
void mw__fixed_mark(mw__level level, float *a, float *limits, int64_t count);

/* c, in units as they are added up, += sums; the first time from `start`, and the last time as numbers. */
typedef struct mw__fixed_rows {
    int64_t rows, columns, ldc;
    const int32_t *sums; /* [rows, sums_row] */
    int64_t sums_row;
    const float *start; /* NULL: 0 */
    bool start_of_rows, first, last;
    float *c;
} mw__fixed_rows;
void mw__fixed_store(mw__level level, const mw__fixed_rows *rows);

/* The product; the shape says what sums begin with. `scratch` as mw__gemm. */
void mw__gemm_fixed(const mw__gemm_code *code, const mw__gemm_shape *shape, const float *a, const float *b, float *c,
                    float *scratch);

#endif

/* Products in blocks, for any instruction set: panels of A and B are packed where that pays, and a tile of sums stays
 * in registers while k runs. Each sum runs over k in order, in blocks of MW__GEMM_DEPTH that are added to C, whatever
 * is packed and however rows and columns are cut: the bits depend on the instructions alone. */
#ifndef MW__ENGINE_KERNELS_GEMM_GEMM_BLOCKED_H
#define MW__ENGINE_KERNELS_GEMM_GEMM_BLOCKED_H

#include "engine/kernels/gemm/gemm.h"

#define MW__GEMM_DEPTH 256

/* Lines of a cache that are read later and asked for meanwhile: `lines` of each row on, `count` in all. They may lie
 * outside of the matrix. */
typedef struct mw__gemm_ask {
    const float *from;
    int64_t row, lines, count; /* row: floats */
} mw__gemm_ask;

/* C [rows, columns] (+)= A [rows, k] B [k, columns]; a[r * a_row + p * a_step], one of the two is 1;
 * b[p * b_step + j]. Where `apart` of the set is 0, as many rows of A as a tile has are read, whatever is in them, and
 * an A that is packed has a_step = rows of the set. */
typedef struct mw__gemm_tile {
    int64_t rows, columns, k;
    int64_t a_row, a_step, b_step, c_row;
    const float *a, *b;
    float *c;
    bool add;
    mw__gemm_ask ask; /* for sets with `asks` */
} mw__gemm_tile;

/* `count` rows of A or columns of B as they lie: element [l, p] at l + p * step if they lie side by side, else at
 * l * step + p. */
typedef struct mw__gemm_lanes {
    const float *from;
    int64_t count, k, step;
    bool side_by_side;
    bool asks; /* for those that lie behind them */
} mw__gemm_lanes;

/* An instruction set. */
typedef struct mw__gemm_set {
    int64_t rows, columns; /* of a tile at most, for an A whose rows lie side by side */
    int64_t apart;         /* rows at most of a tile for others; 0: A is packed always, and rows that lack are zeros */
    int64_t block;         /* rows of A at most that are packed and pass a panel of B one behind the other */
    bool asks;             /* a tile asks for what it is told */
    int64_t whole;         /* columns of B are read in groups of so many, and those that lack are zeros */
    void (*tile)(const mw__gemm_tile *tile);
    /* out[p * width + l]; up to 16 floats after each row may be written, before the next row is */
    void (*pack)(float *out, int64_t width, const mw__gemm_lanes *lanes);
    /* another way for some products, with the same bits; false if this is none of them, then nothing is done. NULL:
     * there is none */
    bool (*across)(const mw__gemm_shape *shape, const float *a, const float *b, float *c, float *scratch);
    size_t (*across_scratch)(int64_t m, int64_t k);
} mw__gemm_set;

/* That of the built-in code, whatever multiplies large products. */
const mw__gemm_set *mw__gemm_set_of(const mw__config *config);

/* Of any instruction set. */
void mw__gemm_pack_lanes(float *out, int64_t width, const mw__gemm_lanes *lanes);

/* The way across, of gemm_across.c. Rows of B, at b + r * b_row, times lanes of a packed A [k, 16] or [k, 8]: sums of 6
 * rows and 16 lanes, or of 12 and 8, dense. */
typedef struct mw__gemm_strips {
    void (*sixteen)(int64_t k, const float *b, int64_t b_row, const float *a, float *sums);
    void (*eight)(int64_t k, const float *b, int64_t b_row, const float *a, float *sums);
} mw__gemm_strips;

/* Whether it takes a product with a B that is transposed. */
bool mw__gemm_takes_across(int64_t m, int64_t n, int64_t k);
bool mw__gemm_across(const mw__gemm_strips *strips, const mw__gemm_shape *shape, const float *a, const float *b,
                     float *c, float *scratch);
size_t mw__gemm_across_scratch(int64_t m, int64_t k);

/* Bytes of scratch. */
size_t mw__gemm_blocked_scratch(const mw__gemm_set *set, int64_t m, int64_t n, int64_t k);

/* k > 0. */
void mw__gemm_blocked(const mw__gemm_set *set, const mw__gemm_shape *shape, const float *a, const float *b, float *c,
                      float *scratch);
/* c += that product, k <= MW__GEMM_DEPTH: the bits of a product that is computed and then added. */
void mw__gemm_blocked_add(const mw__gemm_set *set, const mw__gemm_shape *shape, const float *a, const float *b,
                          float *c, float *scratch);

#endif

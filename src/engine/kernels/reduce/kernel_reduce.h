/* Between the files of the reductions. */
#ifndef MW__ENGINE_KERNELS_REDUCE_KERNEL_REDUCE_H
#define MW__ENGINE_KERNELS_REDUCE_KERNEL_REDUCE_H

#include "engine/kernels/math/math.h"
#include "engine/kernels/transpose.h"

#define MW__REDUCE_ROWS 64 /* rows of columns that are added in fp32 before they go to double sums */

/* Sums and means of F32 that take one fp32 sum each: result `at` is that of reduced elements of x from at * step on, a
 * row, or at a distance of `stride`, a column. */
typedef struct mw__reduce_small {
    int64_t elements, count; /* of a unit, of results */
    int64_t reduced, step, stride;
    bool mean;
} mw__reduce_small;

/* A kernel without iterators, giving the bits of the general one: results side by side, or each over its own row. Fills
 * the block; NULL if the loops are not such. */
typedef mw__kernel *mw__reduce_small_find(mw__level level, const mw__nd_iter *outer, const mw__nd_iter *inner,
                                          mw__reduce_small *block);
mw__reduce_small_find mw__reduce_small_columns, mw__reduce_small_rows;

/* ---- kernel_reduce_loops.c ---- */

typedef enum mw__reduction {
    MW__REDUCE_SUM,
    MW__REDUCE_MEAN,
    MW__REDUCE_MAX,
    MW__REDUCE_MIN,
    MW__REDUCE_LOG_SUM_EXP,
    MW__REDUCE_PROD,
    MW__REDUCE_SUM_SQUARE,
    MW__REDUCE_L1_NORM,
    MW__REDUCE_L2_NORM,
    MW__REDUCE_LOG_SUM
} mw__reduction;

typedef struct mw__reduce_block {
    mw__nd_iter outer; /* kept loops: result element -> offset in x; one operand */
    mw__nd_iter inner; /* reduced loops; one operand */
    int64_t elements;  /* of a unit */
    int64_t count;     /* results */
    int64_t reduced;   /* elements that make one result */
    mw__reduction kind;
    bool trailing; /* result i needs elements [i * reduced, (i + 1) * reduced) */
    bool plain;    /* a sum or mean of fp32 over one loop */
    mw_dtype dtype;
    mw__loop1 *exp;
    double (*sum)(const float *x, int64_t count);
    float (*most)(const float *x, int64_t count); /* max, or min for MW__REDUCE_MIN */
    void (*add_rows)(float *part, const float *x, int64_t stride, int64_t rows, int64_t width);
    mw__reduce_small small;
    mw__transpose *transpose; /* of mw__reduce_short, and which of its loops */
    int way;
} mw__reduce_block;

mw__kernel mw__reduce_rows, mw__reduce_columns;
/* One result of many elements: chunks of fixed size, so that the bits do not depend on the partitions, and their
 * totals. */
mw__kernel mw__reduce_chunks, mw__reduce_chunks_finish;

#define MW__REDUCE_CHUNK 8192

typedef struct mw__integer_totals {
    uint64_t sum, magnitudes, squares, product;
    int32_t most;
    double exps;
} mw__integer_totals;

typedef struct mw__reduce_totals {
    double sum;
    float most;
    mw__integer_totals integer;
} mw__reduce_totals;

/* Short rows, and products of rows, which lie one behind the other. */
mw__kernel mw__reduce_short;
bool mw__reduce_is_short(const mw__reduce_block *block);

/* Sums of fp16 numbers in fp16, one after the other in index order. */
mw__kernel mw__reduce_narrow;

/* Sets exp, add_rows, sum, most, transpose and way of a block. */
void mw__reduce_choose_loops(mw__reduce_block *block, mw__level level);

#endif

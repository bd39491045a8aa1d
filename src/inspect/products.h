/* What fixed-point products (rules/fixed_point.h) make of the sums of a run: one sum after the other, in doubles, from
 * the operands as fp16 holds them. */
#ifndef MW__INSPECT_PRODUCTS_H
#define MW__INSPECT_PRODUCTS_H

#include "base/text/text.h"
#include "graph/patterns/conv.h"
#include "inspect/ranges.h"
#include "rules/arithmetic.h"

/* ---- products_sums.c: which products an operation adds ---- */

#define MW__RANGE_SUMS_RANK  (MW_RANK_MAX + 1)
#define MW__RANGE_SUMS_PARTS 2 /* of an operation, at most */

typedef enum mw__range_sums_kind {
    MW__RANGE_SUMS_STRIDED,
    MW__RANGE_SUMS_CONV,
    MW__RANGE_SUMS_CONV_TRANSPOSE,
    MW__RANGE_SUMS_WEIGHTED
} mw__range_sums_kind;

/* The sums of an operation, or of a part of it: result i is `start` and then products in the order of channels. */
typedef struct mw__range_sums {
    mw__range_sums_kind kind;
    const char *part;             /* "scores", "values" of attention; else NULL */
    const mw_tensor *operands[2]; /* whose elements are multiplied */
    const mw_tensor *start, *mask,
        *query; /* or NULL; the last two only if the first operand is the softmax of scores */
    int rank;
    int64_t extent[MW__RANGE_SUMS_RANK];  /* of the results */
    int64_t step[2][MW__RANGE_SUMS_RANK]; /* of each operand, from one result to the next */
    int64_t start_step[MW__RANGE_SUMS_RANK], mask_step[MW__RANGE_SUMS_RANK];
    int64_t depth, depth_step[2]; /* products of one result, at most */
    int64_t results;
    mw__conv conv;
    int64_t channels[2]; /* of one group: of the results, of what is summed */
} mw__range_sums;

/* The numbers of all that a mw__range_sums names, rounded to fp16; `mask` in fp32. */
typedef struct mw__range_sums_data {
    const float *operands[2], *start, *mask, *query;
} mw__range_sums_data;

/* The sums of the operation; 0 if it has none, or not of floating-point numbers with known extents. */
int mw__range_sums_read(const mw__op *op, mw__range_sums out[MW__RANGE_SUMS_PARTS]);
/* The operands of result `index`, in pairs; returns how many there are. x, y: room for `depth` */
int64_t mw__range_sums_gather(const mw__range_sums *sums, const mw__range_sums_data *data, int64_t index, float *x,
                              float *y);
/* What result `index` begins with. */
float mw__range_sums_start(const mw__range_sums *sums, const mw__range_sums_data *data, int64_t index);
/* Products that are computed for one result. */
int64_t mw__range_sums_cost(const mw__range_sums *sums);

/* ---- products_count.c ---- */

#define MW__COUNT_BITS 64

/* Counts so far. */
typedef struct mw__range_product_count {
    mw_range_product *out;
    bool drops;
    size_t missing[MW__COUNT_BITS]; /* vanished products by the power of 2 that brings them back */
    double error, size;             /* sums of squares: of the differences to the exact sums, and of these */
} mw__range_product_count;

/* One result. */
void mw__range_product_add(mw__range_product_count *count, const float *x, const float *y, int64_t pairs, float start);
/* Fills what follows from the counts. `largest`: of each operand, absolute. */
void mw__range_product_finish(mw__range_product_count *count, const double largest[2]);
/* Below 0 if `a` is worse than `b`. */
int mw__range_product_order(const mw_range_product *a, const mw_range_product *b);

/* ---- products.c ---- */

/* A run of a program whose values can be read. */
typedef struct mw__range_product_source {
    const mw_graph *graph; /* that is measured */
    mw_program *program;
    const mw__compare_value *values;
    mw_range *const *items; /* of each value */
    size_t count;
    mw__arithmetic arithmetic;
} mw__range_product_source;

typedef struct mw__range_products mw__range_products;

/* Begins before the run and keeps the inputs that products read, which the run may write over.
 *  return  NULL with err set; freed with mw__range_products_end, NULL is fine */
mw__range_products *mw__range_products_begin(const mw__range_product_source *source, const mw_allocator *allocator,
                                             mw_error *err);
/* Counts after the run; the rows lie in the arena of the report. */
mw_status mw__range_products_count(mw__range_products *products, mw_ranges *out, mw_error *err);
void mw__range_products_end(mw__range_products *products);

/* ---- products_report.c ---- */

/* mw_ranges_info.loss_scale */
int mw__range_products_loss_scale(const mw_ranges *ranges);
/* The part of mw_ranges_print; the report has a profile. */
void mw__range_products_print(mw__text *text, const mw_ranges *ranges);

#endif

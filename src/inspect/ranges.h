/* Reports of ranges from inside: numbers of a tensor, and the copy in fp32 whose values are measured. */
#ifndef MW__INSPECT_RANGES_H
#define MW__INSPECT_RANGES_H

#include "runtime/compare/compare.h"

#include <millwright/ranges.h>

struct mw_ranges {
    const mw_allocator *allocator;
    mw__arena arena; /* all below */
    mw_range *items;
    const mw_range **order; /* the worst first */
    size_t count;
    const char *profile; /* whose products were asked for, or NULL */
    bool fixed_point;    /* it has them */
    mw_range_product *products;
    const mw_range_product **product_order;
    size_t product_count;
    double loss_scale;        /* of the step that was measured; 0 = a graph */
    double gradient_headroom; /* the least of all results of a step's backward pass, bits */
};

/* ---- range.c ---- */

/* Fills what is said of elements; the rest of *out stays. */
void mw__range_measure(const double *x, size_t count, mw_range *out);
/* The same of a constant. */
void mw__range_measure_constant(const mw__payload *payload, mw_range *out);
/* Below 0 if `a` is worse than `b`: more that overflows, then more that is lost, then less headroom. */
int mw__range_order(const mw_range *a, const mw_range *b);

/* ---- ranges_wide.c ---- */

/* A mw__clone_rule and a mw__clone_dtype for a copy in fp32 of what is fp16. */
bool mw__ranges_widen(void *user, mw__clone *clone, const mw__op *op);
mw_dtype mw__ranges_wide(void *user, const mw_tensor *value);

#endif

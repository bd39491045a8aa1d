/* Reports of ranges from inside: numbers of a tensor, and a report of a graph that need not be the user's. */
#ifndef MW__RUNTIME_COMPARE_RANGES_H
#define MW__RUNTIME_COMPARE_RANGES_H

#include "runtime/compare/compare.h"

#include <millwright/ranges.h>

struct mw_ranges {
    const mw_allocator *allocator;
    mw__arena arena; /* all below */
    mw_range *items;
    const mw_range **order; /* the worst first */
    size_t count;
};

/* ---- range.c ---- */

/* Fills what is said of elements; the rest of *out stays. */
void mw__range_measure(const double *x, size_t count, mw_range *out);
/* The same of a constant. */
void mw__range_measure_constant(const mw__payload *payload, mw_range *out);
/* Below 0 if `a` is worse than `b`: more that overflows, then more that is lost, then less headroom. */
int mw__range_order(const mw_range *a, const mw_range *b);

/* ---- ranges.c ---- */

typedef struct mw__ranges_request {
    const mw_graph *graph;             /* its main is measured */
    const mw_compile_options *compile; /* the engine's CPU */
    mw__compare_fill *fill;
    void *user;
    const mw_allocator *allocator; /* of the report; NULL = the C library's heap */
} mw__ranges_request;

/* As mw_ranges_create. */
mw_ranges *mw__ranges(const mw__ranges_request *request, mw_error *err);

#endif

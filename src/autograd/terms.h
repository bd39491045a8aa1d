/* A scalar as a linear combination of means: what an evaluation can put together from single examples, whatever the
 * batch was. */
#ifndef MW__AUTOGRAD_TERMS_H
#define MW__AUTOGRAD_TERMS_H

#include "graph/transform/batch/batch.h"

typedef enum mw__term_kind {
    MW__TERM_EXAMPLES, /* the mean over all elements of a value whose rows are those of single examples */
    MW__TERM_FIXED,    /* the mean over all elements of a value that depends on no example */
    MW__TERM_QUOTIENT, /* above / below, which are sums of the two kinds before: a weighted mean */
    MW__TERM_OTHER,    /* a scalar of which nothing better is known than its value for a batch */
} mw__term_kind;

/* A scalar without examples that multiplies a term, such as a weight that is learned. */
typedef struct mw__term_factor {
    mw_tensor *value;
    bool divides;
    size_t slot; /* for the user of the list */
    struct mw__term_factor *next;
} mw__term_factor;

/* What the mean is of: the elements, or as reduce_sum_square and reduce_l1_norm have it. */
typedef enum mw__term_of { MW__TERM_OF_ELEMENTS, MW__TERM_OF_SQUARES, MW__TERM_OF_MAGNITUDES } mw__term_of;

/* number * factors * the value that the kind names. */
typedef struct mw__term {
    mw__term_kind kind;
    double number;
    mw__term_factor *factors;
    mw_tensor *value;
    mw__term_of of;                 /* MW__TERM_EXAMPLES */
    struct mw__term *above, *below; /* MW__TERM_QUOTIENT */
    const mw__op *reason;           /* MW__TERM_OTHER: the operation that is not linear; NULL = an input */
    size_t slot;                    /* for the user of the list */
    struct mw__term *next;
} mw__term;

/* The scalar as the sum of the terms *out, in evaluation form; `table` is that of its function. In `arena`. */
mw_status mw__terms_make(mw__arena *arena, const mw__batch_rows *table, mw_tensor *scalar, mw__term **out,
                         mw_error *err);

/* Why a MW__TERM_OTHER is none of the others, as a part of a sentence; returns `buffer`. */
const char *mw__term_reason(const mw__batch_rows *table, const mw__term *term, char *buffer, size_t size);

#endif

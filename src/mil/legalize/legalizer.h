/* What the files legalize*.c share: the program that is made legal, and what is known of its values. Half means: an
 * int32 value of the source that becomes fp16. */
#ifndef MW__MIL_LEGALIZE_LEGALIZER_H
#define MW__MIL_LEGALIZE_LEGALIZER_H

#include "graph/transform/clone/clone.h"
#include "mil/legalize/legality.h"
#include "mil/legalize/numbers/narrow.h"

/* What is found out about a value of the source before cloning. */
typedef struct mw__value_facts {
    const mw__op *user;  /* the first operation that reads it, for messages */
    const char *arg;     /* and as what */
    bool default_only;   /* every use is a constant argument for which this is MIL's default */
    bool factor_only;    /* every use is an argument of the class FACTOR that fp16 would round */
    bool used_with_half; /* some use combines it with a half value */
    bool needs_integer;  /* some use does not */
    mw_tensor *half;     /* fp16 copy of an int32 value, made when first wanted */
    mw_tensor *exact;    /* the fp32 literal of a factor that has other uses, likewise */
} mw__value_facts;

typedef struct mw__legalizer {
    const mw_graph *from;
    mw_graph *to;
    mw__legality legality;
    mw__value_facts *facts; /* by value id */
    bool *half;             /* likewise */
    mw__pass_log *log;      /* or NULL */
    bool strict;            /* what fp16 does not hold is refused */
    bool unchecked;         /* what was made is not held to the rows */
    mw__narrow_flow flow;
    mw__narrowing **narrowed; /* the end of the list of constants that were replaced; NULL = it is not wanted */
} mw__legalizer;

/* True for arguments of the class T or U. */
bool mw__half_is_t(const mw__arg_row *row);
/* What the constant `value` holds, `from`, as a constant in fp16: what fp16 does not hold is replaced, and listed. */
mw_tensor *mw__half_of_payload(mw__legalizer *legalizer, const mw_tensor *value, const mw__payload *from);
/* The literal `source` as a const of its own in `to`, in its own type. */
mw_tensor *mw__half_literal(mw_graph *to, const mw_tensor *source);
/* True if the operand is a number that an extent follows from, in fp32, and fp16 would round it. */
bool mw__extent_is_rounded_factor(const mw__op *op, size_t slot);
/* True if a range_1d has constant numbers that fp16 counts to. */
bool mw__half_counts_range(const mw__op *op);

#endif

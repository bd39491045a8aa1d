/* What the files legalize*.c share: the program that is made legal, and what is known of its values. Half means: an
 * int32 value of the source that becomes fp16. */
#ifndef MW__MIL_LEGALIZER_H
#define MW__MIL_LEGALIZER_H

#include "graph/transform/clone.h"
#include "mil/legality.h"
#include "mil/narrow.h"

/* What is found out about a value of the source before cloning. */
typedef struct mw__value_facts {
    const mw__op *user;  /* the first operation that reads it, for messages */
    const char *arg;     /* and as what */
    bool default_only;   /* every use is a constant argument for which this is MIL's default */
    bool used_with_half; /* some use combines it with a half value */
    bool needs_integer;  /* some use does not */
    mw_tensor *half;     /* fp16 copy of an int32 value, made when first wanted */
} mw__value_facts;

typedef struct mw__legalizer {
    const mw_graph *from;
    mw_graph *to;
    mw__legality legality;
    mw__value_facts *facts; /* by value id */
    bool *half;             /* likewise */
    unsigned kept;          /* rewrites that are left out: 1 << mw__rewrite_switch */
    bool strict;            /* what fp16 does not hold is refused */
    bool unchecked;         /* what was made is not held to the rows */
    mw__narrow_flow flow;
    mw__narrowing **narrowed; /* the end of the list of constants that were replaced; NULL = it is not wanted */
} mw__legalizer;

/* True for arguments of the class T or U. */
bool mw__half_is_t(const mw__arg_row *row);
/* True if a range_1d has constant numbers that fp16 counts to. */
bool mw__half_counts_range(const mw__op *op);

#endif

/* What may enter a port, a state or a caller's array: the one rule, for every way by which values come. */
#ifndef MW__GRAPH_VALUES_VALUES_H
#define MW__GRAPH_VALUES_VALUES_H

#include "base/text/error.h"
#include "graph/ir/ir_types.h"

/* Values on their way: data[i] * scale + offset (a scale of 0 means 1). */
typedef struct mw__values {
    const void *data;
    mw_dtype dtype;
    size_t count;
    float scale, offset;
} mw__values;

/* Where they go. */
typedef struct mw__port_rule {
    mw_dtype dtype;      /* of the memory */
    mw_dtype declared;   /* in the user's graph: an I32 label stays integral on a device with fp16 ports */
    bool finite;         /* NaN and infinities are refused, too */
    bool whole;          /* whole numbers stay what they are: the program makes integers of them */
    int64_t index_limit; /* as in mw_tensor */
    int64_t index_ignored;
    mw__index_use index_use;
} mw__port_rule;

/* The first value that may not enter. */
typedef struct mw__refusal {
    mw_status status;
    size_t element; /* `count` if it is not about one of them */
    char text[200]; /* "is 3001, which fp16 does not have (...); hint" */
} mw__refusal;

/* The rule:
 *  - into what is declared or stored as an integer goes an integer that it holds exactly, and, if it indexes something,
 *    one in 0 .. index_limit - 1 or the ignored one;
 *  - integers whose scale and offset are whole stay what they are: a floating-point memory that would round one
 *    refuses it, as it does any whole number that the program casts to an integer (`whole`). Any other number is
 *    rounded once, to nearest;
 *  - a finite value stays finite; NaN and infinities pass unless `finite` is set.
 * Writes nothing; *refusal is filled on failure.
 *  errors  MW_ERROR_DTYPE for types without conversion (F32, F16, I32, I16, U16, I8, U8, BOOL; I64 and F64 from and to
 *          the host, U32 and U64 from it); MW_ERROR_NUMERIC for what is not finite or becomes infinite;
 *          MW_ERROR_ARGUMENT for the rest */
mw_status mw__values_check(const mw__values *values, const mw__port_rule *rule, mw__refusal *refusal);

/* Checks, then converts: on failure `out` is as before. */
mw_status mw__values_enter(void *out, const mw__values *values, const mw__port_rule *rule, mw__refusal *refusal);

/* The types that values may come in. */
bool mw__is_host_type(mw_dtype dtype);

#endif

/* The rewrites of passes/rewrites.def as this room has them: decompose.h writes operations that the device refuses from
 * others, split.h values that it cannot hold in parts, then legalize.h gives the program the device's types, and fit.h
 * what one chip lacks. */
#ifndef MW__MIL_LEGALIZE_REWRITES_H
#define MW__MIL_LEGALIZE_REWRITES_H

#include "mil/legalize/fit.h"
#include "mil/legalize/legalizer.h"
#include "mil/legalize/split.h"
#include "passes/rewrite.h"

/* Of one of the passes decompose, parts, fp16, fit, recognize and absorb. */
mw__rewrites mw__mil_rewrites(mw__rule_id pass, bool half_ports);

/* The next rule from *at on that stands for that operation, refused as it is, on some condition; NULL = no more. */
const mw__rule *mw__mil_rewrite_wanting(const mw__op *op, size_t *at);

/* The functions of the rows, in decompose*.c, split*.c, legalize_*.c, fit*.c and in mil/join. */
#define MW_REWRITE(id, pass, flags, roots, guard, emit, reason, wants)                                                 \
    mw__rewrite_guard guard;                                                                                           \
    mw__rewrite_emit emit;
#include "passes/rewrites.def"

#endif

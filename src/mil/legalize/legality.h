/* Refusing by the rows of rules; used by legalize.c and by mw__mil_check_legal. */
#ifndef MW__MIL_LEGALIZE_LEGALITY_H
#define MW__MIL_LEGALIZE_LEGALITY_H

#include "mil/legalize/legalize.h"
#include "rules/legality.h"

/* The rows for one operation and those in its blocks. */
mw_status mw__legalizer_check_op(const mw__legality *legality, const mw__op *op, mw_error *err);

/* The rows for the inputs and outputs of a function, and for all of it. */
mw_status mw__legalizer_check_ports(const mw__legality *legality, const mw__function *function, mw_error *err);

#endif

/* The last of the clones by rewrites, of a program in the device's types: what the chip that is named lacks,
 * from what it has. Which operations that is say the rows of rules that name the rewrite; where no chip is named
 * nothing is changed. */
#ifndef MW__MIL_LEGALIZE_FIT_H
#define MW__MIL_LEGALIZE_FIT_H

#include "mil/legalize/decompose.h"

/* Copies main of `from` into the fresh graph `to`; untouched, and *out_any false, if no row applies. */
mw_status mw__mil_fit(const mw_graph *from, mw_graph *to, const mw__legality *legality, mw__pass_log *log,
                      bool *out_any, mw_error *err);

#endif

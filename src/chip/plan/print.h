/* What the writers of plans share. */
#ifndef MW__CHIP_PLAN_PRINT_H
#define MW__CHIP_PLAN_PRINT_H

#include "base/text/text.h"
#include "chip/plan/plan.h"

/* MW_OK if there is a plan to write. */
mw_status mw__chip_plan_writes(const mw_chip_plan *plan, const char *call, mw_error *err);
/* A number that is not negative, with up to three decimals, in any locale. */
void mw__chip_plan_put_fixed(mw__text *text, double value, int decimals);
/* "12 B", "3.1 KB", "1.50 MB". */
void mw__chip_plan_put_bytes(mw__text *text, int64_t bytes);

#endif

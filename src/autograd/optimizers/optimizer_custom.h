/* The optimizer whose row is the user's: what optimizer.c asks of a rule (millwright/optimizer_custom.h). */
#ifndef MW__AUTOGRAD_OPTIMIZERS_OPTIMIZER_CUSTOM_H
#define MW__AUTOGRAD_OPTIMIZERS_OPTIMIZER_CUSTOM_H

#include "autograd/optimizers/optimizer_rows.h"
#include "base/memory/alloc.h"

/* What needs no parameter; MW_OK for a built-in one. */
mw_status mw__optimizer_rule_check(const mw__optimizer *optimizer, mw_error *err);
/* Everything but what `user` points to, with its scalars listed. */
const mw_optimizer_rule *mw__optimizer_rule_copy(const mw_optimizer_rule *rule, mw__arena *arena, mw_error *err);
void mw__optimizer_rule_describe(const mw_optimizer_rule *rule, mw__text *text);

/* Asks the user; names are copied into the arena. */
mw_status mw__optimizer_rule_states(const mw_optimizer_rule *rule, const mw_update_parameter *parameter,
                                    mw__arena *arena, mw__optimizer_states *out, mw_error *err);
double mw__optimizer_rule_number(const mw_optimizer_rule *rule, size_t index, const mw_update_moment *moment);
mw_status mw__optimizer_rule_apply(const mw__optimizer_request *request, mw_tensor **out_p, mw_tensor **out_state,
                                   mw_error *err);

#endif

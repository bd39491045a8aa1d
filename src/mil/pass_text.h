/* Passes over graphs: what is told of them (passes/log.h), with their text in MIL. */
#ifndef MW__MIL_PASS_TEXT_H
#define MW__MIL_PASS_TEXT_H

#include "passes/log.h"

/* Around a pass that makes a graph of another, of whose main operations are counted. */
void mw__mil_begin_pass(mw__pass_run *run, mw__pass_log *log, mw__rule_id id, const mw_graph *from);
/* broken: the invariant that does not hold; or NULL. */
mw_status mw__mil_end_pass(mw__pass_run *run, const mw_graph *made, bool changed, const char *broken, mw_error *err);

#endif

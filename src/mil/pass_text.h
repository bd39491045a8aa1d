/* Passes over graphs: what is told of them (passes/log.h), with their text in MIL. */
#ifndef MW__MIL_PASS_TEXT_H
#define MW__MIL_PASS_TEXT_H

#include "passes/invariant.h"
#include "passes/log.h"

/* Around a pass that makes a graph of another, of whose main operations are counted. */
void mw__mil_begin_pass(mw__pass_run *run, mw__pass_log *log, mw__rule_id id, const mw_graph *from);
/* What must hold of main of the graph is asked only where somebody listens. */
typedef struct mw__pass_promise {
    mw__invariant *holds;
    const char *name;
    const mw__device_traits *device;
} mw__pass_promise;
mw_status mw__mil_end_pass(mw__pass_run *run, const mw_graph *made, bool changed, const mw__pass_promise *promise,
                           mw_error *err);

#endif

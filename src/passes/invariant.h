/* What holds of a function after a pass: the invariants of pipeline.def, checked where somebody listens. */
#ifndef MW__PASSES_INVARIANT_H
#define MW__PASSES_INVARIANT_H

#include "graph/ir/device_traits.h"

typedef bool mw__invariant(const mw__function *function, const mw__device_traits *device);

/* Nothing that could be told from outside. */
mw__invariant mw__holds_anything;
/* No value is a state, and no operation reads or writes one. */
mw__invariant mw__holds_no_states;
/* For a device with ports of fp16: no branch, no loop, no list. */
mw__invariant mw__holds_flat;
/* That, and its ports are no fp32, int32 or bool. */
mw__invariant mw__holds_half;

#endif

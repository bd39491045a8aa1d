/* The form of a program before all others: states of a program that was read as resident ports, which every device
 * wants, and no branches, loops and lists for devices that want none. */
#ifndef MW__MIL_LEGALIZE_FLAT_FORM_H
#define MW__MIL_LEGALIZE_FLAT_FORM_H

#include "graph/ir/device_traits.h"
#include "passes/log.h"

/* States are inputs that start at zero and outputs "<name>_next", to be shared with them. */
typedef struct mw__flat_form {
    mw_graph *graph; /* NULL: the source is in that form */
    bool flattened;
    const char **states, **next; /* in the graph's arena */
    size_t state_count;
} mw__flat_form;

/* The passes of the stage FORM in passes/pipeline.def. Freed with mw__flat_form_deinit, also after a failure.
 *  log     or NULL
 *  errors  those of mw_graph_flatten, saying that the ANE runs no loops */
mw_status mw__flat_form_make(const mw_graph *graph, const mw__device_traits *device, mw__pass_log *log,
                             mw__flat_form *out, mw_error *err);
void mw__flat_form_deinit(const mw__flat_form *form);

#endif

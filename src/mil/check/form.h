/* What is asked about a graph: a copy whose values have names, and the form that mw_program_create would write of it.
 */
#ifndef MW__MIL_CHECK_FORM_H
#define MW__MIL_CHECK_FORM_H

#include "base/visible.h"
#include "mil/legalize/flat_form.h"
#include "mil/legalize/legal_form.h"
#include "rules/legality.h"

/* A copy of a function as it is declared, its values named as its text would name them. Weights whose files were not
 * read are made up. NULL with err set; freed with mw__graph_free. */
MW__SIBLING mw_graph *mw__chip_copy_named(const mw_graph *graph, const char *function_name,
                                          const mw_allocator *allocator, mw_error *err);

typedef struct mw__chip_form {
    mw__legal_form legal; /* legal.graph is the form */
    /* private */
    const mw_allocator *allocator;
    const mw__legality *legality;
    mw__flat_form flat;
    mw_graph *specialized;
} mw__chip_form;

/* Of a graph of mw__chip_copy_named, which must outlive it. What no rewrite stands for is left in.
 *  errors  those of mw__legal_form_make
 * Freed with mw__chip_form_deinit, also after a failure. */
MW__SIBLING mw_status mw__chip_form_make(mw__chip_form *f, const mw_graph *source, const mw__legality *legality,
                                         const mw_allocator *allocator, mw_error *err);
MW__SIBLING void mw__chip_form_deinit(mw__chip_form *f);

#endif

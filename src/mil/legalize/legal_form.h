/* A program in the form that a device accepts: one clone after the other, the passes of the stage TEXT in
 * passes/pipeline.def. */
#ifndef MW__MIL_LEGALIZE_LEGAL_FORM_H
#define MW__MIL_LEGALIZE_LEGAL_FORM_H

#include "mil/legalize/legalize.h"
#include "rules/arithmetic.h"

typedef struct mw__legal_options {
    const mw__device_traits *device;
    const mw__chip_row *chip;  /* NULL = every chip */
    mw__pass_log *log;         /* or NULL */
    mw__arithmetic arithmetic; /* of the chip, for what it makes of large numbers */
    bool strict;               /* refuse constants that fp16 does not hold */
    bool unchecked;            /* what no rewrite stands for is left in, for whoever lists it */
    const mw_allocator *allocator;
} mw__legal_options;

enum { MW__LEGAL_FORMS = 5 };

typedef struct mw__legal_form {
    const mw_graph *graph;            /* the last of the forms; the source, if it was in form; NULL after a failure */
    struct mw__narrowing *narrowed;   /* constants that were replaced (narrow.h) and operations that pass
                                       * the range of fp16 (overflow.h); they live as long as this */
    mw_graph *forms[MW__LEGAL_FORMS]; /* private */
} mw__legal_form;

/* Makes `out` of main of `from`: integers of one width, operations that the device refuses from others, axes and
 * integers in parts, its types (legalize.h), then what the chip lacks (fit.h). The source must stay: it is the form, if
 * no pass had anything to do.
 *  errors  those of mw__mil_legalize_with; MW_ERROR_UNSUPPORTED naming operation, rule, chip and source
 * Freed with mw__legal_form_deinit, also after a failure. */
mw_status mw__legal_form_make(const mw_graph *from, const mw__legal_options *options, mw__legal_form *out,
                              mw_error *err);
void mw__legal_form_deinit(mw__legal_form *form);

#endif

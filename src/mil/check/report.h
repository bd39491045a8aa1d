/* Reports of what a chip refuses of a program: making them, and what they are made of. mw_chip_report_create of the
 * library beside the core shows them to users; a program asks for the reasons of its placement. */
#ifndef MW__MIL_CHECK_REPORT_H
#define MW__MIL_CHECK_REPORT_H

#include "base/visible.h"
#include "rules/legality.h"

#include <millwright/chip.h>

/* A finding, and what tells it from others: in the program as it stood and in the form that was made of it the same
 * rule holds at the same place. */
typedef struct mw__finding {
    mw_chip_finding public;
    struct mw__finding *next;
    bool matched;
} mw__finding;

typedef struct mw__findings {
    mw__finding *first, **end; /* end: where the next one goes; NULL at first */
    size_t count;
} mw__findings;

struct mw_chip_report {
    const mw_allocator *allocator;
    mw__arena arena; /* of all strings */
    const mw__chip_row *chip;
    mw__judge judge;
    const mw_chip_finding **findings;
    size_t count;
};

/* check.c: as mw_chip_report_create with options that are given; `call` is the function in messages. */
MW__SIBLING mw_chip_report *mw__chip_report_create(const mw_graph *graph, mw_chip chip,
                                                   const mw_chip_check_options *options, const char *call,
                                                   mw_error *err);
/* NULL is fine. */
MW__SIBLING void mw__chip_report_destroy(mw_chip_report *report, const char *call);

/* Appends a finding with strings of its own; `message` is copied too, the row's strings are not. */
mw__finding *mw__findings_add(mw__findings *findings, mw__arena *arena, const mw__legality_row *row,
                              const char *message, mw_error *err);

/* check_walk.c: all that holds in a function, blocks included, as its values are named. */
mw_status mw__chip_walk(mw__findings *findings, mw__arena *arena, const mw__legality *legality,
                        const mw__function *function, mw_error *err);

#endif

/* Reports of mw_chip_report_create: what they are made of, and adding to them. */
#ifndef MW__MIL_CHECK_REPORT_H
#define MW__MIL_CHECK_REPORT_H

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
    const mw_chip_finding **findings;
    size_t count;
};

/* Appends a finding with strings of its own; `message` is copied too, the row's strings are not. */
mw__finding *mw__findings_add(mw__findings *findings, mw__arena *arena, const mw__legality_row *row,
                              const char *message, mw_error *err);

/* check_walk.c: all that holds in a function, blocks included, as its values are named. */
mw_status mw__chip_walk(mw__findings *findings, mw__arena *arena, const mw__legality *legality,
                        const mw__function *function, mw_error *err);

#endif

/* What the answers to questions settle, together: the switches of src/rules/arithmetic.def. */
#ifndef TESTS_ANE_SUMMARY_H
#define TESTS_ANE_SUMMARY_H

#include "rules/arithmetic.h"

#include <stdio.h>

enum { ANE_SUMMARY_ITEM = 64 };

typedef struct ane_summary {
    struct {
        size_t count[2];                 /* answers that say off, on */
        char first[2][ANE_SUMMARY_ITEM]; /* the first question that says so */
    } switches[MW__SWITCH_COUNT];
    size_t settled;
} ane_summary;

/* Takes "..-> product_ceiling on, product_drops off; ..". */
void ane_summary_add(ane_summary *summary, const char *item, const char *detail);
/* Each switch, and the profile of a chip that is nearest; nothing without answers. */
void ane_summary_put(const ane_summary *summary, FILE *report);

#endif

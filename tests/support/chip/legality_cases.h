/* For every row of rules/legality*.c a program that trips it, and one that just does not. */
#ifndef TESTS_SUPPORT_CHIP_LEGALITY_CASES_H
#define TESTS_SUPPORT_CHIP_LEGALITY_CASES_H

#include <millwright/inspect.h>

typedef struct legality_case {
    const char *rule;
    mw_chip chip;       /* on which it trips */
    const char *inputs; /* of the function; the result is y */
    const char *trips, *inside;
    const char *inside_inputs; /* NULL = inputs */
} legality_case;

/* NULL beyond the last; all of them, and those of legality_cases_layers.c and legality_cases_values.c. */
const legality_case *legality_case_at(size_t index);
const legality_case *legality_case_layers(size_t index);
const legality_case *legality_case_values(size_t index);
/* The whole text, in `buffer`. */
const char *legality_text(const char *inputs, const char *body, char *buffer, size_t size);

#endif

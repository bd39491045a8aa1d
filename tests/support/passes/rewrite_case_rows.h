/* The rows of rewrite_cases.h, a file for each pass. */
#ifndef TESTS_SUPPORT_PASSES_REWRITE_CASE_ROWS_H
#define TESTS_SUPPORT_PASSES_REWRITE_CASE_ROWS_H

#include "support/passes/rewrite_cases.h"

/* Multiples of a step, both ends too. */
#define DRAWN(name, from, to, by)                                                                                      \
    {                                                                                                                  \
        .input = (name), .low = (from), .high = (to), .step = (by)                                                     \
    }

typedef struct rewrite_case_group {
    const rewrite_case *rows;
    size_t count;
} rewrite_case_group;

extern const rewrite_case_group rewrite_cases_decompose, rewrite_cases_parts, rewrite_cases_fp16, rewrite_cases_fit,
    rewrite_cases_join;

#endif

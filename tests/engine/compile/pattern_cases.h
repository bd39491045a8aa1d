/* Small graphs for every row of passes/patterns.def: one at least where the pattern is found, and those where it is
 * not, with the reason. */
#ifndef TESTS_ENGINE_COMPILE_PATTERN_CASES_H
#define TESTS_ENGINE_COMPILE_PATTERN_CASES_H

#include <millwright/millwright.h>

/* What it has of AVX-512. */
typedef enum pattern_need {
    PATTERN_NEEDS_NOTHING,
    PATTERN_NEEDS_LEVEL, /* the row has that level, and declines before it asks its kernel: that runs anywhere */
    PATTERN_NEEDS_KERNEL /* the kernel says whether it takes this, in code of that set */
} pattern_need;

typedef struct pattern_case {
    mw_tensor *(*build)(mw_graph *graph);
    const char *pattern;  /* the row */
    const char *declined; /* why; NULL = it is found */
    const char *off, *at; /* the setting that turns it off, and its value there; NULL = none */
    pattern_need need;
} pattern_case;

/* NULL past the last. */
const pattern_case *pattern_case_at(size_t index);
/* Its graph, whose outputs are "result" and, of a gradient, "y". */
mw_graph *pattern_case_graph(const pattern_case *c);

#endif

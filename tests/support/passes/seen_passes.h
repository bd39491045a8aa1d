/* What a compilation tells of its passes (mw_passes.report), kept by name: whatever a pass does several times, of
 * several functions, is added up. */
#ifndef TESTS_SUPPORT_PASSES_SEEN_PASSES_H
#define TESTS_SUPPORT_PASSES_SEEN_PASSES_H

#include "passes/rule.h"

#include <millwright/passes.h>

typedef struct seen_passes {
    bool ran[MW__RULE_COUNT], changed[MW__RULE_COUNT];
    size_t hits[MW__RULE_COUNT];
    char *text[MW__RULE_COUNT]; /* the last; NULL = none */
    const char *broken;         /* the pass whose invariant did not hold; NULL = none */
} seen_passes;

/* mw_passes.report; user is a seen_passes, which was zero. */
void seen_report(void *user, const mw_pass *pass);
/* True if a pass gave another text than in the other compilation, or one of them none. */
bool seen_differ(const seen_passes *a, const seen_passes *b);
void seen_deinit(seen_passes *seen);

#endif

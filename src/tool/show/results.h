/* What a model gave, in memory. */
#ifndef MW__TOOL_SHOW_RESULTS_H
#define MW__TOOL_SHOW_RESULTS_H

#include "tool/tool.h"

typedef struct tool_results {
    mw_result *results; /* [count], with their data owned */
    mw_shape *shapes;   /* [count] of all examples */
    size_t count;
} tool_results;

/* Room for every result of so many examples, as fp32. */
bool tool_results_make(tool_results *results, const mw_model *model, int64_t examples, mw_error *err);
void tool_results_free(tool_results *results);
/* Softmax of [count], in place. */
void tool_soften(float *row, int64_t count);

#endif

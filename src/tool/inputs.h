/* What models are fed: numbers that are drawn, or those of files. */
#ifndef MW__TOOL_INPUTS_H
#define MW__TOOL_INPUTS_H

#include "tool/tool.h"

typedef struct tool_inputs {
    mw_feed *feeds; /* [count], with their names and data owned */
    size_t count;
    int64_t examples; /* that the files have; 0 = they do not say */
    bool is_wide;     /* numbers are kept as fp64: something is subtracted before fp32 rounds them */
} tool_inputs;

/* Reads the values of --input, NAME=FILE, NAME=FILE:TENSOR or NAME=NUMBER. false with call->err set, or after a
 * complaint. */
bool tool_inputs_read(tool_inputs *inputs, const char **given, const mw_model *model, const tool_call *call);
/* Draws what is missing, for so many examples: multiples of 1/256 in [-2, 2), small indices. */
bool tool_inputs_draw(tool_inputs *inputs, const mw_model *model, int64_t examples, uint64_t seed, mw_error *err);
/* The same for a graph, in its own shapes. */
bool tool_inputs_draw_graph(tool_inputs *inputs, const mw_graph *graph, uint64_t seed, mw_error *err);
/* Draws every input of a program. */
mw_status tool_draw_ports(mw_program *program, uint64_t seed, mw_error *err);
void tool_inputs_free(tool_inputs *inputs);
mw_batch tool_inputs_batch(const tool_inputs *inputs);

#endif

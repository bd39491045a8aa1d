/* The model that a command is about: options by which models are read and run, shared by the commands. */
#ifndef MW__TOOL_SOURCE_H
#define MW__TOOL_SOURCE_H

#include "tool/tool.h"

/* Options of reading: --shape, --extent, --function. */
extern const tool_option tool_reading_options[];
/* Options of running: --device, --profile, --threads, --batch, --cache. */
extern const tool_option tool_running_options[];
/* --seed, where something is drawn. */
extern const tool_option tool_drawing_options[];

/* What both say; false after a complaint. */
bool tool_compile_options(mw_compile_options *out);
/* Whether --profile has an effect, on a device that is the CPU unless it is given; false after a complaint. */
bool tool_check_device(void);
/* Reads a model; without `compiled` to look at only.
 *  return  NULL with err set, or after a complaint, which `*out_usage` tells */
mw_model *tool_open_model(const char *path, bool compiled, const tool_call *call, bool *out_usage);
/* The same for running, at this batch unless --batch says another; at that of the file if the model cannot be brought
 * to it. */
mw_model *tool_open_model_batched(const char *path, long long batch, const tool_call *call, bool *out_usage);
/* From here on models are read as they are: --shape, --extent and --function are already in the file. */
void tool_source_as_written(void);
/* The graph of the model that the arguments name, as tool_model_graph.
 *  out_code  how the command ends if there is none: TOOL_FAILED or TOOL_USAGE */
mw_graph *tool_open_graph(const tool_call *call, int *out_code);
/* Its graph with the shapes of the options: a copy for those with `?` extents that have a shape or a default, else a
 * copy as it stands. Owned by the caller. */
mw_graph *tool_model_graph(const mw_model *model, const tool_call *call);
/* What models that were opened still need, once they are closed. */
void tool_source_free(void);
/* --device, NULL if it was not given; --batch, 0 if it was not given; --seed. */
const char *tool_device(void);
long long tool_batch(void);
unsigned long long tool_seed(void);
/* --shape as they were given. */
const mw_input_shape *tool_input_shapes(size_t *out_count);

#endif

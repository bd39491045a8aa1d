/* Where a model is, and what it says of itself. */
#ifndef MW__TOOL_MODEL_TEXT_H
#define MW__TOOL_MODEL_TEXT_H

#include <millwright/model.h>

/* The path, or RUN/model for the folder RUN of mw train, put into `out`. */
const char *tool_model_path(const char *path, char *out, size_t size);
/* What the model that was read from `path` says under a key, of its description, or else of the about.json of its run;
 * NULL if it says nothing. To be freed. */
char *tool_model_text(const mw_model *model, const char *path, const char *key);
/* Whether a file at `path` has a place for what a description says under a key: a netplist has none. */
bool tool_has_place(const char *path);

#endif

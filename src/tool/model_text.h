/* Where a model is, and what it says of itself. */
#ifndef MW__TOOL_MODEL_TEXT_H
#define MW__TOOL_MODEL_TEXT_H

#include <millwright/model.h>

/* What a model says of itself, besides "classes", DATA_OFFSETS_KEY and DATA_TABLE_KEY. What it answers: "classes",
 * "labels" or "values"; what its target is called; the fields of a table that it takes as they are, a name in each
 * line; the pictures that it takes: JSON with "height", "width", "channels", "channels_first", "fit", "crop", "reduce",
 * "blend", "background", and "scale", which a byte is multiplied with before "mean" is subtracted and "deviation"
 * divides, if they are there. */
#define TOOL_TASK_KEY    "mw.task"
#define TOOL_TARGET_KEY  "mw.target"
#define TOOL_FIELDS_KEY  "mw.fields"
#define TOOL_PICTURE_KEY "mw.picture"
#define TOOL_SOUND_KEY   "mw.sound" /* rate, length in samples, channels, place */

/* All of these keys. */
enum { TOOL_MODEL_KEYS = 8 };
extern const char *const tool_model_keys[TOOL_MODEL_KEYS];

/* The path, or RUN/model for the folder RUN of mw train, put into `out`. */
const char *tool_model_path(const char *path, char *out, size_t size);
/* What the model that was read from `path` says under a key, of its description, or else of the about.json of its run:
 * *out, to be freed; NULL if it says nothing. `run`: the folder whose about.json speaks for a model that says nothing
 * at all and is in no run; or NULL.
 *  errors  for an about.json that cannot be read, or has something else there */
bool tool_model_text(const mw_model *model, const char *path, const char *run, const char *key, char **out,
                     mw_error *err);

/* The description of a model with what only the about.json of its run says. */
typedef struct tool_description {
    mw_description described;
    mw_text_pair *pairs;
    char *texts[TOOL_MODEL_KEYS];
    bool is_longer; /* than that of the model */
} tool_description;

/* tool_description_free either way. */
bool tool_describe(tool_description *out, const mw_model *model, const char *path, mw_error *err);
void tool_description_free(tool_description *said);
/* mw_model_write of a model that was read from `from`, with all that is said of it. */
mw_status tool_write_model(const mw_model *model, const char *from, const char *path, mw_error *err);
/* Whether a file at `path` has a place for what a description says under a key: a netplist has none. */
bool tool_has_place(const char *path);

#endif

/* How data is opened: what data.c and data_encoded.c share. */
#ifndef MW__TOOL_TRAIN_DATA_OPENING_H
#define MW__TOOL_TRAIN_DATA_OPENING_H

#include "tool/train/data.h"

typedef struct opening {
    data_parts *out;
    config *c;
    const config_node *settings;
    const data_request *request;
    mw_error *err;
    const char **inputs; /* [input_count], owned: the list, not the names */
    size_t input_count;
    const char *target;
    char separator;
    bool header;
    bool channels_last; /* of pictures */
    bool is_wide;       /* numbers of tables are read as fp64 */
} opening;

/* ---- data.c ---- */

/* Sets the first error; false. */
bool data_fail(mw_error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* NULL if there is none. */
const mw_column *data_find_column(const mw_dataset *dataset, const char *name);
/* The names of the fields of a table. */
bool data_read_fields(opening *o);
/* A share of the training set goes to validation, unless there is a set of its own. */
bool data_split_validation(opening *o, mw_dataset *all);
/* Pictures moved, mirrored and changed at random; batches made ahead. */
bool data_prepare_pictures(opening *o);

/* ---- data_encoded.c ---- */

/* Whether an encoder turns the table into numbers; o->err may be set. */
bool data_wants_encoder(opening *o);
bool data_open_encoded(opening *o);

#endif

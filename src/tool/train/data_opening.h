/* How data is opened: what data.c and data_encoded.c share. */
#ifndef MW__TOOL_TRAIN_DATA_OPENING_H
#define MW__TOOL_TRAIN_DATA_OPENING_H

#include "tool/train/data.h"
#include "tool/train/pictures.h"
#include "tool/train/sounds.h"

enum { DATA_SPLIT_SEED = 1 };

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
    bool is_wide; /* numbers of tables are read as fp64 */
    pictures pictures;
    sounds sounds;
    char training_path[4200]; /* where the training set was opened */
    int64_t counts[2];        /* [part_count] how it was dealt out */
    size_t part_count;
    int64_t *learned; /* [learned_count] examples of a fold's training part, owned; NULL = there are no folds */
    int64_t learned_count;
    mw_divide_options divide; /* ..or divided; share 0 = it was not */
    int64_t *groups;          /* of `divide`, owned */
} opening;

/* ---- data.c ---- */

/* A label that has no name. -1 if it is none. */
int64_t data_label_at(const mw_feed *feed, size_t index);
/* Sets the first error; false. */
bool data_fail(mw_error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* The names of the fields of a table. */
bool data_read_fields(opening *o);
/* Pictures and sounds changed at random; batches made ahead. all: what was dealt out; NULL for what is no
 * folder of pictures. */
bool data_prepare_files(opening *o, const mw_dataset *all);

/* ---- data_tensors.c ---- */

/* Columns "x", "y", and those of the model's further inputs, by name. */
mw_dataset *data_open_tensors(opening *o, const char *path);

/* ---- data_folds.c ---- */

/* One fold is kept out for validation, with as much of each class as the others. */
bool data_split_folds(opening *o, const mw_dataset *all);

/* ---- data_split.c ---- */

/* A share of the training set goes to validation, unless there is a set of its own: at random, or as "split" says. */
bool data_split_validation(opening *o, mw_dataset *all);

/* ---- data_encoded.c ---- */

/* Whether an encoder turns the table into numbers; o->err may be set. */
bool data_wants_encoder(opening *o);
bool data_open_encoded(opening *o);

#endif

/* What is learned from: a path of any kind of data set that the library opens, in parts. */
#ifndef MW__TOOL_DATA_H
#define MW__TOOL_DATA_H

#include "tool/config.h"

#include <millwright/millwright.h>

enum { DATA_FIELDS_MAX = 4096 };

typedef struct data_parts {
    mw_dataset *training, *validation, *test; /* test NULL = none */
    mw_dataset *plain;                        /* the training part as it is stored, without augmentation */
    const mw_column *x, *y;                   /* of the training part */
    int64_t classes;                          /* 0 for values */
    bool validation_is_test;                  /* there is no validation set of its own */
    bool is_image;                            /* x holds pixels: [H, W] or [C, H, W] */
    char *fields[DATA_FIELDS_MAX];            /* of a table, owned */
    size_t field_count;
} data_parts;

/* Opens the data that settings ("data" of a recipe, may be NULL) and path say.
 *  has_classes  whether the target is the number or name of a class */
bool data_open(data_parts *data, config *c, const config_node *settings, const char *path, bool has_classes,
               mw_error *err);
/* The column "x" of every part gets another name. */
bool data_rename(data_parts *data, const char *name, mw_error *err);
void data_close(data_parts *data);

#endif

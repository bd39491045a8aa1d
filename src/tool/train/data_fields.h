/* The names of the fields of a table, before the library reads it: which are inputs depends on them. */
#ifndef MW__TOOL_TRAIN_DATA_FIELDS_H
#define MW__TOOL_TRAIN_DATA_FIELDS_H

#include <millwright/types.h>

#include <stdbool.h>
#include <stddef.h>

typedef struct data_fields {
    char **names; /* [count], owned */
    size_t count, room;
    bool has_arrays; /* a value of the first object is one */
} data_fields;

/* Of the first row of a CSV file; without a header the fields are called "0", "1", ..
 *  separator  one character */
bool data_fields_of_csv(data_fields *fields, const char *path, char separator, bool header, mw_error *err);
/* The keys of the first object of a file of JSON Lines. */
bool data_fields_of_jsonl(data_fields *fields, const char *path, mw_error *err);
void data_fields_free(data_fields *fields);

#endif

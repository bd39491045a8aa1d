/* Tables: columns of numbers and classes that grow row by row. csv.c and jsonl.c read the text, table.c keeps what it
 * says; data/table.c makes a data set of it. */
#ifndef MW__DATA_TABLE_TABLE_H
#define MW__DATA_TABLE_TABLE_H

#include "base/memory/alloc.h"
#include "base/memory/map.h"
#include <millwright/dataset_files.h>

/* What a column of mw_table_options has become. */
typedef struct mw__table_data {
    void *data;         /* [rows, width] of the column's dtype */
    size_t count, room; /* elements; room for so many */
    size_t width;       /* elements of a row; 0 = the first row will say */
    bool is_array;      /* a row is [width], not a scalar */
    mw__map numbers;    /* classes: word -> its number + 1 */
    const char **names; /* classes: by number; in the arena */
    size_t name_count, name_room;
} mw__table_data;

typedef struct mw__table {
    const mw_allocator *allocator;
    const char *path;
    const mw_table_column *asked;
    mw__table_data *columns; /* [column_count] */
    size_t column_count, rows;
    mw__arena arena;
} mw__table;

/* Where a value stands. */
typedef struct mw__table_place {
    size_t line, column; /* from 1 */
    const char *field;   /* NULL = none */
} mw__table_place;

mw_status mw__table_init(mw__table *table, const char *path, const mw_table_options *options, mw_error *err);
void mw__table_deinit(mw__table *table);

/* The name of field `index` of a column. */
const char *mw__table_field(const mw_table_column *column, size_t index);
size_t mw__table_field_count(const mw_table_column *column);

/* One value behind the last of a column: a word of a column of classes, a number of any other. */
mw_status mw__table_put(mw__table *table, size_t column, const char *text, size_t length, const mw__table_place *place,
                        mw_error *err);
mw_status mw__table_fail(const mw__table *table, const mw__table_place *place, mw_error *err, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
/* All columns have the values of one more row. */
mw_status mw__table_end_row(mw__table *table, const mw__table_place *place, mw_error *err);
/* Sorts classes; a table without rows is refused. */
mw_status mw__table_finish(mw__table *table, mw_error *err);

/* Both read into a table that was initialized. */
mw_status mw__table_read_csv(mw__table *table, const mw_table_options *options, mw_error *err);
mw_status mw__table_read_jsonl(mw__table *table, mw_error *err);

#endif

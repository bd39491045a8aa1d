/* Rows of a CSV or JSON Lines file, one after the other: the file is streamed through a buffer that holds the longest
 * row. decode.c makes UTF-8 of what the file has, form.c finds how it is written, csv.c and lines.c cut rows into
 * cells. */
#ifndef MW__DATA_RECORDS_RECORDS_H
#define MW__DATA_RECORDS_RECORDS_H

#include "base/file/file.h"
#include "base/memory/alloc.h"
#include "base/memory/map.h"
#include "base/text/text.h"
#include <millwright/table_encoder.h>

/* Of a row, in bytes of UTF-8, and in cells; keys of JSON Lines, which cost time in rows that have none of them; bytes
 * that are looked at to find how a file is written. */
enum {
    MW__RECORDS_BYTES_MAX = 1 << 26,
    MW__RECORDS_CELLS_MAX = 65536,
    MW__RECORDS_KEYS_MAX = 4096,
    MW__RECORDS_SAMPLE = 1 << 16
};

typedef enum mw__records_cell_kind {
    MW__RECORDS_TEXT,
    MW__RECORDS_MISSING, /* null, or a key that the object has not */
    MW__RECORDS_LIST,    /* an array of values: each is its text and a NUL */
    MW__RECORDS_NESTED   /* an object, or an array of something else */
} mw__records_cell_kind;

typedef struct mw__records_cell {
    const char *text; /* [length], until the next row is read */
    size_t length, line, column;
    mw__records_cell_kind kind;
} mw__records_cell;

/* The bytes of a file as UTF-8. */
typedef struct mw__records_source {
    const mw_allocator *allocator;
    const char *path;
    mw__file file;
    uint64_t begin, offset; /* of the first byte behind a mark, and of the next */
    mw_text_encoding encoding;
    unsigned char tail[4]; /* of a character that the last piece cut */
    size_t tail_size;
    char *text; /* [size], of which those before `at` are done with */
    size_t at, size, capacity;
    bool ended;
} mw__records_source;

typedef struct mw__records {
    mw__records_source source;
    mw_table_form form; /* found or given; none of it is 0 */
    bool is_lines;
    const char **names; /* [count] of the fields, in the arena */
    size_t count;
    mw__map by_name; /* name -> its number + 1 */
    mw__map repeats; /* name that came again -> the last number behind it */
    mw__arena arena;
    mw__records_cell *cells; /* [count], or more for a row that is too long */
    size_t cell_capacity;
    size_t line;      /* of the next row */
    mw__text texts;   /* of the cells of a JSON object */
    int64_t rows;     /* read so far */
    int64_t rows_max; /* a file with more has changed since they were counted; 0 = they are not */
} mw__records;

/* Opens a file and reads its header. `asked` NULL = all is found. mw__records_close either way. */
mw_status mw__records_open(mw__records *rows, const mw_allocator *allocator, const char *path,
                           const mw_table_form *asked, mw_error *err);
void mw__records_close(mw__records *rows);
/* The next row into rows->cells; *out_more is false behind the last. */
mw_status mw__records_next(mw__records *rows, bool *out_more, mw_error *err);
/* The number of a field; false if there is none. */
bool mw__records_find(const mw__records *rows, const char *name, size_t *out);
/* MW_ERROR_ARGUMENT: there is no such field, and which was meant. */
mw_status mw__records_no_field(const mw__records *rows, const char *name, mw_error *err);
/* MW_ERROR_FORMAT with file, line and field; NULL for no field, and for no cell. */
mw_status mw__records_fail(const mw__records *rows, const mw__records_cell *cell, const char *field, mw_error *err,
                           const char *format, ...) __attribute__((format(printf, 5, 6)));

/* MW_ERROR_FORMAT: the file is not what it was when it was read before. */
mw_status mw__records_changed(const mw__records *rows, mw_error *err);

/* ---- decode.c ---- */

/* Opens the file and tells its encoding, which `asked` may say. */
mw_status mw__records_source_open(mw__records_source *source, const mw_allocator *allocator, const char *path,
                                  mw_text_encoding asked, mw_error *err);
void mw__records_source_close(mw__records_source *source);
/* Appends more of the file to the text, and drops what is before `at` if that makes a place for it. */
mw_status mw__records_source_fill(mw__records_source *source, mw_error *err);
/* Begins the file again. */
mw_status mw__records_source_rewind(mw__records_source *source, mw_error *err);

/* ---- form.c ---- */

/* Finds what is 0 in the form by the begin of a CSV file. */
void mw__records_find_form(mw_table_form *form, const char *path, const char *sample, size_t size);

/* ---- csv.c ---- */

/* Cuts the next row into cells: `*out_count` of them, 0 at the end of the file. */
mw_status mw__records_read_csv(mw__records *rows, size_t *out_count, mw_error *err);

/* ---- lines.c ---- */

/* The fields are the keys of all objects in the sample. */
mw_status mw__records_list_keys(mw__records *rows, mw_error *err);
mw_status mw__records_read_line(mw__records *rows, bool *out_more, mw_error *err);

/* ---- rows.c ---- */

/* A field more; a name that is taken gets a number, an empty one is column_N. */
mw_status mw__records_add_field(mw__records *rows, const char *name, size_t length, mw_error *err);

#endif

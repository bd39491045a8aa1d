/* Predictions as rows: a table on a terminal, JSON, CSV, JSON Lines, or arrays. A format is a row of the table in
 * rows.c. Files appear whole or not at all; all but arrays are written as they come. */
#ifndef MW__TOOL_PREDICT_ROWS_H
#define MW__TOOL_PREDICT_ROWS_H

#include "base/file/file.h"
#include "base/text/json_write.h"
#include "base/text/text.h"
#include "tool/predict/answer.h"
#include "tool/tool.h"

/* What of an answer is written. */
typedef struct rows_settings {
    int64_t top;  /* classes of a row, the likeliest first */
    bool all;     /* the probability of every class, too */
    int64_t most; /* rows that are printed where there is no file */
} rows_settings;

struct rows_format;

typedef struct rows {
    const struct rows_format *format;
    const answer *answer;
    rows_settings settings;
    const char *path; /* NULL = standard output */
    mw_error *err;
    mw__file_writer file;
    mw__text text;        /* of what is not written yet */
    mw__json_writer json; /* of a line */
    mw__json_writer *out; /* of the command */
    int64_t count;
    int64_t *order;  /* [width] of the row at hand, by its numbers */
    float *kept;     /* arrays: [count, width] */
    size_t capacity; /* numbers in `kept` */
} rows;

/* One row. */
typedef struct rows_row {
    const char *name;
    const float *numbers; /* [width] */
} rows_row;

/* "FILE.csv", ..; NULL if no format has this ending. */
const struct rows_format *rows_find_format(const char *path);
/* "csv, jsonl or npz": what a path may end in. */
#define ROWS_ENDINGS ".csv, .jsonl or .npz"

/* path  NULL = standard output, as text or into call->json. rows_close either way. */
bool rows_open(rows *r, const answer *a, const rows_settings *settings, const char *path, const tool_call *call);
bool rows_add(rows *r, const rows_row *row);
/* Puts the file in its place. */
bool rows_finish(rows *r);
void rows_close(rows *r);

#endif

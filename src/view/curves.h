/* What a metrics file says, as curves over the steps and as facts of the run. */
#ifndef MW__VIEW_CURVES_H
#define MW__VIEW_CURVES_H

#include "base/memory/map.h"

typedef struct mw__point {
    double x, y; /* the step, or the number of the record where there is none; y may be no number */
} mw__point;

typedef struct mw__curve {
    const char *name; /* "loss", "gradient_norm/fc1.weight"; "epoch/loss" of records of that kind */
    mw__point *points;
    size_t count, capacity;
} mw__curve;

/* A text or number that is no point: of the records that tell of the run, its begin, its end. */
typedef struct mw__fact {
    const char *kind; /* "run", "resume", "end", "step", "epoch" */
    size_t record;    /* from 0: facts of one record have the same */
    const char *key, *text;
} mw__fact;

enum { MW__CURVES_MAX = 20000 };

typedef struct mw__curves {
    const mw_allocator *allocator;
    mw__arena arena; /* names and texts */
    mw__map names;   /* to places in curves, plus one */
    mw__curve *curves;
    size_t count, capacity;
    mw__fact *facts;
    size_t fact_count, fact_capacity;
    size_t records;
} mw__curves;

/** Reads JSON Lines or CSV, whichever it is. A last line without an end is left out if it is not whole, of CSV in any
 *  case: the run was killed while it wrote it. Takes at most 64 times the file and 16 MiB. To be freed, also after a
 *  failure.
 *  errors  MW_ERROR_FORMAT with line and column; MW_ERROR_UNSUPPORTED for more than MW__CURVES_MAX names or a file of
 *          more than 512 MiB; MW_ERROR_FILE */
mw_status mw__curves_read(mw__curves *curves, const mw_allocator *allocator, const char *path, mw_error *err);
void mw__curves_deinit(mw__curves *curves);

/* NULL if there is none. */
const mw__curve *mw__curves_find(const mw__curves *curves, const char *name);
/* The last that was said; NULL if it was not. */
const char *mw__curves_fact(const mw__curves *curves, const char *kind, const char *key);

/* ---- inside ---- */

/* A field of a record. */
typedef struct mw__curve_field {
    const char *name, *text; /* text: as it is written, or NULL */
    size_t name_length, text_length;
    bool is_number;
    double number;
} mw__curve_field;
mw_status mw__curves_add(mw__curves *curves, const mw__curve_field *fields, size_t count, mw_error *err);
mw_status mw__curves_read_lines(mw__curves *curves, const char *text, size_t size, const char *path, mw_error *err);
mw_status mw__curves_read_csv(mw__curves *curves, const char *text, size_t size, const char *path, mw_error *err);
/* An error at a place of the file. */
mw_status mw__curves_fail(const char *path, int line, size_t column, const char *what, mw_error *err);

#endif

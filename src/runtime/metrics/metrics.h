/* A stream of metrics: stream.c is its public face, file.c keeps the file, and each format makes bytes of a record and
 * finds the records in bytes. */
#ifndef MW__RUNTIME_METRICS_METRICS_H
#define MW__RUNTIME_METRICS_METRICS_H

#include "base/memory/guard.h"
#include "base/memory/map.h"
#include "base/number/crc32.h"
#include "base/text/text.h"

#include <millwright/metrics.h>

#define MW__METRICS_NAME_MAX 1100
#define MW__METRICS_KIND_MAX 31

typedef struct mw__metrics_record {
    const char *kind;
    int64_t step;
    const mw_metrics_field *fields;
    size_t count;
} mw__metrics_record;

/* What of a file stays when a run goes on. */
typedef struct mw__metrics_cut {
    int64_t step;        /* later ones go .. */
    const char *without; /* .. and those of this kind at `step`, which come again; NULL = none */
} mw__metrics_cut;

typedef struct mw__metrics_row mw__metrics_row;

struct mw_metrics {
    const mw_allocator *allocator;
    mw__guard guard;
    const mw__metrics_row *format;
    char *path;
    int descriptor; /* -1 = closed */
    uint64_t size;  /* of whole records */
    mw__text out;   /* the record that is being written */
    mw__map columns;
    const char **names; /* [columns], in their order; they belong to `columns` */
    size_t column_count, column_capacity;
    uint64_t *hashes; /* of the names of a record */
    size_t hash_capacity;
    mw__crc32_table crc; /* of events */
    bool fresh;          /* it began with nothing */
    bool dead;           /* the file has lost its end */
};

/* A format. All of them append to a text, whose failure is looked at later. */
struct mw__metrics_row {
    const char *name;
    /* What a file begins with that has no record yet. */
    void (*begin)(mw_metrics *metrics, mw__text *out);
    /* Whether a file that begins so is one of ours. */
    bool (*is_ours)(const mw_metrics *metrics, const char *data, size_t size);
    /* Copies what stays of a file; a torn record at its end goes.
     *  errors  MW_ERROR_FORMAT for what is no record */
    mw_status (*keep)(mw_metrics *metrics, const char *data, size_t size, const mw__metrics_cut *cut, mw__text *out,
                      mw_error *err);
    mw_status (*put)(mw_metrics *metrics, const mw__metrics_record *record, mw__text *out, mw_error *err);
};

extern const mw__metrics_row mw__metrics_jsonl, mw__metrics_csv, mw__metrics_events;

/* mw_metrics_create, but that records of one kind at options->step go, too. */
mw_metrics *mw__metrics_create(const char *path, const mw_metrics_options *options, const char *without, mw_error *err);

bool mw__metrics_stays(const mw__metrics_cut *cut, const char *kind, size_t length, int64_t step);
/* Records that are about a whole run. */
bool mw__metrics_is_frame(const char *kind);

/* ---- file.c ---- */

/* Opens the file, with what stays of it. */
mw_status mw__metrics_file_open(mw_metrics *metrics, const mw__metrics_cut *cut, mw_error *err);
/* Puts another content in its place. */
mw_status mw__metrics_file_replace(mw_metrics *metrics, const void *data, size_t size, mw_error *err);
mw_status mw__metrics_file_read(const mw_metrics *metrics, char **out, size_t *out_size, mw_error *err);
/* Appends a record; on failure the file ends where it did. */
mw_status mw__metrics_file_append(mw_metrics *metrics, const void *data, size_t size, mw_error *err);
void mw__metrics_file_close(mw_metrics *metrics);

#endif

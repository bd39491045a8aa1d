/* Tables of any length, piece by piece as an encoder makes numbers of them: what predicts holds one piece.
 *
 *     static mw_status print_rows(void *user, const mw_table_rows *rows, mw_error *err)
 *     {
 *         for (int64_t i = 0; i < rows->count; i++)
 *             printf("%s\n", rows->ids[i]);
 *         return MW_OK;
 *     }
 *
 *     mw_table_stream_options options = mw_table_stream_defaults("people.csv", print_rows, NULL);
 *     options.id = "name";
 *     mw_table_encoder_stream(encoder, &options, &err);
 *
 * Threads: several streams may share an encoder. */
#ifndef MILLWRIGHT_TABLE_STREAM_H
#define MILLWRIGHT_TABLE_STREAM_H

#include <millwright/table_encoder.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A piece of a table; all of it lives during the call that hands it out. */
typedef struct mw_table_rows {
    int64_t count;          /* rows, 1 or more */
    const float *x;         /* [count, mw_table_encoder_width] as the column "x" of mw_table_encoder_open */
    const int64_t *classes; /* [count] of a target of classes; NULL = it is not read, or of the other kind.. */
    const double *values;   /* [count, targets] ..of values, in their own unit, and labels, 1 and 0 */
    const char *const *ids; /* [count] NULL = none was asked for */
    double progress;        /* the part of the file that is read, 0 to 1 */
} mw_table_rows;

/** Takes a piece. Anything but MW_OK ends the stream, with what was put into *err. */
typedef mw_status mw_table_rows_function(void *user, const mw_table_rows *rows, mw_error *err);

/** How to read. Fill with mw_table_stream_defaults. */
typedef struct mw_table_stream_options {
    size_t struct_size;
    const char *path;                 /* as mw_table_encoder_open takes it */
    mw_table_rows_function *function; /* with `user` */
    void *user;
    mw_table_form form;
    const char *id;   /* the field whose cells name the rows, which may be any of the file; NULL (default) = none */
    bool with_target; /* the target is read as well, and must be there; default false */
    int64_t rows;     /* the most of a piece, 1 to 65536; default 64 */
} mw_table_stream_options;

/** Returns the default options. */
MW_API mw_table_stream_options mw_table_stream_defaults(const char *path, mw_table_rows_function *function, void *user);

/** Reads a table with the fields of the encoder, in any order; further ones are ignored. A table without rows has no
 *  piece.
 *  memory  one piece, the longest row, and 2 MiB
 *  errors  those of mw_table_encoder_open, and of the function; MW_ERROR_FORMAT for a field that the file lacks, naming
 *          it; MW_ERROR_ARGUMENT for an `id` that is no field, naming those there are, and options out of range;
 *          MW_ERROR_UNSUPPORTED for an encoder of windows */
MW_API mw_status mw_table_encoder_stream(const mw_table_encoder *encoder, const mw_table_stream_options *options,
                                         mw_error *err);

#ifdef __cplusplus
}
#endif
#endif

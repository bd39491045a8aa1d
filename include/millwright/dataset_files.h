/* Data sets from files that others wrote: the MNIST family, tables as CSV (RFC 4180) and JSON Lines, and tensors as
 * .npz, .npy, safetensors or any other that mw_tensors_open takes. Pictures are in <millwright/dataset_images.h>.
 *
 *     static const char *const measured[] = {"petal length", "petal width"};
 *     const mw_table_column columns[] = {{.name = "x", .dtype = MW_F32, .fields = measured, .field_count = 2},
 *                                        {.name = "y", .dtype = MW_I64, .classes = true}};
 *     mw_table_options options = mw_table_defaults(columns, 2);
 *     mw_dataset *flowers = mw_dataset_open_csv("iris.csv", &options, &err);
 *     puts(mw_dataset_classes(flowers, "y").names[0]);
 *
 * A file is read whole, and is not needed any more then. Numbers are read without the locale and rounded once. Reading
 * takes at most 16 times the size of the file, for each time that a field is asked for, and 32 MiB.
 *
 * Threads: as <millwright/dataset.h>. */
#ifndef MILLWRIGHT_DATASET_FILES_H
#define MILLWRIGHT_DATASET_FILES_H

#include <millwright/dataset.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Opens <folder>/<prefix>-images-idx3-ubyte and <prefix>-labels-idx1-ubyte (also with .gz, where zlib is built in) as
 *  columns "x" (U8, [28, 28] or what the file says, scale 1/255) and "y" (U8).
 *  prefix  "train" or "t10k" in the MNIST family
 *  errors  MW_ERROR_FILE (with the command that gets the data), MW_ERROR_FORMAT if header and size or the two counts
 *          disagree, or a .gz announces more than 64 MiB and 128 times its own size, MW_ERROR_UNSUPPORTED for .gz
 *          without zlib */
MW_API mw_dataset *mw_dataset_open_idx(const char *folder, const char *prefix, mw_error *err);

/** What becomes one column of the data set: numbers, or the words of one field as classes. */
typedef struct mw_table_column {
    const char *name;          /* of the data set's column */
    mw_dtype dtype;            /* F64, F32, I64, I32 or U8; classes: one of the integers */
    const char *const *fields; /* [field_count] names in the header, or keys; NULL with a count of 0: `name` alone */
    size_t field_count;
    bool classes;                   /* one field, whose words are numbered from 0 .. */
    const char *const *class_names; /* [class_count] .. in this order; NULL: those of the file, integers
                                     * by value, others by their bytes */
    size_t class_count;
    float scale, offset; /* as in mw_column */
} mw_table_column;

/** How to read a table. Fill with mw_table_defaults. */
typedef struct mw_table_options {
    size_t struct_size;
    const mw_table_column *columns; /* [column_count] */
    size_t column_count;
    char separator; /* CSV: ',', ';', '|' or a tab; default ',' */
    bool no_header; /* CSV: the first line is an example, and fields are called "0", "1", .. */
    const mw_allocator *allocator;
} mw_table_options;
/** Returns the default options. */
MW_API mw_table_options mw_table_defaults(const mw_table_column *columns, size_t column_count);

/** Opens a CSV file. Lines end with LF or CRLF; a field may be in double quotes, and then hold separators, ends of
 *  lines, and quotes, doubled; blanks around a number do not count; empty lines are skipped; a byte order mark, too. An
 *  example is [field_count], a scalar for a single field. An integer may be written 3.0.
 *  errors  MW_ERROR_FILE; MW_ERROR_FORMAT with line and column for what is no such file, a row with other fields than
 *          the header, an empty field, and what is no finite number or does not fit the dtype (with its text); a word
 *          that is none of class_names, or the 65537th class; MW_ERROR_ARGUMENT for a field that the header does not
 *          have, or has twice */
MW_API mw_dataset *mw_dataset_open_csv(const char *path, const mw_table_options *options, mw_error *err);

/** Opens a file of JSON objects, one a line; other keys are ignored, empty lines and a byte order mark skipped. A
 *  number is a number, true is 1 and false 0, a string is a word, and an array of numbers, also of arrays, is its
 *  numbers in order: an example is [n], where the first line says how many, and a scalar for a single field that is no
 *  array.
 *  errors  as mw_dataset_open_csv, and for a line that is no object, or in which a key is missing or comes twice */
MW_API mw_dataset *mw_dataset_open_jsonl(const char *path, const mw_table_options *options, mw_error *err);

/** A tensor that becomes a column; its first axis counts the examples. */
typedef struct mw_tensor_column {
    const char *name;    /* of the column */
    const char *tensor;  /* in the file; NULL: `name`, or the only one that the file has */
    const char *path;    /* of a file of its own, as y.npy beside x.npy; NULL: that of the call */
    mw_dtype dtype;      /* converted to, as mw_tensors_read; MW_DTYPE_NONE = as it is stored (bfloat16 as F32) */
    float scale, offset; /* as in mw_column */
} mw_tensor_column;

/** Opens tensors as a data set: those of a .npz, of several .npy, of any file that mw_tensors_open takes. They are read
 *  whole, and the files are not needed any more then.
 *  path     NULL if every column has its own
 *  columns  [column_count]; NULL and 0: every tensor of the file, under its name
 *  errors   those of mw_tensors_open and mw_tensors_read; MW_ERROR_ARGUMENT for a tensor that is not there;
 *           MW_ERROR_SHAPE for one without examples, or with another number of them than the columns before it */
MW_API mw_dataset *mw_dataset_open_tensors(const char *path, const mw_tensor_column *columns, size_t column_count,
                                           mw_error *err);

#ifdef __cplusplus
}
#endif
#endif

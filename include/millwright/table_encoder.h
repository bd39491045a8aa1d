/* Tables as people bring them: empty cells, words, dates, numbers of any size. An encoder is fitted on the training
 * part of a CSV or JSON Lines file, keeps what was decided, and encodes other files the same way.
 *
 *     mw_table_fit_options options = mw_table_fit_defaults("titanic.csv", "Survived");
 *     mw_dataset *training, *validation;
 *     mw_table_encoder *encoder = mw_table_encoder_fit(&options, &training, &validation, &err);
 *     char *said = mw_table_encoder_print(encoder, &err);                // a line for each field
 *     mw_tensor *x = mw_input(g, "x", MW_F32, MW_SHAPE(32, mw_table_encoder_width(encoder)));
 *     mw_tensor *h = mw_table_encoder_layer(encoder, x, "table");        // scaled numbers, one-hot and embedded words
 *
 * What operations cannot do is done while a file is read: text becomes numbers, empty cells are filled. The rest is
 * constants and weights of the graph, so that the written model takes numbers as the table has them. Columns of "x",
 * F32:
 *
 * | kind | columns of x | mw_table_encoder_layer makes of them |
 * |---|---|---|
 * | number, boolean | value, 1 or 0, or what fills it; 1 where it was missing | (value - mean) / deviation; as it is |
 * | date | year, age in days; sine and cosine of month, weekday and (if there are times) hour; 1 where it was missing |
 *   year and age as numbers, the rest as it is |
 * | text | words hashed into `width` columns, of length 1 | the same |
 * | category, id | the number of the word | one-hot, or `width` learned numbers; a word that training did not have is
 *   zeros, or what all words share |
 *
 * What marks missing cells is there only for fields that have some in the training part.
 * Numbers of words come last in x. Means, deviations, fillings and words are of the training part alone, in double, as
 * scikit-learn's SimpleImputer and StandardScaler have them. A number that fp32 would round too coarsely (time stamps),
 * and a year, is less a round number near its mean in x.
 *
 * Files are streamed. Fitting takes 2 MiB, twice the longest row (64 MiB at most), the words of each field, 5 bytes a
 * row (9 for a split by class or group, 17 by time), and 8 for each field filled by its median; the data sets take 4
 * bytes a row for each column of x, and 8 for y, three times that while another file is opened. A file is read four
 * times, and once or twice more for a split by a field.
 *
 * Threads: an encoder does not change; any number of threads may read it. */
#ifndef MILLWRIGHT_TABLE_ENCODER_H
#define MILLWRIGHT_TABLE_ENCODER_H

#include <millwright/dataset.h>
#include <millwright/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What a field holds. */
typedef enum mw_field_kind {
    MW_FIELD_FOUND,    /* by content: numbers, true and false, dates; few words are a category, many a text */
    MW_FIELD_NUMBER,   /* finite */
    MW_FIELD_CATEGORY, /* words */
    MW_FIELD_ID,       /* integers as words: 7, 007 and 7.0 are one */
    MW_FIELD_DATE,     /* 2026-12-01, 2026/12/01, 1.12.2026, 12/1/2026 or 1/12/2026, and behind it 14:30, 14:30:05 */
    MW_FIELD_BOOLEAN,  /* true, false, yes, no, t, f, y, n in any case, 1, 0 */
    MW_FIELD_TEXT,
    MW_FIELD_IGNORED
} mw_field_kind;

/** What fills an empty cell of numbers. */
typedef enum mw_missing_rule { MW_MISSING_MEAN, MW_MISSING_MEDIAN, MW_MISSING_CONSTANT } mw_missing_rule;

/** What is said of a field; others are found by their content. */
typedef struct mw_field_setting {
    const char *name;
    mw_field_kind kind;
    mw_missing_rule missing; /* number: default the mean */
    double constant;         /* of that rule */
    int64_t width;           /* category, id: numbers learned for each word; 0 = one-hot up to 32 words, from there on
                              * the root of their number, 4 to 32. Text: columns; 0 = 64. Up to 1024 */
} mw_field_setting;

/** What is predicted. */
typedef enum mw_target_kind {
    MW_TARGET_FOUND, /* numbers with fractions, or more than 32 different ones, are values, all others classes */
    MW_TARGET_CLASS, /* words: "y" is I64, the number of the class */
    MW_TARGET_VALUE  /* numbers: "y" is F32, scaled as the next has it */
} mw_target_kind;

typedef enum mw_target_scale {
    MW_TARGET_STANDARD,  /* (value - mean) / deviation */
    MW_TARGET_LOGARITHM, /* the same of log(value), for prices and the like; values above 0 */
    MW_TARGET_AS_IT_IS
} mw_target_scale;

/** Which rows are kept out for validation. */
typedef enum mw_split_rule {
    MW_SPLIT_RANDOM,
    MW_SPLIT_STRATIFIED, /* the share of each class */
    MW_SPLIT_GROUP,      /* the share of the words of `split_field`; rows of one word stay together */
    MW_SPLIT_TIME,       /* the latest, by `split_field`: dates or numbers */
    MW_SPLIT_LAST        /* the last of the file, or of each word of `split_field`, of each series of windows */
} mw_split_rule;

/** Examples that are rows of a series in time, and what follows them. With a length, "x" is [length, columns]: rows b
 *  to b + length - 1 of a series, in the order of the file. "y" is the target of rows b + length + gap and on: values
 *  [horizon], or the class of one row. With horizon 0 it is the target of the window's last row, which then is no
 *  input; else the target is an input, too. b is a multiple of stride. */
typedef struct mw_table_window {
    int64_t length;     /* up to 65536; 0 = none, a row is an example */
    int64_t stride;     /* from 1 */
    int64_t horizon;    /* 0 to 65536; of classes 0 or 1 */
    int64_t gap;        /* 0 to 65536; with a horizon */
    const char *series; /* field whose words tell one series from another; NULL: all rows are one. Ignored as an input
                         * unless `fields` has it */
} mw_table_window;

typedef enum mw_text_encoding {
    MW_ENCODING_FOUND, /* by the mark at the begin, zeros of UTF-16, what is no UTF-8 anywhere in the file */
    MW_ENCODING_UTF8,
    MW_ENCODING_UTF16_LE,
    MW_ENCODING_UTF16_BE,
    MW_ENCODING_LATIN1
} mw_text_encoding;

/** How a CSV file is written; zeros are found by the first 64 KiB. */
typedef struct mw_table_form {
    char separator;            /* ',', ';', '|' or a tab; 0 = found */
    char decimal;              /* '.' or ','; 0 = found */
    mw_text_encoding encoding; /* of JSON Lines, too */
    bool no_header;            /* the first line is a row, and fields are called "0", "1", .. */
} mw_table_form;

/** How to fit. Fill with mw_table_fit_defaults. */
typedef struct mw_table_fit_options {
    size_t struct_size;
    const char *path;   /* .jsonl and .ndjson are JSON Lines, others CSV */
    const char *target; /* name of a field; NULL = the last */
    mw_target_kind target_kind;
    mw_target_scale target_scale;
    const mw_field_setting *fields; /* [field_count] what is said of some */
    size_t field_count;
    bool only_fields; /* fields that are not said are ignored */
    mw_table_form form;
    double
        validation; /* the share kept out, 0 to 0.9; default 0.1. At least a row where it is not 0 and there are 10 */
    mw_split_rule split;
    const char *split_field; /* of groups, or the time; ignored as an input unless `fields` has it */
    uint64_t seed;           /* of the split */
    mw_table_window window; /* length 0, stride 1, horizon 1. Rows are split by MW_SPLIT_GROUP, _TIME or _LAST then, and
                             * windows made of each part: no row is on both sides */
    const mw_allocator *allocator;
} mw_table_fit_options;

/** Returns the default options. */
MW_API mw_table_fit_options mw_table_fit_defaults(const char *path, const char *target);

/** What was decided, and how words and numbers are encoded. Destroyed with mw_table_encoder_destroy. */
typedef struct mw_table_encoder mw_table_encoder;

/** Fits an encoder on the training part of a table and encodes both parts: columns "x" [width] F32 and "y".
 *  Missing are cells that are empty, NA, N/A, NaN, NULL, null, None, .. as pandas has them, or ?; of a target of
 *  classes those that are empty. A header that comes twice gets a number behind it (a, a_2), an empty one is column_3.
 *  A field that is empty, has arrays, or counts the rows under the name of an id, is ignored.
 *  out_training    where the data set goes; NULL = it is not wanted
 *  out_validation  likewise; *out_validation is NULL if no row is kept out
 *  return  NULL with err set on failure, and both NULL
 *  errors  MW_ERROR_FILE; MW_ERROR_FORMAT with file, line, field and value for a row of other length than the first,
 *          what is no value of its field's kind, a target that is missing or no number, a field of numbers or dates
 *          with a few cells that are none (name its kind, or mend them), or dates whose day and month cannot be told
 *          apart; MW_ERROR_ARGUMENT for a field that is not there, and options that are none; MW_ERROR_MEMORY */
MW_API mw_table_encoder *mw_table_encoder_fit(const mw_table_fit_options *options, mw_dataset **out_training,
                                              mw_dataset **out_validation, mw_error *err);

/** Encodes another file with the same fields, in any order; further ones are ignored. Without the target it has "x"
 *  alone. A word that training did not have is the unknown one of its field.
 *  form    NULL = all is found
 *  errors  as mw_table_encoder_fit; MW_ERROR_FORMAT for a class that training did not have */
MW_API mw_dataset *mw_table_encoder_open(const mw_table_encoder *encoder, const char *path, const mw_table_form *form,
                                         mw_error *err);

/** "x" alone of a file, whatever stands under the target; of windows also those whose rows to predict are not there
 *  yet, the last ones of each series.
 *  form    NULL = all is found
 *  errors  as mw_table_encoder_open */
MW_API mw_dataset *mw_table_encoder_open_inputs(const mw_table_encoder *encoder, const char *path,
                                                const mw_table_form *form, mw_error *err);

/** Numbers of a row of x; 0 for NULL. */
MW_API int64_t mw_table_encoder_width(const mw_table_encoder *encoder);

/** What became of a field. */
typedef struct mw_encoded_field {
    const char *name; /* texts live as long as the encoder */
    mw_field_kind kind;
    const char *reason;             /* why it is ignored; "" = it is not */
    int64_t missing;                /* cells of the training part */
    double filled;                  /* what missing cells get: number, boolean */
    double offset, mean, deviation; /* of numbers as the file has them; offset is what x is less */
    size_t word_count;              /* category, id */
    const char *const *words;       /* [word_count] sorted; "" is the missing one */
    int64_t width;                  /* of what mw_table_encoder_layer makes */
    int64_t first_column, columns;  /* of x */
} mw_encoded_field;
/** A field in the order of the file, the target left out. False past the last. */
MW_API bool mw_table_encoder_field_at(const mw_table_encoder *encoder, size_t index, mw_encoded_field *out);

/** What became of the target: of values, value = mean + deviation * y, its exponential if `logarithm`. */
typedef struct mw_encoded_target {
    const char *name; /* lives as long as the encoder; NULL for NULL */
    mw_target_kind kind;
    double mean, deviation;
    bool logarithm;
    mw_classes classes; /* of classes */
} mw_encoded_target;
/** The target. */
MW_API mw_encoded_target mw_table_encoder_target(const mw_table_encoder *encoder);

/** The windows that examples are; length 0: a row is one. The name lives as long as the encoder. */
MW_API mw_table_window mw_table_encoder_window(const mw_table_encoder *encoder);

/** h = [scaled numbers, words as one-hot or as learned numbers], as the table above has it.
 *  x       [N, mw_table_encoder_width], or [N, length, mw_table_encoder_width] of windows; F32 or F16
 *  name    of the weights: those of mw_dense, <name>.<index of the field>.weight [width, words], .bias [width]
 *  return  [N, sum of the widths of the fields], or [N, length, ..] of windows; dtype of x
 *  errors  on the graph: MW_ERROR_SHAPE, MW_ERROR_DTYPE; MW_ERROR_ARGUMENT for an encoder that is none
 *  vjp     to the weights; x gets that of the numbers */
MW_API mw_tensor *mw_table_encoder_layer(const mw_table_encoder *encoder, mw_tensor *x, const char *name);

/** Values of the target in its own unit: mean + deviation y, its exponential if the target is a logarithm; y itself for
 *  classes.
 *  y       any shape, F32 or F16
 *  errors  as mw_table_encoder_layer */
MW_API mw_tensor *mw_table_encoder_unscale(const mw_table_encoder *encoder, mw_tensor *y);

/** A line for each field: name, kind, what is missing and fills it, its numbers or words.
 *  return  freed with mw_string_free; NULL with err set */
MW_API char *mw_table_encoder_print(const mw_table_encoder *encoder, mw_error *err);

/** All of it as JSON, from which mw_table_encoder_read makes the same again: `mw train` keeps it in the model, under
 *  "mw.table".
 *  return  freed with mw_string_free; NULL with err set */
MW_API char *mw_table_encoder_write(const mw_table_encoder *encoder, mw_error *err);

/** Reads what mw_table_encoder_write wrote.
 *  errors  MW_ERROR_FORMAT for a text that is none; MW_ERROR_MEMORY */
MW_API mw_table_encoder *mw_table_encoder_read(const char *text, mw_error *err);

/** NULL is fine. */
MW_API void mw_table_encoder_destroy(mw_table_encoder *encoder);

#ifdef __cplusplus
}
#endif
#endif

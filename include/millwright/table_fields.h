/* What is said of a table to mw_table_encoder_fit (<millwright/table_encoder.h>): what its fields are, how it is
 * written, which rows are kept out, and whether rows that follow each other are an example.
 *
 *     const mw_field_setting fields[] = {{.name = "age", .kind = MW_FIELD_NUMBER, .missing = MW_MISSING_MEDIAN}};
 *     mw_table_fit_options options = mw_table_fit_defaults("titanic.csv", "Survived");
 *     options.fields = fields, options.field_count = 1;
 *     options.split = MW_SPLIT_STRATIFIED;
 *
 * Threads: options are the caller's; nothing of them is kept. */
#ifndef MILLWRIGHT_TABLE_FIELDS_H
#define MILLWRIGHT_TABLE_FIELDS_H

#include <millwright/dataset.h>

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
    MW_FIELD_SEQUENCE, /* words, ids or numbers: an array of JSON Lines, [7, 3, 9], or 7 3 9 where it is said */
    MW_FIELD_IGNORED
} mw_field_kind;

/** What fills an empty cell of numbers. */
typedef enum mw_missing_rule { MW_MISSING_MEAN, MW_MISSING_MEDIAN, MW_MISSING_CONSTANT } mw_missing_rule;

/** What a sequence is of. */
typedef enum mw_sequence_elements {
    MW_SEQUENCE_FOUND, /* values if all are numbers and some have fractions, else words */
    MW_SEQUENCE_WORDS, /* also ids: 7, 007 and 7.0 are one */
    MW_SEQUENCE_VALUES
} mw_sequence_elements;

/** What is said of a field; others are found by their content. */
typedef struct mw_field_setting {
    const char *name;
    mw_field_kind kind;
    mw_missing_rule missing; /* number: default the mean */
    double constant;         /* of that rule */
    int64_t width;           /* category, id: numbers learned for each word; 0 = one-hot up to 32 words, from there on
                              * 16 of an id, else the root of their number, 4 to 32. Text: columns; 0 = 64. Sequence: numbers
                              * learned           for each word, and units; 0 = 32. Up to 1024 */
    int64_t length;          /* sequence: what is longer is cut; 0 = the longest of training, up to 256. Up to 4096 */
    mw_sequence_elements elements; /* sequence */
} mw_field_setting;

/** What is predicted. */
typedef enum mw_target_kind {
    MW_TARGET_FOUND, /* numbers with fractions, or more than 32 different ones, are values, all others classes; several
                      * targets are labels if all their cells are truths, else values */
    MW_TARGET_CLASS, /* words: "y" is I64, the number of the class */
    MW_TARGET_VALUE, /* numbers: "y" is F32, scaled as the next has it */
    MW_TARGET_LABELS /* each target is true or no by itself: "y" is F32 [targets] of 1 and 0 */
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
    const char *path;                /* .jsonl and .ndjson are JSON Lines, others CSV */
    const char *target;              /* name of a field; NULL = the last */
    const char *const *more_targets; /* [more_target_count] predicted beside it: labels or values, "y" is [targets] */
    size_t more_target_count;        /* up to 4095 */
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
    int folds, fold; /* of a cross-validation, 2 to 1000; 0 = none: fold `fold`, from 0, is kept out in place of the
                      * share. Rows, of a target of classes those of each, or groups, the largest first, are dealt out
                      * evenly. By time and of last rows there are folds + 1 blocks: fold `fold` is block fold + 1, the
                      * rows before it are learned from, those behind it are in neither set */
    mw_table_window window; /* length 0, stride 1, horizon 1. Rows are split by MW_SPLIT_GROUP, _TIME or _LAST then, and
                             * windows made of each part: no row is on both sides */
    const mw_allocator *allocator;
} mw_table_fit_options;

/** Returns the default options. */
MW_API mw_table_fit_options mw_table_fit_defaults(const char *path, const char *target);

#ifdef __cplusplus
}
#endif
#endif

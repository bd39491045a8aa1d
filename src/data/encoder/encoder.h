/* What an encoder of tables knows. cell.c reads values, sequence.c several of a cell, observe.c and kinds.c find what
 * fields hold, split.c parts the rows, fit.c takes means and words, retarget.c learns other classes, encode.c makes
 * rows of numbers, windows.c windows of them, layer.c operations; print.c and json.c say it, read.c reads it. */
#ifndef MW__DATA_ENCODER_ENCODER_H
#define MW__DATA_ENCODER_ENCODER_H

#include "data/records/records.h"

enum { MW__ENCODER_LENGTH_MAX = 4096 /* of a sequence */, MW__ENCODER_TARGETS_MAX = 4096 };
enum { MW__ENCODER_WORDS_MAX = 65536, MW__ENCODER_WIDTH_MAX = 1024, MW__ENCODER_COLUMNS_MAX = 1 << 20 };

/* Mean and sum of squares around it, by Welford: nothing cancels. */
typedef struct mw__encoder_sums {
    double count, mean, squares, peak;
} mw__encoder_sums;

typedef struct mw__encoder_words {
    mw__map numbers; /* word -> its number + 1 */
    const char **names;
    size_t count, capacity;
} mw__encoder_words;

typedef struct mw__encoder_date {
    double days; /* since 1970-01-01, with the time of the day */
    int year, month, weekday;
    bool has_time;
    bool is_slashed;   /* 12/1/2026, of which the first two are: */
    int first, second; /* day and month, or month and day */
} mw__encoder_date;

/* The columns of a date behind its first. */
typedef enum mw__encoder_date_column {
    MW__DATE_YEAR,
    MW__DATE_AGE,
    MW__DATE_MONTH, /* sine, then cosine, as the next */
    MW__DATE_WEEKDAY = 4,
    MW__DATE_HOUR = 6,
    MW__DATE_COLUMNS = 8 /* with hours */
} mw__encoder_date_column;

typedef struct mw__encoder_scale {
    double mean, deviation; /* deviation 0 = it never changes, and counts as 1 */
} mw__encoder_scale;

typedef struct mw__encoder_field {
    const char *name;
    mw_field_kind kind;
    const char *reason; /* of MW_FIELD_IGNORED; else "" */
    mw_missing_rule rule;
    double constant;
    int64_t missing;
    double fill, offset;
    bool has_indicator;
    mw__encoder_scale value; /* number; year of a date */
    mw__encoder_scale age;
    double newest; /* date, in days */
    bool has_time, day_first;
    mw__encoder_words words;
    int64_t width;          /* of hashed text; numbers learned for each word, 0 = one-hot, and for a sequence */
    int64_t length;         /* of the longest sequence */
    bool has_values;        /* sequence: numbers; else words */
    bool is_found;          /* its kind was, and is not said */
    int64_t first, columns; /* of x */
    size_t place;           /* in the rows that are read; SIZE_MAX = not there */
} mw__encoder_field;

typedef struct mw__encoder_target {
    const char *name;
    mw_target_kind kind;
    mw_target_scale scale;
    mw__encoder_scale value;
    mw__encoder_words classes;
    size_t place;
} mw__encoder_target;

/* As mw_table_window has it. */
typedef struct mw__encoder_window {
    int64_t length, stride, horizon, gap;
    const char *series; /* "" = all rows are one */
    size_t place;       /* of it in the rows that are read */
} mw__encoder_window;

struct mw_table_encoder {
    const mw_allocator *allocator;
    mw__arena arena;
    mw__encoder_window window;
    mw__encoder_field *fields; /* [field_count] */
    size_t field_count;
    mw__encoder_target *targets; /* [target_count] all of one kind; classes are one */
    size_t target_count;
    int64_t columns, numbers; /* of x; of these the first so many are no numbers of words, nor sequences */
};

/* ---- encoder.c ---- */

/* Whether the target is an input, too: of windows, whose rows before those to predict have it. */
static inline bool mw__encoder_target_is_input(const mw__encoder_window *window)
{
    return window->length > 0 && window->horizon > 0;
}
/* Without fields; NULL with err set. */
mw_table_encoder *mw__encoder_make(const mw_allocator *allocator, size_t field_count, size_t target_count,
                                   mw_error *err);
void mw__encoder_free(mw_table_encoder *encoder);
/* Numbers the columns of x, once kinds, words and widths are known. */
mw_status mw__encoder_place_columns(mw_table_encoder *encoder, mw_error *err);
const char *mw__encoder_kind_name(mw_field_kind kind);
/* Whether it has words, or its sequences are of such. */
static inline bool mw__encoder_keeps_words(const mw__encoder_field *field)
{
    return field->kind == MW_FIELD_CATEGORY || field->kind == MW_FIELD_ID ||
           (field->kind == MW_FIELD_SEQUENCE && !field->has_values);
}
/* How many numbers mw_table_encoder_layer makes of a field. */
int64_t mw__encoder_layer_width(const mw__encoder_field *field);
static inline bool mw__encoder_has_words(const mw__encoder_field *field)
{
    return field->kind == MW_FIELD_CATEGORY || field->kind == MW_FIELD_ID;
}

/* ---- words.c ---- */

void mw__encoder_words_init(mw__encoder_words *words, const mw_allocator *allocator);
void mw__encoder_words_deinit(mw__encoder_words *words, const mw_allocator *allocator);
/* The number of a word; -1 if it is not there. */
int64_t mw__encoder_find_word(const mw__encoder_words *words, const char *text, size_t length);
/* Adds a word that is not there, a copy in the arena. */
mw_status mw__encoder_add_word(mw__encoder_words *words, mw__arena *arena, const char *text, size_t length,
                               mw_error *err);
/* Integers by value, others by their bytes. */
mw_status mw__encoder_sort_words(mw__encoder_words *words, mw_error *err);

/* ---- cell.c ---- */

/* Without anything in it: a class may be called none. */
bool mw__encoder_is_empty(const mw__records_cell *cell);
bool mw__encoder_is_missing(const mw__records_cell *cell);
bool mw__encoder_read_number(const mw__records_cell *cell, char decimal, double *out);
/* 1,234,567.5, or 1.234.567,5 with a decimal comma: not read, as either may be meant. */
bool mw__encoder_is_grouped(const mw__records_cell *cell, char decimal);
bool mw__encoder_read_boolean(const mw__records_cell *cell, double *out);
/* day_first: of 1/12/2026. */
bool mw__encoder_read_date(const mw__records_cell *cell, bool day_first, mw__encoder_date *out);
/* The word of a category without blanks around it, or of an id; false if it is no integer. `number` has 32 bytes. */
bool mw__encoder_read_word(const mw__records_cell *cell, mw_field_kind kind, char decimal, char *number,
                           const char **out, size_t *out_length);
/* Fails for a cell that is no value of the kind. */
mw_status mw__encoder_refuse(const mw__records *rows, const mw__records_cell *cell, const char *field,
                             const char *wanted, mw_error *err);

/* ---- sequence.c ---- */

/* The values of a cell, one after the other. */
typedef struct mw__encoder_elements {
    const char *at, *end;
    mw__records_cell cell;
} mw__encoder_elements;

/* An array, or a text in brackets. */
bool mw__encoder_looks_like_sequence(const mw__records_cell *cell);
mw__encoder_elements mw__encoder_elements_of(const mw__records_cell *cell);
/* The next as a cell of its own, of text; false behind the last. */
bool mw__encoder_next_element(mw__encoder_elements *elements, mw__records_cell *out);
/* Its word; integers as those of an id. `number` has 32 bytes. False if it is none. */
bool mw__encoder_element_word(const mw__records_cell *element, char *number, const char **out, size_t *out_length);

/* ---- observe.c ---- */

enum { MW__ENCODER_DISTINCT_MAX = 256, MW__ENCODER_ODD_BYTES = 64 };

/* The first cell that is no value of some kind. */
typedef struct mw__encoder_odd {
    mw__records_cell cell; /* its text is `text` */
    char text[MW__ENCODER_ODD_BYTES];
} mw__encoder_odd;

/* What the cells of a field are. */
typedef struct mw__encoder_observed {
    int64_t present, numbers, booleans, dates, nested, spaced; /* spaced: with three words or more */
    int64_t sequences, elements;
    bool is_sequence; /* it is said */
    bool has_fraction, has_word_element, has_fraction_element;
    bool is_rising, is_zero_one, has_time; /* integers, each above the one before; 0 and 1 alone */
    bool is_slashed, day_first, month_first;
    double last;
    size_t distinct; /* words, up to MW__ENCODER_DISTINCT_MAX + 1 */
    mw__map words;
    int64_t grouped;
    mw__encoder_odd no_number, no_date;
} mw__encoder_observed;

/* [rows->count] of all rows, which are counted; mw__encoder_forget either way. */
mw_status mw__encoder_observe(mw__records *rows, const mw_table_fit_options *options, mw__encoder_observed **out,
                              int64_t *out_rows, mw_error *err);
void mw__encoder_forget(mw__encoder_observed *observed, size_t count, const mw_allocator *allocator);

/* ---- kinds.c ---- */

/* Makes the fields of an encoder: those of the options, others by what was observed. */
mw_table_encoder *mw__encoder_choose(const mw_table_fit_options *options, const mw__records *rows,
                                     const mw__encoder_observed *observed, int64_t row_count, mw_error *err);

/* ---- split.c ---- */

/* What a row is for. */
enum { MW__PART_LEARNED = 0, MW__PART_KEPT_OUT = 1, MW__PART_NEITHER = 2 };

/* *out [row_count]: of MW__PART_*. To be freed. has_classes: the target is a class, so that folds that are dealt out at
 * random have as much of each. */
mw_status mw__encoder_split(const mw_table_fit_options *options, const mw_table_form *form, int64_t row_count,
                            bool has_classes, uint8_t **out, mw_error *err);

/* ---- folds.c ---- */

/* Words of rows, and a random order: of the rows for classes, of the words for groups. */
typedef struct mw__encoder_fold_keys {
    const uint32_t *keys, *order;
    const char *const *names;
    size_t key_count;
    int64_t count; /* of rows */
} mw__encoder_fold_keys;

/* The parts of a cross-validation by each rule of a split. */
mw_status mw__encoder_fold_rows(const mw_table_fit_options *options, const uint32_t *order, int64_t count,
                                uint8_t *parts, mw_error *err);
mw_status mw__encoder_fold_classes(const mw_table_fit_options *options, const mw__encoder_fold_keys *keys,
                                   uint8_t *parts, mw_error *err);
mw_status mw__encoder_fold_groups(const mw_table_fit_options *options, const mw__encoder_fold_keys *keys,
                                  uint8_t *parts, mw_error *err);
mw_status mw__encoder_fold_times(const mw_table_fit_options *options, const double *sorted, const double *times,
                                 int64_t count, uint8_t *parts, mw_error *err);
/* The part of row `place` of the `count` of a series. */
uint8_t mw__encoder_fold_place(const mw_table_fit_options *options, int64_t place, int64_t count);

/* ---- fit.c ---- */

void mw__encoder_add_sum(mw__encoder_sums *sums, double value);
/* The class of the row that was read last is one of the target's: those of all rows, so that the parts agree. */
mw_status mw__encoder_take_class(mw_table_encoder *encoder, const mw__records *rows, mw_error *err);
/* Means, fillings, words of the rows whose part is 0. */
mw_status mw__encoder_fit_rows(mw_table_encoder *encoder, mw__records *rows, const uint8_t *parts, mw_error *err);

/* ---- encode.c ---- */

/* Finds the fields among those of a file, and the targets, unless one is not there or they are not wanted. */
mw_status mw__encoder_bind(mw_table_encoder *encoder, const mw__records *rows, bool has_target, mw_error *err);
/* out[0] of the rows whose part is 0, out[1] of those with 1; `parts` NULL = all 0. A set without rows is NULL. */
mw_status mw__encoder_encode(const mw_table_encoder *encoder, mw__records *rows, const uint8_t *parts,
                             mw_dataset *out[2], mw_error *err);
/* The row that was read last: [columns] of x, and its class. */
mw_status mw__encoder_encode_row(const mw_table_encoder *encoder, const mw__records *rows, float *out, mw_error *err);
mw_status mw__encoder_encode_class(const mw_table_encoder *encoder, const mw__records *rows, int64_t *out,
                                   mw_error *err);
/* The target of the row that was read last, as the file has it. */
mw_status mw__encoder_target_number(const mw__encoder_target *target, const mw__records *rows, double *out,
                                    mw_error *err);

/* ---- windows.c ---- */

/* What the numbers of a window have to be and are not; "" = they are good. */
const char *mw__encoder_window_fault(const mw__encoder_window *window, bool has_classes);
/* Windows of rows of the encoder, which stand in the order of the file: `series` [examples] tells which series each is
 * of, NULL = all are one. Those without the rows to predict are there if the rows have no target. */
mw_dataset *mw__encoder_make_windows(const mw_table_encoder *encoder, const mw_dataset *rows, const uint32_t *series,
                                     const char *path, mw_error *err);

/* The value of a target before it is scaled (fit.c). */
mw_status mw__encoder_target_value(const mw__encoder_target *target, const mw__records *rows, double *out,
                                   mw_error *err);

#endif

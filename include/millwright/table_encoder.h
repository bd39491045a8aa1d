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
 * | sequence | how many there are, and the number of each word, or each value | what a GRU of `width` units has at the
 *   last one, beside its mean over all of them |
 * | category, id | the number of the word | one-hot, or `width` learned numbers; a word that training did not have is
 *   zeros, or what all words share |
 *
 * What marks missing cells is there only for fields that have some in the training part.
 * Numbers of words, then sequences, come last in x. Means, deviations, fillings and words are of the training part
 * alone, in double, as scikit-learn's SimpleImputer and StandardScaler have them. A number that fp32 would round too
 * coarsely (time stamps), and a year, is less a round number near its mean in x.
 *
 * Files are streamed. Fitting takes 2 MiB, twice the longest row (64 MiB at most), the words of each field, 5 bytes a
 * row (9 for a split by class or group, 17 by time), and 8 for each field filled by its median; the data sets take 4
 * bytes a row for each column of x, and 8 for y, three times that while another file is opened. A file is read four
 * times, and once or twice more for a split by a field.
 *
 * Threads: an encoder does not change; any number of threads may read it. */
#ifndef MILLWRIGHT_TABLE_ENCODER_H
#define MILLWRIGHT_TABLE_ENCODER_H

#include <millwright/graph.h>
#include <millwright/table_fields.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What was decided, and how words and numbers are encoded. Destroyed with mw_table_encoder_destroy. */
typedef struct mw_table_encoder mw_table_encoder;

/** Fits an encoder on the training part of a table and encodes both parts: columns "x" [width] F32 and "y".
 *  Missing are cells that are empty, NA, N/A, NaN, NULL, null, None, .. as pandas has them, or ?; of a target of
 *  classes those that are empty. A header that comes twice gets a number behind it (a, a_2), an empty one is column_3.
 *  A field that is empty, has objects or arrays of arrays, or counts or names the rows under the name of an id, is
 *  ignored; integers that rows share under the name of an id (user_id) are an id.
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
    int64_t length;                 /* of the longest sequence; 0 of others */
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
/** The target, the first of several. */
MW_API mw_encoded_target mw_table_encoder_target(const mw_table_encoder *encoder);
/** Each of the targets, in the order of y. False past the last. */
MW_API bool mw_table_encoder_target_at(const mw_table_encoder *encoder, size_t index, mw_encoded_target *out);

/** The windows that examples are; length 0: a row is one. The name lives as long as the encoder. */
MW_API mw_table_window mw_table_encoder_window(const mw_table_encoder *encoder);

/** h = [scaled numbers, words as one-hot or as learned numbers], as the table above has it.
 *  x       [N, mw_table_encoder_width], or [N, length, mw_table_encoder_width] of windows; F32 or F16
 *  name    of the weights: <name>.<index of the field>.weight [width, words] and .bias [width] as mw_linear has them;
 *          of sequences those of mw_embedding, <name>.<index>.words, and of mw_gru_layer, <name>.<index>.gru
 *  return  [N, sum of the widths of the fields], or [N, length, ..] of windows; dtype of x
 *  errors  on the graph: MW_ERROR_SHAPE, MW_ERROR_DTYPE; MW_ERROR_ARGUMENT for an encoder that is none
 *  vjp     to the weights; x gets that of the numbers */
MW_API mw_tensor *mw_table_encoder_layer(const mw_table_encoder *encoder, mw_tensor *x, const char *name);

/** Values of the target in its own unit: mean + deviation y, its exponential if the target is a logarithm; y itself for
 *  classes and labels.
 *  y       any shape, F32 or F16; of several targets a multiple of their number along the last axis
 *  errors  as mw_table_encoder_layer */
MW_API mw_tensor *mw_table_encoder_unscale(const mw_table_encoder *encoder, mw_tensor *y);

/** A line for each field: name, kind, what is missing and fills it, its numbers or words.
 *  return  freed with mw_string_free; NULL with err set */
MW_API char *mw_table_encoder_print(const mw_table_encoder *encoder, mw_error *err);

/** All of it as JSON, from which mw_table_encoder_read makes the same again: `mw train` keeps it in the model, under
 *  "mw.table".
 *  return  freed with mw_string_free; NULL with err set */
MW_API char *mw_table_encoder_write(const mw_table_encoder *encoder, mw_error *err);

/** An encoder with the same fields and the classes of another file: for a model that gets a new last layer.
 *  form    NULL = all is found
 *  return  owned by the caller; NULL with err set
 *  errors  MW_ERROR_ARGUMENT if the target has values; those of mw_table_encoder_open for what is read of the target */
MW_API mw_table_encoder *mw_table_encoder_retarget(const mw_table_encoder *encoder, const char *path,
                                                   const mw_table_form *form, mw_error *err);

/** Reads what mw_table_encoder_write wrote.
 *  errors  MW_ERROR_FORMAT for a text that is none; MW_ERROR_MEMORY */
MW_API mw_table_encoder *mw_table_encoder_read(const char *text, mw_error *err);

/** NULL is fine. */
MW_API void mw_table_encoder_destroy(mw_table_encoder *encoder);

#ifdef __cplusplus
}
#endif
#endif

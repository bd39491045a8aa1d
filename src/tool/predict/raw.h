/* Raw data for a model: rows of a table, pictures, the MNIST family, files of tensors, as they were for the training.
 * raw.c has a row for each kind of data. What is read comes in pieces, so that memory is bounded; files of tensors and
 * the MNIST family are read whole. */
#ifndef MW__TOOL_PREDICT_RAW_H
#define MW__TOOL_PREDICT_RAW_H

#include "tool/data_scale.h"
#include "tool/predict/answer.h"
#include "tool/predict/picture.h"
#include "tool/tool.h"

enum { RAW_FEEDS_MAX = 16 };

/* Options of the command; NULL and 0 where nothing is said. */
typedef struct raw_settings {
    const char *id;     /* field that names the rows of a table */
    const char *inputs; /* fields of a table in the order of the input, with commas between them */
    const char *target; /* field, or tensor, of what is true */
    picture_settings picture;
} raw_settings;

typedef struct raw_request {
    const char *path;
    const mw_model *model;
    const char *model_path;
    const answer *answer;
    raw_settings settings;
    bool with_truth; /* what is true is wanted, too */
    const tool_call *call;
} raw_request;

/* Examples, while they are handed out. */
typedef struct raw_piece {
    mw_feed feeds[RAW_FEEDS_MAX];
    size_t feed_count;
    int64_t examples;
    int64_t first;          /* the number of the first of them */
    const int32_t *classes; /* [examples] numbers of scores, where truth is wanted and the answer a class.. */
    const float *values;    /* [examples, width] ..or labels or values */
    const char *const *ids; /* [examples] names; NULL = others have them */
} raw_piece;

struct raw_kind;

/* Takes a piece; false ends it, with the error set. */
typedef bool raw_take(void *user, const raw_piece *piece);

/* An open one. Members are those of the kinds. */
typedef struct raw_data {
    raw_request request;
    const struct raw_kind *kind;
    mw_port input;    /* the first that the model is fed */
    int64_t elements; /* of an example of it */
    int64_t examples; /* -1 = not known before all are read */
    int64_t done;
    double progress; /* of what does not know how much it has, 0 to 1 */
    raw_take *take;  /* who is handed what.. */
    void *user;
    int64_t most;      /* ..and how many at once */
    int64_t numbering; /* the number of the first example in messages and tables: rows count from 1 */
    /* truth */
    class_list classes; /* names of the data's classes; empty = labels are integers */
    int64_t *map;       /* the score of each class, or of each integer label up to map_count; -1 = not known yet */
    int64_t map_count;
    int32_t *truth_classes; /* of a piece */
    float *truth_values;
    size_t truth_capacity;
    /* a table with an encoder */
    mw_table_encoder *encoder;
    bool is_scaled; /* the truth of the data set is as the encoder scales it */
    /* a data set */
    mw_dataset *set;
    mw_loader *loader;
    const char *label; /* its column of what is true; NULL = none */
    data_offsets offsets;
    /* pictures */
    picture_list files;
    picture_plan plan;
    int64_t left_out;
    uint8_t *swapped; /* blue first */
    size_t swapped_capacity;
} raw_data;

typedef struct raw_kind {
    const char *examples;               /* "rows", "pictures" */
    bool (*fits)(const raw_data *data); /* by path and model */
    bool (*open)(raw_data *data, mw_error *err);
    bool (*each)(raw_data *data, mw_error *err); /* raw_hand_out for each piece */
} raw_kind;

/* Opens data for a model. false with err set; raw_close either way. */
bool raw_open(raw_data *data, const raw_request *request, mw_error *err);
/* All examples, at most `most` of them at once. */
bool raw_each(raw_data *data, int64_t most, raw_take *take, void *user, mw_error *err);
/* The name of example `index` of a piece: the cell of --id, a path, a number. */
const char *raw_name(const raw_data *data, const raw_piece *piece, int64_t index, char *out, size_t size);
/* The part that is done, 0 to 1. */
double raw_progress(const raw_data *data);
void raw_close(raw_data *data);

/* ---- for the kinds ---- */

bool raw_hand_out(raw_data *data, raw_piece *piece, mw_error *err);
/* Sets the first error; false. */
bool raw_fail(mw_error *err, mw_status status, const char *format, ...) __attribute__((format(printf, 3, 4)));
bool raw_fail_memory(mw_error *err);
/* Room for the truth of so many examples. */
bool raw_reserve_truth(raw_data *data, int64_t examples, mw_error *err);
/* The score of class `label` of the data, which is an integer where `classes` is empty. -1 with err set if the model
 * does not know it. */
int64_t raw_find_class(raw_data *data, int64_t label, mw_error *err);
/* Pairs the names of data->classes with those of the model. */
bool raw_pair_classes(raw_data *data, mw_error *err);

/* ---- raw_table.c ---- */

bool raw_table_is_series(const raw_data *data);
bool raw_table_open_series(raw_data *data, mw_error *err);
bool raw_table_is_encoded(const raw_data *data);
bool raw_table_open_encoded(raw_data *data, mw_error *err);
bool raw_table_each_encoded(raw_data *data, mw_error *err);
bool raw_table_is_plain(const raw_data *data);
bool raw_table_open_plain(raw_data *data, mw_error *err);

/* ---- raw_set.c: whatever is a data set ---- */

bool raw_set_is_idx(const raw_data *data);
bool raw_set_open_idx(raw_data *data, mw_error *err);
bool raw_set_is_tensors(const raw_data *data);
bool raw_set_open_tensors(raw_data *data, mw_error *err);
bool raw_set_each(raw_data *data, mw_error *err);
/* An element of a feed, scaled as it says. */
double raw_number_at(const mw_feed *feed, size_t index);
/* A value as a data set of the encoder has it, in the unit of its target; NULL: as it is. `place`: elements before it.
 */
double raw_in_unit(const mw_table_encoder *encoder, int64_t place, double value);
/* Takes data->set with the truth in data->label. */
bool raw_set_begin(raw_data *data, mw_error *err);

/* ---- raw_pictures.c ---- */

/* What pictures and sounds share: no option of tables, labels by folders, broken ones that are left out, paths. */
bool raw_files_check_settings(const raw_data *data, mw_error *err);
bool raw_files_check_labels(const raw_data *data, mw_error *err);
void raw_files_leave_out(void *user, const char *name, const char *reason);
char **raw_files_copy_paths(const raw_data *data);
void raw_files_free_paths(char **paths, size_t count);
bool raw_files_begin(raw_data *data, mw_error *err);

bool raw_sounds_is(const raw_data *data);
bool raw_sounds_open(raw_data *data, mw_error *err);

bool raw_pictures_is(const raw_data *data);
bool raw_pictures_open(raw_data *data, mw_error *err);
/* What is a picture's own: channels in another order, the class of its folder. */
bool raw_pictures_finish(raw_data *data, raw_piece *piece, mw_error *err);

#endif

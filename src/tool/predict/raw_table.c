/* Tables: row by row through the encoder that the model has in its metadata, or numbers as they stand in the file. */
#include "tool/predict/raw.h"

#include "base/text/string.h"
#include "tool/model_text.h"
#include "tool/train/data_fields.h"

#include <stdlib.h>
#include <string.h>

/* ---- with an encoder ---- */

/* What the model says of tables; NULL if it says nothing. To be freed. */
static char *find_encoder(const raw_data *d)
{
    char *table = NULL;
    mw_error none = {0};
    const bool found = tool_is_table(d->request.path) &&
                       tool_model_text(d->request.model, d->request.model_path, NULL, DATA_TABLE_KEY, &table, &none);
    return found ? table : NULL;
}

bool raw_table_is_encoded(const raw_data *d)
{
    char *table = find_encoder(d);
    free(table);
    return table != NULL;
}

static bool check_settings(const raw_data *d, mw_error *err)
{
    if (d->request.settings.inputs == NULL && d->request.settings.target == NULL)
        return true;
    return raw_fail(err, MW_ERROR_ARGUMENT,
                    "--inputs and --target have no effect on %.200s: the model says which fields it learned, in \"%s\"",
                    d->request.path, DATA_TABLE_KEY);
}

static bool read_encoder(raw_data *d, mw_error *err)
{
    char *table;
    if (!tool_model_text(d->request.model, d->request.model_path, NULL, DATA_TABLE_KEY, &table, err))
        return false;
    mw_error why = {0};
    d->encoder = mw_table_encoder_read(table, &why);
    free(table);
    if (d->encoder == NULL)
        return raw_fail(err, why.status, "%.200s: \"%s\": %.250s", d->request.model_path, DATA_TABLE_KEY, why.message);
    const mw_table_window window = mw_table_encoder_window(d->encoder);
    const int64_t rows = window.length > 0 ? window.length : 1, width = rows * mw_table_encoder_width(d->encoder);
    return d->encoder != NULL &&
           (width == d->elements ||
            raw_fail(err, MW_ERROR_FORMAT,
                     "%.200s: \"%s\" makes %lld numbers of an example, and the input \"%.60s\" takes "
                     "%lld: the metadata is that of another model",
                     d->request.model_path, DATA_TABLE_KEY, (long long)width, d->input.name, (long long)d->elements));
}

/* Rows are named by what counts them, if nothing else is asked for. */
static const char *find_id(const raw_data *d)
{
    mw_encoded_field f;
    for (size_t i = 0; mw_table_encoder_field_at(d->encoder, i, &f); i++)
        if (f.kind == MW_FIELD_IGNORED && strstr(f.reason, "counts the rows") != NULL)
            return f.name;
    return NULL;
}

static bool name_classes(raw_data *d, mw_error *err)
{
    const mw_classes classes = mw_table_encoder_target(d->encoder).classes;
    if (!d->request.with_truth || d->request.answer->task != ANSWER_CLASSES)
        return true;
    d->classes.names = calloc(classes.count + 1, sizeof *d->classes.names);
    for (; d->classes.names != NULL && d->classes.count < classes.count; d->classes.count++)
        if ((d->classes.names[d->classes.count] = strdup(classes.names[d->classes.count])) == NULL)
            break;
    return d->classes.count == classes.count ? raw_pair_classes(d, err) : raw_fail_memory(err);
}

/* Values and labels are as many as the model gives numbers of an example. */
static bool check_targets(const raw_data *d, mw_error *err)
{
    mw_encoded_target target;
    const answer *a = d->request.answer;
    const mw_table_window window = mw_table_encoder_window(d->encoder);
    int64_t count = 0;
    while (mw_table_encoder_target_at(d->encoder, (size_t)count, &target))
        count++;
    count *= window.length > 0 && window.horizon > 0 ? window.horizon : 1;
    return !d->request.with_truth || a->task == ANSWER_CLASSES || count == a->width ||
           raw_fail(err, MW_ERROR_FORMAT,
                    "%.200s: \"%s\" has %lld targets, and the model gives %lld numbers of an example: the metadata is "
                    "that of another model",
                    d->request.model_path, DATA_TABLE_KEY, (long long)count, (long long)a->width);
}

bool raw_table_open_encoded(raw_data *d, mw_error *err)
{
    d->numbering = 1;
    return check_settings(d, err) && read_encoder(d, err) && check_targets(d, err) && name_classes(d, err);
}

/* ---- windows of rows ---- */

bool raw_table_is_series(const raw_data *d)
{
    mw_error none = {0};
    char *table = find_encoder(d);
    mw_table_encoder *encoder = table != NULL ? mw_table_encoder_read(table, &none) : NULL;
    const bool is_series = mw_table_encoder_window(encoder).length > 0;
    mw_table_encoder_destroy(encoder);
    free(table);
    return is_series;
}

bool raw_table_open_series(raw_data *d, mw_error *err)
{
    const raw_request *r = &d->request;
    if (r->settings.id != NULL || !check_settings(d, err))
        return raw_fail(err, MW_ERROR_ARGUMENT, "--id has no effect on windows of a table: they are named by number");
    if (!read_encoder(d, err) || !name_classes(d, err))
        return false;
    d->set = r->with_truth ? mw_table_encoder_open(d->encoder, r->path, NULL, err)
                           : mw_table_encoder_open_inputs(d->encoder, r->path, NULL, err);
    d->label = r->with_truth ? "y" : NULL;
    d->is_scaled = true;
    return d->set != NULL && raw_set_begin(d, err);
}

/* ---- row by row ---- */

static bool take_truth(raw_data *d, const mw_table_rows *rows, raw_piece *out, mw_error *err)
{
    if (!raw_reserve_truth(d, rows->count, err))
        return false;
    for (int64_t i = 0; rows->classes != NULL && i < rows->count; i++)
        d->truth_classes[i] = (int32_t)raw_find_class(d, rows->classes[i], err);
    const int64_t values = rows->values != NULL ? rows->count * d->request.answer->width : 0;
    for (int64_t i = 0; i < values; i++)
        d->truth_values[i] = (float)rows->values[i];
    out->classes = rows->classes != NULL ? d->truth_classes : NULL;
    out->values = rows->values != NULL ? d->truth_values : NULL;
    return err->status == MW_OK;
}

static mw_status take_rows(void *user, const mw_table_rows *rows, mw_error *err)
{
    raw_data *d = user;
    raw_piece piece = {.examples = rows->count, .ids = rows->ids, .feed_count = 1};
    piece.feeds[0] = (mw_feed){.name = d->input.name,
                               .dtype = MW_F32,
                               .data = rows->x,
                               .count = (size_t)(rows->count * d->elements),
                               .scale = 1};
    d->progress = rows->progress;
    if ((!d->request.with_truth || take_truth(d, rows, &piece, err)) && raw_hand_out(d, &piece, err))
        return MW_OK;
    return err->status != MW_OK ? err->status : MW_ERROR_STATE;
}

static mw_status stop_at_rows(void *user, const mw_table_rows *rows, mw_error *err)
{
    (void)err;
    *(bool *)user = rows->count > 0;
    return MW_ERROR_STATE;
}

/* Whether the truth alone is missing. */
static bool lacks_truth(const raw_data *d)
{
    mw_error none = {0};
    bool found = false;
    const mw_table_stream_options options = mw_table_stream_defaults(d->request.path, stop_at_rows, &found);
    mw_table_encoder_stream(d->encoder, &options, &none);
    return found;
}

static bool stream_rows(raw_data *d, const char *id, mw_error *err)
{
    mw_table_stream_options options = mw_table_stream_defaults(d->request.path, take_rows, d);
    options.id = id;
    options.with_target = d->request.with_truth;
    options.rows = d->most;
    return mw_table_encoder_stream(d->encoder, &options, err) == MW_OK;
}

bool raw_table_each_encoded(raw_data *d, mw_error *err)
{
    const raw_request *r = &d->request;
    const char *own = r->settings.id == NULL ? find_id(d) : NULL;
    bool good = stream_rows(d, own != NULL ? own : r->settings.id, err);
    if (!good && d->done == 0 && own != NULL && err->status == MW_ERROR_ARGUMENT) {
        mw_error_clear(err); /* the file lacks what counted the rows of the training */
        good = stream_rows(d, NULL, err);
    }
    if (good)
        return d->done > 0 || raw_fail(err, MW_ERROR_FORMAT, "\"%.200s\" has no rows", r->path);
    if (err->status != MW_ERROR_FORMAT || d->done > 0 || !r->with_truth || err->text_line > 0 || !lacks_truth(d))
        return false;
    mw_error_clear(err);
    return raw_fail(err, MW_ERROR_FORMAT,
                    "\"%.200s\" has no field \"%.100s\", the target: mw evaluate compares with it, and mw predict "
                    "needs none",
                    r->path, mw_table_encoder_target(d->encoder).name);
}

/* ---- without one ---- */

bool raw_table_is_plain(const raw_data *d) { return tool_is_table(d->request.path); }

/* Fields of a table that is being opened. */
typedef struct choosing {
    raw_data *data;
    data_fields fields;
    char *listed;        /* of the settings or the model, with NULs between */
    const char **inputs; /* [count] */
    size_t count;
    const char *target; /* NULL = there is none */
} choosing;

static bool is_csv(const char *path) { return mw__string_ends(path, ".csv") || mw__string_ends(path, ".tsv"); }

static bool read_fields(choosing *c, mw_error *err)
{
    const char *path = c->data->request.path, separator = mw__string_ends(path, ".tsv") ? '\t' : ',';
    return is_csv(path) ? data_fields_of_csv(&c->fields, path, separator, true, err)
                        : data_fields_of_jsonl(&c->fields, path, err);
}

static bool has_field(const choosing *c, const char *name)
{
    for (size_t i = 0; i < c->fields.count; i++)
        if (strcmp(c->fields.names[i], name) == 0)
            return true;
    return false;
}

/* Names with `between` between them. */
static bool take_listed(choosing *c, const char *list, char between, mw_error *err)
{
    size_t count = 1;
    for (const char *at = list; *at != '\0'; at++)
        count += *at == between;
    c->listed = strdup(list);
    c->inputs = calloc(count + 1, sizeof *c->inputs);
    if (c->listed == NULL || c->inputs == NULL)
        return raw_fail_memory(err);
    for (char *at = c->listed; at != NULL; c->count++) {
        c->inputs[c->count] = at;
        at = strchr(at, between);
        if (at != NULL)
            *at++ = '\0';
    }
    return true;
}

/* All but the target. */
static bool take_rest(choosing *c, mw_error *err)
{
    c->inputs = calloc(c->fields.count + 1, sizeof *c->inputs);
    for (size_t i = 0; c->inputs != NULL && i < c->fields.count; i++)
        if (c->target == NULL || strcmp(c->fields.names[i], c->target) != 0)
            c->inputs[c->count++] = c->fields.names[i];
    return c->inputs != NULL || raw_fail_memory(err);
}

static bool check_inputs(const choosing *c, mw_error *err)
{
    const raw_data *d = c->data;
    for (size_t i = 0; i < c->count; i++)
        if (!has_field(c, c->inputs[i]))
            return raw_fail(err, MW_ERROR_FORMAT,
                            "\"%.200s\", line 1: there is no field \"%.100s\" among its %zu, "
                            "which %s",
                            d->request.path, c->inputs[i], c->fields.count,
                            d->request.settings.inputs != NULL ? "--inputs names" : "the model learned");
    return (c->count > 0 && (d->elements == (int64_t)c->count || (c->fields.has_arrays && c->count == 1))) ||
           raw_fail(err, MW_ERROR_SHAPE,
                    "\"%.200s\": %zu of its fields are inputs, and the input \"%.60s\" of the model takes %lld "
                    "numbers: name the fields with --inputs A,B,..%s",
                    d->request.path, c->count, d->input.name, (long long)d->elements,
                    c->target == NULL ? ", or what is no input with --target" : "");
}

/* The target is that of the settings or the model; else the last field, if the others are as many as there are
 * inputs. */
static bool choose_fields(choosing *c, const char *learned, mw_error *err)
{
    const raw_request *r = &c->data->request;
    const char *said = r->settings.target != NULL ? r->settings.target : r->answer->target;
    const bool guesses = said == NULL && (int64_t)c->fields.count == c->data->elements + 1;
    c->target = said != NULL && has_field(c, said) ? said : guesses ? c->fields.names[c->fields.count - 1] : NULL;
    if (r->settings.target != NULL && c->target == NULL)
        return raw_fail(err, MW_ERROR_FORMAT,
                        "\"%.200s\", line 1: there is no field \"%.100s\" among its %zu, which "
                        "--target names",
                        r->path, said, c->fields.count);
    if (r->settings.inputs != NULL || learned != NULL)
        return take_listed(c, r->settings.inputs != NULL ? r->settings.inputs : learned,
                           r->settings.inputs != NULL ? ',' : '\n', err) &&
               check_inputs(c, err);
    return take_rest(c, err) && check_inputs(c, err);
}

static mw_dataset *open_columns(choosing *c, bool is_wide, mw_error *err)
{
    const raw_data *d = c->data;
    const bool is_class = d->request.answer->task == ANSWER_CLASSES;
    const mw_table_column columns[] = {
        {.name = "x",
         .dtype = d->input.dtype == MW_I32 ? MW_I64
                  : is_wide                ? MW_F64
                                           : MW_F32,
         .fields = c->inputs,
         .field_count = c->count},
        {.name = "y", .dtype = is_class ? MW_I64 : MW_F32, .fields = &c->target, .field_count = 1, .classes = is_class},
    };
    mw_table_options options = mw_table_defaults(columns, d->request.with_truth ? 2 : 1);
    options.separator = mw__string_ends(d->request.path, ".tsv") ? '\t' : ',';
    return is_csv(d->request.path) ? mw_dataset_open_csv(d->request.path, &options, err)
                                   : mw_dataset_open_jsonl(d->request.path, &options, err);
}

/* What was subtracted in the training is subtracted here. */
static bool read_offsets(raw_data *d, mw_error *err)
{
    char *text;
    if (!tool_model_text(d->request.model, d->request.model_path, NULL, DATA_OFFSETS_KEY, &text, err))
        return false;
    if (text != NULL)
        d->offsets.values = data_offsets_parse(text, &d->offsets.count);
    const bool good = text == NULL || (d->offsets.values != NULL && (int64_t)d->offsets.count == d->elements);
    free(text);
    return good || raw_fail(err, MW_ERROR_FORMAT, "\"%s\" of %.200s are not %lld numbers, as its input takes",
                            DATA_OFFSETS_KEY, d->request.model_path, (long long)d->elements);
}

static bool open_table(choosing *c, mw_error *err)
{
    char *learned = NULL;
    raw_data *d = c->data;
    const bool good = read_fields(c, err) &&
                      tool_model_text(d->request.model, d->request.model_path, NULL, TOOL_FIELDS_KEY, &learned, err) &&
                      choose_fields(c, learned, err) && read_offsets(d, err);
    if (good && d->request.with_truth && c->target == NULL)
        raw_fail(err, MW_ERROR_FORMAT,
                 "\"%.200s\" has no field of what is true; --target names it. mw evaluate "
                 "compares with it, and mw predict needs none",
                 d->request.path);
    mw_dataset *set = good && err->status == MW_OK ? open_columns(c, d->offsets.values != NULL, err) : NULL;
    d->set = set != NULL && d->offsets.values != NULL ? data_offsets_apply(&d->offsets, set, err) : set;
    if (d->set != set)
        mw_dataset_destroy(set);
    free(learned);
    return d->set != NULL;
}

bool raw_table_open_plain(raw_data *d, mw_error *err)
{
    choosing c = {.data = d};
    d->numbering = 1;
    d->label = d->request.with_truth ? "y" : NULL;
    const bool good = d->request.settings.id == NULL
                          ? open_table(&c, err)
                          : raw_fail(err, MW_ERROR_ARGUMENT,
                                     "--id names the rows of a table whose encoder is in the "
                                     "model, and %.200s has none; rows are named by number",
                                     d->request.model_path);
    data_fields_free(&c.fields);
    free(c.listed);
    free(c.inputs);
    return good && raw_set_begin(d, err);
}

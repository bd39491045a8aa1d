/* The encoder as callers hold it: made by fitting, by reading; asked for its fields. */
#include "data/encoder/encoder.h"
#include "base/memory/live.h"
#include "base/number/float_mode.h"

#include <math.h>
#include <string.h>

/* ---- life ---- */

mw_table_encoder *mw__encoder_make(const mw_allocator *allocator, size_t field_count, size_t target_count,
                                   mw_error *err)
{
    mw_table_encoder *e = mw__alloc(allocator, 1, sizeof *e, err);
    if (e == NULL)
        return NULL;
    e->allocator = allocator;
    mw__arena_init(&e->arena, allocator);
    e->window.series = "";
    e->fields = mw__alloc(allocator, field_count, sizeof *e->fields, err);
    e->field_count = e->fields != NULL ? field_count : 0;
    e->targets = mw__alloc(allocator, target_count, sizeof *e->targets, err);
    e->target_count = e->targets != NULL ? target_count : 0;
    for (size_t i = 0; i < e->target_count; i++)
        mw__encoder_words_init(&e->targets[i].classes, allocator);
    for (size_t i = 0; i < e->field_count; i++) {
        mw__encoder_words_init(&e->fields[i].words, allocator);
        e->fields[i].reason = "";
    }
    if (e->fields != NULL && e->targets != NULL)
        return e;
    mw__encoder_free(e);
    return NULL;
}

void mw__encoder_free(mw_table_encoder *encoder)
{
    if (encoder == NULL)
        return;
    for (size_t i = 0; i < encoder->field_count; i++)
        mw__encoder_words_deinit(&encoder->fields[i].words, encoder->allocator);
    for (size_t i = 0; i < encoder->target_count; i++)
        mw__encoder_words_deinit(&encoder->targets[i].classes, encoder->allocator);
    mw__free(encoder->allocator, encoder->targets);
    mw__free(encoder->allocator, encoder->fields);
    mw__arena_deinit(&encoder->arena);
    mw__free(encoder->allocator, encoder);
}

void mw_table_encoder_destroy(mw_table_encoder *encoder)
{
    if (encoder != NULL && mw__live_remove(encoder, MW__LIVE_TABLE_ENCODER, __func__))
        mw__encoder_free(encoder);
}

/* ---- columns ---- */

static int64_t date_columns(const mw__encoder_field *f)
{
    return (f->has_time ? MW__DATE_COLUMNS : MW__DATE_HOUR) + f->has_indicator;
}

static int64_t column_count(const mw__encoder_field *f)
{
    switch (f->kind) {
    case MW_FIELD_NUMBER:
    case MW_FIELD_BOOLEAN:
        return 1 + f->has_indicator;
    case MW_FIELD_DATE:
        return date_columns(f);
    case MW_FIELD_TEXT:
        return f->width;
    case MW_FIELD_CATEGORY:
    case MW_FIELD_ID:
        return 1;
    case MW_FIELD_SEQUENCE:
        return 1 + f->length;
    default:
        return 0;
    }
}

/* One-hot up to 32 words, from there on 16 of an id, so that two can be multiplied, and else the root of their number,
 * within 4 and 32. */
static int64_t choose_width(const mw__encoder_field *f)
{
    const int64_t root = f->kind == MW_FIELD_ID ? 16 : (int64_t)ceil(sqrt((double)f->words.count));
    return f->width > 0 || f->words.count <= 32 ? f->width : root < 4 ? 4 : root > 32 ? 32 : root;
}

/* Numbers, then those of words, then sequences. */
static int group_of(const mw__encoder_field *f)
{
    return f->kind == MW_FIELD_SEQUENCE ? 2 : mw__encoder_has_words(f) ? 1 : 0;
}

mw_status mw__encoder_place_columns(mw_table_encoder *encoder, mw_error *err)
{
    encoder->columns = 0;
    for (int group = 0; group < 3; group++) {
        for (size_t i = 0; i < encoder->field_count; i++) {
            mw__encoder_field *f = &encoder->fields[i];
            if (group_of(f) != group)
                continue;
            f->width = group == 1 ? choose_width(f) : f->width;
            f->first = encoder->columns;
            f->columns = column_count(f);
            encoder->columns += f->columns;
        }
        encoder->numbers = group == 0 ? encoder->columns : encoder->numbers;
    }
    if (encoder->columns > MW__ENCODER_COLUMNS_MAX)
        return mw__fail(err, MW_ERROR_UNSUPPORTED,
                        "table: %lld columns are more than %d; ignore fields, or make texts narrower",
                        (long long)encoder->columns, MW__ENCODER_COLUMNS_MAX);
    return MW_OK;
}

int64_t mw__encoder_layer_width(const mw__encoder_field *f)
{
    if (f->kind == MW_FIELD_SEQUENCE)
        return 2 * f->width;
    if (!mw__encoder_has_words(f))
        return f->columns;
    return f->width > 0 ? f->width : (int64_t)f->words.count;
}

/* ---- fitting ---- */

mw_table_fit_options mw_table_fit_defaults(const char *path, const char *target)
{
    return (mw_table_fit_options){.struct_size = sizeof(mw_table_fit_options),
                                  .path = path,
                                  .target = target,
                                  .validation = 0.1,
                                  .seed = 1,
                                  .window = {.stride = 1, .horizon = 1}};
}

static mw_status check_windows(const mw_table_fit_options *o, mw_error *err)
{
    const mw_table_window *w = &o->window;
    const mw__encoder_window known = {.length = w->length, .stride = w->stride, .horizon = w->horizon, .gap = w->gap};
    const char *fault = w->length == 0 ? "" : mw__encoder_window_fault(&known, o->target_kind == MW_TARGET_CLASS);
    if (fault[0] != '\0')
        return mw__fail(
            err, MW_ERROR_ARGUMENT,
            "mw_table_encoder_fit: windows of length %lld, stride %lld, horizon %lld, gap %lld: they have %s",
            (long long)w->length, (long long)w->stride, (long long)w->horizon, (long long)w->gap, fault);
    if (w->length == 0 && w->series != NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_table_encoder_fit: a series without windows; set their length");
    if (w->length > 0 && (o->split == MW_SPLIT_RANDOM || o->split == MW_SPLIT_STRATIFIED) && o->validation > 0)
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "mw_table_encoder_fit: windows are of rows that follow each other, which are not dealt out one "
                        "by one: set split to MW_SPLIT_LAST, _TIME or _GROUP");
    return MW_OK;
}

static mw_status check_options(const mw_table_fit_options *o, mw_error *err)
{
    if (o == NULL || o->struct_size != sizeof *o || o->path == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_table_encoder_fit: %s",
                        o == NULL || o->struct_size != sizeof *o ? "options must come from mw_table_fit_defaults"
                                                                 : "no path");
    if (o->target_kind < MW_TARGET_FOUND || o->target_kind > MW_TARGET_LABELS || o->target_scale < MW_TARGET_STANDARD ||
        o->target_scale > MW_TARGET_AS_IT_IS || o->split < MW_SPLIT_RANDOM || o->split > MW_SPLIT_LAST)
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "mw_table_encoder_fit: kind %d or scale %d of the target, or split %d, "
                        "is none",
                        (int)o->target_kind, (int)o->target_scale, (int)o->split);
    if (o->target_kind == MW_TARGET_CLASS && o->target_scale != MW_TARGET_STANDARD)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_table_encoder_fit: classes have no scale");
    if ((o->more_targets == NULL) != (o->more_target_count == 0) || o->more_target_count >= MW__ENCODER_TARGETS_MAX ||
        (o->more_target_count > 0 && (o->target == NULL || o->target_kind == MW_TARGET_CLASS)))
        return mw__fail(
            err, MW_ERROR_ARGUMENT,
            "mw_table_encoder_fit: %zu more targets; several are up to %d labels or values, and all have names",
            o->more_target_count, MW__ENCODER_TARGETS_MAX);
    if (!(o->validation >= 0 && o->validation <= 0.9))
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_table_encoder_fit: a share of %g is kept out, not 0 to 0.9",
                        o->validation);
    if (o->folds < 0 || o->folds == 1 || o->folds > 1000 || o->fold < 0 || o->fold >= (o->folds > 0 ? o->folds : 1))
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "mw_table_encoder_fit: fold %d of %d; folds are 0 for none or 2 to 1000, and fold is one of "
                        "them, from 0",
                        o->fold, o->folds);
    const bool needs_field = o->split == MW_SPLIT_GROUP || o->split == MW_SPLIT_TIME;
    if (needs_field != (o->split_field != NULL) && o->split != MW_SPLIT_LAST)
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "mw_table_encoder_fit: groups and times have a split_field, others none, but last rows may");
    if (o->split == MW_SPLIT_STRATIFIED && (o->target_kind >= MW_TARGET_VALUE || o->more_target_count > 0))
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "mw_table_encoder_fit: a stratified split is of classes, not of values or several labels");
    return check_windows(o, err);
}

/* What a file was when its kinds were found. */
typedef struct known_file {
    mw_table_form form;
    int64_t rows;
    size_t fields;
} known_file;

/* Reads the file once more. */
static mw_status open_rows(mw__records *rows, const mw_table_fit_options *o, const known_file *file, mw_error *err)
{
    MW_TRY(mw__records_open(rows, mw__allocator_or_default(o->allocator), o->path, &file->form, err));
    rows->rows_max = file->rows;
    return rows->count == file->fields ? MW_OK : mw__records_changed(rows, err);
}

static mw_table_encoder *choose_kinds(const mw_table_fit_options *o, known_file *out, mw_error *err)
{
    mw__records rows;
    mw__encoder_observed *observed = NULL;
    mw_table_encoder *e = NULL;
    mw_table_fit_options known = *o;
    if (mw__records_open(&rows, mw__allocator_or_default(o->allocator), o->path, &o->form, err) == MW_OK &&
        mw__encoder_observe(&rows, o, &observed, &out->rows, err) == MW_OK) {
        known.target = o->target != NULL ? o->target : rows.names[rows.count - 1];
        e = mw__encoder_choose(&known, &rows, observed, out->rows, err);
    }
    out->form = rows.form;
    out->fields = rows.count;
    mw__encoder_forget(observed, rows.count, rows.source.allocator);
    mw__records_close(&rows);
    return e;
}

static mw_status fit_rows(mw_table_encoder *e, const mw_table_fit_options *o, const known_file *file,
                          const uint8_t *parts, mw_error *err)
{
    mw__records rows;
    mw_status status = open_rows(&rows, o, file, err);
    if (status == MW_OK)
        status = mw__encoder_fit_rows(e, &rows, parts, err);
    mw__records_close(&rows);
    return status;
}

static mw_status encode_rows(mw_table_encoder *e, const mw_table_fit_options *o, const known_file *file,
                             const uint8_t *parts, mw_dataset *out[2], mw_error *err)
{
    mw__records rows;
    mw_status status = open_rows(&rows, o, file, err);
    if (status == MW_OK)
        status = mw__encoder_encode(e, &rows, parts, out, err);
    mw__records_close(&rows);
    return status;
}

static mw_table_encoder *fit_table(const mw_table_fit_options *o, mw_dataset *out[2], bool encodes, mw_error *err)
{
    known_file file = {0};
    uint8_t *parts = NULL;
    mw_table_encoder *e = choose_kinds(o, &file, err);
    if (e == NULL)
        return NULL;
    mw_table_fit_options known = *o;
    known.target = e->targets[0].name;
    if (o->split == MW_SPLIT_LAST && o->split_field == NULL)
        known.split_field = o->window.series;
    mw_status status =
        mw__encoder_split(&known, &file.form, file.rows, e->targets[0].kind == MW_TARGET_CLASS, &parts, err);
    if (status == MW_OK)
        status = fit_rows(e, o, &file, parts, err);
    if (status == MW_OK && encodes)
        status = encode_rows(e, o, &file, parts, out, err);
    if (status == MW_OK)
        status = mw__live_add(e, MW__LIVE_TABLE_ENCODER, err);
    mw__free(e->allocator, parts);
    if (status == MW_OK)
        return e;
    mw__encoder_free(e);
    return NULL;
}

static void hand_out(mw_dataset *set, mw_dataset **out, bool is_good)
{
    if (out != NULL && is_good)
        *out = set;
    else
        mw_dataset_destroy(set);
}

mw_table_encoder *mw_table_encoder_fit(const mw_table_fit_options *options, mw_dataset **out_training,
                                       mw_dataset **out_validation, mw_error *err)
{
    MW__FLOAT_SCOPE;
    mw_error own = {0};
    mw_error *reason = err != NULL ? err : &own;
    mw_dataset *parts[2] = {NULL, NULL};
    if (out_training != NULL)
        *out_training = NULL;
    if (out_validation != NULL)
        *out_validation = NULL;
    if (mw__skips(err) || check_options(options, reason) != MW_OK)
        return NULL;
    mw_table_encoder *e = fit_table(options, parts, out_training != NULL || out_validation != NULL, reason);
    hand_out(parts[0], out_training, e != NULL);
    hand_out(parts[1], out_validation, e != NULL);
    return e;
}

/* ---- other files ---- */

/* Where the fields stand differs from file to file: a copy of the encoder knows it. */
static mw_dataset *encode_file(const mw_table_encoder *encoder, mw__records *rows, bool has_target, mw_error *err)
{
    mw_table_encoder bound = *encoder;
    mw_dataset *out[2] = {NULL, NULL};
    bound.fields = mw__alloc(encoder->allocator, encoder->field_count, sizeof *bound.fields, err);
    bound.targets = mw__alloc(encoder->allocator, encoder->target_count, sizeof *bound.targets, err);
    mw_status status = bound.fields != NULL && bound.targets != NULL ? MW_OK : MW_ERROR_MEMORY;
    if (status == MW_OK) {
        memcpy(bound.fields, encoder->fields, encoder->field_count * sizeof *bound.fields);
        memcpy(bound.targets, encoder->targets, encoder->target_count * sizeof *bound.targets);
        status = mw__encoder_bind(&bound, rows, has_target, err);
    }
    if (status == MW_OK)
        status = mw__encoder_encode(&bound, rows, NULL, out, err);
    if (status == MW_OK && out[0] == NULL)
        mw__fail(err, MW_ERROR_FORMAT, "\"%.300s\" has no rows", rows->source.path);
    mw__free(encoder->allocator, bound.targets);
    mw__free(encoder->allocator, bound.fields);
    return out[0];
}

static mw_dataset *open_file(const mw_table_encoder *encoder, const char *path, const mw_table_form *form,
                             bool has_target, const char *call, mw_error *err)
{
    mw__records rows;
    if (mw__live_check(encoder, MW__LIVE_TABLE_ENCODER, call, err) != MW_OK)
        return NULL;
    if (path == NULL) {
        mw__fail(err, MW_ERROR_ARGUMENT, "%s: no path", call);
        return NULL;
    }
    mw_dataset *set = NULL;
    if (mw__records_open(&rows, encoder->allocator, path, form, err) == MW_OK)
        set = encode_file(encoder, &rows, has_target, err);
    mw__records_close(&rows);
    return set;
}

mw_dataset *mw_table_encoder_open(const mw_table_encoder *encoder, const char *path, const mw_table_form *form,
                                  mw_error *err)
{
    MW__FLOAT_SCOPE;
    mw_error own = {0};
    return mw__skips(err) ? NULL : open_file(encoder, path, form, true, __func__, err != NULL ? err : &own);
}

mw_dataset *mw_table_encoder_open_inputs(const mw_table_encoder *encoder, const char *path, const mw_table_form *form,
                                         mw_error *err)
{
    MW__FLOAT_SCOPE;
    mw_error own = {0};
    return mw__skips(err) ? NULL : open_file(encoder, path, form, false, __func__, err != NULL ? err : &own);
}

/* ---- what it knows ---- */

int64_t mw_table_encoder_width(const mw_table_encoder *encoder)
{
    return mw__live_has(encoder, MW__LIVE_TABLE_ENCODER) ? encoder->columns : 0;
}

bool mw_table_encoder_field_at(const mw_table_encoder *encoder, size_t index, mw_encoded_field *out)
{
    if (out != NULL)
        *out = (mw_encoded_field){0};
    if (!mw__live_has(encoder, MW__LIVE_TABLE_ENCODER) || index >= encoder->field_count || out == NULL)
        return false;
    const mw__encoder_field *f = &encoder->fields[index];
    *out = (mw_encoded_field){.name = f->name,
                              .kind = f->kind,
                              .reason = f->reason,
                              .missing = f->missing,
                              .filled = f->fill,
                              .offset = f->offset,
                              .mean = f->value.mean,
                              .deviation = f->value.deviation,
                              .word_count = f->words.count,
                              .words = f->words.names,
                              .width = mw__encoder_layer_width(f),
                              .length = f->kind == MW_FIELD_SEQUENCE ? f->length : 0,
                              .first_column = f->first,
                              .columns = f->columns};
    return true;
}

mw_encoded_target mw_table_encoder_target(const mw_table_encoder *encoder)
{
    mw_encoded_target target;
    mw_table_encoder_target_at(encoder, 0, &target);
    return target;
}

bool mw_table_encoder_target_at(const mw_table_encoder *encoder, size_t index, mw_encoded_target *out)
{
    if (out != NULL)
        *out = (mw_encoded_target){0};
    if (!mw__live_has(encoder, MW__LIVE_TABLE_ENCODER) || index >= encoder->target_count || out == NULL)
        return false;
    const mw__encoder_target *t = &encoder->targets[index];
    *out = (mw_encoded_target){.name = t->name,
                               .kind = t->kind,
                               .mean = t->value.mean,
                               .deviation = t->value.deviation > 0 ? t->value.deviation : 1,
                               .logarithm = t->scale == MW_TARGET_LOGARITHM,
                               .classes = {.count = t->classes.count, .names = t->classes.names}};
    return true;
}

mw_table_window mw_table_encoder_window(const mw_table_encoder *encoder)
{
    if (!mw__live_has(encoder, MW__LIVE_TABLE_ENCODER))
        return (mw_table_window){0};
    const mw__encoder_window *w = &encoder->window;
    return (mw_table_window){.length = w->length,
                             .stride = w->stride,
                             .horizon = w->horizon,
                             .gap = w->gap,
                             .series = w->series[0] != '\0' ? w->series : NULL};
}

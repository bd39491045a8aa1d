/* Data sets by path. */
#include "tool/train/data_opening.h"

#include "tool/fields.h"
#include "tool/model_text.h"
#include "tool/tool.h"

#include "base/text/printable.h"
#include "base/text/string.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { CLASSES_MAX = 65536 /* as many as a table may name */ };

bool data_fail(mw_error *err, const char *format, ...)
{
    va_list arguments;
    if (err->status != MW_OK)
        return false;
    err->status = MW_ERROR_ARGUMENT;
    va_start(arguments, format);
    mw__printable_vprintf(err->message, sizeof err->message, format, arguments);
    va_end(arguments);
    return false;
}

static bool is_there(const char *folder, const char *name, char *out, size_t size)
{
    struct stat entry;
    const int length = snprintf(out, size, "%s/%s", folder, name);
    return length > 0 && (size_t)length < size && stat(out, &entry) == 0;
}

static bool is_csv(const char *path) { return mw__string_ends(path, ".csv") || mw__string_ends(path, ".tsv"); }

/* ---- fields of tables ---- */

/* One character of those that the library takes. */
static bool read_separator(opening *o)
{
    const char *standard = mw__string_ends(o->request->path, ".tsv") ? "\t" : ",";
    const char *said = config_string(o->c, o->settings, "separator", standard);
    o->separator = said[0];
    if (o->err->status == MW_OK && (strlen(said) != 1 || strchr(",;|\t", said[0]) == NULL))
        config_fail(o->c, config_get(o->settings, "separator"),
                    "\"separator\" is \"%.20s\", not one of \",\", \";\", \"|\" and a tab", said);
    return o->err->status == MW_OK;
}

bool data_read_fields(opening *o)
{
    data_fields *fields = &o->out->fields;
    if (!is_csv(o->request->path))
        return data_fields_of_jsonl(fields, o->request->path, o->err);
    o->header = field_bool(o->c, o->settings, "data.header", true);
    return read_separator(o) && data_fields_of_csv(fields, o->request->path, o->separator, o->header, o->err);
}

static bool list_inputs(opening *o, const config_node *listed)
{
    if (listed->kind != CONFIG_ARRAY) {
        config_fail(o->c, listed, "\"inputs\" is a list of names of fields");
        return false;
    }
    for (const config_node *node = listed->first; node != NULL; node = node->next) {
        if (node->kind != CONFIG_STRING) {
            config_fail(o->c, node, "\"inputs\" is a list of names of fields");
            return false;
        }
        o->inputs[o->input_count++] = node->text;
    }
    return true;
}

/* Those that the settings list; else the last field is the target and all others are inputs. */
static bool choose_fields(opening *o)
{
    const config_node *listed = config_get(o->settings, "inputs");
    const data_fields *fields = &o->out->fields;
    const char *last = fields->count > 0 ? fields->names[fields->count - 1] : "";
    o->target = field_text(o->c, o->settings, "data.target", last);
    o->inputs = calloc(config_count(listed) + fields->count + 1, sizeof *o->inputs);
    if (o->inputs == NULL)
        return data_fail(o->err, "there is no memory for the names of %zu fields", fields->count);
    if (listed != NULL && !list_inputs(o, listed))
        return false;
    for (size_t i = 0; listed == NULL && i < fields->count; i++) {
        if (strcmp(fields->names[i], o->target) != 0)
            o->inputs[o->input_count++] = fields->names[i];
    }
    return o->input_count > 0 || data_fail(o->err, "\"%.200s\": the table has no field besides the target \"%.100s\"",
                                           o->request->path, o->target);
}

/* For whoever feeds the model from another table. */
static bool note_fields(opening *o)
{
    size_t size = 1, used = 0;
    data_parts *d = o->out;
    for (size_t i = 0; i < o->input_count; i++)
        size += strlen(o->inputs[i]) + 1;
    d->field_names = malloc(size);
    d->target_name = strdup(o->target);
    for (size_t i = 0; d->field_names != NULL && i < o->input_count; i++)
        used += (size_t)snprintf(d->field_names + used, size - used, "%s%s", i > 0 ? "\n" : "", o->inputs[i]);
    return (d->field_names != NULL && d->target_name != NULL) ||
           data_fail(o->err, "there is no memory for the names of %zu fields", o->input_count);
}

/* ---- opening one ---- */

static mw_dataset *open_table(opening *o, const char *path, const mw_dataset *like)
{
    size_t classes = 0;
    const bool has_classes = o->request->has_classes;
    const char **names = has_classes ? labeled_class_names(like, &classes, o->err) : NULL;
    const mw_table_column columns[] = {
        {.name = "x",
         .dtype = o->request->integers ? MW_I64
                  : o->is_wide         ? MW_F64
                                       : MW_F32,
         .fields = o->inputs,
         .field_count = o->input_count},
        {.name = "y",
         .dtype = has_classes ? MW_I64 : MW_F32,
         .fields = &o->target,
         .field_count = 1,
         .classes = has_classes,
         .class_names = names,
         .class_count = names != NULL ? classes : 0},
    };
    mw_table_options options = mw_table_defaults(columns, 2);
    options.separator = o->separator;
    options.no_header = !o->header;
    mw_dataset *table = o->err->status != MW_OK ? NULL
                        : is_csv(path)          ? mw_dataset_open_csv(path, &options, o->err)
                                                : mw_dataset_open_jsonl(path, &options, o->err);
    free(names);
    return table;
}

/* Pictures, or sounds where there are any. */
static mw_dataset *open_files(opening *o, const char *path, const mw_dataset *like)
{
    o->out->is_sound = o->sounds.is_open || o->request->sound != NULL || (like == NULL && sounds_are_in(path));
    o->out->is_image = !o->out->is_sound;
    if (o->out->is_image)
        return pictures_open(&o->pictures, path, like);
    mw_dataset *dataset = sounds_open(&o->sounds, path, like);
    o->out->sound = o->sounds.options;
    return dataset;
}

/* A folder with <prefix>-images-idx3-ubyte. */
static bool is_idx(const char *folder, const char *prefix)
{
    char path[4200], name[64];
    snprintf(name, sizeof name, "%s-images-idx3-ubyte", prefix);
    if (is_there(folder, name, path, sizeof path))
        return true;
    snprintf(name, sizeof name, "%s-images-idx3-ubyte.gz", prefix);
    return is_there(folder, name, path, sizeof path);
}

static mw_dataset *open_any(opening *o, const char *path, const char *prefix, const mw_dataset *like)
{
    struct stat entry;
    if (tool_is_table(path))
        return open_table(o, path, like);
    if (stat(path, &entry) != 0 || !S_ISDIR(entry.st_mode))
        return data_open_tensors(o, path);
    if (is_idx(path, prefix)) {
        o->out->is_image = true;
        return mw_dataset_open_idx(path, prefix, o->err);
    }
    return open_files(o, path, like);
}

/* ---- what fp32 takes from the inputs ---- */

const mw_column *data_find_column(const mw_dataset *dataset, const char *name)
{
    const mw_column *column;
    for (size_t i = 0; (column = mw_dataset_column_at(dataset, i)) != NULL; i++) {
        if (strcmp(column->name, name) == 0)
            return column;
    }
    return NULL;
}

/* One sentence for a field that fp32 rounds to steps which are large beside what tells two examples apart. */
static void say_lossy(const opening *o, const data_moments *moments, size_t field)
{
    char name[120], cure[200];
    if (moments->count == o->input_count)
        mw__printable_printf(name, sizeof name, "field \"%.80s\"", o->inputs[field]);
    else
        mw__printable_printf(name, sizeof name, "element %zu of x", field);
    if (o->out->offsets.values != NULL)
        mw__printable_printf(cure, sizeof cure, "%.17g is subtracted as it is read, and a model takes what is left",
                             o->out->offsets.values[field]);
    else
        mw__printable_printf(cure, sizeof cure, "it is rounded to that: write it less about %.10g into the file",
                             data_moments_mean(moments, field));
    tool_complain("\"%.200s\", %s: fp32 has steps of %g there, the deviation is %.4g; %s", o->request->path, name,
                  data_moments_step(moments, field), data_moments_deviation(moments, field), cure);
}

static void say_all_lossy(const opening *o, const data_moments *moments)
{
    enum { SAID_MAX = 4 };
    size_t count = 0;
    for (size_t i = 0; i < moments->count; i++) {
        if (data_moments_lossy(moments, i) && count++ < SAID_MAX)
            say_lossy(o, moments, i);
    }
    if (count > SAID_MAX)
        tool_complain("and %zu more fields like these", count - SAID_MAX);
}

static bool take_moments(const opening *o, const mw_dataset *all, data_moments *out, bool *out_suspect)
{
    *out_suspect = false;
    if (!data_moments_take(out, all, "x", o->err))
        return false;
    for (size_t i = 0; i < out->count; i++)
        *out_suspect = *out_suspect || data_moments_suspect(out, i);
    return true;
}

/* The table with its numbers as fp64. NULL: what is there already is as good, or opening failed. */
static mw_dataset *open_wide(opening *o)
{
    const bool is_table = o->out->fields.count > 0;
    o->is_wide = is_table && !o->request->integers;
    return o->is_wide ? open_table(o, o->request->path, NULL) : NULL;
}

/* Replaces *set, which may be NULL, by the same with its inputs as fp32, less the offsets. */
static bool apply_offsets(opening *o, mw_dataset **set)
{
    mw_dataset *applied = *set != NULL ? data_offsets_apply(&o->out->offsets, *set, o->err) : NULL;
    if (*set == NULL)
        return true;
    mw_dataset_destroy(*set);
    *set = applied;
    return applied != NULL;
}

/* Offsets of the data itself, or none, where a network begins with (x - mean) / deviation. */
static bool find_offsets(opening *o, mw_dataset **all)
{
    bool suspect;
    data_moments moments = {0};
    const bool was_wide = data_find_column(*all, "x")->dtype != MW_F32;
    bool good = take_moments(o, *all, &moments, &suspect);
    mw_dataset *wide = good && suspect && !was_wide ? open_wide(o) : NULL;
    if (wide != NULL) {
        data_moments_free(&moments);
        good = take_moments(o, wide, &moments, &suspect);
    }
    if (good && o->err->status == MW_OK &&
        (!o->out->normalizes || data_offsets_choose(&o->out->offsets, &moments, o->err)))
        say_all_lossy(o, &moments);
    o->is_wide = wide != NULL && o->out->offsets.values != NULL;
    data_moments_free(&moments);
    mw_dataset_destroy(o->is_wide ? *all : wide);
    *all = o->is_wide ? wide : *all;
    return o->err->status == MW_OK;
}

/* Those of the training that made the model. */
static bool take_offsets(opening *o, mw_dataset **all)
{
    const data_request *r = o->request;
    data_offsets *offsets = &o->out->offsets;
    const int64_t count = mw_shape_count(data_find_column(*all, "x")->shape);
    if ((int64_t)r->offset_count != count)
        return data_fail(o->err, "\"%.200s\" has %lld numbers an example; the model was trained on %zu", r->path,
                         (long long)count, r->offset_count);
    offsets->values = calloc(r->offset_count, sizeof *offsets->values);
    if (offsets->values == NULL)
        return data_fail(o->err, "there is no memory for %zu numbers", r->offset_count);
    memcpy(offsets->values, r->offsets, r->offset_count * sizeof *offsets->values);
    offsets->count = r->offset_count;
    mw_dataset *wide = open_wide(o);
    mw_dataset_destroy(wide != NULL ? *all : NULL);
    *all = wide != NULL ? wide : *all;
    return o->err->status == MW_OK;
}

/* What is subtracted from the inputs is known before another file is opened. */
static bool choose_precision(opening *o, mw_dataset **all)
{
    data_parts *d = o->out;
    const data_request *r = o->request;
    const mw_column *x = data_find_column(*all, "x");
    const bool is_table = d->fields.count > 0;
    d->normalizes =
        !r->is_for_model && !d->is_sound && field_bool(o->c, o->settings, "data.normalize", is_table && !r->integers);
    if (x == NULL || o->err->status != MW_OK)
        return o->err->status == MW_OK;
    if (r->offset_count > 0)
        return take_offsets(o, all);
    return (!is_table && !d->normalizes && x->dtype != MW_F64) || find_offsets(o, all);
}

/* A network that normalizes has inputs of fp32, whatever the file has. */
static bool set_precision(opening *o, mw_dataset **all)
{
    const mw_column *x = data_find_column(*all, "x");
    if (x == NULL || (o->out->offsets.values == NULL && !(o->out->normalizes && x->dtype != MW_F32)))
        return true;
    return apply_offsets(o, all) && apply_offsets(o, &o->out->test);
}

/* ---- parts ---- */

/* Names of one and numbers of the other cannot be told to be the same classes. */
static bool check_test(opening *o, const char *given, const mw_dataset *training)
{
    const bool names = mw_dataset_classes(training, "y").count > 0;
    if (o->out->test == NULL || !o->request->has_classes || (mw_dataset_classes(o->out->test, "y").count > 0) == names)
        return true;
    return data_fail(o->err, "the test set \"%.200s\" %s its classes and the training set %s: give both in one format",
                     given != NULL ? given : "", names ? "does not name" : "names", names ? "does" : "does not");
}

/* "test" of the settings; "t10k" beside "train"; the folder "test" beside "train". */
static bool open_test(opening *o, const char *path, const mw_dataset *training)
{
    char beside[4200];
    data_parts *d = o->out;
    const char *given = field_text(o->c, o->settings, "data.test", NULL);
    if (given != NULL && !o->request->whole)
        d->test = open_any(o, given, "t10k", training);
    else if (is_idx(path, "t10k"))
        d->test = mw_dataset_open_idx(path, "t10k", o->err);
    else if (is_there(path, "train", beside, sizeof beside) && is_there(path, "test", beside, sizeof beside))
        d->test = open_files(o, beside, training);
    return o->err->status == MW_OK && check_test(o, given, training);
}

static mw_dataset *open_training(opening *o, const char *path)
{
    const bool parted = is_there(path, "train", o->training_path, sizeof o->training_path);
    if (parted && !is_idx(path, "train"))
        return open_files(o, o->training_path, NULL);
    snprintf(o->training_path, sizeof o->training_path, "%s", path);
    return open_any(o, path, "train", NULL);
}

static void prepare_sounds(opening *o, const mw_dataset *all)
{
    o->out->training = sounds_prepare(&o->sounds, o->out->plain, all, &o->out->threads);
}

/* Pictures and sounds changed at random; batches made ahead. */
bool data_prepare_files(opening *o, const mw_dataset *all)
{
    if (o->out->is_sound) {
        prepare_sounds(o, all);
        return o->out->training != NULL;
    }
    const pictures_part part = {.plain = o->out->plain,
                                .path = o->training_path,
                                .all = all,
                                .counts = o->counts,
                                .count = o->part_count,
                                .learned = o->learned,
                                .learned_count = o->learned_count,
                                .seed = DATA_SPLIT_SEED,
                                .divide = o->divide.share > 0 ? &o->divide : NULL};
    o->out->training = pictures_prepare(&o->pictures, &part);
    o->out->threads = o->pictures.threads;
    o->out->picture = o->pictures.is_folder ? o->pictures.options : mw_image_defaults();
    o->out->channels_first = o->out->x->shape.rank == 3 && !o->pictures.channels_last;
    o->out->mixup = o->pictures.mixup;
    o->out->cutmix = o->pictures.cutmix;
    o->out->mix_seed = o->pictures.seed;
    o->out->channels = o->pictures.has_mean ? o->pictures.options.channels : 0;
    memcpy(o->out->mean, o->pictures.mean, sizeof o->out->mean);
    memcpy(o->out->deviation, o->pictures.deviation, sizeof o->out->deviation);
    if (o->pictures.has_mean && o->out->normalizes)
        return data_fail(o->err, "\"normalize\" and \"mean\" are two ways to normalize pictures: leave one out");
    return o->out->training != NULL;
}

int64_t data_label_at(const mw_feed *feed, size_t i)
{
    switch (feed->dtype) {
    case MW_U8:
        return ((const uint8_t *)feed->data)[i];
    case MW_I64:
        return ((const int64_t *)feed->data)[i];
    case MW_I32:
        return ((const int32_t *)feed->data)[i];
    case MW_I16:
        return ((const int16_t *)feed->data)[i];
    case MW_U16:
        return ((const uint16_t *)feed->data)[i];
    case MW_I8:
        return ((const int8_t *)feed->data)[i];
    default:
        return -1;
    }
}

static bool take_label(const opening *o, int64_t label, int64_t example, int64_t *largest)
{
    *largest = label > *largest ? label : *largest;
    return label < CLASSES_MAX ||
           data_fail(o->err,
                     "\"%.200s\": y of example %lld is %lld; labels without names are 0 to %d, one "
                     "for each class",
                     o->request->path, (long long)example, (long long)label, CLASSES_MAX - 1);
}

static bool find_largest_label(const opening *o, const mw_dataset *dataset, int64_t *largest)
{
    mw_loader_options options = mw_loader_defaults(dataset, 1);
    options.shuffle = false;
    mw_loader *loader = mw_loader_create(&options, o->err);
    int64_t example = 0;
    bool good = loader != NULL;
    for (const mw_batch *batch; good && (batch = mw_loader_next(loader, o->err)) != NULL; example++) {
        for (size_t i = 0; i < batch->feed_count && good; i++) {
            const bool is_label = strcmp(batch->feeds[i].name, "y") == 0;
            for (size_t k = 0; is_label && good && k < batch->feeds[i].count; k++)
                good = take_label(o, data_label_at(&batch->feeds[i], k), example, largest);
        }
    }
    mw_loader_destroy(loader);
    return good && o->err->status == MW_OK;
}

/* Their number: as the file names them, or the largest label of all parts and one. */
static bool count_classes(opening *o, const mw_dataset *all)
{
    data_parts *d = o->out;
    int64_t largest = -1;
    d->classes = (int64_t)mw_dataset_classes(all, "y").count;
    if (d->classes == 0) {
        if (!find_largest_label(o, all, &largest) || (d->test != NULL && !find_largest_label(o, d->test, &largest)))
            return false;
        d->classes = largest + 1;
    }
    return d->classes > 1 ||
           data_fail(o->err,
                     "\"%.200s\": the target is to be a class, and there are not two of them: for values "
                     "say \"loss\": \"mse\"",
                     o->request->path);
}

static bool find_columns(opening *o, const mw_dataset *all)
{
    data_parts *d = o->out;
    d->x = data_find_column(d->plain, "x");
    d->y = data_find_column(d->plain, "y");
    if (d->x == NULL || d->y == NULL)
        return data_fail(o->err, "\"%.200s\": the data has no column \"%s\"", o->request->path,
                         d->x == NULL ? "x" : "y");
    d->classes = (int64_t)mw_dataset_classes(all, "y").count; /* labels, where a picture has several */
    return !o->request->has_classes || count_classes(o, all);
}

static bool read_offsets(data_request *request, const char *path, const char *text, mw_error *err)
{
    request->offsets = data_offsets_parse(text, &request->offset_count);
    return (request->offsets != NULL && request->offset_count > 0) ||
           data_fail(err, "\"%s\" of %.200s are no numbers: \"%.60s\"", DATA_OFFSETS_KEY, path, text);
}

bool data_request_model(data_request *request, const mw_model *model, const char *path, const char *run, mw_error *err)
{
    char *text, *table, *sound;
    if (!tool_model_text(model, path, run, DATA_OFFSETS_KEY, &text, err))
        return false;
    const bool good = text == NULL || read_offsets(request, path, text, err);
    free(text);
    if (!good || !tool_model_text(model, path, run, DATA_TABLE_KEY, &table, err))
        return false;
    request->table = table;
    if (!tool_model_text(model, path, run, TOOL_SOUND_KEY, &sound, err))
        return false;
    request->sound = sound;
    return true;
}

void data_request_free(data_request *request)
{
    free(request->offsets);
    free((void *)(uintptr_t)request->table);
    free((void *)(uintptr_t)request->sound);
    request->offsets = NULL;
    request->table = NULL;
    request->sound = NULL;
}

static bool open_parts(opening *o)
{
    const bool is_table = tool_is_table(o->request->path);
    if (data_wants_encoder(o))
        return data_open_encoded(o);
    if (is_table && !((o->out->fields.count > 0 || data_read_fields(o)) && choose_fields(o) && note_fields(o)))
        return false;
    mw_dataset *all = open_training(o, o->request->path);
    const bool good = all != NULL && choose_precision(o, &all) && open_test(o, o->request->path, all) &&
                      set_precision(o, &all) && data_split_validation(o, all) && find_columns(o, all) &&
                      data_prepare_files(o, all);
    mw_dataset_destroy(all);
    return good;
}

bool data_open(data_parts *data, config *c, const config_node *settings, const data_request *request, mw_error *err)
{
    opening o = {
        .out = data, .c = c, .settings = settings, .request = request, .err = err, .separator = ',', .header = true};
    o.pictures = (pictures){.c = c,
                            .settings = settings,
                            .input = request->input,
                            .err = err,
                            .has_classes = request->has_classes,
                            .is_usual = !request->has_network && request->input == NULL};
    o.sounds = (sounds){.c = c,
                        .settings = settings,
                        .input = request->input,
                        .said = request->sound,
                        .err = err,
                        .has_classes = request->has_classes};
    *data = (data_parts){.threads = 1};
    const bool good = open_parts(&o);
    if (data->validation == NULL && data->test != NULL && err->status == MW_OK) {
        data->validation = mw_dataset_prefetch_threads(data->test, 2 * data->threads, data->threads, err);
        data->validation_is_test = true;
    }
    free(o.inputs);
    free(o.learned);
    free(o.groups);
    return good && err->status == MW_OK;
}

void data_close(data_parts *data)
{
    mw_dataset_destroy(data->training);
    mw_dataset_destroy(data->plain);
    mw_dataset_destroy(data->validation);
    mw_dataset_destroy(data->test);
    mw_table_encoder_destroy(data->encoder);
    data_fields_free(&data->fields);
    data_offsets_free(&data->offsets);
    free(data->class_map);
    free(data->field_names);
    free(data->target_name);
    *data = (data_parts){0};
}

/* Data sets by path. */
#include "tool/data.h"

#include "tool/tool.h"

#include "base/file.h"
#include "base/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

typedef struct opening {
    data_parts *out;
    config *c;
    const config_node *settings;
    bool has_classes;
    mw_error *err;
    const char *inputs[DATA_FIELDS_MAX];
    size_t input_count;
    const char *target;
    char separator;
} opening;

static bool fail(mw_error *err, const char *format, const char *what)
{
    if (err->status == MW_OK) {
        err->status = MW_ERROR_ARGUMENT;
        snprintf(err->message, sizeof err->message, format, what);
    }
    return false;
}

static bool is_there(const char *folder, const char *name, char *out, size_t size)
{
    struct stat entry;
    snprintf(out, size, "%s/%s", folder, name);
    return stat(out, &entry) == 0;
}

/* ---- fields of tables ---- */

static bool add_field(opening *o, const char *text, size_t length)
{
    char *field = o->out->field_count < DATA_FIELDS_MAX ? malloc(length + 1) : NULL;
    if (field == NULL)
        return fail(o->err, "the table has too many fields%s", "");
    memcpy(field, text, length);
    field[length] = '\0';
    o->out->fields[o->out->field_count++] = field;
    return true;
}

/* The names in the first line of a CSV file; a quoted one may hold separators. */
static bool read_header(opening *o, const char *text)
{
    for (const char *at = text;; at++) {
        const bool quoted = *at == '"';
        const char stop[] = {o->separator, '\r', '\n', '\0'};
        const size_t length = quoted ? strcspn(at + 1, "\"") : strcspn(at, stop);
        if (!add_field(o, at + quoted, length))
            return false;
        at += length + 2 * quoted;
        if (*at != o->separator)
            return true;
    }
}

static mw_status take_key(void *user, const mw__json_item *item, mw_error *err)
{
    opening *o = user;
    (void)err;
    return item->event != MW__JSON_KEY || item->depth != 1 || add_field(o, item->text, item->length) ? MW_OK
                                                                                                     : MW_ERROR_MEMORY;
}

static bool read_fields(opening *o, const char *path, bool is_csv)
{
    char *text = NULL;
    size_t size = 0;
    const mw_allocator *heap = mw__allocator_or_default(NULL);
    if (mw__file_read(heap, path, (size_t)1 << 31, &text, &size, o->err) != MW_OK)
        return false;
    const size_t mark = strncmp(text, "\xef\xbb\xbf", 3) == 0 ? 3 : 0;
    const bool good = is_csv ? read_header(o, text + mark)
                             : mw__json_read_all(heap, text, strcspn(text, "\n"), take_key, o, o->err) == MW_OK;
    mw__free(heap, text);
    return good;
}

/* Those that the settings list; else the last field is the target and all others are inputs. */
static bool choose_fields(opening *o)
{
    const config_node *listed = config_get(o->settings, "inputs");
    data_parts *d = o->out;
    const char *last = d->field_count > 0 ? d->fields[d->field_count - 1] : "";
    o->target = config_string(o->c, o->settings, "target", last);
    for (const config_node *node = listed != NULL ? listed->first : NULL; node != NULL; node = node->next) {
        if (node->kind != CONFIG_STRING || o->input_count == DATA_FIELDS_MAX) {
            config_fail(o->c, node, "\"inputs\" is a list of names of fields");
            return false;
        }
        o->inputs[o->input_count++] = node->text;
    }
    for (size_t i = 0; listed == NULL && i < d->field_count; i++) {
        if (strcmp(d->fields[i], o->target) != 0)
            o->inputs[o->input_count++] = d->fields[i];
    }
    return o->input_count > 0 || fail(o->err, "the table has no field besides the target \"%.100s\"", o->target);
}

/* ---- opening one ---- */

static mw_dataset *open_table(opening *o, const char *path, bool is_csv, const mw_dataset *like)
{
    const char *names[DATA_FIELDS_MAX];
    const size_t classes = mw_dataset_class_count(like, "y");
    for (size_t i = 0; i < classes && i < DATA_FIELDS_MAX; i++)
        names[i] = mw_dataset_class_name(like, "y", i);
    const mw_table_column columns[] = {
        {.name = "x", .dtype = MW_F32, .fields = o->inputs, .field_count = o->input_count},
        {.name = "y",
         .dtype = o->has_classes ? MW_I64 : MW_F32,
         .fields = &o->target,
         .field_count = 1,
         .classes = o->has_classes,
         .class_names = classes > 0 ? names : NULL,
         .class_count = classes},
    };
    mw_table_options options = mw_table_defaults(columns, 2);
    options.separator = o->separator;
    options.no_header = !config_bool(o->c, o->settings, "header", true);
    return (is_csv ? mw_dataset_open_csv : mw_dataset_open_jsonl)(path, &options, o->err);
}

static mw_dataset *open_images(opening *o, const char *path)
{
    mw_image_options options = mw_image_defaults();
    options.channels = (int)config_integer(o->c, o->settings, "channels", 3, 1, 3);
    options.channels_first = true;
    o->out->is_image = true;
    return mw_dataset_open_images(path, &options, o->err);
}

static mw_dataset *open_tensors(opening *o, const char *path)
{
    const char *x = config_string(o->c, o->settings, "x", "x"), *y = config_string(o->c, o->settings, "y", "y");
    const mw_tensor_column columns[] = {{.name = "x", .tensor = x}, {.name = "y", .tensor = y}};
    return mw_dataset_open_tensors(path, columns, 2, o->err);
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
    if (tool_ends_in(path, ".csv") || tool_ends_in(path, ".tsv"))
        return open_table(o, path, true, like);
    if (tool_ends_in(path, ".jsonl") || tool_ends_in(path, ".ndjson"))
        return open_table(o, path, false, like);
    if (stat(path, &entry) != 0 || !S_ISDIR(entry.st_mode))
        return open_tensors(o, path);
    if (is_idx(path, prefix)) {
        o->out->is_image = true;
        return mw_dataset_open_idx(path, prefix, o->err);
    }
    return open_images(o, path);
}

/* ---- parts ---- */

/* A share of the training set goes to validation, unless there is a set of its own. */
static bool split(opening *o, mw_dataset *all)
{
    data_parts *d = o->out;
    const double share = config_number(o->c, o->settings, "validation", d->test != NULL ? 0 : 0.1, 0, 0.9);
    const int64_t examples = mw_dataset_examples(all), some = (int64_t)((double)examples * share);
    const int64_t counts[] = {-1, some};
    mw_dataset *parts[2] = {NULL, NULL};
    if (some == 0) {
        d->plain = mw_dataset_split(all, counts, 1, 1, parts, o->err) == MW_OK ? parts[0] : NULL;
        return d->plain != NULL;
    }
    mw_dataset_split(all, counts, 2, 1, parts, o->err);
    d->plain = parts[0];
    d->validation = parts[1];
    return d->plain != NULL;
}

/* "test" of the settings; "t10k" beside "train"; the folder "test" beside "train". */
static bool open_test(opening *o, const char *path, const mw_dataset *training)
{
    char beside[4200];
    data_parts *d = o->out;
    const char *given = config_string(o->c, o->settings, "test", NULL);
    if (given != NULL)
        d->test = open_any(o, given, "t10k", training);
    else if (is_idx(path, "t10k"))
        d->test = mw_dataset_open_idx(path, "t10k", o->err);
    else if (is_there(path, "train", beside, sizeof beside) && is_there(path, "test", beside, sizeof beside))
        d->test = open_images(o, beside);
    return o->err->status == MW_OK;
}

static mw_dataset *open_training(opening *o, const char *path)
{
    char beside[4200];
    const bool parted = is_there(path, "train", beside, sizeof beside);
    return parted && !is_idx(path, "train") ? open_images(o, beside) : open_any(o, path, "train", NULL);
}

/* Pictures moved, mirrored and changed at random; batches made ahead. */
static bool prepare(opening *o)
{
    data_parts *d = o->out;
    const config_node *settings = config_object(o->c, o->settings, "augment");
    mw_augment_options change = mw_augment_defaults("x");
    change.channels_first = d->x->shape.rank == 3;
    change.pad = (int)config_integer(o->c, settings, "pad", 0, 0, 4096);
    change.shift = (int)config_integer(o->c, settings, "shift", 0, 0, 4096);
    change.flip = (float)config_number(o->c, settings, "flip", 0, 0, 1);
    change.flip_vertical = (float)config_number(o->c, settings, "flip_vertical", 0, 0, 1);
    change.brightness = (float)config_number(o->c, settings, "brightness", 0, 0, 1e6);
    change.contrast = (float)config_number(o->c, settings, "contrast", 0, 0, 1);
    mw_dataset *changed = settings != NULL ? mw_dataset_augment(d->plain, &change, o->err) : NULL;
    d->training = mw_dataset_prefetch(settings != NULL ? changed : d->plain, 2, o->err);
    mw_dataset_destroy(changed);
    return d->training != NULL;
}

static const mw_column *find_column(const mw_dataset *dataset, const char *name)
{
    const mw_column *column;
    for (size_t i = 0; (column = mw_dataset_column_at(dataset, i)) != NULL; i++) {
        if (strcmp(column->name, name) == 0)
            return column;
    }
    return NULL;
}

/* Their number: as the file names them, or the largest label and one. */
static int64_t count_classes(const opening *o)
{
    const data_parts *d = o->out;
    const size_t named = mw_dataset_class_count(d->plain, "y");
    mw_error err = {0};
    int64_t largest = -1;
    if (named > 0)
        return (int64_t)named;
    mw_loader_options options = mw_loader_defaults(d->plain, 1);
    options.shuffle = false;
    mw_loader *loader = mw_loader_create(&options, &err);
    for (const mw_batch *batch; (batch = mw_loader_next(loader, &err)) != NULL;) {
        for (size_t i = 0; i < batch->feed_count; i++) {
            const mw_feed *feed = &batch->feeds[i];
            const int64_t label = strcmp(feed->name, "y") != 0 ? -1
                                  : feed->dtype == MW_U8       ? *(const uint8_t *)feed->data
                                  : feed->dtype == MW_I64      ? *(const int64_t *)feed->data
                                  : feed->dtype == MW_I32      ? *(const int32_t *)feed->data
                                                               : -1;
            largest = label > largest ? label : largest;
        }
    }
    mw_loader_destroy(loader);
    return largest + 1;
}

static bool find_columns(opening *o)
{
    data_parts *d = o->out;
    d->x = find_column(d->plain, "x");
    d->y = find_column(d->plain, "y");
    if (d->x == NULL || d->y == NULL)
        return fail(o->err, "the data has no column \"%s\"", d->x == NULL ? "x" : "y");
    d->classes = o->has_classes ? count_classes(o) : 0;
    return !o->has_classes || d->classes > 1 ||
           fail(o->err,
                "the target is to be a class, and there are not two of them%s: for values say \"loss\": \"mse\"", "");
}

bool data_open(data_parts *data, config *c, const config_node *settings, const char *path, bool has_classes,
               mw_error *err)
{
    opening *o = calloc(1, sizeof *o);
    *data = (data_parts){0};
    if (o == NULL)
        return fail(err, "there is no memory%s", "");
    *o = (opening){.out = data, .c = c, .settings = settings, .has_classes = has_classes, .err = err};
    o->separator = config_string(c, settings, "separator", tool_ends_in(path, ".tsv") ? "\t" : ",")[0];
    const bool is_csv = tool_ends_in(path, ".csv") || tool_ends_in(path, ".tsv");
    const bool is_table = is_csv || tool_ends_in(path, ".jsonl") || tool_ends_in(path, ".ndjson");
    bool good = !is_table || (read_fields(o, path, is_csv) && choose_fields(o));
    mw_dataset *all = good ? open_training(o, path) : NULL;
    good = all != NULL && open_test(o, path, all) && split(o, all) && find_columns(o) && prepare(o);
    mw_dataset_destroy(all);
    if (data->validation == NULL && data->test != NULL && err->status == MW_OK) {
        data->validation = mw_dataset_prefetch(data->test, 2, err);
        data->validation_is_test = true;
    }
    free(o);
    return good && err->status == MW_OK;
}

/* Columns are called "x"; a model may call its input otherwise. */
static mw_status copy_example(void *user, const mw_map_example *example, mw_error *err)
{
    const mw_dataset *source = user;
    const mw_column *column;
    (void)err;
    for (size_t i = 0; (column = mw_dataset_column_at(source, i)) != NULL; i++)
        memcpy(example->out[i], example->in[i],
               (size_t)mw_shape_count(column->shape) * ((size_t)mw_dtype_bits(column->dtype) / 8));
    return MW_OK;
}

static mw_dataset *rename_columns(mw_dataset *source, const char *name, mw_error *err)
{
    mw_column columns[16];
    size_t count = 0;
    for (const mw_column *c; count < 16 && (c = mw_dataset_column_at(source, count)) != NULL; count++) {
        columns[count] = *c;
        columns[count].data = NULL;
        columns[count].name = strcmp(c->name, "x") == 0 ? name : c->name;
    }
    return mw_dataset_map(source, columns, count, copy_example, source, 0, err);
}

static bool rename_one(mw_dataset **dataset, const char *name, mw_error *err)
{
    if (*dataset == NULL)
        return true;
    mw_dataset *renamed = rename_columns(*dataset, name, err);
    mw_dataset *ahead = mw_dataset_prefetch(renamed, 2, err);
    mw_dataset_destroy(renamed);
    mw_dataset_destroy(*dataset);
    *dataset = ahead;
    return ahead != NULL;
}

bool data_rename(data_parts *data, const char *name, mw_error *err)
{
    return strcmp(name, "x") == 0 || (rename_one(&data->training, name, err) &&
                                      rename_one(&data->validation, name, err) && rename_one(&data->test, name, err));
}

void data_close(data_parts *data)
{
    mw_dataset_destroy(data->training);
    mw_dataset_destroy(data->plain);
    mw_dataset_destroy(data->validation);
    mw_dataset_destroy(data->test);
    for (size_t i = 0; i < data->field_count; i++)
        free(data->fields[i]);
    *data = (data_parts){0};
}

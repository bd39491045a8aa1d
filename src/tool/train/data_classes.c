/* Data for a graph: columns in the names of its inputs, labels in the order of its classes. */
#include "tool/train/data.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_integer(mw_dtype dtype)
{
    return dtype == MW_U8 || dtype == MW_I8 || dtype == MW_I16 || dtype == MW_U16 || dtype == MW_I32 || dtype == MW_I64;
}

static int64_t read_label(const void *in, mw_dtype dtype)
{
    switch (dtype) {
    case MW_U8:
        return *(const uint8_t *)in;
    case MW_I8:
        return *(const int8_t *)in;
    case MW_I16:
        return *(const int16_t *)in;
    case MW_U16:
        return *(const uint16_t *)in;
    case MW_I32:
        return *(const int32_t *)in;
    default:
        return *(const int64_t *)in;
    }
}

static bool is_label(const mw_column *column) { return strcmp(column->name, "y") == 0 && is_integer(column->dtype); }

/* Negative labels are nobody's, and stay. */
static mw_status map_label(const data_renaming *r, const mw_map_example *example, int64_t given, int64_t *out,
                           mw_error *err)
{
    *out = given >= 0 && given < r->map_count ? r->map[given] : given;
    if (given < r->map_count)
        return MW_OK;
    err->status = MW_ERROR_ARGUMENT;
    snprintf(err->message, sizeof err->message, "y of example %lld is %lld; labels without names are below %lld",
             (long long)example->example, (long long)given, (long long)r->map_count);
    return err->status;
}

static mw_status copy_example(void *user, const mw_map_example *example, mw_error *err)
{
    const data_renaming *r = user;
    for (size_t i = 0; i < r->count; i++) {
        if (r->labels == MW_DTYPE_NONE || i != r->label) {
            memcpy(example->out[i], example->in[i], r->sizes[i]);
            continue;
        }
        const size_t size = (size_t)mw_dtype_bits(r->labels) / 8;
        for (size_t k = 0; k * size < r->sizes[i]; k++) {
            int64_t label = read_label((const char *)example->in[i] + k * size, r->labels);
            if (map_label(r, example, label, &label, err) != MW_OK)
                return err->status;
            memcpy((char *)example->out[i] + k * sizeof label, &label, sizeof label);
        }
    }
    return MW_OK;
}

static mw_dataset *rename_columns(data_renaming *r, const mw_dataset *source, const char *x, const char *y,
                                  mw_error *err)
{
    mw_column columns[DATA_COLUMNS_MAX];
    for (const mw_column *c; r->count < DATA_COLUMNS_MAX && (c = mw_dataset_column_at(source, r->count)) != NULL;) {
        mw_column *column = &columns[r->count];
        *column = *c;
        column->data = NULL;
        column->name = strcmp(c->name, "x") == 0 ? x : strcmp(c->name, "y") == 0 ? y : c->name;
        if (r->map != NULL && is_label(c)) {
            r->labels = c->dtype;
            r->label = r->count;
            column->dtype = MW_I64;
        }
        r->sizes[r->count++] = (size_t)mw_shape_count(c->shape) * ((size_t)mw_dtype_bits(c->dtype) / 8);
    }
    return mw_dataset_map(source, columns, r->count, copy_example, r, 0, err);
}

bool data_mixes(const data_parts *data) { return data->scores > 0 && (data->mixup > 0.0f || data->cutmix > 0.0f); }

/* Labels as probabilities; pictures of the training part mixed with others. NULL is passed on. */
static mw_dataset *mix_labels(const data_parts *data, mw_dataset *renamed, bool is_training, const char *x,
                              const char *y, mw_error *err)
{
    mw_mix_options options = mw_mix_defaults(x, y, data->scores);
    if (!data_mixes(data) || renamed == NULL)
        return renamed;
    options.channels_first = data->channels_first;
    options.seed = data->mix_seed;
    options.mixup = is_training ? data->mixup : 0.0f;
    options.cutmix = is_training ? data->cutmix : 0.0f;
    mw_dataset *mixed = mw_dataset_mix(renamed, &options, err);
    mw_dataset_destroy(renamed);
    return mixed;
}

/* Pictures as a model has learned them. NULL is passed on. */
static mw_dataset *normalize_pictures(const data_parts *data, mw_dataset *renamed, const char *x, mw_error *err)
{
    if (data->channels == 0 || renamed == NULL)
        return renamed;
    mw_normalize_options options = mw_normalize_defaults(x, data->mean, data->deviation, (size_t)data->channels);
    options.channels_first = data->channels_first;
    mw_dataset *normalized = mw_dataset_normalize(renamed, &options, err);
    mw_dataset_destroy(renamed);
    return normalized;
}

static bool rename_one(data_parts *data, mw_dataset **dataset, const char *x, const char *y, mw_error *err)
{
    if (*dataset == NULL)
        return true;
    data_renaming *r = &data->renamings[data->renaming_count++];
    *r = (data_renaming){.map = data->class_map, .map_count = data->class_map_count};
    mw_dataset *renamed = rename_columns(r, *dataset, x, y, err);
    const int threads = data->threads > 1 ? data->threads : 1;
    renamed = mix_labels(data, renamed, dataset == &data->training, x, y, err);
    renamed = normalize_pictures(data, renamed, x, err);
    mw_dataset *ahead = mw_dataset_prefetch_threads(renamed, 2 * threads, threads, err);
    mw_dataset_destroy(renamed);
    mw_dataset_destroy(*dataset);
    *dataset = ahead;
    return ahead != NULL;
}

/* `counts` are added to. */
static void note_labels(const mw_feed *feed, int64_t classes, int64_t *counts)
{
    const size_t size = (size_t)mw_dtype_bits(feed->dtype) / 8;
    for (size_t k = 0; k < feed->count; k++) {
        const int64_t label = read_label((const char *)feed->data + k * size, feed->dtype);
        if (label >= 0 && label < classes)
            counts[label]++;
    }
}

static void count_labels(const mw_dataset *dataset, int64_t classes, int64_t *counts, mw_error *err)
{
    mw_loader_options options = mw_loader_defaults(dataset, 1);
    options.shuffle = false;
    mw_loader *loader = dataset != NULL ? mw_loader_create(&options, err) : NULL;
    for (const mw_batch *batch; loader != NULL && (batch = mw_loader_next(loader, err)) != NULL;) {
        for (size_t i = 0; i < batch->feed_count; i++) {
            if (strcmp(batch->feeds[i].name, "y") == 0 && is_integer(batch->feeds[i].dtype))
                note_labels(&batch->feeds[i], classes, counts);
        }
    }
    mw_loader_destroy(loader);
}

bool *data_find_labels(const data_parts *data, mw_error *err)
{
    const size_t classes = (size_t)data->classes;
    bool *found = calloc(classes + 1, sizeof *found);
    int64_t *counts = calloc(classes + 1, sizeof *counts);
    if (found != NULL && counts != NULL) {
        count_labels(data->plain, data->classes, counts, err);
        count_labels(data->validation, data->classes, counts, err);
        count_labels(data->test, data->classes, counts, err);
        for (size_t i = 0; i < classes; i++)
            found[i] = counts[i] > 0;
    } else {
        free(found);
        found = NULL;
    }
    free(counts);
    return found;
}

int64_t *data_count_labels(const data_parts *data, mw_error *err)
{
    int64_t *counts = calloc((size_t)data->classes + 1, sizeof *counts);
    if (counts != NULL)
        count_labels(data->plain, data->classes, counts, err);
    else
        err->status = MW_ERROR_MEMORY;
    return counts;
}

int64_t *data_read_labels(const data_parts *data, mw_error *err)
{
    const int64_t examples = mw_dataset_examples(data->plain);
    mw_loader_options options = mw_loader_defaults(data->plain, 1);
    options.shuffle = false;
    mw_loader *loader = mw_loader_create(&options, err);
    int64_t *labels = loader != NULL ? calloc((size_t)examples + 1, sizeof *labels) : NULL;
    const mw_batch *batch;
    for (int64_t i = 0; labels != NULL && i < examples && (batch = mw_loader_next(loader, err)) != NULL; i++) {
        labels[i] = -1;
        for (size_t k = 0; k < batch->feed_count; k++)
            if (strcmp(batch->feeds[k].name, "y") == 0 && is_integer(batch->feeds[k].dtype))
                labels[i] = read_label(batch->feeds[k].data, batch->feeds[k].dtype);
    }
    mw_loader_destroy(loader);
    if (labels == NULL && err->status == MW_OK)
        err->status = MW_ERROR_MEMORY;
    return labels;
}

void data_map_classes(data_parts *data, int64_t *map, int64_t classes)
{
    bool same = true;
    for (int64_t i = 0; map != NULL && i < data->classes; i++)
        same = same && (map[i] == i || map[i] < 0);
    if (map == NULL || same) {
        free(map);
        return;
    }
    data->class_map = map;
    data->class_map_count = data->classes;
    data->classes = classes;
}

bool data_rename(data_parts *data, const char *x, const char *y, mw_error *err)
{
    if (strcmp(x, "x") == 0 && strcmp(y, "y") == 0 && data->class_map == NULL && !data_mixes(data) &&
        data->channels == 0)
        return true;
    return rename_one(data, &data->training, x, y, err) && rename_one(data, &data->validation, x, y, err) &&
           rename_one(data, &data->test, x, y, err);
}

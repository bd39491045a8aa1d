/* Folds of data that is no table with an encoder: examples dealt out in a random order, those of each class evenly. */
#include "tool/train/data_opening.h"

#include "base/number/random.h"

#include <stdlib.h>
#include <string.h>

enum { SEED = 1, CLASSES_MAX = 1 << 20 };

static void note_class(int32_t *out, int32_t *most, int64_t label)
{
    *out = label >= 0 && label < CLASSES_MAX ? (int32_t)label : 0;
    *most = *out > *most ? *out : *most;
}

/* The class of each example; all 0 where there are none. NULL with the error set. */
static int32_t *read_classes(const opening *o, const mw_dataset *all, int32_t *out_most)
{
    const mw_column *y = data_find_column(all, "y");
    const int64_t count = mw_dataset_examples(all);
    int32_t *classes = calloc((size_t)count + 1, sizeof *classes);
    mw_loader_options options = mw_loader_defaults(all, 1);
    options.shuffle = false;
    *out_most = 0;
    if (classes == NULL)
        data_fail(o->err, "there is no memory for the labels of %lld examples", (long long)count);
    if (classes == NULL || y == NULL || !o->request->has_classes || mw_shape_count(y->shape) != 1)
        return classes;
    if (y->data != NULL) {
        const mw_feed stored = {.dtype = y->dtype, .data = y->data, .count = (size_t)count};
        for (int64_t i = 0; i < count; i++)
            note_class(&classes[i], out_most, data_label_at(&stored, (size_t)i));
        return classes;
    }
    mw_loader *loader = mw_loader_create(&options, o->err);
    const mw_batch *batch;
    for (int64_t i = 0; loader != NULL && i < count && (batch = mw_loader_next(loader, o->err)) != NULL; i++)
        for (size_t k = 0; k < batch->feed_count; k++)
            if (strcmp(batch->feeds[k].name, "y") == 0)
                note_class(&classes[i], out_most, data_label_at(&batch->feeds[k], 0));
    mw_loader_destroy(loader);
    return classes;
}

/* fold_of [count]: the examples of each class in a random order, each in the fold behind that of the one before. */
static bool deal_out(const opening *o, const int32_t *classes, int32_t most, int64_t count, int *fold_of)
{
    uint32_t *order = calloc((size_t)count + 1, sizeof *order);
    int64_t *next = calloc((size_t)most + 2, sizeof *next);
    mw__random random = {.seed = SEED};
    const bool good = order != NULL && next != NULL;
    for (int64_t i = 0; good && i < count; i++)
        order[i] = (uint32_t)i;
    if (good)
        mw__random_shuffle(&random, order, (size_t)count);
    for (int64_t i = 0; good && i < count; i++)
        next[classes[i] + 1]++;
    for (int32_t c = 0; good && c < most; c++)
        next[c + 1] += next[c];
    for (int64_t i = 0; good && i < count; i++)
        fold_of[order[i]] = (int)(next[classes[order[i]]]++ % o->request->folds);
    free(order);
    free(next);
    return good || data_fail(o->err, "there is no memory for the order of %lld examples", (long long)count);
}

static bool take_parts(opening *o, const mw_dataset *all, const int *fold_of, int64_t count)
{
    int64_t *kept = calloc((size_t)count + 1, sizeof *kept), kept_count = 0;
    o->learned = calloc((size_t)count + 1, sizeof *o->learned);
    const bool good = kept != NULL && o->learned != NULL;
    for (int64_t i = 0; good && i < count; i++) {
        if (fold_of[i] == o->request->fold)
            kept[kept_count++] = i;
        else
            o->learned[o->learned_count++] = i;
    }
    o->out->plain = good ? mw_dataset_subset(all, o->learned, o->learned_count, o->err) : NULL;
    o->out->validation = good ? mw_dataset_subset(all, kept, kept_count, o->err) : NULL;
    free(kept);
    return o->out->plain != NULL && o->out->validation != NULL;
}

bool data_split_folds(opening *o, const mw_dataset *all)
{
    int32_t most;
    const int64_t count = mw_dataset_examples(all);
    if (count < o->request->folds || count > INT32_MAX)
        return data_fail(o->err, "\"%.200s\": %lld examples cannot be %d folds", o->request->path, (long long)count,
                         o->request->folds);
    int32_t *classes = read_classes(o, all, &most);
    int *fold_of = calloc((size_t)count + 1, sizeof *fold_of);
    const bool good = classes != NULL && fold_of != NULL && o->err->status == MW_OK &&
                      deal_out(o, classes, most, count, fold_of) && take_parts(o, all, fold_of, count);
    free(classes);
    free(fold_of);
    return good;
}

/* Columns that grow, and are thinned out when they are full. */
#include "tool/predict/kept.h"

#include "tool/predict/raw.h"

#include <stdlib.h>
#include <string.h>

enum { ROOM_FIRST = 1024, NAME_BYTES = 280, BATCH = 64 };

void kept_begin(kept_numbers *k, const answer *a)
{
    const bool is_class = a->task == ANSWER_CLASSES;
    *k = (kept_numbers){.every = 1, .is_probability = a->task != ANSWER_VALUES};
    k->width = !is_class ? a->width : a->width == 2 ? 1 : 0;
    k->width = k->width < KEPT_COLUMNS_MAX ? k->width : KEPT_COLUMNS_MAX;
}

static bool grow_columns(kept_numbers *k, mw_error *err)
{
    const size_t capacity = k->capacity > 0 ? 2 * k->capacity : ROOM_FIRST;
    for (int64_t i = 0; i < k->width; i++) {
        float *predicted = realloc(k->predicted[i], capacity * sizeof *predicted);
        k->predicted[i] = predicted != NULL ? predicted : k->predicted[i];
        float *truth = realloc(k->truth[i], capacity * sizeof *truth);
        k->truth[i] = truth != NULL ? truth : k->truth[i];
        if (predicted == NULL || truth == NULL)
            return raw_fail_memory(err);
    }
    k->capacity = capacity;
    return true;
}

/* Every second stays. */
static void thin_columns(kept_numbers *k)
{
    for (int64_t i = 0; i < k->width; i++)
        for (size_t at = 0; at < k->count / 2; at++) {
            k->predicted[i][at] = k->predicted[i][2 * at];
            k->truth[i][at] = k->truth[i][2 * at];
        }
    k->count /= 2;
    k->every *= 2;
}

bool kept_add(kept_numbers *k, const answer *a, const float *predicted, const float *truth, int64_t label,
              mw_error *err)
{
    if (k->width == 0 || k->seen++ % k->every != 0)
        return true;
    if (k->count == KEPT_EXAMPLES_MAX) {
        thin_columns(k);
        if ((k->seen - 1) % k->every != 0)
            return true;
    }
    if (k->count == k->capacity && !grow_columns(k, err))
        return false;
    for (int64_t i = 0; i < k->width; i++) {
        k->predicted[i][k->count] = predicted[a->task == ANSWER_CLASSES ? 1 : i];
        k->truth[i][k->count] = truth == NULL ? (float)(label == 1) : k->is_probability ? truth[i] >= 0.5f : truth[i];
    }
    k->count++;
    return true;
}

/* ---- a data set ---- */

typedef struct kept_run {
    const kept_set *set;
    mw_predictor *predictor;
    mw_loader *loader;
    float *predicted, *truth; /* [batch, width] */
} kept_run;

static const mw_feed *find_truth(const kept_set *set, const mw_batch *batch)
{
    for (size_t i = 0; i < batch->feed_count; i++)
        if (strcmp(batch->feeds[i].name, set->label) == 0)
            return &batch->feeds[i];
    return NULL;
}

/* The loader fills the last batch up: all of it is predicted, and what is no example is left out. */
static bool predict_batch(kept_numbers *k, kept_run *run, const mw_batch *batch, mw_error *err)
{
    answer *a = run->set->answer;
    const size_t count = (size_t)(BATCH * a->width);
    const mw_feed *y = find_truth(run->set, batch);
    mw_batch whole = *batch;
    whole.examples = BATCH;
    if (y == NULL || y->count != count)
        return raw_fail(err, MW_ERROR_SHAPE,
                        "the data has %lld numbers of an example in \"%.60s\", and the model gives %lld",
                        y != NULL ? (long long)y->count / BATCH : 0LL, run->set->label, (long long)a->width);
    const mw_result result = {a->result, MW_F32, run->predicted, count};
    if (mw_predictor_predict(run->predictor, &whole, &result, 1, err) != MW_OK)
        return false;
    answer_finish(a, run->predicted, batch->examples);
    for (size_t i = 0; i < count; i++)
        run->truth[i] = (float)raw_in_unit(run->set->encoder, (int64_t)i, raw_number_at(y, i));
    bool good = true;
    for (int64_t i = 0; good && i < batch->examples; i++)
        good = kept_add(k, a, run->predicted + i * a->width, run->truth + i * a->width, 0, err);
    return good;
}

bool kept_predict(kept_numbers *k, const kept_set *set, mw_error *err)
{
    const mw_batch *batch;
    mw_loader_options options = mw_loader_defaults(set->dataset, BATCH);
    options.shuffle = options.drop_last = false;
    const size_t count = (size_t)(BATCH * set->answer->width);
    kept_run run = {.set = set, .predicted = malloc(count * sizeof(float)), .truth = malloc(count * sizeof(float))};
    bool good = run.predicted != NULL && run.truth != NULL;
    if (!good)
        raw_fail_memory(err);
    run.predictor = good ? mw_predictor_create(set->model, err) : NULL;
    run.loader = run.predictor != NULL ? mw_loader_create(&options, err) : NULL;
    while (good && run.loader != NULL && (batch = mw_loader_next(run.loader, err)) != NULL)
        good = predict_batch(k, &run, batch, err);
    mw_loader_destroy(run.loader);
    mw_predictor_destroy(run.predictor);
    free(run.predicted);
    free(run.truth);
    return good && err->status == MW_OK;
}

/* ---- a page ---- */

bool kept_say(kept_numbers *k, const answer *a, mw_report_options *options, mw_error *err)
{
    char name[NAME_BYTES];
    for (int64_t i = 0; i < k->width; i++) {
        free(k->names[i]);
        k->names[i] = strdup(answer_name(a, a->task == ANSWER_CLASSES ? 1 : i, name, sizeof name));
        if (k->names[i] == NULL)
            return raw_fail_memory(err);
        k->said[i] = (mw_report_numbers){k->names[i], k->is_probability, k->predicted[i], k->truth[i], k->count};
    }
    options->numbers = k->said;
    options->number_count = k->count > 0 ? (size_t)k->width : 0;
    return true;
}

void kept_free(kept_numbers *k)
{
    for (size_t i = 0; i < KEPT_COLUMNS_MAX; i++) {
        free(k->predicted[i]);
        free(k->truth[i]);
        free(k->names[i]);
    }
    *k = (kept_numbers){.width = 0};
}

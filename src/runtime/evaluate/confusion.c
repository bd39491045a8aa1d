/* Which classes are taken for which: the prediction of every example against its label. */
#include "base/memory/checked.h"
#include "base/number/float_mode.h"
#include "graph/values/convert.h"
#include "graph/values/feeds.h"
#include "runtime/data/classes.h"
#include "runtime/evaluate/view.h"
#include "runtime/trainer/object/trainer_object.h"
#include "runtime/trainer/ranks/trainer_ranks.h"

#include <inttypes.h>
#include <math.h>
#include <millwright/evaluate.h>
#include <stdio.h>
#include <string.h>

/* One count over a data set. */
typedef struct counting {
    mw_trainer *trainer;
    const char *labels; /* column */
    int64_t classes;
    size_t rows;      /* of an example: each has a label and a prediction */
    float *predicted; /* [batch * rows * classes] */
    float *label;     /* [batch * rows] */
    int64_t *counts;
} counting;

/* ---- what is counted ---- */

static bool is_integer(mw_dtype dtype)
{
    return dtype == MW_I8 || dtype == MW_U8 || dtype == MW_I16 || dtype == MW_U16 || dtype == MW_I32 || dtype == MW_U32;
}

static int64_t elements(const mw_column *column)
{
    int64_t count = 1;
    for (int i = 0; i < column->shape.rank; i++)
        count *= column->shape.dim[i];
    return count;
}

/* Pixels are integers with a scale, which labels never have. */
static bool may_be_labels(const mw_column *column)
{
    const bool scaled = (column->scale != 0.0f && column->scale != 1.0f) || column->offset != 0.0f;
    return is_integer(column->dtype) && !scaled;
}

static mw_status fail_labels(const mw_dataset *data, const char *name, size_t found, mw_error *err)
{
    char list[256] = "";
    const mw_column *column;
    for (size_t i = 0; (column = mw_dataset_column_at(data, i)) != NULL && strlen(list) < sizeof list / 2; i++)
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s\"%.64s\"", i > 0 ? ", " : "", column->name);
    if (name != NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "confusion: the data set has no column \"%.100s\"; it has %s", name,
                        list);
    return mw__fail(err, MW_ERROR_ARGUMENT,
                    "confusion: %zu columns of the data set hold integers without a scale; say by `labels` which has "
                    "the labels: it has %s",
                    found, list);
}

/* The column of that name, or the only one that may have labels. */
static mw_status find_labels(const mw_dataset *data, const char *name, const mw_column **out, mw_error *err)
{
    size_t found = 0;
    const mw_column *column;
    for (size_t i = 0; (column = mw_dataset_column_at(data, i)) != NULL; i++) {
        if (name != NULL ? strcmp(column->name, name) != 0 : !may_be_labels(column))
            continue;
        *out = column;
        found++;
    }
    return found == 1 ? MW_OK : fail_labels(data, name, found, err);
}

static mw_status check_shapes(counting *c, const mw_column *labels, mw_error *err)
{
    const mw_trainer *t = c->trainer;
    if (t->model.prediction == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "the trainer has no prediction: set it in mw_trainer_options");
    const mw_shape shape = mw_tensor_shape(t->model.prediction);
    const int64_t last = shape.rank > 0 ? shape.dim[shape.rank - 1] : 1;
    const int64_t rows = elements(labels);
    if (last != c->classes)
        return mw__fail(err, MW_ERROR_SHAPE,
                        "confusion: the last axis of the prediction has %" PRId64
                        " elements, not one for each of %" PRId64 " classes",
                        last, c->classes);
    if (mw_shape_count(shape) != t->progress.batch * rows * c->classes)
        return mw__fail(err, MW_ERROR_SHAPE,
                        "confusion: a prediction of %" PRId64 " elements for batches of %" PRId64
                        " examples with %" PRId64 " labels each; it needs %" PRId64 " for each label",
                        mw_shape_count(shape), t->progress.batch, rows, c->classes);
    c->labels = labels->name;
    c->rows = (size_t)rows;
    return MW_OK;
}

/* ---- counting ---- */

/* The first of the largest; NaN counts as the largest, as in argmax. */
static int64_t largest(const float *row, int64_t classes)
{
    int64_t at = 0;
    for (int64_t i = 1; i < classes && !isnan(row[at]); i++)
        if (isnan(row[i]) || row[i] > row[at])
            at = i;
    return at;
}

static mw_status count_row(counting *c, size_t row, const mw_batch *batch, mw_error *err)
{
    const float label = c->label[row];
    if (label < 0.0f)
        return MW_OK;
    if (label >= (float)c->classes || label != floorf(label)) {
        const size_t example = row / c->rows;
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "confusion: the label of example %" PRId64 " is %g, not one of %" PRId64 " classes",
                        batch->ids != NULL ? batch->ids[example] : (int64_t)example, (double)label, c->classes);
    }
    c->counts[(int64_t)label * c->classes + largest(c->predicted + row * (size_t)c->classes, c->classes)]++;
    return MW_OK;
}

static mw_status count_batch(counting *c, const mw_batch *batch, mw_error *err)
{
    const mw_trainer *t = c->trainer;
    const size_t all = (size_t)t->progress.batch * c->rows;
    const mw_feed *feed = mw__feeds_find(batch, c->labels);
    if (feed == NULL || feed->count != all)
        return mw__fail(err, MW_ERROR_SHAPE, "confusion: a batch has no %zu labels in \"%.100s\"", all, c->labels);
    const mw__values values = {.data = feed->data, .dtype = feed->dtype, .count = all};
    MW_TRY(mw__convert(c->label, MW_F32, &values, err));
    MW_TRY(mw_trainer_predict(c->trainer, batch, MW_F32, c->predicted, all * (size_t)c->classes, err));
    for (size_t row = 0; row < (size_t)batch->examples * c->rows; row++) /* what fills up a short one does not count */
        MW_TRY(count_row(c, row, batch, err));
    return MW_OK;
}

static mw_status count_batches(counting *c, mw_loader *loader, mw_error *err)
{
    const int64_t batches = mw_loader_batches(loader);
    for (int64_t i = 0; i < batches; i++) {
        const mw_batch *batch = mw_loader_next(loader, err);
        if (batch == NULL)
            return mw__status_or(err, MW_ERROR_STATE);
        MW_TRY(count_batch(c, batch, err));
    }
    return MW_OK;
}

/* Counts are whole numbers below 2^53, so that their sums are exact. */
static mw_status sum_over_ranks(const counting *c, mw_error *err)
{
    const size_t count = (size_t)(c->classes * c->classes);
    double *sums = mw__alloc(c->trainer->allocator, count, sizeof *sums, err);
    if (sums == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < count; i++)
        sums[i] = (double)c->counts[i];
    const mw_status status = mw__ranks_allreduce(c->trainer->ranks->communicator, sums, count, MW_F64, err);
    for (size_t i = 0; i < count; i++)
        c->counts[i] = (int64_t)sums[i];
    mw__free(c->trainer->allocator, sums);
    return status;
}

static mw_status count_all(counting *c, const mw_dataset *dataset, mw_error *err)
{
    mw_trainer *t = c->trainer;
    mw_loader_options options = mw_loader_defaults(dataset, t->progress.batch);
    options.shuffle = options.drop_last = false;
    options.allocator = t->allocator;
    if (t->ranks != NULL)
        MW_TRY(mw__trainer_synchronize(t, err));
    mw__trainer_share_batches(t, &options);
    const size_t rows = (size_t)t->progress.batch * c->rows;
    c->predicted = mw__alloc(t->allocator, rows * (size_t)c->classes, sizeof *c->predicted, err);
    c->label = mw__alloc(t->allocator, rows, sizeof *c->label, err);
    mw_loader *loader = c->predicted != NULL && c->label != NULL ? mw_loader_create(&options, err) : NULL;
    mw_status status = loader != NULL ? count_batches(c, loader, err) : mw__status_or(err, MW_ERROR_MEMORY);
    if (status == MW_OK && t->ranks != NULL)
        status = sum_over_ranks(c, err);
    mw_loader_destroy(loader);
    mw__free(t->allocator, c->label);
    mw__free(t->allocator, c->predicted);
    return t->ranks != NULL ? mw__communicator_end(t->ranks->communicator, status, err) : status;
}

static mw_status check_confusion(const mw_confusion *confusion, mw_error *err)
{
    if (confusion->counts == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "confusion: the memory for the counts is NULL");
    if (confusion->classes < 1 || confusion->classes > MW_CONFUSION_CLASSES_MAX)
        return mw__fail(err, MW_ERROR_ARGUMENT, "confusion: %" PRId64 " classes, not 1 to %d", confusion->classes,
                        MW_CONFUSION_CLASSES_MAX);
    return MW_OK;
}

static mw_status count_classes(mw_trainer *trainer, const mw_dataset *dataset, const mw_confusion *confusion,
                               mw_error *err)
{
    const mw_column *column = NULL;
    const int64_t classes = confusion->classes;
    MW_TRY(check_confusion(confusion, err));
    counting c = {.trainer = trainer, .classes = classes, .counts = confusion->counts};
    MW_TRY(find_labels(dataset, confusion->labels, &column, err));
    MW_TRY(check_shapes(&c, column, err));
    memset(c.counts, 0, (size_t)(classes * classes) * sizeof *c.counts);
    return count_all(&c, dataset, err);
}

/* The end of an epoch and an error are distinguished by the error, also when the caller wants none. */
mw_status mw__trainer_count_classes(mw_trainer *trainer, const mw_dataset *dataset, const mw_confusion *confusion,
                                    mw_error *err)
{
    mw_error local = {0};
    const mw_status status = count_classes(trainer, dataset, confusion, &local);
    if (status != MW_OK && err != NULL)
        *err = local;
    return status;
}

/* ---- figures ---- */

static double ratio(int64_t above, int64_t below) { return below > 0 ? (double)above / (double)below : 0.0; }

mw_class_figures mw_confusion_class(const int64_t *counts, int64_t classes, int64_t index)
{
    mw_class_figures f = {0};
    if (counts == NULL || index < 0 || index >= classes)
        return f;
    for (int64_t i = 0; i < classes; i++) {
        f.support += counts[index * classes + i];
        f.predicted += counts[i * classes + index];
    }
    f.correct = counts[index * classes + index];
    f.precision = ratio(f.correct, f.predicted);
    f.recall = ratio(f.correct, f.support);
    f.f1 = ratio(2 * f.correct, f.support + f.predicted);
    return f;
}

mw_confusion_figures mw_confusion_all(const int64_t *counts, int64_t classes)
{
    mw_confusion_figures all = {0};
    int64_t present = 0;
    for (int64_t i = 0; counts != NULL && i < classes; i++) {
        const mw_class_figures f = mw_confusion_class(counts, classes, i);
        all.labels += f.support;
        all.correct += f.correct;
        all.macro_precision += f.precision, all.macro_recall += f.recall, all.macro_f1 += f.f1;
        present += f.support > 0 || f.predicted > 0;
    }
    all.accuracy = ratio(all.correct, all.labels);
    if (present == 0)
        return all;
    all.macro_precision /= (double)present;
    all.macro_recall /= (double)present;
    all.macro_f1 /= (double)present;
    return all;
}

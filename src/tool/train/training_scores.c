/* Figures of classes, of yes and no, and of values in the unit of the target. */
#include "tool/train/training_scores.h"

#include "tool/show/results.h"
#include "tool/train/network.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Numbers that figures in order keep; more of them, and only sums are taken. */
enum { KEPT_MAX = 1 << 22 };

static mw_score_task task_of(const training *t)
{
    return recipe_has_classes(t->loss_kind)  ? MW_SCORE_CLASSES
           : recipe_has_labels(t->loss_kind) ? MW_SCORE_LABELS
                                             : MW_SCORE_VALUES;
}

/* Numbers that the network gives of an example, or of a place of it. */
static int64_t width_of(const training *t)
{
    const mw_shape shape = mw_tensor_shape(t->out);
    if (t->places > 1)
        return shape.dim[shape.rank - 1];
    return shape.rank > 0 && shape.dim[0] > 0 ? mw_shape_count(shape) / shape.dim[0] : 0;
}

static mw_scores *make_scores(training *t, int64_t examples, mw_error *err)
{
    const mw_score_task task = task_of(t);
    const int64_t width = width_of(t);
    const char *usual = task == MW_SCORE_CLASSES && examples * width > KEPT_MAX
                            ? "accuracy,balanced_accuracy,f1_macro,log_loss"
                        : task == MW_SCORE_LABELS && examples * width > KEPT_MAX ? "accuracy,f1_macro,log_loss"
                                                                                 : NULL;
    return mw_scores_create(task, width, t->scores != NULL ? t->scores : usual, err);
}

bool training_scores_choose(training *t)
{
    mw_error local = {0};
    if (t->text != NULL)
        return true;
    t->scores = field_text(&t->c, t->c.root, "scores", NULL);
    if (t->scores == NULL || t->err->status != MW_OK)
        return t->err->status == MW_OK;
    mw_scores *made = make_scores(t, 0, &local);
    mw_scores_destroy(made);
    if (made == NULL)
        config_fail(&t->c, config_get(t->c.root, "scores"), "%s", local.message);
    return made != NULL;
}

/* ---- one batch ---- */

/* Arrays of a batch. */
typedef struct scoring {
    training *t;
    mw_error *err; /* a figure that cannot be found ends no training */
    mw_scores *scores;
    int64_t batch, width;   /* examples, or places of them */
    size_t targets_of_each; /* fields that are predicted, of a table */
    float *out, *targets;   /* [batch, width] */
    int32_t *labels;        /* [batch, width], or [batch] of classes */
} scoring;

static const mw_feed *find_labels(const scoring *s, const mw_batch *batch)
{
    for (size_t i = 0; i < batch->feed_count; i++)
        if (strcmp(batch->feeds[i].name, s->t->label) == 0)
            return &batch->feeds[i];
    return NULL;
}

static double number_at(const mw_feed *feed, size_t i)
{
    switch (feed->dtype) {
    case MW_U8:
        return ((const uint8_t *)feed->data)[i];
    case MW_I8:
        return ((const int8_t *)feed->data)[i];
    case MW_I16:
        return ((const int16_t *)feed->data)[i];
    case MW_U16:
        return ((const uint16_t *)feed->data)[i];
    case MW_I32:
        return ((const int32_t *)feed->data)[i];
    case MW_I64:
        return (double)((const int64_t *)feed->data)[i];
    case MW_F32:
        return (double)((const float *)feed->data)[i];
    case MW_F64:
        return ((const double *)feed->data)[i];
    default:
        return NAN;
    }
}

/* As a batch is converted, and back from the scale that is learned in. */
static float target_at(const scoring *s, const mw_feed *feed, size_t i)
{
    const double scale = feed->scale != 0.0f ? (double)feed->scale : 1,
                 value = number_at(feed, i) * scale + (double)feed->offset;
    if (s->t->scaled == NULL || s->t->data.encoder == NULL)
        return (float)value;
    mw_encoded_target target;
    if (!mw_table_encoder_target_at(s->t->data.encoder, i % s->targets_of_each, &target))
        return (float)value;
    const double back = target.mean + target.deviation * value;
    return (float)(target.logarithm ? exp(back) : back);
}

static void prepare_values(const scoring *s, const mw_feed *feed, size_t examples)
{
    const size_t count = examples * (size_t)s->width;
    const mw_score_task task = task_of(s->t);
    for (size_t i = 0; i < count; i++) {
        s->targets[i] = target_at(s, feed, i);
        s->labels[i] = s->targets[i] >= 0.5f;
        if (task == MW_SCORE_LABELS)
            s->out[i] = (float)(1 / (1 + exp(-(double)s->out[i])));
    }
}

static void prepare_classes(const scoring *s, const mw_feed *feed, size_t examples)
{
    for (size_t i = 0; i < examples; i++) {
        s->labels[i] = (int32_t)number_at(feed, i);
        s->labels[i] = s->labels[i] == s->t->ignore ? -1 : s->labels[i];
        if (!s->t->probabilities)
            tool_soften(s->out + i * (size_t)s->width, s->width);
    }
}

static bool add_batch(const scoring *s, const mw_batch *batch)
{
    training *t = s->t;
    const mw_feed *feed = find_labels(s, batch);
    const size_t examples = (size_t)(batch->examples * t->places);
    const bool is_class = task_of(t) == MW_SCORE_CLASSES;
    const size_t of_each = is_class ? 1 : (size_t)s->width;
    if (feed == NULL || feed->count != (size_t)s->batch * of_each ||
        mw_trainer_predict(t->trainer, batch, MW_F32, s->out, (size_t)(s->batch * s->width), s->err) != MW_OK)
        return false;
    if (is_class)
        prepare_classes(s, feed, examples);
    else
        prepare_values(s, feed, examples);
    const mw_score_batch given = {
        .examples = examples, .predictions = s->out, .labels = s->labels, .targets = s->targets};
    return mw_scores_add(s->scores, &given, s->err) == MW_OK;
}

/* ---- a set ---- */

static bool add_all(const scoring *s, const mw_dataset *data)
{
    mw_loader_options options = mw_loader_defaults(data, s->t->batch);
    options.shuffle = options.drop_last = false;
    mw_loader *loader = mw_loader_create(&options, s->err);
    bool good = loader != NULL;
    for (const mw_batch *batch; good && (batch = mw_loader_next(loader, s->err)) != NULL;)
        good = add_batch(s, batch);
    mw_loader_destroy(loader);
    return good && s->err->status == MW_OK;
}

mw_scores *training_scores_find(training *t, const mw_dataset *data)
{
    const mw_shape shape = mw_tensor_shape(t->out);
    mw_error local = {0};
    scoring s = {.t = t, .err = &local, .batch = t->batch * t->places, .width = width_of(t)};
    if (t->text != NULL || s.width < 1 || shape.dim[0] != t->batch || (task_of(t) == MW_SCORE_CLASSES && s.width < 2))
        return NULL;
    const size_t count = (size_t)(s.batch * s.width);
    mw_encoded_target target;
    while (mw_table_encoder_target_at(t->data.encoder, s.targets_of_each, &target))
        s.targets_of_each++;
    s.out = calloc(count, sizeof *s.out);
    s.targets = calloc(count, sizeof *s.targets);
    s.labels = calloc(count, sizeof *s.labels);
    s.scores = make_scores(t, mw_dataset_examples(data) * t->places, &local);
    const bool good = s.out != NULL && s.targets != NULL && s.labels != NULL && s.scores != NULL && add_all(&s, data);
    if (!good) {
        tool_complain("there are no figures: %s", local.message[0] != '\0' ? local.message : "there is no memory");
        mw_scores_destroy(s.scores);
        s.scores = NULL;
    }
    free(s.out);
    free(s.targets);
    free(s.labels);
    return s.scores;
}

void training_scores_keep(training *t, const char *set, const mw_scores *scores)
{
    enum { FIGURES_MAX = 64, NAME_BYTES = 64 };
    char names[FIGURES_MAX][NAME_BYTES];
    mw_metrics_field fields[FIGURES_MAX];
    mw_error local = {0};
    const size_t all = mw_scores_count(scores), count = all < FIGURES_MAX ? all : FIGURES_MAX;
    if (t->metrics[0] == '\0' || count == 0)
        return;
    mw_metrics_options options = mw_metrics_defaults();
    options.resume = true;
    options.step = INT64_MAX; /* nothing is dropped */
    for (size_t i = 0; i < count; i++) {
        snprintf(names[i], NAME_BYTES, "%s/%.40s", set, mw_scores_get(scores, i).name);
        fields[i] = (mw_metrics_field){.name = names[i], .value = mw_scores_get(scores, i).value};
    }
    mw_metrics *metrics = mw_metrics_create(t->metrics, &options, &local);
    mw_metrics_write(metrics, "scores", mw_trainer_get_info(t->trainer).steps, fields, count, &local);
    mw_metrics_destroy(metrics);
    if (local.status != MW_OK)
        tool_complain("the figures are not kept: %s", local.message);
}

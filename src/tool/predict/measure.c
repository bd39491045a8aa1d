/* Sums over predictions and what was true. */
#include "tool/predict/measure.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Numbers that figures in order keep; of more only sums are taken. */
enum { WIDE = 256 };

static mw_score_task task_of(answer_task task)
{
    return task == ANSWER_CLASSES ? MW_SCORE_CLASSES : task == ANSWER_LABELS ? MW_SCORE_LABELS : MW_SCORE_VALUES;
}

/* `auc` and its like keep every number: of many classes, or of data without an end, sums alone. */
static const char *usual_figures(const measure *m, const predicting *p)
{
    enum { KEPT_MAX = 1 << 22 };
    const bool keeps = m->width <= WIDE && p->data.examples >= 0 && p->data.examples * m->width <= KEPT_MAX;
    if (keeps || m->task == MW_SCORE_VALUES)
        return NULL;
    return m->task == MW_SCORE_CLASSES ? "accuracy,balanced_accuracy,f1_macro,log_loss" : "accuracy,f1_macro,log_loss";
}

bool measure_open(measure *m, const predicting *p, const char *figures, size_t worst)
{
    *m = (measure){.task = task_of(p->answer.task), .width = p->answer.width, .err = p->call->err};
    m->scores = mw_scores_create(m->task, m->width, figures != NULL ? figures : usual_figures(m, p), m->err);
    if (m->task == MW_SCORE_CLASSES && m->width <= MEASURE_CLASSES_MAX)
        m->counts = calloc((size_t)(m->width * m->width), sizeof *m->counts);
    m->worst = calloc(worst + 1, sizeof *m->worst);
    m->worst_capacity = worst;
    if (m->worst == NULL || (m->counts == NULL && m->task == MW_SCORE_CLASSES && m->width <= MEASURE_CLASSES_MAX))
        return raw_fail_memory(m->err);
    return m->scores != NULL;
}

void measure_keep(measure *m, const predicting *p)
{
    m->keeps = true;
    kept_begin(&m->kept, &p->answer);
}

void measure_close(measure *m)
{
    kept_free(&m->kept);
    mw_scores_destroy(m->scores);
    for (size_t i = 0; i < m->worst_count; i++)
        free(m->worst[i].name);
    free(m->worst);
    free(m->counts);
}

/* ---- the worst ---- */

/* In its place among those that are kept; the last of them goes. */
static bool keep_worst(measure *m, const measure_worst *w, const char *name)
{
    size_t at = m->worst_count;
    if (m->worst_capacity == 0 || (at == m->worst_capacity && !(w->distance > m->worst[at - 1].distance)))
        return true;
    char *own = strdup(name);
    if (own == NULL)
        return raw_fail_memory(m->err);
    if (at == m->worst_capacity)
        free(m->worst[--at].name);
    else
        m->worst_count++;
    for (; at > 0 && m->worst[at - 1].distance < w->distance; at--)
        m->worst[at] = m->worst[at - 1];
    m->worst[at] = *w;
    m->worst[at].name = own;
    return true;
}

static measure_worst judge_class(const measure *m, const float *row, int64_t truth)
{
    int64_t best = 0;
    for (int64_t k = 1; k < m->width; k++)
        best = row[k] > row[best] ? k : best;
    const double p = fmax((double)row[truth], 0x1p-126);
    return (measure_worst){
        .distance = -log(p), .truth = (double)truth, .predicted = (double)best, .probability = (double)row[best]};
}

static measure_worst judge_numbers(const measure *m, const float *row, const float *truth)
{
    measure_worst w = {.distance = -1};
    for (int64_t k = 0; k < m->width; k++) {
        const double distance = fabs((double)row[k] - (double)truth[k]);
        if (distance > w.distance)
            w = (measure_worst){
                .distance = distance, .column = k, .truth = (double)truth[k], .predicted = (double)row[k]};
    }
    return w;
}

/* ---- a piece ---- */

static bool take_example(measure *m, const predicting *p, const raw_piece *piece, const float *numbers, int64_t i)
{
    char name[64];
    measure_worst w;
    const float *row = numbers + i * m->width, *truth = piece->values != NULL ? piece->values + i * m->width : NULL;
    if (m->keeps && !kept_add(&m->kept, &p->answer, row, truth, piece->classes != NULL ? piece->classes[i] : 0, m->err))
        return false;
    if (piece->classes != NULL) {
        w = judge_class(m, row, piece->classes[i]);
        if (m->counts != NULL)
            m->counts[piece->classes[i] * m->width + (int64_t)w.predicted]++;
        if (w.truth == w.predicted)
            return true;
    } else {
        w = judge_numbers(m, row, truth);
        if (m->task == MW_SCORE_LABELS && w.distance < 0.5)
            return true;
    }
    return keep_worst(m, &w, raw_name(&p->data, piece, i, name, sizeof name));
}

/* Labels as integers, in the room of their numbers. */
static int32_t *round_labels(const measure *m, const raw_piece *piece)
{
    const int64_t count = piece->examples * m->width;
    int32_t *labels = malloc((size_t)count * sizeof *labels);
    for (int64_t i = 0; labels != NULL && i < count; i++)
        labels[i] = piece->values[i] >= 0.5f;
    return labels;
}

bool measure_take(void *user, const predicting *p, const raw_piece *piece, const float *numbers)
{
    measure *m = user;
    int32_t *labels = m->task == MW_SCORE_LABELS ? round_labels(m, piece) : NULL;
    const mw_score_batch batch = {.examples = (size_t)piece->examples,
                                  .predictions = numbers,
                                  .labels = labels != NULL ? labels : piece->classes,
                                  .targets = m->task == MW_SCORE_VALUES ? piece->values : NULL};
    if (m->task == MW_SCORE_LABELS && labels == NULL)
        return raw_fail_memory(m->err);
    bool good = mw_scores_add(m->scores, &batch, m->err) == MW_OK;
    for (int64_t i = 0; good && i < piece->examples; i++)
        good = take_example(m, p, piece, numbers, i);
    free(labels);
    return good;
}

/* Examples into sums. A batch is checked as a whole first, so that one that is refused adds nothing. */
#include "base/memory/live.h"
#include "base/text/error.h"
#include "learn/scores/scores.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>

/* ---- checks ---- */

static mw_status refuse_number(size_t example, const char *what, double value, const char *rule, mw_error *err)
{
    return mw__fail(err, MW_ERROR_ARGUMENT, "scores: %s %g of example %zu must be %s", what, value, example, rule);
}

static mw_status check_arrays(const mw_scores *s, const mw_score_batch *b, mw_error *err)
{
    const bool values = s->task == MW_SCORE_VALUES;
    const char *missing = b->predictions == NULL         ? "predictions"
                          : values && b->targets == NULL ? "targets"
                          : !values && b->labels == NULL ? "labels"
                                                         : NULL;
    if (s->task == MW_SCORE_TEXTS)
        return mw__fail(err, MW_ERROR_ARGUMENT, "scores: texts are added by mw_scores_add_text");
    if (missing != NULL && b->examples > 0)
        return mw__fail(err, MW_ERROR_ARGUMENT, "scores: %s are NULL", missing);
    return MW_OK;
}

static mw_status check_labels(const mw_scores *s, const mw_score_batch *b, size_t i, mw_error *err)
{
    const bool classes = s->task == MW_SCORE_CLASSES;
    const size_t count = classes ? 1 : (size_t)s->columns;
    for (size_t k = 0; k < count; k++) {
        const int32_t label = b->labels[i * count + k];
        if (classes ? label >= s->columns : label != 0 && label != 1)
            return refuse_number(i, "label", (double)label, classes ? "below the number of classes" : "0 or 1", err);
    }
    return MW_OK;
}

static mw_status check_example(const mw_scores *s, const mw_score_batch *b, size_t i, mw_error *err)
{
    const bool values = s->task == MW_SCORE_VALUES;
    for (size_t k = 0; k < (size_t)s->columns; k++) {
        const size_t at = i * (size_t)s->columns + k;
        if (values && !isfinite(b->predictions[at]))
            return refuse_number(i, "prediction", (double)b->predictions[at], "finite", err);
        if (!values && !(b->predictions[at] >= 0.0f && b->predictions[at] <= 1.0f))
            return refuse_number(i, "prediction", (double)b->predictions[at], "a probability, in [0, 1]", err);
        if (values && !isfinite(b->targets[at]))
            return refuse_number(i, "target", (double)b->targets[at], "finite", err);
    }
    if (b->weights != NULL && !(b->weights[i] >= 0.0f && isfinite(b->weights[i])))
        return refuse_number(i, "weight", (double)b->weights[i], "finite and 0 or more", err);
    return values ? MW_OK : check_labels(s, b, i, err);
}

/* ---- classes ---- */

static double clip(double p) { return fmin(fmax(p, DBL_EPSILON), 1.0 - DBL_EPSILON); }

static void add_bin(mw_scores *s, double confidence, bool right, double weight)
{
    int at = (int)(confidence * MW__SCORE_BINS);
    mw__score_bin *bin = &s->bins[at < MW__SCORE_BINS ? at : MW__SCORE_BINS - 1];
    bin->weight += weight;
    bin->confidence += weight * confidence;
    bin->right += right ? weight : 0.0;
}

static void count(mw__score_counts *c, bool is, bool predicted, double weight)
{
    c->occurs = c->occurs || is || predicted;
    c->support += is ? weight : 0.0;
    c->predicted += predicted ? weight : 0.0;
    c->hits += is && predicted ? weight : 0.0;
}

/* The number of classes that come before the label: larger ones, and equal ones with a smaller number. */
static int64_t rank_of(const float *row, int64_t columns, int32_t label)
{
    int64_t before = 0;
    for (int64_t c = 0; c < columns; c++)
        before += row[c] > row[label] || (row[c] == row[label] && c < label);
    return before;
}

static double row_log_loss(const float *row, int64_t columns, int32_t label)
{
    double sum = 0.0;
    for (int64_t c = 0; c < columns; c++)
        sum += clip((double)row[c]);
    return -log(clip((double)row[label]) / sum);
}

void mw__scores_add_class(mw_scores *s, const float *row, int32_t label, double weight)
{
    int32_t best = 0;
    for (int32_t c = 1; c < s->columns; c++)
        best = row[c] > row[best] ? c : best;
    const int64_t rank = rank_of(row, s->columns, label);
    s->counts[rank].at_rank += weight;
    count(&s->counts[label], true, best == label, weight);
    if (best != label)
        count(&s->counts[best], false, true, weight);
    add_bin(s, (double)row[best], best == label, weight);
    s->weight += weight;
    s->right += best == label ? weight : 0.0;
    s->log_loss += weight * row_log_loss(row, s->columns, label);
}

/* ---- labels ---- */

void mw__scores_add_labels(mw_scores *s, const float *row, const int32_t *labels, double weight)
{
    bool all = true;
    for (int64_t c = 0; c < s->columns; c++) {
        const double p = (double)row[c];
        const bool yes = labels[c] != 0, said = p >= 0.5;
        all = all && yes == said;
        count(&s->counts[c], yes, said, weight);
        add_bin(s, said ? p : 1.0 - p, yes == said, weight);
        s->log_loss -= weight * log(yes ? clip(p) : 1.0 - clip(p)) / (double)s->columns;
    }
    s->weight += weight;
    s->right += all ? weight : 0.0;
}

/* ---- values ---- */

void mw__scores_add_values(mw_scores *s, const float *row, const float *targets, double weight)
{
    for (int64_t c = 0; c < s->columns && weight > 0.0; c++) {
        mw__score_values *v = &s->values[c];
        const double t = (double)targets[c], off = (double)row[c] - t, step = t - v->mean;
        v->absolute += weight * fabs(off);
        v->squares += weight * off * off;
        v->relative += weight * fabs(off) / fmax(fabs(t), DBL_EPSILON);
        v->weight += weight;
        v->mean += step * (weight / v->weight);
        v->spread += weight * step * (t - v->mean);
    }
    s->weight += weight;
}

/* ---- batches ---- */

static bool counts_at(const mw_scores *s, const mw_score_batch *b, size_t i)
{
    return s->task != MW_SCORE_CLASSES || b->labels[i] >= 0;
}

/* Room is there. */
static void keep(mw_scores *s, const mw_score_batch *b, size_t i)
{
    const size_t columns = (size_t)s->columns;
    for (size_t c = 0; c < columns; c++)
        s->entries[s->entry_count++] = (mw__score_entry){
            .prediction = b->predictions[i * columns + c],
            .weight = b->weights != NULL ? b->weights[i] : 1.0f,
            .yes = s->task == MW_SCORE_CLASSES ? b->labels[i] == (int32_t)c : b->labels[i * columns + c]};
}

static void add_example(mw_scores *s, const mw_score_batch *b, size_t i)
{
    const float *row = b->predictions + i * (size_t)s->columns;
    const double weight = b->weights != NULL ? (double)b->weights[i] : 1.0;
    if (s->task == MW_SCORE_CLASSES)
        mw__scores_add_class(s, row, b->labels[i], weight);
    else if (s->task == MW_SCORE_LABELS)
        mw__scores_add_labels(s, row, b->labels + i * (size_t)s->columns, weight);
    else
        mw__scores_add_values(s, row, b->targets + i * (size_t)s->columns, weight);
    if (s->ordered)
        keep(s, b, i);
    s->examples++;
}

static mw_status make_room(mw_scores *s, size_t examples, mw_error *err)
{
    const size_t columns = (size_t)s->columns;
    if (!s->ordered)
        return MW_OK;
    if (examples > (SIZE_MAX / sizeof *s->entries - s->entry_count) / columns)
        return mw__fail(err, MW_ERROR_MEMORY, "scores: %zu examples are more than memory has addresses for", examples);
    return mw__grow(mw__allocator_default(), &s->entries, &s->entry_capacity, s->entry_count + examples * columns,
                    sizeof *s->entries, err);
}

mw_status mw_scores_add(mw_scores *scores, const mw_score_batch *batch, mw_error *err)
{
    mw_error local = {0};
    err = err != NULL ? err : &local;
    MW_TRY(mw__live_check(scores, MW__LIVE_SCORES, __func__, err));
    if (batch == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "scores: the batch is NULL");
    MW_TRY(check_arrays(scores, batch, err));
    for (size_t i = 0; i < batch->examples; i++)
        MW_TRY(check_example(scores, batch, i, err));
    MW_TRY(make_room(scores, batch->examples, err));
    for (size_t i = 0; i < batch->examples; i++)
        if (counts_at(scores, batch, i))
            add_example(scores, batch, i);
    return MW_OK;
}

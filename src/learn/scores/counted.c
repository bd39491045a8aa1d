/* Figures of counts: shares, and precision, recall, F1 and overlap of classes by three kinds of mean. A quotient by 0
 * is 0, as with scikit-learn's zero_division. */
#include "learn/scores/scores.h"

#include <math.h>

static double share(double part, double whole) { return whole > 0.0 ? part / whole : 0.0; }

MW__SCORE(accuracy) { return share(s->right, s->weight); }

MW__SCORE(log_loss) { return s->log_loss / s->weight; }

MW__SCORE(top)
{
    double hits = 0.0;
    for (int64_t rank = 0; rank < k; rank++)
        hits += s->counts[rank].at_rank;
    return share(hits, s->weight);
}

MW__SCORE(balanced_accuracy)
{
    double sum = 0.0;
    int64_t classes = 0;
    for (int64_t c = 0; c < s->columns; c++) {
        if (!(s->counts[c].support > 0.0))
            continue;
        sum += s->counts[c].hits / s->counts[c].support;
        classes++;
    }
    return classes > 0 ? sum / (double)classes : NAN;
}

MW__SCORE(calibration_error)
{
    double sum = 0.0, weight = 0.0;
    for (int i = 0; i < MW__SCORE_BINS; i++) {
        sum += fabs(s->bins[i].confidence - s->bins[i].right);
        weight += s->bins[i].weight;
    }
    return share(sum, weight);
}

/* ---- of one class ---- */

static double precision_of(const mw__score_counts *c) { return share(c->hits, c->predicted); }
static double recall_of(const mw__score_counts *c) { return share(c->hits, c->support); }
static double f1_of(const mw__score_counts *c) { return share(2.0 * c->hits, c->support + c->predicted); }
static double iou_of(const mw__score_counts *c) { return share(c->hits, c->support + c->predicted - c->hits); }

typedef double of_class(const mw__score_counts *c);

/* ---- means ---- */

/* Of classes those that occur; of labels all columns. */
static double macro(const mw_scores *s, of_class *of)
{
    double sum = 0.0;
    int64_t classes = 0;
    for (int64_t c = 0; c < s->columns; c++) {
        if (s->task == MW_SCORE_CLASSES && !s->counts[c].occurs)
            continue;
        sum += of(&s->counts[c]);
        classes++;
    }
    return share(sum, (double)classes);
}

static double micro(const mw_scores *s, of_class *of)
{
    mw__score_counts all = {0};
    for (int64_t c = 0; c < s->columns; c++) {
        all.hits += s->counts[c].hits;
        all.support += s->counts[c].support;
        all.predicted += s->counts[c].predicted;
    }
    return of(&all);
}

static double weighted(const mw_scores *s, of_class *of)
{
    double sum = 0.0, weight = 0.0;
    for (int64_t c = 0; c < s->columns; c++) {
        sum += s->counts[c].support * of(&s->counts[c]);
        weight += s->counts[c].support;
    }
    return share(sum, weight);
}

#define OF_CLASSES(name)                                                                                               \
    MW__SCORE(name) { return name##_of(&s->counts[0]); }                                                               \
    MW__SCORE(name##_macro) { return macro(s, name##_of); }                                                            \
    MW__SCORE(name##_micro) { return micro(s, name##_of); }                                                            \
    MW__SCORE(name##_weighted) { return weighted(s, name##_of); }
OF_CLASSES(precision)
OF_CLASSES(recall)
OF_CLASSES(f1)
OF_CLASSES(iou)

/* ---- values ---- */

static double mean_of(const mw_scores *s, double (*of)(const mw__score_values *v))
{
    double sum = 0.0;
    for (int64_t c = 0; c < s->columns; c++)
        sum += of(&s->values[c]);
    return sum / (double)s->columns;
}

static double absolute(const mw__score_values *v) { return v->absolute / v->weight; }
static double squared(const mw__score_values *v) { return v->squares / v->weight; }
static double root(const mw__score_values *v) { return sqrt(v->squares / v->weight); }
static double relative(const mw__score_values *v) { return v->relative / v->weight; }

/* Of targets that are all alike 1 if every one was met, else 0. */
static double explained(const mw__score_values *v)
{
    if (v->spread > 0.0)
        return 1.0 - v->squares / v->spread;
    return v->squares == 0.0 ? 1.0 : 0.0;
}

MW__SCORE(mae) { return mean_of(s, absolute); }
MW__SCORE(mse) { return mean_of(s, squared); }
MW__SCORE(rmse) { return mean_of(s, root); }
MW__SCORE(mape) { return mean_of(s, relative); }
MW__SCORE(r2) { return s->examples >= 2 ? mean_of(s, explained) : NAN; }

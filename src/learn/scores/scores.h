/* What the figures are made of, and the functions that make them. */
#ifndef MW__LEARN_SCORES_SCORES_H
#define MW__LEARN_SCORES_SCORES_H

#include "base/memory/alloc.h"
#include <millwright/scores.h>

#define MW__SCORE_BINS 15

/* Weighted counts of a class, or of the yes of a column. */
typedef struct mw__score_counts {
    double hits, support, predicted;
    double at_rank; /* of examples before whose label as many classes come as this one's number */
    bool occurs;    /* as a label or a prediction, of whatever weight */
} mw__score_counts;

/* Weighted sums of a column of values. The spread of the targets is kept around their mean, so that it does not cancel.
 */
typedef struct mw__score_values {
    double absolute, squares, relative;
    double weight, mean, spread;
} mw__score_values;

/* One example of a column, for what needs all of them in order. */
typedef struct mw__score_entry {
    float prediction, weight;
    int32_t yes;
} mw__score_entry;

typedef struct mw__score_bin {
    double weight, confidence, right;
} mw__score_bin;

/* Edits over the length of the references. */
typedef struct mw__score_edits {
    double words, word_edits, characters, character_edits;
} mw__score_edits;

/* k: the number of a figure whose name has one. */
typedef double mw__score_function(const mw_scores *s, int64_t k);
#define MW__SCORE(name) double mw__scores_##name(const mw_scores *s, __attribute__((unused)) int64_t k)

/* A figure that was asked for. */
typedef struct mw__score_wanted {
    const char *name;
    mw__score_function *function;
    int64_t number; /* K of top_K */
    bool higher;
} mw__score_wanted;

struct mw_scores {
    mw_score_task task;
    int64_t columns;
    size_t examples;
    double weight, right, log_loss;
    mw__score_counts *counts; /* [columns]: classes, labels */
    mw__score_values *values; /* [columns] */
    mw__score_bin bins[MW__SCORE_BINS];
    mw__score_edits edits;
    bool ordered;             /* entries are kept */
    mw__score_entry *entries; /* [examples, columns] */
    size_t entry_count, entry_capacity;
    mw__score_wanted *wanted;
    size_t wanted_count;
    char *names; /* of `wanted`, as they were given */
};

/* ---- adding; what is added was checked ---- */

void mw__scores_add_class(mw_scores *s, const float *row, int32_t label, double weight);
void mw__scores_add_labels(mw_scores *s, const float *row, const int32_t *labels, double weight);
void mw__scores_add_values(mw_scores *s, const float *row, const float *targets, double weight);

/* ---- the figures ---- */

#define SCORE(name, tasks, higher, usual, needs, function) mw__score_function mw__scores_##function;
#include "learn/scores/scores.def"
#undef SCORE

#endif

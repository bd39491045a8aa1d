/* Figures that need every prediction of a column in order: the areas below ROC and precision-recall curves. */
#include "learn/scores/scores.h"

#include <math.h>
#include <stdlib.h>

/* The largest prediction first. */
static int compare_entries(const void *a, const void *b)
{
    const mw__score_entry *x = a, *y = b;
    return (x->prediction < y->prediction) - (x->prediction > y->prediction);
}

typedef double walk(const mw__score_entry *sorted, size_t count, double yes, double no);

/* Trapezoids between the points where the threshold passes a prediction, equal ones together. */
static double below_roc(const mw__score_entry *e, size_t count, double yes, double no)
{
    double area = 0.0, hits = 0.0;
    for (size_t i = 0; i < count;) {
        const size_t first = i;
        double more_hits = 0.0, more_misses = 0.0;
        for (; i < count && e[i].prediction == e[first].prediction; i++)
            *(e[i].yes != 0 ? &more_hits : &more_misses) += (double)e[i].weight;
        area += more_misses * (hits + 0.5 * more_hits);
        hits += more_hits;
    }
    return yes > 0.0 && no > 0.0 ? area / (yes * no) : NAN;
}

static double below_precision(const mw__score_entry *e, size_t count, double yes, double no)
{
    double area = 0.0, hits = 0.0, said = 0.0;
    (void)no;
    for (size_t i = 0; i < count;) {
        const size_t first = i;
        double more_hits = 0.0;
        for (; i < count && e[i].prediction == e[first].prediction; i++) {
            said += (double)e[i].weight;
            more_hits += e[i].yes != 0 ? (double)e[i].weight : 0.0;
        }
        hits += more_hits;
        area += said > 0.0 ? more_hits * hits / said : 0.0;
    }
    return yes > 0.0 ? area / yes : NAN;
}

/* The figure of one column, whose entries are copied into `room`. */
static double of_column(const mw_scores *s, int64_t column, mw__score_entry *room, walk *function)
{
    const size_t columns = (size_t)s->columns, count = s->entry_count / columns;
    double sums[2] = {0};
    for (size_t i = 0; i < count; i++) {
        room[i] = s->entries[i * columns + (size_t)column];
        sums[room[i].yes != 0] += (double)room[i].weight;
    }
    qsort(room, count, sizeof *room, compare_entries);
    return function(room, count, sums[1], sums[0]);
}

/* Of two classes that of the second; else the mean, which is not defined if one of them is not. */
static double of_all(const mw_scores *s, walk *function)
{
    mw_error err = {0};
    const size_t count = s->entry_count / (size_t)s->columns;
    const int64_t first = s->task == MW_SCORE_CLASSES && s->columns == 2 ? 1 : 0;
    mw__score_entry *room = mw__alloc(mw__allocator_default(), count, sizeof *room, &err);
    double sum = 0.0;
    for (int64_t c = first; room != NULL && c < s->columns; c++)
        sum += of_column(s, c, room, function);
    mw__free(mw__allocator_default(), room);
    return room != NULL ? sum / (double)(s->columns - first) : NAN;
}

MW__SCORE(auc) { return of_all(s, below_roc); }
MW__SCORE(average_precision) { return of_all(s, below_precision); }

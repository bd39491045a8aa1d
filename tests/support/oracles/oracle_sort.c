/* The reference evaluator: argsort and topk, by counting who comes before whom. */
#include "support/oracles/oracle.h"

#include <math.h>
#include <string.h>

/* NaN is larger than every number. */
static bool larger(double a, double b) { return isnan(a) ? !isnan(b) : a > b; }

/* How many elements of the row come before element i. */
static int64_t rank_in_row(const double *x, int64_t stride, int64_t count, int64_t i, bool ascending)
{
    int64_t rank = 0;
    for (int64_t j = 0; j < count; j++) {
        double a = x[i * stride], b = x[j * stride];
        bool before = ascending ? larger(a, b) : larger(b, a), equal = !larger(a, b) && !larger(b, a);
        rank += before || (equal && j < i);
    }
    return rank;
}

static bool sort(oracle *o, const mw__op *op)
{
    mw_shape in = oracle_shape(op, "x"), out = op->results[0]->type->shape;
    bool topk = strcmp(op->kind, "topk") == 0, ascending = oracle_flag(op, "ascending", 0);
    int64_t axis = oracle_int(op, "axis"), stride = 1;
    axis += axis < 0 ? in.rank : 0;
    for (int i = (int)axis + 1; i < in.rank; i++)
        stride *= in.dim[i];
    for (int64_t i = 0; i < mw_shape_count(in); i++) {
        int64_t at[MW_RANK_MAX] = {0};
        oracle_unravel(in, i, at);
        int64_t index = at[axis];
        const double *row = oracle_arg(o, op, "x") + i - index * stride;
        at[axis] = rank_in_row(row, stride, in.dim[axis], index, ascending);
        if (at[axis] >= out.dim[axis])
            continue;
        int64_t to = oracle_ravel(out, at);
        o->data[op->results[0]->id][to] = topk ? row[index * stride] : (double)index;
        if (op->result_count == 2)
            o->data[op->results[1]->id][to] = (double)index;
    }
    return true;
}

/* ---- boxes ---- */

/* Boxes and scores of one image; from ios17 on the last axis is that of the boxes. */
typedef struct detections {
    const double *boxes, *scores;
    int64_t count, classes;
    bool across;
} detections;

static double number(const detections *d, const double *data, int64_t width, int64_t b, int64_t k)
{
    return d->across ? data[k * d->count + b] : data[b * width + k];
}

static int64_t label_of(const detections *d, int64_t b)
{
    int64_t label = 0;
    for (int64_t k = 0; k < d->classes; k++)
        if (number(d, d->scores, d->classes, b, k) > number(d, d->scores, d->classes, b, label))
            label = k;
    return label;
}

static double score_of(const detections *d, int64_t b) { return number(d, d->scores, d->classes, b, label_of(d, b)); }

/* The corner `side` (-1 low, 1 high) of a box along an axis. */
static double corner(const detections *d, int64_t b, int axis, double side)
{
    return number(d, d->boxes, 4, b, axis) + side * number(d, d->boxes, 4, b, axis + 2) / 2.0;
}

static double overlap(const detections *d, int64_t a, int64_t b)
{
    double both = 1.0, areas[2] = {1.0, 1.0};
    for (int axis = 0; axis < 2; axis++) {
        const double low = fmax(corner(d, a, axis, -1), corner(d, b, axis, -1));
        both *= fmax(0.0, fmin(corner(d, a, axis, 1), corner(d, b, axis, 1)) - low);
        areas[0] *= number(d, d->boxes, 4, a, axis + 2);
        areas[1] *= number(d, d->boxes, 4, b, axis + 2);
    }
    const double either = areas[0] + areas[1] - both;
    return either > 0.0 ? both / either : 0.0;
}

/* True if box b stays, given which of those before it in the order of scores do. */
static bool stays(const detections *d, const mw__op *op, const int64_t *order, const bool *kept, int64_t at)
{
    for (int64_t i = 0; i < at; i++) {
        const bool rivals =
            !oracle_flag(op, "per_class_suppression", 0) || label_of(d, order[i]) == label_of(d, order[at]);
        if (kept[i] && rivals && overlap(d, order[i], order[at]) > oracle_number(op, "iou_threshold"))
            return false;
    }
    return true;
}

static void put(const detections *d, const double *from, double *to, int64_t width, int64_t b, int64_t m, int64_t most)
{
    for (int64_t k = 0; k < width; k++)
        to[d->across ? k * most + m : m * width + k] = number(d, from, width, b, k);
}

/* Every box in the order of its score: whether it stays depends on those before it alone. */
static void suppress(oracle *o, const mw__op *op, const detections *d, int64_t n)
{
    enum { BOXES = 64 };
    int64_t order[BOXES], count = 0;
    bool kept[BOXES];
    const int64_t most = op->results[2]->type->shape.dim[1];
    double *boxes = o->data[op->results[0]->id] + n * 4 * most;
    double *scores = o->data[op->results[1]->id] + n * d->classes * most;
    double *indices = o->data[op->results[2]->id] + n * most;
    for (int64_t b = 0; b < d->count && b < BOXES; b++) {
        int64_t rank = 0;
        for (int64_t c = 0; c < d->count; c++)
            rank += score_of(d, c) > score_of(d, b) || (score_of(d, c) == score_of(d, b) && c < b);
        order[rank] = b;
    }
    for (int64_t i = 0; i < d->count; i++) {
        const bool good = op->result_count == 3 || score_of(d, order[i]) >= oracle_number(op, "score_threshold");
        kept[i] = good && stays(d, op, order, kept, i);
        if (kept[i] && count < most) {
            put(d, d->boxes, boxes, 4, order[i], count, most);
            put(d, d->scores, scores, d->classes, order[i], count, most);
            indices[count++] = (double)order[i];
        }
    }
    for (int64_t m = count; m < most; m++)
        indices[m] = -1.0;
    if (op->result_count == 4)
        o->data[op->results[3]->id][n] = (double)count;
}

static bool boxes(oracle *o, const mw__op *op)
{
    const mw_shape scores = oracle_shape(op, "scores");
    const bool across = op->result_count == 3;
    for (size_t i = 0; i < 2; i++)
        memset(o->data[op->results[i]->id], 0, (size_t)mw_shape_count(op->results[i]->type->shape) * sizeof(double));
    detections d = {.count = scores.dim[across ? 2 : 1], .classes = scores.dim[across ? 1 : 2], .across = across};
    for (int64_t n = 0; n < scores.dim[0] && d.count <= 64; n++) {
        d.boxes = oracle_arg(o, op, "boxes") + n * 4 * d.count;
        d.scores = oracle_arg(o, op, "scores") + n * d.classes * d.count;
        suppress(o, op, &d, n);
    }
    return d.count <= 64;
}

bool oracle_of_sort(oracle *o, const mw__op *op)
{
    static const oracle_row rows[] = {{"argsort", sort}, {"topk", sort}, {"non_maximum_suppression", boxes}};
    return oracle_find(rows, sizeof rows / sizeof *rows, o, op);
}

/* non_maximum_suppression: a unit is one image. The best box of those left stays and takes away those that overlap it;
 * of equal scores the lower index is better, so that the result depends on nothing but the image. */
#include "engine/core/kernel.h"

#include "base/number/fp16.h"

#include <math.h>
#include <string.h>

typedef struct boxes_block {
    int64_t boxes, classes, most;
    bool across; /* [N, 4, B] and [N, K, B], from ios17 on */
    bool per_class, counts;
    double iou, score; /* thresholds */
    mw_dtype dtype;
    size_t size; /* of an element */
} boxes_block;

/* What is left of an image. */
typedef struct candidate {
    float score;
    int32_t label; /* -1: gone */
} candidate;

/* Element k of the `width` that box b has, of an image of `count` boxes. */
static int64_t place_of(const boxes_block *s, int64_t count, int64_t width, int64_t b, int64_t k)
{
    return s->across ? k * count + b : b * width + k;
}

static float element(const boxes_block *s, const char *image, int64_t width, int64_t b, int64_t k)
{
    const int64_t at = place_of(s, s->boxes, width, b, k);
    return s->dtype == MW_F16 ? mw__fp16_to_float(((const uint16_t *)image)[at]) : ((const float *)image)[at];
}

/* NaN is larger than every number. */
static bool is_better(float a, float b) { return isnan(a) ? !isnan(b) : a > b; }

static void read_candidates(const boxes_block *s, const char *scores, candidate *all)
{
    for (int64_t b = 0; b < s->boxes; b++) {
        all[b] = (candidate){element(s, scores, s->classes, b, 0), 0};
        for (int64_t k = 1; k < s->classes; k++) {
            const float score = element(s, scores, s->classes, b, k);
            if (is_better(score, all[b].score))
                all[b] = (candidate){score, (int32_t)k};
        }
        if ((double)all[b].score < s->score)
            all[b].label = -1;
    }
}

static int64_t find_best(const boxes_block *s, const candidate *all)
{
    int64_t best = -1;
    for (int64_t b = 0; b < s->boxes; b++)
        if (all[b].label >= 0 && (best < 0 || is_better(all[b].score, all[best].score)))
            best = b;
    return best;
}

/* What two boxes share along an axis. */
static double shared(const boxes_block *s, const char *boxes, int64_t a, int64_t b, int axis)
{
    const double at[2] = {(double)element(s, boxes, 4, a, axis), (double)element(s, boxes, 4, b, axis)};
    const double half[2] = {(double)element(s, boxes, 4, a, axis + 2) / 2.0,
                            (double)element(s, boxes, 4, b, axis + 2) / 2.0};
    const double low = fmax(at[0] - half[0], at[1] - half[1]), high = fmin(at[0] + half[0], at[1] + half[1]);
    return fmax(0.0, high - low);
}

static double area(const boxes_block *s, const char *boxes, int64_t b)
{
    return (double)element(s, boxes, 4, b, 2) * (double)element(s, boxes, 4, b, 3);
}

static bool is_number(const boxes_block *s, const char *boxes, int64_t b)
{
    bool number = true;
    for (int64_t k = 0; k < 4; k++)
        number = number && isfinite(element(s, boxes, 4, b, k));
    return number;
}

static bool overlaps(const boxes_block *s, const char *boxes, int64_t a, int64_t b)
{
    if (!is_number(s, boxes, a) || !is_number(s, boxes, b))
        return true;
    const double both = shared(s, boxes, a, b, 0) * shared(s, boxes, a, b, 1);
    const double either = area(s, boxes, a) + area(s, boxes, b) - both;
    return (either > 0.0 ? both / either : 0.0) > s->iou;
}

static void take_away(const boxes_block *s, const char *boxes, candidate *all, int64_t best)
{
    const int32_t label = all[best].label;
    all[best].label = -1;
    for (int64_t b = 0; b < s->boxes; b++)
        if (all[b].label >= 0 && (!s->per_class || all[b].label == label) && overlaps(s, boxes, best, b))
            all[b].label = -1;
}

/* The `width` elements of box b become those of result m. */
static void copy_box(const boxes_block *s, const char *from, char *to, int64_t width, int64_t b, int64_t m)
{
    for (int64_t k = 0; k < width; k++)
        memcpy(to + (size_t)place_of(s, s->most, width, m, k) * s->size,
               from + (size_t)place_of(s, s->boxes, width, b, k) * s->size, s->size);
}

static void boxes_run(const mw__kernel_call *call)
{
    const boxes_block *s = call->block;
    const size_t box = (size_t)s->boxes * s->size, kept = (size_t)s->most * s->size, classes = (size_t)s->classes;
    for (int64_t n = call->begin; n < call->end; n++) {
        const char *boxes = (const char *)call->in[0] + (size_t)n * 4 * box;
        const char *scores = (const char *)call->in[1] + (size_t)n * classes * box;
        char *to_boxes = (char *)call->out[0] + (size_t)n * 4 * kept;
        char *to_scores = (char *)call->out[1] + (size_t)n * classes * kept;
        int32_t *indices = (int32_t *)call->out[2] + n * s->most;
        int64_t count = 0, best;
        memset(to_boxes, 0, 4 * kept);
        memset(to_scores, 0, classes * kept);
        read_candidates(s, scores, call->scratch);
        for (; count < s->most && (best = find_best(s, call->scratch)) >= 0; count++) {
            take_away(s, boxes, call->scratch, best);
            copy_box(s, boxes, to_boxes, 4, best, count);
            copy_box(s, scores, to_scores, s->classes, best, count);
            indices[count] = (int32_t)best;
        }
        for (int64_t m = count; m < s->most; m++)
            indices[m] = -1;
        if (s->counts)
            ((int32_t *)call->out[3])[n] = (int32_t)count;
    }
}

static void read_numbers(const mw__op *op, boxes_block *s)
{
    s->counts = op->result_count == 4;
    s->score = -INFINITY;
    mw__arg_float(op, "iou_threshold", &s->iou);
    if (s->counts)
        mw__arg_float(op, "score_threshold", &s->score);
    mw__arg_bool(op, "per_class_suppression", &s->per_class);
}

mw_status mw__kernel_boxes(mw__planner *planner, const mw__op *op, mw_error *err)
{
    const mw_tensor *boxes = mw__arg(op, "boxes"), *scores = mw__arg(op, "scores");
    const mw_shape shape = mw__shape_of(scores);
    boxes_block *s = mw__plan_block(planner, sizeof *s);
    if (s == NULL || shape.dim[0] == 0)
        return mw__plan_check(planner, err);
    s->across = op->row->since >= MW_IOS17;
    s->boxes = shape.dim[s->across ? 2 : 1], s->classes = shape.dim[s->across ? 1 : 2];
    s->most = mw__shape_of(op->results[2]).dim[1];
    s->dtype = mw__dtype_of(boxes), s->size = mw__dtype_size(s->dtype);
    read_numbers(op, s);
    const double count = (double)mw__count_of(scores), turns = (double)(s->most < s->boxes ? s->most : s->boxes);
    mw__step *step = mw__plan_step(planner, boxes_run, op->row->name, shape.dim[0],
                                   mw__cost(count * 8.0, count * 4.0 + count * turns * 40.0));
    step->block = s;
    step->scratch = (size_t)s->boxes * sizeof(candidate);
    mw__step_read(planner, step, mw__plan_buffer(planner, boxes), MW__ROWS, 4 * (size_t)s->boxes * s->size, false);
    mw__step_read(planner, step, mw__plan_buffer(planner, scores), MW__ROWS,
                  (size_t)s->classes * (size_t)s->boxes * s->size, false);
    for (size_t i = 0; i < op->result_count; i++) {
        const size_t size = mw__dtype_size(mw__dtype_of(op->results[i]));
        mw__step_write(planner, step, mw__plan_buffer(planner, op->results[i]), MW__ROWS,
                       (size_t)(mw__count_of(op->results[i]) / shape.dim[0]) * size);
    }
    return mw__plan_check(planner, err);
}

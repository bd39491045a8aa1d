/* Boxes that do not overlap: shape rule and constructor of non_maximum_suppression. */
#include <millwright/ops/sort.h>

#include "base/number/float_mode.h"
#include "graph/ir/rule.h"

#include <inttypes.h>
#include <math.h>

/* ---- shape rule ---- */

/* Boxes and scores agree in images and boxes; the axis of the boxes is 1, from ios17 on 2. */
static mw_status check_shapes(const mw__infer *infer, mw_shape boxes, mw_shape scores, int of_boxes)
{
    const char *wanted = of_boxes == 1 ? "[N, B, 4] and [N, B, K]" : "[N, 4, B] and [N, K, B]";
    if (boxes.rank != 3 || scores.rank != 3 || !mw__dim_fits(boxes.dim[3 - of_boxes], 4) ||
        !mw__dim_fits(boxes.dim[0], scores.dim[0]) || !mw__dim_fits(boxes.dim[of_boxes], scores.dim[of_boxes]))
        return mw__rule_fail(infer, MW_ERROR_SHAPE, "boxes and scores must be %s", wanted);
    if (scores.dim[3 - of_boxes] == 0)
        return mw__rule_fail(infer, MW_ERROR_SHAPE, "scores must have at least one class");
    if (boxes.dim[of_boxes] > INT32_MAX)
        return mw__rule_fail(infer, MW_ERROR_SHAPE, "an index of %" PRId64 " boxes does not fit int32",
                             boxes.dim[of_boxes]);
    return MW_OK;
}

static mw_status check_numbers(const mw__infer *infer, int64_t *out_max)
{
    static const char *const thresholds[] = {"iou_threshold", "score_threshold"};
    double number;
    bool flag;
    for (int i = 0; i < 2; i++)
        if (mw__row_arg(infer->op->row, thresholds[i]) != NULL &&
            (!mw__arg_float(infer->op, thresholds[i], &number) || isnan(number)))
            return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "%s must be one constant number", thresholds[i]);
    MW_TRY(mw__rule_bool(infer, "per_class_suppression", &flag));
    MW_TRY(mw__rule_int(infer, "max_boxes", out_max));
    return *out_max >= 1 && *out_max <= INT32_MAX
               ? MW_OK
               : mw__rule_fail(infer, MW_ERROR_ARGUMENT, "max_boxes is %" PRId64 ", it must be at least 1", *out_max);
}

mw_status mw__shape_boxes(mw__infer *infer)
{
    const bool counts = infer->op->row->since < MW_IOS17;
    const int of_boxes = counts ? 1 : 2;
    mw_shape boxes = mw__rule_shape(infer, "boxes"), scores = mw__rule_shape(infer, "scores");
    int64_t most;
    MW_TRY(check_shapes(infer, boxes, scores, of_boxes));
    MW_TRY(check_numbers(infer, &most));
    MW_TRY(mw__rule_results(infer, counts ? 4 : 3));
    boxes.dim[3 - of_boxes] = 4;
    boxes.dim[0] = scores.dim[0] = boxes.dim[0] != MW_DIM_UNKNOWN ? boxes.dim[0] : scores.dim[0];
    boxes.dim[of_boxes] = scores.dim[of_boxes] = most;
    infer->dtype[0] = infer->dtype[1] = mw__rule_dtype(infer, "boxes");
    infer->dtype[2] = MW_I32;
    infer->shape[0] = boxes, infer->shape[1] = scores, infer->shape[2] = MW_SHAPE(boxes.dim[0], most);
    if (counts)
        infer->dtype[3] = MW_I32, infer->shape[3] = MW_SHAPE(boxes.dim[0]);
    return MW_OK;
}

/* ---- constructor ---- */

mw_non_maximum_suppression_options mw_non_maximum_suppression_defaults(void)
{
    return (mw_non_maximum_suppression_options){
        .struct_size = sizeof(mw_non_maximum_suppression_options), .iou_threshold = 0.5f, .score_threshold = -INFINITY};
}

static mw_status refuse_boxes(mw_graph *graph, mw_status status, const char *what)
{
    mw__graph_fail(graph, status, "non_maximum_suppression: %s", what);
    return status;
}

typedef mw_non_maximum_suppression_options boxes_options;

static mw_status build_boxes(mw__build *build, mw_tensor *boxes, mw_tensor *scores, int64_t max_boxes,
                             const boxes_options *o, mw_tensor *results[4])
{
    const bool counts = build->row != NULL && build->row->since < MW_IOS17;
    mw__build_set(build, "boxes", boxes);
    mw__build_set(build, "scores", scores);
    mw__build_float(build, "iou_threshold", (double)o->iou_threshold);
    mw__build_int(build, "max_boxes", max_boxes);
    mw__build_bool(build, "per_class_suppression", o->per_class);
    if (counts)
        mw__build_float(build, "score_threshold", (double)o->score_threshold);
    return mw__build_end_many(build, results, 4, NULL);
}

mw_status mw_non_maximum_suppression(mw_tensor *boxes, mw_tensor *scores, int64_t max_boxes,
                                     const mw_non_maximum_suppression_options *options, mw_tensor **out_boxes,
                                     mw_tensor **out_scores, mw_tensor **out_indices, mw_tensor **out_counts)
{
    MW__FLOAT_SCOPE;
    mw_tensor **const out[] = {out_boxes, out_scores, out_indices, out_counts};
    mw_tensor *results[4] = {NULL, NULL, NULL, NULL};
    for (size_t i = 0; i < 4; i++)
        if (out[i] != NULL)
            *out[i] = NULL;
    mw__build begun = mw__build_begin("non_maximum_suppression", boxes);
    if (!begun.failed && (out_boxes == NULL || out_scores == NULL))
        return refuse_boxes(begun.graph, MW_ERROR_ARGUMENT,
                            "no place for the boxes or the scores (out_boxes, out_scores)");
    if (!begun.failed && options != NULL && options->struct_size != sizeof *options)
        return refuse_boxes(begun.graph, MW_ERROR_ARGUMENT,
                            "options are not made by mw_non_maximum_suppression_defaults");
    const boxes_options o = options != NULL ? *options : mw_non_maximum_suppression_defaults();
    if (!begun.failed && begun.row->since >= MW_IOS17 && (out_counts != NULL || o.score_threshold != -INFINITY))
        return refuse_boxes(begun.graph, MW_ERROR_UNSUPPORTED,
                            "from ios17 on there is no score_threshold and no count");
    MW_TRY(build_boxes(&begun, boxes, scores, max_boxes, &o, results));
    for (size_t i = 0; i < 4; i++)
        if (out[i] != NULL)
            *out[i] = results[i];
    return MW_OK;
}

/* Cases of ops/sort.def. To cover a row: one builder if none fits, one line in the table. */
#include "support/cases/op_case_rows.h"

/* clang-format off */
BUILD(argsort, mw_argsort(in[0], -1, false))
BUILD(argsort_up, mw_argsort(in[0], -1, true))
BUILD(argsort_middle, mw_argsort(in[0], 1, true))
BUILD(argsort_first, mw_argsort(in[0], -2, false))
/* clang-format on */

static mw_tensor *b_argsort_default(mw_tensor *const *in)
{
    const mw_argument arguments[] = {{"x", &in[0], 1}};
    mw_tensor *y = NULL;
    mw_op(mw_tensor_graph(in[0]), "argsort", arguments, 1, &y, 1, NULL);
    return y;
}

/* Values and indices have cases of their own: where elements tie but for rounding, the values are smooth and the
 * indices jump, and gradients of random graphs want the smooth ones alone. */
static mw_tensor *values_of(mw_tensor *x, int64_t k, int axis, bool ascending)
{
    mw_tensor *values, *indices;
    mw_topk(x, k, axis, ascending, &values, &indices);
    return values;
}

static mw_tensor *indices_of(mw_tensor *x, int64_t k, int axis, bool ascending)
{
    mw_tensor *values, *indices;
    mw_topk(x, k, axis, ascending, &values, &indices);
    return indices;
}

/* clang-format off */
BUILD(topk, values_of(in[0], 3, -1, false))
BUILD(topk_at, indices_of(in[0], 3, -1, false))
BUILD(topk_up, values_of(in[0], 3, -1, true))
BUILD(topk_up_at, indices_of(in[0], 3, -1, true))
BUILD(topk_middle, values_of(in[0], 2, 1, false))
BUILD(topk_middle_at, indices_of(in[0], 2, 1, false))
BUILD(topk_first, values_of(in[0], 2, 0, true))
BUILD(topk_first_at, indices_of(in[0], 2, 0, true))
BUILD(topk_all, values_of(in[0], 40, 0, false))
BUILD(topk_all_at, indices_of(in[0], 40, 0, false))
/* clang-format on */

static mw_tensor *b_topk_values(mw_tensor *const *in)
{
    mw_tensor *values;
    mw_topk(in[0], 3, 1, false, &values, NULL);
    return values;
}

static mw_tensor *default_topk(mw_tensor *x, int result)
{
    const mw_argument arguments[] = {{"x", &x, 1}};
    mw_tensor *y[2] = {NULL, NULL};
    mw_op(mw_tensor_graph(x), "topk", arguments, 1, y, 2, NULL);
    return y[result];
}

/* Every argument of the newest row; unsorted results come sorted. */
static mw_tensor *unsorted_topk(mw_tensor *x, const char *dtype, int result)
{
    mw_graph *graph = mw_tensor_graph(x);
    mw_tensor *k = mw_scalar(graph, MW_I32, 4), *sort = mw_scalar(graph, MW_BOOL, 0), *name = mw_text(graph, dtype);
    const mw_argument arguments[] = {
        {"k", &k, 1}, {"output_indices_dtype", &name, 1}, {"sort", &sort, 1}, {"x", &x, 1}};
    mw_tensor *y[2] = {NULL, NULL};
    mw_op(graph, "topk", arguments, 4, y, 2, NULL);
    return result == 0 ? y[0] : mw_cast(y[1], MW_I32);
}

/* One result of each case, as above. Boxes and scores are [N, 4, B] and [N, K, B]. */
static mw_tensor *kept(mw_tensor *const *in, int64_t most, float iou, bool per_class, int result)
{
    mw_non_maximum_suppression_options options = mw_non_maximum_suppression_defaults();
    mw_tensor *y[3] = {NULL, NULL, NULL};
    options.iou_threshold = iou, options.per_class = per_class;
    mw_non_maximum_suppression(in[0], in[1], most, &options, &y[0], &y[1], &y[2], NULL);
    return y[result];
}

/* clang-format off */
BUILD(boxes, kept(in, 5, 0.1f, false, 0))
BUILD(boxes_scores, kept(in, 5, 0.1f, false, 1))
BUILD(boxes_at, kept(in, 5, 0.1f, false, 2))
BUILD(boxes_by_class, kept(in, 20, 0.02f, true, 0))
BUILD(boxes_by_class_scores, kept(in, 20, 0.02f, true, 1))
BUILD(boxes_by_class_at, kept(in, 20, 0.02f, true, 2))
BUILD(topk_default, default_topk(in[0], 0))
BUILD(topk_default_at, default_topk(in[0], 1))
BUILD(topk_uint16, unsorted_topk(in[0], "uint16", 0))
BUILD(topk_uint16_at, unsorted_topk(in[0], "uint16", 1))
BUILD(topk_int8_at, unsorted_topk(in[0], "int8", 1))

#define DETECTIONS(classes) F(3, 0.5, 2, 2, 4, 12), F(3, 0, 1, 2, classes, 12)

static const op_case rows[] = {
    EXACT("argsort", "", b_argsort, F(2, -2, 2, 5, 9)),
    EXACT("argsort", "defaults", b_argsort_default, F(1, -2, 2, 7)),
    EXACT("argsort", "ascending, a long row", b_argsort_up, F(2, -2, 2, 2, 301)),
    EXACT("argsort", "a middle axis", b_argsort_middle, F(3, -2, 2, 3, 17, 4)),
    EXACT("argsort", "a negative axis", b_argsort_first, F(2, -2, 2, 33, 5)),
    EXACT("argsort", "ties, descending", b_argsort, I(2, -2, 3, 4, 50)),
    EXACT("argsort", "ties, ascending", b_argsort_up, I(2, -2, 3, 4, 50)),
    EXACT("argsort", "one element", b_argsort, F(2, -2, 2, 3, 1)),
    EXACT("topk", "", b_topk, F(2, -2, 2, 5, 9)),
    EXACT("topk", "the indices", b_topk_at, F(2, -2, 2, 5, 9)),
    EXACT("topk", "defaults", b_topk_default, F(2, -2, 2, 5, 9)),
    EXACT("topk", "defaults, the indices", b_topk_default_at, F(2, -2, 2, 5, 9)),
    EXACT("topk", "ascending", b_topk_up, F(3, -2, 2, 2, 3, 70)),
    EXACT("topk", "ascending, the indices", b_topk_up_at, F(3, -2, 2, 2, 3, 70)),
    EXACT("topk", "a middle axis", b_topk_middle, F(3, -2, 2, 3, 6, 4)),
    EXACT("topk", "a middle axis, the indices", b_topk_middle_at, F(3, -2, 2, 3, 6, 4)),
    EXACT("topk", "axis 0, ascending", b_topk_first, F(2, -2, 2, 6, 4)),
    EXACT("topk", "axis 0, ascending, the indices", b_topk_first_at, F(2, -2, 2, 6, 4)),
    EXACT("topk", "all", b_topk_all, F(1, -2, 2, 40)),
    EXACT("topk", "all, the indices", b_topk_all_at, F(1, -2, 2, 40)),
    EXACT("topk", "ties", b_topk, I(2, 0, 3, 7, 40)),
    EXACT("topk", "ties, the indices", b_topk_at, I(2, 0, 3, 7, 40)),
    EXACT("topk", "values only", b_topk_values, F(3, -2, 2, 3, 6, 4)),
    EXACT("topk", "indices uint16, not sorted", b_topk_uint16, F(2, -2, 2, 3, 20)),
    EXACT("topk", "indices uint16, not sorted, the indices", b_topk_uint16_at, F(2, -2, 2, 3, 20)),
    EXACT("topk", "indices int8, not sorted", b_topk_int8_at, F(2, -2, 2, 3, 20)),
    EXACT("non_maximum_suppression", "", b_boxes, DETECTIONS(1)),
    EXACT("non_maximum_suppression", "the scores", b_boxes_scores, DETECTIONS(3)),
    EXACT("non_maximum_suppression", "the indices", b_boxes_at, DETECTIONS(3)),
    EXACT("non_maximum_suppression", "by class, more places than boxes", b_boxes_by_class, DETECTIONS(2)),
    EXACT("non_maximum_suppression", "by class, the scores", b_boxes_by_class_scores, DETECTIONS(2)),
    EXACT("non_maximum_suppression", "by class, the indices", b_boxes_by_class_at, DETECTIONS(2)),
};
/* clang-format on */

static const op_unrecorded unrecorded[] = {
    {"non_maximum_suppression",
     "PyTorch has none: it is in torchvision; tests/engine/kernels/test_kernels_boxes.c has cases"},
    {NULL, NULL}};

OP_CASES_UNRECORDED(sort, rows, unrecorded)

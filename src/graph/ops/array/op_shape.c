/* Views, joining and splitting: shape rules and constructors of the first half of ops/shape.def; the other half is in
 * op_shape_part.c. */
#include <millwright/ops/shape.h>

#include "base/memory/checked.h"
#include "graph/ir/rule.h"

#include <inttypes.h>

/* ---- reshape ---- */

/* An extent of 0 copies the one at the same place. Before ios17 that asks for equal ranks; from then on places are
 * counted from the last axis, and what x lacks is 1 (MIL, reshape of ios17). `copied` marks axes of the result, `taken`
 * those of x. */
static mw_status copy_zeros(const mw__infer *infer, mw_shape x, mw_shape *shape, bool copied[MW_RANK_MAX],
                            bool taken[MW_RANK_MAX])
{
    const bool by_end = infer->op->block->function->opset >= MW_IOS17;
    for (int i = 0; i < shape->rank; i++) {
        const int at = x.rank - shape->rank + i;
        if (shape->dim[i] != 0)
            continue;
        if (shape->rank != x.rank && !by_end)
            return mw__rule_fail(infer, MW_ERROR_SHAPE,
                                 "shape has a 0 at %d, which copies an extent, but rank %d where x has rank %d", i,
                                 shape->rank, x.rank);
        shape->dim[i] = at >= 0 ? x.dim[at] : 1;
        copied[i] = true;
        if (at >= 0)
            taken[at] = true;
    }
    return MW_OK;
}

/* Index of the one -1, or -1 if there is none. */
static mw_status find_open(const mw__infer *infer, mw_shape shape, const bool copied[MW_RANK_MAX], int *out)
{
    *out = -1;
    for (int i = 0; i < shape.rank; i++) {
        if (copied[i] || shape.dim[i] >= 0)
            continue;
        if (shape.dim[i] != -1)
            return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "shape has the extent %" PRId64 ", only -1 may be negative",
                                 shape.dim[i]);
        if (*out >= 0)
            return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "shape has more than one -1");
        *out = i;
    }
    return MW_OK;
}

/* Elements beside those of copied axes and of axis `open`; -1 if unknown. */
static int64_t count_rest(mw_shape shape, const bool copied[MW_RANK_MAX], int open)
{
    mw_shape rest = {.rank = 0};
    for (int i = 0; i < shape.rank; i++) {
        if (!copied[i] && i != open)
            rest.dim[rest.rank++] = shape.dim[i];
    }
    return mw_shape_count(rest);
}

/* Then both sides are empty, whatever their other extents. */
static bool copies_nothing(mw_shape shape, const bool copied[MW_RANK_MAX])
{
    for (int i = 0; i < shape.rank; i++)
        if (copied[i] && shape.dim[i] == 0)
            return true;
    return false;
}

static mw_status fail_count(const mw__infer *infer, mw_shape wanted)
{
    char x[240], shape[200];
    return mw__rule_fail(infer, MW_ERROR_SHAPE, "%s does not have the elements of shape %s",
                         mw__arg_print(infer->op, "x", x, sizeof x), mw__shape_print(wanted, shape, sizeof shape));
}

mw_status mw__shape_reshape(mw__infer *infer)
{
    const mw_shape x = mw__rule_shape(infer, "x");
    mw_shape shape = {.rank = 0};
    bool known, copied[MW_RANK_MAX] = {false}, taken[MW_RANK_MAX] = {false};
    size_t rank;
    int open;
    MW_TRY(mw__rule_ints(infer, "shape", shape.dim, MW_RANK_MAX, &rank, &known));
    shape.rank = (int)rank;
    for (int i = 0; !known && i < shape.rank; i++)
        shape.dim[i] = MW_DIM_UNKNOWN;
    if (!known)
        return mw__rule_result(infer, mw__rule_dtype(infer, "x"), shape);
    MW_TRY(copy_zeros(infer, x, &shape, copied, taken));
    MW_TRY(find_open(infer, shape, copied, &open));
    const int64_t have = count_rest(x, taken, -1);
    const int64_t want = count_rest(shape, copied, open);
    if (have >= 0 && want >= 0) {
        if (open < 0 ? have != want && !copies_nothing(shape, copied) : want == 0 || have % want != 0)
            return fail_count(infer, shape);
        if (open >= 0)
            shape.dim[open] = have / want;
    }
    return mw__rule_result(infer, mw__rule_dtype(infer, "x"), shape);
}

/* What MIL's ios17 makes of a 0 in another rank, an axis counted from the end, is seldom what was meant. */
static bool copies_elsewhere(mw_tensor *x, mw_shape shape)
{
    for (int i = 0; x != NULL && shape.rank <= MW_RANK_MAX && i < shape.rank; i++)
        if (shape.dim[i] == 0 && shape.rank != mw_tensor_shape(x).rank) {
            mw__graph_fail(x->graph, MW_ERROR_SHAPE,
                           "reshape: shape has a 0 at %d, which copies an extent, but rank %d where x has rank %d", i,
                           shape.rank, mw_tensor_shape(x).rank);
            return true;
        }
    return false;
}

mw_tensor *mw_reshape(mw_tensor *x, mw_shape shape)
{
    if (copies_elsewhere(x, shape))
        return NULL;
    mw__build build = mw__build_begin("reshape", x);
    mw__build_set(&build, "x", x);
    mw__build_shape(&build, "shape", shape);
    return mw__build_end(&build);
}

mw_tensor *mw__reshape_to(mw_tensor *x, mw_shape shape)
{
    const int64_t begin[MW_RANK_MAX] = {0};
    mw_shape said = shape;
    int zeros = 0;
    for (int i = 0; i < shape.rank && i < MW_RANK_MAX; i++)
        if (shape.dim[i] == 0)
            said.dim[i] = zeros++ == 0 ? -1 : 1;
    if (zeros == 0 || mw_shape_count(mw_tensor_shape(x)) != 0)
        return mw_reshape(x, shape);
    mw_tensor *y = mw_reshape(x, said);
    return zeros > 1 ? mw_slice_by_size(y, begin, shape.dim) : y;
}

mw_tensor *mw_identity(mw_tensor *x)
{
    mw__build build = mw__build_begin("identity", x);
    mw__build_set(&build, "x", x);
    return mw__build_end(&build);
}

/* ---- transpose ---- */

mw_status mw__shape_transpose(mw__infer *infer)
{
    const mw_shape x = mw__rule_shape(infer, "x");
    int64_t perm[MW_RANK_MAX];
    bool known, marks[MW_RANK_MAX];
    size_t count;
    MW_TRY(mw__rule_ints(infer, "perm", perm, MW_RANK_MAX, &count, &known));
    if (count != (size_t)x.rank)
        return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "perm has %zu axes, x has rank %d", count, x.rank);
    MW_TRY(mw__rule_axes(infer, "perm", x.rank, marks, &count)); /* each axis once */
    mw_shape shape = {.rank = x.rank};
    for (int i = 0; i < x.rank; i++)
        shape.dim[i] = x.dim[perm[i] < 0 ? perm[i] + x.rank : perm[i]];
    return mw__rule_result(infer, mw__rule_dtype(infer, "x"), shape);
}

static mw_tensor *with_axes(const char *operation, mw_tensor *x, const char *arg, mw_axes axes)
{
    mw__build build = mw__build_begin(operation, x);
    mw__build_set(&build, "x", x);
    mw__build_axes(&build, arg, axes);
    return mw__build_end(&build);
}

mw_tensor *mw_transpose(mw_tensor *x, mw_axes perm) { return with_axes("transpose", x, "perm", perm); }

/* ---- axes of extent 1 ---- */

mw_status mw__shape_expand_dims(mw__infer *infer)
{
    const mw_shape x = mw__rule_shape(infer, "x");
    int64_t axes[MW_RANK_MAX];
    bool known, marks[MW_RANK_MAX];
    size_t count;
    MW_TRY(mw__rule_ints(infer, "axes", axes, MW_RANK_MAX, &count, &known));
    if (count == 0)
        return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "axes is empty");
    if (x.rank + (int)count > MW_RANK_MAX)
        return mw__rule_fail(infer, MW_ERROR_SHAPE, "the result would exceed rank %d", MW_RANK_MAX);
    mw_shape shape = {.rank = x.rank + (int)count};
    MW_TRY(mw__rule_axes(infer, "axes", shape.rank, marks, &count));
    for (int i = 0, from = 0; i < shape.rank; i++)
        shape.dim[i] = marks[i] ? 1 : x.dim[from++];
    return mw__rule_result(infer, mw__rule_dtype(infer, "x"), shape);
}

mw_tensor *mw_expand_dims(mw_tensor *x, mw_axes axes) { return with_axes("expand_dims", x, "axes", axes); }

/* A listed axis whose extent is unknown is taken for 1, or the rank would be unknown. */
mw_status mw__shape_squeeze(mw__infer *infer)
{
    const mw_shape x = mw__rule_shape(infer, "x");
    const bool all = !mw__arg_present(infer->op, "axes");
    bool marks[MW_RANK_MAX];
    size_t count;
    MW_TRY(mw__rule_axes(infer, "axes", x.rank, marks, &count));
    mw_shape shape = {.rank = 0};
    for (int i = 0; i < x.rank; i++) {
        const bool gone = all ? x.dim[i] == 1 : marks[i] && mw__dim_fits(x.dim[i], 1);
        if (!gone)
            shape.dim[shape.rank++] = x.dim[i];
    }
    return mw__rule_result(infer, mw__rule_dtype(infer, "x"), shape);
}

mw_tensor *mw_squeeze(mw_tensor *x, mw_axes axes)
{
    if (axes.count != 0)
        return with_axes("squeeze", x, "axes", axes);
    mw__build build = mw__build_begin("squeeze", x);
    mw__build_set(&build, "x", x);
    return mw__build_end(&build);
}

/* ---- concat ---- */

/* Brings the extents of one more value into `shape`. */
static mw_status join_extents(const mw__infer *infer, mw_shape *shape, mw_shape next, size_t index, int axis,
                              bool interleave)
{
    char first[200], other[200];
    bool fits = next.rank == shape->rank;
    for (int i = 0; fits && i < next.rank; i++) {
        if (i == axis && !interleave)
            continue;
        fits = mw__dim_fits(shape->dim[i], next.dim[i]);
        if (shape->dim[i] == MW_DIM_UNKNOWN)
            shape->dim[i] = next.dim[i];
    }
    if (!fits)
        return mw__rule_fail(infer, MW_ERROR_SHAPE, "values[%zu] %s does not fit values[0] %s along axis %d%s", index,
                             mw__shape_print(next, other, sizeof other), mw__shape_print(*shape, first, sizeof first),
                             axis, interleave ? ": interleave wants equal shapes" : "");
    return MW_OK;
}

static bool add_extents(int64_t a, int64_t b, int64_t *out)
{
    if (a >= 0 && b >= 0)
        return mw__add_i64(a, b, out);
    *out = MW_DIM_UNKNOWN;
    return true;
}

/* Scalars make a vector, whatever the axis is: coremltools' type inference of concat. */
static mw_status concat_scalars(mw__infer *infer, const mw__operand *values, size_t count)
{
    for (size_t i = 1; i < count; i++)
        if (mw_tensor_shape(values[i].value).rank != 0)
            return mw__rule_fail(infer, MW_ERROR_SHAPE, "values[0] is a scalar, but values[%zu] has rank %d", i,
                                 mw_tensor_shape(values[i].value).rank);
    return mw__rule_result(infer, mw_tensor_dtype(values[0].value), MW_SHAPE((int64_t)count));
}

mw_status mw__shape_concat(mw__infer *infer)
{
    const mw__operand *values;
    const size_t count = mw__arg_values(infer->op, "values", &values);
    mw_shape shape = mw_tensor_shape(values[0].value);
    int64_t total = 0;
    bool interleave;
    int axis;
    MW_TRY(mw__rule_bool(infer, "interleave", &interleave));
    if (shape.rank == 0)
        return concat_scalars(infer, values, count);
    MW_TRY(mw__rule_axis(infer, "axis", shape.rank, &axis));
    for (size_t i = 0; i < count; i++) {
        const mw_shape next = mw_tensor_shape(values[i].value);
        MW_TRY(join_extents(infer, &shape, next, i, axis, interleave));
        if (!add_extents(total, next.dim[axis], &total))
            return mw__rule_fail(infer, MW_ERROR_SHAPE, "the extent of axis %d exceeds 2^63", axis);
    }
    shape.dim[axis] = total;
    return mw__rule_result(infer, mw_tensor_dtype(values[0].value), shape);
}

mw_tensor *mw_concat(mw_tensor *const *values, size_t count, int axis)
{
    if (values == NULL || count == 0)
        return NULL; /* no graph to leave an error on */
    mw__build build = mw__build_begin("concat", values[0]);
    mw__build_set_many(&build, "values", values, count);
    mw__build_int(&build, "axis", axis);
    mw__build_bool(&build, "interleave", false);
    return mw__build_end(&build);
}

/* ---- split ---- */

/* `infer` has room for as many results as there are sizes. */
static mw_status read_sizes(mw__infer *infer, mw_shape x, int axis)
{
    const size_t count = infer->result_count;
    int64_t *sizes = mw__arena_alloc(&infer->op->block->function->graph->arena, count, sizeof *sizes, infer->err);
    int64_t sum = 0;
    size_t read;
    bool known;
    if (sizes == NULL)
        return MW_ERROR_MEMORY;
    MW_TRY(mw__rule_ints(infer, "split_sizes", sizes, count, &read, &known));
    for (size_t i = 0; i < count; i++) {
        if (sizes[i] < 0)
            return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "split_sizes[%zu] is %" PRId64, i, sizes[i]);
        sum += sizes[i]; /* less than 2^32 numbers below 2^31 */
        infer->shape[i].dim[axis] = sizes[i];
    }
    if (x.dim[axis] >= 0 && sum != x.dim[axis])
        return mw__rule_fail(infer, MW_ERROR_SHAPE, "split_sizes sum to %" PRId64 ", the extent is %" PRId64, sum,
                             x.dim[axis]);
    return MW_OK;
}

static mw_status even_sizes(const mw__infer *infer, mw_shape x, int axis)
{
    const int64_t extent = x.dim[axis], parts = (int64_t)infer->result_count;
    if (extent >= 0 && extent % parts != 0)
        return mw__rule_fail(infer, MW_ERROR_SHAPE, "%" PRId64 " equal parts of the extent %" PRId64 " do not exist",
                             parts, extent);
    for (size_t i = 0; i < infer->result_count; i++)
        infer->shape[i].dim[axis] = extent >= 0 ? extent / parts : MW_DIM_UNKNOWN;
    return MW_OK;
}

/* How many parts the arguments give. */
static mw_status count_parts(const mw__infer *infer, size_t *out)
{
    const bool by_number = mw__arg_present(infer->op, "num_splits");
    const bool by_size = mw__arg_present(infer->op, "split_sizes");
    int64_t parts = 0;
    if (!by_number && !by_size)
        return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "either num_splits or split_sizes must be given");
    if (by_number)
        MW_TRY(mw__rule_int(infer, "num_splits", &parts));
    if (by_number && parts < 1)
        return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "num_splits %" PRId64 " must be at least 1", parts);
    const int64_t sizes = by_size ? mw_shape_count(mw__rule_shape(infer, "split_sizes")) : parts;
    if (sizes < 0)
        return mw__rule_fail(infer, MW_ERROR_UNSUPPORTED, "the length of split_sizes is not known");
    if (sizes == 0)
        return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "split_sizes is empty");
    if (by_number && parts != sizes)
        return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "num_splits is %" PRId64 " but split_sizes has %" PRId64, parts,
                             sizes);
    *out = (size_t)sizes;
    return MW_OK;
}

mw_status mw__shape_split(mw__infer *infer)
{
    const mw_shape x = mw__rule_shape(infer, "x");
    size_t count = 0;
    int axis;
    MW_TRY(mw__rule_axis(infer, "axis", x.rank, &axis));
    MW_TRY(count_parts(infer, &count));
    MW_TRY(mw__rule_results(infer, count));
    for (size_t i = 0; i < count; i++) {
        infer->dtype[i] = mw__rule_dtype(infer, "x");
        infer->shape[i] = x;
    }
    return mw__arg_present(infer->op, "split_sizes") ? read_sizes(infer, x, axis) : even_sizes(infer, x, axis);
}

static mw_status split_axis(mw_tensor *x, const int64_t *sizes, size_t count, int axis, mw_tensor **out_parts)
{
    for (size_t i = 0; out_parts != NULL && i < count; i++)
        out_parts[i] = NULL;
    mw__build build = mw__build_begin("split", x);
    if (!build.failed && out_parts == NULL) {
        mw__graph_fail(build.graph, MW_ERROR_ARGUMENT, "split: no place for the parts (out_parts is NULL)");
        return MW_ERROR_ARGUMENT;
    }
    if (!build.failed && count < 1) {
        mw__graph_fail(build.graph, MW_ERROR_ARGUMENT, "split: 0 parts; at least 1 is wanted");
        build.failed = true;
    }
    mw__build_set(&build, "x", x);
    mw__build_int(&build, "axis", axis);
    if (sizes != NULL)
        mw__build_ints(&build, "split_sizes", sizes, count);
    else
        mw__build_int(&build, "num_splits", (int64_t)count);
    return mw__build_end_many(&build, out_parts, out_parts != NULL ? count : 0, NULL);
}

mw_status mw_split(mw_tensor *x, size_t count, int axis, mw_tensor **out_parts)
{
    return split_axis(x, NULL, count, axis, out_parts);
}

mw_status mw_split_sizes(mw_tensor *x, const int64_t *sizes, size_t count, int axis, mw_tensor **out_parts)
{
    if (x != NULL && sizes == NULL && x->graph->error.status == MW_OK)
        mw__graph_fail(x->graph, MW_ERROR_ARGUMENT, "split: sizes is NULL");
    return split_axis(x, sizes, count, axis, out_parts);
}

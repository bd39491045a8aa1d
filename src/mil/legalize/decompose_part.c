/* Parts of a tensor and extents: windows, and numbers that are computed though they follow from the declared shapes. */
#include "graph/ir/op_build.h"
#include "mil/legalize/decompose.h"
#include "mil/legalize/rewrites.h"
#include "mil/legalize/split.h"

#include <millwright/millwright.h>

/* ---- windows ---- */

enum { PIECES_MAX = 1024 }; /* slices that a sliding_windows becomes */

typedef struct windows {
    int axis;
    int64_t count, size, stride;
    bool by_place; /* pieces are the k-th elements of all windows, not the windows */
} windows;

static bool read_windows(const mw__op *op, windows *w)
{
    const mw_shape x = mw_tensor_shape(mw__arg(op, "x")), result = mw_tensor_shape(op->results[0]);
    int64_t axis;
    if (!mw__arg_int(op, "axis", &axis) || !mw__arg_int(op, "size", &w->size) ||
        !mw__arg_int(op, "stride", &w->stride) || x.rank < 1 || result.rank != x.rank + 1)
        return false;
    w->axis = (int)(axis < 0 ? axis + x.rank : axis);
    w->count = result.dim[w->axis];
    w->by_place = w->size <= w->count;
    return mw_shape_count(result) > 0;
}

bool mw__decompose_is_windows(const mw__rewriting *pass, const mw__op *op)
{
    windows w;
    return mw__decompose_always(pass, op) && read_windows(op, &w) && (w.by_place ? w.size : w.count) <= PIECES_MAX;
}

static mw_tensor *piece(const windows *w, mw_tensor *x, int64_t index)
{
    mw_slice slices[MW_RANK_MAX];
    const int64_t begin = w->by_place ? index : index * w->stride;
    const int64_t last = begin + (w->by_place ? (w->count - 1) * w->stride : w->size - 1);
    for (int i = 0; i < MW_RANK_MAX; i++)
        slices[i] = (mw_slice){.from_start = true, .to_end = true};
    slices[w->axis] = (mw_slice){.begin = begin, .end = last + 1, .stride = w->by_place ? w->stride : 1};
    return mw_slice_by_index(x, slices);
}

mw_tensor *mw__decompose_windows(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    windows w;
    mw_tensor *pieces[PIECES_MAX];
    (void)pass;
    if (!read_windows(op, &w))
        return NULL;
    mw_tensor *x = mw__decompose_arg(clone, op, "x");
    const int64_t count = w.by_place ? w.size : w.count;
    for (int64_t i = 0; i < count; i++)
        pieces[i] = piece(&w, x, i);
    return mw_stack(pieces, (size_t)count, w.by_place ? w.axis + 1 : w.axis);
}

/* ---- extents ---- */

/* Which argument says an extent of the result. */
static const char *extent_argument(const mw__op *op)
{
    static const char *const rows[][2] = {{"fill", "shape"},
                                          {"one_hot", "one_hot_vector_size"},
                                          {"reshape", "shape"},
                                          {"resize", "shape"},
                                          {"tile", "reps"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (mw__op_is(op, rows[i][0]))
            return rows[i][1];
    return NULL;
}

/* The numbers that give the result its declared extents; false if there are none. */
static bool declared_numbers(const mw__op *op, size_t count, int32_t *out)
{
    const mw_shape result = mw_tensor_shape(op->results[0]);
    int64_t axis = -1;
    if (mw__op_is(op, "one_hot")) {
        mw__arg_int(op, "axis", &axis);
        out[0] = (int32_t)result.dim[axis < 0 ? axis + result.rank : axis];
        return count == 1;
    }
    const bool repeats = mw__op_is(op, "tile");
    const mw_shape x = repeats ? mw_tensor_shape(mw__arg(op, "x")) : result;
    for (size_t i = 0; i < count && count <= (size_t)result.rank; i++) {
        const int64_t extent = result.dim[(size_t)result.rank - count + i];
        const int64_t unit = repeats ? x.dim[i] : 1;
        if (unit <= 0 || extent % unit != 0)
            return false;
        out[i] = (int32_t)(extent / unit);
    }
    return count <= (size_t)result.rank && (!repeats || x.rank == result.rank);
}

static bool read_extents(const mw__op *op, int32_t out[MW_RANK_MAX], size_t *out_count)
{
    const mw_tensor *value = mw__arg(op, extent_argument(op));
    const int64_t count = value != NULL ? mw_shape_count(mw_tensor_shape(value)) : -1;
    *out_count = count > 0 ? (size_t)count : 0;
    return count > 0 && count <= MW_RANK_MAX && !mw__is_constant(value) && declared_numbers(op, *out_count, out);
}

bool mw__decompose_is_declared(const mw__rewriting *pass, const mw__op *op)
{
    int32_t numbers[MW_RANK_MAX];
    size_t count;
    return mw__decompose_always(pass, op) && extent_argument(op) != NULL && read_extents(op, numbers, &count);
}

/* The operation with the extents of its declared result in the place of those that are fed. */
mw_tensor *mw__decompose_declared(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    int32_t numbers[MW_RANK_MAX];
    size_t count;
    (void)pass;
    if (!read_extents(op, numbers, &count))
        return NULL;
    const mw_tensor *value = mw__arg(op, extent_argument(op));
    mw_tensor *copy = mw__clone_get(clone, value);
    mw__clone_set(clone, value, mw_constant(clone->to, MW_I32, mw_tensor_shape(value), numbers));
    mw__clone_op(clone, op, &clone->to->error);
    mw__clone_set(clone, value, copy);
    return mw__clone_get(clone, op->results[0]);
}

/* Products, pools, norms and attention in forms that a chip has: of fewer axes, in parts, and of several operations. */
#include "mil/legalize/fit.h"
#include "mil/legalize/rewrites.h"

#include "graph/geometry/window.h"
#include "graph/patterns/attention.h"

#include <millwright/millwright.h>

/* All axes but the last `kept` as one. */
static mw_shape merged(mw_shape shape, int kept)
{
    mw_shape out = {.rank = kept + 1, .dim = {1}};
    for (int i = 0; i < shape.rank; i++)
        if (i < shape.rank - kept)
            out.dim[0] *= shape.dim[i];
        else
            out.dim[1 + i - (shape.rank - kept)] = shape.dim[i];
    return out;
}

static bool leading_equal(mw_shape x, mw_shape y)
{
    bool equal = x.rank == y.rank;
    for (int i = 0; equal && i + 2 < x.rank; i++)
        equal = x.dim[i] == y.dim[i];
    return equal;
}

/* ---- a product that sums over more elements than the chip does ---- */

bool mw__workaround_is_long_product(const mw__rewriting *pass, const mw__op *op)
{
    const mw_shape x = mw_tensor_shape(mw__arg(op, "x")), y = mw_tensor_shape(mw__arg(op, "y"));
    return mw__legality_chip(pass->legality)->inner_extent_max > 0 && mw_shape_count(x) > 0 && mw_shape_count(y) > 0 &&
           x.rank >= 2 && y.rank >= 2;
}

static mw_tensor *part_along(mw_tensor *value, int axis, int64_t begin, int64_t count)
{
    const mw_shape shape = mw_tensor_shape(value);
    int64_t begins[MW_RANK_MAX] = {0}, sizes[MW_RANK_MAX];
    for (int i = 0; i < shape.rank; i++)
        sizes[i] = shape.dim[i];
    begins[axis] = begin;
    sizes[axis] = count;
    return mw_slice_by_size(value, begins, sizes);
}

/* The parts are as long as each other, but for the last. */
mw_tensor *mw__workaround_long_product(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    bool turn_x = false, turn_y = false;
    const int64_t most = mw__legality_chip(pass->legality)->inner_extent_max;
    mw_tensor *x = mw__decompose_arg(clone, op, "x"), *y = mw__decompose_arg(clone, op, "y"), *sum = NULL;
    mw__arg_bool(op, "transpose_x", &turn_x);
    mw__arg_bool(op, "transpose_y", &turn_y);
    if (x == NULL || y == NULL)
        return NULL;
    const mw_transposes turns = (mw_transposes)((turn_x ? MW_TRANSPOSE_X : 0) | (turn_y ? MW_TRANSPOSE_Y : 0));
    const int axis_x = mw_tensor_shape(x).rank - (turn_x ? 2 : 1), axis_y = mw_tensor_shape(y).rank - (turn_y ? 1 : 2);
    const int64_t extent = mw_tensor_shape(x).dim[axis_x], parts = (extent + most - 1) / most;
    const int64_t length = (extent + parts - 1) / parts;
    for (int64_t begin = 0; begin < extent; begin += length) {
        const int64_t count = extent - begin < length ? extent - begin : length;
        mw_tensor *product = mw_matmul(part_along(x, axis_x, begin, count), part_along(y, axis_y, begin, count), turns);
        sum = sum == NULL ? product : mw_add(sum, product);
    }
    return sum;
}

/* ---- products of fewer axes ---- */

/* Batches that are the same on both sides; or one matrix on the right. */
bool mw__workaround_is_product(const mw__rewriting *pass, const mw__op *op)
{
    const mw_shape x = mw_tensor_shape(mw__arg(op, "x")), y = mw_tensor_shape(mw__arg(op, "y"));
    (void)pass;
    return mw_shape_count(mw_tensor_shape(op->results[0])) > 0 && mw_shape_count(x) > 0 && x.rank > 3 &&
           (leading_equal(x, y) || y.rank == 2);
}

mw_tensor *mw__workaround_product(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    bool turn_x = false, turn_y = false;
    mw_tensor *x = mw__decompose_arg(clone, op, "x"), *y = mw__decompose_arg(clone, op, "y");
    (void)pass;
    mw__arg_bool(op, "transpose_x", &turn_x);
    mw__arg_bool(op, "transpose_y", &turn_y);
    if (x == NULL || y == NULL)
        return NULL;
    const mw_transposes turns = (mw_transposes)((turn_x ? MW_TRANSPOSE_X : 0) | (turn_y ? MW_TRANSPOSE_Y : 0));
    x = mw__reshape_to(x, merged(mw_tensor_shape(x), 2));
    if (mw_tensor_shape(y).rank > 2)
        y = mw__reshape_to(y, merged(mw_tensor_shape(y), 2));
    return mw__reshape_to(mw_matmul(x, y, turns), mw_tensor_shape(op->results[0]));
}

bool mw__workaround_is_linear(const mw__rewriting *pass, const mw__op *op)
{
    (void)pass;
    return mw_shape_count(mw_tensor_shape(op->results[0])) > 0;
}

mw_tensor *mw__workaround_linear(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    mw_tensor *x = mw__decompose_arg(clone, op, "x");
    (void)pass;
    if (x == NULL)
        return NULL;
    x = mw__reshape_to(x, merged(mw_tensor_shape(x), 1));
    mw_tensor *weight = mw__decompose_arg(clone, op, "weight"), *bias = mw__decompose_arg(clone, op, "bias");
    mw_tensor *y = mw_linear(x, weight, bias);
    return mw__reshape_to(y, mw_tensor_shape(op->results[0]));
}

/* ---- a max_pool whose window is wider than the chip's ----
 *
 * Windows one after the other along the last axis: of a and b columns, the first with stride 1, they reach as far as
 * one of a + b - 1, and the largest of all is the largest of the largest. */

/* The windows as they are, padding after included that ceil_mode reaches; false if they cannot be written so. */
static bool read_windows(const mw__op *op, mw__window windows[MW__WINDOW_AXES], int *out_axes)
{
    int64_t kernel[MW_RANK_MAX];
    size_t count = 0;
    mw_error err = {0};
    const mw_shape x = mw_tensor_shape(mw__arg(op, "x"));
    *out_axes = x.rank - 2;
    if (mw_shape_count(x) <= 0 || !mw__arg_ints(op, "kernel_sizes", kernel, MW_RANK_MAX, &count) ||
        (int)count != *out_axes || mw__op_windows(op, x, kernel, windows, &err) != MW_OK)
        return false;
    for (int i = 0; i < *out_axes; i++) {
        mw__window *w = &windows[i];
        const int64_t reached = (w->out - 1) * w->stride + w->kernel - w->in - w->before;
        w->after = reached > w->after ? reached : w->after;
        if (w->before >= w->kernel || w->after >= w->kernel)
            return false;
    }
    return true;
}

bool mw__workaround_is_wide_pool(const mw__rewriting *pass, const mw__op *op)
{
    int axes;
    mw__window windows[MW__WINDOW_AXES];
    return mw__legality_chip(pass->legality)->max_pool_width_max > 1 && read_windows(op, windows, &axes);
}

static int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* Along the last axis alone. Padding belongs to the first windows that have room for it: what stands left of a padded
 * window is then padding only. */
static mw_tensor *slide_once(mw_tensor *x, int axes, int64_t kernel, mw__window *last)
{
    mw_pool_options how = mw_pool_defaults((mw_shape){.rank = axes, .dim = {1, 1, 1}});
    int64_t *pad = &how.pad[2 * (axes - 1)];
    how.kernel.dim[axes - 1] = kernel;
    how.pad_type = MW_PAD_CUSTOM;
    pad[0] = least(last->before, kernel - 1);
    pad[1] = least(last->after, kernel - 1);
    last->before -= pad[0];
    last->after -= pad[1];
    last->kernel -= kernel - 1;
    return mw_max_pool(x, &how);
}

mw_tensor *mw__workaround_wide_pool(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    int axes;
    mw__window windows[MW__WINDOW_AXES];
    const int64_t most = mw__legality_chip(pass->legality)->max_pool_width_max;
    mw_tensor *x = mw__decompose_arg(clone, op, "x");
    if (x == NULL || !read_windows(op, windows, &axes))
        return NULL;
    while (x != NULL && windows[axes - 1].kernel > most)
        x = slide_once(x, axes, most, &windows[axes - 1]);
    mw_pool_options how = mw_pool_defaults((mw_shape){.rank = axes});
    how.pad_type = MW_PAD_CUSTOM;
    for (int i = 0; i < axes; i++) {
        how.kernel.dim[i] = windows[i].kernel;
        how.stride[i] = windows[i].stride;
        how.pad[2 * i] = windows[i].before;
        how.pad[2 * i + 1] = windows[i].after;
    }
    return mw_max_pool(x, &how);
}

/* ---- normalization of the last axes ---- */

static int normalized(const mw__op *op)
{
    int64_t axes[MW_RANK_MAX];
    size_t count = 0;
    const int rank = mw_tensor_shape(mw__arg(op, "x")).rank;
    bool last = mw__arg_ints(op, "axes", axes, MW_RANK_MAX, &count) && count > 0 && (int)count < rank;
    for (size_t i = 0; last && i < count; i++)
        last = (axes[i] < 0 ? axes[i] + rank : axes[i]) == rank - (int)count + (int)i;
    return last ? (int)count : 0;
}

bool mw__workaround_is_norm(const mw__rewriting *pass, const mw__op *op)
{
    (void)pass;
    return normalized(op) > 0 && normalized(op) < 3 && mw_shape_count(mw_tensor_shape(op->results[0])) > 0;
}

mw_tensor *mw__workaround_norm(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    double epsilon = 0.0;
    mw_tensor *x = mw__decompose_arg(clone, op, "x");
    const int count = normalized(op);
    (void)pass;
    mw__arg_float(op, "epsilon", &epsilon);
    if (x == NULL)
        return NULL;
    x = mw__reshape_to(x, merged(mw_tensor_shape(x), count));
    const mw_axes axes = count == 1 ? MW_AXES(1) : MW_AXES(1, 2);
    mw_tensor *gamma = mw__decompose_arg(clone, op, "gamma"), *beta = mw__decompose_arg(clone, op, "beta");
    mw_tensor *y = mw_layer_norm(x, axes, gamma, beta, (float)epsilon);
    return mw__reshape_to(y, mw_tensor_shape(op->results[0]));
}

/* ---- attention ---- */

mw_tensor *mw__workaround_attention(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    mw_tensor *query = mw__decompose_arg(clone, op, "query"), *key = mw__decompose_arg(clone, op, "key");
    mw_tensor *value = mw__decompose_arg(clone, op, "value"), *mask = mw__decompose_arg(clone, op, "attn_mask");
    (void)pass;
    return query != NULL && key != NULL && value != NULL
               ? mw__attention(query, key, value, mask, MW__LOWERING_DECOMPOSED)
               : NULL;
}

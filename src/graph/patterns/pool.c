/* Gradients of pooling. Averages: spreading a number over its window is itself an average, of stride 1, over the
 * numbers moved apart by the stride. Maxima: element by element of the window, in its order; the numbers for one
 * element lie a stride apart, those of elements a stride apart are added before they are moved apart, so that the cost
 * grows with the sum of the kernel's extents and not with their product. */
#include "graph/patterns/pool.h"

#include "graph/geometry/window.h"
#include "graph/ir/rule.h"
#include <millwright/millwright.h>

#define ELEMENTS 4096 /* of a window; each becomes a few operations */

typedef struct pooling {
    const mw__op *op;
    int axes; /* spatial */
    int64_t kernel[MW__WINDOW_AXES];
    mw__window windows[MW__WINDOW_AXES];
} pooling;

/* False with an error left on the graph. */
static bool read_pooling(const mw__op *op, mw_tensor *x, pooling *out)
{
    size_t count = 0;
    *out = (pooling){.op = op, .axes = mw_tensor_shape(x).rank - 2};
    mw__arg_ints(op, "kernel_sizes", out->kernel, MW__WINDOW_AXES, &count);
    return mw__op_windows(op, mw_tensor_shape(x), out->kernel, out->windows, &x->graph->error) == MW_OK;
}

static mw_tensor *zero_like(const mw_tensor *x) { return mw__scalar(x->graph, mw_tensor_dtype(x), 0.0, "zero"); }

static mw_tensor *zeros(const mw_tensor *x) { return mw_fill(x->graph, mw_tensor_dtype(x), mw_tensor_shape(x), 0.0); }

/* `before` and `after` zeros around an axis; negative: elements cut off. */
static mw_tensor *resize(mw_tensor *x, int axis, int64_t before, int64_t after)
{
    const mw_shape shape = mw_tensor_shape(x);
    int64_t begin[MW_RANK_MAX] = {0}, size[MW_RANK_MAX] = {0}, pad[2 * MW_RANK_MAX] = {0};
    if (x == NULL)
        return NULL;
    for (int i = 0; i < shape.rank; i++)
        size[i] = shape.dim[i];
    begin[axis] = before < 0 ? -before : 0;
    size[axis] -= begin[axis] + (after < 0 ? -after : 0);
    if (before < 0 || after < 0)
        x = mw_slice_by_size(x, begin, size);
    pad[0] = before > 0 ? before : 0, pad[1] = after > 0 ? after : 0;
    return pad[0] + pad[1] > 0 ? mw_pad(x, pad, shape.rank - axis, MW_PAD_CONSTANT, 0.0f) : x;
}

/* Element i of an axis moves to i * stride + offset of an axis `stride` times as long; zeros between. Seen as rank 4,
 * so that no extent grows beyond N C or those of the result. */
static mw_tensor *move_apart(mw_tensor *x, int axis, int64_t stride, int64_t offset)
{
    if (x == NULL || stride == 1)
        return x;
    mw_shape shape = mw_tensor_shape(x), flat = {.rank = 4, .dim = {shape.dim[0] * shape.dim[1], 1, 1, 1}};
    for (int i = 2; i < shape.rank; i++)
        flat.dim[i < axis ? 1 : i == axis ? 2 : 3] *= shape.dim[i];
    const int64_t inner = flat.dim[3], pad[] = {offset * inner, (stride - 1 - offset) * inner};
    mw_tensor *apart = mw_pad(mw__reshape_to(x, flat), pad, 1, MW_PAD_CONSTANT, 0.0f);
    shape.dim[axis] *= stride;
    return mw__reshape_to(apart, shape);
}

/* ---- averages ---- */

mw_tensor *mw__avg_pool_spread(const mw__window *windows, int axes, mw_tensor *x, mw_tensor *dy)
{
    mw_pool_options options = mw_pool_defaults((mw_shape){.rank = axes});
    options.pad_type = MW_PAD_CUSTOM;
    for (int i = 0; i < axes; i++) {
        const mw__window *w = &windows[i];
        const int64_t length = w->out * w->stride, before = w->kernel - 1 - w->before;
        const int64_t after = w->in - length + w->before;
        const int64_t cut_before = before < 0 ? before : 0, cut_after = after < 0 ? after : 0;
        if (length + cut_before + cut_after < 1) /* no window reaches x */
            return zeros(x);
        dy = resize(move_apart(dy, 2 + i, w->stride, 0), 2 + i, cut_before, cut_after);
        options.kernel.dim[i] = w->kernel;
        options.pad[2 * i] = before - cut_before, options.pad[2 * i + 1] = after - cut_after;
    }
    return mw_avg_pool(dy, &options);
}

/* Multiplies by kernel / count along one axis, where they differ. */
static mw_tensor *share_out(mw_tensor *dy, const mw__window *w, int axis, bool inside)
{
    float *ratios = mw__arena_alloc(&dy->graph->arena, (size_t)w->out, sizeof *ratios, &dy->graph->error);
    bool all_one = true;
    for (int64_t i = 0; ratios != NULL && i < w->out; i++) {
        int64_t begin = 0, end = mw__window_padded(w, i);
        if (inside)
            mw__window_inside(w, i, &begin, &end);
        ratios[i] = end > begin ? (float)((double)w->kernel / (double)(end - begin)) : 0.0f;
        all_one = all_one && end - begin == w->kernel;
    }
    if (ratios == NULL || all_one)
        return ratios == NULL ? NULL : dy;
    mw_shape shape = {.rank = mw_tensor_shape(dy).rank};
    for (int i = 0; i < shape.rank; i++)
        shape.dim[i] = i == axis ? w->out : 1;
    mw_tensor *column = mw_constant(dy->graph, MW_F32, shape, ratios);
    return mw_mul(dy, mw_tensor_dtype(dy) == MW_F32 ? column : mw_cast(column, mw_tensor_dtype(dy)));
}

mw_tensor *mw__avg_pool_gradient(const mw__op *op, mw_tensor *x, mw_tensor *dy)
{
    pooling p;
    bool inside = false;
    if (x == NULL || dy == NULL || !read_pooling(op, x, &p))
        return NULL;
    mw__arg_bool(op, "exclude_padding_from_average", &inside);
    for (int i = 0; i < p.axes && dy != NULL; i++)
        dy = share_out(dy, &p.windows[i], 2 + i, inside);
    return dy != NULL ? mw__avg_pool_spread(p.windows, p.axes, x, dy) : NULL;
}

mw_tensor *mw__l2_pool_gradient(const mw__op *op, mw_tensor *x, mw_tensor *y, mw_tensor *dy)
{
    pooling p;
    if (x == NULL || y == NULL || dy == NULL || !read_pooling(op, x, &p))
        return NULL;
    double size = 1.0;
    for (int i = 0; i < p.axes; i++)
        size *= (double)p.kernel[i];
    /* y is 0 only where all x of the window are, and they meet the quotient as factors */
    mw_tensor *one = mw__scalar(x->graph, mw_tensor_dtype(x), 1.0, "one");
    mw_tensor *norm = mw_select(mw_equal(y, zero_like(x)), one, y);
    mw_tensor *sums = mw_mul_scalar(mw__avg_pool_spread(p.windows, p.axes, x, mw_real_div(dy, norm)), size);
    return mw_mul(x, sums);
}

/* ---- maxima ---- */

typedef struct maxima {
    pooling p;
    mw_tensor *x, *y;
    mw_tensor *rest;                  /* [N, C, *out]: what of dy no element has taken yet */
    int64_t element[MW__WINDOW_AXES]; /* of the window */
} maxima;

/* The windows [begin, begin + count) of an axis whose element k stands inside x. */
static void reach_windows(const mw__window *w, int64_t k, int64_t *out_begin, int64_t *out_count)
{
    const int64_t first = w->before - k, last = w->in - 1 + w->before - k; /* o * stride lies between them */
    const int64_t begin = first > 0 ? (first - 1) / w->stride + 1 : 0;
    const int64_t end = last < 0 ? 0 : last / w->stride + 1 < w->out ? last / w->stride + 1 : w->out;
    *out_begin = begin;
    *out_count = end > begin ? end - begin : 0;
}

/* [N, C, *out]: what the present element takes, zeros at windows where it is padding; NULL if it always is. */
static mw_tensor *take_element(maxima *m)
{
    const mw_shape out = mw_tensor_shape(m->y);
    int64_t begin[MW_RANK_MAX] = {0}, size[MW_RANK_MAX] = {out.dim[0], out.dim[1]}, pad[2 * MW__WINDOW_AXES];
    mw_slice slices[MW_RANK_MAX] = {{.end = out.dim[0], .stride = 1}, {.end = out.dim[1], .stride = 1}};
    bool full = true;
    for (int i = 0; i < m->p.axes; i++) {
        const mw__window *w = &m->p.windows[i];
        reach_windows(w, m->element[i], &begin[2 + i], &size[2 + i]);
        if (size[2 + i] == 0)
            return NULL;
        const int64_t at = begin[2 + i] * w->stride - w->before + m->element[i];
        slices[2 + i] = (mw_slice){.begin = at, .end = at + (size[2 + i] - 1) * w->stride + 1, .stride = w->stride};
        pad[2 * i] = begin[2 + i], pad[2 * i + 1] = w->out - begin[2 + i] - size[2 + i];
        full = full && size[2 + i] == w->out;
    }
    mw_tensor *y = full ? m->y : mw_slice_by_size(m->y, begin, size);
    mw_tensor *rest = full ? m->rest : mw_slice_by_size(m->rest, begin, size);
    mw_tensor *hit = mw_equal(mw_slice_by_index(m->x, slices), y), *zero = zero_like(m->x);
    mw_tensor *taken = mw_select(hit, rest, zero);
    if (!full)
        taken = mw_pad(taken, pad, m->p.axes, MW_PAD_CONSTANT, 0.0f);
    m->rest = full ? mw_select(hit, zero, rest) : mw_sub(m->rest, taken);
    return taken;
}

static mw_tensor *gather_axis(maxima *m, int axis);

static mw_tensor *gather_element(maxima *m, int axis, int64_t k)
{
    m->element[axis] = k;
    return axis + 1 < m->p.axes ? gather_axis(m, axis + 1) : take_element(m);
}

/* Brings `axis` (and those after it) from windows to elements of x; NULL = zero. Elements must be visited in order, so
 * the sums of those that lie a stride apart grow side by side. */
static mw_tensor *gather_axis(maxima *m, int axis)
{
    const mw__window *w = &m->p.windows[axis];
    const int64_t phases = w->stride < w->kernel ? w->stride : w->kernel, turns = (w->kernel - 1) / w->stride;
    mw_tensor **sums = mw__arena_alloc(&m->x->graph->arena, (size_t)phases, sizeof(mw_tensor *), &m->x->graph->error);
    if (sums == NULL)
        return NULL;
    for (int64_t k = 0; k < phases; k++)
        sums[k] = NULL;
    for (int64_t k = 0; k < w->kernel; k++) {
        mw_tensor *part = gather_element(m, axis, k);
        if (part != NULL)
            part = resize(part, 2 + axis, k / w->stride, turns - k / w->stride);
        sums[k % w->stride] = mw__build_sum(sums[k % w->stride], part);
    }
    mw_tensor *total = NULL;
    for (int64_t k = 0; k < phases; k++) {
        mw_tensor *apart = move_apart(sums[k], 2 + axis, w->stride, k);
        total = mw__build_sum(total, apart);
    }
    const int64_t length = (w->out + turns) * w->stride;
    if (total == NULL || length <= w->before)
        return NULL;
    return resize(total, 2 + axis, -w->before, w->before + w->in - length);
}

mw_tensor *mw__max_pool_gradient(const mw__op *op, mw_tensor *x, mw_tensor *y, mw_tensor *dy)
{
    maxima m = {.x = x, .y = y, .rest = dy};
    if (x == NULL || y == NULL || dy == NULL || !read_pooling(op, x, &m.p))
        return NULL;
    int64_t elements = 1;
    for (int i = 0; i < m.p.axes; i++) /* no overflow: it ends beyond the limit */
        elements = m.p.kernel[i] > ELEMENTS || elements > ELEMENTS ? ELEMENTS + 1 : elements * m.p.kernel[i];
    if (elements > ELEMENTS)
        return mw__graph_fail(x->graph, MW_ERROR_UNSUPPORTED,
                              "max_pool: a window of more than %d elements has no gradient; use reduce_max", ELEMENTS);
    mw_tensor *dx = gather_axis(&m, 0);
    return dx != NULL || x->graph->error.status != MW_OK ? dx : zeros(x);
}

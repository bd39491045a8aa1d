/* The gradient of avg_pool: the text spreads dy with zeros and takes the mean of windows of stride 1. Here each element
 * takes the gradients of the windows that hold it. It is read from the last pooling alone, as the text of a gradient
 * need not hold the forward one. */
#include "engine/compile/patterns/patterns.h"
#include "engine/core/kernel.h"
#include "engine/kernels/pattern_plans.h"

#include "graph/patterns/pool.h"

enum { DY = MW__COMPARE_DY };

/* The windows of the pooling itself. */
static bool read_means(const mw__op *op, mw__window windows[MW__WINDOW_AXES], int *out_axes)
{
    const mw_shape x = mw__shape_of(mw__arg(op, "x"));
    int64_t kernel[MW__WINDOW_AXES];
    size_t count = 0;
    bool inside = false;
    mw_error ignored = {0};
    mw__arg_bool(op, "exclude_padding_from_average", &inside);
    *out_axes = x.rank - 2;
    if (inside || !mw__arg_ints(op, "kernel_sizes", kernel, MW__WINDOW_AXES, &count) || count + 2 != (size_t)x.rank ||
        mw__op_windows(op, x, kernel, windows, &ignored) != MW_OK)
        return false;
    for (size_t i = 0; i < count; i++)
        if (windows[i].stride != 1)
            return false;
    return true;
}

/* What is spread, and cut where no window reaches; the steps are put into `spread`. */
static const mw_tensor *below_spreads(const mw_tensor *wide, mw__conv *spread)
{
    for (int i = spread->axes - 1; i >= 0; i--) {
        const mw_tensor *cut = mw__pattern_below(wide, "slice_by_size"), *from = cut != NULL ? cut : wide;
        const mw_tensor *narrow = mw__pattern_below_spread(from, spread);
        wide = narrow != from ? narrow : wide;
    }
    return wide;
}

/* The windows of the pooling whose gradient it is; the first and last elements are known by what is padded or cut. */
static void read_windows(const mw_tensor *dy, const mw__conv *spread, mw__window *windows)
{
    for (int i = 0; i < spread->axes; i++) {
        mw__window *w = &windows[i];
        const int64_t kernel = w->kernel, in = w->out, before = kernel - 1 - w->before;
        *w = (mw__window){.in = in,
                          .kernel = kernel,
                          .stride = spread->stride[i],
                          .dilation = 1,
                          .span = kernel,
                          .before = before,
                          .out = mw__shape_of(dy).dim[2 + i]};
    }
}

static mw_status put_means(mw__pattern_compare *c, mw__finder *f, size_t at, const mw_tensor *dy,
                           const mw__window *windows, int axes, mw_error *err)
{
    static const mw__window none = {.in = 1, .kernel = 1, .stride = 1, .dilation = 1, .span = 1, .out = 1};
    mw__avg_pool_gradient_match *kept = mw__arena_alloc(f->arena, 1, sizeof *kept, err);
    mw__pattern *pattern = kept != NULL ? mw__pattern_put(f, at, kept, err) : NULL;
    if (pattern == NULL)
        return MW_ERROR_MEMORY;
    *kept = (mw__avg_pool_gradient_match){.dy = dy, .dx = f->body->ops[at]->results[0]};
    for (int i = 0; i < MW__WINDOW_AXES; i++)
        kept->axis[i] = i >= MW__WINDOW_AXES - axes ? windows[i - (MW__WINDOW_AXES - axes)] : none;
    pattern->reads[0] = dy;
    return mw__pattern_compare_list_ops(c, f, pattern, err);
}

static bool has_stride(const mw__conv *spread)
{
    bool any = false;
    for (int i = 0; i < spread->axes; i++)
        any = any || spread->stride[i] > 1;
    return any;
}

mw_status mw__match_avg_pool_gradient(mw__finder *f, size_t at, mw_error *err)
{
    const mw__op *op = f->body->ops[at];
    const mw_tensor *dx = op->results[0];
    mw__window windows[MW__WINDOW_AXES];
    mw__conv spread = {.stride = {1, 1, 1}};
    if (!read_means(op, windows, &spread.axes))
        return mw__pattern_decline(f, f->row->declined);
    const mw_tensor *dy = below_spreads(mw__arg(op, "x"), &spread);
    if (!has_stride(&spread) || mw__shape_of(dy).rank != spread.axes + 2)
        return mw__pattern_decline(f, f->row->declined);
    if (mw__dtype_of(dx) != MW_F32 || mw__count_of(dx) == 0 || mw__count_of(dy) == 0)
        return mw__pattern_decline(f, "the kernel has no such type");
    read_windows(dy, &spread, windows);
    mw__pattern_compare c;
    mw_status status = mw__pattern_compare_begin(&c, f->function, err);
    if (status == MW_OK) {
        mw_tensor *input = mw__pattern_compare_input(&c, DY, "dy", dy);
        mw_tensor *shape = mw__pattern_compare_input(&c, MW__COMPARE_X, "x", dx);
        c.wanted[DY] = dy;
        status = mw__pattern_compare_written(&c, mw__avg_pool_spread(windows, spread.axes, shape, input), err);
    }
    if (status == MW_OK && c.root != NULL && mw__pattern_compare_values(&c, c.root, dx))
        status = put_means(&c, f, at, dy, windows, spread.axes, err);
    mw__pattern_compare_end(&c);
    return status;
}

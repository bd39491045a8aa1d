/* VJPs of the scatters. In the comments y is the result, u the updates, take() the gather that goes with the scatter,
 * put() the scatter itself. */
#include "autograd/vjp/rules.h"

#include <string.h>

/* Which scatter it is and where it looks. */
typedef struct place {
    enum { SLICES, ELEMENTS, COORDINATES } form;
    mw_tensor *indices;
    int axis; /* from the front; not for COORDINATES */
} place;

static place place_of(const mw__vjp *vjp)
{
    place p = {.form = COORDINATES, .indices = mw__vjp_arg(vjp, "indices")};
    int64_t axis = 0;
    if (strcmp(vjp->op->kind, "scatter_nd") == 0)
        return p;
    p.form = strcmp(vjp->op->kind, "scatter") == 0 ? SLICES : ELEMENTS;
    mw__arg_int(vjp->op, "axis", &axis);
    p.axis = (int)(axis < 0 ? axis + mw_tensor_shape(mw__vjp_arg(vjp, "data")).rank : axis);
    return p;
}

static mw_tensor *take_at_indices(const place *p, mw_tensor *x)
{
    if (p->form == COORDINATES)
        return mw_gather_nd(x, p->indices, 0);
    return p->form == SLICES ? mw_gather(x, p->indices, p->axis) : mw_gather_along_axis(x, p->indices, p->axis);
}

static mw_tensor *put_updates(const place *p, mw_tensor *data, mw_tensor *updates, mw_scatter_mode mode)
{
    if (p->form == COORDINATES)
        return mw_scatter_nd(data, p->indices, updates, mode);
    return p->form == SLICES ? mw_scatter(data, p->indices, updates, p->axis, mode)
                             : mw_scatter_along_axis(data, p->indices, updates, p->axis, mode);
}

static mw_tensor *filled(mw_tensor *like, double value)
{
    const mw_shape shape = mw_tensor_shape(like);
    mw_graph *graph = mw_tensor_graph(like);
    return shape.rank == 0 ? mw_scalar(graph, mw_tensor_dtype(like), value)
                           : mw_fill(graph, mw_tensor_dtype(like), shape, value);
}

/* ---- update ---- */

/* Numbers of the updates in their order, equal within one slice, in the shape of the updates. */
static mw_tensor *number_updates(const place *p, mw_tensor *updates)
{
    const mw_shape shape = mw_tensor_shape(updates);
    mw_shape kept = shape, spread = shape; /* [1.., J, 1..] and how often it is repeated */
    const int index_axes = p->form == COORDINATES ? mw_tensor_shape(p->indices).rank - 1 : 0;
    int64_t count = 1;
    for (int i = 0; i < shape.rank; i++) {
        const bool counts = p->form == COORDINATES ? i < index_axes : i == p->axis;
        kept.dim[i] = counts ? shape.dim[i] : 1;
        spread.dim[i] = counts ? 1 : shape.dim[i];
        count *= kept.dim[i];
    }
    mw_graph *graph = mw_tensor_graph(updates);
    if (shape.rank == 0)
        return mw_scalar(graph, MW_I32, 0.0);
    mw_tensor *numbers = mw_range_1d(graph, MW_I32, 0.0, (double)count, 1.0);
    return mw_tile(mw_reshape(numbers, kept), spread);
}

/* dupdates = take(dy), but 0 for updates that a later one of the same place replaced. */
static void vjp_update(mw__vjp *vjp, const place *p)
{
    mw_tensor *data = mw__vjp_arg(vjp, "data"), *updates = mw__vjp_arg(vjp, "updates"), *dy = vjp->dy[0];
    if (mw__vjp_wants(vjp, "data"))
        mw__vjp_set(vjp, "data", put_updates(p, dy, filled(updates, 0.0), MW_SCATTER_UPDATE));
    if (!mw__vjp_wants(vjp, "updates"))
        return;
    mw_tensor *numbers = number_updates(p, updates);
    mw_tensor *none = mw_fill(vjp->graph, MW_I32, mw_tensor_shape(data), 0.0);
    mw_tensor *last = take_at_indices(p, put_updates(p, none, numbers, MW_SCATTER_UPDATE));
    mw_tensor *kept = mw_equal(last, numbers);
    mw__vjp_set(vjp, "updates", mw__where(kept, take_at_indices(p, dy)));
}

/* ---- sums and products ---- */

static void vjp_sum(mw__vjp *vjp, const place *p, bool negative)
{
    mw__vjp_set(vjp, "data", vjp->dy[0]);
    if (!mw__vjp_wants(vjp, "updates"))
        return;
    mw_tensor *du = take_at_indices(p, vjp->dy[0]);
    mw__vjp_set(vjp, "updates", negative ? mw_neg(du) : du);
}

/* y = data / prod u: ddata = dy / prod u, du = -dy y / u */
static void vjp_quotient(mw__vjp *vjp, const place *p)
{
    mw_tensor *updates = mw__vjp_arg(vjp, "updates"), *dy = vjp->dy[0];
    if (mw__vjp_wants(vjp, "data"))
        mw__vjp_set(vjp, "data", put_updates(p, dy, updates, MW_SCATTER_DIV));
    if (!mw__vjp_wants(vjp, "updates"))
        return;
    mw_tensor *slope = mw_real_div(take_at_indices(p, mw_mul(dy, vjp->y[0])), updates);
    mw__vjp_set(vjp, "updates", mw_neg(slope));
}

/* du = dy times the other factors, which is dy y / u unless u is 0. Of a place whose one zero update is u they are the
 * product with 1 for u; with more zeros they are 0. */
static mw_tensor *other_factors(const mw__vjp *vjp, const place *p)
{
    mw_tensor *data = mw__vjp_arg(vjp, "data"), *updates = mw__vjp_arg(vjp, "updates"), *dy = vjp->dy[0];
    mw_tensor *zero = mw__vjp_scalar_like(data, 0.0), *one = mw__vjp_scalar_like(data, 1.0);
    mw_tensor *is_zero = mw_equal(updates, zero), *mark = mw_select(is_zero, one, zero);
    mw_tensor *zeros = take_at_indices(p, put_updates(p, filled(data, 0.0), mark, MW_SCATTER_ADD));
    mw_tensor *single = mw_equal(mw_mul(zeros, mark), one);
    mw_tensor *without = put_updates(p, data, mw_select(single, one, updates), MW_SCATTER_MUL);
    mw_tensor *others = take_at_indices(p, mw_mul(dy, without));
    mw_tensor *all = take_at_indices(p, mw_mul(dy, vjp->y[0]));
    mw_tensor *slope = mw_real_div(all, mw_select(is_zero, one, updates));
    return mw_select(single, others, slope);
}

/* y = data prod u: ddata = dy prod u */
static void vjp_product(mw__vjp *vjp, const place *p)
{
    if (mw__vjp_wants(vjp, "data"))
        mw__vjp_set(vjp, "data", put_updates(p, vjp->dy[0], mw__vjp_arg(vjp, "updates"), MW_SCATTER_MUL));
    if (mw__vjp_wants(vjp, "updates"))
        mw__vjp_set(vjp, "updates", other_factors(vjp, p));
}

/* ---- max and min ---- */

/* All that equal the extremum share dy, as in reduce_max. */
static void vjp_extremum(mw__vjp *vjp, const place *p)
{
    mw_tensor *data = mw__vjp_arg(vjp, "data"), *updates = mw__vjp_arg(vjp, "updates"), *y = vjp->y[0];
    mw_tensor *one = mw__vjp_scalar_like(data, 1.0);
    mw_tensor *data_hits = mw__where(mw_equal(data, y), one);
    mw_tensor *update_hits = mw__where(mw_equal(updates, take_at_indices(p, y)), one);
    mw_tensor *share = mw_real_div(vjp->dy[0], put_updates(p, data_hits, update_hits, MW_SCATTER_ADD));
    if (mw__vjp_wants(vjp, "data"))
        mw__vjp_set(vjp, "data", mw_mul(data_hits, share));
    if (mw__vjp_wants(vjp, "updates"))
        mw__vjp_set(vjp, "updates", mw_mul(update_hits, take_at_indices(p, share)));
}

void mw__vjp_scatter(mw__vjp *vjp)
{
    const place p = place_of(vjp);
    const char *mode = mw__arg_string(vjp->op, "mode");
    if (strcmp(mode, "update") == 0)
        vjp_update(vjp, &p);
    else if (strcmp(mode, "add") == 0 || strcmp(mode, "sub") == 0)
        vjp_sum(vjp, &p, strcmp(mode, "sub") == 0);
    else if (strcmp(mode, "mul") == 0)
        vjp_product(vjp, &p);
    else if (strcmp(mode, "div") == 0)
        vjp_quotient(vjp, &p);
    else
        vjp_extremum(vjp, &p);
}

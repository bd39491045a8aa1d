/* Losses of embeddings: rows of unit length, and how close they are. */
#include "autograd/losses/loss_parts.h"
#include "base/number/float_mode.h"
#include "base/number/types.h"
#include <millwright/loss_embedding.h>

#include <math.h>

#define SMALLEST 0x1p-14f /* a shorter row counts as of this length; the smallest normal number of fp16 */

/* ---- lengths ---- */

/* The largest element of each row and `least`, as a number without gradient: what a row is divided by before its
 * squares are taken. Length and direction of x do not depend on it, so that no derivative is lost. */
static mw_tensor *scale_of(mw_tensor *x, int axis, double least)
{
    mw_tensor *largest = mw_reduce_max(mw_abs(x), MW_AXES(axis), true);
    return mw_stop_gradient(mw_maximum(largest, mw__vjp_scalar_like(x, least)));
}

/* With x = m z the squares of z sum to 1 or more, unless x is shorter than epsilon; there x / epsilon is wanted, and m
 * is epsilon. The bound of 1/4 keeps a row of one element, whose sum is 1, away from where a maximum has no derivative.
 */
static mw_tensor *unit_rows(mw_tensor *x, int axis, double epsilon)
{
    mw_tensor *m = scale_of(x, axis, epsilon), *z = mw_real_div(x, m);
    mw_tensor *squares = mw_reduce_sum(mw_square(z), MW_AXES(axis), true);
    mw_tensor *tiny = mw_less_equal(m, mw__vjp_scalar_like(x, epsilon));
    mw_tensor *least = mw_select(tiny, mw__vjp_scalar_like(x, 1.0), mw__vjp_scalar_like(x, 0.25));
    return mw_real_div(z, mw_sqrt(mw_maximum(squares, least)));
}

/* |x| = m |z| along the last axis, z = x / m; `root` is |z|, or 1 where it is 0. */
typedef struct measured {
    mw_tensor *m, *z, *some, *root;
} measured;

static measured measure(mw_tensor *x)
{
    const int axis = mw__loss_class_axis(x);
    measured d = {.m = scale_of(x, axis, (double)SMALLEST)};
    d.z = mw_real_div(x, d.m);
    mw_tensor *squares = mw_reduce_sum(mw_square(d.z), MW_AXES(axis), true);
    d.some = mw_greater(squares, mw__vjp_scalar_like(x, 0.0));
    d.root = mw_sqrt(mw_select(d.some, squares, mw__vjp_scalar_like(x, 1.0)));
    return d;
}

/* dx = dy z / |z|, 0 where x is 0. By the operations dy would be multiplied by m and divided by it again, between which
 * fp16 keeps few digits of short rows. */
static void vjp_length(mw__vjp *vjp)
{
    if (!mw__vjp_wants_input(vjp, 0))
        return;
    mw_tensor *x = mw__vjp_input(vjp, 0);
    const measured d = measure(x);
    mw_tensor *dy = mw_expand_dims(vjp->dy[0], MW_AXES(mw__loss_class_axis(x)));
    mw__vjp_set_input(vjp, 0, mw_mul(dy, mw_real_div(d.z, d.root)));
}

static mw_tensor *length_of(mw_tensor *x)
{
    const measured d = measure(x);
    mw_tensor *length = mw_squeeze(mw_mul(d.m, mw__where(d.some, d.root)), MW_AXES(mw__loss_class_axis(x)));
    return mw__composite_attach(
        length, &(const mw__composite){.name = "length", .inputs = &x, .input_count = 1, .vjp = vjp_length});
}

mw_tensor *mw_normalize(mw_tensor *x, int axis, float epsilon)
{
    MW__FLOAT_SCOPE;
    if (x == NULL)
        return NULL;
    if (!(epsilon >= SMALLEST) || isinf(epsilon)) {
        mw__loss_refuse_number(x, "normalize: epsilon", epsilon, "finite and 2^-14 or more");
        return NULL;
    }
    if (!mw__number_dtype_is_float(mw_tensor_dtype(x))) {
        mw__graph_fail(mw_tensor_graph(x), MW_ERROR_DTYPE, "normalize: x is %s; it must be fp16 or fp32",
                       mw_dtype_name(mw_tensor_dtype(x)));
        return NULL;
    }
    return unit_rows(x, axis, (double)epsilon);
}

/* ---- pairs ---- */

static mw_tensor *cosines(mw_tensor *a, mw_tensor *b)
{
    const int axis = mw__loss_class_axis(a);
    return mw__loss_sum_classes(mw_mul(unit_rows(a, axis, (double)SMALLEST), unit_rows(b, axis, (double)SMALLEST)),
                                false);
}

static bool check_rows(const char *operation, const char *const names[2], mw_tensor *a, mw_tensor *b)
{
    char text[64];
    if (!mw__loss_check_pair(operation, names, a, b))
        return false;
    if (mw_tensor_shape(a).rank >= 2)
        return true;
    mw__graph_fail(mw_tensor_graph(a), MW_ERROR_SHAPE, "%s: %s %s must be rows, [N, .., D]", operation, names[0],
                   mw__shape_print(mw_tensor_shape(a), text, sizeof text));
    return false;
}

static bool check_pair_target(mw_tensor *a, mw_tensor *target)
{
    char x[64], y[64];
    mw_shape rows = mw_tensor_shape(a);
    rows.rank--;
    if (target == NULL)
        return false;
    if (mw_shape_equal(rows, mw_tensor_shape(target)) && mw_tensor_dtype(target) == mw_tensor_dtype(a))
        return true;
    mw__graph_fail(mw_tensor_graph(a), MW_ERROR_SHAPE,
                   "cosine_embedding: target is %s %s; one number of type %s for each row, %s, is wanted",
                   mw_dtype_name(mw_tensor_dtype(target)), mw__shape_print(mw_tensor_shape(target), x, sizeof x),
                   mw_dtype_name(mw_tensor_dtype(a)), mw__shape_print(rows, y, sizeof y));
    return false;
}

mw_tensor *mw_cosine_embedding(mw_tensor *a, mw_tensor *b, mw_tensor *target, float margin)
{
    MW__FLOAT_SCOPE;
    static const char *const names[2] = {"a", "b"};
    if (!check_rows("cosine_embedding", names, a, b) || !check_pair_target(a, target))
        return mw__loss_of_failed_graph(a, b);
    if (!(margin >= -1.0f && margin <= 1.0f))
        return mw__loss_refuse_number(a, "cosine_embedding: margin", margin, "in [-1, 1]");
    mw_tensor *cosine = cosines(a, b), *together = mw_greater(target, mw__vjp_scalar_like(target, 0.0));
    mw_tensor *apart = mw_relu(mw_add_scalar(cosine, -(double)margin));
    return mw__loss_mean(&(const mw__composite){.name = "cosine_embedding"},
                         mw_select(together, mw__one_minus(cosine), apart), a, b);
}

mw_tensor *mw_triplet(mw_tensor *anchor, mw_tensor *positive, mw_tensor *negative, float margin)
{
    MW__FLOAT_SCOPE;
    static const char *const near[2] = {"anchor", "positive"}, *const far[2] = {"anchor", "negative"};
    if (!check_rows("triplet", near, anchor, positive) || !check_rows("triplet", far, anchor, negative))
        return mw__loss_of_failed_graph(anchor, positive);
    if (!(margin > 0.0f) || isinf(margin))
        return mw__loss_refuse_number(anchor, "triplet: margin", margin, "positive and finite");
    mw_tensor *lead = mw_sub(length_of(mw_sub(anchor, positive)), length_of(mw_sub(anchor, negative)));
    return mw__loss_mean(&(const mw__composite){.name = "triplet"}, mw_relu(mw_add_scalar(lead, (double)margin)),
                         anchor, positive);
}

/* ---- sets ---- */

static bool check_set(const char *operation, const char *const names[2], mw_tensor *a, mw_tensor *b, float temperature)
{
    char text[64];
    if (!mw__loss_check_pair(operation, names, a, b))
        return false;
    if (mw_tensor_shape(a).rank != 2)
        mw__graph_fail(mw_tensor_graph(a), MW_ERROR_SHAPE, "%s: %s %s must be [N, D]", operation, names[0],
                       mw__shape_print(mw_tensor_shape(a), text, sizeof text));
    else if (!(temperature >= 0.001f && temperature <= 1000.0f))
        mw__graph_fail(mw_tensor_graph(a), MW_ERROR_ARGUMENT, "%s: temperature %g must be in [0.001, 1000]", operation,
                       (double)temperature);
    else
        return true;
    return false;
}

/* True at [i, (i + shift) mod count]. */
static mw_tensor *diagonal(mw_graph *graph, int64_t count, int64_t shift)
{
    mw_tensor *columns = mw_range_1d(graph, MW_I32, 0.0, (double)count, 1.0), *rows = columns;
    if (shift != 0) {
        mw_tensor *halves[2] = {mw_range_1d(graph, MW_I32, (double)shift, (double)count, 1.0),
                                mw_range_1d(graph, MW_I32, 0.0, (double)shift, 1.0)};
        rows = mw_concat(halves, 2, 0);
    }
    return mw_equal(mw_expand_dims(rows, MW_AXES(1)), columns);
}

/* The mean of -log softmax where `partner` is true. No value of a single example: each depends on the whole batch. */
static mw_tensor *find_partners(const char *name, mw_tensor *likeness, mw_tensor *partner)
{
    mw_tensor *found = mw__loss_sum_classes(mw__where(partner, mw_log_softmax(likeness, -1)), false);
    mw_tensor *mean = mw_reduce_mean(mw_neg(found), MW_ALL_AXES, false);
    return mw__composite_attach(mean, &(const mw__composite){.name = name});
}

mw_tensor *mw_info_nce(mw_tensor *queries, mw_tensor *keys, float temperature)
{
    MW__FLOAT_SCOPE;
    static const char *const names[2] = {"queries", "keys"};
    if (!check_set("info_nce", names, queries, keys, temperature))
        return mw__loss_of_failed_graph(queries, keys);
    mw_tensor *q = mw_mul_scalar(unit_rows(queries, 1, (double)SMALLEST), 1.0 / (double)temperature);
    mw_tensor *likeness = mw_matmul(q, unit_rows(keys, 1, (double)SMALLEST), MW_TRANSPOSE_Y);
    mw_tensor *partner = diagonal(mw_tensor_graph(queries), mw_tensor_shape(queries).dim[0], 0);
    mw_tensor *loss = find_partners("info_nce", likeness, partner);
    return loss != NULL ? loss : mw__loss_of_failed_graph(queries, keys);
}

/* A view is not compared with itself: there the likeness, at most 1000 in size, is replaced by -10000. */
mw_tensor *mw_nt_xent(mw_tensor *a, mw_tensor *b, float temperature)
{
    MW__FLOAT_SCOPE;
    static const char *const names[2] = {"a", "b"};
    if (!check_set("nt_xent", names, a, b, temperature))
        return mw__loss_of_failed_graph(a, b);
    mw_graph *graph = mw_tensor_graph(a);
    mw_tensor *const views[2] = {a, b};
    mw_tensor *z = unit_rows(mw_concat(views, 2, 0), 1, (double)SMALLEST);
    const int64_t count = mw_tensor_shape(a).dim[0];
    mw_tensor *likeness = mw_matmul(mw_mul_scalar(z, 1.0 / (double)temperature), z, MW_TRANSPOSE_Y);
    likeness = mw_select(diagonal(graph, 2 * count, 0), mw__vjp_scalar_like(z, -1e4), likeness);
    mw_tensor *loss = find_partners("nt_xent", likeness, diagonal(graph, 2 * count, count));
    return loss != NULL ? loss : mw__loss_of_failed_graph(a, b);
}

/* The clone that decomposes, and the functions of logical operations, of the first of the largest, of bands of matrices
 * and of functions from exponentials; the others are in decompose_<what>.c. */
#include "mil/legalize/decompose.h"

#include "graph/patterns/digits.h"
#include "mil/legalize/decompose_index.h"
#include "mil/legalize/rewrites.h"

#include <millwright/millwright.h>

/* ---- the clone ---- */

typedef struct decomposer {
    mw__rewriting pass;
    mw__rewrites rows;
} decomposer;

static bool decompose_op(void *user, mw__clone *clone, const mw__op *op)
{
    decomposer *self = user;
    const mw__rewrite *row = mw__rewrite_find(&self->pass, &self->rows, op);
    if (row != NULL)
        mw__rewrite_apply(&self->pass, row, clone, op);
    return row != NULL;
}

/* No row applies elsewhere: each asks for the form for chips, or whether the device is one. */
static bool may_decompose(const mw__device_traits *device)
{
    return device->lowering == MW__LOWERING_DECOMPOSED || device->is_chip;
}

mw_status mw__mil_decompose(const mw_graph *from, mw_graph *to, const mw__legality *legality, mw__pass_log *log,
                            bool *out_any, mw_error *err)
{
    decomposer self = {.pass = {.pass = MW__RULE_decompose, .log = log, .legality = legality},
                       .rows = mw__mil_rewrites(MW__RULE_decompose, legality->device->half_ports)};
    const mw__clone_options how = {.rule = decompose_op, .user = &self, .keep_outputs = true};
    const mw__function *main = mw__graph_main(from);
    *out_any = false;
    if (mw__failed(err))
        return err->status;
    if (main == NULL || !may_decompose(legality->device))
        return MW_OK;
    *out_any = mw__rewrite_finds_any(&self.pass, &self.rows, main->body);
    return *out_any ? mw__clone_ports(main, to, &how, NULL, err) : MW_OK;
}

mw_tensor *mw__decompose_arg(mw__clone *clone, const mw__op *op, const char *name)
{
    const mw_tensor *value = mw__arg(op, name);
    mw_tensor *copy = mw__clone_get(clone, value);
    if (copy != NULL || value == NULL || value->payload == NULL)
        return copy;
    if (value->payload->splat)
        return mw_fill(clone->to, mw_tensor_dtype(value), mw_tensor_shape(value), mw__payload_float(value->payload, 0));
    return mw_constant(clone->to, mw_tensor_dtype(value), mw_tensor_shape(value), value->payload->data);
}

bool mw__decompose_always(const mw__rewriting *pass, const mw__op *op)
{
    return pass->legality->device->lowering == MW__LOWERING_DECOMPOSED &&
           mw_shape_count(mw_tensor_shape(op->results[0])) >= 0;
}

/* ---- truth as numbers 0 and 1 ---- */

static mw_tensor *number_of(mw__clone *clone, const mw__op *op, const char *name)
{
    return mw__decompose_chosen(mw__decompose_arg(clone, op, name), MW_F32);
}

mw_tensor *mw__decompose_and(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    (void)pass;
    mw_tensor *x = number_of(clone, op, "x"), *y = number_of(clone, op, "y");
    mw_tensor *both = mw_mul(x, y);
    return mw_greater(both, mw_scalar(clone->to, MW_F32, 0.5));
}

mw_tensor *mw__decompose_or(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    (void)pass;
    mw_tensor *x = number_of(clone, op, "x"), *y = number_of(clone, op, "y");
    mw_tensor *both = mw_add(x, y);
    return mw_greater(both, mw_scalar(clone->to, MW_F32, 0.5));
}

mw_tensor *mw__decompose_xor(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    (void)pass;
    mw_tensor *x = number_of(clone, op, "x"), *y = number_of(clone, op, "y");
    return mw_not_equal(x, y);
}

/* ---- the first of the largest ---- */

static int axis_of(const mw__op *op, int rank)
{
    int64_t axis = -1;
    mw__arg_int(op, "axis", &axis);
    return (int)(axis < 0 ? axis + rank : axis);
}

/* An axis that two digits count. */
bool mw__decompose_counts(const mw__rewriting *pass, const mw__op *op)
{
    const mw_shape shape = mw_tensor_shape(mw__arg(op, "x"));
    return mw__decompose_always(pass, op) && shape.rank > 0 && mw_shape_count(shape) > 0 &&
           shape.dim[axis_of(op, shape.rank)] <= MW__DIGITS_MAX;
}

/* The positions along the axis where x is the extreme one, and a number beyond all of them elsewhere. A NaN is taken
 * for the extreme one, as everywhere (docs/architecture.md). */
static mw_tensor *positions(mw_graph *to, mw_tensor *x, int axis, bool largest)
{
    if (x == NULL)
        return NULL;
    const mw_shape shape = mw_tensor_shape(x);
    const int64_t extent = shape.dim[axis];
    const mw_dtype dtype = extent <= MW__COUNTED_MAX ? MW_F32 : MW_I32; /* integers beyond get digits */
    mw_shape along = {.rank = shape.rank, .dim = {1, 1, 1, 1, 1, 1, 1, 1}};
    along.dim[axis] = extent;
    mw_tensor *range = mw__reshape_to(mw_range_1d(to, dtype, 0.0, (double)extent, 1.0), along);
    mw_tensor *extreme = largest ? mw_reduce_max(x, MW_AXES(axis), true) : mw_reduce_min(x, MW_AXES(axis), true);
    mw_tensor *hit = largest ? mw_greater_equal(x, extreme) : mw_less_equal(x, extreme);
    mw_tensor *found = mw_select(hit, range, mw_scalar(to, dtype, (double)extent));
    return mw_tensor_dtype(x) == MW_I32 ? found : mw_select(mw_not_equal(x, x), range, found);
}

mw_tensor *mw__decompose_argument(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    (void)pass;
    bool keep = false;
    mw_tensor *x = mw__decompose_arg(clone, op, "x");
    const int axis = axis_of(op, mw_tensor_shape(mw__arg(op, "x")).rank);
    mw__arg_bool(op, "keep_dims", &keep);
    mw_tensor *found = positions(clone->to, x, axis, mw__op_is(op, "reduce_argmax"));
    mw_tensor *first = mw_reduce_min(found, MW_AXES(axis), keep);
    const mw_dtype dtype = mw_tensor_dtype(op->results[0]); /* from ios17 on it may be uint16 */
    if (mw_tensor_dtype(first) == MW_F32)
        first = mw_floor(first); /* says that it is whole (legalize.c) */
    return mw_tensor_dtype(first) == dtype ? first : mw_cast(first, dtype);
}

/* ---- bands of a matrix ---- */

enum { BAND_MAX = 1 << 22 }; /* elements of a mask, a byte each */

static mw_shape matrix_of(const mw__op *op)
{
    const mw_shape shape = mw_tensor_shape(mw__arg(op, "x"));
    if (!mw__op_is(op, "cumsum"))
        return MW_SHAPE(shape.dim[shape.rank - 2], shape.dim[shape.rank - 1]);
    const int64_t extent = shape.dim[axis_of(op, shape.rank)];
    return MW_SHAPE(extent, extent);
}

static bool has_zero(mw_dtype dtype)
{
    return dtype == MW_F16 || dtype == MW_F32 || dtype == MW_I32 || dtype == MW_BOOL;
}

bool mw__decompose_is_band(const mw__rewriting *pass, const mw__op *op)
{
    const int64_t count = mw__decompose_always(pass, op) ? mw_shape_count(matrix_of(op)) : 0;
    return count > 0 && count <= BAND_MAX && has_zero(mw_tensor_dtype(op->results[0]));
}

bool mw__decompose_is_sum(const mw__rewriting *pass, const mw__op *op)
{
    return mw__decompose_is_band(pass, op) && mw_tensor_dtype(op->results[0]) != MW_I32;
}

/* True where from <= column - row <= to. */
static mw_tensor *band(mw_graph *graph, mw_shape matrix, int64_t from, int64_t to)
{
    uint8_t *inside = mw__arena_alloc(&graph->arena, (size_t)mw_shape_count(matrix), 1, &graph->error);
    for (int64_t i = 0; inside != NULL && i < mw_shape_count(matrix); i++) {
        const int64_t right = i % matrix.dim[1] - i / matrix.dim[1];
        inside[i] = right >= from && right <= to;
    }
    return inside != NULL ? mw_constant(graph, MW_BOOL, matrix, inside) : NULL;
}

mw_tensor *mw__decompose_band(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    (void)pass;
    int64_t lower = -1, upper = -1; /* a negative number is no bound */
    mw_tensor *x = mw__decompose_arg(clone, op, "x");
    mw__arg_int(op, "lower", &lower);
    mw__arg_int(op, "upper", &upper);
    mw_tensor *inside = band(clone->to, matrix_of(op), lower < 0 ? INT64_MIN : -lower, upper < 0 ? INT64_MAX : upper);
    return mw_select(inside, x, mw_scalar(clone->to, mw_tensor_dtype(x), 0.0));
}

/* The last axis changes places with `axis`. */
static mw_tensor *swap_last(mw_tensor *x, int axis)
{
    if (x == NULL)
        return NULL;
    const int rank = mw_tensor_shape(x).rank;
    mw_axes perm = {.count = rank, .axis = {0, 1, 2, 3, 4, 5, 6, 7}};
    perm.axis[axis] = rank - 1;
    perm.axis[rank - 1] = axis;
    return axis == rank - 1 ? x : mw_transpose(x, perm);
}

/* 1 where the element of the row is added to the sum of the column. */
static mw_tensor *added(mw_graph *graph, const mw__op *op, mw_dtype dtype)
{
    bool exclusive = false, reverse = false;
    mw__arg_bool(op, "exclusive", &exclusive);
    mw__arg_bool(op, "reverse", &reverse);
    const int64_t nearest = exclusive ? 1 : 0;
    mw_tensor *inside =
        reverse ? band(graph, matrix_of(op), INT64_MIN, -nearest) : band(graph, matrix_of(op), nearest, INT64_MAX);
    return mw__decompose_chosen(inside, dtype);
}

mw_tensor *mw__decompose_sum(mw_tensor *x)
{
    if (x == NULL)
        return NULL;
    const int64_t extent = mw_tensor_shape(x).dim[1];
    mw_tensor *inside = band(mw_tensor_graph(x), MW_SHAPE(extent, extent), 0, INT64_MAX);
    return mw_matmul(x, mw__decompose_chosen(inside, MW_F32), MW_TRANSPOSE_NONE);
}

/* The product with a triangle of ones. */
mw_tensor *mw__decompose_cumsum(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    (void)pass;
    mw_tensor *x = mw__decompose_arg(clone, op, "x");
    mw_shape shape = mw_tensor_shape(mw__arg(op, "x"));
    const int axis = axis_of(op, shape.rank);
    const int64_t extent = shape.dim[axis];
    mw_tensor *rows = mw__reshape_to(swap_last(x, axis), MW_SHAPE(mw_shape_count(shape) / extent, extent));
    mw_tensor *sums = mw_matmul(rows, added(clone->to, op, mw_tensor_dtype(x)), MW_TRANSPOSE_NONE);
    shape.dim[axis] = shape.dim[shape.rank - 1];
    shape.dim[shape.rank - 1] = extent;
    return swap_last(mw__reshape_to(sums, shape), axis);
}

/* ---- functions ---- */

static mw_tensor *half_of(mw_tensor *x) { return mw_mul(x, mw_scalar(mw_tensor_graph(x), mw_tensor_dtype(x), 0.5)); }

/* e^x and e^-x, each halved before they are added, so that their sum is finite wherever the result is. */
mw_tensor *mw__decompose_cosh(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    (void)pass;
    mw_tensor *x = mw__decompose_arg(clone, op, "x"), *rising = half_of(mw_exp(x));
    return mw_add(rising, half_of(mw_exp(mw_neg(x))));
}

/* x + x^3 / 6 + x^5 / 120, which is 3e-6 off at 0.5, where the difference of the exponentials would cancel. */
static mw_tensor *sinh_near_zero(mw_tensor *x)
{
    mw_graph *graph = mw_tensor_graph(x);
    const mw_dtype dtype = mw_tensor_dtype(x);
    mw_tensor *square = mw_mul(x, x), *one = mw_scalar(graph, dtype, 1.0);
    mw_tensor *last = mw_add(one, mw_mul(square, mw_scalar(graph, dtype, 1.0 / 20.0)));
    mw_tensor *sixth = mw_mul(square, mw_scalar(graph, dtype, 1.0 / 6.0));
    return mw_mul(x, mw_add(one, mw_mul(sixth, last)));
}

mw_tensor *mw__decompose_sinh(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    (void)pass;
    mw_tensor *x = mw__decompose_arg(clone, op, "x"), *rising = half_of(mw_exp(x)), *size = mw_abs(x);
    mw_tensor *far = mw_sub(rising, half_of(mw_exp(mw_neg(x))));
    mw_tensor *near = mw_less(size, mw_scalar(clone->to, mw_tensor_dtype(x), 0.5));
    return mw_select(near, sinh_near_zero(x), far);
}

mw_tensor *mw__decompose_tan(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    (void)pass;
    mw_tensor *x = mw__decompose_arg(clone, op, "x");
    mw_tensor *sine = mw_sin(x);
    return mw_real_div(sine, mw_cos(x));
}

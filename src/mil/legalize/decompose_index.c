/* What is taken and put by coordinates, with matrices of 0 and 1: hot[j, i] where coordinate j is i. A coordinate
 * outside names nothing. Rows that are taken are products, what is put is selected and reduced. */
#include "mil/legalize/decompose_index.h"
#include "graph/ir/op_build.h"
#include "graph/patterns/digits.h"
#include "mil/legalize/rewrites.h"
#include "mil/legalize/split.h"

#include <millwright/millwright.h>
#include <string.h>

/* ---- numbers ---- */

/* As products want it; truths are 0 and 1. */
mw_tensor *mw__decompose_number(mw_tensor *x)
{
    const mw_dtype dtype = mw_tensor_dtype(x);
    if (x == NULL || dtype == MW_F32 || dtype == MW_F16)
        return x;
    return dtype == MW_BOOL ? mw__decompose_chosen(x, MW_F32) : mw_cast(x, MW_F32);
}

/* Back from such numbers; floor says that they are whole (legalize.c). */
mw_tensor *mw__decompose_restore(mw_tensor *x, mw_dtype dtype)
{
    if (x == NULL || mw_tensor_dtype(x) == dtype)
        return x;
    if (dtype == MW_BOOL)
        return mw_greater(x, mw_scalar(mw_tensor_graph(x), mw_tensor_dtype(x), 0.5));
    return dtype == MW_F32 || dtype == MW_F16 ? mw_cast(x, dtype) : mw_cast(mw_floor(x), dtype);
}

mw_tensor *mw__decompose_chosen(mw_tensor *hit, mw_dtype dtype)
{
    mw_graph *graph = hit != NULL ? mw_tensor_graph(hit) : NULL;
    mw_tensor *one = graph != NULL ? mw_scalar(graph, dtype, 1.0) : NULL;
    return one != NULL ? mw_select(hit, one, mw_scalar(graph, dtype, 0.0)) : NULL;
}

mw_tensor *mw__decompose_int(mw_tensor *x)
{
    return x == NULL || mw_tensor_dtype(x) == MW_I32 ? x : mw_cast(x, MW_I32);
}

mw_tensor *mw__decompose_wrap(mw_tensor *index, int64_t extent)
{
    if (index == NULL)
        return NULL;
    mw_graph *graph = mw_tensor_graph(index);
    mw_tensor *number = mw__decompose_int(index), *is_before = mw_less(number, mw_scalar(graph, MW_I32, 0.0));
    mw_tensor *wrapped = mw_add(number, mw_scalar(graph, MW_I32, (double)extent));
    return mw_select(is_before, wrapped, number);
}

mw_tensor *mw__decompose_hit(mw_tensor *index, mw_shape shape, mw_shape along, bool wraps)
{
    if (index == NULL)
        return NULL;
    mw_graph *graph = mw_tensor_graph(index);
    const int64_t extent = mw_shape_count(along);
    mw_tensor *number = wraps ? mw__decompose_wrap(index, extent) : mw__decompose_int(index);
    mw_tensor *range = mw__reshape_to(mw_range_1d(graph, MW_I32, 0.0, (double)extent, 1.0), along);
    return mw_equal(mw__reshape_to(number, shape), range);
}

/* ---- coordinates ---- */

/* Each of `points` coordinates names one of the product of the extents. */
typedef struct coordinates {
    int64_t points, places;
    int axes, first; /* of the table */
    bool wraps;
} coordinates;

static bool wraps(const mw__op *op) { return op->row->since < MW_IOS17; }

/* Of the _nd forms, behind `batch` axes of the table. */
static bool read_coordinates(const mw__op *op, mw_shape table, int batch, coordinates *c)
{
    const mw_shape indices = mw_tensor_shape(mw__arg(op, "indices"));
    if (indices.rank < 1 || mw_shape_count(indices) <= 0 || mw_shape_count(table) <= 0)
        return false;
    *c = (coordinates){.axes = (int)indices.dim[indices.rank - 1], .first = batch, .wraps = wraps(op)};
    if (indices.dim[indices.rank - 1] > table.rank - batch)
        return false;
    for (int i = 0; i < c->axes; i++)
        if (table.dim[batch + i] > MW__DIGITS_MAX)
            return false;
    c->points = mw_shape_count(indices) / c->axes;
    c->places = mw__shape_span(table, batch, batch + c->axes);
    return c->points <= MW__HOT_MAX / c->places;
}

/* [points, places]: the product of the numbers 0 and 1 of each coordinate. */
static mw_tensor *hot_points(mw_tensor *indices, mw_shape table, const coordinates *c, mw_dtype dtype)
{
    mw_tensor *hot = NULL, *all = mw__reshape_to(indices, MW_SHAPE(c->points, c->axes));
    int64_t places = 1;
    for (int i = 0; i < c->axes; i++) {
        const mw_slice one[2] = {{.from_start = true, .to_end = true}, {.begin = i, .squeeze = true}};
        const int64_t extent = table.dim[c->first + i];
        mw_tensor *hit =
            mw__decompose_hit(mw_slice_by_index(all, one), MW_SHAPE(c->points, 1), MW_SHAPE(extent), c->wraps);
        mw_tensor *next = mw__decompose_chosen(hit, dtype);
        if (hot != NULL) {
            mw_tensor *column = mw__reshape_to(hot, MW_SHAPE(c->points, places, 1));
            next = mw_mul(column, mw__reshape_to(next, MW_SHAPE(c->points, 1, extent)));
        }
        places *= extent;
        hot = mw__reshape_to(next, MW_SHAPE(c->points, places));
    }
    return hot;
}

/* ---- gather_nd ---- */

static int batch_of(const mw__op *op)
{
    int64_t batch = 0;
    if (op->row->since >= MW_IOS16)
        mw__arg_int(op, "batch_dims", &batch);
    return (int)batch;
}

bool mw__decompose_is_gather_nd(const mw__rewriting *pass, const mw__op *op)
{
    coordinates c;
    return mw__decompose_always(pass, op) && !mw__is_constant(mw__arg(op, "indices")) &&
           read_coordinates(op, mw_tensor_shape(mw__arg(op, "x")), batch_of(op), &c);
}

mw_tensor *mw__decompose_gather_nd(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    coordinates c;
    const mw_tensor *result = op->results[0];
    const mw_shape table = mw_tensor_shape(mw__arg(op, "x"));
    const int64_t batch = mw__shape_span(table, 0, batch_of(op));
    (void)pass;
    if (!read_coordinates(op, table, batch_of(op), &c))
        return NULL;
    mw_tensor *x = mw__decompose_number(mw__decompose_arg(clone, op, "x"));
    mw_tensor *indices = mw__decompose_arg(clone, op, "indices");
    mw_tensor *hot = x != NULL ? hot_points(indices, table, &c, mw_tensor_dtype(x)) : NULL;
    const int64_t inner = mw_shape_count(table) / (batch * c.places);
    mw_tensor *rows = mw__reshape_to(x, MW_SHAPE(batch, c.places, inner));
    hot = mw__reshape_to(hot, MW_SHAPE(batch, c.points / batch, c.places));
    mw_tensor *found = mw_matmul(hot, rows, MW_TRANSPOSE_NONE);
    return mw__decompose_restore(mw__reshape_to(found, mw_tensor_shape(result)), mw_tensor_dtype(result));
}

/* ---- non_zero ---- */

bool mw__decompose_is_non_zero(const mw__rewriting *pass, const mw__op *op)
{
    const mw_tensor *x = mw__arg(op, "x");
    const int64_t count = mw_shape_count(mw_tensor_shape(x)), rows = mw_shape_count(mw_tensor_shape(op->results[0]));
    return mw__decompose_always(pass, op) && rows > 0 && count > 0 && count <= MW__COUNTED_MAX && !mw__is_constant(x);
}

/* The coordinates of all elements: [count, rank] */
static mw_tensor *all_coordinates(mw_graph *graph, mw_shape shape)
{
    const int64_t count = mw_shape_count(shape);
    float *data = mw__arena_alloc(&graph->arena, (size_t)(count * shape.rank), sizeof *data, &graph->error);
    for (int64_t i = 0; data != NULL && i < count; i++) {
        int64_t rest = i;
        for (int axis = shape.rank - 1; axis >= 0; rest /= shape.dim[axis--])
            data[i * shape.rank + axis] = (float)(rest % shape.dim[axis]);
    }
    return data != NULL ? mw_constant(graph, MW_F32, MW_SHAPE(count, shape.rank), data) : NULL;
}

/* The k-th element that is not 0 is where the running count of those becomes k: its row of the coordinates. */
mw_tensor *mw__decompose_non_zero(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    mw_graph *to = clone->to;
    const mw_shape shape = mw_tensor_shape(mw__arg(op, "x")), result = mw_tensor_shape(op->results[0]);
    (void)pass;
    mw_tensor *x = mw__decompose_number(mw__decompose_arg(clone, op, "x"));
    if (x == NULL)
        return NULL;
    x = mw__reshape_to(x, MW_SHAPE(1, mw_shape_count(shape)));
    mw_tensor *here = mw_not_equal(x, mw_scalar(to, mw_tensor_dtype(x), 0.0));
    mw_tensor *ones = mw__decompose_chosen(here, MW_F32);
    mw_tensor *order = mw__decompose_sum(ones), *none = mw_scalar(to, MW_F32, 0.0);
    mw_tensor *wanted = mw_range_1d(to, MW_F32, 1.0, (double)result.dim[0] + 1.0, 1.0);
    wanted = mw__reshape_to(wanted, MW_SHAPE(result.dim[0], 1));
    mw_tensor *hit = mw_equal(mw_select(here, order, none), wanted);
    mw_tensor *hot = mw__decompose_chosen(hit, MW_F32);
    mw_tensor *found = mw_matmul(hot, all_coordinates(to, shape), MW_TRANSPOSE_NONE);
    return mw__decompose_restore(found, mw_tensor_dtype(op->results[0]));
}

/* ---- scatters ---- */

/* data [outer, 1, extent, inner], updates [outer, points, 1, inner]; hit broadcasts to [outer, points, extent, inner]
 * and says where an update goes. */
typedef struct putting {
    int64_t outer, points, extent, inner;
    const char *mode;
    mw_tensor *data, *updates, *hit;
} putting;

static bool is_nd(const mw__op *op) { return mw__op_is(op, "scatter_nd"); }

static bool read_putting(const mw__op *op, putting *p)
{
    coordinates c = {.points = 0};
    int64_t axis = 0;
    const mw_shape data = mw_tensor_shape(mw__arg(op, "data")), indices = mw_tensor_shape(mw__arg(op, "indices"));
    *p = (putting){.mode = mw__arg_string(op, "mode"), .outer = 1};
    if (p->mode == NULL || mw_shape_count(indices) <= 0 || mw_shape_count(data) <= 0 ||
        (is_nd(op) && !read_coordinates(op, data, 0, &c)))
        return false;
    if (is_nd(op)) {
        p->points = c.points;
        p->extent = c.places;
    } else {
        mw__arg_int(op, "axis", &axis);
        axis = axis < 0 ? axis + data.rank : axis;
        p->outer = mw__shape_span(data, 0, (int)axis);
        p->extent = data.dim[axis];
        p->points = mw__op_is(op, "scatter") ? mw_shape_count(indices) : indices.dim[axis];
    }
    p->inner = mw_shape_count(data) / (p->outer * p->extent);
    return p->points > 0 && (is_nd(op) || p->extent <= MW__DIGITS_MAX) &&
           p->points <= MW__HOT_MAX / mw_shape_count(data);
}

/* Sums at indices that are fed are the rows' that come later, of longer tables too; integers are divided by no form,
 * as their fractions are dropped at each update. */
bool mw__decompose_is_put(const mw__rewriting *pass, const mw__op *op)
{
    putting p;
    const mw_dtype dtype = mw_tensor_dtype(op->results[0]);
    const bool is_float = dtype == MW_F32 || dtype == MW_F16;
    if (!mw__decompose_always(pass, op) || !read_putting(op, &p))
        return false;
    if (mw__op_is(op, "scatter") && strcmp(p.mode, "add") == 0 && is_float && !mw__is_constant(mw__arg(op, "indices")))
        return false;
    return is_float || (dtype == MW_I32 && strcmp(p.mode, "div") != 0);
}

static mw_tensor *find_hit(mw__clone *clone, const mw__op *op, const putting *p)
{
    coordinates c;
    const mw_shape data = mw_tensor_shape(mw__arg(op, "data"));
    mw_tensor *indices = mw__decompose_arg(clone, op, "indices");
    const mw_shape along = MW_SHAPE(p->extent, 1);
    if (mw__op_is(op, "scatter"))
        return mw__decompose_hit(indices, MW_SHAPE(1, p->points, 1, 1), along, wraps(op));
    if (!is_nd(op))
        return mw__decompose_hit(indices, MW_SHAPE(p->outer, p->points, 1, p->inner), along, wraps(op));
    if (!read_coordinates(op, data, 0, &c))
        return NULL;
    mw_tensor *hot = hot_points(indices, data, &c, MW_F32);
    return mw__decompose_restore(mw__reshape_to(hot, MW_SHAPE(1, p->points, p->extent, 1)), MW_BOOL);
}

static mw_tensor *number_like(const putting *p, double value)
{
    return p->data != NULL ? mw_scalar(mw_tensor_graph(p->data), mw_tensor_dtype(p->data), value) : NULL;
}

static mw_tensor *sum_of(const putting *p)
{
    return mw_reduce_sum(mw_select(p->hit, p->updates, number_like(p, 0.0)), MW_AXES(1), true);
}

/* Of the updates that meet the last one stays, as on the CPU: places 1, 2, .. say which came last. */
static mw_tensor *latest(const putting *p)
{
    if (p->data == NULL)
        return NULL;
    mw_graph *graph = mw_tensor_graph(p->data);
    mw_tensor *order = mw_range_1d(graph, MW_F32, 1.0, (double)p->points + 1.0, 1.0);
    order = mw__reshape_to(order, MW_SHAPE(1, p->points, 1, 1));
    mw_tensor *none = mw_scalar(graph, MW_F32, 0.0);
    mw_tensor *last = mw_reduce_max(mw_select(p->hit, order, none), MW_AXES(1), true);
    mw_tensor *kept = mw_select(mw_equal(order, last), p->updates, number_like(p, 0.0));
    mw_tensor *any = mw_greater(last, mw_scalar(graph, MW_F32, 0.5));
    return mw_select(any, mw_reduce_sum(kept, MW_AXES(1), true), p->data);
}

static mw_tensor *combine(const putting *p)
{
    const char *mode = p->mode;
    if (strcmp(mode, "add") == 0)
        return mw_add(p->data, sum_of(p));
    if (strcmp(mode, "sub") == 0)
        return mw_sub(p->data, sum_of(p));
    if (strcmp(mode, "update") == 0)
        return latest(p);
    const bool scales = strcmp(mode, "mul") == 0 || strcmp(mode, "div") == 0;
    mw_tensor *all = mw_select(p->hit, p->updates, scales ? number_like(p, 1.0) : p->data);
    if (scales)
        all = mw__decompose_multiply(all, 1);
    if (strcmp(mode, "mul") == 0)
        return mw_mul(p->data, all);
    if (strcmp(mode, "div") == 0)
        return mw_real_div(p->data, all);
    return strcmp(mode, "max") == 0 ? mw_maximum(p->data, mw_reduce_max(all, MW_AXES(1), true))
                                    : mw_minimum(p->data, mw_reduce_min(all, MW_AXES(1), true));
}

mw_tensor *mw__decompose_put(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    putting p;
    const mw_tensor *result = op->results[0];
    (void)pass;
    if (!read_putting(op, &p))
        return NULL;
    p.data = mw__decompose_number(mw__decompose_arg(clone, op, "data"));
    p.data = mw__reshape_to(p.data, MW_SHAPE(p.outer, 1, p.extent, p.inner));
    p.updates = mw__decompose_number(mw__decompose_arg(clone, op, "updates"));
    p.updates = mw__reshape_to(p.updates, MW_SHAPE(p.outer, p.points, 1, p.inner));
    p.hit = find_hit(clone, op, &p);
    return mw__decompose_restore(mw__reshape_to(combine(&p), mw_tensor_shape(result)), mw_tensor_dtype(result));
}

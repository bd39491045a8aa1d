/* Elements whose places are computed: slices that begin where an input says, and sequences turned round, as products
 * with matrices of 0 and 1. A begin is moved so that the part lies within x, as the kernels of the CPU do. */
#include "graph/ir/op_build.h"
#include "mil/legalize/decompose_index.h"
#include "mil/legalize/rewrites.h"
#include "mil/legalize/split.h"
#include "rules/legality.h"

#include <millwright/millwright.h>
#include <string.h>

/* ---- slices ---- */

typedef struct placing {
    mw_shape x;
    int64_t count[MW_RANK_MAX], stride[MW_RANK_MAX];
    bool begin_mask[MW_RANK_MAX], squeeze[MW_RANK_MAX];
} placing;

/* What may be absent, or has an element for each axis. */
static bool read_masks(const mw__op *op, placing *p)
{
    size_t count = 0;
    const size_t rank = (size_t)p->x.rank;
    for (int i = 0; i < MW_RANK_MAX; i++)
        p->stride[i] = 1;
    if (mw__op_is(op, "slice_by_size"))
        return true;
    return (!mw__arg_present(op, "stride") ||
            (mw__arg_ints(op, "stride", p->stride, MW_RANK_MAX, &count) && count == rank)) &&
           (!mw__arg_present(op, "begin_mask") ||
            (mw__arg_bools(op, "begin_mask", p->begin_mask, MW_RANK_MAX, &count) && count == rank)) &&
           (!mw__arg_present(op, "squeeze_mask") ||
            (mw__arg_bools(op, "squeeze_mask", p->squeeze, MW_RANK_MAX, &count) && count == rank));
}

static int64_t span_of(const placing *p, int axis) { return (p->count[axis] - 1) * p->stride[axis]; }

/* `part` = the tensor that has the shape of what is taken or put. */
static bool read_placing(const mw__op *op, const mw_tensor *part, placing *p)
{
    const mw_shape shape = mw_tensor_shape(part);
    int from = 0;
    *p = (placing){.x = mw_tensor_shape(mw__arg(op, "x"))};
    if (!read_masks(op, p) || mw_shape_count(shape) <= 0)
        return false;
    for (int i = 0; i < p->x.rank; i++) {
        if (!p->squeeze[i] && from >= shape.rank)
            return false;
        p->count[i] = p->squeeze[i] ? 1 : shape.dim[from++];
        const int64_t step = p->stride[i] < 0 ? -p->stride[i] : p->stride[i], n = p->x.dim[i];
        if (step == 0 || n <= 0 || p->count[i] - 1 > (n - 1) / step || p->count[i] > MW__HOT_MAX / n)
            return false;
    }
    return from == shape.rank;
}

bool mw__decompose_is_placed(const mw__rewriting *pass, const mw__op *op)
{
    placing p;
    const mw_tensor *size = mw__op_is(op, "slice_by_size") ? mw__arg(op, "size") : mw__arg(op, "end");
    return mw__decompose_always(pass, op) &&
           (mw__legality_computed(mw__arg(op, "begin")) || mw__legality_computed(size)) &&
           read_placing(op, op->results[0], &p);
}

bool mw__decompose_is_update(const mw__rewriting *pass, const mw__op *op)
{
    placing p;
    return mw__decompose_always(pass, op) &&
           (mw__legality_computed(mw__arg(op, "begin")) || mw__legality_computed(mw__arg(op, "end"))) &&
           read_placing(op, mw__arg(op, "update"), &p);
}

/* An axis that is taken whole has one place to begin. */
static bool is_whole(const placing *p, int axis) { return p->count[axis] == p->x.dim[axis] && p->stride[axis] == 1; }

/* Where the axis begins: [1], from what `begin` says for it. */
static mw_tensor *begin_of(const placing *p, mw_tensor *begin, int axis)
{
    const int64_t span = span_of(p, axis), n = p->x.dim[axis];
    const mw_slice one = {.begin = axis, .end = axis + 1};
    mw_graph *graph = begin != NULL ? mw_tensor_graph(begin) : NULL;
    if (graph == NULL)
        return NULL;
    if (p->begin_mask[axis] && !p->squeeze[axis])
        return mw_fill(graph, MW_I32, MW_SHAPE(1), p->stride[axis] > 0 ? 0.0 : (double)(n - 1));
    mw_tensor *first = mw__decompose_wrap(mw_slice_by_index(begin, &one), n);
    first = mw_maximum(first, mw_scalar(graph, MW_I32, span < 0 ? (double)-span : 0.0));
    return mw_minimum(first, mw_scalar(graph, MW_I32, (double)(n - 1 - (span > 0 ? span : 0))));
}

/* hot[k, i] = 1 where element k of the part is element i of the axis: [count, n]. */
static mw_tensor *hot_of(const placing *p, mw_tensor *begin, int axis, mw_dtype dtype)
{
    mw_tensor *first = begin_of(p, begin, axis);
    const int64_t count = p->count[axis], stride = p->stride[axis];
    if (first == NULL)
        return NULL;
    mw_tensor *steps = mw_range_1d(mw_tensor_graph(first), MW_I32, 0.0, (double)(count * stride), (double)stride);
    mw_tensor *place = count == 1 ? first : mw_add(first, steps);
    return mw__decompose_chosen(mw__decompose_hit(place, MW_SHAPE(count, 1), MW_SHAPE(p->x.dim[axis]), false), dtype);
}

/* matrix [rows, columns] times the axis of x, which has `columns` elements. */
static mw_tensor *along(mw_tensor *matrix, mw_tensor *x, int axis, int64_t rows)
{
    if (x == NULL)
        return NULL;
    mw_shape shape = mw_tensor_shape(x);
    const int64_t columns = shape.dim[axis];
    const mw_shape flat =
        MW_SHAPE(mw__shape_span(shape, 0, axis), columns, mw__shape_span(shape, axis + 1, shape.rank));
    matrix = mw__reshape_to(matrix, MW_SHAPE(1, rows, columns));
    mw_tensor *y = mw_matmul(matrix, mw__reshape_to(x, flat), MW_TRANSPOSE_NONE);
    shape.dim[axis] = rows;
    return mw__reshape_to(y, shape);
}

mw_tensor *mw__decompose_placed(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    placing p;
    const mw_tensor *result = op->results[0];
    (void)pass;
    if (!read_placing(op, result, &p))
        return NULL;
    mw_tensor *x = mw__decompose_number(mw__decompose_arg(clone, op, "x"));
    mw_tensor *begin = mw__decompose_arg(clone, op, "begin");
    for (int i = 0; i < p.x.rank; i++)
        if (!is_whole(&p, i))
            x = along(hot_of(&p, begin, i, mw_tensor_dtype(x)), x, i, p.count[i]);
    return mw__decompose_restore(mw__reshape_to(x, mw_tensor_shape(result)), mw_tensor_dtype(result));
}

/* The update in its place with zeros around, and 1 where it is. Along an axis of which it has one element select
 * spreads it, which is as good: what is outside is not taken. */
mw_tensor *mw__decompose_update(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    placing p;
    mw_tensor *inside = NULL;
    const mw_tensor *result = op->results[0];
    (void)pass;
    if (!read_placing(op, mw__arg(op, "update"), &p))
        return NULL;
    mw_tensor *x = mw__decompose_number(mw__decompose_arg(clone, op, "x"));
    mw_tensor *update = mw__decompose_number(mw__decompose_arg(clone, op, "update"));
    mw_tensor *begin = mw__decompose_arg(clone, op, "begin");
    mw_shape shape = {.rank = p.x.rank};
    memcpy(shape.dim, p.count, sizeof p.count);
    update = mw__reshape_to(update, shape);
    for (int i = 0; i < p.x.rank && update != NULL; i++) {
        mw_shape own = {.rank = p.x.rank, .dim = {1, 1, 1, 1, 1, 1, 1, 1}};
        if (is_whole(&p, i))
            continue;
        own.dim[i] = p.x.dim[i];
        mw_tensor *hot = hot_of(&p, begin, i, mw_tensor_dtype(update));
        mw_tensor *here = mw__reshape_to(p.count[i] == 1 ? hot : mw_reduce_sum(hot, MW_AXES(0), false), own);
        inside = inside == NULL ? here : mw_mul(inside, here);
        if (p.count[i] > 1)
            update = along(mw_transpose(hot, MW_AXES(1, 0)), update, i, p.x.dim[i]);
    }
    if (inside != NULL)
        update = mw_select(mw__decompose_restore(inside, MW_BOOL), update, x);
    return mw__decompose_restore(update, mw_tensor_dtype(result));
}

/* ---- sequences turned round ---- */

typedef struct turning {
    int batch_axis, seq_axis;
    int64_t batch, length;
    mw_axes perm, back; /* to [batch, length, ..], and from there */
} turning;

static bool read_turning(const mw__op *op, turning *t)
{
    int64_t batch = 0, seq = 0;
    const mw_shape x = mw_tensor_shape(mw__arg(op, "x"));
    if (!mw__arg_int(op, "batch_axis", &batch) || !mw__arg_int(op, "seq_axis", &seq) || mw_shape_count(x) <= 0)
        return false;
    *t = (turning){.batch_axis = (int)(batch < 0 ? batch + x.rank : batch),
                   .seq_axis = (int)(seq < 0 ? seq + x.rank : seq)};
    t->batch = x.dim[t->batch_axis];
    t->length = x.dim[t->seq_axis];
    t->perm.count = t->back.count = x.rank;
    t->perm.axis[0] = t->batch_axis;
    t->perm.axis[1] = t->seq_axis;
    for (int i = 0, at = 2; i < x.rank; i++)
        if (i != t->batch_axis && i != t->seq_axis)
            t->perm.axis[at++] = i;
    for (int i = 0; i < x.rank; i++)
        t->back.axis[t->perm.axis[i]] = i;
    return t->length <= MW__HOT_MAX / t->length / t->batch;
}

bool mw__decompose_is_turned(const mw__rewriting *pass, const mw__op *op)
{
    turning t;
    return mw__decompose_always(pass, op) && read_turning(op, &t);
}

/* Which element comes to each place: lengths[b] - 1 - s before lengths[b], s behind; [batch, length] */
static mw_tensor *turned_places(mw__clone *clone, const mw__op *op, const turning *t)
{
    mw_graph *to = clone->to;
    mw_tensor *lengths = mw__decompose_int(mw__decompose_arg(clone, op, "lengths"));
    lengths = mw__reshape_to(lengths, MW_SHAPE(t->batch, 1));
    lengths = mw_minimum(lengths, mw_scalar(to, MW_I32, (double)t->length));
    mw_tensor *place = mw_range_1d(to, MW_I32, 0.0, (double)t->length, 1.0);
    mw_tensor *last = mw_sub(lengths, mw_scalar(to, MW_I32, 1.0)), *is_before = mw_less(place, lengths);
    return mw_select(is_before, mw_sub(last, place), place);
}

mw_tensor *mw__decompose_turned(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    turning t;
    const mw_tensor *result = op->results[0];
    (void)pass;
    if (!read_turning(op, &t))
        return NULL;
    mw_tensor *x = mw__decompose_number(mw__decompose_arg(clone, op, "x"));
    mw_tensor *turned = mw_transpose(x, t.perm);
    if (turned == NULL)
        return NULL;
    const mw_shape shape = mw_tensor_shape(turned);
    const int64_t inner = mw_shape_count(shape) / (t.batch * t.length);
    mw_tensor *hit =
        mw__decompose_hit(turned_places(clone, op, &t), MW_SHAPE(t.batch, t.length, 1), MW_SHAPE(t.length), false);
    mw_tensor *rows = mw__reshape_to(turned, MW_SHAPE(t.batch, t.length, inner));
    mw_tensor *y = mw_matmul(mw__decompose_chosen(hit, mw_tensor_dtype(x)), rows, MW_TRANSPOSE_NONE);
    return mw__decompose_restore(mw_transpose(mw__reshape_to(y, shape), t.back), mw_tensor_dtype(result));
}

/* Vectors of numbers: taken apart, joined and reduced. */
#include "base/number/integer.h"
#include "base/number/types.h"
#include "graph/constants/evaluate_call.h"

#include "graph/ir/rule.h"

#include <math.h>
#include <string.h>

static bool vector(const mw__known_call *c, const char *name, mw__known *out)
{
    return mw__known_argument(c, name, out) && out->shape.rank == 1;
}

bool mw__known_gather(const mw__known_call *c, mw__known *out)
{
    mw__known *x = &c->room[0], *indices = &c->room[1];
    int64_t axis, batch_dims;
    if (!vector(c, "x", x) || !mw__known_argument(c, "indices", indices) || mw__number_dtype_is_float(indices->dtype) ||
        !mw__known_integer(c, "axis", 0, &axis) || !mw__known_integer(c, "batch_dims", 0, &batch_dims) ||
        (axis != 0 && axis != -1) || batch_dims != 0 || !mw__known_begin(out, x->dtype, indices->shape))
        return false;
    for (size_t i = 0; i < out->count; i++) {
        const double at = indices->at[i] + (indices->at[i] < 0 ? (double)x->count : 0);
        if (!(at >= 0 && at < (double)x->count) || !mw__known_put(out, i, x->at[(size_t)at]))
            return false;
    }
    return true;
}

typedef struct slice {
    int64_t begin, end, stride, from_start, to_end, squeeze;
} slice;

static bool read_slice(const mw__known_call *c, int64_t extent, slice *s)
{
    if (!mw__known_integer(c, "begin", 0, &s->begin) || !mw__known_integer(c, "end", 0, &s->end) ||
        !mw__known_integer(c, "stride", 1, &s->stride) || !mw__known_integer(c, "begin_mask", 0, &s->from_start) ||
        !mw__known_integer(c, "end_mask", 0, &s->to_end) || !mw__known_integer(c, "squeeze_mask", 0, &s->squeeze) ||
        s->stride == 0)
        return false;
    const int64_t low = s->stride > 0 ? 0 : -1, high = s->stride > 0 ? extent : extent - 1;
    s->begin += s->begin < 0 ? extent : 0;
    s->end += s->end < 0 ? extent : 0;
    if (s->squeeze)
        return s->begin >= 0 && s->begin < extent;
    s->begin = s->from_start ? (s->stride > 0 ? low : high) : mw__i64_clamp(s->begin, low, high);
    s->end = s->to_end ? (s->stride > 0 ? high : low) : mw__i64_clamp(s->end, low, high);
    return true;
}

bool mw__known_slice_by_index(const mw__known_call *c, mw__known *out)
{
    mw__known *x = &c->room[0];
    slice s;
    if (!vector(c, "x", x) || !read_slice(c, (int64_t)x->count, &s))
        return false;
    if (s.squeeze)
        return mw__known_begin(out, x->dtype, mw_shape_scalar()) && mw__known_put(out, 0, x->at[s.begin]);
    const int64_t span = s.stride > 0 ? s.end - s.begin : s.begin - s.end, step = s.stride > 0 ? s.stride : -s.stride,
                  count = span > 0 ? (span - 1) / step + 1 : 0;
    if (!mw__known_begin(out, x->dtype, MW_SHAPE(count)))
        return false;
    for (int64_t i = 0; i < count; i++)
        if (!mw__known_put(out, (size_t)i, x->at[s.begin + i * s.stride]))
            return false;
    return true;
}

bool mw__known_slice_by_size(const mw__known_call *c, mw__known *out)
{
    mw__known *x = &c->room[0];
    int64_t first, size;
    if (!vector(c, "x", x) || !mw__known_integer(c, "begin", 0, &first) || !mw__known_integer(c, "size", -1, &size))
        return false;
    const int64_t extent = (int64_t)x->count;
    first += first < 0 ? extent : 0;
    if (first < 0 || first > extent)
        return false;
    size = size == -1 ? extent - first : size;
    if (size < 0 || size > extent - first || !mw__known_begin(out, x->dtype, MW_SHAPE(size)))
        return false;
    for (int64_t i = 0; i < size; i++)
        if (!mw__known_put(out, (size_t)i, x->at[first + i]))
            return false;
    return true;
}

/* Scalars and vectors, one behind the other. */
static bool join_vectors(const mw__known_call *c, int rank, mw__known *out)
{
    const mw__slot *slot = mw__op_slot(c->op, "values");
    double *at = c->room[0].at;
    size_t count = 0;
    for (size_t i = 0; slot != NULL && slot->operands != NULL && i < slot->count; i++) {
        mw__known *part = &c->room[1];
        if (slot->operands[i].value == NULL || !mw__evaluate(c->e, slot->operands[i].value, part) ||
            part->shape.rank > rank || count + part->count > MW__KNOWN_MAX)
            return false;
        memcpy(at + count, part->at, part->count * sizeof *at);
        count += part->count;
    }
    if (!mw__known_begin(out, c->type->dtype, MW_SHAPE((int64_t)count)))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!mw__known_put(out, i, at[i]))
            return false;
    return count > 0;
}

bool mw__known_concat(const mw__known_call *c, mw__known *out)
{
    int64_t interleave;
    return mw__known_integer(c, "interleave", 0, &interleave) && interleave == 0 && join_vectors(c, 1, out);
}

bool mw__known_stack(const mw__known_call *c, mw__known *out) { return join_vectors(c, 0, out); }

bool mw__known_tile(const mw__known_call *c, mw__known *out)
{
    mw__known *x = &c->room[0];
    int64_t reps;
    if (!vector(c, "x", x) || !mw__known_integer(c, "reps", 1, &reps) || reps < 1 || reps > MW__KNOWN_MAX ||
        !mw__known_begin(out, x->dtype, MW_SHAPE((int64_t)x->count * reps)))
        return false;
    for (size_t i = 0; i < out->count; i++)
        if (!mw__known_put(out, i, x->at[i % x->count]))
            return false;
    return true;
}

/* One part of a vector. */
bool mw__known_split(const mw__known_call *c, mw__known *out)
{
    mw__known *x = &c->room[0], *sizes = &c->room[1];
    int64_t axis, parts, first = 0;
    if (!vector(c, "x", x) || !mw__known_integer(c, "axis", 0, &axis) || (axis != 0 && axis != -1) ||
        !mw__known_integer(c, "num_splits", (int64_t)c->op->result_count, &parts) || parts < 1 ||
        parts != (int64_t)c->op->result_count)
        return false;
    int64_t count = (int64_t)x->count / parts;
    if (mw__known_operand(c, "split_sizes") == NULL) {
        first = count * (int64_t)c->result;
    } else {
        if (!vector(c, "split_sizes", sizes) || mw__number_dtype_is_float(sizes->dtype) ||
            sizes->count != c->op->result_count)
            return false;
        for (size_t i = 0; i < c->result; i++)
            first += (int64_t)sizes->at[i];
        count = (int64_t)sizes->at[c->result];
    }
    if (first < 0 || count < 0 || count > (int64_t)x->count || first > (int64_t)x->count - count ||
        !mw__known_begin(out, x->dtype, MW_SHAPE(count)))
        return false;
    for (int64_t i = 0; i < count; i++)
        if (!mw__known_put(out, (size_t)i, x->at[first + i]))
            return false;
    return true;
}

/* All elements to one. Floats are left out: the order of their sums is the device's. */
bool mw__known_reduce(const mw__known_call *c, mw__known *out)
{
    mw__known *x = &c->room[0];
    const char *kind = c->op->kind;
    if (!mw__known_argument(c, "x", x) || x->count == 0 || mw__number_dtype_is_float(x->dtype) ||
        mw_shape_count(c->type->shape) != 1 || !mw__known_begin(out, x->dtype, c->type->shape))
        return false;
    double value = x->at[0];
    for (size_t i = 1; i < x->count; i++)
        if (!mw__known_binary_value(strcmp(kind, "reduce_sum") == 0    ? "add"
                                    : strcmp(kind, "reduce_prod") == 0 ? "mul"
                                    : strcmp(kind, "reduce_max") == 0  ? "maximum"
                                                                       : "minimum",
                                    x->dtype, value, x->at[i], &value) ||
            !mw__known_fit(x->dtype, value, &value))
            return false;
    return mw__known_put(out, 0, value);
}

/* Evaluates small tensors over the operations that make them, by recursion to constants and shapes. A text may declare
 * what is not so: nothing here trusts a type beyond what it checks. */
#include "graph/evaluate_small.h"

#include "base/fp16.h"
#include "graph/rule.h"

#include <math.h>
#include <string.h>

enum { DEPTH_MAX = 64, STEPS_MAX = 4096 };

/* ---- elements ---- */

static bool is_float(mw_dtype dtype) { return dtype == MW_F16 || dtype == MW_F32; }

/* Least and greatest value of an integer type; false for other types. */
static bool integer_range(mw_dtype dtype, double *low, double *high)
{
    const int bits = mw_dtype_bits(dtype);
    switch (dtype) {
    case MW_BOOL:
        *low = 0, *high = 1;
        return true;
    case MW_I8:
    case MW_I16:
    case MW_I32:
        *low = -ldexp(1, bits - 1), *high = -*low - 1;
        return true;
    case MW_U8:
    case MW_U16:
    case MW_U32:
        *low = 0, *high = ldexp(1, bits) - 1;
        return true;
    default:
        return false;
    }
}

/* `value` as an element of `dtype`; false if it is none. */
static bool fit(mw_dtype dtype, double value, double *out)
{
    double low, high;
    if (dtype == MW_F32 && fabs(value) < 0x1p127)
        *out = (double)(float)value;
    else if (dtype == MW_F16 && fabs(value) < 65504)
        *out = (double)mw__fp16_to_float(mw__fp16_from_double(value));
    else if (integer_range(dtype, &low, &high) && value >= low && value <= high && value == trunc(value))
        *out = value;
    else
        return false;
    return true;
}

/* Gives `out` type and shape; false if that is too much. */
static bool begin(mw__known *out, mw_dtype dtype, mw_shape shape)
{
    double low, high;
    const int64_t count = mw_shape_count(shape);
    if (count < 0 || count > MW__KNOWN_MAX || (!is_float(dtype) && !integer_range(dtype, &low, &high)))
        return false;
    out->dtype = dtype;
    out->shape = shape;
    out->count = (size_t)count;
    return true;
}

static bool put(mw__known *out, size_t at, double value)
{
    return at < out->count && fit(out->dtype, value, &out->at[at]);
}

static bool read_payload(const mw__payload *payload, mw__known *out)
{
    if (payload->type->kind != MW__TENSOR || payload->data == NULL ||
        !begin(out, payload->type->dtype, payload->type->shape))
        return false;
    for (size_t i = 0; i < out->count; i++)
        if (!put(out, i, mw__payload_float(payload, i)))
            return false;
    return true;
}

/* ---- arguments ---- */

/* What an operation is evaluated with. */
typedef struct call {
    mw__evaluation *e;
    const mw__op *op;
    const mw__type *type; /* of the result, as it is declared */
    size_t result;        /* which of several */
} call;

static const mw__slot *find_slot(const mw__op *op, const char *name)
{
    for (size_t i = 0; i < op->slot_count; i++)
        if (strcmp(op->slots[i].name, name) == 0)
            return &op->slots[i];
    return NULL;
}

static const mw_tensor *operand(const call *c, const char *name)
{
    const mw__slot *slot = find_slot(c->op, name);
    return slot != NULL && slot->operands != NULL && slot->count == 1 ? slot->operands[0].value : NULL;
}

static bool argument(const call *c, const char *name, mw__known *out)
{
    const mw_tensor *value = operand(c, name);
    return value != NULL && mw__evaluate(c->e, value, out);
}

/* One integer, of any rank; `otherwise` if the argument is absent. */
static bool integer(const call *c, const char *name, int64_t otherwise, int64_t *out)
{
    mw__known known;
    *out = otherwise;
    if (operand(c, name) == NULL)
        return true;
    if (!argument(c, name, &known) || known.count != 1 || is_float(known.dtype))
        return false;
    *out = (int64_t)known.at[0];
    return true;
}

/* ---- element by element ---- */

/* Element of a broadcast operand for element `at` of a result. */
static size_t broadcast_index(mw_shape from, mw_shape result, size_t at)
{
    size_t index = 0, stride = 1;
    for (int i = 1; i <= result.rank; i++) {
        const size_t extent = (size_t)result.dim[result.rank - i], place = at % extent;
        at /= extent;
        if (i > from.rank)
            continue;
        const size_t own = (size_t)from.dim[from.rank - i];
        index += own > 1 ? place * stride : 0;
        stride *= own;
    }
    return index;
}

static bool floor_divide(double x, double y, double *out)
{
    *out = y != 0 ? floor(x / y) : 0;
    return y != 0;
}

/* What int32 wraps around, or a float cannot hold, is refused when it is stored. */
static bool binary_value(const char *kind, mw_dtype dtype, double x, double y, double *out)
{
    double quotient;
    const bool divides = floor_divide(x, y, &quotient);
    const struct {
        const char *kind;
        double value;
        bool good;
    } rows[] = {{"add", x + y, true},
                {"sub", x - y, true},
                {"mul", x * y, true},
                {"floor_div", quotient, divides},
                {"mod", x - quotient * y, divides},
                {"real_div", divides ? x / y : 0, divides && is_float(dtype)},
                {"maximum", x > y ? x : y, true},
                {"minimum", x < y ? x : y, true},
                {"less", x < y, true},
                {"less_equal", x <= y, true},
                {"greater", x > y, true},
                {"greater_equal", x >= y, true},
                {"equal", x == y, true},
                {"not_equal", x != y, true},
                {"logical_and", x != 0 && y != 0, true},
                {"logical_or", x != 0 || y != 0, true},
                {"logical_xor", (x != 0) != (y != 0), true}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(kind, rows[i].kind) == 0) {
            *out = rows[i].value;
            return rows[i].good;
        }
    return false;
}

static bool binary(const call *c, mw__known *out)
{
    mw__known x, y;
    mw_shape shape;
    if (!argument(c, "x", &x) || !argument(c, "y", &y) || x.dtype != y.dtype ||
        !mw__broadcast_shapes(x.shape, y.shape, &shape) || !begin(out, c->type->dtype, shape))
        return false;
    for (size_t i = 0; i < out->count; i++) {
        double value;
        if (!binary_value(c->op->kind, x.dtype, x.at[broadcast_index(x.shape, shape, i)],
                          y.at[broadcast_index(y.shape, shape, i)], &value) ||
            !put(out, i, value))
            return false;
    }
    return true;
}

static bool unary_value(const char *kind, mw_dtype from, mw_dtype to, double x, double *out)
{
    const struct {
        const char *kind;
        double value;
    } rows[] = {{"identity", x},  {"floor", floor(x)}, {"ceil", ceil(x)},      {"round", rint(x)},
                {"abs", fabs(x)}, {"square", x * x},   {"logical_not", x == 0}};
    if (strcmp(kind, "cast") == 0) {
        *out = to == MW_BOOL ? x != 0 : is_float(from) && !is_float(to) ? trunc(x) : x;
        return true;
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(kind, rows[i].kind) == 0) {
            *out = rows[i].value;
            return true;
        }
    return false;
}

static bool unary(const call *c, mw__known *out)
{
    mw__known x;
    if (!argument(c, "x", &x) || !begin(out, c->type->dtype, x.shape))
        return false;
    for (size_t i = 0; i < out->count; i++) {
        double value;
        if (!unary_value(c->op->kind, x.dtype, out->dtype, x.at[i], &value) || !put(out, i, value))
            return false;
    }
    return true;
}

/* One condition needs its branch alone. */
static bool select_one(const call *c, mw__known *out)
{
    mw__known a, b, cond;
    mw_shape shape;
    if (!argument(c, "cond", &cond))
        return false;
    if (cond.count == 1 && cond.shape.rank == 0)
        return argument(c, cond.at[0] != 0 ? "a" : "b", out) && mw_shape_equal(out->shape, c->type->shape);
    if (!argument(c, "a", &a) || !argument(c, "b", &b) || !mw__broadcast_shapes(a.shape, b.shape, &shape) ||
        !mw__broadcast_shapes(shape, cond.shape, &shape) || !begin(out, c->type->dtype, shape))
        return false;
    for (size_t i = 0; i < out->count; i++) {
        const bool first = cond.at[broadcast_index(cond.shape, shape, i)] != 0;
        const mw__known *taken = first ? &a : &b;
        if (!put(out, i, taken->at[broadcast_index(taken->shape, shape, i)]))
            return false;
    }
    return true;
}

/* ---- the shape of a tensor, and new shapes for the same elements ---- */

static const mw_tensor *look_up(const mw__evaluation *e, const mw_tensor *value)
{
    const mw_tensor *now = e->lookup != NULL ? e->lookup(e->user, value) : NULL;
    return now != NULL ? now : value;
}

static bool shape_of(const call *c, mw__known *out)
{
    const mw_tensor *x = operand(c, "x");
    if (x == NULL)
        return false;
    x = look_up(c->e, x);
    if (x->type == NULL || x->type->kind != MW__TENSOR ||
        !begin(out, c->type->dtype, MW_SHAPE((int64_t)x->type->shape.rank)))
        return false;
    for (size_t i = 0; i < out->count; i++)
        if (x->type->shape.dim[i] < 0 || !put(out, i, (double)x->type->shape.dim[i]))
            return false;
    return true;
}

static bool reshaped(const call *c, mw__known *out)
{
    return argument(c, "x", out) && mw_shape_count(c->type->shape) == (int64_t)out->count &&
           begin(out, out->dtype, c->type->shape);
}

/* ---- vectors ---- */

static bool vector(const call *c, const char *name, mw__known *out)
{
    return argument(c, name, out) && out->shape.rank == 1;
}

static bool gather(const call *c, mw__known *out)
{
    mw__known x, indices;
    int64_t axis, batch_dims;
    if (!vector(c, "x", &x) || !argument(c, "indices", &indices) || is_float(indices.dtype) ||
        !integer(c, "axis", 0, &axis) || !integer(c, "batch_dims", 0, &batch_dims) || (axis != 0 && axis != -1) ||
        batch_dims != 0 || !begin(out, x.dtype, indices.shape))
        return false;
    for (size_t i = 0; i < out->count; i++) {
        const double at = indices.at[i] + (indices.at[i] < 0 ? (double)x.count : 0);
        if (!(at >= 0 && at < (double)x.count) || !put(out, i, x.at[(size_t)at]))
            return false;
    }
    return true;
}

static int64_t clamp(int64_t value, int64_t low, int64_t high)
{
    return value < low ? low : value > high ? high : value;
}

typedef struct slice {
    int64_t begin, end, stride, from_start, to_end, squeeze;
} slice;

static bool read_slice(const call *c, int64_t extent, slice *s)
{
    if (!integer(c, "begin", 0, &s->begin) || !integer(c, "end", 0, &s->end) || !integer(c, "stride", 1, &s->stride) ||
        !integer(c, "begin_mask", 0, &s->from_start) || !integer(c, "end_mask", 0, &s->to_end) ||
        !integer(c, "squeeze_mask", 0, &s->squeeze) || s->stride == 0)
        return false;
    const int64_t low = s->stride > 0 ? 0 : -1, high = s->stride > 0 ? extent : extent - 1;
    s->begin += s->begin < 0 ? extent : 0;
    s->end += s->end < 0 ? extent : 0;
    if (s->squeeze)
        return s->begin >= 0 && s->begin < extent;
    s->begin = s->from_start ? (s->stride > 0 ? low : high) : clamp(s->begin, low, high);
    s->end = s->to_end ? (s->stride > 0 ? high : low) : clamp(s->end, low, high);
    return true;
}

static bool slice_by_index(const call *c, mw__known *out)
{
    mw__known x;
    slice s;
    if (!vector(c, "x", &x) || !read_slice(c, (int64_t)x.count, &s))
        return false;
    if (s.squeeze)
        return begin(out, x.dtype, mw_shape_scalar()) && put(out, 0, x.at[s.begin]);
    const int64_t span = s.stride > 0 ? s.end - s.begin : s.begin - s.end, step = s.stride > 0 ? s.stride : -s.stride,
                  count = span > 0 ? (span - 1) / step + 1 : 0;
    if (!begin(out, x.dtype, MW_SHAPE(count)))
        return false;
    for (int64_t i = 0; i < count; i++)
        if (!put(out, (size_t)i, x.at[s.begin + i * s.stride]))
            return false;
    return true;
}

static bool slice_by_size(const call *c, mw__known *out)
{
    mw__known x;
    int64_t first, size;
    if (!vector(c, "x", &x) || !integer(c, "begin", 0, &first) || !integer(c, "size", -1, &size))
        return false;
    const int64_t extent = (int64_t)x.count;
    first += first < 0 ? extent : 0;
    if (first < 0 || first > extent)
        return false;
    size = size == -1 ? extent - first : size;
    if (size < 0 || size > extent - first || !begin(out, x.dtype, MW_SHAPE(size)))
        return false;
    for (int64_t i = 0; i < size; i++)
        if (!put(out, (size_t)i, x.at[first + i]))
            return false;
    return true;
}

/* Scalars and vectors, one behind the other. */
static bool join(const call *c, int rank, mw__known *out)
{
    const mw__slot *slot = find_slot(c->op, "values");
    double at[MW__KNOWN_MAX];
    size_t count = 0;
    for (size_t i = 0; slot != NULL && slot->operands != NULL && i < slot->count; i++) {
        mw__known part;
        if (slot->operands[i].value == NULL || !mw__evaluate(c->e, slot->operands[i].value, &part) ||
            part.shape.rank > rank || count + part.count > MW__KNOWN_MAX)
            return false;
        memcpy(at + count, part.at, part.count * sizeof *at);
        count += part.count;
    }
    if (!begin(out, c->type->dtype, MW_SHAPE((int64_t)count)))
        return false;
    for (size_t i = 0; i < count; i++)
        if (!put(out, i, at[i]))
            return false;
    return count > 0;
}

static bool concat(const call *c, mw__known *out)
{
    int64_t interleave;
    return integer(c, "interleave", 0, &interleave) && interleave == 0 && join(c, 1, out);
}

static bool stack(const call *c, mw__known *out) { return join(c, 0, out); }

static bool tile(const call *c, mw__known *out)
{
    mw__known x;
    int64_t reps;
    if (!vector(c, "x", &x) || !integer(c, "reps", 1, &reps) || reps < 1 || reps > MW__KNOWN_MAX ||
        !begin(out, x.dtype, MW_SHAPE((int64_t)x.count * reps)))
        return false;
    for (size_t i = 0; i < out->count; i++)
        if (!put(out, i, x.at[i % x.count]))
            return false;
    return true;
}

/* One part of a vector. */
static bool split(const call *c, mw__known *out)
{
    mw__known x, sizes;
    int64_t axis, parts, first = 0;
    if (!vector(c, "x", &x) || !integer(c, "axis", 0, &axis) || (axis != 0 && axis != -1) ||
        !integer(c, "num_splits", (int64_t)c->op->result_count, &parts) || parts < 1 ||
        parts != (int64_t)c->op->result_count)
        return false;
    int64_t count = (int64_t)x.count / parts;
    if (operand(c, "split_sizes") == NULL) {
        first = count * (int64_t)c->result;
    } else {
        if (!vector(c, "split_sizes", &sizes) || is_float(sizes.dtype) || sizes.count != c->op->result_count)
            return false;
        for (size_t i = 0; i < c->result; i++)
            first += (int64_t)sizes.at[i];
        count = (int64_t)sizes.at[c->result];
    }
    if (first < 0 || count < 0 || count > (int64_t)x.count || first > (int64_t)x.count - count ||
        !begin(out, x.dtype, MW_SHAPE(count)))
        return false;
    for (int64_t i = 0; i < count; i++)
        if (!put(out, (size_t)i, x.at[first + i]))
            return false;
    return true;
}

/* All elements to one. Floats are left out: the order of their sums is the device's. */
static bool reduce(const call *c, mw__known *out)
{
    mw__known x;
    const char *kind = c->op->kind;
    if (!argument(c, "x", &x) || x.count == 0 || is_float(x.dtype) || mw_shape_count(c->type->shape) != 1 ||
        !begin(out, x.dtype, c->type->shape))
        return false;
    double value = x.at[0];
    for (size_t i = 1; i < x.count; i++)
        if (!binary_value(strcmp(kind, "reduce_sum") == 0    ? "add"
                          : strcmp(kind, "reduce_prod") == 0 ? "mul"
                          : strcmp(kind, "reduce_max") == 0  ? "maximum"
                                                             : "minimum",
                          x.dtype, value, x.at[i], &value) ||
            !fit(x.dtype, value, &value))
            return false;
    return put(out, 0, value);
}

/* ---- made of numbers ---- */

static bool range_1d(const call *c, mw__known *out)
{
    int64_t start, end, step;
    if (!integer(c, "start", 0, &start) || !integer(c, "end", 0, &end) || !integer(c, "step", 1, &step) || step == 0)
        return false;
    const int64_t span = step > 0 ? end - start : start - end, by = step > 0 ? step : -step;
    if (!begin(out, c->type->dtype, MW_SHAPE(span > 0 ? (span - 1) / by + 1 : 0)))
        return false;
    for (size_t i = 0; i < out->count; i++)
        if (!put(out, i, (double)(start + (int64_t)i * step)))
            return false;
    return true;
}

static bool fill(const call *c, mw__known *out)
{
    mw__known value = {.count = 1}; /* 0.0, if none is given */
    if (operand(c, "value") != NULL && (!argument(c, "value", &value) || value.count != 1))
        return false;
    if (!begin(out, c->type->dtype, c->type->shape))
        return false;
    for (size_t i = 0; i < out->count; i++)
        if (!put(out, i, value.at[0]))
            return false;
    return true;
}

/* ---- operations ---- */

typedef bool evaluator(const call *c, mw__known *out);

static evaluator *find_evaluator(const char *kind)
{
    static const struct {
        const char *kind;
        evaluator *evaluate;
    } rows[] = {{"shape", shape_of},
                {"select", select_one},
                {"reshape", reshaped},
                {"squeeze", reshaped},
                {"expand_dims", reshaped},
                {"gather", gather},
                {"slice_by_index", slice_by_index},
                {"slice_by_size", slice_by_size},
                {"concat", concat},
                {"stack", stack},
                {"split", split},
                {"tile", tile},
                {"reduce_sum", reduce},
                {"reduce_prod", reduce},
                {"reduce_max", reduce},
                {"reduce_min", reduce},
                {"range_1d", range_1d},
                {"fill", fill},
                {"fill_like", fill},
                {"cast", unary},
                {"identity", unary},
                {"floor", unary},
                {"ceil", unary},
                {"round", unary},
                {"abs", unary},
                {"square", unary},
                {"logical_not", unary}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(kind, rows[i].kind) == 0)
            return rows[i].evaluate;
    return binary;
}

/* What an operation gives is what it is declared to give, or not known. */
static bool evaluate_op(mw__evaluation *e, const mw_tensor *value, mw__known *out)
{
    const mw__op *op = value->op;
    const call c = {.e = e, .op = op, .type = value->type, .result = value->result};
    if (op == NULL || op->block_count > 0)
        return false;
    evaluator *evaluate = find_evaluator(op->kind);
    if (op->result_count != 1 && evaluate != split)
        return false;
    return evaluate(&c, out) && mw__type_fits(value->type, out->dtype, out->shape);
}

bool mw__evaluate(mw__evaluation *e, const mw_tensor *value, mw__known *out)
{
    if (++e->steps > STEPS_MAX || e->depth >= DEPTH_MAX)
        return false;
    value = look_up(e, value);
    if (value->type == NULL || value->type->kind != MW__TENSOR)
        return false;
    if (value->payload != NULL)
        return read_payload(value->payload, out);
    e->depth++;
    const bool known = evaluate_op(e, value, out);
    e->depth--;
    return known;
}

bool mw__evaluate_scalar(mw__evaluation *e, const mw_tensor *value, int64_t *out)
{
    mw__known known;
    const mw_dtype dtype = mw_tensor_dtype(value);
    if ((dtype != MW_I32 && dtype != MW_BOOL) || mw_shape_count(value->type->shape) != 1)
        return false;
    if (!mw__evaluate(e, value, &known) || known.count != 1 || known.dtype != dtype)
        return false;
    *out = (int64_t)known.at[0];
    return true;
}

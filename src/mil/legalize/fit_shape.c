/* Moves of elements that one chip lacks, from those that it has. */
#include "mil/legalize/fit.h"
#include "mil/legalize/rewrites.h"

#include "base/number/fp16.h"

#include <millwright/millwright.h>
#include <string.h>

/* ---- numbers that are known ---- */

enum { RANGE_MAX = 1 << 22 }; /* elements of a constant */

bool mw__workaround_is_range(const mw__rewriting *pass, const mw__op *op)
{
    double start, end, step;
    const int64_t count = mw_shape_count(mw_tensor_shape(op->results[0]));
    const mw_dtype dtype = mw_tensor_dtype(op->results[0]);
    (void)pass;
    return count > 0 && count <= RANGE_MAX && (dtype == MW_F16 || dtype == MW_I32) &&
           mw__arg_float(op, "start", &start) && mw__arg_float(op, "end", &end) && mw__arg_float(op, "step", &step);
}

mw_tensor *mw__workaround_range(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    double start = 0.0, step = 1.0;
    const mw_shape shape = mw_tensor_shape(op->results[0]);
    const mw_dtype dtype = mw_tensor_dtype(op->results[0]);
    const size_t count = (size_t)mw_shape_count(shape), size = dtype == MW_F16 ? sizeof(uint16_t) : sizeof(int32_t);
    char *data = mw__arena_alloc(&clone->to->arena, count, size, &clone->to->error);
    (void)pass;
    mw__arg_float(op, "start", &start);
    mw__arg_float(op, "step", &step);
    for (size_t i = 0; data != NULL && i < count; i++) {
        const double value = start + (double)i * step;
        const uint16_t half = mw__fp16_from_double(value);
        const int32_t whole = (int32_t)value;
        memcpy(data + i * size, dtype == MW_F16 ? (const void *)&half : (const void *)&whole, size);
    }
    return data != NULL ? mw_constant(clone->to, dtype, shape, data) : NULL;
}

bool mw__workaround_is_known_shape(const mw__rewriting *pass, const mw__op *op)
{
    const mw_shape x = mw_tensor_shape(mw__arg(op, "x"));
    (void)pass;
    return x.rank > 0 && mw_shape_count(x) > 0 && mw_tensor_dtype(op->results[0]) == MW_I32;
}

mw_tensor *mw__workaround_known_shape(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    int32_t extents[MW_RANK_MAX] = {0};
    const mw_shape x = mw_tensor_shape(mw__arg(op, "x"));
    (void)pass;
    for (int i = 0; i < x.rank; i++)
        extents[i] = (int32_t)x.dim[i];
    return mw_constant(clone->to, MW_I32, MW_SHAPE(x.rank), extents);
}

/* ---- tile ---- */

enum { COPIES_MAX = 64 }; /* values that one concat joins */

/* The factor of a repetition that is no product of 2 and 3. */
static int64_t other_factor(int64_t reps)
{
    while (reps > 1 && reps % 2 == 0)
        reps /= 2;
    while (reps > 1 && reps % 3 == 0)
        reps /= 3;
    return reps;
}

static size_t reps_of(const mw__op *op, int64_t out[MW_RANK_MAX])
{
    size_t count = 0;
    return mw__arg_ints(op, "reps", out, MW_RANK_MAX, &count) ? count : 0;
}

bool mw__workaround_is_tile(const mw__rewriting *pass, const mw__op *op)
{
    int64_t reps[MW_RANK_MAX];
    const mw_shape x = mw_tensor_shape(mw__arg(op, "x"));
    const size_t count = reps_of(op, reps);
    const mw_dtype dtype = mw_tensor_dtype(op->results[0]);
    (void)pass;
    bool fits = (int)count == x.rank && mw_shape_count(mw_tensor_shape(op->results[0])) > 0 && dtype == MW_F16;
    for (size_t i = 0; fits && i < count; i++)
        fits = x.dim[i] == 1 || other_factor(reps[i]) <= COPIES_MAX;
    return fits;
}

/* One element is repeated by a product with ones, more are joined with themselves. */
static mw_tensor *repeat(mw_tensor *x, int axis, int64_t times)
{
    mw_tensor *copies[COPIES_MAX];
    mw_shape ones = {.rank = mw_tensor_shape(x).rank, .dim = {1, 1, 1, 1, 1, 1, 1, 1}};
    if (x == NULL || times == 1)
        return x;
    if (mw_tensor_shape(x).dim[axis] == 1) {
        ones.dim[axis] = times;
        return mw_mul(x, mw_fill(mw_tensor_graph(x), mw_tensor_dtype(x), ones, 1.0));
    }
    for (int64_t i = 0; i < times; i++)
        copies[i] = x;
    return mw_concat(copies, (size_t)times, axis);
}

mw_tensor *mw__workaround_tile(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    int64_t reps[MW_RANK_MAX];
    const size_t count = reps_of(op, reps);
    mw_tensor *x = mw__decompose_arg(clone, op, "x");
    mw_shape rest = {.rank = (int)count};
    bool any = false;
    (void)pass;
    for (size_t i = 0; x != NULL && i < count; i++) {
        const bool single = mw_tensor_shape(x).dim[i] == 1;
        const int64_t factor = single ? reps[i] : other_factor(reps[i]);
        x = repeat(x, (int)i, factor);
        rest.dim[i] = factor > 0 ? reps[i] / factor : 0;
        any = any || rest.dim[i] != 1;
    }
    return x != NULL && any ? mw_tile(x, rest) : x;
}

/* ---- concat and pads ---- */

mw_tensor *mw__workaround_concat_one(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    const mw__operand *values;
    (void)pass;
    if (mw__arg_values(op, "values", &values) != 1)
        return NULL;
    return mw_identity(mw__clone_operand(clone, values[0].value, mw_tensor_dtype(values[0].value)));
}

typedef struct pads {
    int rank;
    int64_t before[MW_RANK_MAX], after[MW_RANK_MAX];
    bool mirrored;
    double value;
} pads;

static bool read_pads(const mw__op *op, pads *out)
{
    int64_t numbers[2 * MW_RANK_MAX];
    size_t count = 0;
    const char *mode = mw__arg_string(op, "mode");
    *out = (pads){.rank = mw_tensor_shape(mw__arg(op, "x")).rank};
    if (mode == NULL || !mw__arg_ints(op, "pad", numbers, 2 * MW_RANK_MAX, &count) || count > 2 * (size_t)out->rank)
        return false;
    const int first = out->rank - (int)(count / 2);
    for (size_t i = 0; i < count; i++)
        (i % 2 == 0 ? out->before : out->after)[first + (int)(i / 2)] = numbers[i];
    out->mirrored = strcmp(mode, "reflect") == 0;
    return out->mirrored || (strcmp(mode, "constant") == 0 && mw__arg_float(op, "constant_val", &out->value));
}

bool mw__workaround_is_pad(const mw__rewriting *pass, const mw__op *op)
{
    pads p;
    (void)pass;
    bool fits = read_pads(op, &p) && mw_shape_count(mw_tensor_shape(op->results[0])) > 0;
    for (int i = 0; fits && i < p.rank; i++)
        fits = p.before[i] >= 0 && p.after[i] >= 0;
    return fits;
}

/* Elements [begin, begin + count) of an axis in the opposite order. */
static mw_tensor *mirrored(mw_tensor *x, int axis, int64_t begin, int64_t count)
{
    int64_t begins[MW_RANK_MAX] = {0}, sizes[MW_RANK_MAX];
    const mw_shape shape = mw_tensor_shape(x);
    for (int i = 0; i < shape.rank; i++)
        sizes[i] = shape.dim[i];
    begins[axis] = begin;
    sizes[axis] = count;
    return mw_reverse(mw_slice_by_size(x, begins, sizes), MW_AXES(axis));
}

static mw_tensor *border(mw_tensor *x, const pads *p, int axis, bool after)
{
    mw_shape shape = mw_tensor_shape(x);
    const int64_t count = after ? p->after[axis] : p->before[axis];
    if (p->mirrored)
        return mirrored(x, axis, after ? shape.dim[axis] - 1 - count : 1, count);
    shape.dim[axis] = count;
    return mw_fill(mw_tensor_graph(x), mw_tensor_dtype(x), shape, p->value);
}

static mw_tensor *pad_axis(mw_tensor *x, const pads *p, int axis)
{
    mw_tensor *parts[3];
    size_t count = 0;
    if (x == NULL || p->before[axis] + p->after[axis] == 0)
        return x;
    if (p->before[axis] > 0)
        parts[count++] = border(x, p, axis, false);
    parts[count++] = x;
    if (p->after[axis] > 0)
        parts[count++] = border(x, p, axis, true);
    return mw_concat(parts, count, axis);
}

/* Axis by axis, but for constants at the last two, which stay pads. */
mw_tensor *mw__workaround_pad(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    pads p;
    mw_tensor *x = mw__decompose_arg(clone, op, "x");
    (void)pass;
    if (x == NULL || !read_pads(op, &p))
        return NULL;
    const int plane = p.mirrored || p.rank < 2 ? p.rank : p.rank - 2;
    for (int i = 0; i < plane; i++)
        x = pad_axis(x, &p, i);
    if (plane == p.rank)
        return x;
    const int64_t rest[4] = {p.before[plane], p.after[plane], p.before[plane + 1], p.after[plane + 1]};
    if (rest[0] + rest[1] + rest[2] + rest[3] == 0)
        return x;
    return mw_pad(x, rest, 2, MW_PAD_CONSTANT, (float)p.value);
}

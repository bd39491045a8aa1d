/* Constants that differ between the graphs, as expressions of extents: numbers, lists of numbers, tensors of one number
 * and ranges. */
#include "graph/ir/op_build.h"
#include "graph/ir/rule.h"
#include "graph/transform/extents/generalize_parts.h"

#include <math.h>
#include <millwright/ops/elementwise.h>
#include <millwright/ops/gather.h>
#include <millwright/ops/shape.h>
#include <string.h>

enum { SOURCES_MAX = 64, PARTS_MAX = 64 };

/* An extent that differs: of an operand of the operation, or of an input. */
typedef struct source {
    const mw_tensor *value; /* of the first graph */
    int axis;
    int64_t extent[MW__WITNESSES];
} source;

typedef struct maker {
    const mw__generalize_match *match;
    mw__clone *clone;
    source sources[SOURCES_MAX];
    size_t count;
} maker;

/* times * a * b + plus, where a and b may be absent. */
typedef struct expression {
    const source *a, *b;
    int64_t times, plus;
} expression;

/* ---- sources ---- */

static void add_sources(maker *m, const mw_tensor *value)
{
    const mw_shape shape = mw_tensor_shape(value);
    for (int axis = 0; axis < shape.rank && m->count < SOURCES_MAX; axis++) {
        source s = {.value = value, .axis = axis};
        for (int k = 0; k < MW__WITNESSES; k++)
            s.extent[k] = m->match->shapes[k][value->id].dim[axis];
        if (s.extent[0] != s.extent[1] || s.extent[1] != s.extent[2])
            m->sources[m->count++] = s;
    }
}

static void find_sources(maker *m, const mw__op *op)
{
    const mw__block *body = m->match->graphs[0]->functions[0]->body;
    for (size_t i = 0; i < op->slot_count; i++)
        for (size_t k = 0; k < op->slots[i].count; k++) {
            const mw_tensor *value = op->slots[i].operands[k].value;
            if (value != NULL && value->payload == NULL && value->type->kind == MW__TENSOR)
                add_sources(m, value);
        }
    for (size_t i = 0; i < body->input_count; i++)
        add_sources(m, body->inputs[i]);
}

/* ---- fitting ---- */

static bool fit_line(const source *s, const int64_t c[MW__WITNESSES], expression *out)
{
    const int64_t step = s->extent[1] - s->extent[0], rise = c[1] - c[0];
    if (step == 0 || rise % step != 0 || rise == 0)
        return false;
    *out = (expression){.a = s, .times = rise / step};
    int64_t first, last;
    if (__builtin_mul_overflow(out->times, s->extent[0], &first) ||
        __builtin_mul_overflow(out->times, s->extent[2], &last) || __builtin_sub_overflow(c[0], first, &out->plus))
        return false;
    return !__builtin_add_overflow(last, out->plus, &last) && last == c[2];
}

static bool fit_product(const source *a, const source *b, const int64_t c[MW__WITNESSES], expression *out)
{
    *out = (expression){.a = a, .b = b};
    for (int k = 0; k < MW__WITNESSES; k++) {
        int64_t product;
        if (__builtin_mul_overflow(a->extent[k], b->extent[k], &product) || product == 0 || c[k] == 0 ||
            c[k] % product != 0 || (k > 0 && c[k] / product != out->times))
            return false;
        out->times = c[k] / product;
    }
    return true;
}

/* The simplest one: an extent itself goes before one that is changed. */
static bool fit(const maker *m, const int64_t c[MW__WITNESSES], expression *out)
{
    expression one;
    bool found = false;
    if (c[0] == c[1] && c[1] == c[2]) {
        *out = (expression){.plus = c[0]};
        return true;
    }
    for (size_t i = 0; i < m->count; i++) {
        if (!fit_line(&m->sources[i], c, &one) || (found && one.plus != 0))
            continue;
        if (!found || (out->plus != 0 && one.plus == 0))
            *out = one;
        found = true;
    }
    for (size_t i = 0; !found && i < m->count; i++)
        for (size_t k = i; !found && k < m->count; k++)
            found = fit_product(&m->sources[i], &m->sources[k], c, out);
    return found;
}

/* ---- writing ---- */

/* An extent, as int32 of `shape`, [] or [1]. */
static mw_tensor *extent_of(const maker *m, const source *s, mw_shape shape)
{
    mw_graph *to = m->clone->to;
    const int32_t axis = s->axis;
    mw_tensor *x = mw__clone_get(m->clone, s->value);
    mw_tensor *extents = mw_shape_of(x);
    return mw_gather(extents, mw__constant(to, MW_I32, shape, &axis, "axis"), 0);
}

static mw_tensor *write_number(const maker *m, const expression *e, mw_shape shape)
{
    mw_graph *to = m->clone->to;
    const int32_t plus = (int32_t)e->plus;
    if (e->a == NULL)
        return mw__constant(to, MW_I32, shape, &plus, "const");
    mw_tensor *made = extent_of(m, e->a, shape);
    if (e->b != NULL)
        made = mw_mul(made, extent_of(m, e->b, shape));
    if (e->times != 1)
        made = mw_mul_scalar(made, (double)e->times);
    return e->plus != 0 ? mw_add_scalar(made, (double)e->plus) : made;
}

static mw_tensor *write_list(const maker *m, const expression *parts, size_t count)
{
    mw_tensor *made[PARTS_MAX];
    for (size_t i = 0; i < count; i++)
        if ((made[i] = write_number(m, &parts[i], MW_SHAPE(1))) == NULL)
            return NULL;
    return count == 1 ? made[0] : mw_concat(made, count, 0);
}

/* The shape that reshape gets has one open extent at most: MIL's -1, and nothing is computed. */
static mw_tensor *write_open(const maker *m, const mw__op *op, size_t slot, const expression *parts, size_t count)
{
    int32_t list[PARTS_MAX];
    size_t open = 0;
    if (strcmp(op->kind, "reshape") != 0 || strcmp(op->slots[slot].name, "shape") != 0)
        return NULL;
    for (size_t i = 0; i < count; i++) {
        open += parts[i].a != NULL;
        list[i] = parts[i].a != NULL ? -1 : (int32_t)parts[i].plus;
        if (parts[i].a == NULL && parts[i].plus <= 0)
            return NULL;
    }
    return open == 1 ? mw__constant(m->clone->to, MW_I32, MW_SHAPE((int64_t)count), list, "shape") : NULL;
}

/* ---- kinds of constants ---- */

typedef const mw__payload *const payloads[MW__WITNESSES];

static bool same_shapes(payloads c)
{
    return mw_shape_equal(c[0]->type->shape, c[1]->type->shape) && mw_shape_equal(c[1]->type->shape, c[2]->type->shape);
}

static bool is_number(mw_dtype dtype) { return dtype == MW_F32 || dtype == MW_F16 || dtype == MW_I32; }

/* Floats as far as they are whole numbers: an extent that something is divided by. */
static bool fit_element(const maker *m, payloads c, size_t index, expression *out)
{
    int64_t numbers[MW__WITNESSES];
    for (int k = 0; k < MW__WITNESSES; k++) {
        const double number = mw__payload_float(c[k], index);
        if (!(number >= INT32_MIN && number <= INT32_MAX) || number != floor(number))
            return false;
        numbers[k] = (int64_t)number;
    }
    return fit(m, numbers, out) && out->plus >= INT32_MIN && out->plus <= INT32_MAX;
}

static mw_tensor *make_numbers(const maker *m, const mw__op *op, size_t slot, payloads c)
{
    expression parts[PARTS_MAX];
    const mw_shape shape = c[0]->type->shape;
    const mw_dtype dtype = c[0]->type->dtype;
    const size_t count = mw__payload_count(c[0]);
    if (!is_number(dtype) || shape.rank > 1 || count > PARTS_MAX || !same_shapes(c))
        return NULL;
    for (size_t i = 0; i < count; i++)
        if (!fit_element(m, c, i, &parts[i]))
            return NULL;
    mw_tensor *made = shape.rank == 0 ? write_number(m, parts, shape) : write_open(m, op, slot, parts, count);
    if (made == NULL)
        made = write_list(m, parts, count);
    return dtype == MW_I32 ? made : mw_cast(made, dtype);
}

static mw_tensor *write_extents(const maker *m, payloads c)
{
    expression parts[MW_RANK_MAX];
    const int rank = c[0]->type->shape.rank;
    for (int i = 0; i < rank; i++) {
        const int64_t extents[] = {c[0]->type->shape.dim[i], c[1]->type->shape.dim[i], c[2]->type->shape.dim[i]};
        if (!fit(m, extents, &parts[i]))
            return NULL;
    }
    return write_list(m, parts, (size_t)rank);
}

static bool is_one_number(payloads c)
{
    const double first = mw__payload_float(c[0], 0);
    for (int k = 0; k < MW__WITNESSES; k++) {
        const size_t count = c[k]->splat ? 1 : mw__payload_count(c[k]);
        for (size_t i = 0; i < count; i++)
            if (!(mw__payload_float(c[k], i) == first))
                return false;
    }
    return true;
}

static mw_tensor *make_filled(const maker *m, payloads c)
{
    const mw_dtype dtype = c[0]->type->dtype;
    if (!is_number(dtype) || c[0]->type->shape.rank < 1 || mw__payload_count(c[0]) < 1 || !is_one_number(c))
        return NULL;
    mw_tensor *shape = write_extents(m, c);
    mw__build build = mw__build_begin_graph("fill", m->clone->to);
    mw__build_set(&build, "shape", shape);
    mw__build_scalar(&build, "value", dtype, mw__payload_float(c[0], 0));
    return mw__build_end(&build);
}

/* first, first + step, .. */
static bool is_range(payloads c, int64_t *out_first, int64_t *out_step)
{
    if (c[0]->type->dtype != MW_I32 || c[0]->type->shape.rank != 1 || mw__payload_count(c[0]) < 2)
        return false;
    *out_first = mw__payload_int(c[0], 0);
    *out_step = mw__payload_int(c[0], 1) - *out_first;
    for (int k = 0; k < MW__WITNESSES; k++)
        for (size_t i = 0; i < mw__payload_count(c[k]); i++)
            if (mw__payload_int(c[k], i) != *out_first + *out_step * (int64_t)i)
                return false;
    return *out_step != 0;
}

static mw_tensor *make_range(const maker *m, payloads c)
{
    int64_t first, step;
    expression end;
    if (!is_range(c, &first, &step))
        return NULL;
    int64_t ends[MW__WITNESSES];
    for (int k = 0; k < MW__WITNESSES; k++)
        ends[k] = first + step * (int64_t)mw__payload_count(c[k]);
    if (!fit(m, ends, &end))
        return NULL;
    mw_tensor *last = write_number(m, &end, (mw_shape){.rank = 0});
    mw__build build = mw__build_begin_graph("range_1d", m->clone->to);
    mw__build_set(&build, "end", last);
    mw__build_scalar(&build, "start", MW_I32, (double)first);
    mw__build_scalar(&build, "step", MW_I32, (double)step);
    return mw__build_end(&build);
}

mw_tensor *mw__generalize_constant(const mw__generalize_match *match, mw__clone *clone, const mw__op *op, size_t slot,
                                   payloads constants)
{
    maker m = {.match = match, .clone = clone};
    find_sources(&m, op);
    mw_tensor *made = NULL;
    if (constants[0]->type->kind == MW__TENSOR && constants[0]->strings == NULL)
        made = make_numbers(&m, op, slot, constants);
    if (made == NULL && constants[0]->type->kind == MW__TENSOR)
        made = make_range(&m, constants);
    if (made == NULL && constants[0]->type->kind == MW__TENSOR)
        made = make_filled(&m, constants);
    if (made == NULL)
        mw__clone_refuse(clone, op, MW_ERROR_UNSUPPORTED, "a constant that it takes does not follow from the extents");
    return made;
}

/* Small tensors, element by element. */
#include "base/number/types.h"
#include "graph/constants/evaluate_call.h"

#include "graph/ir/rule.h"

#include <math.h>
#include <string.h>

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
bool mw__known_binary_value(const char *kind, mw_dtype dtype, double x, double y, double *out)
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
                {"real_div", divides ? x / y : 0, divides && mw__number_dtype_is_float(dtype)},
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

bool mw__known_binary(const mw__known_call *c, mw__known *out)
{
    mw__known *x = &c->room[0], *y = &c->room[1];
    mw_shape shape;
    if (!mw__known_argument(c, "x", x) || !mw__known_argument(c, "y", y) || x->dtype != y->dtype ||
        !mw__broadcast_shapes(x->shape, y->shape, &shape) || !mw__known_begin(out, c->type->dtype, shape))
        return false;
    for (size_t i = 0; i < out->count; i++) {
        double value;
        if (!mw__known_binary_value(c->op->kind, x->dtype, x->at[broadcast_index(x->shape, shape, i)],
                                    y->at[broadcast_index(y->shape, shape, i)], &value) ||
            !mw__known_put(out, i, value))
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
        *out = to == MW_BOOL                                                       ? x != 0
               : mw__number_dtype_is_float(from) && !mw__number_dtype_is_float(to) ? trunc(x)
                                                                                   : x;
        return true;
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(kind, rows[i].kind) == 0) {
            *out = rows[i].value;
            return true;
        }
    return false;
}

bool mw__known_unary(const mw__known_call *c, mw__known *out)
{
    mw__known *x = &c->room[0];
    if (!mw__known_argument(c, "x", x) || !mw__known_begin(out, c->type->dtype, x->shape))
        return false;
    for (size_t i = 0; i < out->count; i++) {
        double value;
        if (!unary_value(c->op->kind, x->dtype, out->dtype, x->at[i], &value) || !mw__known_put(out, i, value))
            return false;
    }
    return true;
}

/* One condition needs its branch alone. */
bool mw__known_select(const mw__known_call *c, mw__known *out)
{
    mw__known *a = &c->room[0], *b = &c->room[1], *cond = &c->room[2];
    mw_shape shape;
    if (!mw__known_argument(c, "cond", cond))
        return false;
    if (cond->count == 1 && cond->shape.rank == 0)
        return mw__known_argument(c, cond->at[0] != 0 ? "a" : "b", out) && mw_shape_equal(out->shape, c->type->shape);
    if (!mw__known_argument(c, "a", a) || !mw__known_argument(c, "b", b) ||
        !mw__broadcast_shapes(a->shape, b->shape, &shape) || !mw__broadcast_shapes(shape, cond->shape, &shape) ||
        !mw__known_begin(out, c->type->dtype, shape))
        return false;
    for (size_t i = 0; i < out->count; i++) {
        const bool first = cond->at[broadcast_index(cond->shape, shape, i)] != 0;
        const mw__known *taken = first ? a : b;
        if (!mw__known_put(out, i, taken->at[broadcast_index(taken->shape, shape, i)]))
            return false;
    }
    return true;
}

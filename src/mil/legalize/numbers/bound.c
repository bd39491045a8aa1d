/* Intervals through the operations that bound their results, or move them. */
#include "mil/legalize/numbers/bound.h"

#include "graph/ir/op_table.h"

#include <math.h>
#include <string.h>

enum { STEPS_MAX = 64 }; /* operations that are looked at */

static const mw__bound unknown = {-(double)INFINITY, (double)INFINITY};

static mw__bound bound_at(const mw_tensor *value, int *steps);

static mw__bound bound_of_argument(const mw__op *op, const char *name, int *steps)
{
    const mw_tensor *value = mw__op_operand(op, name);
    return value != NULL ? bound_at(value, steps) : unknown;
}

/* Of a constant, its elements. */
static mw__bound bound_of_payload(const mw__payload *payload)
{
    mw__bound bound = {(double)INFINITY, -(double)INFINITY};
    const size_t count = payload->splat ? 1 : mw__payload_count(payload);
    if (payload->data == NULL || payload->type->kind != MW__TENSOR || count > 4096)
        return unknown;
    for (size_t i = 0; i < count; i++) {
        const double number = mw__payload_float(payload, i);
        bound.low = fmin(bound.low, number);
        bound.high = fmax(bound.high, number);
    }
    return count > 0 ? bound : unknown;
}

/* ---- operations whose results lie between two numbers, whatever they are given ---- */

static bool has_fixed_range(const mw__op *op, mw__bound *out)
{
    static const struct {
        const char *kind;
        mw__bound bound;
    } rows[] = {{"sigmoid", {0, 1}}, {"softmax", {0, 1}},   {"relu6", {0, 6}}, {"sigmoid_hard", {0, 1}},
                {"tanh", {-1, 1}},   {"softsign", {-1, 1}}, {"erf", {-1, 1}},  {"sign", {-1, 1}},
                {"sin", {-1, 1}},    {"cos", {-1, 1}}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (mw__op_is(op, rows[i].kind)) {
            *out = rows[i].bound;
            return true;
        }
    return false;
}

/* ---- arithmetic ---- */

/* 0 * inf is 0: an element that is bounded by nothing is still a number. */
static double product(double a, double b) { return a == 0 || b == 0 ? 0 : a * b; }

static mw__bound bound_of_product(mw__bound x, mw__bound y)
{
    const double ends[] = {product(x.low, y.low), product(x.low, y.high), product(x.high, y.low),
                           product(x.high, y.high)};
    return (mw__bound){fmin(fmin(ends[0], ends[1]), fmin(ends[2], ends[3])),
                       fmax(fmax(ends[0], ends[1]), fmax(ends[2], ends[3]))};
}

/* x - max(x) is at most 0, x - min(x) at least that. */
static mw__bound bound_of_difference(const mw__op *op, mw__bound x, mw__bound y)
{
    const mw_tensor *from = mw__op_operand(op, "x"), *by = mw__op_operand(op, "y");
    mw__bound bound = {x.low - y.high, x.high - y.low};
    const mw__op *made = by->op;
    if (made != NULL && mw__op_is(made, "reduce_max") && mw__op_operand(made, "x") == from)
        bound.high = fmin(bound.high, 0.0);
    if (made != NULL && mw__op_is(made, "reduce_min") && mw__op_operand(made, "x") == from)
        bound.low = fmax(bound.low, 0.0);
    return bound;
}

/* True if y is max |x| times a constant, which becomes *out_share; or the larger of that and a constant. */
static bool is_largest_of(const mw_tensor *x, const mw_tensor *y, double *out_share)
{
    *out_share = 1.0;
    while (y != NULL && y->payload == NULL && y->op != NULL && !mw__op_is(y->op, "reduce_max")) {
        const mw_tensor *by = mw__op_operand(y->op, "y");
        const bool scales = mw__op_is(y->op, "mul");
        if ((!scales && !mw__op_is(y->op, "maximum")) || by == NULL || by->payload == NULL)
            return false;
        *out_share *= scales ? bound_of_payload(by->payload).low : 1.0;
        y = mw__op_operand(y->op, "x");
    }
    const mw_tensor *size = y != NULL && y->payload == NULL && y->op != NULL ? mw__op_operand(y->op, "x") : NULL;
    return size != NULL && size->op != NULL && mw__op_is(size->op, "abs") && mw__op_operand(size->op, "x") == x &&
           *out_share > 0;
}

/* At most the largest |x| over the smallest divisor; a row over its own largest element is at most 1, or what that is
 * scaled by (decompose_large.c). */
static mw__bound bound_of_quotient(const mw__op *op, int *steps)
{
    double share, end = (double)INFINITY;
    const mw__bound x = bound_of_argument(op, "x", steps), y = bound_of_argument(op, "y", steps);
    if (y.low > 0)
        end = fmax(fabs(x.low), fabs(x.high)) / y.low;
    if (is_largest_of(mw__op_operand(op, "x"), mw__op_operand(op, "y"), &share))
        end = fmin(end, 1.0 / share);
    return (mw__bound){-end, end};
}

static bool has_two(const mw__op *op, int *steps, mw__bound *out)
{
    if (mw__op_is(op, "real_div")) {
        *out = bound_of_quotient(op, steps);
        return true;
    }
    const bool two = mw__op_is(op, "add") || mw__op_is(op, "sub") || mw__op_is(op, "mul") || mw__op_is(op, "maximum") ||
                     mw__op_is(op, "minimum");
    if (!two || mw__op_operand(op, "x") == NULL || mw__op_operand(op, "y") == NULL)
        return false;
    const mw__bound x = bound_of_argument(op, "x", steps), y = bound_of_argument(op, "y", steps);
    if (mw__op_is(op, "add"))
        *out = (mw__bound){x.low + y.low, x.high + y.high};
    else if (mw__op_is(op, "sub"))
        *out = bound_of_difference(op, x, y);
    else if (mw__op_is(op, "mul"))
        *out = bound_of_product(x, y);
    else if (mw__op_is(op, "maximum"))
        *out = (mw__bound){fmax(x.low, y.low), fmax(x.high, y.high)};
    else
        *out = (mw__bound){fmin(x.low, y.low), fmin(x.high, y.high)};
    return true;
}

static mw__bound bound_of_clip(const mw__op *op, mw__bound x)
{
    double low = x.low, high = x.high;
    mw__arg_float(op, "alpha", &low);
    mw__arg_float(op, "beta", &high);
    return (mw__bound){fmax(x.low, low), fmin(fmax(x.high, low), high)};
}

static bool has_one(const mw__op *op, int *steps, mw__bound *out)
{
    static const char *const kinds[] = {"clip", "relu",       "abs",        "square",
                                        "exp",  "reduce_max", "reduce_min", "reduce_mean"};
    bool one = mw__op_has(op, MW__TRAIT_MOVES);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        one = one || mw__op_is(op, kinds[i]);
    if (!one)
        return false;
    const mw__bound x = bound_of_argument(op, "x", steps);
    const double size = fmax(fabs(x.low), fabs(x.high));
    *out = x;
    if (mw__op_is(op, "clip"))
        *out = bound_of_clip(op, x);
    else if (mw__op_is(op, "relu"))
        *out = (mw__bound){fmax(x.low, 0.0), fmax(x.high, 0.0)};
    else if (mw__op_is(op, "abs"))
        *out = (mw__bound){0.0, size};
    else if (mw__op_is(op, "square"))
        *out = (mw__bound){0.0, size * size};
    else if (mw__op_is(op, "exp"))
        *out = (mw__bound){exp(x.low), exp(x.high)};
    return true;
}

static mw__bound bound_at(const mw_tensor *value, int *steps)
{
    mw__bound bound;
    if (value->payload != NULL)
        return bound_of_payload(value->payload);
    const mw__op *op = value->op;
    if (op == NULL || op->row == NULL || op->block_count > 0 || op->result_count != 1 || --*steps < 0)
        return unknown;
    if (has_fixed_range(op, &bound) || has_two(op, steps, &bound) || has_one(op, steps, &bound))
        return bound;
    if (!mw__op_is(op, "select"))
        return unknown;
    const mw__bound a = bound_of_argument(op, "a", steps), b = bound_of_argument(op, "b", steps);
    return (mw__bound){fmin(a.low, b.low), fmax(a.high, b.high)};
}

mw__bound mw__bound_of(const mw_tensor *value)
{
    int steps = STEPS_MAX;
    return bound_at(value, &steps);
}

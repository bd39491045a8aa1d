/* Numbers that follow from constants alone: what a batch norm is spelled with, the inverse of the root of a variance
 * and an epsilon in the shape of its channels. In double precision, so that they are rounded once, with what they
 * change. */
#include "graph/ir/op_build.h"
#include "mil/join/join_parts.h"

#include <math.h>
#include <string.h>

enum { DEEP = 8 }; /* operations behind each other */

typedef enum constant_kind { KIND_NONE, KIND_SAME, KIND_ONE, KIND_PAIR } constant_kind;

/* How an operation's numbers follow: as they are, of one operand, of two. */
static constant_kind kind_of(const mw__op *op)
{
    static const struct {
        const char *name;
        constant_kind kind;
    } kinds[] = {{"reshape", KIND_SAME}, {"sqrt", KIND_ONE}, {"rsqrt", KIND_ONE}, {"inverse", KIND_ONE},
                 {"add", KIND_PAIR},     {"sub", KIND_PAIR}, {"mul", KIND_PAIR},  {"real_div", KIND_PAIR}};
    for (size_t i = 0; op != NULL && i < sizeof kinds / sizeof *kinds; i++)
        if (mw__op_is(op, kinds[i].name))
            return kinds[i].kind;
    return KIND_NONE;
}

static bool is_constant(const mw_tensor *value, int depth)
{
    if (mw__join_is_weight(value))
        return true;
    const mw__op *op = mw__join_maker(value);
    const constant_kind kind = depth < DEEP ? kind_of(op) : KIND_NONE;
    if (kind == KIND_NONE || mw_tensor_dtype(value) != MW_F32)
        return false;
    const mw_tensor *x = mw__op_operand(op, "x"), *y = mw__op_operand(op, "y");
    const int64_t count = mw_shape_count(mw_tensor_shape(value));
    if (!is_constant(x, depth + 1) || (kind == KIND_PAIR && !is_constant(y, depth + 1)))
        return false;
    const int64_t of_x = mw_shape_count(mw_tensor_shape(x));
    const int64_t of_y = kind == KIND_PAIR ? mw_shape_count(mw_tensor_shape(y)) : 1;
    return (of_x == count || of_x == 1) && (of_y == count || of_y == 1); /* no outer sum or product */
}

bool mw__join_is_constant(const mw_tensor *value) { return is_constant(value, 0); }

static double epsilon_of(const mw__op *op)
{
    double epsilon = 0.0;
    return mw__arg_float(op, "epsilon", &epsilon) ? epsilon : 0.0;
}

static double number_of(const mw__op *op, double x, double y)
{
    if (mw__op_is(op, "sqrt"))
        return sqrt(x);
    if (mw__op_is(op, "rsqrt"))
        return 1.0 / sqrt(x + epsilon_of(op));
    if (mw__op_is(op, "inverse"))
        return 1.0 / (x + epsilon_of(op));
    if (mw__op_is(op, "add"))
        return x + y;
    if (mw__op_is(op, "sub"))
        return x - y;
    return mw__op_is(op, "mul") ? x * y : mw__op_is(op, "real_div") ? x / y : x;
}

double mw__join_constant_at(const mw_tensor *value, int64_t i)
{
    const int64_t at = mw_shape_count(mw_tensor_shape(value)) == 1 ? 0 : i;
    if (value->payload != NULL)
        return mw__payload_float(value->payload, value->payload->splat ? 0 : (size_t)at);
    const mw_tensor *y = mw__op_operand(value->op, "y");
    const double first = mw__join_constant_at(mw__op_operand(value->op, "x"), at);
    return number_of(value->op, first, kind_of(value->op) == KIND_PAIR ? mw__join_constant_at(y, at) : 0.0);
}

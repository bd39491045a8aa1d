/* Numbers that follow from constants alone: what a batch norm is spelled with, the inverse of the root of a variance
 * and an epsilon in the shape of its channels. In double precision, so that they are rounded once, with what they
 * change. */
#include "graph/ir/op_build.h"
#include "mil/join/join_parts.h"

#include <math.h>
#include <string.h>

enum { DEEP = 9 }; /* operations behind each other, with the constant */

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

/* 1 for a constant; 0: the value does not follow from constants. */
static unsigned depth_of(const mw__joining *joining, const mw_tensor *value)
{
    if (value == NULL || value->payload != NULL)
        return mw__join_is_weight(value) ? 1 : 0;
    return joining->facts[value->id].constant;
}

bool mw__join_is_constant(const mw__joining *joining, const mw_tensor *value) { return depth_of(joining, value) > 0; }

static int64_t count_of(const mw_tensor *value) { return mw_shape_count(mw_tensor_shape(value)); }

void mw__join_note_constant(mw__joining *joining, const mw__op *op)
{
    const mw_tensor *y = op->results[0], *first = mw__op_operand(op, "x");
    const unsigned depth = depth_of(joining, first);
    const constant_kind kind = depth > 0 && mw_tensor_dtype(y) == MW_F32 ? kind_of(op) : KIND_NONE;
    const mw_tensor *second = kind == KIND_PAIR ? mw__op_operand(op, "y") : first;
    const unsigned other = depth_of(joining, second), deepest = depth > other ? depth : other;
    if (kind == KIND_NONE || other == 0 || deepest == DEEP)
        return;
    const int64_t count = count_of(y), of_x = count_of(first), of_y = kind == KIND_PAIR ? count_of(second) : 1;
    if ((of_x == count || of_x == 1) && (of_y == count || of_y == 1)) /* no outer sum or product */
        joining->facts[y->id].constant = (uint8_t)(deepest + 1);
}

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

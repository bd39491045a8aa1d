/* What programs of others do to an index before they look it up: numbers below 0 that count from the end, an offset
 * into a table of several, a limit. Written for both digits, where no device would take the index otherwise. */
#include "mil/legalize/rewrites.h"

#include <millwright/millwright.h>

static mw_tensor *number_tensor(mw__split *split, double value) { return mw_scalar(split->to, MW_F32, value); }

/* The digits of both operands of an operation, for one block of its result. */
typedef struct operands {
    mw__digits x, y;
} operands;

static operands read_operands(mw__split *split, mw__clone *clone, const mw__op *op, int64_t block)
{
    return (operands){.x = mw__split_digits(split, clone, mw__arg(op, "x"), block, 2),
                      .y = mw__split_digits(split, clone, mw__arg(op, "y"), block, 2)};
}

/* Below, at or above 0 as x is below, at or above y: the high digit decides, the low one where it is the same. */
static mw_tensor *order(mw__split *split, const operands *o)
{
    mw_tensor *high = mw_sign(mw_sub(o->x.digit[0], o->y.digit[0]));
    mw_tensor *low = mw_sign(mw_sub(o->x.digit[1], o->y.digit[1]));
    return mw_add(mw_mul(high, number_tensor(split, 2.0)), low);
}

static void set_digits(mw__split *split, mw__clone *clone, const mw_tensor *result, int64_t block, mw_tensor *high,
                       mw_tensor *low)
{
    mw__split_set(split, clone, result, block, 2, 0, high);
    mw__split_set(split, clone, result, block, 2, 1, low);
}

/* ---- which operations ---- */

static bool is_index(const mw__split *split, const mw_tensor *value)
{
    return value != NULL && (split->marks[value->id] & MW__SPLIT_INDEX) != 0;
}

/* Elsewhere integers are what the device makes of them. */
bool mw__split_makes_index(const mw__split *split, const mw__op *op)
{
    return is_index(split, op->results[0]) || is_index(split, mw__arg(op, "x")) || is_index(split, mw__arg(op, "y"));
}

/* ---- sums ---- */

/* A low digit that leaves 0 .. base - 1 carries one. */
static void sum_block(mw__split *split, mw__clone *clone, const mw__op *op, int64_t block)
{
    const bool adds = mw__op_is(op, "add");
    const operands o = read_operands(split, clone, op, block);
    mw_tensor *high = adds ? mw_add(o.x.digit[0], o.y.digit[0]) : mw_sub(o.x.digit[0], o.y.digit[0]);
    mw_tensor *low = adds ? mw_add(o.x.digit[1], o.y.digit[1]) : mw_sub(o.x.digit[1], o.y.digit[1]);
    mw_tensor *carries =
        adds ? mw_greater_equal(low, number_tensor(split, MW__DIGIT_BASE)) : mw_less(low, number_tensor(split, 0.0));
    mw_tensor *carry = mw_select(carries, number_tensor(split, adds ? 1.0 : -1.0), number_tensor(split, 0.0));
    set_digits(split, clone, op->results[0], block, mw_add(high, carry),
               mw_sub(low, mw_mul(carry, number_tensor(split, MW__DIGIT_BASE))));
}

mw_tensor *mw__split_digit_sum(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    mw__split *split = pass->split;
    const int64_t blocks = mw__split_blocks_of(split, op->results[0]);
    for (int64_t b = 0; b < blocks; b++)
        sum_block(split, clone, op, blocks > 1 ? b : MW__SPLIT_WHOLE);
    return NULL;
}

/* ---- order ---- */

static mw_tensor *compare_parts(mw__split *split, const mw__op *op, const operands *o)
{
    mw_tensor *sign = order(split, o), *zero = number_tensor(split, 0.0);
    if (mw__op_is(op, "less"))
        return mw_less(sign, zero);
    if (mw__op_is(op, "less_equal"))
        return mw_less_equal(sign, zero);
    return mw__op_is(op, "greater") ? mw_greater(sign, zero) : mw_greater_equal(sign, zero);
}

mw_tensor *mw__split_order(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    mw__split *split = pass->split;
    const int64_t blocks = mw__split_blocks_of(split, op->results[0]);
    for (int64_t b = 0; b < blocks; b++) {
        const operands o = read_operands(split, clone, op, blocks > 1 ? b : MW__SPLIT_WHOLE);
        mw__split_set(split, clone, op->results[0], b, 1, 0, compare_parts(split, op, &o));
    }
    return NULL;
}

mw_tensor *mw__split_bound(mw__rewriting *pass, mw__clone *clone, const mw__op *op)
{
    mw__split *split = pass->split;
    const int64_t blocks = mw__split_blocks_of(split, op->results[0]);
    for (int64_t b = 0; b < blocks; b++) {
        const int64_t block = blocks > 1 ? b : MW__SPLIT_WHOLE;
        const operands o = read_operands(split, clone, op, block);
        mw_tensor *sign = order(split, &o), *zero = number_tensor(split, 0.0);
        mw_tensor *takes_x = mw__op_is(op, "maximum") ? mw_greater(sign, zero) : mw_less(sign, zero);
        set_digits(split, clone, op->results[0], block, mw_select(takes_x, o.x.digit[0], o.y.digit[0]),
                   mw_select(takes_x, o.x.digit[1], o.y.digit[1]));
    }
    return NULL;
}

/* What is known of integers while a program is flattened: evaluated over the source operations, with the loop variables
 * of the moment. */
#include "graph/transform/flatten/flatten_parts.h"

#include <string.h>

/* What a source value was replaced by: a loop variable of the moment, or its copy. */
static const mw_tensor *find_copy(void *user, const mw_tensor *value)
{
    const mw__clone *clone = user;
    return value->graph == clone->from->graph ? mw__clone_get(clone, value) : NULL;
}

bool mw__flatten_elements(mw__clone *clone, const mw_tensor *value, mw__known *out)
{
    mw__evaluation evaluation = {.lookup = find_copy, .user = clone};
    return mw__evaluate(&evaluation, value, out);
}

bool mw__flatten_known(mw__clone *clone, const mw_tensor *value, int64_t *out)
{
    mw__evaluation evaluation = {.lookup = find_copy, .user = clone};
    return mw__evaluate_scalar(&evaluation, value, out);
}

/* ---- conditions ---- */

enum { DEPTH_MAX = 32 };

/* The operation of a condition, behind what only changes its form. */
static const mw__op *condition_op(const mw_tensor *condition)
{
    const mw__op *op = condition != NULL ? condition->op : NULL;
    for (int depth = 0; depth < DEPTH_MAX && op != NULL && op->row != NULL; depth++) {
        if (!mw__op_has(op, MW__TRAIT_MOVES | MW__TRAIT_VIEW))
            return op;
        op = mw__arg(op, "x") != NULL ? mw__arg(op, "x")->op : NULL;
    }
    return NULL;
}

/* The sides of logical_and: true if one of them is known to be `wanted`, which decides it if that is false. */
static bool has_side(mw__clone *clone, const mw_tensor *condition, bool wanted, int depth)
{
    const mw__op *op = condition_op(condition);
    int64_t known;
    if (op == NULL || depth == DEPTH_MAX || strcmp(op->kind, "logical_and") != 0)
        return false;
    const mw_tensor *const sides[2] = {mw__arg(op, "x"), mw__arg(op, "y")};
    for (int i = 0; i < 2; i++) {
        if (sides[i] == NULL)
            continue;
        if (mw__flatten_known(clone, sides[i], &known) ? (known != 0) == wanted
                                                       : has_side(clone, sides[i], wanted, depth + 1))
            return true;
    }
    return false;
}

mw__flatten_truth mw__flatten_decide(mw__clone *clone, const mw_tensor *condition)
{
    int64_t known;
    if (mw__flatten_known(clone, condition, &known))
        return known != 0 ? MW__FLATTEN_TRUE : MW__FLATTEN_FALSE;
    return has_side(clone, condition, false, 0) ? MW__FLATTEN_FALSE : MW__FLATTEN_OPEN;
}

bool mw__flatten_is_bounded(mw__clone *clone, const mw_tensor *condition)
{
    return has_side(clone, condition, true, 0);
}

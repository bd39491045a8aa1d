/* Following a constant to the layer that holds it: through casts, moves, and parts that are cut and joined again, as
 * the gates of a recurrent layer are. */
#include "graph/ir/rule.h"
#include "graph/transform/tune/trainable.h"

#include <string.h>

enum { LOOKED_AT = 96 }; /* operations behind a value */

/* The elements of "x", in whatever order, or some of them. */
static bool is_moving(const mw__op *op)
{
    return mw__op_has(op, MW__TRAIT_MOVES) || mw__op_is(op, "split") || mw__op_is(op, "reverse");
}

const mw_tensor *mw__tune_origin(const mw_tensor *value)
{
    for (int depth = 0; value != NULL && value->op != NULL && is_moving(value->op) && depth < MW__TUNE_DEPTH; depth++)
        value = mw__op_operand(value->op, "x");
    return value;
}

int64_t mw__tune_vector_length(mw_shape shape)
{
    int64_t length = shape.rank > 0 ? 1 : 0;
    for (int i = 0; i < shape.rank; i++) {
        if (shape.dim[i] == 1)
            continue;
        if (length != 1)
            return 0;
        length = shape.dim[i];
    }
    return length;
}

/* The biases of a recurrent cell are added before they are used. */
static bool is_sum_of_vectors(const mw__op *op)
{
    return mw__op_is(op, "add") && op->result_count == 1 && mw__tune_vector_length(mw_tensor_shape(op->results[0])) > 1;
}

static bool is_fixed(const mw_tensor *value, int *left);

static bool has_fixed_operands(const mw__op *op, const char *argument, int *left)
{
    size_t count = 0;
    for (size_t i = 0; i < op->slot_count; i++)
        for (size_t k = 0; op->slots[i].operands != NULL && k < op->slots[i].count; k++) {
            if (strcmp(op->slots[i].name, argument) != 0)
                continue;
            if (!is_fixed(op->slots[i].operands[k].value, left))
                return false;
            count++;
        }
    return count > 0;
}

static bool is_fixed(const mw_tensor *value, int *left)
{
    value = mw__tune_origin(value);
    if (value == NULL || --*left < 0)
        return false;
    if (value->role == MW__PARAMETER || mw__is_constant(value))
        return true;
    if (value->op == NULL)
        return false;
    if (mw__op_is(value->op, "concat") || mw__op_is(value->op, "stack"))
        return has_fixed_operands(value->op, "values", left);
    return is_sum_of_vectors(value->op) && has_fixed_operands(value->op, "x", left) &&
           has_fixed_operands(value->op, "y", left);
}

bool mw__tune_is_fixed(const mw_tensor *value)
{
    int left = LOOKED_AT;
    return is_fixed(value, &left);
}

bool mw__tune_passes(const mw__op *op, const char *argument)
{
    if (is_moving(op) || mw__op_is(op, "pad"))
        return strcmp(argument, "x") == 0;
    const bool joins = mw__op_is(op, "concat") || mw__op_is(op, "stack") || is_sum_of_vectors(op);
    return joins && op->result_count == 1 && mw__tune_is_fixed(op->results[0]);
}

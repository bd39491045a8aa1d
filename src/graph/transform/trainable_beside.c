/* Weights of layers that a file spells out as several operations: a bias that is added to a product, gamma and beta of
 * a norm, a table beside an embedding. */
#include "graph/transform/trainable_beside.h"
#include "graph/rule.h"

#include <string.h>

/* ---- what is beside it ---- */

bool mw__tune_is_one_of(const char *word, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(word, words[i]) == 0)
            return true;
    return false;
}

bool mw__tune_is_made_by(const mw_tensor *value, const char *const *kinds, size_t count)
{
    return value != NULL && value->op != NULL && mw__tune_is_one_of(value->op->kind, kinds, count);
}

const mw_tensor *mw__tune_argument_origin(const mw__op *op, const char *argument)
{
    return mw__tune_origin(mw__tune_operand(op, argument));
}

bool mw__tune_is_argument_fixed(const mw__op *op, const char *argument)
{
    return mw__tune_is_fixed(mw__tune_operand(op, argument));
}

bool mw__tune_is_single(const mw_tensor *value) { return mw_shape_count(mw_tensor_shape(value)) == 1; }

bool mw__tune_is_repeated(const mw_tensor *root, const mw_tensor *own)
{
    return mw__tune_is_single(root) && !mw__tune_is_single(own);
}

/* ---- layers of several operations ---- */

static bool has_fixed_value(const mw__op *op)
{
    for (size_t s = 0; s < op->slot_count; s++) {
        const mw__slot *slot = &op->slots[s];
        for (size_t i = 0; slot->operands != NULL && i < slot->count; i++)
            if (strcmp(slot->name, "values") == 0 && mw__tune_is_fixed(slot->operands[i].value))
                return true;
    }
    return false;
}

/* A product of which one factor is a weight. */
static bool is_product(const mw_tensor *value)
{
    if (IS_MADE_BY(value, "conv", "conv_transpose", "linear"))
        return true;
    if (IS_MADE_BY(value, "matmul"))
        return mw__tune_is_argument_fixed(value->op, "x") || mw__tune_is_argument_fixed(value->op, "y");
    return IS_MADE_BY(value, "einsum") && has_fixed_value(value->op);
}

/* Also with the bias that a file writes as an operation of its own. */
static bool is_biased_product(const mw_tensor *value)
{
    if (is_product(value))
        return true;
    if (!IS_MADE_BY(value, "add"))
        return false;
    const mw_tensor *x = mw__tune_argument_origin(value->op, "x"), *y = mw__tune_argument_origin(value->op, "y");
    return (is_product(x) && mw__tune_is_fixed(y)) || (is_product(y) && mw__tune_is_fixed(x));
}

/* Or the sum of two of them, as in a recurrent cell. */
static bool is_sum_of_products(const mw_tensor *value)
{
    if (is_product(value))
        return true;
    return IS_MADE_BY(value, "add") && is_biased_product(mw__tune_argument_origin(value->op, "x")) &&
           is_biased_product(mw__tune_argument_origin(value->op, "y"));
}

/* How many outputs such a product or sum has; 0 if the value is none. */
static int64_t count_outputs(const mw_tensor *value)
{
    const mw_shape shape = mw_tensor_shape(value);
    if (!is_sum_of_products(value))
        return 0;
    if (IS_MADE_BY(value, "conv", "conv_transpose"))
        return shape.rank > 1 ? shape.dim[1] : 0;
    return shape.rank > 0 ? shape.dim[shape.rank - 1] : 0;
}

/* Rows of a table, or such and other tables. */
static bool is_embedding(const mw_tensor *value)
{
    for (int depth = 0; depth < MW__TUNE_DEPTH; depth++) {
        value = mw__tune_origin(value);
        if (IS_MADE_BY(value, "gather"))
            return mw__tune_is_argument_fixed(value->op, "x");
        if (!IS_MADE_BY(value, "add"))
            return false;
        const mw_tensor *y = mw__tune_operand(value->op, "y");
        value = mw__tune_is_fixed(y) ? mw__tune_operand(value->op, "x") : y;
    }
    return false;
}

/* A table of positions beside an embedding: [.., T, D] where the embedding is [.., D]. */
static bool is_table_beside(const mw_tensor *own, const mw_tensor *other)
{
    const mw_shape a = mw_tensor_shape(own), b = mw_tensor_shape(other);
    return a.rank > 1 && b.rank > 1 && a.dim[a.rank - 1] == b.dim[b.rank - 1] && is_embedding(other);
}

/* One over a root of a mean of squares, or such a root. */
static bool is_deviation(const mw_tensor *value, bool inverse)
{
    value = mw__tune_origin(value);
    return inverse ? IS_MADE_BY(value, "rsqrt", "pow", "inverse") : IS_MADE_BY(value, "sqrt", "reduce_l2_norm", "pow");
}

/* The value before it was multiplied by one number, or one was added: the ones and zeros of a file that has no place
 * for a norm without gamma and beta. */
static const mw_tensor *without_numbers(const mw_tensor *value)
{
    value = mw__tune_origin(value);
    for (int depth = 0; IS_MADE_BY(value, "mul", "add") && depth < MW__TUNE_DEPTH; depth++) {
        const mw_tensor *y = mw__tune_argument_origin(value->op, "y");
        if (y == NULL || !mw__is_constant(y) || mw_shape_count(mw_tensor_shape(y)) != 1)
            break;
        value = mw__tune_argument_origin(value->op, "x");
    }
    return value;
}

/* x over its deviation, also spelled out, or what is still to be multiplied with x. */
static bool is_normalised(const mw_tensor *value)
{
    value = without_numbers(value);
    if (IS_MADE_BY(value, "layer_norm", "instance_norm", "batch_norm", "l2_norm", "rsqrt"))
        return true;
    if (IS_MADE_BY(value, "mul"))
        return is_deviation(mw__tune_operand(value->op, "x"), true) ||
               is_deviation(mw__tune_operand(value->op, "y"), true);
    return IS_MADE_BY(value, "real_div") && is_deviation(mw__tune_operand(value->op, "y"), false);
}

static bool is_scaled_normal(const mw_tensor *value)
{
    value = mw__tune_origin(value);
    if (!IS_MADE_BY(value, "mul"))
        return false;
    const mw_tensor *x = mw__tune_operand(value->op, "x"), *y = mw__tune_operand(value->op, "y");
    return (mw__tune_is_fixed(x) && is_normalised(y)) || (mw__tune_is_fixed(y) && is_normalised(x));
}

/* A peephole: what a vector makes of the cell is added to a gate, a part of the sum of products. */
static bool is_added_to_gate(const mw__use *const *uses, const mw__op *op, int64_t length)
{
    const mw__use *use = op->result_count == 1 ? uses[op->results[0]->id] : NULL;
    if (use == NULL || use->next != NULL || strcmp(use->op->kind, "add") != 0)
        return false;
    const bool is_x = strcmp(use->op->slots[use->slot].name, "x") == 0;
    const mw_tensor *gate = mw__tune_operand(use->op, is_x ? "y" : "x");
    const mw_shape shape = mw_tensor_shape(gate);
    return IS_MADE_BY(gate, "split", "slice_by_index", "slice_by_size") && shape.rank > 0 &&
           shape.dim[shape.rank - 1] == length && is_sum_of_products(mw__tune_origin(gate));
}

/* Over the last axes of what is normalised: no mask, of which some elements are 0 and others 1. */
static bool is_over_last_axes(const mw_tensor *root, const mw_tensor *own, const mw_tensor *other)
{
    const mw_shape a = mw_tensor_shape(own), b = mw_tensor_shape(other);
    bool fits = a.rank > 1 && a.rank <= b.rank;
    for (int i = 0; fits && i < a.rank; i++)
        fits = a.dim[i] == 1 || a.dim[i] == b.dim[b.rank - a.rank + i];
    return fits && !mw__guess_is_data(root->name) && (mw__guess_is_uniform(root) || mw__guess_is_learned(root));
}

mw_weight_role mw__tune_role_beside(const mw_tensor *root, const mw__use *const *uses, const mw__op *op,
                                    const char *argument)
{
    const bool adds = strcmp(op->kind, "add") == 0;
    if (!adds && strcmp(op->kind, "mul") != 0)
        return MW_WEIGHT_NONE;
    const bool is_x = strcmp(argument, "x") == 0;
    const mw_tensor *own = mw__tune_operand(op, argument), *other = mw__tune_argument_origin(op, is_x ? "y" : "x");
    const int64_t length = own != NULL ? mw__tune_vector_length(mw_tensor_shape(own)) : 0;
    if (own == NULL || other == NULL || mw__tune_is_repeated(root, own))
        return MW_WEIGHT_NONE;
    if (adds && is_table_beside(own, other) && mw__guess_is_learned(root))
        return MW_WEIGHT_TABLE;
    if (length > 0 && adds && count_outputs(other) == length)
        return MW_WEIGHT_BIAS;
    if ((length > 1 || is_over_last_axes(root, own, other)) && (adds ? is_scaled_normal(other) : is_normalised(other)))
        return MW_WEIGHT_NORM;
    return length > 1 && !adds && mw__guess_is_learned(root) && is_added_to_gate(uses, op, length) ? MW_WEIGHT_KERNEL
                                                                                                   : MW_WEIGHT_NONE;
}

/* Weights of layers that a file spells out as several operations: a bias that is added to a product, gamma and beta of
 * a norm, a table beside an embedding. */
#include "graph/transform/tune/trainable_beside.h"
#include "graph/ir/rule.h"

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
    return mw__tune_origin(mw__op_operand(op, argument));
}

bool mw__tune_is_argument_fixed(const mw__op *op, const char *argument)
{
    return mw__tune_is_fixed(mw__op_operand(op, argument));
}

bool mw__tune_is_single(const mw_tensor *value) { return mw_shape_count(mw_tensor_shape(value)) == 1; }

bool mw__tune_is_repeated(const mw_tensor *root, const mw_tensor *own)
{
    return mw__tune_is_single(root) && !mw__tune_is_single(own);
}

/* ---- which axis a vector lies along ---- */

enum { AXIS_UNKNOWN = -1 };

/* The axis that it was before the operation that moved it. */
static int axis_before(const mw__op *op, int axis)
{
    static const char *const kept[] = {"cast", "tile", "split", "reverse", "slice_by_index", "slice_by_size"};
    const mw_tensor *x = mw__op_operand(op, "x");
    int64_t perm[MW_RANK_MAX];
    size_t count = 0;
    if (x == NULL || axis < 0)
        return AXIS_UNKNOWN;
    if (strcmp(op->kind, "transpose") == 0 && mw__arg_ints(op, "perm", perm, MW_RANK_MAX, &count) &&
        (size_t)axis < count)
        return (int)(perm[axis] < 0 ? perm[axis] + (int64_t)count : perm[axis]);
    const bool keeps = mw__tune_is_one_of(op->kind, kept, sizeof kept / sizeof *kept) &&
                       mw_tensor_shape(x).rank == mw_tensor_shape(op->results[0]).rank;
    return keeps ? axis : AXIS_UNKNOWN;
}

/* As mw__tune_origin, and what became of the axis. */
static const mw_tensor *origin_along(const mw_tensor *value, int *axis)
{
    const mw_tensor *origin = mw__tune_origin(value);
    for (; value != origin; value = mw__op_operand(value->op, "x"))
        *axis = axis_before(value->op, *axis);
    return origin;
}

/* Of `other`, which the result has the shape of, but for axes that are repeated. */
static int axis_of_vector(const mw__op *op, const mw_tensor *own, const mw_tensor *other)
{
    const mw_shape a = mw_tensor_shape(own);
    const int rank = mw_tensor_shape(other).rank;
    if (op->result_count != 1 || rank != mw_tensor_shape(op->results[0]).rank)
        return AXIS_UNKNOWN;
    for (int i = 0; i < a.rank; i++)
        if (a.dim[i] != 1)
            return rank - a.rank + i;
    return AXIS_UNKNOWN;
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

/* Which axis the outputs of such a product or sum are. */
static int output_axis(const mw_tensor *value)
{
    const int rank = mw_tensor_shape(value).rank;
    if (IS_MADE_BY(value, "conv", "conv_transpose"))
        return 1;
    const bool left = IS_MADE_BY(value, "matmul") && !mw__tune_is_argument_fixed(value->op, "y");
    return left && rank > 1 ? rank - 2 : rank - 1;
}

/* How many outputs it has; 0 if the value is none. */
static int64_t count_outputs(const mw_tensor *value)
{
    const mw_shape shape = mw_tensor_shape(value);
    const int axis = output_axis(value);
    return is_sum_of_products(value) && axis >= 0 && axis < shape.rank ? shape.dim[axis] : 0;
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
        const mw_tensor *y = mw__op_operand(value->op, "y");
        value = mw__tune_is_fixed(y) ? mw__op_operand(value->op, "x") : y;
    }
    return false;
}

/* A table of positions beside an embedding: [.., T, D] where the embedding is [.., D]. */
static bool is_table_beside(const mw_tensor *own, const mw_tensor *other)
{
    const mw_shape a = mw_tensor_shape(own), b = mw_tensor_shape(other);
    return a.rank > 1 && b.rank > 1 && a.dim[a.rank - 1] == b.dim[b.rank - 1] && is_embedding(other);
}

/* pow(x, -1/2) is one over a root, pow(x, 1/2) a root; pow(x, 2) is neither. */
static bool is_root(const mw__op *op, bool inverse)
{
    const mw_tensor *y = mw__tune_argument_origin(op, "y");
    if (y == NULL || y->payload == NULL || y->payload->data == NULL || mw__payload_count(y->payload) == 0)
        return false;
    const double exponent = mw__payload_float(y->payload, 0);
    return inverse ? exponent < 0.0 : exponent > 0.0 && exponent < 1.0;
}

/* One over a root of a mean of squares, or such a root. */
static bool is_deviation(const mw_tensor *value, bool inverse)
{
    value = mw__tune_origin(value);
    if (IS_MADE_BY(value, "pow"))
        return is_root(value->op, inverse);
    return inverse ? IS_MADE_BY(value, "rsqrt", "inverse") : IS_MADE_BY(value, "sqrt", "reduce_l2_norm");
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
static bool is_normalized(const mw_tensor *value)
{
    value = without_numbers(value);
    if (IS_MADE_BY(value, "layer_norm", "instance_norm", "batch_norm", "l2_norm", "rsqrt"))
        return true;
    if (IS_MADE_BY(value, "mul"))
        return is_deviation(mw__op_operand(value->op, "x"), true) || is_deviation(mw__op_operand(value->op, "y"), true);
    return IS_MADE_BY(value, "real_div") && is_deviation(mw__op_operand(value->op, "y"), false);
}

static bool is_scaled_normal(const mw_tensor *value)
{
    value = mw__tune_origin(value);
    if (!IS_MADE_BY(value, "mul"))
        return false;
    const mw_tensor *x = mw__op_operand(value->op, "x"), *y = mw__op_operand(value->op, "y");
    return (mw__tune_is_fixed(x) && is_normalized(y)) || (mw__tune_is_fixed(y) && is_normalized(x));
}

/* The factor of a norm that is a number or gamma leads to the norm. */
static const mw_tensor *norm_factor(const mw__op *op)
{
    const mw_tensor *x = mw__op_operand(op, "x"), *y = mw__op_operand(op, "y");
    if (mw__tune_is_fixed(y))
        return x;
    return mw__tune_is_fixed(x) ? y : NULL;
}

/* Whether a norm has one gamma for each element of that axis. One that is spelled out does not say which axes it is
 * over: those of an instance norm follow the channels. */
static bool has_norm_axis(const mw_tensor *norm, int axis)
{
    int64_t axes[MW_RANK_MAX];
    size_t count = 0;
    const int rank = mw_tensor_shape(norm).rank;
    if (axis == AXIS_UNKNOWN)
        return true;
    if (IS_MADE_BY(norm, "batch_norm", "instance_norm"))
        return axis == 1;
    if (!IS_MADE_BY(norm, "layer_norm"))
        return axis == 1 || axis == rank - 1;
    bool over = !mw__arg_ints(norm->op, "axes", axes, MW_RANK_MAX, &count);
    for (size_t i = 0; i < count; i++)
        over = over || axes[i] == axis || axes[i] + rank == axis;
    return over;
}

/* `value` is normalized, perhaps also scaled. */
static bool lies_along_norm(const mw_tensor *value, int axis)
{
    value = origin_along(value, &axis);
    for (int depth = 0; IS_MADE_BY(value, "mul", "add") && depth < MW__TUNE_DEPTH; depth++) {
        const mw_tensor *inner = norm_factor(value->op);
        if (inner == NULL)
            break;
        if (mw_tensor_shape(inner).rank != mw_tensor_shape(value).rank)
            axis = AXIS_UNKNOWN;
        value = origin_along(inner, &axis);
    }
    return has_norm_axis(value, axis);
}

/* A peephole: what a vector makes of the cell is added to a gate, a part of the sum of products. */
static bool is_added_to_gate(const mw__use *const *uses, const mw__op *op, int64_t length)
{
    const mw__use *use = op->result_count == 1 ? uses[op->results[0]->id] : NULL;
    if (use == NULL || use->next != NULL || strcmp(use->op->kind, "add") != 0)
        return false;
    const bool is_x = strcmp(use->op->slots[use->slot].name, "x") == 0;
    const mw_tensor *gate = mw__op_operand(use->op, is_x ? "y" : "x");
    const mw_shape shape = mw_tensor_shape(gate);
    return IS_MADE_BY(gate, "split", "slice_by_index", "slice_by_size") && shape.rank > 0 &&
           shape.dim[shape.rank - 1] == length && is_sum_of_products(mw__tune_origin(gate));
}

/* Over the last axes of what is normalized: no mask, of which some elements are 0 and others 1. */
static bool is_over_last_axes(const mw_tensor *root, const mw_tensor *own, const mw_tensor *other)
{
    const mw_shape a = mw_tensor_shape(own), b = mw_tensor_shape(other);
    bool fits = a.rank > 1 && a.rank <= b.rank && mw__tune_vector_length(a) == 0;
    for (int i = 0; fits && i < a.rank; i++)
        fits = a.dim[i] == 1 || a.dim[i] == b.dim[b.rank - a.rank + i];
    return fits && (mw__guess_is_uniform(root) || mw__guess_is_learned(root));
}

/* A constant that is added to something or multiplied with it. */
typedef struct beside {
    const mw_tensor *root, *own;      /* the constant, and the form of it that is the operand */
    const mw_tensor *direct, *origin; /* the other operand, and what it was before it was moved */
    bool adds;
    int64_t length; /* of a vector, else 0 */
    int axis;       /* of `direct`, along which the vector lies */
} beside;

static bool is_bias(const beside *b)
{
    int axis = b->axis;
    if (!b->adds || b->length == 0 || count_outputs(b->origin) != b->length || mw__guess_is_buffer(b->root))
        return false;
    origin_along(b->direct, &axis);
    return axis == AXIS_UNKNOWN || axis == output_axis(b->origin);
}

static bool is_of_norm(const beside *b)
{
    if (!(b->adds ? is_scaled_normal(b->origin) : is_normalized(b->origin)))
        return false;
    if (mw__guess_is_buffer(b->root) || mw__guess_is_switch(b->root))
        return false;
    return b->length > 1 ? lies_along_norm(b->direct, b->axis) : is_over_last_axes(b->root, b->own, b->origin);
}

mw_weight_role mw__tune_role_beside(const mw_tensor *root, const mw__use *const *uses, const mw__op *op,
                                    const char *argument)
{
    beside b = {.root = root, .adds = strcmp(op->kind, "add") == 0};
    if (!b.adds && strcmp(op->kind, "mul") != 0)
        return MW_WEIGHT_NONE;
    b.own = mw__op_operand(op, argument);
    b.direct = mw__op_operand(op, strcmp(argument, "x") == 0 ? "y" : "x");
    b.origin = mw__tune_origin(b.direct);
    if (b.own == NULL || b.origin == NULL || mw__tune_is_repeated(root, b.own))
        return MW_WEIGHT_NONE;
    b.length = mw__tune_vector_length(mw_tensor_shape(b.own));
    b.axis = b.length > 1 ? axis_of_vector(op, b.own, b.direct) : AXIS_UNKNOWN;
    if (b.adds && is_table_beside(b.own, b.origin) && mw__guess_is_learned(root))
        return MW_WEIGHT_TABLE;
    if (is_bias(&b))
        return MW_WEIGHT_BIAS;
    if (is_of_norm(&b))
        return MW_WEIGHT_NORM;
    const bool peephole = b.length > 1 && !b.adds && mw__guess_is_learned(root) && is_added_to_gate(uses, op, b.length);
    return peephole ? MW_WEIGHT_KERNEL : MW_WEIGHT_NONE;
}

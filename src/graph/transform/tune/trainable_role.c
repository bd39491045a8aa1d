/* What a constant is to the program: the weight of a layer, or a number that only looks like one. Read from the
 * operations that use it, also behind casts and moves. */
#include "graph/ir/rule.h"
#include "graph/ir/uses.h"
#include "graph/transform/tune/trainable_beside.h"

#include <string.h>

/* How many operations that join parts a constant is followed through, each once: what is cut into parts that are joined
 * again is met once for each part. */
enum { JOINS_MAX = 64 };

/* ---- the table ---- */

typedef struct role_row {
    const char *operation, *argument;
    mw_weight_role role;
} role_row;

static const role_row roles[] = {
    {"conv", "weight", MW_WEIGHT_KERNEL},
    {"conv", "bias", MW_WEIGHT_BIAS},
    {"conv_transpose", "weight", MW_WEIGHT_KERNEL},
    {"conv_transpose", "bias", MW_WEIGHT_BIAS},
    {"linear", "weight", MW_WEIGHT_KERNEL},
    {"linear", "bias", MW_WEIGHT_BIAS},
    {"matmul", "x", MW_WEIGHT_KERNEL},
    {"matmul", "y", MW_WEIGHT_KERNEL},
    {"einsum", "values", MW_WEIGHT_KERNEL},
    {"batch_norm", "gamma", MW_WEIGHT_NORM},
    {"batch_norm", "beta", MW_WEIGHT_NORM},
    {"batch_norm", "mean", MW_WEIGHT_STATISTIC},
    {"batch_norm", "variance", MW_WEIGHT_STATISTIC},
    {"instance_norm", "gamma", MW_WEIGHT_NORM},
    {"instance_norm", "beta", MW_WEIGHT_NORM},
    {"layer_norm", "gamma", MW_WEIGHT_NORM},
    {"layer_norm", "beta", MW_WEIGHT_NORM},
    {"gather", "x", MW_WEIGHT_TABLE},
    {"gather_along_axis", "x", MW_WEIGHT_TABLE},
    {"gather_nd", "x", MW_WEIGHT_TABLE},
    {"prelu", "alpha", MW_WEIGHT_SLOPE},
    {"softplus_parametric", "alpha", MW_WEIGHT_SLOPE},
    {"softplus_parametric", "beta", MW_WEIGHT_SLOPE},
    {"lstm", NULL, MW_WEIGHT_KERNEL}, /* weights, biases and peepholes */
    {"gru", NULL, MW_WEIGHT_KERNEL},
    {"rnn", NULL, MW_WEIGHT_KERNEL},
};

static bool is_recurrent_weight(const char *argument)
{
    return strncmp(argument, "weight", 6) == 0 || strncmp(argument, "bias", 4) == 0 ||
           strncmp(argument, "peephole", 8) == 0 || strcmp(argument, "input_bias") == 0;
}

mw_weight_role mw__tune_role_in_table(const mw__op *op, const char *argument)
{
    for (size_t i = 0; i < sizeof roles / sizeof *roles; i++) {
        if (strcmp(op->kind, roles[i].operation) != 0)
            continue;
        if (roles[i].argument == NULL ? is_recurrent_weight(argument) : strcmp(argument, roles[i].argument) == 0)
            return roles[i].role;
    }
    return MW_WEIGHT_NONE;
}

typedef struct search {
    const mw__use *const *uses;
    const mw_tensor *root; /* whose role is wanted */
    mw__tune_role found;
    int depth;
    const mw__op *joins[JOINS_MAX]; /* that were passed */
    int join_count;
} search;

/* ---- what is beside it ---- */

/* A product of two constants: the state before the first step is none of the weights. */
static bool is_first_state(const search *s, const mw__op *op)
{
    return strcmp(op->kind, "matmul") == 0 && mw__tune_is_argument_fixed(op, "x") &&
           mw__tune_is_argument_fixed(op, "y") && mw__guess_is_uniform(s->root);
}

static mw_weight_role role_in_table(const search *s, const mw__op *op, const char *argument)
{
    const mw_weight_role role = mw__tune_role_in_table(op, argument);
    const mw_tensor *own = mw__op_operand(op, argument);
    if (role == MW_WEIGHT_KERNEL && ((own != NULL && mw__tune_is_repeated(s->root, own)) || is_first_state(s, op)))
        return MW_WEIGHT_NONE;
    if (role == MW_WEIGHT_TABLE && mw__guess_is_buffer(s->root)) /* sines of positions and masks are gathered too */
        return MW_WEIGHT_NONE;
    return role;
}

/* ---- what only a framework calls a parameter ---- */

static bool is_of_layer(const mw_tensor *value) { return value != NULL && mw__guess_is_of_layer(value); }

/* Along the channels of what the other operand is. */
static bool is_along_channels(const search *s, const mw_tensor *own, const mw_tensor *other)
{
    const mw_shape a = mw_tensor_shape(own);
    const int channels = mw__guess_channel_axis(other), rank = mw_tensor_shape(other).rank;
    return channels >= 0 && !mw__tune_is_repeated(s->root, own) && mw__tune_vector_length(a) > 1 &&
           rank - channels <= a.rank && a.dim[a.rank - (rank - channels)] == mw__tune_vector_length(a);
}

/* More than one axis, of which each has elements. */
static bool is_table(const mw_tensor *own)
{
    const mw_shape shape = mw_tensor_shape(own);
    return mw__tune_vector_length(shape) == 0 && shape.rank > 1;
}

/* min(x, 0) times it, or x times it where x is below 0. */
static bool is_slope(const search *s, const mw__op *op, const mw_tensor *other)
{
    if (strcmp(op->kind, "mul") != 0)
        return false;
    if (IS_MADE_BY(other, "minimum"))
        return true;
    const mw__use *use = op->result_count == 1 ? s->uses[op->results[0]->id] : NULL;
    if (use == NULL || use->next != NULL || strcmp(use->op->kind, "select") != 0)
        return false;
    const mw_tensor *cond = mw__op_operand(use->op, "cond");
    return IS_MADE_BY(cond, "less", "greater", "less_equal", "greater_equal") &&
           (mw__tune_argument_origin(cond->op, "x") == other || mw__tune_argument_origin(cond->op, "y") == other);
}

/* One number in every place, under a name that nobody gave. */
static bool is_padding(const mw_tensor *root, bool given)
{
    return !given && root->payload != NULL && root->payload->splat;
}

/* The one operation that uses the result, if there is one. */
static const mw__op *only_use(const search *s, const mw__op *op)
{
    const mw__use *use = op->result_count == 1 ? s->uses[op->results[0]->id] : NULL;
    return use != NULL && use->next == NULL ? use->op : NULL;
}

static bool is_scaling(const mw__op *op)
{
    return op != NULL && strcmp(op->kind, "mul") == 0 &&
           (mw__tune_is_argument_fixed(op, "x") || mw__tune_is_argument_fixed(op, "y"));
}

/* alpha or beta of alpha * softplus(beta * x). */
static bool is_of_softplus(const search *s, const mw__op *op, const mw_tensor *other)
{
    if (strcmp(op->kind, "mul") != 0)
        return false;
    if (IS_MADE_BY(other, "softplus")) {
        const mw_tensor *inner = mw__tune_argument_origin(other->op, "x");
        return inner != NULL && is_scaling(inner->op);
    }
    const mw__op *outer = only_use(s, op);
    return outer != NULL && strcmp(outer->kind, "softplus") == 0 && is_scaling(only_use(s, outer));
}

/* A product that is spelled out: what a table multiplies is added up over an axis. */
static bool is_of_product(const search *s, const mw__op *op)
{
    const mw__op *sum = strcmp(op->kind, "mul") == 0 ? only_use(s, op) : NULL;
    return sum != NULL && strcmp(sum->kind, "reduce_sum") == 0 && is_table(s->root);
}

/* A token that is joined to a sequence of what layers make. */
static bool is_token(const mw__op *op, const mw_tensor *root, bool given)
{
    bool beside = false;
    for (size_t s = 0; s < op->slot_count; s++)
        for (size_t i = 0; strcmp(op->slots[s].name, "values") == 0 && i < op->slots[s].count; i++)
            beside = beside || is_of_layer(op->slots[s].operands[i].value);
    return beside && (given || mw__guess_is_learned(root)) && !is_padding(root, given);
}

static mw_weight_role guess_scaled(const search *s, const mw__op *op, const mw_tensor *own, const mw_tensor *other,
                                   bool given)
{
    const bool divides = strcmp(op->kind, "real_div") == 0, learned = mw__guess_is_learned(s->root);
    if (!divides && learned && (is_slope(s, op, other) || is_of_softplus(s, op, other)))
        return MW_WEIGHT_SLOPE;
    if (!divides && learned && is_of_product(s, op))
        return MW_WEIGHT_KERNEL;
    const bool along = !divides && is_along_channels(s, own, other) && learned;
    const bool scales = is_of_layer(other) && (given || along) && !mw__guess_is_switch(s->root);
    return scales ? MW_WEIGHT_SCALE : MW_WEIGHT_NONE;
}

static mw_weight_role guess_added(const search *s, const mw_tensor *own, const mw_tensor *other, bool given)
{
    if (!is_of_layer(other) || !mw__guess_is_learned(s->root))
        return MW_WEIGHT_NONE;
    if (is_table(own))
        return MW_WEIGHT_TABLE;
    return given || is_along_channels(s, own, other) ? MW_WEIGHT_BIAS : MW_WEIGHT_NONE;
}

static bool is_given(const mw_tensor *root)
{
    return mw__guess_is_given(root->name) && (!mw__tune_is_single(root) || mw__guess_is_single(root));
}

/* `root` is the constant, of which `use` takes a form. */
static mw_weight_role guess_role(const search *s, const mw__use *use)
{
    const mw__op *op = use->op;
    const char *argument = op->slots[use->slot].name;
    const bool given = is_given(s->root);
    if (mw__guess_is_data(s->root->name))
        return MW_WEIGHT_NONE;
    if (IS_ONE_OF(op->kind, "concat", "stack"))
        return is_token(op, s->root, given) ? MW_WEIGHT_TABLE : MW_WEIGHT_NONE;
    if (strcmp(op->kind, "scaled_dot_product_attention") == 0 && strcmp(argument, "attn_mask") == 0)
        return is_table(s->root) && mw__guess_is_learned(s->root) ? MW_WEIGHT_TABLE : MW_WEIGHT_NONE;
    if (strcmp(op->kind, "pow") == 0 && strcmp(argument, "y") == 0)
        return given && is_of_layer(mw__op_operand(op, "x")) ? MW_WEIGHT_SLOPE : MW_WEIGHT_NONE;
    const bool is_x = strcmp(argument, "x") == 0;
    if (!IS_ONE_OF(op->kind, "mul", "real_div", "add") || (is_x && strcmp(op->kind, "real_div") == 0))
        return MW_WEIGHT_NONE;
    const mw_tensor *own = mw__op_operand(op, argument), *other = mw__tune_argument_origin(op, is_x ? "y" : "x");
    if (own == NULL || other == NULL)
        return MW_WEIGHT_NONE;
    return strcmp(op->kind, "add") == 0 ? guess_added(s, own, other, given) : guess_scaled(s, op, own, other, given);
}

/* ---- one use ---- */

static const char *reason_of(const mw__op *op, const char *argument)
{
    if (mw__tune_role_in_table(op, argument) == MW_WEIGHT_TABLE)
        return "its name or its numbers are those of a mask, a grid or a table of sines, not of learned rows";
    if (IS_ONE_OF(op->kind, "mul", "real_div"))
        return "it scales values, and is no vector of a norm and no layer scale";
    if (IS_ONE_OF(op->kind, "add", "sub"))
        return "it is added, and not as the bias of a product with a weight: a mask, an offset or a grid";
    if (IS_ONE_OF(op->kind, "select", "where", "maximum", "minimum", "scaled_dot_product_attention"))
        return "it masks or limits values";
    return "no layer has a weight there";
}

static void visit_uses(search *s, const mw_tensor *value);

/* A number that is learned as its logarithm, as that of CLIP. */
static bool is_function(const search *s, const mw__op *op)
{
    return IS_ONE_OF(op->kind, "exp", "sigmoid", "softplus", "tanh") && mw__guess_is_given(s->root->name);
}

/* True if what becomes of the results decides. Zeros that are joined to a weight are no part of it. */
static bool goes_on(const search *s, const mw__op *op, const char *argument)
{
    if (s->depth == MW__TUNE_DEPTH)
        return false;
    if (is_function(s, op))
        return strcmp(argument, "x") == 0;
    if (IS_ONE_OF(op->kind, "concat", "stack") && is_padding(s->root, is_given(s->root)))
        return false;
    return mw__tune_passes(op, argument);
}

static bool was_passed(const search *s, const mw__op *op)
{
    for (int i = 0; i < s->join_count; i++)
        if (s->joins[i] == op)
            return true;
    return false;
}

static void pass(search *s, const mw__op *op)
{
    if (IS_ONE_OF(op->kind, "concat", "stack", "add")) {
        if (s->join_count == JOINS_MAX)
            return;
        s->joins[s->join_count++] = op;
    }
    s->depth++;
    for (size_t i = 0; i < op->result_count; i++)
        visit_uses(s, op->results[i]);
    s->depth--;
}

static void visit(search *s, const mw__use *use)
{
    const mw__op *op = use->op;
    const char *argument = op->slots[use->slot].name;
    if (s->found.reason != NULL || was_passed(s, op)) /* the first use that is no weight's decides */
        return;
    if (goes_on(s, op, argument)) {
        pass(s, op);
        return;
    }
    mw_weight_role role = role_in_table(s, op, argument);
    if (role == MW_WEIGHT_NONE)
        role = mw__tune_role_beside(s->root, s->uses, op, argument);
    if (role == MW_WEIGHT_NONE)
        role = guess_role(s, use);
    if (s->found.use != NULL && role != MW_WEIGHT_NONE && role != MW_WEIGHT_STATISTIC)
        return;
    s->found = (mw__tune_role){.role = role, .use = use};
    if (role == MW_WEIGHT_NONE)
        s->found.reason = reason_of(op, argument);
    else if (role == MW_WEIGHT_STATISTIC)
        s->found.reason = "it is a running statistic, which follows the data and no gradient";
}

static void visit_uses(search *s, const mw_tensor *value)
{
    for (const mw__use *use = s->uses[value->id]; use != NULL; use = use->next)
        visit(s, use);
}

mw__tune_role mw__tune_find_role(const mw_tensor *value, const mw__use *const *uses)
{
    search s = {.uses = uses, .root = value};
    if (value->role == MW__PARAMETER)
        return (mw__tune_role){.role = MW_WEIGHT_PARAMETER, .use = uses[value->id]};
    visit_uses(&s, value);
    if (s.found.use == NULL)
        s.found.reason = "nothing uses it";
    return s.found;
}

/* Joins operations to the layers beside them: biases, factors of norms, casts, reshapes, what is done with indices. */
#include "view/layers.h"

#include <string.h>

/* How many operations may stand between the two. */
enum { CHAIN_MAX = 4 };

static bool is_single(const mw__view *view, uint32_t op)
{
    const uint32_t root = mw__view_root(view, op);
    return view->ops[root].size == 1 && view->ops[root].label == NULL && view->ops[op].op->forward == NULL;
}

static bool is_pair(const mw__view *view, uint32_t op)
{
    return MW__VIEW_IS_ONE_OF(view, op, "add", "sub", "mul", "real_div");
}

static bool is_order(const mw__view *view, uint32_t op)
{
    return mw__view_has(view, op, MW__TRAIT_REARRANGES) && !mw__view_is(view, op, "identity");
}

/* The operation before `op` if that has one operand and is the only user of it. */
static uint32_t step_back(const mw__view *view, uint32_t op)
{
    const mw_tensor *x = mw__view_only_operand(view, op);
    const uint32_t maker = x != NULL ? mw__view_maker(view, x) : MW__VIEW_NONE;
    return maker != MW__VIEW_NONE && mw__view_has_one_user(view, maker, NULL) ? maker : MW__VIEW_NONE;
}

/* Casts and identities belong to what makes their operand, at the begin of a program to what uses them. */
static void join_cast(mw__view *view, uint32_t op)
{
    const mw_tensor *x = mw__view_only_operand(view, op);
    uint32_t other = x != NULL ? mw__view_maker(view, x) : MW__VIEW_NONE;
    if (other == MW__VIEW_NONE && (!mw__view_has_one_user(view, op, &other) || view->ops[other].fixed))
        return;
    mw__view_join(view, op, other);
}

/* A vector that is added to a product is its bias. */
static void join_bias(mw__view *view, uint32_t op)
{
    const uint32_t before = step_back(view, op);
    uint32_t from = before;
    for (int i = 0; i < CHAIN_MAX && from != MW__VIEW_NONE && (is_order(view, from) || mw__view_is(view, from, "cast"));
         i++)
        from = step_back(view, from);
    if (from == MW__VIEW_NONE || !view->ops[from].weighted || !mw__view_is_heavy(view, from) ||
        mw__view_is(view, from, "gather"))
        return;
    const char *own = view->ops[op].prefix, *other = view->ops[from].prefix;
    if (own != NULL && other != NULL && own != other)
        return;
    for (uint32_t i = op; i != from; i = step_back(view, i))
        mw__view_join(view, i, from);
}

static bool is_norm(const mw__view *view, uint32_t op)
{
    const char *label = view->ops[mw__view_root(view, op)].label;
    return MW__VIEW_IS_ONE_OF(view, op, "layer_norm", "instance_norm", "batch_norm", "l2_norm") ||
           (label != NULL && strstr(label, "_norm") != NULL);
}

/* What may stand between a norm and its factors. */
static bool is_passed(const mw__view *view, uint32_t op)
{
    const bool scaled = is_pair(view, op) && !view->ops[op].weighted && mw__view_only_operand(view, op) != NULL;
    return scaled || is_order(view, op) || mw__view_is(view, op, "cast");
}

/* A vector that a norm is multiplied with, or that is added behind it, belongs to the norm; with it the reshapes by
 * which a group norm is made of a layer norm. */
static void join_affine(mw__view *view, uint32_t op)
{
    uint32_t from = step_back(view, op);
    bool reshaped = false;
    for (int i = 0; i < CHAIN_MAX && from != MW__VIEW_NONE && !is_norm(view, from) && is_passed(view, from); i++) {
        reshaped = reshaped || mw__view_is(view, from, "reshape");
        from = step_back(view, from);
    }
    if (from == MW__VIEW_NONE || !is_norm(view, from))
        return;
    const char *own = view->ops[op].prefix, *other = view->ops[from].prefix;
    if (own != NULL && other != NULL && own != other)
        return;
    for (uint32_t i = op; i != from; i = step_back(view, i))
        mw__view_join(view, i, from);
    const uint32_t before = step_back(view, from);
    if (!reshaped || before == MW__VIEW_NONE || !mw__view_is(view, before, "reshape"))
        return;
    mw__view_join(view, before, from);
    mw__view_label(view, from, "group_norm");
}

/* A number that a product of a curve is scaled by. */
static void join_scale(mw__view *view, uint32_t op)
{
    const uint32_t before = step_back(view, op);
    const char *label = before != MW__VIEW_NONE ? view->ops[mw__view_root(view, before)].label : NULL;
    if (label != NULL && (strcmp(label, "gelu") == 0 || strcmp(label, "attention") == 0))
        mw__view_join(view, op, before);
    else if (before != MW__VIEW_NONE && !view->ops[before].weighted && is_pair(view, before) &&
             mw__view_only_operand(view, before) != NULL &&
             (label == NULL ? is_single(view, before) : strcmp(label, "affine") == 0)) {
        mw__view_join(view, op, before);
        mw__view_label(view, op, "affine");
    }
}

static void join_pair(mw__view *view, uint32_t op)
{
    if (mw__view_only_operand(view, op) == NULL)
        return;
    const uint32_t root = mw__view_root(view, op);
    if (view->ops[op].weighted && (mw__view_is(view, op, "add") || mw__view_is(view, op, "sub")))
        join_bias(view, op);
    if (view->ops[op].weighted && mw__view_root(view, op) == root)
        join_affine(view, op);
    if (!view->ops[op].weighted && is_single(view, op))
        join_scale(view, op);
}

static bool is_attention(const mw__view *view, uint32_t op)
{
    const char *label = view->ops[mw__view_root(view, op)].label;
    return mw__view_is(view, op, "scaled_dot_product_attention") || (label != NULL && strcmp(label, "attention") == 0);
}

/* Reshapes and transposes one behind the other are one layer; those behind an attention are part of it. */
static void join_order(mw__view *view, uint32_t op)
{
    static const char run[] = "rearrange";
    const uint32_t before = step_back(view, op);
    if (before == MW__VIEW_NONE)
        return;
    if (is_attention(view, before)) {
        mw__view_join(view, op, before);
    } else if (is_order(view, before) &&
               (is_single(view, before) || view->ops[mw__view_root(view, before)].label == run)) {
        mw__view_join(view, op, before);
        mw__view_label(view, op, run);
    }
}

static bool is_index(const mw__view *view, uint32_t op)
{
    const mw__op *o = view->ops[op].op;
    const mw_dtype dtype = o->result_count == 1 ? mw_tensor_dtype(o->results[0]) : MW_DTYPE_NONE;
    return dtype != MW_DTYPE_NONE && dtype != MW_F32 && dtype != MW_F16 && mw__view_is_light(view, op);
}

/* What is done with indices on their way to a layer that takes them is part of it: labels of a loss, rows of a table.
 */
static void join_indices(mw__view *view)
{
    for (uint32_t i = view->op_count; i-- > 0;) {
        const uint32_t root =
            !view->ops[i].fixed && is_single(view, i) && is_index(view, i) ? mw__view_users(view, i) : MW__VIEW_NONE;
        if (root != MW__VIEW_NONE && (view->ops[root].label != NULL || view->ops[root].weighted) && root != i)
            mw__view_join(view, root, i);
    }
}

/* What brings values into the form that an attention takes is part of it: from its operands backwards. */
static void join_before_attention(mw__view *view)
{
    for (uint32_t i = view->op_count; i-- > 0;) {
        uint32_t user;
        if (view->ops[i].fixed || view->ops[i].weighted || !is_single(view, i) ||
            !(is_order(view, i) || mw__view_is(view, i, "cast") ||
              (is_pair(view, i) && mw__view_only_operand(view, i) != NULL)))
            continue;
        if (!mw__view_has_one_user(view, i, &user) || !is_attention(view, user))
            continue;
        mw__view_join(view, user, i);
        mw__view_label(view, user, "attention");
    }
}

static bool is_bound(const mw__view *view, uint32_t op)
{
    return MW__VIEW_IS_ONE_OF(view, op, "maximum", "minimum", "clip", "threshold") &&
           mw__view_only_operand(view, op) != NULL && !view->ops[op].weighted;
}

/* relu and the bounds behind it: how relu6 is written where there is none. */
static void join_bound(mw__view *view, uint32_t op)
{
    const uint32_t before = step_back(view, op);
    const char *label = before != MW__VIEW_NONE ? view->ops[mw__view_root(view, before)].label : NULL;
    if (before == MW__VIEW_NONE)
        return;
    const bool relu = mw__view_is(view, before, "relu");
    if (!(relu || is_bound(view, before)) || !(label != NULL ? strstr(label, "clip") != NULL : is_single(view, before)))
        return;
    mw__view_join(view, op, before);
    if (label == NULL)
        mw__view_label(view, op, relu ? "relu_clip" : "clip");
}

void mw__view_join_neighbors(mw__view *view)
{
    join_before_attention(view);
    join_indices(view);
    for (uint32_t i = 0; i < view->op_count; i++) {
        if (view->ops[i].fixed || view->ops[i].op->forward != NULL)
            continue;
        if (is_pair(view, i))
            join_pair(view, i);
        else if (MW__VIEW_IS_ONE_OF(view, i, "cast", "identity") && is_single(view, i))
            join_cast(view, i);
        else if (is_order(view, i) && is_single(view, i))
            join_order(view, i);
        else if (is_bound(view, i) && is_single(view, i))
            join_bound(view, i);
    }
}

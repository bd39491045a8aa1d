/* Looking back from an operation to what it is made of. */
#include "mil/join/join_parts.h"

#include "base/number/types.h"
#include "graph/ir/op_build.h"

#include <string.h>

enum { UNIFORM_MOST = 4096 }; /* elements that are compared */

const mw__op *mw__join_maker(const mw_tensor *value)
{
    const mw__op *op = value != NULL && value->payload == NULL ? value->op : NULL;
    return op != NULL && op->row != NULL && op->block_count == 0 && op->result_count == 1 ? op : NULL;
}

const mw__op *mw__join_made_by(const mw_tensor *value, const char *kind)
{
    const mw__op *op = mw__join_maker(value);
    return op != NULL && mw__op_is(op, kind) ? op : NULL;
}

bool mw__join_number(const mw_tensor *value, double *out)
{
    const mw__payload *payload = value != NULL ? value->payload : NULL;
    if (payload == NULL || payload->data == NULL || value->type->kind != MW__TENSOR ||
        !mw__number_dtype_is_float(mw_tensor_dtype(value)))
        return false;
    const size_t count = payload->splat ? 1 : mw__payload_count(payload);
    if (count == 0 || count > UNIFORM_MOST)
        return false;
    *out = mw__payload_float(payload, 0);
    for (size_t i = 1; i < count; i++)
        if (mw__payload_float(payload, i) != *out)
            return false;
    return true;
}

bool mw__join_is_weight(const mw_tensor *value)
{
    return value != NULL && value->payload != NULL && value->payload->data != NULL && value->type->kind == MW__TENSOR &&
           mw_tensor_dtype(value) == MW_F32;
}

bool mw__join_same_shape(const mw_tensor *a, const mw_tensor *b)
{
    return a->type->kind == MW__TENSOR && b->type->kind == MW__TENSOR &&
           mw_shape_equal(mw_tensor_shape(a), mw_tensor_shape(b));
}

void mw__join_axes(const mw__op *op, int rank, bool out[MW_RANK_MAX])
{
    int64_t axes[MW_RANK_MAX];
    size_t count = 0;
    const bool given = mw__arg_ints(op, "axes", axes, MW_RANK_MAX, &count);
    for (int i = 0; i < MW_RANK_MAX; i++)
        out[i] = !given && i < rank;
    for (size_t i = 0; i < count; i++)
        out[axes[i] < 0 ? axes[i] + rank : axes[i]] = true;
}

const mw_tensor *mw__join_other(const mw__op *op, const mw_tensor *one)
{
    const mw_tensor *x = mw__op_operand(op, "x"), *y = mw__op_operand(op, "y");
    return x == y ? NULL : x == one ? y : y == one ? x : NULL;
}

/* ---- groups ---- */

typedef struct collecting {
    mw__join_group *group;
    const mw_tensor *const *leaves;
    size_t leaf_count;
} collecting;

static bool is_leaf(const collecting *c, const mw_tensor *value)
{
    if (value->payload != NULL)
        return true;
    for (size_t i = 0; i < c->leaf_count; i++)
        if (c->leaves[i] == value)
            return true;
    return false;
}

static bool group_has(const mw__join_group *group, const mw__op *op)
{
    for (size_t i = 0; i < group->count; i++)
        if (group->ops[i] == op)
            return true;
    return false;
}

static bool collect_op(collecting *c, const mw__op *op, int depth);

static bool collect_operand(collecting *c, const mw__operand *operand, int depth)
{
    if (operand->value == NULL)
        return operand->member_count == 0;
    if (is_leaf(c, operand->value))
        return true;
    const mw__op *op = mw__join_maker(operand->value);
    return op != NULL && (group_has(c->group, op) || collect_op(c, op, depth + 1));
}

static bool collect_op(collecting *c, const mw__op *op, int depth)
{
    if (depth > MW__JOIN_MOST)
        return false;
    for (size_t slot = 0; slot < op->slot_count; slot++)
        for (size_t i = 0; i < op->slots[slot].count; i++)
            if (!collect_operand(c, &op->slots[slot].operands[i], depth))
                return false;
    if (c->group->count == MW__JOIN_MOST)
        return false;
    c->group->ops[c->group->count++] = op;
    return true;
}

static uint32_t reads_inside(const mw__join_group *group, const mw_tensor *value)
{
    uint32_t count = 0;
    for (size_t i = 0; i < group->count; i++)
        for (size_t slot = 0; slot < group->ops[i]->slot_count; slot++)
            for (size_t k = 0; k < group->ops[i]->slots[slot].count; k++)
                count += group->ops[i]->slots[slot].operands[k].value == value;
    return count;
}

/* Nobody asks for what is inside, and the gradient of all is that of its operations. */
static bool is_closed(const mw__joining *joining, const mw__op *root)
{
    const mw__join_group *group = &joining->group;
    for (size_t i = 0; i < group->count; i++) {
        const mw_tensor *value = group->ops[i]->results[0];
        if (value->composite != NULL || group->ops[i]->block != root->block)
            return false;
        if (group->ops[i] != root &&
            (value->stop_gradient || value->is_output || joining->reads[value->id] != reads_inside(group, value)))
            return false;
    }
    return true;
}

bool mw__join_collect(mw__joining *joining, const mw__op *root, const mw_tensor *const *leaves, size_t leaf_count)
{
    collecting c = {.group = &joining->group, .leaves = leaves, .leaf_count = leaf_count};
    joining->group.count = 0;
    return collect_op(&c, root, 0) && is_closed(joining, root);
}

/* ---- copies ---- */

static void copy_argument(mw__clone *clone, mw__build *build, const mw__op *op, const mw__slot *slot)
{
    const mw_tensor *value = slot->count == 1 ? slot->operands[0].value : NULL;
    if (value == NULL)
        return;
    if (mw_tensor_dtype(value) == MW_STRING)
        mw__build_string(build, slot->name, mw__arg_string(op, slot->name));
    else
        mw__build_set(build, slot->name, mw__clone_operand(clone, value, mw_tensor_dtype(value)));
}

mw_tensor *mw__join_copy(mw__clone *clone, const mw__op *op, const mw__join_argument *arguments, size_t count)
{
    mw__build build = mw__build_begin_graph(op->kind, clone->to);
    for (size_t i = 0; i < op->slot_count; i++) {
        size_t k = 0;
        while (k < count && strcmp(arguments[k].name, op->slots[i].name) != 0)
            k++;
        if (k < count && arguments[k].text != NULL)
            mw__build_string(&build, op->slots[i].name, arguments[k].text);
        else if (k < count)
            mw__build_set(&build, op->slots[i].name, arguments[k].value);
        else
            copy_argument(clone, &build, op, &op->slots[i]);
    }
    return mw__build_end(&build);
}

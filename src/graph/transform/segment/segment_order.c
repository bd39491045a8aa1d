/* Operations as nodes, and the order in which they are cut into pieces. */
#include "graph/ir/ir.h"
#include "graph/transform/segment/segment_parts.h"

#include <stdlib.h>
#include <string.h>

enum { DEPTH_MAX = 32 }; /* of what is copied: it is visited by recursion */

/* ---- nodes ---- */

static size_t count_operands(const mw__operand *operands, size_t count)
{
    size_t found = 0;
    for (size_t i = 0; operands != NULL && i < count; i++)
        found += operands[i].value != NULL ? 1 : count_operands(operands[i].members, operands[i].member_count);
    return found;
}

static void list_operands(mw__node *node, const mw__operand *operands, size_t count)
{
    for (size_t i = 0; operands != NULL && i < count; i++) {
        mw_tensor *value = operands[i].value;
        if (value == NULL)
            list_operands(node, operands[i].members, operands[i].member_count);
        else if (value->op != NULL || value->payload == NULL)
            node->operands[node->operand_count++] = value;
    }
}

static mw_status refuse_op(const mw__op *op, const char *why, mw_error *err)
{
    char subject[160];
    return mw__fail(err, MW_ERROR_UNSUPPORTED,
                    "segments: %s %s: such a step is one program; leave `memory.segments` at 0",
                    mw__op_subject(op, subject, sizeof subject), why);
}

static mw_status make_node(mw__sequence *s, uint32_t index, mw_error *err)
{
    mw__node *node = &s->nodes[index];
    const mw__op *op = s->function->body->ops[index];
    size_t count = 0;
    if (op->block_count > 0)
        return refuse_op(op, "holds blocks", err);
    if (op->result_count == 0)
        return refuse_op(op, "has no result", err);
    for (size_t i = 0; i < op->slot_count; i++)
        count += count_operands(op->slots[i].operands, op->slots[i].count);
    *node = (mw__node){
        .op = op,
        .at = MW__NO_NODE,
    };
    node->operands = mw__arena_alloc(s->arena, count, sizeof(mw_tensor *), err);
    if (node->operands == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < op->slot_count; i++)
        list_operands(node, op->slots[i].operands, op->slots[i].count);
    for (size_t i = 0; i < node->operand_count; i++)
        s->uses[node->operands[i]->id]++;
    for (size_t i = 0; i < op->result_count; i++)
        s->producer[op->results[i]->id] = index;
    return MW_OK;
}

static mw__node *producer_of(const mw__sequence *s, const mw_tensor *value)
{
    const uint32_t index = s->producer[value->id];
    return index != MW__NO_NODE ? &s->nodes[index] : NULL;
}

/* ---- what is copied ---- */

static bool is_one_of(const mw__op *op, const char *const *kinds, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(op->kind, kinds[i]) == 0)
            return true;
    return false;
}

/* What is made of constants without rounding is the same however often it is made. */
static bool is_exact(const mw__op *op)
{
    static const char *const kinds[] = {"const",  "fill",      "range_1d", "select",
                                        "concat", "fill_like", "shape",    "band_part"};
    return is_one_of(op, kinds, sizeof kinds / sizeof *kinds) || mw__op_has(op, MW__TRAIT_CONSTEXPR) ||
           mw__op_has(op, MW__TRAIT_TRUTHS) || (mw__op_has(op, MW__TRAIT_MOVES) && !mw__op_is(op, "identity"));
}

/* ---- what may be lifted ---- */

/* On a device of fp16 a number or a vector may be joined with what it is added to, and a matrix is not
 * (engine/compile/storage/chip_rounding.c). */
static bool is_matrix(const mw_tensor *value)
{
    const mw_shape shape = mw_tensor_shape(value);
    int longer = 0;
    for (int i = 0; i < shape.rank; i++)
        longer += shape.dim[i] != 1;
    return longer > 1;
}

static void find_liftable(const mw__sequence *s)
{
    static const char *const kinds[] = {"add", "sub", "mul"};
    for (size_t i = 0; i < s->node_count; i++) {
        const mw_tensor *value = s->nodes[i].op->results[0];
        const mw__payload *payload = value->payload;
        s->liftable[value->id] = strcmp(s->nodes[i].op->kind, "const") == 0 && payload != NULL &&
                                 payload->data != NULL && !payload->splat && mw__segment_passes(s, value) &&
                                 mw_tensor_dtype(value) != MW_I32 && (!s->options->half_ports || is_matrix(value));
    }
    for (size_t i = 0; i < s->node_count; i++)
        for (size_t k = 0; k < s->nodes[i].operand_count; k++)
            if (!is_one_of(s->nodes[i].op, kinds, sizeof kinds / sizeof *kinds))
                s->liftable[s->nodes[i].operands[k]->id] = false;
}

static bool is_output(const mw__op *op)
{
    for (size_t i = 0; i < op->result_count; i++)
        if (op->results[i]->is_output)
            return true;
    return false;
}

bool mw__segment_passes(const mw__sequence *s, const mw_tensor *value)
{
    const mw_dtype dtype = value->type->dtype;
    size_t size;
    return value->type->kind == MW__TENSOR && mw__type_bytes(value->type, &size) &&
           (dtype == MW_F16 || (!s->options->half_ports && (dtype == MW_F32 || dtype == MW_I32)));
}

static void judge_node(const mw__sequence *s, mw__node *node)
{
    uint32_t depth = 0;
    node->hash = mw__segment_hash(node->op, s->liftable);
    node->constant = !mw__op_has(node->op, MW__TRAIT_RANDOM);
    bool copies = true;
    for (size_t i = 0; i < node->operand_count; i++) {
        const mw__node *from = producer_of(s, node->operands[i]);
        node->constant = node->constant && from != NULL && from->constant;
        copies = copies && from != NULL && from->copied;
        depth = from != NULL && from->copied && from->depth >= depth ? from->depth + 1 : depth;
    }
    node->depth = depth;
    if (is_output(node->op) || depth > DEPTH_MAX)
        return;
    const bool truth = mw__op_has(node->op, MW__TRAIT_TRUTHS) || mw__op_is(node->op, "cast"); /* is not rounded */
    node->copied =
        (copies && node->constant && is_exact(node->op)) || (truth && !mw__segment_passes(s, node->op->results[0]));
}

/* ---- the order ---- */

static bool is_small(const mw_tensor *value)
{
    return value->type->kind == MW__TENSOR && mw_shape_count(value->type->shape) <= 1;
}

static bool all_small(mw_tensor *const *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!is_small(values[i]))
            return false;
    return true;
}

/* The last of the anchors of what the node uses, and of what is large of that; 0 if these are inputs and constants. */
static void find_latest(const mw__sequence *s, const mw__node *node, uint32_t *out_latest, uint32_t *out_large)
{
    *out_latest = *out_large = 0;
    for (size_t i = 0; i < node->operand_count; i++) {
        const mw__node *from = producer_of(s, node->operands[i]);
        const uint32_t anchor = from != NULL ? from->anchor : 0;
        *out_latest = anchor > *out_latest ? anchor : *out_latest;
        if (!is_small(node->operands[i]) && anchor > *out_large)
            *out_large = anchor;
    }
}

/* Behind the backward pass, what is made of one gradient goes to it, and single numbers to the last of what they are
 * made of: then a gradient need not wait, and each layer does for itself what is done for all. */
static void anchor_early(mw__sequence *s)
{
    for (uint32_t i = 0; i < s->node_count; i++) {
        mw__node *node = &s->nodes[i];
        uint32_t latest, large;
        find_latest(s, node, &latest, &large);
        const bool gate = node->op->stage == MW__STEP_GATE && !is_output(node->op);
        const bool small = all_small(node->op->results, node->op->result_count);
        node->floats = gate && latest == 0 && !node->copied;
        if (node->copied || node->floats)
            node->anchor = latest;
        else if (gate && (small || large == latest))
            node->anchor = latest, node->side = 1;
        else
            node->anchor = i + 1;
    }
}

/* Who uses the results of a node, also by way of what is copied. */
typedef struct users {
    uint32_t first; /* node, in the order to be */
    unsigned stages;
} users;

static int compare_nodes(const mw__node *a, const mw__node *b)
{
    if (a->anchor != b->anchor)
        return a->anchor < b->anchor ? -1 : 1;
    if (a->side != b->side)
        return a->side < b->side ? -1 : 1;
    return a < b ? -1 : a > b;
}

static void add_users(const mw__sequence *s, users *into, users more)
{
    if (more.first == MW__NO_NODE)
        return;
    if (into->first == MW__NO_NODE || compare_nodes(&s->nodes[more.first], &s->nodes[into->first]) < 0)
        into->first = more.first;
    into->stages |= more.stages;
}

/* Whether an operation has one operand that is computed: then a device may join it with what makes that. */
static bool continues(const mw__sequence *s, const mw__node *node)
{
    size_t live = 0;
    for (size_t i = 0; i < node->operand_count; i++) {
        const mw__node *from = producer_of(s, node->operands[i]);
        live += from == NULL || !from->constant;
    }
    return live == 1;
}

static bool has_one_use(const mw__sequence *s, const mw__node *node)
{
    return node->op->result_count == 1 && s->uses[node->op->results[0]->id] == 1 && !is_output(node->op);
}

/* What only updates use goes to the first of them; and a value goes over to the pass in which it is used if the device
 * may join it with its one use. */
static bool goes_late(const mw__sequence *s, const mw__node *node, const users *by)
{
    if (node->copied || node->side != 0 || is_output(node->op) || by->first == MW__NO_NODE)
        return false;
    if (node->floats)
        return true;
    if (node->op->stage == MW__STEP_GATE && by->stages == 1u << MW__STEP_UPDATE)
        return true;
    const mw__node *user = &s->nodes[by->first];
    return has_one_use(s, node) && user->op->stage != node->op->stage && continues(s, user);
}

static mw_status anchor_late(mw__sequence *s, mw_error *err)
{
    users *by = mw__arena_alloc(s->arena, s->node_count, sizeof *by, err);
    if (by == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < s->node_count; i++)
        by[i] = (users){.first = MW__NO_NODE};
    for (uint32_t i = (uint32_t)s->node_count; i-- > 0;) {
        mw__node *node = &s->nodes[i];
        if (goes_late(s, node, &by[i])) {
            const mw__node *user = &s->nodes[by[i].first];
            node->anchor = user->anchor;
            node->side = user->side > 0 ? 1 : -1;
        } else if (node->floats) { /* nobody uses it */
            node->anchor = i + 1;
        }
        const users self = {.first = i, .stages = 1u << node->op->stage};
        for (size_t k = 0; k < node->operand_count; k++) {
            const uint32_t from = s->producer[node->operands[k]->id];
            if (from != MW__NO_NODE)
                add_users(s, &by[from], node->copied ? by[i] : self);
        }
    }
    return MW_OK;
}

static int by_order(const void *left, const void *right)
{
    const mw__node *a = *(const mw__node *const *)left, *b = *(const mw__node *const *)right;
    return compare_nodes(a, b);
}

static mw_status sort(mw__sequence *s, mw_error *err)
{
    const mw__node **sorted = mw__arena_alloc(s->arena, s->node_count, sizeof *sorted, err);
    s->order = mw__arena_alloc(s->arena, s->node_count, sizeof *s->order, err);
    if (sorted == NULL || s->order == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < s->node_count; i++)
        if (!s->nodes[i].copied)
            sorted[s->count++] = &s->nodes[i];
    if (s->count > 0)
        qsort(sorted, s->count, sizeof *sorted, by_order);
    for (uint32_t at = 0; at < s->count; at++)
        s->order[at] = (uint32_t)(sorted[at] - s->nodes);
    return MW_OK;
}

/* Also that everything stands behind what it uses. */
mw_status mw__segment_number(mw__sequence *s, mw_error *err)
{
    for (uint32_t at = 0; at < s->count; at++)
        s->nodes[s->order[at]].at = at;
    memset(s->last, 0, s->function->graph->value_count * sizeof *s->last);
    for (size_t i = s->node_count; i-- > 0;) {
        const mw__node *node = &s->nodes[i];
        uint32_t at = node->copied ? 0 : node->at;
        for (size_t k = 0; node->copied && k < node->op->result_count; k++) {
            const uint32_t last = s->last[node->op->results[k]->id];
            at = last > at ? last : at;
        }
        for (size_t k = 0; k < node->operand_count; k++) {
            const mw_tensor *value = node->operands[k];
            const mw__node *from = producer_of(s, value);
            if (!node->copied && from != NULL && !from->copied && from->at >= node->at)
                return mw__fail(err, MW_ERROR_STATE, "segments: %s stands before what it uses", node->op->kind);
            s->last[value->id] = at > s->last[value->id] ? at : s->last[value->id];
        }
    }
    return MW_OK;
}

mw_status mw__segment_order(mw__sequence *s, mw_error *err)
{
    const mw__block *body = s->function->body;
    const size_t values = s->function->graph->value_count;
    s->node_count = body->op_count;
    s->nodes = mw__arena_alloc(s->arena, body->op_count, sizeof *s->nodes, err);
    s->producer = mw__arena_alloc(s->arena, values, sizeof *s->producer, err);
    s->uses = mw__arena_alloc(s->arena, values, sizeof *s->uses, err);
    s->last = mw__arena_alloc(s->arena, values, sizeof *s->last, err);
    s->liftable = mw__arena_alloc(s->arena, values, sizeof *s->liftable, err);
    if (s->nodes == NULL || s->producer == NULL || s->uses == NULL || s->last == NULL || s->liftable == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < values; i++)
        s->producer[i] = MW__NO_NODE;
    for (uint32_t i = 0; i < body->op_count; i++)
        MW_TRY(make_node(s, i, err));
    find_liftable(s);
    for (size_t i = 0; i < body->op_count; i++)
        judge_node(s, &s->nodes[i]);
    anchor_early(s);
    MW_TRY(anchor_late(s, err));
    MW_TRY(sort(s, err));
    return mw__segment_number(s, err);
}

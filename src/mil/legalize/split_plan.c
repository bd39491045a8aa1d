/* What is split: which values belong together, and whether every operation on them has a rule. */
#include "base/number/types.h"
#include "mil/legalize/rewrites.h"

#include <string.h>

/* ---- words ---- */

bool mw__split_is_int(const mw_tensor *value)
{
    const mw_dtype dtype = mw_tensor_dtype(value);
    return dtype == MW_I32 || dtype == MW_I16 || dtype == MW_U16 || dtype == MW_I8 || dtype == MW_U8;
}

bool mw__split_carries(const mw__arg_row *row)
{
    const bool is_t = row->type == MW__T_FLOAT || row->type == MW__T_NUMBER || row->type == MW__T_ANY;
    return row->kind != MW__CONST && (is_t || row->type == MW__ANY);
}

static bool is_float(const mw_tensor *value) { return mw__number_dtype_is_float(mw_tensor_dtype(value)); }

/* ---- groups ---- */

typedef enum group_kind { INDEX, LONG } group_kind;

static uint32_t find_root(const mw__split *split, group_kind kind, uint32_t id)
{
    uint32_t *parents = split->parents + (size_t)kind * split->count;
    while (parents[id] != id) {
        parents[id] = parents[parents[id]];
        id = parents[id];
    }
    return id;
}

/* Marks of a group are those of its root. */
static bool has(const mw__split *split, group_kind kind, const mw_tensor *value, mw__split_mark mark)
{
    return (split->marks[find_root(split, kind, value->id)] & mark) != 0;
}

static void put_mark(mw__split *split, group_kind kind, const mw_tensor *value, mw__split_mark mark)
{
    split->marks[find_root(split, kind, value->id)] |= (unsigned char)mark;
}

static void join_groups(mw__split *split, group_kind kind, const mw_tensor *a, const mw_tensor *b)
{
    static const unsigned char kept[2] = {MW__SPLIT_WIDE | MW__SPLIT_NO_INDEX, MW__SPLIT_NO_LONG};
    const uint32_t from = find_root(split, kind, b->id), to = find_root(split, kind, a->id);
    split->parents[(size_t)kind * split->count + from] = to;
    split->marks[to] |= split->marks[from] & kept[kind];
}

/* ---- queries ---- */

bool mw__split_is_source(const mw__split *split, const mw_tensor *value)
{
    return value->payload != NULL || (split->marks[value->id] & MW__SPLIT_SOURCE) != 0;
}

enum { BLOCKS_MAX = 4096 }; /* operations that one becomes: a short text must not make a program without an end */

int mw__split_axis(const mw__split *split, const mw_tensor *value)
{
    const mw_shape shape = mw_tensor_shape(value);
    int axis = -1;
    for (int i = 0; i < shape.rank; i++)
        if (shape.dim[i] > split->axis_max)
            axis = axis == -1 && shape.dim[i] / split->axis_max < BLOCKS_MAX ? i : -2;
    return axis;
}

bool mw__split_is_long(const mw__split *split, const mw_tensor *value)
{
    return mw__split_axis(split, value) >= 0 &&
           (mw__split_is_source(split, value) || !has(split, LONG, value, MW__SPLIT_NO_LONG));
}

bool mw__split_is_wide(const mw__split *split, const mw_tensor *value)
{
    return mw__split_is_int(value) && !mw__split_is_source(split, value) && has(split, INDEX, value, MW__SPLIT_WIDE) &&
           !has(split, INDEX, value, MW__SPLIT_NO_INDEX);
}

/* ---- sources ---- */

static bool is_known(const mw_tensor *value) { return mw_shape_count(mw_tensor_shape(value)) >= 0; }

static bool is_source_op(const mw__split *split, const mw__op *op)
{
    double number;
    if (op->row == NULL || op->result_count != 1 || !is_known(op->results[0]))
        return false;
    if (mw__op_is(op, "const"))
        return true;
    if (mw__op_is(op, "range_1d")) /* of floating point, fp16 would round the numbers of a long one */
        return mw__split_is_int(op->results[0]) && mw__arg_float(op, "start", &number) &&
               mw__arg_float(op, "end", &number) && mw__arg_float(op, "step", &number);
    if (mw__op_is(op, "fill"))
        return mw__arg(op, "shape")->payload != NULL && mw__arg_float(op, "value", &number);
    if (mw__op_is(op, "reshape") || mw__op_is(op, "expand_dims") || mw__op_is(op, "squeeze"))
        return mw__split_is_source(split, mw__arg(op, "x"));
    return false;
}

/* The largest size of its integers. */
static double largest(const mw_tensor *value)
{
    double most = 0.0, start = 0.0, end = 0.0;
    if (value->payload != NULL) {
        const size_t count = value->payload->data != NULL ? mw__payload_count(value->payload) : 0;
        for (size_t i = 0; i < count; i++) {
            const double number = (double)mw__payload_int(value->payload, i);
            most = number > most ? number : -number > most ? -number : most;
        }
        return most;
    }
    if (!mw__op_is(value->op, "range_1d"))
        return mw__op_is(value->op, "fill") ? 0.0 : largest(mw__arg(value->op, "x"));
    mw__arg_float(value->op, "start", &start);
    mw__arg_float(value->op, "end", &end);
    start = start < 0.0 ? -start : start;
    end = (end < 0.0 ? -end : end) - 1.0;
    return start > end ? start : end;
}

bool mw__split_is_count(const mw__split *split, const mw_tensor *value, int *out_axis)
{
    int64_t start, step;
    const mw_shape shape = mw_tensor_shape(value);
    const mw_tensor *range = value;
    if (value->payload != NULL || !mw__split_is_source(split, value))
        return false;
    while (range->op != NULL && !mw__op_is(range->op, "range_1d")) {
        if (range->payload != NULL || mw__op_is(range->op, "fill"))
            return false;
        range = mw__arg(range->op, "x");
    }
    if (range->op == NULL || !mw__arg_int(range->op, "start", &start) || !mw__arg_int(range->op, "step", &step))
        return false;
    *out_axis = 0;
    for (int i = 0; i < shape.rank; i++)
        *out_axis = shape.dim[i] > 1 ? i : *out_axis;
    return start == 0 && step == 1 && shape.dim[*out_axis] == mw_shape_count(shape);
}

/* ---- operands ---- */

typedef void visitor(mw__split *split, const mw__op *op, const mw__arg_row *row, const mw_tensor *value);

static void visit(mw__split *split, const mw__op *op, visitor *each)
{
    for (size_t i = 0; i < op->slot_count; i++)
        for (size_t k = 0; op->slots[i].operands != NULL && k < op->slots[i].count; k++)
            if (op->slots[i].operands[k].value != NULL)
                each(split, op, op->row != NULL ? &op->row->args[i] : NULL, op->slots[i].operands[k].value);
}

static void refuse_arg(mw__split *split, const mw__op *op, const mw__arg_row *row, const mw_tensor *value)
{
    (void)op;
    (void)row;
    put_mark(split, INDEX, value, MW__SPLIT_NO_INDEX);
    put_mark(split, LONG, value, MW__SPLIT_NO_LONG);
}

/* Operations with blocks, and those that the table does not know: nothing that they touch is split. */
static void refuse_all(mw__split *split, const mw__op *op)
{
    visit(split, op, refuse_arg);
    for (size_t i = 0; i < op->result_count; i++)
        refuse_arg(split, op, NULL, op->results[i]);
    for (size_t b = 0; b < op->block_count; b++) {
        for (size_t i = 0; i < op->blocks[b]->op_count; i++)
            refuse_all(split, op->blocks[b]->ops[i]);
        for (size_t i = 0; i < op->blocks[b]->output_count; i++)
            refuse_arg(split, op, NULL, op->blocks[b]->outputs[i]);
    }
}

static bool is_opaque(const mw__op *op) { return op->row == NULL || op->block_count > 0; }

/* ---- indices ---- */

/* The extent that the indices of an index operation count; -1 if it is not known. */
static int64_t indexed_extent(const mw__op *op, const mw__split_indexing *indexing)
{
    int64_t axis = 0, size = -1;
    if (indexing->table == NULL)
        return mw__arg_int(op, "one_hot_vector_size", &size) ? size : -1;
    const mw_shape shape = mw_tensor_shape(mw__arg(op, indexing->table));
    mw__arg_int(op, "axis", &axis);
    return shape.rank > 0 ? shape.dim[axis < 0 ? axis + shape.rank : axis] : -1;
}

/* What the other forms can be written for. */
static bool has_form(const mw__op *op, const mw__split_indexing *indexing)
{
    const char *mode;
    const bool typed = is_float(op->results[0]) || (!indexing->puts && mw_tensor_dtype(op->results[0]) == MW_I32);
    if (!typed || !is_known(op->results[0]) || !is_known(mw__arg(op, "indices")))
        return false;
    return !indexing->puts || ((mode = mw__arg_string(op, "mode")) != NULL && strcmp(mode, "add") == 0);
}

bool mw__split_takes(const mw__split *split, const mw__op *op)
{
    const mw__split_indexing *indexing = mw__split_indexing_of(split, op);
    if (indexing == NULL || op->row == NULL)
        return false;
    const mw_tensor *indices = mw__arg(op, "indices");
    const int64_t extent = indexed_extent(op, indexing);
    if (mw__split_is_source(split, indices) || (split->marks[indices->id] & MW__SPLIT_FED) == 0 || extent < 0 ||
        !has_form(op, indexing))
        return false;
    return extent <= MW__COUNTED_MAX || mw__split_is_wide(split, indices);
}

/* The long axis is that which the indices count. */
bool mw__split_index_fits(const mw__split *split, const mw__op *op)
{
    int64_t axis = 0;
    const mw__split_indexing *indexing = mw__split_indexing_of(split, op);
    if (indexing == NULL)
        return false;
    const mw_tensor *table = indexing->table == NULL ? op->results[0] : mw__arg(op, indexing->table);
    const bool makes = indexing->table == NULL || indexing->puts;
    const int rank = mw_tensor_shape(table).rank;
    mw__arg_int(op, "axis", &axis);
    return mw__split_takes(split, op) && mw__split_axis(split, table) == (int)(axis < 0 ? axis + rank : axis) &&
           mw__split_axis(split, mw__arg(op, "indices")) == -1 &&
           (makes || mw__split_axis(split, op->results[0]) == -1);
}

static const mw_tensor *first_index(const mw__split *split, const mw__op *op)
{
    for (size_t i = 0; i < op->result_count; i++)
        if (mw__split_is_int(op->results[i]))
            return op->results[i];
    for (size_t i = 0; i < op->slot_count; i++)
        for (size_t k = 0; k < op->slots[i].count; k++) {
            const mw_tensor *value = op->slots[i].operands[k].value;
            if (value != NULL && mw__split_is_int(value) && mw__split_carries(&op->row->args[i]) &&
                !mw__split_is_source(split, value))
                return value;
        }
    return NULL;
}

static void pass_fed(mw__split *split, const mw__op *op, const mw__arg_row *row, const mw_tensor *value)
{
    if (!mw__split_carries(row) || (split->marks[value->id] & MW__SPLIT_FED) == 0)
        return;
    for (size_t i = 0; i < op->result_count; i++)
        if (mw__split_is_int(op->results[i]))
            split->marks[op->results[i]->id] |= MW__SPLIT_FED;
}

static void gather_group(mw__split *split, const mw__op *op, const mw__arg_row *row, const mw_tensor *value)
{
    const mw_tensor *first = first_index(split, op);
    if (!mw__split_is_int(value) || first == NULL || row->kind == MW__CONST)
        return;
    if (!mw__split_carries(row))
        refuse_arg(split, op, row, value);
    else if (!mw__split_is_source(split, value))
        join_groups(split, INDEX, first, value);
    else if (largest(value) > MW__COUNTED_MAX)
        put_mark(split, INDEX, first, largest(value) > MW__DIGITS_MAX ? MW__SPLIT_NO_INDEX : MW__SPLIT_WIDE);
}

static void refuse_index(mw__split *split, const mw__op *op, const mw__arg_row *row, const mw_tensor *value)
{
    const mw__split_indexing *indexing = mw__split_indexing_of(split, op);
    const bool form = indexing != NULL && strcmp(row->name, "indices") == 0 && has_form(op, indexing);
    if (!mw__split_is_int(value) || row->kind == MW__CONST || mw__split_is_source(split, value))
        return;
    if (!form || indexed_extent(op, indexing) > MW__DIGITS_MAX)
        put_mark(split, INDEX, value, MW__SPLIT_NO_INDEX);
    else if (indexed_extent(op, indexing) > MW__COUNTED_MAX)
        put_mark(split, INDEX, value, MW__SPLIT_WIDE);
}

static void plan_index(mw__split *split, const mw__op *op)
{
    visit(split, op, pass_fed);
    const bool known = mw__split_takes_digits(split, op);
    visit(split, op, known ? gather_group : refuse_index);
    for (size_t i = 0; i < op->result_count; i++) {
        const mw_tensor *result = op->results[i];
        const mw_tensor *first = known ? first_index(split, op) : NULL;
        if (!mw__split_is_int(result))
            continue;
        if (first != NULL)
            join_groups(split, INDEX, first, result);
        else
            put_mark(split, INDEX, result, MW__SPLIT_NO_INDEX);
    }
}

/* ---- long axes ---- */

static void refuse_long(mw__split *split, const mw__op *op, const mw__arg_row *row, const mw_tensor *value)
{
    (void)op;
    (void)row;
    if (mw__split_axis(split, value) != -1)
        put_mark(split, LONG, value, MW__SPLIT_NO_LONG);
}

static const mw_tensor *first_long(const mw__split *split, const mw__op *op)
{
    for (size_t i = 0; i < op->result_count; i++)
        if (mw__split_axis(split, op->results[i]) != -1)
            return op->results[i];
    for (size_t i = 0; i < op->slot_count; i++)
        for (size_t k = 0; k < op->slots[i].count; k++) {
            const mw_tensor *value = op->slots[i].operands[k].value;
            if (value != NULL && mw__split_axis(split, value) != -1 && !mw__split_is_source(split, value))
                return value;
        }
    return NULL;
}

static void long_group(mw__split *split, const mw__op *op, const mw__arg_row *row, const mw_tensor *value)
{
    if (mw__split_axis(split, value) < 0)
        return;
    if ((row->kind == MW__CONST && !mw__op_is(op, "linear")) || row->type == MW__I32)
        put_mark(split, LONG, first_long(split, op), MW__SPLIT_NO_LONG);
    else if (!mw__split_is_source(split, value))
        join_groups(split, LONG, first_long(split, op), value);
}

/* An integer of a long axis that is not in digits has no part: the operations on it stay whole. */
static bool is_settled(const mw__split *split, const mw_tensor *value)
{
    return !mw__split_is_int(value) || mw__split_is_source(split, value) || mw__split_is_wide(split, value);
}

static void refuse_unsettled(mw__split *split, const mw__op *op, const mw__arg_row *row, const mw_tensor *value)
{
    (void)row;
    if (mw__split_axis(split, value) != -1 && !is_settled(split, value))
        put_mark(split, LONG, first_long(split, op), MW__SPLIT_NO_LONG);
}

static bool fits_blocks(const mw__split *split, const mw__op *op)
{
    for (size_t i = 0; i < op->result_count; i++)
        if (mw__split_axis(split, op->results[i]) == -2)
            return false;
    return mw__split_takes_blocks(split, op);
}

static void plan_long(mw__split *split, const mw__op *op)
{
    const mw_tensor *first = first_long(split, op);
    if (first == NULL)
        return;
    if (!fits_blocks(split, op)) {
        visit(split, op, refuse_long);
        for (size_t i = 0; i < op->result_count; i++)
            refuse_long(split, op, NULL, op->results[i]);
        return;
    }
    visit(split, op, long_group);
    visit(split, op, refuse_unsettled);
    for (size_t i = 0; i < op->result_count; i++)
        if (mw__split_axis(split, op->results[i]) >= 0)
            join_groups(split, LONG, first, op->results[i]);
}

/* A parameter's blocks are parts of its memory, so that nothing stands before the long axis. */
static void plan_input(mw__split *split, const mw_tensor *value)
{
    const int axis = mw__split_axis(split, value);
    const bool counts = value->index_ignored >= -MW__COUNTED_MAX && value->index_ignored <= MW__COUNTED_MAX;
    if (value->role == MW__INPUT && mw_tensor_dtype(value) == MW_I32 && !mw__pass_is_off(split->log, MW__RULE_digits))
        split->marks[value->id] |= MW__SPLIT_FED;
    else if (mw__split_is_int(value)) /* no fp16 port */
        put_mark(split, INDEX, value, MW__SPLIT_NO_INDEX);
    if (value->index_use == MW__INDEX_IGNORES && !counts)
        put_mark(split, INDEX, value, MW__SPLIT_WIDE);
    if (value->role != MW__INPUT && axis > 0 && mw__shape_span(mw_tensor_shape(value), 0, axis) != 1)
        put_mark(split, LONG, value, MW__SPLIT_NO_LONG);
    if (axis == -2 || value->type->kind != MW__TENSOR)
        refuse_arg(split, NULL, NULL, value);
}

/* ---- the whole ---- */

static void mark_live(mw__split *split, const mw__op *op, const mw__arg_row *row, const mw_tensor *value)
{
    (void)op;
    (void)row;
    split->marks[value->id] |= MW__SPLIT_LIVE;
}

static bool is_live(const mw__split *split, const mw__op *op)
{
    bool live = op->result_count == 0 || op->block_count > 0;
    for (size_t i = 0; i < op->result_count; i++)
        live = live || (split->marks[op->results[i]->id] & MW__SPLIT_LIVE) != 0;
    return live;
}

static void find_live(mw__split *split)
{
    const mw__block *body = split->from->body;
    for (size_t i = 0; i < body->output_count; i++)
        split->marks[body->outputs[i]->id] |= MW__SPLIT_LIVE;
    for (size_t i = body->op_count; i-- > 0;)
        if (is_live(split, body->ops[i]))
            visit(split, body->ops[i], mark_live);
}

/* What an index is made of: the operands of what makes it that are integers, and the truths that choose. */
static void mark_made(mw__split *split, const mw__op *op, const mw__arg_row *row, const mw_tensor *value)
{
    (void)op;
    if (row != NULL && row->kind != MW__CONST && (mw__split_is_int(value) || row->type == MW__BOOL))
        split->marks[value->id] |= MW__SPLIT_INDEX;
}

static void find_indices(mw__split *split)
{
    const mw__block *body = split->from->body;
    for (size_t i = body->op_count; i-- > 0;) {
        const mw__op *op = body->ops[i];
        const mw__split_indexing *indexing = is_opaque(op) ? NULL : mw__split_indexing_of(split, op);
        if (indexing != NULL)
            split->marks[mw__arg(op, "indices")->id] |= MW__SPLIT_INDEX;
        else if (!is_opaque(op) && op->result_count == 1 && (split->marks[op->results[0]->id] & MW__SPLIT_INDEX) != 0)
            visit(split, op, mark_made);
    }
}

static bool is_split(const mw__split *split, const mw__op *op)
{
    bool any = mw__split_takes(split, op);
    for (size_t i = 0; i < op->result_count && !any; i++)
        any = !mw__split_is_source(split, op->results[i]) &&
              (mw__split_is_long(split, op->results[i]) || mw__split_is_wide(split, op->results[i]));
    return any;
}

bool mw__split_plan(mw__split *split)
{
    const mw__block *body = split->from->body;
    bool any = false;
    find_live(split);
    find_indices(split);
    for (size_t i = 0; i < 2 * split->count; i++)
        split->parents[i] = (uint32_t)(i % split->count);
    for (size_t i = 0; i < body->input_count; i++)
        plan_input(split, body->inputs[i]);
    for (size_t i = 0; i < body->op_count; i++) {
        const mw__op *op = body->ops[i];
        if (is_source_op(split, op))
            split->marks[op->results[0]->id] |= MW__SPLIT_SOURCE;
        else if (is_opaque(op))
            refuse_all(split, op);
        else if (is_live(split, op))
            plan_index(split, op);
    }
    for (size_t i = 0; i < body->op_count; i++)
        if (!is_opaque(body->ops[i]) && !is_source_op(split, body->ops[i]) && is_live(split, body->ops[i]))
            plan_long(split, body->ops[i]);
    for (size_t i = 0; i < body->op_count && !any; i++)
        any = !is_opaque(body->ops[i]) && is_live(split, body->ops[i]) && is_split(split, body->ops[i]);
    for (size_t i = 0; i < body->input_count && !any; i++)
        any = mw__split_is_long(split, body->inputs[i]) || mw__split_is_wide(split, body->inputs[i]);
    return any;
}

/* Constants that know the batch: where slices begin and end along it, and what holds the same once for each example. */
#include "graph/constants/compressed.h"
#include "graph/ir/rule.h"
#include "graph/transform/batch/rebatch.h"
#include "graph/transform/clone/clone.h"

#include <inttypes.h>
#include <string.h>

/* ---- bounds of slices ---- */

/* begin, end and size count rows of the axis along which x has its examples: whole batches of them (batch_rule.c). */
static mw_tensor *slice_bound(const mw__rebatch *r, mw__clone *clone, const mw__op *op, const char *arg)
{
    const mw_tensor *x = mw__arg(op, "x"), *result = op->results[0];
    const int at = r->table[x->id].axis, axis = r->table[result->id].axis;
    int64_t begin[MW_RANK_MAX], values[MW_RANK_MAX];
    size_t count, same;
    int32_t elements[MW_RANK_MAX];
    if (!mw__arg_ints(op, arg, values, MW_RANK_MAX, &count) || (size_t)at >= count)
        return NULL;
    const bool placed = mw__arg_ints(op, "begin", begin, MW_RANK_MAX, &same) && same == count;
    if (!placed && strcmp(arg, "size") != 0)
        return NULL;
    const int64_t first = !placed ? 0 : begin[at] < 0 ? begin[at] + mw_tensor_shape(x).dim[at] : begin[at];
    const int64_t start = first / r->from * r->to, extent = mw__rebatch_shape(r, result).dim[axis];
    values[at] = strcmp(arg, "begin") == 0 ? start : strcmp(arg, "end") == 0 ? start + extent : extent;
    for (size_t i = 0; i < count; i++)
        elements[i] = (int32_t)values[i];
    return mw_constant(clone->to, MW_I32, MW_SHAPE((int64_t)count), elements);
}

static bool is_slice_bound(const mw__op *op, const char *arg)
{
    const bool begin = strcmp(arg, "begin") == 0;
    return mw__op_is(op, "slice_by_index") ? begin || strcmp(arg, "end") == 0
                                           : mw__op_is(op, "slice_by_size") && (begin || strcmp(arg, "size") == 0);
}

/* conv_transpose may be told its whole result. */
static mw_tensor *output_shape(const mw__rebatch *r, mw__clone *clone, const mw__op *op)
{
    int32_t elements[MW_RANK_MAX];
    const mw_shape shape = mw__rebatch_shape(r, op->results[0]);
    for (int i = 0; i < shape.rank; i++)
        elements[i] = (int32_t)shape.dim[i];
    return mw_constant(clone->to, MW_I32, MW_SHAPE(shape.rank), elements);
}

/* ---- constants with rows ---- */

/* What enters a loop, or a list, has the rows that it has there. */
static bool is_handed_on(const mw__op *op, const char *arg)
{
    return op->row->id == MW__OP_while_loop || (op->row->id == MW__OP_list_write && strcmp(arg, "value") == 0);
}

/* The rows of the result for which an operand of its slot is used. */
static mw__batch_rows rows_for(const mw__rebatch *r, const mw__op *op, const mw__slot *slot, const mw__operand *operand)
{
    const size_t at = op->row->id == MW__OP_while_loop ? (size_t)(operand - slot->operands) : 0;
    return at < op->result_count ? r->table[op->results[at]->id] : (mw__batch_rows){.kind = MW__BATCH_NONE};
}

/* The axis along which an operand that is the same for all examples has a row for each; -1 if it has none. */
static int rows_axis(const mw__op *op, const char *arg, const mw_tensor *value, mw__batch_rows rows)
{
    const mw_shape result = mw_tensor_shape(op->results[0]), shape = mw_tensor_shape(value);
    const bool joins = op->row->id == MW__OP_concat;
    int axis = -1;
    if (is_handed_on(op, arg))
        return rows.kind == MW__BATCH_ROWS && rows.axis < shape.rank ? rows.axis : -1;
    if (joins)
        axis = strcmp(arg, "values") == 0 ? rows.axis : -1;
    else if (strncmp(arg, "initial_", 8) == 0)
        return 0;
    else if (mw__op_has(op, MW__TRAIT_BROADCASTS))
        axis = rows.axis + shape.rank - result.rank;
    if (axis < 0 || axis >= shape.rank || shape.dim[axis] != result.dim[rows.axis])
        return -1;
    return shape.dim[axis] > 1 || joins ? axis : -1;
}

/* What takes its extents from a value with rows has them already. */
static bool has_followed(const mw__rebatch *r, const mw__clone *clone, const mw_tensor *value, int axis)
{
    const mw_tensor *copy = mw__clone_get(clone, value);
    return copy != NULL && mw_tensor_shape(copy).dim[axis] == mw_tensor_shape(value).dim[axis] / r->from * r->to;
}

/* Its rows must then be the same for all examples. */
static bool has_followed_alike(const mw__rebatch *r, const mw_tensor *value, int axis, int64_t inner)
{
    const mw__batch_rows rows = r->followed[value->id];
    const bool same = rows.kind == MW__BATCH_ROWS && rows.axis == axis && rows.inner == inner;
    return same || r->trained || r->from == r->to;
}

/* Rows of `inner`, `from` times in a run: all examples of a run are the same bytes. */
typedef struct repeated {
    size_t runs, from, to, bytes; /* bytes of the rows of an example */
} repeated;

static bool is_repeated(const repeated *p, const unsigned char *data)
{
    for (size_t run = 0; run < p->runs; run++)
        for (size_t i = 1; i < p->from; i++)
            if (memcmp(data + run * p->from * p->bytes, data + (run * p->from + i) * p->bytes, p->bytes) != 0)
                return false;
    return true;
}

static mw_tensor *repeat(const repeated *p, mw_graph *to, const mw_tensor *value, mw_shape shape,
                         const unsigned char *data)
{
    unsigned char *made = mw__alloc(to->allocator, p->runs * p->to, p->bytes, &to->error);
    if (made == NULL)
        return NULL;
    for (size_t i = 0; i < p->runs * p->to; i++)
        memcpy(made + i * p->bytes, data + i / p->to * p->from * p->bytes, p->bytes);
    mw_tensor *constant = mw_constant(to, mw_tensor_dtype(value), shape, made);
    mw__free(to->allocator, made);
    return constant;
}

static mw_tensor *refuse_operand(const mw__rebatch *r, mw__clone *clone, const mw__op *op, const char *arg)
{
    char subject[160];
    mw__graph_fail(clone->to, MW_ERROR_UNSUPPORTED,
                   "%s: its %s has values of its own for each of the %" PRId64
                   " examples, so that there are none for %" PRId64,
                   mw__op_subject(op, subject, sizeof subject), arg, r->from, r->to);
    return NULL;
}

static mw_tensor *spread_operand(const mw__rebatch *r, mw__clone *clone, const mw__op *op, const char *arg,
                                 const mw_tensor *value, int axis, int64_t inner)
{
    mw_graph *to = clone->to;
    mw_shape shape = mw_tensor_shape(value);
    const mw__payload *payload = mw__constant_payload(value, &to->error);
    const int bits = mw_dtype_bits(mw_tensor_dtype(value));
    const int64_t extent = shape.dim[axis];
    if (payload == NULL || bits % 8 != 0 || extent % (r->from * inner) != 0)
        return refuse_operand(r, clone, op, arg);
    shape.dim[axis] = extent / r->from * r->to;
    if (payload->splat)
        return mw__payload_emit_splat(to, mw_tensor_dtype(value), shape, payload->data, value->hint);
    const repeated p = {.runs = (size_t)(mw__shape_span(shape, 0, axis) * (extent / (r->from * inner))),
                        .from = (size_t)r->from,
                        .to = (size_t)r->to,
                        .bytes = (size_t)(inner * mw__shape_span(shape, axis + 1, shape.rank)) * (size_t)(bits / 8)};
    return is_repeated(&p, payload->data) ? repeat(&p, to, value, shape, payload->data)
                                          : refuse_operand(r, clone, op, arg);
}

mw_tensor *mw__rebatch_operand(void *user, mw__clone *clone, const mw__op *op, size_t slot, const mw__operand *operand)
{
    const mw__rebatch *r = user;
    const char *arg = op->slots[slot].name;
    const mw_tensor *value = operand->value;
    if (op->row == NULL || op->result_count == 0 || r->table[value->id].kind != MW__BATCH_NONE)
        return NULL;
    if (strcmp(arg, "output_shape") == 0)
        return output_shape(r, clone, op);
    if (is_slice_bound(op, arg))
        return slice_bound(r, clone, op, arg);
    const mw__batch_rows rows = rows_for(r, op, &op->slots[slot], operand);
    const int axis = value->type->kind == MW__TENSOR ? rows_axis(op, arg, value, rows) : -1;
    if (axis < 0)
        return NULL;
    if (has_followed(r, clone, value, axis))
        return has_followed_alike(r, value, axis, rows.inner) ? NULL : refuse_operand(r, clone, op, arg);
    const bool broadcasts = mw__op_has(op, MW__TRAIT_BROADCASTS);
    mw_tensor *made = mw__is_constant(value) ? NULL : mw__rebatch_alike(r, clone, value, axis, !broadcasts);
    return made != NULL || clone->to->error.status != MW_OK
               ? made
               : spread_operand(r, clone, op, arg, value, axis, rows.inner);
}

void mw__rebatch_hand_out(const mw__rebatch *r, mw__clone *clone, const mw__op *op, const mw_tensor *result)
{
    const mw__batch_rows rows = r->handed[result->id];
    if (result->type->kind != MW__TENSOR || rows.axis >= mw_tensor_shape(result).rank ||
        has_followed(r, clone, result, rows.axis))
        return;
    mw_tensor *made = mw__is_constant(result) ? spread_operand(r, clone, op, "result", result, rows.axis, rows.inner)
                                              : mw__rebatch_alike(r, clone, result, rows.axis, true);
    if (made == NULL)
        return; /* the shape of the loop or branch will not fit */
    mw__clone_set(clone, result, made);
    r->followed[result->id] = rows;
}

/* Operations whose operands differ in element type. MIL allows that from ios17 on for conv, conv_transpose, linear and
 * matmul and does not define in which type they are computed: here in fp32 (on a device of fp16 in that), and the
 * result is rounded once to its own type. Kernels, gradients and devices see operations of one type and casts. */
#include "graph/ir/copy.h"
#include "graph/ir/rule.h"

#include <millwright/ops/elementwise.h>
#include <string.h>

/* The first value of the arguments of a class; NULL if there is none. */
static const mw_tensor *first_of(const mw__op *op, bool (*belongs)(mw__arg_type type))
{
    for (size_t i = 0; op->row != NULL && i < op->row->arg_count; i++)
        if (belongs(op->row->args[i].type) && op->slots[i].count > 0)
            return op->slots[i].operands[0].value;
    return NULL;
}

/* What a cast takes: the operation itself refuses others by its own name. */
static bool is_cast(mw_dtype dtype)
{
    switch (dtype) {
    case MW_F16:
    case MW_F32:
    case MW_I32:
    case MW_BOOL:
    case MW_I8:
    case MW_U8:
    case MW_I16:
    case MW_U16:
        return true;
    default:
        return false;
    }
}

bool mw__op_is_mixed(const mw__op *op)
{
    const mw_tensor *t = first_of(op, mw__arg_type_is_t), *u = first_of(op, mw__arg_type_is_u);
    if (t == NULL || u == NULL || mw_tensor_dtype(t) == mw_tensor_dtype(u) || op->block->function->opset < MW_IOS17 ||
        !is_cast(mw_tensor_dtype(t)) || !is_cast(mw_tensor_dtype(u)))
        return false;
    return op->row->id != MW__OP_matmul || mw__is_constant(t) != mw__is_constant(u); /* else it is refused */
}

/* That of x; of a product with one constant, that of the other factor. */
static mw_dtype result_dtype(const mw__op *op)
{
    const mw_tensor *t = first_of(op, mw__arg_type_is_t), *u = first_of(op, mw__arg_type_is_u);
    return mw_tensor_dtype(mw__is_constant(t) && !mw__is_constant(u) ? u : t);
}

/* Constants are converted now, so that they stay constants. */
static mw_tensor *widened(mw_graph *graph, mw_tensor *value, mw_dtype wide, mw_error *err)
{
    if (value == NULL || mw_tensor_dtype(value) == wide)
        return value;
    if (value->payload == NULL)
        return mw_cast(value, wide);
    const mw__payload *payload = mw__payload_convert(graph, value->payload, wide, err);
    return payload != NULL ? mw__payload_emit(graph, payload, value->hint, err) : NULL;
}

mw_status mw__op_unmix(mw_graph *graph, mw__op *op, mw_dtype wide, mw_dtype *out_dtype, mw_error *err)
{
    *out_dtype = MW_DTYPE_NONE;
    if (!mw__op_is_mixed(op))
        return MW_OK;
    *out_dtype = result_dtype(op);
    for (size_t i = 0; i < op->slot_count; i++) {
        const mw__arg_type type = op->row->args[i].type;
        if (op->slots[i].count == 0 || (!mw__arg_type_is_t(type) && !mw__arg_type_is_u(type)))
            continue;
        mw__operand *operand = &op->slots[i].operands[0];
        mw_tensor *value = widened(graph, operand->value, wide, err);
        if (value == NULL)
            return mw_graph_check(graph, err) != MW_OK ? err->status : MW_ERROR_MEMORY;
        operand->inlined = operand->inlined && value == operand->value;
        operand->value = value;
    }
    return MW_OK;
}

/* ---- in place ---- */

/* The operation gives a value of the wide type, and a cast of it is what was its result. */
static mw_status unmix_result(mw_graph *graph, mw__op *op, mw_dtype wide, mw_error *err)
{
    mw_tensor *result = op->results[0];
    const mw__type *type = mw__type_tensor(graph, wide, mw_tensor_shape(result), err);
    mw_tensor *value = type != NULL ? mw__value_create(graph, type, result->hint, err) : NULL;
    if (value == NULL)
        return MW_ERROR_MEMORY;
    value->op = op;
    op->results[0] = value;
    MW_TRY(mw__block_add_op(graph->block, op, err));
    mw_tensor *cast = mw_cast(value, mw_tensor_dtype(result));
    if (cast == NULL)
        return mw_graph_check(graph, err);
    result->op = cast->op;
    cast->op->results[0] = result;
    return MW_OK;
}

static mw_status unmix_all(mw_graph *graph, mw__op *const *ops, size_t count, mw_error *err)
{
    for (size_t i = 0; i < count; i++) {
        mw_dtype dtype;
        MW_TRY(mw__op_unmix(graph, ops[i], MW_F32, &dtype, err));
        MW_TRY(dtype == MW_DTYPE_NONE ? mw__block_add_op(graph->block, ops[i], err)
                                      : unmix_result(graph, ops[i], MW_F32, err));
    }
    return MW_OK;
}

mw_status mw__function_unmix(mw__function *function, mw_error *err)
{
    mw_graph *graph = function->graph;
    mw__block *body = function->body;
    size_t mixed = 0;
    for (size_t i = 0; i < body->op_count; i++)
        mixed += mw__op_is_mixed(body->ops[i]);
    if (mixed == 0)
        return MW_OK;
    const size_t count = body->op_count;
    mw__op **ops = mw__arena_alloc(&graph->arena, count, sizeof(mw__op *), err);
    if (ops == NULL)
        return MW_ERROR_MEMORY;
    memcpy(ops, body->ops, count * sizeof(mw__op *));
    mw__function *current = graph->current;
    mw__block *block = graph->block;
    graph->current = function;
    graph->block = body;
    body->op_count = 0;
    const mw_status status = unmix_all(graph, ops, count, err);
    graph->current = current;
    graph->block = block;
    return status;
}

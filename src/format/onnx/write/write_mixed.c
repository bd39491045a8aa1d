/* Operations whose operands differ in element type, which no operator of ONNX takes: they are computed in fp32, as the
 * engine does (graph/ir/mixed.c), and the result is rounded once. */
#include "format/onnx/write/write_args.h"

static bool is_number(const mw_tensor *value)
{
    const mw_dtype dtype = value != NULL && value->type->kind == MW__TENSOR ? value->type->dtype : MW_DTYPE_NONE;
    return dtype == MW_F16 || dtype == MW_F32 || dtype == MW_I32;
}

/* Numbers that stand in attributes, as an epsilon does, are of any type. */
static bool is_operand(const mw__op *op, size_t slot)
{
    const mw_tensor *value = op->slots[slot].count == 1 ? op->slots[slot].operands[0].value : NULL;
    const mw__arg_type type = op->row->args[slot].type;
    if (!is_number(value))
        return false;
    return mw__arg_type_is_t(type) || mw__arg_type_is_u(type) ||
           ((type == MW__FLOAT || type == MW__ANY) && value->type->shape.rank > 0 && value->type->dtype != MW_I32);
}

/* Those that have operands of one type by their rows, but for vectors beside x. */
static bool takes_one_type(const mw__op *op)
{
    static const char *const kinds[] = {"batch_norm",
                                        "instance_norm",
                                        "layer_norm",
                                        "prelu",
                                        "softplus_parametric",
                                        "conv_quantized",
                                        "scaled_dot_product_attention"};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(op->row->name, kinds[i]) == 0)
            return true;
    return false;
}

bool mw__onnx_is_mixed(const mw__op *op)
{
    mw_dtype first = MW_DTYPE_NONE;
    bool differs = false;
    if (op->row == NULL || op->result_count == 0 || op->slots == NULL)
        return false;
    if (!takes_one_type(op))
        return mw__op_is_mixed(op);
    for (size_t i = 0; i < op->slot_count; i++) {
        if (!is_operand(op, i))
            continue;
        const mw_dtype dtype = op->slots[i].operands[0].value->type->dtype;
        differs = differs || (first != MW_DTYPE_NONE && dtype != first);
        first = dtype;
    }
    return differs;
}

/* The operation with results of fp32, which have the ids of its own. */
static const mw__op *widen_results(mw__onnx_writer *w, const mw__op *op)
{
    mw__op *copy = mw__onnx_alloc(w, 1, sizeof *copy);
    mw_tensor **results = mw__onnx_alloc(w, op->result_count, sizeof(mw_tensor *));
    for (size_t i = 0; copy != NULL && results != NULL && i < op->result_count; i++) {
        mw_tensor *result = mw__onnx_alloc(w, 1, sizeof *result);
        mw__type *type = mw__onnx_alloc(w, 1, sizeof *type);
        if (result == NULL || type == NULL)
            return NULL;
        *type = *op->results[i]->type;
        type->dtype = MW_F32;
        *result = *op->results[i];
        result->type = type;
        results[i] = result;
    }
    if (copy == NULL || results == NULL)
        return NULL;
    *copy = *op;
    copy->results = results;
    return copy;
}

/* While the operation is written, its values go by other names. */
void mw__onnx_write_mixed(mw__onnx_writer *w, const mw__op *op, const mw__onnx_export_row *row)
{
    const mw__op *wide = widen_results(w, op);
    const char **kept = mw__onnx_alloc(w, op->slot_count + op->result_count, sizeof *kept);
    const char **own = kept != NULL ? kept + op->slot_count : NULL;
    if (wide == NULL || kept == NULL)
        return;
    for (size_t i = 0; i < op->slot_count; i++) {
        mw_tensor *value = is_operand(op, i) ? op->slots[i].operands[0].value : NULL;
        if (value == NULL || value->type->dtype == MW_F32)
            continue;
        kept[i] = mw__onnx_name_of(w, value);
        w->names[value->id] = mw__onnx_cast_to(w, NULL, kept[i], MW_F32);
    }
    for (size_t i = 0; i < op->result_count; i++) {
        own[i] = w->names[op->results[i]->id];
        w->names[op->results[i]->id] = mw__onnx_fresh(w);
    }
    row->write(w, wide, row->operation);
    for (size_t i = 0; i < op->result_count; i++) {
        const mw_tensor *result = op->results[i];
        mw__onnx_cast_to(w, own[i], w->names[result->id], result->type->dtype);
        w->names[result->id] = own[i];
    }
    for (size_t i = 0; i < op->slot_count; i++)
        if (kept[i] != NULL)
            w->names[op->slots[i].operands[0].value->id] = kept[i];
}

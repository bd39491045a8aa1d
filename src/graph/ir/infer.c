/* Checking an operation against its row: arguments, element types, constants; then its shape rule. */
#include "base/text/printable.h"
#include "graph/ir/rule.h"

#include <stdio.h>
#include <string.h>

static const char *class_name(mw__arg_type type)
{
    switch (type) {
    case MW__T_FLOAT:
    case MW__U_FLOAT:
    case MW__FLOAT:
        return "fp16 or fp32";
    case MW__F32:
        return "fp32";
    case MW__T_NUMBER:
    case MW__U_NUMBER:
        return "fp16, fp32 or int32";
    case MW__I32:
        return "int32";
    case MW__T_REAL:
        return "fp16, fp32 or an integer type of 8 to 32 bits";
    case MW__INT:
    case MW__INDEX:
        return "an integer type of 8 to 32 bits";
    case MW__BOOL:
        return "bool";
    case MW__STRING:
        return "string";
    default:
        return "a tensor";
    }
}

/* Before ios17 indices and shapes are int32, and numbers beside x have its type (coremltools, defs/ios15 and ios17). */
static bool is_old(const mw__infer *infer) { return infer->op->block->function->opset < MW_IOS17; }

/* What coremltools' type domains of ios15, ios16 and ios17 allow. */
static mw_status check_integer(const mw__infer *infer, const mw__arg_row *arg, mw_dtype dtype)
{
    const bool indices = arg->type == MW__INDEX;
    if ((arg->type != MW__INT && !indices) || arg->kind != MW__RUNTIME || dtype == MW_I32 || !is_old(infer))
        return MW_OK;
    const bool half = dtype == MW_I16 || dtype == MW_U16;
    if (indices && half && infer->op->block->function->opset >= MW_IOS16)
        return MW_OK;
    return mw__rule_fail(infer, MW_ERROR_DTYPE, "%s is %s, not int32 (%s)", arg->name, mw_dtype_name(dtype),
                         indices && half ? "int16 and uint16 need ios16" : "the others need ios17");
}

/* Lists and states are no tensors; which of them is the rule's to say. */
static mw_status check_kind(const mw__infer *infer, const mw__arg_row *arg, const mw_tensor *value)
{
    const mw__type_kind kind = value->type != NULL ? value->type->kind : MW__TUPLE;
    if (arg->type == MW__A_LIST && kind != MW__LIST)
        return mw__rule_fail(infer, MW_ERROR_DTYPE, "%s is not a list", arg->name);
    if (arg->type == MW__A_STATE && kind != MW__STATE)
        return mw__rule_fail(infer, MW_ERROR_DTYPE, "%s is not a state", arg->name);
    if (arg->type == MW__A_VALUE && kind != MW__TENSOR && kind != MW__LIST)
        return mw__rule_fail(infer, MW_ERROR_DTYPE, "%s is neither a tensor nor a list", arg->name);
    const bool other = arg->type == MW__A_LIST || arg->type == MW__A_STATE || arg->type == MW__A_VALUE;
    if (!other && kind != MW__TENSOR)
        return mw__rule_fail(infer, MW_ERROR_DTYPE, "%s is not a tensor", arg->name);
    return MW_OK;
}

static mw_status check_value(const mw__infer *infer, const mw__arg_row *arg, const mw_tensor *value)
{
    if (value == NULL)
        return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "%s is a tuple where a tensor is wanted", arg->name);
    MW_TRY(check_kind(infer, arg, value));
    if (!mw__arg_type_holds(arg->type, mw_tensor_dtype(value)))
        return mw__rule_fail(infer, MW_ERROR_DTYPE, "%s is %s, not %s", arg->name, mw_dtype_name(value->type->dtype),
                             class_name(arg->type));
    MW_TRY(check_integer(infer, arg, value->type->dtype));
    const bool expands = infer->expands && infer->op->row->expand != NULL;
    if (arg->kind == MW__CONST && !expands && !mw__is_constant(value))
        return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "%s must be a constant", arg->name);
    return MW_OK;
}

static mw_status check_slot(const mw__infer *infer, const mw__arg_row *arg, const mw__slot *slot)
{
    if (slot->operands == NULL || slot->count == 0) {
        if (arg->fallback == MW__REQUIRED)
            return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "argument %s is missing", arg->name);
        return MW_OK;
    }
    if (arg->kind != MW__VALUES && slot->count != 1)
        return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "%s takes one tensor, not %zu", arg->name, slot->count);
    for (size_t i = 0; i < slot->count; i++)
        MW_TRY(check_value(infer, arg, slot->operands[i].value));
    return MW_OK;
}

/* "x" or "values[1]". */
static const char *member_name(const mw__slot *slot, size_t index, char *buffer, size_t size)
{
    if (slot->count > 1)
        mw__printable_printf(buffer, size, "%s[%zu]", slot->name, index);
    else
        mw__printable_printf(buffer, size, "%s", slot->name);
    return buffer;
}

enum { CLASS_T, CLASS_U, CLASSES };

/* Of the arguments that share one element type; CLASSES: it has a type of its own. */
static int class_of(mw__arg_type type, bool old)
{
    if (mw__arg_type_is_u(type))
        return old ? CLASS_T : CLASS_U;
    return mw__arg_type_is_t(type) || (old && type == MW__FLOAT) ? CLASS_T : CLASSES;
}

static mw_status fail_mixed(const mw__infer *infer, const mw__slot *slots[2], const size_t index[2])
{
    char first[64], other[64];
    const mw_dtype dtype = mw_tensor_dtype(slots[0]->operands[index[0]].value);
    const mw_dtype here = mw_tensor_dtype(slots[1]->operands[index[1]].value);
    return mw__rule_fail(infer, MW_ERROR_DTYPE, "%s is %s but %s is %s; convert one with cast",
                         member_name(slots[0], index[0], first, sizeof first), mw_dtype_name(dtype),
                         member_name(slots[1], index[1], other, sizeof other), mw_dtype_name(here));
}

/* All arguments of a class share one element type. */
static mw_status check_classes(const mw__infer *infer)
{
    const bool old = is_old(infer);
    const mw__row *row = infer->op->row;
    const mw__slot *first[CLASSES] = {NULL}; /* by class: its operand `member` has the type */
    size_t member[CLASSES] = {0};
    for (size_t i = 0; i < row->arg_count; i++) {
        const mw__slot *slot = &infer->op->slots[i];
        const int class = class_of(row->args[i].type, old);
        for (size_t k = 0; slot->operands != NULL && class != CLASSES && k < slot->count; k++) {
            if (first[class] == NULL)
                first[class] = slot, member[class] = k;
            if (mw_tensor_dtype(slot->operands[k].value) !=
                mw_tensor_dtype(first[class]->operands[member[class]].value))
                return fail_mixed(infer, (const mw__slot *[]){first[class], slot}, (size_t[]){member[class], k});
        }
    }
    return MW_OK;
}

/* Results must be shapes that a tensor can have, whatever the rule did. */
static mw_status check_results(const mw__infer *infer)
{
    for (size_t i = 0; i < infer->result_count; i++) {
        if (infer->type[i] != NULL || mw__shape_check(infer->shape[i], NULL) == MW_OK)
            continue;
        mw_error why = {0};
        mw__shape_check(infer->shape[i], &why);
        return mw__rule_fail(infer, MW_ERROR_SHAPE, "the result: %s", why.message);
    }
    return MW_OK;
}

mw_status mw__op_infer(const mw__op *op, mw__infer *infer)
{
    infer->op = op;
    infer->result_count = 1;
    infer->dtype = infer->own_dtype;
    infer->shape = infer->own_shape;
    infer->type = infer->own_type;
    if (op->row == NULL)
        return mw__rule_fail(infer, MW_ERROR_UNSUPPORTED, "the table does not know this operation");
    for (size_t i = 0; i < op->row->arg_count; i++)
        MW_TRY(check_slot(infer, &op->row->args[i], &op->slots[i]));
    MW_TRY(check_classes(infer));
    MW_TRY(op->row->shape(infer));
    return check_results(infer);
}

/* The one operation without arguments: its type is that of its literal. */
mw_status mw__shape_constant(mw__infer *infer)
{
    const mw__payload *payload = infer->op->result_count == 1 ? infer->op->results[0]->payload : NULL;
    if (payload == NULL)
        return mw__rule_fail(infer, MW_ERROR_ARGUMENT, "a constant has one result with a value; use mw_constant");
    if (payload->type->kind != MW__TENSOR)
        return mw__rule_fail(infer, MW_ERROR_UNSUPPORTED, "the constant is not a tensor");
    return mw__rule_result(infer, payload->type->dtype, payload->type->shape);
}

/* ---- parsed operations ---- */

static mw_status check_declared(const mw__infer *infer)
{
    const mw__op *op = infer->op;
    if (op->result_count != infer->result_count)
        return mw__rule_fail(infer, MW_ERROR_FORMAT, "%zu results are declared, the rule gives %zu", op->result_count,
                             infer->result_count);
    for (size_t i = 0; i < op->result_count; i++) {
        const mw_tensor *value = op->results[i];
        if (infer->type[i] != NULL ? mw__types_fit(value->type, infer->type[i])
                                   : mw__type_fits(value->type, infer->dtype[i], infer->shape[i]))
            continue;
        if (infer->type[i] != NULL || value->type->kind != MW__TENSOR)
            return mw__rule_fail(infer, MW_ERROR_FORMAT, "result %zu is declared with another type than the rule gives",
                                 i);
        char declared[200], wanted[200];
        mw__shape_print(mw_tensor_shape(value), declared, sizeof declared);
        mw__shape_print(infer->shape[i], wanted, sizeof wanted);
        return mw__rule_fail(infer, MW_ERROR_FORMAT, "result %zu is declared %s %s, the rule gives %s %s", i,
                             mw_dtype_name(mw_tensor_dtype(value)), declared, mw_dtype_name(infer->dtype[i]), wanted);
    }
    return MW_OK;
}

/* A constant may be of any type, also one that no rule computes with. */
static mw_status verify_constant(const mw__infer *infer)
{
    const mw_tensor *value = infer->op->result_count == 1 ? infer->op->results[0] : NULL;
    if (value == NULL || value->payload == NULL || !mw__type_equal(value->type, value->payload->type))
        return mw__rule_fail(infer, MW_ERROR_FORMAT, "the declared type is not that of the value");
    return MW_OK;
}

mw_status mw__op_verify(const mw__op *op, mw_error *err)
{
    if (mw__failed(err))
        return err->status;
    mw__infer infer = {.op = op, .err = err, .expands = true, .room = op->result_count};
    mw_status status;
    if (mw__op_is_const(op)) {
        status = verify_constant(&infer);
    } else {
        status = mw__op_infer(op, &infer);
        if (status == MW_OK)
            status = check_declared(&infer);
    }
    if (status != MW_OK && op->line != 0)
        mw__error_position(err, (int)op->line, (int)op->column);
    return status;
}

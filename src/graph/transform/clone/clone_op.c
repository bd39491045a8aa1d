/* Copying one operation as it is: operands are mapped, constants follow the element type of the operation, and results
 * are inferred again (operations of the table) or keep their declared types (the others). An operation whose constant
 * became a computed value is expanded. */
#include "base/number/types.h"
#include "graph/ir/copy.h"
#include "graph/ir/rule.h"
#include "graph/transform/clone/clone.h"
#include "graph/transform/clone/clone_mark.h"

#include <millwright/ops/elementwise.h>
#include <string.h>

/* ---- constants ---- */

/* The element type of the copy of a constant, where it follows from the options alone. */
static mw_dtype constant_dtype(const mw__clone *clone, const mw_tensor *source, bool by_row)
{
    const mw_dtype dtype = mw_tensor_dtype(source);
    if (!mw__number_dtype_is_float(dtype) || clone->options->dtype == NULL || !by_row)
        return dtype;
    return clone->options->dtype(clone->options->user, source);
}

static const mw__payload *copy_payload(mw_graph *to, const mw__payload *payload, mw_dtype dtype)
{
    if (payload->type->kind != MW__TENSOR || dtype == payload->type->dtype)
        return mw__payload_copy(to, payload, &to->error);
    return mw__payload_convert(to, payload, dtype, &to->error);
}

/* A refused conversion is easier to find with the constant's name. */
static mw_status name_failure(mw_graph *to, const mw_tensor *source)
{
    if (source->name != NULL)
        mw__error_subject(&to->error, "const", source->name);
    return to->error.status;
}

static mw_status clone_constant(mw__clone *clone, const mw__op *op)
{
    mw_graph *to = clone->to;
    const mw_tensor *source = op->results[0];
    const mw_dtype dtype = constant_dtype(clone, source, mw__clone_may_retype(clone, source));
    const mw__payload *payload = copy_payload(to, source->payload, dtype);
    mw_tensor *copy = payload != NULL ? mw__payload_emit(to, payload, source->hint, &to->error) : NULL;
    if (copy == NULL)
        return name_failure(to, source);
    mw__op *made = to->block->ops[to->block->op_count - 1];
    made->name_absent = op->name_absent;
    if (op->name != NULL)
        made->name = mw__arena_string(&to->arena, op->name, strlen(op->name), &to->error);
    made->attribute_count = op->attribute_count;
    MW_TRY(mw__attributes_copy(to, op->attributes, op->attribute_count, &made->attributes, &to->error));
    mw__clone_set(clone, source, copy);
    return to->error.status;
}

/* ---- operands ---- */

/* A literal in an argument has no statement; its copy is made where it stands. */
static mw_tensor *copy_literal(mw__clone *clone, const mw_tensor *source, bool by_row)
{
    mw_graph *to = clone->to;
    const mw__payload *payload = copy_payload(to, source->payload, constant_dtype(clone, source, by_row));
    mw_tensor *copy = payload != NULL ? mw__value_create(to, payload->type, source->hint, &to->error) : NULL;
    if (copy != NULL)
        copy->payload = payload;
    return copy;
}

static mw_tensor *map_value(mw__clone *clone, const mw__op *op, const mw_tensor *source)
{
    mw_tensor *copy = mw__clone_get(clone, source);
    if (copy == NULL && source->payload != NULL && source->op == NULL)
        copy = copy_literal(clone, source, op->row != NULL);
    if (copy == NULL) {
        char subject[160];
        mw__graph_fail(clone->to, MW_ERROR_STATE, "clone: %s uses a value that was not copied",
                       mw__op_subject(op, subject, sizeof subject));
    }
    return copy;
}

static mw__operand *copy_operands(mw__clone *clone, const mw__op *op, const mw__operand *from, size_t count)
{
    mw_graph *to = clone->to;
    mw__operand *operands = mw__arena_alloc(&to->arena, count, sizeof *operands, &to->error);
    for (size_t i = 0; operands != NULL && i < count; i++) {
        operands[i].inlined = from[i].inlined;
        if (from[i].value != NULL) {
            operands[i].value = map_value(clone, op, from[i].value);
        } else {
            operands[i].member_count = from[i].member_count;
            operands[i].members = copy_operands(clone, op, from[i].members, from[i].member_count);
        }
        if (operands[i].value == NULL && operands[i].members == NULL)
            return NULL;
    }
    return operands;
}

static const mw__slot *source_slot(const mw__op *op, const char *name)
{
    for (size_t i = 0; i < op->slot_count; i++) {
        if (op->slots[i].name[0] == name[0] && strcmp(op->slots[i].name, name) == 0)
            return &op->slots[i];
    }
    return NULL;
}

static mw_status copy_slot(mw__clone *clone, const mw__op *op, const mw__slot *from, mw__slot *into)
{
    if (from->operands == NULL)
        return MW_OK;
    into->operands = copy_operands(clone, op, from->operands, from->count);
    if (into->operands == NULL)
        return clone->to->error.status;
    into->count = from->count;
    into->tuple = from->tuple;
    into->attribute = from->attribute;
    return MW_OK;
}

/* ---- following the element type ---- */

/* The element type of the copy: that of a computed T argument, or of the first one. */
static mw_dtype copied_dtype(const mw__op *op)
{
    for (size_t i = 0; i < op->slot_count; i++) {
        const mw__slot *slot = &op->slots[i];
        for (size_t k = 0; mw__arg_type_is_t(op->row->args[i].type) && k < slot->count; k++) {
            if (slot->operands[k].value != NULL && !mw__is_constant(slot->operands[k].value))
                return mw_tensor_dtype(slot->operands[k].value);
        }
    }
    return mw__op_dtype(op);
}

static mw_status retype_operand(mw_graph *to, mw__operand *operand, mw_dtype dtype)
{
    mw_tensor *value = operand->value;
    if (value == NULL || value->payload == NULL || !mw__number_dtype_is_float(mw_tensor_dtype(value)) ||
        mw_tensor_dtype(value) == dtype)
        return MW_OK;
    const mw__payload *payload = mw__payload_convert(to, value->payload, dtype, &to->error);
    if (payload == NULL)
        return name_failure(to, value);
    if (!operand->inlined) {
        operand->value = mw__payload_emit(to, payload, value->hint, &to->error);
        return to->error.status;
    }
    operand->value = mw__value_create(to, payload->type, value->hint, &to->error);
    if (operand->value != NULL)
        operand->value->payload = payload;
    return to->error.status;
}

/* Constants that an operation wants in its own element type, and scalars such as epsilon, if that type changed. */
static mw_status retype_constants(mw_graph *to, const mw__op *source, mw__op *op)
{
    const mw_dtype dtype = copied_dtype(op);
    if (!mw__number_dtype_is_float(dtype) || dtype == mw__op_dtype(source))
        return MW_OK;
    for (size_t i = 0; i < op->slot_count; i++) {
        const mw__arg_row *arg = &op->row->args[i];
        if (!mw__arg_type_is_t(arg->type) && !(arg->type == MW__FLOAT && arg->kind == MW__CONST))
            continue;
        for (size_t k = 0; k < op->slots[i].count; k++)
            MW_TRY(retype_operand(to, &op->slots[i].operands[k], dtype));
    }
    return MW_OK;
}

/* ---- results ---- */

/* Whether result i is other than declared, beyond what becomes fp16 for a device. */
static bool is_other(const mw__op *source, const mw__infer *infer, size_t i)
{
    const mw__type *declared = source->results[i]->type;
    if (infer->type[i] != NULL || declared->kind != MW__TENSOR)
        return false;
    const mw_dtype dtype = infer->dtype[i] == MW_F16 ? declared->dtype : infer->dtype[i];
    return !mw__type_fits(declared, dtype, infer->shape[i]);
}

/* A text may declare what its rule contradicts. That is said here, where the result is inferred again; if it is other
 * because operands were changed, the source's own rule gives what it declares. */
static mw_status check_source(mw_graph *to, const mw__op *source, const mw__infer *infer)
{
    bool other = false;
    for (size_t i = 0; i < infer->result_count && i < source->result_count; i++)
        other = other || is_other(source, infer, i);
    return other ? mw__op_verify(source, &to->error) : MW_OK;
}

/* What a rule cannot know but the source declared stays known. */
static mw_status keep_declared(mw_graph *to, const mw__op *source, mw__infer *infer)
{
    for (size_t i = 0; i < infer->result_count && i < source->result_count; i++) {
        const mw__type *type = source->results[i]->type;
        if (infer->type[i] != NULL && mw__types_fit(infer->type[i], type))
            infer->type[i] = mw__type_merge(to, infer->type[i], type, &to->error);
        MW_TRY(to->error.status);
        const mw_shape declared = mw_tensor_shape(source->results[i]);
        for (int d = 0; d < infer->shape[i].rank && declared.rank == infer->shape[i].rank; d++) {
            if (infer->shape[i].dim[d] == MW_DIM_UNKNOWN)
                infer->shape[i].dim[d] = declared.dim[d];
        }
    }
    return MW_OK;
}

/* Branches that had one extent in the source and have two in the copy. */
static mw_status check_joined(const mw__op *source, const mw__infer *infer)
{
    for (size_t i = 0; i < infer->result_count && i < source->result_count; i++) {
        const mw_shape yes = mw_tensor_shape(source->blocks[0]->outputs[i]);
        const mw_shape no = mw_tensor_shape(source->blocks[1]->outputs[i]);
        for (int d = 0; d < infer->shape[i].rank && d < yes.rank && d < no.rank; d++)
            if (infer->shape[i].dim[d] == MW_DIM_UNKNOWN && yes.dim[d] == no.dim[d] && yes.dim[d] >= 0)
                return mw__rule_fail(infer, MW_ERROR_SHAPE, "its branches give result %zu other extents on axis %d", i,
                                     d);
    }
    return MW_OK;
}

static mw_status infer_results(const mw__clone *clone, const mw__op *source, mw__op *op)
{
    mw_graph *to = clone->to;
    mw__infer infer = {.err = &to->error, .room = source->result_count};
    MW_TRY(mw__op_infer(op, &infer));
    MW_TRY(check_source(to, source, &infer));
    if (clone->options->follows && source->row->id == MW__OP_cond)
        MW_TRY(check_joined(source, &infer));
    MW_TRY(keep_declared(to, source, &infer));
    return mw__op_add_results(op, &infer, &to->error);
}

static const mw__type *result_type(mw_graph *to, const mw_tensor *source, mw_dtype dtype)
{
    return dtype == MW_DTYPE_NONE || dtype == mw_tensor_dtype(source)
               ? mw__type_copy(to, source->type, &to->error)
               : mw__type_tensor(to, dtype, source->type->shape, &to->error);
}

/* `dtypes` as for mw__clone_op_declared. */
static mw_status copy_results(mw_graph *to, const mw__op *source, const mw_dtype *dtypes, mw__op *op)
{
    op->results = mw__arena_alloc(&to->arena, source->result_count, sizeof *op->results, &to->error);
    if (op->results == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < source->result_count; i++) {
        const mw__type *type = result_type(to, source->results[i], dtypes != NULL ? dtypes[i] : MW_DTYPE_NONE);
        mw_tensor *value = type != NULL ? mw__value_create(to, type, source->results[i]->hint, &to->error) : NULL;
        if (value == NULL)
            return to->error.status;
        value->op = op;
        value->result = (uint32_t)i;
        op->results[op->result_count++] = value;
    }
    return MW_OK;
}

/* Operations without a row that hold a value besides their arguments. */
static mw_status copy_result_payloads(mw_graph *to, const mw__op *source, const mw__op *op)
{
    for (size_t i = 0; i < source->result_count && i < op->result_count; i++) {
        if (source->results[i]->payload == NULL)
            continue;
        op->results[i]->payload = mw__payload_copy(to, source->results[i]->payload, &to->error);
        if (op->results[i]->payload == NULL)
            return to->error.status;
    }
    return MW_OK;
}

/* ---- the operation ---- */

static mw_status copy_surface(mw_graph *to, const mw__op *source, mw__op *op)
{
    op->name_absent = source->name_absent;
    op->line = source->line;
    op->column = source->column;
    if (source->name != NULL) {
        op->name = mw__arena_string(&to->arena, source->name, strlen(source->name), &to->error);
        if (op->name == NULL)
            return MW_ERROR_MEMORY;
    }
    MW_TRY(mw__attributes_copy(to, source->attributes, source->attribute_count, &op->attributes, &to->error));
    op->attribute_count = source->attribute_count;
    return MW_OK;
}

/* The slots of a row have its names. */
static mw_status name_slot(mw_graph *to, const mw__slot *source, mw__slot *slot)
{
    if (slot->name == NULL)
        slot->name = mw__arena_string(&to->arena, source->name, strlen(source->name), &to->error);
    return slot->name != NULL ? MW_OK : MW_ERROR_MEMORY;
}

static mw_status clone_verbatim(mw__clone *clone, const mw__op *source, const mw_dtype *dtypes)
{
    mw_graph *to = clone->to;
    mw__op *op = mw__op_create(to, source->row, source->kind, source->slot_count, &to->error);
    if (op == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < source->slot_count; i++) {
        MW_TRY(name_slot(to, &source->slots[i], &op->slots[i]));
        MW_TRY(copy_slot(clone, source, &source->slots[i], &op->slots[i]));
    }
    MW_TRY(copy_surface(to, source, op));
    MW_TRY(mw__clone_blocks(clone, source, op));
    MW_TRY(copy_results(to, source, dtypes, op));
    MW_TRY(copy_result_payloads(to, source, op));
    MW_TRY(mw__block_add_op(to->block, op, &to->error));
    for (size_t i = 0; i < op->result_count; i++)
        mw__clone_set(clone, source->results[i], op->results[i]);
    return MW_OK;
}

/* Another opset may have another row: its arguments are matched by name. */
static mw_status fill_row_slots(mw__clone *clone, const mw__op *source, mw__op *op)
{
    for (size_t i = 0; i < source->slot_count; i++) {
        const mw__slot *from = &source->slots[i];
        if (from->operands == NULL)
            continue;
        if (mw__row_arg(op->row, from->name) == NULL)
            return mw__fail(&clone->to->error, MW_ERROR_UNSUPPORTED, "%s: has no argument %s in opset ios%d",
                            source->kind, from->name, (int)clone->to->current->opset);
        mw__slot *into = &op->slots[source_slot(op, from->name) - op->slots];
        MW_TRY(copy_slot(clone, source, from, into));
    }
    return MW_OK;
}

/* The clone of a mixed operation for a device of fp16 stays in it. */
static mw_status unmix(const mw__clone *clone, mw__op *op, mw_dtype *out_dtype)
{
    const mw_dtype wide = clone->options->dtype != NULL ? MW_F16 : MW_F32;
    return mw__op_unmix(clone->to, op, wide, out_dtype, &clone->to->error);
}

/* The one result of an operation that was written otherwise, in its own type if that is another. */
static mw_status set_result(mw__clone *clone, const mw__op *source, mw_tensor *result, mw_dtype dtype)
{
    if (result != NULL && dtype != MW_DTYPE_NONE)
        result = mw_cast(result, dtype);
    mw__clone_set(clone, source->results[0], result);
    return result != NULL ? MW_OK : clone->to->error.status;
}

static mw_status clone_expanded(mw__clone *clone, const mw__op *source, mw__build *build, mw_dtype dtype)
{
    mw_tensor *results[MW__INFER_OWN] = {NULL};
    MW_TRY(mw__build_expand(build, results, MW__INFER_OWN));
    for (size_t i = 1; i < source->result_count && i < MW__INFER_OWN; i++)
        mw__clone_set(clone, source->results[i], results[i]);
    return set_result(clone, source, results[0], dtype);
}

static mw_status clone_row(mw__clone *clone, const mw__op *source)
{
    mw_graph *to = clone->to;
    mw__build build = mw__build_begin_graph(source->kind, to);
    if (build.failed)
        return to->error.status;
    MW_TRY(fill_row_slots(clone, source, build.op));
    MW_TRY(retype_constants(to, source, build.op));
    if (build.row != source->row)
        mw__build_defaults(&build);
    MW_TRY(to->error.status);
    mw_dtype dtype;
    MW_TRY(unmix(clone, build.op, &dtype));
    if (mw__build_wants_expansion(&build))
        return clone_expanded(clone, source, &build, dtype);
    MW_TRY(copy_surface(to, source, build.op));
    MW_TRY(mw__clone_blocks(clone, source, build.op));
    MW_TRY(infer_results(clone, source, build.op));
    MW_TRY(mw__block_add_op(to->block, build.op, &to->error));
    if (dtype != MW_DTYPE_NONE)
        return set_result(clone, source, build.op->results[0], dtype);
    for (size_t i = 0; i < source->result_count && i < build.op->result_count; i++)
        mw__clone_set(clone, source->results[i], build.op->results[i]);
    return MW_OK;
}

mw_tensor *mw__clone_operand(mw__clone *clone, const mw_tensor *source, mw_dtype dtype)
{
    mw_graph *to = clone->to;
    if (source == NULL)
        return NULL;
    if (source->payload == NULL || source->op != NULL)
        return mw__clone_get(clone, source);
    const mw__payload *payload = mw__payload_convert(to, source->payload, dtype, &to->error);
    return payload != NULL ? mw__payload_emit(to, payload, source->hint, &to->error) : NULL;
}

mw_status mw__clone_op(mw__clone *clone, const mw__op *op, mw_error *err)
{
    mw_status status = mw_graph_check(clone->to, err);
    if (status != MW_OK)
        return status;
    if (op->row != NULL && op->row->id == MW__OP_const)
        status = clone_constant(clone, op);
    else
        status = op->row != NULL ? clone_row(clone, op) : clone_verbatim(clone, op, NULL);
    if (status != MW_OK && err != &clone->to->error)
        mw_graph_check(clone->to, err);
    return status;
}

mw_status mw__clone_op_declared(mw__clone *clone, const mw__op *op, const mw_dtype *dtypes, mw_error *err)
{
    MW_TRY(mw_graph_check(clone->to, err));
    const mw_status status = clone_verbatim(clone, op, dtypes);
    if (status != MW_OK && err != &clone->to->error)
        mw_graph_check(clone->to, err);
    return status;
}

bool mw__clone_as_declared(void *user, mw__clone *clone, const mw__op *op)
{
    (void)user;
    if (op->row != NULL && op->row->id == MW__OP_const)
        return false;
    mw__clone_op_declared(clone, op, NULL, &clone->to->error);
    return true;
}

/* ---- with other operands ---- */

typedef struct mw__swapped {
    const mw_tensor *source;
    mw_tensor *copy; /* what the clone has for it */
} mw__swapped;

static void swap_operands(mw__clone *clone, const mw__op *op, mw__clone_swap *swap, void *user)
{
    for (size_t i = 0; i < op->slot_count; i++)
        for (size_t k = 0; op->slots[i].operands != NULL && k < op->slots[i].count; k++) {
            const mw__operand *operand = &op->slots[i].operands[k];
            mw_tensor *other = operand->value != NULL ? swap(user, clone, op, i, operand) : NULL;
            if (other == NULL)
                continue;
            clone->swaps[clone->swap_count++] = (mw__swapped){operand->value, mw__clone_get(clone, operand->value)};
            mw__clone_set(clone, operand->value, other);
        }
}

void mw__clone_unswap(mw__clone *clone)
{
    for (; clone->swap_count > 0; clone->swap_count--) {
        const mw__swapped *last = &clone->swaps[clone->swap_count - 1];
        mw__clone_set(clone, last->source, last->copy);
    }
}

void mw__clone_op_with(mw__clone *clone, const mw__op *op, mw__clone_swap *swap, void *user)
{
    size_t most = 0;
    mw_graph *to = clone->to;
    for (size_t i = 0; i < op->slot_count; i++)
        most += op->slots[i].count;
    mw__swapped *own = mw__alloc(to->allocator, most, sizeof *own, &to->error), *outer = clone->swaps;
    if (own == NULL)
        return;
    clone->swaps = own;
    swap_operands(clone, op, swap, user);
    if (to->error.status == MW_OK)
        mw__clone_op(clone, op, &to->error);
    mw__clone_unswap(clone);
    clone->swaps = outer;
    mw__free(to->allocator, own);
}

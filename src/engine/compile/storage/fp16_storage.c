/* Copies a function so that intermediates of fp16 are held in fp32, by a rule of the clone. Decides nothing about
 * rounding beyond which values need it; the planner does it. */
#include "engine/compile/storage/fp16_storage.h"

#include "base/number/fp16.h"
#include "engine/compile/storage/chip_rounding.h"
#include "engine/compile/storage/int8_products.h"
#include "engine/core/kernel.h"
#include "engine/kernels/kernel_table.h"
#include "graph/constants/compressed.h"
#include "graph/transform/clone/clone.h"

#include <millwright/ops/elementwise.h>

/* By id of a value of the text. */
typedef struct storage {
    mw_graph *to;
    mw__arithmetic arithmetic;
    mw_tensor **fp32, **fp16; /* the two forms of a value in the copy; NULL = not made */
    mw_tensor **made;         /* what its operation writes in the copy */
    bool *output;
    uint8_t *wanted; /* what is done to it (mw__round) */
    bool *other;     /* something reads it that is no product; of fixed-point products alone, else NULL */
} storage;

/* ---- operations ---- */

static mw__storage storage_of(const mw__op *op)
{
    return op->row != NULL ? mw__kernel_row_of(op->row->id)->storage : MW__STORAGE_HALVES;
}

/* True if a result is rounded to fp16 after the kernel, or by it in fp32. */
static bool is_rounded(const mw__op *op)
{
    if (storage_of(op) == MW__STORAGE_HALVES || storage_of(op) == MW__STORAGE_EITHER)
        return false;
    const mw__rounding_rule rule = mw__kernel_row_of(op->row->id)->rounding;
    return rule == MW__ROUNDING_OF_BOOL ? mw__arg(op, "x")->type->dtype != MW_BOOL : rule != MW__ROUNDING_EXACT;
}

/* ---- the two forms of a value ---- */

static bool is_half(const mw_tensor *value) { return value->type->kind == MW__TENSOR && value->type->dtype == MW_F16; }

static mw_tensor *convert(const mw_tensor *value, mw_tensor *copy, mw_dtype dtype)
{
    mw_tensor *converted = mw_cast(copy, dtype);
    if (converted != NULL)
        converted->name = value->name;
    return converted;
}

/* A value with a payload and no statement. */
static mw_tensor *literal(mw_graph *to, const mw_tensor *value, const mw__payload *payload)
{
    mw_tensor *copy = mw__value_create(to, payload->type, value->hint, &to->error);
    if (copy == NULL)
        return NULL;
    copy->name = value->name;
    copy->payload = payload;
    copy->packed = payload->data == NULL ? value->packed : NULL;
    return copy;
}

/* Of a constant that stays as it is stored: a type alone. */
static mw_tensor *packed_literal(mw_graph *to, const mw_tensor *value, mw_dtype dtype)
{
    mw__payload *payload = mw__arena_alloc(&to->arena, 1, sizeof *payload, &to->error);
    const mw__type *type = mw__type_tensor(to, dtype, value->type->shape, &to->error);
    if (payload == NULL || type == NULL)
        return NULL;
    *payload = (mw__payload){.type = type};
    return literal(to, value, payload);
}

static mw_tensor *constant_as_fp32(mw_graph *to, const mw_tensor *value)
{
    if (value->packed != NULL)
        return packed_literal(to, value, MW_F32);
    const mw__type *type = mw__type_tensor(to, MW_F32, value->type->shape, &to->error);
    mw__payload *payload = mw__arena_alloc(&to->arena, 1, sizeof *payload, &to->error);
    const size_t count = value->payload->size / sizeof(uint16_t);
    float *data = mw__arena_alloc(&to->arena, count, sizeof *data, &to->error);
    if (type == NULL || payload == NULL || data == NULL)
        return NULL;
    mw__fp16_to_float_n(data, value->payload->data, count);
    *payload = (mw__payload){.type = type, .data = data, .size = count * sizeof *data, .splat = value->payload->splat};
    return literal(to, value, payload);
}

static mw_tensor *as_fp32(storage *s, const mw_tensor *value)
{
    mw_tensor **fp32 = &s->fp32[value->id];
    if (*fp32 == NULL)
        *fp32 = value->payload != NULL ? constant_as_fp32(s->to, value) : convert(value, s->fp16[value->id], MW_F32);
    return *fp32;
}

static mw_tensor *as_fp16(storage *s, const mw_tensor *value)
{
    mw_tensor **fp16 = &s->fp16[value->id];
    if (*fp16 == NULL)
        *fp16 =
            value->payload != NULL ? literal(s->to, value, value->payload) : convert(value, s->fp32[value->id], MW_F16);
    return *fp16;
}

/* As it was computed; constants cost nothing in fp32. */
static mw_tensor *as_made(storage *s, const mw_tensor *value)
{
    if (value->payload != NULL)
        return as_fp32(s, value);
    return s->made[value->id];
}

/* ---- one operation ---- */

/* Inputs are fp16 in memory; the clone has copied them before the first operation. */
static void note_inputs(storage *s, const mw__clone *clone, const mw__op *op)
{
    for (size_t i = 0; i < op->slot_count; i++)
        for (size_t j = 0; j < op->slots[i].count; j++) {
            const mw_tensor *value = op->slots[i].operands[j].value;
            if (is_half(value) && value->op == NULL && value->payload == NULL && s->made[value->id] == NULL)
                s->made[value->id] = s->fp16[value->id] = mw__clone_get(clone, value);
        }
}

typedef mw_tensor *form_function(storage *s, const mw_tensor *value);

static void give_operands(storage *s, mw__clone *clone, const mw__op *op, form_function *give)
{
    for (size_t i = 0; i < op->slot_count; i++)
        for (size_t j = 0; j < op->slots[i].count; j++) {
            const mw_tensor *value = op->slots[i].operands[j].value;
            if (is_half(value))
                mw__clone_set(clone, value, give(s, value));
        }
}

/* What a mover does to its result it does in fp32. It takes its operands so, too, if one of them is there in fp32, or
 * if it can run once, when compiled. */
static mw__storage storage_of_mover(const storage *s, const mw__op *op)
{
    bool constant = true;
    if (s->wanted[op->results[0]->id] != 0)
        return MW__STORAGE_FLOATS;
    for (size_t i = 0; i < op->slot_count; i++)
        for (size_t j = 0; j < op->slots[i].count; j++) {
            const mw_tensor *value = op->slots[i].operands[j].value;
            if (s->fp32[value->id] != NULL && value->payload == NULL)
                return MW__STORAGE_FLOATS;
            constant = constant && value->payload != NULL;
        }
    return constant ? MW__STORAGE_FLOATS : MW__STORAGE_HALVES;
}

/* The form that an operation gives a half result. */
static bool is_fp16(const storage *s, const mw_tensor *result, mw__storage as)
{
    return as == MW__STORAGE_HALVES || (as == MW__STORAGE_CONVERTS && s->output[result->id]);
}

static void take_result(storage *s, const mw_tensor *result, mw__storage as)
{
    mw_tensor *made = s->made[result->id];
    (is_fp16(s, result, as) ? s->fp16 : s->fp32)[result->id] = made;
    if (s->output[result->id])
        as_fp16(s, result);
}

static void copy_constant(storage *s, mw__clone *clone, const mw_tensor *value)
{
    mw_tensor *copy = mw__payload_emit(s->to, value->payload, value->hint, &s->to->error);
    if (copy != NULL && value->payload->data == NULL)
        copy->packed = value->packed;
    if (is_half(value))
        s->fp16[value->id] = copy;
    mw__clone_set(clone, value, copy);
}

static void copy_op(storage *s, mw__clone *clone, const mw__op *op)
{
    static form_function *const give[] = {
        [MW__STORAGE_HALVES] = as_fp16, [MW__STORAGE_FLOATS] = as_fp32, [MW__STORAGE_CONVERTS] = as_made};
    note_inputs(s, clone, op);
    const mw__storage own = storage_of(op), as = own == MW__STORAGE_EITHER ? storage_of_mover(s, op) : own;
    mw_dtype *dtypes = mw__alloc(s->to->allocator, op->result_count, sizeof *dtypes, &s->to->error);
    if (dtypes == NULL)
        return;
    for (size_t i = 0; i < op->result_count; i++)
        dtypes[i] = is_half(op->results[i]) && !is_fp16(s, op->results[i], as) ? MW_F32 : MW_DTYPE_NONE;
    give_operands(s, clone, op, give[as]);
    const mw_status status = mw__clone_op_declared(clone, op, dtypes, &s->to->error);
    mw__free(s->to->allocator, dtypes);
    for (size_t i = 0; status == MW_OK && i < op->result_count; i++) {
        s->made[op->results[i]->id] = mw__clone_get(clone, op->results[i]);
        if (is_half(op->results[i]))
            take_result(s, op->results[i], as);
    }
}

static bool store_op(void *user, mw__clone *clone, const mw__op *op)
{
    const bool constant = op->row != NULL && (op->row->id == MW__OP_const || mw__op_is_constexpr(op));
    for (size_t i = 0; constant && i < op->result_count; i++)
        copy_constant(user, clone, op->results[i]);
    if (!constant)
        copy_op(user, clone, op);
    return true;
}

/* ---- the function ---- */

/* True if there is anything to widen and all of it can be: no operation holds blocks, every constant is loaded. */
static bool suits(const mw__block *body)
{
    bool half = false;
    for (size_t i = 0; i < body->op_count; i++) {
        const mw__op *op = body->ops[i];
        if (op->block_count > 0)
            return false;
        if (op->row != NULL && mw__op_is_constexpr(op))
            continue; /* its operands are read by nothing else */
        for (size_t r = 0; r < op->result_count; r++) {
            const mw_tensor *result = op->results[r];
            half = half || is_half(result);
        }
        for (size_t s = 0; s < op->slot_count; s++)
            for (size_t j = 0; j < op->slots[s].count; j++) {
                const mw_tensor *value = op->slots[s].operands[j].value;
                if (value == NULL ||
                    (value->payload != NULL && is_half(value) && value->payload->data == NULL && value->packed == NULL))
                    return false;
                half = half || is_half(value);
            }
    }
    return half;
}

/* Which values more than products read, where those take a NaN as a number. */
static mw_status find_other_reads(storage *s, const mw__function *from, mw_error *err)
{
    if ((s->arithmetic & MW__ARITHMETIC(product_fixed_point)) == 0)
        return MW_OK;
    s->other = mw__alloc(s->to->allocator, from->graph->value_count, sizeof *s->other, err);
    for (size_t i = 0; s->other != NULL && i < from->body->op_count; i++) {
        const mw__op *op = from->body->ops[i];
        for (size_t k = 0; (op->row == NULL || !mw__storage_is_product(op)) && k < op->slot_count; k++)
            for (size_t j = 0; j < op->slots[k].count; j++)
                s->other[op->slots[k].operands[j].value->id] = true;
    }
    return s->other != NULL ? MW_OK : MW_ERROR_MEMORY;
}

static mw_status init(storage *s, const mw__function *from, mw_error *err)
{
    const mw_allocator *allocator = s->to->allocator;
    const size_t count = from->graph->value_count;
    s->fp32 = mw__alloc(allocator, count, sizeof *s->fp32, err);
    s->fp16 = mw__alloc(allocator, count, sizeof *s->fp16, err);
    s->made = mw__alloc(allocator, count, sizeof *s->made, err);
    s->output = mw__alloc(allocator, count, sizeof *s->output, err);
    s->wanted = mw__alloc(allocator, count, sizeof *s->wanted, err);
    if (s->fp32 == NULL || s->fp16 == NULL || s->made == NULL || s->output == NULL || s->wanted == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < from->body->output_count; i++)
        s->output[from->body->outputs[i]->id] = true;
    for (size_t i = 0; i < from->body->op_count; i++) {
        const mw__op *op = from->body->ops[i];
        for (size_t r = 0; r < op->result_count; r++)
            s->wanted[op->results[r]->id] = is_half(op->results[r]) && is_rounded(op) ? MW__ROUND_HALF : 0;
    }
    MW_TRY(find_other_reads(s, from, err));
    return s->arithmetic != 0 ? mw__storage_chip_rounding(from, s->arithmetic, s->wanted, err) : MW_OK;
}

static void deinit(const storage *s)
{
    mw__free(s->to->allocator, s->fp32);
    mw__free(s->to->allocator, s->fp16);
    mw__free(s->to->allocator, s->made);
    mw__free(s->to->allocator, s->output);
    mw__free(s->to->allocator, s->wanted);
    mw__free(s->to->allocator, s->other);
}

static mw__function *begin_function(mw_graph *to, const mw__function *from, mw_error *err)
{
    mw__function *function = mw__function_create(to, from->name, from->opset, err);
    if (function == NULL)
        return NULL;
    function->line = from->line;
    function->column = from->column;
    to->current = function;
    to->block = function->body;
    return function;
}

/* Outputs are fp16 in memory. */
static mw_status add_outputs(const storage *s, const mw__clone *clone, const mw__function *function, mw_error *err)
{
    const mw__block *body = clone->from->body;
    for (size_t i = 0; i < body->output_count; i++) {
        const mw_tensor *value = body->outputs[i];
        mw_tensor *fp16 = s->fp16[value->id];
        MW_TRY(mw__block_add_output(function->body, fp16 != NULL ? fp16 : mw__clone_get(clone, value), err));
    }
    return MW_OK;
}

/* By value id of the text; NULL where int8 numbers are multiplied like others. */
static mw_status find_codes(const storage *s, const mw__function *from, mw__arena *arena, mw__codes ***out,
                            mw_error *err)
{
    if ((s->arithmetic & MW__ARITHMETIC(int8_sums)) == 0)
        return MW_OK;
    *out = mw__arena_alloc(arena, from->graph->value_count, sizeof **out, err);
    return *out != NULL ? mw__storage_find_codes(from, arena, *out, err) : MW_ERROR_MEMORY;
}

static mw_status describe_rounding(const storage *s, const mw__function *from, mw__arena *arena, mw__rounding *out,
                                   mw_error *err)
{
    const size_t count = s->to->value_count;
    bool *half = mw__arena_alloc(arena, count, sizeof *half, err);
    uint8_t *wanted = mw__arena_alloc(arena, count, sizeof *wanted, err);
    uint32_t *origin = mw__arena_alloc(arena, count, sizeof *origin, err);
    bool *operand = mw__arena_alloc(arena, count, sizeof *operand, err);
    mw__codes **codes = mw__arena_alloc(arena, count, sizeof *codes, err), **found = NULL;
    if (half == NULL || wanted == NULL || origin == NULL || operand == NULL || codes == NULL)
        return MW_ERROR_MEMORY;
    MW_TRY(find_codes(s, from, arena, &found, err));
    for (size_t i = 0; i < from->graph->value_count; i++) {
        const mw_tensor *value = from->graph->values[i], *made = s->made[i];
        if (s->other != NULL && !s->other[i] && value->op == NULL && s->fp32[i] != NULL)
            operand[s->fp32[i]->id] = true;
        if (made == NULL || value->op == NULL)
            continue;
        half[made->id] = is_half(value);
        wanted[made->id] = s->wanted[i];
        origin[made->id] = value->id;
        codes[made->id] = found != NULL ? found[i] : NULL;
    }
    *out = (mw__rounding){
        .half = half, .wanted = wanted, .operand = operand, .codes = codes, .origin = origin, .count = count};
    return MW_OK;
}

static mw_status store_function(storage *s, const mw__function *from, mw__arena *arena, const mw__function **out,
                                mw__rounding *out_rounding, mw_error *err)
{
    const mw__clone_options options = {.rule = store_op, .user = s};
    mw__clone clone = {0};
    mw__function *function = begin_function(s->to, from, err);
    if (function == NULL)
        return MW_ERROR_MEMORY;
    mw_status status = mw__clone_run(&clone, from, s->to, &options, err);
    if (status == MW_OK)
        status = add_outputs(s, &clone, function, err);
    if (status == MW_OK)
        status = describe_rounding(s, from, arena, out_rounding, err);
    mw__clone_deinit(&clone);
    *out = function;
    return status;
}

mw_status mw__store_as_fp32(const mw__function *from, mw__arithmetic arithmetic, mw_graph *to, mw__arena *arena,
                            const mw__function **out, mw__rounding *out_rounding, mw_error *err)
{
    storage s = {.to = to, .arithmetic = arithmetic};
    *out = from;
    *out_rounding = (mw__rounding){0};
    if (!suits(from->body))
        return MW_OK;
    mw_status status = init(&s, from, err);
    if (status == MW_OK)
        status = store_function(&s, from, arena, out, out_rounding, err);
    deinit(&s);
    return status;
}

/* Expanding compressed constants whole. What the graph keeps of it is bounded by what is stored: a short text cannot
 * claim much memory. */
#include "base/memory/checked.h"
#include "base/number/fp16.h"
#include "base/text/printable.h"
#include "graph/constants/compressed.h"
#include "graph/ir/rule.h"

#include <string.h>

enum { RUN = 512, NESTED_MAX = 16 };
/* Dense bytes for each stored one, and for any: vectors of 16 fp32 for each bit. */
enum { GROWTH = 512, SMALL = 65536 };

typedef struct expansion {
    const mw__op *op;
    mw_graph *graph;
    mw__arena scratch;
    mw_error *err;
} expansion;

/* ---- operands and results ---- */

static const mw__payload *held(const mw_tensor *value)
{
    const mw__payload *payload = value == NULL ? NULL : value->payload != NULL ? value->payload : value->expanded;
    return payload != NULL && payload->data != NULL ? payload : NULL;
}

static const mw__payload *operand(const expansion *e, const char *arg) { return held(mw__arg(e->op, arg)); }

static mw_status fail_expansion(const expansion *e, const char *what)
{
    char subject[160];
    return mw__fail(e->err, MW_ERROR_UNSUPPORTED, "%s: %s", mw__op_subject(e->op, subject, sizeof subject), what);
}

static mw_status check_growth(const expansion *e, size_t bytes)
{
    char subject[160];
    size_t stored = 0, most;
    for (size_t i = 0; i < e->op->slot_count; i++) {
        const mw__payload *payload = e->op->slots[i].count == 1 ? held(e->op->slots[i].operands[0].value) : NULL;
        if (payload != NULL && !mw__add_size(stored, payload->size, &stored))
            return MW_ERROR_MEMORY;
    }
    if (mw__mul_size(stored, GROWTH, &most) && mw__add_size(most, SMALL, &most) && bytes > most)
        return mw__fail(e->err, MW_ERROR_UNSUPPORTED,
                        "%s: %zu bytes are claimed of %zu stored; at most %d for each are expanded",
                        mw__op_subject(e->op, subject, sizeof subject), bytes, stored, GROWTH);
    return MW_OK;
}

/* Zeros for result `index`. */
static mw_status make_result(const expansion *e, size_t index, mw__payload **out)
{
    mw_tensor *value = e->op->results[index];
    size_t bytes;
    *out = NULL;
    if (!mw__type_bytes(value->type, &bytes))
        return fail_expansion(e, "the size of the constant is not known");
    MW_TRY(check_growth(e, bytes));
    mw__payload *payload = mw__arena_alloc(&e->graph->arena, 1, sizeof *payload, e->err);
    void *data = mw__arena_alloc(&e->graph->arena, bytes, 1, e->err);
    if (payload == NULL || data == NULL)
        return MW_ERROR_MEMORY;
    *payload = (mw__payload){.type = value->type, .data = data, .size = bytes};
    *out = payload;
    return MW_OK;
}

/* Numbers that the type holds, from element `begin` on. */
static void store_numbers(const mw__payload *payload, int64_t begin, int64_t count, const float *numbers)
{
    unsigned char *data = (unsigned char *)(uintptr_t)payload->data;
    switch (payload->type->dtype) {
    case MW_F16:
        mw__fp16_from_float_n((uint16_t *)(void *)data + begin, numbers, (size_t)count);
        break;
    case MW_F32:
        memcpy((float *)(void *)data + begin, numbers, (size_t)count * sizeof *numbers);
        break;
    default: /* int8 and uint8 */
        for (int64_t i = 0; i < count; i++)
            data[begin + i] = (unsigned char)(int)numbers[i];
    }
}

/* ---- masks ---- */

static bool bit_at(const mw__payload *mask, int64_t index)
{
    const unsigned char *data = mask->data;
    index = mask->splat ? 0 : index;
    return (data[index / 8] >> (index % 8) & 1) != 0;
}

static void set_bit(const mw__payload *mask, int64_t index)
{
    unsigned char *data = (unsigned char *)(uintptr_t)mask->data;
    data[index / 8] = (unsigned char)(data[index / 8] | 1u << (index % 8));
}

/* Elements of 4 bits or whole bytes. */
static void copy_element(const mw__payload *to, int64_t at, const mw__payload *from, int64_t index)
{
    const int bits = mw_dtype_bits(to->type->dtype);
    unsigned char *data = (unsigned char *)(uintptr_t)to->data;
    const unsigned char *source = from->data;
    index = from->splat ? 0 : index;
    if (bits >= 8) {
        memcpy(data + at * (bits / 8), source + index * (bits / 8), (size_t)bits / 8);
        return;
    }
    const unsigned number = source[index / 2] >> (index % 2 * 4) & 15u;
    data[at / 2] = (unsigned char)(data[at / 2] | number << (at % 2 * 4));
}

static mw_status wrong_count(const expansion *e, int64_t found, int64_t bits)
{
    char subject[160];
    return mw__fail(e->err, MW_ERROR_SHAPE, "%s: %lld values for %lld set bits of the mask",
                    mw__op_subject(e->op, subject, sizeof subject), (long long)found, (long long)bits);
}

static mw_status check_set(const expansion *e, const mw__payload *mask, int64_t count, const mw__payload *values)
{
    int64_t set = 0;
    for (int64_t i = 0; i < count; i++)
        set += bit_at(mask, i);
    const int64_t found = (int64_t)mw__payload_count(values);
    return set == found ? MW_OK : wrong_count(e, found, set);
}

/* ---- the operations ---- */

static mw_status expand_dense(const expansion *e)
{
    mw__compressed c;
    mw__payload *result;
    float run[RUN];
    MW_TRY(make_result(e, 0, &result));
    const int64_t count = (int64_t)mw__payload_count(result);
    if (count > 0 && !mw__compressed_read((mw__arena *)(uintptr_t)&e->scratch, e->op->results[0], &c, e->err))
        return e->err->status != MW_OK ? e->err->status : fail_expansion(e, "an operand is not loaded");
    for (int64_t at = 0; at < count; at += RUN) {
        const int64_t step = count - at < RUN ? count - at : RUN;
        mw__compressed_load(&c, at, step, run);
        store_numbers(result, at, step, run);
    }
    e->op->results[0]->expanded = result;
    return MW_OK;
}

static mw_status expand_sparse(const expansion *e)
{
    const mw__payload *mask = operand(e, "mask"), *values = operand(e, "nonzero_data");
    mw__payload *result;
    MW_TRY(make_result(e, 0, &result));
    const int64_t count = (int64_t)mw__payload_count(result);
    MW_TRY(check_set(e, mask, count, values));
    for (int64_t i = 0, k = 0; i < count; i++)
        if (bit_at(mask, i))
            copy_element(result, i, values, k++);
    e->op->results[0]->expanded = result;
    return MW_OK;
}

/* The codes where the mask is set, 0 elsewhere, as one operand of a dense operation. */
static mw_status fill_codes(expansion *e, const mw__payload *mask, const mw__payload *values, mw__payload *out)
{
    const int64_t count = (int64_t)mw__payload_count(mask);
    unsigned char *codes = mw__arena_alloc(&e->scratch, (size_t)count, 1, e->err);
    mw__type *type = mw__arena_alloc(&e->scratch, 1, sizeof *type, e->err);
    if (codes == NULL || type == NULL)
        return MW_ERROR_MEMORY;
    for (int64_t i = 0, k = 0; i < count; i++)
        if (bit_at(mask, i))
            codes[i] = (unsigned char)mw__payload_int(values, (size_t)k++);
    *type = (mw__type){.kind = MW__TENSOR, .dtype = MW_U8, .shape = mask->type->shape};
    *out = (mw__payload){.type = type, .data = codes, .size = (size_t)count};
    return MW_OK;
}

/* Both results of a table under a mask: each set bit stands for a vector. */
static void choose_vectors(const mw__compressed *c, const mw__payload *mask, const mw__payload *out_mask,
                           const mw__payload *out)
{
    const mw_shape shape = c->shape;
    for (int64_t i = 0, k = 0; i < mw_shape_count(shape); i++) {
        int64_t at = 0, rest = i, scale = 1;
        for (int axis = shape.rank; axis-- > 0; rest /= shape.dim[axis]) {
            const int64_t parts = axis == c->vector_axis ? c->vector : 1;
            at += rest % shape.dim[axis] / parts * scale;
            scale *= shape.dim[axis] / parts;
        }
        if (!bit_at(mask, at))
            continue;
        float number;
        mw__compressed_load(c, i, 1, &number);
        set_bit(out_mask, i);
        store_numbers(out, k++, 1, &number);
    }
}

static mw_status expand_lut_to_sparse(expansion *e)
{
    const mw__payload *mask = operand(e, "indices_mask"), *values = operand(e, "indices_nonzero_data");
    mw__payload *out_mask, *out, codes;
    mw__compressed c;
    MW_TRY(make_result(e, 0, &out_mask));
    MW_TRY(make_result(e, 1, &out));
    MW_TRY(check_set(e, mask, (int64_t)mw__payload_count(mask), values));
    MW_TRY(fill_codes(e, mask, values, &codes));
    if (mw__payload_count(out_mask) > 0 && !mw__compressed_read(&e->scratch, e->op->results[0], &c, e->err))
        return e->err->status != MW_OK ? e->err->status : fail_expansion(e, "an operand is not loaded");
    if (mw__payload_count(out_mask) > 0) {
        c.codes = &codes;
        c.dtype = out->type->dtype;
        choose_vectors(&c, mask, out_mask, out);
    }
    e->op->results[0]->expanded = out_mask;
    e->op->results[1]->expanded = out;
    return MW_OK;
}

static mw_status expand_sparse_shift_scale(expansion *e)
{
    const mw__payload *mask = operand(e, "data_mask"), *values = operand(e, "nonzero_data");
    const mw__payload *scale = operand(e, "scale"), *offset = operand(e, "offset");
    mw__payload *result;
    MW_TRY(make_result(e, 1, &result));
    const int64_t count = (int64_t)mw__payload_count(mask);
    MW_TRY(check_set(e, mask, count, values));
    const mw__grid grid = mw__grid_of(mask->type->shape, scale->type->shape);
    for (int64_t i = 0, k = 0; i < count; i++) {
        if (!bit_at(mask, i))
            continue;
        const size_t part = (size_t)mw__grid_at_index(&grid, mask->type->shape, i);
        const float shift = offset != NULL ? (float)mw__payload_float(offset, part) : 0.0f;
        const float number =
            ((float)mw__payload_float(values, (size_t)k) - shift) * (float)mw__payload_float(scale, part);
        store_numbers(result, k++, 1, &number);
    }
    e->op->results[0]->expanded = mask;
    e->op->results[1]->expanded = result;
    return MW_OK;
}

static mw_status expand_as(expansion *e)
{
    switch (e->op->row->id) {
    case MW__OP_constexpr_sparse_to_dense:
    case MW__OP_constexpr_sparse_to_dense_ios18:
        return expand_sparse(e);
    case MW__OP_constexpr_lut_to_sparse:
        return expand_lut_to_sparse(e);
    case MW__OP_constexpr_sparse_blockwise_shift_scale:
        return expand_sparse_shift_scale(e);
    default:
        return expand_dense(e);
    }
}

/* ---- any constant ---- */

static mw_status expand_constant(const mw__op *op, int depth, mw_error *err);

static mw_status expand_operands(const mw__op *op, int depth, mw_error *err)
{
    char subject[160];
    for (size_t i = 0; i < op->slot_count; i++) {
        const mw_tensor *value = op->slots[i].count == 1 ? op->slots[i].operands[0].value : NULL;
        if (value == NULL || held(value) != NULL)
            continue;
        if (value->payload == NULL && mw__op_is_constexpr(value->op) && depth == NESTED_MAX)
            return mw__fail(err, MW_ERROR_UNSUPPORTED, "%s: compressed more than %d times",
                            mw__op_subject(op, subject, sizeof subject), NESTED_MAX);
        if (value->payload == NULL && mw__op_is_constexpr(value->op))
            MW_TRY(expand_constant(value->op, depth + 1, err));
        else if (value->payload == NULL || value->payload->strings == NULL)
            return mw__fail(err, MW_ERROR_UNSUPPORTED, "%s: the value of %s is not loaded",
                            mw__op_subject(op, subject, sizeof subject), op->slots[i].name);
    }
    return MW_OK;
}

/* The operation may be of a text that nobody has verified. */
static mw_status expand_constant(const mw__op *op, int depth, mw_error *err)
{
    MW_TRY(expand_operands(op, depth, err));
    MW_TRY(mw__op_verify(op, err));
    expansion e = {.op = op, .graph = op->block->function->graph, .err = err};
    mw__arena_init(&e.scratch, e.graph->allocator);
    const mw_status status = expand_as(&e);
    mw__arena_deinit(&e.scratch);
    return status;
}

const mw__payload *mw__constant_payload(const mw_tensor *value, mw_error *err)
{
    mw_error own = {0};
    if (value->payload != NULL || value->expanded != NULL)
        return value->payload != NULL ? value->payload : value->expanded;
    if (!mw__op_is_constexpr(value->op) || expand_constant(value->op, 1, err != NULL ? err : &own) != MW_OK)
        return NULL;
    return value->expanded;
}

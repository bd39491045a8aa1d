/* Constant values: making them, and reading and writing single elements. Elements are packed, row-major and
 * little-endian; those of less than a byte lie LSB first and may straddle bytes. */
#include "base/number/bits.h"
#include "base/number/float_mode.h"
#include "base/number/fp16.h"
#include "graph/constants/shared_payload.h"
#include "graph/ir/rule.h"

#include <math.h>
#include <string.h>

/* ---- reading ---- */

size_t mw__payload_count(const mw__payload *payload)
{
    if (payload->type->kind != MW__TENSOR)
        return payload->member_count;
    const int64_t count = mw_shape_count(payload->type->shape);
    return count > 0 ? (size_t)count : 0;
}

/* Element `index` as an unsigned number of `bits` bits. */
static uint64_t load_bits(const unsigned char *data, size_t index, int bits)
{
    uint64_t value = 0;
    if (bits % 8 == 0) {
        const size_t bytes = (size_t)bits / 8;
        for (size_t i = 0; i < bytes; i++)
            value |= (uint64_t)data[index * bytes + i] << (8 * i);
        return value;
    }
    for (int i = 0; i < bits; i++) {
        const size_t bit = index * (size_t)bits + (size_t)i;
        value |= (uint64_t)((data[bit / 8] >> (bit % 8)) & 1u) << i;
    }
    return value;
}

static double load_e4m3fn(uint64_t bits)
{
    const int exponent = (int)(bits >> 3 & 15);
    const int mantissa = (int)(bits & 7);
    const double sign = (bits & 0x80) != 0 ? -1.0 : 1.0;
    if (exponent == 15 && mantissa == 7)
        return (double)NAN;
    return sign * (exponent == 0 ? ldexp(mantissa, -9) : ldexp(8 + mantissa, exponent - 10));
}

static bool is_signed_integer(mw_dtype dtype) { return dtype >= MW_I4 && dtype <= MW_I64; }

static uint64_t load_element(const mw__payload *payload, size_t index)
{
    return load_bits(payload->data, payload->splat ? 0 : index, mw_dtype_bits(payload->type->dtype));
}

double mw__payload_float(const mw__payload *payload, size_t index)
{
    const mw_dtype dtype = payload->type->dtype;
    const uint64_t bits = load_element(payload, index);
    const uint32_t low = (uint32_t)bits;
    float narrow;
    double wide;
    switch (dtype) {
    case MW_F16:
        return (double)mw__fp16_to_float((uint16_t)bits);
    case MW_BF16:
        return (double)mw__bf16_to_float((uint16_t)bits);
    case MW_F32:
        memcpy(&narrow, &low, sizeof narrow);
        return (double)narrow;
    case MW_F64:
        memcpy(&wide, &bits, sizeof wide);
        return wide;
    case MW_F8E5M2:
        return (double)mw__fp16_to_float((uint16_t)(bits << 8));
    case MW_F8E4M3FN:
        return load_e4m3fn(bits);
    default:
        return is_signed_integer(dtype) ? (double)mw__bits_sign_extend(bits, mw_dtype_bits(dtype)) : (double)bits;
    }
}

static bool is_float(mw_dtype dtype)
{
    return (dtype >= MW_F16 && dtype <= MW_BF16) || dtype == MW_F8E4M3FN || dtype == MW_F8E5M2;
}

static int64_t truncate(double value)
{
    if (!(value > -0x1p63))
        return INT64_MIN; /* and NaN */
    return value < 0x1p63 ? (int64_t)value : INT64_MAX;
}

int64_t mw__payload_int(const mw__payload *payload, size_t index)
{
    const mw_dtype dtype = payload->type->dtype;
    if (is_float(dtype))
        return truncate(mw__payload_float(payload, index));
    const uint64_t bits = load_element(payload, index);
    return is_signed_integer(dtype) ? mw__bits_sign_extend(bits, mw_dtype_bits(dtype)) : (int64_t)bits;
}

/* ---- writing ---- */

/* Integers must be integral and in range; a finite float must stay finite. */
bool mw__element_store(void *out, mw_dtype dtype, double value)
{
    MW__FLOAT_SCOPE;
    float narrow;
    uint16_t half;
    int32_t whole;
    unsigned char flag;
    switch (dtype) {
    case MW_F16:
        half = mw__fp16_from_double(value);
        memcpy(out, &half, sizeof half);
        return !isfinite(value) || isfinite(mw__fp16_to_float(half));
    case MW_F32:
        if (isfinite(value) && fabs(value) >= 0x1.ffffffp+127)
            return false; /* would round to infinity; also keeps the conversion defined */
        narrow = (float)value;
        memcpy(out, &narrow, sizeof narrow);
        return true;
    case MW_I32:
        if (!(value >= -0x1p31 && value < 0x1p31) || value != trunc(value))
            return false;
        whole = (int32_t)value;
        memcpy(out, &whole, sizeof whole);
        return true;
    case MW_BOOL:
        flag = value != 0;
        memcpy(out, &flag, sizeof flag);
        return true;
    default:
        return false;
    }
}

/* ---- making ---- */

bool mw__payload_wants_blob(mw_dtype dtype, int64_t count, mw_opset opset)
{
    if (count < 10)
        return false;
    switch (dtype) {
    case MW_F16:
    case MW_F32:
    case MW_I8:
    case MW_U8:
        return true;
    case MW_I16:
    case MW_U16:
    case MW_I32:
    case MW_U32:
    case MW_I4:
    case MW_U1:
    case MW_U2:
    case MW_U3:
    case MW_U4:
    case MW_U6:
        return opset >= MW_IOS18; /* specification version 9 */
    default:
        return false;
    }
}

mw__payload *mw__payload_create(mw_graph *graph, mw_dtype dtype, mw_shape shape, const void *data, mw_error *err)
{
    const mw__type *type = mw__type_tensor(graph, dtype, shape, err);
    if (type == NULL)
        return NULL;
    size_t size;
    if (!mw__type_bytes(type, &size)) {
        char text[160];
        mw__fail(err, MW_ERROR_SHAPE, "a constant of %s %s has no size in memory", mw_dtype_name(dtype),
                 mw__shape_print(shape, text, sizeof text));
        return NULL;
    }
    mw__shared_payload *shared;
    mw__payload *payload = mw__arena_alloc(&graph->arena, 1, sizeof *payload, err);
    void *copy = payload != NULL ? mw__payload_alloc(graph, size, &shared, err) : NULL;
    if (copy == NULL)
        return NULL;
    if (data != NULL && size > 0)
        memcpy(copy, data, size);
    *payload = (mw__payload){.type = type, .data = copy, .size = size, .shared = shared};
    payload->in_blob = mw__payload_wants_blob(dtype, mw_shape_count(shape), graph->current->opset);
    return payload;
}

mw__payload *mw__payload_blank(mw_graph *graph, mw_dtype dtype, mw_shape shape, void **out_data, mw_error *err)
{
    mw__payload *payload = mw__payload_create(graph, dtype, shape, NULL, err);
    *out_data = payload != NULL ? (void *)(uintptr_t)payload->data : NULL;
    return payload;
}

mw_tensor *mw__constant_of_shared_payload(mw_graph *graph, mw_dtype dtype, mw_shape shape, mw__shared_payload *shared,
                                          const void *data, uint64_t entry)
{
    mw_error *err = &graph->error;
    if (err->status != MW_OK)
        return NULL;
    mw__payload *payload = mw__arena_alloc(&graph->arena, 1, sizeof *payload, err);
    const mw__type *type = mw__type_tensor(graph, dtype, shape, err);
    size_t size;
    if (payload == NULL || type == NULL)
        return NULL;
    if (!mw__type_bytes(type, &size)) {
        mw__fail(err, MW_ERROR_SHAPE, "constant: its bytes are more than can be counted");
        return NULL;
    }
    if (mw__graph_keep(graph, shared, err) != MW_OK)
        return NULL;
    *payload = (mw__payload){.type = type, .data = data, .size = size, .shared = shared, .blob_offset = entry};
    payload->in_blob = mw__payload_wants_blob(dtype, mw_shape_count(shape), graph->current->opset);
    return mw__payload_emit(graph, payload, "const", err);
}

mw__payload *mw__payload_create_string(mw_graph *graph, const char *text, mw_error *err)
{
    const mw__type *type = mw__type_tensor(graph, MW_STRING, mw_shape_scalar(), err);
    mw__payload *payload = mw__arena_alloc(&graph->arena, 1, sizeof *payload, err);
    const char **strings = mw__arena_alloc(&graph->arena, 1, sizeof *strings, err);
    const char *copy = mw__arena_string(&graph->arena, text, strlen(text), err);
    if (type == NULL || payload == NULL || strings == NULL || copy == NULL)
        return NULL;
    strings[0] = copy;
    *payload = (mw__payload){.type = type, .strings = strings};
    return payload;
}

mw_tensor *mw__payload_emit(mw_graph *graph, const mw__payload *payload, const char *hint, mw_error *err)
{
    mw__op *op = mw__op_create(graph, &mw__rows[MW__OP_const], "const", 0, err);
    mw_tensor *value = op != NULL ? mw__value_create(graph, payload->type, hint, err) : NULL;
    if (value == NULL)
        return NULL;
    op->results = mw__arena_alloc(&graph->arena, 1, sizeof(mw_tensor *), err);
    if (op->results == NULL)
        return NULL;
    op->results[0] = value;
    op->result_count = 1;
    value->op = op;
    value->payload = payload;
    return mw__block_add_op(graph->block, op, err) == MW_OK ? value : NULL;
}

mw_tensor *mw__payload_emit_splat(mw_graph *graph, mw_dtype dtype, mw_shape shape, const void *element,
                                  const char *hint)
{
    const size_t size = ((size_t)mw_dtype_bits(dtype) + 7) / 8;
    const mw__type *type = mw__type_tensor(graph, dtype, shape, &graph->error);
    mw__payload *payload = mw__arena_alloc(&graph->arena, 1, sizeof *payload, &graph->error);
    void *copy = mw__arena_alloc(&graph->arena, size, 1, &graph->error);
    if (type == NULL || payload == NULL || copy == NULL)
        return NULL;
    memcpy(copy, element, size);
    *payload = (mw__payload){.type = type, .data = copy, .size = size, .splat = true};
    return mw__payload_emit(graph, payload, hint, &graph->error);
}

/* Prints types and literals in the style of the program. Floats are hex floats, always. */
#include "base/memory/checked.h"
#include "base/number/bits.h"
#include "base/number/fp16.h"
#include "base/number/number.h"
#include "mil/io.h"
#include "mil/text/print.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* ---- types ---- */

static void print_dim(mw__text *out, int64_t dim)
{
    char number[MW__NUMBER_MAX];
    if (dim == MW_DIM_UNKNOWN)
        mw__text_puts(out, "?");
    else
        mw__text_append(out, number, mw__number_print_i64(number, dim));
}

static void print_tensor_type(mw__printer *printer, const mw__type *type)
{
    mw__text *out = printer->out;
    if (type->shape.rank == 0 && printer->style == MW__STYLE_NEW) {
        mw__text_puts(out, mw_dtype_name(type->dtype));
        return;
    }
    mw__text_puts(out, "tensor<");
    mw__text_puts(out, mw_dtype_name(type->dtype));
    mw__text_puts(out, ", [");
    for (int i = 0; i < type->shape.rank; i++) {
        if (i > 0)
            mw__text_puts(out, ", ");
        print_dim(out, type->shape.dim[i]);
    }
    mw__text_puts(out, "]>");
}

/* Values of one type share it, so that most types were printed already. */
static void print_shared_type(mw__printer *printer, const mw__type *type)
{
    mw__printed_type *printed = &printer->types[(uintptr_t)type / sizeof *type % MW__PRINT_TYPES];
    if (printed->type == type) {
        mw__text_append(printer->out, printed->text, printed->size);
        return;
    }
    const size_t at = printer->out->size;
    print_tensor_type(printer, type);
    const size_t size = printer->out->size - at;
    if (size == 0 || size > sizeof printed->text) /* 0: out of memory */
        return;
    memcpy(printed->text, printer->out->data + at, size);
    printed->type = type;
    printed->size = size;
}

void mw__print_type(mw__printer *printer, const mw__type *type)
{
    static const char *const names[] = {[MW__TENSOR] = "tensor",
                                        [MW__STATE] = "state",
                                        [MW__LIST] = "list",
                                        [MW__TUPLE] = "tuple",
                                        [MW__DICT] = "dict"};
    if (type->kind == MW__TENSOR) {
        print_shared_type(printer, type);
        return;
    }
    mw__text_printf(printer->out, "%s<", names[type->kind]);
    for (size_t i = 0; i < type->count; i++) {
        if (i > 0)
            mw__text_puts(printer->out, ", ");
        mw__print_type(printer, type->element[i]);
    }
    if (type->kind == MW__LIST) {
        mw__text_puts(printer->out, ", ");
        print_dim(printer->out, type->length);
    }
    mw__text_puts(printer->out, ">");
}

/* ---- scalars ---- */

void mw__print_quoted(mw__text *out, const char *text)
{
    mw__text_puts(out, "\"");
    for (size_t start = 0, i = 0;; i++) {
        const char c = text[i];
        if (c != '\0' && c != '"' && c != '\\' && c != '\n' && c != '\t')
            continue;
        mw__text_append(out, text + start, i - start);
        if (c == '\0')
            break;
        mw__text_puts(out, c == '"' ? "\\\"" : c == '\\' ? "\\\\" : c == '\n' ? "\\n" : "\\t");
        start = i + 1;
    }
    mw__text_puts(out, "\"");
}

static uint64_t element_bits(const mw__payload *payload, size_t index)
{
    const unsigned char *data = payload->data;
    const size_t bits = (size_t)mw_dtype_bits(payload->type->dtype);
    uint64_t value = 0;
    if (bits >= 8) {
        for (size_t i = bits / 8; i-- > 0;)
            value = value << 8 | data[index * (bits / 8) + i];
        return value;
    }
    for (size_t i = 0; i < bits; i++) {
        const size_t at = index * bits + i;
        value |= (uint64_t)(data[at / 8] >> (at % 8) & 1u) << i;
    }
    return value;
}

static double float_value(mw_dtype dtype, uint64_t bits)
{
    const uint32_t narrow = (uint32_t)bits;
    float single;
    double wide;
    if (dtype == MW_F16)
        return mw__fp16_to_float((uint16_t)bits);
    if (dtype == MW_BF16)
        return mw__bf16_to_float((uint16_t)bits);
    memcpy(&single, &narrow, sizeof single);
    memcpy(&wide, &bits, sizeof wide);
    return dtype == MW_F32 ? single : wide;
}

static void print_scalar(mw__text *out, const mw__payload *payload, size_t index)
{
    const mw_dtype dtype = payload->type->dtype;
    if (dtype == MW_STRING) {
        mw__print_quoted(out, payload->strings[index]);
        return;
    }
    const uint64_t bits = element_bits(payload, index);
    char buffer[MW__NUMBER_MAX];
    switch (dtype) {
    case MW_F16:
    case MW_BF16:
    case MW_F32:
    case MW_F64:
        mw__text_append(out, buffer, mw__number_print_hex(buffer, float_value(dtype, bits)));
        break;
    case MW_BOOL:
        mw__text_puts(out, bits != 0 ? "true" : "false");
        break;
    case MW_I4:
    case MW_I8:
    case MW_I16:
    case MW_I32:
    case MW_I64:
        mw__text_append(out, buffer,
                        mw__number_print_i64(buffer, mw__bits_sign_extend(bits, (unsigned)mw_dtype_bits(dtype))));
        break;
    default:
        mw__text_printf(out, "%" PRIu64, bits);
    }
}

/* ---- payloads ---- */

/* One bracket pair a dimension, row-major; *index counts the elements printed. */
static void print_nested(mw__text *out, const mw__payload *payload, int axis, size_t *index)
{
    const mw_shape *shape = &payload->type->shape;
    mw__text_puts(out, "[");
    for (int64_t i = 0; i < shape->dim[axis] && !out->failed; i++) {
        if (i > 0)
            mw__text_puts(out, ", ");
        if (axis + 1 < shape->rank)
            print_nested(out, payload, axis + 1, index);
        else
            print_scalar(out, payload, (*index)++);
    }
    mw__text_puts(out, "]");
}

void mw__mil_print_elements(mw__text *out, const mw__payload *payload)
{
    size_t index = 0;
    if (payload->splat || payload->type->shape.rank == 0)
        print_scalar(out, payload, 0);
    else
        print_nested(out, payload, 0, &index);
}

static void print_blob(mw__printer *printer, const char *path, uint64_t offset)
{
    const bool old = printer->style == MW__STYLE_OLD;
    mw__text_puts(printer->out, "BLOBFILE(path = ");
    mw__print_string_literal(printer, path);
    mw__text_printf(printer->out, ", offset = %s(%" PRIu64 "))", old ? "tensor<uint64, []>" : "uint64", offset);
}

/* Types that coremltools puts into a weight file: all codes from specification 9 on, four before. */
static bool may_be_blob(const mw__printer *printer, const mw__payload *payload)
{
    const mw_dtype dtype = payload->type->dtype;
    const bool early = dtype == MW_F16 || dtype == MW_F32 || dtype == MW_U8 || dtype == MW_I8;
    if (payload->type->kind != MW__TENSOR || payload->data == NULL || (payload->splat && mw_dtype_bits(dtype) < 8))
        return false;
    return printer->style == MW__STYLE_OLD ? early : mw__blob_code(dtype) != 0;
}

/* In our weight file, or in a copy of the one that it was read from. */
static mw_status print_weight(mw__printer *printer, const mw__payload *payload)
{
    char name[64];
    bool stays;
    size_t copy;
    uint64_t offset = payload->blob_offset;
    MW_TRY(mw__blob_list_stays(printer->blobs, payload, &stays, &copy, printer->err));
    if (stays)
        snprintf(name, sizeof name, "@model_path/" MW__BLOB_COPY_FILE, copy);
    else
        MW_TRY(mw__blob_list_add(printer->blobs, payload, printer->out->size, &offset, printer->err));
    print_blob(printer, stays ? name : "@model_path/" MW__WEIGHT_FILE, offset);
    return MW_OK;
}

static mw_status print_payload(mw__printer *printer, const mw__payload *payload);

static mw_status print_members(mw__printer *printer, const mw__payload *payload)
{
    static const char *const brackets[] = {[MW__LIST] = "[]", [MW__TUPLE] = "()", [MW__DICT] = "{}"};
    const char *pair = brackets[payload->type->kind];
    const bool dict = payload->type->kind == MW__DICT;
    mw__text_append(printer->out, pair, 1);
    for (size_t i = 0; i < payload->member_count; i++) {
        if (i > 0)
            mw__text_puts(printer->out, ", ");
        if (dict && i % 2 == 0)
            mw__text_puts(printer->out, "{");
        MW_TRY(print_payload(printer, payload->members[i]));
        if (dict && i % 2 == 1)
            mw__text_puts(printer->out, "}");
    }
    mw__text_append(printer->out, pair + 1, 1);
    return MW_OK;
}

/* True if the elements are at hand to be printed. */
static bool has_elements(const mw__payload *payload)
{
    const int64_t count = mw_shape_count(payload->type->shape);
    if (payload->type->dtype == MW_STRING)
        return payload->strings != NULL;
    if (count != 0)
        return payload->data != NULL && count > 0;
    int64_t brackets = 1; /* [2^40, 0] has no elements and yet no printable form */
    for (int i = 0; i < payload->type->shape.rank && payload->type->shape.dim[i] != 0; i++)
        if (!mw__mul_i64(brackets, payload->type->shape.dim[i], &brackets) || brackets > 65536)
            return false;
    return true;
}

static mw_status print_payload(mw__printer *printer, const mw__payload *payload)
{
    const bool wants_blob = payload->in_blob || (payload->blob_path != NULL && printer->move_blobs);
    if (payload->type->kind != MW__TENSOR)
        return print_members(printer, payload);
    if (wants_blob && may_be_blob(printer, payload)) {
        MW_TRY(print_weight(printer, payload));
    } else if (payload->blob_path != NULL && !printer->move_blobs) {
        print_blob(printer, payload->blob_path, payload->blob_offset);
    } else if (!has_elements(payload)) {
        return mw__fail(printer->err, MW_ERROR_STATE,
                        "a constant of %s was not loaded; read the program with its folder to write it",
                        payload->blob_path != NULL ? payload->blob_path : "the program");
    } else {
        mw__mil_print_elements(printer->out, payload);
    }
    return MW_OK;
}

mw_status mw__print_literal(mw__printer *printer, const mw__payload *payload)
{
    mw__print_type(printer, payload->type);
    mw__text_puts(printer->out, "(");
    MW_TRY(print_payload(printer, payload));
    mw__text_puts(printer->out, ")");
    return MW_OK;
}

void mw__print_string_literal(mw__printer *printer, const char *text)
{
    mw__text_puts(printer->out, printer->style == MW__STYLE_OLD ? "tensor<string, []>(" : "string(");
    mw__print_quoted(printer->out, text);
    mw__text_puts(printer->out, ")");
}

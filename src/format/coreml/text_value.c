/* Types and literals of a program as text. Elements are printed by the printer of mil, from the bytes that it expects.
 */
#include "base/memory/checked.h"
#include "base/number/number.h"
#include "format/coreml/text.h"
#include "graph/ir/ir.h"
#include "mil/io.h"
#include <inttypes.h>
#include <string.h>

mw_status mw__coreml_malformed(const mw__coreml_printer *printer, const char *what)
{
    if (printer->operation == NULL)
        return mw__fail(printer->err, MW_ERROR_FORMAT, "the program of the model: %s", what);
    mw__fail(printer->err, MW_ERROR_FORMAT, "operation \"%.60s\" of the model: %s", printer->operation, what);
    mw__error_subject(printer->err, printer->operation, NULL);
    return MW_ERROR_FORMAT;
}

/* ident = [A-Za-z_][A-Za-z0-9_@]* */
mw_status mw__coreml_print_name(mw__coreml_printer *printer, const char *name)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_0123456789@";
    const size_t length = strspn(name, letters);
    if (length == 0 || name[length] != '\0' || strchr("0123456789@", name[0]) != NULL)
        return mw__fail(printer->err, MW_ERROR_FORMAT,
                        "the model has the name \"%.96s\", which is no identifier of MIL", name);
    mw__text_append(printer->out, name, length);
    return MW_OK;
}

void mw__coreml_print_quoted(mw__text *out, const char *text)
{
    static const mw__type string = {.kind = MW__TENSOR, .dtype = MW_STRING};
    const mw__payload payload = {.type = &string, .strings = &text};
    mw__mil_print_elements(out, &payload);
}

/* ---- types ---- */

static mw_status print_dimension(mw__coreml_printer *printer, const pb_dimension *dimension)
{
    if (dimension != NULL && dimension->dimension_case == MW__COREML__DIMENSION__DIMENSION_CONSTANT)
        mw__text_printf(printer->out, "%" PRIu64, dimension->constant->size);
    else if (dimension != NULL && dimension->dimension_case == MW__COREML__DIMENSION__DIMENSION_UNKNOWN)
        mw__text_puts(printer->out, "?");
    else
        return mw__coreml_malformed(printer, "an extent is neither known nor unknown");
    return MW_OK;
}

static mw_status print_tensor_type(mw__coreml_printer *printer, const pb_tensor_type *type)
{
    const mw_dtype dtype = mw__coreml_dtype(type->data_type);
    if (dtype == MW_DTYPE_NONE)
        return mw__coreml_malformed(printer, "an element type is unknown");
    if (type->rank < 0 || (uint64_t)type->rank != type->n_dimensions)
        return mw__coreml_malformed(printer, "a type has another number of extents than its rank");
    if (type->n_attributes > 0)
        return mw__coreml_malformed(printer, "a type has attributes");
    if (type->n_dimensions == 0 && !printer->old) {
        mw__text_puts(printer->out, mw_dtype_name(dtype));
        return MW_OK;
    }
    mw__text_printf(printer->out, "tensor<%s, [", mw_dtype_name(dtype));
    for (size_t i = 0; i < type->n_dimensions; i++) {
        mw__text_puts(printer->out, i > 0 ? ", " : "");
        MW_TRY(print_dimension(printer, type->dimensions[i]));
    }
    mw__text_puts(printer->out, "]>");
    return MW_OK;
}

static mw_status print_list_type(mw__coreml_printer *printer, const Mw__Coreml__ListType *type)
{
    mw__text_puts(printer->out, "list<");
    MW_TRY(mw__coreml_print_type(printer, type->type));
    mw__text_puts(printer->out, ", ");
    MW_TRY(print_dimension(printer, type->length));
    mw__text_puts(printer->out, ">");
    return MW_OK;
}

static mw_status print_types(mw__coreml_printer *printer, const char *kind, pb_type *const *types, size_t count)
{
    mw__text_puts(printer->out, kind);
    for (size_t i = 0; i < count; i++) {
        mw__text_puts(printer->out, i > 0 ? ", " : "<");
        MW_TRY(mw__coreml_print_type(printer, types[i]));
    }
    mw__text_puts(printer->out, ">");
    return MW_OK;
}

mw_status mw__coreml_print_type(mw__coreml_printer *printer, const pb_type *type)
{
    if (type == NULL)
        return mw__coreml_malformed(printer, "a type is missing");
    switch (type->type_case) {
    case MW__COREML__VALUE_TYPE__TYPE_TENSOR:
        return print_tensor_type(printer, type->tensor);
    case MW__COREML__VALUE_TYPE__TYPE_LIST:
        return print_list_type(printer, type->list);
    case MW__COREML__VALUE_TYPE__TYPE_TUPLE:
        return print_types(printer, "tuple", type->tuple->types, type->tuple->n_types);
    case MW__COREML__VALUE_TYPE__TYPE_DICTIONARY:
        return print_types(printer, "dict", (pb_type *const[]){type->dictionary->key, type->dictionary->value}, 2);
    case MW__COREML__VALUE_TYPE__TYPE_STATE:
        return print_types(printer, "state", &type->state->wrapped, 1);
    default:
        return mw__coreml_malformed(printer, "a type is of no kind that is known");
    }
}

/* ---- tensor literals ---- */

/* What a message holds of a literal, as it is packed there: an array of `count` elements of `width` bytes. */
typedef struct packed {
    const void *data;
    size_t count, width;
    bool is_signed; /* integers */
    bool raw;       /* bytes that are the elements, packed as in memory */
} packed;

static packed packed_of(const pb_tensor *tensor)
{
    switch (tensor != NULL ? tensor->value_case : MW__COREML__TENSOR_VALUE__VALUE__NOT_SET) {
    case MW__COREML__TENSOR_VALUE__VALUE_FLOATS:
        return (packed){.data = tensor->floats->values, .count = tensor->floats->n_values, .width = 4};
    case MW__COREML__TENSOR_VALUE__VALUE_DOUBLES:
        return (packed){.data = tensor->doubles->values, .count = tensor->doubles->n_values, .width = 8};
    case MW__COREML__TENSOR_VALUE__VALUE_INTS:
        return (packed){.data = tensor->ints->values, .count = tensor->ints->n_values, .width = 4, .is_signed = true};
    case MW__COREML__TENSOR_VALUE__VALUE_LONGS:
        return (packed){.data = tensor->longs->values, .count = tensor->longs->n_values, .width = 8, .is_signed = true};
    case MW__COREML__TENSOR_VALUE__VALUE_BOOLS:
        return (packed){.data = tensor->bools->values, .count = tensor->bools->n_values, .width = sizeof(int)};
    case MW__COREML__TENSOR_VALUE__VALUE_BYTES:
        return (packed){.data = tensor->bytes->values.data, .count = tensor->bytes->values.len, .raw = true};
    default:
        return (packed){0};
    }
}

static bool holds_integers(mw_dtype dtype)
{
    return dtype == MW_I8 || dtype == MW_I16 || dtype == MW_I32 || dtype == MW_I64 || dtype == MW_U8 ||
           dtype == MW_U16 || dtype == MW_U32 || dtype == MW_U64;
}

/* Whether the field of the message is one for elements of that type. */
static bool is_for(const packed *from, pb_tensor const *tensor, mw_dtype dtype)
{
    const int held = tensor->value_case;
    if (held == MW__COREML__TENSOR_VALUE__VALUE_FLOATS)
        return dtype == MW_F32;
    if (held == MW__COREML__TENSOR_VALUE__VALUE_DOUBLES)
        return dtype == MW_F64;
    if (held == MW__COREML__TENSOR_VALUE__VALUE_BOOLS)
        return dtype == MW_BOOL;
    return from->raw ? dtype != MW_STRING : from->is_signed && holds_integers(dtype);
}

/* Integers of 4 or 8 bytes as elements of `bits`; false if one does not fit. */
static bool narrow(const packed *from, mw_dtype dtype, unsigned char *out)
{
    const size_t bytes = (size_t)mw_dtype_bits(dtype) / 8;
    const bool is_signed = dtype == MW_I8 || dtype == MW_I16 || dtype == MW_I32 || dtype == MW_I64;
    const int64_t low = !is_signed ? 0 : bytes == 8 ? INT64_MIN : -((int64_t)1 << (8 * bytes - 1));
    const int64_t high = bytes == 8 ? INT64_MAX : ((int64_t)1 << (8 * bytes - (is_signed ? 1 : 0))) - 1;
    for (size_t i = 0; i < from->count; i++) {
        const int64_t value = from->width == 4 ? ((const int32_t *)from->data)[i] : ((const int64_t *)from->data)[i];
        if (dtype != MW_U64 && (value < low || value > high)) /* uint64 is stored in the bits of int64 */
            return false;
        for (size_t k = 0; k < bytes; k++)
            out[i * bytes + k] = (unsigned char)((uint64_t)value >> (8 * k));
    }
    return true;
}

/* Prints elements that have to be brought into another form first. */
static mw_status print_converted(mw__coreml_printer *printer, const packed *from, mw__payload *payload)
{
    const mw_dtype dtype = payload->type->dtype;
    unsigned char *data = mw__alloc(printer->allocator, payload->size, 1, printer->err);
    if (data == NULL)
        return MW_ERROR_MEMORY;
    bool good = true;
    if (dtype == MW_BOOL)
        for (size_t i = 0; i < from->count; i++)
            data[i] = ((const protobuf_c_boolean *)from->data)[i] != 0;
    else
        good = narrow(from, dtype, data);
    payload->data = data;
    if (good)
        mw__mil_print_elements(printer->out, payload);
    mw__free(printer->allocator, data);
    return good ? MW_OK : mw__coreml_malformed(printer, "an integer does not fit the type of its literal");
}

static mw_status print_strings(mw__coreml_printer *printer, const pb_tensor *tensor, mw__payload *payload)
{
    const size_t count = (size_t)mw_shape_count(payload->type->shape);
    const bool held = tensor != NULL && tensor->value_case == MW__COREML__TENSOR_VALUE__VALUE_STRINGS;
    if ((held ? tensor->strings->n_values : 0) != count)
        return mw__coreml_malformed(printer, "a literal of strings has another number of them than its type");
    payload->strings = held ? (const char *const *)tensor->strings->values : NULL;
    mw__mil_print_elements(printer->out, payload);
    return MW_OK;
}

/* What is printed is counted, not what it could be at most: an append that would pass the limit is not made. */
static mw_status check_length(mw__coreml_printer *printer)
{
    return printer->out->beyond
               ? mw__coreml_malformed(printer, "its literals are longer, as text, than a program's may be")
               : MW_OK;
}

static mw_status print_tensor(mw__coreml_printer *printer, const mw__type *type, const pb_tensor *tensor)
{
    mw__payload payload = {.type = type};
    if (type->dtype == MW_STRING)
        return print_strings(printer, tensor, &payload);
    const packed from = packed_of(tensor);
    if (!mw__type_bytes(type, &payload.size))
        return mw__coreml_malformed(printer, "a literal is of a type without a size");
    const size_t wanted = from.raw ? payload.size : (size_t)mw_shape_count(type->shape);
    if (from.count != wanted)
        return mw__coreml_malformed(printer, "a literal has another number of elements than its type");
    if (from.count > 0 && !is_for(&from, tensor, type->dtype))
        return mw__coreml_malformed(printer, "the elements of a literal are of another type than it");
    payload.data = from.data;
    if (from.count > 0 && !from.raw && type->dtype != MW_F32 && type->dtype != MW_F64)
        MW_TRY(print_converted(printer, &from, &payload));
    else
        mw__mil_print_elements(printer->out, &payload);
    return check_length(printer);
}

/* The type of a tensor literal, whose extents are known; [2^40, 0] has no elements and yet no printable form. */
static mw_status literal_type(mw__coreml_printer *printer, const pb_tensor_type *type, mw__type *out)
{
    int64_t brackets = 1;
    *out = (mw__type){.kind = MW__TENSOR, .dtype = mw__coreml_dtype(type->data_type)};
    if (type->n_dimensions > MW_RANK_MAX)
        return mw__coreml_malformed(printer, "a literal has more axes than a tensor may have");
    out->shape.rank = (int)type->n_dimensions;
    for (size_t i = 0; i < type->n_dimensions; i++) {
        const pb_dimension *dimension = type->dimensions[i];
        const bool known = dimension->dimension_case == MW__COREML__DIMENSION__DIMENSION_CONSTANT;
        if (!known || dimension->constant->size > INT64_MAX)
            return mw__coreml_malformed(printer, "a literal has an extent that is not known");
        out->shape.dim[i] = (int64_t)dimension->constant->size;
        if (out->shape.dim[i] == 0 && brackets > 65536)
            return mw__coreml_malformed(printer, "a literal without elements has too many axes for a text");
        if (!mw__mul_i64(brackets, out->shape.dim[i], &brackets))
            return mw__coreml_malformed(printer, "a literal has more elements than there can be");
    }
    return MW_OK;
}

/* ---- literals ---- */

static mw_status print_values(mw__coreml_printer *printer, const char *pair, pb_value *const *values, size_t count)
{
    mw__text_append(printer->out, pair, 1);
    for (size_t i = 0; i < count; i++) {
        mw__text_puts(printer->out, i > 0 ? ", " : "");
        MW_TRY(mw__coreml_print_payload(printer, values[i]));
    }
    mw__text_append(printer->out, pair + 1, 1);
    return MW_OK;
}

static mw_status print_dictionary(mw__coreml_printer *printer, const pb_dictionary *dictionary)
{
    mw__text_puts(printer->out, "{");
    for (size_t i = 0; i < dictionary->n_values; i++) {
        mw__text_puts(printer->out, i > 0 ? ", " : "");
        pb_value *const entry[] = {dictionary->values[i]->key, dictionary->values[i]->value};
        MW_TRY(print_values(printer, "{}", entry, 2));
    }
    mw__text_puts(printer->out, "}");
    return MW_OK;
}

static mw_status print_blob(mw__coreml_printer *printer, const Mw__Coreml__Value__Blob *blob)
{
    mw__text_puts(printer->out, printer->old ? "BLOBFILE(path = tensor<string, []>(" : "BLOBFILE(path = string(");
    mw__coreml_print_quoted(printer->out, blob->file);
    mw__text_printf(printer->out, "), offset = %s(%" PRIu64 "))", printer->old ? "tensor<uint64, []>" : "uint64",
                    blob->offset);
    return MW_OK;
}

static mw_status print_immediate(mw__coreml_printer *printer, const pb_type *type,
                                 const Mw__Coreml__Value__Immediate *immediate)
{
    mw__type tensor;
    const int held = immediate->value_case;
    switch (type->type_case) {
    case MW__COREML__VALUE_TYPE__TYPE_TENSOR:
        if (held != MW__COREML__VALUE__IMMEDIATE__VALUE_TENSOR && held != MW__COREML__VALUE__IMMEDIATE__VALUE__NOT_SET)
            return mw__coreml_malformed(printer, "a literal of a tensor is of another kind");
        MW_TRY(literal_type(printer, type->tensor, &tensor));
        return print_tensor(printer, &tensor,
                            held == MW__COREML__VALUE__IMMEDIATE__VALUE_TENSOR ? immediate->tensor : NULL);
    case MW__COREML__VALUE_TYPE__TYPE_TUPLE:
        if (held == MW__COREML__VALUE__IMMEDIATE__VALUE_TUPLE)
            return print_values(printer, "()", immediate->tuple->values, immediate->tuple->n_values);
        break;
    case MW__COREML__VALUE_TYPE__TYPE_LIST:
        if (held == MW__COREML__VALUE__IMMEDIATE__VALUE_LIST)
            return print_values(printer, "[]", immediate->list->values, immediate->list->n_values);
        break;
    case MW__COREML__VALUE_TYPE__TYPE_DICTIONARY:
        if (held == MW__COREML__VALUE__IMMEDIATE__VALUE_DICTIONARY)
            return print_dictionary(printer, immediate->dictionary);
        break;
    default:
        break;
    }
    return mw__coreml_malformed(printer, "a literal is of another kind than its type");
}

mw_status mw__coreml_print_payload(mw__coreml_printer *printer, const pb_value *value)
{
    if (value == NULL || value->type == NULL)
        return mw__coreml_malformed(printer, "a literal or its type is missing");
    MW_TRY(check_length(printer));
    switch (value->value_case) {
    case MW__COREML__VALUE__VALUE_BLOB:
        return print_blob(printer, value->blob);
    case MW__COREML__VALUE__VALUE_IMMEDIATE:
        return print_immediate(printer, value->type, value->immediate);
    default:
        return mw__coreml_malformed(printer, "a literal has no value");
    }
}

mw_status mw__coreml_print_value(mw__coreml_printer *printer, const pb_value *value)
{
    if (value == NULL)
        return mw__coreml_malformed(printer, "a literal is missing");
    MW_TRY(mw__coreml_print_type(printer, value->type));
    mw__text_puts(printer->out, "(");
    MW_TRY(mw__coreml_print_payload(printer, value));
    mw__text_puts(printer->out, ")");
    return MW_OK;
}

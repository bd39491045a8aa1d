/* Types and literals as messages. Elements lie where the schema puts those of their type. */
#include "base/memory/checked.h"
#include "format/coreml/encode.h"
#include <string.h>

/* Bounds what a literal takes that stands for many equal elements. */
#define SPLAT_MAX ((size_t)64 << 20)

void *mw__coreml_encode_alloc(mw__encoder *e, size_t count, size_t size)
{
    return mw__arena_alloc(e->arena, count, size, e->err);
}

char *mw__coreml_encode_string(mw__encoder *e, const char *text)
{
    return mw__arena_string(e->arena, text, strlen(text), e->err);
}

/* ---- types ---- */

static pb_dimension *encode_dimension(mw__encoder *e, int64_t extent)
{
    pb_dimension *out = MW__MAKE(e, pb_dimension);
    if (out == NULL)
        return NULL;
    mw__coreml__dimension__init(out);
    if (extent == MW_DIM_UNKNOWN) {
        out->dimension_case = MW__COREML__DIMENSION__DIMENSION_UNKNOWN;
        out->unknown = MW__MAKE(e, Mw__Coreml__Dimension__Unknown);
        if (out->unknown != NULL)
            mw__coreml__dimension__unknown__init(out->unknown);
        return out->unknown != NULL ? out : NULL;
    }
    out->dimension_case = MW__COREML__DIMENSION__DIMENSION_CONSTANT;
    out->constant = MW__MAKE(e, Mw__Coreml__Dimension__Constant);
    if (out->constant == NULL)
        return NULL;
    mw__coreml__dimension__constant__init(out->constant);
    out->constant->size = (uint64_t)extent;
    return out;
}

static pb_tensor_type *encode_tensor_type(mw__encoder *e, const mw__type *type)
{
    pb_tensor_type *out = MW__MAKE(e, pb_tensor_type);
    if (out == NULL)
        return NULL;
    mw__coreml__tensor_type__init(out);
    out->data_type = mw__coreml_dtype_code(type->dtype);
    out->rank = type->shape.rank;
    out->dimensions = mw__coreml_encode_alloc(e, (size_t)type->shape.rank, sizeof *out->dimensions);
    for (int i = 0; out->dimensions != NULL && i < type->shape.rank; i++) {
        out->dimensions[i] = encode_dimension(e, type->shape.dim[i]);
        if (out->dimensions[i] == NULL)
            return NULL;
        out->n_dimensions++;
    }
    return out->dimensions != NULL ? out : NULL;
}

static Mw__Coreml__ListType *encode_list_type(mw__encoder *e, const mw__type *type)
{
    Mw__Coreml__ListType *out = MW__MAKE(e, Mw__Coreml__ListType);
    if (out == NULL)
        return NULL;
    mw__coreml__list_type__init(out);
    out->type = mw__coreml_encode_type(e, type->element[0]);
    out->length = encode_dimension(e, type->length);
    return out->type != NULL && out->length != NULL ? out : NULL;
}

static Mw__Coreml__TupleType *encode_tuple_type(mw__encoder *e, const mw__type *type)
{
    Mw__Coreml__TupleType *out = MW__MAKE(e, Mw__Coreml__TupleType);
    if (out == NULL)
        return NULL;
    mw__coreml__tuple_type__init(out);
    out->types = mw__coreml_encode_alloc(e, type->count, sizeof *out->types);
    for (size_t i = 0; out->types != NULL && i < type->count; i++) {
        out->types[i] = mw__coreml_encode_type(e, type->element[i]);
        if (out->types[i] == NULL)
            return NULL;
        out->n_types++;
    }
    return out->types != NULL ? out : NULL;
}

static Mw__Coreml__DictType *encode_dict_type(mw__encoder *e, const mw__type *type)
{
    Mw__Coreml__DictType *out = MW__MAKE(e, Mw__Coreml__DictType);
    if (out == NULL)
        return NULL;
    mw__coreml__dict_type__init(out);
    out->key = mw__coreml_encode_type(e, type->element[0]);
    out->value = mw__coreml_encode_type(e, type->element[1]);
    return out->key != NULL && out->value != NULL ? out : NULL;
}

static Mw__Coreml__WrappedType *encode_state_type(mw__encoder *e, const mw__type *type)
{
    Mw__Coreml__WrappedType *out = MW__MAKE(e, Mw__Coreml__WrappedType);
    if (out == NULL)
        return NULL;
    mw__coreml__wrapped_type__init(out);
    out->wrapped = mw__coreml_encode_type(e, type->element[0]);
    return out->wrapped != NULL ? out : NULL;
}

pb_type *mw__coreml_encode_type(mw__encoder *e, const mw__type *type)
{
    pb_type *out = MW__MAKE(e, pb_type);
    if (out == NULL)
        return NULL;
    mw__coreml__value_type__init(out);
    void *inner = NULL;
    switch (type->kind) {
    case MW__TENSOR:
        out->type_case = MW__COREML__VALUE_TYPE__TYPE_TENSOR;
        inner = out->tensor = encode_tensor_type(e, type);
        break;
    case MW__LIST:
        out->type_case = MW__COREML__VALUE_TYPE__TYPE_LIST;
        inner = out->list = encode_list_type(e, type);
        break;
    case MW__TUPLE:
        out->type_case = MW__COREML__VALUE_TYPE__TYPE_TUPLE;
        inner = out->tuple = encode_tuple_type(e, type);
        break;
    case MW__DICT:
        out->type_case = MW__COREML__VALUE_TYPE__TYPE_DICTIONARY;
        inner = out->dictionary = encode_dict_type(e, type);
        break;
    case MW__STATE:
        out->type_case = MW__COREML__VALUE_TYPE__TYPE_STATE;
        inner = out->state = encode_state_type(e, type);
        break;
    }
    return inner != NULL ? out : NULL;
}

/* ---- literals ---- */

/* Elements as int32, sign-extended from 16 bits where they are that. */
static bool fill_ints(mw__encoder *e, const mw__payload *payload, size_t count, pb_tensor *out)
{
    out->value_case = MW__COREML__TENSOR_VALUE__VALUE_INTS;
    out->ints = MW__MAKE(e, Mw__Coreml__TensorValue__Ints);
    int32_t *values = mw__coreml_encode_alloc(e, count, sizeof *values);
    if (out->ints == NULL || values == NULL)
        return false;
    mw__coreml__tensor_value__ints__init(out->ints);
    for (size_t i = 0; i < count; i++)
        values[i] = (int32_t)mw__payload_int(payload, payload->splat ? 0 : i);
    out->ints->values = values;
    out->ints->n_values = count;
    return true;
}

static bool fill_longs(mw__encoder *e, const mw__payload *payload, size_t count, pb_tensor *out)
{
    out->value_case = MW__COREML__TENSOR_VALUE__VALUE_LONGS;
    out->longs = MW__MAKE(e, Mw__Coreml__TensorValue__Longs);
    int64_t *values = mw__coreml_encode_alloc(e, count, sizeof *values);
    if (out->longs == NULL || values == NULL)
        return false;
    mw__coreml__tensor_value__longs__init(out->longs);
    for (size_t i = 0; i < count; i++)
        memcpy(&values[i], (const char *)payload->data + (payload->splat ? 0 : i) * sizeof *values, sizeof *values);
    out->longs->values = values;
    out->longs->n_values = count;
    return true;
}

static bool fill_bools(mw__encoder *e, const mw__payload *payload, size_t count, pb_tensor *out)
{
    const unsigned char *data = payload->data;
    out->value_case = MW__COREML__TENSOR_VALUE__VALUE_BOOLS;
    out->bools = MW__MAKE(e, Mw__Coreml__TensorValue__Bools);
    protobuf_c_boolean *values = mw__coreml_encode_alloc(e, count, sizeof *values);
    if (out->bools == NULL || values == NULL)
        return false;
    mw__coreml__tensor_value__bools__init(out->bools);
    for (size_t i = 0; i < count; i++)
        values[i] = data[payload->splat ? 0 : i] != 0;
    out->bools->values = values;
    out->bools->n_values = count;
    return true;
}

/* The elements as they lie in memory; one that stands for all is repeated. NULL on failure. */
static void *dense(mw__encoder *e, const mw__payload *payload, size_t *out_size)
{
    size_t bytes;
    if (!mw__type_bytes(payload->type, &bytes) || bytes > SPLAT_MAX) {
        mw__fail(e->err, MW_ERROR_UNSUPPORTED, "a literal of more than %zu bytes is to stand in the model file",
                 SPLAT_MAX);
        return NULL;
    }
    unsigned char *data = mw__coreml_encode_alloc(e, bytes, 1);
    const size_t unit = payload->splat ? (size_t)mw_dtype_bits(payload->type->dtype) / 8 : bytes;
    for (size_t at = 0; data != NULL && at + unit <= bytes && unit > 0; at += unit)
        memcpy(data + at, payload->data, unit);
    *out_size = bytes;
    return data;
}

static bool fill_floats(mw__encoder *e, const mw__payload *payload, size_t count, pb_tensor *out)
{
    size_t bytes;
    out->value_case = MW__COREML__TENSOR_VALUE__VALUE_FLOATS;
    out->floats = MW__MAKE(e, Mw__Coreml__TensorValue__Floats);
    float *values = dense(e, payload, &bytes);
    if (out->floats == NULL || values == NULL)
        return false;
    mw__coreml__tensor_value__floats__init(out->floats);
    out->floats->values = values;
    out->floats->n_values = count;
    return true;
}

static bool fill_doubles(mw__encoder *e, const mw__payload *payload, size_t count, pb_tensor *out)
{
    size_t bytes;
    out->value_case = MW__COREML__TENSOR_VALUE__VALUE_DOUBLES;
    out->doubles = MW__MAKE(e, Mw__Coreml__TensorValue__Doubles);
    double *values = dense(e, payload, &bytes);
    if (out->doubles == NULL || values == NULL)
        return false;
    mw__coreml__tensor_value__doubles__init(out->doubles);
    out->doubles->values = values;
    out->doubles->n_values = count;
    return true;
}

static bool fill_bytes(mw__encoder *e, const mw__payload *payload, pb_tensor *out)
{
    out->value_case = MW__COREML__TENSOR_VALUE__VALUE_BYTES;
    out->bytes = MW__MAKE(e, Mw__Coreml__TensorValue__Bytes);
    if (out->bytes == NULL)
        return false;
    mw__coreml__tensor_value__bytes__init(out->bytes);
    out->bytes->values.data = dense(e, payload, &out->bytes->values.len);
    return out->bytes->values.data != NULL;
}

static bool fill_strings(mw__encoder *e, const mw__payload *payload, size_t count, pb_tensor *out)
{
    out->value_case = MW__COREML__TENSOR_VALUE__VALUE_STRINGS;
    out->strings = MW__MAKE(e, Mw__Coreml__TensorValue__Strings);
    char **values = mw__coreml_encode_alloc(e, count, sizeof *values);
    if (out->strings == NULL || values == NULL)
        return false;
    mw__coreml__tensor_value__strings__init(out->strings);
    for (size_t i = 0; i < count; i++)
        if ((values[i] = mw__coreml_encode_string(e, payload->strings[payload->splat ? 0 : i])) == NULL)
            return false;
    out->strings->values = values;
    out->strings->n_values = count;
    return true;
}

/* Where the schema puts elements of each type: fp16 and what is narrow are bytes. */
static bool fill_tensor(mw__encoder *e, const mw__payload *payload, pb_tensor *out)
{
    const size_t count = (size_t)mw_shape_count(payload->type->shape);
    switch (payload->type->dtype) {
    case MW_F32:
        return fill_floats(e, payload, count, out);
    case MW_F64:
        return fill_doubles(e, payload, count, out);
    case MW_I16:
    case MW_U16:
    case MW_I32:
        return fill_ints(e, payload, count, out);
    case MW_I64:
    case MW_U64:
        return fill_longs(e, payload, count, out);
    case MW_BOOL:
        return fill_bools(e, payload, count, out);
    case MW_STRING:
        return fill_strings(e, payload, count, out);
    default:
        return fill_bytes(e, payload, out);
    }
}

static pb_tensor *encode_tensor(mw__encoder *e, const mw__payload *payload)
{
    pb_tensor *out = MW__MAKE(e, pb_tensor);
    if (out == NULL)
        return NULL;
    mw__coreml__tensor_value__init(out);
    if (payload->data == NULL && payload->strings == NULL && mw_shape_count(payload->type->shape) != 0) {
        mw__fail(e->err, MW_ERROR_STATE, "a literal of the program was not loaded");
        return NULL;
    }
    return fill_tensor(e, payload, out) ? out : NULL;
}

static Mw__Coreml__Values *encode_members(mw__encoder *e, const mw__payload *payload)
{
    Mw__Coreml__Values *out = MW__MAKE(e, Mw__Coreml__Values);
    if (out == NULL)
        return NULL;
    mw__coreml__values__init(out);
    out->values = mw__coreml_encode_alloc(e, payload->member_count, sizeof *out->values);
    for (size_t i = 0; out->values != NULL && i < payload->member_count; i++) {
        if ((out->values[i] = mw__coreml_encode_value(e, payload->members[i])) == NULL)
            return NULL;
        out->n_values++;
    }
    return out->values != NULL ? out : NULL;
}

static pb_dictionary *encode_dictionary(mw__encoder *e, const mw__payload *payload)
{
    pb_dictionary *out = MW__MAKE(e, pb_dictionary);
    if (out == NULL)
        return NULL;
    mw__coreml__dictionary_value__init(out);
    out->values = mw__coreml_encode_alloc(e, payload->member_count / 2, sizeof *out->values);
    for (size_t i = 0; out->values != NULL && i + 1 < payload->member_count; i += 2) {
        Mw__Coreml__DictionaryValue__Entry *entry = MW__MAKE(e, Mw__Coreml__DictionaryValue__Entry);
        if (entry == NULL)
            return NULL;
        mw__coreml__dictionary_value__entry__init(entry);
        entry->key = mw__coreml_encode_value(e, payload->members[i]);
        entry->value = mw__coreml_encode_value(e, payload->members[i + 1]);
        if (entry->key == NULL || entry->value == NULL)
            return NULL;
        out->values[out->n_values++] = entry;
    }
    return out->values != NULL ? out : NULL;
}

static Mw__Coreml__Value__Immediate *encode_immediate(mw__encoder *e, const mw__payload *payload)
{
    Mw__Coreml__Value__Immediate *out = MW__MAKE(e, Mw__Coreml__Value__Immediate);
    void *inner = NULL;
    if (out == NULL)
        return NULL;
    mw__coreml__value__immediate__init(out);
    switch (payload->type->kind) {
    case MW__LIST:
        out->value_case = MW__COREML__VALUE__IMMEDIATE__VALUE_LIST;
        inner = out->list = encode_members(e, payload);
        break;
    case MW__TUPLE:
        out->value_case = MW__COREML__VALUE__IMMEDIATE__VALUE_TUPLE;
        inner = out->tuple = encode_members(e, payload);
        break;
    case MW__DICT:
        out->value_case = MW__COREML__VALUE__IMMEDIATE__VALUE_DICTIONARY;
        inner = out->dictionary = encode_dictionary(e, payload);
        break;
    default:
        out->value_case = MW__COREML__VALUE__IMMEDIATE__VALUE_TENSOR;
        inner = out->tensor = encode_tensor(e, payload);
    }
    return inner != NULL ? out : NULL;
}

static Mw__Coreml__Value__Blob *encode_blob(mw__encoder *e, const mw__payload *payload)
{
    Mw__Coreml__Value__Blob *out = MW__MAKE(e, Mw__Coreml__Value__Blob);
    if (out == NULL)
        return NULL;
    mw__coreml__value__blob__init(out);
    out->offset = payload->blob_offset;
    out->file = mw__coreml_encode_string(e, payload->blob_path);
    return out->file != NULL ? out : NULL;
}

pb_value *mw__coreml_encode_value(mw__encoder *e, const mw__payload *payload)
{
    pb_value *out = MW__MAKE(e, pb_value);
    if (out == NULL)
        return NULL;
    mw__coreml__value__init(out);
    out->type = mw__coreml_encode_type(e, payload->type);
    if (payload->blob_path != NULL) {
        out->value_case = MW__COREML__VALUE__VALUE_BLOB;
        out->blob = encode_blob(e, payload);
        return out->type != NULL && out->blob != NULL ? out : NULL;
    }
    out->value_case = MW__COREML__VALUE__VALUE_IMMEDIATE;
    out->immediate = encode_immediate(e, payload);
    return out->type != NULL && out->immediate != NULL ? out : NULL;
}

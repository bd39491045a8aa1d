/* Reads literals of both styles into packed payloads: numbers are rounded once to the declared type, nested lists are
 * checked against the shape, one scalar for a whole tensor stays one scalar. */
#include "base/number/fp16.h"
#include "base/number/number.h"
#include "mil/text/parse.h"
#include <string.h>

/* ---- strings ---- */

/* Resolves \n and \t; any other escaped character stands for itself. */
static const char *unescape(mw__parser *parser, const mw__token *token)
{
    if (memchr(token->text, '\\', token->length) == NULL)
        return mw__parser_string(parser, token);
    char *out = mw__parser_alloc(parser, token->length + 1, 1);
    size_t length = 0;
    for (size_t i = 0; out != NULL && i < token->length; i++) {
        char c = token->text[i];
        if (c == '\\' && i + 1 < token->length) {
            c = token->text[++i];
            c = c == 'n' ? '\n' : c == 't' ? '\t' : c;
        }
        out[length++] = c;
    }
    return out;
}

/* ---- scalars ---- */

/* The range of an integer type of `bits` bits. */
static bool fits_integer(mw_dtype dtype, int64_t value)
{
    const int bits = mw_dtype_bits(dtype);
    const bool is_signed = dtype == MW_I4 || dtype == MW_I8 || dtype == MW_I16 || dtype == MW_I32 || dtype == MW_I64;
    if (bits == 64)
        return is_signed || value >= 0;
    const int64_t high = ((int64_t)1 << (is_signed ? bits - 1 : bits)) - 1;
    return value <= high && value >= (is_signed ? -high - 1 : 0);
}

static bool read_integer(const mw__token *token, mw_dtype dtype, uint64_t *out)
{
    int64_t value;
    if (dtype == MW_U64 && mw__number_read_u64(token->text, token->length, out))
        return true;
    if (!mw__number_read_i64(token->text, token->length, &value) || !fits_integer(dtype, value))
        return false;
    *out = (uint64_t)value;
    return true;
}

/* The bits of a floating-point literal in its declared type. */
static bool read_float(const mw__token *token, mw_dtype dtype, uint64_t *out)
{
    const mw__number_format format = dtype == MW_F16    ? MW__NUMBER_F16
                                     : dtype == MW_BF16 ? MW__NUMBER_BF16
                                     : dtype == MW_F32  ? MW__NUMBER_F32
                                                        : MW__NUMBER_F64;
    double value;
    if (!mw__number_read(token->text, token->length, format, &value))
        return false;
    if (dtype == MW_F16) {
        *out = mw__fp16_from_double(value);
    } else if (dtype == MW_BF16) {
        *out = mw__bf16_from_double(value);
    } else if (dtype == MW_F32) {
        const float narrow = (float)value;
        uint32_t bits;
        memcpy(&bits, &narrow, sizeof bits);
        *out = bits;
    } else {
        memcpy(out, &value, sizeof value);
    }
    return true;
}

static mw_status scalar_bits(mw__parser *parser, mw_dtype dtype, uint64_t *out)
{
    const mw__token *token = &parser->token;
    const bool is_float = dtype == MW_F16 || dtype == MW_F32 || dtype == MW_F64 || dtype == MW_BF16;
    bool good = token->kind == MW__TOKEN_NUMBER || token->kind == MW__TOKEN_WORD;
    if (dtype == MW_F8E4M3FN || dtype == MW_F8E5M2)
        return mw__token_fail(token, parser->err, MW_ERROR_UNSUPPORTED, "%s values are read from weight files only",
                              mw_dtype_name(dtype));
    if (dtype == MW_BOOL) {
        *out = mw__token_is(token, "true");
        good = *out != 0 || mw__token_is(token, "false");
    } else if (good) {
        good = is_float ? read_float(token, dtype, out) : read_integer(token, dtype, out);
    }
    char buffer[64];
    if (!good)
        return mw__token_fail(token, parser->err, MW_ERROR_FORMAT, "%s is not a value of type %s",
                              mw__token_print(token, buffer, sizeof buffer), mw_dtype_name(dtype));
    return mw__parser_advance(parser);
}

/* Bytes of one element while a list is read; sub-byte types are packed at its end. */
static size_t wide_size(mw_dtype dtype)
{
    const int bits = mw_dtype_bits(dtype);
    return bits < 8 ? 1 : (size_t)bits / 8;
}

/* scalar = hexfloat | decimal | integer | "inf" | "-inf" | "nan" | string | "true" | "false" */
static mw_status push_scalar(mw__parser *parser, mw_dtype dtype)
{
    if (dtype == MW_STRING) {
        if (parser->token.kind != MW__TOKEN_STRING)
            return mw__parser_expected(parser, "a string");
        const char *text = unescape(parser, &parser->token);
        MW_TRY(text != NULL ? MW_OK : parser->err->status);
        MW_TRY(mw__parser_push(parser, &text, sizeof text));
        return mw__parser_advance(parser);
    }
    uint64_t bits = 0;
    unsigned char bytes[8];
    MW_TRY(scalar_bits(parser, dtype, &bits));
    for (size_t i = 0; i < sizeof bytes; i++) /* little-endian on every host */
        bytes[i] = (unsigned char)(bits >> (8 * i));
    return mw__parser_push(parser, bytes, wide_size(dtype));
}

/* ---- tensors ---- */

static mw_status wrong_length(mw__parser *parser, const mw__token *at, size_t found, int64_t wanted)
{
    return mw__token_fail(at, parser->err, MW_ERROR_SHAPE, "list of %zu elements where the type says %lld", found,
                          (long long)wanted);
}

/* list-pl = "[" [ payload { "," payload } ] "]" at dimension `axis`; `?` extents take what is found first */
static mw_status parse_nested(mw__parser *parser, mw_dtype dtype, mw_shape *shape, int axis)
{
    const mw__token open = parser->token;
    size_t found = 0;
    MW_TRY(mw__parser_expect(parser, '[', "\"[\""));
    while (parser->token.kind != ']') {
        if (found > 0)
            MW_TRY(mw__parser_expect(parser, ',', "\",\" or \"]\""));
        if (axis + 1 < shape->rank)
            MW_TRY(parse_nested(parser, dtype, shape, axis + 1));
        else
            MW_TRY(push_scalar(parser, dtype));
        found++;
    }
    if (shape->dim[axis] == MW_DIM_UNKNOWN)
        shape->dim[axis] = (int64_t)found;
    if (shape->dim[axis] != (int64_t)found)
        return wrong_length(parser, &open, found, shape->dim[axis]);
    return mw__parser_advance(parser);
}

/* "[" scalar { "," scalar } "]" for a tensor of any rank, which third-party writers print */
static mw_status parse_flat(mw__parser *parser, mw_dtype dtype, mw_shape shape)
{
    const mw__token open = parser->token;
    mw_shape line = {.rank = 1, .dim = {MW_DIM_UNKNOWN}};
    MW_TRY(parse_nested(parser, dtype, &line, 0));
    if (line.dim[0] != mw_shape_count(shape))
        return wrong_length(parser, &open, (size_t)line.dim[0], mw_shape_count(shape));
    return MW_OK;
}

/* Packs one byte an element into `bits` bits an element, least significant first. */
static void pack_bits(unsigned char *out, const unsigned char *in, size_t count, unsigned bits)
{
    const unsigned mask = (1u << bits) - 1u;
    for (size_t i = 0; i < count; i++) {
        const size_t at = i * bits;
        const unsigned value = (in[i] & mask) << (at % 8);
        out[at / 8] = (unsigned char)(out[at / 8] | (value & 0xffu));
        if (value > 0xffu)
            out[at / 8 + 1] = (unsigned char)(out[at / 8 + 1] | (value >> 8));
    }
}

static mw_status take_elements(mw__parser *parser, size_t base, mw_dtype dtype, mw__payload *payload)
{
    const unsigned bits = (unsigned)mw_dtype_bits(dtype);
    void *elements;
    size_t bytes;
    MW_TRY(mw__parser_take(parser, base, &elements, &bytes));
    if (dtype == MW_STRING) {
        payload->strings = elements;
        return MW_OK;
    }
    payload->data = elements;
    payload->size = bytes;
    if (bits >= 8)
        return MW_OK;
    payload->size = bytes / 8 * bits + (bytes % 8 * bits + 7) / 8;
    unsigned char *packed = mw__parser_alloc(parser, payload->size, 1);
    MW_TRY(packed != NULL ? MW_OK : parser->err->status);
    pack_bits(packed, elements, bytes, bits);
    payload->data = packed;
    return MW_OK;
}

/* A list for the whole tensor, or one scalar for every element. */
static mw_status parse_tensor(mw__parser *parser, const mw__type *type, mw__payload *payload)
{
    const size_t base = parser->stack_size;
    mw_shape shape = type->shape;
    const bool list = parser->token.kind == '[';
    const bool nested = shape.rank == 1 || parser->next.kind == '[' || parser->next.kind == ']';
    if (list && shape.rank == 0)
        return mw__token_fail(&parser->token, parser->err, MW_ERROR_SHAPE, "a list for a scalar of type %s",
                              mw_dtype_name(type->dtype));
    payload->splat = !list && shape.rank > 0;
    if (payload->splat && mw_shape_count(shape) < 0)
        return mw__token_fail(&parser->token, parser->err, MW_ERROR_SHAPE, "one value for a tensor of unknown size");
    if (payload->splat && type->dtype == MW_STRING)
        return mw__parser_expected(parser, "\"[\"");
    if (list)
        MW_TRY(nested ? parse_nested(parser, type->dtype, &shape, 0) : parse_flat(parser, type->dtype, shape));
    else
        MW_TRY(push_scalar(parser, type->dtype));
    if (!mw_shape_equal(shape, type->shape)) { /* `?` became what was found */
        payload->type = mw__type_tensor(parser->graph, type->dtype, shape, parser->err);
        MW_TRY(payload->type != NULL ? MW_OK : parser->err->status);
    }
    return take_elements(parser, base, type->dtype, payload);
}

/* ident "=" typed-value, where the identifier and the type are fixed */
static mw_status parse_blob_field(mw__parser *parser, const char *field, mw_dtype dtype, const mw__payload **out)
{
    const mw__token at = parser->token;
    if (!mw__token_is(&at, field))
        return mw__parser_expected(parser, field);
    MW_TRY(mw__parser_advance(parser));
    MW_TRY(mw__parser_expect(parser, '=', "\"=\""));
    MW_TRY(mw__parse_typed_value(parser, out));
    const mw__type *type = (*out)->type;
    const bool scalar = type->kind == MW__TENSOR && type->shape.rank == 0 && type->dtype == dtype;
    if (!scalar || (*out)->blob_path != NULL)
        return mw__token_fail(&at, parser->err, MW_ERROR_FORMAT, "%s of BLOBFILE is not a %s literal", field,
                              mw_dtype_name(dtype));
    return MW_OK;
}

/* blobfile = "BLOBFILE" "(" "path" "=" typed-value "," "offset" "=" typed-value ")" */
static mw_status parse_blob(mw__parser *parser, const mw__type *type, mw__payload *payload)
{
    const mw__token at = parser->token;
    const mw__payload *path = NULL, *offset = NULL;
    size_t bytes;
    MW_TRY(mw__parser_advance(parser));
    if (!mw__type_bytes(type, &bytes))
        return mw__token_fail(&at, parser->err, MW_ERROR_SHAPE, "BLOBFILE for a type without a size");
    MW_TRY(mw__parser_expect(parser, '(', "\"(\""));
    MW_TRY(parse_blob_field(parser, "path", MW_STRING, &path));
    MW_TRY(mw__parser_expect(parser, ',', "\",\""));
    MW_TRY(parse_blob_field(parser, "offset", MW_U64, &offset));
    payload->blob_path = path->strings[0];
    for (size_t i = 8; i-- > 0;)
        payload->blob_offset = payload->blob_offset << 8 | ((const unsigned char *)offset->data)[i];
    return mw__parser_expect(parser, ')', "\")\"");
}

/* ---- compound values ---- */

static mw_status parse_payload(mw__parser *parser, const mw__type *type, const mw__payload **out);

static mw_status parse_member(mw__parser *parser, const mw__type *type)
{
    const mw__payload *member = NULL;
    MW_TRY(parse_payload(parser, type, &member));
    return mw__parser_push(parser, &member, sizeof member);
}

/* tuple-pl = "(" [ payload { "," payload } ] ")" */
static mw_status parse_tuple(mw__parser *parser, const mw__type *type)
{
    MW_TRY(mw__parser_expect(parser, '(', "\"(\""));
    for (size_t i = 0; i < type->count; i++) {
        if (i > 0)
            MW_TRY(mw__parser_expect(parser, ',', "\",\""));
        MW_TRY(parse_member(parser, type->element[i]));
    }
    return mw__parser_expect(parser, ')', "\")\"");
}

/* "[" [ payload { "," payload } ] "]" */
static mw_status parse_list(mw__parser *parser, const mw__type *type)
{
    const mw__token open = parser->token;
    size_t found = 0;
    MW_TRY(mw__parser_expect(parser, '[', "\"[\""));
    for (; parser->token.kind != ']'; found++) {
        if (found > 0)
            MW_TRY(mw__parser_expect(parser, ',', "\",\" or \"]\""));
        MW_TRY(parse_member(parser, type->element[0]));
    }
    if (type->length != MW_DIM_UNKNOWN && type->length != (int64_t)found)
        return wrong_length(parser, &open, found, type->length);
    return mw__parser_advance(parser);
}

/* dict-pl = "{" [ "{" payload "," payload "}" { "," "{" payload "," payload "}" } ] "}" */
static mw_status parse_dict(mw__parser *parser, const mw__type *type)
{
    bool first = true;
    MW_TRY(mw__parser_expect(parser, '{', "\"{\""));
    for (; parser->token.kind != '}'; first = false) {
        if (!first)
            MW_TRY(mw__parser_expect(parser, ',', "\",\" or \"}\""));
        MW_TRY(mw__parser_expect(parser, '{', "\"{\""));
        MW_TRY(parse_member(parser, type->element[0]));
        MW_TRY(mw__parser_expect(parser, ',', "\",\""));
        MW_TRY(parse_member(parser, type->element[1]));
        MW_TRY(mw__parser_expect(parser, '}', "\"}\""));
    }
    return mw__parser_advance(parser);
}

static mw_status parse_compound(mw__parser *parser, const mw__type *type, mw__payload *payload)
{
    const size_t base = parser->stack_size;
    if (type->kind == MW__TUPLE)
        MW_TRY(parse_tuple(parser, type));
    else if (type->kind == MW__LIST)
        MW_TRY(parse_list(parser, type));
    else if (type->kind == MW__DICT)
        MW_TRY(parse_dict(parser, type));
    else
        return mw__token_fail(&parser->token, parser->err, MW_ERROR_FORMAT, "a state has no literal");
    void *members;
    size_t bytes;
    MW_TRY(mw__parser_take(parser, base, &members, &bytes));
    payload->members = members;
    payload->member_count = bytes / sizeof(mw__payload *);
    return MW_OK;
}

/* A member that repeats its type: typed-value where a payload of that type is wanted. */
static mw_status parse_retyped(mw__parser *parser, const mw__type *type, const mw__payload **out)
{
    const mw__token at = parser->token;
    MW_TRY(mw__parse_typed_value(parser, out));
    const mw__type *found = (*out)->type;
    const bool tensors = found->kind == MW__TENSOR && type->kind == MW__TENSOR;
    const bool fits = tensors ? mw__type_fits(type, found->dtype, found->shape) : mw__type_equal(type, found);
    return fits ? MW_OK : mw__token_fail(&at, parser->err, MW_ERROR_DTYPE, "a value of another type than declared");
}

/* payload = blobfile | scalar | list-pl | tuple-pl | dict-pl | typed-value */
static mw_status parse_payload(mw__parser *parser, const mw__type *type, const mw__payload **out)
{
    MW_TRY(mw__parser_enter(parser));
    if (mw__parser_at_literal(parser)) {
        MW_TRY(parse_retyped(parser, type, out));
    } else {
        mw__payload *payload = mw__parser_alloc(parser, 1, sizeof *payload);
        MW_TRY(payload != NULL ? MW_OK : parser->err->status);
        payload->type = type;
        *out = payload;
        if (type->kind != MW__TENSOR)
            MW_TRY(parse_compound(parser, type, payload));
        else if (mw__token_is(&parser->token, "BLOBFILE"))
            MW_TRY(parse_blob(parser, type, payload));
        else
            MW_TRY(parse_tensor(parser, type, payload));
    }
    parser->depth--;
    return MW_OK;
}

mw_status mw__parse_typed_value(mw__parser *parser, const mw__payload **out)
{
    const mw__type *type = NULL;
    if (!mw__parser_at_literal(parser))
        return mw__parser_expected(parser, "a typed literal");
    MW_TRY(mw__parse_type(parser, &type));
    MW_TRY(mw__parser_expect(parser, '(', "\"(\""));
    MW_TRY(parse_payload(parser, type, out));
    return mw__parser_expect(parser, ')', "\")\"");
}

/* Reads .npy: the header is the literal of a Python dict, of which only the form that numpy writes is read. */
#include "format/tensors/npy.h"

#include "base/memory/checked.h"
#include "base/number/bytes.h"
#include "base/number/number.h"

#include <ctype.h>
#include <string.h>

static const struct {
    const char *code; /* kind and bytes */
    mw_dtype dtype;
} types[] = {
    {"f2", MW_F16}, {"f4", MW_F32}, {"f8", MW_F64}, {"i1", MW_I8},  {"u1", MW_U8},  {"i2", MW_I16},
    {"u2", MW_U16}, {"i4", MW_I32}, {"u4", MW_U32}, {"i8", MW_I64}, {"u8", MW_U64}, {"b1", MW_BOOL},
};

/* ---- the dict ---- */

typedef struct literal {
    const mw__npy_source *source;
    const char *at, *end;
} literal;

static mw_status malformed_npy(const mw__npy_source *source, const char *what, mw_error *err)
{
    return mw__fail(err, MW_ERROR_FORMAT, "\"%.200s\": \"%.100s\" is no sound .npy: %s", source->path, source->name,
                    what);
}

static void skip_blanks(literal *text)
{
    while (text->at < text->end && *text->at == ' ')
        text->at++;
}

static bool take_token(literal *text, const char *token)
{
    const size_t length = strlen(token);
    skip_blanks(text);
    if ((size_t)(text->end - text->at) < length || memcmp(text->at, token, length) != 0)
        return false;
    text->at += length;
    return true;
}

/* string ::= ' [^'\]{0,15} ' */
static bool take_string(literal *text, char out[MW__NPY_DESCR])
{
    size_t length = 0;
    if (!take_token(text, "'"))
        return false;
    while (text->at < text->end && *text->at != '\'' && *text->at != '\\' && length + 1 < MW__NPY_DESCR)
        out[length++] = *text->at++;
    out[length] = '\0';
    return take_token(text, "'");
}

/* shape ::= ( [n [, n]* [,]] ) */
static bool take_shape(literal *text, mw_shape *out)
{
    *out = (mw_shape){0};
    if (!take_token(text, "("))
        return false;
    while (!take_token(text, ")")) {
        skip_blanks(text);
        const char *begin = text->at;
        while (text->at < text->end && isdigit((unsigned char)*text->at))
            text->at++;
        if (out->rank == MW_RANK_MAX || !mw__number_read_i64(begin, (size_t)(text->at - begin), &out->dim[out->rank++]))
            return false;
        take_token(text, "L"); /* of Python 2 */
        if (!take_token(text, ",") && !(text->at < text->end && *text->at == ')'))
            return false;
    }
    return true;
}

enum { HAS_DESCR = 1, HAS_ORDER = 2, HAS_SHAPE = 4, HAS_ALL = 7 };

/* field ::= 'descr': string | 'fortran_order': (True | False) | 'shape': shape */
static mw_status take_field(literal *text, mw__npy_header *out, int *seen, mw_error *err)
{
    int field = 0;
    if (take_token(text, "'descr'") && take_token(text, ":")) {
        field = HAS_DESCR;
        if (!take_string(text, out->descr))
            return mw__fail(err, MW_ERROR_UNSUPPORTED,
                            "\"%.200s\": \"%.100s\" has a structured or quoted type; plain numbers are read",
                            text->source->path, text->source->name);
    } else if (take_token(text, "'fortran_order'") && take_token(text, ":")) {
        field = HAS_ORDER;
        out->fortran = take_token(text, "True");
        if (!out->fortran && !take_token(text, "False"))
            return malformed_npy(text->source, "fortran_order is neither True nor False", err);
    } else if (take_token(text, "'shape'") && take_token(text, ":")) {
        field = HAS_SHAPE;
        if (!take_shape(text, &out->shape))
            return malformed_npy(text->source, "its shape is no tuple of at most 8 extents", err);
    }
    if (field == 0 || (*seen & field) != 0)
        return malformed_npy(text->source, "a field other than descr, fortran_order and shape, or one twice", err);
    *seen |= field;
    return MW_OK;
}

/* dict ::= { field , field , field [,] } blanks newline */
static mw_status read_dict(literal *text, mw__npy_header *out, mw_error *err)
{
    int seen = 0;
    if (!take_token(text, "{"))
        return malformed_npy(text->source, "its header is no dict", err);
    while (!take_token(text, "}")) {
        MW_TRY(take_field(text, out, &seen, err));
        if (!take_token(text, ",") && !(text->at < text->end && *text->at == '}'))
            return malformed_npy(text->source, "its header lacks a comma", err);
    }
    skip_blanks(text);
    if (seen != HAS_ALL || text->end - text->at != 1 || *text->at != '\n')
        return malformed_npy(text->source, "its header lacks a field, or does not end behind the dict", err);
    return MW_OK;
}

/* ---- types ---- */

static mw_status refuse_type(const mw__npy_source *source, const char *descr, mw_error *err)
{
    const char *why = descr[0] == '|' && descr[1] == 'O' ? "Python objects, which are a pickle"
                      : strchr(descr, 'c') != NULL       ? "complex numbers"
                      : strchr(descr, 'V') != NULL       ? "raw bytes (bfloat16 has no type of its own in .npy)"
                                                         : "none of ours";
    return mw__fail(err, MW_ERROR_UNSUPPORTED,
                    "\"%.200s\": \"%.100s\" has elements of type '%s', %s; f2 f4 f8, i1 i2 i4 i8, u1 u2 u4 u8 and b1 "
                    "are read",
                    source->path, source->name, descr, why);
}

/* descr ::= (< | > | = | \|) kind bytes */
static mw_status find_type(const mw__npy_source *source, mw__npy_header *out, mw_error *err)
{
    const char order = out->descr[0];
    for (size_t i = 0; order != '\0' && i < sizeof types / sizeof types[0]; i++)
        if (strcmp(out->descr + 1, types[i].code) == 0)
            out->dtype = types[i].dtype;
    const bool single = mw_dtype_bits(out->dtype) == 8;
    if (out->dtype == MW_DTYPE_NONE || strchr("<>=|", order) == NULL || (order == '|' && !single))
        return refuse_type(source, out->descr, err);
    out->swapped = order == '>' && !single;
    return MW_OK;
}

/* ---- the header ---- */

static mw_status read_text(const mw__npy_source *source, size_t length, mw__npy_header *out, mw_error *err)
{
    char *text = mw__alloc(source->allocator, length, 1, err);
    if (text == NULL)
        return MW_ERROR_MEMORY;
    literal dict = {.source = source, .at = text, .end = text + length};
    mw_status status = source->next(source->user, text, length, err);
    if (status == MW_OK)
        status = read_dict(&dict, out, err);
    if (status == MW_OK)
        status = find_type(source, out, err);
    mw__free(source->allocator, text);
    return status;
}

/* file ::= 0x93 NUMPY major minor length:2 (version 1) or length:4 (2 and 3), dict of that length, data */
mw_status mw__npy_read_header(const mw__npy_source *source, mw__npy_header *out, mw_error *err)
{
    unsigned char mark[8], length[4] = {0};
    *out = (mw__npy_header){0};
    MW_TRY(source->next(source->user, mark, sizeof mark, err));
    if (memcmp(mark, "\x93NUMPY", 6) != 0)
        return malformed_npy(source, "it does not begin with 0x93 NUMPY", err);
    if (mark[6] < 1 || mark[6] > 3 || mark[7] != 0)
        return mw__fail(err, MW_ERROR_UNSUPPORTED, "\"%.200s\": \"%.100s\" has version %u.%u; 1.0 to 3.0 are read",
                        source->path, source->name, mark[6], mark[7]);
    const size_t bytes = mark[6] == 1 ? 2 : 4;
    MW_TRY(source->next(source->user, length, bytes, err));
    const size_t size = mw__bytes_u32(length);
    if (size > MW__NPY_HEADER_MAX)
        return malformed_npy(source, "its header has more than 65535 bytes", err);
    out->size = sizeof mark + bytes + size;
    return read_text(source, size, out, err);
}

/* ---- the data ---- */

static mw__strided fortran_order(const mw__npy_header *header)
{
    mw__strided from = {.shape = header->shape, .item = (size_t)mw_dtype_bits(header->dtype) / 8};
    int64_t step = 1;
    for (int i = 0; i < header->shape.rank; i++) {
        from.stride[i] = step;
        step *= header->shape.dim[i];
    }
    return from;
}

static mw_status read_fortran(const mw__npy_source *source, const mw__npy_header *header, void *out, size_t size,
                              mw_error *err)
{
    void *raw = mw__alloc(source->allocator, size, 1, err);
    if (raw == NULL)
        return MW_ERROR_MEMORY;
    const mw__strided from = fortran_order(header);
    const mw_status status = source->next(source->user, raw, size, err);
    if (status == MW_OK)
        mw__strided_copy(out, raw, &from);
    mw__free(source->allocator, raw);
    return status;
}

mw_status mw__npy_read_data(const mw__npy_source *source, const mw__npy_header *header, void *out, mw_error *err)
{
    const size_t item = (size_t)mw_dtype_bits(header->dtype) / 8;
    const size_t count = (size_t)mw_shape_count(header->shape);
    if (header->fortran && header->shape.rank > 1)
        MW_TRY(read_fortran(source, header, out, count * item, err));
    else
        MW_TRY(source->next(source->user, out, count * item, err));
    if (header->swapped)
        mw__swap_bytes(out, item, count);
    return MW_OK;
}

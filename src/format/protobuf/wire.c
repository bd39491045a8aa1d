/* Looks through a file before protobuf-c does, so that what it makes of it is bounded: it neither counts nesting nor
 * memory. Does not look at what the fields mean. */
#include "format/protobuf/wire.h"
#include "base/memory/checked.h"
#include <string.h>

/* ---- memory ---- */

/* Each block is preceded by its size, so that freeing gives it back. */
typedef union block {
    size_t size;
    max_align_t align;
} block;

static void *wire_alloc(void *user, size_t size)
{
    mw__wire *wire = user;
    size_t whole;
    if (!mw__add_size(size, sizeof(block), &whole) || whole > wire->left)
        return NULL;
    block *made = mw__alloc(wire->allocator, whole, 1, NULL);
    if (made == NULL) {
        wire->refused = true;
        return NULL;
    }
    made->size = whole;
    wire->left -= whole;
    return made + 1;
}

static void wire_free(void *user, void *pointer)
{
    mw__wire *wire = user;
    if (pointer == NULL)
        return;
    block *made = (block *)pointer - 1;
    wire->left += made->size;
    mw__free(wire->allocator, made);
}

/* ---- looking through ---- */

typedef struct scanner {
    const uint8_t *at, *end;
    const char *name; /* of the file */
    mw_error *err;
    const ProtobufCMessageDescriptor *open; /* messages of this type may have fields that the schema lacks */
    int depth;
} scanner;

typedef struct wire_field {
    uint32_t number;
    unsigned wire;       /* type */
    const uint8_t *data; /* length-delimited */
    size_t size;
} wire_field;

static mw_status malformed_message(const scanner *scan, const char *what)
{
    return mw__fail(scan->err, MW_ERROR_FORMAT, "\"%.200s\" is no protobuf of its kind: %s", scan->name, what);
}

/* varint = { byte with the high bit } byte */
static bool read_varint(scanner *scan, uint64_t *out)
{
    *out = 0;
    for (unsigned shift = 0; shift < 70 && scan->at < scan->end; shift += 7) {
        const uint8_t byte = *scan->at++;
        if (shift == 63 && byte > 1)
            return false;
        *out |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return true;
    }
    return false;
}

static mw_status skip_bytes(scanner *scan, size_t size)
{
    if ((size_t)(scan->end - scan->at) < size)
        return malformed_message(scan, "it ends within a field");
    scan->at += size;
    return MW_OK;
}

/* field = key (varint | 8 bytes | length bytes | 4 bytes) */
static mw_status read_field(scanner *scan, wire_field *out)
{
    uint64_t key, value;
    if (!read_varint(scan, &key) || key >> 3 == 0 || key >> 3 > 0x1fffffff)
        return malformed_message(scan, "a field has no number");
    *out = (wire_field){.number = (uint32_t)(key >> 3), .wire = (unsigned)(key & 7)};
    switch (out->wire) {
    case PROTOBUF_C_WIRE_TYPE_VARINT:
        return read_varint(scan, &value) ? MW_OK : malformed_message(scan, "it ends within a number");
    case PROTOBUF_C_WIRE_TYPE_64BIT:
        return skip_bytes(scan, 8);
    case PROTOBUF_C_WIRE_TYPE_32BIT:
        return skip_bytes(scan, 4);
    case PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED:
        if (!read_varint(scan, &value) || value > (uint64_t)(scan->end - scan->at))
            return malformed_message(scan, "a field is longer than what holds it");
        out->data = scan->at;
        out->size = (size_t)value;
        return skip_bytes(scan, out->size);
    default:
        return malformed_message(scan, "a field of a kind that is not used any more");
    }
}

/* The wire type of one element of the field. */
static unsigned wire_type(const ProtobufCFieldDescriptor *row)
{
    switch (row->type) {
    case PROTOBUF_C_TYPE_FIXED32:
    case PROTOBUF_C_TYPE_SFIXED32:
    case PROTOBUF_C_TYPE_FLOAT:
        return PROTOBUF_C_WIRE_TYPE_32BIT;
    case PROTOBUF_C_TYPE_FIXED64:
    case PROTOBUF_C_TYPE_SFIXED64:
    case PROTOBUF_C_TYPE_DOUBLE:
        return PROTOBUF_C_WIRE_TYPE_64BIT;
    case PROTOBUF_C_TYPE_STRING:
    case PROTOBUF_C_TYPE_BYTES:
    case PROTOBUF_C_TYPE_MESSAGE:
        return PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED;
    default:
        return PROTOBUF_C_WIRE_TYPE_VARINT;
    }
}

static bool fits_descriptor(const ProtobufCFieldDescriptor *row, const wire_field *field)
{
    const unsigned wanted = wire_type(row);
    const bool packed = row->label == PROTOBUF_C_LABEL_REPEATED && wanted != PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED;
    return field->wire == wanted || (packed && field->wire == PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED);
}

static mw_status look_through(scanner *scan, const ProtobufCMessageDescriptor *type);

/* A field that the schema knows; `seen` has a bit for each that may come once. */
static mw_status look_at(const scanner *from, const ProtobufCMessageDescriptor *type,
                         const ProtobufCFieldDescriptor *row, const wire_field *field, uint64_t *seen)
{
    const uint64_t bit = (uint64_t)1 << (row - type->fields);
    if (!fits_descriptor(row, field))
        return mw__fail(from->err, MW_ERROR_FORMAT, "\"%.200s\": %s.%s has the wrong wire type %u", from->name,
                        type->short_name, row->name, field->wire);
    if (row->label != PROTOBUF_C_LABEL_REPEATED && row->type == PROTOBUF_C_TYPE_MESSAGE && (*seen & bit) != 0)
        return mw__fail(from->err, MW_ERROR_FORMAT, "\"%.200s\": %s.%s is given twice", from->name, type->short_name,
                        row->name);
    *seen |= bit;
    if (row->type == PROTOBUF_C_TYPE_STRING && field->size > 0 && memchr(field->data, 0, field->size) != NULL)
        return mw__fail(from->err, MW_ERROR_FORMAT, "\"%.200s\": %s.%s has a NUL in it", from->name, type->short_name,
                        row->name);
    if (row->type != PROTOBUF_C_TYPE_MESSAGE)
        return MW_OK;
    scanner inner = {.at = field->data,
                     .end = field->data + field->size,
                     .name = from->name,
                     .err = from->err,
                     .open = from->open,
                     .depth = from->depth + 1};
    return look_through(&inner, row->descriptor);
}

static mw_status look_through(scanner *scan, const ProtobufCMessageDescriptor *type)
{
    uint64_t seen = 0; /* no message has more than 64 fields */
    if (scan->depth > MW__WIRE_DEPTH)
        return mw__fail(scan->err, MW_ERROR_FORMAT, "\"%.200s\": messages are nested deeper than %d", scan->name,
                        MW__WIRE_DEPTH);
    while (scan->at < scan->end) {
        wire_field field;
        MW_TRY(read_field(scan, &field));
        const ProtobufCFieldDescriptor *row = protobuf_c_message_descriptor_get_field(type, field.number);
        if (row != NULL)
            MW_TRY(look_at(scan, type, row, &field, &seen));
        else if (type != scan->open)
            return mw__fail(scan->err, MW_ERROR_UNSUPPORTED,
                            "\"%.200s\": %s has field %u, which this version does not know", scan->name,
                            type->short_name, (unsigned)field.number);
    }
    return MW_OK;
}

/* ---- the calls ---- */

ProtobufCMessage *mw__wire_read(mw__wire *wire, const mw_allocator *allocator, const ProtobufCMessageDescriptor *type,
                                const void *data, size_t size, const char *name, mw_error *err)
{
    mw_error own = {0};
    scanner scan = {.at = data, .end = (const uint8_t *)data + size, .name = name, .err = &own, .open = type};
    *wire = (mw__wire){.allocator = allocator, .own = {wire_alloc, wire_free, wire}};
    if (mw__failed(err))
        return NULL;
    if (!mw__mul_size(size, MW__WIRE_FACTOR, &wire->left) || !mw__add_size(wire->left, MW__WIRE_SPARE, &wire->left))
        wire->left = SIZE_MAX;
    if (look_through(&scan, type) != MW_OK) {
        if (err != NULL)
            *err = own;
        return NULL;
    }
    ProtobufCMessage *message = protobuf_c_message_unpack(type, &wire->own, size, data);
    if (message == NULL && wire->refused)
        mw__fail(err, MW_ERROR_MEMORY, "out of memory while \"%.200s\" is decoded", name);
    else if (message == NULL)
        mw__fail(err, MW_ERROR_FORMAT, "\"%.200s\" is no protobuf of its kind", name);
    return message;
}

void mw__wire_free(mw__wire *wire, ProtobufCMessage *message)
{
    if (message != NULL)
        protobuf_c_message_free_unpacked(message, &wire->own);
}

mw_status mw__wire_write(const mw_allocator *allocator, const ProtobufCMessage *message, uint8_t **out,
                         size_t *out_size, mw_error *err)
{
    *out_size = protobuf_c_message_get_packed_size(message);
    *out = mw__alloc(allocator, *out_size, 1, err);
    if (*out == NULL)
        return MW_ERROR_MEMORY;
    protobuf_c_message_pack(message, *out);
    return MW_OK;
}

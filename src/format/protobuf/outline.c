#include "format/protobuf/outline.h"

#include "format/protobuf/wire.h"

#include <string.h>

enum { WINDOW = 4096, LENGTH_BYTES = 5 };

/* The file, of which a window is in memory. */
typedef struct outline {
    const mw__file *file;
    const char *path;
    const mw__outline_rule *rule;
    mw__text *out;
    mw_error *err;
    uint64_t at; /* the next byte */
    uint64_t window_at;
    size_t window_size;
    int depth;
    unsigned char window[WINDOW];
} outline;

/* ---- reading ---- */

static bool fill_window(outline *o)
{
    const uint64_t left = o->file->size - o->at;
    o->window_at = o->at;
    o->window_size = left < WINDOW ? (size_t)left : WINDOW;
    return mw__file_read_at(o->file, o->at, o->window, o->window_size, o->path, o->err) == MW_OK;
}

static bool next_byte(outline *o, uint64_t end, unsigned char *out)
{
    if (o->at >= end)
        return false;
    if ((o->at < o->window_at || o->at - o->window_at >= o->window_size) && !fill_window(o))
        return false;
    *out = o->window[o->at++ - o->window_at];
    return true;
}

/* varint = { byte with the high bit } byte */
static bool next_varint(outline *o, uint64_t end, uint64_t *out)
{
    unsigned char byte = 0x80;
    *out = 0;
    for (unsigned shift = 0; byte >= 0x80; shift += 7) {
        if (shift > 63 || !next_byte(o, end, &byte))
            return false;
        *out |= (uint64_t)(byte & 0x7f) << shift;
    }
    return true;
}

/* Appends the next bytes as they are. */
static bool copy_bytes(outline *o, uint64_t end, uint64_t size)
{
    if (size > end - o->at)
        return false;
    while (size > 0 && !o->out->failed) {
        if ((o->at < o->window_at || o->at - o->window_at >= o->window_size) && !fill_window(o))
            return false;
        const size_t from = (size_t)(o->at - o->window_at), left = o->window_size - from;
        const size_t step = size < left ? (size_t)size : left;
        mw__text_append(o->out, (const char *)o->window + from, step);
        o->at += step;
        size -= step;
    }
    return !o->out->failed;
}

/* ---- writing ---- */

static void put_varint(mw__text *out, uint64_t value)
{
    unsigned char bytes[10];
    size_t count = 0;
    for (; value >= 0x80; value >>= 7)
        bytes[count++] = (unsigned char)(value | 0x80);
    bytes[count++] = (unsigned char)value;
    mw__text_append(out, (const char *)bytes, count);
}

void mw__outline_put_head(mw__text *out, uint32_t field, uint64_t size)
{
    put_varint(out, (uint64_t)field << 3 | 2);
    put_varint(out, size);
}

void mw__outline_put_number(mw__text *out, uint32_t field, uint64_t value)
{
    put_varint(out, (uint64_t)field << 3);
    put_varint(out, value);
}

void mw__outline_put_bytes(mw__text *out, uint32_t field, const void *data, size_t size)
{
    mw__outline_put_head(out, field, size);
    mw__text_append(out, data, size);
}

/* A length of five bytes, whatever it is, so that it can be written when it is known. */
static void put_length(mw__text *out, size_t place, uint64_t size)
{
    for (size_t i = 0; i < LENGTH_BYTES && !out->failed; i++, size >>= 7)
        out->data[place + i] = (char)((size & 0x7f) | (i + 1 < LENGTH_BYTES ? 0x80 : 0));
}

/* ---- messages ---- */

static bool read_message(outline *o, uint64_t end, const ProtobufCMessageDescriptor *type);

static bool read_inner(outline *o, uint64_t size, uint64_t key, const ProtobufCMessageDescriptor *type)
{
    static const char blank[LENGTH_BYTES] = {0};
    put_varint(o->out, key);
    const size_t place = o->out->size;
    mw__text_append(o->out, blank, sizeof blank);
    if (o->depth == MW__WIRE_DEPTH || o->out->failed)
        return false;
    o->depth++;
    const bool good = read_message(o, o->at + size, type) && !o->out->failed;
    o->depth--;
    if (good)
        put_length(o->out, place, o->out->size - place - LENGTH_BYTES);
    return good && o->out->size - place < UINT32_MAX;
}

/* A field of bytes: it is left out, looked into, or copied. */
static bool read_bytes(outline *o, uint64_t end, uint64_t key, const ProtobufCMessageDescriptor *type, bool *replaced)
{
    uint64_t size;
    if (!next_varint(o, end, &size) || size > end - o->at)
        return false;
    const mw__outline_rule *rule = o->rule;
    const ProtobufCFieldDescriptor *row = protobuf_c_message_descriptor_get_field(type, (uint32_t)(key >> 3));
    if (size < rule->least || row == NULL) {
        put_varint(o->out, key);
        put_varint(o->out, size);
        return copy_bytes(o, end, size);
    }
    if (type == rule->type && strchr(rule->numbers, (int)row->id) != NULL) {
        if (*replaced)
            return false; /* in two runs: as a whole */
        rule->replace(o->out, row->id, o->at, size);
        o->at += size;
        return *replaced = true;
    }
    if (row->type == PROTOBUF_C_TYPE_MESSAGE)
        return read_inner(o, size, key, row->descriptor);
    put_varint(o->out, key);
    put_varint(o->out, size);
    return copy_bytes(o, end, size);
}

static bool read_message(outline *o, uint64_t end, const ProtobufCMessageDescriptor *type)
{
    uint64_t key, value;
    bool replaced = false;
    while (o->at < end) {
        if (!next_varint(o, end, &key) || key >> 3 == 0 || key >> 3 > 0x1fffffff)
            return false;
        const unsigned wire = (unsigned)(key & 7);
        bool good = false;
        if (wire == PROTOBUF_C_WIRE_TYPE_LENGTH_PREFIXED) {
            good = read_bytes(o, end, key, type, &replaced);
        } else if (wire == PROTOBUF_C_WIRE_TYPE_VARINT) {
            good = next_varint(o, end, &value);
            if (!replaced || key >> 3 != o->rule->place) {
                put_varint(o->out, key);
                put_varint(o->out, value);
            }
        } else if (wire == PROTOBUF_C_WIRE_TYPE_64BIT || wire == PROTOBUF_C_WIRE_TYPE_32BIT) {
            put_varint(o->out, key);
            good = copy_bytes(o, end, wire == PROTOBUF_C_WIRE_TYPE_64BIT ? 8 : 4);
        }
        if (!good)
            return false;
    }
    return o->at == end;
}

bool mw__outline_read(const mw__file *file, const char *path, const ProtobufCMessageDescriptor *type,
                      const mw__outline_rule *rule, mw__text *out, mw_error *err)
{
    outline o = {.file = file, .path = path, .rule = rule, .out = out, .err = err};
    if (!read_message(&o, file->size, type))
        return false;
    return mw__text_check(out, err) == MW_OK;
}

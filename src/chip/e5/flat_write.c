/* Writing FlatBuffers, from front to back. */
#include "chip/e5/flat.h"

#include <string.h>

static void put16(mw__text *out, size_t value)
{
    mw__text_append(out, (const char[]){(char)(value & 0xff), (char)(value >> 8 & 0xff)}, 2);
}

static void set32(mw__text *out, size_t at, size_t value)
{
    if (!out->failed)
        for (int i = 0; i < 4; i++)
            out->data[at + (size_t)i] = (char)(value >> 8 * i & 0xff);
}

static void put32(mw__text *out, size_t value)
{
    mw__text_append(out, "\0\0\0\0", 4);
    set32(out, out->size - 4, value);
}

static void put_zeros(mw__text *out, size_t count)
{
    while (count-- > 0 && !out->failed)
        mw__text_append(out, "\0", 1);
}

/* Until `ahead` bytes further on there is a multiple of `alignment`. */
static void align(mw__text *out, size_t ahead, size_t alignment)
{
    put_zeros(out, (alignment - (out->size + ahead) % alignment) % alignment);
}

void mw__flatbuffer_put_head(mw__text *out)
{
    put_zeros(out, 8); /* the offset, and four bytes as real files have them */
}

static size_t size_of(const mw__flatbuffer_field *field)
{
    return field->kind == MW__FLAT_STRUCT ? field->size : field->kind == MW__FLAT_U8 ? 1 : 4;
}

/* Where each field stands in its table: in order, aligned. Returns the size; *alignment is the table's. */
static size_t lay_out(mw__flatbuffer_field *fields, size_t count, size_t *alignment)
{
    size_t at = 4;
    *alignment = 4;
    for (size_t i = 0; i < count; i++) {
        const size_t own = fields[i].kind == MW__FLAT_STRUCT ? 8 : size_of(&fields[i]);
        *alignment = own > *alignment ? own : *alignment;
        at = (at + own - 1) / own * own;
        fields[i].at = at;
        at += size_of(&fields[i]);
    }
    return at;
}

static void put_field(mw__text *out, size_t table, mw__flatbuffer_field *field)
{
    put_zeros(out, table + field->at - out->size);
    field->at += table;
    if (field->kind == MW__FLAT_STRUCT)
        mw__text_append(out, field->bytes, field->size);
    else if (field->kind == MW__FLAT_U8)
        mw__text_append(out, (const char[]){(char)field->value}, 1);
    else
        put32(out, field->kind == MW__FLAT_U32 ? field->value : 0);
}

void mw__flatbuffer_put_table(mw__text *out, size_t link, mw__flatbuffer_field *fields, size_t count)
{
    size_t alignment;
    const size_t size = lay_out(fields, count, &alignment), vtable = 4 + 2 * count;
    align(out, vtable, alignment);
    put16(out, vtable);
    put16(out, size);
    for (size_t i = 0; i < count; i++)
        put16(out, fields[i].at);
    if (out->failed)
        return;
    const size_t table = out->size;
    set32(out, link, table - link);
    put32(out, vtable); /* the way back */
    for (size_t i = 0; i < count && !out->failed; i++)
        put_field(out, table, &fields[i]);
}

void mw__flatbuffer_put_string(mw__text *out, size_t link, const char *string)
{
    align(out, 0, 4);
    set32(out, link, out->size - link);
    put32(out, strlen(string));
    mw__text_append(out, string, strlen(string) + 1);
}

size_t mw__flatbuffer_put_links(mw__text *out, size_t link, size_t count)
{
    align(out, 0, 4);
    set32(out, link, out->size - link);
    put32(out, count);
    const size_t at = out->size;
    put_zeros(out, 4 * count);
    return at;
}

void mw__flatbuffer_put_bytes(mw__text *out, size_t link, const void *data, size_t size)
{
    align(out, 4, 8); /* a buffer within is aligned as one alone */
    set32(out, link, out->size - link);
    put32(out, size);
    mw__text_append(out, data, size);
}

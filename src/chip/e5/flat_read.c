/* Reading FlatBuffers: every offset is checked before it is followed. */
#include "base/number/bytes.h"
#include "chip/e5/flat.h"

#include <string.h>

mw_status mw__flatbuffer_begin(mw__flatbuffer *flat, const mw_allocator *allocator, const void *data, size_t size,
                               mw_error *err)
{
    *flat = (mw__flatbuffer){.data = data, .size = size, .allocator = allocator};
    if (size < 8 || size > INT32_MAX)
        return mw__fail(err, MW_ERROR_FORMAT, "%zu bytes are no FlatBuffer: one has 8 bytes to 2 GB", size);
    flat->taken = mw__alloc(allocator, size / 32 + 1, 1, err);
    return flat->taken != NULL ? MW_OK : MW_ERROR_MEMORY;
}

void mw__flatbuffer_end(mw__flatbuffer *flat) { mw__free(flat->allocator, flat->taken); }

/* ---- places ---- */

static bool fits_buffer(const mw__flatbuffer *flat, size_t at, size_t size)
{
    return at <= flat->size && size <= flat->size - at;
}

/* Takes bytes for one table or vector. The last word may be the next one's first: tables need not end on a word. */
static mw_status take_bytes(mw__flatbuffer *flat, size_t at, size_t size, mw_error *err)
{
    for (size_t word = at / 4; word < (at + size) / 4 || word == at / 4; word++) {
        const uint8_t bit = (uint8_t)(1U << word % 8);
        if (flat->taken[word / 8] & bit)
            return mw__fail(err, MW_ERROR_FORMAT, "what stands at 0x%zx overlaps another table or vector", at);
        flat->taken[word / 8] |= bit;
    }
    return MW_OK;
}

/* Where the offset at `at` leads; there are at least `least` bytes, and it is a multiple of 4. */
static mw_status follow_offset(const mw__flatbuffer *flat, size_t at, size_t least, size_t *out, mw_error *err)
{
    if (at % 4 != 0 || !fits_buffer(flat, at, 4))
        return mw__fail(err, MW_ERROR_FORMAT, "an offset at 0x%zx is outside or not aligned", at);
    const uint32_t offset = mw__bytes_u32(flat->data + at);
    *out = at + offset;
    if (offset == 0 || *out % 4 != 0 || !fits_buffer(flat, *out, least))
        return mw__fail(err, MW_ERROR_FORMAT, "the offset at 0x%zx leads to 0x%zx of 0x%zx bytes", at, *out,
                        flat->size);
    return MW_OK;
}

static mw_status open_vtable(const mw__flatbuffer *flat, mw__flatbuffer_table *table, mw_error *err)
{
    const int64_t vtable = (int64_t)table->at - (int32_t)mw__bytes_u32(flat->data + table->at);
    if (vtable < 0 || vtable % 2 != 0 || !fits_buffer(flat, (size_t)vtable, 4))
        return mw__fail(err, MW_ERROR_FORMAT, "the table at 0x%zx has its vtable at %lld", table->at,
                        (long long)vtable);
    const uint16_t size = mw__bytes_u16(flat->data + vtable);
    table->vtable = (size_t)vtable;
    table->size = mw__bytes_u16(flat->data + vtable + 2);
    table->slots = (uint16_t)((size - 4) / 2);
    if (size < 4 || size % 2 != 0 || !fits_buffer(flat, table->vtable, size))
        return mw__fail(err, MW_ERROR_FORMAT, "the vtable at 0x%zx has a size of %u", table->vtable, size);
    if (table->size < 4 || !fits_buffer(flat, table->at, table->size))
        return mw__fail(err, MW_ERROR_FORMAT, "the table at 0x%zx has a size of %u", table->at, table->size);
    return MW_OK;
}

static mw_status open_table(mw__flatbuffer *flat, size_t link, mw__flatbuffer_table *out, mw_error *err)
{
    *out = (mw__flatbuffer_table){0};
    MW_TRY(follow_offset(flat, link, 4, &out->at, err));
    MW_TRY(open_vtable(flat, out, err));
    return take_bytes(flat, out->at, out->size, err);
}

mw_status mw__flatbuffer_root(mw__flatbuffer *flat, mw__flatbuffer_table *out, mw_error *err)
{
    return open_table(flat, 0, out, err);
}

/* ---- fields ---- */

/* The place of a field of `size` bytes, 0 if it is absent. */
static mw_status find_field(const mw__flatbuffer *flat, const mw__flatbuffer_table *table, unsigned slot, size_t size,
                            size_t *out, mw_error *err)
{
    *out = 0;
    const uint16_t offset = slot < table->slots ? mw__bytes_u16(flat->data + table->vtable + 4 + 2 * (size_t)slot) : 0;
    if (offset == 0)
        return MW_OK;
    if (offset < 4 || offset > table->size || size > (size_t)table->size - offset)
        return mw__fail(err, MW_ERROR_FORMAT, "field %u of the table at 0x%zx is outside of it: %u + %zu of %u", slot,
                        table->at, offset, size, table->size);
    *out = table->at + offset;
    return MW_OK;
}

mw_status mw__flatbuffer_u8(const mw__flatbuffer *flat, const mw__flatbuffer_table *table, unsigned slot, uint8_t *out,
                            mw_error *err)
{
    size_t at;
    MW_TRY(find_field(flat, table, slot, 1, &at, err));
    *out = at != 0 ? flat->data[at] : 0;
    return MW_OK;
}

mw_status mw__flatbuffer_u32(const mw__flatbuffer *flat, const mw__flatbuffer_table *table, unsigned slot,
                             uint32_t *out, mw_error *err)
{
    size_t at;
    MW_TRY(find_field(flat, table, slot, 4, &at, err));
    *out = at != 0 ? mw__bytes_u32(flat->data + at) : 0;
    return MW_OK;
}

mw_status mw__flatbuffer_struct(const mw__flatbuffer *flat, const mw__flatbuffer_table *table, unsigned slot,
                                size_t size, const uint8_t **out, mw_error *err)
{
    size_t at;
    MW_TRY(find_field(flat, table, slot, size, &at, err));
    *out = at != 0 ? flat->data + at : NULL;
    return MW_OK;
}

/* The string to which the offset at `link` leads: it ends with a NUL, and has no other. */
static mw_status read_string(mw__flatbuffer *flat, size_t link, const char **out, mw_error *err)
{
    size_t at;
    MW_TRY(follow_offset(flat, link, 5, &at, err));
    const size_t length = mw__bytes_u32(flat->data + at);
    const char *string = (const char *)flat->data + at + 4;
    if (length > 4 * flat->size - flat->strings)
        return mw__fail(err, MW_ERROR_FORMAT, "the string at 0x%zx is read too often: %zu bytes of strings in %zu", at,
                        flat->strings, flat->size);
    flat->strings += length;
    if (!fits_buffer(flat, at + 4, length + 1) || string[length] != '\0' || memchr(string, '\0', length) != NULL)
        return mw__fail(err, MW_ERROR_FORMAT, "the string at 0x%zx, of %zu bytes, does not end there", at, length);
    *out = string;
    return MW_OK;
}

mw_status mw__flatbuffer_string(mw__flatbuffer *flat, const mw__flatbuffer_table *table, unsigned slot,
                                const char **out, mw_error *err)
{
    size_t at;
    *out = NULL;
    MW_TRY(find_field(flat, table, slot, 4, &at, err));
    return at != 0 ? read_string(flat, at, out, err) : MW_OK;
}

mw_status mw__flatbuffer_child(mw__flatbuffer *flat, const mw__flatbuffer_table *table, unsigned slot,
                               mw__flatbuffer_table *out, mw_error *err)
{
    size_t at;
    *out = (mw__flatbuffer_table){0};
    MW_TRY(find_field(flat, table, slot, 4, &at, err));
    return at != 0 ? open_table(flat, at, out, err) : MW_OK;
}

mw_status mw__flatbuffer_vector_in(mw__flatbuffer *flat, const mw__flatbuffer_table *table, unsigned slot, size_t size,
                                   mw__flatbuffer_vector *out, mw_error *err)
{
    size_t link, at;
    *out = (mw__flatbuffer_vector){0};
    MW_TRY(find_field(flat, table, slot, 4, &link, err));
    if (link == 0)
        return MW_OK;
    MW_TRY(follow_offset(flat, link, 4, &at, err));
    *out = (mw__flatbuffer_vector){.at = at + 4, .count = mw__bytes_u32(flat->data + at)};
    if (out->count > (flat->size - out->at) / size)
        return mw__fail(err, MW_ERROR_FORMAT, "the vector at 0x%zx has %zu elements, more than the file", at,
                        out->count);
    return take_bytes(flat, at, 4 + out->count * size, err);
}

mw_status mw__flatbuffer_string_at(mw__flatbuffer *flat, const mw__flatbuffer_vector *list, size_t index,
                                   const char **out, mw_error *err)
{
    return read_string(flat, list->at + 4 * index, out, err);
}

mw_status mw__flatbuffer_table_at(mw__flatbuffer *flat, const mw__flatbuffer_vector *list, size_t index,
                                  mw__flatbuffer_table *out, mw_error *err)
{
    return open_table(flat, list->at + 4 * index, out, err);
}

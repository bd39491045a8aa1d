/* Writes safetensors files: the header is made first, read back by our own parser, and the file appears whole or not
 * at all. */
#include "base/memory/checked.h"
#include "base/number/hash.h"
#include "base/text/json_write.h"
#include "format/tensors/safetensors.h"

#include <string.h>

static size_t item_size(const mw__safetensors_item *item)
{
    return (size_t)mw_shape_count(item->shape) * ((size_t)mw_dtype_bits(item->dtype) / 8);
}

/* Names have been checked; the bytes of notes stay as they are. */
static void put_string(mw__text *text, const char *string)
{
    mw__json_put_bytes(text, string, strlen(string), MW__JSON_EXACT);
}

static void put_item(mw__text *text, const mw__safetensors_item *item, unsigned long long offset)
{
    put_string(text, item->name);
    mw__text_printf(text, ":{\"dtype\":\"%s\",\"shape\":[", mw__safetensors_dtype_name(item->dtype));
    for (int i = 0; i < item->shape.rank; i++)
        mw__text_printf(text, "%s%lld", i > 0 ? "," : "", (long long)item->shape.dim[i]);
    mw__text_printf(text, "],\"data_offsets\":[%llu,%llu]}", offset, offset + item_size(item));
}

static mw_status check_item(const mw__safetensors_item *item, uint64_t *total, mw_error *err)
{
    const int64_t count = mw_shape_count(item->shape);
    size_t size;
    if (mw__safetensors_dtype_name(item->dtype) == NULL)
        return mw__fail(err, MW_ERROR_DTYPE, "\"%.100s\" is %s, which a safetensors file cannot hold", item->name,
                        mw_dtype_name(item->dtype));
    if (count < 0 || (uint64_t)count > SIZE_MAX ||
        !mw__mul_size((size_t)count, (size_t)mw_dtype_bits(item->dtype) / 8, &size) || size > INT64_MAX - *total)
        return mw__fail(err, MW_ERROR_SHAPE, "\"%.100s\" is too large for a file", item->name);
    *total += size;
    return MW_OK;
}

/* The checksum stands as zeros; spaces at the end put the data on a multiple of 8, as the format advises. */
static mw_status make_header(mw__text *text, const mw__safetensors_note *notes, size_t note_count,
                             const mw__safetensors_item *items, size_t item_count, uint64_t *out_data_size,
                             mw_error *err)
{
    mw__text_puts(text, MW__SAFETENSORS_CHECKSUM_PREFIX "0000000000000000\"");
    for (size_t i = 0; i < note_count; i++) {
        mw__text_puts(text, ",");
        put_string(text, notes[i].key);
        mw__text_puts(text, ":");
        put_string(text, notes[i].value);
    }
    mw__text_puts(text, "}");
    *out_data_size = 0;
    for (size_t i = 0; i < item_count; i++) {
        const unsigned long long offset = *out_data_size;
        MW_TRY(check_item(&items[i], out_data_size, err));
        mw__text_puts(text, ",");
        put_item(text, &items[i], offset);
    }
    mw__text_puts(text, "}");
    while (!text->failed && text->size % 8 != 0)
        mw__text_puts(text, " ");
    return mw__text_check(text, err);
}

/* A file that we could not read again is worse than none. */
static mw_status check_header(const mw_allocator *allocator, const char *path, const mw__text *text, uint64_t data_size,
                              mw_error *err)
{
    mw_error reason = {0};
    mw__safetensors file;
    mw__safetensors_init(&file, allocator, path);
    mw_status status = mw__safetensors_parse(&file, text->data, text->size, data_size, &reason);
    mw__safetensors_close(&file);
    if (status == MW_OK && text->size > MW__SAFETENSORS_HEADER_MAX)
        status = mw__fail(&reason, MW_ERROR_FORMAT, "its header is too large");
    if (status == MW_ERROR_FORMAT)
        return mw__fail(err, MW_ERROR_ARGUMENT, "\"%.200s\" was not written, it could not be read again: %.250s", path,
                        reason.message);
    return status == MW_OK ? MW_OK : mw__fail(err, status, "%s", reason.message);
}

/* The elements of an item: its own, or those that the source makes. NULL with err set. */
static const void *fetch_data(const mw__safetensors_item *items, size_t index, const mw__safetensors_source *source,
                              mw_error *err)
{
    static const char nothing[1];
    if (source != NULL)
        return source->fetch(source->user, index, err);
    return items[index].data != NULL ? items[index].data : nothing;
}

static mw_status put_checksum(mw__text *text, const mw__safetensors_item *items, size_t item_count,
                              const mw__safetensors_source *source, mw_error *err)
{
    static const char digits[] = "0123456789abcdef";
    uint64_t hash = mw__hash64(text->data, text->size, 0);
    for (size_t i = 0; i < item_count; i++) {
        const void *data = fetch_data(items, i, source, err);
        if (data == NULL)
            return mw__failed(err) ? err->status : MW_ERROR_MEMORY;
        hash = mw__safetensors_chain(hash, data, item_size(&items[i]));
    }
    char *out = text->data + sizeof MW__SAFETENSORS_CHECKSUM_PREFIX - 1;
    for (int i = 0; i < MW__SAFETENSORS_CHECKSUM_DIGITS; i++)
        out[i] = digits[hash >> (60 - 4 * i) & 15];
    return MW_OK;
}

static mw_status write_items(mw__file_writer *writer, const mw__safetensors_item *items, size_t item_count,
                             const mw__safetensors_source *source, mw_error *err)
{
    for (size_t i = 0; i < item_count; i++) {
        const void *data = fetch_data(items, i, source, err);
        if (data == NULL)
            return mw__failed(err) ? err->status : MW_ERROR_MEMORY;
        MW_TRY(mw__file_writer_write(writer, data, item_size(&items[i]), err));
    }
    return MW_OK;
}

static mw_status write_file(const mw_allocator *allocator, const char *path, const mw__text *text,
                            const mw__safetensors_item *items, size_t item_count, const mw__safetensors_source *source,
                            mw_error *err)
{
    unsigned char length[8];
    for (int i = 0; i < 8; i++)
        length[i] = (unsigned char)((uint64_t)text->size >> (8 * i));
    mw__file_writer writer;
    MW_TRY(mw__file_writer_begin(&writer, allocator, path, true, err));
    mw_status status = mw__file_writer_write(&writer, length, sizeof length, err);
    if (status == MW_OK)
        status = mw__file_writer_write(&writer, text->data, text->size, err);
    if (status == MW_OK)
        status = write_items(&writer, items, item_count, source, err);
    if (status == MW_OK)
        status = mw__file_writer_commit(&writer, err);
    mw__file_writer_deinit(&writer);
    return status;
}

mw_status mw__safetensors_write_from(const mw_allocator *allocator, const char *path, const mw__safetensors_note *notes,
                                     size_t note_count, const mw__safetensors_item *items, size_t item_count,
                                     const mw__safetensors_source *source, mw_error *err)
{
    mw__text text;
    mw__text_init(&text, allocator);
    uint64_t data_size = 0;
    mw_status status = make_header(&text, notes, note_count, items, item_count, &data_size, err);
    if (status == MW_OK)
        status = check_header(allocator, path, &text, data_size, err);
    if (status == MW_OK)
        status = put_checksum(&text, items, item_count, source, err);
    if (status == MW_OK)
        status = write_file(allocator, path, &text, items, item_count, source, err);
    mw__text_deinit(&text);
    return status;
}

mw_status mw__safetensors_write(const mw_allocator *allocator, const char *path, const mw__safetensors_note *notes,
                                size_t note_count, const mw__safetensors_item *items, size_t item_count, mw_error *err)
{
    return mw__safetensors_write_from(allocator, path, notes, note_count, items, item_count, NULL, err);
}

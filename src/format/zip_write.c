/* Writes stored entries and their directory. */
#include "format/zip_write.h"

#include <string.h>

enum { VERSION = 45 /* zip64 */, FLAG_UTF8 = 2048, FIRST_DATE = 33 /* 1980-01-01 */, EXTRA_SIZE = 20 };

void mw__zip_writer_init(mw__zip_writer *writer, const mw_allocator *allocator, mw__file_writer *file)
{
    *writer = (mw__zip_writer){.file = file};
    mw__text_init(&writer->directory, allocator);
    mw__crc32_init(&writer->crc);
}

void mw__zip_writer_deinit(mw__zip_writer *writer) { mw__text_deinit(&writer->directory); }

static void put_field(mw__text *text, uint64_t value, size_t bytes)
{
    char out[8];
    for (size_t i = 0; i < bytes; i++)
        out[i] = (char)(value >> (8 * i));
    mw__text_append(text, out, bytes);
}

/* From "version needed" to the length of the extra field: equal in local header and directory. */
static void put_common(mw__text *text, uint32_t crc, size_t name, size_t extra)
{
    put_field(text, VERSION, 2);
    put_field(text, FLAG_UTF8, 2);
    put_field(text, 0, 2); /* stored */
    put_field(text, 0, 2);
    put_field(text, FIRST_DATE, 2);
    put_field(text, crc, 4);
    put_field(text, UINT32_MAX, 4); /* sizes: in the extra field */
    put_field(text, UINT32_MAX, 4);
    put_field(text, name, 2);
    put_field(text, extra, 2);
}

static void put_sizes(mw__text *text, uint64_t size, size_t extra)
{
    put_field(text, 1, 2);
    put_field(text, extra - 4, 2);
    put_field(text, size, 8);
    put_field(text, size, 8);
}

static void put_local(mw__text *text, const char *name, uint64_t size, uint32_t crc)
{
    put_field(text, 0x04034b50, 4);
    put_common(text, crc, strlen(name), EXTRA_SIZE);
    mw__text_puts(text, name);
    put_sizes(text, size, EXTRA_SIZE);
}

static void put_central(mw__text *text, const char *name, uint64_t size, uint32_t crc, uint64_t header)
{
    put_field(text, 0x02014b50, 4);
    put_field(text, VERSION | 3 << 8, 2); /* made on Unix */
    put_common(text, crc, strlen(name), EXTRA_SIZE + 8);
    put_field(text, 0, 2);                         /* comment */
    put_field(text, 0, 2);                         /* disk */
    put_field(text, 0, 2);                         /* internal attributes */
    put_field(text, (uint64_t)(0100644) << 16, 4); /* a regular file */
    put_field(text, UINT32_MAX, 4);
    mw__text_puts(text, name);
    put_sizes(text, size, EXTRA_SIZE + 8);
    put_field(text, header, 8);
}

static mw_status write_text(mw__zip_writer *writer, const mw__text *text, mw_error *err)
{
    MW_TRY(mw__text_check(text, err));
    writer->at += text->size;
    return mw__file_writer_write(writer->file, text->data, text->size, err);
}

mw_status mw__zip_writer_add(mw__zip_writer *writer, const char *name, const mw__zip_part parts[2], mw_error *err)
{
    mw__text local;
    uint32_t crc = 0;
    uint64_t size = 0;
    for (int i = 0; i < 2; i++) {
        crc = mw__crc32_add(&writer->crc, crc, parts[i].data, parts[i].size);
        size += parts[i].size;
    }
    mw__text_init(&local, writer->directory.allocator);
    put_local(&local, name, size, crc);
    put_central(&writer->directory, name, size, crc, writer->at);
    mw_status status = write_text(writer, &local, err);
    mw__text_deinit(&local);
    for (int i = 0; i < 2 && status == MW_OK; i++)
        status = mw__file_writer_write(writer->file, parts[i].data, parts[i].size, err);
    writer->at += size;
    writer->count++;
    return status;
}

/* zip64 end, its locator, and the end of old with every field that could be too small all ones */
mw_status mw__zip_writer_finish(mw__zip_writer *writer, mw_error *err)
{
    mw__text *text = &writer->directory;
    const uint64_t start = writer->at, size = text->size, end = start + size;
    put_field(text, 0x06064b50, 4);
    put_field(text, 44, 8);
    put_field(text, VERSION | 3 << 8, 2);
    put_field(text, VERSION, 2);
    put_field(text, 0, 8); /* disks */
    put_field(text, writer->count, 8);
    put_field(text, writer->count, 8);
    put_field(text, size, 8);
    put_field(text, start, 8);
    put_field(text, 0x07064b50, 4);
    put_field(text, 0, 4);
    put_field(text, end, 8);
    put_field(text, 1, 4);
    put_field(text, 0x06054b50, 4);
    put_field(text, 0, 4); /* disks */
    put_field(text, UINT16_MAX, 2);
    put_field(text, UINT16_MAX, 2);
    put_field(text, UINT32_MAX, 4);
    put_field(text, UINT32_MAX, 4);
    put_field(text, 0, 2);
    return write_text(writer, text, err);
}

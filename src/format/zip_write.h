/* Writes zip archives of stored entries, each known whole before it is written. Sizes and offsets are those of zip64,
 * so that none is too large; times are the first that the format has, so that equal content gives equal bytes. */
#ifndef MW__FORMAT_ZIP_WRITE_H
#define MW__FORMAT_ZIP_WRITE_H

#include "base/file/file.h"
#include "base/number/crc32.h"
#include "base/text/text.h"

typedef struct mw__zip_writer {
    mw__file_writer *file;
    mw__text directory; /* what comes at the end */
    uint64_t at;        /* bytes written */
    uint64_t count;
    mw__crc32_table crc;
} mw__zip_writer;

void mw__zip_writer_init(mw__zip_writer *writer, const mw_allocator *allocator, mw__file_writer *file);
void mw__zip_writer_deinit(mw__zip_writer *writer);

/* An entry of two parts, one behind the other. The caller sees to it that names differ. */
typedef struct mw__zip_part {
    const void *data;
    size_t size;
} mw__zip_part;
mw_status mw__zip_writer_add(mw__zip_writer *writer, const char *name, const mw__zip_part parts[2], mw_error *err);

/* The directory; nothing comes after it. */
mw_status mw__zip_writer_finish(mw__zip_writer *writer, mw_error *err);

#endif

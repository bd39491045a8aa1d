/* Zip archives from strangers: what numpy and PyTorch write, and nothing that needs guessing. The central directory
 * decides, and must agree with the local headers; entries lie one behind the other without overlap, are stored or
 * deflated, and have names inside the archive. Refused by name: encryption, several disks, other methods, symbolic
 * names ("..", absolute, with a backslash), doubles, bytes behind the end, and entries that would unpack to more than
 * 128 times their packed size (above 64 MiB).
 * source  PKWARE APPNOTE.TXT 6.3.x: 4.3.7 local header, 4.3.12 central directory, 4.3.14 to 16 its ends */
#ifndef MW__FORMAT_ZIP_H
#define MW__FORMAT_ZIP_H

#include "base/file/file.h"
#include "base/file/inflate.h"
#include "base/memory/map.h"
#include "base/number/crc32.h"

#define MW__ZIP_DIRECTORY_MAX ((size_t)64 << 20) /* bytes of a central directory */

typedef struct mw__zip_entry {
    const char *name;
    uint64_t header;       /* of the local header */
    uint64_t offset;       /* of the data in the file */
    uint64_t packed, size; /* equal where it is stored */
    uint32_t crc;
    bool deflated;
} mw__zip_entry;

/* An open archive. Strings live until it is closed. */
typedef struct mw__zip {
    const mw_allocator *allocator;
    const char *path;
    mw__file file;
    mw__zip_entry *entries; /* in file order */
    size_t count;
    mw__map by_name; /* name -> its element of entries */
    mw__arena strings;
    mw__crc32_table crc;
} mw__zip;

/* Takes over an open file, also on failure; after one the archive is closed. `path` must live as long.
 *  errors  MW_ERROR_FILE, MW_ERROR_FORMAT, MW_ERROR_UNSUPPORTED for what the format has and we do not */
mw_status mw__zip_open(mw__zip *zip, const mw_allocator *allocator, mw__file file, const char *path, mw_error *err);
void mw__zip_close(mw__zip *zip);

/* NULL if there is none. */
const mw__zip_entry *mw__zip_find(const mw__zip *zip, const char *name);

/* Reading an entry from its begin. */
typedef struct mw__zip_stream {
    const mw__zip *zip;
    const mw__zip_entry *entry;
    mw__inflate *inflate; /* NULL where it is stored */
    uint64_t done;
    uint32_t crc; /* of what was read */
} mw__zip_stream;

mw_status mw__zip_stream_begin(mw__zip_stream *stream, const mw__zip *zip, const mw__zip_entry *entry, mw_error *err);
/* Exactly `size` bytes; the read that reaches the end checks the length and the checksum.
 *  errors  MW_ERROR_FORMAT also if the entry has fewer */
mw_status mw__zip_stream_read(mw__zip_stream *stream, void *out, size_t size, mw_error *err);
void mw__zip_stream_end(mw__zip_stream *stream);

/* The whole entry: entry->size bytes. */
mw_status mw__zip_read(const mw__zip *zip, const mw__zip_entry *entry, void *out, mw_error *err);

#endif

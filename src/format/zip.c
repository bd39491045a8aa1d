/* Opens zip archives: the central directory, and what it says of each entry against the entry itself. Data is read in
 * zip_stream.c. */
#include "format/zip.h"

#include "base/memory/checked.h"
#include "base/number/bytes.h"
#include "base/text/name.h"

#include <stdlib.h>
#include <string.h>

enum {
    END_SIZE = 22,     /* end of central directory */
    LOCATOR_SIZE = 20, /* of the zip64 one */
    END64_SIZE = 56,   /* zip64 end of central directory */
    CENTRAL_SIZE = 46, /* a header there, before name, extra and comment */
    LOCAL_SIZE = 30,   /* a local header, before name and extra */
    COMMENT_MAX = 65535,
    NAME_BYTES_MAX = 4096,
};

#define END_MARK     0x06054b50u
#define LOCATOR_MARK 0x07064b50u
#define END64_MARK   0x06064b50u
#define CENTRAL_MARK 0x02014b50u
#define LOCAL_MARK   0x04034b50u

enum { FLAG_ENCRYPTED = 1, FLAG_DESCRIPTOR = 8, FLAG_STRONG = 64, FLAG_HIDDEN = 8192 };
enum { STORED = 0, DEFLATED = 8 };

/* Unpacking to more than this many times the packed size is a bomb, but for small ones. */
enum { PACKED_MOST = 128, ALWAYS_FINE = 64 << 20 };

/* ---- numbers ---- */

static mw_status malformed_zip(const mw__zip *zip, const char *what, mw_error *err)
{
    return mw__fail(err, MW_ERROR_FORMAT, "\"%.300s\" is no sound zip archive: %s", zip->path, what);
}

static mw_status bad_entry(const mw__zip *zip, const mw__zip_entry *entry, mw_status status, const char *what,
                           mw_error *err)
{
    return mw__fail(err, status, "\"%.200s\": entry \"%.150s\": %s", zip->path, entry->name, what);
}

/* ---- the end of the archive ---- */

typedef struct directory {
    uint64_t offset, size, count;
    uint64_t end; /* where the record behind it starts */
} directory;

/* The last bytes of the file, as many as an end with the longest comment could have. */
typedef struct tail {
    unsigned char *bytes;
    size_t size;
    uint64_t offset; /* in the file */
} tail;

/* The record whose comment reaches exactly to the end of the file; `size` if there is none. */
static size_t find_end(const tail *last)
{
    for (size_t back = END_SIZE; back <= last->size; back++) {
        const unsigned char *at = last->bytes + last->size - back;
        if (mw__bytes_u32(at) == END_MARK && (size_t)END_SIZE + mw__bytes_u16(at + 20) == back)
            return last->size - back;
    }
    return last->size;
}

/* zip64 end ::= mark size:8 made:2 needed:2 disk:4 start:4 count:8 total:8 directory_size:8 directory_offset:8 */
static mw_status read_end64(const mw__zip *zip, uint64_t at, directory *out, mw_error *err)
{
    unsigned char record[END64_SIZE];
    if (at < LOCATOR_SIZE + END64_SIZE)
        return malformed_zip(zip, "its zip64 end is missing", err);
    unsigned char locator[LOCATOR_SIZE];
    MW_TRY(mw__file_read_at(&zip->file, at - LOCATOR_SIZE, locator, sizeof locator, zip->path, err));
    const uint64_t start = mw__bytes_u64(locator + 8);
    if (mw__bytes_u32(locator) != LOCATOR_MARK || mw__bytes_u32(locator + 4) != 0 || mw__bytes_u32(locator + 16) > 1)
        return malformed_zip(zip, "its zip64 locator is missing, or it has several disks", err);
    if (start != at - LOCATOR_SIZE - END64_SIZE)
        return malformed_zip(zip, "its zip64 end is not before its locator", err);
    MW_TRY(mw__file_read_at(&zip->file, start, record, sizeof record, zip->path, err));
    if (mw__bytes_u32(record) != END64_MARK || mw__bytes_u64(record + 4) != END64_SIZE - 12 ||
        mw__bytes_u32(record + 16) != 0 || mw__bytes_u32(record + 20) != 0 ||
        mw__bytes_u64(record + 24) != mw__bytes_u64(record + 32))
        return malformed_zip(zip, "its zip64 end is damaged, or it has several disks", err);
    *out = (directory){.count = mw__bytes_u64(record + 32),
                       .size = mw__bytes_u64(record + 40),
                       .offset = mw__bytes_u64(record + 48),
                       .end = start};
    return MW_OK;
}

/* end ::= mark disk:2 start:2 count:2 total:2 directory_size:4 directory_offset:4 comment_length:2 comment */
static mw_status read_end(const mw__zip *zip, const tail *last, directory *out, mw_error *err)
{
    const size_t found = find_end(last);
    if (found == last->size)
        return malformed_zip(zip, "the end of its directory is missing: it is cut off", err);
    const unsigned char *at = last->bytes + found;
    if (mw__bytes_u16(at + 4) != 0 || mw__bytes_u16(at + 6) != 0 || mw__bytes_u16(at + 8) != mw__bytes_u16(at + 10))
        return malformed_zip(zip, "it has several disks", err);
    *out = (directory){.count = mw__bytes_u16(at + 10),
                       .size = mw__bytes_u32(at + 12),
                       .offset = mw__bytes_u32(at + 16),
                       .end = last->offset + found};
    if (out->count == UINT16_MAX || out->size == UINT32_MAX || out->offset == UINT32_MAX)
        MW_TRY(read_end64(zip, out->end, out, err));
    else if (found >= LOCATOR_SIZE && mw__bytes_u32(at - LOCATOR_SIZE) == LOCATOR_MARK)
        MW_TRY(read_end64(zip, out->end, out, err)); /* zip64 where it was not needed, as PyTorch writes it */
    if (out->offset > out->end || out->size != out->end - out->offset)
        return malformed_zip(zip, "its directory does not lie before its end", err);
    if (out->size > MW__ZIP_DIRECTORY_MAX || out->count > out->size / CENTRAL_SIZE)
        return malformed_zip(zip, "its directory is larger than 64 MiB, or too small for its entries", err);
    return MW_OK;
}

static mw_status find_directory(const mw__zip *zip, directory *out, mw_error *err)
{
    tail last = {.size = END_SIZE + COMMENT_MAX};
    if (zip->file.size < last.size)
        last.size = (size_t)zip->file.size;
    last.offset = zip->file.size - last.size;
    last.bytes = mw__alloc(zip->allocator, last.size, 1, err);
    if (last.bytes == NULL)
        return MW_ERROR_MEMORY;
    mw_status status = mw__file_read_at(&zip->file, last.offset, last.bytes, last.size, zip->path, err);
    if (status == MW_OK)
        status = read_end(zip, &last, out, err);
    mw__free(zip->allocator, last.bytes);
    return status;
}

/* ---- one entry of the directory ---- */

/* Whether a name stays inside, whatever system unpacks it. */
static bool is_inside(const char *name)
{
    if (name[0] == '/' || strchr(name, '\\') != NULL || strchr(name, ':') != NULL)
        return false;
    for (const char *part = name; part != NULL; part = strchr(part, '/')) {
        part += *part == '/';
        const size_t length = strcspn(part, "/");
        if ((length == 1 && part[0] == '.') || (length == 2 && part[0] == '.' && part[1] == '.'))
            return false;
    }
    return true;
}

static mw_status take_name(mw__zip *zip, mw__zip_entry *entry, const unsigned char *text, size_t length, mw_error *err)
{
    if (length > NAME_BYTES_MAX || memchr(text, 0, length) != NULL)
        return malformed_zip(zip, "an entry's name has a zero byte or more than 4096 bytes", err);
    entry->name = mw__arena_string(&zip->strings, (const char *)text, length, err);
    if (entry->name == NULL)
        return MW_ERROR_MEMORY;
    const char *fault = mw__name_fault(entry->name);
    if (fault != NULL)
        return mw__fail(err, MW_ERROR_FORMAT, "\"%.200s\": the name of entry %zu (\"%.100s\") %s", zip->path,
                        zip->count, entry->name, fault);
    if (!is_inside(entry->name))
        return bad_entry(zip, entry, MW_ERROR_FORMAT, "its name leads out of the archive", err);
    if (mw__map_get(&zip->by_name, entry->name) != NULL)
        return bad_entry(zip, entry, MW_ERROR_FORMAT, "it is there twice", err);
    return MW_OK;
}

/* zip64 extra ::= 1:2 length:2 [size:8] [packed:8] [header:8] , each where the field of 4 bytes is all ones */
static mw_status widen_entry(const mw__zip *zip, mw__zip_entry *entry, const unsigned char *extra, size_t length,
                             mw_error *err)
{
    uint64_t *const fields[] = {&entry->size, &entry->packed, &entry->header};
    while (length >= 4) {
        const size_t size = mw__bytes_u16(extra + 2);
        if (size > length - 4)
            return bad_entry(zip, entry, MW_ERROR_FORMAT, "an extra field is cut off", err);
        const unsigned char *at = extra + 4, *const end = at + size;
        for (size_t i = 0; mw__bytes_u16(extra) == 1 && i < 3; i++) {
            if (*fields[i] != UINT32_MAX)
                continue;
            if (end - at < 8)
                return bad_entry(zip, entry, MW_ERROR_FORMAT, "its zip64 field is too short", err);
            *fields[i] = mw__bytes_u64(at);
            at += 8;
        }
        extra += 4 + size;
        length -= 4 + size;
    }
    return MW_OK;
}

static mw_status check_kind(const mw__zip *zip, const mw__zip_entry *entry, unsigned flags, unsigned method,
                            mw_error *err)
{
    if ((flags & (FLAG_ENCRYPTED | FLAG_STRONG | FLAG_HIDDEN)) != 0)
        return bad_entry(zip, entry, MW_ERROR_UNSUPPORTED, "it is encrypted", err);
    if (method != STORED && method != DEFLATED)
        return mw__fail(err, MW_ERROR_UNSUPPORTED,
                        "\"%.200s\": entry \"%.150s\" has compression method %u; stored (0) and deflated (8) are read",
                        zip->path, entry->name, method);
    if (method == STORED && entry->packed != entry->size)
        return bad_entry(zip, entry, MW_ERROR_FORMAT, "it is stored, but its two sizes differ", err);
    if (entry->size > ALWAYS_FINE && entry->size / PACKED_MOST > entry->packed)
        return mw__fail(
            err, MW_ERROR_FORMAT,
            "\"%.200s\": entry \"%.150s\" would unpack from %llu to %llu bytes, more than %d times as many; "
            "store it uncompressed if it is meant so",
            zip->path, entry->name, (unsigned long long)entry->packed, (unsigned long long)entry->size, PACKED_MOST);
    return MW_OK;
}

/* central ::= mark made:2 needed:2 flags:2 method:2 time:4 crc:4 packed:4 size:4 name_length:2 extra_length:2
 *             comment_length:2 disk:2 internal:2 external:4 header:4 name extra comment */
static mw_status read_central(mw__zip *zip, const unsigned char *at, size_t left, size_t *out_size, mw_error *err)
{
    if (left < CENTRAL_SIZE || mw__bytes_u32(at) != CENTRAL_MARK)
        return malformed_zip(zip, "its directory has fewer entries than its end says", err);
    const size_t name = mw__bytes_u16(at + 28), extra = mw__bytes_u16(at + 30), comment = mw__bytes_u16(at + 32);
    *out_size = CENTRAL_SIZE + name + extra + comment;
    if (*out_size > left)
        return malformed_zip(zip, "an entry of its directory is cut off", err);
    mw__zip_entry *entry = &zip->entries[zip->count];
    *entry = (mw__zip_entry){.crc = mw__bytes_u32(at + 16),
                             .packed = mw__bytes_u32(at + 20),
                             .size = mw__bytes_u32(at + 24),
                             .header = mw__bytes_u32(at + 42),
                             .deflated = mw__bytes_u16(at + 10) == DEFLATED};
    MW_TRY(take_name(zip, entry, at + CENTRAL_SIZE, name, err));
    if (mw__bytes_u16(at + 34) != 0)
        return bad_entry(zip, entry, MW_ERROR_FORMAT, "it is on another disk", err);
    MW_TRY(widen_entry(zip, entry, at + CENTRAL_SIZE + name, extra, err));
    MW_TRY(check_kind(zip, entry, mw__bytes_u16(at + 8), mw__bytes_u16(at + 10), err));
    zip->count++;
    return mw__map_set(&zip->by_name, entry->name, entry, err);
}

/* ---- the entries themselves ---- */

/* Whether the local header says what the directory says; with a descriptor behind the data, or zip64, it need not. */
static bool agrees(const mw__zip_entry *entry, const unsigned char *local)
{
    const bool later = (mw__bytes_u16(local + 6) & FLAG_DESCRIPTOR) != 0;
    const uint32_t crc = mw__bytes_u32(local + 14), packed = mw__bytes_u32(local + 18),
                   size = mw__bytes_u32(local + 22);
    return mw__bytes_u16(local + 8) == (entry->deflated ? DEFLATED : STORED) && (later || crc == entry->crc) &&
           (later || packed == UINT32_MAX || packed == entry->packed) &&
           (later || size == UINT32_MAX || size == entry->size);
}

/* local ::= mark needed:2 flags:2 method:2 time:4 crc:4 packed:4 size:4 name_length:2 extra_length:2 name extra */
static mw_status read_local(const mw__zip *zip, mw__zip_entry *entry, uint64_t end, mw_error *err)
{
    unsigned char local[LOCAL_SIZE + NAME_BYTES_MAX];
    const size_t length = strlen(entry->name);
    if (entry->header > end || end - entry->header < LOCAL_SIZE + length)
        return bad_entry(zip, entry, MW_ERROR_FORMAT, "it lies beyond the entries of the archive", err);
    MW_TRY(mw__file_read_at(&zip->file, entry->header, local, LOCAL_SIZE + length, zip->path, err));
    if (mw__bytes_u32(local) != LOCAL_MARK || mw__bytes_u16(local + 26) != length ||
        memcmp(local + LOCAL_SIZE, entry->name, length) != 0)
        return bad_entry(zip, entry, MW_ERROR_FORMAT, "its local header is missing, or has another name", err);
    if (!agrees(entry, local))
        return bad_entry(zip, entry, MW_ERROR_FORMAT, "its local header and the directory differ", err);
    entry->offset = entry->header + LOCAL_SIZE + length + mw__bytes_u16(local + 28);
    if (entry->offset > end || entry->packed > end - entry->offset)
        return bad_entry(zip, entry, MW_ERROR_FORMAT, "its data reaches beyond the entries of the archive", err);
    return MW_OK;
}

static int by_header(const void *left, const void *right)
{
    const mw__zip_entry *a = left, *b = right;
    return a->header < b->header ? -1 : a->header > b->header;
}

/* In file order no entry begins before the one before it ends. */
static mw_status check_entries(mw__zip *zip, uint64_t end, mw_error *err)
{
    if (zip->count > 1)
        qsort(zip->entries, zip->count, sizeof *zip->entries, by_header);
    for (size_t i = 0; i < zip->count; i++) {
        mw__zip_entry *entry = &zip->entries[i];
        MW_TRY(read_local(zip, entry, end, err));
        if (i > 0 && entry->header < entry[-1].offset + entry[-1].packed)
            return bad_entry(zip, entry, MW_ERROR_FORMAT, "it overlaps the entry before it", err);
        MW_TRY(mw__map_set(&zip->by_name, entry->name, entry, err));
    }
    return MW_OK;
}

static mw_status read_entries(mw__zip *zip, const directory *from, const unsigned char *bytes, mw_error *err)
{
    size_t at = 0, size;
    for (uint64_t i = 0; i < from->count; i++, at += size)
        MW_TRY(read_central(zip, bytes + at, (size_t)from->size - at, &size, err));
    if (at != from->size)
        return malformed_zip(zip, "its directory has more entries than its end says", err);
    return check_entries(zip, from->offset, err);
}

static mw_status read_directory(mw__zip *zip, mw_error *err)
{
    directory from = {0};
    MW_TRY(find_directory(zip, &from, err));
    zip->entries = mw__alloc(zip->allocator, (size_t)from.count, sizeof *zip->entries, err);
    if (zip->entries == NULL)
        return MW_ERROR_MEMORY;
    unsigned char *bytes = mw__alloc(zip->allocator, (size_t)from.size, 1, err);
    if (bytes == NULL)
        return MW_ERROR_MEMORY;
    mw_status status = mw__file_read_at(&zip->file, from.offset, bytes, (size_t)from.size, zip->path, err);
    if (status == MW_OK)
        status = read_entries(zip, &from, bytes, err);
    mw__free(zip->allocator, bytes);
    return status;
}

mw_status mw__zip_open(mw__zip *zip, const mw_allocator *allocator, mw__file file, const char *path, mw_error *err)
{
    *zip = (mw__zip){.allocator = mw__allocator_or_default(allocator), .path = path, .file = file};
    mw__map_init(&zip->by_name, zip->allocator);
    mw__arena_init(&zip->strings, zip->allocator);
    mw__crc32_init(&zip->crc);
    const mw_status status = read_directory(zip, err);
    if (status != MW_OK)
        mw__zip_close(zip);
    return status;
}

void mw__zip_close(mw__zip *zip)
{
    mw__file_close(&zip->file);
    mw__map_deinit(&zip->by_name);
    mw__arena_deinit(&zip->strings);
    mw__free(zip->allocator, zip->entries);
    zip->entries = NULL;
    zip->count = 0;
}

const mw__zip_entry *mw__zip_find(const mw__zip *zip, const char *name) { return mw__map_get(&zip->by_name, name); }

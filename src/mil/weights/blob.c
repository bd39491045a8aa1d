/* Reads and writes entries of weight files. Knows nothing of MIL text. */
#include "mil/weights/blob.h"
#include "base/memory/checked.h"
#include "base/number/hash.h"
#include "base/number/integer.h"
#include "base/text/text.h"
#include "graph/constants/shared_payload.h"
#include <inttypes.h>
#include <string.h>

enum { BLOB_ALIGNMENT = 64, BLOB_ENTRY = 64, BLOB_VERSION = 2, BLOB_CHUNK = 4096 };
#define BLOB_SENTINEL 0xDEADBEEFu

uint32_t mw__blob_code(mw_dtype dtype)
{
    static const uint8_t codes[MW_DTYPE_COUNT] = {
        [MW_F16] = 1, [MW_F32] = 2,  [MW_U8] = 3,   [MW_I8] = 4,        [MW_BF16] = 5,   [MW_I16] = 6,
        [MW_U16] = 7, [MW_I4] = 8,   [MW_U1] = 9,   [MW_U2] = 10,       [MW_U4] = 11,    [MW_U3] = 12,
        [MW_U6] = 13, [MW_I32] = 14, [MW_U32] = 15, [MW_F8E4M3FN] = 16, [MW_F8E5M2] = 17};
    return (int)dtype > 0 && dtype < MW_DTYPE_COUNT ? codes[dtype] : 0;
}

/* ---- little-endian numbers ---- */

static uint64_t get(const unsigned char *bytes, size_t size)
{
    uint64_t value = 0;
    for (size_t i = size; i-- > 0;)
        value = value << 8 | bytes[i];
    return value;
}

static void put_little_endian(unsigned char *bytes, size_t size, uint64_t value)
{
    for (size_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)(value >> (8 * i));
}

/* ---- the folder ---- */

mw_status mw__blob_make_folder(const mw_allocator *allocator, const char *model, mw_error *err)
{
    mw__text path;
    mw__text_init(&path, allocator);
    mw__text_printf(&path, "%s/" MW__BLOB_FOLDER, model);
    mw_status status = mw__text_check(&path, err);
    if (status == MW_OK)
        status = mw__file_make_folders(path.data, err);
    mw__text_deinit(&path);
    return status;
}

/* ---- reading ---- */

static mw_status check_header(const mw__file *file, const char *path, mw_error *err)
{
    unsigned char header[8];
    MW_TRY(mw__file_read_at(file, 0, header, sizeof header, path, err));
    if (get(header + 4, 4) != BLOB_VERSION)
        return mw__fail(err, MW_ERROR_UNSUPPORTED, "%s: weight file of version %" PRIu64 ", only version %d is read",
                        path, get(header + 4, 4), BLOB_VERSION);
    return MW_OK;
}

static uint64_t unused_bits(const mw__type *type, size_t bytes)
{
    const uint64_t bits = (uint64_t)mw_shape_count(type->shape) * (uint64_t)mw_dtype_bits(type->dtype);
    return (uint64_t)bytes * 8 - bits;
}

/* Checks an entry against the type that the text declares; *out_data is where its bytes are. */
static mw_status check_entry(const unsigned char *entry, const mw__payload *payload, const char *path,
                             uint64_t file_size, uint64_t *out_data, mw_error *err)
{
    const mw__type *type = payload->type;
    const uint64_t offset = payload->blob_offset, size = get(entry + 8, 8), data = get(entry + 16, 8);
    size_t wanted = 0;
    if (get(entry, 4) != BLOB_SENTINEL)
        return mw__fail(err, MW_ERROR_FORMAT, "%s: no entry at offset %" PRIu64 " (its sentinel is missing)", path,
                        offset);
    if (mw__blob_code(type->dtype) == 0 || get(entry + 4, 4) != mw__blob_code(type->dtype))
        return mw__fail(err, MW_ERROR_DTYPE,
                        "%s: the entry at offset %" PRIu64 " has type code %" PRIu64 ", the text says %s", path, offset,
                        get(entry + 4, 4), mw_dtype_name(type->dtype));
    if (!mw__type_bytes(type, &wanted) || size != wanted)
        return mw__fail(err, MW_ERROR_SHAPE,
                        "%s: the entry at offset %" PRIu64 " has %" PRIu64 " bytes, the declared type needs %zu", path,
                        offset, size, wanted);
    if (mw_dtype_bits(type->dtype) < 8 && get(entry + 24, 8) != unused_bits(type, wanted))
        return mw__fail(err, MW_ERROR_FORMAT, "%s: the entry at offset %" PRIu64 " has %" PRIu64 " unused bits", path,
                        offset, get(entry + 24, 8));
    if (data > file_size || size > file_size - data)
        return mw__fail(err, MW_ERROR_FORMAT, "%s: the data of the entry at offset %" PRIu64 " lie outside the file",
                        path, offset);
    *out_data = data;
    return MW_OK;
}

/* Copies an entry to its place in file->parts, its data first: what has a description there is whole. *out = NULL if it
 * cannot be written. */
static mw_status copy_entry(const mw__blob_file *file, const char *path, const mw__payload *payload, uint64_t data,
                            mw__shared_payload **out, mw_error *err)
{
    const uint64_t from[3] = {data, payload->blob_offset, 0}, bytes[3] = {payload->size, BLOB_ENTRY, BLOB_ENTRY};
    bool copied = true;
    for (int i = 0; i < 3 && copied; i++)
        MW_TRY(mw__file_parts_copy(&file->parts->parts, &file->file, from[i], bytes[i], path, &copied, err));
    *out = copied ? file->parts : NULL;
    return MW_OK;
}

/* What has the data at their place in the file, and aligned as kernels want them, which those of other writers than
 * ours need not be; *out = NULL if there is none. */
static mw_status find_shared(const mw__blob_file *file, const char *path, const mw__payload *payload, uint64_t data,
                             mw__shared_payload **out, mw_error *err)
{
    const bool aligned = data % BLOB_ALIGNMENT == 0;
    *out = aligned ? file->mapped : NULL;
    return aligned && file->parts != NULL && payload->size >= MW__SHARED_PAYLOAD_LEAST
               ? copy_entry(file, path, payload, data, out, err)
               : MW_OK;
}

static mw_status take_data(const mw__blob_file *file, const char *path, uint64_t data, mw_graph *graph,
                           mw__payload *payload, mw_error *err)
{
    MW_TRY(find_shared(file, path, payload, data, &payload->shared, err));
    if (payload->shared != NULL) {
        payload->data = (const char *)payload->shared->data + data;
        return MW_OK;
    }
    void *bytes = mw__payload_alloc(graph, payload->size, &payload->shared, err);
    if (bytes == NULL)
        return MW_ERROR_MEMORY;
    MW_TRY(mw__file_read_at(&file->file, data, bytes, payload->size, path, err));
    payload->data = bytes;
    return MW_OK;
}

mw_status mw__blob_read(mw__blob_file *file, const char *path, mw_graph *graph, mw__payload *payload, mw_error *err)
{
    unsigned char entry[BLOB_ENTRY];
    uint64_t data = 0;
    size_t size = 0;
    MW_TRY(check_header(&file->file, path, err));
    if (payload->blob_offset > file->file.size || file->file.size - payload->blob_offset < BLOB_ENTRY)
        return mw__fail(err, MW_ERROR_FORMAT, "%s: offset %" PRIu64 " is outside the file of %" PRIu64 " bytes", path,
                        payload->blob_offset, file->file.size);
    MW_TRY(mw__file_read_at(&file->file, payload->blob_offset, entry, sizeof entry, path, err));
    MW_TRY(check_entry(entry, payload, path, file->file.size, &data, err));
    mw__type_bytes(payload->type, &size); /* cannot fail: checked */
    if (size > file->budget)
        return mw__fail(err, MW_ERROR_FORMAT, "%s: entries overlap; together they claim more than the file holds",
                        path);
    payload->size = size;
    MW_TRY(take_data(file, path, data, graph, payload, err));
    file->budget -= size;
    return MW_OK;
}

/* ---- writing ---- */

void mw__blob_list_init(mw__blob_list *list, const mw_allocator *allocator)
{
    *list = (mw__blob_list){.allocator = allocator, .end = BLOB_ENTRY};
    mw__map_init(&list->entries, allocator);
}

void mw__blob_list_deinit(mw__blob_list *list)
{
    mw__free(list->allocator, list->payloads);
    mw__free(list->allocator, list->offsets);
    mw__free(list->allocator, list->places);
    mw__free(list->allocator, list->copies);
    mw__map_deinit(&list->entries);
    *list = (mw__blob_list){0};
}

/* What makes two literals one entry. */
typedef struct entry_key {
    const void *data;
    size_t size, bytes;
    uint64_t kind;
} entry_key;

static mw_status add_entry(mw__blob_list *list, const mw__payload *payload, size_t bytes, mw_error *err)
{
    size_t end;
    if (!mw__add_size((size_t)list->end + BLOB_ENTRY, bytes, &end) || !mw__round_up_size(end, BLOB_ALIGNMENT, &end))
        return mw__fail(err, MW_ERROR_SHAPE, "a constant is too large for a weight file");
    const size_t count = list->count + 1;
    MW_TRY(mw__grow(list->allocator, &list->payloads, &list->payload_capacity, count, sizeof *list->payloads, err));
    MW_TRY(mw__grow(list->allocator, &list->offsets, &list->offset_capacity, count, sizeof *list->offsets, err));
    list->payloads[list->count] = payload;
    list->offsets[list->count] = list->end;
    list->count = count;
    list->end = end;
    return MW_OK;
}

mw_status mw__blob_list_add(mw__blob_list *list, const mw__payload *payload, size_t place, uint64_t *out_offset,
                            mw_error *err)
{
    entry_key key;
    memset(&key, 0, sizeof key); /* its padding is compared, too */
    if (!mw__type_bytes(payload->type, &key.bytes))
        return mw__fail(err, MW_ERROR_SHAPE, "a constant is too large for a weight file");
    key.data = payload->data;
    key.size = payload->size;
    key.kind = (uint64_t)payload->type->dtype * 2 + payload->splat;
    MW_TRY(mw__grow(list->allocator, &list->places, &list->place_capacity, list->place_count + 1, sizeof *list->places,
                    err));
    const uintptr_t known = (uintptr_t)mw__map_get_n(&list->entries, (const char *)&key, sizeof key); /* index + 1 */
    if (known == 0) {
        MW_TRY(add_entry(list, payload, key.bytes, err));
        MW_TRY(mw__map_set_n(&list->entries, (const char *)&key, sizeof key, (void *)(uintptr_t)list->count, err));
    }
    list->places[list->place_count++] = place;
    *out_offset = list->offsets[known == 0 ? list->count - 1 : known - 1];
    return MW_OK;
}

/* ---- entries that are made ---- */

uint64_t mw__blob_store_count(mw__blob_store *store, uint64_t bytes)
{
    const uint64_t entry =
        store->end == 0 ? BLOB_ENTRY : mw__u64_round_up(store->end, BLOB_ALIGNMENT); /* behind the header of the file */
    store->end = entry + BLOB_ENTRY + bytes;
    return entry;
}

bool mw__blob_store_make(mw__blob_store *store, const mw_allocator *allocator)
{
    unsigned char header[BLOB_ENTRY] = {0};
    put_little_endian(header + 4, 4, BLOB_VERSION);
    store->shared = mw__shared_payload_of_parts(allocator, mw__u64_round_up(store->end, BLOB_ALIGNMENT));
    if (store->shared == NULL)
        return false;
    store->shared->entries = true;
    return mw__file_parts_put(&store->shared->parts, 0, header, sizeof header);
}

bool mw__blob_store_fill(const mw__blob_store *store, uint64_t entry, uint64_t at, const void *data, size_t size)
{
    return mw__file_parts_put(&store->shared->parts, entry + BLOB_ENTRY + at, data, size);
}

const void *mw__blob_store_finish(const mw__blob_store *store, uint64_t entry, mw_dtype dtype, uint64_t bytes)
{
    unsigned char head[BLOB_ENTRY] = {0};
    put_little_endian(head, 4, BLOB_SENTINEL);
    put_little_endian(head + 4, 4, mw__blob_code(dtype));
    put_little_endian(head + 8, 8, bytes);
    put_little_endian(head + 16, 8, entry + BLOB_ENTRY);
    if (!mw__file_parts_put(&store->shared->parts, entry, head, sizeof head))
        return NULL;
    return (const char *)store->shared->data + entry + BLOB_ENTRY;
}

mw_status mw__blob_store_put(const mw__blob_store *store, uint64_t entry, mw_dtype dtype, uint64_t bytes,
                             const mw__file *from, uint64_t offset, const char *path, const void **out_data,
                             mw_error *err)
{
    bool copied;
    *out_data = NULL;
    MW_TRY(mw__file_parts_copy_to(&store->shared->parts, entry + BLOB_ENTRY, from, offset, bytes, path, &copied, err));
    if (copied)
        *out_data = mw__blob_store_finish(store, entry, dtype, bytes);
    return MW_OK;
}

void mw__blob_store_complete(mw__blob_store *store)
{
    if (store->shared != NULL)
        mw__file_parts_complete(&store->shared->parts);
}

void mw__blob_store_release(mw__blob_store *store)
{
    mw__shared_payload_release(store->shared);
    store->shared = NULL;
}

/* ---- what stays where it was read to ---- */

/* A payload may have been made from one that was read: what describes it decides. */
static bool is_entry(const mw__payload *payload)
{
    const mw__shared_payload *shared = payload->shared;
    const uint64_t offset = payload->blob_offset;
    if (shared == NULL || shared->parts.path == NULL || (payload->blob_path == NULL && !shared->entries) ||
        payload->splat || shared->size < BLOB_ENTRY || offset > shared->size - BLOB_ENTRY)
        return false;
    const unsigned char *entry = (const unsigned char *)shared->data + offset;
    return get(entry, 4) == BLOB_SENTINEL && get(entry + 4, 4) == mw__blob_code(payload->type->dtype) &&
           get(entry + 8, 8) == payload->size &&
           (const unsigned char *)shared->data + get(entry + 16, 8) == payload->data;
}

/* False where it cannot be: then its weights are written. */
static bool place_copy(const mw__blob_list *list, const mw__shared_payload *shared, size_t index)
{
    mw__text path;
    if (mw__blob_make_folder(list->allocator, list->folder, NULL) != MW_OK)
        return false;
    mw__text_init(&path, list->allocator);
    mw__text_printf(&path, "%s/" MW__BLOB_COPY_FILE, list->folder, index);
    const bool placed = !path.failed && mw__file_parts_link(&shared->parts, path.data);
    mw__text_deinit(&path);
    return placed;
}

mw_status mw__blob_list_stays(mw__blob_list *list, const mw__payload *payload, bool *out, size_t *out_copy,
                              mw_error *err)
{
    size_t at = 0;
    *out = false;
    if (list->folder == NULL || !is_entry(payload))
        return MW_OK;
    while (at < list->copy_count && list->copies[at].shared != payload->shared)
        at++;
    if (at == list->copy_count) {
        MW_TRY(mw__grow(list->allocator, &list->copies, &list->copy_capacity, at + 1, sizeof *list->copies, err));
        list->copies[at] = (mw__blob_copy){payload->shared, place_copy(list, payload->shared, at)};
        list->copy_count = at + 1;
    }
    *out_copy = at;
    *out = list->copies[at].placed;
    return MW_OK;
}

uint64_t mw__blob_list_hash(const mw__blob_list *list)
{
    uint64_t hash = list->count;
    for (size_t i = 0; i < list->count; i++) {
        const mw__payload *payload = list->payloads[i];
        const uint64_t head[3] = {list->offsets[i], mw__blob_code(payload->type->dtype), payload->splat};
        hash = mw__hash64(head, sizeof head, hash);
        hash = mw__hash64(payload->data, payload->size, hash); /* of a splat, the one element */
    }
    return mw__hash64(&list->end, sizeof list->end, hash);
}

/* The bytes of one element, again and again. */
static mw_status write_splat(mw__file_writer *writer, const mw__payload *payload, size_t bytes, mw_error *err)
{
    unsigned char chunk[BLOB_CHUNK];
    for (size_t i = 0; i + payload->size <= sizeof chunk; i += payload->size)
        memcpy(chunk + i, payload->data, payload->size);
    for (size_t left = bytes; left > 0;) {
        const size_t size = left < sizeof chunk ? left : sizeof chunk;
        MW_TRY(mw__file_writer_write(writer, chunk, size, err));
        left -= size;
    }
    return MW_OK;
}

static mw_status write_entry(mw__file_writer *writer, const mw__payload *payload, uint64_t offset, uint64_t next,
                             mw_error *err)
{
    static const unsigned char zeros[BLOB_ALIGNMENT];
    unsigned char entry[BLOB_ENTRY] = {0};
    size_t bytes = 0;
    mw__type_bytes(payload->type, &bytes); /* cannot fail: checked by add */
    put_little_endian(entry, 4, BLOB_SENTINEL);
    put_little_endian(entry + 4, 4, mw__blob_code(payload->type->dtype));
    put_little_endian(entry + 8, 8, bytes);
    put_little_endian(entry + 16, 8, offset + BLOB_ENTRY);
    put_little_endian(entry + 24, 8, mw_dtype_bits(payload->type->dtype) < 8 ? unused_bits(payload->type, bytes) : 0);
    MW_TRY(mw__file_writer_write(writer, entry, sizeof entry, err));
    if (payload->splat)
        MW_TRY(write_splat(writer, payload, bytes, err));
    else
        MW_TRY(mw__file_writer_write(writer, payload->data, bytes, err));
    return mw__file_writer_write(writer, zeros, (size_t)(next - offset - BLOB_ENTRY - bytes), err);
}

static mw_status write_entries(const mw__blob_list *list, mw__file_writer *writer, mw_error *err)
{
    unsigned char header[BLOB_ENTRY] = {0};
    put_little_endian(header, 4, list->count);
    put_little_endian(header + 4, 4, BLOB_VERSION);
    MW_TRY(mw__file_writer_write(writer, header, sizeof header, err));
    for (size_t i = 0; i < list->count; i++) {
        const uint64_t next = i + 1 < list->count ? list->offsets[i + 1] : list->end;
        MW_TRY(write_entry(writer, list->payloads[i], list->offsets[i], next, err));
    }
    return mw__file_writer_commit(writer, err);
}

mw_status mw__blob_list_write(const mw__blob_list *list, const char *path, bool durable, mw_error *err)
{
    mw__file_writer writer;
    MW_TRY(mw__file_writer_begin(&writer, list->allocator, path, durable, err));
    const mw_status status = write_entries(list, &writer, err);
    mw__file_writer_deinit(&writer);
    return status;
}

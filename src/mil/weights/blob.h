/* Weight files ("MIL blob storage", version 2; reference: coremltools' writer and the files of public models).
 *
 *     offset 0    u32 count, u32 version = 2, 56 bytes 0
 *     entry       u32 0xDEADBEEF, u32 type code, u64 bytes, u64 absolute offset of the data,
 *                 u64 unused bits of the last byte (sub-byte types only), 32 bytes reserved
 *     data        row-major; entries and data start at multiples of 64
 *
 * A reader seeks to the entry that the text names and never walks the file: some writers count wrongly, some leave
 * garbage in bytes 24..63 of an entry. */
#ifndef MW__MIL_WEIGHTS_BLOB_H
#define MW__MIL_WEIGHTS_BLOB_H

#include "base/file/file.h"
#include "base/memory/map.h"
#include "graph/ir/ir.h"

/* Where the weight files of a model are, in its folder. */
#define MW__BLOB_FOLDER "weights"
mw_status mw__blob_make_folder(const mw_allocator *allocator, const char *model, mw_error *err);

/* The code of an element type in weight files; 0 = such tensors cannot be in one. */
uint32_t mw__blob_code(mw_dtype dtype);

/* A weight file that is being read. */
typedef struct mw__blob_file {
    mw__file file;
    uint64_t budget; /* what entries may still claim, so that many names for one range cannot multiply memory */
    mw__shared_payload *mapped; /* the file as memory, or NULL */
    mw__shared_payload *parts;  /* where large entries are copied to, with what describes them, or NULL */
} mw__blob_file;

/* Reads the entry at payload->blob_offset into memory of the graph, or copies it to file->parts, and stores it in
 * *payload; of a file that is mapped, stores where it lies there. */
mw_status mw__blob_read(mw__blob_file *file, const char *path, mw_graph *graph, mw__payload *payload, mw_error *err);

/* Entries of a private file that is no copy of another: constants of other formats lie there as if they had been read
 * from a weight file. */
typedef struct mw__blob_store {
    mw__shared_payload *shared; /* NULL = none */
    uint64_t end;               /* of the entries so far */
} mw__blob_store;

/* Counts an entry of so many bytes; its offset. Then the file is made, and then the entries are put. */
uint64_t mw__blob_store_count(mw__blob_store *store, uint64_t bytes);
/* False where there is no room for the file. */
bool mw__blob_store_make(mw__blob_store *store, const mw_allocator *allocator);
/* Copies the elements of a constant from `from`. *out_data is where they lie then, NULL if they cannot be written; what
 * cannot be read is an error. */
mw_status mw__blob_store_put(const mw__blob_store *store, uint64_t entry, mw_dtype dtype, uint64_t bytes,
                             const mw__file *from, uint64_t offset, const char *path, const void **out_data,
                             mw_error *err);
/* The same in two steps, for elements that are made: any part of them, from byte `at` on; then the entry's description.
 * False and NULL if they cannot be written. */
bool mw__blob_store_fill(const mw__blob_store *store, uint64_t entry, uint64_t at, const void *data, size_t size);
const void *mw__blob_store_finish(const mw__blob_store *store, uint64_t entry, mw_dtype dtype, uint64_t bytes);
/* No entry comes after this. */
void mw__blob_store_complete(mw__blob_store *store);
/* Graphs that hold entries keep the file. */
void mw__blob_store_release(mw__blob_store *store);

/* A private copy of parts of a weight file, and whether it has a name in the folder of the text. */
typedef struct mw__blob_copy {
    const mw__shared_payload *shared;
    bool placed;
} mw__blob_copy;

/* The name of copy `index` there. */
#define MW__BLOB_COPY_FILE MW__BLOB_FOLDER "/copy-%zu.bin"

/* Constants that go to one weight file, with the offsets of their entries. */
typedef struct mw__blob_list {
    const mw_allocator *allocator;
    const mw__payload **payloads;
    uint64_t *offsets;
    size_t count, payload_capacity, offset_capacity;
    size_t *places; /* from where in the text the name of the weight file is found; several may name one entry */
    size_t place_count, place_capacity;
    mw__map entries;       /* of literals that share their elements, as they were read from one entry */
    const char *folder;    /* where entries that were copied from one file stay in that copy, which gets a name below */
    mw__blob_copy *copies; /* that were tried */
    size_t copy_count, copy_capacity;
    uint64_t end; /* of the file so far */
} mw__blob_list;

void mw__blob_list_init(mw__blob_list *list, const mw_allocator *allocator);
void mw__blob_list_deinit(mw__blob_list *list);
/* `place` is where in the text its BLOBFILE begins; *out_offset is what that names: the entry of an earlier literal of
 * the same type that has its elements at the same address, or a new one. */
mw_status mw__blob_list_add(mw__blob_list *list, const mw__payload *payload, size_t place, uint64_t *out_offset,
                            mw_error *err);
/* Whether the literal can stay where it was read to: an entry at payload->blob_offset of copy *out_copy. */
mw_status mw__blob_list_stays(mw__blob_list *list, const mw__payload *payload, bool *out, size_t *out_copy,
                              mw_error *err);
/* Of all that the file will hold. */
uint64_t mw__blob_list_hash(const mw__blob_list *list);
/* Writes the file whole or not at all. */
mw_status mw__blob_list_write(const mw__blob_list *list, const char *path, bool durable, mw_error *err);

#endif

/* Safetensors files: 8 bytes of header length, a JSON header, dense tensor data without holes. The reader trusts
 * nothing; its memory is bounded by a small multiple of the header, and tensor data is read where it is wanted.
 *
 * Files that we write carry a checksum over header and data, first of the metadata:
 *     {"__metadata__":{"mw.checksum":"0123456789abcdef",..}, ..
 * It is XXH3 of the header text with those digits as zeros, then, each seeded with the hash before it, of every tensor
 * in file order in pieces of at most MW__SAFETENSORS_PIECE bytes. */
#ifndef MW__FORMAT_SAFETENSORS_H
#define MW__FORMAT_SAFETENSORS_H

#include "base/file/file.h"
#include "base/memory/alloc.h"
#include "base/memory/map.h"
#include "base/visible.h"
#include <millwright/types.h>

#define MW__SAFETENSORS_HEADER_MAX ((size_t)100 * 1000 * 1000) /* of the format */
#define MW__SAFETENSORS_PIECE      ((size_t)1 << 20)

typedef struct mw__safetensors_tensor {
    const char *name;
    mw_dtype dtype;      /* MW_DTYPE_NONE: one of the format that is not read */
    const char *foreign; /* its name then, "F8_E4M3"; else NULL */
    mw_shape shape;
    uint64_t offset; /* in the data section */
    size_t size;
} mw__safetensors_tensor;

/* An open file. Strings live until it is closed. */
typedef struct mw__safetensors {
    const mw_allocator *allocator;
    const char *path;
    mw__file file;
    uint64_t data_start;
    mw__safetensors_tensor *tensors; /* in file order */
    size_t count;
    mw__map by_name;        /* name -> its element of tensors */
    mw__map metadata;       /* key -> string */
    const char **note_keys; /* of the metadata, in file order */
    size_t note_count, note_capacity;
    mw__arena strings;
    bool has_checksum;
    uint64_t checksum;    /* that of the file */
    uint64_t header_hash; /* where the chain over the data starts */
} mw__safetensors;

/* errors  MW_ERROR_FILE if it cannot be read, MW_ERROR_FORMAT if it is malformed. After a failure it is closed. */
MW__SIBLING mw_status mw__safetensors_open(mw__safetensors *file, const mw_allocator *allocator, const char *path,
                                           mw_error *err);
/* The same for a file that a folder has by convention: opened by mw__file_open_in_folder. */
mw_status mw__safetensors_open_in_folder(mw__safetensors *file, const mw_allocator *allocator, const char *path,
                                         mw_error *err);
/* The same for a file that is open: it is taken over, also on failure. */
mw_status mw__safetensors_adopt(mw__safetensors *file, const mw_allocator *allocator, mw__file open, const char *path,
                                mw_error *err);
MW__SIBLING void mw__safetensors_close(mw__safetensors *file);

/* NULL if there is none. */
MW__SIBLING const mw__safetensors_tensor *mw__safetensors_find(const mw__safetensors *file, const char *name);
MW__SIBLING const char *mw__safetensors_metadata(const mw__safetensors *file, const char *key);

/* Reads one tensor: tensor->size bytes. */
MW__SIBLING mw_status mw__safetensors_read(const mw__safetensors *file, const mw__safetensors_tensor *tensor, void *out,
                                           mw_error *err);

/* Reads every tensor i into out[i] (file order; NULL = only looked at) and compares the checksum, if there is one.
 * MW_ERROR_FORMAT if it differs: then nothing in `out` may be used. */
MW__SIBLING mw_status mw__safetensors_read_all(const mw__safetensors *file, void *const *out, mw_error *err);

/* Compares the checksum, if there is one, and keeps nothing. */
mw_status mw__safetensors_check(const mw__safetensors *file, mw_error *err);

typedef struct mw__safetensors_item {
    const char *name;
    mw_dtype dtype;
    mw_shape shape;
    const void *data;
} mw__safetensors_item;

typedef struct mw__safetensors_note {
    const char *key, *value;
} mw__safetensors_note;

/* Where the elements of items come from that have none: those of item `index`, until the next call; NULL with err set.
 * Every item is asked for twice, in order, for the checksum stands in front. */
typedef struct mw__safetensors_source {
    const void *(*fetch)(void *user, size_t index, mw_error *err);
    void *user;
} mw__safetensors_source;

/* As mw__safetensors_write, with elements that are made when they are written. */
mw_status mw__safetensors_write_from(const mw_allocator *allocator, const char *path, const mw__safetensors_note *notes,
                                     size_t note_count, const mw__safetensors_item *items, size_t item_count,
                                     const mw__safetensors_source *source, mw_error *err);

/* Writes a whole file with its checksum, durably or not at all.
 * errors  MW_ERROR_ARGUMENT if our own reader would refuse the header (a name that is not UTF-8) */
MW__SIBLING mw_status mw__safetensors_write(const mw_allocator *allocator, const char *path,
                                            const mw__safetensors_note *notes, size_t note_count,
                                            const mw__safetensors_item *items, size_t item_count, mw_error *err);

/* ---- shared by reader and writer ---- */

/* MIL-independent names of the element types ("F32"); NULL if the format has none. */
const char *mw__safetensors_dtype_name(mw_dtype dtype);

/* What comes before the sixteen digits of the checksum. */
#define MW__SAFETENSORS_CHECKSUM_PREFIX "{\"__metadata__\":{\"mw.checksum\":\""
#define MW__SAFETENSORS_CHECKSUM_DIGITS 16

/* Goes on with the chain of hashes over one tensor. */
uint64_t mw__safetensors_chain(uint64_t hash, const void *data, size_t size);

/* Parses header text[0..size) into the file's tensors and metadata, for a data section of data_size bytes. */
mw_status mw__safetensors_parse(mw__safetensors *file, const char *text, size_t size, uint64_t data_size,
                                mw_error *err);

/* An empty file record, without a file. */
void mw__safetensors_init(mw__safetensors *file, const mw_allocator *allocator, const char *path);

#endif

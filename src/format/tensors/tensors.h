/* Files of named tensors from inside: one object, and a row of functions for each format. */
#ifndef MW__FORMAT_TENSORS_H
#define MW__FORMAT_TENSORS_H

#include "base/file/file.h"
#include "base/memory/alloc.h"
#include "base/memory/guard.h"
#include "base/memory/map.h"
#include <millwright/tensors.h>

/* A tensor, and what its reader must know to find it. */
typedef struct mw__tensors_item {
    mw_tensor_info info;
    const void *own; /* of the format, in the arena */
} mw__tensors_item;

/* How quantized elements are stored: x = scale (code - offset), scale and offset shared by a part of the last axis. */
typedef struct mw__tensors_form {
    mw_dtype code;
    int64_t part; /* elements; divides the last extent */
    bool shifted; /* there are offsets */
} mw__tensors_form;

/* Where they go: codes packed as the elements of a constant are, the rest one for each part. The caller's. */
typedef struct mw__tensors_stored {
    mw_dtype dtype; /* F32 or F16: what scales are rounded to, and elements must fit */
    void *codes;    /* zeros before */
    void *scale;    /* of dtype */
    float *offset;  /* NULL if the form is not shifted */
} mw__tensors_stored;

/* What a format does. */
typedef struct mw__tensors_format {
    const char *name;
    /* Takes over the open file, also on failure; then `close` is called all the same. */
    mw_status (*open)(mw_tensors *tensors, mw__file file, mw_error *err);
    /* info.size bytes: dense, row-major, in the host's order. */
    mw_status (*read)(mw_tensors *tensors, const mw__tensors_item *item, void *out, mw_error *err);
    void (*close)(mw_tensors *tensors);
    /* How a tensor is stored, NULL if element by element; and what is stored. Both NULL for a format without. */
    const mw__tensors_form *(*form)(const mw__tensors_item *item);
    mw_status (*read_stored)(mw_tensors *tensors, const mw__tensors_item *item, const mw__tensors_stored *out,
                             mw_error *err);
    /* mw_tensors_read_array; NULL for a format that has none. */
    mw_status (*array)(mw_tensors *tensors, const char *key, mw_tensors_array *out, mw_error *err);
} mw__tensors_format;

extern const mw__tensors_format mw__tensors_safetensors, mw__tensors_shards, mw__tensors_npy, mw__tensors_npz,
    mw__tensors_torch, mw__tensors_gguf;

/* Weights in a folder, by the convention of model hubs: in shards, or whole. */
#define MW__TENSORS_INDEX "model.safetensors.index.json"
#define MW__TENSORS_MODEL "model.safetensors"

struct mw_tensors {
    const mw_allocator *allocator;
    mw__guard guard;
    const mw__tensors_format *format;
    const char *path;
    void *state; /* of the format, in the arena; NULL until it was opened */
    mw__arena arena;
    mw__tensors_item *items;
    size_t count, capacity;
    mw__map by_name; /* name -> its index + 1, as a pointer */
    mw_tensors_note *notes;
    size_t note_count, note_capacity;
    mw_tensors_note *left_out; /* names and reasons */
    size_t left_out_count, left_out_capacity;
};

/* mw_tensors_open with an allocator, which must outlive the object. */
MW__SIBLING mw_tensors *mw__tensors_open(const mw_allocator *allocator, const char *path, mw_error *err);
/* The same for a file that a folder has by convention: links of the folder do not lead out of it. */
mw_tensors *mw__tensors_open_in_folder(const mw_allocator *allocator, const char *path, mw_error *err);
/* mw_tensors_read of the item, as the guard of the caller. */
MW__SIBLING mw_status mw__tensors_read(mw_tensors *tensors, const mw__tensors_item *item, mw_dtype dtype, void *out,
                                       bool finite, mw_error *err);
/* Constants of a graph, as the guard of the caller: dense; or of a tensor that has them the blocks, as
 * mw_tensors_constant. An error may be left on the graph, too. */
mw_tensor *mw__tensors_dense(mw_tensors *tensors, const mw__tensors_item *item, mw_dtype dtype, bool finite,
                             mw_graph *graph, mw_error *err);
bool mw__tensors_has_blocks(const mw_tensors *tensors, const mw__tensors_item *item);
mw_tensor *mw__tensors_compressed(mw_tensors *tensors, const mw__tensors_item *item, mw_dtype dtype, mw_graph *graph,
                                  mw_error *err);
/* As mw_tensors_destroy, for one that is not open for users any more. */
void mw__tensors_free(mw_tensors *tensors);
MW__SIBLING const mw__tensors_item *mw__tensors_item_find(const mw_tensors *tensors, const char *name);
/* Says that there is no tensor of this name, or why it is not read. */
MW__SIBLING mw_status mw__tensors_missing(const mw_tensors *tensors, const char *name, mw_error *err);

/* ---- for formats ---- */

/* Adds a tensor; strings must live as long as the object. Fills info.size, and info.file if it is NULL.
 *  errors  MW_ERROR_FORMAT for a name that is none or is there twice, and for a size that overflows */
mw_status mw__tensors_add(mw_tensors *tensors, const mw_tensor_info *info, const void *own, mw_error *err);
/* Adds a note; both are copied. */
mw_status mw__tensors_note(mw_tensors *tensors, const char *key, const char *value, mw_error *err);

/* Notes what is not read, and why; both are copied. Of more than 1000 the first. A file with nothing else is refused
 * when it was opened. */
mw_status mw__tensors_leave_out(mw_tensors *tensors, const char *name, const char *why, mw_error *err);

/* The same for a type that the format has, in the words of the file. */
mw_status mw__tensors_leave_out_type(mw_tensors *tensors, const char *name, const char *type, mw_error *err);

/* A copy that lives as long as the object; NULL and MW_ERROR_MEMORY. */
char *mw__tensors_string(mw_tensors *tensors, const char *text, size_t length, mw_error *err);

/* Where the elements of a tensor lie: element i of out is in[offset + sum of index * stride], all in elements. */
typedef struct mw__strided {
    mw_shape shape;
    int64_t stride[MW_RANK_MAX]; /* >= 0 */
    size_t item;                 /* bytes of an element */
} mw__strided;

/* Copies it dense. */
void mw__strided_copy(void *out, const void *in, const mw__strided *from);
/* Reverses the bytes of each element. */
void mw__swap_bytes(void *data, size_t item, size_t count);

/* write.c */

/* mw_tensors_convert. */
MW__SIBLING mw_status mw__tensors_convert(mw_tensors *tensors, const char *path, mw_dtype dtype, mw_error *err);
/* mw_tensors_write with an allocator. */
mw_status mw__tensors_write(const mw_allocator *allocator, const char *path, const mw_tensor_values *tensors,
                            size_t count, mw_error *err);

#endif

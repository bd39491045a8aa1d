/* Files of named tensors: safetensors (one file, or shards by an index), PyTorch's zip archives, .npy, .npz and GGUF.
 *
 *     mw_tensors *tensors = mw_tensors_open("resnet.pt", &err);
 *     for (size_t i = 0; i < mw_tensors_get_info(tensors).count; i++)
 *         puts(mw_tensors_at(tensors, i)->name);
 *     mw_tensors_read(tensors, "fc.weight", MW_F32, weight, 512 * 10, &err);
 *     mw_tensors_destroy(tensors);
 *
 * What kind a file is follows from its first bytes, not from its name. Opening reads headers only; data is read where
 * it is wanted. Files may be hostile: nothing of them is run, nothing outside the folder of an index is opened, and
 * memory stays within what docs/tensors.md says of each format.
 *
 * Threads: calls on one object come one at a time, from any thread, and a second one meanwhile is MW_ERROR_STATE; what
 * asks for names and types may be called at any time. Different objects know nothing of each other. */
#ifndef MILLWRIGHT_TENSORS_H
#define MILLWRIGHT_TENSORS_H

#include <millwright/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mw_tensors mw_tensors;

/** One tensor of a file. Strings live as long as the object. */
typedef struct mw_tensor_info {
    const char *name; /* "layer.0.weight": dicts within a dict are joined with dots; of a .npy the file's name without
                       * its folder and ".npy" */
    mw_dtype dtype;   /* of the elements; F32 for GGUF's quantized blocks */
    mw_shape shape;
    size_t size;        /* bytes of the elements in that type */
    const char *stored; /* the type in the words of the file: "BF16", "<f8", "HalfStorage", "Q4_K" */
    const char *file;   /* that it lies in: the path given, or a shard below the folder of the index */
} mw_tensor_info;

/** A key and its value, of the file as a whole. */
typedef struct mw_tensors_note {
    const char *key, *value;
} mw_tensors_note;

/* ---- reading ---- */

/** Opens a file (of shards: the index), or a folder that holds model.safetensors.index.json or model.safetensors.
 *  return  owned by the caller; NULL with err set on failure
 *  errors  MW_ERROR_FILE if it cannot be read; MW_ERROR_FORMAT if it is none of the formats, or malformed;
 *          MW_ERROR_UNSUPPORTED, by name, for what a format has and is not read, such as other opcodes of a pickle or
 *          a compressed .npz without zlib, and for a file that has no tensor besides what is left out */
MW_API mw_tensors *mw_tensors_open(const char *path, mw_error *err);
/** Frees it; twice, or while it is read, as mw_trainer_destroy. NULL is fine. */
MW_API void mw_tensors_destroy(mw_tensors *tensors);

/** What is open. */
typedef struct mw_tensors_info {
    const char *format; /* "safetensors", "safetensors shards", "PyTorch", "npy", "npz" or "GGUF" */
    size_t count;       /* of tensors */
} mw_tensors_info;

/** What it is; the string lives as long as the object. For NULL "" and 0. */
MW_API mw_tensors_info mw_tensors_get_info(const mw_tensors *tensors);
/** Tensor by index, in the order of the file; NULL if out of range. Lives as long as the object. */
MW_API const mw_tensor_info *mw_tensors_at(const mw_tensors *tensors, size_t index);
/** Tensor by name; NULL if there is none. */
MW_API const mw_tensor_info *mw_tensors_find(const mw_tensors *tensors, const char *name);
/** What the file says of itself, by index; NULL past the last. Numbers are decimal, arrays "[1000 of string]". */
MW_API const mw_tensors_note *mw_tensors_note_at(const mw_tensors *tensors, size_t index);
/** The value of a key; NULL if there is none. */
MW_API const char *mw_tensors_note_find(const mw_tensors *tensors, const char *key);

/** An array that a file of GGUF has under a key, such as its vocabulary. */
typedef struct mw_tensors_array {
    const char *type; /* of its elements, in the words of the file: "string", "f32", "i32", "bool" .. */
    size_t count;
    const void *data;     /* [count], little-endian; of strings their bytes, one after the other */
    const uint64_t *ends; /* [count], of strings: where in `data` each ends; else NULL */
} mw_tensors_array;

/** Reads an array of the file's header; its memory lives as long as the object, and stays within the bytes that it has
 *  in the file, and 8 for each string.
 *  errors  MW_ERROR_ARGUMENT if there is no array under that key, or the format has none; MW_ERROR_FILE */
MW_API mw_status mw_tensors_read_array(mw_tensors *tensors, const char *key, mw_tensors_array *out, mw_error *err);

/** What the file has besides, and is not read: its name as a tensor would have it, and why. A tensor of another type, a
 *  block of GGUF that is not known, or what another global of a pickle would make, does not keep the rest from being
 *  read. In the order of the file, the first 1000; NULL past the last. */
MW_API const mw_tensors_note *mw_tensors_left_out_at(const mw_tensors *tensors, size_t index);

/** Reads a tensor: dense, row-major, converted to `dtype` under the rule of mw_program_write: a number is rounded once,
 *  an integer stays what it is, and what does not fit is refused.
 *  dtype   that of the tensor, or F64, F32, F16, BOOL, or an integer of 8 to 64 bits but U32 and U64
 *  out     [count]; after a failure its content means nothing
 *  count   elements; must be the tensor's
 *  errors  MW_ERROR_ARGUMENT for a name that is not there or a value that the rule refuses, MW_ERROR_UNSUPPORTED for
 *          a tensor that is left out, MW_ERROR_NUMERIC for a finite value that would become infinite (naming tensor,
 *          element and value), MW_ERROR_SHAPE for a wrong count, MW_ERROR_DTYPE for a type without conversion,
 *          MW_ERROR_FORMAT if the data is damaged (a checksum differs) */
MW_API mw_status mw_tensors_read(mw_tensors *tensors, const char *name, mw_dtype dtype, void *out, size_t count,
                                 mw_error *err);

/** A constant of a graph with the elements of a tensor. Blocks of GGUF stay as they are stored: the constant is a
 *  constexpr_blockwise_shift_scale (<millwright/ops/quantize.h>) with about the bytes of the file, and stands wherever
 *  a constant does. docs/tensors.md says for each kind of block which memory it takes and to how many bits it equals
 *  what mw_tensors_read gives; anything else becomes a dense constant, as mw_tensors_read gives it.
 *  name    of the tensor
 *  dtype   of the constant: of blocks F32 or F16; else as mw_tensors_read
 *  return  [..] in the shape of the tensor, without a name; lives as long as the graph. NULL on failure
 *  errors  on the graph, too, as of any constructor: those of mw_tensors_read; MW_ERROR_NUMERIC for an element that is
 *          not finite or does not fit; for blocks MW_ERROR_DTYPE, and MW_ERROR_UNSUPPORTED in a program of ios17 or
 *          older, which has no such constants */
MW_API mw_tensor *mw_tensors_constant(mw_tensors *tensors, const char *name, mw_dtype dtype, mw_graph *graph,
                                      mw_error *err);

/* ---- writing ---- */

/** A tensor to be written. */
typedef struct mw_tensor_values {
    const char *name;
    mw_dtype dtype; /* F16, F32, F64, BOOL, integers of 8 to 64 bits; BF16 in safetensors only */
    mw_shape shape;
    const void *data; /* dense, row-major */
} mw_tensor_values;

/** Writes a whole file, durably or not at all, in the format of its name: ".safetensors" (with a checksum of ours),
 *  ".npz" (stored, as numpy.savez), ".npy" (one tensor; its name is not written).
 *  errors  MW_ERROR_ARGUMENT for another ending, a name that files do not take or that is there twice, or not exactly
 *          one tensor for .npy; MW_ERROR_DTYPE for a type that the format does not have; MW_ERROR_FILE */
MW_API mw_status mw_tensors_write(const char *path, const mw_tensor_values *tensors, size_t count, mw_error *err);

#ifdef __cplusplus
}
#endif
#endif

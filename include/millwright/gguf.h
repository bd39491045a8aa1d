/* GGUF files, written: keys with values, and tensors in fp32, fp16, bfloat16 or quantized blocks. mw_tensors_open reads
 * them (<millwright/tensors.h>).
 *
 *     const int32_t layers = 2;
 *     const mw_gguf_value values[] = {{"general.architecture", "string", 0, &(const char *){"llama"}},
 *                                     {"llama.block_count", "u32", 0, &layers}};
 *     const mw_gguf_tensor tensors[] = {{"output_norm.weight", "F32", MW_SHAPE(64)}};
 *     mw_gguf_write("net.gguf", &(mw_gguf_file){values, 2, tensors, 1, fetch_tensor, user}, &err);
 *
 * Threads: any. */
#ifndef MILLWRIGHT_GGUF_H
#define MILLWRIGHT_GGUF_H

#include <millwright/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A key and its value. */
typedef struct mw_gguf_value {
    const char *key;
    const char *type; /* of a value or of an array's elements: "u8", "i8", "u16", "i16", "u32", "i32", "f32", "bool",
                       * "string", "u64", "i64" or "f64" */
    bool array;
    size_t count;     /* elements of the array; of a single value not looked at */
    const void *data; /* elements in the host's order: bool as one byte, string as const char *const * */
} mw_gguf_value;

/** A tensor. */
typedef struct mw_gguf_tensor {
    const char *name;
    const char *type; /* "F32", "F16", "BF16", "Q8_0" or "Q4_0": blocks of 32, which divide the last extent */
    mw_shape shape;   /* the outermost axis first, as everywhere here; at most 4 */
} mw_gguf_tensor;

/** The elements of a tensor, dense and row-major; valid until the next call. NULL with err set on failure. */
typedef const float *mw_gguf_source(void *user, size_t tensor, mw_error *err);

/** What is written. */
typedef struct mw_gguf_file {
    const mw_gguf_value *values;
    size_t value_count;
    const mw_gguf_tensor *tensors;
    size_t tensor_count;
    mw_gguf_source *source; /* asked for each tensor once, in their order */
    void *user;
} mw_gguf_file;

/** Writes a whole file of version 3, durably or not at all; one tensor is in memory at a time. A number is rounded
 *  once, blocks are quantized as ggml's reference does.
 *  errors  MW_ERROR_ARGUMENT for a name that is none or is there twice, or a type that is not listed; MW_ERROR_SHAPE
 *          for rows that are no whole blocks; MW_ERROR_NUMERIC for an element that is not finite, or beyond fp16 where
 *          that is the type of it or of a block's scale; MW_ERROR_FILE */
MW_API mw_status mw_gguf_write(const char *path, const mw_gguf_file *file, mw_error *err);

#ifdef __cplusplus
}
#endif
#endif

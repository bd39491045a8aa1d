/* GGUF files of a test's own: one alignment, no keys, any blocks. */
#ifndef TESTS_SUPPORT_GGUF_FILE_H
#define TESTS_SUPPORT_GGUF_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A tensor [rows, columns] of a type, by its number in the format; `data` are its blocks, row after row. */
typedef struct gguf_tensor_bytes {
    const char *name;
    uint32_t type;
    uint64_t rows, columns;
    const void *data;
    size_t size;
} gguf_tensor_bytes;

bool put_gguf(const char *path, const gguf_tensor_bytes *tensors, size_t count);

#endif

/* Writes GGUF, version 3, as the specification says. */
#include "support/gguf_file.h"

#include <stdio.h>
#include <string.h>

enum { ALIGNMENT = 32 };

static void put_number(FILE *file, uint64_t number, size_t size)
{
    for (size_t i = 0; i < size; i++)
        fputc((int)(number >> (8 * i) & 255), file);
}

static void pad(FILE *file, size_t size)
{
    for (; size % ALIGNMENT != 0; size++)
        fputc(0, file);
}

bool put_gguf(const char *path, const gguf_tensor_bytes *tensors, size_t count)
{
    FILE *file = fopen(path, "wb");
    size_t offset = 0;
    if (file == NULL)
        return false;
    fputs("GGUF", file);
    put_number(file, 3, 4);
    put_number(file, count, 8);
    put_number(file, 0, 8);
    for (size_t i = 0; i < count; i++) {
        put_number(file, strlen(tensors[i].name), 8);
        fputs(tensors[i].name, file);
        put_number(file, 2, 4);
        put_number(file, tensors[i].columns, 8);
        put_number(file, tensors[i].rows, 8);
        put_number(file, tensors[i].type, 4);
        put_number(file, offset, 8);
        offset += (tensors[i].size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
    }
    pad(file, (size_t)ftell(file));
    for (size_t i = 0; i < count; i++) {
        fwrite(tensors[i].data, 1, tensors[i].size, file);
        pad(file, tensors[i].size);
    }
    const bool fine = ferror(file) == 0;
    return fclose(file) == 0 && fine;
}

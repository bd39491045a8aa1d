/* The safetensors reader against any bytes: what it accepts lies inside the file, and is read without a fault. */
#include "format/tensors/safetensors.h"
#include "fuzz/replay.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A new file with these bytes. */
static const char *put_bytes(const uint8_t *data, size_t size)
{
    static char path[] = "/tmp/mw-fuzz-XXXXXX";
    memcpy(path + sizeof path - 7, "XXXXXX", 6);
    const int descriptor = mkstemp(path);
    if (descriptor < 0 || write(descriptor, data, size) != (ssize_t)size)
        abort();
    close(descriptor);
    return path;
}

static void look_at(const mw__safetensors *file, size_t size)
{
    for (size_t i = 0; i < file->count; i++) {
        const mw__safetensors_tensor *tensor = &file->tensors[i];
        if (file->data_start + tensor->offset + tensor->size > size || mw__safetensors_find(file, tensor->name) == NULL)
            abort();
    }
    void **out = calloc(file->count + 1, sizeof *out);
    mw_error err = {0};
    if (out == NULL || mw__safetensors_read_all(file, out, &err) != err.status)
        abort();
    free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *path = put_bytes(data, size);
    mw_error err = {0};
    mw__safetensors file;
    const mw_status status = mw__safetensors_open(&file, NULL, path, &err);
    if (status != err.status)
        abort();
    if (status == MW_OK) {
        look_at(&file, size);
        mw__safetensors_close(&file);
    }
    unlink(path);
    return 0;
}

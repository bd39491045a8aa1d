/* The readers of tensor files against any bytes: what is accepted has a size near that of the file, and is read without
 * a fault, also as a constant, whose blocks stay as they are. */
#include "fuzz/replay.h"

#include <millwright/tensors.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { READ_MOST = 1 << 22 };

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

static void read_tensor(mw_tensors *tensors, const mw_tensor_info *info, mw_dtype dtype)
{
    const size_t count = (size_t)mw_shape_count(info->shape);
    void *out = malloc(count * 8 + 1);
    mw_error err = {0};
    const mw_status status = out != NULL ? mw_tensors_read(tensors, info->name, dtype, out, count, &err) : MW_OK;
    if (status != err.status)
        abort();
    free(out);
}

static void make_constant(mw_tensors *tensors, const mw_tensor_info *info)
{
    mw_graph *graph = mw_graph_create(NULL, NULL);
    mw_error err = {0};
    const mw_tensor *constant = mw_tensors_constant(tensors, info->name, MW_F32, graph, &err);
    if ((constant == NULL) != (err.status != MW_OK) ||
        (constant != NULL && !mw_shape_equal(mw_tensor_shape(constant), info->shape)))
        abort();
    mw_graph_destroy(graph);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *path = put_bytes(data, size);
    mw_error err = {0};
    mw_tensors *tensors = mw_tensors_open(path, &err);
    if ((tensors == NULL) != (err.status != MW_OK))
        abort();
    for (size_t i = 0; i < mw_tensors_get_info(tensors).count; i++) {
        const mw_tensor_info *info = mw_tensors_at(tensors, i);
        if (mw_tensors_find(tensors, info->name) != info)
            abort();
        if (info->size > 1100 * (size + 1) && info->size > (64 << 20))
            abort();
        if (i < 64 && info->size <= READ_MOST) {
            read_tensor(tensors, info, info->dtype);
            read_tensor(tensors, info, MW_F32);
            make_constant(tensors, info);
        }
    }
    mw_tensors_destroy(tensors);
    unlink(path);
    return 0;
}

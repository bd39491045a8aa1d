/* The readers of tables against any bytes: the first chooses the format and how it is asked for. What is accepted has
 * values that can be read, and no more memory was asked for at a time than is promised. */
#include "fuzz/replay.h"
#include "support/meter.h"

#include <millwright/data.h>
#include <millwright/millwright.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

static void look_at(const mw_dataset *dataset)
{
    unsigned sum = 0;
    const mw_column *column;
    for (size_t i = 0; (column = mw_dataset_column_at(dataset, i)) != NULL; i++) {
        const size_t size = (size_t)(mw_dataset_examples(dataset) * mw_shape_count(column->shape)) *
                            (size_t)mw_dtype_bits(column->dtype) / 8;
        for (size_t k = 0; k < size; k++)
            sum += ((const uint8_t *)column->data)[k];
    }
    const int64_t *labels = mw_dataset_column_at(dataset, 1)->data;
    const mw_classes classes = mw_dataset_classes(dataset, "b");
    for (int64_t i = 0; i < mw_dataset_examples(dataset); i++)
        if ((size_t)labels[i] >= classes.count || classes.names[labels[i]] == NULL || sum == UINT32_MAX)
            abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    static const mw_table_column named[] = {{.name = "a", .dtype = MW_F32},
                                            {.name = "b", .dtype = MW_I64, .classes = true}};
    static const char *const first[] = {"0"}, *const second[] = {"1"};
    static const mw_table_column numbered[] = {
        {.name = "a", .dtype = MW_I32, .fields = first, .field_count = 1},
        {.name = "b", .dtype = MW_I64, .classes = true, .fields = second, .field_count = 1}};
    meter m = {0};
    const mw_allocator allocator = {.resize = meter_resize, .user = &m};
    mw_error err = {0};
    mw_table_options options = mw_table_defaults((data[0] & 2) != 0 ? numbered : named, 2);
    options.no_header = (data[0] & 2) != 0;
    options.separator = (data[0] & 4) != 0 ? ';' : ',';
    options.allocator = &allocator;
    const char *path = put_bytes(data + 1, size - 1);
    mw_dataset *dataset =
        (data[0] & 1) != 0 ? mw_dataset_open_jsonl(path, &options, &err) : mw_dataset_open_csv(path, &options, &err);
    unlink(path);
    if ((dataset != NULL) != (err.status == MW_OK) || m.most > 2 * 16 * size + (32 << 20))
        abort();
    if (dataset != NULL)
        look_at(dataset);
    mw_dataset_destroy(dataset);
    if (m.held != 0)
        abort();
    return 0;
}

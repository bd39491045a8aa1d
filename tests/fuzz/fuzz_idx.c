/* The IDX reader against any bytes: the first byte chooses images or labels, plain or gzipped; the other file is sound.
 */
#include "fuzz/replay.h"

#include <millwright/data.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const uint8_t images[] = {0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 3, 1, 2, 3, 4, 5, 6};
static const uint8_t labels[] = {0, 0, 8, 1, 0, 0, 0, 2, 7, 9};

static void put_file(const char *folder, const char *name, const char *suffix, const uint8_t *data, size_t size)
{
    char path[200];
    snprintf(path, sizeof path, "%s/train-%s%s", folder, name, suffix);
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(data, 1, size, file) != size || fclose(file) != 0)
        abort();
}

static void clean(const char *folder)
{
    static const char *const names[] = {"images-idx3-ubyte", "images-idx3-ubyte.gz", "labels-idx1-ubyte",
                                        "labels-idx1-ubyte.gz"};
    char path[200];
    for (int i = 0; i < 4; i++) {
        snprintf(path, sizeof path, "%s/train-%s", folder, names[i]);
        unlink(path);
    }
    rmdir(folder);
}

/* Every byte of an accepted set can be read. */
static void look_at(mw_dataset *dataset)
{
    const mw_column *x = mw_dataset_column_at(dataset, 0), *y = mw_dataset_column_at(dataset, 1);
    const int64_t pixels = mw_dataset_examples(dataset) * mw_shape_count(x->shape);
    unsigned sum = 0;
    for (int64_t i = 0; i < pixels; i++)
        sum += ((const uint8_t *)x->data)[i];
    for (int64_t i = 0; i < mw_dataset_examples(dataset); i++)
        sum += ((const uint8_t *)y->data)[i];
    if (sum == UINT32_MAX) /* never: it keeps the reads */
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    char folder[] = "/tmp/mw-fuzz-XXXXXX";
    if (mkdtemp(folder) == NULL)
        abort();
    const bool is_images = (data[0] & 1) != 0;
    put_file(folder, is_images ? "images-idx3-ubyte" : "labels-idx1-ubyte", (data[0] & 2) != 0 ? ".gz" : "", data + 1,
             size - 1);
    if (is_images)
        put_file(folder, "labels-idx1-ubyte", "", labels, sizeof labels);
    else
        put_file(folder, "images-idx3-ubyte", "", images, sizeof images);
    mw_error err = {0};
    mw_dataset *dataset = mw_dataset_open_idx(folder, "train", &err);
    if ((dataset != NULL) != (err.status == MW_OK))
        abort();
    if (dataset != NULL)
        look_at(dataset);
    mw_dataset_destroy(dataset);
    clean(folder);
    return 0;
}

/* The readers of pictures against any bytes: a folder of one class with one picture, by the first bytes PNG, JPEG or
 * WebP, which is resized, too. What is accepted can be read, and the library's own memory stays within 12 bytes a
 * pixel, the file, and 16 MiB. */
#include "fuzz/replay.h"
#include "support/meter.h"

#include <millwright/data.h>
#include <millwright/millwright.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIXELS_MAX = 1 << 16 };

static void look_at(const mw_dataset *dataset)
{
    const mw_column *x = mw_dataset_column_at(dataset, 0);
    unsigned sum = 0;
    for (int64_t i = 0; i < mw_shape_count(x->shape); i++)
        sum += ((const uint8_t *)x->data)[i];
    if (sum == UINT32_MAX || mw_shape_count(x->shape) > 3 * PIXELS_MAX) /* the first never: it keeps the reads */
        abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char folder[] = "/tmp/mw-fuzz-XXXXXX", class[64], path[80];
    if (mkdtemp(folder) == NULL)
        abort();
    snprintf(class, sizeof class, "%s/a", folder);
    snprintf(path, sizeof path, "%s/p.png", class);
    mkdir(class, 0700);
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(data, 1, size, file) != size || fclose(file) != 0)
        abort();
    meter m = {0};
    const mw_allocator allocator = {.resize = meter_resize, .user = &m};
    mw_error err = {0};
    mw_image_options options = mw_image_defaults();
    options.pixels_max = PIXELS_MAX;
    options.channels_first = options.blend = true;
    options.threads = 1;
    options.allocator = &allocator;
    if (size % 2 != 0) { /* every other input is resized */
        options.height = 7;
        options.width = 9;
        options.fit = MW_IMAGE_FIT_CROP;
    }
    mw_dataset *dataset = mw_dataset_open_images(folder, &options, &err);
    if ((dataset != NULL) != (err.status == MW_OK) || m.most > size + 12 * PIXELS_MAX + (16 << 20))
        abort();
    if (dataset != NULL)
        look_at(dataset);
    mw_dataset_destroy(dataset);
    unlink(path);
    rmdir(class);
    rmdir(folder);
    if (m.held != 0)
        abort();
    return 0;
}

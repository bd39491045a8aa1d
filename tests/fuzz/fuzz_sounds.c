/* The readers of sounds against any bytes: a folder of one class with one sound, WAV or FLAC by its first bytes, which
 * is mostly resampled. What is accepted is finite, and the library's own memory stays within what the example is made
 * of. */
#include "fuzz/replay.h"
#include "support/meter.h"

#include <math.h>
#include <millwright/data.h>
#include <millwright/millwright.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { LENGTH = 256, FRAMES_MAX = 1 << 15 };

static void look_at(const mw_dataset *dataset)
{
    const mw_column *x = mw_dataset_column_at(dataset, 0);
    const float *samples = x->data;
    for (int64_t i = 0; i < mw_shape_count(x->shape); i++)
        if (!isfinite(samples[i]))
            abort();
}

/* The part that is taken follows from the size of the input. */
static void open_folder(const char *folder, size_t size, meter *m)
{
    const mw_allocator allocator = {.resize = meter_resize, .user = m};
    mw_error err = {0};
    mw_sound_options options = mw_sound_defaults();
    options.length = size % 2 != 0 ? LENGTH : 0;
    options.rate = size % 3 != 0 ? 16000 : 1000;
    options.channels = size % 5 != 0 ? 1 : 2;
    options.place = size % 7 < 3 ? MW_SOUND_BEGIN : MW_SOUND_MIDDLE;
    options.frames_max = FRAMES_MAX;
    options.threads = 1;
    options.allocator = &allocator;
    mw_dataset *dataset = mw_dataset_open_sounds(folder, &options, &err);
    if ((dataset != NULL) != (err.status == MW_OK))
        abort();
    if (dataset != NULL)
        look_at(dataset);
    mw_dataset_destroy(dataset);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    char folder[] = "/tmp/mw-fuzz-XXXXXX", class[64], path[80];
    meter m = {0};
    if (mkdtemp(folder) == NULL)
        abort();
    snprintf(class, sizeof class, "%s/a", folder);
    snprintf(path, sizeof path, "%s/s.wav", class);
    mkdir(class, 0700);
    FILE *file = fopen(path, "wb");
    if (file == NULL || fwrite(data, 1, size, file) != size || fclose(file) != 0)
        abort();
    open_folder(folder, size, &m);
    unlink(path);
    rmdir(class);
    rmdir(folder);
    if (m.held != 0 || m.most > (16 << 20))
        abort();
    return 0;
}

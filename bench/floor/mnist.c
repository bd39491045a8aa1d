/* Reads the training set of MNIST from its IDX files. */
#include "../bench.h"
#include "images.h"

/* The bytes of one file after a header of `header` bytes; their number is put
 * into *out_size. */
static uint8_t *read_file(const char *folder, const char *name, size_t header, size_t *out_size)
{
    char path[1024];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        fprintf(stderr, "%s cannot be opened: ./run data gets it\n", path);
        exit(1);
    }
    fseek(file, 0, SEEK_END);
    *out_size = (size_t)ftell(file) - header;
    fseek(file, (long)header, SEEK_SET);
    uint8_t *bytes = bench_alloc(*out_size, 1);
    if (fread(bytes, 1, *out_size, file) != *out_size) {
        fprintf(stderr, "%s cannot be read\n", path);
        exit(1);
    }
    fclose(file);
    return bytes;
}

image_set images_read(const char *folder)
{
    size_t bytes = 0, labels = 0;
    image_set set = {.pixels = read_file(folder, "train-images-idx3-ubyte", 16, &bytes),
                     .labels = read_file(folder, "train-labels-idx1-ubyte", 8, &labels)};
    set.count = (int)labels;
    return set;
}

/* Packages as tests read them, and copies of them that tests may break. */
#ifndef TESTS_FORMAT_PACKAGE_H
#define TESTS_FORMAT_PACKAGE_H

#include <stdbool.h>
#include <stddef.h>

#define RECORDED MW_TESTS_DIR "/data/coreml/"
#define REAL     MW_SHARED_DATA "/mlpackage/"
#define MODEL    "Data/com.apple.CoreML/model.mlmodel"
#define WEIGHTS  "Data/com.apple.CoreML/weights/weight.bin"

/* The file, with a NUL behind it; NULL if it is not there. Freed with free. */
char *package_read_file(const char *path, size_t *out_size);
bool package_write_file(const char *path, const void *data, size_t size);

/* Copies a package to the folder `to`, below the current one. */
bool package_copy(const char *from, const char *to);

/* True if the file is there. */
bool package_exists(const char *path);

#endif

/* Files of a test: a folder of its own, removed when the test ends. */
#ifndef TESTS_RUNTIME_FILES_H
#define TESTS_RUNTIME_FILES_H

#include <stdbool.h>
#include <stddef.h>

/* A path in the folder; the next 8 calls leave it valid. */
const char *scratch(const char *name);

bool put_file(const char *path, const void *data, size_t size);

/* Free with free(); NULL if it cannot be read. */
unsigned char *get_file(const char *path, size_t *out_size);

bool file_exists(const char *path);

/* Removes a folder with a model: the next one that is written there is the first, with the usual weight file. */
void remove_model(const char *name);

/* Files in the scratch folder. */
int scratch_count(void);

#endif

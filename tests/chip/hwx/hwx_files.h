/* The public .hwx files: eleven of tinygrad's history (MIT), all of H13. */
#ifndef TESTS_CHIP_HWX_HWX_FILES_H
#define TESTS_CHIP_HWX_HWX_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct hwx_file {
    const char *name;             /* without "tinygrad_ane_" and ".hwx" */
    const char *what, *operation; /* by eye; what the first task is called */
    size_t tasks, kernels, relocations;
} hwx_file;

enum { HWX_FILES = 11 };
extern const hwx_file hwx_files[HWX_FILES];

/* The bytes of one, to be freed; NULL if it is not there. */
uint8_t *hwx_file_read(const hwx_file *file, size_t *out_size);
/* All of any file; NULL if it is not there. */
uint8_t *hwx_bytes_read(const char *path, size_t *out_size);
/* False where the folder is absent: the test says so and is over. */
bool hwx_files_present(void);

#endif

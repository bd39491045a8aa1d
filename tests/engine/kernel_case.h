/* One MIL program, fed and read: what the kernel tests share. */
#ifndef TESTS_ENGINE_KERNEL_CASE_H
#define TESTS_ENGINE_KERNEL_CASE_H

#include "run.h"

#include <stddef.h>
#include <stdint.h>

typedef struct kernel_port {
    const char *name;
    void *data; /* read for inputs, written for outputs */
    size_t size;
} kernel_port;

/* Compiles `text` for that many threads, which all wake, and runs it once. False: the failure has been noted. */
bool kernel_run(const char *text, uint64_t threads, const kernel_port *in, size_t in_count, const kernel_port *out,
                size_t out_count);

/* The same for one input "x" and one output "y". */
bool kernel_run_one(const char *text, uint64_t threads, const void *x, size_t x_size, void *y, size_t y_size);

/* A program of one statement: parameters and body as MIL text, the output's name. */
const char *kernel_text(char *buffer, size_t size, const char *parameters, const char *body, const char *output);

/* Values in [-1, 1] that depend on the seed alone. */
float kernel_random(uint32_t *seed);

#endif

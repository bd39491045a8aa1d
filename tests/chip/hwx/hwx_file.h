/* A compiled H13 program as its bytes say, read by code of the tests' own, with the windows of its ports as memory:
 * what the interpreter is given, and what an encoder's file is looked at with. Trusts the file. */
#ifndef TESTS_CHIP_HWX_HWX_FILE_H
#define TESTS_CHIP_HWX_HWX_FILE_H

#include "chip/task/run.h"

enum { HWX_PORTS = 8 };

typedef struct hwx_port {
    const char *name;
    bool is_output;
    uint32_t extent[5];
    uint64_t stride[5];
    uint64_t address;
    size_t bytes; /* of its window */
    uint8_t *memory;
} hwx_port;

typedef struct hwx_file {
    uint8_t *data;
    size_t size;
    const uint8_t *text, *constants;
    uint8_t *own_constants; /* a copy that may be changed */
    size_t text_size, constants_size;
    uint64_t text_address, constants_address;
    uint64_t bases[MW__BASE_REGISTERS];
    mw__task_start start;
    hwx_port ports[HWX_PORTS];
    int port_count;
    mw__task_chain chain;
} hwx_file;

/* False, with a note, if it is not there or no such file. */
bool hwx_file_open(hwx_file *file, const char *path);
bool hwx_file_of(hwx_file *file, uint8_t *data, size_t size); /* takes the data */
void hwx_file_close(hwx_file *file);

/* The port of that name; NULL. */
hwx_port *hwx_file_port(hwx_file *file, const char *name);
hwx_port *hwx_file_output(hwx_file *file);
hwx_port *hwx_file_input(hwx_file *file, int index);

/* Element i, counted without padding, of a port. */
double hwx_port_get(const hwx_port *port, int64_t i);
void hwx_port_put(hwx_port *port, int64_t i, double value);
int64_t hwx_port_count(const hwx_port *port);

/* Runs all of it under a profile. */
mw_status hwx_file_run(hwx_file *file, const char *profile, mw_error *err);

#endif

/* Reading a container: the bytes, what has been read of them, and errors with the offset. */
#ifndef MW__HWX_READ_H
#define MW__HWX_READ_H

#include "chip/hwx/hwx.h"
#include "chip/hwx/layout.h"

typedef struct mw__hwx_reader {
    mw_hwx *hwx;
    const uint8_t *bytes;
    size_t size;
    uint8_t *owner; /* mw__hwx_owner of each byte */
    size_t names;   /* bytes of all symbol names so far */
    mw_error *err;
} mw__hwx_reader;

/* Says that these bytes are understood, so that they are not kept. Each byte has one meaning: a second claim is an
 * error, but strings may share their ends. */
mw_status mw__hwx_claim(mw__hwx_reader *reader, size_t at, size_t size, mw__hwx_owner owner, const char *what);
/* Reads a record that is known to be inside the file, and claims its fields. */
mw_status mw__hwx_read_layout(mw__hwx_reader *reader, size_t at, const mw__hwx_layout *layout, void *out,
                              const char *what);
/* [offset, offset + size) lies in the file. */
bool mw__hwx_inside(const mw__hwx_reader *reader, uint64_t offset, uint64_t size);

/* The state of a command, by its kind; unknown ones are left alone. */
mw_status mw__hwx_read_command(mw__hwx_reader *reader, mw__hwx_command *command);
/* Symbols, once all commands are read. */
mw_status mw__hwx_read_symbols(mw__hwx_reader *reader);
/* Ports of the thread states. */
mw_status mw__hwx_read_ports(mw__hwx_reader *reader);
/* The chain of tasks in __text. */
mw_status mw__hwx_read_tasks(mw__hwx_reader *reader);
/* What the tasks say of kernels and tables. */
mw_status mw__hwx_find_kernels(mw_hwx *hwx, mw_error *err);
/* A .ane whose payload begins there; 0: where its first task is. */
mw_status mw__hwx_read_ane(mw__hwx_reader *reader, uint64_t payload_offset);

#endif

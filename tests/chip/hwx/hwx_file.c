#include "chip/hwx/hwx_file.h"

#include "base/number/fp16.h"
#include "support/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER = 32, SEGMENT = 0x19, THREAD = 4, BINDING = 6, PAGE = 0x4000 };

static uint32_t u32(const uint8_t *at) { return at[0] | at[1] << 8 | at[2] << 16 | (uint32_t)at[3] << 24; }
static uint64_t u64(const uint8_t *at) { return u32(at) | (uint64_t)u32(at + 4) << 32; }

static void read_section(hwx_file *file, const uint8_t *at)
{
    const bool text = strcmp((const char *)at, "__text") == 0, constants = strcmp((const char *)at, "__const") == 0;
    if (u32(at + 48) == 0 || strncmp((const char *)at + 16, "__TEXT", 6) != 0)
        return;
    if (text) {
        file->text = file->data + u32(at + 48);
        file->text_size = u64(at + 40);
        file->text_address = u64(at + 32);
    } else if (constants) {
        file->constants = file->data + u32(at + 48);
        file->constants_size = u64(at + 40);
        file->constants_address = u64(at + 32);
    }
}

static void read_port(hwx_file *file, const uint8_t *at)
{
    hwx_port *port = &file->ports[file->port_count++];
    port->name = (const char *)at + u32(at + 0x7c);
    port->is_output = u32(at + 0x14) == 2;
    for (int i = 0; i < 5; i++) {
        port->extent[i] = u32(at + 0x28 + 4 * i);
        port->stride[i] = u64(at + 0x50 + 8 * i);
    }
    port->bytes = port->stride[4];
}

static void read_program(hwx_file *file, const uint8_t *at)
{
    for (int i = 0; i < MW__BASE_REGISTERS; i++)
        file->bases[i] = u64(at + 0x10 + 8 * i);
    file->start.offset = u64(at + 0x810) - file->text_address;
    file->start.words = u32(at + 0x818) + 1;
    file->start.tasks = u32(at + 0x81c);
}

static void read_command(hwx_file *file, const uint8_t *at)
{
    if (u32(at) == SEGMENT)
        for (uint32_t i = 0; i < u32(at + 64); i++)
            read_section(file, at + 72 + 80 * i);
    if (u32(at) == THREAD && u32(at + 8) == 1)
        read_program(file, at);
    if (u32(at) == THREAD && u32(at + 8) == 3 && file->port_count < HWX_PORTS)
        read_port(file, at);
}

/* Bindings stand before the ports that they are for. */
static void read_bindings(hwx_file *file)
{
    const uint8_t *at = file->data + HEADER;
    for (uint32_t i = 0; i < u32(file->data + 16); i++, at += u32(at + 4))
        for (int p = 0; u32(at) == BINDING && p < file->port_count; p++)
            if (strcmp(file->ports[p].name, (const char *)at + u32(at + 8)) == 0)
                file->ports[p].address = u32(at + 16);
}

bool hwx_file_of(hwx_file *file, uint8_t *data, size_t size)
{
    *file = (hwx_file){.data = data, .size = size};
    const uint8_t *at = data + HEADER;
    for (uint32_t i = 0; i < u32(data + 16); i++, at += u32(at + 4))
        read_command(file, at);
    read_bindings(file);
    file->own_constants = malloc(file->constants_size + 1);
    if (file->own_constants != NULL && file->constants != NULL)
        memcpy(file->own_constants, file->constants, file->constants_size);
    for (int i = 0; i < file->port_count; i++)
        file->ports[i].memory = calloc(1, file->ports[i].bytes + 1);
    mw_error err = {0};
    return check_note(mw__task_chain_read(NULL, file->text, file->text_size, &file->start, &file->chain, &err) == MW_OK,
                      __FILE__, __LINE__, "chain: %s", err.message);
}

bool hwx_file_open(hwx_file *file, const char *path)
{
    *file = (hwx_file){0};
    FILE *in = fopen(path, "rb");
    if (in == NULL)
        return false;
    fseek(in, 0, SEEK_END);
    const size_t size = (size_t)ftell(in);
    rewind(in);
    uint8_t *data = malloc(size);
    const bool whole = data != NULL && fread(data, 1, size, in) == size;
    fclose(in);
    if (whole)
        return hwx_file_of(file, data, size);
    free(data);
    return false;
}

void hwx_file_close(hwx_file *file)
{
    for (int i = 0; i < file->port_count; i++)
        free(file->ports[i].memory);
    mw__task_chain_deinit(&file->chain);
    free(file->own_constants);
    free(file->data);
    *file = (hwx_file){0};
}

hwx_port *hwx_file_port(hwx_file *file, const char *name)
{
    for (int i = 0; i < file->port_count; i++)
        if (strcmp(file->ports[i].name, name) == 0)
            return &file->ports[i];
    return NULL;
}

hwx_port *hwx_file_output(hwx_file *file)
{
    for (int i = 0; i < file->port_count; i++)
        if (file->ports[i].is_output)
            return &file->ports[i];
    return NULL;
}

hwx_port *hwx_file_input(hwx_file *file, int index)
{
    for (int i = 0; i < file->port_count; i++)
        if (!file->ports[i].is_output && index-- == 0)
            return &file->ports[i];
    return NULL;
}

int64_t hwx_port_count(const hwx_port *port)
{
    return (int64_t)port->extent[0] * port->extent[1] * port->extent[2] * port->extent[3];
}

static uint8_t *element(const hwx_port *port, int64_t i)
{
    const int64_t w = port->extent[3], h = port->extent[2], c = port->extent[1];
    return port->memory + (uint64_t)(i / (w * h * c)) * port->stride[0] +
           (uint64_t)(i / (w * h) % c) * port->stride[1] + (uint64_t)(i / w % h) * port->stride[2] +
           2 * (uint64_t)(i % w);
}

double hwx_port_get(const hwx_port *port, int64_t i)
{
    const uint8_t *at = element(port, i);
    return (double)mw__fp16_to_float((uint16_t)(at[0] | at[1] << 8));
}

void hwx_port_put(hwx_port *port, int64_t i, double value)
{
    const uint16_t half = mw__fp16_from_double(value);
    uint8_t *at = element(port, i);
    at[0] = (uint8_t)half;
    at[1] = (uint8_t)(half >> 8);
}

mw_status hwx_file_run(hwx_file *file, const char *profile, mw_error *err)
{
    mw__chip_window windows[HWX_PORTS + 1] = {{.name = "constants",
                                               .address = file->constants_address,
                                               .data = file->own_constants,
                                               .size = file->constants_size}};
    mw__chip_machine machine = {.bases = file->bases,
                                .windows = windows,
                                .window_count = (size_t)file->port_count + 1,
                                .limits = {.work = UINT64_C(1) << 32, .memory = (size_t)1 << 30}};
    for (int i = 0; i < file->port_count; i++) {
        const hwx_port *p = &file->ports[i];
        windows[1 + i] = (mw__chip_window){p->name, p->address, p->memory, p->bytes, p->is_output};
    }
    MW_TRY(mw__arithmetic_parse(profile, &machine.arithmetic, err));
    return mw__task_run_chain(&machine, &file->chain, err);
}

/* Whole programs: windows are made of the sections and ports of a container, filled from the caller's buffers, and
 * emptied into them when all tasks have run. */
#include "base/memory/live.h"
#include "base/number/float_mode.h"
#include "chip/hwx/hwx.h"
#include "chip/task/run.h"

#include <inttypes.h>
#include <millwright/chip_run.h>
#include <string.h>

enum { HALF = 5 /* the type of a port */, DEFAULT_MEMORY = 1 << 30 };

#define DEFAULT_WORK (UINT64_C(1) << 36)

typedef struct program {
    const mw_hwx *hwx;
    const mw_chip_run_options *options;
    mw__chip_machine machine;
    mw__chip_window *windows;  /* [sections + ports + base registers] */
    mw__chip_window **of_port; /* its window, by index of the port */
    uint8_t **owned;           /* [the same]; NULL: memory of the container */
    size_t count, left;        /* windows; bytes that may still be allocated */
    mw__task_chain chain;
    mw_error *err;
} program;

mw_chip_run_options mw_chip_run_defaults(void)
{
    return (mw_chip_run_options){
        .struct_size = sizeof(mw_chip_run_options), .work_limit = DEFAULT_WORK, .memory_limit = DEFAULT_MEMORY};
}

/* ---- windows ---- */

static mw__chip_window *add_window(program *p, const char *name, uint64_t address, size_t size, bool writable)
{
    if (size > p->left) {
        mw__fail(p->err, MW_ERROR_ARGUMENT,
                 "\"%s\" takes %zu bytes and %zu are left; the limit is memory_limit of the options", name, size,
                 p->left);
        return NULL;
    }
    uint8_t *data = mw__alloc(p->machine.allocator, size, 1, p->err);
    if (data == NULL)
        return NULL;
    p->left -= size;
    p->owned[p->count] = data;
    p->windows[p->count] = (mw__chip_window){name, address, data, size, writable};
    return &p->windows[p->count++];
}

/* The container's bytes are only read: the interpreter writes to no window that is not writable. */
static void lend_section(program *p, const mw__hwx_section *section)
{
    const mw__hwx_section_fields *s = &section->public;
    p->windows[p->count++] = (mw__chip_window){s->name, s->address, section->data, (size_t)s->size, false};
}

/* The section without bytes that an address lies in; NULL. */
static const mw__hwx_section_fields *find_room(const mw_hwx *hwx, uint64_t address)
{
    for (size_t i = 0; i < hwx->section_count; i++) {
        const mw__hwx_section_fields *s = &hwx->sections[i]->public;
        if (s->data == NULL && address >= s->address && address - s->address < s->size)
            return s;
    }
    return NULL;
}

static mw_status add_sections(program *p)
{
    for (size_t i = 0; i < p->hwx->section_count; i++) {
        const mw__hwx_section *section = p->hwx->sections[i];
        const mw__hwx_section_fields *s = &section->public;
        if (s->data != NULL && s->size > 0)
            lend_section(p, section);
        else if (strcmp(s->name, "__bss") == 0 && s->size > 0 &&
                 add_window(p, s->name, s->address, (size_t)s->size, true) == NULL)
            return p->err->status;
    }
    return MW_OK;
}

/* ---- ports ---- */

static const char *name_of(const mw_hwx_port *port) { return port->name != NULL ? port->name : ""; }

/* Elements of a port, and how many bytes they lie in; false if that does not fit in 64 bits. */
static bool measure_port(const mw_hwx_port *port, uint64_t *out_count, uint64_t *out_span)
{
    uint64_t count = 1, span = 2;
    for (int i = 0; i < 4; i++) {
        uint64_t further;
        if (port->extent[i] == 0 || __builtin_mul_overflow(count, port->extent[i], &count) ||
            __builtin_mul_overflow((uint64_t)port->extent[i] - 1, port->stride[i], &further) ||
            __builtin_add_overflow(span, further, &span))
            return false;
    }
    *out_count = count;
    *out_span = span;
    return count <= UINT64_MAX / 2;
}

static mw_status check_port(const program *p, const mw_hwx_port *port)
{
    uint64_t count, span;
    if (port->type != HALF || port->interleave > 1 || port->stride[3] != 2 || port->extent[4] > 1)
        return mw__fail(p->err, MW_ERROR_UNSUPPORTED,
                        "port \"%s\": type %u, interleave %u, %" PRIu64
                        " bytes from element to element, fifth extent %u; "
                        "fp16 in a row is what is run",
                        name_of(port), (unsigned)port->type, (unsigned)port->interleave, port->stride[3],
                        (unsigned)port->extent[4]);
    if (!measure_port(port, &count, &span))
        return mw__fail(p->err, MW_ERROR_FORMAT, "port \"%s\": extents and strides that no memory has", name_of(port));
    return MW_OK;
}

static uint64_t address_of(const program *p, const mw_hwx_port *port)
{
    const bool bound = port->address != 0 || port->base_register < 0 || port->base_register >= MW__BASE_REGISTERS;
    return bound ? port->address : p->machine.bases[port->base_register];
}

static mw_status add_port(program *p, size_t index)
{
    const mw_hwx_port *port = &p->hwx->ports[index];
    uint64_t count = 0, span = 0;
    MW_TRY(check_port(p, port));
    measure_port(port, &count, &span);
    const uint64_t address = address_of(p, port);
    const mw__hwx_section_fields *room = find_room(p->hwx, address);
    const uint64_t size = room != NULL ? room->size - (address - room->address) : port->stride[4];
    if (span > size)
        return mw__fail(p->err, MW_ERROR_FORMAT,
                        "port \"%s\": its elements lie in %" PRIu64 " bytes and its window has %" PRIu64, name_of(port),
                        span, size);
    p->of_port[index] = add_window(p, name_of(port), address, (size_t)size, port->is_output);
    return p->of_port[index] != NULL ? MW_OK : p->err->status;
}

/* A .ane names no scratch, but the base registers that its driver gives memory to. */
static bool is_port(const mw_hwx *hwx, int base)
{
    for (size_t i = 0; i < hwx->port_count; i++)
        if (hwx->ports[i].base_register == base)
            return true;
    return false;
}

static mw_status add_ane_scratch(program *p)
{
    enum { FIRST = 2 /* behind tasks and coefficients */ };
    for (int i = FIRST; p->hwx->ane != NULL && i < MW__BASE_REGISTERS; i++) {
        const size_t bytes = (size_t)p->hwx->ane->tiles[i] * MW__HWX_PAGE;
        if (bytes > 0 && !is_port(p->hwx, i) && add_window(p, "scratch", p->machine.bases[i], bytes, true) == NULL)
            return p->err->status;
    }
    return MW_OK;
}

/* ---- buffers ---- */

static const mw_chip_buffer *find_buffer(const mw_chip_buffer *buffers, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(buffers[i].name, name) == 0)
            return &buffers[i];
    return NULL;
}

static mw_status check_buffer(const program *p, const mw_hwx_port *port, const mw_chip_buffer *buffers, size_t count)
{
    uint64_t elements = 0, span = 0;
    const mw_chip_buffer *buffer = find_buffer(buffers, count, name_of(port));
    if (buffer == NULL || buffer->data == NULL)
        return mw__fail(p->err, MW_ERROR_ARGUMENT, "no buffer for the %s \"%s\"", port->is_output ? "output" : "input",
                        name_of(port));
    measure_port(port, &elements, &span);
    if (buffer->size != 2 * elements)
        return mw__fail(p->err, MW_ERROR_ARGUMENT,
                        "buffer \"%s\" has %zu bytes; the port is [%u, %u, %u, %u] of fp16, %" PRIu64 " bytes",
                        name_of(port), buffer->size, (unsigned)port->extent[0], (unsigned)port->extent[1],
                        (unsigned)port->extent[2], (unsigned)port->extent[3], 2 * elements);
    return MW_OK;
}

static mw_status check_buffers(const program *p, const mw_chip_buffer *buffers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (buffers[i].name == NULL)
            return mw__fail(p->err, MW_ERROR_ARGUMENT, "buffer %zu has no name", i);
    for (size_t i = 0; i < count; i++)
        if (find_buffer(buffers, i, buffers[i].name) != NULL)
            return mw__fail(p->err, MW_ERROR_ARGUMENT, "two buffers for \"%s\"", buffers[i].name);
    if (count != p->hwx->port_count)
        return mw__fail(p->err, MW_ERROR_ARGUMENT, "%zu buffers for %zu ports", count, p->hwx->port_count);
    for (size_t i = 0; i < p->hwx->port_count; i++)
        MW_TRY(check_buffer(p, &p->hwx->ports[i], buffers, count));
    return MW_OK;
}

/* Between packed rows and those of a window. */
static void move_elements(const mw_hwx_port *port, uint8_t *window, uint8_t *packed)
{
    const size_t row = 2 * (size_t)port->extent[3];
    for (uint64_t n = 0; n < port->extent[0]; n++)
        for (uint64_t c = 0; c < port->extent[1]; c++)
            for (uint64_t h = 0; h < port->extent[2]; h++, packed += row) {
                uint8_t *at = window + n * port->stride[0] + c * port->stride[1] + h * port->stride[2];
                memcpy(port->is_output ? packed : at, port->is_output ? at : packed, row);
            }
}

static void move_ports(const program *p, bool outputs, const mw_chip_buffer *buffers, size_t count)
{
    for (size_t i = 0; i < p->hwx->port_count; i++) {
        const mw_hwx_port *port = &p->hwx->ports[i];
        if (port->is_output == outputs)
            move_elements(port, p->of_port[i]->data, find_buffer(buffers, count, name_of(port))->data);
    }
}

/* ---- the program ---- */

static mw_status check_program(const program *p)
{
    const mw_hwx_info *info = &p->hwx->info;
    if (info->chip != MW_CHIP_H13 && !info->is_ane)
        return mw__fail(p->err, MW_ERROR_UNSUPPORTED, "a program for %s; registers of h13 alone are known well enough",
                        info->chip_name);
    if (p->hwx->text == NULL || p->hwx->task_count == 0 || mw__hwx_registers(p->hwx) == NULL)
        return mw__fail(p->err, MW_ERROR_UNSUPPORTED, "no tasks: %s",
                        p->hwx->task_note != NULL ? p->hwx->task_note : "nothing says where they begin");
    return MW_OK;
}

static mw_status read_tasks(program *p)
{
    const mw__hwx_section *text = p->hwx->text;
    p->chain = (mw__task_chain){.allocator = p->machine.allocator};
    p->chain.tasks = mw__alloc(p->chain.allocator, p->hwx->task_count, sizeof *p->chain.tasks, p->err);
    if (p->chain.tasks == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < p->hwx->task_count; i++) {
        const mw_hwx_task *task = &p->hwx->tasks[i].public;
        MW_TRY(mw__task_read(text->data, (size_t)text->public.size, task->offset, task->word_count, &p->chain.tasks[i],
                             p->err));
        p->chain.count++;
    }
    return MW_OK;
}

static mw_status make_windows(program *p)
{
    const size_t most = p->hwx->section_count + p->hwx->port_count + MW__BASE_REGISTERS;
    p->windows = mw__alloc(p->machine.allocator, most, sizeof *p->windows, p->err);
    p->owned = mw__alloc(p->machine.allocator, most, sizeof *p->owned, p->err);
    p->of_port = mw__alloc(p->machine.allocator, p->hwx->port_count, sizeof *p->of_port, p->err);
    if (p->windows == NULL || p->owned == NULL || p->of_port == NULL)
        return MW_ERROR_MEMORY;
    MW_TRY(add_sections(p));
    for (size_t i = 0; i < p->hwx->port_count; i++)
        MW_TRY(add_port(p, i));
    MW_TRY(add_ane_scratch(p));
    p->machine.windows = p->windows;
    p->machine.window_count = p->count;
    return MW_OK;
}

static void free_program(program *p)
{
    for (size_t i = 0; p->owned != NULL && i < p->count; i++)
        mw__free(p->machine.allocator, p->owned[i]);
    mw__free(p->machine.allocator, p->windows);
    mw__free(p->machine.allocator, p->owned);
    mw__free(p->machine.allocator, p->of_port);
    mw__task_chain_deinit(&p->chain);
}

static mw_status run_program(program *p, const mw_chip_buffer *buffers, size_t count)
{
    MW_TRY(check_program(p));
    p->machine.bases = mw__hwx_registers(p->hwx);
    MW_TRY(make_windows(p));
    MW_TRY(check_buffers(p, buffers, count));
    MW_TRY(read_tasks(p));
    move_ports(p, false, buffers, count);
    MW_TRY(mw__task_run_chain(&p->machine, &p->chain, p->err));
    move_ports(p, true, buffers, count);
    return MW_OK;
}

static mw_status set_up(program *p, mw_error *err)
{
    const mw_chip_run_options *o = p->options;
    if (o->struct_size != sizeof *o)
        return mw__fail(err, MW_ERROR_ARGUMENT, "chip run options were not made by mw_chip_run_defaults");
    p->err = err;
    p->left = o->memory_limit;
    p->machine = (mw__chip_machine){.allocator = mw__allocator_or_default(o->allocator),
                                    .limits = {.work = o->work_limit, .memory = o->memory_limit}};
    return mw__arithmetic_parse(o->profile != NULL ? o->profile : "h13", &p->machine.arithmetic, err);
}

mw_status mw_chip_run(const mw_hwx *hwx, const mw_chip_buffer *buffers, size_t count,
                      const mw_chip_run_options *options, mw_error *err)
{
    const mw_chip_run_options defaults = mw_chip_run_defaults();
    mw_error own = {0};
    program p = {.hwx = hwx, .options = options != NULL ? options : &defaults};
    MW__FLOAT_SCOPE;
    if (mw__skips(err))
        return err->status;
    if (!mw__live_has(hwx, MW__LIVE_HWX) || (buffers == NULL && count > 0))
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_chip_run: no open file, or no buffers");
    MW_TRY(set_up(&p, err != NULL ? err : &own));
    const mw_status status = run_program(&p, buffers, count);
    free_program(&p);
    return status;
}

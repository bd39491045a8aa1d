/* The .ane of the Linux driver: a header of sizes, then tasks and kernels as they stand in a .hwx. It has no names and
 * no addresses: here it gets those that the compiler would give. Sources: eiln/ane (libane, anect); allbilly/ane, whose
 * twelve files have the payload at 0x1000. */
#include "chip/hwx/read.h"
#include "chip/hwx/write.h"

#include "base/memory/checked.h"
#include "base/memory/live.h"
#include "base/number/bytes.h"
#include "base/number/integer.h"
#include "chip/task/task.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { FIRST_PORT = 4, SCRATCH = 3, SLOTS = 32, KERNEL_GRAIN = 64, PAYLOAD_MOST = 1 << 20 };

/* ---- reading ---- */

static mw_status refuse_container(mw__hwx_reader *reader, const char *why)
{
    return mw__fail(reader->err, MW_ERROR_FORMAT,
                    "this is no .hwx (its first word is 0x%08x, not 0xbeefface), and no .ane: %s",
                    mw__bytes_u32(reader->bytes), why);
}

/* Where the kernels begin in the payload: behind the tasks, at the next multiple of 64 (of 16 in older tools). */
static uint64_t kernels_at(const mw__hwx_ane *ane) { return ane->size - ane->kernel_size; }

static mw_status check_sizes(mw__hwx_reader *reader, const mw__hwx_ane *ane)
{
    if (ane->size > reader->size || ane->kernel_size > ane->size || ane->task_size == 0 || kernels_at(ane) % 16 != 0 ||
        kernels_at(ane) < ane->task_size || kernels_at(ane) - ane->task_size >= KERNEL_GRAIN)
        return refuse_container(reader, "its size is not that of its tasks and kernels");
    if (ane->first_size % 4 != 0 || ane->first_size == 0 || ane->first_size > ane->task_size ||
        ane->task_count > ane->task_size / 4)
        return refuse_container(reader, "its tasks are longer than all of them");
    if (ane->input_count > SLOTS - FIRST_PORT || ane->output_count > SLOTS - FIRST_PORT - ane->input_count)
        return refuse_container(reader, "it has more ports than slots");
    return MW_OK;
}

static bool has_task_at(const mw__hwx_reader *reader, const mw__hwx_ane *ane, uint64_t at)
{
    mw__task task;
    mw_error ignored = {0};
    return mw__hwx_inside(reader, at, ane->size) &&
           mw__task_read(reader->bytes + at, (size_t)ane->task_size, 0, ane->first_size / 4, &task, &ignored) == MW_OK;
}

static mw_status find_payload(mw__hwx_reader *reader, mw__hwx_ane *ane, uint64_t given)
{
    static const uint64_t seen[] = {0x1000, 0x800};
    ane->payload_at = given;
    if (given != 0)
        return mw__hwx_inside(reader, given, ane->size) ? MW_OK
                                                        : refuse_container(reader, "its payload ends beyond the file");
    for (size_t i = 0; i < sizeof seen / sizeof *seen; i++) {
        ane->payload_at = seen[i];
        if (has_task_at(reader, ane, seen[i]))
            return MW_OK;
    }
    return refuse_container(reader, "there is no task at 0x1000 nor at 0x800");
}

/* A section of the payload. */
static mw_status add_section(mw__hwx_reader *reader, const char *name, uint64_t at, uint64_t size, bool is_text)
{
    mw_hwx *hwx = reader->hwx;
    mw__hwx_section *section = mw__arena_alloc(&hwx->arena, 1, sizeof *section, reader->err);
    if (section == NULL)
        return MW_ERROR_MEMORY;
    snprintf(section->name, sizeof section->name, "%s", name);
    snprintf(section->segment, sizeof section->segment, "__TEXT");
    section->data = mw__arena_alloc(&hwx->arena, (size_t)size, 1, reader->err);
    if (section->data == NULL)
        return MW_ERROR_MEMORY;
    memcpy(section->data, reader->bytes + at, (size_t)size);
    section->public = (mw__hwx_section_fields){.segment = section->segment,
                                               .name = section->name,
                                               .address = MW__HWX_BASE + (at - hwx->ane->payload_at),
                                               .size = size,
                                               .offset = (uint32_t)at,
                                               .data = section->data};
    if (is_text)
        hwx->text = section;
    else
        MW_TRY(mw__hwx_claim(reader, (size_t)at, (size_t)size, MW__HWX_CONTENT, "the kernels"));
    MW_TRY(mw__grow(hwx->allocator, &hwx->sections, &hwx->section_capacity, hwx->section_count + 1,
                    sizeof *hwx->sections, reader->err));
    hwx->sections[hwx->section_count++] = section;
    return MW_OK;
}

static mw_status add_program(mw__hwx_reader *reader)
{
    mw_hwx *hwx = reader->hwx;
    const mw__hwx_ane *ane = hwx->ane;
    mw__hwx_program_state *program = mw__arena_alloc(&hwx->arena, 1, sizeof *program, reader->err);
    if (program == NULL)
        return MW_ERROR_MEMORY;
    program->first_task = program->registers[0] = MW__HWX_BASE;
    program->registers[1] = MW__HWX_BASE + kernels_at(ane);
    program->first_words = ane->first_size / 4 - 1;
    program->task_count = ane->task_count;
    program->unknown_850 = ane->task_count == 1 ? 0x11 : 7; /* as in the public files; what they are is not known */
    program->unknown_858 = ane->task_count == 1 ? 3 : 4;
    uint64_t address = MW__HWX_BASE + mw__u64_round_up(ane->size, MW__HWX_PAGE);
    for (uint32_t i = SCRATCH; i < FIRST_PORT + ane->input_count + ane->output_count; i++) {
        program->registers[i] = ane->tiles[i] > 0 ? address : 0;
        address += (uint64_t)ane->tiles[i] * MW__HWX_PAGE;
    }
    hwx->program = program;
    return MW_OK;
}

/* Registers that a task writes results to. */
static uint32_t written_registers(const mw_hwx *hwx)
{
    uint32_t written = 0;
    for (size_t i = 0; i < hwx->task_count; i++) {
        const uint32_t w8 = hwx->tasks[i].public.words[8];
        written |= (w8 >> 17 & 1) << (w8 >> 12 & 0x1F);
    }
    return written;
}

/* Compilers up to 5 have outputs first, later ones inputs: the tasks say it, if as many are written as there are. */
static uint32_t output_registers(const mw_hwx *hwx)
{
    const uint32_t ports = hwx->ane->input_count + hwx->ane->output_count;
    uint32_t written = written_registers(hwx) >> FIRST_PORT, count = 0;
    for (uint32_t i = 0; i < ports; i++)
        count += written >> i & 1;
    return count == hwx->ane->output_count ? written << FIRST_PORT
                                           : ((UINT32_C(1) << hwx->ane->output_count) - 1) << FIRST_PORT;
}

static bool describe_slot(const mw__hwx_ane *ane, uint32_t slot, mw_hwx_port *out)
{
    const uint64_t *n = ane->nchw[slot];
    uint64_t batch = 0, total = 0;
    for (size_t i = 0; i < 4; i++) {
        if (n[i] > UINT32_MAX)
            return false;
        out->extent[i] = (uint32_t)n[i];
    }
    if (__builtin_mul_overflow(n[1], n[4], &batch) || __builtin_mul_overflow(n[0], batch, &total))
        return false;
    out->extent[4] = 1;
    const uint64_t stride[] = {batch, n[4], n[5], 2, total};
    memcpy(out->stride, stride, sizeof stride);
    out->size = total;
    return true;
}

static mw_status add_port(mw__hwx_reader *reader, uint32_t slot, bool is_output, size_t number)
{
    mw_hwx *hwx = reader->hwx;
    mw_hwx_port *port = &hwx->ports[hwx->port_count++];
    char name[24];
    snprintf(name, sizeof name, "%s_%zu", is_output ? "output" : "input", number);
    *port = (mw_hwx_port){.is_output = is_output,
                          .type = 5,
                          .interleave = 1,
                          .address = hwx->program->registers[slot],
                          .base_register = (int)slot};
    port->name = port->symbol = mw__arena_string(&hwx->arena, name, strlen(name), reader->err);
    if (port->name == NULL)
        return MW_ERROR_MEMORY;
    return describe_slot(hwx->ane, slot, port) ? MW_OK
                                               : refuse_container(reader, "the extents of a port are beyond 64 bits");
}

static mw_status add_ports(mw__hwx_reader *reader)
{
    mw_hwx *hwx = reader->hwx;
    const uint32_t count = hwx->ane->input_count + hwx->ane->output_count, outputs = output_registers(hwx);
    size_t numbers[2] = {0};
    hwx->ports = mw__arena_alloc(&hwx->arena, count, sizeof *hwx->ports, reader->err);
    if (hwx->ports == NULL)
        return MW_ERROR_MEMORY;
    for (uint32_t slot = FIRST_PORT; slot < FIRST_PORT + count; slot++) {
        const bool is_output = (outputs >> slot & 1) != 0;
        MW_TRY(add_port(reader, slot, is_output, numbers[is_output]++));
    }
    return MW_OK;
}

mw_status mw__hwx_read_ane(mw__hwx_reader *reader, uint64_t payload_offset)
{
    mw_hwx *hwx = reader->hwx;
    if (reader->size < mw__hwx_layout_size(&mw__hwx_ane_layout))
        return refuse_container(reader, "it is shorter than the header of one");
    mw__hwx_ane *ane = mw__arena_alloc(&hwx->arena, 1, sizeof *ane, reader->err);
    if (ane == NULL)
        return MW_ERROR_MEMORY;
    MW_TRY(mw__hwx_read_layout(reader, 0, &mw__hwx_ane_layout, ane, "the header"));
    MW_TRY(check_sizes(reader, ane));
    MW_TRY(find_payload(reader, ane, payload_offset));
    hwx->ane = ane;
    hwx->info.is_ane = true;
    hwx->info.chip = MW_CHIP_H13;
    hwx->info.chip_name = "h13";
    hwx->version = mw__version_named(MW__VERSION_H13);
    hwx->info.task_version = hwx->version->public.version;
    hwx->info.payload_offset = ane->payload_at;
    MW_TRY(add_section(reader, "__text", ane->payload_at, ane->task_size, true));
    MW_TRY(add_section(reader, "__const", ane->payload_at + kernels_at(ane), ane->kernel_size, false));
    MW_TRY(add_program(reader));
    MW_TRY(mw__hwx_read_tasks(reader));
    return add_ports(reader);
}

/* ---- writing ---- */

mw_ane_options mw_ane_defaults(void)
{
    return (mw_ane_options){.struct_size = sizeof(mw_ane_options), .payload_offset = 0x1000};
}

static uint32_t pages(uint64_t size) { return (uint32_t)((size + MW__HWX_PAGE - 1) / MW__HWX_PAGE); }

static mw_status fill_port(mw__hwx_ane *ane, const mw_hwx_port *port, mw_error *err)
{
    if (port->base_register < FIRST_PORT || port->base_register >= SLOTS)
        return mw__fail(err, MW_ERROR_UNSUPPORTED,
                        ".ane: port \"%s\" stands in base register %d, not in one of 4 to 31", port->name,
                        port->base_register);
    uint64_t *n = ane->nchw[port->base_register];
    for (size_t i = 0; i < 4; i++)
        n[i] = port->extent[i];
    n[4] = port->stride[1];
    n[5] = port->stride[2];
    ane->tiles[port->base_register] = pages(port->stride[4]);
    ane->input_count += !port->is_output;
    ane->output_count += port->is_output;
    return MW_OK;
}

static mw_status fill_header(const mw_hwx *hwx, const mw__hwx_section *kernels, mw__hwx_ane *ane, mw_error *err)
{
    const mw__hwx_section_fields *text = &hwx->text->public;
    const mw__hwx_section *scratch = mw__hwx_section_find(hwx, "__DATA", "__bss");
    ane->task_size = text->size;
    ane->kernel_size = kernels->public.size;
    ane->size = kernels->public.address + kernels->public.size - text->address;
    ane->first_size = (hwx->program->first_words + 1) * 4;
    ane->task_count = hwx->program->task_count;
    ane->tiles[0] = pages(ane->size);
    if (scratch != NULL)
        ane->tiles[SCRATCH] = pages(scratch->public.size);
    for (size_t i = 0; i < hwx->port_count; i++)
        MW_TRY(fill_port(ane, &hwx->ports[i], err));
    return MW_OK;
}

const mw__hwx_section *mw__hwx_kernels_section(const mw_hwx *hwx, mw_error *err)
{
    const mw__hwx_section *kernels = mw__hwx_section_find(hwx, "__TEXT", "__const");
    if (hwx->info.chip == MW_CHIP_H13 && hwx->text != NULL && hwx->program != NULL && kernels != NULL &&
        kernels->data != NULL &&
        kernels->public.address == hwx->text->public.address + mw__u64_round_up(hwx->text->public.size, KERNEL_GRAIN))
        return kernels;
    mw__fail(err, MW_ERROR_UNSUPPORTED,
             "a program of H13 is needed, with kernels (__TEXT,__const) right behind its tasks; this is of %s",
             hwx->info.chip_name);
    return NULL;
}

static mw_status write_payload(const mw_hwx *hwx, const mw__hwx_section *kernels, const mw__hwx_ane *ane, void **out,
                               size_t *out_size, mw_error *err)
{
    const size_t size = (size_t)(ane->payload_at + ane->size);
    uint8_t *bytes = mw__alloc(mw__allocator_default(), size, 1, err);
    if (bytes == NULL)
        return MW_ERROR_MEMORY;
    mw__hwx_layout_write(&mw__hwx_ane_layout, ane, bytes);
    memcpy(bytes + ane->payload_at, hwx->text->data, (size_t)ane->task_size);
    memcpy(bytes + size - ane->kernel_size, kernels->data, (size_t)ane->kernel_size);
    *out = bytes;
    *out_size = size;
    return MW_OK;
}

mw_status mw_hwx_write_ane(const mw_hwx *hwx, const mw_ane_options *options, void **out, size_t *out_size,
                           mw_error *err)
{
    mw_error own = {0};
    err = err != NULL ? err : &own;
    const mw_ane_options defaults = mw_ane_defaults();
    options = options != NULL ? options : &defaults;
    if (mw__skips(err))
        return err->status;
    if (out == NULL || out_size == NULL || options->struct_size != sizeof *options)
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "mw_hwx_write_ane: out and out_size are needed, and options of mw_ane_defaults");
    *out = NULL;
    *out_size = 0;
    MW_TRY(mw__live_check(hwx, MW__LIVE_HWX, __func__, err));
    const size_t header = mw__hwx_layout_size(&mw__hwx_ane_layout);
    if (options->payload_offset < header || options->payload_offset > PAYLOAD_MOST)
        return mw__fail(err, MW_ERROR_ARGUMENT, ".ane: a payload at 0x%" PRIx64 " is not within 0x%zx to 0x%x",
                        options->payload_offset, header, PAYLOAD_MOST);
    const mw__hwx_section *kernels = mw__hwx_kernels_section(hwx, err);
    mw__hwx_ane ane = {.payload_at = options->payload_offset};
    if (kernels == NULL)
        return err->status;
    MW_TRY(fill_header(hwx, kernels, &ane, err));
    return write_payload(hwx, kernels, &ane, out, out_size, err);
}

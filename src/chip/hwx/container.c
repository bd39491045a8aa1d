/* A program as a .hwx, laid out as compiler 4 does: what a .ane lacks (addresses, commands, symbols) follows from its
 * ports, tasks and kernels. Of a .hwx of that compiler it gives the same file again, which is how its rules were found
 * and are tested. */
#include "chip/hwx/layout.h"
#include "chip/hwx/read.h"
#include "chip/hwx/write.h"

#include "base/memory/live.h"
#include "base/number/digest.h"
#include "base/number/integer.h"
#include "base/text/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    HEADER = 32,
    SEGMENT = 72,
    SECTION = 80,
    BINDING_NAME = 0x14,
    PROGRAM_NAME = 0x860,
    PORT_NAMES = 0x88,
    FIRST_TYPE = 11, /* of a port, behind the catalog */
    TYPES_OF_PORT = 5,
    NAME_MOST = 128,
    KERNELS_TIMES = 16, /* bytes of all kernels, in those of their section */
    LOOKED_AT_MOST = 1 << 26
};

static const char *const catalog[] = {
    "void:t1=1",       "int8:t2=r2;0;127",     "uint8:t3=r1;0;255", "int16:t4=r1;-32768;32767", "float16:t5=r1;2;0",
    "float:t6=r1;4;0", "raw10:t7=r1;-512;511", "lut:t8=",           "uint4:t9=r1;0;15",         "uint6:t10=r1;0;63",
};

typedef struct plan {
    const mw_hwx *from;
    const mw__hwx_section *text, *kernels;
    const char *procedure, *ident;
    const char *kernel; /* 64 digits for the names of coefficients; NULL = the file's, else a digest */
    const mw_hwx_port *windows[MW__HWX_REGISTERS]; /* inputs by their registers, then outputs */
    uint64_t addresses[MW__HWX_REGISTERS];
    size_t count, inputs;
    mw__hwx_symbol *symbols;
    size_t symbol_count, symbol_capacity;
    mw__hwx_relocation *relocations;
    size_t relocation_count, relocation_capacity;
    mw__text strings;
    size_t symbols_at, relocations_at, text_at, stored, size;
    size_t at; /* of the next load command */
    uint32_t commands;
    uint64_t kernel_bytes, looked_at;
} plan;

/* ---- windows ---- */

/* The port of a direction whose register is the least above `last`. */
static const mw_hwx_port *next_port(const mw_hwx *hwx, bool is_output, int last)
{
    const mw_hwx_port *found = NULL;
    for (size_t i = 0; i < hwx->port_count; i++) {
        const mw_hwx_port *p = &hwx->ports[i];
        if (p->is_output == is_output && p->base_register > last &&
            (found == NULL || p->base_register < found->base_register))
            found = p;
    }
    return found;
}

static mw_status place_windows(plan *p, mw_error *err)
{
    uint64_t address = p->text->public.address + p->stored;
    for (int is_output = 0; is_output < 2; is_output++)
        for (const mw_hwx_port *port = next_port(p->from, is_output != 0, -1); port != NULL;
             port = next_port(p->from, is_output != 0, port->base_register)) {
            p->addresses[p->count] = address;
            p->windows[p->count++] = port;
            p->inputs += is_output == 0;
            address += mw__u64_round_up(port->stride[4], MW__HWX_PAGE);
            if (port->stride[4] > UINT32_MAX || address > UINT32_MAX)
                return mw__fail(err, MW_ERROR_UNSUPPORTED, ".hwx: the ports do not fit in 32 bits of addresses");
        }
    if (p->count == p->from->port_count)
        return MW_OK;
    return mw__fail(err, MW_ERROR_UNSUPPORTED, ".hwx: a port has no base register, or shares it with another");
}

/* ---- symbols ---- */

static mw_status add_symbol(plan *p, const char *name, mw_hwx_symbol symbol, mw_error *err)
{
    MW_TRY(mw__grow(NULL, &p->symbols, &p->symbol_capacity, p->symbol_count + 1, sizeof *p->symbols, err));
    p->symbols[p->symbol_count++] = (mw__hwx_symbol){symbol, (uint32_t)p->strings.size};
    mw__text_append(&p->strings, name, strlen(name) + 1);
    return MW_OK;
}

/* The name that the file has for what stands at an address; false if it has none. */
static bool find_name(plan *p, uint64_t address, char *out)
{
    const mw_hwx *hwx = p->from;
    const size_t count = hwx->symtab != NULL ? hwx->symtab->symbol_count : 0;
    p->looked_at += count; /* so that many tiles and many symbols do not take long */
    for (size_t i = 0; p->looked_at < LOOKED_AT_MOST && i < count; i++) {
        const mw_hwx_symbol *s = &hwx->symbols[i].public;
        if (s->value != address || s->name[0] != 'K' || strlen(s->name) >= NAME_MOST)
            continue;
        snprintf(out, NAME_MOST, "%s", s->name);
        return true;
    }
    return false;
}

/* A digest of the bytes of its tiles, in capitals; or what was asked for. */
static void name_kernel(const plan *p, const mw__hwx_kernel *k, char out[MW__DIGEST_HEX])
{
    mw__digest digest;
    if (p->kernel != NULL) {
        snprintf(out, MW__DIGEST_HEX, "%s", p->kernel);
        return;
    }
    mw__digest_begin(&digest);
    for (size_t i = 0; i < MW__TILES; i++)
        if ((k->live >> i & 1) != 0)
            mw__digest_add(&digest, k->section->data + k->tile_at[i], k->tile_size[i]);
    mw__digest_end(&digest, out);
    for (char *c = out; *c != '\0'; c++)
        *c = (char)(*c >= 'a' && *c <= 'f' ? *c - 'a' + 'A' : *c);
}

/* Where the task has the word of that register, in bytes from the start of the section; 0 if it has not. */
static uint32_t word_at(const mw__hwx_task *task, uint32_t address)
{
    uint32_t index = 0;
    for (size_t i = 0; i < task->public.record_count; i++) {
        const mw__hwx_record *r = &task->records[i];
        if (mw__packet_find(&r->head, address, &index))
            return (uint32_t)(task->public.offset + (size_t)(r->values - task->public.words + index) * 4);
    }
    return 0;
}

static mw_status add_tile(plan *p, const mw__hwx_kernel *k, uint32_t tile, const char *digest, mw_error *err)
{
    char name[NAME_MOST];
    const uint64_t address = p->kernels->public.address + k->tile_at[tile];
    if (!find_name(p, address, name))
        snprintf(name, sizeof name, k->public.kind == MW_HWX_TABLE ? "K%s" : "K%s_ne_%u", digest, tile);
    MW_TRY(add_symbol(p, name, (mw_hwx_symbol){.type = 0x0f, .section = 2, .description = 2, .value = address}, err));
    MW_TRY(
        mw__grow(NULL, &p->relocations, &p->relocation_capacity, p->relocation_count + 1, sizeof *p->relocations, err));
    p->relocations[p->relocation_count++] =
        (mw__hwx_relocation){word_at(&p->from->tasks[k->public.task], 0x1f848 + 4 * tile), 0x05000002};
    return MW_OK;
}

static mw_status add_kernel(plan *p, const mw__hwx_kernel *k, mw_error *err)
{
    char digest[MW__DIGEST_HEX];
    p->kernel_bytes += k->public.size;
    if (k->section != p->kernels || p->kernel_bytes / KERNELS_TIMES > p->kernels->public.size)
        return mw__fail(err, MW_ERROR_UNSUPPORTED,
                        ".hwx: the kernel of task %zu is not in __const, or many share its bytes", k->public.task);
    name_kernel(p, k, digest);
    for (uint32_t i = 0; i < MW__TILES; i++)
        if ((k->live >> i & 1) != 0)
            MW_TRY(add_tile(p, k, i, digest, err));
    return MW_OK;
}

/* The type of a port: an array of arrays, each with its stride. */
static mw_status add_stab(plan *p, size_t index, mw_error *err)
{
    const mw_hwx_port *port = p->windows[index];
    const uint32_t type = FIRST_TYPE + TYPES_OF_PORT * (uint32_t)index;
    mw__text text;
    mw__text_init(&text, NULL);
    mw__text_printf(&text, "%s:t%u=", port->symbol, type);
    for (uint32_t i = 0; i < 4; i++)
        mw__text_printf(&text, "ar1;0;%u;%u=s%" PRIu64 "%c:", port->extent[i], type + 1 + i, port->stride[i],
                        "nchw"[i]);
    mw__text_printf(&text, "%u", port->type);
    mw_status status = mw__text_check(&text, err);
    if (status == MW_OK)
        status = add_symbol(p, text.data, (mw_hwx_symbol){.type = 0x20, .description = type % 32}, err);
    mw__text_deinit(&text);
    return status;
}

static mw_status add_symbols(plan *p, mw_error *err)
{
    mw__text_append(&p->strings, "", 1);
    for (size_t i = 0; i < p->from->kernel_count; i++)
        MW_TRY(add_kernel(p, &p->from->kernels[i], err));
    for (size_t i = 0; i < p->count; i++)
        MW_TRY(add_symbol(p, p->windows[i]->symbol,
                          (mw_hwx_symbol){.type = 0x0f,
                                          .section = 3 + (uint32_t)i,
                                          .description = i < p->inputs ? 2 : 0,
                                          .value = p->addresses[i]},
                          err));
    for (size_t i = 0; i < sizeof catalog / sizeof *catalog; i++)
        MW_TRY(add_symbol(p, catalog[i], (mw_hwx_symbol){.type = 0x80}, err));
    for (size_t i = 0; i < p->count; i++)
        MW_TRY(add_stab(p, i, err));
    return mw__text_check(&p->strings, err);
}

/* ---- load commands: with `out` NULL only their sizes ---- */

/* Where the next one goes; NULL where only sizes are wanted. */
static uint8_t *begin_command(plan *p, uint8_t *out, uint32_t kind, uint64_t size)
{
    uint8_t *at = out != NULL ? out + p->at : NULL;
    if (at != NULL) {
        mw__hwx_put32(at, kind);
        mw__hwx_put32(at + 4, (uint32_t)size);
    }
    p->at += (size_t)size;
    p->commands++;
    return at;
}

static void put_segment(plan *p, uint8_t *out, const mw__hwx_segment *segment)
{
    const uint32_t count = segment->public.section_count;
    uint8_t *at = begin_command(p, out, MW__HWX_CMD_SEGMENT, SEGMENT + (uint64_t)SECTION * count);
    if (at == NULL)
        return;
    mw__hwx_layout_write(&mw__hwx_segment_layout, segment, at);
    for (uint32_t i = 0; i < count; i++)
        mw__hwx_layout_write(&mw__hwx_section_layout, &segment->sections[i], at + SEGMENT + (size_t)SECTION * i);
}

static void put_text(plan *p, uint8_t *out)
{
    const bool relocated = p->relocation_count > 0;
    mw__hwx_section sections[] = {*p->text, *p->kernels};
    mw__hwx_segment segment = {.name = "__TEXT",
                               .public = {.address = p->text->public.address,
                                          .size = p->stored,
                                          .offset = p->text_at,
                                          .stored = p->stored,
                                          .most_protection = 5,
                                          .protection = 5,
                                          .section_count = 2,
                                          .flags = relocated ? 0 : 4},
                               .sections = sections};
    const uint64_t behind = p->kernels->public.address - p->text->public.address;
    sections[0].public.offset = (uint32_t)p->text_at;
    sections[0].public.alignment = 14;
    sections[0].public.relocation_offset = relocated ? (uint32_t)p->relocations_at : 0;
    sections[0].public.relocation_count = (uint32_t)p->relocation_count;
    sections[0].public.flags = relocated ? 0x128 : 0x28;
    sections[1].public.offset = (uint32_t)(p->text_at + behind);
    sections[1].public.alignment = 6;
    sections[1].public.flags = 0x26;
    put_segment(p, out, &segment);
}

static void put_window(plan *p, uint8_t *out, size_t index)
{
    const bool is_output = index >= p->inputs;
    const uint64_t size = p->windows[index]->stride[4], address = p->addresses[index];
    mw__hwx_section section = {
        .segment = "__FVMLIB",
        .public = {.address = address, .size = size, .alignment = 14, .flags = is_output ? 0x23 : 0x21}};
    snprintf(section.name, sizeof section.name, "%s", is_output ? "__data" : "__const");
    put_segment(p, out,
                &(mw__hwx_segment){.name = "__FVMLIB",
                                   .public = {.address = address,
                                              .size = mw__u64_round_up(size, MW__HWX_PAGE),
                                              .most_protection = is_output ? 2 : 1,
                                              .protection = is_output ? 2 : 1,
                                              .section_count = 1,
                                              .flags = 6},
                                   .sections = &section});
}

static void put_binding(plan *p, uint8_t *out, size_t index)
{
    const char *name = p->windows[index]->symbol;
    const size_t length = strlen(name);
    uint8_t *at = begin_command(p, out, MW__HWX_CMD_BINDING, mw__u64_round_up(BINDING_NAME + length + 1, 8));
    if (at == NULL)
        return;
    const mw__hwx_binding binding = {.name_at = BINDING_NAME, .address_32 = (uint32_t)p->addresses[index]};
    mw__hwx_layout_write(&mw__hwx_binding_layout, &binding, at);
    memcpy(at + BINDING_NAME, name, length);
}

static void put_program(plan *p, uint8_t *out)
{
    const mw__hwx_program_state *from = p->from->program;
    const size_t length = strlen(p->procedure);
    uint8_t *at = begin_command(p, out, MW__HWX_CMD_THREAD, mw__u64_round_up(PROGRAM_NAME + length + 1, 8));
    if (at == NULL)
        return;
    mw__hwx_program_state state = {.first_task = from->first_task,
                                   .first_words = from->first_words,
                                   .task_count = from->task_count,
                                   .engines = 0xffff,
                                   .name_at = PROGRAM_NAME,
                                   .unknown_850 = from->unknown_850,
                                   .unknown_858 = from->unknown_858};
    state.registers[0] = p->text->public.address;
    state.registers[1] = p->kernels->public.address;
    for (size_t i = 0; i < p->count; i++)
        state.registers[p->windows[i]->base_register] = p->addresses[i];
    mw__hwx_layout_write(&mw__hwx_thread_layout, &(mw__hwx_thread){.flavor = 1, .count = 0x214}, at);
    mw__hwx_layout_write(&mw__hwx_program_layout, &state, at);
    memcpy(at + PROGRAM_NAME, p->procedure, length);
}

/* Bytes up to the end of the last element. */
static uint64_t used_size(const mw_hwx_port *port)
{
    uint64_t used = 2;
    for (size_t i = 0; i < 4; i++)
        used += port->extent[i] > 0 ? (port->extent[i] - 1) * port->stride[i] : 0;
    return used;
}

static void put_port(plan *p, uint8_t *out, size_t index)
{
    const mw_hwx_port *port = p->windows[index];
    const uint32_t procedure = (uint32_t)strlen(p->procedure) + 1, name = (uint32_t)strlen(port->name) + 1;
    const size_t symbol = strlen(port->symbol) + 1;
    uint8_t *at =
        begin_command(p, out, MW__HWX_CMD_THREAD, mw__u64_round_up(PORT_NAMES + procedure + name + symbol, 8));
    if (at == NULL)
        return;
    mw__hwx_port_state state = {.kind = 3,
                                .direction = port->is_output ? 2 : 1,
                                .procedure_at = PORT_NAMES,
                                .tensor_at = PORT_NAMES + procedure,
                                .type = port->type,
                                .interleave = port->interleave,
                                .symbol_at = PORT_NAMES + procedure + name,
                                .size = port->is_output ? used_size(port) : port->stride[4]};
    memcpy(state.extent, port->extent, sizeof state.extent);
    memcpy(state.stride, port->stride, sizeof state.stride);
    mw__hwx_layout_write(&mw__hwx_thread_layout, &(mw__hwx_thread){.flavor = 3, .count = 0x1e}, at);
    mw__hwx_layout_write(&mw__hwx_port_layout, &state, at);
    memcpy(at + PORT_NAMES, p->procedure, procedure);
    memcpy(at + state.tensor_at, port->name, name);
    memcpy(at + state.symbol_at, port->symbol, symbol);
}

static void put_ident(plan *p, uint8_t *out)
{
    const size_t length = strlen(p->ident);
    uint8_t *at = begin_command(p, out, MW__HWX_CMD_IDENT, mw__u64_round_up(8 + length + 1, 8));
    if (at != NULL)
        memcpy(at + 8, p->ident, length);
}

static void put_commands(plan *p, uint8_t *out)
{
    p->at = HEADER;
    p->commands = 0;
    put_segment(p, out, &(mw__hwx_segment){.name = "__PAGEZERO", .public = {.size = MW__HWX_PAGE, .flags = 4}});
    put_text(p, out);
    for (size_t i = 0; i < p->count; i++)
        put_window(p, out, i);
    for (size_t i = 0; i < p->count; i++)
        put_binding(p, out, i);
    put_program(p, out);
    for (size_t i = p->inputs; i-- > 0;) /* inputs from the last one */
        put_port(p, out, i);
    for (size_t i = p->inputs; i < p->count; i++)
        put_port(p, out, i);
    put_ident(p, out);
    uint8_t *at = begin_command(p, out, MW__HWX_CMD_SYMTAB, 24);
    const mw__hwx_symtab table = {.symbol_at = (uint32_t)p->symbols_at,
                                  .symbol_count = (uint32_t)p->symbol_count,
                                  .string_at = (uint32_t)(p->symbols_at + p->symbol_count * 16),
                                  .string_size = (uint32_t)p->strings.size};
    if (at != NULL)
        mw__hwx_layout_write(&mw__hwx_symtab_layout, &table, at);
}

/* ---- the file ---- */

static void put_header(const plan *p, uint8_t *out)
{
    const uint32_t words[] = {0xbeefface, 0x80, 4, 2, p->commands, (uint32_t)(p->at - HEADER), 0x200000, 0};
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        mw__hwx_put32(out + 4 * i, words[i]);
}

static void put_rest(const plan *p, uint8_t *out)
{
    for (size_t i = 0; i < p->symbol_count; i++)
        mw__hwx_layout_write(&mw__hwx_symbol_layout, &p->symbols[i], out + p->symbols_at + 16 * i);
    memcpy(out + p->symbols_at + 16 * p->symbol_count, p->strings.data, p->strings.size);
    for (size_t i = 0; i < p->relocation_count; i++)
        mw__hwx_layout_write(&mw__hwx_relocation_layout, &p->relocations[i], out + p->relocations_at + 8 * i);
    memcpy(out + p->text_at, p->text->data, (size_t)p->text->public.size);
    memcpy(out + p->text_at + (p->kernels->public.address - p->text->public.address), p->kernels->data,
           (size_t)p->kernels->public.size);
}

static mw_status begin_plan(plan *p, const mw_hwx *hwx, const char *kernel, mw_error *err)
{
    *p = (plan){.from = hwx, .text = hwx->text, .kernel = kernel};
    mw__text_init(&p->strings, NULL);
    p->kernels = mw__hwx_kernels_section(hwx, err);
    if (p->kernels == NULL)
        return err->status;
    if (hwx->program->registers[3] != 0)
        return mw__fail(err, MW_ERROR_UNSUPPORTED,
                        ".hwx: the program has scratch memory, and no public file shows where its segment stands");
    p->procedure = hwx->info.procedure[0] != '\0' ? hwx->info.procedure : "net";
    p->ident = hwx->info.ident[0] != '\0' ? hwx->info.ident : "ANEC v1\nmillwright, of a .ane\n\t-t h13\n";
    p->stored = (size_t)mw__u64_round_up(p->kernels->public.address + p->kernels->public.size - p->text->public.address,
                                         MW__HWX_PAGE);
    return MW_OK;
}

static mw_status write_plan(plan *p, void **out, size_t *out_size, mw_error *err)
{
    MW_TRY(place_windows(p, err));
    MW_TRY(add_symbols(p, err));
    put_commands(p, NULL);
    p->symbols_at = p->at;
    p->relocations_at = (size_t)mw__u64_round_up(p->symbols_at + p->symbol_count * 16 + p->strings.size, 8);
    p->text_at = (size_t)mw__u64_round_up(p->relocations_at + p->relocation_count * 8, MW__HWX_PAGE);
    p->size = p->text_at + p->stored;
    uint8_t *bytes = mw__alloc(mw__allocator_default(), p->size, 1, err);
    if (bytes == NULL)
        return MW_ERROR_MEMORY;
    put_commands(p, bytes);
    put_header(p, bytes);
    put_rest(p, bytes);
    *out = bytes;
    *out_size = p->size;
    return MW_OK;
}

mw_status mw__hwx_lay_out(const mw_hwx *hwx, const char *kernel, void **out, size_t *out_size, mw_error *err)
{
    plan p;
    mw_status status = begin_plan(&p, hwx, kernel, err);
    if (status == MW_OK)
        status = write_plan(&p, out, out_size, err);
    mw__free(NULL, p.symbols);
    mw__free(NULL, p.relocations);
    mw__text_deinit(&p.strings);
    return status;
}

mw_status mw_hwx_write_container(const mw_hwx *hwx, void **out, size_t *out_size, mw_error *err)
{
    mw_error own = {0};
    err = err != NULL ? err : &own;
    if (mw__skips(err))
        return err->status;
    if (out == NULL || out_size == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_hwx_write_container: out and out_size are needed");
    *out = NULL;
    *out_size = 0;
    MW_TRY(mw__live_check(hwx, MW__LIVE_HWX, __func__, err));
    return mw__hwx_lay_out(hwx, NULL, out, out_size, err);
}

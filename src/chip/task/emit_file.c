/* A program of one task as a .hwx file, as compiler 4 lays it out: header, commands, symbols, strings, relocations;
 * then the section of tasks and behind it that of coefficients.
 *
 * source  files of tinygrad, byte for byte; freedomtan/coreml_to_ane_hwx for names of fields */
#include "base/digest.h"
#include "chip/task/emit.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    HEADER = 32,
    PAGE = 0x4000,
    SEGMENT = 72,
    SECTION = 80,
    COMMAND_SYMBOLS = 24,
    SYMBOL = 16,
    RELOCATION = 8,
    BASES = 256,
    STATE_NAME = 0x860, /* of the procedure, in the program's state */
    PORT_NAMES = 0x88,  /* in a port's state */
    FIRST_TYPE = 11,    /* of a port's description, behind the catalogue */
    TYPES_OF_PORT = 5
};
enum { LC_SYMBOLS = 2, LC_THREAD = 4, LC_BINDING = 6, LC_IDENT = 8, LC_SEGMENT = 0x19 };

#define VM_BASE UINT64_C(0x30000000)

static const char *const catalogue[] = {
    "void:t1=1",       "int8:t2=r2;0;127",     "uint8:t3=r1;0;255", "int16:t4=r1;-32768;32767", "float16:t5=r1;2;0",
    "float:t6=r1;4;0", "raw10:t7=r1;-512;511", "lut:t8=",           "uint4:t9=r1;0;15",         "uint6:t10=r1;0;63",
};
enum { TYPES = sizeof catalogue / sizeof *catalogue };

static uint64_t round_up(uint64_t count, uint64_t step) { return (count + step - 1) / step * step; }

/* ---- where everything is ---- */

/* Ports in the order of their windows: inputs from the last one, then the output. */
typedef struct window {
    const mw__emit_port *port;
    bool is_output;
    uint64_t address, bytes;
} window;

typedef struct plan {
    const mw__emit_operation *op;
    const mw__emit_program *program;
    const mw__emit_names *names;
    window windows[MW__EMIT_INPUTS + 1];
    int count;
    char kernel[MW__DIGEST_HEX];
    uint64_t constants_at;           /* in the section of tasks */
    uint64_t stored;                 /* bytes of both, in whole pages */
    uint64_t commands_size, symbols; /* counts */
    uint64_t symbols_at, strings_at, strings_size, relocations_at, text_at;
    mw__text strings;
} plan;

static void name_kernel(plan *p)
{
    mw__digest digest;
    if (p->names->kernel != NULL) {
        strncpy(p->kernel, p->names->kernel, sizeof p->kernel - 1);
        return;
    }
    mw__digest_begin(&digest);
    mw__digest_add(&digest, p->program->constants, p->program->constants_size);
    mw__digest_end(&digest, p->kernel);
    for (char *c = p->kernel; *c != '\0'; c++)
        *c = (char)(*c >= 'a' && *c <= 'f' ? *c - 'a' + 'A' : *c);
}

static void place_windows(plan *p)
{
    uint64_t address = VM_BASE + p->stored;
    for (int i = 0; i < p->count; i++) {
        const bool is_output = i == p->count - 1;
        const mw__emit_port *port = is_output ? &p->op->output : &p->op->inputs[p->op->input_count - 1 - i];
        p->windows[i] = (window){port, is_output, address, (uint64_t)mw__emit_bytes(&port->extent)};
        address += round_up(p->windows[i].bytes, PAGE);
    }
}

/* ---- strings ---- */

static uint64_t add_string(plan *p, const char *text)
{
    const uint64_t at = p->strings.size;
    mw__text_append(&p->strings, text, strlen(text) + 1);
    return at;
}

static void kernel_symbol(const plan *p, unsigned tile, char *out, size_t size)
{
    if (p->program->is_table)
        snprintf(out, size, "K%s", p->kernel);
    else
        snprintf(out, size, "K%s_ne_%u", p->kernel, tile);
}

/* A port's description: an array of arrays, from the batch to the elements, each with its stride. */
static void describe_port(mw__text *out, const mw__emit_port *port, unsigned type)
{
    const mw__emit_extent *e = &port->extent;
    const int64_t extent[4] = {1, e->c, e->h, e->w};
    const int64_t stride[4] = {mw__emit_bytes(e), mw__emit_plane(e), mw__emit_row(e), 2};
    mw__text_printf(out, "%s:t%u=", port->name, type);
    for (unsigned i = 0; i < 4; i++)
        mw__text_printf(out, "ar1;0;%" PRId64 ";%u=s%" PRId64 "%c:", extent[i], type + 1 + i, stride[i], "nchw"[i]);
    mw__text_puts(out, "5");
}

/* ---- bytes ---- */

static void u16(mw__text *out, uint64_t v)
{
    const char bytes[2] = {(char)(v & 0xff), (char)(v >> 8 & 0xff)};
    mw__text_append(out, bytes, sizeof bytes);
}

static void u32(mw__text *out, uint64_t v)
{
    u16(out, v);
    u16(out, v >> 16);
}

static void u64(mw__text *out, uint64_t v)
{
    u32(out, v);
    u32(out, v >> 32);
}

static void zeros(mw__text *out, uint64_t count)
{
    static const char none[64];
    for (; count > 0 && !out->failed; count -= count < sizeof none ? count : sizeof none)
        mw__text_append(out, none, count < sizeof none ? (size_t)count : sizeof none);
}

static void pad_to(mw__text *out, uint64_t size)
{
    if (size > out->size)
        zeros(out, size - out->size);
}

/* Text, its end, and zeros up to `size` bytes. */
static void padded(mw__text *out, const char *text, uint64_t size)
{
    const size_t length = strlen(text);
    mw__text_append(out, text, length);
    zeros(out, size - length);
}

/* ---- segments ---- */

typedef struct segment {
    const char *name;
    uint64_t address, size, at, stored;
    unsigned protection, sections, flags;
} segment;

static void put_segment(mw__text *out, const segment *s)
{
    u32(out, LC_SEGMENT);
    u32(out, SEGMENT + s->sections * SECTION);
    padded(out, s->name, 16);
    u64(out, s->address);
    u64(out, s->size);
    u64(out, s->at);
    u64(out, s->stored);
    u32(out, s->protection);
    u32(out, s->protection);
    u32(out, s->sections);
    u32(out, s->flags);
}

typedef struct section {
    const char *name, *segment;
    uint64_t address, size, at;
    unsigned alignment;
    uint64_t relocations_at, relocations;
    unsigned flags;
} section;

static void put_section(mw__text *out, const section *s)
{
    padded(out, s->name, 16);
    padded(out, s->segment, 16);
    u64(out, s->address);
    u64(out, s->size);
    u32(out, s->at);
    u32(out, s->alignment);
    u32(out, s->relocations_at);
    u32(out, s->relocations);
    u32(out, s->flags);
    zeros(out, 12);
}

static void put_text_segment(const plan *p, mw__text *out)
{
    const unsigned relocated = p->program->tiles > 0;
    put_segment(out, &(segment){"__TEXT", VM_BASE, p->stored, p->text_at, p->stored, 5, 2, relocated ? 0 : 4});
    put_section(out, &(section){.name = "__text",
                                .segment = "__TEXT",
                                .address = VM_BASE,
                                .size = p->program->text_size,
                                .at = p->text_at,
                                .alignment = 14,
                                .relocations_at = relocated ? p->relocations_at : 0,
                                .relocations = p->program->tiles,
                                .flags = relocated ? 0x128 : 0x28});
    put_section(out, &(section){.name = "__const",
                                .segment = "__TEXT",
                                .address = VM_BASE + p->constants_at,
                                .size = p->program->constants_size,
                                .at = p->text_at + p->constants_at,
                                .alignment = 6,
                                .flags = 0x26});
}

static void put_segments(const plan *p, mw__text *out)
{
    put_segment(out, &(segment){"__PAGEZERO", 0, PAGE, 0, 0, 0, 0, 4});
    put_text_segment(p, out);
    for (int i = 0; i < p->count; i++) {
        const window *w = &p->windows[i];
        put_segment(out,
                    &(segment){"__FVMLIB", w->address, round_up(w->bytes, PAGE), 0, 0, w->is_output ? 2 : 1, 1, 6});
        put_section(out, &(section){.name = w->is_output ? "__data" : "__const",
                                    .segment = "__FVMLIB",
                                    .address = w->address,
                                    .size = w->bytes,
                                    .alignment = 14,
                                    .flags = w->is_output ? 0x23 : 0x21});
    }
}

/* ---- bindings and states ---- */

static void put_bindings(const plan *p, mw__text *out)
{
    enum { NAME = 0x14 };
    for (int i = 0; i < p->count; i++) {
        const char *name = p->windows[i].port->name;
        const uint64_t size = round_up(NAME + strlen(name) + 1, 8);
        u32(out, LC_BINDING);
        u32(out, size);
        u32(out, NAME);
        u32(out, 0);
        u32(out, p->windows[i].address);
        padded(out, name, size - NAME);
    }
}

static void put_bases(const plan *p, mw__text *out)
{
    uint64_t bases[BASES] = {VM_BASE, VM_BASE + p->constants_at};
    for (int i = 0; i < p->count; i++)
        bases[p->windows[i].is_output ? MW__EMIT_BASE_OUTPUT : MW__EMIT_BASE_OUTPUT + 1 + i] = p->windows[i].address;
    for (int i = 0; i < BASES; i++)
        u64(out, bases[i]);
}

/* The words at 0x850 and 0x858 are those of the files; what they are is not known. */
static void put_program(const plan *p, mw__text *out)
{
    const uint64_t start = out->size, size = round_up(STATE_NAME + strlen(p->names->procedure) + 1, 8);
    u32(out, LC_THREAD);
    u32(out, size);
    u32(out, 1);
    u32(out, 0x214);
    put_bases(p, out);
    u64(out, VM_BASE);
    u32(out, MW__EMIT_WORDS - 1);
    u32(out, p->program->tasks);
    u32(out, 0);
    u32(out, 0xffff);
    pad_to(out, start + 0x83c);
    u32(out, STATE_NAME);
    pad_to(out, start + 0x850);
    u32(out, p->program->tasks == 1 ? 0x11 : 7);
    u32(out, 0);
    u32(out, p->program->tasks == 1 ? 3 : 4);
    u32(out, 0);
    padded(out, p->names->procedure, size - STATE_NAME);
}

static void put_port_shape(const mw__emit_extent *e, mw__text *out)
{
    u32(out, 5); /* fp16 */
    u32(out, 1);
    u32(out, (uint64_t)e->c);
    u32(out, (uint64_t)e->h);
    u32(out, (uint64_t)e->w);
    u32(out, 1);
    zeros(out, 20);
    u64(out, (uint64_t)mw__emit_bytes(e));
    u64(out, (uint64_t)mw__emit_plane(e));
    u64(out, (uint64_t)mw__emit_row(e));
    u64(out, 2);
    u64(out, (uint64_t)mw__emit_bytes(e));
}

static void put_port(const plan *p, const mw__emit_port *port, bool is_output, mw__text *out)
{
    const mw__emit_extent *e = &port->extent;
    const size_t procedure = strlen(p->names->procedure) + 1, name = strlen(port->name) + 1;
    const uint64_t size = round_up(PORT_NAMES + procedure + 2 * name, 8);
    const int64_t end = (e->c - 1) * mw__emit_plane(e) + (e->h - 1) * mw__emit_row(e) + 2 * e->w;
    u32(out, LC_THREAD);
    u32(out, size);
    u32(out, 3);
    u32(out, 0x1e);
    u32(out, 3);
    u32(out, is_output ? 2 : 1);
    u64(out, PORT_NAMES);
    u32(out, PORT_NAMES + procedure);
    put_port_shape(e, out);
    u32(out, 1); /* interleave */
    u32(out, PORT_NAMES + procedure + name);
    u64(out, (uint64_t)(is_output ? end : mw__emit_bytes(e)));
    mw__text_append(out, p->names->procedure, procedure);
    mw__text_append(out, port->name, name);
    padded(out, port->name, size - PORT_NAMES - procedure - name);
}

static void put_ports(const plan *p, mw__text *out)
{
    for (int i = 0; i < p->op->input_count; i++)
        put_port(p, &p->op->inputs[i], false, out);
    put_port(p, &p->op->output, true, out);
}

static void put_ident(const plan *p, mw__text *out)
{
    const uint64_t size = round_up(8 + strlen(p->names->ident) + 1, 8);
    u32(out, LC_IDENT);
    u32(out, size);
    padded(out, p->names->ident, size - 8);
}

static void put_symbol_table(const plan *p, mw__text *out)
{
    u32(out, LC_SYMBOLS);
    u32(out, COMMAND_SYMBOLS);
    u32(out, p->symbols_at);
    u32(out, p->symbols);
    u32(out, p->strings_at);
    u32(out, p->strings_size);
}

static void put_commands(const plan *p, mw__text *out)
{
    put_segments(p, out);
    put_bindings(p, out);
    put_program(p, out);
    put_ports(p, out);
    put_ident(p, out);
    put_symbol_table(p, out);
}

/* ---- symbols ---- */

typedef struct symbol {
    unsigned type, section, description;
    uint64_t value;
} symbol;

static void put_symbol(plan *p, mw__text *out, const char *name, const symbol *s)
{
    const char kind[2] = {(char)s->type, (char)s->section};
    u32(out, add_string(p, name));
    mw__text_append(out, kind, sizeof kind);
    u16(out, s->description);
    u64(out, s->value);
}

static void put_kernel_symbols(plan *p, mw__text *out)
{
    for (unsigned t = 0; t < p->program->tiles; t++) {
        char name[MW__DIGEST_HEX + 16] = {0};
        kernel_symbol(p, t, name, sizeof name);
        put_symbol(p, out, name, &(symbol){0x0f, 2, 2, VM_BASE + p->constants_at + p->program->tile_at[t]});
    }
}

static void put_descriptions(plan *p, mw__text *out)
{
    for (int i = 0; i < p->count; i++) {
        const unsigned type = FIRST_TYPE + TYPES_OF_PORT * (unsigned)i;
        mw__text text;
        mw__text_init(&text, out->allocator);
        describe_port(&text, p->windows[i].port, type);
        out->failed = out->failed || text.failed;
        put_symbol(p, out, text.data != NULL ? text.data : "", &(symbol){0x20, 0, type % 32, 0});
        mw__text_deinit(&text);
    }
}

static void put_symbols(plan *p, mw__text *out)
{
    enum { FIRST_WINDOW = 3 }; /* sections are counted from 1: tasks, coefficients, windows */
    mw__text_append(&p->strings, "", 1);
    put_kernel_symbols(p, out);
    for (int i = 0; i < p->count; i++)
        put_symbol(p, out, p->windows[i].port->name,
                   &(symbol){0x0f, FIRST_WINDOW + (unsigned)i, p->windows[i].is_output ? 0 : 2, p->windows[i].address});
    for (int i = 0; i < TYPES; i++)
        put_symbol(p, out, catalogue[i], &(symbol){0x80, 0, 0, 0});
    put_descriptions(p, out);
}

/* The words of the task that hold places of coefficients: section 2, of four bytes. */
static void put_relocations(const plan *p, mw__text *out)
{
    enum { FIRST = 0x74, SECTION_2_LONG = 0x05000002 };
    for (unsigned t = 0; t < p->program->tiles; t++) {
        u32(out, FIRST + 4 * t);
        u32(out, SECTION_2_LONG);
    }
}

/* ---- the file ---- */

static void put_header(const plan *p, mw__text *out)
{
    u32(out, 0xbeefface);
    u32(out, 0x80);
    u32(out, 4); /* H13 */
    u32(out, 2);
    u32(out, (uint64_t)(2 + p->count + p->count + 1 + p->count + 2));
    u32(out, p->commands_size);
    u32(out, 0x200000);
    u32(out, 0);
}

static void lay_out(plan *p, const mw__text *commands, const mw__text *symbols)
{
    p->commands_size = commands->size;
    p->symbols = symbols->size / SYMBOL;
    p->symbols_at = HEADER + commands->size;
    p->strings_at = p->symbols_at + symbols->size;
    p->strings_size = p->strings.size;
    p->relocations_at = round_up(p->strings_at + p->strings_size, RELOCATION);
    p->text_at = round_up(p->relocations_at + p->program->tiles * RELOCATION, PAGE);
}

static void put_file(const plan *p, const mw__text *commands, const mw__text *symbols, mw__text *out)
{
    put_header(p, out);
    mw__text_append(out, commands->data, commands->size);
    mw__text_append(out, symbols->data, symbols->size);
    mw__text_append(out, p->strings.data, p->strings.size);
    pad_to(out, p->relocations_at);
    put_relocations(p, out);
    pad_to(out, p->text_at);
    mw__text_append(out, (const char *)p->program->text, p->program->text_size);
    pad_to(out, p->text_at + p->constants_at);
    mw__text_append(out, (const char *)p->program->constants, p->program->constants_size);
    pad_to(out, p->text_at + p->stored);
}

/* Commands say where symbols and sections are, which depends on their own length: they are written twice. */
void mw__emit_file(const mw__emit_operation *op, const mw__emit_program *program, const mw__emit_names *names,
                   mw__text *out)
{
    plan p = {.op = op, .program = program, .names = names, .count = op->input_count + 1};
    mw__text commands, symbols;
    mw__text_init(&commands, out->allocator);
    mw__text_init(&symbols, out->allocator);
    mw__text_init(&p.strings, out->allocator);
    p.constants_at = round_up(program->text_size, MW__TILE_ALIGNMENT);
    p.stored = round_up(p.constants_at + program->constants_size, PAGE);
    name_kernel(&p);
    place_windows(&p);
    put_symbols(&p, &symbols);
    put_commands(&p, &commands);
    lay_out(&p, &commands, &symbols);
    commands.size = 0;
    put_commands(&p, &commands);
    out->failed = out->failed || commands.failed || symbols.failed || p.strings.failed;
    if (!out->failed)
        put_file(&p, &commands, &symbols, out);
    mw__text_deinit(&commands);
    mw__text_deinit(&symbols);
    mw__text_deinit(&p.strings);
}

/* A container as it is held: its fields, and for what has none its bytes. Whoever wants the program of the engine needs
 * mw__hwx_registers, mw__hwx_bytes_at and the tasks (<millwright/hwx.h>) with their records. */
#ifndef MW__HWX_H
#define MW__HWX_H

#include "base/memory/alloc.h"
#include "chip/task/coefficients.h"
#include "chip/task/packets.h"

#include <millwright/hwx.h>

enum { MW__HWX_REGISTERS = 256, MW__HWX_PAGE = 0x4000 };

#define MW__HWX_BASE UINT64_C(0x30000000) /* where the engine's memory begins */

typedef enum mw__hwx_kind {
    MW__HWX_CMD_SYMTAB = 0x02,
    MW__HWX_CMD_THREAD = 0x04,
    MW__HWX_CMD_BINDING = 0x06,
    MW__HWX_CMD_IDENT = 0x08,
    MW__HWX_CMD_SEGMENT = 0x19,
    MW__HWX_CMD_NOTE = 0x31,
    MW__HWX_CMD_BINDING_64 = 0x40
} mw__hwx_kind;

/* Registers that a task writes. */
typedef struct mw__hwx_record {
    mw__packet head;
    const uint32_t *values; /* within the words of the task */
} mw__hwx_record;

typedef struct mw__hwx_task {
    mw_hwx_task public;
    uint32_t header_count; /* words before the records */
    size_t recorded;       /* words up to the end of the last record */
    size_t missing;        /* words that the task has and the words alone have not */
    const mw__hwx_record *records;
} mw__hwx_task;

/* A load command, whether known or not. */
typedef struct mw__hwx_command_fields {
    uint32_t kind;    /* 0x19 .. */
    const char *name; /* "segment", "thread", ..; "unknown" */
    size_t offset;    /* in the file */
    size_t size;
} mw__hwx_command_fields;

typedef struct mw__hwx_section_fields {
    const char *segment, *name;
    uint64_t address, size;
    uint32_t offset, alignment, relocation_offset, relocation_count, flags;
    const void *data; /* `size` bytes; NULL if the file has none of it */
} mw__hwx_section_fields;

/* What is known of a load command stands in `state`, of the type that `kind` has. */
typedef struct mw__hwx_command {
    mw__hwx_command_fields public;
    void *state; /* NULL: all of it is kept as bytes */
} mw__hwx_command;

typedef struct mw__hwx_section {
    mw__hwx_section_fields public;
    char name[17], segment[17];
    uint32_t reserved[3];
    uint8_t *data; /* = public.data */
    struct mw__hwx_relocation *relocations;
} mw__hwx_section;

typedef struct mw__hwx_segment {
    mw_hwx_segment public;
    char name[17];
    mw__hwx_section *sections;
} mw__hwx_segment;

typedef struct mw__hwx_relocation {
    uint32_t address, info;
} mw__hwx_relocation;

/* A string of a command or of the string table, and where it stands there. */
typedef struct mw__hwx_string {
    uint32_t at;
    const char *text; /* NULL: there is none */
} mw__hwx_string;

/* 0x06 and 0x40 */
typedef struct mw__hwx_binding {
    uint32_t name_at, reserved, address_32;
    uint64_t address; /* = address_32 in 0x06 */
    mw__hwx_string name;
} mw__hwx_binding;

/* Flavor 1: where the program stands. */
typedef struct mw__hwx_program_state {
    uint64_t registers[MW__HWX_REGISTERS];
    uint64_t first_task;
    uint32_t first_words, task_count, engine, engines; /* first_words: less one */
    uint32_t name_at, scratch, unknown_850, unknown_858;
    bool has_note;       /* compilers from 7 on */
    uint64_t note_count; /* the first is read */
    uint32_t note_tag, note_size;
    uint64_t note_value;
} mw__hwx_program_state;

/* Flavor 3: a port. */
typedef struct mw__hwx_port_state {
    uint32_t kind, direction, procedure_at, tensor_at, type, extent[5];
    uint64_t stride[5];
    uint32_t interleave, symbol_at;
    uint64_t size;
} mw__hwx_port_state;

/* Flavor 4: a segment of the program, on H17. */
typedef struct mw__hwx_segment_state {
    uint64_t registers[MW__HWX_REGISTERS];
    uint64_t address, section;
    uint32_t header_size, word_count, id, first_task, task_count, next_count, next[2], engine, engines;
} mw__hwx_segment_state;

typedef struct mw__hwx_thread {
    uint32_t flavor, count;
    mw__hwx_program_state *program; /* one of these, by the flavor; or none */
    mw__hwx_port_state *port;
    mw__hwx_segment_state *segment;
    mw__hwx_string procedure, tensor, symbol;
} mw__hwx_thread;

/* 0x08 */
typedef struct mw__hwx_ident {
    mw__hwx_string text;
} mw__hwx_ident;

/* 0x31 */
typedef struct mw__hwx_note {
    char name[17];
    uint64_t at, size;
    uint8_t *data; /* `size` bytes of the command */
} mw__hwx_note;

typedef struct mw__hwx_symbol {
    mw_hwx_symbol public;
    uint32_t name_at; /* in the string table */
} mw__hwx_symbol;

/* 0x02 */
typedef struct mw__hwx_symtab {
    uint32_t symbol_at, symbol_count, string_at, string_size;
} mw__hwx_symtab;

/* The tiles of a kernel: where the DMA of each engine reads. */
typedef struct mw__hwx_kernel {
    mw_hwx_kernel public;
    mw__hwx_section *section;
    mw__coefficient_layout layout;
    uint32_t live;                     /* bit of each engine that has a tile */
    size_t tile_at[16], tile_size[16]; /* in the section */
} mw__hwx_kernel;

/* What is known of the bytes of a file, for the statistics and against two claims on one byte. */
typedef enum mw__hwx_owner {
    MW__HWX_FREE = 0,
    MW__HWX_FIELD, /* a number or name */
    MW__HWX_STRING,
    MW__HWX_TASK,
    MW__HWX_CONTENT /* of a section: weights, tables, and what is in others */
} mw__hwx_owner;

typedef struct mw__hwx_coverage {
    size_t fields, strings, tasks, contents, zeros, kept; /* kept: bytes that are not 0 and not understood */
} mw__hwx_coverage;

/* The header of a .ane. */
typedef struct mw__hwx_ane {
    uint64_t size;
    uint32_t first_size, task_count;
    uint64_t task_size, kernel_size;
    uint32_t input_count, output_count;
    uint32_t tiles[32];
    uint64_t nchw[32][6]; /* N, C, H, W, stride of a plane, of a row */
    uint64_t payload_at;
} mw__hwx_ane;

struct mw_hwx {
    const mw_allocator *allocator;
    mw__arena arena;
    size_t size;
    uint8_t *kept; /* the file, 0 where its fields and contents are */
    mw_hwx_info info;
    const mw__version_row *version; /* NULL: no source names the subtype */
    uint32_t magic, command_count, command_size, reserved;
    mw__hwx_ane *ane;
    mw__hwx_command *commands;
    size_t segment_count;
    mw__hwx_section **sections; /* of all segments; freed by itself */
    size_t section_count, section_capacity;
    mw__hwx_section *text; /* the one with tasks */
    mw_hwx_port *ports;
    size_t port_count;
    const mw__hwx_symtab *symtab;
    mw__hwx_symbol *symbols;
    char *strings; /* the string table and a NUL */
    const mw__hwx_program_state *program;
    const mw__hwx_segment_state *segment_program;
    mw__hwx_task *tasks;
    size_t task_count;
    const char *task_note; /* why there are none, or no more of them; NULL if all are read */
    mw__hwx_kernel *kernels;
    size_t kernel_count;
    mw__hwx_coverage coverage;
};

/* Reads a file; payload_offset is of a .ane, 0 = where its first task is. */
mw_hwx *mw__hwx_read(const void *data, size_t size, uint64_t payload_offset, const mw_allocator *allocator,
                     mw_error *err);
/* Section by names; NULL if there is none. */
mw__hwx_section *mw__hwx_section_find(const mw_hwx *hwx, const char *segment, const char *name);
/* Base-address registers, MW__HWX_REGISTERS of them; NULL if the file has no program state. For a .ane those that its
 * driver would set. */
const uint64_t *mw__hwx_registers(const mw_hwx *hwx);
/* The bytes of the file that stand at an address of the engine, and how many follow in the section; NULL if none do. */
const uint8_t *mw__hwx_bytes_at(const mw_hwx *hwx, uint64_t address, size_t *out_size);
/* Task by index; NULL beyond the last. */
const mw__hwx_task *mw__hwx_task_at(const mw_hwx *hwx, size_t index);
/* What a task writes to a register; false if it does not. */
bool mw__hwx_task_register(const mw__hwx_task *task, uint32_t address, uint32_t *out);
/* The same; 0 where the task does not write it. */
uint32_t mw__hwx_task_value(const mw__hwx_task *task, uint32_t address);

#endif

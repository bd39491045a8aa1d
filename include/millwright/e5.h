/* E5 dispatch descriptors: what Apple's runtime reads before it runs a compiled network. Which buffers are cast, which
 * inference runs, what is cast back.
 *
 *     mw_e5 *e5 = mw_e5_create(graph, NULL, &err);   // what a descriptor of this graph would say
 *     char *text = mw_e5_text(e5, &err);
 *     puts(text);
 *     mw_string_free(text);
 *     mw_e5_write(e5, "model.e5", &err);
 *     mw_e5_destroy(e5);
 *
 * Unverified. No real descriptor is public beyond its first 24 bytes, which ours have too. Known are the four fields of
 * the root table, the names of the tables below it, the twelve kinds of operations, the eleven element types and the
 * fields of the tensor record (ane-guide). In which order the fields of the tables below stand is our choice
 * (docs/e5.md lists it), so nothing that is written here has been loaded by Apple's runtime. A file in another order is
 * read as far as it goes, and what is not understood stands in `notes`.
 *
 * Files are untrusted: every offset is checked before it is followed, tables and vectors may not overlap, and reading
 * allocates at most 64 times the size of the file and 64 KiB.
 *
 * In libmillwright_chip (<millwright/chip_all.h>).
 *
 * Threads: a descriptor does not change: any number of threads may read it at the same time. mw_e5_create reads the
 * graph as mw_program_create does. */
#ifndef MILLWRIGHT_E5_H
#define MILLWRIGHT_E5_H

#include <millwright/description.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Kinds of operations, by the order in which their serializers are listed: membership is known, the numbers are
 *  inferred. */
typedef enum mw_e5_kind {
    MW_E5_CAST = 0,
    MW_E5_ANE_INFERENCE,
    MW_E5_EIR_INFERENCE,
    MW_E5_CPU_INFERENCE,
    MW_E5_BNNS_CPU_INFERENCE,
    MW_E5_MLC_CPU_INFERENCE,
    MW_E5_MPS_GRAPH_INFERENCE,
    MW_E5_MINIMAL_CPU,
    MW_E5_QUANT,
    MW_E5_DEQUANT,
    MW_E5_BARRIER,
    MW_E5_JIT_CALL
} mw_e5_kind;

/** Element types of operands, by their codes. */
typedef enum mw_e5_element {
    MW_E5_INT4 = 0,
    MW_E5_UINT8,
    MW_E5_INT8,
    MW_E5_FLOAT16,
    MW_E5_FLOAT32,
    MW_E5_INT16,
    MW_E5_UINT16,
    MW_E5_INT32,
    MW_E5_UINT32,
    MW_E5_INT64,
    MW_E5_UINT64
} mw_e5_element;

/** "AneInference" of MW_E5_ANE_INFERENCE; NULL of a number that is none. */
MW_API const char *mw_e5_kind_name(int kind);
/** "float16" of MW_E5_FLOAT16; NULL of a number that is none. */
MW_API const char *mw_e5_element_name(int element);

/** How an operand lies in memory: the record as the runtime has it, without its two pointers. Strides in bytes. Which
 *  axis `dim[0]` is, the documents do not say; ours is the innermost. */
typedef struct mw_e5_layout {
    uint64_t dim[4], stride[4]; /* width, height, channels, batch */
    uint64_t width, height, channels, batch_number, sequence_length;
    uint64_t stride_width, stride_height, stride_channels, stride_batch_number, stride_sequence_length;
    int32_t storage_type; /* an mw_e5_element, or a number that is none */
} mw_e5_layout;

typedef struct mw_e5_operand {
    const char *symbol; /* what is bound to it */
    bool is_output;
    mw_e5_layout layout;
} mw_e5_operand;

typedef struct mw_e5_operation {
    const char *name; /* "Op1_AneInference" */
    int kind;         /* an mw_e5_kind */
    size_t operand_count;
    const mw_e5_operand *operands;
    int from, to;          /* CAST: element types */
    const char *procedure; /* ANE_INFERENCE: in the container; else NULL */
    const char *container; /* ANE_INFERENCE: its file; else NULL */
    uint32_t segment;      /* ANE_INFERENCE: which cut, from 0 */
} mw_e5_operation;

/** A port that the caller binds. */
typedef struct mw_e5_port {
    const char *symbol;
    bool is_output;
    mw_e5_layout layout; /* as the host sees it */
} mw_e5_port;

/** A name for a place in another symbol. */
typedef struct mw_e5_alias {
    const char *name;
    const char *symbol;
    uint32_t offset; /* bytes */
} mw_e5_alias;

typedef struct mw_e5_section {
    const char *name;
    const void *data; /* a FlatBuffer of its own */
    size_t size;
} mw_e5_section;

/** What a descriptor says. */
typedef struct mw_e5_program {
    int32_t format_version; /* 4 */
    size_t symbol_count;
    const char *const *symbols;
    size_t build_info_count;
    const mw_text_pair *build_info;
    size_t section_count;
    const mw_e5_section *sections;
    const char *function; /* its name; NULL if there is none that is understood */
    size_t port_count;
    const mw_e5_port *ports;
    size_t alias_count;
    const mw_e5_alias *aliases;
    size_t operation_count;
    const mw_e5_operation *operations;
    size_t note_count; /* what was not understood; 0 of what this library wrote */
    const char *const *notes;
} mw_e5_program;

typedef struct mw_e5 mw_e5;

/** Reads a descriptor from a file.
 *  allocator  of the result; NULL = the C library's heap
 *  return     owned by the caller; NULL with err set
 *  errors     MW_ERROR_FILE; MW_ERROR_FORMAT, with the offset, for what is no FlatBuffer with the root that is known.
 *             What lies below the root and has another form is a note, not an error */
MW_API mw_e5 *mw_e5_open(const char *path, const mw_allocator *allocator, mw_error *err);
/** Reads a descriptor from bytes in memory, which are copied; as mw_e5_open. */
MW_API mw_e5 *mw_e5_parse(const void *data, size_t size, const mw_allocator *allocator, mw_error *err);
/** Frees it; twice as mw_trainer_destroy. NULL is fine. */
MW_API void mw_e5_destroy(mw_e5 *e5);

/** What it says; lives as long as it does. NULL for NULL. */
MW_API const mw_e5_program *mw_e5_program_of(const mw_e5 *e5);

/** How a descriptor is made of a graph. Fill with mw_e5_defaults. Pointers are read during the call only. */
typedef struct mw_e5_options {
    size_t struct_size;
    const mw_allocator *allocator; /* of the result; NULL = the C library's heap */
    const char *function;          /* NULL = "main", or the only one */
    const char *container;         /* the file with the tasks; default "model.hwx" */
    const char *const *bridges;    /* operations that are a segment of their own; default: those that ANEForge calls
                                    * bridges, as far as MIL has them (docs/e5.md) */
    size_t bridge_count;
    uint64_t row_bytes;   /* rows of the engine's layout begin at multiples; default 64 (tinygrad's containers) */
    const char *compiler; /* of the build info; default "millwright" */
    const char *source;   /* of the build info; default "model.mil" */
} mw_e5_options;

/** Returns the default options. */
MW_API mw_e5_options mw_e5_defaults(void);

/** Makes the descriptor of a function: a cast for each input, one inference for each segment, a cast for each output. A
 *  parameter or state is an input; a state that is assigned (mw_state_assign) is an output as well. Segments are cut
 *  where an operation is a bridge. Constants, and what follows from them alone, are in the container.
 *  return   owned by the caller; NULL with err set
 *  errors   the graph's own first error; MW_ERROR_SHAPE for `?` extents; MW_ERROR_UNSUPPORTED for a port that is no
 *           tensor of an element type with a code (bool, fp64, strings), or of rank above 4, and for blocks (flatten
 *           the graph before); MW_ERROR_ARGUMENT
 *  source   ane-guide, chapter 23 */
MW_API mw_e5 *mw_e5_create(const mw_graph *graph, const mw_e5_options *options, mw_error *err);

/** Writes it, as a whole or not at all. The same descriptor gives the same bytes.
 *  errors  MW_ERROR_UNSUPPORTED for one with notes: what was not understood would be lost; MW_ERROR_FILE */
MW_API mw_status mw_e5_write(const mw_e5 *e5, const char *path, mw_error *err);
/** Writes the descriptor to memory, which is freed with mw_string_free. NULL with err set. */
MW_API char *mw_e5_bytes(const mw_e5 *e5, size_t *size, mw_error *err);

/** The descriptor as text for people; freed with mw_string_free. */
MW_API char *mw_e5_text(const mw_e5 *e5, mw_error *err);
/** The descriptor as JSON; freed with mw_string_free. Text that is no UTF-8 has U+FFFD in its place. */
MW_API char *mw_e5_json(const mw_e5 *e5, mw_error *err);

#ifdef __cplusplus
}
#endif
#endif

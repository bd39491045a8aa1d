/* Files of the private compiler of the Apple Neural Engine: the .hwx container, and the .ane of the Linux driver.
 *
 *     mw_hwx *hwx = mw_hwx_open("model.hwx", &err);
 *     char *text = mw_hwx_text(hwx, &err);
 *     puts(text);
 *     mw_string_free(text);
 *     mw_hwx_destroy(hwx);
 *
 * What a file holds is decoded into fields; what nobody has published stays as bytes, is shown as such, and comes back
 * where it was: mw_hwx_write of a file that was not changed gives its bytes. docs/hwx.md says what is known of each
 * part, and from whom. Files may be hostile: memory stays below 16 times the size of the file and 64 KiB, and what is
 * shown of it below 64 times.
 *
 * In libmillwright_chip (<millwright/chip_all.h>).
 *
 * Threads: an object that is not being changed may be read by any number of threads; mw_hwx_set_weights comes alone. */
#ifndef MILLWRIGHT_HWX_H
#define MILLWRIGHT_HWX_H

#include <millwright/program.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mw_hwx mw_hwx;

/** What a file is, as a whole. */
typedef struct mw_hwx_info {
    bool is_ane;           /* a .ane; then it has no header, segments, symbols and names */
    bool is_words;         /* words of tasks alone; then it has nothing else */
    mw_chip chip;          /* by the subtype; MW_CHIP_AUTO of one that is not known */
    const char *chip_name; /* "h13", "m9"; "?" */
    uint32_t task_version; /* of the task descriptors, mw_hwx_version; 0 of a subtype that no source names */
    uint32_t cpu_type, cpu_subtype, file_type, flags;
    const char *compiler;    /* "zin_ane_compiler v4.2.1", as the file says; "" */
    const char *ident;       /* the whole text that says how it was compiled; "" */
    const char *procedure;   /* "net"; "" */
    uint64_t payload_offset; /* of a .ane */
} mw_hwx_info;

typedef struct mw_hwx_segment {
    const char *name;
    uint64_t address, size;  /* in the engine's memory */
    uint64_t offset, stored; /* bytes in the file; a window of a port has none */
    uint32_t most_protection, protection, section_count, flags;
} mw_hwx_segment;

/** An input or output as the thread states describe it. */
typedef struct mw_hwx_port {
    const char *name, *symbol;
    bool is_output;
    uint32_t type;      /* element type, an entry of the catalog in the symbol table; 5 = fp16 */
    uint32_t extent[5]; /* N, C, H, W and a fifth */
    uint64_t stride[5]; /* bytes: of a batch, a plane, a row, an element, and all */
    uint32_t interleave;
    uint64_t size;     /* bytes, as the file says: of outputs of older compilers up to the last element */
    uint64_t address;  /* of the window it is bound to; 0 if none */
    int base_register; /* that the window stands in; -1 if none */
} mw_hwx_port;

typedef struct mw_hwx_symbol {
    const char *name; /* of a type, all that describes it */
    uint32_t type, section, description;
    uint64_t value;
} mw_hwx_symbol;

/** A task of the engine: where its words stand. What they mean is in docs/hwx.md. */
typedef struct mw_hwx_task {
    size_t offset, word_count; /* in the section __text; of words of 4 bytes */
    uint32_t id, network, flags;
    size_t record_count;
    const uint32_t *words; /* as they stand in the file */
    bool decoded;          /* its records use up its words exactly; always true for H13 */
    const char *note;      /* why it is not; else NULL */
    uint32_t chain;        /* from 0 on; H18G has three: alone, and bonded for either engine */
} mw_hwx_task;

/** A version of task descriptors, and what is public of it. docs/hwx_later.md has all of them.
 *  source  M6 study, chapter 5 */
typedef struct mw_hwx_version {
    uint32_t subtype, version;
    uint32_t order;      /* of the generation; 0 = not published */
    const char *targets; /* "H18G (M6), H19" */
    const char *words;   /* registers that it changes; "" = not published */
    const char *known;   /* what of its tasks is known, and what is not */
} mw_hwx_version;

/** What the coefficient DMA of a task reads. */
typedef enum mw_hwx_kernel_kind {
    MW_HWX_WEIGHTS = 0, /* a matrix, and where has_bias is true a bias */
    MW_HWX_TABLE = 1,   /* an activation as knots */
    MW_HWX_OPAQUE = 2   /* bytes whose order is not known for certain; `note` says why */
} mw_hwx_kernel_kind;

typedef struct mw_hwx_kernel {
    mw_hwx_kernel_kind kind;
    size_t task; /* index */
    bool has_bias;
    uint32_t extent[4]; /* of weights: output channels, input channels of one output, height, width */
    uint32_t lanes;     /* output channels side by side in a plane */
    uint32_t tiles;     /* engines that have a part of it */
    uint64_t size;      /* bytes of all tiles */
    const char *note;   /* of what is opaque; else NULL */
} mw_hwx_kernel;

/** An activation table: y of x. Below x_low it is y_low, above x_high y_high; up to the first knot and from the last
 *  one straight lines; between them lines from knot to knot.
 *  source  ane-guide (the limits of sigmoid); joshuaswarren/mil-hwx-compiler (spacing and mode) */
typedef struct mw_hwx_table {
    float x_low, x_high, y_low, y_high;
    float knots[33];
    float slope_low, intercept_low, slope_high, intercept_high;
    int spacing;   /* knots are 2^-spacing apart */
    uint32_t mode; /* how x becomes the argument; docs/hwx.md has those that are known */
    float first;   /* x of the first knot where the mode is 1, which it is about 0; else NaN */
} mw_hwx_table;

/* ---- open ---- */

/** Reads a file: .hwx by its magic number, .ane by its sizes.
 *  return  owned by the caller; NULL with err set on failure
 *  errors  MW_ERROR_FILE; MW_ERROR_FORMAT with the offset where the file contradicts itself; MW_ERROR_UNSUPPORTED for
 *          the firmware's containers ANEH, ANEP and ANES, by name */
MW_API mw_hwx *mw_hwx_open(const char *path, mw_error *err);
/** Reads a program from bytes in memory, which are copied; as mw_hwx_open.
 *  allocator  NULL = the C library's heap */
MW_API mw_hwx *mw_hwx_parse(const void *data, size_t size, const mw_allocator *allocator, mw_error *err);
/** A .ane in memory whose payload begins there; mw_hwx_parse looks for it at 0x1000 and at 0x800. */
MW_API mw_hwx *mw_hwx_parse_ane(const void *data, size_t size, uint64_t payload_offset, const mw_allocator *allocator,
                                mw_error *err);
/** Tasks from words alone, where there is no file: of a document, of a dump. They are shown like those of a file, and
 *  written as bytes. The chain's words 1, 0, 0, 0 may stand before them; the last task may be cut.
 *  words      [count], copied
 *  version    of the descriptors: 24 for M6
 *  allocator  NULL = the C library's heap
 *  return     owned by the caller; NULL with err set on failure
 *  errors     MW_ERROR_ARGUMENT for a version that no source names; MW_ERROR_UNSUPPORTED for one whose tasks are not
 *             published, and for 7 (H13) */
MW_API mw_hwx *mw_hwx_parse_words(const uint32_t *words, size_t count, uint32_t version, const mw_allocator *allocator,
                                  mw_error *err);
/** Frees it; twice as mw_trainer_destroy. NULL is fine. */
MW_API void mw_hwx_destroy(mw_hwx *hwx);

/* ---- what is in it: strings and pointers live as long as the object ---- */

/** Version of task descriptors by index, in the order of subtypes; NULL beyond the last. */
MW_API const mw_hwx_version *mw_hwx_version_at(size_t index);
/** What the file says as a whole; NULL for NULL. */
MW_API const mw_hwx_info *mw_hwx_get_info(const mw_hwx *hwx);
/** Segment, port, .. `index`, in the order of the file; NULL beyond the last. */
MW_API const mw_hwx_segment *mw_hwx_segment_at(const mw_hwx *hwx, size_t index);
MW_API const mw_hwx_port *mw_hwx_port_at(const mw_hwx *hwx, size_t index);
MW_API const mw_hwx_symbol *mw_hwx_symbol_at(const mw_hwx *hwx, size_t index);
MW_API const mw_hwx_task *mw_hwx_task_at(const mw_hwx *hwx, size_t index);
MW_API const mw_hwx_kernel *mw_hwx_kernel_at(const mw_hwx *hwx, size_t index);

/** All of it as text, as otool shows a program; freed with mw_string_free.
 *  errors  MW_ERROR_MEMORY; MW_ERROR_ARGUMENT for NULL */
MW_API char *mw_hwx_text(const mw_hwx *hwx, mw_error *err);
/** All of it as JSON; freed with mw_string_free. Numbers of 64 bits are hexadecimal strings. */
MW_API char *mw_hwx_json(const mw_hwx *hwx, mw_error *err);

/* ---- weights and tables ---- */

/** The weights of a kernel as a matrix, and its bias.
 *  kernel   index, of MW_HWX_WEIGHTS
 *  weights  [O, I, H, W] fp16
 *  count    elements; must be those of `extent`
 *  bias     [O] fp16; NULL if it is not wanted or there is none
 *  errors   MW_ERROR_ARGUMENT for another kind of kernel; MW_ERROR_SHAPE for another count */
MW_API mw_status mw_hwx_get_weights(const mw_hwx *hwx, size_t kernel, uint16_t *weights, size_t count, uint16_t *bias,
                                    mw_error *err);
/** Puts others in their place; nothing else of the file changes, so that tasks, sizes and symbols stay.
 *  bias    [O] fp16; NULL leaves it as it is
 *  errors  as mw_hwx_get_weights; MW_ERROR_ARGUMENT for a bias where the kernel has none */
MW_API mw_status mw_hwx_set_weights(mw_hwx *hwx, size_t kernel, const uint16_t *weights, size_t count,
                                    const uint16_t *bias, mw_error *err);
/** The activation table of a kernel of MW_HWX_TABLE.
 *  errors  MW_ERROR_ARGUMENT for another kind */
MW_API mw_status mw_hwx_get_table(const mw_hwx *hwx, size_t kernel, mw_hwx_table *out, mw_error *err);

/* ---- write ---- */

/** How a .ane is laid out. Fill with mw_ane_defaults. */
typedef struct mw_ane_options {
    size_t struct_size;      /* set by mw_ane_defaults */
    uint64_t payload_offset; /* where the program begins: 0x1000; libane has had 0x800 too */
} mw_ane_options;

/** Returns the default options. */
MW_API mw_ane_options mw_ane_defaults(void);

/** The bytes of the file, made anew from what was read; *out is freed with mw_string_free. */
MW_API mw_status mw_hwx_write_memory(const mw_hwx *hwx, void **out, size_t *out_size, mw_error *err);
/** Writes these bytes to a file, whole or not at all. */
MW_API mw_status mw_hwx_write(const mw_hwx *hwx, const char *path, mw_error *err);
/** A .hwx of H13 as a .ane: header, tasks and kernels; names are lost.
 *  options  NULL = mw_ane_defaults()
 *  errors   MW_ERROR_UNSUPPORTED for another chip or more ports than the format has
 *  source   eiln/ane, allbilly/ane */
MW_API mw_status mw_hwx_write_ane(const mw_hwx *hwx, const mw_ane_options *options, void **out, size_t *out_size,
                                  mw_error *err);

/** A program of H13 as a .hwx laid out as compiler 4 does: a .ane gets addresses, load commands and symbols, its ports
 *  keep the names that they were given when it was opened. Of a .hwx of that compiler it is the same file again. What
 *  it makes of a .ane was never loaded on a Mac.
 *  errors  MW_ERROR_UNSUPPORTED for another chip, or scratch memory, of which no file shows the place */
MW_API mw_status mw_hwx_write_container(const mw_hwx *hwx, void **out, size_t *out_size, mw_error *err);

#ifdef __cplusplus
}
#endif

#endif

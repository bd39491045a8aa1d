/* Runs compiled programs of the M1's neural engine without that engine: computes what the registers of a program say.
 * Also writes such programs.
 *
 *     mw_hwx_emission made;
 *     mw_hwx_emit(graph, NULL, &made, &err);
 *     mw_hwx *hwx = mw_hwx_parse(made.data, made.size, NULL, &err);
 *     mw_chip_buffer buffers[] = {{"x", x, sizeof x}, {"y", y, sizeof y}};
 *     mw_chip_run(hwx, buffers, 2, NULL, &err);
 *
 * Only H13. docs/chip_run.md says what is computed, what is refused, and what is known of each word that is written.
 * Nothing here was compared with a chip.
 *
 * In libmillwright_chip (<millwright/chip_all.h>).
 *
 * Threads: calls do not share anything that changes; a buffer that is written belongs to one call. */
#ifndef MILLWRIGHT_CHIP_RUN_H
#define MILLWRIGHT_CHIP_RUN_H

#include <millwright/hwx.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- run ---- */

/** Elements of a port, packed: fp16, [N, C, H, W] as the file has them. */
typedef struct mw_chip_buffer {
    const char *name; /* of the port */
    void *data;       /* read, or written of an output */
    size_t size;      /* bytes; exactly those of its elements */
} mw_chip_buffer;

/** How to run. Fill with mw_chip_run_defaults. */
typedef struct mw_chip_run_options {
    size_t struct_size;            /* set by mw_chip_run_defaults */
    const char *profile;           /* "h13", "ieee", "h13,-product_denormals"; NULL = "h13" (docs/chip.md) */
    uint64_t work_limit;           /* multiplications and elements of results, of all tasks */
    size_t memory_limit;           /* bytes, of the windows of the program and again for a task */
    const mw_allocator *allocator; /* NULL = the C library's heap */
} mw_chip_run_options;

/** Returns the default options. */
MW_API mw_chip_run_options mw_chip_run_defaults(void);

/** Runs all tasks of a program in order, each from its registers: tiles from windows of memory, neural engines (fp32
 *  sums from the bias on, activation, post-scale) or planar engine, one rounding to fp16, tiles back. Handing over in
 *  the chip's own memory, products of two run-time operands, palettes, and whatever nobody has explained, are refused
 *  by name; a refused program writes no buffer.
 *  hwx      lent
 *  buffers  one for each port, in any order
 *  options  NULL = mw_chip_run_defaults()
 *  errors   MW_ERROR_ARGUMENT for a buffer that is missing, twice there or of another size, and beyond the limits;
 *           MW_ERROR_UNSUPPORTED for another chip and for what is refused; MW_ERROR_FORMAT for registers that name
 *           memory which is not there
 *  source   allbilly/ane, freedomtan/coreml_to_ane_hwx, joshuaswarren/mil-hwx-compiler, and files of tinygrad */
MW_API mw_status mw_chip_run(const mw_hwx *hwx, const mw_chip_buffer *buffers, size_t count,
                             const mw_chip_run_options *options, mw_error *err);

/* ---- write ---- */

/** How to write. Fill with mw_hwx_emit_defaults. */
typedef struct mw_hwx_emit_options {
    size_t struct_size;      /* set by mw_hwx_emit_defaults */
    const char *function;    /* of the graph; NULL = "main", or the only one */
    const char *procedure;   /* NULL = "net" */
    const char *ident;       /* the text that says how it was compiled; NULL = ours */
    const char *kernel_name; /* 64 hexadecimal digits in the symbols of weights; NULL = a digest of them */
} mw_hwx_emit_options;

/** Returns the default options. */
MW_API mw_hwx_emit_options mw_hwx_emit_defaults(void);

typedef struct mw_hwx_emission {
    char *data; /* the file; freed with mw_string_free */
    size_t size;
    bool verified; /* a public file of Apple's compiler has all of its words; else some are guesses, which no value
                    * depends on here and a chip has not seen. The file says --unverified then */
} mw_hwx_emission;

/** Writes an H13 program: relu, sigmoid, add, sub, mul, maximum or minimum of two inputs, concat of their channels,
 *  linear of one row, conv with a kernel of 1 or 3 a side and step 1; of the last two weights are constants, and a relu
 *  may follow.
 *  graph    lent; everything in it is fp16
 *  options  NULL = mw_hwx_emit_defaults()
 *  out      empty on failure
 *  errors   MW_ERROR_UNSUPPORTED for anything else, and for shapes that the chip would cut into tiles; MW_ERROR_DTYPE;
 *           MW_ERROR_MEMORY */
MW_API mw_status mw_hwx_emit(const mw_graph *graph, const mw_hwx_emit_options *options, mw_hwx_emission *out,
                             mw_error *err);

#ifdef __cplusplus
}
#endif

#endif

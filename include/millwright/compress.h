/* Weights that take less: a copy of a program whose large constants are stored in fp16, int8 or a palette.
 *
 *     mw_compress_options options = mw_compress_defaults(MW_WEIGHTS_I8);
 *     options.report = print_error;                                     // of each tensor
 *     mw_graph *small = mw_graph_compress(graph, &options, &err);
 *     mw_graph_write(small, "Small.mlpackage", NULL, &err);
 *
 * The copy computes as before, with constants that differ a little: each is expanded to its old type where it is used
 * (constexpr_cast, constexpr_affine_dequantize, constexpr_blockwise_shift_scale, constexpr_lut_to_dense of MIL, which
 * Core ML and the engine keep as they are stored). It is written, compiled and read like any other program.
 *
 * Threads: as the rest of a graph: calls on one graph come one at a time, from any thread; other graphs do not mind. */
#ifndef MILLWRIGHT_COMPRESS_H
#define MILLWRIGHT_COMPRESS_H

#include <millwright/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/** How weights are stored. */
typedef enum mw_weight_form {
    MW_WEIGHTS_F16 = 1, /* fp32 rounded to fp16; fp16 stays */
    MW_WEIGHTS_I8,      /* q = round(w / s) in [-127, 127], s = max |w| / 127 of each index of the first axis (of the
                         * whole tensor, if it has one axis) */
    MW_WEIGHTS_PALETTE  /* an index of `bits` bits into a table of each tensor, made by k-means in one dimension */
} mw_weight_form;

/** What became of a constant. */
typedef struct mw_weight_report {
    const char *name; /* of the constant, "" if it has none; valid during the call */
    mw_shape shape;
    mw_dtype dtype;
    size_t size_before, size_after; /* bytes; equal: it stayed as it was */
    double largest_error;           /* max |stored - w| */
    double relative_error;          /* sqrt(sum (stored - w)^2 / sum w^2) */
    const char *reason;             /* why it stayed, or NULL */
} mw_weight_report;

typedef void mw_weight_report_function(void *user, const mw_weight_report *report);

/** What to do. Fill with mw_compress_defaults. */
typedef struct mw_compress_options {
    size_t struct_size;
    mw_weight_form form;
    int bits;               /* of a palette: 1, 2, 4, 6 or 8; default 4 */
    int64_t least_elements; /* from 1; smaller constants stay; default 2048 */
    mw_weight_report_function
        *report; /* told of each fp16 or fp32 constant of that size, in the order of the program */
    void *report_user;
} mw_compress_options;

/** Returns options with everything else at its default. */
MW_API mw_compress_options mw_compress_defaults(mw_weight_form form);

/** A copy of "main" (or the only function) with its constants compressed. Constants that are compressed already, that
 *  are not finite, or that fp16 does not hold, stay.
 *  return  owned by the caller, by the allocator of the graph; NULL with err set on failure
 *  errors  the graph's own first error; MW_ERROR_ARGUMENT for options out of range; MW_ERROR_UNSUPPORTED for a program
 *          of ios15, which has no such constants; MW_ERROR_STATE for one whose weights were not read */
MW_API mw_graph *mw_graph_compress(const mw_graph *graph, const mw_compress_options *options, mw_error *err);

#ifdef __cplusplus
}
#endif
#endif

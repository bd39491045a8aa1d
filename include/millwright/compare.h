/* One program on two devices, operation by operation: where they part, and by how much.
 *
 *     mw_compare_options options = mw_compare_defaults();    // the CPU, and the engine's model of the ANE
 *     options.batch = batch;
 *     mw_comparison *comparison = mw_comparison_create(graph, &options, &err);
 *     if (!mw_comparison_get_info(comparison).passes) {
 *         char *text = mw_comparison_print(comparison, &err);
 *         puts(text);
 *         mw_string_free(text);
 *     }
 *     mw_comparison_destroy(comparison);
 *
 * Two errors are told apart. The *local* one is that of an operation alone: both devices run it, as a program of its
 * own, on the same inputs, which are the values that the reference computed, rounded to the narrower of the two element
 * types. It says which operation is to blame. The *accumulated* one is that of its result in the whole program, run by
 * each device from the same feeds: what the errors of all operations before it have come to.
 *
 * Inner values are made visible by compiling the program once more with each of them as an output. That can change what
 * is measured: a device that keeps a chain of operations in a wider type until it is stored rounds each value that is
 * an output. `changed` of mw_comparison_get_info counts the outputs that this has changed.
 *
 * Threads: a comparison does not change: any number of threads may read it at the same time. mw_comparison_create reads
 * the graph as mw_program_create does. */
#ifndef MILLWRIGHT_COMPARE_H
#define MILLWRIGHT_COMPARE_H

#include <millwright/dataset.h>
#include <millwright/program.h>
#include <millwright/trainer.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What to compare. Fill with mw_compare_defaults. A floating-point element a of the reference and b of the other agree
 *  if |a - b| <= absolute + relative * max |a|, the maximum over the finite elements of the tensor, or if both are NaN
 *  or the same infinity; integers and truth values agree if they are equal. */
typedef struct mw_compare_options {
    size_t struct_size;           /* set by mw_compare_defaults */
    mw_compile_options reference; /* one side: default MW_DEVICE_CPU on the engine */
    mw_compile_options device;    /* the other: default MW_DEVICE_ANE. `seed` and `function` are those of the
                                   * reference, and so is `share.program`, whose values are copied; `share.trainer` is
                                   * refused. `keep_folder` is not used */
    const mw_batch *batch;        /* a feed for each input; NULL = that of batch_path, or drawn */
    const char *batch_path;       /* a safetensors file with a tensor for each input, by its name */
    uint64_t seed;                /* of what is drawn: multiples of 1/256 in [-2, 2), indices in their range, 0 and 1 */
    double relative;              /* >= 0; default 2^-7: 8 units in the last place of fp16 */
    double absolute;              /* >= 0; default 2^-14, the smallest normal number of fp16 */
    bool accumulated_only;        /* no local errors: two programs are compiled and not two for each operation */
    const mw_allocator *allocator; /* of the comparison; NULL = the C library's heap */
} mw_compare_options;

/** Returns the default options. */
MW_API mw_compare_options mw_compare_defaults(void);

/** How two tensors differ. */
typedef struct mw_difference {
    bool compared;        /* else all below is 0 */
    size_t count;         /* of elements */
    size_t beyond;        /* elements that do not agree: the next count is included, except overflows that are
                           * limited later */
    size_t not_finite;    /* elements where one value is NaN or infinite, and the other value is different */
    size_t overflowed;    /* of these, elements where one value is infinite, and the other has the same sign and is
                           * beyond 65504, the range of fp16. An overflow is limited later if following operations
                           * (clip, select, a comparison) keep every value that is not finite from the outputs and
                           * from the next value of a state */
    double max_absolute;  /* |a - b|, over the elements where both are finite, as are the next three */
    double mean_absolute; /* 0 if there are none */
    double max_relative;  /* |a - b| / max(|a|, |b|), in [0, 2] */
    double tolerance;     /* absolute + relative * max |a| */
    size_t worst;         /* element, in row-major order: the first of not_finite, else that of max_absolute */
    double a, b;          /* its two values */
} mw_difference;

/** One result of an operation. Strings live as long as the comparison. */
typedef struct mw_compared {
    const char *operation; /* "matmul" */
    const char *tensor;    /* name of the result in the MIL text of the graph */
    const char *parameter; /* that the operation reads, or NULL */
    mw_dtype dtype;        /* in the graph */
    mw_shape shape;
    mw_difference local, accumulated;
    const char *skipped; /* why there is no local one; NULL if there is */
} mw_compared;

typedef struct mw_comparison mw_comparison;

/** Runs the program on both sides and compares all that the operations give which its outputs need.
 *  graph    lent during the call; it stays as it is
 *  options  NULL = mw_compare_defaults()
 *  return   owned by the caller; NULL with err set. That values differ is no error
 *  errors   those of mw_program_create for either side; MW_ERROR_ARGUMENT for zeroed options, a negative tolerance or a
 *           feed that is missing; MW_ERROR_SHAPE for a program with `?` extents (mw_graph_specialize);
 *           MW_ERROR_NUMERIC for an input that the other side cannot hold; MW_ERROR_FILE, MW_ERROR_FORMAT for
 *           batch_path */
MW_API mw_comparison *mw_comparison_create(const mw_graph *graph, const mw_compare_options *options, mw_error *err);
/** The comparison of the trainer's first step (options.watch.compare), whether it passed or not; NULL before the first
 *  step. It belongs to the trainer, and lives until the next step is compared or the trainer is destroyed. */
MW_API const mw_comparison *mw_trainer_comparison(const mw_trainer *trainer);
/** Frees the comparison; twice as mw_trainer_destroy. NULL is fine. */
MW_API void mw_comparison_destroy(mw_comparison *comparison);

/** What a comparison came to. Strings and results live as long as the comparison. */
typedef struct mw_comparison_info {
    bool passes;  /* no local difference is beyond its tolerance; with accumulated_only: no accumulated one */
    size_t count; /* of the results that were compared, for mw_comparison_at */
    const mw_compared *first_local; /* the first whose local difference is beyond its tolerance; NULL if none is */
    const mw_compared *first_accumulated; /* the first whose accumulated difference is */
    const mw_compared *largest_local; /* whose local difference is the largest part of its tolerance; NULL if none was
                                       * compared */
    const mw_compared *largest_accumulated; /* whose accumulated difference is */
    const char *where[2]; /* what ran a side, as mw_program_info.where: the reference, then the other */
    size_t changed[2]; /* of a side: outputs of the program that have other bits when inner values are outputs, too */
} mw_comparison_info;

/** What the comparison came to. Zeros for NULL. */
MW_API mw_comparison_info mw_comparison_get_info(const mw_comparison *comparison);
/** Result `index` in the order of the operations, which lives as long as the comparison; NULL beyond the last. */
MW_API const mw_compared *mw_comparison_at(const mw_comparison *comparison, size_t index);
/** The comparison as text, a line for each result; freed with mw_string_free.
 *  errors  MW_ERROR_MEMORY; MW_ERROR_ARGUMENT for NULL */
MW_API char *mw_comparison_print(const mw_comparison *comparison, mw_error *err);
/** Writes what the inputs were fed as a safetensors file, for batch_path. */
MW_API mw_status mw_comparison_save_batch(const mw_comparison *comparison, const char *path, mw_error *err);

#ifdef __cplusplus
}
#endif
#endif

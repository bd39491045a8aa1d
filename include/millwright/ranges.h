/* Whether the values of a graph, or of a training step, fit into fp16: a report of their ranges.
 *
 *     mw_range_options options = mw_range_defaults();
 *     options.batch = batch;
 *     mw_ranges *ranges = mw_ranges_create(graph, &options, &err);
 *     if (!mw_ranges_get_info(ranges).fits) {
 *         char *text = mw_ranges_print(ranges, &err);
 *         puts(text);
 *         mw_string_free(text);
 *     }
 *     mw_ranges_destroy(ranges);
 *
 * mw_ranges_create runs the graph once in fp32 on the CPU of the engine, also operations that the graph declares as
 * fp16. It counts the values that fp16 would make infinite, subnormal or 0. The report lists floating-point values:
 * inputs, parameters and states as they are fed, constants, and the results of all operations that the outputs need. It
 * does not list values inside branches and loops, literal arguments of operations (mw_program_warning_at lists those
 * that fp16 does not hold), or constants that are stored compressed.
 *
 * A program with lists, or with states that it reads and writes, runs in the types that it declares. A value that
 * overflows in fp16 is then not finite, and a value that is lost is 0.
 *
 * The report is for one batch: another batch may have larger values. A compiler replaces some large constants, such as
 * a mask of -3.4e38 (mw_program_warning_at); the report counts them unchanged. All intermediate values are in memory at
 * once.
 *
 * Threads: a report does not change: any number of threads may read it at the same time. mw_ranges_create reads the
 * graph as mw_program_create does; mw_ranges_create_trainer is a call on the trainer. */
#ifndef MILLWRIGHT_RANGES_H
#define MILLWRIGHT_RANGES_H

#include <millwright/dataset.h>
#include <millwright/program.h>
#include <millwright/trainer.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What is measured. Fill with mw_range_defaults. */
typedef struct mw_range_options {
    size_t struct_size;            /* set by mw_range_defaults */
    mw_compile_options compile;    /* MW_DEVICE_CPU on the engine, and no other; the values of `share.program` are
                                    * copied, `share.trainer` is refused, `keep_folder` is not used */
    const mw_batch *batch;         /* a feed for each input; NULL = that of batch_path, or drawn */
    const char *batch_path;        /* a safetensors file with a tensor for each input, by its name */
    uint64_t seed;                 /* of what is drawn, as by mw_comparison_create */
    const mw_allocator *allocator; /* of the report; NULL = the C library's heap */
} mw_range_options;

/** Returns the default options. */
MW_API mw_range_options mw_range_defaults(void);

/** The range of one value. Strings live as long as the report. Elements that are not finite count only in `count`
 *  and not_finite. A number is 0 if it has no elements. */
typedef struct mw_range {
    const char *operation; /* "matmul"; "input", "parameter" or "state" for what is fed, "const" for a constant */
    const char *tensor;    /* its name in the MIL text of the graph */
    const char *parameter; /* that the operation reads, or that it is; or NULL */
    mw_dtype dtype;        /* in the graph: MW_F16, MW_F32 or MW_F64 */
    mw_shape shape;
    size_t count;             /* of elements */
    double smallest, largest; /* element */
    double max_absolute;      /* the largest |x| */
    double min_absolute;      /* the smallest |x| that is not 0 */
    size_t not_finite;        /* NaN or infinite */
    size_t overflowed;        /* finite, but |x| > 65504, the largest number of fp16; fp16 rounds to infinity from
                               * 65520 on */
    size_t subnormal;         /* 0 < |x| < 2^-14: fp16 keeps fewer bits of these; includes lost elements */
    size_t lost;              /* 0 < |x| <= 2^-25: rounded to 0 */
    double headroom;          /* log2(65504 / max_absolute), bits; infinity if that is 0 */
} mw_range;

typedef struct mw_ranges mw_ranges;

/** Runs the graph in fp32 and measures its values.
 *  graph    lent during the call; it stays as it is
 *  options  NULL = mw_range_defaults()
 *  return   owned by the caller; NULL with err set. That values do not fit is no error
 *  errors   those of mw_program_create and mw_program_run; MW_ERROR_ARGUMENT for zeroed options, another device than
 *           the engine's CPU, share.trainer, a graph without outputs or a feed that is missing; MW_ERROR_SHAPE for a
 *           program with `?` extents (mw_graph_specialize); MW_ERROR_NUMERIC for a batch that is not finite;
 *           MW_ERROR_FILE, MW_ERROR_FORMAT for batch_path */
MW_API mw_ranges *mw_ranges_create(const mw_graph *graph, const mw_range_options *options, mw_error *err);
/** A report of the trainer's next step on a batch, as mw_ranges_create makes one of a graph. It covers forward and
 *  backward pass, gradients in the loss scale that the trainer has on its device, and the update, with its parameters
 *  and states. The step itself is not run: nothing of the trainer changes.
 *  trainer  the scale is that of its own device: one for MW_DEVICE_ANE shows what fp16 will hold
 *  batch    as for mw_trainer_step
 *  return   owned by the caller, with the allocator of the trainer; NULL with err set
 *  errors   those of mw_ranges_create, and of mw_trainer_step for the batch; MW_ERROR_UNSUPPORTED for a trainer of
 *           several ranks */
MW_API mw_ranges *mw_ranges_create_trainer(mw_trainer *trainer, const mw_batch *batch, mw_error *err);
/** Frees the report; twice as mw_trainer_destroy. NULL is fine. */
MW_API void mw_ranges_destroy(mw_ranges *ranges);

/** What a report came to. */
typedef struct mw_ranges_info {
    bool fits;    /* all elements of all values are finite and at most 65504. What is lost does not count */
    size_t count; /* of the values that were measured */
} mw_ranges_info;

/** What the report came to. Zeros for NULL. */
MW_API mw_ranges_info mw_ranges_get_info(const mw_ranges *ranges);
/** Value `index`, inputs first, then in the order of the operations; it lives as long as the report; NULL beyond the
 *  last. */
MW_API const mw_range *mw_ranges_at(const mw_ranges *ranges, size_t index);
/** The values from the worst on: most elements that overflow or are not finite, then most that are lost, then least
 *  headroom. NULL beyond the last. */
MW_API const mw_range *mw_ranges_worst_at(const mw_ranges *ranges, size_t place);
/** The report as text, in lines of at most 120 bytes: a summary, what can be done, and a line for each value, the worst
 *  first; long names are cut. Freed with mw_string_free.
 *  errors  MW_ERROR_MEMORY; MW_ERROR_ARGUMENT for NULL */
MW_API char *mw_ranges_print(const mw_ranges *ranges, mw_error *err);

#ifdef __cplusplus
}
#endif
#endif

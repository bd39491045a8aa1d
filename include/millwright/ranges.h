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
 * M4 and M6 add products in fixed point: a product below 2^-17 vanishes, and a sum that reaches 32768 on its way is
 * infinite (docs/chip.md). With `compile.profile` of such a chip, "h16" or "h18g", the report also counts what that
 * does to each matmul, linear, einsum, conv, conv_transpose and scaled_dot_product_attention (mw_ranges_product_at). It
 * takes the operands of the fp32 run, rounded to fp16, so each operation is counted by itself.
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
                                    * copied, `share.trainer` is refused, `keep_folder` is not used. `profile`: whose
                                    * products are counted, beside the run in fp32; NULL = none */
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

/** What fixed-point sums make of the products of one operation: each is rounded to a multiple of 2^-16, and 2^-17 and
 *  more are kept. Of a large operation only some results are counted, the same ones each time: `results` of
 *  all_results. Strings live as long as the report. */
typedef struct mw_range_product {
    const mw_range *range;       /* the operation and its result */
    const char *part;            /* "scores" or "values" of attention; else NULL */
    const char *operands[2];     /* whose elements are multiplied: names as mw_range.tensor; NULL = computed inside */
    bool is_gradient;            /* of the backward pass of a trainer's step: the loss scale moves it */
    size_t results, all_results; /* counted, and there are */
    size_t products;             /* that are not 0, of the results that are counted; so are all below */
    size_t vanished;             /* of them: 0 in fixed point */
    size_t dropped;              /* of the vanished ones: 2^-17 and more, by M6's rule (exponents sum to -17 or less) */
    size_t nonzero;              /* results whose exact sum is not 0 */
    size_t zeroed;               /* of them: 0 in fixed point */
    size_t below_half;           /* of them: the exact sum is below 2^-17 */
    size_t below_unit;           /* of them: below 2^-16; includes below_half */
    double error;             /* of finite results: the root of (sum of squared errors / sum of squared exact sums) */
    double peak;              /* the largest partial sum in the order of channels, divided by 32768 */
    size_t overflowed;        /* results that are infinite */
    size_t overflowed_on_way; /* of them: the last partial sum is below 32768 */
    int room;   /* log2 of the factor that brings peak to 0.25 .. 0.5, also of operands beyond fp16; 0 if peak is 0 */
    int wanted; /* log2 of the factor with which at most 1 % of the products vanish */
    int scale;  /* the cure, log2 of a factor. Positive if much is lost: over 1 % of the results are zeroed, the error
                 * is over 1 %, or most products vanish. Negative if a result is infinite. 0 = not needed, or
                 * (is_stuck) no scale helps */
    int scaled; /* what takes it: operand 0 or 1, and the result its inverse; -1 = the loss scale */
    bool is_stuck; /* much is lost, or a result is infinite, and `room` leaves no scale that helps */
} mw_range_product;

typedef struct mw_ranges mw_ranges;

/** Runs the graph in fp32 and measures its values.
 *  graph    lent during the call; it stays as it is
 *  options  NULL = mw_range_defaults()
 *  return   owned by the caller; NULL with err set. That values do not fit is no error
 *  errors   those of mw_program_create and mw_program_run; MW_ERROR_ARGUMENT for zeroed options, another device than
 *           the engine's CPU, share.trainer, an unknown profile, a graph without outputs or a feed that is
 *           missing; MW_ERROR_SHAPE for a program with `?` extents (mw_graph_specialize); MW_ERROR_NUMERIC for a
 *           batch that is not finite; MW_ERROR_FILE, MW_ERROR_FORMAT for batch_path */
MW_API mw_ranges *mw_ranges_create(const mw_graph *graph, const mw_range_options *options, mw_error *err);
/** A report of the trainer's next step on a batch, as mw_ranges_create makes one of a graph. It covers forward and
 *  backward pass, gradients in the loss scale that the trainer has on its device, and the update, with its parameters
 *  and states. The step itself is not run: nothing of the trainer changes.
 *  trainer  the scale is that of its own device: one for MW_DEVICE_ANE shows what fp16 will hold, and its profile says
 *           whose products are counted
 *  batch    as for mw_trainer_step
 *  return   owned by the caller, with the allocator of the trainer; NULL with err set
 *  errors   those of mw_ranges_create, and of mw_trainer_step for the batch; MW_ERROR_UNSUPPORTED for a trainer of
 *           several ranks */
MW_API mw_ranges *mw_ranges_create_trainer(mw_trainer *trainer, const mw_batch *batch, mw_error *err);
/** Frees the report; twice as mw_trainer_destroy. NULL is fine. */
MW_API void mw_ranges_destroy(mw_ranges *ranges);

/** What a report came to. */
typedef struct mw_ranges_info {
    bool fits;            /* all elements of all values are finite and at most 65504, and no product overflows. What is
                           * lost does not count */
    size_t count;         /* of the values that were measured */
    const char *profile;  /* whose products were asked for; NULL = none. Lives as long as the report */
    bool fixed_point;     /* that profile adds products in fixed point */
    size_t product_count; /* operations with counted products; attention counts twice */
    int loss_scale;       /* log2 of the factor by which the loss scale of a step should change, as far as all gradients
                           * have room; 0 = stay */
} mw_ranges_info;

/** What the report came to. Zeros for NULL. */
MW_API mw_ranges_info mw_ranges_get_info(const mw_ranges *ranges);
/** Value `index`, inputs first, then in the order of the operations; it lives as long as the report; NULL beyond the
 *  last. */
MW_API const mw_range *mw_ranges_at(const mw_ranges *ranges, size_t index);
/** The values from the worst on: most elements that overflow or are not finite, then most that are lost, then least
 *  headroom. NULL beyond the last. */
MW_API const mw_range *mw_ranges_worst_at(const mw_ranges *ranges, size_t place);
/** The counts of products, from the worst on: most results that overflow, then the largest share of results that
 *  become 0, then of products that vanish. NULL beyond the last, and where the profile has no fixed point. */
MW_API const mw_range_product *mw_ranges_product_at(const mw_ranges *ranges, size_t place);
/** The report as text, in lines of at most 120 bytes: a summary, what can be done, the same of products if they were
 *  counted, with a line for each operation that has some, and a line for each value, the worst first; long names
 *  are cut. Freed with mw_string_free.
 *  errors  MW_ERROR_MEMORY; MW_ERROR_ARGUMENT for NULL */
MW_API char *mw_ranges_print(const mw_ranges *ranges, mw_error *err);

#ifdef __cplusplus
}
#endif
#endif

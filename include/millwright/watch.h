/* Watching a step: statistics or elements of tensors, gradients, parameters and updates, computed on the device beside
 * the step, which keeps its bits.
 *
 *     const mw_watch watches[] = {mw_watch_tensor(hidden, NULL, MW_WATCH_STATISTICS),
 *                                 mw_watch_parameters(MW_WATCH_UPDATE, "*.weight", MW_WATCH_NORM)};
 *     options.watch.values = watches;    // of the trainer (trainer_options.h)
 *     options.watch.count = 2;
 *     ..
 *     mw_watched found;
 *     for (size_t i = 0; mw_trainer_watch_at(trainer, i, &found); i++)
 *         printf("%s: mean %g\n", found.name, found.mean);
 *
 * Threads: the functions that take a trainer as it says; the others may be called from any thread. */
#ifndef MILLWRIGHT_WATCH_H
#define MILLWRIGHT_WATCH_H

#include <millwright/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mw_trainer mw_trainer;

/* ---- what is watched ---- */

/** Which values of a step to watch. */
typedef enum mw_watch_of {
    MW_WATCH_TENSOR = 0,    /* a value of the loss's graph, in its training form */
    MW_WATCH_GRADIENT = 1,  /* gradients of parameters, before clipping; the mean, if a step has several batches
                             * or ranks */
    MW_WATCH_PARAMETER = 2, /* parameters before the step */
    MW_WATCH_UPDATE = 3     /* change of a parameter in the step: 0 if the step was refused or skipped */
} mw_watch_of;

typedef enum mw_watch_kind {
    MW_WATCH_STATISTICS = 0,
    MW_WATCH_VALUES = 1, /* all elements (mw_trainer_watch_values) */
    MW_WATCH_NORM = 2    /* only the root of the sum of squares */
} mw_watch_kind;

/** What to watch; the step program computes it in addition to the step. A value that the two functions below make: its
 *  content is the library's own, and a struct of zeros is refused. What is wrong with it comes with mw_trainer_create,
 *  until which names, patterns and tensors must stay. */
typedef struct mw_watch {
    uint64_t hidden[4];
} mw_watch;

/** A value of the loss's graph.
 *  tensor  fp32 or fp16; it may use only parameters and states that the loss uses
 *  name    the name shown; NULL = the name of the tensor */
MW_API mw_watch mw_watch_tensor(mw_tensor *tensor, const char *name, mw_watch_kind kind);
/** One value for each trained parameter that a pattern matches.
 *  of       MW_WATCH_GRADIENT, MW_WATCH_PARAMETER or MW_WATCH_UPDATE
 *  pattern  of names, as in mw_parameter_group_defaults */
MW_API mw_watch mw_watch_parameters(mw_watch_of of, const char *pattern, mw_watch_kind kind);

/* ---- what was found ---- */

/** Watched values of a step. */
typedef struct mw_watched {
    const char *name; /* that of the tensor, or "gradient/fc1.weight", "update_norm/fc1.weight", ..; lives as long as
                       * the trainer */
    mw_watch_of of;
    mw_watch_kind kind;
    const char *parameter; /* whose; NULL = of a tensor */
    int64_t elements;
    int64_t step; /* number of the step of these values: the step that ran last, also if it was refused or skipped; 0
                   * = no step ran, and all values below are 0 */
    double min, max, mean;
    double deviation;  /* root of the mean of (x - mean)^2 */
    double norm;       /* root of the sum of squares */
    double zeros;      /* share of elements that are 0 */
    double non_finite; /* share of elements that are NaN or infinite. If it is not 0, the numbers above follow
                        * IEEE arithmetic */
} mw_watched;

/** Fills *out_watched with watched value `index`; false past the last (watch_count of mw_trainer_get_info). The order
 *  is: watched tensors, gradient norms, then the rest in the order of the options; each for the parameters in their
 *  order. A number has the precision of the tensor's type on the device: in fp16 a norm beyond 65504 is infinite (for a
 *  gradient, the norm multiplied by the loss scale). If a dispatch has several steps, the values are those of its last
 *  step. With several ranks, a watched tensor is that of the rank's own batch. For MW_WATCH_NORM and MW_WATCH_VALUES
 *  the statistics are 0. */
MW_API bool mw_trainer_watch_at(const mw_trainer *trainer, size_t index, mw_watched *out_watched);
/** Copies the elements of a value that MW_WATCH_VALUES watches, converted to `dtype` as by mw_program_read.
 *  errors  MW_ERROR_ARGUMENT if the value is watched in another way, MW_ERROR_SHAPE for a wrong count,
 *          MW_ERROR_STATE before the first step */
MW_API mw_status mw_trainer_watch_values(mw_trainer *trainer, size_t index, mw_dtype dtype, void *out_data,
                                         size_t count, mw_error *err);

#ifdef __cplusplus
}
#endif
#endif

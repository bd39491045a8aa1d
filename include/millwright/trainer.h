/* Training: forward, backward and update as one program whose state stays on the device.
 *
 *     mw_trainer_options options = mw_trainer_defaults(mw_cross_entropy(logits, y), mw_adam(1e-3f));
 *     options.metric = mw_accuracy(logits, y);
 *     mw_trainer *trainer = mw_trainer_create(&options, &err);
 *     mw_fit_options fit = mw_fit_defaults(train, 5);
 *     fit.data.validation = test;
 *     mw_trainer_fit(trainer, &fit, &err);
 *
 * The host feeds the batch and the step's scalars and reads the loss; weights and optimizer state are seeded once and
 * read only for checkpoints.
 *
 * Threads: call one trainer from any thread, but from one thread at a time. Different trainers may be used at the
 * same time, also on one data set.
 * A call returns MW_ERROR_STATE, and changes nothing, if another thread is inside a call on the same trainer, or if
 * a callback of such a call makes it. This holds for calls that take an error; mw_progress_function has exceptions. */
#ifndef MILLWRIGHT_TRAINER_H
#define MILLWRIGHT_TRAINER_H

#include <millwright/confusion.h>
#include <millwright/dataset.h>
#include <millwright/metrics.h>
#include <millwright/schedule.h>
#include <millwright/trainer_options.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mw_trainer mw_trainer;

/** Builds and compiles the step program. The graph is copied, not changed, and may be destroyed afterwards. A step has
 *  one shape: an input with `?` extents gets its default shape. For another shape, build the loss on a graph made by
 *  mw_graph_specialize or mw_graph_trainable.
 *  errors  as mw_grad and mw_program_create; MW_ERROR_ARGUMENT if no parameter gets a gradient, if a group matches no
 *          parameter, for too many metrics, for the name of a metric that is invalid or taken, or if the trainer has
 *          nothing in common with `share`; MW_ERROR_SHAPE for an input with `?` and no default; MW_ERROR_MEMORY if
 *          memory_limit is below what recomputation reaches, with both numbers; MW_ERROR_NUMERIC for a scalar that
 *          the device's type cannot hold, naming it; MW_ERROR_SHAPE or MW_ERROR_DTYPE if a tensor differs from the
 *          tensor of the same name in `share` */
MW_API mw_trainer *mw_trainer_create(const mw_trainer_options *options, mw_error *err);

/** The effect of memory_limit on a step. */
typedef struct mw_trainer_recomputation {
    size_t stretches;             /* parts of the forward pass that are computed again; 0 = none */
    uint64_t bytes, bytes_before; /* of a step, with recomputation and without */
    double flops, flops_before;   /* of the operations of a step that have a number (mw_plan_totals) */
} mw_trainer_recomputation;

/** All 0 for NULL and for a trainer without memory_limit. */
MW_API mw_trainer_recomputation mw_trainer_get_recomputation(const mw_trainer *trainer);

/** Frees the trainer. NULL is fine. Inside a callback of a call on this trainer, or while another thread is inside a
 *  call on it, the trainer is freed when that call ends, and that call returns MW_ERROR_STATE.
 *  Destroying a trainer twice is a mistake. The library looks it up in a table of live objects: the second call does
 *  nothing and reports to the log hook (MW_LOG_ERROR). Any other call on a destroyed trainer returns MW_ERROR_STATE,
 *  if it takes an error. Both hold only until a new object gets the same address. */
MW_API void mw_trainer_destroy(mw_trainer *trainer);

/** One step: copies the batch, runs, reads the loss. Feeds are matched to inputs by name; others are ignored. When
 *  gradients are accumulated, each call takes one batch, and every accumulate-th call updates. With a dynamic loss
 *  scale the trainer skips a refused batch without an error, and the next batch takes its place; the loss and
 *  refused_steps show it.
 *
 *  The device refuses a step if the loss, a gradient, a new parameter or a new state is not finite. Such a step changes
 *  no bit of parameters and states. If parameters are stored in fp32 and nothing is compensated, the device checks the
 *  gradients instead of the new parameters. It then also refuses a step with
 *    - a gradient beyond 2^50, or beyond 2^49 with weight decay that is not decoupled: an update by it could overflow.
 *      These limits apply to gradients multiplied by the loss scale;
 *    - a parameter beyond 2^100, if averages are kept;
 *    - a parameter beyond 2^49 / (weight_decay * loss scale), with weight decay that is not decoupled.
 *  On MW_DEVICE_ANE, as on a chip, an operation gives 0 where IEEE gives NaN (docs/chip.md), so no step is refused
 *  because of such a value.
 *
 *  If the loss exceeds 1,000 times its running mean, the log hook gets one warning (docs/training.md).
 *  out_loss  may be NULL; 0 on failure
 *  errors    MW_ERROR_NUMERIC if the batch is not finite or the step is refused. The message names the step and the
 *            feed, and example ids if the batch has them. The trainer also runs the batch once more with every value
 *            watched. The message then names the first operation whose result is not finite, with its forward operation
 *            and its parameter. If the step shares a dispatch, this second run uses the state after the dispatch.
 *            Parameters and state are as before, and the step is not counted;
 *            MW_ERROR_ARGUMENT for a missing feed or an index out of range;
 *            MW_ERROR_NUMERIC if the first step is compared (options.watch.compare) and does not pass. The message
 *            names the first operation that differs; mw_trainer_comparison has all. Nothing was run, and the next step
 *            is compared again. The call also returns the errors of mw_comparison_create; MW_ERROR_DEVICE if the first
 *            step shows that the library (not the engine) cannot update state in place: the trainer is dead then: steps
 *            and files are MW_ERROR_STATE */
MW_API mw_status mw_trainer_step(mw_trainer *trainer, const mw_batch *batch, float *out_loss, mw_error *err);

/** Runs one step for each batch. Each dispatch takes options.dispatch_steps steps; the remaining steps run one by one.
 *  The results have the same bits as those of mw_trainer_step, with one exception: the host learns only at the end of a
 *  dispatch that one of its steps was skipped (dynamic loss scale) or refused. The later steps of this dispatch have
 *  then used bias corrections that count that step.
 *  out_losses  [count], may be NULL
 *  errors      as mw_trainer_step. A batch that cannot be fed is refused before its dispatch. If a step is refused
 *              in the middle of a dispatch, the later steps of the dispatch have run and count. */
MW_API mw_status mw_trainer_step_many(mw_trainer *trainer, const mw_batch *batches, size_t count, float *out_losses,
                                      mw_error *err);

/** Sets the learning rate of the next steps, 0 or more. Each group multiplies it by its rate_factor. The product has
 *  limits where parameters are stored in fp32 (see mw_trainer_step): if it was at most 1024 when the trainer was
 *  created, it must stay at most 1024; with decoupled weight decay, also at most 1 / weight_decay.
 *  errors  MW_ERROR_ARGUMENT, MW_ERROR_NUMERIC if the device's type cannot hold it; the old one stays */
MW_API mw_status mw_trainer_set_learning_rate(mw_trainer *trainer, float learning_rate, mw_error *err);
MW_API float mw_trainer_learning_rate(const mw_trainer *trainer);

/** Updates done. */
MW_API int64_t mw_trainer_steps(const mw_trainer *trainer);

/** Whether evaluation, prediction and written weights use the moving averages of the parameters; at first they do not.
 *  errors  MW_ERROR_STATE if the trainer keeps none */
MW_API mw_status mw_trainer_use_averages(mw_trainer *trainer, bool use, mw_error *err);

/** Where the loss scale stands.
 *  return  the static one, or the state of the dynamic one (which is read); 0 for NULL */
MW_API float mw_trainer_loss_scale(mw_trainer *trainer);

/** A metric's value over a data set. */
typedef struct mw_measure {
    const char *name; /* lives as long as the trainer */
    double value;
} mw_measure;

/** What an evaluation found. */
typedef struct mw_evaluation {
    double loss;
    int64_t examples;
    size_t metric_count;
    mw_measure metrics[MW_METRICS_MAX]; /* `metric` of the options first, then `metrics` in their order */
} mw_evaluation;

/** Loss and metrics over a data set, on the current parameters, in the evaluation form: batch norm with its running
 *  statistics, dropout as the identity, noise from the current state of its generator. Changes no state. With a
 *  communicator all ranks call it, and all get the values of the whole set.
 *
 *  Example: the loss mean(cross entropy) + 0.01 * norm(w) is exact. Exact means that every example counts once, for any
 *  batch size B and any size of the last batch. A value is exact if it has the form
 *      sum of c_i m_i + sum of d_j
 *  where m are means over examples, d are terms without examples (the L2 norm of parameters), and the coefficients c
 *  are constants or parameters.
 *  A mean is a loss of loss.h, or mw_reduce_mean over rows. Each row must depend on one example; an example may have
 *  several rows. A sum over the examples counts as B times their mean. A weighted mean (class weights, ignored labels)
 *  is computed as a quotient over the whole set, and so is any other quotient of two such sums, for example sum(mask*l)
 *  / sum(mask).
 *
 *  Any other value, such as the root of a mean or a loss that compares examples with each other, is averaged over the
 *  batches, weighted by their numbers of examples. A short last batch is filled up with copies of its last example. The
 *  log hook gets one message that names the term and the reason (MW_LOG_WARNING).
 *  confusion  not NULL: classes are counted, too, by the trainer's prediction
 *  out        may be NULL, with `confusion` also if loss and metrics are not wanted; zeros on failure
 *  errors     MW_ERROR_NUMERIC if a quotient divides by 0, because every label is ignored or has weight 0; for a batch
 *             that cannot be fed, the errors of mw_trainer_step; for `confusion`: MW_ERROR_ARGUMENT without such a
 *             column or a prediction, or for a label from `classes` on, naming the example, MW_ERROR_SHAPE if labels
 *             and prediction do not fit */
MW_API mw_status mw_trainer_evaluate(mw_trainer *trainer, const mw_dataset *dataset, const mw_confusion *confusion,
                                     mw_evaluation *out, mw_error *err);

/** Number and names of the classes that the trainer has learned. They come from this column of the training data of the
 *  last mw_trainer_fit; 0 and NULL if it has none. mw_trainer_evaluate and similar calls refuse a data set that has
 *  other classes there, or another order (MW_ERROR_ARGUMENT with both lists). To avoid this, open the data set with
 *  these names as class_names. Strings live until the next mw_trainer_fit. */
MW_API size_t mw_trainer_class_count(const mw_trainer *trainer, const char *column);
MW_API const char *mw_trainer_class_name(const mw_trainer *trainer, const char *column, size_t index);

/** Runs the prediction on one batch, in the evaluation form. Feeds that it does not need are ignored.
 *  out_data  receives `count` elements, converted to `dtype` under the rule of mw_program_read */
MW_API mw_status mw_trainer_predict(mw_trainer *trainer, const mw_batch *batch, mw_dtype dtype, void *out_data,
                                    size_t count, mw_error *err);

/** Reads or replaces one parameter or state (name as given to mw_parameter or mw_state), converting from or to `dtype`
 *  under the rule of mw_program_read and mw_program_write; what is written must be finite. If a parameter is
 *  replaced, here or by loaded weights, its moving average starts again from the new value. The second term of a
 *  compensated parameter starts again, too; other optimizer state stays. */
MW_API mw_status mw_trainer_read(mw_trainer *trainer, const char *parameter, mw_dtype dtype, void *out_data,
                                 size_t count, mw_error *err);
MW_API mw_status mw_trainer_write(mw_trainer *trainer, const char *parameter, mw_dtype dtype, const void *data,
                                  size_t count, mw_error *err);

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

/** The number of watched values that can be read. The order is: watched tensors, gradient norms, then the rest in
 *  the order of the options; each for the parameters in their order. 0 for NULL. */
MW_API size_t mw_trainer_watch_count(const mw_trainer *trainer);
/** Fills *out_watched for index < mw_trainer_watch_count; false otherwise. A number has the precision of the
 *  tensor's type on the device: in fp16 a norm beyond 65504 is infinite (for a gradient, the norm multiplied by the
 *  loss scale). If a dispatch has several steps, the values are those of its last step. With several ranks, a
 *  watched tensor is that of the rank's own batch. For MW_WATCH_NORM and MW_WATCH_VALUES the statistics are 0. */
MW_API bool mw_trainer_watch_at(const mw_trainer *trainer, size_t index, mw_watched *out_watched);
/** Copies the elements of a value that MW_WATCH_VALUES watches, as F32.
 *  errors  MW_ERROR_ARGUMENT if the value is watched in another way, MW_ERROR_SHAPE for a wrong count,
 *          MW_ERROR_STATE before the first step */
MW_API mw_status mw_trainer_watch_values(mw_trainer *trainer, size_t index, float *out_data, size_t count,
                                         mw_error *err);
/** The norm over all watched gradients, of the step that ran last: the root of the sum of the squares of their
 *  norms. NaN if there is none. */
MW_API double mw_trainer_gradient_norm(const mw_trainer *trainer);

/** What crossed the host boundary so far. State bytes move only at creation, checkpoints, reads and writes. */
typedef struct mw_trainer_counters {
    int64_t steps;         /* updates */
    int64_t refused_steps; /* refused, or skipped for a dynamic loss scale */
    uint64_t feed_bytes;   /* batch and scalars, host to device */
    uint64_t result_bytes; /* losses and metrics, device to host */
    uint64_t state_bytes_in, state_bytes_out;
    uint64_t exchanged_bytes; /* gradients and states that were summed over the ranks */
    uint64_t early_bytes;     /* the part of exchanged_bytes that was sent while the device still computed other
                               * gradients */
} mw_trainer_counters;
MW_API mw_trainer_counters mw_trainer_get_counters(const mw_trainer *trainer);

/** The number of warnings about the step program, in this order:
 *    - an epsilon of the optimizer that would be 0 in fp16 and was replaced. Other such numbers make
 *      mw_trainer_create fail: for example a learning rate that becomes 0, which would train nothing;
 *    - each parameter that is to be trained but gets no gradient: `argument` is "gradient", `tensor` its name, `count`
 *      its elements. mw_trainer_fit shows the first of these. If no parameter gets a gradient, mw_trainer_create fails;
 *    - what was replaced in the program (mw_program_warning_at). */
MW_API size_t mw_trainer_warning_count(const mw_trainer *trainer);
/** Fills *out_warning for index < mw_trainer_warning_count; false otherwise. Strings live as long as the trainer. */
MW_API bool mw_trainer_warning_at(const mw_trainer *trainer, size_t index, mw_warning *out_warning);

/** The comparison of the first step (mw_trainer_options.watch), whether it passed or not; NULL before the first
 *  step. It belongs to the trainer, and lives until the next step is compared or the trainer is destroyed. */
MW_API const mw_comparison *mw_trainer_comparison(const mw_trainer *trainer);

/** How the programs of a step were cut. A stream operation runs one compiled program once within a dispatch (e5rt:
 *  execution stream operation); it is not an operation of MIL. */
typedef struct mw_trainer_parts {
    size_t calls;      /* stream operations of one step, in one dispatch; 1 = the step is not cut */
    size_t programs;   /* that were compiled for steps and accumulation */
    size_t held;       /* stream operations that the trainer holds, counted against `held_max`: those of a step
                        * once, and again for each step of a dispatch; those of the accumulation; two for
                        * evaluation and prediction. With a library instead of the engine, a step and an
                        * accumulation count once more, because a second set checks the update in place */
    size_t held_max;   /* the most stream operations that a process can hold on the device; 0 = no limit */
    size_t operations; /* MIL operations of a step, without constants; 0 if the step is not cut */
    size_t compiled;   /* MIL operations in the compiled programs of the step: the fewer, the more segments
                        * share one */
} mw_trainer_parts;
/** Zeros for NULL. */
MW_API mw_trainer_parts mw_trainer_get_parts(const mw_trainer *trainer);

/** The step program: its MIL text, ports (parameters and optimizer state are aliased input and output) and device.
 *  It belongs to the trainer, which destroys it: mw_program_destroy refuses it. mw_program_run runs the step on the
 *  batch and the scalars that were fed last; the trainer does not count such a step. If the step is cut into segments,
 *  this is the program of the whole step: its text is one program (in keep_folder the segments have their own folders,
 *  `segment_0` and on), and it has no plan. */
MW_API mw_program *mw_trainer_program(const mw_trainer *trainer);

/* ---- files ----
 *
 * Every file that the library writes appears whole or not at all (temporary, fsync, rename, fsync of the folder). If
 * the path is a symbolic link, the link stays. The file it leads to is replaced; if there is no such file, it is
 * created, if its folder exists.
 * The call returns MW_ERROR_FILE, before it writes anything, if the path is something other than a regular file (a
 * folder, device, FIFO or socket, or a link to one), or another user's link in a folder that all may write to
 * (/tmp). A file that replaces another keeps its permission bits, and its owner and group where the system permits
 * it; other hard links keep the old content. */

/** Writes parameters, states, optimizer state, step, learning rate and the loader position to a safetensors file.
 *  position  of the training loader; NULL = the start */
MW_API mw_status mw_trainer_save(mw_trainer *trainer, const char *path, const mw_loader_position *position,
                                 mw_error *err);

/** Restores what mw_trainer_save wrote. Training then continues bit for bit, if the examples, device, number of
 *  threads, processor, BLAS and build of the library are the same (docs/training.md); else within rounding. Nothing
 *  changes on failure.
 *  errors  MW_ERROR_FILE if it cannot be read, MW_ERROR_FORMAT if it is malformed or of another architecture (the first
 *          difference is named) */
MW_API mw_status mw_trainer_load(mw_trainer *trainer, const char *path, mw_loader_position *out_position,
                                 mw_error *err);

/* ---- the loop ---- */

/** What mw_trainer_fit reports. */
typedef struct mw_progress {
    int64_t epoch, epochs; /* epoch from 1 */
    int64_t step, steps;   /* in all epochs */
    double loss;           /* mean of this epoch so far */
    bool epoch_end;        /* true at the end of an epoch: `validation` is set, if there is a validation set */
    mw_evaluation validation;
    double seconds, seconds_left;
    float learning_rate;        /* of the last step */
    double best;                /* of best_by, over the validations so far .. */
    int64_t best_epoch, waited; /* epoch of `best`, 0 = none; epochs that patience has waited since */
} mw_progress;

/** mw_trainer_fit calls it after every step (with dispatch_steps after every dispatch) and at the end of each epoch.
 *  Return true to stop the training; mw_trainer_fit first saves, if there is a checkpoint.
 *  Between the steps it may use the trainer in any way that does not train: read, write, save, measure, predict, log
 *  (mw_trainer_log), load weights and set the learning rate. If the schedule is not constant, setting the rate
 *  multiplies the rest of the schedule by new rate / old rate. mw_trainer_step, mw_trainer_step_many, mw_trainer_fit
 *  and mw_trainer_load return MW_ERROR_STATE on this trainer. If it destroys the trainer, mw_trainer_fit ends with
 *  MW_ERROR_STATE.
 *  Functions of data sets and schedules, the log hook and allocators must not use a trainer while a call on it runs. */
typedef bool mw_progress_function(void *user, const mw_progress *progress);

/** How a run ended. */
typedef enum mw_fit_end {
    MW_FIT_FINISHED = 0, /* all its epochs */
    MW_FIT_EARLY = 1,    /* `patience` */
    MW_FIT_STOPPED = 2,  /* MW_ERROR_STOPPED */
    MW_FIT_FAILED = 3    /* any other error */
} mw_fit_end;

/** The result of a run. */
typedef struct mw_fit_summary {
    mw_fit_end end;
    int64_t epochs, steps;    /* whole epochs and steps, with those of earlier calls of the run */
    double seconds;           /* of this call; of the whole run if it writes metrics */
    double loss;              /* mean of the last epoch, so far as it got */
    mw_evaluation validation; /* the last */
    double best;              /* of best_by .. */
    int64_t best_epoch;       /* .. found in this epoch; 0 = nothing was compared */
    bool restored;            /* the trainer is as it was after that epoch (restore_best) */
} mw_fit_summary;

/** What to train on. */
typedef struct mw_fit_data {
    const mw_dataset *training;
    const mw_dataset *validation; /* NULL = none */
    double validation_share;      /* in (0, 1): this share of the training set, rounded to whole examples, is used for
                                   * validation, the rest for training; `seed` decides which examples
                                   * (mw_dataset_split). 0 = none. A map of the training set applies to both parts: to
                                   * augment only the training part, split before */
    uint64_t seed;                /* order of the examples */
    bool keep_order;              /* do not shuffle */
} mw_fit_data;

/** How the learning rate changes. */
typedef struct mw_fit_schedule {
    mw_schedule rate;         /* over all epochs; default constant */
    int64_t plateau_patience; /* > 0: after this number of epochs in a row without improvement (mw_fit_stopping), the
                               * learning rate, also that of a schedule, is multiplied by plateau_factor, and the count
                               * starts again at 0 */
    double plateau_factor;    /* in (0, 1) */
    double plateau_least;     /* the rate is not made smaller than this; 0 or more.
                               * source  PyTorch ReduceLROnPlateau(patience = plateau_patience - 1,
                               *         threshold_mode = "abs") */
} mw_fit_schedule;

/** When the run is saved. */
typedef struct mw_fit_checkpoint {
    const char *path; /* NULL = none; else saved each epoch and on stop, and resumed from if it exists */
    int64_t steps;    /* > 0: also save after each multiple of this number of steps, counted over all epochs */
    double seconds;   /* > 0: also save at the first step that ends this long after the last save, or after the start of
                       * this call */
    int keep_last;    /* > 0: keep this number of the latest saves, up to 1000: "run.safetensors" at step 1200 is kept
                       * as "run.step-1200.safetensors" beside it. Older ones that this run kept are removed when the
                       * new one is safe */
} mw_fit_checkpoint;

/** Which epoch is the best, and when to end because of it. */
typedef struct mw_fit_stopping {
    const char *best_by; /* "loss" or the name of a metric: the validations of the epochs are compared by it, and the
                          * checkpoint of the best epoch stays as "run.best.safetensors". NULL = none */
    bool best_highest;   /* the highest value is the best, as of an accuracy; default the lowest */
    int64_t patience;    /* > 0: mw_trainer_fit ends early, with MW_OK, after this number of epochs in a row without
                          * improvement. An epoch improves if its value of best_by is better, by more than min_delta,
                          * than the best improving epoch so far. The checkpoint holds the number of epochs waited: a
                          * run that ended early does not train on when it is started again */
    double min_delta;    /* 0 or more; for patience and plateau_patience */
    bool restore_best;   /* a run that ends by itself leaves the trainer as it was after its best epoch by best_by:
                          * parameters, states, optimizer and learning rate. They come from the checkpoint of that
                          * epoch, or from a copy in memory if there is none */
} mw_fit_stopping;

/** Which files get the numbers of the run. */
typedef struct mw_fit_metrics {
    const char *path; /* not NULL: mw_trainer_fit writes what it measures to this file during the run. The end of the
                       * name decides the format: JSON Lines (.jsonl), CSV (.csv) or TensorBoard's events (a folder),
                       * see metrics.h and docs/metrics.md. A new run starts the file again. A run that resumes from
                       * its checkpoint continues the file, and removes what was written after that checkpoint. With
                       * several ranks rank 0 writes */
    const char *const *more; /* more files like `path` */
    size_t more_count;       /* their number, up to 7 */
    int64_t steps;           /* write a line after each multiple of this number of steps; 0 = 500 lines over all epochs
                              */
} mw_fit_metrics;

/** What is shown, and told to the caller, while the run goes on. */
typedef struct mw_fit_progress {
    bool quiet;                     /* no progress on standard error */
    bool no_warnings;               /* the warnings of mw_trainer_warning_at are not printed: the caller shows them */
    bool ignore_signals;            /* true: SIGINT and SIGTERM are not handled. By default, the first such signal makes
                                     * mw_trainer_fit save the checkpoint and return MW_ERROR_STOPPED; a second one before that
                                     * ends the process. A signal that the host ignores stays ignored. When mw_trainer_fit
                                     * returns, the host's handlers are back */
    mw_progress_function *function; /* NULL = none */
    void *user;
} mw_fit_progress;

/** How to fit. Fill with mw_fit_defaults. */
typedef struct mw_fit_options {
    size_t struct_size;
    int64_t epochs;
    mw_fit_data data;
    mw_fit_schedule schedule;
    mw_fit_checkpoint checkpoint;
    mw_fit_stopping stopping;
    mw_fit_metrics metrics;
    mw_fit_progress progress;
    mw_fit_summary *summary; /* not NULL: filled when mw_trainer_fit ends, however it does */
} mw_fit_options;

/** Returns options with everything else at its default. */
MW_API mw_fit_options mw_fit_defaults(const mw_dataset *training, int64_t epochs);

/** Writes a record of the kind "log" to the metrics files of the mw_trainer_fit that runs on this trainer. Call it from
 *  the callback of mw_trainer_fit. Writes nothing if there are no such files, or on a rank other than 0.
 *  errors  MW_ERROR_STATE if none runs; those of mw_metrics_write */
MW_API mw_status mw_trainer_log(mw_trainer *trainer, const mw_metrics_field *fields, size_t count, mw_error *err);

/** Trains for whole epochs. The batch size is the first extent of the graph's inputs. Progress is one line on a
 *  terminal (with the time left), one line per epoch elsewhere; quiet turns it off.
 *  errors  MW_ERROR_STOPPED if the callback or a signal stopped it, MW_ERROR_NUMERIC at the first refused step; what
 *          mw_trainer_evaluate says of a validation set that it cannot take, before the first step; MW_ERROR_FILE if
 *          another mw_trainer_fit, here or in another process, has this checkpoint, if one cannot be written, or the
 *          progress (nobody reads the pipe, the disk is full): the weights in the trainer are those of the last step */
MW_API mw_status mw_trainer_fit(mw_trainer *trainer, const mw_fit_options *options, mw_error *err);

/** The signal that asked the latest mw_trainer_fit of this process to stop, SIGINT or SIGTERM; 0 if none did. A program
 *  that ends because of it does so with 128 + signal. */
MW_API int mw_fit_signal(void);

#ifdef __cplusplus
}
#endif
#endif

/* Training: forward, backward and update as one program whose state stays on the device.
 *
 *     mw_trainer_options options = mw_trainer_defaults(mw_cross_entropy(logits, y), mw_adam(1e-3f));
 *     options.metric = mw_accuracy(logits, y);
 *     mw_trainer *trainer = mw_trainer_create(&options, &err);
 *     mw_trainer_step(trainer, batch, &loss, &err);    // or the whole loop: fit.h
 *
 *     options.compile.share.trainer = trainer;         // of another: both train the same weights (compile.h)
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

#include <millwright/dataset.h>
#include <millwright/trainer_options.h>
#include <millwright/watch.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mw_trainer mw_trainer;

/** Builds and compiles the step program. The graph is copied, not changed, and may be destroyed afterwards. A step has
 *  one shape: an input with `?` extents gets its default shape. For another shape, build the loss on a graph made by
 *  mw_graph_specialize or mw_graph_trainable.
 *  errors  as mw_grad and mw_program_create; MW_ERROR_ARGUMENT if no parameter gets a gradient, if a group matches no
 *          parameter, for too many metrics, for the name of a metric that is invalid or taken, or if no parameter or
 *          state has the name of one of compile.share.trainer; MW_ERROR_SHAPE for an input with `?` and no default;
 *          MW_ERROR_MEMORY if memory.limit is below what recomputation reaches, with both numbers; MW_ERROR_NUMERIC
 *          for a scalar that the device's type cannot hold, naming it; MW_ERROR_SHAPE or MW_ERROR_DTYPE if a tensor
 *          differs from the one of the same name in compile.share.trainer */
MW_API mw_trainer *mw_trainer_create(const mw_trainer_options *options, mw_error *err);

/** Frees the trainer. NULL is fine. Inside a callback of a call on this trainer, or while another thread is inside a
 *  call on it, the trainer is freed when that call ends, and that call returns MW_ERROR_STATE.
 *  Destroying a trainer twice is a mistake. The library looks it up in a table of live objects: the second call does
 *  nothing and reports to the log hook (MW_LOG_ERROR). Any other call on a destroyed trainer returns MW_ERROR_STATE,
 *  if it takes an error. Both hold only until a new object gets the same address. */
MW_API void mw_trainer_destroy(mw_trainer *trainer);

/** One step: copies the batch, runs, reads the loss. Feeds are matched to inputs by name; others are ignored. With
 *  accumulate = k each call takes one batch, and every k-th call updates.
 *
 *  The device refuses a step whose loss, gradients, new parameters or new states are not all finite, and a step that
 *  comes close to that (the limits are in docs/training.md, "A step that is refused"). Such a step changes no bit of
 *  parameters and states, and is not counted. With a dynamic loss scale it is skipped instead, without an error: the
 *  next batch takes its place, and counters.refused_steps of mw_trainer_get_info shows it.
 *  out_loss  may be NULL; 0 on failure
 *  errors    MW_ERROR_ARGUMENT   a missing feed, an index out of range
 *            MW_ERROR_NUMERIC    the batch is not finite, or the step is refused: the message names step, feed and
 *                                examples, and the first operation whose result is not finite, found by running the
 *                                batch once more (within a shared dispatch: on the state after it). Or the first step
 *                                is compared (options.watch.compare) and does not pass: the message names the first
 *                                operation that differs, mw_trainer_comparison has all, nothing was run, and the next
 *                                step is compared again. The errors of mw_comparison_create come, too
 *            MW_ERROR_DEVICE     the library (never the engine) cannot update state in place, as the first step shows;
 *                                from then on steps and files are MW_ERROR_STATE */
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
 *  limits where parameters are stored in fp32 (docs/training.md): if it was at most 1024 when the trainer was
 *  created, it must stay at most 1024; with decoupled weight decay, also at most 1 / weight_decay.
 *  errors  MW_ERROR_ARGUMENT, MW_ERROR_NUMERIC if the device's type cannot hold it; the old one stays */
MW_API mw_status mw_trainer_set_learning_rate(mw_trainer *trainer, float learning_rate, mw_error *err);

/** Whether the moving averages of the parameters take the place of the parameters wherever these are read: evaluation,
 *  prediction, written weights, exported models, and programs (also models of text) that are made with share.trainer
 *  from then on. Training and checkpoints, which have both, stay the same. At first they are not used.
 *  errors  MW_ERROR_STATE if the trainer keeps none */
MW_API mw_status mw_trainer_use_averages(mw_trainer *trainer, bool use, mw_error *err);

/** The classes of a column that the trainer has learned: those that this column of the training data of the last
 *  mw_trainer_fit has; none if it has none. mw_trainer_evaluate and similar calls refuse a data set that has other
 *  classes there, or another order (MW_ERROR_ARGUMENT with both lists). To avoid this, open the data set with these
 *  names as class_names. Lives until the next mw_trainer_fit. */
MW_API mw_classes mw_trainer_classes(const mw_trainer *trainer, const char *column);

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

/* ---- where it stands ---- */

/** The effect of memory.limit on a step. */
typedef struct mw_trainer_recomputation {
    size_t stretches;             /* parts of the forward pass that are computed again; 0 = none */
    uint64_t bytes, bytes_before; /* of a step, with recomputation and without */
    double flops, flops_before;   /* of the operations of a step that have a number (mw_plan_totals) */
} mw_trainer_recomputation;

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
/** What crossed the host boundary since the trainer was made. State bytes move only at creation, checkpoints, reads and
 *  writes. */
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

/** Where a trainer stands. */
typedef struct mw_trainer_info {
    int64_t steps;        /* updates, those before the checkpoint that was loaded too */
    float learning_rate;  /* of the next step, without the factors of groups */
    float loss_scale;     /* the static one, or where the dynamic one stands */
    double gradient_norm; /* of the step that ran last, before clipping: the root of the sum of the squares of the
                           * norms of all gradients that are watched so (watch.gradient_norms). NaN if none is */
    size_t warning_count; /* of mw_trainer_warning_at */
    size_t watch_count;   /* of mw_trainer_watch_at */
    mw_trainer_counters counters;
    mw_trainer_parts parts;
    mw_trainer_recomputation recomputation; /* all 0 without memory.limit */
} mw_trainer_info;

/** Where the trainer stands now. Callbacks of a step or a fit may ask, other threads not while such a call runs. Zeros
 *  for NULL. */
MW_API mw_trainer_info mw_trainer_get_info(const mw_trainer *trainer);

/** Fills *out_warning with warning `index` about the step program; false past the last. Strings live as long as the
 *  trainer. The order:
 *    - an epsilon of the optimizer that would be 0 in fp16 and was replaced. Other such numbers make
 *      mw_trainer_create fail: for example a learning rate that becomes 0, which would train nothing;
 *    - each parameter that is to be trained but gets no gradient: `argument` is "gradient", `tensor` its name, `count`
 *      its elements. mw_trainer_fit shows the first of these. If no parameter gets a gradient, mw_trainer_create fails;
 *    - what was replaced in the program (mw_program_warning_at). */
MW_API bool mw_trainer_warning_at(const mw_trainer *trainer, size_t index, mw_warning *out_warning);

/** The step program: its MIL text, ports (parameters and optimizer state are aliased input and output) and device.
 *  It belongs to the trainer, which destroys it: mw_program_destroy refuses it. mw_program_run runs the step on the
 *  batch and the scalars that were fed last; the trainer does not count such a step. If the step is cut into segments,
 *  this is the program of the whole step: its text is one program (in keep_folder the segments have their own folders,
 *  `segment_0` and on), and it has no plan. */
MW_API mw_program *mw_trainer_program(const mw_trainer *trainer);

/* ---- files: write.h says what holds for all of them ---- */

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

#ifdef __cplusplus
}
#endif
#endif

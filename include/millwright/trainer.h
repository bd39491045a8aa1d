/* Training: forward, backward and update as one program whose state stays on the device.
 *
 *     mw_trainer_options options = mw_trainer_defaults(mw_cross_entropy(logits, y), mw_adam(1e-3f));
 *     options.metric = mw_accuracy(logits, y);
 *     mw_trainer *trainer = mw_trainer_create(&options, &err);
 *     mw_fit_options fit = mw_fit_defaults(train, 5);
 *     fit.validation = test;
 *     mw_fit(trainer, &fit, &err);
 *
 * The host feeds the batch and the step's scalars and reads the loss; weights and optimizer state are seeded once and
 * read only for checkpoints.
 *
 * Threads: calls on one trainer come one at a time, from any thread. One that takes an error and comes from another
 * thread meanwhile is MW_ERROR_STATE, as is one that a callback of a call makes on the same trainer (but see
 * mw_progress_function), and changes nothing; different trainers may be used at the same time, on one data set too. */
#ifndef MILLWRIGHT_TRAINER_H
#define MILLWRIGHT_TRAINER_H

#include <millwright/communicator.h>
#include <millwright/compare.h>
#include <millwright/dataset.h>
#include <millwright/metrics.h>
#include <millwright/optimizer.h>
#include <millwright/program.h>
#include <millwright/schedule.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Parameters whose names match a pattern, to be frozen or trained with numbers of their own. */
typedef struct mw_parameter_group {
    const char *pattern;    /* of whole names, as fnmatch(3): `*` any characters, `?` one, `[ab]` one of these */
    bool frozen;            /* no gradient and no optimizer state: the values stay, bit for bit. States that the pattern
                             * matches are not assigned either, but for generators of random numbers; a batch norm layer
                             * whose two running statistics are among them normalizes by these, as in evaluation (PyTorch's
                             * requires_grad = False and eval()) */
    bool moving_statistics; /* of a frozen group: freeze parameters only; batch norm layers go on to normalize by the
                             * batch and to update their running statistics (PyTorch's requires_grad = False alone) */
    float rate_factor;      /* > 0; multiplies the learning rate */
    float weight_decay;     /* negative = the optimizer's */
} mw_parameter_group;

/** A group with the optimizer's numbers, to be changed field by field. */
MW_API mw_parameter_group mw_parameter_group_defaults(const char *pattern);
/** A frozen group, with the running statistics. A pattern that matches states alone will do: "*.running_*". */
MW_API mw_parameter_group mw_parameter_group_frozen(const char *pattern);

/** The most numbers that a trainer watches besides its loss. */
#define MW_METRICS_MAX 16

/** A number to watch besides the loss. */
typedef struct mw_metric {
    const char *name; /* shown with the value: 1 to 63 bytes of UTF-8 without control characters, copied */
    mw_tensor *value; /* scalar */
} mw_metric;

/** What is watched of a step. */
typedef enum mw_watch_of {
    MW_WATCH_TENSOR = 0,    /* a value of the loss's graph, in its training form */
    MW_WATCH_GRADIENT = 1,  /* of parameters, before it is clipped; of several batches or ranks their mean */
    MW_WATCH_PARAMETER = 2, /* as the step found it */
    MW_WATCH_UPDATE = 3     /* what the step added to a parameter: 0 if it was refused or skipped */
} mw_watch_of;

typedef enum mw_watch_kind {
    MW_WATCH_STATISTICS = 0,
    MW_WATCH_VALUES = 1, /* all elements (mw_trainer_watch_values) */
    MW_WATCH_NORM = 2    /* the root of the sum of squares alone */
} mw_watch_kind;

/** One thing, or one for each parameter of a pattern, that the program of the step computes beside the step. */
typedef struct mw_watch {
    mw_watch_of of;
    mw_watch_kind kind;
    mw_tensor *tensor; /* of MW_WATCH_TENSOR: fp32 or fp16; it needs no parameters and states that the loss does not */
    const char *name;  /* of MW_WATCH_TENSOR: under which it is shown; NULL = the tensor's own */
    const char *pattern; /* of the others: names of parameters that are trained, as in mw_parameter_group */
} mw_watch;

/** Statistics of a tensor. */
MW_API mw_watch mw_watch_tensor(mw_tensor *tensor, const char *name);
/** Statistics of gradients, updates or parameters. */
MW_API mw_watch mw_watch_parameters(mw_watch_of of, const char *pattern);

/** For `segments`: a step of more than 1,024 operations is cut, at its repetitions if it has some, into pieces of 64
 *  operations or more; so far as the trainer's operations stay within 128, which is what a process holds on the ANE. */
#define MW_SEGMENTS_AUTO (-1)

/** How gradients travel between ranks. */
typedef enum mw_wire {
    MW_WIRE_AS_THEY_ARE = 0, /* with the bits that they have */
    MW_WIRE_BF16 = 1,
    MW_WIRE_FP16 = 2
} mw_wire;

/** What to train. Fill with mw_trainer_defaults. */
typedef struct mw_trainer_options {
    size_t struct_size;
    mw_tensor *loss; /* scalar */
    mw_optimizer optimizer;
    mw_tensor *metric; /* scalar, shown by mw_fit and mw_trainer_measure under the name that mw_name gave it, else
                        * under that of its constructor ("accuracy"), else as "metric"; NULL = none */
    const mw_metric *metrics; /* more of them, each under its own name; copied */
    size_t metric_count;      /* of these; with `metric` at most MW_METRICS_MAX */
    mw_tensor *prediction;    /* what mw_trainer_predict returns; NULL = none */

    const mw_parameter_group *groups; /* the first that matches a parameter counts; copied */
    size_t group_count;

    float loss_scale;        /* power of two that multiplies the gradient seed, so that small gradients survive
                              * fp16; the update divides it out. 1 = none; 0 = the default: 256 if anything is computed
                              * in fp16, else 1 */
    bool dynamic_loss_scale; /* the scale is a state of the program: halved by a step that is refused (below),
                              * which is skipped, and doubled after loss_scale_interval good ones, between 1
                              * and 32768. loss_scale is where it starts, 0 = 32768.
                              * source  Micikevicius et al. 2018, section 3.2 */
    int loss_scale_interval; /* 1 to 2000; 0 = 2000 */

    float clip_norm;  /* > 0: all gradients g are multiplied by min(1, clip_norm / norm), where norm is the root of the
                       * sum of squares over all of them. 0 = none.  source  Pascanu et al. 2013 */
    float clip_value; /* > 0: each element of a gradient is limited to [-clip_value, clip_value], after clip_norm;
                       * 0 = none */
    int accumulate;   /* batches whose mean gradient makes one update, 1 to 1024; 0 = 1. The sum stays on the device */
    float average_decay; /* d in (0, 1): a' = d a + (1 - d) p' follows each parameter p, for mw_trainer_use_averages;
                          * 0 = none.  source  Polyak and Juditsky 1992 */
    int segments; /* programs that a step is cut into. 0 and 1 = one, which is the default; n, up to 4096 = at most n
                   * operations in one dispatch; MW_SEGMENTS_AUTO = if the step is long (docs/training.md). Pieces that
                   * are equal up to names, as those of equal layers, are one compiled program, so that a deep network
                   * takes no longer to compile than a shallow one. The results are those of the whole, bit for bit */
    uint64_t memory_limit; /* bytes that a step may take, parameters, states and constants included; 0 = any number. If
                            * it takes more, stretches of the forward pass are computed again in the backward pass
                            * instead of kept (mw_recompute), as few as will do: more time, which is said through the
                            * log hook before the first step (mw_trainer_recomputed), and the bits of mw_recompute.
                            * Not with segments; not for a library that shows no plans. Of steps that share a dispatch
                            * one counts */
    int dispatch_steps; /* steps that mw_trainer_step_many and mw_fit put into one dispatch, 1 to 100; 0 = 1. Saves the
                         * dispatches between them, costs the memory of as many batches */

    /** not NULL: this trainer is one of as many as the communicator has ranks, which train one set of parameters, each
     *  on batches of its own (docs/many-machines.md): a step updates by the mean gradient of the batches of all ranks,
     *  and out_loss is the mean of their losses. Every rank makes the same calls on its trainer in the same order;
     *  creating, step, measure, fit, save and load are such calls. Sums have the bits of the order of the ranks: those
     *  of one rank that accumulates these batches, if no rank accumulates more than one and the model has no states but
     *  generators of random numbers. A batch that one rank refuses is refused by all, and says which rank it was. It
     *  must outlive the trainer. A communicator with one rank is ignored. NULL = no others */
    mw_communicator *communicator;
    int verify_steps; /* of ranks that exchange gradients: updates between comparisons of their parameters and states by
                       * a hash, which find a rank that computes other bits; 1 or more, 0 = 100, -1 = never */
    int local_steps;  /* over 1, up to 10000: each rank trains by itself for so many updates, refused steps included,
                       * before their parameters and the model's states become the mean over the ranks; the states of
                       * the optimizer stay its own, and those of rank 0 are what is saved. They also meet before each
                       * save and evaluation. A step that one rank refuses ends all at the next meeting; out_loss is of
                       * the rank's own batch. 0 and 1 = gradients are exchanged in each step.
                       * source  Stich 2019; Douillard et al. 2023 */
    float outer_learning_rate, outer_momentum; /* of local_steps: from where the ranks met last, p, the mean m makes the
                                                * step d = p - m of SGD with Nesterov's momentum; 0 and 0 = 1 and 0,
                                                * which is the mean. In [0, 10] and [0, 1). Not in a checkpoint */
    mw_wire wire; /* in what type fp32 gradients are sent. What rounding loses of a gradient, or of a sum, is added
                   * to that of the next step; a refused step drops what was carried, and a checkpoint has none.
                   * fp16 keeps 11 bits and ends at 65504, bf16 keeps 8 of any size.
                   * source  Seide et al. 2014; Karimireddy et al. 2019 */
    uint64_t bucket_bytes; /* of gradients that ranks send together, 1024 to 2^26; 0 = 2^22. A step with more than one
                            * such bucket is cut, into 8 pieces unless segments says otherwise, and a bucket is sent
                            * when the piece that computes it is done, while the device goes on; segments = 1 sends all
                            * at the end. A library without asynchronous runs does, too */
    struct mw_trainer *share; /* not NULL: parameters and states of the model that this trainer has by the same name are
                               * its buffers, not copies: what one step writes the other reads, and nothing crosses to
                               * the host (docs/training.md). Each has its own groups, optimizer states, averages and
                               * loss scale; of shared tensors the values count that are there, not their initializers.
                               * Types and shapes must be equal. Calls on trainers and programs that share come one at a
                               * time, as if they were one object (between the steps of one's mw_fit, its progress
                               * callback may use the others). They may be destroyed in any order; the allocator of
                               * `share` must stay until all are. Not with a communicator. NULL = nothing is shared */
    bool shard_states; /* each rank keeps the states of the optimizer for one part of the trained elements, of equal
                        * size, updates that part by the sums of its gradients, and sends the new parameters to all. The
                        * bits are those without. As many bytes are sent; with clip_norm half as many again, as the
                        * norm is that of all sums; with `wire` parameters go as they are. Sums of `accumulate` and
                        * averages stay on every rank. Rank 0 has all states while it saves, and from loading to the
                        * next step, and the checkpoint is the same. Not with local_steps over 1, nor with a custom
                        * optimizer.
                        * source  Rajbhandari et al. 2020, stages 1 and 2 */
    const char *replay_folder; /* not NULL: a step that is refused after it ran is left in this folder, in place of one
                                * before, to be run again by mw_replay (replay.h). The model's size on disk; a failure
                                * to write it is only logged */
    bool watch_gradient_norms; /* the norm of each parameter's gradient and of all, as mw_trainer_gradient_norm */
    const mw_watch *watches;   /* what else of a step is watched; copied. The step computes it on the device, which
                                * takes its time; the results of the step keep their bits, and without watches there
                                * is nothing of it. The same on all ranks; with shard_states only tensors */
    size_t watch_count;
    const mw_compare_options *compare; /* not NULL: the first step is also run by compare->reference, at these sizes and
                                        * on the batch that it gets, and compared operation by operation, forward,
                                        * backward and update; it is refused if the comparison does not pass. The
                                        * other side is `compile`; device, batch and seeds are not used. The
                                        * strings of the reference must live until then */

    mw_compile_options compile; /* device, threads, seed, allocator */
} mw_trainer_options;

/** Returns options with everything else at its default. */
MW_API mw_trainer_options mw_trainer_defaults(mw_tensor *loss, mw_optimizer optimizer);

typedef struct mw_trainer mw_trainer;

/** Builds and compiles the step program. The graph is copied, not changed, and may be destroyed afterwards. A step has
 *  one shape: of inputs with `?` extents the default one; for another, build the loss on what mw_graph_specialise or
 *  mw_graph_trainable makes.
 *  errors  as mw_grad and mw_compile; MW_ERROR_ARGUMENT if no parameter gets a gradient, or a group no parameter, or
 *          for too many metrics or a name of one that is unfit or taken; MW_ERROR_SHAPE for an input with `?` and no
 *          default; MW_ERROR_MEMORY if memory_limit is below what recomputation reaches, with both numbers;
 *          MW_ERROR_NUMERIC for a scalar that the device's type cannot hold, naming it; MW_ERROR_ARGUMENT if it has
 *          nothing in common with `share`, MW_ERROR_SHAPE or MW_ERROR_DTYPE if a tensor of one name differs */
MW_API mw_trainer *mw_trainer_create(const mw_trainer_options *options, mw_error *err);

/** What memory_limit made of a step. */
typedef struct mw_trainer_recomputation {
    size_t stretches;             /* of the forward pass that are computed again; 0 = none */
    uint64_t bytes, bytes_before; /* of a step, with and without */
    double flops, flops_before;   /* of its operations that have a number (mw_plan_totals) */
} mw_trainer_recomputation;

/** All 0 for NULL and for a trainer without memory_limit. */
MW_API mw_trainer_recomputation mw_trainer_recomputed(const mw_trainer *trainer);

/** Frees the trainer. NULL is fine. Within a callback of a call on it, or while another thread is in one, it is the end
 *  of that call that frees it, and the call returns MW_ERROR_STATE. Destroying twice is a mistake, which is found in a
 *  table of live objects as long as no new one has the address: nothing happens then, and the log hook is told
 *  (MW_LOG_ERROR). Other calls on what was destroyed are MW_ERROR_STATE in the same way, if they take an error. */
MW_API void mw_trainer_destroy(mw_trainer *trainer);

/** One step: copies the batch, runs, reads the loss. Feeds are matched to inputs by name; others are ignored. When
 *  gradients are accumulated, each call takes one batch, and every accumulate-th call updates. With a dynamic loss
 *  scale a refused batch is skipped without an error (the loss tells, and refused_steps); the next batch takes its
 *  place.
 *  A step is refused on the device, and changes no bit of parameters and states, if the loss, a gradient, a new
 *  parameter or a new state is not finite. Where parameters are stored in fp32 and nothing is compensated, that is
 *  judged by the gradients: one beyond 2^50 (2^49 with weight decay that is not decoupled; in the loss scale), from
 *  which an update could overflow, is refused too, and so are a parameter beyond 2^100 if averages are kept, or with
 *  such decay beyond 2^49 / weight_decay (and the loss scale). On MW_DEVICE_ANE what IEEE makes NaN is 0, as on a chip
 *  (docs/chip.md), and is refused nowhere.
 *  A loss of more than 1,000 times its running mean is said once through the log hook (docs/training.md).
 *  out_loss  may be NULL; 0 on failure
 *  errors    MW_ERROR_NUMERIC if the batch is not finite or the step is refused: the message names step and feed (and
 *            example ids if the batch has them) and, by running the batch once more with every value watched, the
 *            first operation whose result is not finite, with the forward operation and the parameter that it belongs
 *            to; behind a refused step of a dispatch that is with the state after it. Parameters and state are as
 *            before, the step is not counted;
 *            MW_ERROR_ARGUMENT for a missing feed or an index out of range;
 *            MW_ERROR_NUMERIC if the first step is compared (compare of the options) and does not pass: the message
 *            names the first operation that differs, mw_trainer_comparison has all. Nothing was run, and the next step
 *            is compared again. What mw_program_compare refuses is refused here, too;
 *            MW_ERROR_DEVICE if the first step shows that the library (not the engine) cannot update state in place:
 *            the trainer is dead then: steps and files are MW_ERROR_STATE */
MW_API mw_status mw_trainer_step(mw_trainer *trainer, const mw_batch *batch, float *out_loss, mw_error *err);

/** As many steps as there are batches, bit for bit those of mw_trainer_step, with `dispatch_steps` of the options in
 *  each dispatch; what is left over runs step by step. That a step was skipped (dynamic loss scale) is known when
 *  its dispatch ends: those behind it ran with the bias corrections of their places, as do those behind a refused one.
 *  out_losses  [count], may be NULL
 *  errors      as mw_trainer_step. A batch that cannot be fed is refused before the dispatch that it belongs to. If a
 *              step is refused in the middle of a dispatch, those behind it have run and count. */
MW_API mw_status mw_trainer_step_many(mw_trainer *trainer, const mw_batch *batches, size_t count, float *out_losses,
                                      mw_error *err);

/** Learning rate of the coming steps, from 0 on. Where parameters are stored in fp32, one that was at most 1024 when
 *  the trainer was made stays so, and times decoupled weight decay at most 1 (see mw_trainer_step).
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
 *  statistics, dropout as the identity, noise from the generator where it stands. Changes no state.
 *
 *  Let a batch have B examples. Exact, with every example counted once whatever B and the last batch are, is each
 *      sum of c_i m_i + sum of d_j
 *  of means m over examples and terms d without examples (the L2 norm of parameters); coefficients are constants or
 *  parameters. A mean may be one of loss.h or mw_reduce_mean over rows that each depend on one example; an example may
 *  have several rows. A sum over the examples counts as B times their mean. A weighted mean (class weights, ignored
 *  labels) and any quotient of two such sums, as sum(mask * l) / sum(mask), is the quotient over the whole set.
 *  Anything else, as the root of a mean or a loss that compares examples with each other, is the mean over the batches,
 *  weighted by their examples; a short last batch is filled up with copies of its last one. The log hook says once
 *  which term that is, and why (MW_LOG_WARNING).
 *  out     may be NULL; zeros on failure
 *  errors  MW_ERROR_NUMERIC if a quotient is divided by 0: every label is ignored or has weight 0; a batch that cannot
 *          be fed as mw_trainer_step */
MW_API mw_status mw_trainer_measure(mw_trainer *trainer, const mw_dataset *dataset, mw_evaluation *out, mw_error *err);

/** Names of the classes that the trainer has learned: those of that column of the training data of its last mw_fit, 0
 *  and NULL if that had none. A data set that names other classes there, or in another order, is refused by
 *  mw_trainer_measure and the calls like it (MW_ERROR_ARGUMENT with both lists): open it with these as class_names.
 *  Strings live until the next mw_fit. */
MW_API size_t mw_trainer_class_count(const mw_trainer *trainer, const char *column);
MW_API const char *mw_trainer_class_name(const mw_trainer *trainer, const char *column, size_t index);

/** The loss and the first metric of mw_trainer_measure, for programs that watch one.
 *  out_loss, out_metric  may be NULL; 0 on failure, out_metric also if the trainer has no metric
 *  errors                as mw_trainer_measure */
MW_API mw_status mw_trainer_evaluate(mw_trainer *trainer, const mw_dataset *dataset, double *out_loss,
                                     double *out_metric, mw_error *err);

/** Runs the prediction on one batch, in the evaluation form; out_data receives `count` elements as F32. Feeds that
 *  it does not need are ignored. */
MW_API mw_status mw_trainer_predict(mw_trainer *trainer, const mw_batch *batch, float *out_data, size_t count,
                                    mw_error *err);

/** Reads or replaces one parameter or state (name as given to mw_parameter or mw_state), as F32. The moving average of
 *  a parameter that is replaced, here or by loaded weights, starts anew from it, as does the second term of a
 *  compensated one; other optimizer state stays. */
MW_API mw_status mw_trainer_read(mw_trainer *trainer, const char *parameter, float *out_data, size_t count,
                                 mw_error *err);
MW_API mw_status mw_trainer_write(mw_trainer *trainer, const char *parameter, const float *data, size_t count,
                                  mw_error *err);

/** What was watched of a step. */
typedef struct mw_watched {
    const char *name; /* that of the tensor, or "gradient/fc1.weight", "update_norm/fc1.weight", ..; lives as long as
                       * the trainer */
    mw_watch_of of;
    mw_watch_kind kind;
    const char *parameter; /* whose; NULL = of a tensor */
    int64_t elements;
    int64_t step; /* number of the step that it is of: the one that ran last, refused and skipped ones included; 0 =
                   * none has, and the rest is 0 */
    double min, max, mean;
    double deviation;  /* root of the mean of (x - mean)^2 */
    double norm;       /* root of the sum of squares */
    double zeros;      /* share of elements that are 0 .. */
    double non_finite; /* .. and that are NaN or infinite. Then the others are what IEEE makes of them */
} mw_watched;

/** What there is to read: watched tensors first, then gradient norms, then the rest in the order of the options, each
 *  for the parameters in their order. 0 for NULL. */
MW_API size_t mw_trainer_watch_count(const mw_trainer *trainer);
/** Fills *out_watched for index < mw_trainer_watch_count; false otherwise. Numbers have the precision of the tensor's
 *  type on the device: in fp16 a norm beyond 65504 (of a gradient in the loss scale) is infinite. Of several steps in
 *  one dispatch it is the last. With several ranks tensors are those of the rank's own batch. Of norms and values the
 *  statistics are 0. */
MW_API bool mw_trainer_watch_at(const mw_trainer *trainer, size_t index, mw_watched *out_watched);
/** The elements of what is watched by MW_WATCH_VALUES, as F32.
 *  errors  MW_ERROR_ARGUMENT if it is not, MW_ERROR_SHAPE for another count, MW_ERROR_STATE before the first step */
MW_API mw_status mw_trainer_watch_values(mw_trainer *trainer, size_t index, float *out_data, size_t count,
                                         mw_error *err);
/** The root of the sum of the squares of all gradient norms that are watched, of the step that ran last; NaN if there
 *  is none. */
MW_API double mw_trainer_gradient_norm(const mw_trainer *trainer);

/** What crossed the host boundary so far. State bytes move only at creation, checkpoints, reads and writes. */
typedef struct mw_trainer_counters {
    int64_t steps;         /* updates */
    int64_t refused_steps; /* refused, or skipped for a dynamic loss scale */
    uint64_t feed_bytes;   /* batch and scalars, host to device */
    uint64_t result_bytes; /* losses and metrics, device to host */
    uint64_t state_bytes_in, state_bytes_out;
    uint64_t exchanged_bytes; /* of gradients and states that were summed over the ranks .. */
    uint64_t early_bytes;     /* .. and of these, what was sent while the device still computed others */
} mw_trainer_counters;
MW_API mw_trainer_counters mw_trainer_count(const mw_trainer *trainer);

/** What was replaced in the step program (mw_program_warning_at), after an epsilon of the optimizer that would be 0 in
 *  fp16. Other numbers of the optimizer are refused when the trainer is created: a learning rate that becomes 0 would
 *  train nothing. Between the two comes each parameter that is to train but that no gradient reaches: `argument` is
 *  "gradient", `tensor` its name, `count` its elements. mw_fit shows the first of these; if no parameter gets a
 *  gradient, the trainer is refused. */
MW_API size_t mw_trainer_warning_count(const mw_trainer *trainer);
/** Fills *out_warning for index < mw_trainer_warning_count; false otherwise. Strings live as long as the trainer. */
MW_API bool mw_trainer_warning_at(const mw_trainer *trainer, size_t index, mw_warning *out_warning);

/** What the first step was compared with (mw_trainer_options.compare), whether it passed or not; NULL before it. It
 *  belongs to the trainer, and lives until the next step is compared or the trainer is destroyed. */
MW_API const mw_comparison *mw_trainer_comparison(const mw_trainer *trainer);

/** What the programs that learn were cut into. */
typedef struct mw_trainer_parts {
    size_t calls;    /* operations of one step, in one dispatch; 1 = it is not cut */
    size_t programs; /* that were compiled for steps and accumulation */
    size_t held;     /* operations of the trainer with all its parts, as `held_max` counts: for each step of a dispatch,
                      * and two for evaluation and prediction */
    size_t held_max; /* what a process holds on the device; 0 = any number */
    size_t operations; /* of MIL in a step, constants not counted; 0 if it is not cut */
    size_t compiled;   /* of these in its programs: the fewer, the more is shared */
} mw_trainer_parts;
/** Zeros for NULL. */
MW_API mw_trainer_parts mw_trainer_count_parts(const mw_trainer *trainer);

/** The step program: its MIL text, ports (parameters and optimizer state are aliased input and output) and device. It
 *  belongs to the trainer, which destroys it: mw_program_destroy refuses. mw_run runs the step on the batch and the
 *  scalars that were fed last; the trainer does not count it. Of a step in segments it is the whole: the text is that
 *  of one program (in keep_folder the segments stand beside it, `segment_0` and on), and there is no plan of it. */
MW_API mw_program *mw_trainer_program(const mw_trainer *trainer);

/* ---- files ----
 *
 * Every file that the library writes appears whole or not at all (temporary, fsync, rename, fsync of the folder). Where
 * its path is a symbolic link, the link stays and the file it leads to is replaced, or made if there is none but its
 * folder. A path that is anything else than a regular file (a folder, device, FIFO or socket, or a link to one) is
 * MW_ERROR_FILE before anything is written, and so is another user's link in a folder that all may write to (/tmp). A
 * file that replaces another keeps its permission bits, and its owner and group where the system lets it; other hard
 * links keep the old content. */

/** Writes parameters, states, optimizer state, step, learning rate and the loader position to a safetensors file.
 *  position  of the training loader; NULL = the start */
MW_API mw_status mw_trainer_save(mw_trainer *trainer, const char *path, const mw_loader_position *position,
                                 mw_error *err);

/** Restores what mw_trainer_save wrote: training goes on bit for bit with the same examples, device, number of threads,
 *  processor, BLAS and build of the library (docs/training.md), else within rounding. Nothing changes on failure.
 *  errors  MW_ERROR_FILE if it cannot be read, MW_ERROR_FORMAT if it is malformed or of another architecture (the first
 *          difference is named) */
MW_API mw_status mw_trainer_load(mw_trainer *trainer, const char *path, mw_loader_position *out_position,
                                 mw_error *err);

/** Parameters and the states that evaluation reads (running statistics, as in PyTorch's state dict), by their
 *  names, F32 or F16 as the device holds them. */
MW_API mw_status mw_trainer_save_weights(mw_trainer *trainer, const char *path, mw_error *err);
/** Loads what mw_trainer_save_weights writes, by name; F16 and F32 are converted. Each must be there; others in
 *  the file are ignored. */
MW_API mw_status mw_trainer_load_weights(mw_trainer *trainer, const char *path, mw_error *err);

/** Writes the prediction with the current parameters baked in as constants: folder/model.mil and weights. Noise becomes
 *  MIL's random_*. A model in the folder is replaced as a whole or not at all, as by mw_graph_write_mil. */
MW_API mw_status mw_trainer_write_mil(mw_trainer *trainer, const char *folder, mw_error *err);

/* ---- the loop ---- */

/** What mw_fit reports. */
typedef struct mw_progress {
    int64_t epoch, epochs; /* epoch from 1 */
    int64_t step, steps;   /* in all epochs */
    double loss;           /* mean of this epoch so far */
    bool epoch_end;        /* `validation` is set, if there is a set for it */
    mw_evaluation validation;
    double seconds, seconds_left;
    float learning_rate;        /* of the last step */
    double best;                /* of best_by, over the validations so far .. */
    int64_t best_epoch, waited; /* .. in this epoch, 0 = none; epochs that patience has waited since */
} mw_progress;

/** Called after every step (with dispatch_steps after every dispatch) and at the end of each epoch; true stops the
 *  training (after saving, if there is a checkpoint). Between the steps it may use the trainer in any way that does not
 *  train: read, write, save, measure, predict, log (mw_fit_log), load weights, set its learning rate: beside a schedule
 *  that is not constant, the rest of it is multiplied by new rate / old rate. mw_trainer_step, mw_trainer_step_many,
 *  mw_fit and mw_trainer_load on it are MW_ERROR_STATE, and destroying it ends mw_fit with that. Functions of data sets
 *  and schedules, the log hook and allocators may not use a trainer while a call on it is at work. */
typedef bool mw_progress_function(void *user, const mw_progress *progress);

/** How a run ended. */
typedef enum mw_fit_end {
    MW_FIT_FINISHED = 0, /* all its epochs */
    MW_FIT_EARLY = 1,    /* `patience` */
    MW_FIT_STOPPED = 2,  /* MW_ERROR_STOPPED */
    MW_FIT_FAILED = 3    /* any other error */
} mw_fit_end;

/** What a run came to. */
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

/** How to fit. Fill with mw_fit_defaults. */
typedef struct mw_fit_options {
    size_t struct_size;
    const mw_dataset *training;
    const mw_dataset *validation; /* NULL = none */
    double validation_share; /* in (0, 1): this share of the training set, rounded to whole examples, is dealt out by
                              * `seed` (mw_dataset_split) and validates; the rest trains. 0 = none. What a map makes of
                              * training examples is validated with, too: to augment only the rest, split before */
    int64_t epochs;
    mw_schedule schedule;      /* of the learning rate, over all epochs; default constant */
    uint64_t seed;             /* order of the examples */
    bool keep_order;           /* do not shuffle */
    const char *checkpoint;    /* NULL = none; else saved each epoch and on stop, and resumed from if it exists */
    int64_t checkpoint_steps;  /* > 0: saved also after each multiple of so many steps, counted over all epochs */
    double checkpoint_seconds; /* > 0: saved also at the first step that ends so long after the last save, or the start
                                * of this call */
    int keep_last;             /* > 0: so many of the latest saves stay, up to 1000, "run.safetensors" at step 1200 as
                                * "run.step-1200.safetensors" beside it; older ones that this run kept are removed when
                                * the new one is safe */
    const char *best_by;       /* "loss" or the name of a metric: the validations of the epochs are compared by it, and
                                * the checkpoint of the best epoch stays as "run.best.safetensors". NULL = none */
    bool best_highest;         /* the highest value is the best, as of an accuracy; default the lowest */
    int64_t patience;  /* > 0: the run ends, with MW_OK, after so many epochs in a row whose value of best_by was not
                        * better by more than min_delta than the best of those that were. How long it has waited is in
                        * the checkpoint: started again, a run that ended early trains no more */
    double min_delta;  /* 0 or more; for patience and plateau_patience */
    bool restore_best; /* a run that ends by itself leaves the trainer as it was after its best epoch by best_by:
                        * parameters, states, optimizer and learning rate, from the checkpoint of that epoch, or from a
                        * copy in memory if there is none */
    int64_t plateau_patience; /* > 0: after so many such epochs in a row the learning rate, also that of a schedule, is
                               * multiplied by plateau_factor, and the count starts anew */
    double plateau_factor;    /* in (0, 1) */
    double plateau_least;     /* the rate is not made smaller than this; 0 or more.
                               * source  PyTorch ReduceLROnPlateau(patience = plateau_patience - 1,
                               *         threshold_mode = "abs") */
    mw_fit_summary *summary;  /* not NULL: filled when mw_fit ends, however it does */
    const char *metrics; /* not NULL: what the run finds is written to this file while it goes on, by the end of its
                          * name as JSON Lines (.jsonl), CSV (.csv) or TensorBoard's events (a folder), see metrics.h
                          * and docs/metrics.md. A new run begins it anew; one that goes on from its checkpoint goes
                          * on with it, without what was written behind that checkpoint. With several ranks rank 0
                          * writes */
    const char *const *more_metrics; /* of further such files, .. */
    size_t more_metrics_count;       /* .. so many, up to 7 */
    int64_t metrics_steps;           /* a line after each multiple of so many steps; 0 = 500 lines over all epochs */
    bool quiet;                      /* no progress on standard error */
    bool no_warnings;                /* none of mw_trainer_warning_at there: the caller shows them */
    bool ignore_signals; /* leave SIGINT and SIGTERM alone; by default either saves the checkpoint and returns
                          * MW_ERROR_STOPPED, and a second one meanwhile ends the process. One that is ignored
                          * stays so; the host's handlers are back when mw_fit returns. */
    mw_progress_function *progress; /* NULL = none */
    void *user;
} mw_fit_options;

/** Returns options with everything else at its default. */
MW_API mw_fit_options mw_fit_defaults(const mw_dataset *training, int64_t epochs);

/** Writes a record of the kind "log" to the files of metrics of the mw_fit that runs on this trainer, from its
 *  callback. Without such files, and on other ranks than 0, nothing is written.
 *  errors  MW_ERROR_STATE if none runs; those of mw_metrics_write */
MW_API mw_status mw_fit_log(mw_trainer *trainer, const mw_metrics_field *fields, size_t count, mw_error *err);

/** Trains for whole epochs. The batch size is the first extent of the graph's inputs. Progress is one line on a
 *  terminal (with the time left), one line per epoch elsewhere; quiet turns it off.
 *  errors  MW_ERROR_STOPPED if the callback or a signal stopped it, MW_ERROR_NUMERIC at the first refused step; what
 *          mw_trainer_measure says of a validation set that it cannot take, before the first step; MW_ERROR_FILE if
 *          another mw_fit, here or in another process, has this checkpoint, if one cannot be written, or the progress
 *          (nobody reads the pipe, the disk is full): the weights in the trainer are those of the last step */
MW_API mw_status mw_fit(mw_trainer *trainer, const mw_fit_options *options, mw_error *err);

/** The signal that asked the latest mw_fit of this process to stop, SIGINT or SIGTERM; 0 if none did. A program that
 *  ends because of it does so with 128 + signal. */
MW_API int mw_fit_signal(void);

#ifdef __cplusplus
}
#endif
#endif

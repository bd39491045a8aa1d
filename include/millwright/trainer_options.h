/* What a trainer is made of: the loss, the optimizer, groups of parameters, metrics, watched values, and how a step is
 * divided and run.
 *
 *     mw_trainer_options options = mw_trainer_defaults(mw_cross_entropy(logits, y), mw_adam(1e-3f));
 *     options.metric = mw_accuracy(logits, y);
 *
 * Threads: these functions share nothing and may be called from any thread. */
#ifndef MILLWRIGHT_TRAINER_OPTIONS_H
#define MILLWRIGHT_TRAINER_OPTIONS_H

#include <millwright/optimizer.h>
#include <millwright/program.h>
#include <millwright/trainer_rates.h>
#include <millwright/watch.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mw_communicator mw_communicator;       /* of <millwright/communicator.h> */
typedef struct mw_compare_options mw_compare_options; /* of <millwright/compare.h> */

/** Parameters whose names match a pattern, to be frozen or trained with numbers of their own:
 *
 *      mw_parameter_group groups[] = {mw_parameter_group_frozen("conv1.*"), mw_parameter_group_defaults("*.bias")};
 *      mw_parameter_group_set(&groups[1], MW_GROUP_WEIGHT_DECAY, 0);
 *
 *  A value as mw_optimizer: its content is the library's own, and a struct of zeros is refused. */
typedef struct mw_parameter_group {
    uint64_t hidden[6];
} mw_parameter_group;

/** The numbers of a group. A switch is 0 or 1. */
typedef enum mw_parameter_group_number {
    MW_GROUP_RATE_FACTOR = 0,       /* > 0; multiplies the learning rate. 1 at first */
    MW_GROUP_WEIGHT_DECAY = 1,      /* >= 0; in the place of the optimizer's, which it is at first */
    MW_GROUP_FROZEN = 2,            /* a switch: the group's parameters get no gradient and no optimizer state: their
                                     * values stay the same, bit for bit. The step does not assign states that the
                                     * pattern matches either, except generators of random numbers. If the pattern
                                     * matches both running statistics of a batch norm layer, the layer normalizes by
                                     * them, as in evaluation (PyTorch's requires_grad = False and eval()) */
    MW_GROUP_MOVING_STATISTICS = 3, /* a switch, only for a frozen group: freeze the parameters, but not the states.
                                     * Batch norm layers still normalize by the batch and update their running
                                     * statistics (PyTorch's requires_grad = False alone) */
    MW_GROUP_ADAMW = 4              /* a switch, only with mw_muon: the group's matrices are trained by AdamW, too */
} mw_parameter_group_number;

/** A group with the optimizer's numbers.
 *  pattern  of whole names, as fnmatch(3): `*` any characters, `?` one, `[ab]` one of these. Read by mw_trainer_create,
 *           until which it must stay */
MW_API mw_parameter_group mw_parameter_group_defaults(const char *pattern);
/** A frozen group, with the running statistics. The pattern may match only states: "*.running_*". */
MW_API mw_parameter_group mw_parameter_group_frozen(const char *pattern);
/** Sets a number of a group. What is refused is remembered and comes with mw_trainer_create, as mw_optimizer_set has
 *  it. A frozen group has no other numbers than its switches: mw_trainer_create refuses it with others.
 *  return  true if it was taken; false for NULL, too */
MW_API bool mw_parameter_group_set(mw_parameter_group *group, mw_parameter_group_number number, double value);

/** The most graphs for inputs of other sizes. */
#define MW_VARIANTS_MAX 32

/** The most numbers that a trainer watches besides its loss. */
#define MW_METRICS_MAX 16

/** A number to watch besides the loss. */
typedef struct mw_metric {
    const char *name;  /* shown with the value: 1 to 63 bytes of UTF-8 without control characters, copied */
    mw_tensor *tensor; /* scalar */
} mw_metric;

/** For memory.segments: cut a step of more than 1,024 MIL operations into segments of at least 64 MIL operations. If
 *  the step repeats a sequence of operations, the cuts lie between the repetitions. On the ANE, a process holds at most
 *  128 stream operations (mw_trainer_parts): segments become longer until the trainer needs no more than that. */
#define MW_SEGMENTS_AUTO (-1)

/** How gradients travel between ranks. */
typedef enum mw_wire {
    MW_WIRE_AS_THEY_ARE = 0, /* without rounding */
    MW_WIRE_BF16 = 1,
    MW_WIRE_FP16 = 2
} mw_wire;

/** How small gradients survive in fp16. Named values of 0 are the defaults. */
typedef struct mw_trainer_precision {
    float loss_scale; /* power of two that multiplies the gradient seed, so that small gradients do not become 0 in
                       * fp16; the update divides by it. 1 = none; 0 = the default: 256 if anything is computed in
                       * fp16, 2048 where a profile's products are fixed point (docs/chip.md), else 1 */
    bool dynamic;     /* the scale is a state of the program, between 1 and 32768. A step that is refused
                       * (mw_trainer_step) is skipped, and halves the scale; `interval` good steps double it.
                       * loss_scale is the start value, 0 = 32768.
                       * source  Micikevicius et al. 2018, section 3.2 */
    int interval;     /* 1 to 2000; 0 = 2000 */
} mw_trainer_precision;

/** Limits of gradients; 0 = none. */
typedef struct mw_trainer_clipping {
    float norm;  /* > 0: all gradients g are multiplied by min(1, norm / n), where n is the root of the sum of squares
                  * over all of them.  source  Pascanu et al. 2013 */
    float value; /* > 0: each element of a gradient is limited to [-value, value], after `norm` */
} mw_trainer_clipping;

/** What a step may take, and into how many programs it is cut. */
typedef struct mw_trainer_memory {
    uint64_t limit; /* the largest number of bytes that a step may take, with parameters, states and constants; 0 = no
                     * limit. If the step takes more, the backward pass computes parts of the forward pass again
                     * instead of keeping their values (mw_recompute). The trainer chooses the fewest parts that
                     * satisfy the limit. The step then takes longer; the log hook gets the extra time before the first
                     * step (mw_trainer_get_info). Results can differ in their last bits, as mw_recompute
                     * says. Cannot be combined with segments, and needs a library that shows plans. If several steps
                     * share a dispatch, the limit is for one of them */
    int segments;   /* into how many programs a step may be cut. 0 and 1 = one program, which is the default. n, up to
                     * 4096 = at most n stream operations in one dispatch; each runs one segment (mw_trainer_parts).
                     * MW_SEGMENTS_AUTO = cut only a long step (docs/training.md). Segments that differ only in names
                     * share one compiled program, for example the segments of equal layers. So a deep network compiles
                     * about as fast as a shallow one. The results are the same as without cuts, bit for bit */
} mw_trainer_memory;

/** One of several trainers, one on each rank of a communicator. Together they train one set of parameters, each on its
 *  own batches (docs/many-machines.md). A step updates by the mean gradient over the batches of all ranks; out_loss is
 *  the mean of their losses. Every rank must make the same calls on its trainer in the same order: create, step,
 *  evaluate, fit, save and load.
 *  Sums over ranks are added in the order of the ranks. The result has the same bits as one rank that accumulates these
 *  batches, if no rank accumulates more than one batch and the model has no states except generators of random numbers.
 *  If one rank refuses a batch, all ranks refuse it, and the error names the rank. */
typedef struct mw_trainer_ranks {
    mw_communicator *communicator; /* must outlive the trainer. One with one rank is ignored. NULL = no other ranks */
    int verify_steps; /* for ranks that exchange gradients: after this number of updates they compare their parameters
                       * and states by a hash, to find a rank that computes other bits; 1 or more, 0 = 100, -1 = never
                       */
    int local_steps;  /* over 1, up to 10000: each rank trains by itself for this number of updates. Then the ranks
                       * synchronize: parameters and model states become their means over the ranks. Each rank keeps
                       * its own optimizer states; a checkpoint holds those of rank 0. The ranks also synchronize
                       * before each save and evaluation. A step that a dynamic loss scale skips counts as one of
                       * these updates. A step that ends with an error on one rank stops the other ranks when they
                       * next synchronize. out_loss is the loss of the rank's own batch. 0 and 1 = exchange gradients
                       * in each step.
                       * source  Stich 2019; Douillard et al. 2023 */
    float outer_learning_rate, outer_momentum; /* for local_steps over 1. When ranks synchronize, let p be a
                                                * parameter after the last synchronization and m its mean over the
                                                * ranks now. SGD with Nesterov's momentum changes p by the gradient d
                                                * = p - m, with this learning rate in [0, 10] and momentum in [0, 1).
                                                * A rate of 0 = 1; with momentum 0 the result is then m. A checkpoint
                                                * does not hold this momentum */
    mw_wire wire;          /* the type in which ranks send fp32 gradients. The rounding error of a gradient, or of a
                            * sum, is added to the same gradient or sum in the next step. A refused step drops these
                            * errors, and a checkpoint does not hold them. fp16 keeps 11 bits and ends at 65504; bf16
                            * keeps 8 bits and has the range of fp32.
                            * source  Seide et al. 2014; Karimireddy et al. 2019 */
    uint64_t bucket_bytes; /* size of the buckets in which ranks send gradients together, 1024 to 2^26; 0 = 2^22. A
                            * step with more than one bucket is cut, into 8 segments unless memory.segments says
                            * otherwise. A bucket is sent when its segment is done, while the device computes the
                            * next ones. With memory.segments = 1, or a library without asynchronous runs, all are
                            * sent at the end */
    bool shard_states;     /* each rank keeps the optimizer states of one part of the trained elements; the parts have
                            * equal size. The rank updates its part by the sums of the gradients, and sends the new
                            * parameters to all ranks. The results are the same bits as without shard_states.
                            * Ranks send as many bytes as without it. With clipping.norm they send half as many again,
                            * because the norm needs all sums. With `wire`, parameters are not rounded. Each rank still
                            * has all sums of `accumulate` and all averages. Rank 0 has the optimizer states of all
                            * ranks while it saves, and from a load until the next step. The checkpoint is the same.
                            * Cannot be combined with local_steps over 1 or with a custom optimizer.
                            * source  Rajbhandari et al. 2020, stages 1 and 2 */
} mw_trainer_ranks;

/** What is looked at while a step runs, and what is kept of a step that is refused. */
typedef struct mw_trainer_watch {
    bool gradient_norms;    /* the norm of each parameter's gradient before clipping, and of all of them together
                             * (mw_trainer_info.gradient_norm) */
    const mw_watch *values; /* what else of a step is watched; copied. The device computes it in the step, which then
                             * takes longer; the results of the step keep their bits. Without watched values nothing
                             * is added. All ranks must have the same; with shard_states only tensors can be watched */
    size_t count;
    const char *replay_folder; /* not NULL: if a step is refused after it ran, the trainer writes it to this folder, in
                                * place of an earlier one, and mw_replay_run can run it again (replay.h). It takes the
                                * model's size on disk; a failure to write it is only logged */
    const mw_compare_options *compare; /* of <millwright/compare.h>, in libmillwright_inspect. Not NULL: the first step
                                        * also runs on compare->reference, on its own batch, and the two are compared
                                        * operation by operation: forward, backward and update. The tolerances are
                                        * those of `compare`. The step is refused if the comparison does not pass.
                                        * This trainer, as `compile` says, is the other side; device, batch and seeds
                                        * of `compare` are not used. The strings of the reference must live until the
                                        * first step */
} mw_trainer_watch;

/** What to train. Fill with mw_trainer_defaults. */
typedef struct mw_trainer_options {
    size_t struct_size;
    mw_tensor *loss; /* scalar */
    mw_optimizer optimizer;
    mw_tensor *metric; /* scalar, shown by mw_trainer_fit and mw_trainer_evaluate under the name that mw_name gave it,
                        * else under that of its constructor ("accuracy"), else as "metric"; NULL = none */
    const mw_metric *metrics; /* more of them, each under its own name; copied */
    size_t metric_count;      /* of these; with `metric` at most MW_METRICS_MAX */
    mw_tensor *prediction;    /* what mw_trainer_predict returns; NULL = none */

    mw_tensor *const *variants; /* losses of the same network for inputs of other sizes, each in a graph of its own with
                                 * the same parameters, states and batch; copied. A batch is computed by the first
                                 * graph, that of `loss` before these, whose inputs have the sizes of its feeds: texts
                                 * of few tokens by a program for few tokens (mw_dataset_bucket). All programs have one
                                 * set of parameters and optimizer states; each has memory of its own for intermediate
                                 * values. Evaluation does the same; a prediction is that of the graph of `loss`. Not
                                 * with metrics, watched values, a comparison, several ranks, dispatch_steps over 1,
                                 * memory.limit and memory.segments */
    size_t variant_count;       /* of these; up to MW_VARIANTS_MAX */

    const mw_parameter_group *groups; /* the first that matches a parameter counts; copied */
    size_t group_count;
    mw_trainer_rates rates;

    int accumulate;      /* batches whose mean gradient makes one update, 1 to 1024; 0 = 1. The sum is on the device */
    int dispatch_steps;  /* steps that mw_trainer_step_many and mw_trainer_fit put into one dispatch, 1 to 100; 0 = 1.
                          * Saves the dispatches between them, costs the memory of as many batches */
    float average_decay; /* d in (0, 1]: a' = d a + (1 - d) p' follows each parameter p, for mw_trainer_use_averages;
                          * 0 = none, 1 = the mean of all updates (SWA).  source  Polyak and Juditsky 1992; SWA Izmailov
                          * et al. 2018 */
    int average_from; /* the first update s that averages count; before it a' = p', so they forget how training began.
                       * From it on a' = a + r (p' - a), r = max(1 - d, 1 / n) for its n-th update: their mean, until
                       * d holds. 0 = the first values of the parameters are one of the averaged, and r is 1 - d at
                       * once (with d = 1: s is 1) */

    mw_trainer_precision precision;
    mw_trainer_clipping clipping;
    mw_trainer_memory memory;
    mw_trainer_ranks ranks;
    mw_trainer_watch watch;
    mw_compile_options compile; /* device, threads, seed, allocator, ..; share.trainer: the weights of another trainer,
                                 * which both train; share.program is refused */
} mw_trainer_options;

/** Returns options with everything else at its default. */
MW_API mw_trainer_options mw_trainer_defaults(mw_tensor *loss, mw_optimizer optimizer);

#ifdef __cplusplus
}
#endif
#endif

/* The trainer's insides, shared by trainer_options.c and trainer_group.c (what is asked for), trainer_build.c (create),
 * trainer_graph.c, trainer_scale.c and trainer_update.c (the step as operations), trainer_step.c, view.c and evaluate.c
 * (evaluation and prediction) and trainer.c (the rest). */
#ifndef MW__RUNTIME_TRAINER_H
#define MW__RUNTIME_TRAINER_H

#include "autograd/optimizer.h"
#include "autograd/terms.h"
#include "base/guard.h"
#include "base/live.h"
#include "graph/clone.h"
#include "runtime/feed.h"
#include "runtime/program.h"
#include "runtime/state.h"
#include <millwright/trainer.h>

/* A scalar that the host writes before each step. */
typedef struct mw__trainer_scalar {
    const char *name;  /* of the optimizer's row, static */
    size_t index;      /* for mw__optimizer_scalar_value */
    size_t port;       /* of the step program */
    void *data;        /* its memory; NULL while the program is not made */
    mw_dtype declared; /* of the parameters that it serves */
    mw_dtype dtype;    /* in the port */
    size_t group;      /* of these parameters */
} mw__trainer_scalar;

/* Parameters that are updated alike. Group 0 has those that no pattern takes. */
typedef struct mw__trainer_group {
    const char *pattern;
    bool frozen, moving_statistics;
    double rate_factor;
    mw_optimizer optimizer;      /* with the device's defaults and the group's weight decay */
    mw__optimizer_limits limits; /* of its fp32 parameters */
} mw__trainer_group;

#define MW__ACCUMULATE_MAX      1024
#define MW__DISPATCH_STEPS_MAX  100     /* ANEForge's dispatch reference: 100 operations in one stream ran */
#define MW__LOSS_SCALE_MAX      32768.0 /* the largest power of two of fp16 */
#define MW__LOSS_SCALE_INTERVAL 2000    /* that of PyTorch's GradScaler; fp16 counts to 2048 */

/* A program that learns from a batch: the step, or one that only adds to the accumulated gradients. */
typedef struct mw__trainer_pass {
    mw_program *program;
    mw_program *twin; /* until the first run proved that aliasing is safe; NULL on the engine */
    mw__feeder feeder;
    size_t loss_port, ok_port;
} mw__trainer_pass;

/* A value that evaluation or prediction reads. */
typedef struct mw__view_slot {
    mw_tensor *value; /* in the model */
    mw__term_of of;
    mw__batch_rows rows; /* of it; if they are those of examples, the port has the mean of each, [batch] */
    size_t port;
    double sum; /* over the examples so far */
} mw__view_slot;

/* A program on the same parameters as the step; made at first use. */
typedef struct mw__view {
    mw_program *program; /* NULL = not made yet */
    mw__feeder feeder;
    mw__arena arena; /* of all below */
    mw__view_slot *slots;
    size_t slot_count;
    mw__term **measures; /* the terms of the loss, then those of each metric; NULL for a prediction */
    size_t measure_count;
} mw__view;

/* Several steps by one dispatch. */
typedef struct mw__trainer_many {
    mw__series *series; /* NULL = none */
    mw__feeder *feeders;
    size_t count;
    void **staged; /* [count][inputs of the step]: values for parts that are copied before a run, or NULL */
} mw__trainer_many;

/* Whether the loss runs away, which a learning rate that is too high makes it do. */
typedef struct mw__loss_watch {
    double mean;   /* running, of the sizes of the losses */
    int64_t count; /* of them */
    bool said;
} mw__loss_watch;

/* True once: if the loss is over MW__LOSS_GROWTH times the running mean of those before it, which it then joins:
 *     mean += (min(|loss|, 10 reference) - mean) / min(count, 64),  reference = max(mean, 0.01).
 * A loss that runs away must not take its mean along, hence the limit of 10; one that starts near 0 may grow, and one
 * that has come near 0 may be noisy, hence the least reference, below which nothing is said; and the first ten are only
 * taken in. Losses below 0 count by their size and are never said to have grown. */
#define MW__LOSS_GROWTH 1e3
bool mw__loss_runs_away(mw__loss_watch *watch, double loss);

struct mw_trainer {
    const mw_allocator *allocator;
    mw__guard guard;
    mw__target target;
    mw_compile_options compile; /* for later programs */
    mw__arena arena;
    mw__trainer_group *groups;
    size_t group_count;
    float learning_rate;
    double loss_scale;            /* by which the gradients that the optimizer sees are multiplied */
    double first_scale;           /* of a dynamic one: where it starts */
    int scale_interval;           /* good steps until a dynamic scale doubles; 0 = it is static */
    double clip_value, clip_norm; /* 0 = none */
    double average_decay;         /* 0 = no averages */
    int accumulate;               /* batches for an update, from 1 */
    int gathered;                 /* of them done */
    int skipped;                  /* steps in a row that a dynamic loss scale left out */
    bool uses_averages;           /* evaluation reads them */
    mw_graph *model;              /* a copy of what the user's graph needs for these */
    mw_tensor *loss, *prediction;
    mw_metric metrics[MW_METRICS_MAX]; /* values in the model */
    size_t metric_count;
    mw__state_set state;
    mw__trainer_pass step;
    mw__trainer_pass gather; /* no program unless batches are accumulated */
    mw__trainer_many many;
    bool dead; /* the proof of a twin failed: the state is wrong */
    mw__trainer_scalar *scalars;
    size_t scalar_count;
    mw__view evaluation, predictor;
    bool noted; /* what evaluation cannot put together from single examples has been said */
    int64_t batch;
    int64_t steps;
    mw_trainer_counters counters;
    mw__loss_watch watch;
    mw_warning *warnings; /* [group_count]: epsilons that were replaced */
    size_t warning_count;
    char *description;
    const struct mw__lock *lock; /* that of the running mw_fit on its checkpoint, or NULL */
};

/* Adds to an output's name: the next value of the state entry of that name. */
#define MW__NEXT "#next"
/* Add to a parameter's name: its moving average, the sum of its gradients. */
#define MW__AVERAGE "#average"
#define MW__SUM     "#sum"
/* The second term of a compensated parameter, as autograd/optimizer.c names that state. */
#define MW__LOW "#low"
/* State of a dynamic loss scale. */
#define MW__SCALE      "#loss_scale"
#define MW__GOOD_STEPS "#good_steps"

mw_status mw__trainer_check_options(const mw_trainer_options *options, mw_error *err);
/* Kind and numbers of all that decides what a step does, as one line. */
mw_status mw__trainer_describe(mw_trainer *trainer, mw_error *err);
/* Names and values, `metric` first; the values are still those of the user's graph. */
mw_status mw__trainer_list_metrics(mw_trainer *trainer, const mw_trainer_options *options, mw_error *err);
/* Group 0 and those of the options; the model is there. */
mw_status mw__trainer_make_groups(mw_trainer *trainer, const mw_trainer_options *options, mw_error *err);
size_t mw__trainer_group_of(const mw_trainer *trainer, const char *parameter);
/* True for a state that a frozen group takes (mw__clone_frozen). */
bool mw__trainer_freezes(void *trainer, const mw_tensor *state);

/* The element type that the device stores for a declared one. */
mw_dtype mw__trainer_stored(const mw_trainer *trainer, mw_dtype declared);
/* True if a number other than 0 becomes 0 or infinite in `dtype`. */
bool mw__number_is_lost(double value, mw_dtype dtype);
/* An epsilon that would be 0 in fp16 becomes the smallest that keeps a divisor from 0, with a warning. */
mw_status mw__trainer_keep_epsilon(mw_trainer *trainer, mw_optimizer *optimizer, mw_error *err);
/* What a scalar is at step `step`. */
double mw__trainer_scalar_value(const mw_trainer *trainer, const mw__trainer_scalar *scalar, float learning_rate,
                                int64_t step);
/* Refuses scalars of step `step` that the device's type cannot hold. */
mw_status mw__trainer_check_scalars(const mw_trainer *trainer, float learning_rate, int64_t step, mw_error *err);

/* The port of a state entry, or the output of its next value, is bound to its buffer (mw__program_binder). */
bool mw__trainer_bind(void *trainer, const mw_port *port, mw__buffer *out);

/* A program whose parameters are those of the state set; `graph` has outputs. */
mw_program *mw__trainer_compile(mw_trainer *trainer, const mw_graph *graph, const char *keep_folder, mw_error *err);

/* What exists while a step graph is built. */
typedef struct mw__trainer_build {
    mw_trainer *trainer;
    bool gathers; /* the program that only adds to the accumulated gradients */
    bool watched; /* ends before the flag: trainer_blame.c goes on */
    mw_graph *graph;
    mw__arena arena;
    mw_tensor *loss;                     /* rank 0 */
    mw_tensor **parameters, **gradients; /* of those that are trained */
    mw_tensor **raw;                     /* the gradients before they are clipped */
    mw_tensor *norm;                     /* of all of them, if it is clipped; or NULL */
    mw_tensor **sums;                    /* the gradients of earlier batches; NULL = none are accumulated */
    size_t count;
    mw_tensor **states; /* that are assigned */
    size_t state_count;
    bool again;                          /* the update has been built: its states are inputs already */
    struct mw__trainer_changes *updates; /* computed before the flag, of each parameter; NULL = to be computed again */
    mw_tensor *ok, *ok_number;           /* bool, and 1 or 0 in the type of the loss; rank 0 */
    mw_tensor *scale, *good_steps;       /* of a dynamic loss scale, or NULL */
    mw__optimizer_scalars *scalars;      /* [group][fp32, fp16] */
    mw_tensor *loss_output, *ok_output;
} mw__trainer_build;

/* The model in its training form, and all that follows from it. */
mw_status mw__trainer_build_pass(mw__trainer_build *b, mw_error *err);
/* Turns the copy of the loss in b->graph into the step: outputs loss and ok, then the next value of every state tensor.
 */
mw_status mw__trainer_build_graph(mw__trainer_build *b, mw_error *err);
/* The three strings as one, in the build's arena. */
const char *mw__trainer_join(mw__trainer_build *b, const char *a, const char *middle, const char *end, mw_error *err);

/* ---- trainer_scale.c: between the backward pass and the update ---- */

/* What the backward pass starts from. */
mw_tensor *mw__trainer_start(mw__trainer_build *b);
/* Gradients of a dynamic scale become those of the scale that the optimizer expects. */
void mw__trainer_rescale(mw__trainer_build *b);
/* Limits the gradients where that is asked for. */
mw_status mw__trainer_clip(mw__trainer_build *b, mw_error *err);
/* The next dynamic scale and its counter. */
mw_status mw__trainer_build_scale(mw__trainer_build *b, mw_error *err);

/* ---- trainer_check.c ---- */

/* A constant of rank 0 in the type of the loss. */
mw_tensor *mw__trainer_number(const mw__trainer_build *b, double value);
/* 1 if all of x is finite and at most `limit` in size, else 0, in the type of the loss and of rank 0. */
mw_tensor *mw__trainer_within(mw__trainer_build *b, mw_tensor *x, double limit);
/* True for floating-point tensors with elements: what may be not finite. */
bool mw__trainer_is_checked(const mw_tensor *x);
/* The largest number of the type that x is stored in. */
double mw__trainer_largest(const mw__trainer_build *b, const mw_tensor *x);
/* Sets b->ok and b->ok_number. */
mw_status mw__trainer_judge(mw__trainer_build *b, mw_error *err);
/* Of every group: within which its update is finite. */
void mw__trainer_set_limits(mw_trainer *trainer);
const mw__optimizer_limits *mw__trainer_limits(const mw_trainer *trainer, const mw_tensor *parameter);
/* Refuses a rate with which these limits prove nothing. */
mw_status mw__trainer_check_rate(const mw_trainer *trainer, float learning_rate, mw_error *err);

/* ---- trainer_blame.c ---- */

/* What was not finite first; "" if that cannot be told. */
typedef struct mw__blame {
    char text[320];
    char operation[64], tensor[96]; /* for the error's fields */
} mw__blame;
/* Runs what the pass was fed last once more. */
void mw__trainer_blame(mw_trainer *trainer, const mw__trainer_pass *pass, mw__blame *out);

/* ---- trainer_update.c ---- */

/* What a step makes of a parameter and of what belongs to it. */
#define MW__TRAINER_CHANGES (MW__OPTIMIZER_STATES + 2)
typedef struct mw__trainer_change {
    mw_tensor *old, *new;
} mw__trainer_change;
typedef struct mw__trainer_changes {
    mw__trainer_change items[MW__TRAINER_CHANGES];
    size_t count;
} mw__trainer_changes;
/* As operations, new ones each time. */
mw_status mw__trainer_changes_of(mw__trainer_build *b, size_t index, mw__trainer_changes *out, mw_error *err);

/* The next value of parameter `index` and of what belongs to it. */
mw_status mw__trainer_build_update(mw__trainer_build *b, size_t index, mw_error *err);
/* An input of the step that is in the state set: a suffix at the name of `like`, of its type and shape. */
mw_status mw__trainer_resident(mw__trainer_build *b, const mw_tensor *like, const char *suffix, mw_tensor **out,
                               mw_error *err);
/* state' = select(ok, new, old), as an output that is aliased to the input of the old value. */
mw_status mw__trainer_next(mw__trainer_build *b, mw_tensor *old, mw_tensor *new, mw_error *err);
/* The same without the choice. */
mw_status mw__trainer_next_always(mw__trainer_build *b, mw_tensor *old, mw_tensor *new, mw_error *err);

/* Binds inputs of another program to those of the mw_program that is `user` (mw__program_binder). */
bool mw__trainer_bind_inputs(void *user, const mw_port *port, mw__buffer *out);
/* Makes the twin of a pass where the library needs the proof. */
mw_status mw__trainer_make_twin(mw_trainer *trainer, mw__trainer_pass *pass, const mw_graph *graph, mw_error *err);
/* Runs twin and program, compares and drops the twin. */
mw_status mw__trainer_run_twice(mw_trainer *trainer, mw__trainer_pass *pass, mw_error *err);
/* MW_ERROR_STATE once the comparison has failed. */
mw_status mw__trainer_check_alive(const mw_trainer *trainer, mw_error *err);

/* ---- trainer_step.c ---- */

float mw__scalar_read(const void *data, mw_dtype dtype);
mw_status mw__trainer_check_batch(const mw_trainer *trainer, const mw_batch *batch, mw_error *err);
mw_status mw__trainer_feed(mw_trainer *trainer, mw__feeder *feeder, const mw_batch *batch, int64_t step, mw_error *err);
mw_status mw__trainer_write_scalar(mw_trainer *trainer, const mw__trainer_scalar *scalar, void *data, int64_t step,
                                   mw_error *err);
typedef struct mw__step_result {
    float loss, ok;
} mw__step_result;
/* Counts what a pass has done, or says why it was refused. */
mw_status mw__trainer_take(mw_trainer *trainer, const mw__trainer_pass *pass, const mw_batch *batch,
                           const mw__step_result *result, float *out_loss, mw_error *err);

/* ---- trainer_many.c ---- */

mw_status mw__trainer_make_slots(mw_trainer *trainer, size_t count, mw_error *err);
/* Steps that one dispatch takes now; 0 = only single ones. */
size_t mw__trainer_slots(const mw_trainer *trainer);
/* Feeds the batch of one slot. */
mw_status mw__trainer_stage(mw_trainer *trainer, size_t slot, const mw_batch *batch, mw_error *err);
/* Runs all slots. batches: [slots], for messages, or NULL. */
mw_status mw__trainer_run_slots(mw_trainer *trainer, const mw_batch *batches, float *out_losses, mw_error *err);

/* ---- view.c ---- */

void mw__view_deinit(mw__view *view);
/* Both make the view if it is not there. */
mw_status mw__trainer_need_evaluation(mw_trainer *trainer, mw_error *err);
mw_status mw__trainer_need_predictor(mw_trainer *trainer, mw_error *err);
/* The loss (0) or a metric (from 1) as a part of a message; returns `buffer`. */
const char *mw__trainer_measure_name(const mw_trainer *trainer, size_t measure, char *buffer, size_t size);
/* Refuses a data set that evaluation cannot take: its columns, a first batch that cannot be fed or run, weighted means
 * that count nothing. */
mw_status mw__trainer_check_dataset(mw_trainer *trainer, const mw_dataset *dataset, mw_error *err);
/* The programs of the two. */
mw_status mw__trainer_evaluation(mw_trainer *trainer, mw_program **out, mw_error *err);
mw_status mw__trainer_predictor(mw_trainer *trainer, mw_program **out, mw_error *err);

#endif

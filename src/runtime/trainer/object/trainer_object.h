/* The trainer itself, for the files of its room that look inside; others have trainer_access.h. */
#ifndef MW__RUNTIME_TRAINER_OBJECT_TRAINER_OBJECT_H
#define MW__RUNTIME_TRAINER_OBJECT_TRAINER_OBJECT_H

#include "autograd/optimizers/optimizer_rows.h"
#include "autograd/terms.h"
#include "base/memory/map.h"
#include "runtime/program/feed.h"
#include "runtime/program/program_object.h"
#include "runtime/trainer/object/trainer_access.h"
#include "runtime/trainer/object/trainer_strategy.h"

#include <millwright/trainer.h>
#include <stddef.h>

/* A scalar that the host writes before each step. */
typedef struct mw__trainer_scalar {
    const char *name;  /* of the optimizer's row, static */
    size_t index;      /* for mw__optimizer_scalar_value */
    size_t port;       /* of the step program */
    void *data;        /* its memory; NULL while the program is not made */
    mw_dtype declared; /* of the parameters that it serves */
    mw_dtype dtype;    /* in the port */
    size_t group;      /* of these parameters; the number of groups = the rate of averages, of all */
} mw__trainer_scalar;

/* Parameters that are updated alike. Group 0 has those that no pattern takes. */
typedef struct mw__trainer_group {
    const char *pattern;
    bool frozen, moving_statistics;
    double rate_factor;
    size_t base;                 /* of one that was made for a rate: the group that it is like */
    mw__optimizer optimizer;     /* with the device's defaults and the group's weight decay */
    mw__optimizer_limits limits; /* of its fp32 parameters */
} mw__trainer_group;

/* A program that learns from a batch: the step, or one that only adds to the accumulated gradients. */
typedef struct mw__trainer_pass {
    mw_program *program;
    mw_program *shadow; /* until the first run proved that aliasing is safe; NULL on the engine */
    mw__feeder feeder;
    size_t loss_port, ok_port;
} mw__trainer_pass;

/* A value that evaluation or prediction reads. */
typedef struct mw__view_slot {
    mw_tensor *value; /* in the model */
    mw__term_of of;
    bool is_part; /* of a quotient, of which both sides are sums over all elements, however many an example has */
    mw__batch_rows rows; /* of it; if they are those of examples, the port has the mean of each, [batch] */
    size_t port;
    double sum; /* over the examples so far */
} mw__view_slot;

/* A program on the same parameters as the step; made at first use. */
typedef struct mw__trainer_view {
    mw_program *program; /* NULL = not made yet */
    mw__feeder feeder;
    mw__arena arena; /* of all below */
    mw__view_slot *slots;
    size_t slot_count;
    mw__term **measures; /* the terms of the loss, then those of each metric; NULL for a prediction */
    size_t measure_count;
} mw__trainer_view;

/* Several steps by one dispatch. */
typedef struct mw__trainer_many {
    mw__series *series; /* NULL = none */
    mw__feeder *feeders;
    size_t count;
    void **staged; /* [count][inputs of the step]: values for parts that are copied before a run, or NULL */
} mw__trainer_many;

/* Whether the loss runs away, which a learning rate that is too high makes it do. */
typedef struct mw__divergence_detector {
    double mean;   /* running, of the sizes of the losses */
    int64_t count; /* of them */
    bool warned;
} mw__divergence_detector;

/* ---- what a trainer has, by concern ---- */

/* Whether its state can be used. */
typedef enum mw__trainer_health {
    MW__TRAINER_SOUND,
    MW__TRAINER_WRONG, /* the comparison with a shadow program failed */
    MW__TRAINER_TORN   /* an exchange of parameters was cut off: they are of two steps */
} mw__trainer_health;

/* What the step computes with. */
typedef struct mw__trainer_numbers {
    float learning_rate;
    double loss_scale;            /* by which the gradients that the optimizer sees are multiplied */
    double first_scale;           /* of a dynamic one: where it starts */
    int scale_interval;           /* good steps until a dynamic scale doubles; 0 = it is static */
    double clip_value, clip_norm; /* 0 = none */
    double average_decay;         /* 0 = no averages */
    int64_t average_from;         /* the first update that they count, 0 = their rate is constant */
    int accumulate;               /* batches for an update, from 1 */
    int gradient_ranks;           /* whose gradients a step sums: 1 unless it is data-parallel */
    int segments;                 /* operations that a program that learns may be at most, MW_SEGMENTS_AUTO */
    int dispatch_steps;           /* steps of a dispatch, from 1 */
} mw__trainer_numbers;

/* The model: a copy of what the user's graph needs for the values. */
typedef struct mw__trainer_model {
    mw_graph *graph;
    mw_tensor *loss, *prediction;
    mw_tensor *probe; /* of a custom optimizer, or NULL */
    mw_metric metrics[MW_METRICS_MAX];
    size_t metric_count;
} mw__trainer_model;

/* How parameters are updated. */
typedef struct mw__trainer_optimizer {
    mw__trainer_group *groups;
    size_t group_count;
    size_t pattern_count; /* of these, with group 0; those behind were made for rates */
    mw__map members;      /* by parameter: the index of such a group */
    mw__trainer_scalar *scalars;
    size_t scalar_count;
    mw__map declared; /* by parameter: the states of its optimizer, which is asked once; in the arena */
} mw__trainer_optimizer;

/* Evaluation and prediction. */
typedef struct mw__trainer_views {
    mw__trainer_view evaluation, predictor;
    bool uses_averages; /* they read the moving averages */
    bool noted;         /* what evaluation cannot put together from single examples has been logged */
} mw__trainer_views;

/* What an mw_watch holds. */
typedef struct mw__watch {
    mw_watch_of of;
    mw_watch_kind kind;
    mw_tensor *tensor; /* of MW_WATCH_TENSOR */
    const char *text;  /* of MW_WATCH_TENSOR the name that is shown, or NULL; of the others the pattern */
} mw__watch;

/* What is watched. */
typedef struct mw__trainer_watched {
    struct mw__watched_tensor *tensors;
    size_t count, capacity;
    mw__watch *patterns; /* that name no tensors yet */
    size_t pattern_count;
    const mw__trainer_pass *update_pass; /* has the update: the step, or a pass behind the exchange */
} mw__trainer_watched;

/* Where the training stands. */
typedef struct mw__trainer_progress {
    int64_t batch; /* examples of one */
    int64_t steps;
    int accumulated;   /* batches accumulated so far */
    int skipped;       /* steps in a row that a dynamic loss scale left out */
    int64_t last_step; /* the one that ran last; 0 = none has */
    bool last_in_slot; /* it was the last of a dispatch with several */
    bool unequal;      /* values came from a file or the user: other ranks may have something else */
    mw_trainer_counters counters;
    mw__divergence_detector divergence;
} mw__trainer_progress;

/* What helps to find out why a step is wrong. */
typedef struct mw__trainer_diagnosis {
    struct mw__trainer_compared *compared; /* the first step is compared; NULL = it is not */
    const char *replay_folder;             /* NULL = none */
    bool replay_saved;                     /* the refused step is there */
} mw__trainer_diagnosis;

/* What was found out when it was made. */
typedef struct mw__trainer_record {
    mw_warning *warnings; /* epsilons that were replaced, parameters without a gradient */
    size_t warning_count;
    mw_trainer_recomputation recomputation;
    char *description;
} mw__trainer_record;

/* What mw_trainer_fit leaves here. */
typedef struct mw__trainer_fit {
    struct mw__fitting *running;         /* NULL = none */
    struct mw__learned_classes *learned; /* names of the classes of the last one; NULL = none (data/files.h) */
    const struct mw__lock *lock;         /* that of the running one on its checkpoint, or NULL */
} mw__trainer_fit;

/* Trainers for inputs of other sizes, whose state is this one's; nobody else knows them. Where the training stands is
 * handed to the one that takes a batch, and back. */
typedef struct mw__trainer_variants {
    mw_trainer **items;
    size_t count;
    mw_trainer *main;   /* of such a trainer: the one that it is of; else NULL */
    mw_trainer *latest; /* ran the last step; NULL = the trainer itself */
} mw__trainer_variants;

/* What a trainer is as the owner of its state; in trainer.c. */
extern const mw__state_owner_kind mw__trainer_kind;

struct mw_trainer {
    mw__state_owner owner; /* first: mw__state_owner_of */
    const mw_allocator *allocator;
    mw__arena arena;
    mw__target target;
    mw_compile_options compile; /* for later programs */
    mw__trainer_health health;
    const mw__trainer_strategy *strategy;
    struct mw__trainer_ranks *ranks; /* what a strategy of several ranks has besides; or NULL */
    mw__trainer_numbers numbers;
    mw__trainer_model model;
    mw__trainer_optimizer optimizer;
    mw__trainer_pass step;
    mw__trainer_pass accumulation; /* no program unless batches are accumulated */
    mw__trainer_many many;
    mw__trainer_views views;
    mw__trainer_watched watched;
    mw__trainer_progress progress;
    mw__trainer_diagnosis diagnosis;
    mw__trainer_record record;
    mw__trainer_fit fit;
    mw__trainer_variants variants;
};

/* Memory of a port of the step in one slot of a dispatch with several steps. */
void *mw__trainer_slot_data(const mw_trainer *trainer, size_t slot, size_t port);

_Static_assert(offsetof(struct mw_trainer, owner) == 0, "mw__state_owner_of");

#endif

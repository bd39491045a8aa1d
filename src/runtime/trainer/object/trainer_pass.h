/* A program of a trainer as operations, while it is built. */
#ifndef MW__RUNTIME_TRAINER_OBJECT_TRAINER_PASS_H
#define MW__RUNTIME_TRAINER_OBJECT_TRAINER_PASS_H

#include "runtime/trainer/object/trainer_object.h"

/* What a step makes of a parameter and of what belongs to it. */
#define MW__TRAINER_CHANGES (MW__OPTIMIZER_STATES + 2)
typedef struct mw__trainer_change {
    mw_tensor *old, *new;
} mw__trainer_change;
typedef struct mw__trainer_changes {
    mw__trainer_change items[MW__TRAINER_CHANGES];
    size_t count;
} mw__trainer_changes;
/* Which program of a trainer is built. */
typedef enum mw__trainer_pass_kind {
    MW__PASS_UPDATE,       /* ends with the update: a step of one rank, or what follows the exchange */
    MW__PASS_SUM,          /* only adds to the accumulated gradients */
    MW__PASS_EXCHANGE,     /* ends with gradients and states that other ranks get */
    MW__PASS_PARTS_CHECK,  /* ends with the flag, for other ranks; parameters are this rank's parts, as in the next */
    MW__PASS_PARTS_UPDATE, /* the flag and the norm come from there, of all ranks */
    MW__PASS_AVERAGES      /* the moving averages alone */
} mw__trainer_pass_kind;

/* Whether it is about the parts of parameters that this rank has. */
static inline bool mw__trainer_pass_has_parts(mw__trainer_pass_kind kind)
{
    return kind == MW__PASS_PARTS_CHECK || kind == MW__PASS_PARTS_UPDATE;
}

/* What exists while a step graph is built. */
typedef struct mw__trainer_build {
    mw_trainer *trainer;
    mw__trainer_pass_kind kind;
    bool ends_before_check; /* stops before the finite check: trainer_nan_origin.c adds the rest */
    mw_graph *graph;
    mw__arena arena;
    mw_tensor *loss;                     /* rank 0 */
    mw_tensor **parameters, **gradients; /* of those that are trained */
    mw_tensor **raw;                     /* the gradients before they are clipped */
    mw_tensor *probe, **probes;          /* of a custom optimizer, and its gradients; or NULL */
    mw_tensor *norm;                     /* of all of them, if it is clipped; or NULL */
    size_t first_scalar;                 /* of the trainer: those before are of other programs */
    mw_tensor **sums;                    /* the gradients of earlier batches; NULL = none are accumulated */
    size_t count;
    mw_tensor **states; /* that are assigned */
    size_t state_count;
    bool again;                          /* the update has been built: its states are inputs already */
    struct mw__trainer_changes *updates; /* computed before the flag, of each parameter; NULL = to be computed again */
    mw_tensor *ok, *ok_number;           /* bool, and 1 or 0 in the type of the loss; rank 0 */
    mw_tensor *agreed;                   /* such a number from outside, which counts as well; or NULL */
    mw_tensor *scale, *good_steps;       /* of a dynamic loss scale, or NULL */
    mw__optimizer_scalars *scalars;      /* [group, or the averages][fp32, fp16] */
    mw_tensor **shown; /* copies of the watched values of the model, in the order of the watched tensors */
    mw_tensor *loss_output, *ok_output;
    struct mw__pass_log *log; /* while its passes run; else NULL */
} mw__trainer_build;

#endif

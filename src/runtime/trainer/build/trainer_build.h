/* A step as operations while it is built, and the parts that build it. */
#ifndef MW__RUNTIME_TRAINER_BUILD_TRAINER_BUILD_H
#define MW__RUNTIME_TRAINER_BUILD_TRAINER_BUILD_H

#include "runtime/trainer/trainer_object.h"

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
static inline bool mw__pass_has_parts(mw__trainer_pass_kind kind)
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
    mw__optimizer_scalars *scalars;      /* [group][fp32, fp16] */
    mw_tensor **shown; /* copies of the watched values of the model, in the order of the watched tensors */
    mw_tensor *loss_output, *ok_output;
} mw__trainer_build;

/* Turns the copy of the loss in b->graph into the step: outputs loss and ok, then the next value of every state tensor.
 */
mw_status mw__trainer_build_graph(mw__trainer_build *b, mw_error *err);
/* Its last part: what follows from the gradients and the flag. */
mw_status mw__trainer_build_updates(mw__trainer_build *b, mw_error *err);
/* The three strings as one, in the build's arena. */
const char *mw__trainer_join(mw__trainer_build *b, const char *a, const char *middle, const char *end, mw_error *err);

/* ---- trainer_scale.c: between the backward pass and the update ---- */

/* What the backward pass starts from. */
mw_tensor *mw__trainer_start(mw__trainer_build *b);
/* The state of a dynamic scale as inputs. */
void mw__trainer_need_scale(mw__trainer_build *b);
/* Gradients of a dynamic scale become those of the scale that the optimizer expects. */
void mw__trainer_rescale(mw__trainer_build *b);
/* Limits the gradients where that is asked for; b->norm may be there already. */
mw_status mw__trainer_clip(mw__trainer_build *b, mw_error *err);
/* b->norm, of all gradients. */
mw_status mw__trainer_build_norm(mw__trainer_build *b, mw_error *err);
/* The next dynamic scale and its counter. */
mw_status mw__trainer_build_scale(mw__trainer_build *b, mw_error *err);

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

/* What follows the average of a parameter p whose new value is new_p. */
mw_tensor *mw__trainer_average(const mw_trainer *trainer, mw_tensor *average, mw_tensor *new_p);
/* The next value of parameter `index` and of what belongs to it. */
mw_status mw__trainer_build_update(mw__trainer_build *b, size_t index, mw_error *err);
/* What the optimizer of a trained parameter keeps beside it; lives as long as the trainer. */
mw_status mw__trainer_states_of(mw_trainer *trainer, const mw_tensor *parameter, const mw__optimizer_states **out,
                                mw_error *err);
/* An input of the step that is in the state set: a suffix at the name of `like`, of its type and shape. */
mw_status mw__trainer_resident(mw__trainer_build *b, const mw_tensor *like, const char *suffix, mw_tensor **out,
                               mw_error *err);
/* state' = select(ok, new, old), as an output that is aliased to the input of the old value. */
mw_status mw__trainer_next(mw__trainer_build *b, mw_tensor *old, mw_tensor *new, mw_error *err);
/* The same without the choice. */
mw_status mw__trainer_next_always(mw__trainer_build *b, mw_tensor *old, mw_tensor *new, mw_error *err);

#endif

/* The parts that build a step as operations. */
#ifndef MW__RUNTIME_TRAINER_BUILD_TRAINER_BUILD_H
#define MW__RUNTIME_TRAINER_BUILD_TRAINER_BUILD_H

#include "runtime/trainer/object/trainer_pass.h"

/* The passes of the stage TRAINING in passes/pipeline.def. They make b->graph the step: outputs loss and ok, then the
 * next value of every state tensor. The first copies the model, in trainer_programs.c. */
mw_status mw__trainer_copy_step(mw__trainer_build *b, mw_error *err);
mw_status mw__trainer_build_gradients(mw__trainer_build *b, mw_error *err);
/* Adds earlier gradients, clips, and makes the flag, unless the build ends before it. */
mw_status mw__trainer_build_checked(mw__trainer_build *b, mw_error *err);
mw_status mw__trainer_build_ends(mw__trainer_build *b, mw_error *err);
/* What follows from the gradients and the flag. */
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

/* As operations, new ones each time. */
mw_status mw__trainer_changes_of(mw__trainer_build *b, size_t index, mw__trainer_changes *out, mw_error *err);

/* What follows the average of a parameter p whose new value is new_p. */
mw_status mw__trainer_average(mw__trainer_build *b, mw_tensor *average, mw_tensor *new_p, mw_tensor **out,
                              mw_error *err);
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

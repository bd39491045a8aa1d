/* What a trainer is asked for: its options checked, as one line, and as groups of parameters. */
#ifndef MW__RUNTIME_TRAINER_OPTIONS_TRAINER_OPTIONS_H
#define MW__RUNTIME_TRAINER_OPTIONS_TRAINER_OPTIONS_H

#include "runtime/trainer/object/trainer_object.h"

#define MW__ACCUMULATE_MAX      1024
#define MW__SEGMENTS_MAX        4096    /* beyond what any device holds */
#define MW__DISPATCH_STEPS_MAX  100     /* ANEForge's dispatch reference: 100 operations in one stream ran */
#define MW__LOSS_SCALE_MAX      32768.0 /* the largest power of two of fp16 */
#define MW__LOSS_SCALE_INTERVAL 2000    /* that of PyTorch's GradScaler; fp16 counts to 2048 */

mw_status mw__trainer_check_options(const mw_trainer_options *options, mw_error *err);
/* The numbers among them; in trainer_rows.c. */
mw_status mw__trainer_check_rows(const mw_trainer_options *options, mw_error *err);
/* Kind and numbers of all that decides what a step does, as one line. */
mw_status mw__trainer_describe(mw_trainer *trainer, mw_error *err);
/* Names and values, `metric` first; the values are still those of the user's graph. */
mw_status mw__trainer_list_metrics(mw_trainer *trainer, const mw_trainer_options *options, mw_error *err);
/* Group 0 and those of the options; the model is there. */
mw_status mw__trainer_make_groups(mw_trainer *trainer, const mw_trainer_options *options, mw_error *err);
size_t mw__trainer_group_of(const mw_trainer *trainer, const char *parameter);
/* trainer_rates.c: groups by depth and selector, behind those of patterns. */
mw_status mw__trainer_make_rates(mw_trainer *trainer, const mw_trainer_rates *rates, mw_error *err);
/* True for a state that a frozen group takes (mw__clone_frozen). */
bool mw__trainer_freezes(void *trainer, const mw_tensor *state);

/* ---- trainer_watches.c ---- */

mw_status mw__trainer_check_watches(const mw_trainer_options *options, mw_error *err);
mw__watch mw__watch_of_value(const mw_watch *watch);
/* Of a tensor, as it is shown. */
const char *mw__watch_name(const mw__watch *watch);

#endif

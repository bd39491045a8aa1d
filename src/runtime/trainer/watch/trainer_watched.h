/* What of a step is watched (mw_trainer_options.watch): outputs of the program of the step that nobody else reads. */
#ifndef MW__RUNTIME_TRAINER_WATCH_TRAINER_WATCHED_H
#define MW__RUNTIME_TRAINER_WATCH_TRAINER_WATCHED_H

#include "runtime/trainer/object/trainer_pass.h"

/* A vector with these numbers, in this order. */
enum {
    MW__WATCHED_MIN,
    MW__WATCHED_MAX,
    MW__WATCHED_MEAN,
    MW__WATCHED_DEVIATION,
    MW__WATCHED_NORM,
    MW__WATCHED_ZEROS,
    MW__WATCHED_NON_FINITE,
    MW__WATCHED_NUMBERS
};
/* Norms share outputs: so many are in one. */
#define MW__WATCHED_GROUP 256

typedef struct mw__watched_tensor {
    const char *name; /* as shown */
    mw_watch_of of;
    mw_watch_kind kind;
    mw_tensor *value;      /* of the model; NULL = it is about a parameter */
    const char *parameter; /* its name; or NULL */
    int64_t elements;
    bool behind;    /* of several ranks: in the program behind the exchange */
    mw_tensor *put; /* while a program is built: a norm, until it is in a group */
    char port_name[40];
    size_t port, offset; /* of the program; the first of its numbers there */
} mw__watched_tensor;

/* One for each watched tensor, with the user's values; the trainer copies them with its model. */
mw_status mw__trainer_list_watched(mw_trainer *trainer, const mw_trainer_options *options, mw_error *err);
/* The model is copied: nothing may be watched that the step does not have. */
mw_status mw__trainer_check_watched(const mw_trainer *trainer, mw_error *err);

/* ---- while a step is built ---- */

/* Those about parameters, when these are known. */
mw_status mw__trainer_name_watched(mw__trainer_build *b, mw_error *err);
/* Outputs for values of the model; their copies are in b->shown. */
mw_status mw__trainer_show_values(mw__trainer_build *b, mw_error *err);
/* Outputs for gradients and parameters. */
mw_status mw__trainer_show_parameters(mw__trainer_build *b, mw_error *err);
/* Outputs for what a parameter changed by. */
mw_status mw__trainer_show_update(mw__trainer_build *b, size_t index, mw_tensor *old, mw_tensor *next, mw_error *err);
/* The norms in their groups. */
mw_status mw__trainer_show_norms(mw__trainer_build *b, mw_error *err);
/* Where they are in the programs; all are made. */
mw_status mw__trainer_find_watched(mw_trainer *trainer, mw_error *err);

#endif

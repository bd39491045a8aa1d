/* Fitting: the loop over epochs, with validation, checkpoints, early stopping, files of metrics and progress.
 *
 *     mw_fit_options fit = mw_fit_defaults(train, 5);    // epochs
 *     fit.data.validation = test;
 *     fit.checkpoint.path = "mnist.safetensors";         // stop it, run it again: it goes on
 *     mw_trainer_fit(trainer, &fit, &err);
 *
 * A loop of one's own calls mw_trainer_step (trainer.h) on the batches of a loader (dataset.h).
 *
 * Threads: as the trainer. A callback may look at the trainer, as mw_progress_function says, and not train it. */
#ifndef MILLWRIGHT_FIT_H
#define MILLWRIGHT_FIT_H

#include <millwright/evaluate.h>
#include <millwright/metrics.h>
#include <millwright/schedule.h>

#ifdef __cplusplus
extern "C" {
#endif

/** What mw_trainer_fit reports. */
typedef struct mw_progress {
    int64_t epoch, epochs; /* epoch from 1 */
    int64_t step, steps;   /* in all epochs */
    double loss;           /* mean of this epoch so far */
    bool epoch_end;        /* true at the end of an epoch: `validation` is set, if there is a validation set */
    mw_evaluation validation;
    double seconds, seconds_left;
    float learning_rate;        /* of the last step */
    double best;                /* of stopping.best_by, over the validations so far .. */
    int64_t best_epoch, waited; /* epoch of `best`, 0 = none; epochs that stopping.patience has waited since */
} mw_progress;

/** mw_trainer_fit calls it after every step (with dispatch_steps after every dispatch) and at the end of each epoch.
 *  Return true to stop the training; mw_trainer_fit first saves, if there is a checkpoint.
 *  Between the steps it may use the trainer in any way that does not train: read, write, save, measure, predict, log
 *  (mw_trainer_log), load weights and set the learning rate. If the schedule is not constant, setting the rate
 *  multiplies the rest of the schedule by new rate / old rate. mw_trainer_step, mw_trainer_step_many, mw_trainer_fit
 *  and mw_trainer_load return MW_ERROR_STATE on this trainer. If it destroys the trainer, mw_trainer_fit ends with
 *  MW_ERROR_STATE.
 *  Functions of data sets and schedules, the log hook and allocators must not use a trainer while a call on it runs. */
typedef bool mw_progress_function(void *user, const mw_progress *progress);

/** How a run ended. */
typedef enum mw_fit_end {
    MW_FIT_FINISHED = 0, /* all its epochs */
    MW_FIT_EARLY = 1,    /* stopping.patience */
    MW_FIT_STOPPED = 2,  /* MW_ERROR_STOPPED */
    MW_FIT_FAILED = 3    /* any other error */
} mw_fit_end;

/** The result of a run. */
typedef struct mw_fit_summary {
    mw_fit_end end;
    int64_t epochs, steps;    /* whole epochs and steps, with those of earlier calls of the run */
    double seconds;           /* of this call; of the whole run if it writes metrics */
    double loss;              /* mean of the last epoch, so far as it got */
    mw_evaluation validation; /* the last */
    double best;              /* of stopping.best_by .. */
    int64_t best_epoch;       /* .. found in this epoch; 0 = nothing was compared */
    bool restored;            /* the trainer is as it was after that epoch (stopping.restore_best) */
} mw_fit_summary;

/** What to train on. */
typedef struct mw_fit_data {
    const mw_dataset *training;
    const mw_dataset *validation; /* NULL = none */
    double validation_share;      /* in (0, 1): this share of the training set, rounded to whole examples, is used for
                                   * validation, the rest for training; `seed` decides which examples
                                   * (mw_dataset_split). 0 = none. A map of the training set applies to both parts: to
                                   * augment only the training part, split before */
    uint64_t seed;                /* order of the examples */
    bool keep_order;              /* do not shuffle */
} mw_fit_data;

/** How the learning rate changes. */
typedef struct mw_fit_schedule {
    mw_schedule rate;         /* over all epochs; default constant */
    int64_t plateau_patience; /* > 0: after this number of epochs in a row without improvement (mw_fit_stopping), the
                               * learning rate, also that of a schedule, is multiplied by plateau_factor, and the count
                               * starts again at 0 */
    double plateau_factor;    /* in (0, 1) */
    double plateau_least;     /* the rate is not made smaller than this; 0 or more.
                               * source  PyTorch ReduceLROnPlateau(patience = plateau_patience - 1,
                               *         threshold_mode = "abs") */
} mw_fit_schedule;

/** When the run is saved. */
typedef struct mw_fit_checkpoint {
    const char *path; /* NULL = none; else saved each epoch and on stop, and resumed from if it exists */
    int64_t steps;    /* > 0: also save after each multiple of this number of steps, counted over all epochs */
    double seconds;   /* > 0: also save at the first step that ends this long after the last save, or after the start of
                       * this call */
    int keep_last;    /* > 0: keep this number of the latest saves, up to 1000: "run.safetensors" at step 1200 is kept
                       * as "run.step-1200.safetensors" beside it. Older ones that this run kept are removed when the
                       * new one is safe */
} mw_fit_checkpoint;

/** Which epoch is the best, and when to end because of it. */
typedef struct mw_fit_stopping {
    const char *best_by; /* "loss" or the name of a metric: the validations of the epochs are compared by it, and the
                          * checkpoint of the best epoch stays as "run.best.safetensors". NULL = none */
    bool best_highest;   /* the highest value is the best, as of an accuracy; default the lowest */
    int64_t patience;    /* > 0: mw_trainer_fit ends early, with MW_OK, after this number of epochs in a row without
                          * improvement. An epoch improves if its value of best_by is better, by more than min_delta,
                          * than the best improving epoch so far. The checkpoint holds the number of epochs waited: a
                          * run that ended early does not train on when it is started again */
    double min_delta;    /* 0 or more; for patience and schedule.plateau_patience */
    bool restore_best;   /* a run that ends by itself leaves the trainer as it was after its best epoch by best_by:
                          * parameters, states, optimizer and learning rate. They come from the checkpoint of that
                          * epoch, or from a copy in memory if there is none */
} mw_fit_stopping;

/** Which files get the numbers of the run. */
typedef struct mw_fit_metrics {
    const char *path; /* not NULL: mw_trainer_fit writes what it measures to this file during the run. The end of the
                       * name decides the format: JSON Lines (.jsonl), CSV (.csv) or TensorBoard's events (a folder),
                       * see metrics.h and docs/metrics.md. A new run starts the file again. A run that resumes from
                       * its checkpoint continues the file, and removes what was written after that checkpoint. With
                       * several ranks rank 0 writes */
    const char *const *more; /* more files like `path` */
    size_t more_count;       /* their number, up to 7 */
    int64_t steps;           /* write a line after each multiple of this number of steps; 0 = 500 lines over all epochs
                              */
} mw_fit_metrics;

/** What is shown, and told to the caller, while the run goes on. */
typedef struct mw_fit_progress {
    bool quiet;                     /* no progress on standard error */
    bool no_warnings;               /* the warnings of mw_trainer_warning_at are not printed: the caller shows them */
    bool ignore_signals;            /* true: SIGINT and SIGTERM are not handled. By default, the first such signal makes
                                     * mw_trainer_fit save the checkpoint and return MW_ERROR_STOPPED; a second one
                                     * before that ends the process. A signal that the host ignores stays ignored. When
                                     * mw_trainer_fit returns, the host's handlers are back */
    mw_progress_function *function; /* NULL = none */
    void *user;
} mw_fit_progress;

/** How to fit. Fill with mw_fit_defaults. */
typedef struct mw_fit_options {
    size_t struct_size;
    int64_t epochs;
    mw_fit_data data;
    mw_fit_schedule schedule;
    mw_fit_checkpoint checkpoint;
    mw_fit_stopping stopping;
    mw_fit_metrics metrics;
    mw_fit_progress progress;
    mw_fit_summary *summary; /* not NULL: filled when mw_trainer_fit ends, however it does */
} mw_fit_options;

/** Returns options with everything else at its default. */
MW_API mw_fit_options mw_fit_defaults(const mw_dataset *training, int64_t epochs);

/** Writes a record of the kind "log" to the metrics files of the mw_trainer_fit that runs on this trainer. Call it from
 *  the callback of mw_trainer_fit. Writes nothing if there are no such files, or on a rank other than 0.
 *  errors  MW_ERROR_STATE if none runs; those of mw_metrics_write */
MW_API mw_status mw_trainer_log(mw_trainer *trainer, const mw_metrics_field *fields, size_t count, mw_error *err);

/** Trains for whole epochs. The batch size is the first extent of the graph's inputs. Progress is one line on a
 *  terminal (with the time left), one line per epoch elsewhere; progress.quiet turns it off.
 *  errors  MW_ERROR_STOPPED if the callback or a signal stopped it (mw_error_clear before the next call with this
 *          error), MW_ERROR_NUMERIC at the first refused step; what
 *          mw_trainer_evaluate says of a validation set that it cannot take, before the first step; MW_ERROR_FILE if
 *          another mw_trainer_fit, here or in another process, has this checkpoint, if one cannot be written, or the
 *          progress (nobody reads the pipe, the disk is full): the weights in the trainer are those of the last step */
MW_API mw_status mw_trainer_fit(mw_trainer *trainer, const mw_fit_options *options, mw_error *err);

/** The signal that asked the latest mw_trainer_fit of this process to stop, SIGINT or SIGTERM; 0 if none did. A program
 *  that ends because of it does so with 128 + signal. */
MW_API int mw_fit_signal(void);

#ifdef __cplusplus
}
#endif
#endif

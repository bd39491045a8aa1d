/* What the files and the loop of a trainer share. */
#ifndef MW__RUNTIME_FIT_FIT_H
#define MW__RUNTIME_FIT_FIT_H

#include "base/memory/alloc.h"
#include "runtime/fit/fit_best.h"
#include <millwright/trainer.h>

#define MW__KEEP_MAX 1000

/* What mw_trainer_fit adds to a checkpoint. */
typedef struct mw__fit_record {
    const char *order;   /* what decides the order of the examples, as one line: a position means nothing without it */
    int64_t batches;     /* in an epoch */
    double loss_sum;     /* of the steps of this epoch so far */
    const char *best_by; /* what is compared over the epochs: "lowest loss"; NULL = nothing */
    double best;         /* the best of it so far .. */
    int64_t best_step;   /* .. and where it was found; 0 = not yet */
    bool waits;          /* for something better: only then is the next there */
    mw__fit_patience early, plateau;
    bool has_lines;     /* lines of metrics are written: only then is the next there, which the clock decides */
    double seconds;     /* of training so far */
    double line_sum;    /* of the losses since the last line of metrics .. */
    int64_t line_count; /* .. and how many they are */
    double line_rate;   /* learning rate of the last step */
    int64_t *kept;      /* [MW__KEEP_MAX + 1] steps of the checkpoints that stay, rising; NULL = none do */
    size_t kept_count;
} mw__fit_record;

/* As mw_trainer_save and mw_trainer_load; `record` may be NULL. */
mw_status mw__checkpoint_save(mw_trainer *trainer, const char *path, mw_loader_position position,
                              const mw__fit_record *record, mw_error *err);
/* Refuses a checkpoint that another order wrote; sets all numbers of the record, the best if it was of the same
 * `best_by`, and the steps in `kept` unless that is NULL. Nothing changes on failure. */
mw_status mw__checkpoint_load(mw_trainer *trainer, const char *path, mw_loader_position *out_position,
                              mw__fit_record *record, mw_error *err);

/* "folder/run.safetensors" and "best" to "folder/run.best.safetensors". Freed with mw__free. */
char *mw__kept_path(const mw_allocator *allocator, const char *path, const char *mark, mw_error *err);
/* Lets the file at `path` have the name `kept`, too, in place of what had it; false where it cannot. */
bool mw__kept_link(const mw_allocator *allocator, const char *path, const char *kept);

/* Ctrl-C and SIGTERM as a flag, between begin and end; nests over threads. The second of them ends the process. */
void mw__interrupt_begin(void);
void mw__interrupt_end(void);
int mw__interrupted(void); /* the signal; 0 = none */

/* The progress of one mw_trainer_fit on standard error: one line that is rewritten on a terminal, one line per epoch
 * elsewhere. No colors, so NO_COLOR is honored. A line that cannot be written because the pipe has no reader or the
 * file is full is an error; without a place for lines (standard error is closed, the terminal is gone) there are none.
 */
typedef struct mw__reporter {
    bool quiet;
    bool terminal;
    bool has_validation;
    int64_t first_step; /* steps done when this run began */
    double started;     /* seconds of the monotonic clock */
    double shown;       /* when the line was last rewritten */
} mw__reporter;

void mw__report_begin(mw__reporter *reporter, bool quiet); /* first_step is set when it is known */
mw_status mw__report_resume(mw__reporter *reporter, const char *path, int64_t epoch, int64_t step, mw_error *err);
mw_status mw__report_step(mw__reporter *reporter, const mw_progress *progress, mw_error *err);
mw_status mw__report_warning(mw__reporter *reporter, const char *message, size_t others, mw_error *err);
/* Lines of their own: a smaller learning rate from now on, and an end before the last epoch. */
mw_status mw__report_rate(mw__reporter *reporter, const mw_progress *progress, double rate, mw_error *err);
mw_status mw__report_early(mw__reporter *reporter, const char *by, int64_t epochs, mw_error *err);
mw_status mw__report_epoch(mw__reporter *reporter, const mw_progress *progress, mw_error *err);
/* Leaves the terminal at the start of an empty line. */
void mw__report_end(mw__reporter *reporter);

/* The lines, for a given width: at most size - 1 bytes. */
void mw__progress_line(char *out, size_t size, const mw_progress *progress, double steps_per_second, int width);
void mw__epoch_line(char *out, size_t size, const mw_progress *progress, bool has_validation);

#endif

/* The trainer's insides, shared by trainer_build.c (create), trainer_step.c, evaluate.c and trainer.c (the rest). */
#ifndef MW__RUNTIME_TRAINER_H
#define MW__RUNTIME_TRAINER_H

#include "autograd/optimizer.h"
#include "graph/clone.h"
#include "runtime/feed.h"
#include "runtime/program.h"
#include "runtime/state.h"
#include <millwright/trainer.h>

/* A scalar that the host writes before each step. */
typedef struct mw__trainer_scalar {
    const char *name;  /* of the optimizer's row, static */
    size_t index;      /* for mw__optimizer_scalar_value */
    void *data;        /* the port; NULL while the program is not made */
    mw_dtype declared; /* of the parameters that it serves */
    mw_dtype dtype;    /* in the port */
} mw__trainer_scalar;

#define MW__TRAINER_SCALARS (2 * MW__OPTIMIZER_SCALARS) /* for fp32 and for fp16 parameters */

/* A value that evaluation or prediction reads. */
typedef struct mw__view_value {
    bool present;
    bool per_example; /* [batch]: the values whose mean is wanted */
    size_t port;
} mw__view_value;

/* A program on the same parameters as the step; made at first use. */
typedef struct mw__view {
    mw_program *program; /* NULL = not made yet */
    mw__feeder feeder;
    mw__view_value first, second; /* loss and metric, or the prediction and nothing */
} mw__view;

struct mw_trainer {
    const mw_allocator *allocator;
    mw__target target;
    mw_compile_options compile; /* for later programs */
    mw_optimizer optimizer;     /* with the device's defaults */
    float learning_rate;
    double loss_scale;
    mw_graph *model; /* a copy of what the user's graph needs for these three */
    mw_tensor *loss, *metric, *prediction;
    mw__state_set state;
    mw_program *step;
    mw_program *twin; /* of the step, until the first step proved that aliasing is safe; NULL on the engine */
    bool dead;        /* that proof failed: the state is wrong */
    mw__feeder feeder;
    mw__trainer_scalar scalars[MW__TRAINER_SCALARS];
    size_t scalar_count;
    size_t loss_port, ok_port;
    mw__view evaluation, predictor;
    int64_t batch;
    int64_t steps;
    mw_trainer_counters counters;
    char *description;
};

/* Adds to an output's name: the next value of the state entry of that name. */
#define MW__NEXT "#next"

/* The element type that the device stores for a declared one. */
mw_dtype mw__trainer_stored(const mw_trainer *trainer, mw_dtype declared);
/* True if a number other than 0 becomes 0 or infinite in `dtype`. */
bool mw__number_is_lost(double value, mw_dtype dtype);
/* Refuses scalars of step `step` that the device's type cannot hold. */
mw_status mw__trainer_check_scalars(const mw_trainer *trainer, float learning_rate, int64_t step, mw_error *err);

/* A program whose parameters are those of the state set; `graph` has outputs. */
mw_program *mw__trainer_compile(mw_trainer *trainer, const mw_graph *graph, const char *keep_folder, mw_error *err);

/* What exists while the step graph is built. */
typedef struct mw__trainer_build {
    mw_trainer *trainer;
    mw_graph *graph;
    mw__arena arena;
    mw_tensor *loss; /* rank 0 */
    mw_tensor **parameters, **gradients;
    size_t count;
    mw_tensor **states; /* that are assigned */
    size_t state_count;
    mw_tensor *ok;                    /* bool, rank 0 */
    mw__optimizer_scalars scalars[2]; /* for fp32 and for fp16 parameters */
} mw__trainer_build;

/* Turns the copy of the loss in b->graph into the step: outputs loss and ok, then the next value of every state tensor.
 * Leaves the value ids of loss and ok in the trainer's loss_port and ok_port. */
mw_status mw__trainer_build_graph(mw__trainer_build *b, mw_error *err);
/* The three strings as one, in the build's arena. */
const char *mw__trainer_join(mw__trainer_build *b, const char *a, const char *middle, const char *end, mw_error *err);

/* Makes the twin where the library needs the proof. */
mw_status mw__trainer_make_twin(mw_trainer *trainer, const mw_graph *graph, mw_error *err);
/* Runs the twin and the step, compares and drops the twin. */
mw_status mw__trainer_run_twice(mw_trainer *trainer, mw_error *err);
/* MW_ERROR_STATE once the comparison has failed. */
mw_status mw__trainer_check_alive(const mw_trainer *trainer, mw_error *err);

void mw__view_deinit(mw__view *view);

#endif

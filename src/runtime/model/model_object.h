/* What the files of models share: the model, its plans, and what a predictor runs. */
#ifndef MW__RUNTIME_MODEL_OBJECT_H
#define MW__RUNTIME_MODEL_OBJECT_H

#include "graph/transform/batch/batch.h"
#include "runtime/program/feed.h"
#include "runtime/program/program_object.h"

#include <millwright/model.h>
#include <pthread.h>

/* Where the examples of a result stand, by output of the program. */
typedef struct mw__model_result {
    const char *name; /* of the port */
    size_t port;
    mw__batch_kind kind; /* NONE: there is one for all; MIXED: a run is a whole */
    int axis;            /* ROWS: of the examples */
    size_t blocks;       /* of the elements of all examples of a run, .. */
    size_t block;        /* .. so many of each */
} mw__model_result;

/* The program for one choice of shapes and one number of examples in a run. What it holds is only read, so that any
 * number of predictors may run it; its own buffers are never written. */
typedef struct mw__model_plan {
    mw_shape *shapes; /* by fed input of the model, before the batch is changed */
    int64_t wanted;   /* examples that were asked for; 0 = as they come */
    int64_t examples; /* of a run */
    mw_program *program;
    mw__feeder feeder; /* with the ports of the program: a pattern for those of the predictors */
    mw__model_result *results;
    size_t result_count;
    size_t users; /* predictors that keep it, and the model if it is its first */
    struct mw__model_plan *next;
} mw__model_plan;

struct mw_model {
    const mw_allocator *allocator;
    mw__arena arena;
    mw_coreml *coreml; /* whose graph and description those are; or NULL */
    mw_graph *owned;   /* the graph, if nobody else has it */
    const mw_graph *graph;
    const mw_description *description; /* or NULL */
    const mw_function_description *function;
    const char **inputs; /* names of those that are fed */
    mw_shape *shapes;    /* theirs, as the options say */
    size_t input_count;
    bool open; /* some have `?` extents */
    mw_compile_options compile;
    int64_t asked;  /* options.batch */
    size_t run_max; /* of a predictor */
    mw_port *ports; /* as the user sees them */
    size_t port_count;
    mw__model_plan *first;
    pthread_mutex_t mutex; /* of the next three */
    mw__model_plan *plans;
    bool latency; /* the program was brought to one example, or may be */
    size_t users; /* predictors, and the user until it destroys the model */
};

/* A state of a predictor. */
typedef struct mw__model_state {
    const char *name;
    mw_dtype dtype;
    size_t count;
    mw__device_buffer buffer;
} mw__model_state;

typedef struct mw__series mw__series;

/* A plan with buffers of the predictor's own. */
typedef struct mw__model_run {
    mw__model_plan *plan;
    mw__series *series;
    mw__port_place *places; /* by port: with the predictor's memory of those in parts */
    mw__feeder feeder;
    mw__arena arena;
    uint64_t used; /* the clock when it ran last */
} mw__model_run;

struct mw_predictor {
    const mw_allocator *allocator;
    mw__guard guard;
    const char *call; /* the function that predicts, or makes it, for messages */
    mw_model *model;
    mw_shape *shapes; /* that are chosen */
    mw__model_state *states;
    size_t state_count;
    mw__model_run **runs;
    size_t run_count;
    mw__model_run *main, *single; /* of these: of as many examples as go into a run, and of one; or NULL */
    uint64_t clock;
};

/* ---- model.c ---- */

/* Gives up a use of the model, which goes with the last. */
void mw__model_release(mw_model *model);
/* Puts shapes of inputs, by their names, in their places in `out`.
 *  errors  MW_ERROR_ARGUMENT for an input that is not fed, or not there */
mw_status mw__model_put_shapes(const mw_model *model, const mw_input_shape *shapes, size_t count, mw_shape *out,
                               mw_error *err);

/* MW_ERROR_STATE if nothing was compiled. */
mw_status mw__model_is_ready(const mw_model *model, const char *call, mw_error *err);

/* ---- model_load.c ---- */

/* Reads what is at `path` into the model: its graph, its description. */
mw_status mw__model_read(mw_model *model, const char *path, const mw_model_options *options, mw_error *err);

/* ---- model_plan.c ---- */

/* The plan for shapes, by fed input, and runs of `wanted` examples (0 = those of the shapes); found or made, with one
 * use more. */
mw_status mw__model_plan_take(mw_model *model, const mw_shape *shapes, int64_t wanted, mw__model_plan **out,
                              mw_error *err);
void mw__model_plan_drop(mw_model *model, mw__model_plan *plan);

/* ---- model_run.c ---- */

/* The plan bound to buffers of the predictor; the use of the plan is its own then. */
mw__model_run *mw__model_run_make(mw_predictor *predictor, mw__model_plan *plan, mw_error *err);
void mw__model_run_free(const mw_predictor *predictor, mw__model_run *run);
/* The memory of a port as the user sees it. */
void *mw__model_run_data(const mw__model_run *run, size_t port);
mw_status mw__model_run_execute(mw__model_run *run, mw_error *err);
/* The index of the input whose memory output `port` writes, input_count if it is none: the next value of a state. */
size_t mw__model_state_input(const mw_program *program, size_t port);

/* ---- predict.c ---- */

/* Elements of one type become those of another, as they enter a port; `name` is the port's, for messages. */
mw_status mw__model_copy(void *out, mw_dtype to, const void *data, mw_dtype from, size_t count, const char *name,
                         mw_error *err);

/* ---- predictor.c ---- */

/* mw_predictor_create, under the name that `call` has in messages. */
mw_predictor *mw__predictor_make(mw_model *model, const char *call, mw_error *err);
/* Around a public call.
 *  errors  MW_ERROR_STATE if the predictor is destroyed, or in use (base/memory/guard.h) */
mw_status mw__predictor_enter(mw__entry *out, mw_predictor *predictor, const char *call, mw_error *err);
mw_status mw__predictor_leave(const mw__entry *entry, mw_status status, mw_error *err);

/* The state of that name; NULL if there is none. */
mw__model_state *mw__predictor_state(const mw_predictor *predictor, const char *name);
/* The run for what is left of a call. */
mw_status mw__predictor_choose(mw_predictor *predictor, int64_t left, mw__model_run **out, mw_error *err);

#endif

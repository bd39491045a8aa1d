/* The parts of a training: what recipe.c puts together. */
#ifndef MW__TOOL_TRAIN_TRAINING_H
#define MW__TOOL_TRAIN_TRAINING_H

#include "tool/classes.h"
#include "tool/fields.h"
#include "tool/model_text.h"
#include "tool/show/dashboard.h"
#include "tool/train/recipe.h"

enum { TRAINING_PATH_BYTES = 4200, TRAINING_SELECTORS_MAX = 64 };

/* What a selector took. */
typedef struct training_taken {
    const char *pattern;
    size_t weights, left;
    int64_t numbers;
} training_taken;

/* Which weights of a model are trained. */
typedef struct training_tune {
    const char *const *patterns; /* [pattern_count] */
    size_t pattern_count;
    const char **listed; /* owned; NULL = the patterns are not those of the settings */
    int64_t last, lora;  /* layers; rank of adapters, 0 = none */
    training_taken taken[TRAINING_SELECTORS_MAX];
    size_t taken_count;
    mw_rate_factor *factors; /* [factor_count], owned */
    char **factor_names;     /* likewise */
    size_t factor_count;
    double decay; /* 0 = none */
} training_tune;

typedef struct training {
    const tool_call *call;
    const recipe_overrides *over;
    config c;
    mw_error *err;
    data_parts data;
    struct training_text *text; /* training_text.h; NULL = no text is learned */
    class_list classes;         /* of the data, or of the model: by the index of the score */
    recipe_loss loss_kind;
    int64_t batch;
    mw_model *model; /* whose network is trained, or NULL */
    const char *model_path;
    char model_folder[TRAINING_PATH_BYTES + 16]; /* RUN/model, if the path was RUN */
    mw_graph *source, *graph;                    /* of the model, in its own batch; what is trained */
    mw_tensor *x, *y, *out, *loss, *metric;
    mw_tensor *variants[MW_VARIANTS_MAX]; /* losses of the same network for texts of fewer tokens */
    size_t variant_count;
    mw_tensor *scaled; /* of a target of values: out is in its unit, and this as it is learned; else NULL */
    float *target;     /* [2, target_count] mean and deviation of a target that is no table's; NULL = as it is */
    size_t target_count;
    const char *scores; /* names of figures, with commas; NULL = those of the task */
    char label[32];     /* the column of the data, and the input of the graph, that is y */
    int64_t places;     /* labels of an example; 1 unless they are by place */
    int32_t ignore;     /* a label that does not count */
    training_tune tune;
    bool probabilities; /* out is a softmax */
    bool has_head;      /* layers behind a model */
    mw_optimizer optimizer;
    mw_device device;
    int threads;
    mw_trainer *trainer;
    char fold_run[TRAINING_PATH_BYTES]; /* RUN/fold-1 of a cross-validation */
    char checkpoint[TRAINING_PATH_BYTES], metrics[TRAINING_PATH_BYTES], refused[TRAINING_PATH_BYTES];
    const char *run, *output, *data_path;
    bool kept; /* the settings are in the folder of the run */
    dashboard board;
} training;

/* By recipe_loss; NULL behind the last. */
extern const char *const training_losses[];

/* By name; NULL behind the last. What each begins with, and its learning rate if none is said. */
extern const char *const training_optimizers[];
mw_optimizer training_begin_optimizer(int name, float rate);
float training_optimizer_rate(int name);

/* Sets the first error; false. */
bool training_fail(training *t, mw_status status, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* ---- training_network.c: t->graph with t->out, t->loss, t->metric ---- */
bool training_build(training *t);
/* [batch, ..] of the column "x": pictures get an axis for their channel. */
mw_shape training_input_shape(const training *t);
/* "scores", or the next of scores_2, scores_3, .. that a graph has not: models bring names of their own. Those of a
 * layer have ".weight" and ".bias" behind. */
const char *training_free_name(const mw_graph *graph, const char *wanted, bool is_layer, char *out, size_t size);
/* The result of layers, in the unit of the target. */
void training_take_result(training *t, mw_tensor *out);

/* ---- training_loss.c ---- */
/* Whether an example has a label for each of its places, as a text for each token. */
bool training_is_by_place(const training *t);
/* Then t->out has the classes last, and t->places is set. */
bool training_place_scores(training *t);
/* t->loss, t->metric and the input t->y, of the result t->out. */
bool training_make_loss(training *t);

/* ---- training_model.c ---- */
/* The model with the weights that are trained; t->x, t->out. */
bool training_take_model(training *t);

/* ---- training_rates.c ---- */
/* Learning rates by depth and selector, from the command or the settings. */
bool training_take_rates(training *t, mw_trainer_rates *out);

/* ---- training_target.c ---- */
/* Means and deviations of a target of values that has no encoder. */
bool training_fit_target(training *t);
bool training_scales_target(const training *t);
/* About the largest value of a scaled target, by its mean and three deviations; 0 for others. */
double training_largest_target(const training *t);
/* What is learned, in the unit of the target; and the other way, of a model. */
mw_tensor *training_in_unit(const training *t, mw_tensor *values);
mw_tensor *training_scale_again(const training *t, mw_tensor *out);
/* The input t->y as it is learned, and in its unit. */
mw_tensor *training_scaled_target(const training *t);
mw_tensor *training_target_in_unit(const training *t);

/* ---- training_weights.c ---- */
/* "class_weights" of the recipe, [count] by the index of the score; NULL = all 1, or t->err is set. To be freed. */
float *training_class_weights(training *t, int64_t count);
/* "sampling": the training part is drawn by the class, once classes are paired; before columns are renamed. */
bool training_sample(training *t, int64_t count);

/* ---- training_options.c ---- */
bool training_make_trainer(training *t);
bool training_place_files(training *t);
mw_fit_options training_make_fit(training *t);
/* Compares with the checkpoint that the run goes on from; false for settings that do not fit, or t->err is set. */
bool training_check_checkpoint(training *t);

/* ---- rate.c ---- */
/* Trains with a rising rate and says which one is good; the trainer is of no use afterwards. An exit code. */
int training_find_rate(training *t, const mw_fit_options *fit);

/* ---- training_metadata.c ---- */
/* What the model says of itself, by tool_model_keys; NULL = nothing. */
typedef struct training_metadata {
    char *texts[TOOL_MODEL_KEYS];
} training_metadata;
/* training_metadata_free either way. */
bool training_metadata_make(training_metadata *out, const training *t, mw_error *err);
void training_metadata_free(training_metadata *metadata);

/* ---- training_output.c ---- */
/* Whether all outputs can be written, before the first step. */
bool training_check_outputs(training *t);
void training_write_outputs(training *t);
/* run/recipe.json and run/about.json, once the run was accepted. */
void training_keep_settings(training *t);

#endif

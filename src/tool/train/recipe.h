/* A training as settings: from a file (mw train) or from options (mw finetune). */
#ifndef MW__TOOL_TRAIN_RECIPE_H
#define MW__TOOL_TRAIN_RECIPE_H

#include "tool/tool.h"
#include "tool/train/data.h"

#include <millwright/scores.h>

typedef enum recipe_loss {
    RECIPE_CROSS_ENTROPY,
    RECIPE_MSE,
    RECIPE_L1,
    RECIPE_HUBER,
    RECIPE_BINARY_CROSS_ENTROPY,
    RECIPE_FOCAL,
    RECIPE_DICE,
    RECIPE_QUANTILE,
    RECIPE_POISSON,
    RECIPE_COSINE
} recipe_loss;

/* What a loss is of; of values otherwise. */
static inline bool recipe_has_classes(recipe_loss loss) { return loss == RECIPE_CROSS_ENTROPY || loss == RECIPE_FOCAL; }
static inline bool recipe_has_labels(recipe_loss loss)
{
    return loss == RECIPE_BINARY_CROSS_ENTROPY || loss == RECIPE_DICE;
}

/* Of mw finetune --text. */
typedef struct recipe_text {
    const char *path; /* NULL = no text is learned */
    const char *chat, *cache, *prompt;
    long long tokens;
    bool padded, buckets, apart, no_samples, adapter;
} recipe_text;

/* What goes before the settings of the file; NULL and 0 = as they say. */
typedef struct recipe_overrides {
    const char *data, *output, *run, *device;
    long long epochs, batch, seed, threads, accumulate;
    double learning_rate;
    double memory_limit;       /* of a step, in MB; 0 = none */
    long long segments;        /* that a step is cut into; 0 = as many as a device asks for, below 0 = none */
    const char *model;         /* of mw finetune */
    const char *const *layers; /* patterns; NULL = all */
    size_t layer_count;
    bool head;                /* a dense layer for the classes behind the model */
    long long lora;           /* rank; 0 = the weights themselves */
    long long last;           /* layers; 0 = by patterns alone */
    const char *const *rates; /* PATTERN=FACTOR */
    size_t rate_count;
    double rate_decay;        /* 0 = none */
    const char *const *files; /* NAME=FILE, in the place of data */
    size_t file_count;
    bool has_ignore;
    long long ignore; /* a label that does not count */
    recipe_text text;
    const char *loss;
    /* Gets what a set of the data is measured with at the end, instead of the answer; or NULL. The figures are NULL
     * unless they are wanted */
    void (*measured)(void *user, const char *set, const mw_evaluation *found, const mw_scores *scores);
    void *measured_user;
    bool wants_scores;
    int folds, fold; /* of a cross-validation: the data without fold `fold`, from 0, which validates; 0 = none */
    bool find_rate;  /* nothing is trained: which learning rate is good */
    const mw_compile_options *compile;                /* its chip, profile and passes; NULL = as they are */
    void (*built)(void *user, const mw_graph *graph); /* recipe_build: gets network and loss, and report_user */
    /* recipe_build: gets the trainer and the first batch of a training; or NULL. False with err set if it fails */
    bool (*look)(void *user, mw_trainer *trainer, const mw_batch *batch, mw_error *err);
    void *look_user;
} recipe_overrides;

/* Trains as the settings say and writes what they ask for.
 *  path  of the settings; NULL = the overrides alone */
int recipe_train(const char *path, const recipe_overrides *overrides, const tool_call *call);
/* Makes the trainer as the settings say; trains nothing and writes nothing. */
int recipe_build(const char *path, const recipe_overrides *overrides, const tool_call *call);

#endif

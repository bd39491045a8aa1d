/* Pictures of a recipe: how a folder of them is read, and how they are changed while a network learns them. */
#ifndef MW__TOOL_TRAIN_PICTURES_H
#define MW__TOOL_TRAIN_PICTURES_H

#include "tool/train/labeled.h"

#include <millwright/data.h>
#include <millwright/millwright.h>

/* What is known of them, for all sets of one recipe. */
typedef struct pictures {
    config *c;
    const config_node *settings; /* "data" of the recipe, or NULL */
    const mw_port *input;        /* of the model that they are for, or NULL: they come as it takes them */
    mw_error *err;
    mw_image_options options;
    bool channels_last;
    bool is_folder;   /* they were opened by pictures_open */
    bool has_classes; /* the loss wants one class each */
    bool is_usual;    /* there is no recipe: a size is chosen */
    labeled_told told;
    /* what pictures_prepare found */
    int threads;         /* that should make batches ahead: more where pictures are unpacked while a network learns */
    float mixup, cutmix; /* 0 = none */
    uint64_t seed;       /* of what is drawn for them */
    float mean[3], deviation[3]; /* of what a model takes */
    bool has_mean;
} pictures;

/* Channels of the pictures that a model takes, and where: [N, C, H, W], [N, H, W, C], [N, H, W]; 0 = it does not say.
 */
int pictures_channels(const mw_port *input, bool *out_last);

/* What a model says of the pictures that it takes, under TOOL_PICTURE_KEY. To be freed; NULL if there is no memory.
 *  mean, deviation  [channels]; mean NULL = they are not normalized */
char *pictures_text(const mw_image_options *options, float scale, const float *mean, const float *deviation);

/* A folder with a folder for each class; with the classes of `like`, if there is one: the same name is the same number.
 */
mw_dataset *pictures_open(pictures *p, const char *path, const mw_dataset *like);

/* The training part as it is learned: changed at random, in batches that are made ahead.
 *  plain  as it is stored: part 0 of `split` (NULL: of a set that is no folder) */
typedef struct pictures_part {
    const mw_dataset *plain;
    const char *path;      /* where it was opened */
    const mw_dataset *all; /* what `plain` was dealt from */
    const int64_t *counts; /* [count] of the parts, as mw_dataset_split had them */
    size_t count;
    uint64_t seed;
    const int64_t *learned; /* [learned_count] the examples of `plain`, where it is no such part; else NULL */
    int64_t learned_count;
    const mw_divide_options *divide; /* NULL = by counts */
} pictures_part;
mw_dataset *pictures_prepare(pictures *p, const pictures_part *part);

#endif

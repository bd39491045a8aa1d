/* Sounds of a recipe: how a folder of them is read, what a model says of that, and how they are changed while a network
 * learns them. */
#ifndef MW__TOOL_TRAIN_SOUNDS_H
#define MW__TOOL_TRAIN_SOUNDS_H

#include "tool/model_text.h"
#include "tool/train/labeled.h"

#include <millwright/millwright.h>

/* What is known of them, for all sets of one recipe. */
typedef struct sounds {
    config *c;
    const config_node *settings; /* "data" of the recipe, or NULL */
    const mw_port *input;        /* of the model that they are for, or NULL.. */
    const char *said;            /* ..and what it says under TOOL_SOUND_KEY, or NULL */
    mw_error *err;
    bool has_classes; /* the loss wants one class each */
    bool is_open;     /* options are read, and have a length */
    mw_sound_options options;
    labeled_told told;
} sounds;

/* Whether a folder, or one in it, has a file with the name of a sound. */
bool sounds_are_in(const char *folder);

/* A folder with a folder for each class, or the sounds of a table; with the classes of `like`, if there is one. */
mw_dataset *sounds_open(sounds *s, const char *path, const mw_dataset *like);

/* The training part as it is learned: changed at random, in batches that `*out_threads` threads make ahead. */
mw_dataset *sounds_prepare(sounds *s, const mw_dataset *plain, const mw_dataset *all, int *out_threads);

/* What a model says of the options, to be freed; and back, false for what is no such text. */
char *sounds_text(const mw_sound_options *options);
bool sounds_parse(const char *text, mw_sound_options *out);

#endif

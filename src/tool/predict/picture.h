/* How pictures become the input of a model: as its metadata says, as the options say, or as its input is shaped. */
#ifndef MW__TOOL_PREDICT_PICTURE_H
#define MW__TOOL_PREDICT_PICTURE_H

#include "tool/classes.h"

#include <millwright/data.h>
#include <millwright/millwright.h>

/* Options of the command; NULL and 0 where nothing is said. */
typedef struct picture_settings {
    const char *fit; /* "crop", "stretch", "pad" */
    double crop, scale;
    const char *mean, *deviation; /* a number for each channel, with commas between them */
    const char *order;            /* "rgb", "bgr" */
    bool skips_broken;
} picture_settings;

typedef struct picture_plan {
    mw_image_options options;
    bool blue_first;
    float scale; /* what a byte is multiplied with, before mean and deviation */
    float mean[3], deviation[3];
    bool normalizes;
    bool is_said; /* by the model or the options; else it is a guess */
} picture_plan;

/* false with err set: the input takes no pictures, or an option is none. */
bool picture_plan_make(picture_plan *out, const picture_settings *settings, const mw_model *model, const char *path,
                       const mw_port *input, int64_t elements, mw_error *err);
/* The set with mean and deviation taken off; takes `set` over. */
mw_dataset *picture_plan_normalize(const picture_plan *plan, mw_dataset *set, mw_error *err);

/* What a list is of. */
typedef struct picture_list_kind {
    bool (*is_file)(const char *path);
    const char *said; /* "picture that ends in .png, .." */
} picture_list_kind;
extern const picture_list_kind picture_list_pictures, picture_list_sounds;

/* Files of pictures or sounds, sorted by their names. */
typedef struct picture_list {
    char **names;       /* [count] below the folder, or the path of a single one */
    char **paths;       /* [count] */
    int64_t *labels;    /* [count] numbers of classes; NULL = the pictures lie in the folder itself */
    class_list classes; /* folders */
    size_t count, capacity;
} picture_list;

bool picture_is_file(const char *path);
bool picture_is_sound(const char *path);
/* A file, a folder of them, a folder with a folder for each class, or one with "train" and "test", of which the
 * second is taken. Hidden files, links to folders, and links that lead out of the folder are left out.
 *  errors  a folder without any */
bool picture_list_open(picture_list *out, const char *path, const picture_list_kind *kind, mw_error *err);
/* Without the entry of that path. */
void picture_list_drop(picture_list *list, const char *path);
void picture_list_free(picture_list *list);

#endif

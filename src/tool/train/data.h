/* What is learned from: a path of any kind of data set that the library opens, in parts. */
#ifndef MW__TOOL_TRAIN_DATA_H
#define MW__TOOL_TRAIN_DATA_H

#include "tool/config.h"
#include "tool/data_scale.h"
#include "tool/train/data_fields.h"

#include <millwright/data.h>
#include <millwright/millwright.h>

enum { DATA_COLUMNS_MAX = 16 };

/* How examples of one part are copied when its columns are renamed; a mapped set needs it while it lives. */
typedef struct data_renaming {
    size_t count;
    size_t sizes[DATA_COLUMNS_MAX]; /* bytes of an example */
    mw_dtype labels;                /* type of the labels in column `label`; MW_DTYPE_NONE = they stay */
    size_t label;
    const int64_t *map; /* [map_count] */
    int64_t map_count;
} data_renaming;

typedef struct data_parts {
    mw_dataset *training, *validation, *test; /* test NULL = none */
    mw_dataset *plain;                        /* the training part as it is stored, without augmentation */
    const mw_column *x, *y;                   /* of the training part */
    int64_t classes;                          /* 0 for values */
    bool validation_is_test;                  /* there is no validation set of its own */
    bool is_sound;                            /* x holds samples: [C, T]; read as `sound` says */
    bool is_image;                            /* x holds pixels: [H, W], [C, H, W] or [H, W, C] */
    bool normalizes;                          /* the network begins with (x - mean) / deviation */
    data_fields fields;                       /* of a table that is read as numbers */
    mw_table_encoder *encoder;                /* of any other table; NULL = none */
    data_offsets offsets;                     /* subtracted from the inputs before fp32 rounds them */
    int64_t *class_map;                       /* of data_map_classes, owned: [class_map_count] */
    int64_t class_map_count;
    data_renaming renamings[3];
    size_t renaming_count;
    int threads;         /* that make batches ahead */
    bool channels_first; /* of pictures */
    float mixup, cutmix; /* of the training part, 0 = none; labels are then probabilities.. */
    uint64_t mix_seed;
    int64_t scores;              /* ..of so many classes, once the network is known */
    float mean[3], deviation[3]; /* [channels] that pictures are normalized by for a model */
    int channels;                /* 0 = they are not */
    mw_image_options picture;    /* how pictures are read; of a fixed size if x is an image of no folder */
    char *field_names;           /* of a table that is read as numbers: its inputs, a name in each line, owned */
    char *target_name;           /* likewise, owned */
    mw_sound_options sound;
} data_parts;

/* What is opened, and for whom. */
typedef struct data_request {
    const char *path;
    bool has_classes;         /* the target is the number or name of a class.. */
    mw_target_kind target;    /* ..or, of tables with an encoder, what this says */
    bool as_it_is;            /* values of a target are not scaled */
    const char *table;        /* the encoder of the model that the data is for (DATA_TABLE_KEY), or NULL; owned */
    const char *sound;        /* what the model says of sounds (TOOL_SOUND_KEY), or NULL; owned */
    bool new_classes;         /* the model gets a new last layer: the target may have other ones */
    bool own;                 /* the model was trained on this very data, and its parts are wanted again */
    int folds, fold;          /* of a cross-validation: fold `fold`, from 0, validates; 0 = none */
    const char *const *files; /* NAME=FILE of tensors, in place of the path.. */
    size_t file_count;        /* ..if there are any */
    const mw_graph *source;   /* of the model that the data is for, or NULL: tensors go to its inputs by name */
    const mw_port *input;     /* of the model that the data is for, or NULL: pictures come as it takes them */
    bool has_network;         /* the recipe has one: of a table of arrays that all have the same length */
    bool integers;            /* the first layer looks its inputs up: those of a table stay integers */
    bool is_for_model;        /* it is there already: nothing is normalized for it.. */
    double *offsets;          /* ..but these are what was subtracted when it was trained */
    size_t offset_count;
    bool whole; /* all examples of the path, or its own test set; no share and no set that the settings name */
} data_request;

/* What the model that was read from `path` says that was subtracted from its inputs ("mw.offsets"), and how a table
 * becomes its inputs ("mw.table"); free it with data_request_free. */
bool data_request_model(data_request *request, const mw_model *model, const char *path, const char *run, mw_error *err);
void data_request_free(data_request *request);

/* Opens the data that settings ("data" of a recipe, may be NULL) and the request say. */
bool data_open(data_parts *data, config *c, const config_node *settings, const data_request *request, mw_error *err);

/* The column of a set; NULL if there is none. */
const mw_column *data_find_column(const mw_dataset *dataset, const char *name);
/* The length of NAME in NAME=FILE; 0 for a path. */
size_t data_name_length(const char *text);

/* ---- data_classes.c ---- */

/* Which integers are labels of any part: [classes] flags, freed by the caller. */
bool *data_find_labels(const data_parts *data, mw_error *err);
/* How many examples of the training part each integer labels: [classes], freed by the caller. */
int64_t *data_count_labels(const data_parts *data, mw_error *err);
/* The label of each example of the training part, in its order: [examples], freed by the caller; -1 = none. */
int64_t *data_read_labels(const data_parts *data, mw_error *err);
/* From the next data_rename on a label k is map[k], one of `classes`. Takes the map over; NULL is none. */
void data_map_classes(data_parts *data, int64_t *map, int64_t classes);
/* The columns "x" and "y" of every part get other names. */
bool data_rename(data_parts *data, const char *x, const char *y, mw_error *err);

/* Whether labels become probabilities when columns are renamed, as data->scores is set; a report has its labels. */
bool data_mixes(const data_parts *data);

void data_close(data_parts *data);

#endif

/* Which class is which: by name, never by position. A model names its classes in its description ("classes"), as a
 * classifier does, or in the about.json of its run; a data set by its words, folders, or integers. */
#ifndef MW__TOOL_CLASSES_H
#define MW__TOOL_CLASSES_H

#include <millwright/millwright.h>

typedef struct class_list {
    char **names; /* [count], owned; UTF-8 without line breaks */
    size_t count;
} class_list;

/* The names of a column; an empty list if it has numbers alone. What a package cannot hold is converted, which is said
 * on standard error.
 *  errors  MW_ERROR_ARGUMENT if two names become one */
bool class_list_of_dataset(class_list *out, const mw_dataset *dataset, const char *column, mw_error *err);
/* A name in each line, which is how a model says its own. */
bool class_list_of_lines(class_list *out, const char *lines, mw_error *err);
void class_list_free(class_list *list);
/* A name in each line, freed by the caller; NULL for an empty list. */
char *class_list_lines(const class_list *list);
/* "ant, bee, cow", cut where it is too long. */
const char *class_list_print(char *out, size_t size, const class_list *list);

/* What is paired. */
typedef struct class_pairing {
    const class_list *model, *data; /* either may be empty */
    int64_t scores;                 /* of the model */
    const char *model_path, *data_path;
    const bool *has_label; /* [label_count] which integers the data has, where it has no names */
    int64_t label_count;
    bool by_position; /* out: neither side decides, so that the order of the data does; the caller says so */
} class_pairing;

/* The class of the model for each class, or integer label, of the data: [data->count or label_count], freed by the
 * caller; NULL with err set if the data has a class that the model has not. Labels that do not occur are -1. */
int64_t *class_pair(class_pairing *pairing, mw_error *err);

/* Names of the scores of a pairing's model; `run` as for tool_model_text. Lines that are not as many as the scores are
 * not taken, which is said on standard error. */
bool class_list_of_model(class_list *out, const class_pairing *p, const mw_model *model, const char *run,
                         mw_error *err);

#endif

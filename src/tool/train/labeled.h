/* What folders of pictures and of sounds share in a recipe: tables of names and labels, broken files, classes. */
#ifndef MW__TOOL_TRAIN_LABELED_H
#define MW__TOOL_TRAIN_LABELED_H

#include "tool/config.h"

#include <millwright/data.h>

/* Files that were complained of. */
typedef struct labeled_told {
    int count;
    bool is_skipping; /* they are left out */
} labeled_told;

/* "broken" of "data". */
mw_broken labeled_read_broken(config *c, const config_node *settings);
/* A mw_broken_function of a labeled_told: says which cannot be read, the first few of them. */
void labeled_say_broken(void *told, const char *name, const char *reason);

/* "table" of "data", with what is beside it; path NULL where there is none. */
mw_label_table labeled_read_table(config *c, const config_node *settings, bool has_classes);
/* "test_table" in its place, for the test set at `path`. */
void labeled_read_test_table(config *c, const config_node *settings, const char *path, mw_label_table *table);

/* The names of the classes of `like`, which those of a second folder follow; NULL if it has none. To be freed. */
const char **labeled_class_names(const mw_dataset *like, size_t *out_count, mw_error *err);

#endif

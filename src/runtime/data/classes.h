/* Names of classes that came with a data set, and those that a trainer learned. */
#ifndef MW__RUNTIME_DATA_CLASSES_H
#define MW__RUNTIME_DATA_CLASSES_H

#include "runtime/data/data.h"

/* The classes of one column; the names are in `arena` of the set's mw__class_table. */
typedef struct mw__class_list {
    const char *const *names;
    size_t count;
} mw__class_list;

/* As callers see it; no classes for NULL. */
mw_classes mw__class_list_classes(const mw__class_list *list);

struct mw__class_table {
    mw__arena arena;
    mw__class_list *lists; /* [columns of the set] */
};

/* Copies the names: a list for each column. What fails stays with the set. */
MW__SIBLING mw_status mw__dataset_keep_classes(mw_dataset *dataset, const mw__class_list *lists, mw_error *err);
/* The classes of a column by name, those of the first source of a set that is made of others; NULL if it has none. */
const mw__class_list *mw__dataset_find_classes(const mw_dataset *dataset, const char *column);
/* Gives a set of several sources the classes that any of them has; all that have some must agree. */
MW__SIBLING mw_status mw__dataset_join_classes(mw_dataset *dataset, const char *who, mw_error *err);
/* Of the names of all columns; 0 if none has any. */
uint64_t mw__dataset_hash_classes(const mw_dataset *dataset);
/* Whether the classes of `second` have the numbers that they have in `first`, in each column that both name; the
 * message has both lists. `who` is the call. */
mw_status mw__dataset_check_classes(const mw_dataset *first, const mw_dataset *second, const char *who, mw_error *err);
/* Names that a trainer learns, by column: they outlive the data set. NULL if there is no memory. */
typedef struct mw__learned_classes mw__learned_classes;
mw__learned_classes *mw__learned_classes_of(const mw_allocator *allocator, const mw_dataset *dataset, mw_error *err);
void mw__learned_classes_destroy(mw__learned_classes *learned, const mw_allocator *allocator);
/* NULL if the column has none. */
const mw__class_list *mw__learned_classes_find(const mw__learned_classes *learned, const char *column);
/* As mw__dataset_check_classes. */
mw_status mw__learned_classes_check(const mw__learned_classes *learned, const mw_dataset *dataset, const char *who,
                                    mw_error *err);
void mw__class_table_destroy(struct mw__class_table *table, const mw_allocator *allocator);

#endif

/* Names of classes that came with a data set's file. */
#ifndef MW__RUNTIME_DATA_FILES_H
#define MW__RUNTIME_DATA_FILES_H

#include "runtime/data.h"

/* The classes of one column; the names are in `arena` of the set's mw__class_table. */
typedef struct mw__class_list {
    const char *const *names;
    size_t count;
} mw__class_list;

struct mw__class_table {
    mw__arena arena;
    mw__class_list *lists; /* [columns of the set] */
};

/* Copies the names: a list for each column. What fails stays with the set. */
mw_status mw__dataset_keep_classes(mw_dataset *dataset, const mw__class_list *lists, mw_error *err);
void mw__class_table_destroy(struct mw__class_table *table, const mw_allocator *allocator);

#endif

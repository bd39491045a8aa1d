/* Data sets from inside: what dataset.c, idx.c and loader.c share. */
#ifndef MW__RUNTIME_DATA_H
#define MW__RUNTIME_DATA_H

#include "base/alloc.h"
#include "base/guard.h"
#include "base/live.h"
#include <millwright/dataset.h>

struct mw_dataset {
    const mw_allocator *allocator;
    mw_column *columns;    /* names are copies; data NULL where a function makes the examples */
    size_t *example_bytes; /* of one example, per column */
    void **owned;          /* data to free with the set, per column, NULL = borrowed */
    size_t column_count;
    int64_t examples;
    mw_dataset_function *function;
    void *user;
    atomic_int references; /* the user's, and one of each loader */
};

/* Returns the data set. */
mw_dataset *mw__dataset_retain(const mw_dataset *dataset);
void mw__dataset_release(mw_dataset *dataset);

/* Checks the columns and copies all but their data. */
mw_dataset *mw__dataset_create(const mw_allocator *allocator, const mw_column *columns, size_t column_count,
                               int64_t examples, mw_error *err);

/* As the public functions, with an allocator. */
mw_dataset *mw__dataset_from_memory(const mw_allocator *allocator, const mw_column *columns, size_t column_count,
                                    int64_t examples, bool copy, mw_error *err);
mw_dataset *mw__dataset_open_idx(const mw_allocator *allocator, const char *folder, const char *prefix, mw_error *err);

#endif

/* Data sets from inside: what these files share with libmillwright_data, which makes sets of files and of other sets.
 */
#ifndef MW__RUNTIME_DATA_DATA_H
#define MW__RUNTIME_DATA_DATA_H

#include "base/memory/alloc.h"
#include "base/memory/guard.h"
#include "base/memory/live.h"
#include <millwright/dataset.h>

/* Which example is asked for. */
typedef struct mw__example_place {
    int64_t epoch, example;
} mw__example_place;

/* Makes all columns of one example. `out` has a place per column, `scratch` the set's scratch_bytes, aligned to 64 and
 * the caller's alone: a set has no state that changes. */
typedef mw_status mw__example_maker(const mw_dataset *dataset, mw__example_place at, void *const *out, char *scratch,
                                    mw_error *err);

/* Lengths of examples, and the limits that batches are cut to (mw_dataset_bucket). */
typedef struct mw__length_buckets {
    int64_t *limits; /* [count], of rows */
    size_t count;
    unsigned char *of; /* [examples], by index of a limit */
} mw__length_buckets;

struct mw_dataset {
    const mw_allocator *allocator;
    mw_column *columns;    /* names are copies; data NULL where examples are made */
    size_t *example_bytes; /* of one example, per column */
    void **owned;          /* data to free with the set, per column, NULL = borrowed */
    size_t column_count;
    int64_t examples;
    mw__example_maker *make; /* NULL: all columns lie in memory */
    mw_dataset_function *function;
    void *user;
    mw_dataset **sources; /* [source_count], each retained */
    size_t source_count;
    int64_t *index;       /* subset: [examples] numbers in the source; concatenation: [source_count + 1] firsts */
    void *state;          /* of whoever wrote `make`; freed with the set, NULL = none */
    int map_count;        /* maps from here down */
    int depth;            /* sets one on another, from 0 */
    size_t scratch_bytes; /* for making one example */
    bool is_part;         /* each rank has its own (mw_dataset_shard) */
    int prefetch;         /* batches that a loader's threads make ahead; 0 = none */
    int prefetch_threads;
    const mw__length_buckets *buckets; /* `state` of this one, or of its source; NULL = whole columns */
    struct mw__class_table *classes;   /* of a file (classes.h); NULL = none */
    atomic_int references;             /* the user's, and one of each loader and each set that is made of it */
};

/* MW_ERROR_ARGUMENT for NULL, MW_ERROR_STATE for one that was destroyed; `what` begins the message: the call, or the
 * call and its option. Whoever is given a data set asks this before anything of it is read. */
MW__SIBLING mw_status mw__dataset_check(const mw_dataset *dataset, const char *what, mw_error *err);
/* Returns the data set. */
mw_dataset *mw__dataset_retain(const mw_dataset *dataset);
void mw__dataset_release(mw_dataset *dataset);

/* Checks the columns and copies all but their data. */
MW__SIBLING mw_dataset *mw__dataset_create(const mw_allocator *allocator, const mw_column *columns, size_t column_count,
                                           int64_t examples, mw_error *err);

/* A set of these sources, which are retained, with room for `index_count` numbers in `index`. */
MW__SIBLING mw_dataset *mw__dataset_derive(const mw_dataset *const *sources, size_t source_count,
                                           const mw_column *columns, size_t column_count, int64_t examples,
                                           size_t index_count, mw_error *err);
/* A subset of so many examples; their numbers go into `index`, which the caller fills. */
MW__SIBLING mw_dataset *mw__dataset_derive_subset(const mw_dataset *source, int64_t count, mw_error *err);

/* A set of the same examples. One in memory stays one, so that a loader reads its rows ahead. */
mw_dataset *mw__dataset_derive_same(const mw_dataset *source, mw_error *err);

/* Whether it, or what it is made of, is the part of a rank. */
bool mw__dataset_is_part(const mw_dataset *dataset);

/* One example of any data set. */
MW__SIBLING mw_status mw__dataset_make(const mw_dataset *dataset, mw__example_place at, void *const *out, char *scratch,
                                       mw_error *err);

/* mw_dataset_create with an allocator. */
MW__SIBLING mw_dataset *mw__dataset_from_memory(const mw_allocator *allocator, const mw_column *columns,
                                                size_t column_count, int64_t examples, bool copy, mw_error *err);

#endif

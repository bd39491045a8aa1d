/* Data sets of files with labels: every file is read once when the set is opened, and the first of them are kept, as
 * far as bytes_max goes. The others are read again whenever they are served. */
#ifndef MW__DATA_LABELED_SET_H
#define MW__DATA_LABELED_SET_H

#include "data/labeled/list.h"

/* What is asked of a set. */
typedef struct mw__labeled_request {
    const char *call; /* for messages: "mw_dataset_open_images" */
    const mw__labeled_kind *kind;
    const mw_allocator *allocator;
    const char *folder;       /* NULL: names are paths.. */
    const char *const *paths; /* [path_count] ..which these are, without labels; or NULL */
    size_t path_count;
    const mw_label_table *table;
    const char *const *class_names; /* [class_count] */
    size_t class_count;
    mw_broken broken;
    mw_broken_function *on_broken;
    void *user;
    int threads;
    int64_t bytes_max;
    bool is_drawn; /* another example in each epoch: none is kept */
    uint64_t seed; /* of what is drawn */
} mw__labeled_request;

/* A set that is being opened. */
typedef struct mw__labeled_set {
    mw__labeled_request request;
    mw__labeled_list list;
    const void *options; /* [options_size] of kind->load; copied */
    size_t options_size;
    size_t bytes;        /* of one example */
    size_t kept;         /* the first so many stay as they are read */
    char *examples;      /* [kept, bytes] */
    int64_t *labels;     /* [files]; of several labels list.targets */
    mw_status *statuses; /* [files] of reading them */
} mw__labeled_set;

/* Refuses what no set can have, by the name of the call. */
mw_status mw__labeled_check(const mw__labeled_request *request, mw_error *err);

/* Lists the files. The request must outlive the set; mw__labeled_set_deinit also after a failure. */
mw_status mw__labeled_set_init(mw__labeled_set *set, const mw__labeled_request *request, mw_error *err);
void mw__labeled_set_deinit(mw__labeled_set *set);

/* Whether an error is that of a file, and not of what it is read with or by. */
bool mw__labeled_is_broken(mw_status status);

/* Reads the files and makes the data set: `x`, and "y" with the labels unless the files are named by paths. The options
 * are what kind->load takes; they live as long as the data set, and so must what they point to. */
mw_dataset *mw__labeled_set_open(mw__labeled_set *set, const mw_column *x, const void *options, size_t options_size,
                                 mw_error *err);

#endif

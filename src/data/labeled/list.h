/* Which files there are, and their labels: a folder for each class, or a table. */
#ifndef MW__DATA_LABELED_LIST_H
#define MW__DATA_LABELED_LIST_H

#include "base/memory/alloc.h"

#include <millwright/dataset_labels.h>

/* What is read from such files. */
typedef struct mw__labeled_kind {
    const char *noun;           /* "pictures" */
    const char *const *endings; /* of the names of files, in any case; NULL behind the last */
    const char *said;           /* the endings as a sentence has them */
    /* One example.
     *  options  those of the set
     *  folder   NULL: the name is a path by itself
     *  name     below the folder
     *  seed     of the example, where something is drawn
     *  errors   MW_ERROR_FORMAT and MW_ERROR_FILE, naming the file, for one that is broken; others end the call */
    mw_status (*load)(const void *options, const char *folder, const char *name, uint64_t seed, void *out,
                      mw_error *err);
} mw__labeled_kind;

typedef struct mw__labeled_file {
    const char *name; /* "class/file.png" */
    size_t label;
} mw__labeled_file;

/* All is in the arena. Hidden entries, links to folders, and files with other endings are left out. */
typedef struct mw__labeled_list {
    mw__arena arena;
    const char **classes; /* [class_count], sorted (class_names.h), as are the files of each by bytes */
    size_t class_count;
    mw__labeled_file *files; /* [file_count], class by class */
    size_t file_count, file_room, class_room;
    float *targets; /* [file_count, class_count] of files with several labels, else NULL; mw__free */
} mw__labeled_list;

mw_status mw__labeled_list_folder(mw__labeled_list *out, const mw_allocator *allocator, const mw__labeled_kind *kind,
                                  const char *folder, mw_error *err);
/* The same from a table. Classes are as mw_dataset_open_csv orders them, several labels by their names, or as given.
 *  class_names  [class_count]; NULL = those of the table */
mw_status mw__labeled_list_table(mw__labeled_list *out, const mw_allocator *allocator, const mw_label_table *table,
                                 const char *const *class_names, size_t class_count, mw_error *err);
void mw__labeled_list_deinit(mw__labeled_list *list);

#endif

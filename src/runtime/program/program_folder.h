/* Where the text and the weights of a program are written for the compiler, if the user wants no folder of his own. */
#ifndef MW__RUNTIME_PROGRAM_PROGRAM_FOLDER_H
#define MW__RUNTIME_PROGRAM_PROGRAM_FOLDER_H

#include "base/file/private_folder.h"
#include "graph/ir/ir_types.h"

/* A private folder, with the path of the folder in it: removing must not need memory. Zeroed = none. */
typedef struct mw__program_folder {
    mw__private_folder top;
    char *weights;
} mw__program_folder;

/* For the text of `graph`. What is there after a failure is to be removed. */
mw_status mw__program_folder_make(mw__program_folder *folder, const mw_allocator *allocator, const mw_graph *graph,
                                  mw_error *err);
/* None is fine. */
void mw__program_folder_remove(mw__program_folder *folder, const mw_allocator *allocator);

/* "folder/name", to be freed. */
char *mw__path_join(const mw_allocator *allocator, const char *folder, const char *name, mw_error *err);

#endif

/* Which pictures there are: a folder for each class, or a table. */
#ifndef MW__DATA_IMAGE_FOLDER_H
#define MW__DATA_IMAGE_FOLDER_H

#include "base/memory/alloc.h"

#include <millwright/dataset_images.h>

typedef struct mw__image_file {
    const char *name; /* "class/file.png" */
    size_t label;
} mw__image_file;

/* All is in the arena. Hidden entries, links to folders, and files that are called none of .png, .jpg, .jpeg, .webp are
 * left out.
 */
typedef struct mw__image_folder {
    mw__arena arena;
    const char **classes; /* [class_count], sorted (class_names.h), as are the files of each by bytes */
    size_t class_count;
    mw__image_file *files; /* [file_count], class by class */
    size_t file_count, file_room, class_room;
    float *targets; /* [file_count, class_count] of pictures with several labels, else NULL; mw__free */
} mw__image_folder;

mw_status mw__image_folder_list(mw__image_folder *out, const mw_allocator *allocator, const char *folder,
                                mw_error *err);
/* The same from a table. Classes are as mw_dataset_open_csv orders them, several labels by their names, or as given.
 *  class_names  [class_count]; NULL = those of the table */
mw_status mw__image_table_list(mw__image_folder *out, const mw_allocator *allocator, const mw_image_table *table,
                               const char *const *class_names, size_t class_count, mw_error *err);
void mw__image_folder_deinit(mw__image_folder *folder);

#endif

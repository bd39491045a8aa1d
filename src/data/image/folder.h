/* A folder with a folder of pictures for each class. */
#ifndef MW__DATA_IMAGE_FOLDER_H
#define MW__DATA_IMAGE_FOLDER_H

#include "base/memory/alloc.h"

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
} mw__image_folder;

mw_status mw__image_folder_list(mw__image_folder *out, const mw_allocator *allocator, const char *folder,
                                mw_error *err);
void mw__image_folder_deinit(mw__image_folder *folder);

#endif

/* A private folder that is marked as its process's own while it lives, so that others sweep it when that was killed. */
#ifndef MW__BASE_FILE_PRIVATE_FOLDER_H
#define MW__BASE_FILE_PRIVATE_FOLDER_H

#include "base/file/file.h"

/* Zeroed = none. Removing must not need memory. */
typedef struct mw__private_folder {
    char *path;
    long owner;  /* the process that made it: a child of fork() removes nothing of its parent's */
    bool marked; /* `marker` holds the lock that is held while this process lives (base/file/stale.h) */
    int marker;
} mw__private_folder;

/* Where it lies follows from `size`, what it will hold (mw__file_make_private_folder). */
mw_status mw__private_folder_make(mw__private_folder *folder, const mw_allocator *allocator, size_t size,
                                  mw_error *err);
/* With the plain files in it; what lies deeper must be gone. None is fine. */
void mw__private_folder_remove(mw__private_folder *folder, const mw_allocator *allocator);

#endif

/* A folder that appears whole or not at all: it is filled beside its target and put in its place in one step. */
#ifndef MW__BASE_FILE_FRESH_FOLDER_H
#define MW__BASE_FILE_FRESH_FOLDER_H

#include "base/memory/alloc.h"
#include "base/visible.h"

/* begin makes an empty folder beside the target, with a name of temporary.h, for the caller to fill; commit makes its
 * folders durable (files are the caller's), puts it in the place of the target, and removes what was there; deinit
 * without commit removes it.
 *
 * The step is an exchange of the two names where the system has one (Linux, macOS), so that at every moment the old or
 * the new folder has the name, and after a kill before it the old one; on a file system without it, two renames,
 * between which a kill leaves the old folder as "<temporary>.old". A failed commit leaves the old folder. A target that
 * is a symbolic link stays one, and what it leads to is replaced. What a killed process leaves,
 * the next one that begins with this target removes; never "<temporary>.old", which may be the only copy. */
typedef struct mw__fresh_folder {
    const mw_allocator *allocator;
    char *target;
    char *path; /* the temporary; NULL once it is placed */
    int held;   /* open and locked while this process lives, so that others leave it alone; -1 = none */
} mw__fresh_folder;

MW__SIBLING mw_status mw__fresh_folder_begin(mw__fresh_folder *folder, const mw_allocator *allocator,
                                             const char *target, mw_error *err);
MW__SIBLING mw_status mw__fresh_folder_commit(mw__fresh_folder *folder, mw_error *err);
MW__SIBLING void mw__fresh_folder_deinit(mw__fresh_folder *folder);

/* Removes a folder with all that is in it, to a bounded depth; links are removed, not followed. Errors are ignored. */
void mw__folder_remove(const char *path);

#endif

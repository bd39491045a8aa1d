/* Where a path that is written leads: an open folder and a name in it. */
#ifndef MW__BASE_FILE_FILE_TARGET_H
#define MW__BASE_FILE_FILE_TARGET_H

#include "base/memory/alloc.h"

#include <sys/stat.h>

typedef struct mw__file_target {
    int folder; /* open; the caller closes it */
    char *name; /* in the folder, never that of a link; freed with mw__free */
    bool exists;
    struct stat status; /* of the regular file that exists */
} mw__file_target;

/* Follows the links of `path`; what the comment of mw__file_writer says holds. On failure nothing is left open. */
mw_status mw__file_target_find(mw__file_target *target, const mw_allocator *allocator, const char *path, mw_error *err);

#endif

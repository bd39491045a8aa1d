/* Locks on paths, for processes and within one: flock(2), which ends with the process that holds it however that ends,
 * says nothing of another process with the same number, and reaches into containers. */
#ifndef MW__BASE_FILE_LOCK_H
#define MW__BASE_FILE_LOCK_H

#include "base/memory/alloc.h"

/* A path that is held for writing. A file that is replaced by rename cannot carry the lock itself, so that a small one
 * beside what the path leads to does, "<name>.mwlock". It names its holder and is removed with the lock; what a killed
 * process leaves of it is empty of meaning and taken over. Reading needs none. */
typedef struct mw__lock {
    const mw_allocator *allocator;
    char *name; /* of the file in the folder; NULL = nothing is held */
    int folder, descriptor;
} mw__lock;

/* MW_ERROR_FILE at once if another holds it, naming the process. Where locks cannot be had (a file system without them,
 * a folder that cannot be written) it is MW_OK with a warning in the log and nothing held. `mine` is a lock of the
 * caller or NULL: what it holds already is MW_OK, too. */
mw_status mw__lock_take(mw__lock *lock, const mw_allocator *allocator, const char *path, const mw__lock *mine,
                        mw_error *err);
/* A zeroed one is fine. */
void mw__lock_release(mw__lock *lock);

#endif

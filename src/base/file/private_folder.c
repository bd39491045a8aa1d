#include "base/file/private_folder.h"

#include "base/file/stale.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

mw_status mw__private_folder_make(mw__private_folder *folder, const mw_allocator *allocator, size_t size, mw_error *err)
{
    *folder = (mw__private_folder){0};
    MW_TRY(mw__file_make_private_folder(allocator, size, &folder->path, err));
    folder->owner = (long)getpid();
    folder->marker = mw__stale_mark_folder(folder->path);
    folder->marked = folder->marker >= 0;
    if (folder->marked || (errno != EMFILE && errno != ENFILE))
        return MW_OK;
    mw__fail(err, MW_ERROR_FILE, "cannot make a temporary folder: %s; without a mark it would outlive the process",
             strerror(errno));
    mw__private_folder_remove(folder, allocator);
    return MW_ERROR_FILE;
}

void mw__private_folder_remove(mw__private_folder *folder, const mw_allocator *allocator)
{
    if (folder->path != NULL && folder->owner == (long)getpid()) {
        rmdir(folder->path); /* an empty one goes without a descriptor */
        mw__file_remove_folder(folder->path);
    }
    if (folder->marked)
        close(folder->marker);
    mw__free(allocator, folder->path);
    *folder = (mw__private_folder){0};
}

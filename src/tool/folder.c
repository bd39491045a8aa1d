/* Folders of MIL that stand for a moment beside what is written. */
#include "tool/tool.h"

#include <errno.h>
#include <ftw.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool tool_make_mil(char *out, size_t size, const char *path, mw_error *err)
{
    size_t end = strlen(path);
    while (end > 1 && path[end - 1] == '/')
        end--;
    const int length = snprintf(out, size, "%.*s.mil-XXXXXX", (int)end, path);
    if (length > 0 && (size_t)length < size && mkdtemp(out) != NULL)
        return true;
    err->status = MW_ERROR_FILE;
    snprintf(err->message, sizeof err->message, "no folder can be made beside %.200s: %s", path, strerror(errno));
    return false;
}

static int remove_one(const char *path, const struct stat *entry, int kind, struct FTW *place)
{
    (void)entry, (void)kind, (void)place;
    return remove(path);
}

void tool_remove_tree(const char *folder) { nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS); }

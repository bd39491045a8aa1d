/* Folders of MIL that stand for a moment beside what is written. */
#include "tool/tool.h"

#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

bool tool_make_mil(char *out, size_t size, const char *path, mw_error *err)
{
    const int length = snprintf(out, size, "%s.mil-XXXXXX", path);
    if (length > 0 && (size_t)length < size && mkdtemp(out) != NULL)
        return true;
    err->status = MW_ERROR_FILE;
    snprintf(err->message, sizeof err->message, "no folder can be made beside %.200s", path);
    return false;
}

/* What a folder of MIL holds: model.mil, and weights below. */
void tool_remove_mil(const char *folder)
{
    char path[8192];
    snprintf(path, sizeof path, "%s/weights", folder);
    DIR *weights = opendir(path);
    for (const struct dirent *entry; weights != NULL && (entry = readdir(weights)) != NULL;) {
        snprintf(path, sizeof path, "%s/weights/%s", folder, entry->d_name);
        if (entry->d_name[0] != '.')
            unlink(path);
    }
    if (weights != NULL)
        closedir(weights);
    snprintf(path, sizeof path, "%s/weights", folder);
    rmdir(path);
    snprintf(path, sizeof path, "%s/model.mil", folder);
    unlink(path);
    rmdir(folder);
}

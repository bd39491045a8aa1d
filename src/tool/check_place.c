/* What can be known of a file before it is written. */
#include "tool/tool.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void tool_check_place(const char *path, mw_error *err)
{
    char folder[4200];
    const char *slash = strrchr(path, '/');
    snprintf(folder, sizeof folder, "%.*s", slash != NULL ? (int)(slash - path) : 1, slash != NULL ? path : ".");
    struct stat entry;
    const bool is_folder = stat(path, &entry) == 0 && S_ISDIR(entry.st_mode);
    if (!is_folder && access(folder[0] != '\0' ? folder : "/", W_OK) == 0)
        return;
    err->status = MW_ERROR_FILE;
    if (is_folder)
        snprintf(err->message, sizeof err->message, "\"%.200s\" is a folder", path);
    else
        snprintf(err->message, sizeof err->message, "the folder \"%.200s\": %s", folder, strerror(errno));
}

bool tool_is_same_file(const char *path, const char *other)
{
    struct stat here, there;
    return stat(path, &here) == 0 && stat(other, &there) == 0 && here.st_dev == there.st_dev &&
           here.st_ino == there.st_ino;
}

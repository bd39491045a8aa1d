#include "support/scratch.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void scratch_empty(const char *folder)
{
    DIR *opened = opendir(folder);
    for (const struct dirent *entry; opened != NULL && (entry = readdir(opened)) != NULL;) {
        char path[1024];
        struct stat status;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (lstat(path, &status) == 0 && S_ISDIR(status.st_mode)) {
            scratch_empty(path);
            rmdir(path);
        } else {
            unlink(path);
        }
    }
    if (opened != NULL)
        closedir(opened);
}

#include "support/folder.h"

#include "base/file/file.h"
#include "support/check.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

void folder_empty(const char *path)
{
    DIR *opened = opendir(path);
    for (const struct dirent *entry; opened != NULL && (entry = readdir(opened)) != NULL;) {
        char entry_path[1024];
        struct stat status;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        snprintf(entry_path, sizeof entry_path, "%s/%s", path, entry->d_name);
        if (lstat(entry_path, &status) == 0 && S_ISDIR(status.st_mode)) {
            folder_empty(entry_path);
            rmdir(entry_path);
        } else {
            unlink(entry_path);
        }
    }
    if (opened != NULL)
        closedir(opened);
}

bool folder_enter(char *out)
{
    char *made = NULL;
    const bool entered =
        mw__file_make_private_folder(NULL, 0, &made, NULL) == MW_OK && realpath(made, out) != NULL && chdir(out) == 0;
    mw__free(NULL, made);
    return entered;
}

void folder_leave(const char *path)
{
    folder_empty(path);
    CHECK(chdir("/") == 0 && rmdir(path) == 0);
}

int folder_count(const char *path)
{
    DIR *opened = opendir(path);
    int count = 0;
    while (opened != NULL && readdir(opened) != NULL)
        count++;
    if (opened != NULL)
        closedir(opened);
    return count - 2;
}

void folder_put(const char *path, const char *content)
{
    FILE *file = fopen(path, "wb");
    if (CHECK(file != NULL)) {
        fputs(content, file);
        fclose(file);
    }
}

bool folder_holds(const char *path, const char *content)
{
    char buffer[4096] = "";
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return false;
    const size_t size = fread(buffer, 1, sizeof buffer - 1, file);
    fclose(file);
    return size == strlen(content) && memcmp(buffer, content, size) == 0;
}

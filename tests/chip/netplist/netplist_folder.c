#include "netplist_folder.h"
#include "support/check.h"

#include <dirent.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[] = "/tmp/mw-netplist-XXXXXX";

bool netplist_folder_make(void) { return mkdtemp(folder) != NULL; }

const char *in_folder(const char *name)
{
    static char path[600];
    snprintf(path, sizeof path, "%s/%.255s", folder, name);
    return path;
}

void put_file(const char *name, const char *data, size_t size)
{
    FILE *file = fopen(in_folder(name), "wb");
    if (!CHECK(file != NULL))
        return;
    CHECK_INT(fwrite(data, 1, size, file), size);
    fclose(file);
}

void netplist_folder_remove(void)
{
    DIR *entries = opendir(folder);
    for (const struct dirent *e = entries != NULL ? readdir(entries) : NULL; e != NULL; e = readdir(entries))
        if (e->d_name[0] != '.')
            unlink(in_folder(e->d_name));
    if (entries != NULL)
        closedir(entries);
    rmdir(folder);
}

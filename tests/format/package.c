#include "format/package.h"

#include "base/file/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *package_read_file(const char *path, size_t *out_size)
{
    char *data = NULL;
    return mw__file_read(NULL, path, (size_t)1 << 28, &data, out_size, NULL) == MW_OK ? data : NULL;
}

bool package_write_file(const char *path, const void *data, size_t size)
{
    return mw__file_write(NULL, path, data, size, false, NULL) == MW_OK;
}

bool package_exists(const char *path) { return access(path, R_OK) == 0; }

static bool copy_one(const char *from, const char *to, const char *name)
{
    char source[1024], target[1024];
    size_t size;
    snprintf(source, sizeof source, "%s/%s", from, name);
    snprintf(target, sizeof target, "%s/%s", to, name);
    char *data = package_read_file(source, &size);
    const bool good = data != NULL && package_write_file(target, data, size);
    free(data);
    return good;
}

bool package_copy(const char *from, const char *to)
{
    char folder[1024], weights[1024];
    snprintf(folder, sizeof folder, "%s/Data/com.apple.CoreML/weights", to);
    snprintf(weights, sizeof weights, "%s/" WEIGHTS, from);
    if (mw__file_make_folders(folder, NULL) != MW_OK)
        return false;
    return copy_one(from, to, "Manifest.json") && copy_one(from, to, MODEL) &&
           (!package_exists(weights) || copy_one(from, to, WEIGHTS));
}

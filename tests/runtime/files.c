#include "runtime/files.h"
#include "base/file/file.h"

#include <dirent.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char folder[256];

static int remove_one(const char *path, const struct stat *status, int kind, struct FTW *where)
{
    (void)status, (void)kind, (void)where;
    return remove(path);
}

static void remove_folder(void) { nftw(folder, remove_one, 8, FTW_DEPTH | FTW_PHYS); }

static void make_folder(void)
{
    const char *parent = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/mw-test-XXXXXX", parent != NULL && parent[0] != '\0' ? parent : "/tmp");
    if (mkdtemp(folder) == NULL) {
        perror(folder);
        exit(1);
    }
    atexit(remove_folder);
}

const char *scratch(const char *name)
{
    static char paths[8][400];
    static int next;
    if (folder[0] == '\0')
        make_folder();
    char *path = paths[next++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", folder, name);
    return path;
}

bool put_file(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "wb");
    if (file == NULL)
        return false;
    const bool written = fwrite(data, 1, size, file) == size;
    return fclose(file) == 0 && written;
}

unsigned char *get_file(const char *path, size_t *out_size)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return NULL;
    fseek(file, 0, SEEK_END);
    const long size = ftell(file);
    rewind(file);
    unsigned char *data = malloc((size_t)size + 1);
    *out_size = data != NULL ? fread(data, 1, (size_t)size, file) : 0;
    fclose(file);
    return data;
}

bool file_exists(const char *path) { return access(path, F_OK) == 0; }

void remove_model(const char *name)
{
    char weights[512];
    snprintf(weights, sizeof weights, "%s/weights", scratch(name));
    mw__file_remove_folder(weights);
    mw__file_remove_folder(scratch(name));
}

int scratch_count(void)
{
    scratch("");
    int count = 0;
    DIR *open_folder = opendir(folder);
    for (const struct dirent *entry; open_folder != NULL && (entry = readdir(open_folder)) != NULL;)
        count += entry->d_name[0] != '.';
    if (open_folder != NULL)
        closedir(open_folder);
    return count;
}

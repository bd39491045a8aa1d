/* Lists files by their names alone; they are opened later, below the folder. */
#include "data/labeled/list.h"

#include "base/file/descriptor.h"
#include "format/class_names.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

static mw_status cannot_read(const char *folder, const char *name, mw_error *err)
{
    return mw__fail(err, MW_ERROR_FILE, "cannot read the folder \"%.300s%s%.100s\": %s", folder,
                    name[0] != '\0' ? "/" : "", name, strerror(errno));
}

static DIR *open_in(int at, const char *path)
{
    const int descriptor =
        mw__descriptor_above(openat(at, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC | (at != AT_FDCWD ? O_NOFOLLOW : 0)));
    DIR *directory = descriptor >= 0 ? fdopendir(descriptor) : NULL;
    if (directory == NULL && descriptor >= 0)
        close(descriptor);
    return directory;
}

static bool has_ending(const mw__labeled_kind *kind, const char *name)
{
    const char *dot = strrchr(name, '.');
    for (const char *const *ending = kind->endings; dot != NULL && *ending != NULL; ending++)
        if (strcasecmp(dot, *ending) == 0)
            return true;
    return false;
}

static bool is_folder(DIR *directory, const char *name)
{
    struct stat status;
    return fstatat(dirfd(directory), name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(status.st_mode);
}

static int compare_files(const void *a, const void *b)
{
    return strcmp(((const mw__labeled_file *)a)->name, ((const mw__labeled_file *)b)->name);
}

/* ---- classes ---- */

static mw_status list_classes(mw__labeled_list *out, DIR *root, mw_error *err)
{
    for (const struct dirent *entry; (entry = readdir(root)) != NULL;) {
        if (entry->d_name[0] == '.' || !is_folder(root, entry->d_name))
            continue;
        MW_TRY(mw__grow(out->arena.allocator, &out->classes, &out->class_room, out->class_count + 1,
                        sizeof *out->classes, err));
        const char *name = mw__arena_string(&out->arena, entry->d_name, strlen(entry->d_name), err);
        if (name == NULL)
            return MW_ERROR_MEMORY;
        out->classes[out->class_count++] = name;
    }
    mw__sort_class_names(out->classes, out->class_count);
    return MW_OK;
}

/* ---- files ---- */

static mw_status add_file(mw__labeled_list *out, size_t label, const char *file, mw_error *err)
{
    const size_t before = strlen(out->classes[label]), size = before + 1 + strlen(file) + 1;
    MW_TRY(mw__grow(out->arena.allocator, &out->files, &out->file_room, out->file_count + 1, sizeof *out->files, err));
    char *name = mw__arena_alloc(&out->arena, size, 1, err);
    if (name == NULL)
        return MW_ERROR_MEMORY;
    memcpy(name, out->classes[label], before);
    name[before] = '/';
    memcpy(name + before + 1, file, size - before - 1);
    out->files[out->file_count++] = (mw__labeled_file){name, label};
    return MW_OK;
}

static mw_status list_files(mw__labeled_list *out, const mw__labeled_kind *kind, DIR *directory, const char *folder,
                            size_t label, mw_error *err)
{
    const size_t first = out->file_count;
    for (const struct dirent *entry; (entry = readdir(directory)) != NULL;)
        if (entry->d_name[0] != '.' && has_ending(kind, entry->d_name))
            MW_TRY(add_file(out, label, entry->d_name, err));
    if (out->file_count == first)
        return mw__fail(err, MW_ERROR_FILE, "the folder \"%.300s/%.100s\" has no %s", folder, out->classes[label],
                        kind->said);
    qsort(out->files + first, out->file_count - first, sizeof *out->files, compare_files);
    return MW_OK;
}

static mw_status list_all(mw__labeled_list *out, const mw__labeled_kind *kind, DIR *root, const char *folder,
                          mw_error *err)
{
    MW_TRY(list_classes(out, root, err));
    if (out->class_count == 0)
        return mw__fail(err, MW_ERROR_FILE, "\"%.300s\" has no folders; each class of %s is one", folder, kind->noun);
    for (size_t i = 0; i < out->class_count; i++) {
        DIR *directory = open_in(dirfd(root), out->classes[i]);
        if (directory == NULL)
            return cannot_read(folder, out->classes[i], err);
        const mw_status status = list_files(out, kind, directory, folder, i, err);
        closedir(directory);
        if (status != MW_OK)
            return status;
    }
    return MW_OK;
}

mw_status mw__labeled_list_folder(mw__labeled_list *out, const mw_allocator *allocator, const mw__labeled_kind *kind,
                                  const char *folder, mw_error *err)
{
    *out = (mw__labeled_list){0};
    mw__arena_init(&out->arena, allocator);
    DIR *root = open_in(AT_FDCWD, folder);
    if (root == NULL)
        return cannot_read(folder, "", err);
    const mw_status status = list_all(out, kind, root, folder, err);
    closedir(root);
    return status;
}

void mw__labeled_list_deinit(mw__labeled_list *list)
{
    mw__free(list->arena.allocator, list->classes);
    mw__free(list->arena.allocator, list->files);
    mw__free(list->arena.allocator, list->targets);
    mw__arena_deinit(&list->arena);
}

/* Which pictures there are. */
#include "tool/predict/picture.h"

#include "base/text/printable.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

enum { PATH_BYTES = 4200 };

static bool fail_list(mw_error *err, mw_status status, const char *what, const char *path)
{
    if (err->status == MW_OK) {
        err->status = status;
        mw__printable_printf(err->message, sizeof err->message, "\"%.300s\"%s", path, what);
    }
    return false;
}

static bool ends_in(const char *path, const char *const *endings)
{
    const size_t length = strlen(path);
    for (; *endings != NULL; endings++) {
        const size_t size = strlen(*endings);
        if (length > size && strcasecmp(path + length - size, *endings) == 0)
            return true;
    }
    return false;
}

bool picture_is_file(const char *path)
{
    return ends_in(path, (const char *const[]){".png", ".jpg", ".jpeg", ".webp", NULL});
}

bool picture_is_sound(const char *path) { return ends_in(path, (const char *const[]){".wav", ".flac", NULL}); }

const picture_list_kind picture_list_pictures = {picture_is_file, "picture that ends in .png, .jpg, .jpeg or .webp"};
const picture_list_kind picture_list_sounds = {picture_is_sound, "sound that ends in .wav or .flac"};

static bool is_folder(const char *path)
{
    struct stat entry;
    return lstat(path, &entry) == 0 && S_ISDIR(entry.st_mode);
}

/* A file, or a link to one that stays in the folder. */
static bool is_own_file(const char *root, const char *path)
{
    struct stat entry;
    char *real = NULL, *real_root = NULL;
    if (lstat(path, &entry) != 0)
        return false;
    if (!S_ISLNK(entry.st_mode))
        return S_ISREG(entry.st_mode);
    real = realpath(path, NULL);
    real_root = realpath(root, NULL);
    const size_t length = real_root != NULL ? strlen(real_root) : 0;
    const bool inside = real != NULL && real_root != NULL && strncmp(real, real_root, length) == 0 &&
                        real[length] == '/' && stat(real, &entry) == 0 && S_ISREG(entry.st_mode);
    free(real);
    free(real_root);
    return inside;
}

/* ---- the list ---- */

static bool grow_list(picture_list *list)
{
    const size_t capacity = list->capacity > 0 ? 2 * list->capacity : 64;
    char **names = realloc(list->names, capacity * sizeof *names);
    list->names = names != NULL ? names : list->names;
    char **paths = realloc(list->paths, capacity * sizeof *paths);
    list->paths = paths != NULL ? paths : list->paths;
    if (names == NULL || paths == NULL)
        return false;
    list->capacity = capacity;
    return true;
}

static bool add_file(picture_list *list, const char *name, const char *path, mw_error *err)
{
    if (list->count == list->capacity && !grow_list(list))
        return fail_list(err, MW_ERROR_MEMORY, ": there is no memory for its pictures", path);
    char *own_name = strdup(name), *own_path = strdup(path);
    if (own_name == NULL || own_path == NULL) {
        free(own_name);
        free(own_path);
        return fail_list(err, MW_ERROR_MEMORY, ": there is no memory for its pictures", path);
    }
    list->names[list->count] = own_name;
    list->paths[list->count++] = own_path;
    return true;
}

/* The pictures of root/below, or of root; folders in it are not looked into. */
static bool add_folder(picture_list *list, const picture_list_kind *kind, const char *root, const char *below,
                       mw_error *err)
{
    char folder[PATH_BYTES], path[PATH_BYTES + 300];
    snprintf(folder, sizeof folder, "%s%s%s", root, below != NULL ? "/" : "", below != NULL ? below : "");
    DIR *open = opendir(folder);
    bool good = open != NULL || fail_list(err, MW_ERROR_FILE, " cannot be read as a folder", folder);
    for (struct dirent *entry; good && (entry = readdir(open)) != NULL;) {
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (entry->d_name[0] != '.' && kind->is_file(entry->d_name) && is_own_file(root, path))
            good = add_file(list, path + strlen(root) + 1, path, err);
    }
    if (open != NULL)
        closedir(open);
    return good;
}

static int compare_names(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

/* Names and paths differ by what is in front of all of them. */
static void sort_list(picture_list *list)
{
    if (list->count == 0)
        return;
    qsort(list->names, list->count, sizeof *list->names, compare_names);
    qsort(list->paths, list->count, sizeof *list->paths, compare_names);
}

static bool add_subfolders(picture_list *list, const picture_list_kind *kind, const char *root, mw_error *err)
{
    char path[PATH_BYTES + 300];
    DIR *open = opendir(root);
    bool good = open != NULL || fail_list(err, MW_ERROR_FILE, " cannot be read as a folder", root);
    for (struct dirent *entry; good && (entry = readdir(open)) != NULL;) {
        snprintf(path, sizeof path, "%s/%s", root, entry->d_name);
        if (entry->d_name[0] != '.' && is_folder(path))
            good = add_folder(list, kind, root, entry->d_name, err);
    }
    if (open != NULL)
        closedir(open);
    return good;
}

/* The folder of each picture is its class; the list is sorted by it. */
static bool label_files(picture_list *list, mw_error *err)
{
    class_list *classes = &list->classes;
    list->labels = calloc(list->count + 1, sizeof *list->labels);
    classes->names = calloc(list->count + 1, sizeof *classes->names);
    for (size_t i = 0; list->labels != NULL && classes->names != NULL && i < list->count; i++) {
        const char *name = list->names[i];
        const size_t length = strcspn(name, "/");
        const char *last = classes->count > 0 ? classes->names[classes->count - 1] : NULL;
        if (last == NULL || strlen(last) != length || strncmp(last, name, length) != 0) {
            classes->names[classes->count] = strndup(name, length);
            if (classes->names[classes->count++] == NULL)
                return fail_list(err, MW_ERROR_MEMORY, ": there is no memory for its class", name);
        }
        list->labels[i] = (int64_t)classes->count - 1;
    }
    return (list->labels != NULL && classes->names != NULL) ||
           fail_list(err, MW_ERROR_MEMORY, ": there is no memory for its pictures", list->paths[0]);
}

bool picture_list_open(picture_list *out, const char *path, const picture_list_kind *kind, mw_error *err)
{
    char train[PATH_BYTES], test[PATH_BYTES], why[128];
    *out = (picture_list){0};
    if (!is_folder(path) && kind->is_file(path))
        return add_file(out, path, path, err);
    snprintf(train, sizeof train, "%s/train", path);
    snprintf(test, sizeof test, "%s/test", path);
    const char *root = is_folder(train) && is_folder(test) ? test : path;
    if (!add_folder(out, kind, root, NULL, err) || (out->count == 0 && !add_subfolders(out, kind, root, err)))
        return false;
    sort_list(out);
    snprintf(why, sizeof why, " has no %s, and no folder with some", kind->said);
    if (out->count == 0)
        return fail_list(err, MW_ERROR_FORMAT, why, root);
    return strchr(out->names[0], '/') == NULL || label_files(out, err);
}

void picture_list_drop(picture_list *list, const char *path)
{
    for (size_t i = 0; i < list->count; i++) {
        if (strcmp(list->paths[i], path) != 0)
            continue;
        free(list->names[i]);
        free(list->paths[i]);
        list->count--;
        memmove(&list->names[i], &list->names[i + 1], (list->count - i) * sizeof *list->names);
        memmove(&list->paths[i], &list->paths[i + 1], (list->count - i) * sizeof *list->paths);
        if (list->labels != NULL)
            memmove(&list->labels[i], &list->labels[i + 1], (list->count - i) * sizeof *list->labels);
        return;
    }
}

void picture_list_free(picture_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->names[i]);
        free(list->paths[i]);
    }
    free(list->names);
    free(list->paths);
    free(list->labels);
    class_list_free(&list->classes);
    *list = (picture_list){0};
}

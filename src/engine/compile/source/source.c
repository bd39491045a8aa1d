#include "engine/compile/source/source.h"

#include "base/file/file.h"
#include "base/text/text.h"

#include <string.h>
#include <sys/stat.h>

static const size_t text_limit = (size_t)1 << 30;

/* The folder part of a path to a file. */
static size_t folder_length(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash == NULL ? 0 : slash == path ? 1 : (size_t)(slash - path);
}

static mw_status read_in(mw__source *source, const char *path, bool is_folder, mw_error *err)
{
    mw__text folder, text;
    mw__text_init(&folder, source->allocator);
    mw__text_init(&text, source->allocator);
    const size_t length = is_folder ? strlen(path) : folder_length(path);
    mw__text_append(&folder, length > 0 ? path : ".", length > 0 ? length : 1);
    mw__text_puts(&text, path);
    if (is_folder)
        mw__text_puts(&text, "/model.mil");
    mw_status status = mw__text_check(&folder, err);
    if (status == MW_OK)
        status = mw__text_check(&text, err);
    if (status == MW_OK)
        status = mw__file_read(source->allocator, text.data, text_limit, &source->text, &source->size, err);
    mw__text_deinit(&text);
    source->folder = folder.data; /* an ordinary block of the allocator */
    return status;
}

mw_status mw__source_read(mw__source *source, const mw_allocator *allocator, const char *path, mw_error *err)
{
    struct stat what;
    *source = (mw__source){.allocator = allocator};
    if (stat(path, &what) != 0)
        return mw__fail(err, MW_ERROR_FILE, "Invalid path: \"%s\" does not exist or cannot be read", path);
    const mw_status status = read_in(source, path, S_ISDIR(what.st_mode), err);
    if (status != MW_OK)
        mw__source_deinit(source);
    return status;
}

void mw__source_deinit(mw__source *source)
{
    mw__free(source->allocator, source->text);
    mw__free(source->allocator, source->folder);
    *source = (mw__source){0};
}

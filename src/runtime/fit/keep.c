/* The checkpoints that stay beside the newest: further names of a file that was written once. When they are made and
 * removed is decided in fit.c. */
#include "base/file/descriptor.h"
#include "base/file/file.h"
#include "base/file/stale.h"
#include "base/file/temporary.h"
#include "base/text/text.h"
#include "runtime/fit/fit.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

enum { PATH_BYTES = 4096 };

char *mw__kept_path(const mw_allocator *allocator, const char *path, const char *mark, mw_error *err)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;
    const char *dot = strrchr(name, '.');
    const size_t stem = dot != NULL && dot != name ? (size_t)(dot - path) : strlen(path);
    mw__text text;
    mw__text_init(&text, allocator);
    mw__text_append(&text, path, stem);
    mw__text_printf(&text, ".%s%s", mark, path + stem);
    return mw__text_take(&text, err);
}

/* A link has no way to replace: it is made beside, and renamed. If both were the same file before, rename does nothing
 * (POSIX), and the second name must go. */
static bool replace_by_link(const char *path, const char *kept, const char *beside)
{
    if (mw__file_get_calls()->link(path, beside) != 0)
        return false;
    const bool renamed = rename(beside, kept) == 0;
    unlink(beside);
    return renamed;
}

/* What a run that was killed between the link and the rename left. */
static void sweep_beside(const char *kept)
{
    const char *slash = strrchr(kept, '/');
    char folder[PATH_BYTES] = ".";
    if (slash != NULL && (size_t)(slash - kept) >= sizeof folder - 1)
        return;
    if (slash != NULL)
        snprintf(folder, sizeof folder, "%.*s", (int)(slash - kept) + 1, kept);
    const int opened = mw__descriptor_above(open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (opened < 0)
        return;
    mw__stale_sweep_files(opened, slash != NULL ? slash + 1 : kept);
    close(opened);
}

/* Whoever removes what killed processes left sees by the lock that this one lives; file_write.c does the same. */
bool mw__kept_link(const mw_allocator *allocator, const char *path, const char *kept)
{
    char name[MW__NAME_BYTES];
    mw__text beside;
    mw__text_init(&beside, allocator);
    const char *slash = strrchr(kept, '/');
    const size_t offset = slash != NULL ? (size_t)(slash - kept) + 1 : 0;
    mw__temporary_name(name, kept + offset, 0);
    mw__text_append(&beside, kept, offset);
    mw__text_puts(&beside, name);
    bool linked = false;
    sweep_beside(kept);
    if (mw__text_check(&beside, NULL) == MW_OK) {
        const int held = mw__descriptor_above(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
        if (held >= 0)
            flock(held, LOCK_SH | LOCK_NB);
        linked = replace_by_link(path, kept, beside.data);
        if (held >= 0)
            close(held);
    }
    mw__text_deinit(&beside);
    return linked;
}

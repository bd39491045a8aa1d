/* The file of a stream: what stays of one that is there, and records at its end, each by one write. */
#include "base/file/file.h"
#include "base/file/descriptor.h"
#include "runtime/metrics/metrics.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* To go on with a file it is read whole. */
#define READ_MAX ((size_t)1 << 31)

static mw_status make_folder(const mw_metrics *m, mw_error *err)
{
    const char *slash = strrchr(m->path, '/');
    if (slash == NULL || slash == m->path)
        return MW_OK;
    mw__text folder;
    mw__text_init(&folder, m->allocator);
    mw__text_append(&folder, m->path, (size_t)(slash - m->path));
    mw_status status = mw__text_check(&folder, err);
    if (status == MW_OK)
        status = mw__file_make_folders(folder.data, err);
    mw__text_deinit(&folder);
    return status;
}

mw_status mw__metrics_file_read(const mw_metrics *m, char **out, size_t *out_size, mw_error *err)
{
    return mw__file_read(m->allocator, m->path, READ_MAX, out, out_size, err);
}

/* Two streams on one file would take records from each other. File systems without locks go without. */
static mw_status lock(const mw_metrics *m, int descriptor, mw_error *err)
{
    if (flock(descriptor, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK)
        return MW_OK;
    return mw__fail(err, MW_ERROR_FILE, "metrics: another stream, here or in another process, is writing \"%.300s\"",
                    m->path);
}

static mw_status check_free(const mw_metrics *m, mw_error *err)
{
    const int descriptor = mw__descriptor_above(open(m->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    if (descriptor < 0)
        return mw__fail(err, MW_ERROR_FILE, "metrics: cannot open \"%.300s\": %s", m->path, strerror(errno));
    const mw_status status = lock(m, descriptor, err);
    close(descriptor);
    return status;
}

/* Opened anew, as another file may have the name now. */
static mw_status open_end(mw_metrics *m, mw_error *err)
{
    struct stat status;
    mw__metrics_file_close(m);
    do
        m->descriptor = mw__descriptor_above(open(m->path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
    while (m->descriptor < 0 && errno == EINTR);
    if (m->descriptor < 0 || fstat(m->descriptor, &status) != 0)
        return mw__fail(err, MW_ERROR_FILE, "metrics: cannot open \"%.300s\": %s", m->path, strerror(errno));
    if (!S_ISREG(status.st_mode))
        return mw__fail(err, MW_ERROR_FILE, "metrics: \"%.300s\" is no regular file", m->path);
    m->size = (uint64_t)status.st_size;
    return lock(m, m->descriptor, err);
}

mw_status mw__metrics_file_replace(mw_metrics *m, const void *data, size_t size, mw_error *err)
{
    MW_TRY(mw__file_write(m->allocator, m->path, data, size, true, err));
    return open_end(m, err);
}

static mw_status refuse_foreign(const mw_metrics *m, mw_error *err)
{
    return mw__fail(err, MW_ERROR_FILE,
                    "metrics: \"%.300s\" is there and is no %s of this library's; it would be replaced: use another "
                    "path, or remove it",
                    m->path, m->format->name);
}

static mw_status begin_new(mw_metrics *m, mw_error *err)
{
    mw__text text;
    mw__text_init(&text, m->allocator);
    m->fresh = true;
    m->format->begin(m, &text);
    mw_status status = mw__text_check(&text, err);
    if (status == MW_OK)
        status = mw__metrics_file_replace(m, text.data != NULL ? text.data : "", text.size, err);
    mw__text_deinit(&text);
    return status;
}

/* Only the beginning is looked at: what follows goes. */
static mw_status check_old(const mw_metrics *m, mw_error *err)
{
    char head[64];
    mw__file file;
    MW_TRY(mw__file_open(&file, m->path, err));
    const size_t size = file.size < sizeof head ? (size_t)file.size : sizeof head;
    const mw_status status = mw__file_read_at(&file, 0, head, size, m->path, err);
    mw__file_close(&file);
    if (status != MW_OK)
        return status;
    return size == 0 || m->format->is_ours(m, head, size) ? MW_OK : refuse_foreign(m, err);
}

static mw_status keep_file(mw_metrics *m, const char *data, size_t size, const mw__metrics_cut *cut, mw_error *err)
{
    mw__text kept;
    if (!m->format->is_ours(m, data, size))
        return refuse_foreign(m, err);
    mw__text_init(&kept, m->allocator);
    mw_status status = m->format->keep(m, data, size, cut, &kept, err);
    if (status == MW_OK)
        status = mw__text_check(&kept, err);
    if (status == MW_OK)
        status = kept.size == size ? open_end(m, err)
                                   : mw__metrics_file_replace(m, kept.size > 0 ? kept.data : "", kept.size, err);
    mw__text_deinit(&kept);
    return status;
}

static mw_status go_on(mw_metrics *m, const mw__metrics_cut *cut, mw_error *err)
{
    char *data;
    size_t size;
    MW_TRY(mw__metrics_file_read(m, &data, &size, err));
    const mw_status status = size == 0 ? begin_new(m, err) : keep_file(m, data, size, cut, err);
    mw__free(m->allocator, data);
    return status;
}

mw_status mw__metrics_file_open(mw_metrics *m, const mw__metrics_cut *cut, mw_error *err)
{
    struct stat status;
    MW_TRY(make_folder(m, err));
    if (stat(m->path, &status) != 0)
        return errno == ENOENT
                   ? begin_new(m, err)
                   : mw__fail(err, MW_ERROR_FILE, "metrics: cannot examine \"%.300s\": %s", m->path, strerror(errno));
    if (!S_ISREG(status.st_mode))
        return mw__fail(err, MW_ERROR_FILE, "metrics: \"%.300s\" is no regular file", m->path);
    MW_TRY(check_free(m, err));
    if (cut != NULL)
        return go_on(m, cut, err);
    MW_TRY(check_old(m, err));
    return begin_new(m, err);
}

/* A write that stopped half way is taken back; where that fails too, nothing more may follow a torn record. */
mw_status mw__metrics_file_append(mw_metrics *m, const void *data, size_t size, mw_error *err)
{
    if (mw__file_write_all(m->descriptor, data, size)) {
        m->size += size;
        return MW_OK;
    }
    const int reason = errno;
    m->dead = ftruncate(m->descriptor, (off_t)m->size) != 0;
    return mw__fail(err, MW_ERROR_FILE, "metrics: cannot write \"%.300s\": %s", m->path, strerror(reason));
}

void mw__metrics_file_close(mw_metrics *m)
{
    if (m->descriptor >= 0)
        close(m->descriptor);
    m->descriptor = -1;
}

/* Reads the data of zip entries, with length and checksum. */
#include "format/zip.h"

mw_status mw__zip_stream_begin(mw__zip_stream *stream, const mw__zip *zip, const mw__zip_entry *entry, mw_error *err)
{
    *stream = (mw__zip_stream){.zip = zip, .entry = entry};
    if (!entry->deflated)
        return MW_OK;
    const mw__inflate_source source = {
        .file = &zip->file, .path = zip->path, .offset = entry->offset, .size = entry->packed, .form = MW__INFLATE_RAW};
    return mw__inflate_begin(&stream->inflate, zip->allocator, &source, err);
}

static mw_status fail_stream(const mw__zip_stream *stream, const char *what, mw_error *err)
{
    return mw__fail(err, MW_ERROR_FORMAT, "\"%.200s\": entry \"%.150s\" %s", stream->zip->path, stream->entry->name,
                    what);
}

/* One byte more than announced would be seen here. */
static mw_status check_end(mw__zip_stream *stream, mw_error *err)
{
    unsigned char beyond;
    size_t got = 0;
    if (stream->inflate != NULL)
        MW_TRY(mw__inflate_read(stream->inflate, &beyond, 1, &got, err));
    if (got != 0 || (stream->inflate != NULL && !mw__inflate_is_whole(stream->inflate)))
        return fail_stream(stream, "unpacks to more than the directory says", err);
    if (stream->crc != stream->entry->crc)
        return fail_stream(stream, "is damaged: its checksum differs", err);
    return MW_OK;
}

mw_status mw__zip_stream_read(mw__zip_stream *stream, void *out, size_t size, mw_error *err)
{
    const mw__zip *zip = stream->zip;
    const mw__zip_entry *entry = stream->entry;
    size_t got = size;
    if (size > entry->size - stream->done)
        return fail_stream(stream, "is shorter than what it should hold", err);
    if (stream->inflate != NULL)
        MW_TRY(mw__inflate_read(stream->inflate, out, size, &got, err));
    else
        MW_TRY(mw__file_read_at(&zip->file, entry->offset + stream->done, out, size, zip->path, err));
    if (got < size)
        return fail_stream(stream, "unpacks to less than the directory says", err);
    stream->crc = mw__crc32_add(&zip->crc, stream->crc, out, size);
    stream->done += size;
    return stream->done == entry->size ? check_end(stream, err) : MW_OK;
}

void mw__zip_stream_end(mw__zip_stream *stream)
{
    mw__inflate_end(stream->inflate);
    stream->inflate = NULL;
}

mw_status mw__zip_read(const mw__zip *zip, const mw__zip_entry *entry, void *out, mw_error *err)
{
    mw__zip_stream stream;
    MW_TRY(mw__zip_stream_begin(&stream, zip, entry, err));
    const mw_status status = mw__zip_stream_read(&stream, out, (size_t)entry->size, err);
    mw__zip_stream_end(&stream);
    return status;
}

/* Unpacks deflate streams through zlib. Without it every stream is refused with a sentence. */
#include "base/file/inflate.h"

#if MW_HAVE_ZLIB

#include <zlib.h>

enum { PIECE = 1 << 16, ROOM_MOST = 1 << 30 /* of one call of zlib, which counts in unsigned */ };

struct mw__inflate {
    const mw_allocator *allocator;
    mw__inflate_source source; /* offset and size: of what is not read yet */
    z_stream stream;
    bool ended;
    unsigned char piece[PIECE];
};

bool mw__inflate_available(void) { return true; }

static void *zlib_alloc(void *user, unsigned count, unsigned size) { return mw__alloc(user, count, size, NULL); }

static void zlib_free(void *user, void *pointer) { mw__free(user, pointer); }

/* The next piece, if the one before is used up and there is one. */
static mw_status feed(mw__inflate *stream, mw_error *err)
{
    mw__inflate_source *from = &stream->source;
    const size_t size = from->size < PIECE ? (size_t)from->size : PIECE;
    if (stream->stream.avail_in > 0 || size == 0)
        return MW_OK;
    MW_TRY(mw__file_read_at(from->file, from->offset, stream->piece, size, from->path, err));
    from->offset += size;
    from->size -= size;
    stream->stream.next_in = stream->piece;
    stream->stream.avail_in = (unsigned)size;
    return MW_OK;
}

/* Also called with no input left: zlib may hold what is still to come out, and the end. */
static mw_status inflate_step(mw__inflate *stream, mw_error *err)
{
    const char *path = stream->source.path;
    MW_TRY(feed(stream, err));
    const int result = inflate(&stream->stream, Z_NO_FLUSH);
    stream->ended = result == Z_STREAM_END;
    if (result == Z_OK || result == Z_STREAM_END)
        return MW_OK;
    if (result == Z_MEM_ERROR)
        return mw__fail(err, MW_ERROR_MEMORY, "no memory to unpack \"%.300s\"", path);
    if (result == Z_BUF_ERROR)
        return mw__fail(err, MW_ERROR_FORMAT, "\"%.300s\" is cut off", path);
    return mw__fail(err, MW_ERROR_FORMAT, "\"%.300s\" is no sound %s: %s", path,
                    stream->source.form == MW__INFLATE_GZIP ? "gzip file" : "deflate stream",
                    stream->stream.msg != NULL ? stream->stream.msg : "the stream is damaged");
}

static mw_status inflate_some(mw__inflate *stream, unsigned char *out, size_t size, size_t *out_got, mw_error *err)
{
    stream->stream.next_out = out;
    stream->stream.avail_out = (unsigned)size;
    while (stream->stream.avail_out > 0 && !stream->ended)
        MW_TRY(inflate_step(stream, err));
    *out_got = size - stream->stream.avail_out;
    return MW_OK;
}

mw_status mw__inflate_read(mw__inflate *stream, void *out, size_t size, size_t *out_got, mw_error *err)
{
    *out_got = 0;
    while (*out_got < size) {
        const size_t room = size - *out_got < ROOM_MOST ? size - *out_got : ROOM_MOST;
        size_t got;
        MW_TRY(inflate_some(stream, (unsigned char *)out + *out_got, room, &got, err));
        *out_got += got;
        if (got < room)
            break;
    }
    return MW_OK;
}

bool mw__inflate_is_whole(const mw__inflate *stream)
{
    return stream->ended && stream->stream.avail_in == 0 && stream->source.size == 0;
}

mw_status mw__inflate_begin(mw__inflate **out, const mw_allocator *allocator, const mw__inflate_source *source,
                            mw_error *err)
{
    mw__inflate *stream = *out = mw__alloc(allocator, 1, sizeof *stream, err);
    if (stream == NULL)
        return MW_ERROR_MEMORY;
    stream->allocator = allocator;
    stream->source = *source;
    stream->stream.zalloc = zlib_alloc;
    stream->stream.zfree = zlib_free;
    stream->stream.opaque = (void *)allocator;
    /* 16: a gzip header and nothing else; negative: no header */
    const int bits = source->form == MW__INFLATE_GZIP ? 16 + MAX_WBITS : -MAX_WBITS;
    if (inflateInit2(&stream->stream, bits) == Z_OK)
        return MW_OK;
    mw__free(allocator, stream);
    *out = NULL;
    return mw__fail(err, MW_ERROR_MEMORY, "no memory to unpack \"%.300s\"", source->path);
}

void mw__inflate_end(mw__inflate *stream)
{
    if (stream == NULL)
        return;
    inflateEnd(&stream->stream);
    mw__free(stream->allocator, stream);
}

#else

bool mw__inflate_available(void) { return false; }

mw_status mw__inflate_begin(mw__inflate **out, const mw_allocator *allocator, const mw__inflate_source *source,
                            mw_error *err)
{
    (void)allocator;
    *out = NULL;
    return mw__fail(err, MW_ERROR_UNSUPPORTED,
                    "\"%.300s\" is compressed, and this library was built without zlib: unpack it first (gunzip, or "
                    "numpy.savez instead of savez_compressed)",
                    source->path);
}

/* No stream exists. */

mw_status mw__inflate_read(mw__inflate *stream, void *out, size_t size, size_t *out_got, mw_error *err)
{
    (void)stream, (void)out, (void)size;
    *out_got = 0;
    return mw__fail(err, MW_ERROR_UNSUPPORTED, "this library was built without zlib");
}

bool mw__inflate_is_whole(const mw__inflate *stream) { return stream == NULL; }

void mw__inflate_end(mw__inflate *stream) { (void)stream; }

#endif

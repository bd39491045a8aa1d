/* Deflate streams in files; the one user of zlib. What comes out goes into the caller's memory piece by piece, never
 * more than asked for: what a stream claims or hides does not grow anything. */
#ifndef MW__BASE_FILE_INFLATE_H
#define MW__BASE_FILE_INFLATE_H

#include "base/file/file.h"

/* What is around the stream. */
typedef enum mw__inflate_form {
    MW__INFLATE_RAW, /* nothing, as in a zip archive */
    MW__INFLATE_GZIP /* a gzip header and checksum */
} mw__inflate_form;

/* Where the packed bytes are. */
typedef struct mw__inflate_source {
    const mw__file *file; /* open as long as the stream is */
    const char *path;     /* for messages; likewise */
    uint64_t offset, size;
    mw__inflate_form form;
} mw__inflate_source;

typedef struct mw__inflate mw__inflate;

/* False if the library was built without zlib: then begin is MW_ERROR_UNSUPPORTED. */
bool mw__inflate_available(void);

/* Starts a stream; *out is NULL on failure.
 *  errors  MW_ERROR_MEMORY, MW_ERROR_UNSUPPORTED */
MW__SIBLING mw_status mw__inflate_begin(mw__inflate **out, const mw_allocator *allocator,
                                        const mw__inflate_source *source, mw_error *err);
/* Fills out[0..size) as far as the stream goes; *out_got < size only at its end.
 *  errors  MW_ERROR_FORMAT if the stream is damaged, or cut off before its end */
MW__SIBLING mw_status mw__inflate_read(mw__inflate *stream, void *out, size_t size, size_t *out_got, mw_error *err);
/* True if the stream has ended, with a sound checksum where it has one, and no byte of the source is left behind it. */
MW__SIBLING bool mw__inflate_is_whole(const mw__inflate *stream);
/* NULL is fine. */
MW__SIBLING void mw__inflate_end(mw__inflate *stream);

#endif

/* Sounds: WAV and FLAC as samples, by libsndfile, which is optional at build time. What a file says of itself is
 * compared with what is there. */
#ifndef MW__DATA_SOUND_SOUND_H
#define MW__DATA_SOUND_SOUND_H

#include "base/file/file.h"
#include "base/memory/alloc.h"

enum { MW__SOUND_RATE_MIN = 1000, MW__SOUND_RATE_MAX = 768000, MW__SOUND_CHANNELS_MAX = 64 };

/* Samples of all channels at the same time are one frame. */
typedef struct mw__sound_reader {
    mw__file file;
    uint64_t at;      /* place in the file */
    void *decoder;    /* of libsndfile */
    const char *path; /* for messages; the caller's */
    int64_t frames;   /* -1 = the file does not say */
    int64_t rate;
    int channels;
} mw__sound_reader;

/* A file below the folder; folder NULL: the name is a path by itself. Reads its headers alone; libsndfile holds less
 * than 1 MiB for a file of this kind.
 *  path    for messages, lives as long as the reader
 *  errors  MW_ERROR_FILE; MW_ERROR_FORMAT; MW_ERROR_UNSUPPORTED if the library was left out at build time */
mw_status mw__sound_open(mw__sound_reader *out, const char *folder, const char *name, const char *path, mw_error *err);
void mw__sound_close(mw__sound_reader *reader);

/* Goes to a frame that is below reader->frames. */
mw_status mw__sound_seek(mw__sound_reader *reader, int64_t frame, mw_error *err);

/* Reads up to `count` frames; fewer only at the end, or where the file is cut.
 *  out     [count, channels]
 *  return  how many */
int64_t mw__sound_read(mw__sound_reader *reader, float *out, int64_t count);

/* Whether a WAV is one of those that are read, and has all the bytes of samples that it announces. */
mw_status mw__wav_check(const mw__file *file, const char *path, mw_error *err);

#endif

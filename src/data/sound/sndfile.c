/* WAV and FLAC by libsndfile, through functions that read the file below its folder. Its own memory is the C
 * library's. */
#include "data/sound/sound.h"

#if MW_HAVE_SNDFILE
#include <sndfile.h>
#include <stdio.h>
#include <string.h>

/* ---- the file, as libsndfile asks for it ---- */

static sf_count_t file_length(void *user)
{
    const mw__sound_reader *r = user;
    return (sf_count_t)r->file.size;
}

static sf_count_t file_seek(sf_count_t offset, int whence, void *user)
{
    mw__sound_reader *r = user;
    const sf_count_t size = (sf_count_t)r->file.size;
    const sf_count_t from = whence == SEEK_CUR ? (sf_count_t)r->at : whence == SEEK_END ? size : 0;
    if (offset < -from || offset > size - from)
        return -1;
    r->at = (uint64_t)(from + offset);
    return (sf_count_t)r->at;
}

static sf_count_t file_read(void *out, sf_count_t count, void *user)
{
    mw__sound_reader *r = user;
    const sf_count_t left = (sf_count_t)(r->file.size - r->at), some = count < left ? count : left;
    if (some <= 0 || mw__file_read_at(&r->file, r->at, out, (size_t)some, r->path, NULL) != MW_OK)
        return 0;
    r->at += (uint64_t)some;
    return some;
}

static sf_count_t file_tell(void *user)
{
    const mw__sound_reader *r = user;
    return (sf_count_t)r->at;
}

/* ---- opening ---- */

static mw_status fail_sound(const mw__sound_reader *r, const char *reason, mw_error *err)
{
    return mw__fail(err, MW_ERROR_FORMAT, "\"%.300s\" is no sound that can be read: %s", r->path, reason);
}

static mw_status check_mark(const mw__sound_reader *r, mw_error *err)
{
    char mark[12] = {0};
    const size_t size = r->file.size < sizeof mark ? (size_t)r->file.size : sizeof mark;
    MW_TRY(mw__file_read_at(&r->file, 0, mark, size, r->path, err));
    if (memcmp(mark, "fLaC", 4) == 0)
        return MW_OK;
    if (memcmp(mark, "RIFF", 4) != 0 || memcmp(mark + 8, "WAVE", 4) != 0)
        return mw__fail(err, MW_ERROR_FORMAT, "\"%.300s\" is neither WAV nor FLAC", r->path);
    return mw__wav_check(&r->file, r->path, err);
}

static mw_status take_numbers(mw__sound_reader *r, const SF_INFO *info, mw_error *err)
{
    const int64_t most = (int64_t)1 << 40;
    r->rate = info->samplerate;
    r->channels = info->channels;
    r->frames = info->frames >= most ? -1 : info->frames;
    if (r->rate < MW__SOUND_RATE_MIN || r->rate > MW__SOUND_RATE_MAX)
        return mw__fail(err, MW_ERROR_FORMAT, "\"%.300s\" has %lld samples a second, not %d to %d", r->path,
                        (long long)r->rate, MW__SOUND_RATE_MIN, MW__SOUND_RATE_MAX);
    if (r->channels < 1 || r->channels > MW__SOUND_CHANNELS_MAX)
        return mw__fail(err, MW_ERROR_FORMAT, "\"%.300s\" has %d channels, not 1 to %d", r->path, r->channels,
                        MW__SOUND_CHANNELS_MAX);
    return r->frames != 0 ? MW_OK : mw__fail(err, MW_ERROR_FORMAT, "\"%.300s\" has no samples", r->path);
}

static mw_status begin_decoder(mw__sound_reader *r, mw_error *err)
{
    static SF_VIRTUAL_IO calls = {.get_filelen = file_length, .seek = file_seek, .read = file_read, .tell = file_tell};
    SF_INFO info = {0};
    MW_TRY(check_mark(r, err));
    r->decoder = sf_open_virtual(&calls, SFM_READ, &info, r);
    return r->decoder != NULL ? take_numbers(r, &info, err) : fail_sound(r, "its header is none", err);
}

mw_status mw__sound_open(mw__sound_reader *out, const char *folder, const char *name, const char *path, mw_error *err)
{
    *out = (mw__sound_reader){.path = path};
    MW_TRY(folder != NULL ? mw__file_open_below(&out->file, folder, name, err) : mw__file_open(&out->file, name, err));
    const mw_status status = begin_decoder(out, err);
    if (status != MW_OK)
        mw__sound_close(out);
    return status;
}

void mw__sound_close(mw__sound_reader *reader)
{
    if (reader->decoder != NULL)
        sf_close(reader->decoder);
    reader->decoder = NULL;
    mw__file_close(&reader->file);
}

mw_status mw__sound_seek(mw__sound_reader *reader, int64_t frame, mw_error *err)
{
    if (frame == 0 || sf_seek(reader->decoder, frame, SEEK_SET) == frame)
        return MW_OK;
    return mw__fail(err, MW_ERROR_FORMAT, "\"%.300s\" announces %lld samples, and has no sample %lld", reader->path,
                    (long long)reader->frames, (long long)frame);
}

int64_t mw__sound_read(mw__sound_reader *reader, float *out, int64_t count)
{
    const sf_count_t got = sf_readf_float(reader->decoder, out, count);
    return got < 0 ? 0 : got < count ? got : count;
}

#else

mw_status mw__sound_open(mw__sound_reader *out, const char *folder, const char *name, const char *path, mw_error *err)
{
    (void)folder, (void)name;
    *out = (mw__sound_reader){.path = path};
    return mw__fail(err, MW_ERROR_UNSUPPORTED, "\"%.300s\" is a sound, and this library was built without libsndfile",
                    path);
}

void mw__sound_close(mw__sound_reader *reader) { (void)reader; }

mw_status mw__sound_seek(mw__sound_reader *reader, int64_t frame, mw_error *err)
{
    (void)reader, (void)frame;
    return mw__fail(err, MW_ERROR_UNSUPPORTED, "this library was built without libsndfile");
}

int64_t mw__sound_read(mw__sound_reader *reader, float *out, int64_t count)
{
    (void)reader, (void)out, (void)count;
    return 0;
}

#endif

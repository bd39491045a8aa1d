/* The chunks of a WAV, before libsndfile sees it: it plays what is there of a file that is cut, and knows more codecs
 * than are wanted. Each length is the file's word. */
#include "data/sound/sound.h"

#include <string.h>

enum { PCM = 1, FLOATING = 3, A_LAW = 6, U_LAW = 7, EXTENSIBLE = 0xfffe, CHUNKS_MAX = 4096 };

typedef struct wav_chunk {
    char name[4];
    uint64_t at, length; /* of its bytes */
} wav_chunk;

static uint32_t number_at(const uint8_t *at, int size)
{
    uint32_t value = 0;
    for (int i = size - 1; i >= 0; i--)
        value = value << 8 | at[i];
    return value;
}

static mw_status fail_wav(const char *path, const char *reason, mw_error *err)
{
    return mw__fail(err, MW_ERROR_FORMAT, "\"%.300s\" is no WAV that can be read: %s", path, reason);
}

static mw_status read_chunk(const mw__file *file, const char *path, uint64_t at, wav_chunk *out, mw_error *err)
{
    uint8_t head[8];
    if (at + sizeof head > file->size)
        return fail_wav(path, "it ends before its samples", err);
    MW_TRY(mw__file_read_at(file, at, head, sizeof head, path, err));
    memcpy(out->name, head, 4);
    out->at = at + sizeof head;
    out->length = number_at(head + 4, 4);
    return MW_OK;
}

static mw_status check_codec(const mw__file *file, const char *path, const wav_chunk *chunk, mw_error *err)
{
    uint8_t codec[2];
    if (chunk->length < 16 || chunk->length > file->size - chunk->at)
        return fail_wav(path, "its format is cut", err);
    MW_TRY(mw__file_read_at(file, chunk->at, codec, sizeof codec, path, err));
    const uint32_t tag = number_at(codec, 2);
    if (tag == PCM || tag == FLOATING || tag == A_LAW || tag == U_LAW || tag == EXTENSIBLE)
        return MW_OK;
    return mw__fail(err, MW_ERROR_FORMAT,
                    "\"%.300s\" is a WAV of codec %u; PCM (1), floating point (3), A-law (6) and u-law (7) are read",
                    path, tag);
}

/* A program that could not go back wrote no length, or the largest: the samples go to the end of the file. */
static mw_status check_samples(const mw__file *file, const char *path, const wav_chunk *chunk, mw_error *err)
{
    const uint64_t there = file->size - chunk->at;
    if (chunk->length <= there || chunk->length == UINT32_MAX)
        return MW_OK;
    return mw__fail(err, MW_ERROR_FORMAT, "\"%.300s\" is cut: it announces %llu bytes of samples, and %llu are there",
                    path, (unsigned long long)chunk->length, (unsigned long long)there);
}

mw_status mw__wav_check(const mw__file *file, const char *path, mw_error *err)
{
    bool has_format = false;
    uint64_t at = 12;
    for (int i = 0; i < CHUNKS_MAX; i++) {
        wav_chunk chunk;
        MW_TRY(read_chunk(file, path, at, &chunk, err));
        if (memcmp(chunk.name, "data", 4) == 0)
            return has_format ? check_samples(file, path, &chunk, err) : fail_wav(path, "it says no format", err);
        if (memcmp(chunk.name, "fmt ", 4) == 0) {
            MW_TRY(check_codec(file, path, &chunk, err));
            has_format = true;
        }
        at = chunk.at + chunk.length + chunk.length % 2;
    }
    return fail_wav(path, "it has too many chunks before its samples", err);
}

/* Opens, chooses a part, reads it in blocks, mixes and resamples; whatever is allocated on the way is freed here. */
#include "data/sound/load.h"

#include "base/number/random.h"
#include "data/sound/resample.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PATH_ROOM = 512, BLOCK = 4096 };

/* An example that is being made. */
typedef struct sound_load {
    const mw_sound_options *options;
    mw__sound_reader reader;
    mw__resampler resampler;
    int64_t from, to;   /* samples of the resampled sound that are taken.. */
    int64_t silence;    /* ..and how many are silent before them */
    int64_t first, end; /* frames of the file that they are made of */
    float *samples;     /* [channels, room], [end - first] of each are read */
    float *block;       /* [BLOCK, channels of the file] */
} sound_load;

/* ---- which part ---- */

static int64_t choose_place(const mw_sound_options *o, uint64_t seed, int64_t span)
{
    mw__random random = {.seed = seed};
    if (o->place == MW_SOUND_BEGIN)
        return 0;
    if (o->place == MW_SOUND_MIDDLE)
        return span / 2;
    return (int64_t)floor((double)mw__random_uniform(&random) * (double)(span + 1));
}

/* Without a length the begin alone can be read, as far as it goes. */
static mw_status choose_part(sound_load *l, uint64_t seed, mw_error *err)
{
    const mw_sound_options *o = l->options;
    const bool is_known = l->reader.frames > 0;
    if (!is_known && o->place != MW_SOUND_BEGIN)
        return mw__fail(err, MW_ERROR_FORMAT,
                        "\"%.300s\" does not say how long it is, and only its begin can be taken: MW_SOUND_BEGIN",
                        l->reader.path);
    const int64_t all = is_known ? mw__resampler_length(&l->resampler, l->reader.frames) : o->length;
    const int64_t taken = all < o->length ? all : o->length;
    l->from = choose_place(o, seed, all - taken);
    l->to = l->from + taken;
    l->silence = choose_place(o, seed, o->length - taken);
    mw__resampler_range(&l->resampler, l->from, l->to, &l->first, &l->end);
    l->first = l->first > 0 ? l->first : 0;
    l->end = is_known && l->end > l->reader.frames ? l->reader.frames : l->end;
    if (l->end - l->first <= o->frames_max)
        return MW_OK;
    return mw__fail(err, MW_ERROR_FORMAT,
                    "\"%.300s\" takes %lld samples a channel for %lld at another rate, more than %lld", l->reader.path,
                    (long long)(l->end - l->first), (long long)o->length, (long long)o->frames_max);
}

/* ---- reading ---- */

static mw_status check_channels(const sound_load *l, mw_error *err)
{
    const int there = l->reader.channels, wanted = l->options->channels;
    if (wanted == 1 || there == 1 || there == wanted)
        return MW_OK;
    return mw__fail(err, MW_ERROR_FORMAT, "\"%.300s\" has %d channels, and %d are kept: 1 mixes any number",
                    l->reader.path, there, wanted);
}

/* A frame as it is kept: the mean, or each channel. */
static void put_frame(const sound_load *l, const float *frame, int64_t place)
{
    const int there = l->reader.channels, wanted = l->options->channels;
    const int64_t room = l->end - l->first;
    double sum = 0.0;
    for (int c = 0; c < there; c++)
        sum += (double)frame[c];
    for (int c = 0; c < wanted; c++)
        l->samples[c * room + place] = wanted == 1 ? (float)(sum / there) : frame[there == 1 ? 0 : c];
}

static mw_status check_end(sound_load *l, int64_t got, mw_error *err)
{
    if (l->reader.frames > 0)
        return mw__fail(err, MW_ERROR_FORMAT, "\"%.300s\" is cut: it announces %lld samples, and ends after %lld",
                        l->reader.path, (long long)l->reader.frames, (long long)(l->first + got));
    return got > 0 ? MW_OK : mw__fail(err, MW_ERROR_FORMAT, "\"%.300s\" has no samples", l->reader.path);
}

static mw_status read_blocks(sound_load *l, int64_t *out_got, mw_error *err)
{
    const int64_t count = l->end - l->first;
    MW_TRY(mw__sound_seek(&l->reader, l->first, err));
    for (*out_got = 0; *out_got < count;) {
        const int64_t left = count - *out_got;
        const int64_t got = mw__sound_read(&l->reader, l->block, left < BLOCK ? left : BLOCK);
        if (got == 0)
            return check_end(l, *out_got, err);
        for (int64_t i = 0; i < got; i++)
            put_frame(l, l->block + i * l->reader.channels, *out_got + i);
        *out_got += got;
    }
    return MW_OK;
}

static mw_status read_samples(sound_load *l, int64_t *out_got, mw_error *err)
{
    const mw_allocator *allocator = l->options->allocator;
    const size_t room = (size_t)(l->end - l->first) * (size_t)l->options->channels;
    l->samples = mw__alloc(allocator, room, sizeof *l->samples, err);
    l->block = mw__alloc(allocator, BLOCK * (size_t)l->reader.channels, sizeof *l->block, err);
    if (l->samples == NULL || l->block == NULL)
        return MW_ERROR_MEMORY;
    return read_blocks(l, out_got, err);
}

/* ---- the example ---- */

static mw_status check_finite(const sound_load *l, const float *out, int64_t count, mw_error *err)
{
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(out[i]))
            return mw__fail(err, MW_ERROR_FORMAT, "\"%.300s\" has a sample that is not finite, at %lld of %lld",
                            l->reader.path, (long long)(i % l->options->length), (long long)l->options->length);
    return MW_OK;
}

static mw_status put_example(sound_load *l, int64_t got, float *out, mw_error *err)
{
    const mw_sound_options *o = l->options;
    const int64_t room = l->end - l->first;
    memset(out, 0, (size_t)(o->length * o->channels) * sizeof *out);
    for (int c = 0; c < o->channels; c++)
        MW_TRY(mw__resampler_run(&l->resampler, o->allocator, l->samples + c * room, l->first, l->first + got, l->from,
                                 l->to, out + c * o->length + l->silence, err));
    return check_finite(l, out, o->length * o->channels, err);
}

static mw_status make_example(sound_load *l, uint64_t seed, float *out, mw_error *err)
{
    int64_t got = 0;
    l->resampler = mw__resampler_make(l->reader.rate, l->options->rate);
    MW_TRY(check_channels(l, err));
    MW_TRY(choose_part(l, seed, err));
    MW_TRY(read_samples(l, &got, err));
    return put_example(l, got, out, err);
}

/* For messages. */
static void put_path(const char *folder, const char *name, char out[PATH_ROOM])
{
    snprintf(out, PATH_ROOM, "%s%s%s", folder != NULL ? folder : "", folder != NULL ? "/" : "", name);
}

mw_status mw__sound_load(const mw_sound_options *options, const char *folder, const char *name, uint64_t seed,
                         float *out, mw_error *err)
{
    char path[PATH_ROOM];
    sound_load l = {.options = options};
    put_path(folder, name, path);
    MW_TRY(mw__sound_open(&l.reader, folder, name, path, err));
    const mw_status status = make_example(&l, seed, out, err);
    mw__free(options->allocator, l.samples);
    mw__free(options->allocator, l.block);
    mw__sound_close(&l.reader);
    return status;
}

int64_t mw__sound_length(const mw_sound_options *options, const char *folder, const char *name)
{
    char path[PATH_ROOM];
    mw__sound_reader reader;
    put_path(folder, name, path);
    if (mw__sound_open(&reader, folder, name, path, NULL) != MW_OK)
        return 0;
    const mw__resampler resampler = mw__resampler_make(reader.rate, options->rate);
    const int64_t length = reader.frames > 0 ? mw__resampler_length(&resampler, reader.frames) : 0;
    mw__sound_close(&reader);
    return length;
}

/* Sounds as files, written here byte by byte: WAV with integers, and FLAC with samples as they are (verbatim
 * subframes), so that a decoder has something to be compared with. */
#ifndef TESTS_SUPPORT_SOUND_FILE_H
#define TESTS_SUPPORT_SOUND_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct sound_file {
    int rate, channels, bits; /* 8 (WAV alone), 16, 24; 32 and 64 are floating point (WAV alone) */
    int64_t frames;
    const double *samples; /* [frames, channels], -1 to 1; rounded to the bits */
} sound_file;

void sound_put_wav(const char *path, const sound_file *sound);
void sound_put_flac(const char *path, const sound_file *sound);
/* The integer that a sample becomes. */
int32_t sound_integer(double sample, int bits);

/* sum of amplitude sin(2 pi hertz t + phase) for a few harmonics, with a little noise: [frames]. */
void sound_make_tone(double *out, int64_t frames, int rate, double hertz, double noise, uint32_t seed);

/* FOLDER/low, middle, high, each with `count` sounds of 0.3 to 0.5 s: tones about 220, 440 and 880 Hz, of any phase and
 * loudness; WAV and FLAC, at 8000 and 16000 samples a second, with one and two channels. */
void sound_put_tones(const char *folder, int count, double noise);

#endif

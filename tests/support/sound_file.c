/* RIFF as Microsoft described it, FLAC as RFC 9639. */
#include "support/sound_file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int32_t sound_integer(double sample, int bits)
{
    const double most = ldexp(1.0, bits - 1), value = rint(sample * most);
    return (int32_t)(value < -most ? -most : value > most - 1 ? most - 1 : value);
}

/* ---- WAV ---- */

static void put_little(FILE *file, uint64_t value, int bytes)
{
    for (int i = 0; i < bytes; i++)
        fputc((int)(value >> (8 * i) & 255), file);
}

static void put_wav_sample(FILE *file, double sample, int bits)
{
    const float single = (float)sample;
    uint64_t raw = 0;
    if (bits == 64)
        memcpy(&raw, &sample, 8);
    else if (bits == 32)
        memcpy(&raw, &single, 4);
    else
        raw = (uint64_t)(int64_t)(sound_integer(sample, bits) + (bits == 8 ? 128 : 0));
    put_little(file, raw, bits / 8);
}

void sound_put_wav(const char *path, const sound_file *s)
{
    FILE *file = fopen(path, "wb");
    const uint64_t frame = (uint64_t)(s->channels * s->bits / 8), size = (uint64_t)s->frames * frame;
    if (file == NULL)
        return;
    fputs("RIFF", file);
    put_little(file, 36 + size, 4);
    fputs("WAVEfmt ", file);
    put_little(file, 16, 4);
    put_little(file, s->bits >= 32 ? 3 : 1, 2);
    put_little(file, (uint64_t)s->channels, 2);
    put_little(file, (uint64_t)s->rate, 4);
    put_little(file, (uint64_t)s->rate * frame, 4);
    put_little(file, frame, 2);
    put_little(file, (uint64_t)s->bits, 2);
    fputs("data", file);
    put_little(file, size, 4);
    for (int64_t i = 0; i < s->frames * s->channels; i++)
        put_wav_sample(file, s->samples[i], s->bits);
    fclose(file);
}

/* ---- FLAC ---- */

typedef struct bit_writer {
    uint8_t *bytes;
    size_t count; /* of bits */
} bit_writer;

static void put_bits(bit_writer *w, uint64_t value, int bits)
{
    for (int i = bits - 1; i >= 0; i--, w->count++) {
        if (w->count % 8 == 0)
            w->bytes[w->count / 8] = 0;
        w->bytes[w->count / 8] |= (uint8_t)((value >> i & 1) << (7 - w->count % 8));
    }
}

static unsigned checksum(const uint8_t *bytes, size_t count, unsigned polynomial, int bits)
{
    unsigned sum = 0;
    for (size_t i = 0; i < count; i++) {
        sum ^= (unsigned)bytes[i] << (bits - 8);
        for (int k = 0; k < 8; k++)
            sum = sum >> (bits - 1) & 1 ? sum << 1 ^ polynomial : sum << 1;
        sum &= (1u << bits) - 1;
    }
    return sum;
}

enum { FLAC_BLOCK = 1024 };

/* The rate, 20 bits; channels less 1, 3; bits less 1, 5; frames, 36; no MD5. */
static void put_stream_info(FILE *file, const sound_file *s)
{
    uint8_t bytes[64];
    bit_writer w = {.bytes = bytes};
    put_bits(&w, 0x80, 8); /* the last block of metadata, of kind 0 */
    put_bits(&w, 34, 24);
    put_bits(&w, FLAC_BLOCK, 16);
    put_bits(&w, FLAC_BLOCK, 16);
    put_bits(&w, 0, 48);
    put_bits(&w, (uint64_t)s->rate, 20);
    put_bits(&w, (uint64_t)(s->channels - 1), 3);
    put_bits(&w, (uint64_t)(s->bits - 1), 5);
    put_bits(&w, (uint64_t)s->frames, 36);
    for (int i = 0; i < 16; i++)
        put_bits(&w, 0, 8);
    fwrite("fLaC", 1, 4, file);
    fwrite(bytes, 1, w.count / 8, file);
}

/* Numbers as UTF-8 writes them. */
static void put_number(bit_writer *w, uint64_t number)
{
    if (number < 0x80)
        put_bits(w, number, 8);
    else if (number < 0x800) {
        put_bits(w, 0xc0 | number >> 6, 8);
        put_bits(w, 0x80 | (number & 0x3f), 8);
    } else {
        put_bits(w, 0xe0 | number >> 12, 8);
        put_bits(w, 0x80 | (number >> 6 & 0x3f), 8);
        put_bits(w, 0x80 | (number & 0x3f), 8);
    }
}

static void put_flac_frame(FILE *file, const sound_file *s, int64_t first, int64_t count, uint8_t *bytes)
{
    bit_writer w = {.bytes = bytes};
    put_bits(&w, 0xfff8, 16);
    put_bits(&w, 7, 4); /* block size in 16 bits at the end of the header */
    put_bits(&w, 0, 4); /* rate of the stream */
    put_bits(&w, (uint64_t)(s->channels - 1), 4);
    put_bits(&w, 0, 4); /* bits of the stream */
    put_number(&w, (uint64_t)(first / FLAC_BLOCK));
    put_bits(&w, (uint64_t)(count - 1), 16);
    put_bits(&w, checksum(bytes, w.count / 8, 0x07, 8), 8);
    for (int c = 0; c < s->channels; c++) {
        put_bits(&w, 1 << 1, 8); /* verbatim */
        for (int64_t i = 0; i < count; i++)
            put_bits(&w, (uint64_t)(uint32_t)sound_integer(s->samples[(first + i) * s->channels + c], s->bits),
                     s->bits);
    }
    while (w.count % 8 != 0)
        put_bits(&w, 0, 1);
    put_bits(&w, checksum(bytes, w.count / 8, 0x8005, 16), 16);
    fwrite(bytes, 1, w.count / 8, file);
}

void sound_put_flac(const char *path, const sound_file *s)
{
    FILE *file = fopen(path, "wb");
    uint8_t *bytes = malloc((size_t)(64 + FLAC_BLOCK * s->channels * 4));
    if (file == NULL || bytes == NULL)
        return;
    put_stream_info(file, s);
    for (int64_t at = 0; at < s->frames; at += FLAC_BLOCK)
        put_flac_frame(file, s, at, s->frames - at < FLAC_BLOCK ? s->frames - at : FLAC_BLOCK, bytes);
    fclose(file);
    free(bytes);
}

/* ---- tones ---- */

static double next_number(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (double)(*state >> 8) / 16777216.0;
}

void sound_make_tone(double *out, int64_t frames, int rate, double hertz, double noise, uint32_t seed)
{
    const double turn = 6.283185307179586, phase = turn * next_number(&seed), loud = 0.1 + 0.4 * next_number(&seed);
    for (int64_t i = 0; i < frames; i++) {
        const double t = turn * hertz * (double)i / rate + phase;
        out[i] = loud * (sin(t) + 0.3 * sin(2 * t) + 0.1 * sin(3 * t)) + noise * (2.0 * next_number(&seed) - 1.0);
    }
}

static void put_tone(const char *path, double hertz, double noise, uint32_t seed)
{
    enum { FRAMES_MAX = 8000 };
    static double mono[FRAMES_MAX], both[2 * FRAMES_MAX];
    uint32_t state = seed * 2654435761u + 12345u;
    const int rate = seed % 2 == 0 ? 8000 : 16000, channels = seed % 3 == 0 ? 2 : 1;
    const int64_t frames = (int64_t)(rate * (0.3 + 0.2 * next_number(&state)));
    sound_make_tone(mono, frames, rate, hertz * (0.9 + 0.2 * next_number(&state)), noise, state);
    for (int64_t i = 0; i < frames; i++)
        both[2 * i] = both[2 * i + 1] = mono[i];
    const sound_file sound = {
        .rate = rate, .channels = channels, .bits = 16, .frames = frames, .samples = channels == 2 ? both : mono};
    if (strstr(path, ".flac") != NULL)
        sound_put_flac(path, &sound);
    else
        sound_put_wav(path, &sound);
}

void sound_put_tones(const char *folder, int count, double noise)
{
    static const char *const names[] = {"high", "low", "middle"};
    static const double hertz[] = {880, 220, 440};
    char path[512];
    mkdir(folder, 0777);
    for (uint32_t k = 0; k < 3; k++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[k]);
        mkdir(path, 0777);
        for (int i = 0; i < count; i++) {
            snprintf(path, sizeof path, "%s/%s/%03d.%s", folder, names[k], i, i % 4 == 3 ? "flac" : "wav");
            put_tone(path, hertz[k], noise, k * 1000 + (uint32_t)i);
        }
    }
}

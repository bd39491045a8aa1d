/* Sounds against what was written (support/sound_file.h), and against scipy (data/sounds/make.py). */
#include "base/number/random.h"
#include "data/data.h"
#include "data/sound/resample.h"
#include "support/check.h"
#include "support/failing.h"
#include "support/folder.h"
#include "support/meter.h"
#include "support/sound_file.h"

#include <millwright/data.h>
#include <millwright/millwright.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FRAMES = 1500, SIGNAL = 600 };

static char scratch[512];

/* As data/sounds/make.py. */
static void make_signal(double *out, int count, uint32_t state)
{
    for (int i = 0; i < count; i++) {
        state = state * 1664525u + 1013904223u;
        out[i] = ((double)(state >> 16) - 32768.0) / 32768.0;
    }
}

static bool is_left_out(void)
{
    mw_error err = {0};
    const mw_sound_options options = mw_sound_defaults();
    const double one = 0.5;
    mkdir("left", 0777);
    mkdir("left/a", 0777);
    sound_put_wav("left/a/a.wav", &(sound_file){16000, 1, 16, 1, &one});
    mw_dataset *dataset = mw_dataset_open_sounds("left", &options, &err);
    mw_dataset_destroy(dataset);
    return err.status == MW_ERROR_UNSUPPORTED && strstr(err.message, "built without libsndfile") != NULL;
}

#define NEEDS_LIBRARY                                                                                                  \
    if (is_left_out())                                                                                                 \
    SKIP("built without libsndfile")

static void make_folders(void)
{
    folder_empty(".");
    mkdir("set", 0777);
    mkdir("set/a", 0777);
    mkdir("set/b", 0777);
}

static mw_sound_options options_of(int64_t rate, int64_t length)
{
    mw_sound_options o = mw_sound_defaults();
    o.rate = rate;
    o.length = length;
    return o;
}

/* Column "x" of example `index` in an epoch, [count]; the loader stays, as it has the memory. */
static const float *example_at(const mw_dataset *dataset, int64_t index, int64_t epoch, mw_loader **out)
{
    mw_error err = {0};
    mw_loader_options options = mw_loader_defaults(dataset, 1);
    options.shuffle = false;
    *out = mw_loader_create(&options, &err);
    mw_loader_seek(*out, (mw_loader_position){.epoch = epoch, .batch = index}, &err);
    const mw_batch *batch = mw_loader_next(*out, &err);
    CHECK_OK(err);
    return batch != NULL ? batch->feeds[0].data : NULL;
}

/* ---- as they were written ---- */

static void check_samples(const char *file, const sound_file *s, int channels, const float *got, int64_t length)
{
    double worst = 0;
    for (int64_t i = 0; i < s->frames; i++)
        for (int c = 0; c < channels; c++) {
            double wanted = 0;
            for (int k = 0; k < s->channels; k++) {
                const double sample = s->samples[i * s->channels + k];
                const double value = s->bits < 32 ? sound_integer(sample, s->bits) / ldexp(1.0, s->bits - 1) : sample;
                wanted += channels == 1 ? value / s->channels : k == c || s->channels == 1 ? value : 0;
            }
            worst = fmax(worst, fabs(wanted - (double)got[c * length + i]));
        }
    check_note(worst <= 6e-8, __FILE__, __LINE__, "%s: %g apart", file, worst);
}

static void check_file(const char *ending, int bits, int channels, int kept, const double *samples)
{
    mw_error err = {0};
    mw_loader *loader;
    char path[64];
    const sound_file s = {16000, channels, bits, FRAMES, samples};
    make_folders();
    snprintf(path, sizeof path, "set/a/x%s", ending);
    (strcmp(ending, ".wav") == 0 ? sound_put_wav : sound_put_flac)(path, &s);
    snprintf(path, sizeof path, "set/b/x%s", ending);
    (strcmp(ending, ".wav") == 0 ? sound_put_wav : sound_put_flac)(path, &s);
    mw_sound_options options = options_of(16000, 0);
    options.channels = kept;
    mw_dataset *dataset = mw_dataset_open_sounds("set", &options, &err);
    CHECK_OK(err);
    REQUIRE(dataset != NULL);
    const mw_column *x = mw_dataset_column_at(dataset, 0);
    CHECK_INT(x->dtype, MW_F32);
    CHECK_INT(x->shape.rank, 2);
    CHECK_INT(x->shape.dim[0], kept);
    CHECK_INT(x->shape.dim[1], FRAMES); /* of the longest */
    CHECK_STR(mw_dataset_classes(dataset, "y").names[1], "b");
    const float *got = example_at(dataset, 1, 0, &loader);
    if (got != NULL)
        check_samples(path, &s, kept, got, FRAMES);
    mw_loader_destroy(loader);
    mw_dataset_destroy(dataset);
}

static void test_samples_are_those_that_were_written(void)
{
    NEEDS_LIBRARY;
    static const int bits[] = {8, 16, 24, 32, 64};
    static double samples[3 * FRAMES];
    make_signal(samples, 3 * FRAMES, 5);
    for (size_t i = 0; i < sizeof bits / sizeof bits[0]; i++)
        for (int channels = 1; channels <= 3; channels++)
            for (int kept = 1; kept <= channels; kept += channels > 1 ? channels - 1 : 1) {
                check_file(".wav", bits[i], channels, kept, samples);
                if (bits[i] == 16 || bits[i] == 24)
                    check_file(".flac", bits[i], channels, kept, samples);
            }
    check_file(".wav", 16, 1, 2, samples); /* copied to both */
}

/* ---- another rate ---- */

static void test_samples_at_another_rate_are_what_scipy_makes(void)
{
    char path[512];
    static double signal[SIGNAL];
    static float in[SIGNAL], out[4000];
    long long from, to, count;
    int pairs = 0;
    snprintf(path, sizeof path, "%s/data/sounds/resampled.txt", MW_TESTS_DIR);
    FILE *file = fopen(path, "r");
    REQUIRE(file != NULL);
    make_signal(signal, SIGNAL, 7);
    for (int i = 0; i < SIGNAL; i++)
        in[i] = (float)signal[i];
    for (; fscanf(file, "%lld %lld %lld", &from, &to, &count) == 3; pairs++) {
        const mw__resampler r = mw__resampler_make(from, to);
        double worst = 0;
        CHECK_INT(mw__resampler_length(&r, SIGNAL), count);
        REQUIRE(mw__resampler_run(&r, mw__allocator_or_default(NULL), in, 0, SIGNAL, 0, count, out, NULL) == MW_OK);
        for (long long i = 0; i < count; i++) {
            double wanted;
            REQUIRE(fscanf(file, "%lf", &wanted) == 1);
            worst = fmax(worst, fabs(wanted - (double)out[i]));
        }
        check_note(worst < 2e-6, __FILE__, __LINE__, "%lld to %lld: %g apart", from, to, worst);
    }
    fclose(file);
    CHECK_INT(pairs, 8);
}

/* A tone that both rates can hold is the same tone, one that the new rate cannot hold is gone. */
static void check_tone(int64_t from, int64_t to, double hertz)
{
    enum { COUNT = 9000 };
    static float in[COUNT], out[8 * COUNT];
    const mw__resampler r = mw__resampler_make(from, to);
    const int64_t count = mw__resampler_length(&r, COUNT), edge = count / 3;
    const double half = (double)(from < to ? from : to) / 2, turn = 6.283185307179586;
    double worst = 0;
    for (int i = 0; i < COUNT; i++)
        in[i] = (float)sin(turn * hertz * i / (double)from);
    REQUIRE(mw__resampler_run(&r, mw__allocator_or_default(NULL), in, 0, COUNT, 0, count, out, NULL) == MW_OK);
    for (int64_t i = edge; i < count - edge; i++)
        worst = fmax(worst, fabs((double)out[i] - (hertz < half ? sin(turn * hertz * (double)i / (double)to) : 0)));
    check_note(worst < 1e-4, __FILE__, __LINE__, "%lld to %lld, %g Hz: %g apart", (long long)from, (long long)to, hertz,
               worst);
}

static void test_tones_stay_or_vanish(void)
{
    static const int64_t rates[][2] = {{44100, 16000}, {16000, 44100}, {48000, 16000}, {8000, 16000},
                                       {16000, 8000},  {22050, 16000}, {16001, 16000}};
    for (size_t i = 0; i < sizeof rates / sizeof rates[0]; i++) {
        const double low = (double)(rates[i][0] < rates[i][1] ? rates[i][0] : rates[i][1]) / 2;
        check_tone(rates[i][0], rates[i][1], 440);
        check_tone(rates[i][0], rates[i][1], 0.9 * low);
        if (rates[i][0] > rates[i][1] + 100)
            check_tone(rates[i][0], rates[i][1], 1.01 * low);
    }
}

/* A part of a sound is made of a part of the file, and is the same as in the whole. */
static void test_parts_are_those_of_the_whole(void)
{
    NEEDS_LIBRARY;
    static double signal[FRAMES];
    static float in[FRAMES], whole[4 * FRAMES];
    make_signal(signal, FRAMES, 3);
    for (int rate = 8000; rate <= 44100; rate += 18050) {
        make_folders();
        sound_put_flac("set/a/x.flac", &(sound_file){rate, 1, 16, FRAMES, signal});
        sound_put_wav("set/b/x.wav", &(sound_file){rate, 1, 16, FRAMES, signal});
        for (int i = 0; i < FRAMES; i++)
            in[i] = (float)signal[i];
        const mw__resampler r = mw__resampler_make(rate, 16000);
        const int64_t all = mw__resampler_length(&r, FRAMES);
        REQUIRE(mw__resampler_run(&r, mw__allocator_or_default(NULL), in, 0, FRAMES, 0, all, whole, NULL) == MW_OK);
        for (int place = MW_SOUND_BEGIN; place <= MW_SOUND_RANDOM; place++)
            for (int64_t length = 100; length < 2 * all; length += all / 2) {
                mw_error err = {0};
                mw_loader *loader;
                mw_sound_options options = options_of(16000, length);
                options.place = (mw_sound_place)place;
                options.bytes_max = length % 3 == 0 ? 0 : options.bytes_max;
                mw_dataset *dataset = mw_dataset_open_sounds("set", &options, &err);
                CHECK_OK(err);
                REQUIRE(dataset != NULL);
                const float *got = example_at(dataset, length % 2, 4, &loader);
                int64_t from = length < all ? -1 : 1, found = -1;
                for (int64_t shift = 0; shift <= llabs(all - length) && found < 0; shift++) {
                    bool same = true;
                    for (int64_t i = 0; same && i < length; i++) {
                        const int64_t at = from < 0 ? i + shift : i - shift;
                        same = fabsf(got[i] - (at >= 0 && at < all ? whole[at] : 0.0f)) < 1e-6f;
                    }
                    found = same ? shift : found;
                }
                check_note(found >= 0, __FILE__, __LINE__, "%d, place %d: %lld of %lld are no part", rate, place,
                           (long long)length, (long long)all);
                if (place != MW_SOUND_RANDOM)
                    CHECK_INT(found, place == MW_SOUND_BEGIN ? 0 : llabs(all - length) / 2);
                mw_loader_destroy(loader);
                mw_dataset_destroy(dataset);
            }
    }
}

static void test_random_parts_are_others_in_each_epoch(void)
{
    NEEDS_LIBRARY;
    static double signal[FRAMES];
    float first[3] = {0};
    mw_error err = {0};
    make_signal(signal, FRAMES, 3);
    make_folders();
    sound_put_wav("set/a/x.wav", &(sound_file){16000, 1, 16, FRAMES, signal});
    sound_put_wav("set/b/x.wav", &(sound_file){16000, 1, 16, FRAMES, signal});
    mw_sound_options options = options_of(16000, 50);
    options.place = MW_SOUND_RANDOM;
    options.seed = 7;
    mw_dataset *dataset = mw_dataset_open_sounds("set", &options, &err);
    for (int epoch = 0; epoch < 3; epoch++) {
        mw_loader *loader, *again;
        const float *a = example_at(dataset, 0, epoch, &loader), *b = example_at(dataset, 0, epoch, &again);
        REQUIRE(a != NULL && b != NULL);
        CHECK(memcmp(a, b, 50 * sizeof *a) == 0);
        first[epoch] = a[0];
        mw_loader_destroy(loader);
        mw_loader_destroy(again);
    }
    CHECK(first[0] != first[1] && first[1] != first[2]);
    mw_dataset_destroy(dataset);
}

/* ---- what is said ---- */

typedef struct told {
    char names[400], reasons[2000];
    int count;
} told;

static void note_broken(void *user, const char *name, const char *reason)
{
    told *t = user;
    snprintf(t->names + strlen(t->names), sizeof t->names - strlen(t->names), "%s ", name);
    snprintf(t->reasons + strlen(t->reasons), sizeof t->reasons - strlen(t->reasons), "%s\n", reason);
    CHECK(strstr(reason, name) != NULL);
    t->count++;
}

static unsigned char *get_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    unsigned char *bytes = malloc(1 << 20);
    *size = file != NULL && bytes != NULL ? fread(bytes, 1, 1 << 20, file) : 0;
    if (file != NULL)
        fclose(file);
    return bytes;
}

static void put_bytes(const char *path, const void *bytes, size_t size)
{
    FILE *file = fopen(path, "wb");
    if (file == NULL)
        return;
    fwrite(bytes, 1, size, file);
    fclose(file);
}

/* One byte, or four, of a file are others. */
static void change_file(const char *path, size_t at, uint32_t value, int bytes)
{
    size_t size;
    unsigned char *whole = get_file(path, &size);
    for (int i = 0; i < bytes; i++)
        whole[at + (size_t)i] = (unsigned char)(value >> (8 * i));
    put_bytes(path, whole, size);
    free(whole);
}

static void cut_file(const char *path, size_t taken)
{
    size_t size;
    unsigned char *whole = get_file(path, &size);
    put_bytes(path, whole, size - taken);
    free(whole);
}

static double said_samples[FRAMES];

static void put_good(const char *path)
{
    const sound_file s = {16000, 1, 16, FRAMES, said_samples};
    (strstr(path, ".flac") != NULL ? sound_put_flac : sound_put_wav)(path, &s);
}

static void make_text(const char *path) { put_bytes(path, "no sound at all", 15); }
static void make_empty(const char *path) { put_bytes(path, "", 0); }
static void make_folder(const char *path) { mkdir(path, 0777); }
static void make_silent(const char *path) { sound_put_wav(path, &(sound_file){16000, 1, 16, 0, said_samples}); }
static void make_link(const char *path)
{
    put_good("out.wav");
    CHECK_INT(symlink("../../out.wav", path), 0);
}
static void make_cut(const char *path) { put_good(path), cut_file(path, 999); }
static void make_header(const char *path) { put_bytes(path, "RIFF\0\0\0\0WAVEfmt \x10\0\0\0\1\0", 22); }
static void make_no_format(const char *path) { put_bytes(path, "RIFF\x08\0\0\0WAVEdata\2\0\0\0ab", 22); }
static void make_codec(const char *path) { put_good(path), change_file(path, 20, 2, 2); }
static void make_no_rate(const char *path) { put_good(path), change_file(path, 24, 0, 4); }
static void make_high_rate(const char *path) { put_good(path), change_file(path, 24, 2000000000, 4); }
static void make_no_channels(const char *path) { put_good(path), change_file(path, 22, 0, 2); }
static void make_many_channels(const char *path) { put_good(path), change_file(path, 22, 65535, 2); }
static void make_infinite(const char *path)
{
    static const double samples[] = {0.5, INFINITY, 0.25};
    sound_put_wav(path, &(sound_file){16000, 1, 32, 3, samples});
}
static void make_nan(const char *path)
{
    static const double samples[] = {0.5, NAN, 0.25};
    sound_put_wav(path, &(sound_file){44100, 1, 64, 3, samples});
}
static void make_flac_header(const char *path) { put_good(path), cut_file(path, FRAMES * 2); }
static void make_flac_long(const char *path) { put_good(path), change_file(path, 22, 0xff, 1); }
static void make_flac_changed(const char *path) { put_good(path), change_file(path, 700, 0x5a5a5a5a, 4); }

/* Kind x what may be wrong: what is said. */
static const struct {
    void (*make)(const char *path);
    const char *file, *said;
} broken_rows[] = {
    {make_text, "set/b/text.wav", "is neither WAV nor FLAC"},
    {make_empty, "set/b/empty.wav", "is neither WAV nor FLAC"},
    {make_folder, "set/b/folder.wav", "regular file"},
    {make_link, "set/b/link.wav", "link"},
    {make_silent, "set/b/silent.wav", "has no samples"},
    {make_cut, "set/b/cut.wav", "is cut: it announces 3000 bytes of samples, and 2001 are there"},
    {make_header, "set/b/header.wav", "is no WAV that can be read: its format is cut"},
    {make_no_format, "set/b/format.wav", "is no WAV that can be read: it says no format"},
    {make_codec, "set/b/codec.wav", "is a WAV of codec 2; PCM (1), floating point (3), A-law (6) and u-law (7) are"},
    {make_no_rate, "set/b/rate.wav", "rate.wav\""},
    {make_high_rate, "set/b/high.wav", "has 2000000000 samples a second, not 1000 to 768000"},
    {make_no_channels, "set/b/none.wav", "none.wav\""},
    {make_many_channels, "set/b/many.wav", "many.wav\""},
    {make_infinite, "set/b/infinite.wav", "has a sample that is not finite"},
    {make_nan, "set/b/nan.wav", "has a sample that is not finite"},
    {make_flac_header, "set/b/header.flac", "is cut: it announces 1500 samples, and ends after 0"},
    {make_flac_long, "set/b/long.flac", "is cut: it announces"},
    {make_flac_changed, "set/b/changed.flac", ""},
};
enum { BROKEN = sizeof broken_rows / sizeof broken_rows[0] };

static void test_what_is_said_of_broken_sounds(void)
{
    NEEDS_LIBRARY;
    make_signal(said_samples, FRAMES, 9);
    for (int i = 0; i < BROKEN; i++) {
        mw_error err = {0};
        told t = {.count = 0};
        make_folders();
        put_good("set/a/good.wav");
        put_good("set/b/good.flac");
        broken_rows[i].make(broken_rows[i].file);
        mw_sound_options options = options_of(16000, 2 * FRAMES); /* all of it is looked at */
        options.on_broken = note_broken;
        options.user = &t;
        mw_dataset *dataset = mw_dataset_open_sounds("set", &options, &err);
        const bool may_be_read = broken_rows[i].said[0] == '\0'; /* a checksum that libFLAC reports as silence */
        check_note(dataset == NULL || may_be_read, __FILE__, __LINE__, "%s was read", broken_rows[i].file);
        if (dataset == NULL) {
            CHECK_INT(t.count, 1);
            CHECK_CONTAINS(err.message, broken_rows[i].said);
            CHECK_CONTAINS(err.message, strrchr(broken_rows[i].file, '/') + 1);
            CHECK(err.status == MW_ERROR_FORMAT || err.status == MW_ERROR_FILE);
        }
        mw_dataset_destroy(dataset);
    }
}

static void test_broken_sounds_are_all_named_skipped_or_refused(void)
{
    NEEDS_LIBRARY;
    mw_error err = {0};
    told t = {.count = 0};
    make_signal(said_samples, FRAMES, 9);
    make_folders();
    put_good("set/a/good.wav");
    put_good("set/b/good.flac");
    for (int i = 0; i + 1 < BROKEN; i++)
        broken_rows[i].make(broken_rows[i].file);
    mw_sound_options options = options_of(16000, 2 * FRAMES);
    options.on_broken = note_broken;
    options.user = &t;
    CHECK(mw_dataset_open_sounds("set", &options, &err) == NULL);
    CHECK_INT(t.count, BROKEN - 1);
    CHECK_CONTAINS(err.message, "16 more of 19 are broken");
    mw_error_clear(&err);
    t = (told){.count = 0};
    options.broken = MW_BROKEN_SKIP;
    mw_dataset *dataset = mw_dataset_open_sounds("set", &options, &err);
    CHECK_OK(err);
    CHECK_INT(mw_dataset_examples(dataset), 2);
    CHECK_INT(t.count, BROKEN - 1);
    mw_dataset_destroy(dataset);
    options.broken = MW_BROKEN_LATE;
    options.on_broken = NULL;
    dataset = mw_dataset_open_sounds("set", &options, &err);
    CHECK_OK(err);
    mw_loader_options late = mw_loader_defaults(dataset, 19);
    late.shuffle = false;
    mw_loader *loader = mw_loader_create(&late, &err);
    CHECK(mw_loader_next(loader, &err) == NULL);
    CHECK_CONTAINS(err.message, "codec.wav"); /* the first by name */
    mw_loader_destroy(loader);
    mw_dataset_destroy(dataset);
}

/* Cut anywhere, or with any byte changed, a file is read or refused by its name. */
static void test_sounds_that_are_cut_or_changed_anywhere(void)
{
    NEEDS_LIBRARY;
    static const char *const names[] = {"x.wav", "x.flac"};
    char path[64];
    double samples[60];
    make_signal(samples, 60, 2);
    for (int k = 0; k < 2; k++) {
        size_t size;
        make_folders();
        put_good("set/b/good.wav");
        snprintf(path, sizeof path, "set/a/%s", names[k]);
        (k == 0 ? sound_put_wav : sound_put_flac)(path, &(sound_file){16000, 1, 16, 60, samples});
        unsigned char *whole = get_file(path, &size);
        for (size_t at = 0; at < size * 4; at++) {
            mw_error err = {0};
            const size_t place = at % size;
            const unsigned char old = whole[place];
            whole[place] = at < size ? old : (unsigned char)(at < 2 * size ? 0 : at < 3 * size ? 0xff : old + 1);
            put_bytes(path, whole, at < size ? place : size);
            whole[place] = old;
            mw_sound_options options = options_of(16000, 100);
            options.threads = 1;
            mw_dataset *dataset = mw_dataset_open_sounds("set", &options, &err);
            check_note(dataset != NULL || strstr(err.message, names[k]) != NULL, __FILE__, __LINE__, "%s at %zu: %s",
                       names[k], at, err.message);
            check_note(at >= size || k > 0 || dataset == NULL, __FILE__, __LINE__, "%s cut at %zu is read", names[k],
                       at);
            mw_dataset_destroy(dataset);
        }
        free(whole);
    }
}

static void expect_refused(const mw_sound_options *options, mw_status status, const char *part)
{
    mw_error err = {0};
    mw_dataset *dataset = mw_dataset_open_sounds("set", options, &err);
    CHECK(dataset == NULL);
    CHECK_ERROR(err, status, part);
    mw_dataset_destroy(dataset);
}

static void test_options_out_of_range_are_refused(void)
{
    make_folders();
#define REFUSED(field, value, part)                                                                                    \
    do {                                                                                                               \
        mw_sound_options o = mw_sound_defaults();                                                                      \
        o.field = value;                                                                                               \
        expect_refused(&o, MW_ERROR_ARGUMENT, part);                                                                   \
    } while (0)
    REFUSED(struct_size, 1, "mw_sound_defaults");
    REFUSED(rate, 999, "rate 999; it is 1000 to 384000");
    REFUSED(length, -1, "length -1; it is 1 to 2^26");
    REFUSED(channels, 9, "channels 9; they are 1");
    REFUSED(place, (mw_sound_place)7, "place 7");
    REFUSED(seed, 3, "seed 3; nothing is drawn");
    REFUSED(frames_max, 0, "frames_max 0");
    REFUSED(bytes_max, -1, "at most -1 bytes");
    REFUSED(threads, 65, "65 threads");
    REFUSED(broken, (mw_broken)5, "broken 5");
    REFUSED(class_count, 2, "class_names is NULL");
    REFUSED(table.name, NULL, "name and label");
    REFUSED(table.label_separator, '|', "there is none");
    const mw_sound_options options = mw_sound_defaults();
    expect_refused(&options, MW_ERROR_FILE, "set/a\" has no .wav or .flac");
    folder_empty("set");
    expect_refused(&options, MW_ERROR_FILE, "each class of sounds is one");
}

static void test_sounds_that_do_not_fit_are_refused_by_name(void)
{
    NEEDS_LIBRARY;
    static double samples[3 * FRAMES];
    make_folders();
    sound_put_wav("set/a/x.wav", &(sound_file){16000, 3, 16, FRAMES, samples});
    sound_put_wav("set/b/x.wav", &(sound_file){16000, 1, 16, FRAMES, samples});
    mw_sound_options options = options_of(16000, 100);
    options.channels = 2;
    expect_refused(&options, MW_ERROR_FORMAT, "set/a/x.wav\" has 3 channels, and 2 are kept: 1 mixes any number");
    options = options_of(16000, FRAMES);
    options.frames_max = 1000;
    expect_refused(&options, MW_ERROR_FORMAT, "takes 1500 samples a channel");
    options.length = 1000;
    mw_error err = {0};
    mw_dataset *dataset = mw_dataset_open_sounds("set", &options, &err);
    CHECK_OK(err);
    mw_dataset_destroy(dataset);
}

/* ---- tables ---- */

static void test_a_table_says_names_and_labels_of_sounds(void)
{
    NEEDS_LIBRARY;
    mw_error err = {0};
    make_signal(said_samples, FRAMES, 9);
    make_folders();
    put_good("set/1.wav");
    put_good("set/a/2.flac");
    folder_put("list.csv", "file;tags\n1.wav;dog|rain\na/2.flac;rain\n1.wav;|\n");
    mw_sound_options options = options_of(16000, 100);
    options.table = (mw_label_table){"list.csv", "file", "tags", ';', '|'};
    mw_dataset *dataset = mw_dataset_open_sounds("set", &options, &err);
    CHECK_OK(err);
    REQUIRE(dataset != NULL);
    static const float wanted[] = {1, 1, 0, 1, 0, 0};
    CHECK_INT(mw_dataset_examples(dataset), 3);
    CHECK(memcmp(mw_dataset_column_at(dataset, 1)->data, wanted, sizeof wanted) == 0);
    CHECK_STR(mw_dataset_classes(dataset, "y").names[0], "dog");
    mw_dataset_destroy(dataset);
}

/* ---- memory ---- */

static void test_sounds_are_never_all_unpacked(void)
{
    NEEDS_LIBRARY;
    enum { SOUNDS = 40, LONG = 1 << 16 };
    static double samples[LONG];
    char path[64];
    make_folders();
    for (int i = 0; i < SOUNDS; i++) {
        snprintf(path, sizeof path, "set/%c/%d.wav", i % 2 == 0 ? 'a' : 'b', i);
        sound_put_wav(path, &(sound_file){16000, 1, 16, LONG, samples});
    }
    mw_error err = {0};
    meter m = {0};
    const mw_allocator allocator = {.resize = meter_resize, .user = &m};
    mw_sound_options options = options_of(16000, 1 << 14);
    options.allocator = &allocator;
    options.threads = 1;
    options.bytes_max = 0;
    mw_dataset *dataset = mw_dataset_open_sounds("set", &options, &err);
    CHECK_OK(err);
    mw_loader *loader;
    example_at(dataset, 3, 0, &loader);
    check_note(m.most < 300000, __FILE__, __LINE__, "%zu bytes", m.most); /* one example has 65536, its source too */
    mw_loader_destroy(loader);
    mw_dataset_destroy(dataset);
}

static void test_sounds_survive_failing_allocations(void)
{
    NEEDS_LIBRARY;
    make_signal(said_samples, FRAMES, 9);
    make_folders();
    put_good("set/a/good.wav");
    put_good("set/b/good.flac");
    sound_put_wav("set/b/other.wav", &(sound_file){8000, 1, 16, FRAMES, said_samples});
    bool finished = false;
    for (long n = 0; !finished && n < 2000; n++) {
        failing_allocator failing = {.fail_at = n};
        const mw_allocator allocator = failing_allocator_of(&failing);
        mw_error err = {0};
        mw_sound_options options = options_of(16000, 500);
        options.allocator = &allocator;
        options.threads = 1;
        options.bytes_max = 3000;
        mw_dataset *dataset = mw_dataset_open_sounds("set", &options, &err);
        finished = dataset != NULL && !failing.failed;
        CHECK((dataset != NULL) == (err.status == MW_OK));
        CHECK(dataset != NULL || err.status == MW_ERROR_MEMORY);
        mw_dataset_destroy(dataset);
        CHECK_INT(failing.live, 0);
    }
    CHECK(finished);
}

/* ---- changed ---- */

enum { CHANGED = 64, CHANNELS = 2 };

static mw_dataset *make_flat(float *samples, mw_error *err)
{
    for (int i = 0; i < 3 * CHANNELS * CHANGED; i++)
        samples[i] = (float)(i % CHANGED + 1);
    const mw_column columns[] = {{.name = "x", .dtype = MW_F32, .shape = MW_SHAPE(CHANNELS, CHANGED), .data = samples}};
    return mw_dataset_create(columns, 1, 3, NULL, err);
}

/* By the numbers that the header says are drawn. */
static void test_sounds_are_moved_louder_and_noisy(void)
{
    static float samples[3 * CHANNELS * CHANGED];
    mw_error err = {0};
    mw_dataset *flat = make_flat(samples, &err);
    mw_sound_change_options change = mw_sound_change_defaults("x");
    change.gain = 6.0f;
    change.shift = 5;
    change.noise = 0.5f;
    change.seed = 99;
    mw_dataset *changed = mw_dataset_change_sounds(flat, &change, &err);
    CHECK_OK(err);
    REQUIRE(changed != NULL);
    for (int64_t e = 0; e < 3; e++) {
        mw_loader *loader;
        const float *got = example_at(changed, e, 2, &loader);
        REQUIRE(got != NULL);
        const uint64_t key = mw__data_seed(99, 0, UINT64_MAX);
        const mw_map_example own = {.seed = mw__data_seed(key, (uint64_t)e, 2)};
        const double gain = pow(10, 6 * (2 * (double)mw_map_example_uniform(&own, 0) - 1) / 20);
        const int shift = (int)floor((double)mw_map_example_uniform(&own, 1) * 11) - 5;
        const double deviation = 0.5 * (double)mw_map_example_uniform(&own, 2);
        mw__random random = {.seed = own.seed, .stream = 1};
        double worst = 0;
        for (int i = 0; i < CHANNELS * CHANGED; i++) {
            const int at = i % CHANGED - shift;
            const double value = at >= 0 && at < CHANGED ? (at + 1) * gain : 0;
            worst = fmax(worst, fabs(value + deviation * (double)mw__random_normal(&random) - (double)got[i]));
        }
        CHECK(worst < 1e-4);
        mw_loader_destroy(loader);
    }
    mw_dataset_destroy(changed);
    mw_dataset_destroy(flat);
}

static void expect_unchanged(const mw_dataset *set, mw_sound_change_options o, mw_status status, const char *part)
{
    mw_error err = {0};
    CHECK(mw_dataset_change_sounds(set, &o, &err) == NULL);
    CHECK_ERROR(err, status, part);
}

static void test_changes_out_of_range_are_refused(void)
{
    static float samples[3 * CHANNELS * CHANGED];
    static const uint8_t bytes[3] = {0};
    mw_error err = {0};
    mw_dataset *flat = make_flat(samples, &err);
    const mw_column column = {.name = "x", .dtype = MW_U8, .shape = MW_SHAPE(1), .data = bytes};
    mw_dataset *others = mw_dataset_create(&column, 1, 3, NULL, &err);
    mw_sound_change_options o = mw_sound_change_defaults("z");
    expect_unchanged(flat, o, MW_ERROR_ARGUMENT, "no column \"z\"");
    o = mw_sound_change_defaults("x");
    expect_unchanged(others, o, MW_ERROR_DTYPE, "sounds are F32");
    o.gain = 61;
    expect_unchanged(flat, o, MW_ERROR_ARGUMENT, "gain 61; it is 0 to 60");
    o.gain = 0, o.noise = NAN;
    expect_unchanged(flat, o, MW_ERROR_ARGUMENT, "noise nan");
    o.noise = 0, o.shift = CHANGED;
    expect_unchanged(flat, o, MW_ERROR_ARGUMENT, "shift 64 of sounds of 64 samples");
    o.shift = 0, o.struct_size = 0;
    expect_unchanged(flat, o, MW_ERROR_ARGUMENT, "mw_sound_change_defaults");
    mw_dataset_destroy(others);
    mw_dataset_destroy(flat);
}

/* ---- files that are named ---- */

static void test_sounds_are_served_in_the_order_of_their_paths(void)
{
    NEEDS_LIBRARY;
    static const char *const paths[] = {"named/middle/001.wav", "named/low/001.wav", "named/middle/001.wav"},
                             *const hole[] = {"named/low/001.wav", NULL};
    mw_error err = {0}, refused = {0};
    mw_sound_options options = mw_sound_defaults();
    options.length = 1000;
    sound_put_tones("named", 4, 0.01);
    mw_dataset *named = mw_dataset_open_sound_files(paths, 3, &options, &err);
    CHECK_OK(err);
    REQUIRE(named != NULL);
    CHECK(mw_dataset_examples(named) == 3 && mw_dataset_column_at(named, 1) == NULL);
    const float *x = mw_dataset_column_at(named, 0)->data;
    CHECK(memcmp(x, x + 2000, 1000 * sizeof *x) == 0 && memcmp(x, x + 1000, 1000 * sizeof *x) != 0);
    mw_dataset_destroy(named);
    CHECK(mw_dataset_open_sound_files(hole, 2, &options, &refused) == NULL);
    CHECK_CONTAINS(refused.message, "path 1 of 2 is NULL");
}

int main(void)
{
    if (!folder_enter(scratch))
        return 1;
    RUN(test_samples_are_those_that_were_written);
    RUN(test_samples_at_another_rate_are_what_scipy_makes);
    RUN(test_tones_stay_or_vanish);
    RUN(test_parts_are_those_of_the_whole);
    RUN(test_random_parts_are_others_in_each_epoch);
    RUN(test_what_is_said_of_broken_sounds);
    RUN(test_broken_sounds_are_all_named_skipped_or_refused);
    RUN(test_sounds_that_are_cut_or_changed_anywhere);
    RUN(test_options_out_of_range_are_refused);
    RUN(test_sounds_that_do_not_fit_are_refused_by_name);
    RUN(test_a_table_says_names_and_labels_of_sounds);
    RUN(test_sounds_are_never_all_unpacked);
    RUN(test_sounds_survive_failing_allocations);
    RUN(test_sounds_are_moved_louder_and_noisy);
    RUN(test_changes_out_of_range_are_refused);
    RUN(test_sounds_are_served_in_the_order_of_their_paths);
    folder_leave(scratch);
    return check_finish();
}

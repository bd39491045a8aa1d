/* Data sets of sounds: a folder for each class, or a table of names and labels. WAV and FLAC of any length and rate
 * are read, mixed to one channel, resampled, cut or filled to one length, and unpacked by threads.
 *
 *     mw_sound_options options = mw_sound_defaults();
 *     options.length = 16000;                                   // a second
 *     mw_dataset *words = mw_dataset_open_sounds("words", &options, &err);
 *     mw_tensor *x = mw_input(g, "x", MW_F32, MW_SHAPE(32, 1, 16000));
 *     mw_log_mel_options mel = mw_log_mel_defaults(16000);      // <millwright/log_mel.h>
 *     mw_tensor *h = mw_log_mel(x, &mel);                       // [32, 1, 64, 98]
 *
 * Memory: of the examples at most bytes_max bytes are kept; the others are read again whenever they are served. Each
 * thread that reads holds what one example is made of, at most 4 bytes for each of frames_max samples of each channel
 * that is kept, and 4 MiB.
 *
 * Threads: as <millwright/dataset.h>. Opening reads with threads of its own, and an allocator of the options is called
 * from them. */
#ifndef MILLWRIGHT_DATASET_SOUNDS_H
#define MILLWRIGHT_DATASET_SOUNDS_H

#include <millwright/dataset_labels.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Which part of a sound is taken where it is longer, and where it lies in silence where it is shorter. */
typedef enum mw_sound_place {
    MW_SOUND_BEGIN,  /* its begin; silence behind it (default) */
    MW_SOUND_MIDDLE, /* the part in the middle; silence on both sides */
    MW_SOUND_RANDOM  /* any, with the same probability; another one in each epoch */
} mw_sound_place;

/** How to read sounds. Fill with mw_sound_defaults. */
typedef struct mw_sound_options {
    size_t struct_size;
    int64_t rate;         /* R, samples in a second: 1000 to 384000; default 16000 */
    int64_t length;       /* T, samples of an example, 1 to 2^26; 0 (default): of the longest sound, at most 10 s */
    int channels;         /* C: 1 (default), the mean of all; 2 to 8: as they are, and one channel is copied to all */
    mw_sound_place place; /* of the T samples */
    uint64_t seed;        /* of MW_SOUND_RANDOM; 0 */
    mw_label_table table;
    mw_broken broken;
    mw_broken_function *on_broken; /* or NULL; with `user` */
    void *user;
    int threads;        /* that read when it is opened: 0 (default) = one for each processor, at most 64 */
    int64_t frames_max; /* samples of one channel that are unpacked for one example; a sound that takes more is refused.
                         * Default 2^24, at most 2^28 */
    int64_t bytes_max;  /* of all examples that are kept, 0 = none; default 2^30 */
    const char *const *class_names; /* [class_count] the classes in this order, as those of another folder; NULL: the
                                     * folders that are there */
    size_t class_count;
    const mw_allocator *allocator;
} mw_sound_options;

/** Returns the default options. */
MW_API mw_sound_options mw_sound_defaults(void);

/** Opens a folder that has a folder for each class, with WAV (.wav) and FLAC (.flac) files, or whose sounds a table
 *  lists. The columns are "x", F32 [C, T], and "y", I64, the number of the class, or F32 of several labels. Folders are
 *  sorted and files found as those of mw_dataset_open_images. Integers are read as value / 2^(bits - 1), numbers of
 *  floating point as they are. A sound of another rate r is resampled: with c = 0.95 min(1, R / r) and
 *  H = 64 / min(1, R / r) sample n is the sum over k of x[k] h(n r / R - k), where h(t) = c sinc(c t) w(t / H), and
 *  w(u) = I0(10 sqrt(1 - u^2)) / I0(10) for |u| < 1, the window of Kaiser: what lies below 0.9 of half the lower rate
 *  is changed by less than 10^-4, and what the new rate cannot hold, above half of it, is less than 10^-4 of what it
 *  was.
 *  Every sound is read once when the set is opened, as far as its example goes, and kept as far as bytes_max goes; none
 *  is kept of MW_SOUND_RANDOM.
 *  errors  those of mw_dataset_open_csv; MW_ERROR_FILE; MW_ERROR_FORMAT, naming the file, for what is no whole WAV or
 *          FLAC, has no samples, a rate that is not 1000 to 768000, other codecs than PCM, floating point, A-law,
 *          u-law and FLAC, other channels than are kept, a sample that is not finite, or takes more than frames_max;
 *          MW_ERROR_UNSUPPORTED where libsndfile was left out at build time; MW_ERROR_ARGUMENT for an option out of
 *          range, or one that has no effect beside others. A file that is gone or changed later is an error of the
 *          batch that it belongs to */
MW_API mw_dataset *mw_dataset_open_sounds(const char *folder, const mw_sound_options *options, mw_error *err);

/** Opens sounds by their paths: the column "x" alone, as mw_dataset_open_sounds has it, in the order of the paths.
 *  paths    [count], copied; each may be anywhere, and links are followed
 *  options  `table` and `class_names` are refused: there are no labels. `on_broken` is told of the path
 *  errors   those of mw_dataset_open_sounds for sounds and options; MW_ERROR_ARGUMENT for no path */
MW_API mw_dataset *mw_dataset_open_sound_files(const char *const *paths, size_t count, const mw_sound_options *options,
                                               mw_error *err);

/** How sounds are changed at random while a network learns them. Fill with mw_sound_change_defaults. */
typedef struct mw_sound_change_options {
    size_t struct_size;
    const char *column; /* F32 [C, T] or [T] */
    float gain;         /* g in decibels, 0 to 60: all samples times 10^(u / 20), u in [-g, g); 0 */
    int64_t shift;      /* s, 0 to T - 1: moved by -s to s samples, silence where there is none; 0 */
    float noise;        /* d, 0 to 1: normal noise of a deviation in [0, d) is added, the same in no two channels; 0 */
    uint64_t seed;
} mw_sound_change_options;

/** Returns the default options, which change nothing. */
MW_API mw_sound_change_options mw_sound_change_defaults(const char *column);

/** The examples of `source`, moved, then louder or softer, then with noise. Each change draws numbers of its own from
 *  the seed of the example (mw_dataset_map).
 *  errors  MW_ERROR_ARGUMENT for a number out of its range, or a column that is not there; MW_ERROR_SHAPE and
 *          MW_ERROR_DTYPE for a column that is no F32 [C, T] or [T] */
MW_API mw_dataset *mw_dataset_change_sounds(const mw_dataset *source, const mw_sound_change_options *options,
                                            mw_error *err);

#ifdef __cplusplus
}
#endif
#endif

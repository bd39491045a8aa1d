/* Data sets that are made of others: parts of one, several behind one another, examples changed on their way.
 * mw_dataset_split and mw_dataset_prefetch are in <millwright/dataset.h>.
 *
 *     mw_dataset *all = mw_dataset_open_idx("data/fashion", "train", &err), *parts[2];
 *     const int64_t counts[] = {55000, -1};                                  // the rest
 *     mw_dataset_split(all, counts, 2, 7, parts, &err);
 *     mw_augment_options options = mw_augment_defaults("x");
 *     options.shift = 2;
 *     options.flip = 0.5f;
 *     mw_dataset *training = mw_dataset_prefetch(mw_dataset_augment(parts[0], &options, &err), 2, &err);
 *
 * Each is a data set like any other and keeps what it is made of alive, so that this may be destroyed at once; nothing
 * is copied but indices. Its memory comes from where that of its (first) source does. At most 32 lie one on another.
 *
 * What an example is depends on the options, its number and the epoch alone: not on the batch size, the thread, or
 * where a run began. A run of mw_trainer_fit that goes on from a checkpoint sees the same examples as one that was
 * never stopped.
 *
 * Threads: as <millwright/dataset.h>. */
#ifndef MILLWRIGHT_DATASET_DERIVED_H
#define MILLWRIGHT_DATASET_DERIVED_H

#include <millwright/dataset.h>

#ifdef __cplusplus
extern "C" {
#endif

/** The examples of `source` with these numbers, in this order; a number may come more than once.
 *  examples  [count], copied
 *  errors    MW_ERROR_ARGUMENT for no examples, or a number that the source does not have */
MW_API mw_dataset *mw_dataset_subset(const mw_dataset *source, const int64_t *examples, int64_t count, mw_error *err);

/** The part of `source` that one of `ranks` machines trains on: examples rank, rank + ranks, .., the same number for
 *  each, so that the last ones may be left out. mw_trainer_fit and mw_trainer_evaluate of a trainer with a communicator
 *  take all batches of such a part; of any other set each rank takes every ranks-th batch, which needs no call. Where
 *  each machine has files of its own, rank 0 of 1 says that they are a part.
 *  errors  MW_ERROR_ARGUMENT for a rank that is not there, or fewer examples than ranks */
MW_API mw_dataset *mw_dataset_shard(const mw_dataset *source, int rank, int ranks, mw_error *err);

/** The examples of sources[0], then those of sources[1], and so on. All must have the same columns: names, order,
 *  dtypes, shapes, scales and offsets; classes that have names must have the same numbers.
 *  errors  MW_ERROR_ARGUMENT, MW_ERROR_SHAPE or MW_ERROR_DTYPE, naming the source and the column that differs */
MW_API mw_dataset *mw_dataset_concatenate(const mw_dataset *const *sources, size_t source_count, mw_error *err);

/** `count` examples of `source`, each drawn by the weights, again and again the same one if its weight says so, and
 *  others in each epoch: example k with probability weights[k] / (sum of all), as PyTorch's WeightedRandomSampler has
 *  it. So a class that is rare is seen as often as the others, if weights are 1 / (examples of the class).
 *  weights  [examples of the source] finite, from 0 on, not all 0; copied
 *  seed     example i of epoch e draws the high 53 bits of two words of Philox 4x32-10, as a map's example has a seed,
 *           with {maps below, 2^64 - 2} for the key
 *  errors   MW_ERROR_ARGUMENT for such weights, or no examples; MW_ERROR_MEMORY */
MW_API mw_dataset *mw_dataset_sample(const mw_dataset *source, const double *weights, int64_t count, uint64_t seed,
                                     mw_error *err);

/** How mw_dataset_divide keeps a share apart. Fill with mw_divide_defaults. */
typedef struct mw_divide_options {
    size_t struct_size;
    double share;          /* s of the examples, between 0 and 1 */
    const char *label;     /* a column with one integer an example: s of each class; NULL */
    const int64_t *groups; /* [examples] of the same group are in the same part; NULL. Not with a label */
    uint64_t seed;
} mw_divide_options;
/** Returns the options that keep a share apart at random. */
MW_API mw_divide_options mw_divide_defaults(double share);

/** Two parts of `source`, out_parts[0] without the share and out_parts[1] the share, each in the order of the source:
 *  round(s n) of n examples. With a label the rounded share is met after each class in the order of their numbers, so
 *  that of m examples of a class less than one more or fewer than s m are apart. With groups whole ones are taken in a
 *  random order until s n is reached; the last is never taken. Example or group i is ordered by the first two words of
 *  Philox 4x32-10 for counter {i, 2^64 - 2} and key `seed`.
 *  time    with a label every example is made once
 *  errors  MW_ERROR_ARGUMENT for a share that is not between 0 and 1 or leaves a part empty, a column that is not
 *          there, a label beside groups; MW_ERROR_DTYPE for a label of another type or shape; those of making an
 *          example. The parts are NULL then */
MW_API mw_status mw_dataset_divide(const mw_dataset *source, const mw_divide_options *options, mw_dataset **out_parts,
                                   mw_error *err);

/** What a set gives to those that are made of several side by side. */
typedef struct mw_zip_part {
    const mw_dataset *source;
    const char *const *columns; /* [count] of the source; NULL, with a count of 0: all of them */
    const char *const *names;   /* [count] what they are called from here on; NULL, or NULL in it: as they are */
    size_t count;
} mw_zip_part;

/** Example i of all parts side by side: the columns of part 0, then those of part 1, and so on, each example in the
 *  same epoch. For pairs, as of picture and mask: two sets in the same order, changed alike, as two mw_dataset_augment
 *  with equal options and seeds draw the same numbers. For two views of one example: one source, augmented with two
 *  seeds.
 *  errors  MW_ERROR_ARGUMENT for parts of different numbers of examples, a column that is not there, or two of one name
 */
MW_API mw_dataset *mw_dataset_zip(const mw_zip_part *parts, size_t part_count, mw_error *err);

/** One example on its way through a map. */
typedef struct mw_map_example {
    int64_t epoch;         /* of the loader, from 0; an evaluation is always in epoch 0 */
    int64_t example;       /* its number in the mapped set */
    uint64_t seed;         /* its own in this epoch; start a generator from it, or use mw_map_example_uniform */
    const void *const *in; /* [columns of the source] in their stored types, aligned to 64 bytes */
    void *const *out;      /* [columns of the mapped set] to be filled whole; not aligned beyond the element's size */
} mw_map_example;

/** Makes one example of a mapped set. Anything but MW_OK ends mw_loader_next with an error that names the example; what
 *  was put into *err is its reason. It must not keep anything between calls: their order and thread are not promised.
 */
typedef mw_status mw_map_function(void *user, const mw_map_example *example, mw_error *err);

/** The examples of `source`, each changed by a function whenever it is served.
 *  columns   of the mapped set, `data` is ignored; NULL with a count of 0: those of the source
 *  seed      with the epoch and the number of the example makes the example's seed: the first two words of
 *            Philox 4x32-10 with counter {example, epoch}, 64 bits each, low word first, and a key of 64 bits that is
 *            the first two words for counter {maps below this one, 2^64 - 1} and key `seed`: so two maps, one on the
 *            other, draw apart with equal seeds
 *  errors    those of mw_dataset_create_callback for the columns */
MW_API mw_dataset *mw_dataset_map(const mw_dataset *source, const mw_column *columns, size_t column_count,
                                  mw_map_function *function, void *user, uint64_t seed, mw_error *err);

/** Number `index` that this example draws, uniform in [0, 1) with 24 bits: word `index` of Philox 4x32-10 with the
 *  example's seed as its key. Any index at any time; the same one is the same number. */
MW_API float mw_map_example_uniform(const mw_map_example *example, uint64_t index);

/** Brightness, contrast, saturation and hue as torchvision's ColorJitter has them, in an order that is drawn. A number
 *  b of the first three draws a factor f, uniform in [max(0, 1 - b), 1 + b): brightness is f x, contrast
 *  f x + (1 - f) m with m the mean of the gray image, saturation f x + (1 - f) gray, and
 *  gray = 0.2989 red + 0.587 green + 0.114 blue; each is held in 0 to the range (255 for U8, 1 for F32). Hue moves by
 *  uniform [-hue, hue) turns. All in double, rounded once. 0 (default): unchanged. */
typedef struct mw_color_jitter {
    float brightness, contrast, saturation; /* 0 to 100 */
    float hue;                              /* 0 to 0.5 turns */
} mw_color_jitter;

/** A rectangle that is painted over, as torchvision's RandomErasing. Ten times area = H W u(scale) and
 *  ratio = exp(u(log ratio)) are drawn, u uniform, until height round(sqrt(area ratio)) and width
 *  round(sqrt(area / ratio)) are less than those of the image; then the place, uniform. If none is, nothing is
 *  erased. */
typedef struct mw_random_erase {
    float probability;             /* 0 (default) to 1 */
    float scale_least, scale_most; /* part of the area; 0.02 to 0.33 */
    float ratio_least, ratio_most; /* height by width; 0.3 to 3.3 */
    float value;                   /* in stored units; default 0 */
} mw_random_erase;

/** How mw_dataset_augment changes images. Fill with mw_augment_defaults, which changes nothing. In this order: */
typedef struct mw_augment_options {
    size_t struct_size;
    const char *column; /* U8 or F32: [H, W], [H, W, C], or [C, H, W] with channels_first */
    bool channels_first;
    int pad;                         /* pixels of `fill` on each side, before the crop; 0 to 4096 */
    int64_t crop_height, crop_width; /* a piece of this size at a random place; 0 = all there is */
    int shift;                       /* moved by up to so many pixels each way, up or down and left or right */
    float flip, flip_vertical;       /* probability of a mirrored image: left with right, top with bottom */
    float rotate;     /* d degrees: turned about the middle by an angle uniform in [-d, d), bilinear, over
                       * fill; 0 to 180 */
    float brightness; /* b: y = x + u * range, u uniform in [-b, b), range 255 for U8 and 1 for F32 */
    float contrast;   /* c: y = m + (x - m) * (1 + u), u uniform in [-c, c), m the mean of the image */
    mw_color_jitter color;
    mw_random_erase erase;
    float fill; /* where nothing was, in stored units; default 0 */
    uint64_t seed;
} mw_augment_options;
/** Returns the options that change nothing. */
MW_API mw_augment_options mw_augment_defaults(const char *column);

/** Images cropped, moved, mirrored, turned, changed in their colors and painted over at random, as a map; other
 *  columns pass unchanged. U8 is rounded to the nearest (half away from zero) and held in 0 to 255; F32 is neither. An
 *  image draws numbers 0 to 14: crop y, crop x, shift y, shift x, flip, flip_vertical, brightness, contrast, angle;
 *  color's brightness, contrast, saturation, hue, and order (floor(24 u) in the order of a dictionary); whether it is
 *  erased; and 16 + 4 k to 19 + 4 k in try k of erasing, for area, ratio, top and left. A place among n is
 *  floor(u * n).
 *  errors  MW_ERROR_ARGUMENT for a column that is not there or a number out of range, MW_ERROR_DTYPE, MW_ERROR_SHAPE
 *          if it holds no images or the crop is larger than what there is */
MW_API mw_dataset *mw_dataset_augment(const mw_dataset *source, const mw_augment_options *options, mw_error *err);

/** How mw_dataset_mix mixes pictures. Fill with mw_mix_defaults, which mixes nothing and makes numbers of labels. */
typedef struct mw_mix_options {
    size_t struct_size;
    const char *column; /* pictures, as of mw_augment_options */
    const char *label;  /* an integer of 0 to classes - 1, or F32 [classes] */
    bool channels_first;
    int64_t classes;   /* 1 to 65536 */
    float mixup;       /* alpha: l is drawn from Beta(alpha, alpha); 0.05 to 100, 0 (default) = no mixup */
    float cutmix;      /* likewise; if both are positive, each has half of the examples */
    float probability; /* of an example to be mixed; default 1 */
    uint64_t seed;
} mw_mix_options;
/** Returns the options that only make numbers of labels. */
MW_API mw_mix_options mw_mix_defaults(const char *column, const char *label, int64_t classes);

/** Pictures mixed with others of the set, as torchvision's MixUp and CutMix; labels become F32 [classes], as
 *  mw_cross_entropy takes probabilities. The other one is any of `source`, uniform, in the same epoch.
 *  mixup: x = l x + (1 - l) x_other, y = l y + (1 - l) y_other.
 *  cutmix: a rectangle of x comes from x_other; its middle is uniform among the pixels, its halves are
 *  floor(H sqrt(1 - l) / 2) and floor(W sqrt(1 - l) / 2), cut at the edges; y as above, l the part of x that is left.
 *  Other columns pass. U8 is rounded to the nearest. Seeds are made as those of a map; numbers 0 to 3 say whether an
 *  example is mixed, whether by mixup (u < 1/2) where both are wanted, row and column of the middle. The other one is
 *  a rejected draw of stream 1 of the example's seed, l = a / (a + b) of stream 2, a and b from Gamma(alpha) by
 *  Marsaglia and Tsang (2000).
 *  errors  MW_ERROR_ARGUMENT for a column that is not there or a number out of range; MW_ERROR_DTYPE, MW_ERROR_SHAPE
 *          for other columns than these; serving a label that is not below classes is an error of its batch */
MW_API mw_dataset *mw_dataset_mix(const mw_dataset *source, const mw_mix_options *options, mw_error *err);

/** How mw_dataset_normalize changes pictures. Fill with mw_normalize_defaults. */
typedef struct mw_normalize_options {
    size_t struct_size;
    const char *column; /* pictures, as of mw_augment_options */
    bool channels_first;
    const float *mean, *deviation; /* [channels] of what the port would receive (value * scale + offset): of pictures
                                    * of files 0 to 1. Deviations are positive */
    size_t channels;               /* 1 to 64 */
} mw_normalize_options;
/** Returns options for a column. */
MW_API mw_normalize_options mw_normalize_defaults(const char *column, const float *mean, const float *deviation,
                                                  size_t channels);

/** y = (x * scale + offset - mean[c]) / deviation[c] of channel c, as F32, in double and rounded once: pictures as a
 *  model has learned them. Put it outside of mw_dataset_augment. Other columns pass.
 *  errors  MW_ERROR_ARGUMENT for a column that is not there, or numbers that are not finite; MW_ERROR_DTYPE;
 *          MW_ERROR_SHAPE if it holds no images of as many channels */
MW_API mw_dataset *mw_dataset_normalize(const mw_dataset *source, const mw_normalize_options *options, mw_error *err);

/** Which rows make a window. Fill with mw_window_defaults. */
typedef struct mw_window_options {
    size_t struct_size;
    int64_t length;            /* rows of a window, from 1 */
    int64_t stride;            /* rows from the begin of a window to that of the next, from 1; default 1 */
    int64_t horizon;           /* rows that are to be predicted; default 1, 0 = none */
    int64_t gap;               /* rows between the window and those, from 0; default 0 */
    const char *const *inputs; /* [input_count] columns of the window; NULL: all, but `series` */
    size_t input_count;
    const char *const *targets; /* [target_count] columns of the rows that are predicted; NULL: those of the window */
    size_t target_count;
    const char *series; /* a window does not go beyond rows in which this column has one value; NULL: all are one */
} mw_window_options;
/** Returns the default options for windows of so many rows. */
MW_API mw_window_options mw_window_defaults(int64_t length);

/** Windows of a series in time: the examples of `source` are its rows, in order. Example i has, of each input column,
 *  rows b to b + length - 1 as [length, ..] under the column's name, and of each target column rows
 *  b + length + gap to b + length + gap + horizon - 1 as [horizon, ..] under its name with ".next" behind it; b is
 *  i stride where there is one series. A part of the source by time (mw_dataset_subset) has windows of its own, so
 *  that training and validation share no row.
 *  time    an example makes length + gap + horizon examples of the source
 *  errors  MW_ERROR_ARGUMENT for a column that is not there or a number out of range, and if no window fits into a
 *          series; MW_ERROR_SHAPE for columns of MW_RANK_MAX axes, or windows larger than memory */
MW_API mw_dataset *mw_dataset_window(const mw_dataset *source, const mw_window_options *options, mw_error *err);

#ifdef __cplusplus
}
#endif
#endif

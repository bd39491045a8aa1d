/* Data sets of pictures of any size: a folder for each class, or a table of names and labels. PNG, JPEG and WebP are
 * read, turned as Exif says, brought to one size, and unpacked by threads.
 *
 *     mw_image_options options = mw_image_defaults();
 *     options.height = options.width = 224;
 *     options.fit = MW_IMAGE_FIT_CROP;
 *     mw_dataset *flowers = mw_dataset_open_images("flowers", &options, &err);
 *
 * Memory: of the pictures that were brought to their size at most bytes_max bytes are kept; the others are read again
 * whenever they are served. Each thread that unpacks holds one file, its pixels twice, and what resizing needs: 8
 * bytes for each row and column of the picture, and at most 4 times the result.
 *
 * Threads: as <millwright/dataset.h>. Opening unpacks with threads of its own, and an allocator of the options is
 * called from them. */
#ifndef MILLWRIGHT_DATASET_IMAGES_H
#define MILLWRIGHT_DATASET_IMAGES_H

#include <millwright/dataset_labels.h>

#ifdef __cplusplus
extern "C" {
#endif

/** How a picture of h x w pixels becomes one of H x W. Resizing is bilinear and antialiased: what comes out is within 1
 *  of what Pillow's resize(BILINEAR) makes. */
typedef enum mw_image_fit {
    MW_IMAGE_FIT_NONE,       /* not at all: another size is broken (default) */
    MW_IMAGE_FIT_STRETCH,    /* resized, each axis for itself */
    MW_IMAGE_FIT_CROP,       /* the largest part of shape H : W in the middle, times `crop`, resized */
    MW_IMAGE_FIT_PAD,        /* resized as a whole, in the middle of `background` */
    MW_IMAGE_FIT_RANDOM_CROP /* a part of random size, shape and place, resized; another one in each epoch */
} mw_image_fit;

/** What MW_IMAGE_FIT_RANDOM_CROP cuts out, with the names and defaults of torchvision's RandomResizedCrop. Ten times
 *  area = h w u(scale) and ratio = exp(u(log ratio)) are drawn, u uniform, until width round(sqrt(area ratio)) and
 *  height round(sqrt(area / ratio)) fit; then the place, uniform. If none fits it is the largest part in the middle
 *  whose ratio is allowed. Example i of epoch e draws from a seed that is made as that of a map (mw_dataset_map),
 *  with the key of counter {2^64 - 1, 2^64 - 1}: try k has numbers 4 k to 4 k + 3, for area, ratio, top and left. */
typedef struct mw_image_random_crop {
    float scale_least, scale_most; /* part of the area: 0.08 to 1 */
    float ratio_least, ratio_most; /* width by height: 3 / 4 to 4 / 3 */
    uint64_t seed;
} mw_image_random_crop;

/** How to read pictures. Fill with mw_image_defaults. */
typedef struct mw_image_options {
    size_t struct_size;
    int channels;          /* 3 (default): red, green, blue; 1: gray, 0.299 red + 0.587 green + 0.114 blue */
    bool channels_first;   /* [3, H, W] instead of [H, W, 3]; gray is [H, W] */
    int64_t height, width; /* H and W, 1 to 16384; 0 and 0 (default): those of the first picture, without a fit */
    mw_image_fit fit;
    float crop;                  /* of MW_IMAGE_FIT_CROP: more than 0, at most 1 (default); 0.875 is a resize to 256
                                  * and a crop to 224 */
    mw_image_random_crop random; /* of MW_IMAGE_FIT_RANDOM_CROP */
    bool reduce;                 /* with a fit: a JPEG is unpacked at 1/2, 1/4 or 1/8 of its size, as far as it stays
                                  * twice as large as what comes out (random crops: as the smallest). Less than half
                                  * the time for photographs, and not the same bytes. Default: whole */
    bool blend;                  /* transparent pictures lie over `background`: c a + background (1 - a), rounded;
                                  * default: transparency is dropped */
    uint8_t background[3];       /* red, green, blue of MW_IMAGE_FIT_PAD and of `blend`; default 0, black */
    mw_label_table table;
    mw_broken broken;
    mw_broken_function *on_broken; /* or NULL; with `user` */
    void *user;
    int threads;        /* that unpack when it is opened: 0 (default) = one for each processor, at most 64 */
    int64_t pixels_max; /* of one picture; a larger one is refused before it is unpacked. Default 2^24, at most 2^28 */
    int64_t bytes_max;  /* of all pictures that are kept unpacked, 0 = none; default 2^30 */
    const char *const *class_names; /* [class_count] the classes in this order, as those of another folder; NULL: the
                                     * folders that are there */
    size_t class_count;
    const mw_allocator *allocator;
} mw_image_options;

/** Returns the default options. */
MW_API mw_image_options mw_image_defaults(void);

/** Opens a folder that has a folder for each class, with PNG (.png), JPEG (.jpg, .jpeg) and WebP (.webp) files, or
 *  whose pictures a table lists. The columns are "x" (U8, scale 1/255) and "y" (I64), the number of the class. Folders
 *  whose names are integers are sorted by value, others by their bytes. Other files, hidden ones and links to folders
 *  are left out; a link to a file is followed if it stays in the folder. Pictures are turned upright as Exif says,
 *  16 bits become 8. Warnings of the libraries are not shown. Every picture is unpacked once when the set is opened, to
 *  see whether it can be read, and kept as far as bytes_max goes; if all are kept the files are not needed any more. No
 *  picture of MW_IMAGE_FIT_RANDOM_CROP is kept.
 *  errors  those of mw_dataset_open_csv; MW_ERROR_FILE; MW_ERROR_FORMAT, naming the file, for what is no whole PNG,
 *          JPEG or WebP, of another size than the first where there is no fit, or larger than pixels_max;
 *          MW_ERROR_UNSUPPORTED where a library was left out at build time; MW_ERROR_ARGUMENT for an option out of
 *          range, or one that has no effect beside others. A file that is gone or changed later is an error of the
 *          batch that it belongs to */
MW_API mw_dataset *mw_dataset_open_images(const char *folder, const mw_image_options *options, mw_error *err);

/** Opens pictures by their paths: the column "x" alone, as mw_dataset_open_images has it, in the order of the paths.
 *  paths    [count], copied; each may be anywhere, and links are followed
 *  options  `table` and `class_names` are refused: there are no labels. `on_broken` is told of the path
 *  errors   those of mw_dataset_open_images for pictures and options; MW_ERROR_ARGUMENT for no path */
MW_API mw_dataset *mw_dataset_open_image_files(const char *const *paths, size_t count, const mw_image_options *options,
                                               mw_error *err);

#ifdef __cplusplus
}
#endif
#endif

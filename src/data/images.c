/* Data sets of folders of pictures (format/image): all are decoded when the folder is opened. */
#include "base/file/file.h"
#include "base/memory/checked.h"
#include "base/number/float_mode.h"
#include "data/image/folder.h"
#include "data/image/image.h"
#include "runtime/data/classes.h"

#include <millwright/dataset_files.h>

#include <millwright/dataset_files.h>
#include <stdio.h>
#include <string.h>

typedef struct images {
    const mw_allocator *allocator;
    const char *folder;
    mw_image_options options;
    mw__image_folder list;
    int64_t height, width;
    size_t bytes;    /* of one */
    uint8_t *pixels; /* [files, height, width, channels], or [files, channels, height, width] */
    int64_t *labels; /* [files] */
} images;

mw_image_options mw_image_defaults(void)
{
    return (mw_image_options){.struct_size = sizeof(mw_image_options),
                              .channels = 3,
                              .pixels_max = (int64_t)1 << 24,
                              .bytes_max = (int64_t)1 << 32};
}

static mw_status check_options(const char *folder, const mw_image_options *options, mw_error *err)
{
    if (folder == NULL || options == NULL || options->struct_size != sizeof *options)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_dataset_open_images: %s",
                        folder == NULL ? "no folder" : "options must come from mw_image_defaults");
    if (options->channels != 1 && options->channels != 3)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_dataset_open_images: %d channels, not 1 or 3", options->channels);
    if (options->pixels_max < 1 || options->pixels_max > (int64_t)1 << 28 || options->bytes_max < 1)
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "mw_dataset_open_images: at most %lld pixels and %lld bytes; the one "
                        "is 1 to 2^28, the other positive",
                        (long long)options->pixels_max, (long long)options->bytes_max);
    if (options->class_count > 0 && options->class_names == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_dataset_open_images: class_names is NULL, class_count %zu",
                        options->class_count);
    return MW_OK;
}

/* ---- pictures ---- */

/* The first says how large all are. */
static mw_status begin_pixels(images *set, const mw__image *image, mw_error *err)
{
    size_t all;
    set->height = image->height;
    set->width = image->width;
    set->bytes = (size_t)(image->height * image->width) * (size_t)set->options.channels;
    if (!mw__mul_size(set->bytes, set->list.file_count, &all) || all > (uint64_t)set->options.bytes_max)
        return mw__fail(err, MW_ERROR_UNSUPPORTED,
                        "\"%.300s\": %zu pictures of %zu bytes are more than bytes_max, "
                        "%lld bytes",
                        set->folder, set->list.file_count, set->bytes, (long long)set->options.bytes_max);
    set->pixels = mw__alloc(set->allocator, all, 1, err);
    set->labels = mw__alloc(set->allocator, set->list.file_count, sizeof *set->labels, err);
    return set->pixels != NULL && set->labels != NULL ? MW_OK : MW_ERROR_MEMORY;
}

static void store_image(const images *set, const mw__image *image, uint8_t *out)
{
    const size_t count = (size_t)(set->height * set->width);
    if (set->options.channels == 1)
        mw__image_to_gray(image, out);
    else if (!set->options.channels_first)
        memcpy(out, image->pixels, set->bytes);
    for (size_t i = 0; set->options.channels == 3 && set->options.channels_first && i < count; i++)
        for (size_t c = 0; c < 3; c++)
            out[c * count + i] = image->pixels[3 * i + c];
}

static mw_status take_image(images *set, size_t index, const mw__image *image, const char *path, mw_error *err)
{
    if (index == 0)
        MW_TRY(begin_pixels(set, image, err));
    if (image->height != set->height || image->width != set->width)
        return mw__fail(err, MW_ERROR_FORMAT, "\"%.300s\" is %lld x %lld pixels; the first, \"%.100s\", is %lld x %lld",
                        path, (long long)image->height, (long long)image->width, set->list.files[0].name,
                        (long long)set->height, (long long)set->width);
    store_image(set, image, set->pixels + index * set->bytes);
    set->labels[index] = (int64_t)set->list.files[index].label;
    return MW_OK;
}

static mw_status read_file(images *set, size_t index, mw_error *err)
{
    const char *name = set->list.files[index].name;
    char path[512], *data;
    mw__file file;
    mw__image image;
    snprintf(path, sizeof path, "%s/%s", set->folder, name);
    MW_TRY(mw__file_open_below(&file, set->folder, name, err));
    mw_status status = mw__file_read_open(set->allocator, &file, path, MW__IMAGE_FILE_MAX, &data, err);
    const size_t size = (size_t)file.size;
    mw__file_close(&file);
    if (status != MW_OK)
        return status;
    status = mw__image_read(set->allocator, data, size, path, set->options.pixels_max, &image, err);
    mw__free(set->allocator, data);
    if (status == MW_OK)
        status = take_image(set, index, &image, path, err);
    mw__free(set->allocator, image.pixels);
    return status;
}

/* ---- classes ---- */

/* The classes that are there get the numbers that they have in the list that was given. */
static mw_status take_class_names(images *set, mw_error *err)
{
    mw__image_folder *list = &set->list;
    const mw_image_options *o = &set->options;
    size_t *numbers = mw__arena_alloc(&list->arena, list->class_count, sizeof *numbers, err); /* [class_count] */
    if (numbers == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < list->class_count; i++) {
        numbers[i] = 0;
        while (numbers[i] < o->class_count && strcmp(o->class_names[numbers[i]], list->classes[i]) != 0)
            numbers[i]++;
        if (numbers[i] == o->class_count)
            return mw__fail(err, MW_ERROR_FORMAT,
                            "\"%.300s/%.100s\" is a class that is none of the %zu class_names; the first is \"%.100s\"",
                            set->folder, list->classes[i], o->class_count, o->class_names[0]);
    }
    for (size_t i = 0; i < list->file_count; i++)
        list->files[i].label = numbers[list->files[i].label];
    return MW_OK;
}

/* ---- the set ---- */

static mw_dataset *make_dataset(images *set, mw_error *err)
{
    const mw_shape gray = MW_SHAPE(set->height, set->width), last = MW_SHAPE(set->height, set->width, 3),
                   first = MW_SHAPE(3, set->height, set->width);
    const mw_column columns[] = {{.name = "x",
                                  .dtype = MW_U8,
                                  .shape = set->options.channels == 1    ? gray
                                           : set->options.channels_first ? first
                                                                         : last,
                                  .scale = 1.0f / 255.0f,
                                  .data = set->pixels},
                                 {.name = "y", .dtype = MW_I64, .data = set->labels}};
    mw_dataset *dataset =
        mw__dataset_from_memory(set->allocator, columns, 2, (int64_t)set->list.file_count, false, err);
    if (dataset == NULL)
        return NULL;
    dataset->owned[0] = set->pixels;
    dataset->owned[1] = set->labels;
    set->pixels = NULL;
    set->labels = NULL;
    const bool given = set->options.class_count > 0;
    const mw__class_list lists[2] = {{0},
                                     {given ? set->options.class_names : set->list.classes,
                                      given ? set->options.class_count : set->list.class_count}};
    if (mw__dataset_keep_classes(dataset, lists, err) != MW_OK) {
        mw_dataset_destroy(dataset);
        return NULL;
    }
    return dataset;
}

static mw_dataset *open_images(images *set, mw_error *err)
{
    if (mw__image_folder_list(&set->list, set->allocator, set->folder, err) != MW_OK)
        return NULL;
    if (set->options.class_count > 0 && take_class_names(set, err) != MW_OK)
        return NULL;
    for (size_t i = 0; i < set->list.file_count; i++)
        if (read_file(set, i, err) != MW_OK)
            return NULL;
    return make_dataset(set, err);
}

mw_dataset *mw_dataset_open_images(const char *folder, const mw_image_options *options, mw_error *err)
{
    MW__FLOAT_SCOPE;
    if (mw__skips(err) || check_options(folder, options, err) != MW_OK)
        return NULL;
    images set = {.allocator = mw__allocator_or_default(options->allocator), .folder = folder, .options = *options};
    mw_dataset *dataset = open_images(&set, err);
    mw__image_folder_deinit(&set.list);
    mw__free(set.allocator, set.pixels);
    mw__free(set.allocator, set.labels);
    return dataset;
}

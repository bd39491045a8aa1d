/* Data sets of folders of pictures: all are unpacked once when the folder is opened, and the first of them are kept, as
 * far as bytes_max goes. The others are read again whenever they are served. */
#include "base/memory/checked.h"
#include "base/number/float_mode.h"
#include "base/thread/share.h"
#include "data/data.h"
#include "data/image/folder.h"
#include "data/image/load.h"
#include "runtime/data/classes.h"

#include <math.h>
#include <string.h>

enum { EXTENT_MAX = 16384 };

/* A set that is being opened. */
typedef struct images {
    const mw_allocator *allocator;
    const char *folder;
    mw_image_options options; /* with the size of the pictures */
    mw__image_folder list;
    size_t bytes;        /* of one */
    size_t kept;         /* the first so many stay unpacked */
    uint8_t *pixels;     /* [kept, bytes] */
    int64_t *labels;     /* [files] */
    mw_status *statuses; /* [files] of unpacking them */
} images;

/* The state of a set of which pictures are read again, in one block with its strings. */
typedef struct stored {
    mw_image_options options;
    uint64_t key; /* of the seeds of the examples */
    size_t kept;
    const char *folder;
    const char *names[]; /* [files] below the folder */
} stored;

/* ---- options ---- */

mw_image_options mw_image_defaults(void)
{
    return (mw_image_options){.struct_size = sizeof(mw_image_options),
                              .channels = 3,
                              .crop = 1.0f,
                              .random = {0.08f, 1.0f, 3.0f / 4.0f, 4.0f / 3.0f, 0},
                              .pixels_max = (int64_t)1 << 24,
                              .bytes_max = (int64_t)1 << 30};
}

static mw_status refuse_option(mw_error *err, const char *why)
{
    return mw__fail(err, MW_ERROR_ARGUMENT, "mw_dataset_open_images: %s", why);
}

static bool is_extent(int64_t extent) { return extent >= 1 && extent <= EXTENT_MAX; }

static mw_status check_size(const mw_image_options *o, mw_error *err)
{
    if ((o->height != 0 || o->width != 0) && (!is_extent(o->height) || !is_extent(o->width)))
        return mw__fail(
            err, MW_ERROR_ARGUMENT,
            "mw_dataset_open_images: %lld x %lld pixels; each is 1 to %d, or both are 0, as the first picture",
            (long long)o->height, (long long)o->width, EXTENT_MAX);
    if (o->fit > MW_IMAGE_FIT_RANDOM_CROP)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_dataset_open_images: fit %d is none of mw_image_fit", (int)o->fit);
    if (o->fit != MW_IMAGE_FIT_NONE && o->height == 0)
        return refuse_option(err, "a fit wants the height and width that pictures are brought to");
    return MW_OK;
}

/* A number of one fit is refused beside another. */
static mw_status check_parts(const mw_image_options *o, mw_error *err)
{
    const mw_image_random_crop *r = &o->random, usual = mw_image_defaults().random;
    if (!(o->crop > 0.0f && o->crop <= 1.0f) || (o->crop != 1.0f && o->fit != MW_IMAGE_FIT_CROP))
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "mw_dataset_open_images: crop %g; it is more than 0 and at most 1, and of MW_IMAGE_FIT_CROP",
                        (double)o->crop);
    if (!(r->scale_least > 0.0f && r->scale_least <= r->scale_most && r->scale_most <= 1.0f))
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "mw_dataset_open_images: scale %g to %g of random crops; it lies in 0 to 1, without 0",
                        (double)r->scale_least, (double)r->scale_most);
    if (!(r->ratio_least >= 0.01f && r->ratio_least <= r->ratio_most && r->ratio_most <= 100.0f))
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "mw_dataset_open_images: ratio %g to %g of random crops; it lies in 0.01 to 100",
                        (double)r->ratio_least, (double)r->ratio_most);
    const bool is_usual = r->scale_least == usual.scale_least && r->scale_most == usual.scale_most &&
                          r->ratio_least == usual.ratio_least && r->ratio_most == usual.ratio_most && r->seed == 0;
    if (o->fit != MW_IMAGE_FIT_RANDOM_CROP && !is_usual)
        return refuse_option(err, "random crops have numbers, and the fit is not MW_IMAGE_FIT_RANDOM_CROP");
    return MW_OK;
}

static mw_status check_bounds(const mw_image_options *o, mw_error *err)
{
    if (o->pixels_max < 1 || o->pixels_max > (int64_t)1 << 28 || o->bytes_max < 0)
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "mw_dataset_open_images: at most %lld pixels and %lld bytes; the one is 1 to 2^28, the other "
                        "not negative",
                        (long long)o->pixels_max, (long long)o->bytes_max);
    if (o->threads < 0 || o->threads > 64)
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "mw_dataset_open_images: %d threads, not 0 to 64 (0 = one for each processor)", o->threads);
    return MW_OK;
}

static mw_status check_options(const char *folder, const mw_image_options *o, mw_error *err)
{
    if (folder == NULL || o == NULL || o->struct_size != sizeof *o)
        return refuse_option(err, folder == NULL ? "no folder" : "options must come from mw_image_defaults");
    if (o->channels != 1 && o->channels != 3)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_dataset_open_images: %d channels, not 1 or 3", o->channels);
    if (o->class_count > 0 && o->class_names == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_dataset_open_images: class_names is NULL, class_count %zu",
                        o->class_count);
    MW_TRY(check_size(o, err));
    MW_TRY(check_parts(o, err));
    return check_bounds(o, err);
}

/* ---- unpacking ---- */

/* The first picture says how large all are. */
static mw_status find_size(images *set, mw_error *err)
{
    mw_image_options *o = &set->options;
    mw__image first;
    if (o->height == 0) {
        MW_TRY(mw__image_open(o, set->folder, set->list.files[0].name, &first, err));
        mw__free(set->allocator, first.pixels);
        o->height = first.height;
        o->width = first.width;
    }
    set->bytes = mw__image_bytes(o);
    return MW_OK;
}

/* A random part is another one in each epoch. */
static size_t count_kept(const images *set)
{
    const size_t room = (size_t)set->options.bytes_max / set->bytes, files = set->list.file_count;
    if (set->options.fit == MW_IMAGE_FIT_RANDOM_CROP)
        return 0;
    return room < files ? room : files;
}

/* To where it stays, or to see whether it can be. */
static mw_status unpack(const images *set, size_t index, mw_error *err)
{
    const char *name = set->list.files[index].name;
    if (index < set->kept)
        return mw__image_load(&set->options, set->folder, name, 0, set->pixels + index * set->bytes, err);
    uint8_t *passing = mw__alloc(set->allocator, set->bytes, 1, err);
    if (passing == NULL)
        return MW_ERROR_MEMORY;
    const mw_status status = mw__image_load(&set->options, set->folder, name, 0, passing, err);
    mw__free(set->allocator, passing);
    return status;
}

static void unpack_part(void *user, size_t part)
{
    const images *set = user;
    set->statuses[part] = unpack(set, part, NULL);
}

static mw_status unpack_all(images *set, mw_error *err)
{
    const size_t files = set->list.file_count;
    set->kept = count_kept(set);
    set->pixels = mw__alloc(set->allocator, set->kept, set->bytes, err);
    set->labels = mw__alloc(set->allocator, files, sizeof *set->labels, err);
    set->statuses = mw__alloc(set->allocator, files, sizeof *set->statuses, err);
    if (set->pixels == NULL || set->labels == NULL || set->statuses == NULL)
        return MW_ERROR_MEMORY;
    mw__share(set->options.threads, files, unpack_part, set);
    for (size_t i = 0; i < files; i++) {
        set->labels[i] = (int64_t)set->list.files[i].label;
        if (set->statuses[i] != MW_OK)
            MW_TRY(unpack(set, i, err)); /* again, to hear why */
    }
    return MW_OK;
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

/* ---- serving ---- */

static mw_status make_picture(const mw_dataset *dataset, mw__example_place at, void *const *out, char *scratch,
                              mw_error *err)
{
    const stored *s = dataset->state;
    const size_t bytes = dataset->example_bytes[0], index = (size_t)at.example;
    (void)scratch;
    memcpy(out[1], (const int64_t *)dataset->owned[1] + index, sizeof(int64_t));
    if (index < s->kept) {
        memcpy(out[0], (const uint8_t *)dataset->owned[0] + index * bytes, bytes);
        return MW_OK;
    }
    const uint64_t seed = mw__data_seed(s->key, (uint64_t)at.example, (uint64_t)at.epoch);
    return mw__image_load(&s->options, s->folder, s->names[index], seed, out[0], err);
}

static char *put_string(char **at, const char *text)
{
    const size_t size = strlen(text) + 1;
    char *copy = memcpy(*at, text, size);
    *at += size;
    return copy;
}

static stored *store_names(const images *set, mw_error *err)
{
    const size_t files = set->list.file_count, fixed = sizeof(stored) + files * sizeof(char *);
    size_t size = fixed + strlen(set->folder) + 1;
    for (size_t i = 0; i < files; i++)
        size += strlen(set->list.files[i].name) + 1;
    stored *s = mw__alloc(set->allocator, size, 1, err);
    if (s == NULL)
        return NULL;
    char *at = (char *)s + fixed;
    s->options = set->options;
    s->options.class_names = NULL; /* the caller's */
    s->key = mw__data_seed(set->options.random.seed, UINT64_MAX, UINT64_MAX);
    s->kept = set->kept;
    s->folder = put_string(&at, set->folder);
    for (size_t i = 0; i < files; i++)
        s->names[i] = put_string(&at, set->list.files[i].name);
    return s;
}

/* ---- the set ---- */

static mw_status keep_classes(const images *set, mw_dataset *dataset, mw_error *err)
{
    const bool given = set->options.class_count > 0;
    const mw__class_list lists[2] = {{0},
                                     {given ? set->options.class_names : set->list.classes,
                                      given ? set->options.class_count : set->list.class_count}};
    return mw__dataset_keep_classes(dataset, lists, err);
}

/* The set has the memory of what is kept, and makes the rest. */
static mw_status fill_dataset(images *set, mw_dataset *dataset, mw_error *err)
{
    dataset->owned[0] = set->pixels;
    dataset->owned[1] = set->labels;
    set->pixels = NULL;
    set->labels = NULL;
    if (set->kept == set->list.file_count) {
        for (size_t i = 0; i < 2; i++)
            dataset->columns[i].data = dataset->owned[i];
    } else {
        dataset->state = store_names(set, err);
        dataset->make = make_picture;
        if (dataset->state == NULL)
            return MW_ERROR_MEMORY;
    }
    return keep_classes(set, dataset, err);
}

static mw_dataset *make_dataset(images *set, mw_error *err)
{
    const mw_image_options *o = &set->options;
    const mw_shape gray = MW_SHAPE(o->height, o->width), last = MW_SHAPE(o->height, o->width, 3),
                   first = MW_SHAPE(3, o->height, o->width);
    const mw_column columns[] = {{.name = "x",
                                  .dtype = MW_U8,
                                  .shape = o->channels == 1    ? gray
                                           : o->channels_first ? first
                                                               : last,
                                  .scale = 1.0f / 255.0f},
                                 {.name = "y", .dtype = MW_I64}};
    mw_dataset *dataset = mw__dataset_create(set->allocator, columns, 2, (int64_t)set->list.file_count, err);
    if (dataset != NULL && fill_dataset(set, dataset, err) != MW_OK) {
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
    if (find_size(set, err) != MW_OK || unpack_all(set, err) != MW_OK)
        return NULL;
    return make_dataset(set, err);
}

mw_dataset *mw_dataset_open_images(const char *folder, const mw_image_options *options, mw_error *err)
{
    MW__FLOAT_SCOPE;
    if (mw__skips(err) || check_options(folder, options, err) != MW_OK)
        return NULL;
    images set = {.allocator = mw__allocator_or_default(options->allocator), .folder = folder, .options = *options};
    set.options.allocator = set.allocator;
    mw_dataset *dataset = open_images(&set, err);
    mw__image_folder_deinit(&set.list);
    mw__free(set.allocator, set.pixels);
    mw__free(set.allocator, set.labels);
    mw__free(set.allocator, set.statuses);
    return dataset;
}

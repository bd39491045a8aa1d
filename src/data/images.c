/* Data sets of pictures: all are unpacked once when the set is opened, and the first of them are kept, as far as
 * bytes_max goes. The others are read again whenever they are served. */
#include "base/memory/checked.h"
#include "base/number/float_mode.h"
#include "base/thread/share.h"
#include "data/data.h"
#include "data/image/folder.h"
#include "data/image/load.h"
#include "runtime/data/classes.h"

#include <string.h>

/* A set that is being opened. */
typedef struct images {
    const mw_allocator *allocator;
    const char *folder;
    mw_image_options options; /* with the size of the pictures */
    mw__image_folder list;
    size_t bytes;        /* of one */
    size_t kept;         /* the first so many stay unpacked */
    uint8_t *pixels;     /* [kept, bytes] */
    int64_t *labels;     /* [files]; of several labels list.targets */
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

/* ---- unpacking ---- */

/* A picture, but not what it is read with or by. */
static bool is_broken(mw_status status) { return status == MW_ERROR_FORMAT || status == MW_ERROR_FILE; }

/* The first picture says how large all are; the first that can be read, if others are left out. */
static mw_status find_size(images *set, mw_error *err)
{
    mw_image_options *o = &set->options;
    for (size_t i = 0; o->height == 0 && i < set->list.file_count; i++) {
        mw_error why = {0};
        mw__image first;
        const mw_status status = mw__image_open(o, set->folder, set->list.files[i].name, &first, &why);
        if (status == MW_OK) {
            mw__free(set->allocator, first.pixels);
            o->height = first.height;
            o->width = first.width;
        } else if (o->broken != MW_IMAGE_BROKEN_SKIP || !is_broken(status))
            return mw__fail(err, status, "%s", why.message);
    }
    if (o->height == 0) /* none can be read, of which unpacking tells */
        o->height = o->width = 1;
    set->bytes = mw__image_bytes(o);
    return MW_OK;
}

/* A random part is another one in each epoch. */
static size_t count_kept(const images *set)
{
    const size_t room = (size_t)set->options.bytes_max / set->bytes, files = set->list.file_count;
    if (set->options.fit == MW_IMAGE_FIT_RANDOM_CROP || set->options.broken == MW_IMAGE_BROKEN_LATE)
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

static mw_status allocate_set(images *set, mw_error *err)
{
    const size_t files = set->list.file_count;
    set->kept = count_kept(set);
    set->pixels = mw__alloc(set->allocator, set->kept, set->bytes, err);
    set->labels = mw__alloc(set->allocator, files, sizeof *set->labels, err);
    set->statuses = mw__alloc(set->allocator, files, sizeof *set->statuses, err);
    return set->pixels != NULL && set->labels != NULL && set->statuses != NULL ? MW_OK : MW_ERROR_MEMORY;
}

static void tell_broken(const images *set, size_t index, const mw_error *why)
{
    const mw_image_options *o = &set->options;
    if (o->on_broken == NULL)
        return;
    const mw__callback outer = mw__callback_begin("function that is told of broken pictures", MW__LENT_NEVER);
    o->on_broken(o->user, set->list.files[index].name, why->message);
    mw__callback_end(outer);
}

/* Tells of all that are broken; the first is the error of a set that refuses them. */
static mw_status judge(images *set, size_t *out_broken, mw_error *err)
{
    mw_error first = {0};
    *out_broken = 0;
    for (size_t i = 0; i < set->list.file_count; i++) {
        mw_error why = {0};
        if (set->statuses[i] == MW_OK)
            continue;
        set->statuses[i] = unpack(set, i, &why); /* again, to hear why */
        if (set->statuses[i] == MW_OK)
            continue;
        if (!is_broken(set->statuses[i]))
            return mw__fail(err, why.status, "%s", why.message);
        tell_broken(set, i, &why);
        if ((*out_broken)++ == 0)
            first = why;
    }
    if (*out_broken == 0 || set->options.broken == MW_IMAGE_BROKEN_SKIP)
        return MW_OK;
    if (*out_broken == 1)
        return mw__fail(err, first.status, "%s", first.message);
    return mw__fail(err, first.status, "%.400s; %zu more of %zu are broken", first.message, *out_broken - 1,
                    set->list.file_count);
}

/* What follows a broken picture takes its place. */
static mw_status leave_out(images *set, mw_error *err)
{
    mw__image_folder *list = &set->list;
    const size_t labels = list->class_count;
    size_t good = 0, kept = 0;
    for (size_t i = 0; i < list->file_count; i++) {
        if (set->statuses[i] != MW_OK)
            continue;
        list->files[good] = list->files[i];
        if (list->targets != NULL)
            memmove(list->targets + good * labels, list->targets + i * labels, labels * sizeof *list->targets);
        if (i < set->kept)
            memmove(set->pixels + kept++ * set->bytes, set->pixels + i * set->bytes, set->bytes);
        good++;
    }
    set->kept = kept;
    if (good == 0)
        return mw__fail(err, MW_ERROR_FORMAT, "\"%.300s\": none of its %zu pictures can be read", set->folder,
                        list->file_count);
    list->file_count = good;
    return MW_OK;
}

static mw_status unpack_all(images *set, mw_error *err)
{
    size_t broken = 0;
    MW_TRY(find_size(set, err));
    MW_TRY(allocate_set(set, err));
    if (set->options.broken != MW_IMAGE_BROKEN_LATE) {
        mw__share(set->options.threads, set->list.file_count, unpack_part, set);
        MW_TRY(judge(set, &broken, err));
    }
    if (broken > 0)
        MW_TRY(leave_out(set, err));
    for (size_t i = 0; i < set->list.file_count; i++)
        set->labels[i] = (int64_t)set->list.files[i].label;
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

static mw_status list_pictures(images *set, mw_error *err)
{
    const mw_image_options *o = &set->options;
    if (o->table.path != NULL)
        return mw__image_table_list(&set->list, set->allocator, &o->table, o->class_names, o->class_count, err);
    MW_TRY(mw__image_folder_list(&set->list, set->allocator, set->folder, err));
    return o->class_count > 0 ? take_class_names(set, err) : MW_OK;
}

/* ---- serving ---- */

static mw_status make_picture(const mw_dataset *dataset, mw__example_place at, void *const *out, char *scratch,
                              mw_error *err)
{
    const stored *s = dataset->state;
    const size_t bytes = dataset->example_bytes[0], index = (size_t)at.example;
    (void)scratch;
    memcpy(out[1], (const char *)dataset->owned[1] + index * dataset->example_bytes[1], dataset->example_bytes[1]);
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
    s->options.class_names = NULL; /* the caller's, as are these */
    s->options.table = (mw_image_table){0};
    s->options.on_broken = NULL;
    s->options.user = NULL;
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
    dataset->owned[1] = set->list.targets != NULL ? (void *)set->list.targets : set->labels;
    set->pixels = NULL;
    if (set->list.targets != NULL)
        set->list.targets = NULL;
    else
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
    const bool several = set->list.targets != NULL;
    const mw_column columns[] = {{.name = "x",
                                  .dtype = MW_U8,
                                  .shape = o->channels == 1    ? gray
                                           : o->channels_first ? first
                                                               : last,
                                  .scale = 1.0f / 255.0f},
                                 {.name = "y",
                                  .dtype = several ? MW_F32 : MW_I64,
                                  .shape = several ? MW_SHAPE((int64_t)set->list.class_count) : (mw_shape){0}}};
    mw_dataset *dataset = mw__dataset_create(set->allocator, columns, 2, (int64_t)set->list.file_count, err);
    if (dataset != NULL && fill_dataset(set, dataset, err) != MW_OK) {
        mw_dataset_destroy(dataset);
        return NULL;
    }
    return dataset;
}

static mw_dataset *open_images(images *set, mw_error *err)
{
    if (list_pictures(set, err) != MW_OK)
        return NULL;
    if (unpack_all(set, err) != MW_OK)
        return NULL;
    return make_dataset(set, err);
}

mw_dataset *mw_dataset_open_images(const char *folder, const mw_image_options *options, mw_error *err)
{
    MW__FLOAT_SCOPE;
    if (mw__skips(err) || mw__image_check_options(folder, options, err) != MW_OK)
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

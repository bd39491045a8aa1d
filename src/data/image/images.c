/* Data sets of pictures: the files of a labeled set, at one size. */
#include "base/number/float_mode.h"
#include "data/image/load.h"
#include "data/labeled/set.h"

static mw_status load_picture(const void *options, const char *folder, const char *name, uint64_t seed, void *out,
                              mw_error *err)
{
    return mw__image_load(options, folder, name, seed, out, err);
}

static const char *const endings[] = {".png", ".jpg", ".jpeg", ".webp", NULL};
static const mw__labeled_kind pictures = {
    .noun = "pictures", .endings = endings, .said = ".png, .jpg, .jpeg or .webp", .load = load_picture};

static mw__labeled_request request_of(const char *call, const mw_image_options *o)
{
    return (mw__labeled_request){.call = call,
                                 .kind = &pictures,
                                 .allocator = mw__allocator_or_default(o->allocator),
                                 .table = &o->table,
                                 .class_names = o->class_names,
                                 .class_count = o->class_count,
                                 .broken = o->broken,
                                 .on_broken = o->on_broken,
                                 .user = o->user,
                                 .threads = o->threads,
                                 .bytes_max = o->bytes_max,
                                 .is_drawn = o->fit == MW_IMAGE_FIT_RANDOM_CROP,
                                 .seed = o->random.seed};
}

/* The first picture says how large all are; the first that can be read, if others are left out. */
static mw_status find_size(const mw__labeled_set *set, mw_image_options *o, mw_error *err)
{
    for (size_t i = 0; o->height == 0 && i < set->list.file_count; i++) {
        mw_error why = {0};
        mw__image first;
        const mw_status status = mw__image_open(o, set->request.folder, set->list.files[i].name, &first, &why);
        if (status == MW_OK) {
            mw__free(o->allocator, first.pixels);
            o->height = first.height;
            o->width = first.width;
        } else if (o->broken != MW_BROKEN_SKIP || !mw__labeled_is_broken(status))
            return mw__fail(err, status, "%s", why.message);
    }
    if (o->height == 0) /* none can be read, of which unpacking tells */
        o->height = o->width = 1;
    return MW_OK;
}

/* What pictures are read with as long as the set lives. */
static mw_image_options lasting_options(const mw__labeled_request *request, const mw_image_options *options)
{
    mw_image_options o = *options;
    o.allocator = request->allocator;
    o.class_names = NULL; /* the caller's, as are these */
    o.table = (mw_label_table){0};
    o.on_broken = NULL;
    o.user = NULL;
    return o;
}

static mw_dataset *open_set(mw__labeled_set *set, mw_image_options *o, mw_error *err)
{
    if (find_size(set, o, err) != MW_OK)
        return NULL;
    const mw_shape gray = MW_SHAPE(o->height, o->width), last = MW_SHAPE(o->height, o->width, 3),
                   first = MW_SHAPE(3, o->height, o->width);
    const mw_column x = {.name = "x",
                         .dtype = MW_U8,
                         .shape = o->channels == 1    ? gray
                                  : o->channels_first ? first
                                                      : last,
                         .scale = 1.0f / 255.0f};
    return mw__labeled_set_open(set, &x, o, sizeof *o, err);
}

static mw_dataset *open_pictures(const mw__labeled_request *request, const mw_image_options *options, mw_error *err)
{
    if (mw__labeled_check(request, err) != MW_OK)
        return NULL;
    mw_image_options lasting = lasting_options(request, options);
    mw__labeled_set set;
    const bool listed = mw__labeled_set_init(&set, request, err) == MW_OK;
    mw_dataset *dataset = listed ? open_set(&set, &lasting, err) : NULL;
    mw__labeled_set_deinit(&set);
    return dataset;
}

mw_dataset *mw_dataset_open_images(const char *folder, const mw_image_options *options, mw_error *err)
{
    MW__FLOAT_SCOPE;
    if (mw__skips(err))
        return NULL;
    if (folder == NULL)
        mw__fail(err, MW_ERROR_ARGUMENT, "mw_dataset_open_images: no folder");
    if (folder == NULL || mw__image_check_options(options, err) != MW_OK)
        return NULL;
    mw__labeled_request request = request_of("mw_dataset_open_images", options);
    request.folder = folder;
    return open_pictures(&request, options, err);
}

mw_dataset *mw_dataset_open_image_files(const char *const *paths, size_t count, const mw_image_options *options,
                                        mw_error *err)
{
    MW__FLOAT_SCOPE;
    if (mw__skips(err) || mw__image_check_options(options, err) != MW_OK)
        return NULL;
    mw__labeled_request request = request_of("mw_dataset_open_image_files", options);
    request.paths = paths;
    request.path_count = count;
    return open_pictures(&request, options, err);
}

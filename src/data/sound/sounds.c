/* Data sets of sounds: the files of a labeled set, at one rate and length. */
#include "base/number/float_mode.h"
#include "data/labeled/set.h"
#include "data/sound/load.h"

enum { LONGEST = 10 /* seconds, where no length is said */ };

static mw_status load_sound(const void *options, const char *folder, const char *name, uint64_t seed, void *out,
                            mw_error *err)
{
    return mw__sound_load(options, folder, name, seed, out, err);
}

static const char *const endings[] = {".wav", ".flac", NULL};
static const mw__labeled_kind sounds = {
    .noun = "sounds", .endings = endings, .said = ".wav or .flac", .load = load_sound};

static mw__labeled_request request_of(const char *call, const mw_sound_options *o)
{
    return (mw__labeled_request){.call = call,
                                 .kind = &sounds,
                                 .allocator = mw__allocator_or_default(o->allocator),
                                 .table = &o->table,
                                 .class_names = o->class_names,
                                 .class_count = o->class_count,
                                 .broken = o->broken,
                                 .on_broken = o->on_broken,
                                 .user = o->user,
                                 .threads = o->threads,
                                 .bytes_max = o->bytes_max,
                                 .is_drawn = o->place == MW_SOUND_RANDOM,
                                 .seed = o->seed};
}

/* By their headers; what cannot be read is told of when it is read. */
static void find_length(const mw__labeled_set *set, mw_sound_options *o)
{
    const int64_t most = LONGEST * o->rate;
    if (o->length != 0)
        return;
    for (size_t i = 0; i < set->list.file_count; i++) {
        const int64_t length = mw__sound_length(o, set->request.folder, set->list.files[i].name);
        o->length = length > o->length ? length : o->length;
    }
    o->length = o->length > most ? most : o->length > 0 ? o->length : 1;
}

/* What sounds are read with as long as the set lives. */
static mw_sound_options lasting_options(const mw__labeled_request *request, const mw_sound_options *options)
{
    mw_sound_options o = *options;
    o.allocator = request->allocator;
    o.class_names = NULL; /* the caller's, as are these */
    o.table = (mw_label_table){0};
    o.on_broken = NULL;
    o.user = NULL;
    return o;
}

static mw_dataset *open_set(mw__labeled_set *set, mw_sound_options *o, mw_error *err)
{
    find_length(set, o);
    const mw_column x = {.name = "x", .dtype = MW_F32, .shape = MW_SHAPE(o->channels, o->length)};
    return mw__labeled_set_open(set, &x, o, sizeof *o, err);
}

static mw_dataset *open_sounds(const mw__labeled_request *request, const mw_sound_options *options, mw_error *err)
{
    if (mw__labeled_check(request, err) != MW_OK)
        return NULL;
    mw_sound_options lasting = lasting_options(request, options);
    mw__labeled_set set;
    const bool listed = mw__labeled_set_init(&set, request, err) == MW_OK;
    mw_dataset *dataset = listed ? open_set(&set, &lasting, err) : NULL;
    mw__labeled_set_deinit(&set);
    return dataset;
}

mw_dataset *mw_dataset_open_sounds(const char *folder, const mw_sound_options *options, mw_error *err)
{
    MW__FLOAT_SCOPE;
    if (mw__skips(err))
        return NULL;
    if (folder == NULL)
        mw__fail(err, MW_ERROR_ARGUMENT, "mw_dataset_open_sounds: no folder");
    if (folder == NULL || mw__sound_check_options(options, err) != MW_OK)
        return NULL;
    mw__labeled_request request = request_of("mw_dataset_open_sounds", options);
    request.folder = folder;
    return open_sounds(&request, options, err);
}

mw_dataset *mw_dataset_open_sound_files(const char *const *paths, size_t count, const mw_sound_options *options,
                                        mw_error *err)
{
    MW__FLOAT_SCOPE;
    if (mw__skips(err) || mw__sound_check_options(options, err) != MW_OK)
        return NULL;
    mw__labeled_request request = request_of("mw_dataset_open_sound_files", options);
    request.paths = paths;
    request.path_count = count;
    return open_sounds(&request, options, err);
}

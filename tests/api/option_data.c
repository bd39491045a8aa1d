/* Options of data sets that are made of others. */
#include "option_world.h"
#include "support/folder.h"
#include "support/sound_file.h"

#include <millwright/data.h>
#include <sys/stat.h>

static const float one_mean = 0.5f, one_deviation = 2.0f;

void make_augment(world *w, void *out)
{
    (void)w;
    *(mw_augment_options *)out = mw_augment_defaults("image");
}

void make_window(world *w, void *out)
{
    (void)w;
    *(mw_window_options *)out = mw_window_defaults(2);
}

void make_mix(world *w, void *out)
{
    (void)w;
    *(mw_mix_options *)out = mw_mix_defaults("image", "class", 3);
}

void make_normalize(world *w, void *out)
{
    (void)w;
    *(mw_normalize_options *)out = mw_normalize_defaults("image", &one_mean, &one_deviation, 1);
}

void make_divide(world *w, void *out)
{
    (void)w;
    *(mw_divide_options *)out = mw_divide_defaults(0.5);
}

void make_sounds(world *w, void *out)
{
    (void)w;
    *(mw_sound_options *)out = mw_sound_defaults();
}

void make_sound_change(world *w, void *out)
{
    (void)w;
    *(mw_sound_change_options *)out = mw_sound_change_defaults("image");
}

void make_log_mel(world *w, void *out)
{
    (void)w;
    *(mw_log_mel_options *)out = mw_log_mel_defaults(16000);
}

typedef mw_dataset *image_maker(const mw_dataset *source, const void *options, mw_error *err);

static bool use_on_images(world *w, const void *options, image_maker *make)
{
    static float images[2 * 4 * 4];
    static int32_t classes[2];
    const mw_column columns[] = {{.name = "image", .dtype = MW_F32, .shape = MW_SHAPE(4, 4), .data = images},
                                 {.name = "class", .dtype = MW_I32, .data = classes}};
    mw_dataset *data = mw_dataset_create(columns, 2, 2, true, &w->err);
    mw_dataset *changed = make(data, options, &w->err);
    const bool made = changed != NULL;
    mw_dataset_destroy(changed);
    mw_dataset_destroy(data);
    return made;
}

bool use_window(world *w, const void *options)
{
    static float values[4];
    const mw_column column = {.name = "x", .dtype = MW_F32, .data = values};
    mw_dataset *data = mw_dataset_create(&column, 1, 4, true, &w->err);
    mw_dataset *windows = mw_dataset_window(data, options, &w->err);
    const bool made = windows != NULL;
    mw_dataset_destroy(windows);
    mw_dataset_destroy(data);
    return made;
}

static mw_dataset *make_augmented(const mw_dataset *source, const void *options, mw_error *err)
{
    return mw_dataset_augment(source, options, err);
}

static mw_dataset *make_mixed(const mw_dataset *source, const void *options, mw_error *err)
{
    return mw_dataset_mix(source, options, err);
}

static mw_dataset *make_normalized(const mw_dataset *source, const void *options, mw_error *err)
{
    return mw_dataset_normalize(source, options, err);
}

static mw_dataset *make_changed_sounds(const mw_dataset *source, const void *options, mw_error *err)
{
    return mw_dataset_change_sounds(source, options, err);
}

/* A sound of one sample in one class; a build without libsndfile says so after it has looked at the options. */
bool use_sounds(world *w, const void *options)
{
    char folder[512];
    const double sample = 0.5;
    if (!folder_enter(folder))
        return false;
    mkdir("a", 0777);
    sound_put_wav("a/a.wav", &(sound_file){.rate = 16000, .channels = 1, .bits = 16, .frames = 1, .samples = &sample});
    mw_dataset *sounds = mw_dataset_open_sounds(".", options, &w->err);
    if (w->err.status == MW_ERROR_UNSUPPORTED)
        mw_error_clear(&w->err);
    mw_dataset_destroy(sounds);
    folder_leave(folder);
    return w->err.status == MW_OK;
}

bool use_log_mel(world *w, const void *options)
{
    mw_graph *graph = mw_graph_create(NULL, &w->err);
    mw_log_mel(mw_input(graph, "x", MW_F32, MW_SHAPE(2, 1000)), options);
    mw_graph_check(graph, &w->err);
    mw_graph_destroy(graph);
    return w->err.status == MW_OK;
}

bool use_sound_change(world *w, const void *options) { return use_on_images(w, options, make_changed_sounds); }
static mw_dataset *make_divided(const mw_dataset *source, const void *options, mw_error *err)
{
    mw_dataset *parts[2];
    mw_dataset_divide(source, options, parts, err);
    mw_dataset_destroy(parts[1]);
    return parts[0];
}

bool use_divide(world *w, const void *options) { return use_on_images(w, options, make_divided); }
bool use_augment(world *w, const void *options) { return use_on_images(w, options, make_augmented); }
bool use_mix(world *w, const void *options) { return use_on_images(w, options, make_mixed); }
bool use_normalize(world *w, const void *options) { return use_on_images(w, options, make_normalized); }

void make_app(world *w, void *out)
{
    mw_app_options options = mw_app_defaults();
    (void)w;
    options.image = (mw_app_image){
        .input = "x", .layout = MW_IMAGE_GRAY, .height = 2, .width = 3, .scale = {1, 1, 1}, .bias = {0, 0, 0}};
    *(mw_app_options *)out = options;
}

bool use_app(world *w, const void *options)
{
    mw_graph *graph = mw_graph_create(NULL, &w->err);
    mw_output(mw_relu(mw_input(graph, "x", MW_F32, MW_SHAPE(1, 6))), "y");
    mw_graph *app = mw_graph_for_app(graph, options, &w->err);
    mw_graph_destroy(app);
    mw_graph_destroy(graph);
    return app != NULL;
}

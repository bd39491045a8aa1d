/* Options of data sets that are made of others. */
#include "option_world.h"

#include <millwright/data.h>

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

bool use_augment(world *w, const void *options) { return use_on_images(w, options, make_augmented); }
bool use_mix(world *w, const void *options) { return use_on_images(w, options, make_mixed); }
bool use_normalize(world *w, const void *options) { return use_on_images(w, options, make_normalized); }

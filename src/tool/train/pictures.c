/* Settings of pictures to options of the library. A setting is asked for only where it has an effect. */
#include "tool/train/pictures.h"

#include "tool/fields.h"
#include "tool/tool.h"

#include "base/text/json_write.h"

#include <stdlib.h>
#include <string.h>

enum { EXTENT_MAX = 16384, USUAL_EXTENT = 64 };

/* ---- numbers in lists ---- */

/* [count] numbers of low to high; false if the key is not there, or is something else. */
static bool read_numbers(pictures *p, const config_node *object, const char *key, size_t count, const double range[2],
                         double *out)
{
    const config_node *list = config_get(object, key), *node = NULL;
    size_t found = 0;
    if (list == NULL)
        return false;
    bool good = list->kind == CONFIG_ARRAY;
    for (node = good ? list->first : NULL; node != NULL; node = node->next, found++) {
        good = good && node->kind == CONFIG_NUMBER && found < count && node->number >= range[0] &&
               node->number <= range[1];
        if (good)
            out[found] = node->number;
    }
    if (!good || found != count)
        config_fail(p->c, list, "\"%.60s\" is a list of %zu numbers of %g to %g", key, count, range[0], range[1]);
    return p->err->status == MW_OK;
}

/* ---- how they are read ---- */

int pictures_channels(const mw_port *input, bool *out_last)
{
    const mw_shape shape = input != NULL ? input->shape : (mw_shape){0};
    *out_last = false;
    if (shape.rank == 3)
        return 1;
    if (shape.rank != 4)
        return 0;
    if (shape.dim[1] == 1 || shape.dim[1] == 3)
        return (int)shape.dim[1];
    *out_last = shape.dim[3] == 1 || shape.dim[3] == 3;
    return *out_last ? (int)shape.dim[3] : 0;
}

/* 64, [48, 64], or what the model takes. */
static void read_size(pictures *p)
{
    static const double range[] = {1, EXTENT_MAX};
    double size[2] = {0};
    mw_image_options *o = &p->options;
    const config_node *said = config_get(p->settings, "size");
    const mw_shape shape = p->input != NULL ? p->input->shape : (mw_shape){0};
    if (said != NULL && said->kind == CONFIG_NUMBER)
        o->height = o->width = config_integer(p->c, p->settings, "size", 1, 1, EXTENT_MAX);
    else if (read_numbers(p, p->settings, "size", 2, range, size)) {
        o->height = (int64_t)size[0];
        o->width = (int64_t)size[1];
    } else if (pictures_channels(p->input, &p->channels_last) != 0) {
        const int first = shape.rank == 3 || p->channels_last ? 1 : 2;
        o->height = shape.dim[first];
        o->width = shape.dim[first + 1];
    } else if (p->is_usual)
        o->height = o->width = USUAL_EXTENT;
}

static void read_fit(pictures *p)
{
    static const double bytes[] = {0, 255};
    mw_image_options *o = &p->options;
    double color[3] = {0};
    o->blend = field_bool(p->c, p->settings, "data.blend", false);
    const char *said = o->height > 0 ? field_text(p->c, p->settings, "data.fit", "crop") : "";
    o->fit = strcmp(said, "crop") == 0      ? MW_IMAGE_FIT_CROP
             : strcmp(said, "stretch") == 0 ? MW_IMAGE_FIT_STRETCH
             : strcmp(said, "pad") == 0     ? MW_IMAGE_FIT_PAD
                                            : MW_IMAGE_FIT_NONE;
    if (o->height > 0 && o->fit == MW_IMAGE_FIT_NONE && p->err->status == MW_OK)
        config_fail(p->c, config_get(p->settings, "fit"), "\"fit\" is \"%.20s\", none of stretch, crop, pad", said);
    if (o->fit != MW_IMAGE_FIT_NONE)
        o->reduce = field_bool(p->c, p->settings, "data.reduce", false);
    if (o->fit == MW_IMAGE_FIT_CROP)
        o->crop = (float)field_number(p->c, p->settings, "data.crop", 1);
    if ((o->fit == MW_IMAGE_FIT_PAD || o->blend) && read_numbers(p, p->settings, "background", 3, bytes, color))
        for (int i = 0; i < 3; i++)
            o->background[i] = (uint8_t)color[i];
}

static void read_broken(pictures *p)
{
    mw_image_options *o = &p->options;
    o->broken = labeled_read_broken(p->c, p->settings);
    o->on_broken = o->broken != MW_BROKEN_LATE ? labeled_say_broken : NULL;
    o->user = &p->told;
    p->told.is_skipping = o->broken == MW_BROKEN_SKIP;
}

/* For models that take (value - mean) / deviation of each channel. */
static void read_mean(pictures *p)
{
    static const double means[] = {-1e6, 1e6}, deviations[] = {1e-6, 1e6};
    const size_t channels = (size_t)p->options.channels;
    double mean[3] = {0}, deviation[3] = {1, 1, 1};
    p->has_mean = read_numbers(p, p->settings, "mean", channels, means, mean);
    if (p->has_mean)
        read_numbers(p, p->settings, "deviation", channels, deviations, deviation);
    for (int i = 0; i < 3; i++) {
        p->mean[i] = (float)mean[i];
        p->deviation[i] = (float)deviation[i];
    }
}

static void read_options(pictures *p)
{
    const int wanted = pictures_channels(p->input, &p->channels_last);
    p->options = mw_image_defaults();
    p->options.channels = (int)field_integer(p->c, p->settings, "data.channels", wanted != 0 ? wanted : 3);
    p->options.channels_first = !p->channels_last;
    read_size(p);
    read_fit(p);
    p->options.bytes_max = field_integer(p->c, p->settings, "data.memory", 1024) << 20;
    read_mean(p);
    read_broken(p);
    p->options.table = labeled_read_table(p->c, p->settings, p->has_classes);
}

/* ---- opening ---- */

static mw_dataset *open_folder(const pictures *p, mw_image_options options, const char *path, const mw_dataset *like)
{
    const char **names = labeled_class_names(like, &options.class_count, p->err);
    options.class_names = names;
    mw_dataset *images = p->err->status == MW_OK ? mw_dataset_open_images(path, &options, p->err) : NULL;
    free(names);
    return images;
}

mw_dataset *pictures_open(pictures *p, const char *path, const mw_dataset *like)
{
    if (!p->is_folder)
        read_options(p);
    p->is_folder = true;
    mw_image_options options = p->options;
    if (like != NULL && options.table.path != NULL)
        labeled_read_test_table(p->c, p->settings, path, &options.table);
    mw_dataset *images = open_folder(p, options, path, like);
    if (images == NULL && options.height == 0 && strstr(p->err->message, "several sizes") != NULL)
        tool_complain("\"size\": 64 in \"data\" of the recipe brings pictures of any size to 64 x 64");
    return images;
}

/* ---- changing ---- */

/* The same examples cut out at random: the folder is opened again, and dealt out as `all` was. */
static mw_dataset *open_random(const pictures *p, const pictures_part *part, mw_image_random_crop random)
{
    mw_dataset *parts[2] = {NULL, NULL};
    mw_image_options options = p->options;
    options.fit = MW_IMAGE_FIT_RANDOM_CROP;
    options.crop = 1.0f;
    options.random = random;
    options.on_broken = NULL; /* they were told of.. */
    if (options.broken == MW_BROKEN_REFUSE)
        options.broken = MW_BROKEN_LATE; /* ..and there are none: they need not be looked at again */
    mw_dataset *cut = open_folder(p, options, part->path, part->all);
    if (cut != NULL && part->learned != NULL)
        parts[0] = mw_dataset_subset(cut, part->learned, part->learned_count, p->err);
    else if (cut != NULL && part->divide != NULL)
        mw_dataset_divide(cut, part->divide, parts, p->err);
    else if (cut != NULL)
        mw_dataset_split(cut, part->counts, part->count, part->seed, parts, p->err);
    mw_dataset_destroy(cut);
    mw_dataset_destroy(parts[1]);
    return parts[0];
}

/* The training part before its pictures are augmented; *out_own is to be destroyed. */
static const mw_dataset *choose_source(pictures *p, const pictures_part *part, const config_node *augment,
                                       mw_dataset **out_own)
{
    static const double shares[] = {0.001, 1}, ratios[] = {0.01, 100};
    mw_image_random_crop random = mw_image_defaults().random;
    double scale[2], ratio[2];
    *out_own = NULL;
    if (!p->is_folder || p->options.height == 0 || !read_numbers(p, augment, "scale", 2, shares, scale))
        return part->plain;
    random.seed = p->seed;
    random.scale_least = (float)scale[0], random.scale_most = (float)scale[1];
    if (read_numbers(p, augment, "ratio", 2, ratios, ratio))
        random.ratio_least = (float)ratio[0], random.ratio_most = (float)ratio[1];
    *out_own = p->err->status == MW_OK ? open_random(p, part, random) : NULL;
    return *out_own;
}

static void read_color(pictures *p, const config_node *augment, mw_color_jitter *out)
{
    const config_node *settings = field_object(p->c, augment, "augment.color");
    if (settings == NULL)
        return;
    out->brightness = (float)field_number(p->c, settings, "color.brightness", 0);
    out->contrast = (float)field_number(p->c, settings, "color.contrast", 0);
    out->saturation = (float)field_number(p->c, settings, "color.saturation", 0);
    out->hue = (float)field_number(p->c, settings, "color.hue", 0);
}

static void read_erase(pictures *p, const config_node *augment, mw_random_erase *out)
{
    static const double shares[] = {0, 1}, ratios[] = {0.01, 100};
    double scale[2], ratio[2];
    const config_node *settings = field_object(p->c, augment, "augment.erase");
    if (settings == NULL)
        return;
    out->probability = (float)field_number(p->c, settings, "erase.probability", 0.5);
    out->value = (float)field_number(p->c, settings, "erase.value", 0);
    if (read_numbers(p, settings, "scale", 2, shares, scale))
        out->scale_least = (float)scale[0], out->scale_most = (float)scale[1];
    if (read_numbers(p, settings, "ratio", 2, ratios, ratio))
        out->ratio_least = (float)ratio[0], out->ratio_most = (float)ratio[1];
}

static mw_dataset *augment_source(pictures *p, const mw_dataset *source, const config_node *settings)
{
    const mw_column *x = mw_dataset_column_at(source, 0);
    mw_augment_options change = mw_augment_defaults("x");
    change.channels_first = x != NULL && x->shape.rank == 3 && !p->channels_last;
    change.seed = p->seed;
    change.pad = (int)field_integer(p->c, settings, "augment.pad", 0);
    change.shift = (int)field_integer(p->c, settings, "augment.shift", 0);
    change.flip = (float)field_number(p->c, settings, "augment.flip", 0);
    change.flip_vertical = (float)field_number(p->c, settings, "augment.flip_vertical", 0);
    change.brightness = (float)field_number(p->c, settings, "augment.brightness", 0);
    change.contrast = (float)field_number(p->c, settings, "augment.contrast", 0);
    change.rotate = (float)field_number(p->c, settings, "augment.rotate", 0);
    change.fill = (float)field_number(p->c, settings, "augment.fill", 0);
    read_color(p, settings, &change.color);
    read_erase(p, settings, &change.erase);
    return p->err->status == MW_OK ? mw_dataset_augment(source, &change, p->err) : NULL;
}

/* Mixed with others when the columns have the names of the network (data_rename). */
static void read_mix(pictures *p, const config_node *augment)
{
    if (!p->has_classes)
        return;
    p->mixup = (float)field_number(p->c, augment, "augment.mixup", 0);
    p->cutmix = (float)field_number(p->c, augment, "augment.cutmix", 0);
}

mw_dataset *pictures_prepare(pictures *p, const pictures_part *part)
{
    const mw_column *x = mw_dataset_column_at(part->plain, 0);
    const bool has_places = x != NULL && x->shape.rank > 1; /* to move to */
    const config_node *settings = has_places ? field_object(p->c, p->settings, "data.augment") : NULL;
    const mw_column *all = mw_dataset_column_at(part->all, 0);
    mw_dataset *own = NULL, *changed = NULL;
    const mw_dataset *source = part->plain;
    if (settings != NULL) {
        p->seed = (uint64_t)field_integer(p->c, settings, "augment.seed", 0);
        source = choose_source(p, part, settings, &own);
        read_mix(p, settings);
        changed = source != NULL ? augment_source(p, source, settings) : NULL;
        source = changed;
    }
    p->threads = p->is_folder && (own != NULL || all == NULL || all->data == NULL) ? 2 : 1;
    mw_dataset *ahead = source != NULL ? mw_dataset_prefetch_threads(source, 2 * p->threads, p->threads, p->err) : NULL;
    mw_dataset_destroy(changed);
    mw_dataset_destroy(own);
    return ahead;
}

/* ---- for the model ---- */

static void put_channels(mw__json_writer *json, const char *key, const float *numbers, int channels)
{
    mw__json_open(json, key, '[');
    for (int i = 0; i < channels; i++)
        mw__json_add_number(json, NULL, (double)numbers[i]);
    mw__json_close(json, ']');
}

char *pictures_text(const mw_image_options *o, float scale, const float *mean, const float *deviation)
{
    mw__json_writer json;
    static const char *const fits[] = {"none", "stretch", "crop", "pad"}; /* by mw_image_fit */
    const int fit = o->fit <= MW_IMAGE_FIT_PAD && o->fit != MW_IMAGE_FIT_NONE ? (int)o->fit : (int)MW_IMAGE_FIT_CROP;
    mw__json_writer_init(&json, mw__allocator_or_default(NULL), false);
    mw__json_open(&json, NULL, '{');
    mw__json_add_integer(&json, "height", o->height);
    mw__json_add_integer(&json, "width", o->width);
    mw__json_add_integer(&json, "channels", o->channels);
    mw__json_add_bool(&json, "channels_first", o->channels_first);
    mw__json_add_string(&json, "fit", fits[fit]);
    mw__json_add_number(&json, "crop", (double)o->crop);
    mw__json_add_bool(&json, "reduce", o->reduce);
    mw__json_add_bool(&json, "blend", o->blend);
    mw__json_open(&json, "background", '[');
    for (int i = 0; i < 3; i++)
        mw__json_add_integer(&json, NULL, o->background[i]);
    mw__json_close(&json, ']');
    mw__json_add_number(&json, "scale", (double)scale);
    if (mean != NULL) {
        put_channels(&json, "mean", mean, o->channels);
        put_channels(&json, "deviation", deviation, o->channels);
    }
    mw__json_close(&json, '}');
    const char *text = mw__json_text(&json);
    char *copy = text != NULL ? strdup(text) : NULL;
    mw__json_writer_deinit(&json);
    return copy;
}

/* Settings of sounds to options of the library. A setting is asked for only where it has an effect. */
#include "tool/train/sounds.h"

#include "tool/fields.h"
#include "tool/tool.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

static const char *const places[] = {"begin", "middle"}; /* of mw_sound_place */

/* ---- which folders have them ---- */

static bool is_sound(const char *name)
{
    const char *dot = strrchr(name, '.');
    return name[0] != '.' && dot != NULL && (strcasecmp(dot, ".wav") == 0 || strcasecmp(dot, ".flac") == 0);
}

/* `deep`: also in the folders that it has. */
static bool has_sounds(const char *folder, bool deep)
{
    char path[4200];
    bool found = false;
    DIR *directory = opendir(folder);
    for (const struct dirent *entry; directory != NULL && !found && (entry = readdir(directory)) != NULL;) {
        const int length = snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        found = is_sound(entry->d_name) || (deep && entry->d_name[0] != '.' && length > 0 &&
                                            (size_t)length < sizeof path && has_sounds(path, false));
    }
    if (directory != NULL)
        closedir(directory);
    return found;
}

bool sounds_are_in(const char *folder) { return has_sounds(folder, true); }

/* ---- what a model says ---- */

char *sounds_text(const mw_sound_options *options)
{
    enum { ROOM = 160 };
    char *text = malloc(ROOM);
    if (text != NULL)
        snprintf(text, ROOM, "{\"rate\": %lld, \"length\": %lld, \"channels\": %d, \"place\": \"%s\"}",
                 (long long)options->rate, (long long)options->length, options->channels, places[options->place]);
    return text;
}

bool sounds_parse(const char *text, mw_sound_options *out)
{
    long long rate, length;
    int end = 0;
    char place[8];
    *out = mw_sound_defaults();
    if (sscanf(text, " { \"rate\" : %9lld , \"length\" : %9lld , \"channels\" : %2d , \"place\" : \"%7[a-z]\" } %n",
               &rate, &length, &out->channels, place, &end) != 4 ||
        end == 0 || text[end] != '\0' || length < 1)
        return false;
    out->rate = rate;
    out->length = length;
    out->place = strcmp(place, places[MW_SOUND_MIDDLE]) == 0 ? MW_SOUND_MIDDLE : MW_SOUND_BEGIN;
    return out->place == MW_SOUND_MIDDLE || strcmp(place, places[MW_SOUND_BEGIN]) == 0;
}

/* ---- how they are read ---- */

/* [N, C, T] and [N, T] of a model: as many samples and channels as it takes. */
static bool take_input(sounds *s)
{
    const mw_shape shape = s->input != NULL ? s->input->shape : (mw_shape){0};
    if (shape.rank != 2 && shape.rank != 3)
        return false;
    s->options.length = shape.dim[shape.rank - 1] > 0 ? shape.dim[shape.rank - 1] : 0;
    s->options.channels = shape.rank == 3 && shape.dim[1] > 0 && shape.dim[1] <= 8 ? (int)shape.dim[1] : 1;
    return s->options.length > 0;
}

static void read_form(sounds *s)
{
    mw_sound_options *o = &s->options;
    o->rate = field_integer(s->c, s->settings, "data.rate", o->rate);
    if (!take_input(s)) {
        o->channels = (int)field_integer(s->c, s->settings, "data.channels", 1);
        o->length = (int64_t)(field_number(s->c, s->settings, "data.seconds", 0) * (double)o->rate + 0.5);
    }
    const char *place = field_text(s->c, s->settings, "data.place", places[MW_SOUND_BEGIN]);
    o->place = strcmp(place, places[MW_SOUND_MIDDLE]) == 0 ? MW_SOUND_MIDDLE : MW_SOUND_BEGIN;
    if (strcmp(place, places[o->place]) != 0 && s->err->status == MW_OK)
        config_fail(s->c, config_get(s->settings, "place"), "\"place\" is \"%.20s\", none of begin, middle", place);
}

static void read_options(sounds *s)
{
    mw_sound_options *o = &s->options;
    *o = mw_sound_defaults();
    if (s->said == NULL)
        read_form(s);
    else if (!sounds_parse(s->said, o) && s->err->status == MW_OK) {
        s->err->status = MW_ERROR_FORMAT;
        snprintf(s->err->message, sizeof s->err->message, "\"%s\" of the model is not how sounds are read: \"%.100s\"",
                 TOOL_SOUND_KEY, s->said);
    }
    o->bytes_max = field_integer(s->c, s->settings, "data.memory", 1024) << 20;
    o->broken = labeled_read_broken(s->c, s->settings);
    o->on_broken = o->broken != MW_BROKEN_LATE ? labeled_say_broken : NULL;
    o->user = &s->told;
    s->told.is_skipping = o->broken == MW_BROKEN_SKIP;
    o->table = labeled_read_table(s->c, s->settings, s->has_classes);
}

mw_dataset *sounds_open(sounds *s, const char *path, const mw_dataset *like)
{
    if (!s->is_open)
        read_options(s);
    s->is_open = true;
    mw_sound_options options = s->options;
    if (like != NULL && options.table.path != NULL)
        labeled_read_test_table(s->c, s->settings, path, &options.table);
    const char **names = labeled_class_names(like, &options.class_count, s->err);
    options.class_names = names;
    mw_dataset *dataset = s->err->status == MW_OK ? mw_dataset_open_sounds(path, &options, s->err) : NULL;
    free(names);
    if (dataset != NULL)
        s->options.length = mw_dataset_column_at(dataset, 0)->shape.dim[1];
    return dataset;
}

/* ---- changing ---- */

static mw_dataset *change_source(sounds *s, const mw_dataset *source, const config_node *settings)
{
    mw_sound_change_options change = mw_sound_change_defaults("x");
    change.seed = (uint64_t)field_integer(s->c, settings, "augment.seed", 0);
    change.gain = (float)field_number(s->c, settings, "augment.gain", 0);
    change.noise = (float)field_number(s->c, settings, "augment.noise", 0);
    change.shift = (int64_t)(field_number(s->c, settings, "augment.move", 0) * (double)s->options.rate + 0.5);
    return s->err->status == MW_OK ? mw_dataset_change_sounds(source, &change, s->err) : NULL;
}

mw_dataset *sounds_prepare(sounds *s, const mw_dataset *plain, const mw_dataset *all, int *out_threads)
{
    const config_node *settings = field_object(s->c, s->settings, "data.augment");
    mw_dataset *changed = settings != NULL ? change_source(s, plain, settings) : NULL;
    const mw_dataset *source = settings != NULL ? changed : plain;
    *out_threads = mw_dataset_column_at(all, 0)->data == NULL ? 2 : 1;
    mw_dataset *ahead =
        source != NULL ? mw_dataset_prefetch_threads(source, 2 * *out_threads, *out_threads, s->err) : NULL;
    mw_dataset_destroy(changed);
    return ahead;
}

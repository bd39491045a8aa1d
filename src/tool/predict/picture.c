/* Pictures of any size to what a model takes. */
#include "tool/predict/picture.h"

#include "base/number/number.h"
#include "base/text/printable.h"
#include "tool/config.h"
#include "tool/model_text.h"
#include "tool/tool.h"
#include "tool/train/pictures.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { EXTENT_MAX = 16384, TEXT_MAX = 1 << 16 };

static const char *const fits[] = {"none", "stretch", "crop", "pad", NULL}; /* by mw_image_fit */

static bool fail_plan(mw_error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));
static bool fail_plan(mw_error *err, const char *format, ...)
{
    va_list arguments;
    if (err->status != MW_OK)
        return false;
    err->status = MW_ERROR_ARGUMENT;
    va_start(arguments, format);
    mw__printable_vprintf(err->message, sizeof err->message, format, arguments);
    va_end(arguments);
    return false;
}

/* ---- what the input says ---- */

/* [N, C, H, W], [N, H, W, C] or [N, H, W]. */
static bool take_shape(picture_plan *p, const mw_port *input)
{
    bool last = false;
    const mw_shape shape = input->shape;
    const int channels = pictures_channels(input, &last), first = shape.rank == 3 || last ? 1 : 2;
    if (channels == 0)
        return false;
    p->options.channels = channels;
    p->options.channels_first = !last;
    p->options.height = shape.dim[first];
    p->options.width = shape.dim[first + 1];
    return p->options.height >= 1 && p->options.height <= EXTENT_MAX && p->options.width >= 1 &&
           p->options.width <= EXTENT_MAX;
}

/* An input that is described as an image takes bytes. */
static void take_feature(picture_plan *p, const mw_model *model, const mw_port *input)
{
    const mw_description *d = mw_model_get_info(model).description;
    const mw_feature *f =
        d != NULL && d->function_count > 0 ? mw_description_find(&d->functions[d->standard], input->name) : NULL;
    if (f == NULL || f->kind != MW_FEATURE_IMAGE)
        return;
    p->scale = 1;
    p->blue_first = f->layout == MW_IMAGE_BGR;
    p->is_said = true;
}

/* ---- what the metadata says ---- */

static void take_background(config *c, const config_node *list, picture_plan *p)
{
    size_t count = 0;
    for (const config_node *node = list != NULL ? list->first : NULL; node != NULL; node = node->next) {
        if (count == 3 || node->kind != CONFIG_NUMBER || !(node->number >= 0 && node->number <= 255))
            config_fail(c, node, "\"background\" has three numbers of 0 to 255");
        else
            p->options.background[count++] = (uint8_t)node->number;
    }
}

/* [channels] numbers; false if the key is not there. */
static bool take_channels(config *c, const char *key, int channels, double low, float *out)
{
    int count = 0;
    const config_node *list = config_get(c->root, key);
    for (const config_node *node = list != NULL ? list->first : NULL; node != NULL; node = node->next) {
        if (count == channels || node->kind != CONFIG_NUMBER || !(node->number >= low && node->number <= 1e6))
            config_fail(c, node, "\"%s\" has %d numbers of %g to 1e6", key, channels, low);
        else
            out[count++] = (float)node->number;
    }
    if (list != NULL && count != channels)
        config_fail(c, list, "\"%s\" has %d numbers, one for each channel", key, channels);
    return list != NULL;
}

static void take_members(config *c, picture_plan *p)
{
    const config_node *root = c->root;
    mw_image_options *o = &p->options;
    o->height = config_integer(c, root, "height", o->height, 1, EXTENT_MAX);
    o->width = config_integer(c, root, "width", o->width, 1, EXTENT_MAX);
    o->channels = (int)config_integer(c, root, "channels", o->channels, 1, 3);
    o->channels_first = config_bool(c, root, "channels_first", o->channels_first);
    o->fit = (mw_image_fit)config_choice(c, root, "fit", fits, (int)o->fit);
    o->crop = (float)config_number(c, root, "crop", (double)o->crop, 1e-3, 1);
    o->reduce = config_bool(c, root, "reduce", false);
    o->blend = config_bool(c, root, "blend", false);
    take_background(c, config_get(root, "background"), p);
    p->scale = (float)config_number(c, root, "scale", (double)p->scale, 1e-9, 1e6);
    if (take_channels(c, "mean", o->channels, -1e6, p->mean) && c->err->status == MW_OK)
        p->normalizes = take_channels(c, "deviation", o->channels, 1e-6, p->deviation);
    if (o->channels == 2)
        config_fail(c, root, "a picture has 1 or 3 channels");
    p->is_said = true;
}

static bool take_text(picture_plan *p, const mw_model *model, const char *path, mw_error *err)
{
    char *text;
    config c;
    if (!tool_model_text(model, path, NULL, TOOL_PICTURE_KEY, &text, err))
        return false;
    if (text == NULL)
        return true;
    if (config_parse(&c, TOOL_PICTURE_KEY, text, TEXT_MAX, err))
        take_members(&c, p);
    config_close(&c);
    free(text);
    return err->status == MW_OK;
}

/* ---- what the options say ---- */

/* A number for each channel. */
static bool read_list(const char *option, const char *text, int channels, double low, float *out, mw_error *err)
{
    int count = 0;
    for (const char *at = text; at != NULL; count++) {
        double value;
        const size_t length = strcspn(at, ",");
        if (!mw__number_read(at, length, MW__NUMBER_F64, &value) || !(value >= low && value <= 1e6) ||
            count == channels)
            return fail_plan(err, "--%s %.60s: %d numbers of %g to 1e6 are wanted, one for each channel", option, text,
                             channels, low);
        out[count] = (float)value;
        at = at[length] == ',' ? at + length + 1 : NULL;
    }
    return count == channels || fail_plan(err,
                                          "--%s %.60s: %d numbers are wanted, one for each channel, and these are "
                                          "%d",
                                          option, text, channels, count);
}

static bool take_settings(picture_plan *p, const picture_settings *s, mw_error *err)
{
    mw_image_options *o = &p->options;
    for (int i = 0; s->fit != NULL && fits[i] != NULL; i++)
        o->fit = strcmp(fits[i], s->fit) == 0 ? (mw_image_fit)i : o->fit;
    o->crop = s->crop > 0 ? (float)s->crop : o->crop;
    if (s->crop > 0 && o->fit != MW_IMAGE_FIT_CROP)
        return fail_plan(err, "--crop has no effect with --fit %s", fits[o->fit]);
    o->crop = o->fit == MW_IMAGE_FIT_CROP ? o->crop : 1.0f;
    p->scale = s->scale != 0 ? (float)s->scale : p->scale;
    if (s->order != NULL)
        p->blue_first = strcmp(s->order, "bgr") == 0;
    if (s->order != NULL && o->channels != 3)
        return fail_plan(err, "--order has no effect on pictures of one channel");
    p->normalizes = p->normalizes || s->mean != NULL || s->deviation != NULL;
    p->is_said = p->is_said || s->fit != NULL || s->scale != 0 || p->normalizes;
    return (s->mean == NULL || read_list("mean", s->mean, o->channels, -1e6, p->mean, err)) &&
           (s->deviation == NULL || read_list("deviation", s->deviation, o->channels, 1e-6, p->deviation, err));
}

/* ---- the whole ---- */

bool picture_plan_make(picture_plan *out, const picture_settings *settings, const mw_model *model, const char *path,
                       const mw_port *input, int64_t elements, mw_error *err)
{
    char shape[128];
    *out = (picture_plan){.options = mw_image_defaults(), .scale = 1.0f / 255.0f, .deviation = {1, 1, 1}};
    mw_image_options *o = &out->options;
    o->fit = MW_IMAGE_FIT_CROP;
    take_shape(out, input);
    take_feature(out, model, input);
    if (!take_text(out, model, path, err) || !take_settings(out, settings, err))
        return false;
    o->bytes_max = 0;
    o->broken = settings->skips_broken ? MW_BROKEN_SKIP : MW_BROKEN_LATE;
    return o->height * o->width * o->channels == elements ||
           fail_plan(err,
                     "the input \"%.60s\" of %.200s takes %s, which is no picture: [N, C, H, W], [N, H, W, C] or "
                     "[N, H, W] with 1 or 3 channels",
                     input->name, path, tool_shape(shape, sizeof shape, input->shape));
}

/* (byte * scale - mean) / deviation, where the set has byte / 255. */
mw_dataset *picture_plan_normalize(const picture_plan *p, mw_dataset *set, mw_error *err)
{
    float mean[3], deviation[3];
    if (set == NULL || !p->normalizes)
        return set;
    for (int i = 0; i < 3; i++) {
        mean[i] = (float)((double)p->mean[i] / (255.0 * (double)p->scale));
        deviation[i] = (float)((double)p->deviation[i] / (255.0 * (double)p->scale));
    }
    mw_normalize_options options = mw_normalize_defaults("x", mean, deviation, (size_t)p->options.channels);
    options.channels_first = p->options.channels_first;
    mw_dataset *made = mw_dataset_normalize(set, &options, err);
    mw_dataset_destroy(set);
    return made;
}

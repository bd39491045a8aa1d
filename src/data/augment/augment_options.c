/* How images are changed: what changes nothing, and which numbers are refused. */
#include "base/text/error.h"
#include "data/augment/augment.h"

enum { PAD_MAX = 4096, SHIFT_MAX = 4096 };

mw_augment_options mw_augment_defaults(const char *column)
{
    return (mw_augment_options){
        .struct_size = sizeof(mw_augment_options), .column = column, .erase = {0.0f, 0.02f, 0.33f, 0.3f, 3.3f, 0.0f}};
}

static bool is_part(float value, float most) { return value >= 0.0f && value <= most; }

static mw_status check_color(const mw_color_jitter *color, mw_error *err)
{
    if (!is_part(color->brightness, 100.0f) || !is_part(color->contrast, 100.0f) || !is_part(color->saturation, 100.0f))
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "mw_dataset_augment: color has brightness %g, contrast %g and saturation %g; each is 0 to 100",
                        (double)color->brightness, (double)color->contrast, (double)color->saturation);
    if (!is_part(color->hue, 0.5f))
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_dataset_augment: hue %g; it is 0 to 0.5 turns", (double)color->hue);
    return MW_OK;
}

static mw_status check_erase(const mw_random_erase *e, mw_error *err)
{
    if (!is_part(e->probability, 1.0f))
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_dataset_augment: erase has probability %g; it is 0 to 1",
                        (double)e->probability);
    if (!(e->scale_least >= 0.0f && e->scale_least <= e->scale_most && e->scale_most <= 1.0f))
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_dataset_augment: erase has scale %g to %g; it lies in 0 to 1",
                        (double)e->scale_least, (double)e->scale_most);
    if (!(e->ratio_least >= 0.01f && e->ratio_least <= e->ratio_most && e->ratio_most <= 100.0f))
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_dataset_augment: erase has ratio %g to %g; it lies in 0.01 to 100",
                        (double)e->ratio_least, (double)e->ratio_most);
    return MW_OK;
}

mw_status mw__augment_check_numbers(const mw_augment_options *o, mw_error *err)
{
    if (o->pad < 0 || o->pad > PAD_MAX || o->shift < 0 || o->shift > SHIFT_MAX)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_dataset_augment: pad %d and shift %d; each is 0 to %d", o->pad,
                        o->shift, PAD_MAX);
    if (!is_part(o->flip, 1.0f) || !is_part(o->flip_vertical, 1.0f))
        return mw__fail(err, MW_ERROR_ARGUMENT,
                        "mw_dataset_augment: flip %g and flip_vertical %g; a probability is 0 "
                        "to 1",
                        (double)o->flip, (double)o->flip_vertical);
    if (!is_part(o->brightness, 1.0f) || !is_part(o->contrast, 1.0f))
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_dataset_augment: brightness %g and contrast %g; each is 0 to 1",
                        (double)o->brightness, (double)o->contrast);
    if (!is_part(o->rotate, 180.0f))
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_dataset_augment: rotate %g; it is 0 to 180 degrees",
                        (double)o->rotate);
    MW_TRY(check_color(&o->color, err));
    MW_TRY(check_erase(&o->erase, err));
    return MW_OK;
}

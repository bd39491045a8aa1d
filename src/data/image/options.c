/* How pictures are read: defaults, and what is refused before a folder is looked at. */
#include "data/image/load.h"

enum { EXTENT_MAX = 16384 };

mw_image_options mw_image_defaults(void)
{
    return (mw_image_options){.struct_size = sizeof(mw_image_options),
                              .channels = 3,
                              .crop = 1.0f,
                              .table = {.name = "name", .label = "label", .separator = ','},
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
    if (o->fit == MW_IMAGE_FIT_NONE && o->reduce)
        return refuse_option(err, "reduce is of a fit: without one pictures stay as large as they are");
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

static mw_status check_pixels(const mw_image_options *o, mw_error *err)
{
    if (o->pixels_max < 1 || o->pixels_max > (int64_t)1 << 28)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_dataset_open_images: at most %lld pixels, not 1 to 2^28",
                        (long long)o->pixels_max);
    return MW_OK;
}

mw_status mw__image_check_options(const mw_image_options *o, mw_error *err)
{
    if (o == NULL || o->struct_size != sizeof *o)
        return refuse_option(err, "options must come from mw_image_defaults");
    if (o->channels != 1 && o->channels != 3)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_dataset_open_images: %d channels, not 1 or 3", o->channels);
    MW_TRY(check_size(o, err));
    MW_TRY(check_parts(o, err));
    return check_pixels(o, err);
}

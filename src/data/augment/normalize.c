/* Pictures by the mean and deviation of each channel, as a map to F32. */
#include "base/number/float_mode.h"
#include "data/augment/augment.h"
#include "data/data.h"
#include "runtime/data/data.h"

#include <math.h>
#include <string.h>

enum { CHANNELS_MAX = 64 };

typedef struct normalization {
    mw__data_map map; /* first, as of every map */
    const mw_dataset *source;
    size_t column;
    mw__augment_image image; /* pixels NULL */
    double scale, offset;    /* of the column */
    double mean[CHANNELS_MAX], deviation[CHANNELS_MAX];
} normalization;

static void normalize_channel(const normalization *n, const mw__augment_image *in, int64_t c, float *out)
{
    for (int64_t y = 0; y < in->height; y++) {
        for (int64_t x = 0; x < in->width; x++) {
            const int64_t place = mw__augment_place(in, y, x, c);
            const double value = mw__augment_get(in, place) * n->scale + n->offset;
            out[place] = (float)((value - n->mean[c]) / n->deviation[c]);
        }
    }
}

static mw_status normalize(void *user, const mw_map_example *example, mw_error *err)
{
    const normalization *n = user;
    mw__augment_image in = n->image;
    (void)err;
    for (size_t i = 0; i < n->source->column_count; i++)
        if (i != n->column)
            memcpy(example->out[i], example->in[i], n->source->example_bytes[i]);
    in.pixels = (void *)(uintptr_t)example->in[n->column]; /* it is read */
    for (int64_t c = 0; c < in.channels; c++)
        normalize_channel(n, &in, c, example->out[n->column]);
    return MW_OK;
}

mw_normalize_options mw_normalize_defaults(const char *column, const float *mean, const float *deviation,
                                           size_t channels)
{
    return (mw_normalize_options){.struct_size = sizeof(mw_normalize_options),
                                  .column = column,
                                  .mean = mean,
                                  .deviation = deviation,
                                  .channels = channels};
}

static mw_status check_normalization(const mw_dataset *source, const mw_normalize_options *o, mw_error *err)
{
    if (o == NULL || o->struct_size != sizeof *o || o->column == NULL || o->mean == NULL || o->deviation == NULL)
        return mw__fail(
            err, MW_ERROR_ARGUMENT,
            "mw_dataset_normalize: no options of mw_normalize_defaults with a column, means and deviations");
    if (o->channels < 1 || o->channels > CHANNELS_MAX)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_dataset_normalize: %zu channels, not 1 to %d", o->channels,
                        CHANNELS_MAX);
    for (size_t c = 0; c < o->channels; c++)
        if (!isfinite(o->mean[c]) || !isfinite(o->deviation[c]) || o->deviation[c] <= 0.0f)
            return mw__fail(
                err, MW_ERROR_ARGUMENT,
                "mw_dataset_normalize: channel %zu has mean %g and deviation %g; both are finite, the second "
                "positive",
                c, (double)o->mean[c], (double)o->deviation[c]);
    return mw__dataset_check(source, "mw_dataset_normalize", err);
}

static mw_status fill_normalization(normalization *n, const mw_normalize_options *o, mw_error *err)
{
    const char *call = "mw_dataset_normalize";
    n->map = (mw__data_map){.function = normalize, .user = n};
    MW_TRY(mw__picture_find_column(n->source, call, o->column, &n->column, err));
    const mw_column *column = &n->source->columns[n->column];
    MW_TRY(mw__picture_measure(column, call, o->channels_first, &n->image, err));
    if (n->image.channels != (int64_t)o->channels)
        return mw__fail(
            err, MW_ERROR_SHAPE,
            "mw_dataset_normalize: column \"%.100s\" has %lld channels, the means are %zu; if channels stand "
            "in front say channels_first",
            column->name, (long long)n->image.channels, o->channels);
    n->scale = (double)column->scale;
    n->offset = (double)column->offset;
    for (size_t c = 0; c < o->channels; c++) {
        n->mean[c] = (double)o->mean[c];
        n->deviation[c] = (double)o->deviation[c];
    }
    return MW_OK;
}

static mw_dataset *map_normalized(normalization *n, mw_error *err)
{
    const mw_dataset *source = n->source;
    mw_column *columns = mw__alloc(source->allocator, source->column_count, sizeof *columns, err);
    if (columns == NULL)
        return NULL;
    memcpy(columns, source->columns, source->column_count * sizeof *columns);
    columns[n->column].dtype = MW_F32;
    columns[n->column].scale = 1.0f;
    columns[n->column].offset = 0.0f;
    mw_dataset *dataset = mw__data_map_make(source, columns, source->column_count, &n->map, 0, err);
    mw__free(source->allocator, columns);
    return dataset;
}

mw_dataset *mw_dataset_normalize(const mw_dataset *source, const mw_normalize_options *options, mw_error *err)
{
    MW__FLOAT_SCOPE;
    if (mw__skips(err) || check_normalization(source, options, err) != MW_OK)
        return NULL;
    normalization *n = mw__alloc(source->allocator, 1, sizeof *n, err);
    if (n == NULL)
        return NULL;
    n->source = source;
    mw_dataset *dataset = fill_normalization(n, options, err) == MW_OK ? map_normalized(n, err) : NULL;
    if (dataset == NULL)
        mw__free(source->allocator, n);
    return dataset;
}

/* Sounds that are moved, louder or softer, and noisy: a map. It draws gain, shift and the deviation of the noise as
 * numbers 0, 1 and 2 of the example, and the noise from stream 1 of its seed. */
#include "base/number/float_mode.h"
#include "base/number/random.h"
#include "data/augment/augment.h"
#include "data/data.h"
#include "runtime/data/data.h"

#include <millwright/dataset_sounds.h>

#include <math.h>
#include <string.h>

enum { GAIN, SHIFT, NOISE };

typedef struct sound_change {
    mw__data_map map; /* first, as of every map */
    const mw_dataset *source;
    size_t column;
    int64_t channels, length;
    mw_sound_change_options options;
} sound_change;

mw_sound_change_options mw_sound_change_defaults(const char *column)
{
    return (mw_sound_change_options){.struct_size = sizeof(mw_sound_change_options), .column = column};
}

/* Samples are moved behind `shift` of silence, or the first -shift are cut. */
static void move_samples(const float *in, int64_t length, int64_t shift, double factor, float *out)
{
    for (int64_t i = 0; i < length; i++) {
        const int64_t from = i - shift;
        out[i] = from >= 0 && from < length ? (float)((double)in[from] * factor) : 0.0f;
    }
}

static void add_noise(const mw_map_example *example, double deviation, int64_t count, float *out)
{
    mw__random random = {.seed = example->seed, .stream = 1};
    for (int64_t i = 0; i < count; i++)
        out[i] = (float)((double)out[i] + deviation * (double)mw__random_normal(&random));
}

static mw_status change_sound(void *user, const mw_map_example *example, mw_error *err)
{
    const sound_change *s = user;
    const mw_sound_change_options *o = &s->options;
    (void)err;
    for (size_t i = 0; i < s->source->column_count; i++)
        if (i != s->column)
            memcpy(example->out[i], example->in[i], s->source->example_bytes[i]);
    const double gain = (double)o->gain * (2.0 * (double)mw_map_example_uniform(example, GAIN) - 1.0);
    const double place = floor((double)mw_map_example_uniform(example, SHIFT) * (double)(2 * o->shift + 1));
    const double deviation = (double)o->noise * (double)mw_map_example_uniform(example, NOISE);
    const float *in = example->in[s->column];
    float *out = example->out[s->column];
    for (int64_t c = 0; c < s->channels; c++)
        move_samples(in + c * s->length, s->length, (int64_t)place - o->shift, pow(10.0, gain / 20.0),
                     out + c * s->length);
    if (o->noise > 0.0f)
        add_noise(example, deviation, s->channels * s->length, out);
    return MW_OK;
}

static mw_status check_change(const mw_dataset *source, const mw_sound_change_options *o, mw_error *err)
{
    static const char call[] = "mw_dataset_change_sounds";
    if (o == NULL || o->struct_size != sizeof *o || o->column == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "%s: no options of mw_sound_change_defaults with a column", call);
    if (!(o->gain >= 0.0f && o->gain <= 60.0f))
        return mw__fail(err, MW_ERROR_ARGUMENT, "%s: gain %g; it is 0 to 60 decibels", call, (double)o->gain);
    if (!(o->noise >= 0.0f && o->noise <= 1.0f))
        return mw__fail(err, MW_ERROR_ARGUMENT, "%s: noise %g; it is 0 to 1", call, (double)o->noise);
    return mw__dataset_check(source, call, err);
}

static mw_status fill_change(sound_change *s, const mw_sound_change_options *o, mw_error *err)
{
    static const char call[] = "mw_dataset_change_sounds";
    MW_TRY(mw__picture_find_column(s->source, call, o->column, &s->column, err));
    const mw_column *column = &s->source->columns[s->column];
    const mw_shape shape = column->shape;
    if (column->dtype != MW_F32)
        return mw__fail(err, MW_ERROR_DTYPE, "%s: column \"%.100s\" is %s; sounds are F32", call, column->name,
                        mw_dtype_name(column->dtype));
    if (shape.rank != 1 && shape.rank != 2)
        return mw__fail(err, MW_ERROR_SHAPE, "%s: column \"%.100s\" has rank %d; a sound is [C, T] or [T]", call,
                        column->name, shape.rank);
    s->length = shape.dim[shape.rank - 1];
    s->channels = shape.rank == 2 ? shape.dim[0] : 1;
    if (o->shift < 0 || o->shift >= s->length)
        return mw__fail(err, MW_ERROR_ARGUMENT, "%s: shift %lld of sounds of %lld samples; it is 0 or more, and less",
                        call, (long long)o->shift, (long long)s->length);
    s->map = (mw__data_map){.function = change_sound, .user = s};
    s->options = *o;
    return MW_OK;
}

mw_dataset *mw_dataset_change_sounds(const mw_dataset *source, const mw_sound_change_options *options, mw_error *err)
{
    MW__FLOAT_SCOPE;
    if (mw__skips(err) || check_change(source, options, err) != MW_OK)
        return NULL;
    sound_change *s = mw__alloc(source->allocator, 1, sizeof *s, err);
    if (s == NULL)
        return NULL;
    s->source = source;
    mw_dataset *dataset =
        fill_change(s, options, err) == MW_OK
            ? mw__data_map_make(source, source->columns, source->column_count, &s->map, options->seed, err)
            : NULL;
    if (dataset == NULL)
        mw__free(source->allocator, s);
    return dataset;
}

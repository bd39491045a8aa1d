/* How sounds are read: defaults, and what is refused before a folder is looked at. */
#include "data/sound/load.h"

enum { OUT_RATE_MAX = 384000, CHANNELS_KEPT_MAX = 8 };

mw_sound_options mw_sound_defaults(void)
{
    return (mw_sound_options){.struct_size = sizeof(mw_sound_options),
                              .rate = 16000,
                              .channels = 1,
                              .table = {.name = "name", .label = "label", .separator = ','},
                              .frames_max = (int64_t)1 << 24,
                              .bytes_max = (int64_t)1 << 30};
}

static mw_status refuse_number(mw_error *err, const char *name, int64_t number, const char *rule)
{
    return mw__fail(err, MW_ERROR_ARGUMENT, "mw_dataset_open_sounds: %s %lld; %s", name, (long long)number, rule);
}

mw_status mw__sound_check_options(const mw_sound_options *o, mw_error *err)
{
    if (o == NULL || o->struct_size != sizeof *o)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_dataset_open_sounds: options must come from mw_sound_defaults");
    if (o->rate < MW__SOUND_RATE_MIN || o->rate > OUT_RATE_MAX)
        return refuse_number(err, "rate", o->rate, "it is 1000 to 384000 samples a second");
    if (o->length < 0 || o->length > (int64_t)1 << 26)
        return refuse_number(err, "length", o->length, "it is 1 to 2^26 samples, or 0, as the longest sound");
    if (o->channels < 1 || o->channels > CHANNELS_KEPT_MAX)
        return refuse_number(err, "channels", o->channels, "they are 1, the mean of all, to 8");
    if (o->place > MW_SOUND_RANDOM)
        return refuse_number(err, "place", (int64_t)o->place, "it is one of mw_sound_place");
    if (o->place != MW_SOUND_RANDOM && o->seed != 0)
        return refuse_number(err, "seed", (int64_t)o->seed, "nothing is drawn: it is of MW_SOUND_RANDOM");
    if (o->frames_max < 1 || o->frames_max > (int64_t)1 << 28)
        return refuse_number(err, "frames_max", o->frames_max, "it is 1 to 2^28");
    return MW_OK;
}

/* One sound of a folder, from its file to the samples of an example. */
#ifndef MW__DATA_SOUND_LOAD_H
#define MW__DATA_SOUND_LOAD_H

#include "data/sound/sound.h"

#include <millwright/dataset_sounds.h>

/* What mw_dataset_open_sounds and its like refuse of their options. */
mw_status mw__sound_check_options(const mw_sound_options *options, mw_error *err);

/* How many samples a sound has at the rate of the options, by its header; 0 if it does not say, or cannot be read. */
int64_t mw__sound_length(const mw_sound_options *options, const char *folder, const char *name);

/* out [channels, length] of the options.
 *  seed  of the example, for MW_SOUND_RANDOM */
mw_status mw__sound_load(const mw_sound_options *options, const char *folder, const char *name, uint64_t seed,
                         float *out, mw_error *err);

#endif

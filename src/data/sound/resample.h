/* Samples at another rate: a windowed sinc, as <millwright/dataset_sounds.h> says. */
#ifndef MW__DATA_SOUND_RESAMPLE_H
#define MW__DATA_SOUND_RESAMPLE_H

#include "base/memory/alloc.h"

/* rate_to / rate_from in lowest terms, and how far the filter reaches. */
typedef struct mw__resampler {
    int64_t up, down; /* sample n of the result lies at n down / up of the source */
    double cutoff;    /* of half the rate of the source */
    double half;      /* H, samples of the source */
    int64_t reach;    /* H, rounded up; 0 if the rates are equal */
} mw__resampler;

/* The largest that divides both. */
int64_t mw__sound_common_divisor(int64_t a, int64_t b);

mw__resampler mw__resampler_make(int64_t rate_from, int64_t rate_to);

/* Samples of the result of `count` samples: ceil(count up / down). count < 2^40. */
int64_t mw__resampler_length(const mw__resampler *r, int64_t count);
/* The samples of the source, first <= k < end, that samples from <= n < to of the result are made of; not yet cut to
 * those that there are. */
void mw__resampler_range(const mw__resampler *r, int64_t from, int64_t to, int64_t *out_first, int64_t *out_end);

/* out[n - from] for from <= n < to. Source samples outside are 0. Allocates at most 4 MiB.
 *  in  [end - first], samples first <= k < end of the source */
mw_status mw__resampler_run(const mw__resampler *r, const mw_allocator *allocator, const float *in, int64_t first,
                            int64_t end, int64_t from, int64_t to, float *out, mw_error *err);

#endif

/* Which token comes next: from logits to one number. */
#ifndef MW__TEXT_GENERATE_SAMPLER_H
#define MW__TEXT_GENERATE_SAMPLER_H

#include "base/memory/alloc.h"

#include <millwright/text_model.h>

typedef struct mw__sampler {
    const mw_allocator *allocator;
    size_t words;
    float *values;   /* [words]: probabilities, once logits */
    uint32_t *order; /* [words]: who is still among them, the likeliest first */
    bool *seen;      /* [words]: came already */
    uint64_t seed, drawn;
} mw__sampler;

mw_status mw__sampler_init(mw__sampler *s, const mw_allocator *allocator, size_t words, uint64_t seed, mw_error *err);
void mw__sampler_deinit(mw__sampler *s);
/* A token that came, of the prompt or written. */
void mw__sampler_note(mw__sampler *s, int32_t token);
/* Draws one by s->values, which hold its logits and are overwritten. */
int32_t mw__sampler_next(mw__sampler *s, const mw_generate_options *options);

#endif

/* Philox 4x32-10 (Salmon, Moraes, Dror, Shaw: "Parallel random numbers: as easy as 1, 2, 3", SC 2011): a counter-based
 * generator, so that a position is a number and streams never overlap. */
#ifndef MW__BASE_NUMBER_RANDOM_H
#define MW__BASE_NUMBER_RANDOM_H

#include "base/visible.h"

#include <stddef.h>
#include <stdint.h>

typedef struct mw__random {
    uint64_t seed;
    uint64_t stream;   /* which independent sequence of this seed */
    uint64_t position; /* 32-bit words drawn so far */
} mw__random;

/* One block: four words from a 128-bit counter and a 64-bit key. */
MW__SIBLING void mw__philox(uint32_t out[4], const uint32_t counter[4], const uint32_t key[2]);

/* A number of one block, as <millwright/ops/random.h> has it: normal, a mean, b standard deviation; uniform in [a, b);
 * 1 with probability a, else 0 (b is not used). */
typedef double mw__random_draw(const uint32_t words[4], double a, double b);
mw__random_draw mw__random_draw_normal, mw__random_draw_uniform, mw__random_draw_bernoulli;

/* Word `position` of the stream: counter = {block low, block high, stream low, stream high}, key = {seed low, high}. */
MW__SIBLING uint32_t mw__random_u32(mw__random *random);

/* Uniform in [0, bound), bound > 0, without modulo bias (rejection). */
MW__SIBLING uint64_t mw__random_below(mw__random *random, uint64_t bound);

/* Uniform in [0, 1) with 24 bits. */
MW__SIBLING float mw__random_uniform(mw__random *random);

/* Which vectors draw many numbers: these are the same for all. */
typedef enum mw__random_width { MW__RANDOM_PLAIN, MW__RANDOM_AVX2, MW__RANDOM_AVX512 } mw__random_width;

/* The widest that this processor has; no other that is wider may be asked for. */
mw__random_width mw__random_widest(void);

/* The next `count` of them, as many calls would draw them one by one. */
void mw__random_uniforms(mw__random *random, mw__random_width width, float *out, size_t count);

/* Standard normal by Box-Muller on two words (normal.h). */
MW__SIBLING float mw__random_normal(mw__random *random);

/* The next `count` of them, as many calls would draw them one by one. */
void mw__random_normals(mw__random *random, mw__random_width width, float *out, size_t count);

/* Fisher-Yates. */
MW__SIBLING void mw__random_shuffle(mw__random *random, uint32_t *items, size_t count);

#endif

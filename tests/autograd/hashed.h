/* Numbers that tests/data/torch/hashed.py draws too, so that weights and batches need no file. */
#ifndef TESTS_AUTOGRAD_HASHED_H
#define TESTS_AUTOGRAD_HASHED_H

#include <stddef.h>
#include <stdint.h>

/* 24 bits of a hash of index and stream, in [-0.5, 0.5). */
float hashed_uniform(uint64_t index, uint64_t stream);

/* `count` numbers scale * u + offset; the caller frees them. */
float *hashed_floats(size_t count, uint64_t stream, float scale, float offset);

/* `count` integers in [0, limit); the caller frees them. */
int32_t *hashed_integers(size_t count, uint64_t stream, int32_t limit);

#endif

/* The hash of tests/data/torch/hashed.py. */
#include "hashed.h"

#include <stdlib.h>

float hashed_uniform(uint64_t index, uint64_t stream)
{
    uint64_t h = index + stream * 1000003u;
    h = (h * 2654435761u) & 0xffffffffu;
    h ^= h >> 15;
    h = (h * 2246822519u) & 0xffffffffu;
    h ^= h >> 13;
    return (float)((double)(h >> 8) / 16777216.0 - 0.5);
}

float *hashed_floats(size_t count, uint64_t stream, float scale, float offset)
{
    float *values = malloc((count + 1) * sizeof *values);
    for (size_t i = 0; values != NULL && i < count; i++)
        values[i] = hashed_uniform(i, stream) * scale + offset;
    return values;
}

int32_t *hashed_integers(size_t count, uint64_t stream, int32_t limit)
{
    int32_t *values = malloc((count + 1) * sizeof *values);
    for (size_t i = 0; values != NULL && i < count; i++)
        values[i] = (int32_t)(((double)hashed_uniform(i, stream) + 0.5) * (double)limit);
    return values;
}

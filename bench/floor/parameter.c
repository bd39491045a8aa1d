/* Parameters and their update. */
#include "parameter.h"
#include "../bench.h"
#include "vector.h"

#include <math.h>

parameter parameter_create(int count, float bound, uint64_t *random)
{
    parameter p = {.count = count};
    float **const arrays[] = {&p.w, &p.g, &p.m, &p.v};
    for (int i = 0; i < 4; i++)
        *arrays[i] = bench_alloc((size_t)count, sizeof(float));
    for (int i = 0; i < count; i++)
        p.w[i] = (2.0f * bench_uniform(random) - 1.0f) * bound;
    return p;
}

void parameter_adam(parameter *p, int from, int to, int t)
{
    const vec rate = splat(1e-3f / (1.0f - powf(0.9f, (float)t)));
    const vec correction = splat(1.0f / sqrtf(1.0f - powf(0.999f, (float)t)));
    for (int i = from; i < to; i += LANES) {
        const vec g = load(p->g + i);
        const vec m = load(p->m + i) * 0.9f + g * 0.1f, v = load(p->v + i) * 0.999f + g * g * 0.001f;
        store(p->m + i, m);
        store(p->v + i, v);
        store(p->w + i, load(p->w + i) - rate * m / (square_root(v) * correction + 1e-8f));
    }
}

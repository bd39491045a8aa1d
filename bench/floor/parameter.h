/* A parameter with its gradient and Adam's two moments. */
#ifndef FLOOR_PARAMETER_H
#define FLOOR_PARAMETER_H

#include <stdint.h>

typedef struct parameter {
    float *w, *g, *m, *v; /* [count] each */
    int count;            /* a multiple of 16 */
} parameter;

/* Uniform in +-bound. */
parameter parameter_create(int count, float bound, uint64_t *random);

/* Step t (from 1) of Adam with rate 1e-3, betas 0.9 and 0.999 and epsilon 1e-8
 * on elements [from, to), multiples of 16.
 */
void parameter_adam(parameter *p, int from, int to, int t);

#endif

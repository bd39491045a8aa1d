/* W4: a network so small that a step is all overhead. */
#ifndef FLOOR_TINY_H
#define FLOOR_TINY_H

typedef struct tiny_net {
    float w1[16][16], b1[16], w2[16], b2; /* w1 [inputs, hidden] */
    float x[4][16], y[4];
} tiny_net;

void tiny_step(tiny_net *net);

#endif

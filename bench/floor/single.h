/* W5: the network of W1 on one example. */
#ifndef FLOOR_SINGLE_H
#define FLOOR_SINGLE_H

#include "images.h"

/* The scores [16] of x [784]; w1_turned [256, 784] is w1 with its axes
 * exchanged. */
void single_infer(const image_net *net, const float *w1_turned, const float *x, float *out_scores);

#endif

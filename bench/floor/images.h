/* The two classifiers of MNIST images: W1 (784-256-10, GELU) and W2
 * (convolutions, 1568-128-10, ReLU). */
#ifndef FLOOR_IMAGES_H
#define FLOOR_IMAGES_H

#include "conv.h"
#include "head.h"

#include <stdbool.h>

enum { BATCH = 128, PIXELS = 784 };

/* Pixels [count, 784] in [0, 255], labels [count]. */
typedef struct image_set {
    int count;
    uint8_t *pixels, *labels;
} image_set;

/* Reads the training set of MNIST; ends the program with a sentence if it is
 * not in `folder`. */
image_set images_read(const char *folder);

typedef struct image_net {
    bool convolutional;
    int inputs, hidden;        /* D and H of the first dense layer: 784 and 256, or 1568
                                  and 128 */
    int threads, steps;        /* steps done */
    parameter w1, b1, w2, b2;  /* [D, H], [H], [H, 16], [16] */
    conv_net conv;             /* W2 only */
    float *x;                  /* [BATCH, D] */
    float *h, *a, *da_dh, *da; /* [BATCH, H]: before and after the activation, its
                                  derivative, the gradient */
    float *dz;                 /* [BATCH, 16] */
    float *dx;                 /* [BATCH, D], W2 only */
    float *scratch[TEAM_MAX];  /* [10, H] */
    uint8_t labels[BATCH];
    head_sums sums[TEAM_MAX]; /* each member adds its losses up */
} image_net;

image_net image_net_create(bool convolutional, int threads);

/* One step on the examples of `order` [BATCH]; the whole team calls it. */
void image_net_step(image_net *net, const member *self, const image_set *set, const int *order);

/* Classifies the first `count` rows that are already in the net, on one thread.
 */
void image_net_infer(image_net *net, int count);

#endif

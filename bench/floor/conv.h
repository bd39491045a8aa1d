/* The convolutional half of W2, written for its shapes: twice a 3x3 convolution
 * with a border of zeros, ReLU and a 2x2 max pool. Pixels hold their channels
 * together (NHWC); B is the batch.
 *
 *     image [28, 28] -> conv1, 16 channels -> pool -> [14, 14, 16]
 *                    -> conv2, 32 channels -> pool -> [7, 7, 32]
 *
 * The border is part of what is stored, so that no loop looks whether it is
 * inside. */
#ifndef FLOOR_CONV_H
#define FLOOR_CONV_H

#include "parameter.h"
#include "team.h"

enum {
    C1 = 16,               /* channels after conv1 */
    C2 = 32,               /* and after conv2 */
    IMAGE_ROW = 30,        /* of an image with its border */
    IMAGE = 912,           /* 30 rows, rounded up */
    POOLED1_ROW = 16 * C1, /* of [16, 16, 16]: 14 pixels and the border */
    POOLED1 = 16 * POOLED1_ROW,
    PICKED1 = 14 * 14 * C1,
    POOLED2 = 7 * 7 * C2,
    TAPS = 9
};

/* What one member adds up over its images. */
typedef struct conv_sums {
    float w1[TAPS * C1], b1[C1], w2[TAPS * C1 * C2], b2[C2];
    float dy2[16 * 16 * C2]; /* gradient before the second pool, with border: room
                                to work in */
} conv_sums;

typedef struct conv_net {
    parameter w1, b1; /* [9, 16], [16] */
    parameter w2, b2; /* [9, 16, 32], [32] */
    float *images;    /* [B, 912] */
    float *pooled1;   /* [B, 16, 16, 16] */
    int32_t *picked1; /* [B, 14, 14, 16]: which of the four pixels the pool took,
                         -1 where the ReLU gave 0 */
    int32_t *picked2; /* [B, 7, 7, 32] */
    float *w2_turned; /* [9, 32, 16]: w2 for the gradient of its input */
    conv_sums *sums[TEAM_MAX];
} conv_net;

conv_net conv_create(int batch, int threads, uint64_t *random);

/* y [B, 7, 7, 32] of images [from, to). */
void conv_forward(const conv_net *net, float *y, int from, int to);

/* Turns w2 over; before the backward pass of a step, by one member. */
void conv_turn(const conv_net *net);

/* The sums of member `id` over images [from, to), given dy as the y of
 * conv_forward. */
void conv_backward(const conv_net *net, int id, const float *dy, int from, int to);

/* Adds the members' sums up and updates all four parameters. */
void conv_update(conv_net *net, int threads, int t);

#endif

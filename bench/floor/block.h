/* W3: a pre-norm transformer block with embedding and head, forward, backward
 * and Adam.
 *
 * N examples of T tokens are R rows; D channels in H heads of E; F channels
 * inside the MLP; V words. Every weight is [inputs, outputs]. A trailing
 * comment gives the shape. */
#ifndef FLOOR_BLOCK_H
#define FLOOR_BLOCK_H

#include "parameter.h"
#include "team.h"

enum { N = 8, T = 128, R = N * T, D = 256, H = 4, E = D / H, F = 4 * D, V = 96 };

/* A dense layer; head has no bias. */
typedef struct dense {
    parameter w, b;
} dense;

typedef struct norm {
    parameter scale, shift;   /* [D] each */
    float *normal;            /* [R, D]: input less its mean, by its deviation */
    float *inverse;           /* [R]: 1 / deviation */
    float *y;                 /* [R, D] */
    float *partial[TEAM_MAX]; /* [2, D]: gradients of scale and shift over a
                                 member's rows */
} norm;

typedef struct block {
    parameter token, position;       /* [V, D], [T, D] */
    dense qkv, projection, fc1, fc2; /* [D, 3 D], [D, D], [D, F], [F, D] */
    parameter head;                  /* [D, V] */
    norm norms[3];                   /* before attention, MLP and head */
    float *x[3];                     /* [R, D]: embedded, after attention, after the MLP */
    float *heads, *dheads;           /* [R, 3 D]: queries, keys and values */
    float *weights;                  /* [N, H, T, T]: after the softmax */
    float *mixed, *dmixed;           /* [R, D] */
    float *wide, *slope, *dwide;     /* [R, F]: GELU, its derivative, the gradient before it */
    float *dlogits;                  /* [R, V] */
    float *dx[3];                    /* [R, D]: gradients of x */
    float *dnorm;                    /* [R, D]: gradient of a norm's y */
    float *dscores[TEAM_MAX];        /* [T, T] */
    double loss[TEAM_MAX];           /* sum over a member's rows of the last step */
    int steps;
} block;

block *block_create(int threads);

/* One step on tokens [R] and the words that follow them [R]; the whole team
 * calls it. */
void block_step(block *net, const member *self, const int32_t *tokens, const int32_t *following);

/* ---- layer_norm.c ---- */

/* y = normal * scale + shift for rows [from, to) of x [R, D]. */
void norm_forward(norm *layer, const float *x, int from, int to);

/* dx (+)= gradient of the input for rows, given dy [R, D]; leaves those of
 * scale and shift in partial[id]. */
void norm_backward(norm *layer, int id, const float *dy, float *dx, int from, int to);

/* ---- attention.c ---- */

/* mixed = softmax(q k^T / sqrt(E), each token up to itself) v, for examples
 * [from, to). */
void attention_forward(block *net, int from, int to);

/* dheads from dmixed, for examples [from, to). */
void attention_backward(block *net, int id, int from, int to);

#endif

/* The CNN of examples/mnist_cnn.c for one picture, written by hand in C: convolutions of 16 and 32 channels of 3 x 3,
 * each with ReLU and a maximum over 2 x 2, then layers of HAND_HIDDEN and 10 numbers. */
#ifndef BENCH_LATENCY_HAND_H
#define BENCH_LATENCY_HAND_H

enum { HAND_SIDE = 28, HAND_C1 = 16, HAND_C2 = 32, HAND_FLAT = 49 * HAND_C2, HAND_HIDDEN = 128, HAND_CLASSES = 10 };

/* Weights as the library has them: convolutions [out, in, 3, 3], layers [out, in], a bias of each. */
typedef struct hand_weights {
    float conv1[HAND_C1 * 9], bias1[HAND_C1];
    float conv2[HAND_C2 * HAND_C1 * 9], bias2[HAND_C2];
    float fc1[HAND_HIDDEN * HAND_FLAT], fc1_bias[HAND_HIDDEN];
    float fc2[HAND_CLASSES * HAND_HIDDEN], fc2_bias[HAND_CLASSES];
} hand_weights;

typedef struct hand_net hand_net;

/* The weights in the order in which the loops read them; freed with free. */
hand_net *hand_create(const hand_weights *weights);

/* scores [10] of a picture [28, 28]. */
void hand_predict(hand_net *net, const float *picture, float *scores);

#endif

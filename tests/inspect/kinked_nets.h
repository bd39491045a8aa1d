/* Random nets full of kinks: relu, leaky relu, prelu, abs, clip, maximum, minimum, max-pool, sorting, in the forms of a
 * perceptron, a convolutional net, a residual net and a U-Net. */
#ifndef TESTS_RUNTIME_GRADCHECK_KINKED_NETS_H
#define TESTS_RUNTIME_GRADCHECK_KINKED_NETS_H

#include <millwright/millwright.h>

enum { KINKED_FORMS = 5, KINKED_LEAVES = 64, KINKED_INPUT = 512 };

typedef struct kinked_net {
    mw_graph *graph;
    mw_tensor *y;
    mw_tensor *leaves[KINKED_LEAVES]; /* parameters, then x */
    size_t count;
    float x[KINKED_INPUT], target[KINKED_INPUT];
    mw_feed feeds[2];
    mw_batch batch;
    char form[32];
    double factor;
    int places; /* where a fault can be planted */
} kinked_net;

/* The gradient of place number `plant` of the net is `factor` times the right one; -1 = all are right. */
void kinked_net_init(kinked_net *net, int form, uint64_t seed, int plant, double factor);
void kinked_net_deinit(kinked_net *net);

#endif

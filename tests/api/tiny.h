/* A classifier that is made, trained and compared in a millisecond. */
#ifndef TESTS_API_TINY_H
#define TESTS_API_TINY_H

#include <millwright/millwright.h>

/* N examples per batch, D features, H hidden units, C classes. */
enum { TINY_N = 8, TINY_D = 4, TINY_H = 5, TINY_C = 3, TINY_WEIGHTS = TINY_H * TINY_D };

/* x [N, D] -> tanh(dense "fc1" [H]) -> dense "fc2" [C], cross-entropy with labels y, Adam; two threads. NULL on
 * failure.
 */
mw_trainer *tiny_trainer(mw_error *err);

typedef struct tiny_batch {
    float x[TINY_N * TINY_D];
    int32_t y[TINY_N];
    mw_feed feeds[2];
    mw_batch batch;
} tiny_batch;

/* Always the same; points into *out. */
void tiny_fill(tiny_batch *out);

/* Makes a trainer, takes `steps` steps, reads "fc1.weight" and destroys it. */
mw_status tiny_train(int steps, float out_weights[TINY_WEIGHTS], mw_error *err);

#endif

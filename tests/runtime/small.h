/* A small classifier with its data, and the same network written out in double: the oracle of the trainer's tests. */
#ifndef TESTS_RUNTIME_SMALL_H
#define TESTS_RUNTIME_SMALL_H

#include <millwright/millwright.h>

/* N examples per batch, D features, H hidden units, C classes. */
enum { SMALL_N = 8, SMALL_D = 5, SMALL_H = 6, SMALL_C = 3, SMALL_EXAMPLES = 40 };
enum { SMALL_PARAMETERS = SMALL_H * SMALL_D + SMALL_H + SMALL_C * SMALL_H + SMALL_C };

/* x [N, D] -> tanh(dense "fc1" [H]) -> dense "fc2" [C]; labels "y" int32. */
typedef struct small_net {
    mw_graph *graph;
    mw_tensor *x, *y, *logits, *loss, *accuracy;
} small_net;

small_net small_create(const mw_allocator *allocator);

/* The same with states: x minus the state "x_mean" [D], which follows the mean of x half way, and between the layers
 * batch norm "bn", tanh and dropout "drop". */
small_net small_create_stateful(const mw_allocator *allocator);
enum { SMALL_STATES = SMALL_D + 2 * SMALL_H + 16 };

/* A trainer of it on the engine, with metric and prediction. */
mw_trainer *small_trainer(mw_device device, mw_optimizer optimizer, float loss_scale, mw_error *err);

/* SMALL_EXAMPLES examples that can be learned; the same at each call. */
typedef struct small_data {
    float x[SMALL_EXAMPLES * SMALL_D]; /* [SMALL_EXAMPLES, D] */
    int32_t y[SMALL_EXAMPLES];
} small_data;

small_data small_make_data(void);

/* The first `examples` of them as a data set, which reads `data`. */
mw_dataset *small_open_data(const small_data *data, int64_t examples, mw_error *err);

/* A batch of SMALL_N examples that starts at example `first`. */
typedef struct small_batch {
    mw_feed feeds[2];
    int64_t ids[SMALL_N];
    mw_batch batch;
} small_batch;

void small_fill_batch(small_batch *out, const small_data *data, int first);

/* Parameters in the order fc1.weight [H, D], fc1.bias [H], fc2.weight [C, H], fc2.bias [C]. */
typedef struct small_weights {
    double value[SMALL_PARAMETERS];
} small_weights;

small_weights small_read(mw_trainer *trainer, mw_error *err);
/* Name and place of parameter tensor 0..3. */
const char *small_name(int tensor);
int small_offset(int tensor);
int small_count(int tensor);

/* The bytes of all parameters and optimizer state, to show that something changed none of them. */
typedef struct small_snapshot {
    unsigned char bytes[4096];
    size_t size;
} small_snapshot;

small_snapshot small_take(mw_trainer *trainer);
void small_check_same(const small_snapshot *a, const small_snapshot *b);

void small_logits(const small_weights *weights, const float *x, double *out_logits); /* one example */
/* Mean cross-entropy and accuracy over examples [first, first + count). */
double small_loss(const small_weights *weights, const small_data *data, int first, int count);
double small_accuracy(const small_weights *weights, const small_data *data, int first, int count);

#endif

/* A small program with constants in every kind of place, as somebody else might have written it, and how it is fed. */
#ifndef TESTS_RUNTIME_WEIGHTS_TUNED_H
#define TESTS_RUNTIME_WEIGHTS_TUNED_H

#include <millwright/millwright.h>

enum { TUNED_N = 4, TUNED_X = 2 * 6 * 6, TUNED_C = 3, TUNED_LOGITS = TUNED_N * TUNED_C };

/* x [4, 2, 6, 6] fp32 -> conv "conv_weight" [3, 2, 3, 3], "conv_bias" -> batch norm "bn_*" -> relu -> [4, 48]
 * -> linear "fc1_weight" [5, 48], "fc1_bias" -> layer norm "ln_gamma", "ln_beta" -> matmul "proj" [5, 3]
 * -> add "proj_bias" -> "logits" [4, 3]. Constants and what lies between are in `dtype`; the ports are fp32. */
mw_graph *tuned_build(mw_dtype dtype, mw_opset opset, const mw_allocator *allocator, mw_error *err);

/* The same after it was written to a folder of that name and read back. */
mw_graph *tuned_read(mw_dtype dtype, const char *folder, mw_error *err);

/* A batch that can be learned, the same at each call. */
typedef struct tuned_data {
    float x[TUNED_N * TUNED_X];
    int32_t labels[TUNED_N];
    mw_feed feeds[2];
    mw_batch batch;
} tuned_data;
void tuned_fill(tuned_data *out);

/* Adds labels and a loss to a graph made from the program, and a trainer on them that predicts the logits. */
mw_trainer *tuned_trainer(mw_graph *graph, mw_device device, float rate, mw_error *err);

/* The logits of a program (output 0) for tuned_fill's x, on one thread. */
bool tuned_run(const mw_graph *graph, mw_device device, float out[TUNED_LOGITS], mw_error *err);

/* Trains `steps` steps and returns the last loss. */
float tuned_steps(mw_trainer *trainer, int steps, mw_error *err);

/* ---- the MNIST program of the corpus, which nobody here wrote; made for a batch of 1 ---- */

#define TUNED_MNIST MW_SHARED_DATA "/mil/ironmill__mnist-from-protobuf/model.mil"
enum { TUNED_BATCH = 8, TUNED_PIXELS = 28 * 28 };
extern const mw_input_shape tuned_mnist_batch;

/* Trains `graph`, made of `source` with that batch, until it has learned some images of noise by heart, and writes the
 * tuned program to a folder. Its logits for each image must be those of the trainer. */
void tuned_check_mnist(const mw_graph *source, mw_graph *graph, const char *folder, mw_error *err);

/* max |a - b| / max |b|. */
double tuned_distance(const float *a, const float *b, size_t count);

#endif

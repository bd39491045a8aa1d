/* The networks of the workloads, built with Millwright's constructors. N is the batch. */
#ifndef BENCH_MODELS_H
#define BENCH_MODELS_H

#include <millwright/millwright.h>

enum { BLOCK_N = 8, BLOCK_T = 128, BLOCK_D = 256, BLOCK_HEADS = 4, BLOCK_WORDS = 96 };

/* x [N, 784] -> dense 256 -> GELU (tanh) -> dense 10. */
mw_tensor *model_mlp(mw_tensor *x);
/* The same with another width. */
mw_tensor *model_mlp_of(mw_tensor *x, int64_t hidden);
/* x [N, K] -> `layers` times (dense 64, ReLU) -> dense 10. */
mw_tensor *model_deep(mw_tensor *x, int layers);

/* x [N, 1, 28, 28] -> twice (3x3 convolution to 16, then 32 channels, ReLU, 2x2 max pool) -> dense 128 -> ReLU ->
 * dense 10. */
mw_tensor *model_cnn(mw_tensor *x);

/* tokens [BLOCK_N, BLOCK_T] -> pre-norm transformer blocks with causal attention -> logits [N T, BLOCK_WORDS].
 * one_hot  look tokens up with a product instead of a gather */
mw_tensor *model_transformer(mw_tensor *tokens, int layers, bool one_hot);

/* x [N, 16] -> dense 16 -> ReLU -> dense 1. */
mw_tensor *model_tiny(mw_tensor *x);

#endif

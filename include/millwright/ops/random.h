/* Random numbers, dropout, and noise that a training goes on with.
 *
 *     mw_tensor *noise = mw_random_normal(graph, MW_F32, MW_SHAPE(8, 3), 0.0f, 0.1f, 42);
 *
 * MIL does not define the numbers; the following holds on the engine. Element i (row-major) of a result uses the words
 * w0..w3 of Philox 4x32-10 (Salmon et al. 2011) for
 *   seed >= 0:  key {seed, 0}, counter {i low, i high, 0, 0}. Every execution in every program gives the same numbers.
 *   seed = -1:  key {2^32 - 1, k}, counter {i low, i high, n low, n high}. Each execution gives new numbers. n counts
 *               the executions of the compiled program from 0; k is the position of the operation in the program. So
 *               a program that is compiled again starts over, and two operations of one program give different numbers
 * Each result is computed in double and rounded once. The numbers do not depend on partitions or threads.
 *
 * The ANE has none of these operations; dropout and noise use others there. On the ANE, an operation with a fixed seed
 * becomes a constant, with the same numbers in fp16; mw_program_create refuses one without a fixed seed. A trainer
 * replaces an operation without a fixed seed by noise, see mw_noise_normal; with a fixed seed, each step gets the same
 * numbers. Results live as long as the graph.
 *
 * Threads: as the rest of a graph: calls on one graph come one at a time, from any thread; other graphs do not mind. */
#ifndef MILLWRIGHT_OPS_RANDOM_H
#define MILLWRIGHT_OPS_RANDOM_H

#include <millwright/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/** y = mean + stddev * sqrt(-2 ln((w0 + 1) / 2^32)) * cos(2 pi w1 / 2^32): normal numbers by Box and Muller.
 *  dtype   MW_F16 or MW_F32
 *  shape   known extents, each 1 or more
 *  mean    finite
 *  stddev  finite, >= 0
 *  seed    >= 0, or -1 = not fixed
 *  return  [shape] of dtype
 *  errors  MW_ERROR_SHAPE for an extent below 1, MW_ERROR_ARGUMENT for numbers out of range, MW_ERROR_DTYPE
 *  vjp     none: there is nothing to differentiate
 *  source  MIL random_normal */
MW_API mw_tensor *mw_random_normal(mw_graph *graph, mw_dtype dtype, mw_shape shape, float mean, float stddev,
                                   int32_t seed);

/** y = low + (high - low) * floor(w0 / 2^8) / 2^24, uniform in [low, high); what rounds to high becomes the largest
 *  number of dtype below it.
 *  low     finite, below high, or equal to it: then every number is low
 *  high    finite
 *  vjp     none; the rest as mw_random_normal
 *  source  MIL random_uniform */
MW_API mw_tensor *mw_random_uniform(mw_graph *graph, mw_dtype dtype, mw_shape shape, float low, float high,
                                    int32_t seed);

/** y = 1 where w0 / 2^32 < prob, else 0.
 *  prob    in [0, 1]
 *  vjp     none; the rest as mw_random_normal
 *  source  MIL random_bernoulli */
MW_API mw_tensor *mw_random_bernoulli(mw_graph *graph, mw_dtype dtype, mw_shape shape, float prob, int32_t seed);

/** What random_categorical reads x as. */
typedef enum mw_categorical_mode {
    MW_CATEGORICAL_LOGITS, /* p = softmax(x) */
    MW_CATEGORICAL_PROBS   /* p = x, not necessarily of sum 1 */
} mw_categorical_mode;

/** y[.., s] = the first class c with p[0] + .. + p[c] > (w0 / 2^32) * sum(p): `size` classes drawn from each row, with
 *  replacement, by the inverse distribution function.
 *  x       [.., C], rank 1 or more, C known  F16 or F32; a p that is not positive and finite counts as 0, and a row of
 *          such gives class 0
 *  size    >= 1
 *  seed    >= 0, or -1 = not fixed
 *  return  [.., size]  dtype of x; F16 holds classes up to 2048 exactly
 *  errors  MW_ERROR_SHAPE for rank 0 or C = 0, MW_ERROR_ARGUMENT for size < 1 or seed < -1, MW_ERROR_DTYPE
 *  vjp     dx = 0
 *  source  MIL random_categorical */
MW_API mw_tensor *mw_random_categorical(mw_tensor *x, mw_categorical_mode mode, int64_t size, int32_t seed);

/** y = x * mask / (1 - p), each element of the mask 0 with probability p, else 1: a new mask at every training step.
 *  Evaluation (mw_trainer_evaluate, mw_trainer_predict, mw_graph_evaluation) takes y = x.
 *  x       any shape with known extents  F16 or F32
 *  p       in [0, 1); rounded to a multiple of 1/961 (0.5 becomes 480/961), and the factor is that of the rounded p, so
 *          that the mean of y is x
 *  name    the generator is the state `name`.generator [2, 8]; layers of different names have different masks
 *  return  shape and dtype of x
 *  errors  MW_ERROR_ARGUMENT for p out of range or a name that is empty or taken; MW_ERROR_SHAPE for unknown extents;
 *          MW_ERROR_DTYPE
 *  vjp     dx = dy * mask / (1 - p)
 *  note    The mask is made on the device. It depends on the seed of the trainer (mw_compile_options.seed), the name,
 *          the shape and the number of steps done, and is the same in fp32 and fp16: all numbers are integers that fp16
 *          holds exactly. A refused step keeps its mask for the next one. Not for cryptography
 *  source  Srivastava et al. 2014, the inverted form, as in PyTorch; the generator is our own (generator.c) */
MW_API mw_tensor *mw_dropout(mw_tensor *x, float p, const char *name);

/* ---- noise ---- */
/* Random numbers that a training can go on with: they come from a generator in the state of the trainer, on every
 * device. A trainer makes such noise of each random_* of its graph without a fixed seed, too.
 *
 *   training    New numbers at every step, with accumulation at every batch. They depend on the seed of the trainer
 *               (mw_compile_options.seed), the name, the count of elements and the steps done. A refused or skipped
 *               step keeps its numbers for the next one; mw_recompute repeats them. The generator is a state,
 *               `name`.generator [4, 8], in every checkpoint, but no weight (mw_trainer_save_weights leaves it out)
 *   evaluation  mw_trainer_evaluate and mw_trainer_predict read the generator where it stands and leave it there: every
 *               batch sees the numbers of the coming step, and the result is the same each time
 *   elsewhere   mw_trainer_export and mw_graph_evaluation have MIL's random_* without a seed in its place (which the
 *               ANE has not). In mw_program_create the state is a port, as mw_state_assign says
 *   quality     Level and fraction are uniform in 961^2 = 923,521 equally likely pairs; the period is 31^8 - 1 steps;
 *               noises of different names are independent. tests/runtime/trainer/test_noise.c has the statistics. Not
 *               for cryptography
 *   fp16        The pairs are integers that fp16 holds exactly, so both types draw the same ones; what is computed of
 *               them is rounded to the type
 *
 * Each extent of a shape is 1 or more. Results have no gradient: of z = mw_noise_normal(.., 0, 1, ..) and tensors mean
 * and stddev make mean + stddev * z, which has those of both. */

/** y = mean + stddev * z(u), z the quantile function of the normal distribution: |z| <= 4.97 (beyond lie 7e-7 of the
 *  distribution), no value twice but by rounding. z is off by 2e-5 at most in fp32, by 0.5 % or 0.004 in fp16.
 *  dtype   MW_F16 or MW_F32
 *  mean    finite
 *  stddev  finite, >= 0
 *  name    of the generator: not empty, unique in the graph
 *  return  [shape] of dtype; lives as long as the graph
 *  errors  MW_ERROR_ARGUMENT for numbers out of range or a name that is empty or taken, MW_ERROR_SHAPE, MW_ERROR_DTYPE
 *  vjp     none: there is nothing to differentiate
 *  source  the generator is our own (src/graph/random/generator.c) */
MW_API mw_tensor *mw_noise_normal(mw_graph *graph, mw_dtype dtype, mw_shape shape, float mean, float stddev,
                                  const char *name);

/** y = low + (high - low) u, in [low, high): u = (k + 1/2) / 923,521 for k from 0 on, each equally likely. What rounds
 *  to high becomes low.
 *  low     finite, below high
 *  high    finite, as is high - low
 *  others  as mw_noise_normal */
MW_API mw_tensor *mw_noise_uniform(mw_graph *graph, mw_dtype dtype, mw_shape shape, float low, float high,
                                   const char *name);

/** y = 1 with probability prob, else 0; the same in fp32 and fp16.
 *  prob    in [0, 1]; rounded to a multiple of 1/923,521
 *  others  as mw_noise_normal */
MW_API mw_tensor *mw_noise_bernoulli(mw_graph *graph, mw_dtype dtype, mw_shape shape, float prob, const char *name);

#ifdef __cplusplus
}
#endif
#endif

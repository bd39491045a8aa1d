/* Random numbers. */
#ifndef MILLWRIGHT_OP_RANDOM_H
#define MILLWRIGHT_OP_RANDOM_H

#include <millwright/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

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
 *  source  Srivastava et al. 2014, the inverted form, as in PyTorch; the generator is our own (op_random_dropout.c) */
MW_API mw_tensor *mw_dropout(mw_tensor *x, float p, const char *name);

#ifdef __cplusplus
}
#endif
#endif

/* Matrix products and the dense layer.
 *
 *     mw_tensor *h = mw_relu(mw_dense(x, 256, "fc1"));      // parameters fc1.weight [256, in], fc1.bias [256]
 *
 * M, N, K are the extents of one product, I inputs, O outputs. A NULL operand yields NULL (except where NULL is said to
 * mean none); results live as long as the graph.
 *
 * Threads: as the rest of a graph: calls on one graph come one at a time, from any thread; other graphs do not mind. */
#ifndef MILLWRIGHT_OPS_MATMUL_H
#define MILLWRIGHT_OPS_MATMUL_H

#include <millwright/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Operands of mw_matmul whose last two axes are swapped first: MW_TRANSPOSE_X | MW_TRANSPOSE_Y. */
typedef unsigned mw_transposes;
enum { MW_TRANSPOSE_NONE = 0, MW_TRANSPOSE_X = 1, MW_TRANSPOSE_Y = 2 };

/** r = x y, a matrix product over the last two axes; the axes before them broadcast.
 *  x       [.., M, K], or [.., K, M] with MW_TRANSPOSE_X; rank 1 stands for [1, K]  F16, F32 or I32
 *  y       [.., K, N], or [.., N, K] with MW_TRANSPOSE_Y; rank 1 stands for [K, 1]  dtype of x; from MW_IOS17 on a
 *          constant may have another, and the result has that of the other operand
 *  return  [.., M, N]; the axis that rank 1 added is left out again; sums are kept in fp32 and rounded once
 *  errors  MW_ERROR_SHAPE if the inner extents differ, the batch axes do not broadcast, a rank-1 operand is to be
 *          transposed, or an operand is a scalar; MW_ERROR_DTYPE; MW_ERROR_ARGUMENT for other transposes
 *  vjp     dx = dr y^T, dy = x^T dr
 *  source  MIL matmul, which follows numpy.matmul */
MW_API mw_tensor *mw_matmul(mw_tensor *x, mw_tensor *y, mw_transposes transposes);

/** r = a b, a sum over the axis that both share and the result lacks, in one of MIL's two equations.
 *  a         [n, c, h, w], or [c, h, w]  F16, F32 or I32
 *  b         [n, w, h, u], or [w, h, u]  dtype of a
 *  equation  "nchw,nwhu->nchu" or "chw,whr->chr", in any letters; spaces are allowed
 *  return    [n, c, h, u], or [c, h, u]: r[n, c, h, u] = sum over w of a[n, c, h, w] b[n, w, h, u]; n and h broadcast.
 *            Sums are kept in fp32 and rounded once
 *  errors    MW_ERROR_ARGUMENT for another equation, MW_ERROR_SHAPE, MW_ERROR_DTYPE
 *  vjp       da[n, c, h, w] = sum over u of dr[n, c, h, u] b[n, w, h, u],
 *            db[n, w, h, u] = sum over c of a[n, c, h, w] dr[n, c, h, u]
 *  source    MIL einsum */
MW_API mw_tensor *mw_einsum(mw_tensor *a, mw_tensor *b, const char *equation);

/** r = x weight^T + bias.
 *  x       [.., I]  F16, F32 or I32
 *  weight  [O, I]   dtype of x
 *  bias    [O]      dtype of x; NULL = none
 *  return  [.., O]
 *  errors  MW_ERROR_SHAPE, MW_ERROR_DTYPE
 *  vjp     dx = dr weight, dweight = dr^T x, dbias = sum of dr over all axes but the last
 *  source  MIL linear, whose weight and bias must be constants: with others this is matmul and add */
MW_API mw_tensor *mw_linear(mw_tensor *x, mw_tensor *weight, mw_tensor *bias);

/** r = x weight^T + bias with new parameters: PyTorch's Linear.
 *  x       [.., I]  F16 or F32; I must be known
 *  units   O > 0
 *  name    the parameters are `name`.weight [O, I] and `name`.bias [O], both uniform in +-1/sqrt(I), dtype of x
 *  return  [.., O]
 *  errors  MW_ERROR_SHAPE, MW_ERROR_DTYPE, MW_ERROR_ARGUMENT for units < 1 or a name that is taken
 *  vjp     as mw_linear */
MW_API mw_tensor *mw_dense(mw_tensor *x, int64_t units, const char *name);

#ifdef __cplusplus
}
#endif
#endif

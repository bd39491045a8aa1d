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
 *  source    MIL einsum. Any other equation: mw_contract */
MW_API mw_tensor *mw_einsum(mw_tensor *a, mw_tensor *b, const char *equation);

/** r = sum over the letters that the result lacks of the product of the operands: einsum of any number of operands.
 *  example   mw_contract("bij,bjk->bik", (mw_tensor *[]){x, y}, 2)          a product of matrices
 *            mw_contract("ii", &x, 1)                                       a trace
 *            mw_contract("bi,ri,ro->bo", (mw_tensor *[]){x, down, up}, 3)   LoRA, in the cheaper order
 *  equation  one term for each operand, separated by ",", then "->" and the result. A term has a letter, "a" to "z" or
 *            "A" to "Z", for each axis. A letter twice in a term is the diagonal. "..." stands once in a term for the
 *            axes without a letter, which broadcast from the last; if the result lacks it, they are summed.
 *            Without "->" the result is "...", then the letters that stand once in all terms, in the order of ASCII.
 *            Spaces are allowed
 *  operands  count tensors  F16, F32 or I32, all of one type. An extent of 1 broadcasts to that of its letter elsewhere
 *  count     1 to 32
 *  return    the extents of the result's letters. It is a composition of matmul, mul, reduce_sum, reshape, transpose,
 *            pad and slice_by_index, so it has their gradients and runs where they run. Products are summed in fp32 and
 *            rounded once; "..i,..i->.." (no letter of one operand alone) rounds each product, too
 *  order     two operands at a time; the cost of two is the product of the extents of their letters. Up to 8 operands:
 *            the cheapest order of all. More: the cheaper of two greedy ones (the pair whose result grows least over
 *            its operands, the pair that costs least), until 8 are left. An unknown extent counts as 128
 *  errors    MW_ERROR_ARGUMENT for what is no equation, with the place in it; MW_ERROR_SHAPE if terms and shapes do not
 *            fit; MW_ERROR_DTYPE; MW_ERROR_UNSUPPORTED if each order has a tensor of more than MW_RANK_MAX axes. NULL
 *            for a NULL operand
 *  vjp       that of its operations: d operand = the contraction of dr with the other operands
 *  source    numpy.einsum and torch.einsum; the orders are those of D. Smith and J. Gray 2018, "opt_einsum" */
MW_API mw_tensor *mw_contract(const char *equation, mw_tensor *const *operands, size_t count);

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

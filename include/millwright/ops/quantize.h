/* Quantization of values, and constants that are stored compressed.
 *
 *     mw_tensor *weight = mw_constexpr_blockwise_shift_scale(int4_data, scale, NULL);  // stays int4 in file and memory
 *     mw_tensor *aware = mw_fake_quantize(x, scale, NULL, 0, MW_I8);                   // trains as if it were int8
 *
 * A constexpr operation is a constant: it takes constants, costs nothing when a program runs, and stands where MIL
 * wants a constant, as the weight of a linear. Those of ios16 (constexpr_affine_dequantize, constexpr_cast, and the
 * packed forms of constexpr_lut_to_dense and constexpr_sparse_to_dense) are built with mw_op in a graph of ios16 or
 * ios17; a program that is read may hold any.
 *
 * In the VJPs y is the result and dy its cotangent. Every call returns NULL and leaves an error on the graph when it
 * fails; a NULL operand yields NULL, unless it may be NULL. Results live as long as the graph.
 *
 * Threads: as the rest of a graph: calls on one graph come one at a time, from any thread; other graphs do not mind. */
#ifndef MILLWRIGHT_OPS_QUANTIZE_H
#define MILLWRIGHT_OPS_QUANTIZE_H

#include <millwright/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/** y = clip(round(x / scale) + zero_point), ties to even, to the range of dtype. A NaN gives 0.
 *  x           [..]  F16 or F32
 *  scale       [] or [n], n the extent of `axis`; dtype of x, not 0. Computed or a parameter: the same values from
 *              other operations
 *  zero_point  the same shapes; dtype `dtype`; NULL = 0
 *  axis        in [-rank, rank), along which scale and zero_point lie if they are vectors; else ignored
 *  dtype       MW_I8 or MW_U8
 *  return      [..]  dtype; from ios17 on
 *  errors      MW_ERROR_SHAPE, MW_ERROR_DTYPE, MW_ERROR_ARGUMENT for an axis out of range or another dtype
 *  vjp         none: y is constant almost everywhere (mw_fake_quantize passes dy straight through)
 *  source      MIL quantize */
MW_API mw_tensor *mw_quantize(mw_tensor *x, mw_tensor *scale, mw_tensor *zero_point, int axis, mw_dtype dtype);

/** y = scale (x - zero_point)
 *  x           [..]  I8 or U8
 *  scale       [] or [n] as for mw_quantize, F16 or F32
 *  zero_point  the same shapes, dtype of x; NULL = 0
 *  return      [..]  dtype of scale; from ios17 on
 *  errors      as mw_quantize
 *  vjp         dscale = sum(dy (x - zero_point)) over what shares a scale; x has no gradient
 *  source      MIL dequantize */
MW_API mw_tensor *mw_dequantize(mw_tensor *x, mw_tensor *scale, mw_tensor *zero_point, int axis);

/** y = dequantize(quantize(x)), with the straight-through gradient: for training that knows of the quantization.
 *  arguments   as mw_quantize; scale may be a parameter, which then is trained too
 *  return      [..]  dtype of x; from ios17 on
 *  errors      as mw_quantize
 *  vjp         dx = dy where round(x / scale) + zero_point lies in the range of dtype, else 0;
 *              dscale = sum(dy (y - x) / scale) where it does, sum(dy y / scale) elsewhere
 *  source      the formulas of PyTorch's fake_quantize and of its form with a learnable scale */
MW_API mw_tensor *mw_fake_quantize(mw_tensor *x, mw_tensor *scale, mw_tensor *zero_point, int axis, mw_dtype dtype);

/** y = scale (data - offset). data is divided into blocks; each block has one element of scale and one of offset.
 *  data    [..]  constant I4, U4, I8, U8, F16 or F32, rank 1 to 8
 *  scale   [..]  constant F16 or F32, the rank of data, each extent a divisor of that of data
 *  offset  [..]  constant, shape of scale; dtype of data, F16 or F32; NULL = 0
 *  return  [..]  a constant, shape of data, dtype of scale; from ios18 on
 *  errors  MW_ERROR_SHAPE, MW_ERROR_DTYPE, MW_ERROR_ARGUMENT for what is no constant
 *  vjp     none: a constant
 *  source  MIL constexpr_blockwise_shift_scale */
MW_API mw_tensor *mw_constexpr_blockwise_shift_scale(mw_tensor *data, mw_tensor *scale, mw_tensor *offset);

/** y = lut[indices], from one table for each block of elements; an index may stand for a vector.
 *  indices      [D..]          constant U1, U2, U3, U4, U6 or U8 of b bits, rank 1 to 6
 *  lut          [T.., 2^b, V]  constant I8, U8, F16 or F32; each T a divisor of its D
 *  vector_axis  in [-rank, rank), along which the V elements of an entry stand; ignored for V = 1
 *  return       [D..], V times as long on vector_axis: a constant of the dtype of lut; from ios18 on
 *  errors, vjp  as mw_constexpr_blockwise_shift_scale
 *  source       MIL constexpr_lut_to_dense */
MW_API mw_tensor *mw_constexpr_lut_to_dense(mw_tensor *indices, mw_tensor *lut, int vector_axis);

/** y = the elements of nonzero_data, in order, where mask is 1, and 0 elsewhere.
 *  nonzero_data  [n]   constant I4, U4, I8, U8, F16 or F32
 *  mask          [..]  constant U1 with n bits set
 *  return        [..]  a constant, shape of mask, dtype of nonzero_data; from ios18 on
 *  errors, vjp   as mw_constexpr_blockwise_shift_scale
 *  source        MIL constexpr_sparse_to_dense */
MW_API mw_tensor *mw_constexpr_sparse_to_dense(mw_tensor *nonzero_data, mw_tensor *mask);

#ifdef __cplusplus
}
#endif
#endif

/* Elements chosen by indices.
 *
 *     mw_tensor *rows = mw_gather(table, tokens, 0);              // [V, D], [B, T] -> [B, T, D]
 *     mw_tensor *p = mw_one_hot(labels, 10, -1, MW_F32, 1, 0);    // [N] -> [N, 10]
 *     mw_tensor *h = mw_embedding(tokens, 1000, 64, "tokens");    // [B, T] -> [B, T, 64], a new table
 *     mw_tensor *s = mw_scatter(sums, groups, values, 0, MW_SCATTER_ADD);
 *
 * Indices. The program checks every index when it runs: a gather gives zeros for an index outside its axis, a scatter
 * leaves its update out. Up to MW_IOS16 a negative index counts from the end; from MW_IOS17 on it is outside. Constant
 * indices are checked when the graph is built; from MW_IOS17 on only if the operation asks for it (validate_indices,
 * which mw_op sets).
 * A call that takes a mw_batch (mw_trainer_step, mw_trainer_fit, mw_predictor_predict ..) refuses a fed index that is
 * outside. The error names example, value and limit. The call can check a feed that reaches a gather only through
 * reshapes, casts, slices or a select that counts from the end. For all other indices, also those that mw_program_write
 * writes into a port, the rule for running holds.
 *
 * On the ANE. A port is fp16, which holds each integer only up to 2048, and an axis has a largest extent (mw_chip). Fed
 * indices work there if they go unchanged to mw_gather, mw_gather_along_axis, mw_one_hot, mw_embedding, mw_scatter with
 * MW_SCATTER_ADD, or the labels of a loss. The port then takes them as one digit, from 2048 rows on as two digits: at
 * most 524288 rows.
 * A product with the one-hot digits then selects the rows, exactly. A table that is longer than an axis is read in
 * blocks; this axis must be the first of a parameter. One row that is not finite makes all results from this table
 * wrong.
 * mw_gather_nd and the other scatters compare indices with ranges, in matrices of at most 2^24 elements. There, values
 * that are computed from fed indices are exact up to 2048. mw_program_create refuses any other fed indices.
 *
 * A NULL operand yields NULL; results live as long as the graph.
 *
 * Threads: as the rest of a graph: calls on one graph come one at a time, from any thread; other graphs do not mind. */
#ifndef MILLWRIGHT_OPS_GATHER_H
#define MILLWRIGHT_OPS_GATHER_H

#include <millwright/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/** y = `on` at the position that each index names along a new axis, `off` elsewhere.
 *  indices  [..]  an integer type; outside [0, size) all are off
 *  size     extent of the new axis, >= 1
 *  axis     of the result, in [-rank - 1, rank]
 *  dtype    of the result: F16, F32, I32 or BOOL
 *  errors   MW_ERROR_ARGUMENT, MW_ERROR_DTYPE
 *  vjp      none: on and off are constants
 *  source   MIL one_hot */
MW_API mw_tensor *mw_one_hot(mw_tensor *indices, int64_t size, int axis, mw_dtype dtype, double on, double off);

/** y = x[.., indices, ..]: slices of x along axis.
 *  x        [A.., n, B..]  any type
 *  indices  [C..]          an integer type, in [0, n); up to MW_IOS16 also [-n, 0), counting from the end
 *  axis     in [-rank, rank)
 *  return   [A.., C.., B..]  dtype of x; a scalar index leaves the axis out
 *  errors   MW_ERROR_ARGUMENT, MW_ERROR_SHAPE, MW_ERROR_DTYPE
 *  vjp      dx = dy added up at the indices
 *  source   MIL gather */
MW_API mw_tensor *mw_gather(mw_tensor *x, mw_tensor *indices, int axis);

/** y[a, j, b] = x[a, indices[a, j, b], b]: one element per index, as numpy.take_along_axis.
 *  x        [A.., n, B..]  any type
 *  indices  [A.., J, B..]  an integer type; the rank of x and its extents except along axis
 *  axis     in [-rank, rank)
 *  return   [A.., J, B..]  dtype of x
 *  errors   MW_ERROR_ARGUMENT, MW_ERROR_SHAPE, MW_ERROR_DTYPE
 *  vjp      dx = scatter_along_axis(0, indices, dy, axis, add)
 *  source   MIL gather_along_axis */
MW_API mw_tensor *mw_gather_along_axis(mw_tensor *x, mw_tensor *indices, int axis);

/** y[a, c, b] = x[a, indices[a, c, 0], .., indices[a, c, K - 1], b]: slices of x chosen by coordinates.
 *  x           [A.., n1, .., nK, B..]  any type
 *  indices     [A.., C.., K]           an integer type; 1 <= K
 *  batch_dims  how many axes A has, >= 0; other than 0 needs MW_IOS16
 *  return      [A.., C.., B..]         dtype of x
 *  errors      MW_ERROR_ARGUMENT, MW_ERROR_SHAPE, MW_ERROR_DTYPE
 *  vjp         with batch_dims = 0: dx = scatter_nd(0, indices, dy, add); else the same for each index of A
 *  source      MIL gather_nd, which is TensorFlow's */
MW_API mw_tensor *mw_gather_nd(mw_tensor *x, mw_tensor *indices, int batch_dims);

/** What a scatter does with the element d of data and the update u that meet at an index. */
typedef enum mw_scatter_mode {
    MW_SCATTER_UPDATE, /**< u */
    MW_SCATTER_ADD,    /**< d + u */
    MW_SCATTER_SUB,    /**< d - u */
    MW_SCATTER_MUL,    /**< d u */
    MW_SCATTER_DIV,    /**< d / u; integers as mw_real_div */
    MW_SCATTER_MAX,    /**< the larger; NaN if either is */
    MW_SCATTER_MIN     /**< the smaller; NaN if either is */
} mw_scatter_mode;

/** y = data, with updates[a, j, b] combined into y[a, indices[j], b].
 *  data     [A.., n, B..]  F16, F32 or I32
 *  indices  [J]            an integer type
 *  updates  [A.., J, B..]  dtype of data
 *  axis     in [-rank, rank)
 *  mode     how they are combined. Updates of one place are taken in the order of j, whatever the number of threads:
 *           update keeps the last (MIL leaves it open), the others accumulate, in fp32, rounded once
 *  return   shape and dtype of data
 *  errors   MW_ERROR_ARGUMENT, MW_ERROR_SHAPE, MW_ERROR_DTYPE
 *  vjp      With g = gather(dy, indices, axis):
 *           add     ddata = dy, dupdates = g
 *           sub     ddata = dy, dupdates = -g
 *           update  ddata = dy, 0 at the indices; dupdates = g for the update that was kept, else 0
 *           mul     ddata = scatter(dy, indices, updates, mul), dupdates = gather(dy times the other factors)
 *           div     ddata = scatter(dy, indices, updates, div), dupdates = -gather(dy y) / updates
 *           max     those that equal y share dy equally; min likewise
 *           The second derivative of mul holds where no update is 0
 *  source   MIL scatter, whose default is "add" in coremltools, though its text says update */
MW_API mw_tensor *mw_scatter(mw_tensor *data, mw_tensor *indices, mw_tensor *updates, int axis, mw_scatter_mode mode);

/** y = data, with updates[a, j, b] combined into y[a, indices[a, j, b], b]; else as mw_scatter.
 *  data     [A.., n, B..]  F16, F32 or I32
 *  indices  [A.., J, B..]  an integer type; the rank of data and its extents except along axis
 *  updates  [A.., J, B..]  dtype of data
 *  vjp      as mw_scatter, with gather_along_axis
 *  source   MIL scatter_along_axis */
MW_API mw_tensor *mw_scatter_along_axis(mw_tensor *data, mw_tensor *indices, mw_tensor *updates, int axis,
                                        mw_scatter_mode mode);

/** y = data, with updates[c, b] combined into y[indices[c, 0], .., indices[c, K - 1], b]; else as mw_scatter.
 *  data     [n1, .., nK, B..]  F16, F32 or I32
 *  indices  [C.., K]           an integer type; 1 <= K
 *  updates  [C.., B..]         dtype of data
 *  vjp      as mw_scatter, with gather_nd
 *  source   MIL scatter_nd, which is TensorFlow's tensor_scatter_nd_update and its kin */
MW_API mw_tensor *mw_scatter_nd(mw_tensor *data, mw_tensor *indices, mw_tensor *updates, mw_scatter_mode mode);

/** y = coordinates of the elements that are not 0 (NaN is not), in row-major order.
 *  x       [..]  of rank R >= 1, any type
 *  return  [N, R]  I32. If x is a constant, N is known. A program that was read may declare N: the result is then the
 *          first N rows, with rows of 0 at the end if there are fewer. Otherwise N is unknown, and the engine refuses
 *          to compile the program
 *  errors  MW_ERROR_SHAPE, MW_ERROR_DTYPE
 *  vjp     none: integers
 *  source  MIL non_zero */
MW_API mw_tensor *mw_non_zero(mw_tensor *x);

/** y = weight[indices, :] with a new parameter: PyTorch's Embedding.
 *  indices  [..]  an integer type, in [0, count). If it is an input, what is fed is checked. See "On the ANE" above
 *  count    how many rows, > 0
 *  dim      extent of a row, > 0
 *  name     the parameter is `name`.weight [count, dim], F32, normal(0, 1)
 *  return   [.., dim]  F32
 *  errors   MW_ERROR_ARGUMENT, MW_ERROR_SHAPE, MW_ERROR_DTYPE
 *  vjp      dweight = dy added up at the indices
 *  source   PyTorch Embedding */
MW_API mw_tensor *mw_embedding(mw_tensor *indices, int64_t count, int64_t dim, const char *name);

#ifdef __cplusplus
}
#endif
#endif

/* Shape and data movement: elements are moved or repeated, never computed.
 *
 *     mw_tensor *flat = mw_reshape(x, MW_SHAPE(-1, 784));                  // [N, 1, 28, 28] -> [N, 784]
 *     mw_tensor *row = mw_slice_by_index(x, (mw_slice[]){{.begin = 2, .squeeze = true}, {.from_start = true,
 *                                                                                        .to_end = true}});
 *
 * x is of any element type unless said. A NULL operand yields NULL; results live as long as the graph.
 *
 * Threads: as the rest of a graph: calls on one graph come one at a time, from any thread; other graphs do not mind. */
#ifndef MILLWRIGHT_OPS_SHAPE_H
#define MILLWRIGHT_OPS_SHAPE_H

#include <millwright/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- the same elements in another shape ---- */

/** y = x.
 *  vjp     dx = dy
 *  source  MIL identity */
MW_API mw_tensor *mw_identity(mw_tensor *x);

/** y = the elements of x in row-major order, in another shape.
 *  shape   extents; one may be -1 (what remains), 0 copies the extent of x at the same position (only if the ranks are
 *          equal; in a text of ios17 on, also otherwise: positions count from the last axis, and what x lacks is 1)
 *  errors  MW_ERROR_SHAPE if the counts differ, MW_ERROR_ARGUMENT for another negative extent or a second -1
 *  vjp     dx = reshape(dy, shape of x)
 *  source  MIL reshape */
MW_API mw_tensor *mw_reshape(mw_tensor *x, mw_shape shape);

/** y = x as a matrix [A, B]: A the product of the extents before axis, B that of the others.
 *  axis    in [-rank, rank]; 1 is MIL's default
 *  errors  MW_ERROR_ARGUMENT
 *  vjp     dx = reshape(dy, shape of x)
 *  source  MIL flatten2d; axis = rank, which MIL leaves open, gives [A, 1] */
MW_API mw_tensor *mw_flatten2d(mw_tensor *x, int axis);

/** y[i] has the extent of x at perm[i].
 *  perm    every axis of x once; negative counts from the end
 *  errors  MW_ERROR_ARGUMENT if perm is no permutation
 *  vjp     dx = transpose(dy, inverse of perm)
 *  source  MIL transpose */
MW_API mw_tensor *mw_transpose(mw_tensor *x, mw_axes perm);

/** y = x with axes of extent 1 put in.
 *  axes    where they stand in the result, in [-rank of y, rank of y), each once; at least one
 *  errors  MW_ERROR_ARGUMENT, MW_ERROR_SHAPE if the rank exceeds MW_RANK_MAX
 *  vjp     dx = squeeze(dy, axes)
 *  source  MIL expand_dims */
MW_API mw_tensor *mw_expand_dims(mw_tensor *x, mw_axes axes);

/** y = x without axes of extent 1.
 *  axes    in [-rank, rank), each once; those whose extent is not 1 are left alone; MW_ALL_AXES = each that is 1
 *  errors  MW_ERROR_ARGUMENT
 *  vjp     dx = reshape(dy, shape of x)
 *  source  MIL squeeze */
MW_API mw_tensor *mw_squeeze(mw_tensor *x, mw_axes axes);

/* ---- joining and cutting ---- */

/** y = the values one after the other along axis.
 *  values  count >= 1 tensors, equal in type, rank and all extents but that of axis; count 0 yields NULL
 *  axis    in [-rank, rank)
 *  errors  MW_ERROR_SHAPE, MW_ERROR_DTYPE, MW_ERROR_ARGUMENT
 *  vjp     dvalues = slices of dy
 *  source  MIL concat */
MW_API mw_tensor *mw_concat(mw_tensor *const *values, size_t count, int axis);

/** y = the values side by side along a new axis.
 *  values  count >= 1 tensors of one type and shape; count 0 yields NULL
 *  axis    where the new axis stands in the result, in [-rank - 1, rank]
 *  errors  MW_ERROR_SHAPE, MW_ERROR_DTYPE, MW_ERROR_ARGUMENT
 *  vjp     dvalues[i] = dy at position i of the axis
 *  source  MIL stack */
MW_API mw_tensor *mw_stack(mw_tensor *const *values, size_t count, int axis);

/** Cuts x into `count` equal parts along axis.
 *  count      1 or more; must divide the extent
 *  out_parts  receives count tensors, all NULL on failure
 *  return     MW_OK or the error, which is also left on the graph
 *  vjp        dx = concat(dparts, axis)
 *  source     MIL split */
MW_API mw_status mw_split(mw_tensor *x, size_t count, int axis, mw_tensor **out_parts);

/** Cuts x along axis into parts of the given sizes, which must sum to its extent; the rest as mw_split. */
MW_API mw_status mw_split_sizes(mw_tensor *x, const int64_t *sizes, size_t count, int axis, mw_tensor **out_parts);

/** The part of one axis that a slice takes: Python's x[begin:end:stride]. */
typedef struct mw_slice {
    int64_t begin, end; /* negative counts from the end; positions beyond the axis are clamped */
    int64_t stride;     /* 0 stands for 1; negative walks backwards */
    bool from_start;    /* begin is left out: the first element (the last one for a negative stride) */
    bool to_end;        /* end is left out: up to and with the last element (the first for a negative stride) */
    bool squeeze;       /* take the one element at begin and leave the axis out */
} mw_slice;

/** y = x[slices].
 *  slices  one per axis of x
 *  errors  MW_ERROR_ARGUMENT if end < begin with both >= 0 and a positive stride, or a squeezed begin is outside
 *  vjp     dx = dy at the positions taken, 0 elsewhere
 *  source  MIL slice_by_index */
MW_API mw_tensor *mw_slice_by_index(mw_tensor *x, const mw_slice *slices);

/** y = x from begin, size elements along each axis.
 *  begin   one per axis; negative counts from the end
 *  size    one per axis; -1 = up to the end
 *  errors  MW_ERROR_SHAPE if the part leaves x
 *  vjp     dx = dy at the positions taken, 0 elsewhere
 *  source  MIL slice_by_size */
MW_API mw_tensor *mw_slice_by_size(mw_tensor *x, const int64_t *begin, const int64_t *size);

/** mw_slice_by_size where begin is computed: the part is where begin points in this run.
 *  x       [D0, ..]
 *  begin   [rank of x]  I32; a negative one counts from the end; then it is clamped to [0, D - size], so that the part
 *          lies within x (TensorFlow and XLA clamp so; MIL leaves a part that leaves x open)
 *  size    one per axis, in [0, D]
 *  errors  MW_ERROR_SHAPE, MW_ERROR_DTYPE
 *  vjp     dx = slice_update(0, dy, begin), which needs MW_IOS18; begin has none
 *  source  MIL slice_by_size */
MW_API mw_tensor *mw_slice_by_size_at(mw_tensor *x, mw_tensor *begin, const int64_t *size);

/** y = x with the part x[slices] replaced by update.
 *  x       [D0, ..]
 *  update  the shape that mw_slice_by_index gives for the slices, of x's type; rank 1 or more
 *  slices  one per axis of x
 *  errors  MW_ERROR_SHAPE, MW_ERROR_DTYPE, those of mw_slice_by_index; MW_ERROR_UNSUPPORTED below MW_IOS18
 *  vjp     dx = slice_update(dy, 0, slices), dupdate = dy[slices]
 *  source  MIL slice_update */
MW_API mw_tensor *mw_slice_update(mw_tensor *x, mw_tensor *update, const mw_slice *slices);

/** mw_slice_update where begin is computed, as a cache needs it.
 *  update  the rank of x, no extent larger than that of x
 *  begin   [rank of x]  I32; as in mw_slice_by_size_at
 *  errors  MW_ERROR_SHAPE, MW_ERROR_DTYPE; MW_ERROR_UNSUPPORTED below MW_IOS18
 *  vjp     dx = slice_update(dy, 0, begin), dupdate = slice_by_size(dy, begin, shape of update); begin has none
 *  source  MIL slice_update */
MW_API mw_tensor *mw_slice_update_at(mw_tensor *x, mw_tensor *update, mw_tensor *begin);

/* ---- the same elements in another order ---- */

/** y = x with the order of the elements along the axes turned round.
 *  axes    in [-rank, rank), each once; MW_ALL_AXES = all of them
 *  errors  MW_ERROR_ARGUMENT
 *  vjp     dx = reverse(dy, axes)
 *  source  MIL reverse */
MW_API mw_tensor *mw_reverse(mw_tensor *x, mw_axes axes);

/** y[.., s, ..] = x[.., lengths[b] - 1 - s, ..] for s < lengths[b], else x[.., s, ..], where b is the position on
 *  batch_axis and s that on seq_axis.
 *  lengths  [extent of batch_axis]  I32; values beyond [0, extent of seq_axis] are taken for the nearer end
 *  axes     in [-rank, rank), different
 *  errors   MW_ERROR_ARGUMENT, MW_ERROR_SHAPE
 *  vjp      dx = reverse_sequence(dy, lengths, seq_axis, batch_axis)
 *  source   MIL reverse_sequence, TensorFlow's tf.reverse_sequence */
MW_API mw_tensor *mw_reverse_sequence(mw_tensor *x, mw_tensor *lengths, int seq_axis, int batch_axis);

/** y[.., w, k, ..] = x[.., w stride + k, ..]: the windows of an axis.
 *  axis    in [-rank, rank)
 *  size    in [1, extent]
 *  stride  >= 1; the windows overlap below size
 *  return  axis has floor((extent - size) / stride) + 1 windows, a new axis of `size` elements follows it
 *  errors  MW_ERROR_ARGUMENT, MW_ERROR_SHAPE
 *  vjp     dx = dy summed over the windows that hold the element
 *  source  MIL sliding_windows */
MW_API mw_tensor *mw_sliding_windows(mw_tensor *x, int axis, int64_t size, int64_t stride);

/** y[.., m, n] = x[.., m, n] within the band: (lower < 0 or m - n <= lower) and (upper < 0 or n - m <= upper); else 0.
 *  x       [.., M, N]
 *  lower   diagonals kept below the main one; negative = all
 *  upper   diagonals kept above it; negative = all. Causal masks: lower -1, upper 0
 *  errors  MW_ERROR_SHAPE for a rank below 2
 *  vjp     dx = band_part(dy, lower, upper)
 *  source  MIL band_part */
MW_API mw_tensor *mw_band_part(mw_tensor *x, int64_t lower, int64_t upper);

/* ---- repeating and filling ---- */

/** y = x repeated reps[i] times along axis i.
 *  reps    one per axis of x, each >= 1
 *  errors  MW_ERROR_ARGUMENT
 *  vjp     dx = sum of dy over the repetitions
 *  source  MIL tile */
MW_API mw_tensor *mw_tile(mw_tensor *x, mw_shape reps);

/** What stands in the border that mw_pad adds. */
typedef enum mw_pad_mode {
    MW_PAD_CONSTANT, /* `value` */
    MW_PAD_REFLECT,  /* the elements mirrored at the edge, the edge not repeated; pads below the extent */
    MW_PAD_REPLICATE /* the edge; pads up to the extent */
} mw_pad_mode;

/** y = x with a border.
 *  x       [..]  F16 or F32
 *  pad     [before, after] for each of the last `axes` axes, in order; each >= 0
 *  axes    in [1, rank]
 *  value   of MW_PAD_CONSTANT
 *  errors  MW_ERROR_ARGUMENT, MW_ERROR_SHAPE, MW_ERROR_DTYPE
 *  vjp     dx = the middle of dy (constant), plus the border folded back (reflect, replicate)
 *  source  MIL pad */
MW_API mw_tensor *mw_pad(mw_tensor *x, const int64_t *pad, int axes, mw_pad_mode mode, float value);

/** y = `value` everywhere.
 *  dtype   F16, F32, I32 or BOOL
 *  shape   known extents
 *  errors  MW_ERROR_DTYPE, MW_ERROR_SHAPE
 *  vjp     none: value is a constant
 *  source  MIL fill */
MW_API mw_tensor *mw_fill(mw_graph *graph, mw_dtype dtype, mw_shape shape, double value);

/** y = `value` everywhere, in the shape of ref.
 *  ref     any type, read for its shape alone
 *  dtype   F16, F32, I32 or BOOL
 *  errors  MW_ERROR_DTYPE; MW_ERROR_UNSUPPORTED below MW_IOS16
 *  vjp     zero
 *  source  MIL fill_like */
MW_API mw_tensor *mw_fill_like(mw_tensor *ref, mw_dtype dtype, double value);

/** y = the extents of x.
 *  return  [rank of x]  I32; constant, since the extents are known when a program is planned
 *  vjp     none: integers
 *  source  MIL shape */
MW_API mw_tensor *mw_shape_of(mw_tensor *x);

/** y = start, start + step, ... as long as it stays before end.
 *  dtype   F16, F32 or I32
 *  step    not 0
 *  return  [ceil((end - start) / step)], at least 0
 *  errors  MW_ERROR_ARGUMENT, MW_ERROR_DTYPE
 *  vjp     dstart = sum(dy), dstep = sum(i * dy[i]), dend = 0, where mw_op or a program that was read computes them
 *  source  MIL range_1d */
MW_API mw_tensor *mw_range_1d(mw_graph *graph, mw_dtype dtype, double start, double end, double step);

#ifdef __cplusplus
}
#endif
#endif

/* The embedding pattern: the gradient of elements that were taken by index, in two forms. The native one is a scatter,
 * which no ANE runs; the decomposed lowering compares the indices with a constant range and sums products with that.
 * How that is computed where fp16 cannot count so far, or no axis is so long: graph/patterns/digits.h and
 * mil/legalize/split.h.
 */
#ifndef MW__GRAPH_PATTERNS_EMBEDDING_H
#define MW__GRAPH_PATTERNS_EMBEDDING_H

#include "graph/ir/ir.h"

/* How the tensor that was taken from is seen: [batch, outer, extent, inner], the indices as [batch, J]. `axis` is that
 * of the extent in its own shape. */
typedef struct mw__taken {
    int64_t batch, outer, extent, inner;
    int axis;
} mw__taken;

/* result[b, o, i, :] = onto[b, o, i, :] + sum of dy[b, o, j, :] over j with indices[b, j] == i; other indices are left
 * out.
 *  onto     of `shape`, or NULL for zeros: the native form adds to it in place, if nobody else reads it
 *  dy       [batch, outer, J, inner] in any shape
 *  indices  batch J integers in any shape
 *  return   [batch, outer, extent, inner] as `shape` */
mw_tensor *mw__embedding_gradient(mw_tensor *onto, mw_tensor *dy, mw_tensor *indices, mw__taken from, mw_shape shape);

/* The same for gather_along_axis: result[a, i, b] = onto[a, i, b] + sum of dy[a, j, b] over j with
 * indices[a, j, b] == i.
 *  return   `shape`, whose extent at `axis`, which is not negative, is that of what was taken from */
mw_tensor *mw__pick_gradient(mw_tensor *onto, mw_tensor *dy, mw_tensor *indices, int axis, mw_shape shape);

#endif

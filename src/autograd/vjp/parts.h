/* Cotangents of parts of a tensor: what slices, splits and single rows give back. They are kept apart until the
 * tensor's cotangent is asked for, and put together then: n parts take about n operations, and no more elements than
 * the parts have, not n tensors of full size. */
#ifndef MW__AUTOGRAD_VJP_PARTS_H
#define MW__AUTOGRAD_VJP_PARTS_H

#include "graph/ir/ir.h"
#include <millwright/millwright.h>

/* Elements begin, begin + stride, .. of one axis, `count` of them; all of an axis of unknown extent has count -1. */
typedef struct mw__span {
    int64_t begin, count, stride;
} mw__span;

/* dy lies in the elements that the spans take of each axis, in x's rank; elsewhere the cotangent is zero. */
typedef struct mw__dpart {
    mw_tensor *dy;
    mw__span span[MW_RANK_MAX];
} mw__dpart;

/* The whole axis. */
mw__span mw__span_all(int64_t extent);

/* The sum of the parts in a tensor of `shape`. Parts that lie beside each other are joined, gaps are filled with zeros,
 * equal places are summed first; what overlaps otherwise is summed in as few layers as are possible along one axis.
 *  parts   `count` >= 1, in the order of the sum
 *  return  NULL with an error in the graph or in `err` */
mw_tensor *mw__parts_sum(mw_graph *graph, mw_shape shape, const mw__dpart *parts, size_t count, mw_error *err);

#endif

/* Where a forward pass can be cut into stretches that are computed again in the backward pass. */
#ifndef MW__AUTOGRAD_RECOMPUTE_CUT_H
#define MW__AUTOGRAD_RECOMPUTE_CUT_H

#include "base/memory/alloc.h"
#include "graph/ir/ir.h"

/* What a second execution would not repeat. */
bool mw__recompute_keeps(const mw__op *op);

/* Visits each value that an operation reads, also in its blocks, and those that the records of its results speak of. */
typedef void mw__read_visit(void *user, const mw_tensor *value);
void mw__visit_reads(const mw__op *op, mw__read_visit *visit, void *user);

/* Before a gradient: each segment of the current block learns from which leaves it computes in this graph. */
mw_status mw__recompute_find_leaves(mw_graph *graph, mw_error *err);

/* Ends of stretches, in order, that cut main of the graph into at most `pieces` of about equal bytes; the last piece,
 * which goes to the loss, has no end. An end is all that the operations behind it use of those before it, but for what
 * is fed or resident, so that no bit of a gradient changes. *out in the arena.
 *  pieces  from 2 */
mw_status mw__recompute_cut(mw__arena *arena, const mw_tensor *loss, size_t pieces, const mw_tensor *const **out,
                            size_t *out_count, mw_error *err);

#endif

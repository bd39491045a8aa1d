/* The clone's private parts: what is wanted, and blocks inside operations. */
#ifndef MW__GRAPH_TRANSFORM_CLONE_CLONE_MARK_H
#define MW__GRAPH_TRANSFORM_CLONE_CLONE_MARK_H

#include "graph/transform/clone/clone.h"

/* Finds what the roots need, and which constants operations of the table use. */
mw_status mw__clone_mark(mw__clone *clone, mw_error *err);
bool mw__clone_wants(const mw__clone *clone, const mw_tensor *source);
bool mw__clone_wants_op(const mw__clone *clone, const mw__op *op);
/* The same of an operation in a block: all, but for evaluations, which leave out what only training needs. */
bool mw__clone_wants_inside(const mw__clone *clone, const mw__op *op);
/* True if something that is wanted used the value, but gets its evaluation form. */
bool mw__clone_replaced(const mw__clone *clone, const mw_tensor *source);
/* True if the state is not assigned in the copy. */
bool mw__clone_freezes(const mw__clone *clone, const mw_tensor *state);
/* True if the value is made anew by mw__noise_restore. */
bool mw__clone_restores(const mw__clone *clone, const mw_tensor *source);
/* A constant may change its type only if operations with a row use it. */
bool mw__clone_may_retype(const mw__clone *clone, const mw_tensor *source);
/* Copies a nested block into a fresh one. `types` (or NULL) is what is known of its inputs from outside, each or NULL,
 * and *changed is set where that was more. */
mw_status mw__clone_block(mw__clone *clone, const mw__block *from, mw__block *into, const mw__type *const *types,
                          bool *changed);
/* The blocks of an operation, whose arguments are filled. */
mw_status mw__clone_blocks(mw__clone *clone, const mw__op *source, mw__op *op);
/* Appends the operations of a nested block to the current one; its inputs must be mapped. May be called again with
 * other inputs: constants are copied once. */
mw_status mw__clone_inline(mw__clone *clone, const mw__block *from);

#endif

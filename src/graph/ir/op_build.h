/* Building operations: what constructors, layers and rules use. */
#ifndef MW__GRAPH_IR_OP_BUILD_H
#define MW__GRAPH_IR_OP_BUILD_H

#include "base/visible.h"
#include "graph/ir/op_table.h"

/* What typed constructors are made of:
 *
 *     mw_tensor *mw_softmax(mw_tensor *x, int axis)
 *     {
 *         mw__build build = mw__build_begin("softmax", x);
 *         mw__build_set(&build, "x", x);
 *         mw__build_int(&build, "axis", axis);
 *         return mw__build_end(&build);
 *     }
 *
 * A NULL tensor given to begin or set makes end return NULL without touching the graph's error. */
typedef struct mw__build {
    const char *operation;
    mw_graph *graph;
    const mw__row *row;
    mw__op *op;
    bool failed;
} mw__build;

MW__SIBLING mw__build mw__build_begin(const char *operation, const mw_tensor *any);
MW__SIBLING mw__build mw__build_begin_graph(const char *operation, mw_graph *graph);
MW__SIBLING void mw__build_set(mw__build *build, const char *arg, mw_tensor *value);
/* Leaves the argument absent for NULL. */
void mw__build_set_given(mw__build *build, const char *arg, mw_tensor *value);
void mw__build_set_many(mw__build *build, const char *arg, mw_tensor *const *values, size_t count);
MW__SIBLING void mw__build_int(mw__build *build, const char *arg, int64_t value);
MW__SIBLING void mw__build_ints(mw__build *build, const char *arg, const int64_t *values, size_t count);
MW__SIBLING void mw__build_bool(mw__build *build, const char *arg, bool value);
void mw__build_bools(mw__build *build, const char *arg, const bool *values, size_t count);
MW__SIBLING void mw__build_scalar(mw__build *build, const char *arg, mw_dtype dtype, double value);
/* A scalar in the element type of the operation's T arguments (set those first). */
MW__SIBLING void mw__build_float(mw__build *build, const char *arg, double value);
MW__SIBLING void mw__build_string(mw__build *build, const char *arg, const char *value);
MW__SIBLING mw_tensor *mw__build_end(mw__build *build);
/* An operation of x and y alone. */
mw_tensor *mw__build_pair(const char *operation, mw_tensor *x, mw_tensor *y);
/* a + b, where NULL is zero; zeros of the element type of x. */
mw_tensor *mw__build_sum(mw_tensor *a, mw_tensor *b);
mw_tensor *mw__build_zeros(const mw_tensor *x, mw_shape shape);
/* Leaves "operation: what" on the graph of x, for arguments that are no tensors; NULL. */
mw_tensor *mw__build_refuse(const mw_tensor *x, const char *operation, const char *what);
/* For several results. */
MW__SIBLING mw_status mw__build_end_many(mw__build *build, mw_tensor **out_results, size_t capacity, size_t *out_count);

/* x as `shape`, in which 0 is an extent where MIL's reshape would copy one: of an x without elements the first 0 is
 * what is left for -1, and each other one is cut from an extent of 1. */
mw_tensor *mw__reshape_to(mw_tensor *x, mw_shape shape);

/* The parameter "layer.part" in the dtype of x, for layers. `operation` is the subject of the message for a name that
 * is too long. */
mw_tensor *mw__layer_parameter(mw_tensor *x, const char *operation, const char *layer, const char *part, mw_shape shape,
                               mw_init init);
/* The same for a state. */
mw_tensor *mw__layer_state(mw_tensor *x, const char *operation, const char *layer, const char *part, mw_shape shape,
                           mw_init init);

/* A const statement in the graph's current block (shared with an equal earlier one when small), for constructors. */
MW__SIBLING mw_tensor *mw__constant(mw_graph *graph, mw_dtype dtype, mw_shape shape, const void *data,
                                    const char *hint);
/* The same of one number; `what` is its hint, and the subject of the message if it does not fit. */
mw_tensor *mw__scalar(mw_graph *graph, mw_dtype dtype, double value, const char *what);

/* If `indices` is an input, or one in another shape or order, its values must lie in 0 .. limit - 1 (the smallest limit
 * counts) or be `ignored`; NULL = nothing is ignored. */
MW__SIBLING void mw__limit_indices(mw_tensor *indices, int64_t limit, const int64_t *ignored);

#endif

/* Making graphs and what is in them, below the level of constructors; checking and naming it. */
#ifndef MW__GRAPH_IR_IR_MAKE_H
#define MW__GRAPH_IR_IR_MAKE_H

#include "base/visible.h"
#include "graph/ir/op_table.h"

/* ---- graphs ---- */

/* As mw_graph_create, for graphs that the user does not get, and those that are published when they are finished; both
 * are freed with mw__graph_free as long as the library has them. */
MW__SIBLING mw_graph *mw__graph_make(const mw_graph_options *options, mw_error *err);
/* Returns the graph for the user to own; NULL, with the graph freed, if there is no memory. NULL is fine. */
MW__SIBLING mw_graph *mw__graph_publish(mw_graph *graph, mw_error *err);
MW__SIBLING void mw__graph_free(mw_graph *graph);
/* Around a call with callbacks in it, which may destroy the graph: it lives until the call has dropped it, and then the
 * call returns MW_ERROR_STATE in place of `status`. */
MW__SIBLING void mw__graph_hold(const mw_graph *graph);
MW__SIBLING mw_status mw__graph_drop(const mw_graph *graph, const char *call, mw_status status, mw_error *err);

/* False, with MW_ERROR_ARGUMENT "call: the graph is NULL", for NULL. */
MW__SIBLING bool mw__graph_given(const mw_graph *graph, const char *call, mw_error *err);

/* ---- types, functions, blocks, values ---- */

const mw__type *mw__type_tensor(mw_graph *graph, mw_dtype dtype, mw_shape shape, mw_error *err);
/* Of types in the same graph; NULL for NULL. The length of a list may be MW_DIM_UNKNOWN. */
const mw__type *mw__type_list(mw_graph *graph, const mw__type *element, int64_t length, mw_error *err);
const mw__type *mw__type_dict(mw_graph *graph, const mw__type *key, const mw__type *value, mw_error *err);
MW__SIBLING mw__function *mw__function_create(mw_graph *graph, const char *name, mw_opset opset, mw_error *err);
mw__block *mw__block_create(mw__function *function, mw__op *owner, mw_error *err);
mw_tensor *mw__value_create(mw_graph *graph, const mw__type *type, const char *hint, mw_error *err);
/* The same with a hint that lives as long as the graph; not empty. */
mw_tensor *mw__value_create_as(mw_graph *graph, const mw__type *type, const char *hint, mw_error *err);
mw_status mw__block_add_input(mw__block *block, mw_tensor *value, mw_error *err);
mw_status mw__block_add_op(mw__block *block, mw__op *op, mw_error *err);
mw_status mw__block_add_output(mw__block *block, mw_tensor *value, mw_error *err);
mw__function *mw__function_find(const mw_graph *graph, const char *name);
/* The function "main"; NULL if the program has none. */
MW__SIBLING mw__function *mw__graph_main(const mw_graph *graph);
/* As mw__function_find, and for NULL "main" or the only one; NULL with MW_ERROR_ARGUMENT, listing those that there are.
 */
MW__SIBLING const mw__function *mw__function_choose(const mw_graph *graph, const char *name, mw_error *err);
/* A const statement in the current block. The payload is not copied, and lives at least as long as the graph. */
mw_tensor *mw__payload_emit(mw_graph *graph, const mw__payload *payload, const char *hint, mw_error *err);
/* The same of a constant whose elements are all the one at `element`, which is copied: short texts must not make huge
 * constants. An error is left on the graph. */
mw_tensor *mw__payload_emit_splat(mw_graph *graph, mw_dtype dtype, mw_shape shape, const void *element,
                                  const char *hint);
/* Attaches a record; copies `composite`, its inputs and numbers. Returns value, NULL on failure. */
MW__SIBLING mw_tensor *mw__composite_attach(mw_tensor *value, const mw__composite *composite);

/* A copy of a string in the graph's arena; NULL with an error on the graph. */
const char *mw__graph_string(mw_graph *graph, const char *text);
/* A copy in the graph's arena; NULL for NULL, or with an error on the graph. */
const mw__part *mw__part_copy(mw_graph *graph, const mw__part *part);
const mw__port_note *mw__graph_copy_port_note(mw_graph *graph, const mw__port_note *note);

/* ---- checks ---- */

/* Checks one operation against its row: arguments, types, constants, then the shape rule; writes the inferred types. */
mw_status mw__op_infer(const mw__op *op, mw__infer *infer);
/* The same for a parsed operation: also compares with the declared result types. Text position in the error. What the
 * row can expand may have computed values where it wants constants, as it is expanded when the program is copied. */
MW__SIBLING mw_status mw__op_verify(const mw__op *op, mw_error *err);

/* Element types that differ between T and U, as MIL's ios17 allows: such an operation is computed in one float type,
 * and its result brought into the type that it should have. */
bool mw__op_is_mixed(const mw__op *op);
/* Rewrites those of a function so, in place; its values stay what they are. */
mw_status mw__function_unmix(mw__function *function, mw_error *err);

/* ---- messages ---- */

/* "matmul \"fc1\""; without a name "matmul", or "matmul #3" while it is built, the third of its block: the subject of a
 * message. The places in a copy of a graph are not those of the graph, so that what is compiled has none. */
MW__SIBLING const char *mw__op_subject(const mw__op *op, char *buffer, size_t size);
/* "\"fc1\"", "the result of matmul #3", "a constant fp32 [3]": a tensor in a message, which never is "". */
enum { MW__TENSOR_TEXT = 128 };
MW__SIBLING const char *mw__tensor_print(const mw_tensor *x, char *buffer, size_t size);
/* "[128, 784]". */
MW__SIBLING const char *mw__shape_print(mw_shape shape, char *buffer, size_t size);

/* Keeps the error of a graph for mw__fail_null, if it has one. */
void mw__graph_note(const mw_graph *graph);

/* A NULL where a tensor is needed: raises the error of the constructor of this thread that last failed, since the NULL
 * came from it, else MW_ERROR_ARGUMENT with this message. */
MW__SIBLING mw_status mw__fail_null(mw_error *err, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* A tensor of another graph was given to an operation on `graph`: an error of both. NULL. */
mw_tensor *mw__graph_mixed(const mw_tensor *x, mw_graph *graph, const char *operation, const char *argument);

/* Notes an error on the graph (the first stays) and returns NULL. */
MW__SIBLING mw_tensor *mw__graph_fail(mw_graph *graph, mw_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif

/* Branches, loops and lists; labels of classes.
 *
 *     static mw_tensor *below_eight(void *user, mw_tensor *const *vars, size_t count)    // vars: i, x
 *     { return mw_less(vars[0], mw_scalar(user, MW_I32, 8)); }
 *     static void once(void *user, mw_tensor *const *vars, size_t count, mw_tensor **out)
 *     {
 *         out[0] = mw_add(vars[0], mw_scalar(user, MW_I32, 1));
 *         out[1] = mw_tanh(mw_matmul(vars[1], w, MW_TRANSPOSE_NONE));
 *     }
 *     mw_while_loop((mw_tensor *[]){zero, x}, 2, below_eight, once, graph, out_vars);
 *
 * A block (the body of a loop or branch) can use the values outside it. A value made inside a block can be used only
 * there, except for the results of the block. The engine runs loops and branches as they are. Gradients need
 * mw_graph_flatten; trainers call it.
 *
 * A list holds tensors of one type; elements that were not written are zeros. Writing gives a new list, and the older
 * one keeps its elements. If a loop carries a list and writes one of its elements, the write happens in place. A list
 * is not a tensor: only these operations, loops and branches take it, and it cannot be a result of the graph.
 * If an index is computed and outside of the list, reading gives zeros, and writing changes nothing. A list of dynamic
 * length grows instead: the engine must be able to find a bound of its indices (constants, and what a loop counts below
 * a constant). A constant index outside of the list is an error when the program is compiled. A NULL operand yields
 * NULL; results live as long as the graph.
 *
 * Threads: as the rest of a graph: calls on one graph come one at a time, from any thread; other graphs do not mind. */
#ifndef MILLWRIGHT_OPS_CONTROL_H
#define MILLWRIGHT_OPS_CONTROL_H

#include <millwright/graph.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Gives what a loop goes on by: one bool, computed from `count` loop variables. */
typedef mw_tensor *mw_loop_condition(void *user, mw_tensor *const *vars, size_t count);
/** Gives the next value of each of `count` loop variables in out_vars, each of the type it had. */
typedef void mw_loop_body(void *user, mw_tensor *const *vars, size_t count, mw_tensor **out_vars);
/** Gives `count` values in out_results. */
typedef void mw_branch(void *user, mw_tensor **out_results, size_t count);

/** vars = body(vars) as long as condition(vars). A run that never ends is not interrupted.
 *  vars       `count` tensors or lists, 1 to 64: what the loop variables start with
 *  condition  called once, when the loop is built
 *  body       called once
 *  user       given to both
 *  out_vars   receives `count` values: the loop variables when the condition is false
 *  return     MW_OK or the error, which is also left on the graph; all results are NULL then
 *  errors     MW_ERROR_DTYPE if a type changes, MW_ERROR_SHAPE if the condition is not one bool, MW_ERROR_ARGUMENT
 *  vjp        none; mw_graph_flatten
 *  source     MIL while_loop */
MW_API mw_status mw_while_loop(mw_tensor *const *vars, size_t count, mw_loop_condition *condition, mw_loop_body *body,
                               void *user, mw_tensor **out_vars);

/** results = pred ? yes() : no(). Only what is chosen is computed.
 *  pred         BOOL, one element
 *  yes, no      called once each, when the branch is built; they give values of the same types
 *  user         given to both
 *  out_results  receives `count` values, 1 to 64
 *  return       MW_OK or the error, which is also left on the graph; all results are NULL then
 *  errors       MW_ERROR_DTYPE if the types differ, MW_ERROR_SHAPE if pred is not one bool, MW_ERROR_ARGUMENT
 *  vjp          none; mw_graph_flatten
 *  source       MIL cond */
MW_API mw_status mw_cond(mw_tensor *pred, mw_branch *yes, mw_branch *no, void *user, mw_tensor **out_results,
                         size_t count);

/** A list of `length` zeros of shape `element`.
 *  dtype    of the elements
 *  element  shape of one, rank at most 7
 *  length   0 or more
 *  dynamic  writing at an index beyond the length makes it longer
 *  errors   MW_ERROR_DTYPE, MW_ERROR_SHAPE, MW_ERROR_ARGUMENT
 *  vjp      none; mw_graph_flatten
 *  source   MIL make_list */
MW_API mw_tensor *mw_make_list(mw_graph *graph, mw_dtype dtype, mw_shape element, int64_t length, bool dynamic);

/** The list with value at index.
 *  index   I32, one element
 *  value   of the type of its elements
 *  errors  MW_ERROR_SHAPE, MW_ERROR_DTYPE, MW_ERROR_ARGUMENT for a constant below 0
 *  vjp     none; mw_graph_flatten
 *  source  MIL list_write */
MW_API mw_tensor *mw_list_write(mw_tensor *list, mw_tensor *index, mw_tensor *value);

/** The element at index.
 *  index   I32, one element
 *  return  of the type of its elements
 *  errors  MW_ERROR_SHAPE, MW_ERROR_DTYPE, MW_ERROR_ARGUMENT for a constant below 0
 *  vjp     none; mw_graph_flatten
 *  source  MIL list_read */
MW_API mw_tensor *mw_list_read(mw_tensor *list, mw_tensor *index);

/** The elements at `indices`, stacked.
 *  indices  [k]  I32
 *  return   [k, ..]  of the type of its elements
 *  errors   MW_ERROR_SHAPE, MW_ERROR_DTYPE, MW_ERROR_ARGUMENT for a constant below 0
 *  vjp      none; mw_graph_flatten
 *  source   MIL list_gather */
MW_API mw_tensor *mw_list_gather(mw_tensor *list, mw_tensor *indices);

/** The list with value[i] at indices[i]; of equal indices the last counts.
 *  indices  [k]  I32
 *  value    [k, ..]  of the type of its elements
 *  errors   MW_ERROR_SHAPE, MW_ERROR_DTYPE, MW_ERROR_ARGUMENT for a constant below 0
 *  vjp      none; mw_graph_flatten
 *  source   MIL list_scatter */
MW_API mw_tensor *mw_list_scatter(mw_tensor *list, mw_tensor *indices, mw_tensor *value);

/** The length of a list.
 *  return  I32, rank 0
 *  errors  MW_ERROR_DTYPE
 *  vjp     none: an integer
 *  source  MIL list_length */
MW_API mw_tensor *mw_list_length(mw_tensor *list);

/** label = classes[index of the largest of probabilities], and the probability of each class: what makes a program a
 *  classifier for Core ML. Both are for mw_output alone, no operation takes them. A program gives the index and the
 *  probabilities in the order of the classes, and says the labels: mw_program_label.
 *  probabilities      F32, any shape, one element for each class; a NaN is taken for the largest
 *  classes            copied; one of names and numbers, at least one. A label may be there twice
 *  out_label          receives a string or an int64 of rank 0
 *  out_probabilities  receives a dictionary from labels to probabilities
 *  return             MW_OK or the error, which is also left on the graph; both results are NULL then
 *  errors             MW_ERROR_SHAPE if their numbers differ, MW_ERROR_DTYPE, MW_ERROR_ARGUMENT
 *  vjp                of the probabilities the identity, after mw_graph_flatten; of the label none
 *  source             MIL classify */
MW_API mw_status mw_classify(mw_tensor *probabilities, const mw_classes *classes, mw_tensor **out_label,
                             mw_tensor **out_probabilities);

#ifdef __cplusplus
}
#endif
#endif

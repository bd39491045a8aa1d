/* classify, the last operation of classifiers: its labels, and what stands for its results once they are computed. A
 * device gives the index of the largest probability and all of them in the order of the classes; labels stay with the
 * program (runtime/evaluate/classes.c). */
#ifndef MW__GRAPH_IR_CLASSIFY_H
#define MW__GRAPH_IR_CLASSIFY_H

#include "graph/ir/ir.h"

/* The classify that the value is a result of; NULL if it is none. */
const mw__op *mw__classify_of(const mw_tensor *value);
/* Number of classes of an operation that has been verified. */
size_t mw__classify_count(const mw__op *op);
/* The label of one: its string, or NULL and its number. */
const char *mw__classify_label(const mw__op *op, size_t index, int64_t *out_number);

/* The type of what is computed for a result: int32 [] of the label, fp32 [n] of the probabilities. */
mw_dtype mw__classify_dtype(const mw_tensor *result);
mw_shape mw__classify_shape(const mw_tensor *result);
/* Appends both, made of the probabilities in `graph`. */
void mw__classify_emit(mw_graph *graph, const mw__op *op, mw_tensor *probabilities, mw_tensor *out[2]);

/* True for a const that holds labels, of which nothing is computed. */
bool mw__is_label_list(const mw__op *op);
/* True if the operation, or one of its blocks, makes use of labels or results of classify without being one. */
bool mw__classify_is_misused(const mw__op *op);

#endif

/* A function for another number of examples: what follows the batch of the inputs gets its extent. */
#ifndef MW__GRAPH_TRANSFORM_REBATCH_H
#define MW__GRAPH_TRANSFORM_REBATCH_H

#include "graph/transform/batch.h"

typedef struct mw__clone mw__clone;

/* From a function of `from` examples to one of `to`. */
typedef struct mw__rebatch {
    const mw__batch_rows *table; /* of the source */
    int64_t from, to;
    bool *counts; /* by value id: its elements depend on how many examples there are */
} mw__rebatch;

/* The batch of a function: the largest number that divides the first extent of every input that is fed. 0 if there is
 * none: an input without axes, or with open extents. */
int64_t mw__batch_of(const mw__function *function);

/* What a value's shape becomes. */
mw_shape mw__rebatch_shape(const mw__rebatch *rebatch, const mw_tensor *value);

/* rebatch_operand.c: what stands for a constant operand in the copy of an operation with rows (a mw__clone_swap; `user`
 * is the mw__rebatch): bounds of slices, and constants that repeat one example. */
mw_tensor *mw__rebatch_operand(void *user, mw__clone *clone, const mw__op *op, size_t slot, const mw__operand *operand);

/* rebatch_alike.c: what stands for a computed value that no example enters, with a row for each along `axis` that are
 * all alike: one of them, `repeats` as often as there are examples. NULL if they are not known to be alike, or with an
 * error on the target graph. */
mw_tensor *mw__rebatch_alike(const mw__rebatch *rebatch, mw__clone *clone, const mw_tensor *value, int axis,
                             bool repeats);

/* rebatch_count.c: notes which results of an operation that was copied count the examples; an error is left on the
 * target graph where one that belongs to an example would. */
void mw__rebatch_count(const mw__rebatch *rebatch, mw__clone *clone, const mw__op *op);

#endif

/* A function for another number of examples: what follows the batch of the inputs gets its extent. */
#ifndef MW__GRAPH_TRANSFORM_BATCH_REBATCH_H
#define MW__GRAPH_TRANSFORM_BATCH_REBATCH_H

#include "graph/transform/batch/batch.h"

typedef struct mw__clone mw__clone;

enum { MW__REBATCH_GUESSES = 4 };

/* From a function of `from` examples to one of `to`. */
typedef struct mw__rebatch {
    mw__batch_rows *table; /* of the source */
    int64_t from, to;
    bool *counts;                 /* by value id: its elements depend on how many examples there are */
    mw__batch_rows *followed;     /* by value id: MW__BATCH_ROWS of what no example enters, but whose extent followed
                                   * theirs, and whose rows are the same for all of them */
    mw__batch_rows *handed;       /* by value id: MW__BATCH_ROWS of what no example enters, but what a branch or a
                                   * trip hands out where others have rows */
    const mw__batch_rows **alike; /* [MW__REBATCH_GUESSES]: tables of rebatch_alike.c, made when they are needed */
    mw__arena *arena;
    bool trained; /* for a training: examples may come together */
} mw__rebatch;

/* mw_graph_rebatch for a training, in which what depends on several examples, or on how many there are, does so for
 * `examples` of them. */
mw_graph *mw__rebatch_trained(const mw_graph *graph, int64_t examples, mw_error *err);
/* Whether the copies of all values with rows have so many of them; NULL, or one that has not. */
const mw_tensor *mw__rebatch_differs(const mw__rebatch *rebatch, const mw__clone *clone);

/* The batch of a function: the largest number that divides the first extent of every input that is fed. 0 if there is
 * none: an input without axes, or with open extents. */
int64_t mw__batch_of(const mw__function *function);

/* The largest number that divides both; 0 and b have b. */
int64_t mw__common_divisor(int64_t a, int64_t b);

/* What a value's shape becomes. */
mw_shape mw__rebatch_shape(const mw__rebatch *rebatch, const mw_tensor *value);

/* rebatch_operand.c: what stands for a constant operand in the copy of an operation with rows (a mw__clone_swap; `user`
 * is the mw__rebatch): bounds of slices, and constants that repeat one example. */
mw_tensor *mw__rebatch_operand(void *user, mw__clone *clone, const mw__op *op, size_t slot, const mw__operand *operand);

/* Gives the copy of a result that is handed out the rows of `handed`, if it is the same for all examples. */
void mw__rebatch_hand_out(const mw__rebatch *rebatch, mw__clone *clone, const mw__op *op, const mw_tensor *result);

/* rebatch_alike.c: what stands for a computed value that no example enters, with a row for each along `axis` that are
 * all alike: one of them, `repeats` as often as there are examples. NULL if they are not known to be alike, or with an
 * error on the target graph. */
mw_tensor *mw__rebatch_alike(const mw__rebatch *rebatch, mw__clone *clone, const mw_tensor *value, int axis,
                             bool repeats);

/* rebatch_block.c: what lists are made with, in the table. */
mw_status mw__rebatch_lists(mw__rebatch *rebatch, const mw__function *function, mw_error *err);
/* Copies a loop, a branch, or what makes, reads and writes lists or states; an error is left on the target graph. */
void mw__rebatch_control(const mw__rebatch *rebatch, mw__clone *clone, const mw__op *op);

/* rebatch_count.c: notes which results of an operation that was copied count the examples; an error is left on the
 * target graph where one that belongs to an example would. */
void mw__rebatch_count(const mw__rebatch *rebatch, mw__clone *clone, const mw__op *op);
/* The same of what enters the blocks of a loop, which is not copied yet. */
void mw__rebatch_count_enter(const mw__rebatch *rebatch, const mw__op *op);

/* rebatch_pick.c: for a mw__clone_finish. Leaves an error on the target graph where an operation picks rows of examples
 * by constant numbers though there are more or fewer in the copy; `table` is of the source. */
void mw__rebatch_refuse_picks(const mw__batch_rows *table, mw__clone *clone, const char *call);

/* Leaves an error on the target graph where a result with rows is none of that many examples. */
void mw__rebatch_check(const mw__rebatch *rebatch, mw__clone *clone, const mw__op *op);

#endif

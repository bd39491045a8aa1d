/* What the files of flatten share: integers that are known, what stands for values, lists, refusals. */
#ifndef MW__GRAPH_TRANSFORM_FLATTEN_FLATTEN_PARTS_H
#define MW__GRAPH_TRANSFORM_FLATTEN_FLATTEN_PARTS_H

#include "graph/constants/evaluate_small.h"
#include "graph/ir/rule.h"
#include "graph/transform/flatten/flatten.h"

/* ---- flatten_known.c ---- */

typedef enum mw__flatten_truth { MW__FLATTEN_FALSE, MW__FLATTEN_TRUE, MW__FLATTEN_OPEN } mw__flatten_truth;

/* An integer or bool scalar of the source, if it follows from constants and what has been copied. */
bool mw__flatten_known(mw__clone *clone, const mw_tensor *value, int64_t *out);
/* The elements of a small tensor of the source, likewise. */
bool mw__flatten_elements(mw__clone *clone, const mw_tensor *value, mw__known *out);
/* The same of a condition, where one side of logical_and may decide. */
mw__flatten_truth mw__flatten_decide(mw__clone *clone, const mw_tensor *condition);
/* True if a side of logical_and is known: it may end a loop whose other side is computed. */
bool mw__flatten_is_bounded(mw__clone *clone, const mw_tensor *condition);

/* ---- flatten_values.c ---- */

/* The copy of a value of the source; of a literal, a constant. */
mw_tensor *mw__flatten_value(mw__clone *clone, const mw_tensor *value);

typedef struct mw__flat_list mw__flat_list;

/* What stands for a value of the source: a tensor, or a list. */
typedef struct mw__flat_value {
    mw_tensor *value;
    mw__flat_list *list;
} mw__flat_value;

mw__flat_value mw__flatten_get(const mw__flatten *state, mw__clone *clone, const mw_tensor *source);
void mw__flatten_put(mw__flatten *state, mw__clone *clone, const mw_tensor *source, mw__flat_value value);
/* select(pred, a, b) */
mw__flat_value mw__flatten_choose(mw__flatten *state, mw__clone *clone, const mw__op *op, mw_tensor *pred,
                                  mw__flat_value a, mw__flat_value b);

/* select(pred, x, 1): what is computed of it where pred is false has no say in x's gradient, not even a NaN, as
 * whatever comes back is selected away. */
mw_tensor *mw__flatten_guard(mw_tensor *pred, mw_tensor *x);
mw__flat_value mw__flatten_guarded(mw__flatten *state, mw__clone *clone, const mw__op *op, mw_tensor *pred,
                                   mw__flat_value value);

typedef struct mw__flat_guard {
    const mw_tensor *source;
    mw__flat_value before, after;
} mw__flat_guard;

typedef struct mw__flat_guards {
    mw__flat_guard *saved;
    size_t count, capacity;
    unsigned char *marks; /* by value id of the source */
    mw_tensor *pred;
    mw_tensor **assigned; /* by input of the source: what a state was to become that the block assigns, or NULL */
} mw__flat_guards;

/* Puts a guard before everything that a block uses from outside, until it is copied. Ends also what failed. A state
 * that it assigns stays as it was where the block does not count; generators go on in any case. */
bool mw__flatten_begin_guards(mw__flat_guards *guards, mw__flatten *state, mw__clone *clone, const mw__block *block,
                              mw_tensor *pred);
void mw__flatten_end_guards(mw__flat_guards *guards, mw__flatten *state, mw__clone *clone);

enum { MW__FLAT_STATES = 64 };

typedef struct mw__flat_states {
    const mw_tensor *of[MW__FLAT_STATES];
    size_t count;
} mw__flat_states;

/* The states that an operation writes, if they are values here (mw__flatten.values). */
bool mw__flatten_find_states(mw__flat_states *out, const mw__flatten *state, mw__clone *clone, const mw__op *op);
/* Copies read_state and write_state where states are values; false if it is neither. */
bool mw__flatten_state_op(mw__flatten *state, mw__clone *clone, const mw__op *op);

/* ---- flatten_list.c: a list is a value for each of its elements ---- */

struct mw__flat_list {
    int64_t count;
    mw_dtype dtype;
    mw_shape element;
    bool dynamic;
    mw_tensor *of[]; /* NULL = zeros, not written yet */
};

/* Copies an operation on lists; false if it is none. */
bool mw__flatten_list_op(mw__flatten *state, mw__clone *clone, const mw__op *op);
/* What stands for a list of the source now; NULL if nothing does. */
mw__flat_list *mw__flatten_list(const mw__flatten *state, const mw_tensor *list);
void mw__flatten_set_list(mw__flatten *state, mw__clone *clone, const mw_tensor *list, mw__flat_list *value);
/* select(pred, a, b) of each element; NULL with an error if the lists differ in length. */
mw__flat_list *mw__flatten_choose_list(mw__flatten *state, mw__clone *clone, const mw__op *op, mw_tensor *pred,
                                       mw__flat_list *a, mw__flat_list *b);
/* The guard of each element. */
mw__flat_list *mw__flatten_guard_list(mw__flatten *state, mw__clone *clone, const mw__op *op, mw_tensor *pred,
                                      const mw__flat_list *list);

#endif

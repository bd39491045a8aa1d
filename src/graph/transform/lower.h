/* Programs with tensors only: lists become tensors of all their elements beside their lengths, and states values that
 * are handed on, through blocks too. Loops and branches stay.
 *
 *     make_list(init_length = n)         zeros [capacity, ..], n
 *     list_read, list_gather             gather along axis 0
 *     list_write, list_scatter           scatter along axis 0, mode update; the length grows if it is dynamic
 *     read_state(k), write_state(k, y)   the value of k so far; y is the value from there on
 *
 * Values through which one list passes over time (writes, loops, branches) share a capacity: the largest length that
 * one of them is made with, and of dynamic lists what bounds the indices at which they are written. */
#ifndef MW__GRAPH_TRANSFORM_LOWER_H
#define MW__GRAPH_TRANSFORM_LOWER_H

#include "graph/transform/clone/clone.h"

/* A state of the source: what holds it in the copy, and its value at the end. */
typedef struct mw__lowered_state {
    mw_tensor *input, *last;
} mw__lowered_state;

typedef struct mw__lower_options {
    mw__role role; /* of states in the copy: MW__INPUT or MW__RESIDENT (which start at zero) */
    bool keep_lists;
} mw__lower_options;

typedef struct mw__lowered {
    mw__lowered_state *states; /* those that are written, in the arena of the copy */
    size_t state_count;
} mw__lowered;

/* True if there are states, or lists and blocks (unless these are kept). */
bool mw__wants_lowering(const mw__function *function, bool keep_lists);

/* Appends a copy of `from` to the current function of `to`, outputs included.
 * errors  MW_ERROR_UNSUPPORTED naming the operation, for a list without a bound, of unknown elements, or at a port */
mw_status mw__lower(const mw__function *from, mw_graph *to, const mw__lower_options *options, mw__lowered *out,
                    mw_error *err);

/* ---- lower_capacity.c ---- */

typedef struct mw__capacities {
    mw__arena *arena;
    uint32_t *parent;           /* by value id: lists that share a capacity */
    int64_t *capacity;          /* by root: elements */
    int64_t *first;             /* by root: the length that all are made with; -1 = they differ, or it is computed */
    bool *dynamic;              /* by root */
    mw_shape *element;          /* by root */
    mw_dtype *dtype;            /* by root */
    const mw__op **unbounded;   /* by root: the operation that writes at an index of no known bound */
    const mw__block **block_of; /* by value id: of inputs of blocks */
    uint32_t *place_of;         /* the index there */
    size_t count;
} mw__capacities;

/* Finds the capacities of all lists of a function; everything lives in `arena`. */
mw_status mw__capacities_find(mw__capacities *capacities, const mw__function *from, mw__arena *arena, mw_error *err);
/* The same of elements alone, in lists of any length. */
mw_status mw__capacities_find_elements(mw__capacities *capacities, const mw__function *from, mw__arena *arena,
                                       mw_error *err);
uint32_t mw__capacities_root(const mw__capacities *capacities, const mw_tensor *list);
/* Holds branches, loops, lists and states to their rules, in all blocks: a text may lie about them. */
mw_status mw__lower_check(const mw__block *block, mw_error *err);
/* Refuses an operation of the source by name. */
mw_status mw__lower_refuse(const mw__op *op, mw_status status, const char *why, mw_error *err);

#endif

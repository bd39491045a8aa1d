/* How the values of a function depend on the examples of a batch, so that what is a mean over examples can be
 * distinguished from what is not. */
#ifndef MW__GRAPH_TRANSFORM_BATCH_BATCH_H
#define MW__GRAPH_TRANSFORM_BATCH_BATCH_H

#include "graph/ir/ir_types.h"

typedef enum mw__batch_kind {
    MW__BATCH_NONE,  /* on none: parameters, constants, and what is made of them */
    MW__BATCH_ROWS,  /* each element on one example alone */
    MW__BATCH_MIXED, /* some element on several, or nothing better is known */
} mw__batch_kind;

/* MW__BATCH_ROWS: index i of `axis` belongs to example (i / inner) % batch. An example may thus have several
 * neighboring rows (the T words of [N * T, C]), and several runs of them (two crops of each picture, [2 * N, D]). Of a
 * list, its elements are so. */
typedef struct mw__batch_rows {
    mw__batch_kind kind;
    int axis;
    int64_t inner;
    const mw__op *mixer; /* MW__BATCH_MIXED: the first operation that brought examples together; NULL = an input whose
                          * first extent is no multiple of the batch */
} mw__batch_rows;

/* What stands for a value in evaluation: its evaluation form or itself. */
static inline mw_tensor *mw__evaluated(mw_tensor *value)
{
    const mw__composite *record = value->composite;
    return record != NULL && record->evaluation != NULL ? record->evaluation : value;
}

/* All values of main by id, as they are in evaluation, when the host feeds `batch` examples along the first axis of
 * each input. In `arena`; NULL on failure. */
mw__batch_rows *mw__batch_find(mw__arena *arena, const mw__function *function, int64_t batch, mw_error *err);
/* The same for a training: where examples decide together which way is taken, rows are rows still. */
mw__batch_rows *mw__batch_find_trained(mw__arena *arena, const mw__function *function, int64_t batch, mw_error *err);
/* Either anew, once more is known of what make_list makes. */
void mw__batch_again(mw__batch_rows *table, const mw__function *function, int64_t batch, bool trained);

/* batch_rule.c: what one result of an operation without blocks is. */
mw__batch_rows mw__batch_rule(const mw__batch_rows *table, const mw__op *op, size_t result, int64_t batch);

/* ---- batch_walk.c: operation by operation, through loops and branches too ---- */

typedef struct mw__batch_walk mw__batch_walk;

/* What one result of an operation is that has no blocks and no list. */
typedef mw__batch_rows mw__batch_judge(const mw__batch_walk *walk, const mw__op *op, size_t result);

struct mw__batch_walk {
    mw__batch_rows *table; /* by value id; what enters the function is there */
    int64_t batch;
    mw__batch_judge *judge;
    bool strict;  /* rows are those that are alike; of MW__BATCH_NONE it is not known, and nothing is mixed */
    bool lenient; /* examples may decide together which way is taken */
    size_t steps; /* operations of loops so far */
    int depth;    /* of loops */
    const void *user;
};

void mw__batch_walk_function(mw__batch_walk *walk, const mw__function *function);

#endif

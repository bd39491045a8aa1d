/* What the files of generalize.h share. */
#ifndef MW__GRAPH_TRANSFORM_EXTENTS_GENERALIZE_PARTS_H
#define MW__GRAPH_TRANSFORM_EXTENTS_GENERALIZE_PARTS_H

#include "graph/transform/clone/clone.h"
#include "graph/transform/extents/generalize.h"

/* Two or three graphs held against each other, value by value. */
typedef struct mw__generalize_match {
    mw_graph *const *graphs;
    int count;
    bool exact;                        /* extents and constants may not differ */
    mw__arena *arena;                  /* of the tables */
    const mw__op **ops[MW__WITNESSES]; /* all but constants, blocks behind their operation */
    size_t op_count;                   /* of each */
    uint32_t *first[MW__WITNESSES];    /* by id: the id of the same value in the first graph, plus 1 */
    mw_shape *shapes[MW__WITNESSES];   /* by id in the first graph */
    uint32_t *at;                      /* by id of the first result in the first graph: index of its operation */
    mw_error *err;
} mw__generalize_match;

/* Fills in the tables.
 *  errors  MW_ERROR_UNSUPPORTED, naming the operation, where the graphs differ */
mw_status mw__generalize_match_graphs(mw__generalize_match *match);
/* A constant, or with `exact` also what operations that are given constants make as one. */
bool mw__generalize_match_is_constant(const mw__generalize_match *match, const mw_tensor *value);
bool mw__generalize_match_payloads_equal(const mw__payload *a, const mw__payload *b);
/* MW_ERROR_UNSUPPORTED of an operation of the first graph. */
mw_status mw__generalize_match_refuse(const mw__generalize_match *match, const mw__op *op, const char *why);

/* What stands for a constant operand that differs: an expression of extents, in the graph of the clone. `constants` are
 * the operand in each graph, `op` the operation that takes it. NULL with an error on the target graph. */
mw_tensor *mw__generalize_constant(const mw__generalize_match *match, mw__clone *clone, const mw__op *op, size_t slot,
                                   const mw__payload *const constants[MW__WITNESSES]);

#endif

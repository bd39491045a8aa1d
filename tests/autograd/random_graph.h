/* Random graphs over all operation cases: made, built, checked against differences, shrunk and printed. A node is an
 * operation case whose float inputs are earlier values, brought to the case's shapes and into its ranges by smooth
 * operations; so a new case takes part without an edit here. */
#ifndef TESTS_AUTOGRAD_RANDOM_GRAPH_H
#define TESTS_AUTOGRAD_RANDOM_GRAPH_H

#include "support/cases/op_cases.h"

#include "base/number/random.h"

enum { RANDOM_LEAVES = 3, RANDOM_NODES = 200, RANDOM_CASES = 2048 };

/* Values 0 .. RANDOM_LEAVES - 1 are the variables, then one per node. */
typedef struct random_node {
    const op_case *of;
    int from[OP_CASE_INPUTS];
    uint64_t seed; /* of its integers and booleans */
} random_node;

typedef struct random_graph {
    random_node nodes[RANDOM_NODES];
    int count;
    uint64_t seed;
} random_graph;

/* The cases that can be nodes: float result, differentiable, small. */
typedef struct random_pool {
    const op_case *cases[RANDOM_CASES];
    int count;
} random_pool;

void random_pool_init(random_pool *pool);

void random_graph_make(random_graph *g, const random_pool *pool, int nodes, uint64_t seed);

/* True if the gradients of the graph are right; else `why` says what is wrong. *out_compared (may be NULL): the
 * differences settled, so that they were compared too. */
bool random_graph_agrees(const random_graph *g, bool *out_compared, char *why, size_t size);

/* Removes nodes as long as the graph still fails. */
void random_graph_shrink(random_graph *g);

/* One line a node. */
void random_graph_print(const random_graph *g, char *out, size_t size);

#endif

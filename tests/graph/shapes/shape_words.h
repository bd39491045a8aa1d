/* Short words for tests of shape rules, inside GIVES and REFUSES of graph_check.h, where g is the graph. */
#ifndef TESTS_GRAPH_SHAPES_SHAPE_WORDS_H
#define TESTS_GRAPH_SHAPES_SHAPE_WORDS_H

#include "graph/graph_check.h"

#define F(...)  leaf(g, MW_F32, MW_SHAPE(__VA_ARGS__))
#define H(...)  leaf(g, MW_F16, MW_SHAPE(__VA_ARGS__))
#define N(...)  leaf(g, MW_I32, MW_SHAPE(__VA_ARGS__))
#define B(...)  leaf(g, MW_BOOL, MW_SHAPE(__VA_ARGS__))
#define SCALAR  leaf(g, MW_F32, mw_shape_scalar())
#define SCALARI leaf(g, MW_I32, mw_shape_scalar())
#define S       MW_SHAPE

#endif

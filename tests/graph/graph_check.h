/* What the tests of src/graph share: a graph per expression, and saying what comes of it. */
#ifndef TESTS_GRAPH_CHECK_H
#define TESTS_GRAPH_CHECK_H

#include <millwright/millwright.h>

#include "graph/ir/ir.h"
#include "support/check.h"

/* A graph of that opset on the given allocator (NULL = heap). */
mw_graph *make_graph(mw_opset opset, const mw_allocator *allocator);
/* An input with a name of its own. */
mw_tensor *leaf(mw_graph *graph, mw_dtype dtype, mw_shape shape);
/* Constants for mw_op. */
mw_tensor *ints(mw_graph *graph, const int32_t *values, int64_t count);
mw_tensor *one(mw_graph *graph, double value);
/* mw_op with one result: pairs of name and value, ended by NULL. */
mw_tensor *op(mw_graph *graph, const char *operation, ...);
/* Compares type and shape, printing both. */
bool check_type(const mw_tensor *tensor, mw_dtype dtype, mw_shape shape, const char *file, int line);

#define INTS(...) ints(g, (const int32_t[]){__VA_ARGS__}, (int64_t)(sizeof((int32_t[]){__VA_ARGS__}) / sizeof(int32_t)))

#define CHECK_TYPE(tensor, dtype, shape) check_type((tensor), (dtype), (shape), __FILE__, __LINE__)

/* The expression, which may use the graph `g`, yields a tensor of that type. */
#define GIVES_IN(opset, dtype, shape, ...)                                                                             \
    do {                                                                                                               \
        mw_graph *g = make_graph((opset), NULL);                                                                       \
        mw_error err_ = {0};                                                                                           \
        const mw_tensor *result_ = (__VA_ARGS__);                                                                      \
        mw_graph_check(g, &err_);                                                                                      \
        CHECK_OK(err_);                                                                                                \
        CHECK_TYPE(result_, (dtype), (shape));                                                                         \
        mw_graph_destroy(g);                                                                                           \
    } while (0)
#define GIVES(dtype, shape, ...) GIVES_IN(MW_IOS18, dtype, shape, __VA_ARGS__)

/* Takes the place " #3" out of a message, which does not matter where an operation is alone. */
void drop_places(char *message);

/* The expression yields NULL and leaves that error on the graph. */
#define REFUSES_IN(opset, status, part, ...)                                                                           \
    do {                                                                                                               \
        mw_graph *g = make_graph((opset), NULL);                                                                       \
        mw_error err_ = {0};                                                                                           \
        CHECK((__VA_ARGS__) == NULL);                                                                                  \
        mw_graph_check(g, &err_);                                                                                      \
        drop_places(err_.message);                                                                                     \
        CHECK_ERROR(err_, (status), (part));                                                                           \
        mw_graph_destroy(g);                                                                                           \
    } while (0)
#define REFUSES(status, part, ...) REFUSES_IN(MW_IOS18, status, part, __VA_ARGS__)

#endif

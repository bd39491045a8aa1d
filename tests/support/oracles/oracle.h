/* The independent reference: evaluates a graph operation by operation in double precision, with plain loops that share
 * nothing with the engine. Booleans are 0 and 1. Values are not rounded to the graph's types. */
#ifndef TESTS_SUPPORT_ORACLES_ORACLE_H
#define TESTS_SUPPORT_ORACLES_ORACLE_H

#include "graph/ir/ir.h"

typedef struct oracle {
    const mw_graph *graph;
    double **data; /* by value id; NULL = not known */
    size_t capacity;
    char missing[64]; /* operation that the oracle does not know, or "" */
} oracle;

void oracle_init(oracle *o, const mw_graph *graph);
void oracle_deinit(oracle *o);

/* Sets an input or parameter; copies mw_shape_count elements. */
void oracle_set(oracle *o, const mw_tensor *value, const double *data);

/* Evaluates "main"; false if an operation is not known or an input is missing (see `missing`). May be called again
 * after oracle_set, and after the graph has grown. */
bool oracle_run(oracle *o);

/* The elements of a value after oracle_run. */
const double *oracle_get(const oracle *o, const mw_tensor *value);

/* One operation of a family: reads o->data of its operands, fills those of its results (allocated); false if it is
 * none of them. oracle_<family>.c */
#define FAMILY(name) bool oracle_of_##name(oracle *o, const mw__op *op);
#include "support/cases/families.def"
#undef FAMILY

/* Evaluates a block, whose inputs are set. */
bool oracle_block(oracle *o, const mw__block *body);

/* For those files. */
typedef struct oracle_row {
    const char *name;
    bool (*run)(oracle *o, const mw__op *op);
} oracle_row;
bool oracle_find(const oracle_row *rows, size_t count, oracle *o, const mw__op *op);
/* y[i] = f(x[i]) for an operation of one tensor x: `value` computes one element, false if it does not know `op`. */
bool oracle_map(oracle *o, const mw__op *op, bool (*value)(const mw__op *op, double x, double *y));
/* Constant arguments; 0, none or false when absent. */
double oracle_number(const mw__op *op, const char *arg);
int64_t oracle_int(const mw__op *op, const char *arg);
size_t oracle_ints(const mw__op *op, const char *arg, int64_t *out); /* at most 2 * MW_RANK_MAX */
bool oracle_flag(const mw__op *op, const char *arg, int index);
int64_t oracle_count(const mw_tensor *value);
const double *oracle_arg(const oracle *o, const mw__op *op, const char *arg);
mw_shape oracle_shape(const mw__op *op, const char *arg);
/* The position in a tensor of shape `in`, broadcast to `out`, of element `index` of `out`. */
int64_t oracle_broadcast(mw_shape out, mw_shape in, int64_t index);
void oracle_unravel(mw_shape shape, int64_t index, int64_t *coordinates);
int64_t oracle_ravel(mw_shape shape, const int64_t *coordinates);

#endif

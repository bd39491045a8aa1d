/* The table of operation cases: every row of the operation table has at least one, and one case drives all checks
 * (kernel in fp32 and fp16 against the oracle, VJP and second derivative against differences, text round trip). */
#ifndef TESTS_SUPPORT_CASES_OP_CASES_H
#define TESTS_SUPPORT_CASES_OP_CASES_H

#include "graph/ir/ir.h"
#include "support/oracles/oracle.h"

#define OP_CASE_INPUTS 4

typedef struct op_input {
    mw_dtype dtype; /* MW_F32 stands for the float type under test */
    mw_shape shape;
    double low, high; /* drawn uniformly; integers for I32 and BOOL, high excluded */
} op_input;

typedef struct op_case {
    const char *name;   /* MIL name of the row that it covers */
    const char *detail; /* what is special, or "" */
    mw_tensor *(*build)(mw_tensor *const *in);
    op_input in[OP_CASE_INPUTS];
    double ulps;        /* fp32 tolerance in units of 2^-24 of the magnitude; 0 = 1 (exactly rounded) */
    double magnitude;   /* of intermediate sums, when larger than the result; 0 = the result itself */
    const char *reason; /* for a tolerance above 1 */
} op_case;

/* An operation that has no recording from PyTorch. */
typedef struct op_unrecorded {
    const char *row, *reason;
} op_unrecorded;

/* The cases of one family of operations: cases_<family>.c. */
typedef struct op_case_list {
    const char *family;
    const op_case *rows;
    size_t count;
    const op_unrecorded *unrecorded; /* up to a NULL; or NULL */
} op_case_list;

#define FAMILY(name) extern const op_case_list op_cases_##name;
#include "support/cases/families.def"
#undef FAMILY

/* All cases, family after family; NULL after the last. */
const op_case *op_case_at(size_t index);

/* Runs `check` on every case; each row that has a VJP must have a case of which it says that it was checked. */
void op_cases_check_derivatives(const char *what, bool (*check)(const op_case *c));

/* A graph with the inputs of a case ("a" to "d"), every MW_F32 replaced by `real`. */
typedef struct op_instance {
    mw_graph *graph;
    mw_tensor *in[OP_CASE_INPUTS];
    double *data[OP_CASE_INPUTS]; /* values, representable in `real` */
    size_t count;
    mw_tensor *y;
} op_instance;

bool op_instance_init(op_instance *instance, const op_case *c, mw_dtype real, uint64_t seed);
/* The same in a graph of the caller's making, which may be NULL or fail; with `trained` its float inputs are parameters
 * that start with those values. */
bool op_instance_init_in(op_instance *instance, mw_graph *graph, const op_case *c, mw_dtype real, uint64_t seed,
                         bool trained);
void op_instance_deinit(op_instance *instance);
/* Gives the inputs to an oracle. */
void op_instance_feed(const op_instance *instance, oracle *o);

#endif

/* What the parts of evaluate_small share: one operation that is evaluated. */
#ifndef MW__GRAPH_CONSTANTS_EVALUATE_CALL_H
#define MW__GRAPH_CONSTANTS_EVALUATE_CALL_H

#include "graph/constants/evaluate_small.h"

/* What an operation is evaluated with. */
typedef struct mw__known_call {
    mw__evaluation *e;
    const mw__op *op;
    const mw__type *type; /* of the result, as it is declared */
    size_t result;        /* which of several */
    mw__known *room;      /* for operands: three, not on the stack, as operations lie in one another 64 deep. The last
                           * is that of mw__known_integer */
} mw__known_call;

/* `value` as an element of `dtype`; false if it is none. */
bool mw__known_fit(mw_dtype dtype, double value, double *out);
/* Gives `out` type and shape; false if that is too much. */
bool mw__known_begin(mw__known *out, mw_dtype dtype, mw_shape shape);
/* Element `at`; false if its type has no such value. */
bool mw__known_put(mw__known *out, size_t at, double value);

/* The one value of an argument, or NULL. */
const mw_tensor *mw__known_operand(const mw__known_call *c, const char *name);
/* What it holds. */
bool mw__known_argument(const mw__known_call *c, const char *name, mw__known *out);
/* One integer, of any rank; `otherwise` if the argument is absent. */
bool mw__known_integer(const mw__known_call *c, const char *name, int64_t otherwise, int64_t *out);

/* One element of add, sub, mul and the others of two operands; false if it is not known. */
bool mw__known_binary_value(const char *kind, mw_dtype dtype, double x, double y, double *out);

/* False if the result is not known. */
typedef bool mw__known_evaluator(const mw__known_call *c, mw__known *out);
mw__known_evaluator mw__known_binary, mw__known_unary, mw__known_select, mw__known_gather;
mw__known_evaluator mw__known_slice_by_index, mw__known_slice_by_size, mw__known_concat, mw__known_stack;
mw__known_evaluator mw__known_tile, mw__known_split, mw__known_reduce;

#endif

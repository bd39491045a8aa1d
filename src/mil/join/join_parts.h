/* What the rows of joins ask of a program. */
#ifndef MW__MIL_JOIN_JOIN_PARTS_H
#define MW__MIL_JOIN_JOIN_PARTS_H

#include "graph/ir/op_table.h"
#include "graph/transform/clone/clone.h"
#include "passes/rewrite.h"

/* A group that a row finds: the operations that it puts together, the last of them its root. */
enum { MW__JOIN_MOST = 24 };
typedef struct mw__join_group {
    const mw__op *ops[MW__JOIN_MOST]; /* each behind those that it reads */
    size_t count;
} mw__join_group;

typedef struct mw__join_curve {
    int curve; /* of enum mw__curve_name; MW__CURVE_NONE: it is none that has a row */
    const mw_tensor *x;
} mw__join_curve;

/* What is known of a value before the rows are asked. */
typedef struct mw__join_fact {
    uint8_t constant; /* join_constant.c: it follows from constants by so many operations behind each other; 0: it does
                         not */
    bool tells;       /* join_curve.c: a function that is more than sums and products may be near */
} mw__join_fact;

/* What the rows of one run share (mw__rewriting.joining). */
typedef struct mw__joining {
    const uint32_t *reads; /* by value id: as how many operands and outputs it is read */
    mw__join_fact *facts;  /* by value id */
    mw__join_group group;  /* of the guard that was asked last, if it said yes */
    const mw__op *asked;   /* the operation that `curve` is of */
    mw__join_curve curve;
    mw__arena *arena;               /* of the run */
    int8_t operation[MW__OP_COUNT]; /* join_curve.c: the row of an operation + 1, once it was met; -1: it has none */
} mw__joining;

/* The operation that makes a value, if it is of the table, has that one result and no blocks; else NULL. */
const mw__op *mw__join_maker(const mw_tensor *value);
/* The same, if it is of that kind. */
const mw__op *mw__join_made_by(const mw_tensor *value, const char *kind);
/* True for a constant of floating point whose elements are all one number. */
bool mw__join_number(const mw_tensor *value, double *out);
/* True for a constant of fp32 that is there. */
bool mw__join_is_weight(const mw_tensor *value);
/* The same, or what follows from such by arithmetic of numbers that lie alike; and its number i (join_constant.c). */
bool mw__join_is_constant(const mw__joining *joining, const mw_tensor *value);
double mw__join_constant_at(const mw_tensor *constant, int64_t i);
bool mw__join_same_shape(const mw_tensor *a, const mw_tensor *b);
/* The axes of "axes" of an operation on a tensor of that rank: all, if there are none. */
void mw__join_axes(const mw__op *op, int rank, bool out[MW_RANK_MAX]);
/* The operand of a binary operation beside `one`; NULL if that is neither, or both. */
const mw_tensor *mw__join_other(const mw__op *op, const mw_tensor *one);

/* All operations between the result of `root` and the leaves, in the joining's group. False: there are too many, or
 * something computed is read that is no leaf, or that others need. A constant is always a leaf. */
bool mw__join_collect(mw__joining *joining, const mw__op *root, const mw_tensor *const *leaves, size_t leaf_count);

typedef struct mw__join_argument {
    const char *name;
    mw_tensor *value;
    const char *text; /* of a string, which has no value */
} mw__join_argument;

/* A copy of an operation with some arguments set, which it may lack. */
mw_tensor *mw__join_copy(mw__clone *clone, const mw__op *op, const mw__join_argument *arguments, size_t count);

/* Facts of the result of an operation, behind those of its operands. */
void mw__join_note_constant(mw__joining *joining, const mw__op *op);
void mw__join_note_curve(mw__joining *joining, const mw__op *op);

/* ---- join_curve.c ---- */

typedef enum mw__curve_name {
    MW__CURVE_NONE,
    MW__CURVE_SIGMOID,
    MW__CURVE_SILU,
    MW__CURVE_GELU,
    MW__CURVE_GELU_TANH,
    MW__CURVE_GELU_SIGMOID,
    MW__CURVE_SOFTPLUS,
    MW__CURVE_HARD_SIGMOID, /* of x / 6 + 1 / 2 */
    MW__CURVE_HARD_SWISH,
    MW__CURVE_MISH,
    MW__CURVES
} mw__curve_name;

/* True for one number that follows from numbers, which is normal. */
bool mw__join_number_of(mw__joining *joining, const mw__op *op, double *out);
/* What the operation and those before it compute of one tensor. */
mw__join_curve mw__join_curve_of(const mw__rewriting *pass, const mw__op *op);

#endif

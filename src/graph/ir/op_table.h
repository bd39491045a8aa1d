/* The operation table: one row for each operation, from ops/<family>.def; and reading the arguments of an operation. */
#ifndef MW__GRAPH_IR_OP_TABLE_H
#define MW__GRAPH_IR_OP_TABLE_H

#include "base/visible.h"
#include "graph/ir/ir_types.h"

#include <string.h>

typedef enum mw__arg_kind {
    MW__CONST,   /* must be known when compiled */
    MW__RUNTIME, /* may be computed */
    MW__VALUES   /* a tuple of run-time values */
} mw__arg_kind;

/* T_x: all such arguments of an operation share one element type, drawn from the class x. U_x: the same, and before
 * ios17 it is that of T; from then on it may be another (graph/ir/mixed.c). */
typedef enum mw__arg_type {
    MW__T_FLOAT,  /* fp16 fp32 */
    MW__T_NUMBER, /* fp16 fp32 int32 */
    MW__T_REAL,   /* fp16 fp32 int8 int16 int32 uint8 uint16 */
    MW__T_ANY,    /* any */
    MW__U_FLOAT,  /* fp16 fp32 */
    MW__U_NUMBER, /* fp16 fp32 int32 */
    MW__FLOAT,    /* fp16 fp32, independent of T */
    MW__F32,      /* fp32, whatever T is */
    MW__I32,
    MW__INT,   /* int8 int16 int32 uint8 uint16 uint32; computed ones are int32 before ios17 */
    MW__INDEX, /* the same, but int16 and uint16 from ios16 on: indices of the gathers */
    MW__BOOL,
    MW__STRING,
    MW__ANY,
    MW__FACTOR,  /* fp16 fp32 int32, whatever T is: an extent follows from it, so no device rounds it */
    MW__A_LIST,  /* no tensor, but a list */
    MW__A_STATE, /* a state */
    MW__A_VALUE  /* a tensor of any type, or a list */
} mw__arg_type;

typedef struct mw__arg_row {
    const char *name;
    mw__arg_kind kind;
    mw__arg_type type;
    const char *fallback; /* MIL's default as a literal, MW__REQUIRED, or MW__OPTIONAL */
} mw__arg_row;

#define MW__REQUIRED ((const char *)0)
#define MW__OPTIONAL ""

/* Every row has an id; MW__OP_softmax indexes the table of each room. */
typedef enum mw__op_id {
#define MW_OP(id, name, since, shape, vjp, kernel) MW__OP_##id,
#define MW_TRAITS(id, traits)
#define MW_EXPAND(id, function)
#define MW_KERNEL(id, storage, rounding, rule, flops)
#define MW_ARG(id, arg, kind, type, fallback)
#define MW_END(id)
#include "graph/ops/all.def"
#undef MW_OP
#undef MW_TRAITS
#undef MW_EXPAND
#undef MW_KERNEL
#undef MW_ARG
#undef MW_END
    MW__OP_COUNT
} mw__op_id;

/* What a shape rule sees: the operation with its slots filled, and its blocks. It writes the result types. */
#define MW__INFER_OWN  4
#define MW__HANDED_MAX 64 /* values that a branch or loop hands on */
typedef struct mw__infer {
    const mw__op *op;
    bool expands;        /* a constant argument may be computed if the row has an expansion */
    size_t room;         /* results that are expected at most, which bounds what is allocated for them */
    size_t result_count; /* in: 1; a rule with more than MW__INFER_OWN results calls mw__rule_results */
    mw_dtype *dtype;     /* of each result */
    mw_shape *shape;
    mw_dtype own_dtype[MW__INFER_OWN]; /* of few; dtype and shape point here until there are more */
    mw_shape own_shape[MW__INFER_OWN];
    const mw__type **type; /* of a result that is no tensor, instead of the two; NULL there = a tensor */
    const mw__type *own_type[MW__INFER_OWN];
    mw_error *err;
} mw__infer;

typedef mw_status mw__shape_rule(mw__infer *infer);
/* Emits the same values from operations that accept run-time tensors where this one wants constants. Returns the first;
 * `out_more`, with room for MW__INFER_OWN - 1, receives the others, and is left alone where there are none. */
typedef mw_tensor *mw__expand_rule(mw_graph *graph, const mw_argument *arguments, size_t count, mw_tensor **out_more);

/* What an operation is, in bits of its row. An operation that the table does not know has none of them. */
typedef enum mw__trait {
    MW__TRAIT_ELEMENTWISE = 1 << 0,    /* an element of the result is computed from one of each operand */
    MW__TRAIT_UNARY = 1 << 1,          /* a function of each element of x; what else it takes is constant */
    MW__TRAIT_BROADCASTS = 1 << 2,     /* the result has the shape that all operands broadcast to */
    MW__TRAIT_TRUTHS = 1 << 3,         /* the result is bool: comparisons and what joins them */
    MW__TRAIT_MOVES = 1 << 4,          /* it is all of x or some, once or more often, in whatever type */
    MW__TRAIT_REARRANGES = 1 << 5,     /* it has the elements of x, each once, in whatever order and shape */
    MW__TRAIT_VIEW = 1 << 6,           /* it has the elements of x in their order, and may share the memory */
    MW__TRAIT_PRODUCTS = 1 << 7,       /* sums of products, of which one factor may be a weight */
    MW__TRAIT_LIGHT = 1 << 8,          /* others that stand in a layer of a network and make none */
    MW__TRAIT_RANDOM = 1 << 9,         /* each run draws other numbers */
    MW__TRAIT_CONSTEXPR = 1 << 10,     /* a constant that is stored compressed */
    MW__TRAIT_LOWERED = 1 << 11,       /* branches, loops, lists, states, written otherwise for every device: no kernel,
                                        * of most no VJP (transform/lower.h, transform/flatten.h) */
    MW__TRAIT_PACKED_WEIGHT = 1 << 12, /* kernels expand its "weight" in parts, which may stay as it is stored */
    MW__TRAIT_PACKED_X = 1 << 13,      /* the same of "x" */
    MW__TRAIT_PACKED_Y = 1 << 14,      /* the same of "y" */
    MW__TRAIT_END = 1 << 15
} mw__trait;

typedef struct mw__row {
    mw__op_id id;
    const char *name;
    mw_opset since;
    mw__shape_rule *shape;
    mw__expand_rule *expand; /* or NULL */
    const mw__arg_row *args;
    size_t arg_count;
    const char *kernel; /* the word in the row's kernel column */
    unsigned traits;    /* of mw__trait */
} mw__row;

/* Whether it has all of the traits; no row has none. */
static inline bool mw__row_has(const mw__row *row, unsigned traits)
{
    return row != NULL && (row->traits & traits) == traits;
}

/* All rows, by id. */
extern const mw__row mw__rows[MW__OP_COUNT];

/* The newest row of that name not above `opset`; NULL if there is none. *out_newer (may be NULL) receives a row of the
 * name in a later opset, for messages. */
const mw__row *mw__row_find(const char *name, mw_opset opset, const mw__row **out_newer);
/* The argument that may stay as it is stored, by the row's traits; NULL if there is none. */
const char *mw__row_packed(const mw__row *row);
/* The classes of arguments that share one element type: T, and U, which may differ from it. */
bool mw__arg_type_is_t(mw__arg_type type);
bool mw__arg_type_is_u(mw__arg_type type);

/* ---- what an operation is ---- */

/* Whether it has that name, whatever the table knows. */
static inline bool mw__op_is(const mw__op *op, const char *kind) { return strcmp(op->kind, kind) == 0; }
static inline bool mw__op_has(const mw__op *op, unsigned traits) { return mw__row_has(op->row, traits); }
static inline bool mw__op_is_const(const mw__op *op) { return op->row != NULL && op->row->id == MW__OP_const; }
static inline bool mw__is_list(const mw_tensor *value) { return value->type->kind == MW__LIST; }
static inline bool mw__type_is_scalar(const mw__type *type, mw_dtype dtype)
{
    return type->kind == MW__TENSOR && type->dtype == dtype && type->shape.rank == 0;
}

/* Of operations that may lack the argument: its slot, and its value where it has one; else NULL. */
const mw__slot *mw__op_slot(const mw__op *op, const char *name);
mw_tensor *mw__op_operand(const mw__op *op, const char *name);

/* ---- reading an operation ----
 * Rules ask by MIL's argument name and never see whether it is a const statement, an inline literal, an attribute, or
 * left out: defaults of the table are applied. (Names, not indices: an argument's index differs between the opset
 * versions of one operation.) A name that the row lacks is a defect of ours and asserted. */

/* The value of a one-value argument, NULL if absent. */
MW__SIBLING mw_tensor *mw__arg(const mw__op *op, const char *name);
/* The values of a tuple argument (also of a single one); returns the count. */
MW__SIBLING size_t mw__arg_values(const mw__op *op, const char *name, const mw__operand **out);
MW__SIBLING bool mw__arg_present(const mw__op *op, const char *name);
/* Constant arguments, defaults applied. False: absent without default, or not a constant that is loaded.  */
MW__SIBLING bool mw__arg_int(const mw__op *op, const char *name, int64_t *out);
MW__SIBLING bool mw__arg_ints(const mw__op *op, const char *name, int64_t *out, size_t capacity, size_t *out_count);
MW__SIBLING bool mw__arg_float(const mw__op *op, const char *name, double *out);
MW__SIBLING bool mw__arg_bool(const mw__op *op, const char *name, bool *out);
bool mw__arg_bools(const mw__op *op, const char *name, bool *out, size_t capacity, size_t *out_count);
MW__SIBLING const char *mw__arg_string(const mw__op *op, const char *name);
/* The same; 0 or false if there is none. */
MW__SIBLING double mw__arg_number(const mw__op *op, const char *name);
int64_t mw__arg_whole(const mw__op *op, const char *name);
bool mw__arg_is_set(const mw__op *op, const char *name);
MW__SIBLING void mw__arg_mask(const mw__op *op, const char *name, bool out[MW_RANK_MAX]);
/* The shape of a value that is there. */
MW__SIBLING mw_shape mw__arg_shape(const mw__op *op, const char *name);
/* Whether the row of the operation, which differs between opsets, has that argument. */
MW__SIBLING bool mw__arg_exists(const mw__op *op, const char *name);

/* Known when compiled: a const, a literal, or the result of a constexpr operation. */
MW__SIBLING bool mw__is_constant(const mw_tensor *value);

#endif

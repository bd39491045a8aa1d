/* What the shape rules, the builder and the clone of this room share; nothing outside src/graph includes it. */
#ifndef MW__GRAPH_IR_RULE_H
#define MW__GRAPH_IR_RULE_H

#include "graph/ir/ir.h"

/* ---- table and arguments ---- */

/* The argument of a row; NULL if it has none of that name. */
const mw__arg_row *mw__row_arg(const mw__row *row, const char *name);
bool mw__arg_type_holds(mw__arg_type type, mw_dtype dtype);
/* The element type that the T arguments which are set share; MW_DTYPE_NONE if none is set. */
mw_dtype mw__op_dtype(const mw__op *op);
/* The constant behind an argument if its elements can be read; else NULL. */
const mw__payload *mw__arg_payload(const mw__op *op, const char *name);
/* Which element type a constant made of a row's default has. */
mw_dtype mw__fallback_dtype(const mw__arg_row *arg, mw_dtype t);
/* "x \"h\" [128, 784]". */
const char *mw__arg_print(const mw__op *op, const char *name, char *buffer, size_t size);

/* ---- making ---- */

mw_status mw__shape_check(mw_shape shape, mw_error *err);
/* Of two types that fit, one with every extent and length that either knows. */
const mw__type *mw__type_merge(mw_graph *graph, const mw__type *a, const mw__type *b, mw_error *err);
mw__op *mw__op_create(mw_graph *graph, const mw__row *row, const char *kind, size_t slot_count, mw_error *err);
mw_status mw__op_add_results(mw__op *op, const mw__infer *infer, mw_error *err);
/* A payload with a copy of `data` (NULL = zeros). */
mw__payload *mw__payload_create(mw_graph *graph, mw_dtype dtype, mw_shape shape, const void *data, mw_error *err);
mw__payload *mw__payload_create_string(mw_graph *graph, const char *text, mw_error *err);
/* True if coremltools would put such a constant into the weight file (its backend/mil/load.py). */
bool mw__payload_wants_blob(mw_dtype dtype, int64_t count, mw_opset opset);
/* Writes `value` as one element; false if the type has no numbers or the value does not fit it. */
bool mw__element_store(void *out, mw_dtype dtype, double value);
/* Rank-0 constant, shared; an error is left on the graph. `what` names it in messages. */
mw_tensor *mw__constant_string(mw_graph *graph, const char *text, const char *hint);

/* Axes as a constant vector; a count outside 0 to MW_RANK_MAX leaves an error. */
void mw__build_axes(mw__build *build, const char *arg, mw_axes axes);
/* Writes out the defaults of arguments that are absent. */
void mw__build_defaults(mw__build *build);
/* True if a constant argument is given a value that is computed: the row's expansion can take it. */
bool mw__build_wants_expansion(const mw__build *build);
/* What the expansion makes of the operation's arguments: as many results as there are, for which there must be room. */
mw_status mw__build_expand(mw__build *build, mw_tensor **out_results, size_t capacity);
/* Gives the operands of a mixed operation, which is not in a block yet, the type `wide` and sets *out_dtype to which
 * type its result is to have; MW_DTYPE_NONE and nothing done if it is not mixed. */
mw_status mw__op_unmix(mw_graph *graph, mw__op *op, mw_dtype wide, mw_dtype *out_dtype, mw_error *err);
/* operation(x = x), for operations of one argument. */
mw_tensor *mw__unary(const char *operation, mw_tensor *x);
mw_tensor *mw__unary_alpha(const char *operation, mw_tensor *x, float alpha);
mw_tensor *mw__unary_alpha_beta(const char *operation, mw_tensor *x, float alpha, float beta);
/* Extents as a constant vector. */
void mw__build_shape(mw__build *build, const char *arg, mw_shape shape);
/* The one tensor of a named argument of mw_op, for expansions; NULL if it is absent. */
mw_tensor *mw__argument_find(const mw_argument *arguments, size_t count, const char *name);

/* ---- rules ---- */

/* Raises with the subject of the operation before the message. */
mw_status mw__rule_fail(const mw__infer *infer, mw_status status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
mw_shape mw__rule_shape(const mw__infer *infer, const char *arg);
mw_dtype mw__rule_dtype(const mw__infer *infer, const char *arg);
mw_status mw__rule_result(mw__infer *infer, mw_dtype dtype, mw_shape shape);
/* Makes room for the types of `count` results. */
mw_status mw__rule_results(mw__infer *infer, size_t count);
/* A constant integer scalar. */
mw_status mw__rule_int(const mw__infer *infer, const char *arg, int64_t *out);
/* A constant axis, counted from the front. */
mw_status mw__rule_axis(const mw__infer *infer, const char *arg, int rank, int *out);
mw_status mw__rule_bool(const mw__infer *infer, const char *arg, bool *out);
/* A vector of integers. Its elements are known only when *out_known; the count always is. */
mw_status mw__rule_ints(const mw__infer *infer, const char *arg, int64_t *out, size_t capacity, size_t *out_count,
                        bool *out_known);
/* A vector of distinct axes as marks; *out_count = how many. */
mw_status mw__rule_axes(const mw__infer *infer, const char *arg, int rank, bool out_marks[MW_RANK_MAX],
                        size_t *out_count);
/* The common shape of several arguments. */
mw_status mw__rule_broadcast(const mw__infer *infer, const char *const *args, size_t count, mw_shape *out);
/* True if the extents may be equal: equal, or one unknown. */
bool mw__dim_fits(int64_t a, int64_t b);

/* For the gathers and scatters. `arg` is the tensor that indices look into. */
/* Constant indices against the extents that they count along, `count` of them in turn. */
mw_status mw__rule_indices(const mw__infer *infer, const int64_t *extents, int count);
/* The axis of the _along_axis forms, with everything about `arg`, indices and axis checked. */
mw_status mw__rule_along_axis(const mw__infer *infer, const char *arg, int *out_axis);
/* The shape of the slices that coordinates choose, in the _nd forms. */
mw_status mw__rule_nd(const mw__infer *infer, const char *arg, int batch, mw_shape *out);

/* ---- the columns that this room owns, found by stem ---- */

#define MW_OP(id, name, since, shape, vjp, kernel) mw__shape_rule mw__shape_##shape;
#define MW_ARG(id, arg, kind, type, fallback)
#define MW_TRAITS(id, traits)
#define MW_EXPAND(id, function) mw__expand_rule mw__expand_##function;
#define MW_KERNEL(id, storage, rounding, rule, flops)
#define MW_END(id)
#include "graph/ops/all.def"
#undef MW_OP
#undef MW_ARG
#undef MW_TRAITS
#undef MW_EXPAND
#undef MW_KERNEL
#undef MW_END

#endif

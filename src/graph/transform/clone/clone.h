/* Copy with substitution: the one way to rewrite a graph. */
#ifndef MW__GRAPH_TRANSFORM_CLONE_CLONE_H
#define MW__GRAPH_TRANSFORM_CLONE_CLONE_H

#include "base/visible.h"
#include "graph/ir/ir.h"

typedef struct mw__clone mw__clone;

/* Asked for every operation in order, operands already mapped. Return true after emitting replacements through the
 * constructors and calling mw__clone_set for each result; return false to copy it as it is. An error is left on the
 * target graph. */
typedef bool mw__clone_rule(void *user, mw__clone *clone, const mw__op *op);

/* Asked for every input and parameter: the element type it gets in the copy. NULL keeps it. */
typedef mw_dtype mw__clone_dtype(void *user, const mw_tensor *value);

/* Asked for every input that the host feeds: the shape it gets in the copy. NULL keeps it. */
typedef mw_shape mw__clone_shape(void *user, const mw_tensor *value);

/* Asked for every input and parameter first: true if it was written in another form, which left mw__clone_set or
 * nothing, or an error on the target graph. NULL copies all. */
typedef bool mw__clone_input(void *user, mw__clone *clone, const mw_tensor *value);

/* Asked for every state that is assigned: true leaves the assignment out, and puts the evaluation form in the place of
 * a batch norm whose states are all frozen. NULL freezes none. */
typedef bool mw__clone_frozen(void *user, const mw_tensor *state);

/* Called when all operations are copied. */
typedef void mw__clone_finish(void *user, mw__clone *clone);

/* Which form of composites and states is copied. */
typedef enum mw__clone_form {
    MW__CLONE_WHOLE,      /* both, with the assignments of states that the roots need */
    MW__CLONE_TRAINING,   /* the same without evaluation forms */
    MW__CLONE_EVALUATION, /* these forms instead of what they stand for, no assignments; wants roots */
    MW__CLONE_DEPLOYMENT  /* the same for programs without a state set: noise as MIL's random_* */
} mw__clone_form;

typedef struct mw__clone_options {
    mw__clone_rule *rule;     /* or NULL */
    mw__clone_dtype *dtype;   /* or NULL; also applied to constants that feed run-time arguments */
    mw__clone_shape *shape;   /* or NULL */
    mw__clone_frozen *frozen; /* or NULL */
    mw__clone_input *input;   /* or NULL */
    mw__clone_finish *finish; /* or NULL */
    void *user;
    mw_tensor *const *roots; /* NULL = everything; else only what these need, and unused inputs are left out */
    size_t root_count;
    mw__clone_form form;
    bool keep_outputs; /* also declare the function's outputs in the copy (those that were copied) */
    bool follows;      /* variables of loops have the extents of what goes in, whatever their blocks declare */
} mw__clone_options;

struct mw__clone {
    const mw__function *from;
    mw_graph *to;    /* appended to its current block */
    mw_tensor **map; /* by id in the source graph; NULL = not copied */
    const mw__clone_options *options;
    unsigned char *marks;      /* by id in the source graph: what the run found out beforehand */
    size_t steps;              /* operations so far, those of blocks that were copied again too */
    struct mw__swapped *swaps; /* what stands in the place of operands of the operation at hand, but not inside of it */
    size_t swap_count;
};

/* Copies `from` into the current function of `to`. Names, roles, initializers, composites and stop marks go along;
 * row operations are re-inferred, so that shapes and types follow what the rule changed.
 * options  NULL = copy everything, declare no outputs; must outlive the clone
 * clone->map is freed with mw__clone_deinit, also after a failure. */
mw_status mw__clone_run(mw__clone *clone, const mw__function *from, mw_graph *to, const mw__clone_options *options,
                        mw_error *err);
void mw__clone_deinit(mw__clone *clone);

/* mw__clone_run that keeps every port, also inputs that nothing reads, and what `after` (or NULL) does with the copies,
 * for `user` of the options; then the graph must be free of errors. */
typedef mw_status mw__clone_after(void *user, const mw__clone *clone, mw_error *err);
mw_status mw__clone_ports(const mw__function *from, mw_graph *to, const mw__clone_options *options,
                          mw__clone_after *after, mw_error *err);

/* A fresh graph, its main a clone of the function, or of main of `from`; out_copies (or NULL) receives the copies of
 * the roots. */
MW__SIBLING mw_graph *mw__clone_function(const mw_allocator *allocator, const mw__function *function,
                                         const mw__clone_options *options, mw_tensor **out_copies, mw_error *err);
MW__SIBLING mw_graph *mw__clone_graph(const mw_allocator *allocator, const mw_graph *from,
                                      const mw__clone_options *options, mw_tensor **out_copies, mw_error *err);

/* Copies an input of the function as it is, for a mw__clone_input; NULL with an error on the target graph. */
mw_tensor *mw__clone_input_copy(mw__clone *clone, const mw_tensor *source);

/* The copy of a source value, for rules. */
mw_tensor *mw__clone_get(const mw__clone *clone, const mw_tensor *source);
MW__SIBLING void mw__clone_set(mw__clone *clone, const mw_tensor *source, mw_tensor *copy);
/* The same of an operand: a literal in an argument, which has no copy of its own, becomes a constant of that type. NULL
 * of NULL, or with an error on the target graph. */
MW__SIBLING mw_tensor *mw__clone_operand(mw__clone *clone, const mw_tensor *source, mw_dtype dtype);

/* For a copy of some operations, one by one: what they use from elsewhere is to be set first. Nothing is copied yet. */
mw_status mw__clone_begin(mw__clone *clone, const mw__function *function, mw_graph *to, mw_error *err);
/* For a second copy inside one graph: every value stands for itself until its operation is copied. */
mw_status mw__clone_begin_within(mw__clone *clone, const mw__function *function, mw_error *err);
/* Appends a copy of an operation with what goes along with its results, except names. An error is left on the graph. */
mw_status mw__clone_again(mw__clone *clone, const mw__op *op);

/* Appends copies of the operations of a block to the current one, by the rule, for a rule that copies blocks itself. */
mw_status mw__clone_ops(mw__clone *clone, const mw__block *from);

/* Leaves an error on the target graph that names the operation and its place. */
void mw__clone_refuse(mw__clone *clone, const mw__op *op, mw_status status, const char *why);

/* Copies one operation as it is, for a rule that changes only its surroundings. */
mw_status mw__clone_op(mw__clone *clone, const mw__op *op, mw_error *err);

/* Gives the copy of a value its record, for a rule that puts another value in the place of that copy. */
mw_status mw__clone_carry_record(mw__clone *clone, const mw_tensor *source);

/* Asked for every operand but tuples: what stands for it in the copy of this operation alone; NULL = its own copy. */
typedef mw_tensor *mw__clone_swap(void *user, mw__clone *clone, const mw__op *op, size_t slot,
                                  const mw__operand *operand);
/* mw__clone_op with other operands, which its blocks do not see. An error is left on the target graph. */
void mw__clone_op_with(mw__clone *clone, const mw__op *op, mw__clone_swap *swap, void *user);
/* The same with nothing inferred: operands may have other element types than the row wants, and results have the
 * declared types, but for the element types in dtypes[result] (MW_DTYPE_NONE, or dtypes NULL: the declared one). */
mw_status mw__clone_op_declared(mw__clone *clone, const mw__op *op, const mw_dtype *dtypes, mw_error *err);
/* Ends what mw__clone_op_with began, once the operands are copied. */
void mw__clone_unswap(mw__clone *clone);
/* A rule that copies all operations so: for a copy that changes nothing, also of what cannot be compiled yet. */
MW__SIBLING bool mw__clone_as_declared(void *user, mw__clone *clone, const mw__op *op);

#endif

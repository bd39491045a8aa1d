/* Fusion patterns: groups of operations that one kernel computes. Each is a row of passes/patterns.def. Only the
 * operation that a pattern is put at gets another plan; the other operations, where nothing else needs them, are
 * dropped with all steps that no output depends on. Gradients are recognized by running the builder that wrote them
 * (graph/patterns/) on placeholders and comparing structure, so that writer and recognizer cannot drift. */
#ifndef MW__ENGINE_COMPILE_PATTERNS_PATTERNS_H
#define MW__ENGINE_COMPILE_PATTERNS_PATTERNS_H

#include "engine/compile/passes.h"
#include "graph/patterns/conv.h"

/* ---- what is found ---- */

typedef struct mw__pattern_row mw__pattern_row;

#define MW__PATTERN_READS 4

typedef struct mw__pattern {
    const mw__pattern_row *row; /* NULL: the plan of another pattern computes this result too */
    const void *match;          /* the row's payload, of its type in kernels/pattern_plans.h */
    const mw__op *const *ops;   /* all that it computes, in the order of the text */
    size_t op_count;
    const mw_tensor *also;                     /* a result of its plan beside that of its operation; or NULL */
    const mw_tensor *reads[MW__PATTERN_READS]; /* what keeps a convolution apart from its pooling; NULL entries count
                                                  for nothing */
    struct mw__pattern *under;                 /* the pattern whose place it has taken; or NULL */
    const struct mw__pattern *with;            /* the pooling without which it cannot be; or NULL */
} mw__pattern;

/* An operation that rows are applied to. */
typedef struct mw__pattern_root {
    size_t at;     /* of the body's operations */
    uint64_t rows; /* a bit each */
} mw__pattern_root;

/* What the rows work on. */
typedef struct mw__finder {
    const mw__function *function;
    const mw__block *body;
    const mw__config *config;
    const mw__rounding *rounding;
    int partitions;
    mw__arena *arena;
    const uint32_t *uses;          /* by value: as how many operands and outputs */
    const uint32_t *maker;         /* by value: the place of the operation that makes it, and 1; 0: there is none */
    const mw__pattern_root *roots; /* operations of the body that are roots of rows, in order */
    size_t root_count;
    uint64_t met;                       /* the rows of any of them */
    struct mw__matmul_sum_match **sums; /* by value: the sum of products that it is; NULL = none so far */
    bool *within;                       /* by value: part of an all_within product; NULL = none so far */
    bool *quads;                        /* by value: codes that lie in quads; NULL = no codes so far */
    mw__pattern **patterns;             /* by operation of the body; NULL = none */
    const mw__pattern_row *row;         /* being applied */
    bool found;                         /* by this row at this operation */
    const char *declined;               /* why not */
    mw__pass_log *log;                  /* or NULL */
} mw__finder;

/* ---- the rows ---- */

/* Applied to one operation: puts a pattern, or declines with a reason. Fails only where memory does not suffice. */
typedef mw_status mw__pattern_match(mw__finder *finder, size_t at, mw_error *err);

/* How a row is applied. */
enum {
    MW__PATTERN_GRADIENT = 1,   /* the root is the forward operation, and the pattern is put at later ones */
    MW__PATTERN_BACKWARDS = 2,  /* from the end of the text */
    MW__PATTERN_AS_WRITTEN = 4, /* its plan reads what its operations do, and `reads` is empty */
    MW__PATTERN_ADDS = 8        /* its kernel adds products in its own order: not where sums are those of a chip */
};

/* A row of passes/patterns.def. */
struct mw__pattern_row {
    mw__rule_id id;
    mw__rule_id over; /* it takes the place of that pattern; MW__RULE_NONE = of none */
    mw__level level;  /* the least that its kernel needs */
    unsigned how;     /* MW__PATTERN_* */
    /* Why it is not even tried; NULL = it is. */
    const char *(*guard)(const mw__finder *finder, const mw__op *op);
    mw__pattern_match *match;
    mw_status (*plan)(mw__planner *planner, const void *match, mw_error *err);
    const char *declined; /* where `match` finds nothing and gives no reason */
};

#define MW_PATTERN(id, name, roots, over, level, how, guard, match, plan, declined, reason)                            \
    mw__pattern_match mw__match_##match;
#include "passes/patterns.def"

/* ---- for match functions ---- */

/* Always MW_OK. `reason` is static. */
mw_status mw__pattern_decline(mw__finder *finder, const char *reason);
/* Puts a pattern of the current row at an operation, over the one that is there, whose ops and `also` it starts with.
 * NULL with err set after a failed allocation. */
mw__pattern *mw__pattern_put(mw__finder *finder, size_t at, const void *match, mw_error *err);
/* Takes away the pattern that is there. */
void mw__pattern_take_back(mw__finder *finder, size_t at, const char *reason);
/* Leaves the result of an operation to the plan of the pattern that computes `maker`. */
mw_status mw__pattern_put_made(mw__finder *finder, size_t at, const mw_tensor *maker, mw_error *err);
/* One more operation that it computes. */
mw_status mw__pattern_add_op(mw__finder *finder, mw__pattern *pattern, const mw__op *op, mw_error *err);
/* The pattern of the operation that made the value; NULL if it has none. */
const mw__pattern *mw__pattern_of(const mw__finder *finder, const mw_tensor *value);
/* True if it is of that row; `pattern` may be NULL. */
bool mw__pattern_is(const mw__pattern *pattern, mw__rule_id id);
/* By name: a new opset may give an operation a new row. `op` may be NULL. */
bool mw__pattern_is_named(const mw__op *op, const char *name);
/* What the operation `name` that made the value takes; NULL if another did, or `value` is NULL. */
const mw_tensor *mw__pattern_below(const mw_tensor *value, const char *name);
/* Without the spreading along one axis, whose step is put into `stride`; the value itself if it is not spread. */
const mw_tensor *mw__pattern_below_spread(const mw_tensor *value, mw__conv *out);
/* The product of columns that is `product`, if there is one and its result is used once; else NULL. */
const mw__pattern *mw__pattern_product(const mw__finder *finder, const mw_tensor *product);
/* The gradient by the weight in the form for chips whose sum over examples `sum` is: the product of each example, read
 * but not asked whether a kernel takes it; NULL if it is none. */
struct mw__conv_columns_dweight_match;
const mw__pattern *mw__pattern_columns_dweight(const mw__finder *f, const mw__op *sum,
                                               struct mw__conv_columns_dweight_match *out);
/* Puts a pattern that computes it. */
mw__pattern *mw__pattern_put_columns_dweight(mw__finder *f, size_t at, const mw__pattern *each, const void *match,
                                             mw_error *err);
/* Whether anything is done to what its operation gives. */
bool mw__pattern_is_rounded(const mw__finder *f, const mw_tensor *value);
/* What relu is taken of, if that is what a pooling takes; else NULL. */
const mw_tensor *mw__pattern_below_relu(const mw__op *pool);

/* ---- comparing with what a builder writes ---- */

#define MW__COMPARE_INPUTS 3

typedef struct mw__pattern_compare {
    mw_graph *scratch;       /* the builder writes into it */
    const mw_tensor **match; /* by id in the scratch graph: the value in the function; NULL = not compared yet */
    const mw_tensor *root;   /* of what is written; NULL = nothing */
    mw_tensor *input[MW__COMPARE_INPUTS];        /* placeholders */
    const mw_tensor *wanted[MW__COMPARE_INPUTS]; /* what they must be; NULL = anything */
} mw__pattern_compare;

/* The inputs where a gradient is looked for. */
enum { MW__COMPARE_X, MW__COMPARE_Y, MW__COMPARE_DY };

mw_status mw__pattern_compare_begin(mw__pattern_compare *compare, const mw__function *function, mw_error *err);
/* Input `index`, of the type of `like`. */
mw_tensor *mw__pattern_compare_input(mw__pattern_compare *compare, int index, const char *name, const mw_tensor *like);
/* After the builder, which has returned `root`, or NULL where it refuses. */
mw_status mw__pattern_compare_written(mw__pattern_compare *compare, const mw_tensor *root, mw_error *err);
bool mw__pattern_compare_values(mw__pattern_compare *compare, const mw_tensor *root, const mw_tensor *value);
/* What an input was in the last comparison; NULL if it did not occur. */
const mw_tensor *mw__pattern_compare_found(const mw__pattern_compare *compare, int index);
/* Adds the operations of the last comparison to those that the pattern computes. */
mw_status mw__pattern_compare_list_ops(const mw__pattern_compare *compare, mw__finder *finder, mw__pattern *pattern,
                                       mw_error *err);
/* Begins, with placeholders of an operation that takes x. */
mw_status mw__pattern_compare_begin_gradient(mw__pattern_compare *compare, const mw__finder *finder, const mw_tensor *x,
                                             const mw_tensor *y, mw_error *err);
/* The next operation after `at` that has the structure of root and no pattern yet; op_count if there is none. */
size_t mw__pattern_compare_find(mw__pattern_compare *compare, const mw__finder *finder, size_t at,
                                const mw_tensor *root);
void mw__pattern_compare_end(mw__pattern_compare *compare);
bool mw__pattern_compare_types(const mw_tensor *a, const mw_tensor *b);

/* ---- for the planner ---- */

/* One entry for each operation of the body, in `arena`: its pattern, or NULL. NULL with err set after a failed
 * allocation. */
mw__pattern **mw__patterns_find(const mw__plan_request *request, mw_error *err);

/* Takes poolings apart from their convolutions where the result between them is needed. In patterns_join.c. */
mw_status mw__patterns_undo(mw__finder *finder, mw_error *err);

/* Chooses which codes lie in quads of channels. In patterns_int8_layout.c. */
mw_status mw__patterns_lay_quads(mw__finder *finder, mw_error *err);

/* Plans the group as steps of its own. */
mw_status mw__plan_pattern(mw__planner *planner, const mw__pattern *pattern, mw_error *err);

/* Tells the log that what was found at an operation has been taken back. */
void mw__pattern_note_undone(mw__finder *finder, size_t at, const mw__pattern *pattern, const char *reason);

#endif

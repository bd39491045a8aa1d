/* Rewrites of graphs: rows that a pass applies to one operation after the other while it copies a program. */
#ifndef MW__PASSES_REWRITE_H
#define MW__PASSES_REWRITE_H

#include "graph/ir/op_table.h"
#include "graph/transform/clone/clone.h"
#include "passes/log.h"

/* A pass by rewrites that runs; guards and emitters read what their pass has found out. */
typedef struct mw__rewriting {
    mw__rule_id pass;
    mw__pass_log *log;                   /* or NULL */
    const struct mw__legality *legality; /* the device and the chip (rules/legality.h) */
    struct mw__split *split;             /* of the pass parts: its plan; else NULL */
    struct mw__legalizer *legalizer;     /* of the pass fp16: facts of the values; else NULL */
    struct mw__joining *joining;         /* of the passes recognize and absorb: who reads what; else NULL */
    bool counts;                         /* the next look-ups are counted */
    uint64_t rows[MW__OP_COUNT];         /* by operation: the rewrites that have it as a root, once it was met */
} mw__rewriting;

/* Whether it applies. */
typedef bool mw__rewrite_guard(const mw__rewriting *pass, const mw__op *op);
/* Writes it into the copy. Returns the value of the operation's one result; NULL: it has called mw__clone_set itself,
 * or has left an error on the graph. */
typedef mw_tensor *mw__rewrite_emit(mw__rewriting *pass, mw__clone *clone, const mw__op *op);
/* True if a row of rules that names the rewrite holds for the operation (MW__RULE_ON_REQUEST). */
typedef bool mw__rewrite_asked(const struct mw__legality *legality, const mw__op *op, mw__rule_id id);

typedef struct mw__rewrite {
    mw__rule_id id;
    mw__rewrite_guard *guard;
    mw__rewrite_emit *emit;
} mw__rewrite;

/* The rewrites of a pass, in their order. */
typedef struct mw__rewrites {
    const mw__rewrite *rows;
    size_t count; /* at most 63 */
    bool checked; /* of operations with one result; what breaks its own rule is copied, and refused for that later */
    bool half_ports;
    mw__rewrite_asked *asked;
} mw__rewrites;

/* True if the rule has that root. */
bool mw__pass_rule_has_root(const mw__rule *rule, const mw__op *op);

/* The first row that applies to the operation; NULL = it is copied. */
const mw__rewrite *mw__rewrite_find(mw__rewriting *pass, const mw__rewrites *rows, const mw__op *op);
/* Whether a row applies to an operation of the block; counts what is found of each where somebody listens. */
bool mw__rewrite_finds_any(mw__rewriting *pass, const mw__rewrites *rows, const mw__block *body);
/* Writes the operation by the row. */
void mw__rewrite_apply(mw__rewriting *pass, const mw__rewrite *row, mw__clone *clone, const mw__op *op);

#endif

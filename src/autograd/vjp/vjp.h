/* What a VJP rule sees and how it answers.
 *
 *     void mw__vjp_mul(mw__vjp *vjp)
 *     {
 *         mw_tensor *x = mw__vjp_arg(vjp, "x"), *y = mw__vjp_arg(vjp, "y");
 *         if (mw__vjp_wants(vjp, "x"))
 *             mw__vjp_set(vjp, "x", mw_mul(vjp->dy[0], y));
 *         if (mw__vjp_wants(vjp, "y"))
 *             mw__vjp_set(vjp, "y", mw_mul(vjp->dy[0], x));
 *     }
 *
 * At most one argument of a call may itself emit operations: C does not order arguments, and the text that a graph
 * gives must not depend on the compiler.
 *
 * Rules use only the public constructors and never think about broadcasting: the driver sums a cotangent down to the
 * shape of its source, accumulates, and skips what is not needed. No result with a cotangent and no operand that is
 * wanted is without elements; other operands may be. dy[i] is NULL when result i has no cotangent; a rule
 * with one result always has it. */
#ifndef MW__AUTOGRAD_VJP_VJP_H
#define MW__AUTOGRAD_VJP_VJP_H

#include "autograd/vjp/parts.h"
#include "base/visible.h"
#include "graph/ir/ir.h"
#include <millwright/millwright.h>

struct mw__vjp {
    mw_graph *graph;
    const mw__op *op;               /* NULL for a composite */
    const mw__composite *composite; /* NULL for an operation */
    mw_tensor *const *y;            /* results (a composite: its one value) */
    mw_tensor *const *dy;           /* cotangents of the results */
    size_t result_count;
    struct mw__vjp_answers *answers; /* the driver's */
    mw_error *err;                   /* for what no constructor reports; never NULL */
};

typedef void mw__vjp_rule(mw__vjp *vjp);

/* Every result that a call hands out is NULL until it succeeds; NULL is fine. */
void mw__autograd_clear(mw_tensor **out, size_t count);

/* The operand, for operations by name, for composites by index. */
mw_tensor *mw__vjp_arg(const mw__vjp *vjp, const char *arg);
MW__SIBLING mw_tensor *mw__vjp_input(const mw__vjp *vjp, size_t index);

/* True if the cotangent of that operand is needed. */
bool mw__vjp_wants(const mw__vjp *vjp, const char *arg);
bool mw__vjp_wants_member(const mw__vjp *vjp, const char *arg, size_t member); /* of a tuple argument */
MW__SIBLING bool mw__vjp_wants_input(const mw__vjp *vjp, size_t index);

/* Gives the cotangent of an operand (shape of the result or of the operand); NULL = zero. */
void mw__vjp_set(mw__vjp *vjp, const char *arg, mw_tensor *dx);
void mw__vjp_set_member(mw__vjp *vjp, const char *arg, size_t member, mw_tensor *dx); /* of a tuple argument */
MW__SIBLING void mw__vjp_set_input(mw__vjp *vjp, size_t index, mw_tensor *dx);

/* Gives a cotangent that is zero outside of a part of the operand, as often as there are parts: dx has the operand's
 * rank and the counts of the spans, one an axis, for extents. The driver puts them together (parts.h). */
void mw__vjp_set_part(mw__vjp *vjp, const char *arg, mw_tensor *dx, const mw__span *spans);

/* The cotangent that other rules have given so far, NULL for none, and what takes its place: for a rule that adds in
 * place rather than making a tensor of full size. */
mw_tensor *mw__vjp_so_far(const mw__vjp *vjp, const char *arg);
void mw__vjp_set_total(mw__vjp *vjp, const char *arg, mw_tensor *total);

/* True for what mw_grad gives to a variable that no gradient reaches. */
bool mw__gradient_is_zero(const mw_tensor *dx);

/* The rule of an operation, NULL for NONE. */
mw__vjp_rule *mw__vjp_find(mw__op_id id);
/* Whether its derivative is 0 almost everywhere: it makes steps. */
MW__SIBLING bool mw__vjp_is_zero(mw__op_id id);
/* The rule of a record; NULL: its operations are differentiated. */
mw__vjp_rule *mw__vjp_of_composite(const mw__composite *composite);

#endif

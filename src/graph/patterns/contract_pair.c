/* Two tensors contracted: a matrix product of groups of axes, or an element-wise product and a sum.
 *
 * The labels of both are four groups: batch (of both, kept), summed (of both, not kept), left and right (of one). */
#include "graph/patterns/contract.h"

#include <millwright/ops/elementwise.h>
#include <millwright/ops/matmul.h>
#include <millwright/ops/reduce.h>
#include <millwright/ops/shape.h>

#include <string.h>

typedef mw__contraction_term term;
typedef mw__contraction_piece piece;

static int axis_of(const term *t, int label)
{
    for (int i = 0; i < t->rank; i++)
        if (t->label[i] == label)
            return i;
    return -1;
}

/* Appends the labels of `t` that are in the set, in its order. */
static void append_labels(term *out, const term *t, mw__label_set set)
{
    for (int i = 0; i < t->rank && out->rank < MW_RANK_MAX; i++)
        if ((set & MW__LABEL_BIT(t->label[i])) != 0)
            out->label[out->rank++] = t->label[i];
}

static bool is_sorted(mw_axes perm)
{
    for (int i = 0; i < perm.count; i++)
        if (perm.axis[i] != i)
            return false;
    return true;
}

mw_tensor *mw__contraction_arrange(piece x, const term *wanted)
{
    mw_axes perm = {0}, added = {0};
    for (int i = 0; i < wanted->rank; i++) {
        const int axis = axis_of(&x.term, wanted->label[i]);
        if (axis < 0)
            added.axis[added.count++] = i;
        else
            perm.axis[perm.count++] = axis;
    }
    mw_tensor *y = is_sorted(perm) ? x.x : mw_transpose(x.x, perm);
    return added.count > 0 ? mw_expand_dims(y, added) : y;
}

/* ---- element by element ---- */

/* The product over all labels, then the sum over those that are not kept; sums stand last. */
static piece multiply(piece a, piece b, mw__label_set keep)
{
    const mw__label_set own = mw__contraction_labels(&a.term), other = mw__contraction_labels(&b.term);
    term all = {0};
    append_labels(&all, &a.term, keep);
    append_labels(&all, &b.term, keep & ~own);
    piece made = {.term = all};
    append_labels(&all, &a.term, ~keep & other);
    mw_axes summed = {0};
    for (int i = made.term.rank; i < all.rank; i++)
        summed.axis[summed.count++] = i;
    mw_tensor *left = mw__contraction_arrange(a, &all), *right = mw__contraction_arrange(b, &all);
    made.x = mw_mul(left, right);
    if (summed.count > 0)
        made.x = mw_reduce_sum(made.x, summed, false);
    return made;
}

/* ---- a matrix product ---- */

typedef struct groups {
    term batch, left, right, summed;
} groups;

static groups groups_of(const term *a, const term *b, mw__label_set keep)
{
    const mw__label_set of_a = mw__contraction_labels(a), of_b = mw__contraction_labels(b);
    groups g = {{0}, {0}, {0}, {0}};
    append_labels(&g.batch, a, of_b & keep);
    append_labels(&g.left, a, ~of_b);
    append_labels(&g.right, b, ~of_a);
    append_labels(&g.summed, a, of_b & ~keep);
    return g;
}

/* The extent of a group as one axis: -1 if one of them is unknown. */
static int64_t extent_of(const mw__contraction *c, const term *group)
{
    int64_t extent = 1;
    for (int i = 0; i < group->rank; i++) {
        const int64_t n = c->extent[group->label[i]];
        if (n < 0 || (n > 0 && extent > INT64_MAX / n))
            return -1;
        extent *= n;
    }
    return extent;
}

static void append_term(term *out, const term *more) { append_labels(out, more, ~(mw__label_set)0); }

/* Up to two axes of a batch stay as they are; more become one, since a chip has five axes. */
static mw_shape grouped_shape(const mw__contraction *c, const term *batch, const term *rows, const term *columns)
{
    mw_shape shape = {0};
    for (int i = 0; batch->rank <= 2 && i < batch->rank; i++)
        shape.dim[shape.rank++] = c->extent[batch->label[i]];
    if (batch->rank > 2)
        shape.dim[shape.rank++] = extent_of(c, batch);
    shape.dim[shape.rank++] = extent_of(c, rows);
    shape.dim[shape.rank++] = extent_of(c, columns);
    return shape;
}

/* Whether a reshape is needed, beside axes of extent 1. */
static bool merges(const term *batch, const term *rows, const term *columns)
{
    return batch->rank > 2 || rows->rank > 1 || columns->rank > 1;
}

/* A reshape finds one extent itself; 0 means something else there. */
static bool can_reshape(mw_shape shape)
{
    int unknown = 0;
    bool empty = false;
    for (int i = 0; i < shape.rank; i++) {
        empty = empty || shape.dim[i] == 0;
        unknown += shape.dim[i] < 0;
    }
    return unknown <= 1 && !empty;
}

static bool can_group(const mw__contraction *c, const groups *g)
{
    term result = g->batch;
    mw_shape shape = {0};
    append_term(&result, &g->left);
    append_term(&result, &g->right);
    for (shape.rank = 0; shape.rank < result.rank; shape.rank++)
        shape.dim[shape.rank] = c->extent[result.label[shape.rank]];
    const bool left = merges(&g->batch, &g->left, &g->summed), right = merges(&g->batch, &g->summed, &g->right);
    return (!left || can_reshape(grouped_shape(c, &g->batch, &g->left, &g->summed))) &&
           (!right || can_reshape(grouped_shape(c, &g->batch, &g->summed, &g->right))) &&
           (!(left || right) || can_reshape(shape));
}

/* A factor [batch.., rows, columns], or [batch.., columns, rows] with *out_swapped if its axes stand so. */
static mw_tensor *factor(const mw__contraction *c, piece x, const groups *g, const term *rows, const term *columns,
                         bool *out_swapped)
{
    term straight = g->batch, swapped = g->batch;
    append_term(&straight, rows);
    append_term(&straight, columns);
    append_term(&swapped, columns);
    append_term(&swapped, rows);
    *out_swapped = rows->rank > 0 && columns->rank > 0 &&
                   memcmp(swapped.label, x.term.label, (size_t)swapped.rank * sizeof *swapped.label) == 0;
    mw_tensor *y = *out_swapped ? x.x : mw__contraction_arrange(x, &straight);
    const term *first = *out_swapped ? columns : rows, *second = *out_swapped ? rows : columns;
    if (merges(&g->batch, rows, columns))
        return mw_reshape(y, grouped_shape(c, &g->batch, first, second));
    const int at = g->batch.rank;
    if (first->rank == 0)
        y = mw_expand_dims(y, MW_AXES(at));
    return second->rank == 0 ? mw_expand_dims(y, MW_AXES(at + 1)) : y;
}

/* [batch.., left, right] with the axes that the groups stand for. */
static mw_tensor *ungroup(const mw__contraction *c, mw_tensor *y, const groups *g, const term *result)
{
    if (merges(&g->batch, &g->left, &g->right)) {
        mw_shape shape = {.rank = result->rank};
        for (int i = 0; i < result->rank; i++)
            shape.dim[i] = c->extent[result->label[i]];
        return mw_reshape(y, shape);
    }
    const int at = g->batch.rank;
    if (g->left.rank == 0)
        return mw_squeeze(y, MW_AXES(at));
    return g->right.rank == 0 ? mw_squeeze(y, MW_AXES(at + 1)) : y;
}

static piece multiply_matrices(const mw__contraction *c, piece a, piece b, const groups *g)
{
    bool swapped_a, swapped_b;
    piece made = {.term = g->batch};
    append_term(&made.term, &g->left);
    append_term(&made.term, &g->right);
    mw_tensor *x = factor(c, a, g, &g->left, &g->summed, &swapped_a);
    mw_tensor *y = factor(c, b, g, &g->summed, &g->right, &swapped_b);
    const mw_transposes turned =
        (swapped_a ? MW_TRANSPOSE_X : MW_TRANSPOSE_NONE) | (swapped_b ? MW_TRANSPOSE_Y : MW_TRANSPOSE_NONE);
    made.x = ungroup(c, mw_matmul(x, y, turned), g, &made.term);
    return made;
}

/* What a matrix product could not: axes that are merged where their extents are unknown. */
static bool refuse_unknown(const piece *a, const piece *b)
{
    mw__label_set set = mw__contraction_labels(&a->term) | mw__contraction_labels(&b->term);
    int axes = 0;
    for (; set != 0; set &= set - 1)
        axes++;
    if (axes > MW_RANK_MAX && a->x != NULL)
        mw__graph_fail(
            a->x->graph, MW_ERROR_UNSUPPORTED,
            "contract: two operands with %d letters of extents that are unknown or 0; at most %d are allowed", axes,
            MW_RANK_MAX);
    return axes > MW_RANK_MAX;
}

piece mw__contraction_pair(const mw__contraction *contraction, piece a, piece b, mw__label_set keep)
{
    const groups g = groups_of(&a.term, &b.term, keep);
    const bool is_matrix = g.summed.rank > 0 && g.left.rank + g.right.rank > 0;
    if (is_matrix && can_group(contraction, &g))
        return multiply_matrices(contraction, a, b, &g);
    return is_matrix && refuse_unknown(&a, &b) ? (piece){0} : multiply(a, b, keep);
}

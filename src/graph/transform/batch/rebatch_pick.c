/* Operations that pick rows along the axis of the examples by constant numbers: x[:4], or a gather by [3, 2, 1, 0]. In
 * a copy for another batch they pick as many rows as before, so that examples would be left out without a word. */
#include "graph/constants/evaluate_small.h"
#include "graph/ir/rule.h"
#include "graph/transform/batch/rebatch.h"
#include "graph/transform/clone/clone.h"

#include <inttypes.h>
#include <string.h>

typedef struct picks {
    const mw__batch_rows *table;
    const mw__clone *clone;
    const mw__op *op;
    int axis; /* along which the operand that is picked from has its examples */
} picks;

static bool extent_stays(const picks *p, const mw_tensor *value, int axis)
{
    const mw_tensor *copy = mw__clone_get(p->clone, value);
    const mw_shape before = mw_tensor_shape(value), after = mw_tensor_shape(copy);
    return copy != NULL && axis < before.rank && axis < after.rank && before.dim[axis] == after.dim[axis];
}

/* The numbers are constant, and are not computed from how many examples there are. */
static bool is_fixed(const picks *p, const char *arg)
{
    mw_tensor *value = mw__arg(p->op, arg);
    mw__evaluation evaluation = {0}, again = {0};
    mw__known before, after;
    if (value == NULL || p->table[mw__evaluated(value)->id].kind != MW__BATCH_NONE)
        return false;
    const mw_tensor *copy = mw__clone_get(p->clone, value);
    if (copy == NULL)
        return true; /* a literal */
    if (!mw_shape_equal(mw_tensor_shape(value), mw_tensor_shape(copy)))
        return false;
    if (!mw__evaluate(&evaluation, value, &before) || !mw__evaluate(&again, copy, &after))
        return mw__is_constant(copy);
    return before.count == after.count && memcmp(before.at, after.at, before.count * sizeof *before.at) == 0;
}

static bool is_squeezed(const mw__op *op, int axis)
{
    bool marks[MW_RANK_MAX];
    size_t count = 0;
    return mw__row_arg(op->row, "squeeze_mask") != NULL &&
           mw__arg_bools(op, "squeeze_mask", marks, MW_RANK_MAX, &count) && (size_t)axis < count && marks[axis];
}

/* `part` is what is cut out, or what is put into its place. */
static bool slices(const picks *p, const mw_tensor *part)
{
    int axis = p->axis;
    for (int i = 0; i < p->axis; i++)
        axis -= is_squeezed(p->op, i);
    return is_fixed(p, "begin") && (is_squeezed(p->op, p->axis) || extent_stays(p, part, axis));
}

static bool picks_along(const picks *p, int rank)
{
    int64_t axis;
    return mw__arg_int(p->op, "axis", &axis) && (axis < 0 ? axis + rank : axis) == p->axis;
}

/* The last axis of the indices says how many axes are picked from, behind those that both share. */
static bool picks_coordinates(const picks *p)
{
    int64_t shared = 0;
    const mw_shape indices = mw_tensor_shape(mw__arg(p->op, "indices"));
    if (mw__row_arg(p->op->row, "batch_dims") != NULL && !mw__arg_int(p->op, "batch_dims", &shared))
        return false;
    return p->axis >= shared && p->axis < shared + indices.dim[indices.rank - 1];
}

/* Boxes that say which picture they are cut from. */
static bool crops(const picks *p)
{
    const bool roi = mw__row_arg(p->op->row, "roi") != NULL;
    return roi ? is_fixed(p, "roi") && mw_tensor_shape(mw__arg(p->op, "roi")).dim[2] != 4 : is_fixed(p, "box_indices");
}

static bool picks_fixed(const picks *p, const mw_tensor *from)
{
    const mw__op *op = p->op;
    const int rank = mw_tensor_shape(from).rank;
    if (mw__op_is(op, "slice_by_index") || mw__op_is(op, "slice_by_size"))
        return slices(p, op->results[0]);
    if (mw__op_is(op, "slice_update"))
        return slices(p, mw__arg(op, "update"));
    if (mw__op_is(op, "crop_resize"))
        return crops(p);
    if (!is_fixed(p, "indices"))
        return false;
    if (mw__op_is(op, "gather") || mw__op_is(op, "scatter"))
        return picks_along(p, rank);
    if (mw__op_is(op, "gather_along_axis") || mw__op_is(op, "scatter_along_axis"))
        return picks_along(p, rank) || extent_stays(p, mw__arg(op, "indices"), p->axis);
    return picks_coordinates(p);
}

static const mw_tensor *picked_from(const mw__op *op)
{
    static const char *const kinds[] = {"slice_by_index", "slice_by_size",     "slice_update", "gather",
                                        "gather_nd",      "gather_along_axis", "crop_resize",  "scatter",
                                        "scatter_nd",     "scatter_along_axis"};
    for (size_t i = 0; op->row != NULL && op->result_count > 0 && i < sizeof kinds / sizeof *kinds; i++)
        if (mw__op_is(op, kinds[i]))
            return mw__arg(op, strncmp(op->kind, "scatter", 7) == 0 ? "data" : "x");
    return NULL;
}

static const mw__op *find_in(const mw__batch_rows *table, const mw__clone *clone, const mw__block *block)
{
    const mw__op *found = NULL;
    for (size_t i = 0; i < block->op_count && found == NULL; i++) {
        const mw__op *op = block->ops[i];
        mw_tensor *from = (mw_tensor *)picked_from(op);
        const mw__batch_rows rows = from != NULL ? table[mw__evaluated(from)->id] : (mw__batch_rows){0};
        const picks p = {.table = table, .clone = clone, .op = op, .axis = rows.axis};
        if (rows.kind == MW__BATCH_ROWS && mw__clone_get(clone, from) != NULL &&
            mw__clone_get(clone, op->results[0]) != NULL && !extent_stays(&p, from, rows.axis) && picks_fixed(&p, from))
            found = op;
        for (size_t b = 0; b < op->block_count && found == NULL; b++)
            found = find_in(table, clone, op->blocks[b]);
    }
    return found;
}

void mw__rebatch_refuse_picks(const mw__batch_rows *table, mw__clone *clone, const char *call)
{
    char subject[160];
    const mw__op *op = clone->to->error.status == MW_OK ? find_in(table, clone, clone->from->body) : NULL;
    if (op != NULL)
        mw__graph_fail(clone->to, MW_ERROR_SHAPE,
                       "%s: %s picks rows of the examples by constant numbers, so that in another batch it would leave "
                       "examples out; build the program for that batch",
                       call, mw__op_subject(op, subject, sizeof subject));
}

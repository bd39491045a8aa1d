/* The walk from an input to the gathers that it indexes. */
#include "graph/ir/lookups.h"

#include "graph/ir/ir.h"

#include <string.h>

/* A value may come to a table by many ways; no more of them are walked. */
enum { DEPTH_MAX = 64, STEPS_MAX = 4096 };

/* Which elements of the input the value holds, in which order, and what was added to them. */
typedef struct trace {
    int64_t inner, extent, begin, end; /* as in mw__lookup */
    int64_t below;                     /* how far negative values are counted from the end */
    bool is_sliced, is_ordered;
    int depth;
} trace;

typedef struct finder {
    mw__arena *arena;
    const mw__use *const *uses;
    mw__lookup **last;
    int steps;
    mw_error *err;
} finder;

static mw_status follow_value(finder *f, const mw_tensor *value, const trace *at);

static bool is_kind(const mw__op *op, const char *kind) { return op->kind != NULL && strcmp(op->kind, kind) == 0; }

static const char *name_of_slot(const mw__use *use) { return use->op->slots[use->slot].name; }

static bool known_shape(const mw_tensor *value, mw_shape *out)
{
    if (value == NULL || value->type->kind != MW__TENSOR || value->type->shape.rank < 0 ||
        mw_shape_count(value->type->shape) <= 0)
        return false;
    *out = value->type->shape;
    return true;
}

static bool read_axis(const mw__op *op, int rank, int64_t *out)
{
    if (!mw__arg_int(op, "axis", out))
        return false;
    *out += *out < 0 ? rank : 0;
    return *out >= 0 && *out < rank;
}

/* ---- tables ---- */

static mw_status add_lookup(finder *f, const mw__op *op, const trace *at, int64_t rows)
{
    mw__lookup *lookup = mw__arena_alloc(f->arena, 1, sizeof *lookup, f->err);
    if (lookup == NULL)
        return MW_ERROR_MEMORY;
    const bool from_end = op->row != NULL && op->row->since < MW_IOS17;
    *lookup = (mw__lookup){.low = from_end ? -rows : -at->below,
                           .limit = rows,
                           .inner = at->inner,
                           .extent = at->extent,
                           .begin = at->begin,
                           .end = at->end};
    *f->last = lookup;
    f->last = &lookup->next;
    return MW_OK;
}

/* gather, gather_along_axis: one axis of the table. */
static mw_status note_rows(finder *f, const mw__op *op, const trace *at)
{
    mw_shape table;
    int64_t axis;
    if (!known_shape(mw__arg(op, "x"), &table) || !read_axis(op, table.rank, &axis))
        return MW_OK;
    return add_lookup(f, op, at, table.dim[axis]);
}

static trace slice_of(const trace *at, int64_t inner, int64_t extent, int64_t begin, int64_t end)
{
    trace part = *at;
    part.inner = inner;
    part.extent = extent;
    part.begin = begin;
    part.end = end;
    part.is_sliced = true;
    return part;
}

/* gather_nd: the last axis of the indices has one for each of so many axes of the table. */
static mw_status note_coordinates(finder *f, const mw__op *op, const trace *at)
{
    mw_shape table, indices;
    int64_t batch = 0;
    if (!known_shape(mw__arg(op, "x"), &table) || !known_shape(mw__arg(op, "indices"), &indices) || indices.rank == 0)
        return MW_OK;
    if (op->row != NULL && op->row->since >= MW_IOS16)
        mw__arg_int(op, "batch_dims", &batch);
    const int64_t depth = indices.dim[indices.rank - 1];
    const bool apart = !at->is_sliced && at->is_ordered;
    for (int64_t d = 0; batch >= 0 && d < depth && batch + d < table.rank && (depth == 1 || apart); d++) {
        const trace part = depth == 1 ? *at : slice_of(at, 1, depth, d, d + 1);
        MW_TRY(add_lookup(f, op, &part, table.dim[batch + d]));
    }
    return MW_OK;
}

static mw_status note_table(finder *f, const mw__use *use, const trace *at)
{
    /* a gradient's own gathers stand for scatters, which leave out what is outside */
    if (use->op->stage != MW__STEP_FORWARD || use->op->forward != NULL || strcmp(name_of_slot(use), "indices") != 0)
        return MW_OK;
    return is_kind(use->op, "gather_nd") ? note_coordinates(f, use->op, at) : note_rows(f, use->op, at);
}

/* ---- parts of a value ---- */

static int64_t count_behind(mw_shape shape, int64_t axis)
{
    int64_t count = 1;
    for (int64_t i = axis + 1; i < shape.rank; i++)
        count *= shape.dim[i];
    return count;
}

/* begin .. end of one axis of slice_by_index; false if it is not known or does not go up by ones. */
static bool read_bounds(const mw__op *op, mw_shape x, int64_t *begin, int64_t *end)
{
    int64_t stride[MW_RANK_MAX];
    bool masks[3][MW_RANK_MAX] = {{false}};
    static const char *const names[] = {"begin_mask", "end_mask", "squeeze_mask"};
    size_t count;
    const size_t rank = (size_t)x.rank;
    if (!mw__arg_ints(op, "begin", begin, rank, &count) || count != rank ||
        !mw__arg_ints(op, "end", end, rank, &count) || count != rank)
        return false;
    if (mw__arg_present(op, "stride") && (!mw__arg_ints(op, "stride", stride, rank, &count) || count != rank))
        return false;
    for (size_t i = 0; i < rank && mw__arg_present(op, "stride"); i++)
        if (stride[i] != 1)
            return false;
    for (int m = 0; m < 3; m++)
        if (mw__arg_present(op, names[m]) && !mw__arg_bools(op, names[m], masks[m], rank, &count))
            return false;
    for (size_t i = 0; i < rank; i++) {
        begin[i] = masks[0][i] ? 0 : begin[i] + (begin[i] < 0 ? x.dim[i] : 0);
        end[i] = masks[2][i] ? begin[i] + 1 : masks[1][i] ? x.dim[i] : end[i] + (end[i] < 0 ? x.dim[i] : 0);
        end[i] = end[i] > x.dim[i] ? x.dim[i] : end[i];
    }
    return true;
}

static bool read_sizes(const mw__op *op, mw_shape x, int64_t *begin, int64_t *end)
{
    int64_t size[MW_RANK_MAX];
    size_t count;
    const size_t rank = (size_t)x.rank;
    if (!mw__arg_ints(op, "begin", begin, rank, &count) || count != rank ||
        !mw__arg_ints(op, "size", size, rank, &count) || count != rank)
        return false;
    for (size_t i = 0; i < rank; i++)
        end[i] = size[i] < 0 ? x.dim[i] : begin[i] + size[i];
    return true;
}

/* A piece along one axis; what is cut along several, or from what is no longer in order, is not followed. */
static mw_status follow_slice(finder *f, const mw__use *use, const trace *at)
{
    mw_shape x;
    int64_t begin[MW_RANK_MAX], end[MW_RANK_MAX], axis = -1;
    const mw__op *op = use->op;
    if (strcmp(name_of_slot(use), "x") != 0 || at->is_sliced || !at->is_ordered || !known_shape(mw__arg(op, "x"), &x))
        return MW_OK;
    if (!(is_kind(op, "slice_by_size") ? read_sizes(op, x, begin, end) : read_bounds(op, x, begin, end)))
        return MW_OK;
    for (int64_t i = 0; i < x.rank; i++) {
        if (begin[i] == 0 && end[i] == x.dim[i])
            continue;
        if (axis >= 0 || begin[i] < 0 || begin[i] >= end[i])
            return MW_OK;
        axis = i;
    }
    if (axis < 0)
        return follow_value(f, op->results[0], at);
    const trace part = slice_of(at, count_behind(x, axis), x.dim[axis], begin[axis], end[axis]);
    return follow_value(f, op->results[0], &part);
}

static mw_status follow_split(finder *f, const mw__use *use, const trace *at)
{
    mw_shape x, piece;
    int64_t axis, begin = 0;
    const mw__op *op = use->op;
    if (strcmp(name_of_slot(use), "x") != 0 || at->is_sliced || !at->is_ordered || !known_shape(mw__arg(op, "x"), &x) ||
        !read_axis(op, x.rank, &axis))
        return MW_OK;
    for (size_t i = 0; i < op->result_count && known_shape(op->results[i], &piece); i++) {
        const trace part = slice_of(at, count_behind(x, axis), x.dim[axis], begin, begin + piece.dim[axis]);
        MW_TRY(follow_value(f, op->results[i], &part));
        begin += piece.dim[axis];
    }
    return MW_OK;
}

/* ---- other forms of a value ---- */

/* x + c, of the value itself. */
static bool adds_constant(const mw_tensor *sum, const mw_tensor *value, int64_t *out)
{
    const mw__op *op = sum != NULL ? sum->op : NULL;
    if (op == NULL || !is_kind(op, "add"))
        return false;
    return (mw__arg(op, "x") == value && mw__arg_int(op, "y", out)) ||
           (mw__arg(op, "y") == value && mw__arg_int(op, "x", out));
}

/* select(v < 0, v + rows, v), in either order: negative ones count from the end. */
static mw_status follow_select(finder *f, const mw__use *use, const mw_tensor *value, const trace *at)
{
    const mw__op *op = use->op;
    const char *slot = name_of_slot(use);
    trace part = *at;
    const bool is_a = strcmp(slot, "a") == 0;
    if ((!is_a && strcmp(slot, "b") != 0) || !adds_constant(mw__arg(op, is_a ? "b" : "a"), value, &part.below) ||
        part.below <= 0)
        return MW_OK;
    return follow_value(f, op->results[0], &part);
}

static bool is_one_of(const mw__op *op, const char *const *kinds, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (is_kind(op, kinds[i]))
            return true;
    return false;
}

static mw_status follow_use(finder *f, const mw__use *use, const mw_tensor *value, const trace *at)
{
    static const char *const gathers[] = {"gather", "gather_along_axis", "gather_nd"};
    static const char *const moved[] = {"transpose", "tile", "concat", "stack", "reverse"};
    static const char *const slices[] = {"slice_by_index", "slice_by_size"};
    const mw__op *op = use->op;
    const bool ordered = mw__op_has(op, MW__TRAIT_MOVES | MW__TRAIT_VIEW) || is_kind(op, "cast");
    trace next = *at;
    next.is_ordered = at->is_ordered && !is_one_of(op, moved, 5);
    if (is_one_of(op, gathers, 3))
        return note_table(f, use, at);
    if (is_one_of(op, slices, 2))
        return follow_slice(f, use, at);
    if (is_kind(op, "split"))
        return follow_split(f, use, at);
    if (is_kind(op, "select"))
        return follow_select(f, use, value, at);
    const bool is_operand = strcmp(name_of_slot(use), "x") == 0 || strcmp(name_of_slot(use), "values") == 0;
    if (is_operand && op->result_count == 1 && (ordered || is_one_of(op, moved, 5)))
        return follow_value(f, op->results[0], &next);
    return MW_OK;
}

static mw_status follow_value(finder *f, const mw_tensor *value, const trace *at)
{
    trace next = *at;
    if (++next.depth > DEPTH_MAX || ++f->steps > STEPS_MAX)
        return MW_OK;
    for (const mw__use *use = f->uses[value->id]; use != NULL; use = use->next)
        MW_TRY(follow_use(f, use, value, &next));
    return MW_OK;
}

mw_status mw__lookups_find(mw__arena *arena, const mw__use *const *uses, const mw_tensor *input, mw__lookup **out,
                           mw_error *err)
{
    const trace whole = {.inner = 1, .extent = 1, .end = 1, .is_ordered = true};
    finder f = {.arena = arena, .uses = uses, .last = out, .err = err};
    *out = NULL;
    return follow_value(&f, input, &whole);
}

/* Putting together the cotangents of parts: by concat where they lie beside each other. Operations are emitted, no
 * numbers are computed. Strided parts are made dense first. */
#include "autograd/vjp/parts.h"
#include "autograd/vjp/rules.h"

#include <stdlib.h>

/* A part in work. */
typedef struct piece {
    mw_tensor *dy;
    mw__span span[MW_RANK_MAX];
    int64_t key;  /* what it is sorted by: where it begins on an axis */
    size_t order; /* its place in the sum; settles equal keys */
    size_t layer; /* of sum_layers */
    bool merged;  /* into an earlier one of the same stride */
} piece;

/* A box: [begin, end) on each axis; [0, -1) is all of an axis of unknown extent. */
typedef struct region {
    int64_t begin[MW_RANK_MAX], end[MW_RANK_MAX];
} region;

typedef struct assembly {
    mw_graph *graph;
    mw_dtype dtype;
    int rank;
    mw__arena *arena;
    mw_error *err;
    mw_tensor *zeros; /* the last gap that was made */
} assembly;

mw__span mw__span_all(int64_t extent) { return (mw__span){.count = extent, .stride = 1}; }

static mw_tensor *plus(mw_tensor *sum, mw_tensor *term) { return sum == NULL ? term : mw_add(sum, term); }

/* ---- boxes ---- */

static region region_of(const assembly *a, const piece *p)
{
    region r = {0};
    for (int axis = 0; axis < a->rank; axis++) {
        r.begin[axis] = p->span[axis].begin;
        r.end[axis] = p->span[axis].begin + p->span[axis].count;
    }
    return r;
}

static bool is_open(const region *r, int axis) { return r->end[axis] < 0; }

static bool same_region(const assembly *a, const region *r, const region *s)
{
    for (int axis = 0; axis < a->rank; axis++)
        if (r->begin[axis] != s->begin[axis] || r->end[axis] != s->end[axis])
            return false;
    return true;
}

static region hull_of(const assembly *a, piece *const *pieces, size_t count)
{
    region hull = region_of(a, pieces[0]);
    for (size_t i = 1; i < count; i++) {
        const region r = region_of(a, pieces[i]);
        for (int axis = 0; axis < a->rank; axis++) {
            hull.begin[axis] = r.begin[axis] < hull.begin[axis] ? r.begin[axis] : hull.begin[axis];
            hull.end[axis] = r.end[axis] > hull.end[axis] ? r.end[axis] : hull.end[axis];
        }
    }
    return hull;
}

/* `dy` of `inner` among zeros in `outer`. */
static mw_tensor *surround(const assembly *a, mw_tensor *dy, const region *inner, const region *outer)
{
    int64_t pad[2 * MW_RANK_MAX];
    if (same_region(a, inner, outer))
        return dy;
    for (int axis = 0; axis < a->rank; axis++) {
        pad[2 * axis] = inner->begin[axis] - outer->begin[axis];
        pad[2 * axis + 1] = outer->end[axis] - inner->end[axis];
    }
    return mw_pad(dy, pad, a->rank, MW_PAD_CONSTANT, 0.0f);
}

/* ---- order ---- */

static int compare_pieces(const void *left, const void *right)
{
    const piece *a = *(piece *const *)left, *b = *(piece *const *)right;
    if (a->key != b->key)
        return a->key < b->key ? -1 : 1;
    return a->order < b->order ? -1 : 1;
}

static void sort_by_axis(piece **pieces, size_t count, int axis)
{
    for (size_t i = 0; i < count; i++)
        pieces[i]->key = pieces[i]->span[axis].begin;
    qsort(pieces, count, sizeof *pieces, compare_pieces);
}

static void sort_by_order(piece **pieces, size_t count)
{
    for (size_t i = 0; i < count; i++)
        pieces[i]->key = 0;
    qsort(pieces, count, sizeof *pieces, compare_pieces);
}

/* How many of the sorted pieces from the first on overlap in a chain; *out_end: where the chain ends. */
static size_t chain_of(piece *const *pieces, size_t count, int axis, int64_t *out_end)
{
    size_t length = 0;
    int64_t end = pieces[0]->span[axis].begin + 1;
    for (; length < count && pieces[length]->span[axis].begin < end; length++) {
        const mw__span *span = &pieces[length]->span[axis];
        end = span->begin + span->count > end ? span->begin + span->count : end;
    }
    *out_end = end;
    return length;
}

/* ---- dense pieces ---- */

static mw_tensor *assemble(assembly *a, const region *r, piece **pieces, size_t count);

static mw_tensor *gap(assembly *a, const region *r)
{
    mw_shape shape = {.rank = a->rank};
    for (int axis = 0; axis < a->rank; axis++)
        shape.dim[axis] = r->end[axis] - r->begin[axis];
    if (a->zeros == NULL || !mw_shape_equal(mw_tensor_shape(a->zeros), shape))
        a->zeros = mw_fill(a->graph, a->dtype, shape, 0.0);
    return a->zeros;
}

/* The pieces, sorted along `axis`, as the operands of one concat: chains of them, with zeros where there is a gap. */
static mw_tensor *join_pieces(assembly *a, const region *r, piece **pieces, size_t count, int axis)
{
    mw_tensor **operands = mw__arena_alloc(a->arena, 2 * count + 1, sizeof *operands, a->err);
    size_t operand_count = 0;
    region at = *r;
    at.end[axis] = r->begin[axis];
    for (size_t i = 0; operands != NULL && i < count;) {
        at.begin[axis] = at.end[axis];
        at.end[axis] = pieces[i]->span[axis].begin;
        if (at.begin[axis] < at.end[axis])
            operands[operand_count++] = gap(a, &at);
        at.begin[axis] = at.end[axis];
        const size_t chain = chain_of(pieces + i, count - i, axis, &at.end[axis]);
        operands[operand_count++] = assemble(a, &at, pieces + i, chain);
        i += chain;
    }
    at.begin[axis] = at.end[axis];
    at.end[axis] = r->end[axis];
    if (operands != NULL && at.begin[axis] < at.end[axis])
        operands[operand_count++] = gap(a, &at);
    return operands != NULL ? mw_concat(operands, operand_count, axis) : NULL;
}

/* Gives each of the pieces, sorted along the axis, the first layer where it overlaps none; returns how many there are.
 * `ends` has room for one number a piece. */
static size_t put_in_layers(piece *const *pieces, size_t count, int axis, int64_t *ends)
{
    size_t layers = 0;
    for (size_t i = 0; i < count; i++) {
        const mw__span *span = &pieces[i]->span[axis];
        size_t layer = 0;
        while (layer < layers && ends[layer] > span->begin)
            layer++;
        layers += layer == layers;
        ends[layer] = span->begin + span->count;
        pieces[i]->layer = layer;
    }
    return layers;
}

/* Along the axis where the fewest lie over each other. */
static mw_tensor *sum_layers(assembly *a, const region *r, piece **pieces, size_t count)
{
    int64_t *ends = mw__arena_alloc(a->arena, count, sizeof *ends, a->err);
    piece **layer = mw__arena_alloc(a->arena, count, sizeof *layer, a->err);
    size_t least = SIZE_MAX;
    int best = 0;
    if (ends == NULL || layer == NULL)
        return NULL;
    for (int axis = 0; axis < a->rank; axis++) {
        if (is_open(r, axis))
            continue;
        sort_by_axis(pieces, count, axis);
        const size_t layers = put_in_layers(pieces, count, axis, ends);
        best = layers < least ? axis : best;
        least = layers < least ? layers : least;
    }
    sort_by_axis(pieces, count, best);
    put_in_layers(pieces, count, best, ends);
    mw_tensor *sum = NULL;
    for (size_t i = 0; i < least; i++) {
        size_t members = 0;
        for (size_t k = 0; k < count; k++)
            if (pieces[k]->layer == i)
                layer[members++] = pieces[k];
        mw_tensor *term = assemble(a, r, layer, members);
        sum = plus(sum, term);
    }
    return sum;
}

static mw_tensor *sum_surrounded(assembly *a, const region *r, piece **pieces, size_t count)
{
    mw_tensor *sum = NULL;
    sort_by_order(pieces, count);
    for (size_t i = 0; i < count; i++) {
        const region own = region_of(a, pieces[i]);
        mw_tensor *term = surround(a, pieces[i]->dy, &own, r);
        sum = plus(sum, term);
    }
    return sum;
}

/* Pieces none of which fills the region. */
static mw_tensor *assemble_partial(assembly *a, const region *r, piece **pieces, size_t count)
{
    bool open = false; /* there are no zeros of unknown extent to fill a gap with */
    for (int axis = 0; axis < a->rank; axis++)
        open = open || is_open(r, axis);
    if (count == 1 || open)
        return sum_surrounded(a, r, pieces, count);
    for (int axis = 0; axis < a->rank; axis++) {
        int64_t end;
        sort_by_axis(pieces, count, axis);
        if (chain_of(pieces, count, axis, &end) < count)
            return join_pieces(a, r, pieces, count, axis);
    }
    const region hull = hull_of(a, pieces, count);
    if (same_region(a, &hull, r))
        return sum_layers(a, r, pieces, count);
    mw_tensor *inner = assemble(a, &hull, pieces, count);
    return surround(a, inner, &hull, r);
}

/* The sum of the pieces, which lie in the region, as a tensor of its extents. */
static mw_tensor *assemble(assembly *a, const region *r, piece **pieces, size_t count)
{
    mw_tensor *sum = NULL;
    size_t partial = 0;
    sort_by_order(pieces, count);
    for (size_t i = 0; i < count; i++) {
        const region own = region_of(a, pieces[i]);
        if (same_region(a, &own, r))
            sum = plus(sum, pieces[i]->dy);
        else
            pieces[partial++] = pieces[i];
    }
    if (partial == 0 || a->err->status != MW_OK)
        return sum;
    mw_tensor *rest = assemble_partial(a, r, pieces, partial);
    return plus(sum, rest);
}

/* By the place, so that equal ones are neighbors. */
static int compare_places(const void *left, const void *right)
{
    const piece *a = *(piece *const *)left, *b = *(piece *const *)right;
    for (int axis = 0; axis < MW_RANK_MAX; axis++) {
        const mw__span *x = &a->span[axis], *y = &b->span[axis];
        if (x->begin != y->begin)
            return x->begin < y->begin ? -1 : 1;
        if (x->count != y->count)
            return x->count < y->count ? -1 : 1;
    }
    return a->order < b->order ? -1 : 1;
}

/* Pieces of one place become one; returns how many remain. */
static size_t merge_equal(const assembly *a, piece **pieces, size_t count)
{
    size_t kept = 0;
    qsort(pieces, count, sizeof *pieces, compare_places);
    for (size_t i = 0; i < count; i++) {
        const region own = region_of(a, pieces[i]), last = region_of(a, pieces[kept > 0 ? kept - 1 : 0]);
        if (kept > 0 && same_region(a, &own, &last))
            pieces[kept - 1]->dy = plus(pieces[kept - 1]->dy, pieces[i]->dy);
        else
            pieces[kept++] = pieces[i];
    }
    return kept;
}

/* ---- strided pieces ---- */

/* The first axis whose elements are not neighbors, or the rank. */
static int strided_axis(const assembly *a, const piece *p)
{
    int axis = 0;
    while (axis < a->rank && p->span[axis].stride == 1)
        axis++;
    return axis;
}

/* Strides become positive, those of single elements 1. */
static void turn(const assembly *a, piece *p)
{
    mw_axes axes = {0};
    for (int axis = 0; axis < a->rank; axis++) {
        mw__span *span = &p->span[axis];
        if (span->count != 1 && span->stride < 0) {
            axes.axis[axes.count++] = axis;
            span->begin += (span->count - 1) * span->stride;
            span->stride = -span->stride;
        }
        span->stride = span->count == 1 ? 1 : span->stride;
    }
    p->dy = axes.count > 0 ? mw_reverse(p->dy, axes) : p->dy;
}

static int64_t length_of(const mw__span *span) { return (span->count - 1) * span->stride + 1; }

/* One strided axis with zeros between its elements. */
static void spread_piece(const assembly *a, piece *p, int axis)
{
    mw__span *span = &p->span[axis];
    const int64_t length = length_of(span);
    int32_t *source = mw__arena_alloc(&a->graph->arena, (size_t)span->count, sizeof *source, a->err);
    for (int64_t i = 0; source != NULL && i < span->count; i++)
        source[i] = (int32_t)(i * span->stride);
    p->dy = source != NULL ? mw__unmap_axis(p->dy, axis, source, span->count, length) : NULL;
    *span = (mw__span){.begin = span->begin, .count = length, .stride = 1};
}

/* What a group of pieces of one stride covers together. */
static region hull_of_group(const assembly *a, piece *const *group, size_t count)
{
    region hull = {0};
    for (size_t i = 0; i < count; i++)
        for (int axis = 0; axis < a->rank; axis++) {
            const mw__span *span = &group[i]->span[axis];
            const int64_t end = span->count < 0 ? -1 : span->begin + length_of(span);
            hull.begin[axis] = i == 0 || span->begin < hull.begin[axis] ? span->begin : hull.begin[axis];
            hull.end[axis] = i == 0 || end > hull.end[axis] ? end : hull.end[axis];
        }
    return hull;
}

/* The piece in a tensor whose axis is cut into [blocks, stride], from the hull's begin on. */
static piece cut_axis(const assembly *a, const piece *p, const region *hull, int axis, size_t order)
{
    const int64_t stride = p->span[axis].stride, from = p->span[axis].begin - hull->begin[axis];
    mw_shape shape = mw_tensor_shape(p->dy);
    piece cut = {.order = order};
    for (int i = 0; i < a->rank; i++) {
        mw__span *span = &cut.span[i < axis ? i : i + 1];
        *span = p->span[i];
        span->begin -= hull->begin[i];
    }
    cut.span[axis] = (mw__span){.begin = from / stride, .count = p->span[axis].count, .stride = 1};
    cut.span[axis + 1] = (mw__span){.begin = from % stride, .count = 1, .stride = 1};
    for (int i = shape.rank++; i > axis + 1; i--)
        shape.dim[i] = shape.dim[i - 1];
    shape.dim[axis + 1] = 1;
    cut.dy = mw_reshape(p->dy, shape);
    return cut;
}

static mw_tensor *sum_pieces(const assembly *like, mw_shape shape, piece *pieces, size_t count);

/* Pieces of equal stride, of which each takes other elements: put together as the rows of [blocks, stride]. Replaces
 * the first by their sum. */
static void interleave(const assembly *a, piece *const *group, size_t count, int axis)
{
    const int64_t stride = group[0]->span[axis].stride;
    const region hull = hull_of_group(a, group, count);
    const int64_t length = hull.end[axis] - hull.begin[axis], blocks = (length + stride - 1) / stride;
    mw_shape shape = {.rank = a->rank}, cut = {.rank = a->rank + 1};
    int64_t begin[MW_RANK_MAX] = {0};
    piece *cuts = mw__arena_alloc(a->arena, count, sizeof *cuts, a->err);
    for (size_t i = 0; cuts != NULL && i < count; i++)
        cuts[i] = cut_axis(a, group[i], &hull, axis, i);
    for (int i = 0; i < a->rank; i++) {
        shape.dim[i] = hull.end[i] - hull.begin[i];
        cut.dim[i < axis ? i : i + 1] = shape.dim[i];
        group[0]->span[i] = (mw__span){.begin = hull.begin[i], .count = shape.dim[i], .stride = 1};
    }
    cut.dim[axis] = blocks, cut.dim[axis + 1] = stride;
    mw_tensor *sum = cuts != NULL ? sum_pieces(a, cut, cuts, count) : NULL;
    mw_shape whole = shape;
    whole.dim[axis] = blocks * stride;
    sum = mw_reshape(sum, whole);
    group[0]->dy = blocks * stride > length ? mw_slice_by_size(sum, begin, shape.dim) : sum;
}

/* An axis more, which devices have only up to rank 5, and known extents. */
static bool can_interleave(const assembly *a, const piece *p)
{
    const int limit = a->graph->lowering == MW__LOWERING_DECOMPOSED ? 5 : MW_RANK_MAX;
    bool known = true;
    for (int axis = 0; axis < a->rank; axis++)
        known = known && p->span[axis].count >= 0;
    return known && a->rank < limit;
}

/* Makes the piece dense, and with it all later ones of the same stride, which are marked as empty. */
static void make_dense(const assembly *a, piece *pieces, size_t count, piece **group)
{
    const int axis = strided_axis(a, pieces);
    size_t members = 0;
    for (size_t i = 0; axis < a->rank && i < count; i++)
        if (!pieces[i].merged && strided_axis(a, &pieces[i]) == axis &&
            pieces[i].span[axis].stride == pieces->span[axis].stride)
            group[members++] = &pieces[i];
    if (members > 1 && can_interleave(a, pieces)) {
        interleave(a, group, members, axis);
        for (size_t i = 1; i < members; i++)
            group[i]->merged = true;
        return;
    }
    for (int i = axis; i < a->rank; i++)
        if (pieces->span[i].stride != 1)
            spread_piece(a, pieces, i);
}

/* ---- all ---- */

static mw_tensor *sum_pieces(const assembly *like, mw_shape shape, piece *pieces, size_t count)
{
    assembly a = *like;
    region whole = {0};
    piece **list = mw__arena_alloc(a.arena, count, sizeof *list, a.err);
    size_t kept = 0;
    a.rank = shape.rank;
    a.zeros = NULL;
    for (int axis = 0; axis < a.rank; axis++)
        whole.end[axis] = shape.dim[axis] < 0 ? -1 : shape.dim[axis];
    if (list == NULL)
        return NULL;
    for (size_t i = 0; i < count; i++)
        turn(&a, &pieces[i]);
    for (size_t i = 0; i < count && a.err->status == MW_OK; i++)
        if (!pieces[i].merged)
            make_dense(&a, pieces + i, count - i, list);
    for (size_t i = 0; i < count; i++)
        if (!pieces[i].merged)
            list[kept++] = &pieces[i];
    return a.err->status == MW_OK ? assemble(&a, &whole, list, merge_equal(&a, list, kept)) : NULL;
}

mw_tensor *mw__parts_sum(mw_graph *graph, mw_shape shape, const mw__dpart *parts, size_t count, mw_error *err)
{
    mw__arena arena;
    mw__arena_init(&arena, graph->allocator);
    assembly a = {.graph = graph, .dtype = mw_tensor_dtype(parts[0].dy), .arena = &arena, .err = err};
    piece *pieces = mw__arena_alloc(&arena, count, sizeof *pieces, err);
    for (size_t i = 0; pieces != NULL && i < count; i++) {
        pieces[i] = (piece){.dy = parts[i].dy, .order = i};
        for (int axis = 0; axis < shape.rank; axis++)
            pieces[i].span[axis] = parts[i].span[axis];
    }
    mw_tensor *sum = pieces != NULL ? sum_pieces(&a, shape, pieces, count) : NULL;
    mw__arena_deinit(&arena);
    return sum;
}

/* Codes that move. Position i of an axis of the result comes from an offset in x, or is filled; a row of the result is
 * one copy where these offsets follow each other, through a table where the scales differ. */
#include "engine/kernels/int8/int8_between.h"

#include "base/number/integer.h"
#include "graph/geometry/resample.h"

#include <string.h>

/* A part of the result, which one tensor fills. */
typedef struct part {
    int rank;
    int64_t extent[MW_RANK_MAX], step[MW_RANK_MAX], begin; /* of the result */
    const int64_t *from[MW_RANK_MAX];                      // [extent]: offsets in x; -1: what is filled
    int64_t low, high;                                     /* of the last axis: offsets that follow each other */
    int64_t rows;                                          /* of all parts up to this one */
    bool same;                                             /* each byte stands for itself */
    uint8_t table[256];
} part;

typedef struct move_block {
    const part *parts;
    uint8_t fill;
} move_block;

/* ---- which positions ---- */

static bool is_named(const mw__op *op, const char *name) { return strcmp(op->row->name, name) == 0; }

static int64_t pad_from(int64_t at, int64_t extent, const char *mode)
{
    if (at >= 0 && at < extent)
        return at;
    if (strcmp(mode, "constant") == 0)
        return -1;
    if (strcmp(mode, "replicate") == 0)
        return at < 0 ? 0 : extent - 1;
    return at < 0 ? -at : 2 * (extent - 1) - at;
}

/* What stands before each axis; false: it is computed. */
static bool read_before(const mw__op *op, int rank, int64_t before[MW_RANK_MAX])
{
    int64_t amounts[2 * MW_RANK_MAX];
    size_t count = 0;
    if (!mw__arg_ints(op, "pad", amounts, 2 * MW_RANK_MAX, &count) || count > 2 * (size_t)rank || count % 2 != 0)
        return false;
    for (int i = 0; i < rank; i++) {
        const int at = i - (rank - (int)(count / 2));
        before[i] = at < 0 ? 0 : amounts[2 * at];
    }
    return true;
}

static bool read_nearest(const mw__op *op, mw__resample axes[2])
{
    mw_error ignored = {0};
    return mw__resample_plan(op, mw__shape_of(mw__arg(op, "x")), axes, &ignored) == MW_OK && axes[0].nearest &&
           axes[1].nearest;
}

bool mw__int8_move_suits(const mw__op *op)
{
    int64_t numbers[MW_RANK_MAX];
    size_t count = 0;
    bool woven = false;
    mw__resample axes[2];
    if (is_named(op, "concat"))
        return !mw__arg_bool(op, "interleave", &woven) || !woven;
    if (is_named(op, "transpose"))
        return mw__arg_ints(op, "perm", numbers, MW_RANK_MAX, &count);
    if (is_named(op, "pad"))
        return mw__arg_string(op, "mode") != NULL && mw__shape_of(op->results[0]).rank > 0 &&
               read_before(op, mw__shape_of(op->results[0]).rank, numbers);
    return (is_named(op, "upsample_nearest_neighbor") || is_named(op, "resize_nearest_neighbor")) &&
           read_nearest(op, axes);
}

/* ---- plans ---- */

/* Offsets of an axis of x whose elements are `stride` apart: those of the positions that `of` gives, or all. */
static const int64_t *offsets_of(mw__planner *planner, int64_t extent, int64_t stride,
                                 int64_t (*of)(const void *how, int64_t i), const void *how)
{
    int64_t *made = mw__plan_block(planner, (size_t)extent * sizeof *made);
    for (int64_t i = 0; made != NULL && i < extent; i++) {
        const int64_t at = of != NULL ? of(how, i) : i;
        made[i] = at < 0 ? -1 : at * stride;
    }
    return made;
}

typedef struct pad_axis {
    int64_t before, extent;
    const char *mode;
} pad_axis;

static int64_t at_pad(const void *how, int64_t i)
{
    const pad_axis *a = how;
    return pad_from(i - a->before, a->extent, a->mode);
}

static int64_t at_nearest(const void *how, int64_t i) { return mw__resample_tap(how, i).low; }

/* Of an axis of the result. */
static const int64_t *fill_axis(mw__planner *planner, const mw__op *op, mw_shape x, int axis, int64_t extent)
{
    const int64_t stride = mw__shape_span(x, axis + 1, x.rank);
    int64_t numbers[MW_RANK_MAX];
    size_t count = 0;
    mw__resample axes[2];
    if (is_named(op, "transpose")) {
        mw__arg_ints(op, "perm", numbers, MW_RANK_MAX, &count);
        const int of = (int)(numbers[axis] < 0 ? numbers[axis] + x.rank : numbers[axis]);
        return offsets_of(planner, extent, mw__shape_span(x, of + 1, x.rank), NULL, NULL);
    }
    if (is_named(op, "pad")) {
        read_before(op, x.rank, numbers);
        const pad_axis how = {numbers[axis], x.dim[axis], mw__arg_string(op, "mode")};
        return offsets_of(planner, extent, stride, at_pad, &how);
    }
    if (axis < x.rank - 2 || !read_nearest(op, axes))
        return offsets_of(planner, extent, stride, NULL, NULL);
    return offsets_of(planner, extent, stride, at_nearest, &axes[axis - (x.rank - 2)]);
}

/* The longest piece of the last axis whose offsets follow each other from its first one that is not filled. */
static void find_piece(part *p)
{
    const int64_t extent = p->extent[p->rank - 1], *from = p->from[p->rank - 1];
    while (p->low < extent && from[p->low] < 0)
        p->low++;
    p->high = p->low;
    while (p->high < extent && from[p->high] >= 0 && from[p->high] == from[p->low] + p->high - p->low)
        p->high++;
}

static void fill_table(part *p, const uint8_t table[256])
{
    memcpy(p->table, table, sizeof p->table);
    p->same = true;
    for (int i = 0; i < 256; i++)
        p->same = p->same && table[i] == i;
}

/* The whole result. */
static void fill_part(mw__planner *planner, const mw__int8_move_match *m, part *p)
{
    const mw_shape y = mw__shape_of(m->result);
    *p = (part){.rank = y.rank};
    for (int axis = 0; axis < y.rank; axis++) {
        p->extent[axis] = y.dim[axis], p->step[axis] = mw__shape_span(y, axis + 1, y.rank);
        p->from[axis] = fill_axis(planner, m->op, m->moved[0].shape, axis, y.dim[axis]);
    }
}

/* Rows of what one tensor has of an axis and those behind it; returns what comes after. */
static int64_t fill_joined(mw__planner *planner, const mw__int8_move_match *m, size_t i, int64_t begin, part *p)
{
    const mw_shape y = mw__shape_of(m->result), x = m->moved[i].shape;
    int64_t axis = mw__arg_whole(m->op, "axis");
    axis += axis < 0 ? y.rank : 0;
    const int64_t rows = mw__shape_span(y, 0, (int)axis), row = mw__shape_span(x, (int)axis, x.rank);
    *p = (part){.rank = 2,
                .extent = {rows, row},
                .step = {mw__shape_span(y, (int)axis, y.rank), 1},
                .begin = begin,
                .from = {offsets_of(planner, rows, row, NULL, NULL), offsets_of(planner, row, 1, NULL, NULL)}};
    return begin + row;
}

static bool is_filled(const part *p)
{
    for (int axis = 0; axis < p->rank; axis++)
        if (p->from[axis] == NULL)
            return false;
    return true;
}

/* Returns the rows of all parts; 0 after a failed allocation. */
static int64_t fill_parts(mw__planner *planner, const mw__int8_move_match *m, part *parts)
{
    int64_t begin = 0, rows = 0;
    for (size_t i = 0; i < m->count; i++) {
        part *p = &parts[i];
        if (is_named(m->op, "concat"))
            begin = fill_joined(planner, m, i, begin, p);
        else
            fill_part(planner, m, p);
        if (!is_filled(p))
            return 0;
        fill_table(p, m->moved[i].table);
        find_piece(p);
        int64_t own = 1;
        for (int axis = 0; axis + 1 < p->rank; axis++)
            own *= p->extent[axis];
        p->rows = rows += own;
    }
    return rows;
}

/* ---- rows ---- */

static void move_row(const move_block *b, const part *p, const uint8_t *x, uint8_t *out)
{
    const int64_t *const from = p->from[p->rank - 1], extent = p->extent[p->rank - 1];
    memset(out, b->fill, (size_t)p->low);
    if (p->same && p->low < p->high)
        memcpy(out + p->low, x + from[p->low], (size_t)(p->high - p->low));
    for (int64_t i = p->same ? p->high : p->low; i < extent; i++)
        out[i] = from[i] < 0 ? b->fill : p->table[x[from[i]]];
}

/* Row `row` of a part. */
static void run_row(const move_block *b, const part *p, int64_t row, const uint8_t *x, uint8_t *out)
{
    bool filled = false;
    out += p->begin;
    for (int axis = p->rank - 2; axis >= 0; row /= p->extent[axis], axis--) {
        const int64_t at = row % p->extent[axis], from = p->from[axis][at];
        filled = filled || from < 0;
        x += from < 0 ? 0 : from, out += at * p->step[axis];
    }
    if (filled)
        memset(out, b->fill, (size_t)p->extent[p->rank - 1]);
    else
        move_row(b, p, x, out);
}

static void run_move(const mw__kernel_call *call)
{
    const move_block *b = call->block;
    size_t at = 0;
    for (int64_t unit = call->begin; unit < call->end; unit++) {
        while (unit >= b->parts[at].rows)
            at++;
        run_row(b, &b->parts[at], unit - (at > 0 ? b->parts[at - 1].rows : 0), call->in[at], call->out[0]);
    }
}

mw_status mw__plan_int8_move(mw__planner *planner, const mw__int8_move_match *m, mw_error *err)
{
    move_block *b = mw__plan_block(planner, sizeof *b);
    part *parts = mw__plan_block(planner, m->count * sizeof *parts);
    if (b == NULL || parts == NULL)
        return mw__plan_check(planner, err);
    *b = (move_block){.parts = parts, .fill = m->fill};
    const int64_t rows = fill_parts(planner, m, parts);
    if (rows == 0)
        return mw__plan_check(planner, err);
    mw__step *step = mw__plan_step_of(planner, run_move, "int8.move", rows,
                                      mw__cost(2.0 * (double)mw__count_of(m->result), 0), m->count, 1);
    step->block = b;
    for (size_t i = 0; i < m->count; i++)
        mw__step_read(planner, step, mw__plan_buffer(planner, m->moved[i].codes), MW__WHOLE, 0, false);
    mw__step_write(planner, step, mw__plan_buffer(planner, m->result), MW__WHOLE, 0);
    return mw__plan_check(planner, err);
}

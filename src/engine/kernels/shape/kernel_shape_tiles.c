/* The strided copy of elements of 4 bytes where neighbors in x go to another axis of the result than the last but one:
 * for each position of the other axes, these two are a matrix that is transposed. */
#include "engine/kernels/shape/kernel_shape.h"
#include "engine/kernels/transpose.h"

typedef struct tiles_block {
    mw__nd_iter outer;                    /* the other axes; operands: x, result */
    int64_t start, inner;                 /* element of x at the begin; positions of outer that make a unit */
    int64_t rows, stride, columns, pitch; /* of the matrices, as mw__transpose takes them */
    mw__transpose *transpose;
} tiles_block;

static void tiles_run(const mw__kernel_call *call)
{
    const tiles_block *s = call->block;
    mw__nd_position position;
    mw__nd_position_seek(&s->outer, &position, call->begin * s->inner);
    for (int64_t at = call->begin * s->inner; at < call->end * s->inner; at++) {
        s->transpose((const float *)call->in[0] + s->start + position.offset[0], s->stride, s->rows, s->columns,
                     (float *)call->out[0] + position.offset[1], s->pitch);
        mw__nd_position_step(&s->outer, &position, 1);
    }
}

#define LEAST 32 /* elements of a matrix */

/* The loop over neighbors in x; -1 if that is the last, the one before it, or none, or the matrices are small. */
static int neighbors_of(const mw__nd_iter *iter)
{
    const int last = iter->rank - 1;
    for (int i = 0; i < last - 1; i++)
        if (iter->stride[0][i] == 1 && iter->stride[0][last] != 1 && iter->extent[i] * iter->extent[last] >= LEAST)
            return i;
    return -1;
}

/* Parts the loops; returns how many of the outer ones stand before the neighbors. */
static int64_t part_tiles(const mw__nd_iter *iter, int neighbors, tiles_block *s)
{
    const int last = iter->rank - 1;
    int64_t below[MW__ND_RANK] = {0}, before = 1, step = 1;
    for (int i = last; i >= 0; i--) {
        below[i] = step;
        step *= iter->extent[i];
    }
    s->rows = iter->extent[last], s->stride = iter->stride[0][last];
    s->columns = iter->extent[neighbors], s->pitch = below[neighbors];
    s->outer.operands = 2;
    for (int i = 0; i < last; i++) {
        const int64_t strides[] = {iter->stride[0][i], below[i]};
        if (i != neighbors)
            mw__nd_iter_add(&s->outer, iter->extent[i], strides);
        before *= i < neighbors ? iter->extent[i] : 1;
    }
    mw__nd_iter_finish(&s->outer);
    return before;
}

bool mw__plan_tiles(mw__planner *planner, const mw__copy *copy, const mw__nd_iter *iter)
{
    const int neighbors = copy->size == 4 && copy->origin.rank == 0 ? neighbors_of(iter) : -1;
    tiles_block *s = neighbors >= 0 ? mw__plan_block(planner, sizeof *s) : NULL;
    if (s == NULL)
        return false;
    const int64_t before = part_tiles(iter, neighbors, s), positions = mw__nd_iter_count(&s->outer);
    const bool apart = before >= 4 * mw__plan_partitions(planner); /* then the units lie one behind the other */
    s->start = copy->start, s->inner = apart ? positions / before : 1;
    s->transpose = mw__transpose_choose(mw__plan_level(planner));
    const int64_t count = mw_shape_count(copy->shape), units = positions / s->inner;
    const double bytes = 2.0 * (double)count * (double)copy->size;
    mw__step *step = mw__plan_step(planner, tiles_run, copy->label, units, mw__cost(bytes, 0));
    step->block = s;
    mw__step_read(planner, step, copy->from, MW__WHOLE, 0, false);
    mw__step_write(planner, step, copy->to, apart ? MW__ROWS : MW__WHOLE, (size_t)(count / units) * copy->size);
    return true;
}

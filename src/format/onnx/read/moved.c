/* Elements of constants that nodes of the file have cut, joined and turned: what PyTorch's exports without constant
 * folding make the weights of a recurrent layer of. They are found by walking back through the graph that was built. */
#include "format/onnx/read/moved.h"
#include "graph/ir/ir.h"

#include <string.h>

enum { DEPTH_MAX = 16, PARTS_MAX = 64 };

static bool find_literal(mw__onnx_moved *moved, const mw_tensor *x, mw__onnx_literal *out, int depth);

static void *room(mw__onnx_moved *moved, const mw__onnx_literal *out)
{
    mw__onnx_import *import = moved->import;
    const size_t size = mw__onnx_type_size(out->type);
    if (mw__onnx_charge(import, out->count, size) != MW_OK)
        return NULL;
    return mw__arena_alloc(&import->arena, out->count, size, import->err);
}

/* ---- views ---- */

/* Elements of `from`: the one at index i of the result lies at first + sum of i * step. */
typedef struct view {
    int64_t first, step[MW_RANK_MAX];
} view;

static bool copy_view(mw__onnx_moved *moved, const mw__onnx_literal *from, const view *v, mw__onnx_literal *out)
{
    const size_t size = mw__onnx_type_size(from->type);
    int64_t at[MW_RANK_MAX] = {0}, place = v->first;
    uint8_t *data = room(moved, out);
    for (size_t i = 0; data != NULL && i < out->count; i++) {
        memcpy(data + i * size, (const uint8_t *)from->data + (size_t)place * size, size);
        for (int axis = out->shape.rank - 1; axis >= 0; axis--) {
            place += v->step[axis];
            if (++at[axis] < out->shape.dim[axis])
                break;
            place -= at[axis] * v->step[axis];
            at[axis] = 0;
        }
    }
    out->data = data;
    return data != NULL;
}

static int64_t stride_of(mw_shape shape, int axis) { return mw__shape_span(shape, axis + 1, shape.rank); }

static bool turn(mw__onnx_moved *moved, const mw__op *op, const mw__onnx_literal *from, mw__onnx_literal *out)
{
    view v = {0};
    int64_t perm[MW_RANK_MAX];
    size_t count;
    if (!mw__arg_ints(op, "perm", perm, MW_RANK_MAX, &count))
        return false;
    for (size_t i = 0; i < count; i++)
        v.step[i] = stride_of(from->shape, (int)(perm[i] < 0 ? perm[i] + from->shape.rank : perm[i]));
    return copy_view(moved, from, &v, out);
}

static bool marked(const mw__op *op, const char *name, int axis)
{
    bool marks[MW_RANK_MAX];
    size_t count;
    return mw__arg_present(op, name) && mw__arg_bools(op, name, marks, MW_RANK_MAX, &count) && (size_t)axis < count &&
           marks[axis];
}

static bool cut_literal(mw__onnx_moved *moved, const mw__op *op, const mw__onnx_literal *from, mw__onnx_literal *out)
{
    view v = {0};
    int64_t begin[MW_RANK_MAX], stride[MW_RANK_MAX];
    size_t count;
    if (!mw__arg_ints(op, "begin", begin, MW_RANK_MAX, &count))
        return false;
    const bool steps = mw__arg_present(op, "stride");
    if (steps && !mw__arg_ints(op, "stride", stride, MW_RANK_MAX, &count))
        return false;
    for (int axis = 0, to = 0; axis < from->shape.rank; axis++) {
        const int64_t each = stride_of(from->shape, axis), step = steps ? stride[axis] : 1;
        int64_t start = begin[axis] < 0 ? begin[axis] + from->shape.dim[axis] : begin[axis];
        if (marked(op, "begin_mask", axis))
            start = step > 0 ? 0 : from->shape.dim[axis] - 1;
        v.first += start * each;
        if (!marked(op, "squeeze_mask", axis))
            v.step[to++] = step * each;
    }
    return copy_view(moved, from, &v, out);
}

/* ---- joining ---- */

/* The parts, which are found first, one behind the other along the axis. */
static bool put_together(mw__onnx_moved *moved, const mw__onnx_literal *parts, size_t count, int64_t axis,
                         mw__onnx_literal *out)
{
    uint8_t *data = room(moved, out), *to = data;
    const int64_t runs = mw__shape_span(out->shape, 0, (int)axis);
    for (int64_t run = 0; data != NULL && run < runs; run++)
        for (size_t i = 0; i < count; i++) {
            const size_t bytes = parts[i].count / (size_t)runs * mw__onnx_type_size(out->type);
            memcpy(to, (const uint8_t *)parts[i].data + (size_t)run * bytes, bytes);
            to += bytes;
        }
    out->data = data;
    return data != NULL;
}

static bool join_literals(mw__onnx_moved *moved, const mw__op *op, mw__onnx_literal *out, int depth)
{
    const mw__operand *values;
    const size_t count = mw__arg_values(op, "values", &values);
    bool interleave = false;
    int64_t axis;
    if (count > PARTS_MAX || !mw__arg_int(op, "axis", &axis) || !mw__arg_bool(op, "interleave", &interleave) ||
        interleave)
        return false;
    const mw_allocator *allocator = moved->import->arena.allocator;
    mw__onnx_literal *parts = mw__alloc(allocator, count, sizeof *parts, moved->import->err);
    bool found = parts != NULL;
    for (size_t i = 0; found && i < count; i++)
        found = find_literal(moved, values[i].value, &parts[i], depth);
    found = found && put_together(moved, parts, count, axis + (axis < 0 ? out->shape.rank : 0), out);
    mw__free(allocator, parts);
    return found;
}

/* ---- the walk ---- */

static bool take_constant(mw__onnx_moved *moved, const mw_tensor *x, mw__onnx_literal *out)
{
    out->data = x->payload->data;
    if (moved->name == NULL)
        moved->name = x->name;
    return out->data != NULL && !x->payload->splat;
}

static bool find_moved(mw__onnx_moved *moved, const mw__op *op, mw__onnx_literal *out, int depth)
{
    mw__onnx_literal from;
    if (strcmp(op->kind, "concat") == 0)
        return join_literals(moved, op, out, depth);
    const bool turned = strcmp(op->kind, "transpose") == 0, part = strcmp(op->kind, "slice_by_index") == 0,
               same = strcmp(op->kind, "reshape") == 0 || strcmp(op->kind, "expand_dims") == 0 ||
                      strcmp(op->kind, "squeeze") == 0;
    if ((!turned && !part && !same) || !find_literal(moved, mw__arg(op, "x"), &from, depth))
        return false;
    out->data = from.data;
    return same || (turned ? turn(moved, op, &from, out) : cut_literal(moved, op, &from, out));
}

static bool find_literal(mw__onnx_moved *moved, const mw_tensor *x, mw__onnx_literal *out, int depth)
{
    const int64_t count = x != NULL && x->type->kind == MW__TENSOR ? mw_shape_count(x->type->shape) : -1;
    if (count < 1 || depth == DEPTH_MAX || (x->type->dtype != MW_F32 && x->type->dtype != MW_F16))
        return false;
    const int type = x->type->dtype == MW_F32 ? MW__ONNX_FLOAT : MW__ONNX_FLOAT16;
    *out = (mw__onnx_literal){.type = type, .shape = x->type->shape, .count = (size_t)count};
    if (x->payload != NULL)
        return take_constant(moved, x, out);
    return x->op != NULL && x->op->row != NULL && find_moved(moved, x->op, out, depth + 1);
}

bool mw__onnx_moved_find(mw__onnx_moved *moved, const mw_tensor *x)
{
    return find_literal(moved, x, &moved->literal, 0);
}

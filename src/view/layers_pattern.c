/* Layers that are spelled out in operations: norms, softmax, attention, curves such as gelu. */
#include "view/layers.h"

#include "graph/ir/ir.h"

#include <string.h>

#define HAS(view, region, ...) mw__region_has(view, region, (const char *const[]){__VA_ARGS__, NULL})

/* ---- regions ---- */

typedef struct frontier {
    const mw_tensor *values[64];
    size_t count;
} frontier;

static bool put_frontier_op(const mw__view *view, frontier *f, uint32_t op)
{
    for (uint32_t k = 0; k < view->ops[op].read_count; k++) {
        const mw_tensor *value = view->reads[view->ops[op].first_read + k];
        bool known = mw__view_is_fixed(view, value);
        for (size_t i = 0; i < f->count && !known; i++)
            known = f->values[i] == value;
        if (known)
            continue;
        if (f->count == sizeof f->values / sizeof *f->values)
            return false;
        f->values[f->count++] = value;
    }
    return true;
}

/* Takes the value that is made last; MW__VIEW_NONE if that is an input. */
static uint32_t take_last(const mw__view *view, frontier *f)
{
    size_t last = 0;
    uint32_t op = MW__VIEW_NONE;
    for (size_t i = 0; i < f->count; i++) {
        const uint32_t maker = mw__view_maker(view, f->values[i]);
        if (maker != MW__VIEW_NONE && (op == MW__VIEW_NONE || maker > op)) {
            op = maker;
            last = i;
        }
    }
    if (op != MW__VIEW_NONE)
        f->values[last] = f->values[--f->count];
    return op;
}

bool mw__view_find_region(const mw__view *view, uint32_t op, mw__region *out)
{
    frontier f = {.count = 0};
    out->count = 0;
    if (!put_frontier_op(view, &f, op))
        return false;
    while (f.count > 1) {
        const uint32_t maker = take_last(view, &f);
        if (maker == MW__VIEW_NONE || out->count == MW__REGION_MAX || !mw__view_is_light(view, maker) ||
            !put_frontier_op(view, &f, maker))
            return false;
        if (out->count == 0 || out->ops[out->count - 1] != maker)
            out->ops[out->count++] = maker;
    }
    out->from = f.count == 1 ? f.values[0] : NULL;
    return out->from != NULL;
}

bool mw__region_has(const mw__view *view, const mw__region *region, const char *const *kinds)
{
    for (uint32_t i = 0; i < region->count; i++)
        if (mw__view_is_one_of(view, region->ops[i], kinds))
            return true;
    return false;
}

static bool is_free(const mw__view *view, uint32_t op)
{
    const char *label = view->ops[mw__view_root(view, op)].label;
    return label == NULL || strstr(label, "_norm") != NULL;
}

static void join_region(mw__view *view, const mw__region *region, uint32_t op, const char *label)
{
    for (uint32_t i = 0; i < region->count; i++)
        mw__view_join(view, region->ops[i], op);
    mw__view_label(view, op, label);
}

/* ---- norms ---- */

/* Means over the examples make a batch norm, over all positions of a channel an instance norm. */
static const char *norm_by_axes(const mw__view *view, const mw__region *region)
{
    for (uint32_t i = 0; i < region->count; i++) {
        const mw__op *op = view->ops[region->ops[i]].op;
        int64_t axes[MW_RANK_MAX];
        size_t count = 0;
        if (strcmp(op->kind, "reduce_mean") != 0 || !mw__arg_ints(op, "axes", axes, MW_RANK_MAX, &count) || count < 2)
            continue;
        const mw_shape shape = mw_tensor_shape(mw__arg(op, "x"));
        if (axes[0] == 0)
            return "batch_norm";
        if (shape.rank > 3 && (int)count == shape.rank - 2 && (axes[0] == 2 || axes[0] == 2 - shape.rank))
            return "instance_norm";
    }
    return "layer_norm";
}

/* x - mean(x) in front of a norm is part of it. */
static bool join_center(mw__view *view, const mw_tensor *value, uint32_t op)
{
    const uint32_t center = mw__view_maker(view, value);
    mw__region region;
    if (!mw__view_is(view, center, "sub") || !mw__view_find_region(view, center, &region) ||
        !HAS(view, &region, "reduce_mean") || region.count > 4)
        return false;
    mw__view_join(view, center, op);
    join_region(view, &region, op, norm_by_axes(view, &region));
    return true;
}

/* A sum that is multiplied with a number is a mean. */
static bool has_factor(const mw__view *view, const mw__region *region)
{
    for (uint32_t i = 0; i < region->count; i++) {
        const mw__view_op *o = &view->ops[region->ops[i]];
        for (uint32_t k = 0; k < o->read_count && MW__VIEW_IS_ONE_OF(view, region->ops[i], "mul", "real_div"); k++)
            if (mw__view_is_fixed(view, view->reads[o->first_read + k]))
                return true;
    }
    return false;
}

static bool find_norm(mw__view *view, uint32_t op, const mw__region *region)
{
    const bool sums = HAS(view, region, "reduce_mean", "reduce_sum", "reduce_sum_square", "reduce_l2_norm");
    const bool root = HAS(view, region, "rsqrt", "sqrt", "pow", "reduce_l2_norm");
    if (!sums || !root)
        return false;
    const bool whole = !HAS(view, region, "reduce_mean") && !has_factor(view, region);
    const bool centered = HAS(view, region, "sub");
    join_region(view, region, op, centered ? norm_by_axes(view, region) : whole ? "l2_norm" : "rms_norm");
    join_center(view, region->from, op);
    return true;
}

/* ---- softmax ---- */

static bool find_softmax(mw__view *view, uint32_t op, const mw__region *region)
{
    const uint32_t exp = mw__view_maker(view, region->from);
    if (!mw__view_is(view, op, "real_div") || !HAS(view, region, "reduce_sum") || !mw__view_is(view, exp, "exp"))
        return false;
    join_region(view, region, op, "softmax");
    mw__view_join(view, exp, op);
    const mw_tensor *x = mw__view_only_operand(view, exp);
    const uint32_t shift = x != NULL ? mw__view_maker(view, x) : MW__VIEW_NONE;
    mw__region inner;
    if (mw__view_is(view, shift, "sub") && mw__view_find_region(view, shift, &inner) &&
        HAS(view, &inner, "reduce_max")) {
        mw__view_join(view, shift, op);
        join_region(view, &inner, op, "softmax");
    }
    return true;
}

/* ---- curves ---- */

static bool is_elementwise(const mw__view *view, const mw__region *region)
{
    for (uint32_t i = 0; i < region->count; i++) {
        const mw__op *op = view->ops[region->ops[i]].op;
        if (view->ops[region->ops[i]].weighted || !(mw__op_has(op, MW__TRAIT_ELEMENTWISE) || mw__op_is(op, "cast")))
            return false;
    }
    return true;
}

static bool find_curve(mw__view *view, uint32_t op, const mw__region *region)
{
    if (region->count == 0 || !mw__view_is(view, op, "mul") || !is_elementwise(view, region))
        return false;
    const char *label = HAS(view, region, "erf")                             ? "gelu"
                        : HAS(view, region, "softplus")                      ? "mish"
                        : HAS(view, region, "tanh")                          ? "gelu"
                        : HAS(view, region, "sigmoid")                       ? "silu"
                        : HAS(view, region, "sigmoid_hard", "relu6", "clip") ? "hard_swish"
                                                                             : NULL;
    if (label == NULL)
        return false;
    join_region(view, region, op, label);
    return true;
}

/* ---- attention ---- */

static bool is_elementwise_op(const mw__view *view, uint32_t op)
{
    return mw__view_has(view, op, MW__TRAIT_ELEMENTWISE);
}

enum { PATH_MAX_OPS = 12 };

/* Follows what is computed element by element back to an operation of that kind; the way there in `path`. */
static bool find_back(const mw__view *view, const mw_tensor *value, const char *kind, uint32_t *path, size_t *length)
{
    const uint32_t maker = mw__view_maker(view, value);
    const size_t at = *length;
    if (maker == MW__VIEW_NONE || at == PATH_MAX_OPS)
        return false;
    path[(*length)++] = maker;
    if (mw__view_is(view, maker, kind))
        return true;
    const bool passes = is_elementwise_op(view, maker) ||
                        MW__VIEW_IS_ONE_OF(view, maker, "cast", "select", "reshape", "identity", "transpose");
    for (uint32_t k = 0; passes && k < view->ops[maker].read_count; k++) {
        const mw_tensor *next = view->reads[view->ops[maker].first_read + k];
        if (!mw__view_is_fixed(view, next) && find_back(view, next, kind, path, length))
            return true;
    }
    *length = at;
    return false;
}

static const mw_tensor *first_operand(const mw__view *view, uint32_t op)
{
    for (uint32_t k = 0; k < view->ops[op].read_count; k++)
        if (!mw__view_is_fixed(view, view->reads[view->ops[op].first_read + k]))
            return view->reads[view->ops[op].first_read + k];
    return NULL;
}

/* matmul(softmax(matmul(q, k) + mask), v) */
static void find_attention(mw__view *view, uint32_t op)
{
    uint32_t path[2 * PATH_MAX_OPS];
    size_t length = 0, more = 0;
    bool found = false;
    for (uint32_t k = 0; k < view->ops[op].read_count && !found; k++) {
        length = 0;
        const mw_tensor *value = view->reads[view->ops[op].first_read + k];
        found = !mw__view_is_fixed(view, value) && find_back(view, value, "softmax", path, &length);
    }
    const mw_tensor *scores = found ? first_operand(view, path[length - 1]) : NULL;
    if (scores == NULL || view->ops[op].weighted ||
        !find_back(view, scores, view->ops[op].op->kind, path + length, &more))
        return;
    if (view->ops[path[length + more - 1]].weighted)
        return;
    for (size_t i = 0; i < length + more; i++)
        mw__view_join(view, path[i], op);
    mw__view_label(view, op, "attention");
}

/* ---- all ---- */

void mw__view_find_patterns(mw__view *view)
{
    for (uint32_t i = 0; i < view->op_count; i++) {
        mw__region region;
        if (view->ops[i].fixed || view->ops[i].op->forward != NULL || !is_free(view, i))
            continue;
        if (MW__VIEW_IS_ONE_OF(view, i, "matmul", "einsum"))
            find_attention(view, i);
        else if (MW__VIEW_IS_ONE_OF(view, i, "mul", "real_div") && mw__view_find_region(view, i, &region) &&
                 !find_norm(view, i, &region) && !find_softmax(view, i, &region))
            find_curve(view, i, &region);
    }
}

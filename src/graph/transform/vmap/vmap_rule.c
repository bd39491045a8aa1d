/* Operations for all examples at once: the rows say how each finds the axes of one example behind the first. */
#include "graph/ir/rule.h"
#include "graph/transform/vmap/vmap.h"

#include <millwright/ops/matmul.h>
#include <millwright/ops/shape.h>

#include <string.h>

typedef mw__vmap vmap;

static mw_tensor *copy_of(mw__clone *clone, const mw__op *op, const char *arg)
{
    const mw_tensor *value = mw__arg(op, arg);
    return mw__clone_operand(clone, value, mw_tensor_dtype(value));
}

/* Whether nothing but `arg` is mapped. */
static bool maps_alone(const vmap *v, const mw__op *op, const char *arg)
{
    for (size_t i = 0; i < op->slot_count; i++)
        for (size_t k = 0; op->slots[i].operands != NULL && k < op->slots[i].count; k++)
            if (mw__vmap_is_mapped(v, op->slots[i].operands[k].value) && strcmp(op->slots[i].name, arg) != 0)
                return false;
    return true;
}

static bool set_one(mw__clone *clone, const mw__op *op, mw_tensor *result)
{
    mw__clone_set(clone, op->results[0], result);
    return true;
}

/* ---- as it is: axes count from the last, or there is one operand ---- */

static bool copy_whole(mw__clone *clone, const mw__op *op)
{
    mw__clone_op(clone, op, &clone->to->error);
    return true;
}

static bool keep_x(const vmap *v, mw__clone *clone, const mw__op *op)
{
    return maps_alone(v, op, "x") && copy_whole(clone, op);
}

static bool keep_like(const vmap *v, mw__clone *clone, const mw__op *op)
{
    (void)v;
    return copy_whole(clone, op);
}

/* ---- element by element ---- */

/* x [B, ..] with axes of extent 1 behind the first, for `rank` axes of one example. */
static mw_tensor *widen(mw_tensor *x, int own, int rank)
{
    mw_axes added = {0};
    for (int i = own; i < rank; i++)
        added.axis[added.count++] = 1 + i - own;
    return added.count > 0 ? mw_expand_dims(x, added) : x;
}

static mw_tensor *align_operand(void *user, mw__clone *clone, const mw__op *op, size_t slot, const mw__operand *operand)
{
    const vmap *v = user;
    (void)slot;
    if (!mw__vmap_is_mapped(v, operand->value))
        return NULL;
    return widen(mw__clone_get(clone, operand->value), mw_tensor_shape(operand->value).rank,
                 mw_tensor_shape(op->results[0]).rank);
}

static bool align(const vmap *v, mw__clone *clone, const mw__op *op)
{
    mw__clone_op_with(clone, op, align_operand, (void *)(uintptr_t)v);
    return true;
}

/* ---- along axes ---- */

static mw_tensor *ints(mw__clone *clone, const int64_t *values, size_t count, bool scalar)
{
    int32_t elements[MW_RANK_MAX];
    for (size_t i = 0; i < count; i++)
        elements[i] = (int32_t)values[i];
    return mw__constant(clone->to, MW_I32, scalar ? mw_shape_scalar() : MW_SHAPE((int64_t)count), elements, "axes");
}

/* Axes that count from the first move by one. */
static mw_tensor *shift_axes(mw__clone *clone, const mw__op *op, const char *arg, bool scalar)
{
    int64_t axes[MW_RANK_MAX] = {0};
    size_t count = 1;
    const bool known =
        scalar ? mw__arg_int(op, arg, &axes[0]) : mw__arg_ints(op, arg, axes, MW_RANK_MAX, &count) && count > 0;
    if (!known)
        return NULL;
    for (size_t i = 0; i < count; i++)
        axes[i] += axes[i] >= 0;
    return ints(clone, axes, count, scalar);
}

static bool is_value(const char *arg)
{
    static const char *const values[] = {"x", "indices", "data", "updates"};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        if (strcmp(arg, values[i]) == 0)
            return true;
    return false;
}

static mw_tensor *axis_operand(void *user, mw__clone *clone, const mw__op *op, size_t slot, const mw__operand *operand)
{
    const vmap *v = user;
    const char *arg = op->slots[slot].name;
    if (strcmp(arg, "axis") == 0 || strcmp(arg, "axes") == 0)
        return shift_axes(clone, op, arg, strcmp(arg, "axis") == 0);
    if (!is_value(arg) || mw__vmap_is_mapped(v, operand->value))
        return NULL;
    return mw__vmap_spread(v, mw__clone_operand(clone, operand->value, mw_tensor_dtype(operand->value)));
}

/* Axes that are left out mean all of them; of one example that is all but the first. */
static bool along_all(mw__clone *clone, const mw__op *op)
{
    int64_t axes[MW_RANK_MAX];
    bool keeps = false;
    size_t count = 0;
    const mw_tensor *x = mw__arg(op, "x");
    const mw_shape shape = mw_tensor_shape(x);
    for (int i = 0; i < shape.rank; i++)
        if (strcmp(op->kind, "squeeze") != 0 || shape.dim[i] == 1)
            axes[count++] = i + 1;
    if (count == 0)
        return set_one(clone, op, mw_identity(mw__clone_get(clone, x)));
    mw__build build = mw__build_begin_graph(op->kind, clone->to);
    mw__build_ints(&build, "axes", axes, count);
    if (mw__op_slot(op, "keep_dims") != NULL && mw__arg_bool(op, "keep_dims", &keeps))
        mw__build_bool(&build, "keep_dims", keeps);
    mw__build_set(&build, "x", mw__clone_get(clone, x));
    return set_one(clone, op, mw__build_end(&build));
}

/* The functions of no elements and of one: a reduction of a scalar over nothing is not always that scalar. */
static bool reduces_scalar(const mw__op *op)
{
    return strncmp(op->kind, "reduce_", 7) == 0 && mw_tensor_shape(mw__arg(op, "x")).rank == 0;
}

static bool along_axes(const vmap *v, mw__clone *clone, const mw__op *op)
{
    const mw__slot *axes = mw__op_slot(op, "axes");
    if (reduces_scalar(op))
        return false;
    if (axes != NULL && axes->operands == NULL)
        return along_all(clone, op);
    const mw__slot *axis = mw__op_slot(op, "axis");
    if (axis != NULL && axis->operands == NULL)
        return false; /* a default that may count from the first */
    mw__clone_op_with(clone, op, axis_operand, (void *)(uintptr_t)v);
    return true;
}

/* ---- moves ---- */

static bool reshape(const vmap *v, mw__clone *clone, const mw__op *op)
{
    if (!mw__vmap_is_mapped(v, mw__arg(op, "x")))
        return false;
    const mw_shape shape = mw__vmap_shape(v, mw_tensor_shape(op->results[0]));
    return set_one(clone, op, mw__reshape_to(copy_of(clone, op, "x"), shape));
}

static bool transpose(const vmap *v, mw__clone *clone, const mw__op *op)
{
    int64_t order[MW_RANK_MAX];
    size_t count = 0;
    mw_axes perm = {.count = 1};
    (void)v;
    if (!mw__arg_ints(op, "perm", order, MW_RANK_MAX, &count) || count >= MW_RANK_MAX)
        return false;
    for (size_t i = 0; i < count; i++)
        perm.axis[perm.count++] = 1 + (int)(order[i] < 0 ? order[i] + (int64_t)count : order[i]);
    return set_one(clone, op, mw_transpose(copy_of(clone, op, "x"), perm));
}

static bool tile(const vmap *v, mw__clone *clone, const mw__op *op)
{
    int64_t reps[MW_RANK_MAX];
    size_t count = 0;
    mw_shape all = {.rank = 1, .dim = {1}};
    if (!maps_alone(v, op, "x") || !mw__arg_ints(op, "reps", reps, MW_RANK_MAX, &count) || count >= MW_RANK_MAX)
        return false;
    for (size_t i = 0; i < count; i++)
        all.dim[all.rank++] = reps[i];
    return set_one(clone, op, mw_tile(copy_of(clone, op, "x"), all));
}

/* The masks of a slice, none where they are left out. */
static bool read_mask(const mw__op *op, const char *arg, bool out[MW_RANK_MAX])
{
    size_t count;
    memset(out, 0, MW_RANK_MAX * sizeof *out);
    return !mw__arg_present(op, arg) || mw__arg_bools(op, arg, out, MW_RANK_MAX, &count);
}

static bool slice(const vmap *v, mw__clone *clone, const mw__op *op)
{
    int64_t begin[MW_RANK_MAX], end[MW_RANK_MAX], stride[MW_RANK_MAX];
    bool from[MW_RANK_MAX], to[MW_RANK_MAX], squeeze[MW_RANK_MAX];
    size_t count, same;
    mw_slice slices[MW_RANK_MAX + 1] = {{.from_start = true, .to_end = true}};
    for (int i = 0; i < MW_RANK_MAX; i++)
        stride[i] = 1;
    if (!maps_alone(v, op, "x") || !mw__arg_ints(op, "begin", begin, MW_RANK_MAX, &count) ||
        !mw__arg_ints(op, "end", end, MW_RANK_MAX, &same) || !read_mask(op, "begin_mask", from) ||
        !read_mask(op, "end_mask", to) || !read_mask(op, "squeeze_mask", squeeze) || count >= MW_RANK_MAX ||
        (mw__arg_present(op, "stride") && !mw__arg_ints(op, "stride", stride, MW_RANK_MAX, &same)))
        return false;
    for (size_t i = 0; i < count; i++)
        slices[i + 1] = (mw_slice){begin[i], end[i], stride[i], from[i], to[i], squeeze[i]};
    return set_one(clone, op, mw_slice_by_index(copy_of(clone, op, "x"), slices));
}

/* concat and stack: what is the same for all is repeated. */
static bool join(const vmap *v, mw__clone *clone, const mw__op *op)
{
    enum { JOINED = 64 };
    const mw__operand *values;
    mw_tensor *copies[JOINED];
    int64_t axis = 0;
    bool interleaves = false;
    const size_t count = mw__arg_values(op, "values", &values);
    const bool concat = strcmp(op->kind, "concat") == 0;
    if (count > JOINED || !mw__arg_int(op, "axis", &axis) ||
        (concat && mw__arg_bool(op, "interleave", &interleaves) && interleaves))
        return false;
    for (size_t i = 0; i < count; i++) {
        mw_tensor *copy = mw__clone_operand(clone, values[i].value, mw_tensor_dtype(values[i].value));
        copies[i] = mw__vmap_is_mapped(v, values[i].value) ? copy : mw__vmap_spread(v, copy);
    }
    axis += axis >= 0;
    return set_one(clone, op, concat ? mw_concat(copies, count, (int)axis) : mw_stack(copies, count, (int)axis));
}

/* ---- products ---- */

/* A factor with at least two axes for one example, and batch axes up to `rank`. */
static mw_tensor *factor(const vmap *v, mw__clone *clone, const mw__op *op, const char *arg, int rank)
{
    const mw_tensor *value = mw__arg(op, arg);
    const bool mapped = mw__vmap_is_mapped(v, value);
    int own = mw_tensor_shape(value).rank;
    mw_tensor *copy = copy_of(clone, op, arg);
    if (own == 1) {
        copy = mw_expand_dims(copy, strcmp(arg, "y") == 0 ? MW_AXES(-1) : mapped ? MW_AXES(1) : MW_AXES(0));
        own = 2;
    }
    return mapped ? widen(copy, own, rank) : copy;
}

static bool multiply(const vmap *v, mw__clone *clone, const mw__op *op)
{
    bool turn_x = false, turn_y = false;
    const int x_rank = mw_tensor_shape(mw__arg(op, "x")).rank, y_rank = mw_tensor_shape(mw__arg(op, "y")).rank;
    const int most = x_rank > y_rank ? x_rank : y_rank, rank = most > 2 ? most : 2;
    mw_axes added = {0};
    mw__arg_bool(op, "transpose_x", &turn_x);
    mw__arg_bool(op, "transpose_y", &turn_y);
    mw_tensor *x = factor(v, clone, op, "x", rank), *y = factor(v, clone, op, "y", rank);
    mw_tensor *z = mw_matmul(x, y, (turn_x ? MW_TRANSPOSE_X : 0u) | (turn_y ? MW_TRANSPOSE_Y : 0u));
    if (x_rank == 1)
        added.axis[added.count++] = -2;
    if (y_rank == 1)
        added.axis[added.count++] = -1;
    return set_one(clone, op, added.count > 0 ? mw_squeeze(z, added) : z);
}

/* ---- from tables, and over images ---- */

/* Rows of one table for the places of all. */
static bool gather(const vmap *v, mw__clone *clone, const mw__op *op)
{
    int64_t axis = 0, batch_dims = 0;
    const int rank = mw_tensor_shape(mw__arg(op, "x")).rank;
    if (!maps_alone(v, op, "indices") || !mw__arg_int(op, "axis", &axis) || (axis != 0 && axis != -rank) ||
        (mw__op_slot(op, "batch_dims") != NULL && mw__arg_int(op, "batch_dims", &batch_dims) && batch_dims != 0))
        return false;
    return copy_whole(clone, op);
}

/* [B, N, ..] as [B N, ..]. */
static mw_tensor *merged_operand(void *user, mw__clone *clone, const mw__op *op, size_t slot,
                                 const mw__operand *operand)
{
    const vmap *v = user;
    mw_shape shape = mw_tensor_shape(operand->value);
    (void)op, (void)slot;
    if (!mw__vmap_is_mapped(v, operand->value))
        return NULL;
    shape.dim[0] *= v->examples;
    return mw__reshape_to(mw__clone_get(clone, operand->value), shape);
}

/* Operations on images [N, C, ..], whose examples are independent. */
static bool merge_batch(const vmap *v, mw__clone *clone, const mw__op *op)
{
    const mw_tensor *x = mw__arg(op, "x");
    if (!maps_alone(v, op, "x") || op->result_count != 1 || mw_tensor_shape(x).rank < 3 ||
        (mw__op_slot(op, "output_shape") != NULL && mw__arg_present(op, "output_shape")))
        return false;
    mw__clone_op_with(clone, op, merged_operand, (void *)(uintptr_t)v);
    const mw_shape shape = mw__vmap_shape(v, mw_tensor_shape(op->results[0]));
    return set_one(clone, op, mw__reshape_to(mw__clone_get(clone, op->results[0]), shape));
}

/* ---- the rows ---- */

static const struct {
    const char *kind;
    mw__vmap_rule *rule;
} rows[] = {{"identity", keep_x},
            {"cast", keep_x},
            {"pad", keep_x},
            {"band_part", keep_x},
            {"linear", keep_x},
            {"fill_like", keep_like},
            {"reshape", reshape},
            {"reshape_like", reshape},
            {"flatten2d", reshape},
            {"transpose", transpose},
            {"tile", tile},
            {"slice_by_index", slice},
            {"concat", join},
            {"stack", join},
            {"matmul", multiply},
            {"gather", gather},
            {"expand_dims", along_axes},
            {"squeeze", along_axes},
            {"reverse", along_axes},
            {"softmax", along_axes},
            {"layer_norm", along_axes},
            {"cumsum", along_axes},
            {"argsort", along_axes},
            {"topk", along_axes},
            {"one_hot", along_axes},
            {"gather_along_axis", along_axes},
            {"scatter_along_axis", along_axes},
            {"conv", merge_batch},
            {"conv_transpose", merge_batch},
            {"max_pool", merge_batch},
            {"avg_pool", merge_batch},
            {"l2_pool", merge_batch},
            {"batch_norm", merge_batch},
            {"instance_norm", merge_batch},
            {"upsample_bilinear", merge_batch},
            {"upsample_nearest_neighbor", merge_batch},
            {"pixel_shuffle", merge_batch},
            {"pixel_unshuffle", merge_batch},
            {"depth_to_space", merge_batch},
            {"space_to_depth", merge_batch}};

mw__vmap_rule *mw__vmap_rule_of(const mw__op *op)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(rows[i].kind, op->kind) == 0)
            return rows[i].rule;
    if (strncmp(op->kind, "reduce_", 7) == 0)
        return along_axes;
    return mw__op_has(op, MW__TRAIT_ELEMENTWISE) || mw__op_has(op, MW__TRAIT_BROADCASTS) ? align : NULL;
}

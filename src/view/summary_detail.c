/* What a layer is called and what there is to say of it, by the operation that it is known by. */
#include "view/summary.h"

#include "graph/ir/ir.h"

#include <string.h>

/* ---- the operation that a layer is known by ---- */

static const struct {
    const char *kind;
    int rank;
} ranks[] = {{"conv", 10},         {"conv_transpose", 10},
             {"lstm", 10},         {"gru", 10},
             {"rnn", 10},          {"linear", 9},
             {"matmul", 9},        {"einsum", 9},
             {"while_loop", 9},    {"cond", 9},
             {"classify", 9},      {"scaled_dot_product_attention", 11},
             {"batch_norm", 7},    {"layer_norm", 7},
             {"instance_norm", 7}, {"l2_norm", 7},
             {"gather", 6},        {"max_pool", 6},
             {"avg_pool", 6},      {"l2_pool", 6},
             {"softmax", 5},       {"reshape", 1},
             {"transpose", 1},     {"expand_dims", 1},
             {"squeeze", 1},       {"slice_by_index", 1},
             {"slice_by_size", 1}, {"add", 2},
             {"sub", 2},           {"mul", 2},
             {"real_div", 2},      {"identity", 0},
             {"cast", 0}};

static int rank_of(const char *kind)
{
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++)
        if (strcmp(kind, ranks[i].kind) == 0)
            return ranks[i].rank;
    return 4;
}

const mw__op *mw__view_layer_main(const mw__view *view, const uint32_t *members, size_t count)
{
    const mw__op *best = view->ops[members[0]].op;
    for (size_t i = 1; i < count; i++) {
        const mw__op *op = view->ops[members[i]].op;
        best = rank_of(op->kind) > rank_of(best->kind) ? op : best;
    }
    return best;
}

/* ---- what weights say ---- */

static bool has_part(const char *name, const char *part) { return name != NULL && strstr(name, part) != NULL; }

bool mw__is_statistic(const char *name)
{
    return has_part(name, "running_") || has_part(name, "moving_") || has_part(name, "input_mean") ||
           has_part(name, "input_var");
}

void mw__view_layer_weigh(mw__view_layer_weights *w, const mw_tensor *weight)
{
    const mw_shape shape = mw_tensor_shape(weight);
    const char *name = weight->name;
    w->running = w->running || mw__is_statistic(name);
    if (w->largest == NULL || mw_shape_count(shape) > mw_shape_count(w->largest->type->shape))
        w->largest = weight;
    if (shape.rank != 2 || shape.dim[1] < 1)
        return;
    if (has_part(name, "weight_hh")) {
        w->gates = shape.dim[0] / shape.dim[1];
        w->hidden = shape.dim[1];
        w->layers += has_part(name, "_reverse") ? 0 : 1;
        w->directions = has_part(name, "_reverse") ? 2 : w->directions;
    } else if (has_part(name, "weight_ih") && w->inputs == 0) {
        w->inputs = shape.dim[1];
    }
}

const char *mw__view_layer_kind_name(const mw__view *view, uint32_t root, const mw__op *main,
                                     const mw__view_layer_weights *w)
{
    const char *label = view->ops[root].label;
    const bool weighted = w->largest != NULL && mw_tensor_shape(w->largest).rank > 1;
    if (main->forward != NULL)
        return "gradient";
    if (w->gates > 0)
        return w->gates == 4 ? "lstm" : w->gates == 3 ? "gru" : "rnn";
    if (w->running && (label == NULL || strstr(label, "_norm") != NULL) && rank_of(main->kind) < 9)
        return "batch_norm";
    if (label != NULL)
        return label;
    if ((mw__op_is(main, "matmul") || mw__op_is(main, "einsum") || mw__op_is(main, "linear")) && weighted)
        return "linear";
    if (mw__op_is(main, "gather") && weighted)
        return "embedding";
    return mw__op_is(main, "scaled_dot_product_attention") ? "attention" : main->kind;
}

/* ---- details ---- */

static void put_detail(mw__text *out, const char *text)
{
    mw__text_puts(out, out->size > 0 ? ", " : "");
    mw__text_puts(out, text);
}

static void put_number(mw__text *out, const char *before, int64_t number)
{
    put_detail(out, before);
    mw__text_printf(out, "%lld", (long long)number);
}

static void put_extent(mw__text *out, int64_t extent)
{
    if (extent == MW_DIM_UNKNOWN)
        mw__text_puts(out, "?");
    else
        mw__text_printf(out, "%lld", (long long)extent);
}

static void put_from_to(mw__text *out, int64_t from, int64_t to)
{
    put_detail(out, "");
    put_extent(out, from);
    mw__text_puts(out, " -> ");
    put_extent(out, to);
}

/* "3x3" of the axes from `first` on. */
static void put_window(mw__text *out, const char *before, const int64_t *extents, size_t count)
{
    bool equal = true;
    for (size_t i = 1; i < count; i++)
        equal = equal && extents[i] == extents[0];
    put_detail(out, before);
    const size_t shown = before[0] != '\0' && equal && count > 0 ? 1 : count;
    for (size_t i = 0; i < shown; i++) {
        mw__text_puts(out, i > 0 ? "x" : "");
        put_extent(out, extents[i]);
    }
}

static bool all_ones(const int64_t *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (numbers[i] != 1)
            return false;
    return true;
}

static void put_numbers(mw__text *out, const mw__op *op, const char *argument, const char *before)
{
    int64_t numbers[MW_RANK_MAX];
    size_t count = 0;
    if (mw__arg_ints(op, argument, numbers, MW_RANK_MAX, &count) && !all_ones(numbers, count))
        put_window(out, before, numbers, count);
}

static void detail_conv(mw__text *out, const mw__op *op)
{
    const mw_tensor *weight = mw__arg(op, "weight"), *x = mw__arg(op, "x");
    const mw_shape w = mw_tensor_shape(weight), in = mw_tensor_shape(x), y = mw_tensor_shape(op->results[0]);
    int64_t groups = 1;
    if (w.rank < 3 || in.rank < 2 || y.rank < 2)
        return;
    mw__arg_int(op, "groups", &groups);
    put_window(out, "", w.dim + 2, (size_t)(w.rank - 2));
    put_from_to(out, in.dim[1], y.dim[1]);
    put_numbers(out, op, "strides", "stride ");
    put_numbers(out, op, "dilations", "dilation ");
    if (groups > 1 && groups == in.dim[1])
        put_detail(out, "depthwise");
    else if (groups > 1)
        put_number(out, "groups ", groups);
}

static void detail_pool(mw__text *out, const mw__op *op)
{
    int64_t numbers[MW_RANK_MAX];
    size_t count = 0;
    if (mw__arg_ints(op, "kernel_sizes", numbers, MW_RANK_MAX, &count))
        put_window(out, "", numbers, count);
    put_numbers(out, op, "strides", "stride ");
}

static int64_t last_extent(const mw_tensor *value, int from_end)
{
    const mw_shape shape = mw_tensor_shape(value);
    return shape.rank >= from_end ? shape.dim[shape.rank - from_end] : MW_DIM_UNKNOWN;
}

static void detail_linear(mw__text *out, const mw__op *op)
{
    bool transposed = false;
    if (mw__op_is(op, "einsum"))
        return;
    if (mw__op_is(op, "matmul"))
        mw__arg_bool(op, "transpose_x", &transposed);
    put_from_to(out, last_extent(mw__arg(op, "x"), transposed ? 2 : 1), last_extent(op->results[0], 1));
}

static void detail_recurrent(mw__text *out, const mw__op *op, const mw__view_layer_weights *w)
{
    if (w->gates > 0) {
        put_from_to(out, w->inputs, w->hidden);
        if (w->layers > 1)
            put_number(out, "layers ", w->layers);
        if (w->directions == 2)
            put_detail(out, "bidirectional");
        return;
    }
    const char *direction = mw__op_is(op, "lstm") ? mw__arg_string(op, "direction") : NULL;
    const int64_t outputs = last_extent(op->results[0], 1);
    const bool both = direction != NULL && strcmp(direction, "bidirectional") == 0;
    put_from_to(out, last_extent(mw__arg(op, "x"), 1), both && outputs > 0 ? outputs / 2 : outputs);
    if (both)
        put_detail(out, "bidirectional");
}

static void detail_attention(mw__text *out, const mw__op *op)
{
    const mw_tensor *q = mw__op_is(op, "scaled_dot_product_attention") ? mw__arg(op, "query")
                         : mw__op_is(op, "matmul")                     ? mw__arg(op, "x")
                                                                       : NULL;
    const mw_shape shape = mw_tensor_shape(q);
    if (shape.rank < 4 || shape.dim[1] < 0 || shape.dim[3] < 0)
        return;
    put_number(out, "heads ", shape.dim[1]);
    if (mw__op_is(op, "scaled_dot_product_attention"))
        put_number(out, "width ", shape.dim[3]);
}

static void detail_embedding(mw__text *out, const mw_tensor *table)
{
    const mw_shape shape = mw_tensor_shape(table);
    if (shape.rank == 2)
        put_window(out, "", shape.dim, 2);
}

static void detail_axes(mw__text *out, const mw__op *op, const char *argument)
{
    int64_t axes[MW_RANK_MAX];
    size_t count = 0;
    if (!mw__arg_ints(op, argument, axes, MW_RANK_MAX, &count) || count == 0)
        return;
    put_detail(out, count == 1 ? "axis " : "axes ");
    for (size_t i = 0; i < count; i++)
        mw__text_printf(out, "%s%lld", i > 0 ? " " : "", (long long)axes[i]);
}

static void detail_axis(mw__text *out, const mw__op *op)
{
    int64_t axis;
    if (mw__arg_int(op, "axis", &axis))
        put_number(out, "axis ", axis);
}

static void detail_concat(mw__text *out, const mw__op *op)
{
    const mw__operand *values;
    put_number(out, "values ", (int64_t)mw__arg_values(op, "values", &values));
    detail_axis(out, op);
}

static void detail_transpose(mw__text *out, const mw__op *op)
{
    int64_t perm[MW_RANK_MAX];
    size_t count = 0;
    if (!mw__arg_ints(op, "perm", perm, MW_RANK_MAX, &count))
        return;
    put_detail(out, "axes ");
    for (size_t i = 0; i < count; i++)
        mw__text_printf(out, "%s%lld", i > 0 ? " " : "", (long long)perm[i]);
}

static void detail_norm(mw__text *out, const char *kind, const mw_tensor *weight)
{
    const int64_t count = weight != NULL ? mw_shape_count(mw_tensor_shape(weight)) : 0;
    const bool along_last = strcmp(kind, "layer_norm") == 0 || strcmp(kind, "rms_norm") == 0;
    if (count > 0)
        put_number(out, along_last ? "width " : "channels ", count);
}

/* The operand in which a compressed weight has its elements. */
static const mw_tensor *stored_in(const mw__op *op)
{
    static const char *const names[] = {"quantized_data", "data", "source_val", "indices", "nonzero_data"};
    for (size_t s = 0; s < op->slot_count; s++)
        for (size_t i = 0; i < sizeof names / sizeof *names; i++)
            if (op->slots[s].count == 1 && strcmp(op->slots[s].name, names[i]) == 0)
                return op->slots[s].operands[0].value;
    return NULL;
}

static int palette_bits(const mw__op *op, const mw_tensor *stored)
{
    const mw_shape lut = mw_tensor_shape(mw__arg(op, "lut"));
    int bits = mw_dtype_bits(mw_tensor_dtype(stored));
    if (lut.rank == 1) /* of ios16: indices are packed to bytes */
        for (bits = 0; bits < 8 && (INT64_C(1) << bits) < lut.dim[0];)
            bits++;
    return bits;
}

/* How the largest weight is stored, if not as it is computed with. */
static void put_storage(mw__text *out, const mw_tensor *weight)
{
    const mw__op *op = weight != NULL ? weight->op : NULL;
    if (op == NULL || op->row == NULL || strncmp(op->kind, "constexpr_", 10) != 0)
        return;
    const mw_tensor *stored = stored_in(op);
    if (stored == NULL || strstr(op->kind, "sparse") != NULL) {
        put_detail(out, "compressed");
    } else if (strstr(op->kind, "lut") != NULL) {
        put_number(out, "palette of ", palette_bits(op, stored));
        mw__text_puts(out, " bits");
    } else {
        put_detail(out, mw_dtype_name(mw_tensor_dtype(stored)));
        mw__text_puts(out, " weights");
    }
}

static void put_kind(mw__text *out, const char *kind, const mw__op *op, const mw__view_layer_weights *w)
{
    const bool own = strcmp(kind, op->kind) == 0;
    if (mw__op_is(op, "conv") || mw__op_is(op, "conv_transpose"))
        detail_conv(out, op);
    else if (strcmp(kind, "linear") == 0)
        detail_linear(out, op);
    else if (strcmp(kind, "lstm") == 0 || strcmp(kind, "gru") == 0 || strcmp(kind, "rnn") == 0)
        detail_recurrent(out, op, w);
    else if (strcmp(kind, "attention") == 0)
        detail_attention(out, op);
    else if (strcmp(kind, "embedding") == 0)
        detail_embedding(out, w->largest);
    else if (strstr(kind, "_norm") != NULL)
        detail_norm(out, kind, w->largest);
    else if (own && (mw__op_is(op, "max_pool") || mw__op_is(op, "avg_pool") || mw__op_is(op, "l2_pool")))
        detail_pool(out, op);
    else if (own && mw__op_is(op, "concat"))
        detail_concat(out, op);
    else if (own && (mw__op_is(op, "softmax") || mw__op_is(op, "gather")))
        detail_axis(out, op);
    else if (own && mw__op_is(op, "transpose"))
        detail_transpose(out, op);
    else if (own && strncmp(kind, "reduce_", 7) == 0 && strncmp(kind, "reduce_arg", 10) != 0)
        detail_axes(out, op, "axes");
}

void mw__view_layer_detail(mw__text *out, const char *kind, const mw__op *op, const mw__view_layer_weights *w)
{
    if (op->row != NULL && op->result_count > 0 && strcmp(kind, "gradient") != 0)
        put_kind(out, kind, op, w);
    put_storage(out, w->largest);
}

/* Products, convolution, pooling, softmax and norms. */
#include "format/onnx/write/write_args.h"
#include "graph/geometry/window.h"
#include "graph/patterns/conv.h"

#include <math.h>
#include <string.h>

/* ---- products ---- */

/* x with its last two axes exchanged. */
static const char *turned(mw__onnx_writer *w, const mw__op *op, const char *name)
{
    int64_t perm[MW_RANK_MAX];
    const int rank = mw__arg_shape(op, name).rank;
    for (int i = 0; i < rank; i++)
        perm[i] = i < rank - 2 ? i : 2 * rank - 3 - i;
    return mw__onnx_transpose_to(w, NULL, arg(w, op, name), perm, rank);
}

void mw__onnx_write_matmul(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    const bool turn_x = mw__arg_is_set(op, "transpose_x") && mw__arg_shape(op, "x").rank > 1;
    const bool turn_y = mw__arg_is_set(op, "transpose_y") && mw__arg_shape(op, "y").rank > 1;
    const char *x = turn_x ? turned(w, op, "x") : arg(w, op, "x");
    const char *y = turn_y ? turned(w, op, "y") : arg(w, op, "y");
    mw__onnx_make(w, operation, result(w, op), x, y);
}

void mw__onnx_write_linear(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    const char *bias = arg(w, op, "bias");
    if (mw__arg_shape(op, "x").rank == 2) {
        const char *const in[] = {arg(w, op, "x"), arg(w, op, "weight"), bias};
        mw__onnx_put_int(w, mw__onnx_node_of(w, operation, result(w, op), in, 3), "transB", 1);
        return;
    }
    const char *out = result(w, op), *weight = turned(w, op, "weight");
    const char *product = mw__onnx_make(w, "MatMul", bias != NULL ? NULL : out, arg(w, op, "x"), weight);
    if (bias != NULL)
        mw__onnx_make(w, "Add", out, product, bias);
}

void mw__onnx_write_einsum(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    const mw__operand *values;
    const size_t count = mw__arg_values(op, "values", &values);
    const char **in = mw__onnx_alloc(w, count, sizeof *in);
    for (size_t i = 0; in != NULL && i < count; i++)
        in[i] = mw__onnx_name_of(w, values[i].value);
    if (in == NULL)
        return;
    mw__onnx_put_text(w, mw__onnx_node_of(w, operation, result(w, op), in, count), "equation",
                      mw__arg_string(op, "equation"));
}

/* ---- windows ---- */

static void put_numbers(mw__onnx_writer *w, const mw__op *op, pb_node *node, const char *argument, const char *name)
{
    int64_t values[2 * MW_RANK_MAX];
    size_t count;
    if (mw__arg_present(op, argument) && mw__arg_ints(op, argument, values, 2 * MW_RANK_MAX, &count))
        mw__onnx_put_ints(w, node, name, values, count);
}

static bool is_same(const mw__op *op, bool *out_lower)
{
    const char *type = mw__arg_string(op, "pad_type");
    *out_lower = type != NULL && strcmp(type, "same_lower") == 0;
    return *out_lower || (type != NULL && strcmp(type, "same") == 0);
}

/* The border that windows have, as numbers, with what lies behind it in the last ones; false if extents are not known.
 */
static bool put_border(mw__onnx_writer *w, const mw__op *op, pb_node *node, const int64_t *kernel)
{
    mw__window windows[MW__WINDOW_AXES];
    const mw_shape x = mw__arg_shape(op, "x");
    const size_t axes = (size_t)x.rank - 2;
    int64_t pads[2 * MW__WINDOW_AXES];
    if (mw__op_windows(op, x, kernel, windows, w->err) != MW_OK)
        return false;
    for (size_t i = 0; i < axes; i++) {
        const mw__window *one = &windows[i];
        const int64_t behind = (one->out - 1) * one->stride + one->span - one->in - one->before;
        if (one->in < 0 || one->kernel < 0 || one->out < 0)
            return false;
        pads[i] = one->before;
        pads[axes + i] = behind > one->after ? behind : one->after;
    }
    mw__onnx_put_ints(w, node, "pads", pads, 2 * axes);
    return true;
}

/* MIL lists before and after of each axis, ONNX all before, then all after. */
static void put_pads(mw__onnx_writer *w, const mw__op *op, pb_node *node, const int64_t *kernel)
{
    int64_t pad[2 * MW_RANK_MAX], pads[2 * MW_RANK_MAX];
    size_t count;
    bool lower;
    const char *type = mw__arg_string(op, "pad_type");
    if (is_same(op, &lower) && !put_border(w, op, node, kernel)) /* onnxruntime takes no dilations beside it */
        mw__onnx_put_text(w, node, "auto_pad", lower ? "SAME_LOWER" : "SAME_UPPER");
    if (type == NULL || strcmp(type, "custom") != 0 || !mw__arg_present(op, "pad") ||
        !mw__arg_ints(op, "pad", pad, 2 * MW_RANK_MAX, &count))
        return;
    for (size_t i = 0; i < count; i++)
        pads[i % 2 * (count / 2) + i / 2] = pad[i];
    mw__onnx_put_ints(w, node, "pads", pads, count);
}

static pb_node *convolve(mw__onnx_writer *w, const mw__op *op, const char *operation, const char *weight)
{
    int64_t groups = 1;
    const char *const in[] = {arg(w, op, "x"), weight, arg(w, op, "bias")};
    pb_node *node = mw__onnx_node_of(w, operation, result(w, op), in, 3);
    mw__arg_int(op, "groups", &groups);
    mw__onnx_put_int(w, node, "group", groups);
    mw__onnx_put_ints(w, node, "kernel_shape", mw__arg_shape(op, "weight").dim + 2,
                      (size_t)(mw__arg_shape(op, "weight").rank - 2));
    put_numbers(w, op, node, "strides", "strides");
    put_numbers(w, op, node, "dilations", "dilations");
    return node;
}

static void convolve_padded(mw__onnx_writer *w, const mw__op *op, const char *operation, const char *weight)
{
    put_pads(w, op, convolve(w, op, operation, weight), mw__arg_shape(op, "weight").dim + 2);
}

/* Borders by themselves depend on the extents of x: where those are open, the kernel stays wide. */
const mw_tensor *mw__onnx_undilated(const mw__op *op, int64_t *dilation)
{
    int64_t own[MW_RANK_MAX];
    size_t count = 0;
    if (op->row == NULL || strcmp(op->kind, "conv") != 0 || mw__onnx_is_mixed(op))
        return NULL;
    bool plain = mw_shape_count(mw__arg_shape(op, "x")) >= 0;
    const bool said = mw__arg_present(op, "dilations") && mw__arg_ints(op, "dilations", own, MW_RANK_MAX, &count);
    for (size_t i = 0; said && i < count; i++)
        plain = plain && own[i] == 1;
    return plain ? mw__conv_undilated(mw__arg(op, "weight"), dilation) : NULL;
}

void mw__onnx_write_conv(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    int64_t dilation[MW_RANK_MAX];
    const mw_tensor *narrow = mw__onnx_undilated(op, dilation);
    if (narrow == NULL) {
        convolve_padded(w, op, operation, arg(w, op, "weight"));
        return;
    }
    const size_t axes = (size_t)mw__arg_shape(op, "weight").rank - 2;
    const char *const in[] = {arg(w, op, "x"), mw__onnx_name_of(w, (mw_tensor *)narrow), arg(w, op, "bias")};
    pb_node *node = mw__onnx_node_of(w, operation, result(w, op), in, 3);
    int64_t groups = 1;
    mw__arg_int(op, "groups", &groups);
    mw__onnx_put_int(w, node, "group", groups);
    mw__onnx_put_ints(w, node, "kernel_shape", mw_tensor_shape(narrow).dim + 2, axes);
    put_numbers(w, op, node, "strides", "strides");
    mw__onnx_put_ints(w, node, "dilations", dilation, axes);
    put_pads(w, op, node, mw__arg_shape(op, "weight").dim + 2); /* the wide kernel covers as much */
}

/* One number, or one for each channel of the result, beside a weight [O, ..]. */
static const char *of_outputs(mw__onnx_writer *w, const mw__op *op, const char *name)
{
    mw_shape shape = {.rank = mw__arg_shape(op, "weight").rank, .dim = {mw_shape_count(mw__arg_shape(op, name))}};
    for (int i = 1; i < shape.rank; i++)
        shape.dim[i] = 1;
    return mw__onnx_reshape_to(w, op, NULL, arg(w, op, name), shape);
}

/* The weight is codes * quant_scale + quant_bias. */
void mw__onnx_write_conv_quantized(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    const char *codes = mw__onnx_cast_to(w, NULL, arg(w, op, "weight"), dtype_of(op));
    const char *scaled = mw__onnx_make(w, "Mul", NULL, codes, of_outputs(w, op, "quant_scale"));
    convolve_padded(w, op, operation, mw__onnx_make(w, "Add", NULL, scaled, of_outputs(w, op, "quant_bias")));
}

/* Each extent becomes itself times the stride: what is more is cut off, what is less is added behind. */
static void put_same_transposed(mw__onnx_writer *w, const mw__op *op, pb_node *node, bool lower)
{
    int64_t strides[MW_RANK_MAX], dilations[MW_RANK_MAX], pads[2 * MW_RANK_MAX], more[MW_RANK_MAX];
    const mw_shape weight = mw__arg_shape(op, "weight");
    const size_t axes = (size_t)weight.rank - 2;
    size_t count;
    const bool strided = mw__arg_ints(op, "strides", strides, MW_RANK_MAX, &count);
    const bool dilated = mw__arg_ints(op, "dilations", dilations, MW_RANK_MAX, &count);
    for (size_t i = 0; i < axes; i++) {
        const int64_t span = (weight.dim[2 + i] - 1) * (dilated ? dilations[i] : 1) + 1;
        const int64_t rest = span - (strided ? strides[i] : 1), cut = rest > 0 ? rest : 0;
        pads[i] = lower ? cut - cut / 2 : cut / 2;
        pads[axes + i] = cut - pads[i];
        more[i] = rest < 0 ? -rest : 0;
    }
    mw__onnx_put_ints(w, node, "pads", pads, 2 * axes);
    mw__onnx_put_ints(w, node, "output_padding", more, axes);
}

void mw__onnx_write_conv_transpose(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    bool lower;
    if (mw__arg_present(op, "output_shape")) {
        mw__onnx_cannot(w, op, "with output_shape it is not written yet");
        return;
    }
    pb_node *node = convolve(w, op, operation, arg(w, op, "weight"));
    if (is_same(op, &lower))
        put_same_transposed(w, op, node, lower);
    else
        put_pads(w, op, node, NULL);
}

static pb_node *pool_unpadded(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    const char *x = arg(w, op, "x");
    pb_node *node = mw__onnx_node_of(w, operation, result(w, op), &x, 1);
    put_numbers(w, op, node, "kernel_sizes", "kernel_shape");
    put_numbers(w, op, node, "strides", "strides");
    return node;
}

static void read_kernel(const mw__op *op, int64_t kernel[MW_RANK_MAX])
{
    size_t count;
    memset(kernel, 0, MW_RANK_MAX * sizeof *kernel);
    mw__arg_ints(op, "kernel_sizes", kernel, MW_RANK_MAX, &count);
}

static pb_node *pool(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    int64_t kernel[MW_RANK_MAX];
    pb_node *node = pool_unpadded(w, op, operation);
    read_kernel(op, kernel);
    put_pads(w, op, node, kernel);
    if (mw__arg_is_set(op, "ceil_mode"))
        mw__onnx_put_int(w, node, "ceil_mode", 1);
    return node;
}

void mw__onnx_write_max_pool(mw__onnx_writer *w, const mw__op *op, const char *operation) { pool(w, op, operation); }

void mw__onnx_write_avg_pool(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    const bool without = mw__arg_is_set(op, "exclude_padding_from_average");
    if (mw__arg_is_set(op, "ceil_mode") && !without)
        mw__onnx_cannot(w, op, "with ceil_mode, and the border counted, ONNX divides by other numbers");
    else
        mw__onnx_put_int(w, pool(w, op, operation), "count_include_pad", !without);
}

void mw__onnx_write_l2_pool(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    int64_t kernel[MW_RANK_MAX];
    const bool cut =
        mw__arg_is_set(op, "ceil_mode"); /* which operator set 17 lacks here; zeros behind the border are the same */
    pb_node *node = cut ? pool_unpadded(w, op, operation) : pool(w, op, operation);
    read_kernel(op, kernel);
    if (cut && !put_border(w, op, node, kernel))
        mw__onnx_cannot(w, op, "with ceil_mode its extents must be known");
    mw__onnx_put_int(w, node, "p", 2);
}

/* ---- softmax and norms ---- */

void mw__onnx_write_softmax(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    int64_t axis = -1;
    const char *x = arg(w, op, "x");
    mw__arg_int(op, "axis", &axis);
    mw__onnx_put_int(w, mw__onnx_node_of(w, operation, result(w, op), &x, 1), "axis", axis);
}

/* The argument, or `value` for each element of that shape if it is absent. */
static const char *or_filled(mw__onnx_writer *w, const mw__op *op, const char *name, double value, mw_shape shape)
{
    if (mw__arg_present(op, name))
        return arg(w, op, name);
    const char *one = mw__onnx_number(w, op->results[0]->type->dtype, value);
    return mw__onnx_make(w, "Expand", NULL, one, mw__onnx_longs(w, shape.dim, (size_t)shape.rank));
}

void mw__onnx_write_batch_norm(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    const mw_shape channels = mw__arg_shape(op, "mean");
    const char *const in[] = {arg(w, op, "x"), or_filled(w, op, "gamma", 1, channels),
                              or_filled(w, op, "beta", 0, channels), arg(w, op, "mean"), arg(w, op, "variance")};
    mw__onnx_put_float(w, mw__onnx_node_of(w, operation, result(w, op), in, 5), "epsilon",
                       mw__arg_number(op, "epsilon"));
}

void mw__onnx_write_instance_norm(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    const mw_shape channels = {.rank = 1, .dim = {mw__arg_shape(op, "x").dim[1]}};
    if (channels.dim[0] < 0) {
        mw__onnx_cannot(w, op, "its number of channels is not known");
        return;
    }
    const char *const in[] = {arg(w, op, "x"), or_filled(w, op, "gamma", 1, channels),
                              or_filled(w, op, "beta", 0, channels)};
    mw__onnx_put_float(w, mw__onnx_node_of(w, operation, result(w, op), in, 3), "epsilon",
                       mw__arg_number(op, "epsilon"));
}

/* The first normalized axis if they are the last ones; -1 if not. */
static int first_axis(const mw__op *op, int rank)
{
    int64_t axes[MW_RANK_MAX];
    size_t count;
    if (!mw__arg_present(op, "axes"))
        return 0;
    if (!mw__arg_ints(op, "axes", axes, MW_RANK_MAX, &count) || count == 0)
        return -1;
    for (size_t i = 0; i < count; i++)
        if ((axes[i] < 0 ? axes[i] + rank : axes[i]) != rank - (int)count + (int)i)
            return -1;
    return rank - (int)count;
}

void mw__onnx_write_layer_norm(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    const mw_shape x = mw__arg_shape(op, "x");
    const int axis = first_axis(op, x.rank);
    mw_shape tail = {.rank = axis < 0 ? 0 : x.rank - axis};
    bool known = axis >= 0;
    for (int i = 0; i < tail.rank; i++) {
        tail.dim[i] = x.dim[axis + i];
        known = known && tail.dim[i] >= 0;
    }
    if (!known) {
        mw__onnx_cannot(w, op, "it is written over the last axes, of known extents, only");
        return;
    }
    const char *const in[] = {arg(w, op, "x"), or_filled(w, op, "gamma", 1, tail), arg(w, op, "beta")};
    pb_node *node = mw__onnx_node_of(w, operation, result(w, op), in, 3);
    mw__onnx_put_int(w, node, "axis", axis);
    mw__onnx_put_float(w, node, "epsilon", mw__arg_number(op, "epsilon"));
}

/* Of x [N, C, ..] as [N, C, .., 1]: onnxruntime has it of rank 4 alone. */
void mw__onnx_write_local_response_norm(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    static const int64_t image[] = {0, 0, -1, 1};
    const int64_t size = mw__arg_whole(op, "size");
    const bool is_image = mw__arg_shape(op, "x").rank == 4;
    const char *x = arg(w, op, "x");
    if (size % 2 == 0) {
        mw__onnx_cannot(w, op, "a window of even size is not written yet");
        return;
    }
    if (!is_image)
        x = mw__onnx_make(w, "Reshape", NULL, x, mw__onnx_longs(w, image, 4));
    pb_node *node = mw__onnx_node_of(w, operation, is_image ? result(w, op) : NULL, &x, 1);
    mw__onnx_put_float(w, node, "alpha", mw__arg_number(op, "alpha"));
    mw__onnx_put_float(w, node, "beta", mw__arg_number(op, "beta"));
    mw__onnx_put_float(w, node, "bias", mw__arg_number(op, "k"));
    mw__onnx_put_int(w, node, "size", size);
    if (!is_image)
        mw__onnx_reshape_to(w, op, result(w, op), mw__onnx_name(node), result_shape(op));
}

/* x / sqrt(sum of x^2 over the last three axes + epsilon) */
void mw__onnx_write_l2_norm(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    static const int64_t axes[] = {-3, -2, -1};
    const char *x = arg(w, op, "x");
    pb_node *squares = mw__onnx_node_of(w, operation, NULL, &x, 1);
    mw__onnx_put_ints(w, squares, "axes", axes, 3);
    mw__onnx_put_int(w, squares, "keepdims", 1);
    const char *epsilon = mw__onnx_number(w, dtype_of(op), mw__arg_number(op, "epsilon"));
    const char *sum = mw__onnx_make(w, "Add", NULL, mw__onnx_name(squares), epsilon);
    mw__onnx_make(w, "Div", result(w, op), x, mw__onnx_make(w, "Sqrt", NULL, sum, NULL));
}

/* ---- attention ---- */

/* A mask is added, or chooses what is not -infinity. */
static const char *masked(mw__onnx_writer *w, const mw__op *op, const char *scores)
{
    if (!mw__arg_present(op, "attn_mask"))
        return scores;
    const char *mask = arg(w, op, "attn_mask");
    if (mw__arg(op, "attn_mask")->type->dtype != MW_BOOL)
        return mw__onnx_make(w, "Add", NULL, scores, mask);
    const char *const in[] = {mask, scores, mw__onnx_number(w, dtype_of(op), -HUGE_VAL)};
    return mw__onnx_name(mw__onnx_node_of(w, "Where", NULL, in, 3));
}

void mw__onnx_write_scaled_dot_product_attention(mw__onnx_writer *w, const mw__op *op, const char *operation)
{
    const mw_shape query = mw__arg_shape(op, "query");
    const int64_t width = query.dim[query.rank - 1];
    if (width < 0) {
        mw__onnx_cannot(w, op, "the width of its queries is not known");
        return;
    }
    const char *scale = mw__onnx_number(w, dtype_of(op), 1 / sqrt((double)width));
    const char *scaled = mw__onnx_make(w, "Mul", NULL, arg(w, op, "query"), scale);
    const char *scores = masked(w, op, mw__onnx_make(w, "MatMul", NULL, scaled, turned(w, op, "key")));
    pb_node *weights = mw__onnx_node_of(w, operation, NULL, &scores, 1);
    mw__onnx_put_int(w, weights, "axis", -1);
    mw__onnx_make(w, "MatMul", result(w, op), mw__onnx_name(weights), arg(w, op, "value"));
}

/* Layers as units: windows, products, reductions, sorting. */
#include "base/number/fp16.h"
#include "chip/netplist/handlers.h"
#include "graph/geometry/window.h"

#include <math.h>
#include <string.h>

static int rank_of(const mw__op *op) { return mw__arg(op, "x")->type->shape.rank; }

static int axis_of(const mw__net_writer *w, const mw__op *op, const char *argument)
{
    int64_t axis = -1;
    mw__arg_int(op, argument, &axis);
    const int rank = rank_of(op);
    return mw__net_axis((int)(axis < 0 ? axis + rank : axis), rank, w->rank);
}

static bool flag(const mw__op *op, const char *name)
{
    bool value = false;
    for (size_t i = 0; i < op->row->arg_count; i++)
        if (strcmp(op->row->args[i].name, name) == 0)
            return mw__arg_bool(op, name, &value) && value;
    return false;
}

void mw__net_write_softmax(mw__net_writer *w, const mw__op *op, const mw__net_row *row)
{
    mw__net_value x;
    if (!mw__net_operand(w, op, "x", &x))
        return;
    plist_t params = plist_new_dict();
    mw__net_set_string(params, "Dimension", mw__net_axis_names[axis_of(w, op, "axis")]);
    mw__net_result(w, op, 0, mw__net_put(w, row->type, params, &x, 1, x.dims));
}

/* ---- windows ---- */

/* Keys of a window's spatial axes, the last of MIL's first: width, height, depth. */
static void put_windows(plist_t params, const mw__window *windows, int axes, const char *mode)
{
    static const char *const kernel[] = {"KernelWidth", "KernelHeight", "KernelDepth"};
    static const char *const before[] = {"PadLeft", "PadTop", "PadFront"}, *const after[] = {"PadRight", "PadBot",
                                                                                             "PadBack"};
    plist_t step = plist_new_array();
    for (int i = 0; i < 3; i++) {
        const mw__window *window = i < axes ? &windows[axes - 1 - i] : NULL;
        mw__net_set_int(params, kernel[i], window != NULL ? window->kernel : 1);
        mw__net_set_int(params, before[i], window != NULL ? window->before : 0);
        mw__net_set_int(params, after[i], window != NULL ? window->after : 0);
        plist_array_append_item(step, plist_new_uint(window != NULL ? (uint64_t)window->stride : 1));
    }
    mw__net_set_string(params, "PaddingMode", mode);
    plist_dict_set_item(params, "Step", step);
}

/* Windows of an operation on x of rank 4, or 5 in a network of rank 5: only there do MIL's axes stand where units want
 * them. False, with the reason told, if not. */
static bool read_windows(mw__net_writer *w, const mw__op *op, const int64_t *kernel, mw__window *windows)
{
    const mw_shape x = mw__arg(op, "x")->type->shape;
    if (x.rank != w->rank) {
        mw__net_cannot(w, op, "windows want an x of the network's rank: 4, or 5 with volumes");
        return false;
    }
    return mw__op_windows(op, x, kernel, windows, w->err) == MW_OK;
}

void mw__net_write_pool(mw__net_writer *w, const mw__op *op, const mw__net_row *row)
{
    mw__net_value x;
    mw__window windows[MW__WINDOW_AXES];
    int64_t kernel[MW__WINDOW_AXES];
    size_t count;
    const bool max = strcmp(row->kind, "Max") == 0;
    if (flag(op, "ceil_mode")) {
        mw__net_cannot(w, op, "the unit has no ceil_mode");
        return;
    }
    if (!mw__net_operand(w, op, "x", &x) || !mw__arg_ints(op, "kernel_sizes", kernel, MW__WINDOW_AXES, &count) ||
        !read_windows(w, op, kernel, windows))
        return;
    plist_t params = plist_new_dict();
    if (!max)
        mw__net_set_bool(params, "AverageCountExcludePadding", flag(op, "exclude_padding_from_average"));
    put_windows(params, windows, w->rank - 2, max ? "Negative" : "Zero");
    mw__net_set_string(params, "Type", row->kind);
    mw__net_result(w, op, 0, mw__net_put(w, row->type, params, &x, 1, mw__net_dims_of(w, op->results[0]->type->shape)));
}

/* ---- convolution ---- */

/* The offset of each channel is a GOC's, as Apple's compiler has it in tinygrad's net.plist. */
static mw__net_value add_bias(mw__net_writer *w, mw__net_value y, const uint16_t *bias, size_t count)
{
    if (count == 0)
        return y;
    plist_t params = plist_new_dict(), group = plist_new_dict();
    mw__net_set_int(group, "BiasCount", (int64_t)count);
    mw__net_set_int(group, "BiasIndex", 1);
    mw__net_set_int(group, "BiasOffset", (int64_t)mw__net_weights(w, bias, 2 * count));
    mw__net_set_string(group, "BiasType", "Float16");
    plist_dict_set_item(params, "BiasScaleGroupData", group);
    return mw__net_put(w, "GOC", params, &y, 1, y.dims);
}

/* A constant argument; of one that is absent none. */
static uint16_t *load_constant(mw__net_writer *w, const mw__op *op, const char *argument, size_t *count)
{
    const mw_tensor *value = mw__arg(op, argument);
    const mw__payload *payload = value != NULL ? value->payload : NULL;
    *count = 0;
    if (value == NULL)
        return mw__arena_alloc(&w->arena, 0, 1, w->err);
    if (payload == NULL || payload->data == NULL) {
        mw__net_cannot(w, op, "a weight or bias that is no constant");
        return NULL;
    }
    *count = mw__payload_count(payload);
    uint16_t *data = mw__arena_alloc(&w->arena, *count, sizeof *data, w->err);
    for (size_t i = 0; data != NULL && i < *count; i++)
        data[i] = mw__fp16_from_double(mw__payload_float(payload, i));
    return data;
}

static plist_t conv_params(mw__net_writer *w, const mw__window *windows, const uint16_t *weight, size_t count)
{
    plist_t params = plist_new_dict();
    mw__net_set_bool(params, "KernelGroupReuse", false);
    mw__net_set_int(params, "KernelIndex", 1);
    mw__net_set_string(params, "KernelMode", "Dense");
    mw__net_set_bool(params, "KernelMutable", false);
    mw__net_set_int(params, "KernelOffset", (int64_t)mw__net_weights(w, weight, 2 * count));
    mw__net_set_string(params, "KernelType", "Float16");
    put_windows(params, windows, w->rank - 2, "Zero");
    mw__net_set_string(params, "Type", "Conv");
    return params;
}

void mw__net_write_conv(mw__net_writer *w, const mw__op *op, const mw__net_row *row)
{
    mw__net_value x;
    mw__window windows[MW__WINDOW_AXES];
    int64_t groups = 1;
    size_t count = 0, bias_count = 0;
    if (!mw__net_operand(w, op, "x", &x) || !read_windows(w, op, &mw__arg(op, "weight")->type->shape.dim[2], windows))
        return;
    for (int i = 0; i < w->rank - 2; i++)
        if (windows[i].dilation != 1) {
            mw__net_cannot(w, op, "no key for dilations is public");
            return;
        }
    const uint16_t *weight = load_constant(w, op, "weight", &count);
    const uint16_t *bias = weight != NULL ? load_constant(w, op, "bias", &bias_count) : NULL;
    if (bias == NULL)
        return;
    mw__arg_int(op, "groups", &groups);
    mw__net_value y = mw__net_put(w, row->type, conv_params(w, windows, weight, count), &x, 1,
                                  mw__net_dims_of(w, op->results[0]->type->shape));
    if (y.symbol == NULL)
        return;
    mw__net_set_int(mw__net_last(w), "NumGroups", groups);
    mw__net_result(w, op, 0, add_bias(w, y, bias, bias_count));
}

/* ---- products ---- */

/* The unit multiplies along channels and width, for each batch, depth and height: the rows of MIL's matmul, which are
 * along the height, change places with the channels, and come back. */
static mw__net_value write_product(mw__net_writer *w, mw__net_value x, mw__net_value y)
{
    mw__net_dims a = x.dims, b = y.dims, out = x.dims;
    out.of[MW__NET_WIDTH] = y.dims.of[MW__NET_WIDTH];
    for (int i = 0; i < MW__NET_HEIGHT; i++)
        a.of[i] = b.of[i] = out.of[i] = x.dims.of[i] == 1 ? y.dims.of[i] : x.dims.of[i];
    const mw__net_value both[] = {mw__net_swap(w, mw__net_broadcast(w, x, a), MW__NET_CHANNEL, MW__NET_HEIGHT),
                                  mw__net_swap(w, mw__net_broadcast(w, y, b), MW__NET_CHANNEL, MW__NET_HEIGHT)};
    mw__net_dims dims = out;
    dims.of[MW__NET_CHANNEL] = out.of[MW__NET_HEIGHT];
    dims.of[MW__NET_HEIGHT] = out.of[MW__NET_CHANNEL];
    const mw__net_value product = mw__net_put(w, "MatrixMultiplication", NULL, both, 2, dims);
    return mw__net_swap(w, product, MW__NET_CHANNEL, MW__NET_HEIGHT);
}

void mw__net_write_matmul(mw__net_writer *w, const mw__op *op, const mw__net_row *row)
{
    mw__net_value x, y;
    (void)row;
    if (mw__arg(op, "x")->type->shape.rank < 2 || mw__arg(op, "y")->type->shape.rank < 2) {
        mw__net_cannot(w, op, "an operand of rank 1");
        return;
    }
    if (!mw__net_operand(w, op, "x", &x) || !mw__net_operand(w, op, "y", &y))
        return;
    if (flag(op, "transpose_x"))
        x = mw__net_swap(w, x, MW__NET_HEIGHT, MW__NET_WIDTH);
    if (flag(op, "transpose_y"))
        y = mw__net_swap(w, y, MW__NET_HEIGHT, MW__NET_WIDTH);
    mw__net_result(w, op, 0, write_product(w, x, y));
}

void mw__net_write_linear(mw__net_writer *w, const mw__op *op, const mw__net_row *row)
{
    mw__net_value x, weight, bias;
    (void)row;
    if (rank_of(op) < 2) {
        mw__net_cannot(w, op, "an operand of rank 1");
        return;
    }
    if (!mw__net_operand(w, op, "x", &x) || !mw__net_operand(w, op, "weight", &weight))
        return;
    mw__net_value y = write_product(w, x, mw__net_swap(w, weight, MW__NET_HEIGHT, MW__NET_WIDTH));
    if (mw__arg(op, "bias") != NULL && mw__net_operand(w, op, "bias", &bias))
        y = mw__net_binary(w, "Add", y, bias);
    mw__net_result(w, op, 0, y);
}

/* SDPA has the sequence in the channels and the heads in the height. */
void mw__net_write_attention(mw__net_writer *w, const mw__op *op, const mw__net_row *row)
{
    static const char *const arguments[] = {"query", "key", "value"};
    mw__net_value bottoms[5];
    size_t count = 4;
    if (w->rank != 4 || mw__arg(op, "query")->type->shape.rank < 3) {
        mw__net_cannot(w, op, "SDPA wants rank 3 or 4");
        return;
    }
    for (int i = 0; i < 3; i++) {
        if (!mw__net_operand(w, op, arguments[i], &bottoms[i]))
            return;
        bottoms[i] = mw__net_swap(w, bottoms[i], MW__NET_CHANNEL, MW__NET_HEIGHT);
    }
    const uint16_t scale = mw__fp16_from_double(1 / sqrt((double)bottoms[0].dims.of[MW__NET_WIDTH]));
    bottoms[3] = mw__net_constant(w, "Float16", &scale, (mw__net_dims){{1, 1, 1, 1, 1}});
    const mw_tensor *mask = mw__arg(op, "attn_mask");
    if (mask != NULL) {
        if (mask->type->dtype == MW_BOOL || !mw__net_operand(w, op, "attn_mask", &bottoms[4]) ||
            bottoms[4].dims.of[MW__NET_CHANNEL] != 1) {
            mw__net_cannot(w, op, "a mask of SDPA is added, and the same for all heads");
            return;
        }
        bottoms[count++] = mw__net_swap(w, bottoms[4], MW__NET_CHANNEL, MW__NET_HEIGHT);
    }
    plist_t params = plist_new_dict();
    mw__net_dims dims = bottoms[0].dims;
    dims.of[MW__NET_WIDTH] = bottoms[2].dims.of[MW__NET_WIDTH];
    mw__net_set_bool(params, "SubtractMax", true);
    const mw__net_value y = mw__net_put(w, row->type, params, bottoms, count, dims);
    mw__net_result(w, op, 0, mw__net_swap(w, y, MW__NET_CHANNEL, MW__NET_HEIGHT));
}

/* ---- reductions ---- */

void mw__net_write_reduce(mw__net_writer *w, const mw__op *op, const mw__net_row *row)
{
    mw__net_value x;
    int64_t axes[MW_RANK_MAX];
    size_t count = 0;
    const int rank = rank_of(op);
    if (!mw__net_operand(w, op, "x", &x))
        return;
    if (!mw__arg_present(op, "axes") || !mw__arg_ints(op, "axes", axes, MW_RANK_MAX, &count))
        for (count = 0; count < (size_t)rank; count++)
            axes[count] = (int64_t)count;
    plist_t params = plist_new_dict(), list = plist_new_array();
    mw__net_dims dims = x.dims;
    for (size_t i = 0; i < count; i++) {
        const int axis = mw__net_axis((int)(axes[i] < 0 ? axes[i] + rank : axes[i]), rank, w->rank);
        plist_array_append_item(list, plist_new_string(mw__net_axis_names[axis]));
        dims.of[axis] = 1;
    }
    plist_dict_set_item(params, "Dimension", list);
    mw__net_set_string(params, "Type", row->kind);
    mw__net_result(w, op, 0, mw__net_put(w, row->type, params, &x, 1, dims));
}

void mw__net_write_arg(mw__net_writer *w, const mw__op *op, const mw__net_row *row)
{
    mw__net_value x;
    if (!mw__net_operand(w, op, "x", &x))
        return;
    plist_t params = plist_new_dict();
    const int axis = axis_of(w, op, "axis");
    mw__net_dims dims = x.dims;
    dims.of[axis] = 1;
    mw__net_set_string(params, "Dimension", mw__net_axis_names[axis]);
    mw__net_set_string(params, "Type", row->kind);
    mw__net_result(w, op, 0, mw__net_put(w, row->type, params, &x, 1, dims));
}

/* ---- sorting ----
 * The units put all of the vector dimension in the order of one of its lanes; so only x with one row can be sorted. */

static bool is_row(mw__net_writer *w, const mw__op *op, mw__net_value x)
{
    const int64_t width = x.dims.of[MW__NET_WIDTH];
    if (axis_of(w, op, "axis") == MW__NET_WIDTH && mw_shape_count(mw__arg(op, "x")->type->shape) == width)
        return true;
    mw__net_cannot(w, op, "the unit sorts by one row: x must be one, along the last axis");
    return false;
}

static plist_t sort_params(void)
{
    plist_t params = plist_new_dict(), lanes = plist_new_array();
    plist_array_append_item(lanes, plist_new_uint(0));
    mw__net_set_string(params, "SortDimension", mw__net_axis_names[MW__NET_WIDTH]);
    plist_dict_set_item(params, "SortIndices", lanes);
    mw__net_set_string(params, "VectorDimension", mw__net_axis_names[MW__NET_CHANNEL]);
    return params;
}

void mw__net_write_sort(mw__net_writer *w, const mw__op *op, const mw__net_row *row)
{
    mw__net_value x;
    if (!mw__net_operand(w, op, "x", &x) || !is_row(w, op, x))
        return;
    plist_t params = sort_params();
    mw__net_set_string(params, "Direction", flag(op, "ascending") ? "Ascending" : "Descending");
    mw__net_set_bool(params, "Indices", true);
    mw__net_result(w, op, 0, mw__net_put(w, row->type, params, &x, 1, x.dims));
}

void mw__net_write_topk(mw__net_writer *w, const mw__op *op, const mw__net_row *row)
{
    mw__net_value x;
    int64_t k = 1;
    mw__arg_int(op, "k", &k);
    if (!mw__net_operand(w, op, "x", &x) || !is_row(w, op, x))
        return;
    k = k < 0 ? x.dims.of[MW__NET_WIDTH] : k;
    for (size_t i = 0; i < op->result_count; i++) {
        plist_t params = sort_params();
        mw__net_dims dims = x.dims;
        dims.of[MW__NET_WIDTH] = k;
        if (i == 1)
            mw__net_set_bool(params, "Indices", true);
        mw__net_set_int(params, "K", k);
        mw__net_set_string(params, "Type", flag(op, "ascending") ? "Min" : "Max");
        mw__net_result(w, op, i, mw__net_put(w, row->type, params, &x, 1, dims));
    }
}

/* The unit's window is all channels, and it divides its alpha by their number. */
void mw__net_write_lrn(mw__net_writer *w, const mw__op *op, const mw__net_row *row)
{
    mw__net_value x;
    int64_t size = 1;
    if (!mw__net_operand(w, op, "x", &x))
        return;
    mw__arg_int(op, "size", &size);
    const int64_t channels = x.dims.of[MW__NET_CHANNEL];
    if (rank_of(op) != 4 || size < 2 * channels - 1) {
        mw__net_cannot(w, op, "the unit's window is all channels: size must be twice their number less 1, or more");
        return;
    }
    plist_t params = plist_new_dict();
    mw__net_set_half(params, "Alpha", mw__arg_number(op, "alpha") / (double)size * (double)channels);
    plist_dict_set_item(params, "Beta", plist_new_real(mw__arg_number(op, "beta")));
    plist_dict_set_item(params, "K", plist_new_real(mw__arg_number(op, "k")));
    mw__net_set_int(params, "KernelChannel", channels);
    mw__net_set_int(params, "KernelHeight", 1);
    mw__net_set_int(params, "KernelWidth", 1);
    mw__net_set_string(params, "Type", "Channel");
    mw__net_result(w, op, 0, mw__net_put(w, row->type, params, &x, 1, x.dims));
}

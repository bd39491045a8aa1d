/* Layers of units as operations. */
#include "base/number/fp16.h"
#include "chip/netplist/handlers.h"
#include "graph/ir/op_build.h"

#include <math.h>
#include <millwright/ops/elementwise.h>
#include <millwright/ops/matmul.h>
#include <millwright/ops/shape.h>
#include <string.h>

static int height_axis(const mw__net_reader *r) { return r->rank - 2; }

/* Channels and height change places; twice is nothing. */
static mw_tensor *swap(mw__net_reader *r, mw_tensor *x)
{
    int64_t perm[MW__NET_AXES];
    for (int i = 0; i < r->rank; i++)
        perm[i] = i == 1 ? height_axis(r) : i == height_axis(r) ? 1 : i;
    return mw__net_transposed(x, perm, r->rank);
}

mw_tensor *mw__net_read_softmax(mw__net_reader *r, const mw__net_unit *unit, const mw__net_row *row)
{
    const int axis = mw__net_axis_called(r, unit, mw__net_string(unit->params, "Dimension"));
    mw__build build = mw__build_begin_graph(row->operation, r->graph);
    mw__build_set(&build, "x", unit->bottom[0]);
    mw__build_int(&build, "axis", axis);
    return axis >= 0 ? mw__build_end(&build) : NULL;
}

/* ---- windows ---- */

typedef struct window_keys {
    int64_t kernel[3], stride[3], pad[6]; /* in MIL's order */
} window_keys;

/* False, with the error set, for what is no window. */
static bool read_windows(mw__net_reader *r, const mw__net_unit *unit, window_keys *out)
{
    static const char *const kernel[] = {"KernelWidth", "KernelHeight", "KernelDepth"};
    static const char *const before[] = {"PadLeft", "PadTop", "PadFront"}, *const after[] = {"PadRight", "PadBot",
                                                                                             "PadBack"};
    size_t steps;
    plist_t step = mw__net_list(unit->params, "Step", &steps);
    for (int i = 0; i < r->rank - 2; i++) {
        const int at = r->rank - 3 - i;
        out->kernel[at] = mw__net_int(unit->params, kernel[i], i == 2 ? 1 : 0);
        out->stride[at] = (size_t)i < steps ? mw__net_int_at(step, (size_t)i, 0) : 1;
        out->pad[2 * at] = mw__net_int(unit->params, before[i], 0);
        out->pad[2 * at + 1] = mw__net_int(unit->params, after[i], 0);
        if (out->kernel[at] <= 0 || out->stride[at] <= 0) {
            mw__net_bad(r, unit, "%s or its Step is absent or 0", kernel[i]);
            return false;
        }
    }
    if (r->rank == 4 && mw__net_int(unit->params, "KernelDepth", 1) != 1) {
        mw__net_bad(r, unit, "it has a depth in a network without");
        return false;
    }
    return true;
}

static void set_windows(mw__build *build, const window_keys *keys, int axes)
{
    mw__build_ints(build, "pad", keys->pad, 2 * (size_t)axes);
    mw__build_string(build, "pad_type", "custom");
    mw__build_ints(build, "strides", keys->stride, (size_t)axes);
}

mw_tensor *mw__net_read_pool(mw__net_reader *r, const mw__net_unit *unit, const mw__net_row *row)
{
    window_keys keys;
    if (!read_windows(r, unit, &keys))
        return NULL;
    mw__build build = mw__build_begin_graph(row->operation, r->graph);
    mw__build_set(&build, "x", unit->bottom[0]);
    mw__build_ints(&build, "kernel_sizes", keys.kernel, (size_t)r->rank - 2);
    set_windows(&build, &keys, r->rank - 2);
    if (strcmp(row->kind, "Avg") == 0)
        mw__build_bool(&build, "exclude_padding_from_average",
                       mw__net_bool(unit->params, "AverageCountExcludePadding", false));
    return mw__build_end(&build);
}

/* ---- convolution ---- */

/* The weight, [out, in / groups, kernel..], from the weight file. */
static mw_tensor *read_weight(mw__net_reader *r, const mw__net_unit *unit, const window_keys *keys, int64_t groups)
{
    const mw_shape x = mw_tensor_shape(unit->bottom[0]);
    mw_shape shape = {.rank = r->rank, .dim = {mw__net_int(unit->node, "OutputChannels", 0)}};
    uint64_t count = (uint64_t)shape.dim[0];
    if (shape.dim[0] <= 0 || groups <= 0 || x.dim[1] % groups != 0)
        return mw__net_bad(r, unit, "OutputChannels or NumGroups do not fit %lld channels", (long long)x.dim[1]);
    shape.dim[1] = x.dim[1] / groups;
    for (int i = 1; i < r->rank; i++) {
        shape.dim[i] = i == 1 ? shape.dim[i] : keys->kernel[i - 2];
        if (__builtin_mul_overflow(count, (uint64_t)shape.dim[i], &count) || count > INT32_MAX)
            return mw__net_bad(r, unit, "its kernel is too large");
    }
    void *data =
        mw__net_read_halves(r, mw__net_string(unit->params, "KernelType"), mw__net_int(unit->params, "KernelIndex", 0),
                            mw__net_int(unit->params, "KernelOffset", 0), count);
    mw_tensor *out = data != NULL ? mw_constant(r->graph, MW_F16, shape, data) : NULL;
    mw__free(r->allocator, data);
    return out;
}

static bool is_float_type(const char *type)
{
    return type != NULL && (strcmp(type, "Float16") == 0 || strcmp(type, "Float32") == 0);
}

mw_tensor *mw__net_read_conv(mw__net_reader *r, const mw__net_unit *unit, const mw__net_row *row)
{
    window_keys keys;
    const char *mode = mw__net_string(unit->params, "KernelMode"), *type = mw__net_string(unit->params, "KernelType");
    const int64_t groups = mw__net_int(unit->node, "NumGroups", 1);
    if ((mode != NULL && strcmp(mode, "Dense") != 0) || !is_float_type(type)) {
        mw__net_cannot_read(r, unit, "only kernels of KernelMode Dense and KernelType Float16 or Float32 are known");
        return NULL;
    }
    mw_tensor *weight = read_windows(r, unit, &keys) ? read_weight(r, unit, &keys, groups) : NULL;
    if (weight == NULL)
        return NULL;
    mw__build build = mw__build_begin_graph(row->operation, r->graph);
    mw__build_set(&build, "x", unit->bottom[0]);
    mw__build_set(&build, "weight", weight);
    mw__build_int(&build, "groups", groups);
    set_windows(&build, &keys, r->rank - 2);
    return mw__build_end(&build);
}

/* ---- products ---- */

mw_tensor *mw__net_read_matmul(mw__net_reader *r, const mw__net_unit *unit, const mw__net_row *row)
{
    (void)row;
    if (unit->bottom_count != 2)
        return mw__net_bad(r, unit, "Matrix mult. layer can only have two bottoms");
    return swap(r, mw_matmul(swap(r, unit->bottom[0]), swap(r, unit->bottom[1]), 0));
}

/* The scale of MIL's operation is 1 / sqrt(width); another one is a factor of the query. */
static mw_tensor *scaled_query(mw__net_reader *r, const mw__net_unit *unit, mw_tensor *query)
{
    const mw_tensor *scale = unit->bottom[3];
    const double own = 1 / sqrt((double)mw_tensor_shape(query).dim[3]);
    if (scale->payload == NULL || mw__payload_count(scale->payload) != 1)
        return mw__net_bad(r, unit, "its scale, the fourth bottom, is no constant");
    const double value = mw__payload_float(scale->payload, 0);
    if (value == (double)mw__fp16_to_float(mw__fp16_from_double(own)))
        return query;
    return mw_mul(query, mw_scalar(r->graph, MW_F16, value / own));
}

mw_tensor *mw__net_read_attention(mw__net_reader *r, const mw__net_unit *unit, const mw__net_row *row)
{
    static const char *const arguments[] = {"query", "key", "value"};
    mw_tensor *bottoms[3];
    if (unit->bottom_count != 4 && unit->bottom_count != 5)
        return mw__net_bad(r, unit, "4 or 5 bottoms must be present for SDPA");
    if (r->rank != 4 || unit->bottom_count > 5 || !mw__net_bool(unit->params, "SubtractMax", false)) {
        mw__net_cannot_read(r, unit, "SDPA is read in networks without depth, with SubtractMax");
        return NULL;
    }
    for (int i = 0; i < 3; i++)
        bottoms[i] = swap(r, unit->bottom[i]);
    bottoms[0] = scaled_query(r, unit, bottoms[0]);
    mw__build build = mw__build_begin_graph(row->operation, r->graph);
    for (int i = 0; i < 3; i++)
        mw__build_set(&build, arguments[i], bottoms[i]);
    if (unit->bottom_count == 5)
        mw__build_set(&build, "attn_mask", swap(r, unit->more[4]));
    return swap(r, mw__build_end(&build));
}

/* ---- reductions ---- */

mw_tensor *mw__net_read_reduce(mw__net_reader *r, const mw__net_unit *unit, const mw__net_row *row)
{
    int64_t axes[MW__NET_AXES];
    size_t count;
    plist_t list = mw__net_list(unit->params, "Dimension", &count);
    if (count == 0 || count > MW__NET_AXES)
        return mw__net_bad(r, unit, "Dimension is no list of 1 to 5");
    for (size_t i = 0; i < count; i++)
        if ((axes[i] = mw__net_axis_called(r, unit, mw__net_string_at(list, i))) < 0)
            return NULL;
    mw__build build = mw__build_begin_graph(row->operation, r->graph);
    mw__build_set(&build, "x", unit->bottom[0]);
    mw__build_ints(&build, "axes", axes, count);
    mw__build_bool(&build, "keep_dims", true);
    return mw__build_end(&build);
}

/* The index of the largest or smallest along an axis, in fp16. */
static mw_tensor *arg(mw__net_reader *r, mw_tensor *x, bool max, int axis)
{
    mw__build build = mw__build_begin_graph(max ? "reduce_argmax" : "reduce_argmin", r->graph);
    mw__build_set(&build, "x", x);
    mw__build_int(&build, "axis", axis);
    mw__build_bool(&build, "keep_dims", true);
    return mw_cast(mw__build_end(&build), MW_F16);
}

mw_tensor *mw__net_read_global_arg(mw__net_reader *r, const mw__net_unit *unit, const mw__net_row *row)
{
    const int axis = mw__net_axis_called(r, unit, mw__net_string(unit->params, "Dimension"));
    return axis >= 0 ? arg(r, unit->bottom[0], strcmp(row->kind, "Max") == 0, axis) : NULL;
}

/* Of the channels at each place; or of the places, as one row, in each channel. */
mw_tensor *mw__net_read_arg(mw__net_reader *r, const mw__net_unit *unit, const mw__net_row *row)
{
    const char *mode = mw__net_string(unit->params, "Mode");
    mw_tensor *x = unit->bottom[0];
    const mw_shape shape = mw_tensor_shape(x);
    (void)row;
    if (mode == NULL)
        return mw__net_bad(r, unit, "it has no Mode");
    const bool max = strstr(mode, "Max") != NULL;
    if (strncmp(mode, "Channel", 7) == 0)
        return arg(r, x, max, 1);
    if (r->rank != 4 || strncmp(mode, "Spatial", 7) != 0 ||
        mw__net_int(unit->params, "KernelWidth", 0) != shape.dim[3] ||
        mw__net_int(unit->params, "KernelHeight", 0) != shape.dim[2]) {
        mw__net_cannot_read(r, unit, "its window is not all of the plane");
        return NULL;
    }
    return arg(r, mw_reshape(x, MW_SHAPE(shape.dim[0], shape.dim[1], 1, shape.dim[2] * shape.dim[3])), max, 3);
}

/* ---- sorting: one row, as more are put in the order of one of them ---- */

static bool is_row(mw__net_reader *r, const mw__net_unit *unit)
{
    const char *dimension = mw__net_string(unit->params, "SortDimension");
    const mw_shape x = mw_tensor_shape(unit->bottom[0]);
    if (dimension != NULL && strcmp(dimension, "Width") == 0 && mw_shape_count(x) == x.dim[x.rank - 1])
        return true;
    mw__net_cannot_read(r, unit, "only one row, along the width, is sorted as MIL has it");
    return false;
}

static mw_tensor *topk(mw__net_reader *r, mw_tensor *x, int64_t k, bool ascending, bool indices)
{
    mw_tensor *results[2];
    size_t count = 0;
    mw__build build = mw__build_begin_graph("topk", r->graph);
    mw__build_set(&build, "x", x);
    mw__build_int(&build, "k", k);
    mw__build_int(&build, "axis", -1);
    mw__build_bool(&build, "ascending", ascending);
    if (mw__build_end_many(&build, results, 2, &count) != MW_OK || count != 2)
        return NULL;
    return indices ? mw_cast(results[1], MW_F16) : results[0];
}

mw_tensor *mw__net_read_sort(mw__net_reader *r, const mw__net_unit *unit, const mw__net_row *row)
{
    const char *direction = mw__net_string(unit->params, "Direction");
    const bool ascending = direction != NULL && strcmp(direction, "Ascending") == 0;
    if (!is_row(r, unit))
        return NULL;
    if (!mw__net_bool(unit->params, "Indices", false))
        return topk(r, unit->bottom[0], mw_tensor_shape(unit->bottom[0]).dim[r->rank - 1], ascending, false);
    mw__build build = mw__build_begin_graph(row->operation, r->graph);
    mw__build_set(&build, "x", unit->bottom[0]);
    mw__build_int(&build, "axis", -1);
    mw__build_bool(&build, "ascending", ascending);
    return mw_cast(mw__build_end(&build), MW_F16);
}

mw_tensor *mw__net_read_topk(mw__net_reader *r, const mw__net_unit *unit, const mw__net_row *row)
{
    const char *type = mw__net_string(unit->params, "Type");
    const int64_t k = mw__net_int(unit->params, "K", 0);
    (void)row;
    if (type == NULL || k <= 0)
        return mw__net_bad(r, unit, "it has no Type, or no K");
    if (!is_row(r, unit))
        return NULL;
    return topk(r, unit->bottom[0], k, strcmp(type, "Min") == 0, mw__net_bool(unit->params, "Indices", false));
}

/* Over all channels: MIL's window is centered, so that it has to reach as far on both sides. */
mw_tensor *mw__net_read_lrn(mw__net_reader *r, const mw__net_unit *unit, const mw__net_row *row)
{
    const int64_t channels = mw_tensor_shape(unit->bottom[0]).dim[1];
    const double alpha = mw__net_half(unit->params, "Alpha", NAN);
    if (isnan(alpha))
        return mw__net_bad(r, unit, "it has no Alpha");
    if (r->rank != 4 || mw__net_int(unit->params, "KernelChannel", 0) != channels) {
        mw__net_cannot_read(r, unit, "its window is not all channels");
        return NULL;
    }
    const int64_t size = 2 * channels - 1;
    mw__build build = mw__build_begin_graph(row->operation, r->graph);
    mw__build_set(&build, "x", unit->bottom[0]);
    mw__build_scalar(&build, "alpha", MW_F16, alpha / (double)channels * (double)size);
    mw__build_scalar(&build, "beta", MW_F16, mw__net_number(unit->params, "Beta", 0.75));
    mw__build_scalar(&build, "k", MW_F16, mw__net_number(unit->params, "K", 1));
    mw__build_int(&build, "size", size);
    return mw__build_end(&build);
}

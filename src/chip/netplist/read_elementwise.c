/* Element-wise units as operations. */
#include "chip/netplist/handlers.h"
#include "graph/ir/op_build.h"

#include <math.h>
#include <millwright/ops/elementwise.h>
#include <millwright/ops/reduce.h>
#include <stdio.h>
#include <string.h>

static mw_tensor *number_tensor(mw__net_reader *r, double value) { return mw_scalar(r->graph, MW_F16, value); }

/* The epsilon that MIL adds is 0 for a unit. */
static void set_epsilon(mw__build *build, const char *operation)
{
    if (strcmp(operation, "rsqrt") == 0 || strcmp(operation, "inverse") == 0 || strcmp(operation, "log") == 0)
        mw__build_scalar(build, "epsilon", MW_F16, 0);
}

mw_tensor *mw__net_read_unary(mw__net_reader *r, const mw__net_unit *unit, const mw__net_row *row)
{
    mw__build build = mw__build_begin_graph(row->operation, r->graph);
    mw__build_set(&build, "x", unit->bottom[0]);
    for (size_t i = 0; i < sizeof row->half / sizeof *row->half && row->half[i].key != NULL; i++) {
        const double value = mw__net_half(unit->params, row->half[i].key, row->half[i].argument != NULL ? NAN : 0);
        if (isnan(value) || (row->half[i].argument == NULL && value != 0))
            return mw__net_bad(r, unit, "%s is absent, or no number that is known here", row->half[i].key);
        if (row->half[i].argument != NULL)
            mw__build_float(&build, row->half[i].argument, value);
    }
    set_epsilon(&build, row->operation);
    return mw__build_end(&build);
}

mw_tensor *mw__net_read_log2(mw__net_reader *r, const mw__net_unit *unit, const mw__net_row *row)
{
    (void)row;
    mw__build build = mw__build_begin_graph("log", r->graph);
    mw__build_set(&build, "x", unit->bottom[0]);
    set_epsilon(&build, "log");
    return mw_mul(mw__build_end(&build), number_tensor(r, 1 / log(2.0)));
}

/* What was broadcast for the unit, as it was before, where MIL's operation broadcasts it to the same shape. */
static mw_tensor *unbroadcast(mw_tensor *x, const mw_tensor *other)
{
    mw_shape both;
    mw_tensor *before = x->op != NULL && strcmp(x->op->kind, "tile") == 0 ? mw__arg(x->op, "x") : NULL;
    if (before == NULL || !mw__broadcast_shapes(before->type->shape, other->type->shape, &both))
        return x;
    for (int i = 0; i < both.rank; i++)
        if (both.dim[i] != x->type->shape.dim[i])
            return x;
    return before;
}

static mw_tensor *both(mw__net_reader *r, const mw__net_unit *unit, const char *operation)
{
    if (unit->bottom_count != 2)
        return mw__net_bad(r, unit, "it has %zu bottoms, not 2", unit->bottom_count);
    mw_tensor *x = unbroadcast(unit->bottom[0], unit->bottom[1]), *y = unbroadcast(unit->bottom[1], x);
    mw__build build = mw__build_begin_graph(operation, r->graph);
    mw__build_set(&build, "x", x);
    mw__build_set(&build, "y", y);
    return mw__build_end(&build);
}

/* What compares makes 0 and 1 in fp16. */
mw_tensor *mw__net_read_binary(mw__net_reader *r, const mw__net_unit *unit, const mw__net_row *row)
{
    mw_tensor *out = both(r, unit, row->operation);
    return mw_tensor_dtype(out) == MW_BOOL ? mw_cast(out, MW_F16) : out;
}

/* A number for each channel, from a weight file; NULL if the group has none of that name, or with the error set. */
static mw_tensor *read_group(mw__net_reader *r, const mw__net_unit *unit, plist_t group, const char *name)
{
    char keys[4][16];
    static const char *const parts[] = {"Count", "Index", "Offset", "Type"};
    const int64_t channels = mw_tensor_shape(unit->bottom[0]).dim[1];
    for (int i = 0; i < 4; i++)
        snprintf(keys[i], sizeof keys[i], "%s%s", name, parts[i]);
    const int64_t count = mw__net_int(group, keys[0], 0);
    if (count == 0)
        return NULL;
    if (count != channels)
        return mw__net_bad(r, unit, "%s is %lld; there are %lld channels", keys[0], (long long)count,
                           (long long)channels);
    void *data = mw__net_read_halves(r, mw__net_string(group, keys[3]), mw__net_int(group, keys[1], 0),
                                     mw__net_int(group, keys[2], 0), (size_t)count);
    mw_shape shape = {.rank = r->rank, .dim = {1, count, 1, 1, 1}};
    mw_tensor *out = data != NULL ? mw_constant(r->graph, MW_F16, shape, data) : NULL;
    mw__free(r->allocator, data);
    return out;
}

/* A convolution with an offset for each channel after it is MIL's with a bias, rounded once. */
static mw_tensor *with_bias(mw__net_reader *r, mw_tensor *x, mw_tensor *bias)
{
    const mw__op *op = x->op;
    if (op == NULL || strcmp(op->kind, "conv") != 0 || mw__arg(op, "bias") != NULL)
        return mw_add(x, bias);
    mw__build build = mw__build_begin_graph("conv", r->graph);
    for (size_t i = 0; i < op->row->arg_count; i++)
        if (op->slots[i].count == 1)
            mw__build_set(&build, op->row->args[i].name, op->slots[i].operands[0].value);
    const int64_t channels = mw_shape_count(bias->type->shape);
    mw__build_set(&build, "bias", mw_constant(r->graph, MW_F16, MW_SHAPE(channels), bias->payload->data));
    return mw__build_end(&build);
}

static mw_tensor *read_groups(mw__net_reader *r, const mw__net_unit *unit, plist_t group)
{
    mw_tensor *scale = read_group(r, unit, group, "Scale"), *bias = read_group(r, unit, group, "Bias");
    if (mw__failed(r->err))
        return NULL;
    if (scale == NULL && bias == NULL)
        return mw__net_bad(r, unit, "its BiasScaleGroupData has neither");
    mw_tensor *x = scale != NULL ? mw_mul(unit->bottom[0], scale) : unit->bottom[0];
    return bias != NULL ? with_bias(r, x, bias) : x;
}

/* Gain, offset, or both; one for all, or for each channel. */
mw_tensor *mw__net_read_goc(mw__net_reader *r, const mw__net_unit *unit, const mw__net_row *row)
{
    (void)row;
    const double scale = mw__net_half(unit->params, "ScaleScalar", NAN);
    const double bias = mw__net_half(unit->params, "BiasScalar", NAN);
    plist_t group = mw__net_dict(unit->params, "BiasScaleGroupData");
    if (group != NULL)
        return read_groups(r, unit, group);
    if (isnan(scale) && isnan(bias))
        return mw__net_bad(r, unit, "it has neither ScaleScalar nor BiasScalar");
    if (isnan(bias))
        return mw_mul(unit->bottom[0], number_tensor(r, scale));
    if (isnan(scale))
        return mw_add(unit->bottom[0], number_tensor(r, bias));
    mw__build build = mw__build_begin_graph("linear_activation", r->graph);
    mw__build_set(&build, "x", unit->bottom[0]);
    mw__build_float(&build, "alpha", scale);
    mw__build_float(&build, "beta", bias);
    return mw__build_end(&build);
}

/* Scale times what the unit of two operands makes. */
mw_tensor *mw__net_read_scaled(mw__net_reader *r, const mw__net_unit *unit, const mw__net_row *row)
{
    (void)row;
    const char *kind = mw__net_string(unit->params, "Type");
    const double scale = mw__net_half(unit->params, "Scale", NAN);
    if (isnan(scale) || kind == NULL)
        return mw__net_bad(r, unit, "it has no Scale, or no Type");
    if (strcmp(kind, "Sub") == 0 || strcmp(kind, "Mult") == 0) {
        mw__net_cannot_read(r, unit, "devices refuse its Sub, and leave out the scale of its Mult");
        return NULL;
    }
    for (size_t i = 0; i < mw__net_row_count; i++) {
        const mw__net_row *other = &mw__net_rows[i];
        if (other->type != NULL && strcmp(other->type, "ElementWise") == 0 && other->read == mw__net_read_binary &&
            strcmp(other->kind, kind) == 0)
            return mw_mul(mw__net_read_binary(r, unit, other), number_tensor(r, scale));
    }
    return mw__net_bad(r, unit, "there is no ElementWise \"%.32s\"", kind);
}

mw_tensor *mw__net_read_identity(mw__net_reader *r, const mw__net_unit *unit, const mw__net_row *row)
{
    (void)row;
    if (mw__net_number(unit->params, "DropoutRate", 0) == 0)
        return unit->bottom[0];
    mw__net_cannot_read(r, unit, "a rate other than 0 is training");
    return NULL;
}

/* (x - min) / (max - min + epsilon) */
mw_tensor *mw__net_read_min_max(mw__net_reader *r, const mw__net_unit *unit, const mw__net_row *row)
{
    (void)row;
    mw_tensor *x = unit->bottom[0];
    const double epsilon = mw__net_half(unit->params, "Epsilon", 0);
    const int axis = mw__net_axis_called(r, unit, mw__net_string(unit->params, "Dimension"));
    if (axis < 0)
        return NULL;
    mw_tensor *low = mw_reduce_min(x, MW_AXES(axis), true), *high = mw_reduce_max(x, MW_AXES(axis), true);
    return mw_real_div(mw_sub(x, low), mw_add(mw_sub(high, low), number_tensor(r, epsilon)));
}

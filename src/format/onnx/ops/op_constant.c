/* Constants, and what shapes are computed with. */
#include "format/onnx/read/import.h"

#include <millwright/ops/elementwise.h>
#include <millwright/ops/shape.h>

#include <math.h>
#include <string.h>

/* Elements that lie in the message become a literal. */
static mw_status give_bytes(mw__onnx_node *node, int type, mw_shape shape, const void *data)
{
    mw__onnx_literal *literal = mw__arena_alloc(&node->import->arena, 1, sizeof *literal, node->import->err);
    if (literal == NULL)
        return MW_ERROR_MEMORY;
    *literal = (mw__onnx_literal){type, shape, (size_t)mw_shape_count(shape), data, NULL, 0};
    node->out[0] = (mw__onnx_value){.type = type, .shape = shape, .literal = literal};
    return MW_OK;
}

static mw_status give_tensor(mw__onnx_node *node, const Mw__Onnx__Tensor *tensor)
{
    char buffer[16];
    const int type = tensor->data_type;
    if (mw__onnx_dtype(type) == MW_DTYPE_NONE)
        return mw__onnx_refuse(node, "elements of %s", mw__onnx_type_name(type, buffer));
    const mw__onnx_literal *literal = mw__onnx_literal_of(node->import, tensor);
    if (literal == NULL)
        return node->import->err->status;
    if (!mw__onnx_is_whole_graph(node->import)) /* it may be read many times */
        MW_TRY(mw__onnx_charge(node->import, literal->count, mw__onnx_type_size(type)));
    /* Weights stand in such nodes, too; single numbers are none. */
    node->out[0] = (mw__onnx_value){.type = type,
                                    .shape = literal->shape,
                                    .literal = literal,
                                    .weight = mw__onnx_is_float(type) && literal->shape.rank > 0,
                                    .local = !mw__onnx_is_whole_graph(node->import),
                                    .source = tensor};
    return MW_OK;
}

mw_status mw__onnx_constant(mw__onnx_node *node)
{
    if (node->proto->n_attribute != 1 || node->out_count == 0)
        return mw__onnx_refuse(node, "it has not one value");
    const char *name = node->proto->attribute[0]->name;
    const Mw__Onnx__Attribute *value = mw__onnx_attribute(node, name);
    if (value == NULL)
        return mw__onnx_refuse(node, "it has no value");
    if (strcmp(name, "value") == 0)
        return value->t != NULL ? give_tensor(node, value->t) : mw__onnx_refuse(node, "its value is no tensor");
    if (strcmp(name, "value_int") == 0)
        return give_bytes(node, MW__ONNX_INT64, mw_shape_scalar(), &value->i);
    if (strcmp(name, "value_float") == 0)
        return give_bytes(node, MW__ONNX_FLOAT, mw_shape_scalar(), &value->f);
    if (strcmp(name, "value_ints") == 0)
        return give_bytes(node, MW__ONNX_INT64, MW_SHAPE((int64_t)value->n_ints), value->ints);
    return give_bytes(node, MW__ONNX_FLOAT, MW_SHAPE((int64_t)value->n_floats), value->floats);
}

/* The one element of the attribute `value`; float 0 without it. */
static mw_status read_value(mw__onnx_node *node, int *type, double *out)
{
    mw__onnx_literal literal;
    const Mw__Onnx__Attribute *value = mw__onnx_attribute(node, "value");
    *type = MW__ONNX_FLOAT;
    *out = 0;
    if (value == NULL)
        return MW_OK;
    if (value->t == NULL || mw__onnx_dtype(value->t->data_type) == MW_DTYPE_NONE)
        return mw__onnx_refuse(node, "its value is no tensor of numbers");
    MW_TRY(mw__onnx_literal_read(&node->import->source, value->t, &literal, node->import->err));
    if (literal.count != 1)
        return mw__onnx_refuse(node, "its value is not one number");
    *type = literal.type;
    *out = mw__onnx_literal_float(&literal, 0);
    return MW_OK;
}

static mw_status give_fill(mw__onnx_node *node, int type, mw_shape shape, double value)
{
    int64_t few[MW_RANK_MAX * MW_RANK_MAX];
    const int64_t count = mw_shape_count(shape), most = (int64_t)(sizeof few / sizeof *few);
    if (count < 0)
        return mw__onnx_refuse(node, "its shape is too large");
    if (mw__onnx_is_float(type) || count > most)
        return mw__onnx_set(node, 0, type, mw_fill(node->graph, mw__onnx_dtype(type), shape, value));
    for (int64_t i = 0; i < count; i++)
        few[i] = (int64_t)value;
    return mw__onnx_set_ints(node, 0, type, shape, few);
}

mw_status mw__onnx_constant_of_shape(mw__onnx_node *node)
{
    int type;
    double value;
    mw_shape shape = {0};
    size_t count;
    MW_TRY(mw__onnx_known_ints(node, 0, shape.dim, MW_RANK_MAX, &count));
    shape.rank = (int)count;
    for (size_t i = 0; i < count; i++)
        if (shape.dim[i] < 0)
            return mw__onnx_refuse(node, "extent %lld", (long long)shape.dim[i]);
    MW_TRY(read_value(node, &type, &value));
    return give_fill(node, type, shape, value);
}

static int64_t clamp(int64_t value, int64_t rank)
{
    value += value < 0 ? rank : 0;
    return value < 0 ? 0 : value > rank ? rank : value;
}

mw_status mw__onnx_shape_of(mw__onnx_node *node)
{
    const mw_shape x = mw__onnx_shape(node, 0);
    const int64_t start = clamp(mw__onnx_int(node, "start", 0), x.rank);
    const int64_t end = clamp(mw__onnx_int(node, "end", x.rank), x.rank);
    const int64_t count = end > start ? end - start : 0;
    return mw__onnx_set_ints(node, 0, MW__ONNX_INT64, MW_SHAPE(count), x.dim + start);
}

mw_status mw__onnx_size(mw__onnx_node *node)
{
    const int64_t count = mw_shape_count(mw__onnx_shape(node, 0));
    return mw__onnx_set_ints(node, 0, MW__ONNX_INT64, mw_shape_scalar(), &count);
}

mw_status mw__onnx_range(mw__onnx_node *node)
{
    double at[3];
    size_t count;
    const int type = mw__onnx_type(node, 0);
    for (size_t i = 0; i < 3; i++) {
        MW_TRY(mw__onnx_known_floats(node, i, &at[i], 1, &count));
        if (count != 1)
            return mw__onnx_refuse(node, "input %zu is not one number", i);
    }
    const double length = ceil((at[1] - at[0]) / at[2]);
    if (at[2] == 0 || !isfinite(length) || length > INT32_MAX)
        return mw__onnx_refuse(node, "a step of %g from %g to %g", at[2], at[0], at[1]);
    return mw__onnx_set(node, 0, type, mw_range_1d(node->graph, mw__onnx_dtype(type), at[0], at[1], at[2]));
}

/* Ones on a diagonal: where the row and the column that it crosses meet. */
mw_status mw__onnx_eye_like(mw__onnx_node *node)
{
    const mw_shape x = mw__onnx_shape(node, 0);
    const int64_t k = mw__onnx_int(node, "k", 0);
    const int type = mw__onnx_type_attribute(node, "dtype", mw__onnx_type(node, 0));
    char buffer[16];
    if (x.rank != 2 || k > INT32_MAX || k < -INT32_MAX)
        return mw__onnx_refuse(node, "rank %d, k = %lld", x.rank, (long long)k);
    if (mw__onnx_dtype(type) == MW_DTYPE_NONE)
        return mw__onnx_refuse(node, "elements of %s", mw__onnx_type_name(type, buffer));
    mw_tensor *ones = mw_fill(node->graph, MW_F32, x, 1);
    mw_tensor *below = mw_band_part(ones, -1, 0), *made; /* n <= m */
    if (k == 0) {
        made = mw_band_part(below, 0, -1);
    } else if (k > 0) { /* n - m <= k, without n - m <= k - 1 */
        made = mw_band_part(ones, -1, k);
        made = mw_sub(made, mw_band_part(ones, -1, k - 1));
    } else {
        made = mw_band_part(ones, -k, -1);
        made = mw_sub(made, mw_band_part(ones, -k - 1, -1));
    }
    return mw__onnx_set(node, 0, type, mw__onnx_to(made, mw__onnx_dtype(type)));
}

/* What operators ask of their node, and answer. */
#include "format/onnx/read/import.h"
#include "graph/ir/ir.h"

#include <millwright/ops/compare.h>
#include <millwright/ops/elementwise.h>
#include <millwright/ops/shape.h>

#include <stdlib.h>
#include <string.h>

/* ---- inputs ---- */

bool mw__onnx_has(const mw__onnx_node *node, size_t index) { return index < node->in_count && node->in[index] != NULL; }
int mw__onnx_type(const mw__onnx_node *node, size_t index) { return node->in[index]->type; }
mw_shape mw__onnx_shape(const mw__onnx_node *node, size_t index) { return node->in[index]->shape; }

mw_tensor *mw__onnx_in(mw__onnx_node *node, size_t index)
{
    return mw__onnx_has(node, index) ? mw__onnx_emit(node->import, node->in[index]) : NULL;
}

static const mw__onnx_literal *known(mw__onnx_node *node, size_t index, size_t capacity)
{
    const bool there = mw__onnx_has(node, index);
    const mw__onnx_literal *literal = there ? mw__onnx_computed(node->import, node->in[index]) : NULL;
    if (literal == NULL)
        mw__onnx_refuse(node, "input %zu must be known when the file is read, and is computed", index);
    else if (literal->count > capacity)
        mw__onnx_refuse(node, "input %zu has %zu elements, at most %zu are supported", index, literal->count, capacity);
    return literal != NULL && literal->count <= capacity ? literal : NULL;
}

mw_status mw__onnx_known_ints(mw__onnx_node *node, size_t index, int64_t *out, size_t capacity, size_t *out_count)
{
    const mw__onnx_literal *literal = known(node, index, capacity);
    *out_count = 0;
    if (literal == NULL)
        return MW_ERROR_UNSUPPORTED;
    if (mw__onnx_is_float(literal->type))
        return mw__onnx_refuse(node, "input %zu is not of integers", index);
    *out_count = literal->count;
    for (size_t i = 0; i < literal->count; i++)
        out[i] = mw__onnx_literal_int(literal, i);
    return MW_OK;
}

mw_status mw__onnx_known_floats(mw__onnx_node *node, size_t index, double *out, size_t capacity, size_t *out_count)
{
    const mw__onnx_literal *literal = known(node, index, capacity);
    *out_count = 0;
    if (literal == NULL)
        return MW_ERROR_UNSUPPORTED;
    *out_count = literal->count;
    for (size_t i = 0; i < literal->count; i++)
        out[i] = mw__onnx_literal_float(literal, i);
    return MW_OK;
}

/* ---- attributes ---- */

static const Mw__Onnx__Attribute *find_named(Mw__Onnx__Attribute *const *list, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (strcmp(list[i]->name, name) == 0)
            return list[i];
    return NULL;
}

/* In a function of the model an attribute may stand for one of the call, or for the default of the function. */
const Mw__Onnx__Attribute *mw__onnx_attribute(const mw__onnx_node *node, const char *name)
{
    const Mw__Onnx__Attribute *found = find_named(node->proto->attribute, node->proto->n_attribute, name);
    const mw__onnx_frame *frame = node->import->frame;
    for (; found != NULL && found->reference[0] != '\0' && frame != NULL; frame = frame->outer) {
        const char *wanted = found->reference;
        const Mw__Onnx__Function *function = frame->function;
        found = find_named(frame->call->attribute, frame->call->n_attribute, wanted);
        if (found == NULL)
            return find_named(function->attribute_proto, function->n_attribute_proto, wanted);
    }
    return found;
}

/* The attribute, if it is of that kind; files of the first versions do not say the kind. */
static const Mw__Onnx__Attribute *find_kind(mw__onnx_node *node, const char *name, int kind)
{
    const Mw__Onnx__Attribute *found = mw__onnx_attribute(node, name);
    if (found != NULL && found->type != 0 && found->type != kind)
        mw__onnx_refuse(node, "the attribute \"%s\" is of kind %d, not %d", name, (int)found->type, kind);
    return found;
}

int64_t mw__onnx_int(mw__onnx_node *node, const char *name, int64_t fallback)
{
    const Mw__Onnx__Attribute *found = find_kind(node, name, MW__ONNX_KIND_INT);
    if (found == NULL)
        return fallback;
    return found->number_case == MW__ONNX__ATTRIBUTE__NUMBER_I ? found->i : 0;
}

int mw__onnx_type_attribute(mw__onnx_node *node, const char *name, int fallback)
{
    const int64_t number = mw__onnx_int(node, name, fallback);
    return number > 0 && number <= INT32_MAX ? (int)number : -1;
}

double mw__onnx_float(mw__onnx_node *node, const char *name, double fallback)
{
    const Mw__Onnx__Attribute *found = find_kind(node, name, MW__ONNX_KIND_FLOAT);
    if (found == NULL)
        return fallback;
    return found->number_case == MW__ONNX__ATTRIBUTE__NUMBER_F ? (double)found->f : 0.0;
}

bool mw__onnx_is(mw__onnx_node *node, const char *name, const char *text)
{
    const Mw__Onnx__Attribute *found = find_kind(node, name, MW__ONNX_KIND_STRING);
    const size_t length = strlen(text);
    return found != NULL && found->s.len == length && (length == 0 || memcmp(found->s.data, text, length) == 0);
}

mw_status mw__onnx_ints(mw__onnx_node *node, const char *name, int64_t *out, size_t capacity, size_t *out_count)
{
    const Mw__Onnx__Attribute *found = find_kind(node, name, MW__ONNX_KIND_INTS);
    *out_count = 0;
    if (found == NULL)
        return MW_OK;
    if (found->n_ints > capacity)
        return mw__onnx_refuse(node, "%s has %zu numbers, at most %zu are supported", name, found->n_ints, capacity);
    *out_count = found->n_ints;
    if (found->n_ints > 0)
        memcpy(out, found->ints, found->n_ints * sizeof *out);
    return MW_OK;
}

mw_status mw__onnx_ints_or_input(mw__onnx_node *node, int64_t since, const char *name, size_t index, int64_t *out,
                                 size_t capacity, size_t *out_count)
{
    if (node->opset < since)
        return mw__onnx_ints(node, name, out, capacity, out_count);
    *out_count = 0;
    return mw__onnx_has(node, index) ? mw__onnx_known_ints(node, index, out, capacity, out_count) : MW_OK;
}

mw_status mw__onnx_axis(mw__onnx_node *node, int64_t axis, int rank, int *out)
{
    if (axis < -rank || axis >= rank)
        return mw__onnx_refuse(node, "axis %lld of a tensor of rank %d", (long long)axis, rank);
    *out = (int)(axis < 0 ? axis + rank : axis);
    return MW_OK;
}

/* ---- results ---- */

mw_status mw__onnx_set(mw__onnx_node *node, size_t index, int type, mw_tensor *x)
{
    if (x == NULL) {
        if (mw__failed(node->import->err))
            return node->import->err->status;
        if (node->graph->error.status != MW_OK)
            return node->graph->error.status;
        return mw__onnx_refuse(node, "an input that it needs is left out");
    }
    if (index < node->out_count)
        node->out[index] = (mw__onnx_value){.type = type, .shape = mw_tensor_shape(x), .tensor = x};
    return MW_OK;
}

mw_status mw__onnx_give(mw__onnx_node *node, mw_tensor *x) { return mw__onnx_set(node, 0, mw__onnx_type(node, 0), x); }

mw_status mw__onnx_set_ints(mw__onnx_node *node, size_t index, int type, mw_shape shape, const int64_t *values)
{
    mw__onnx_import *import = node->import;
    const size_t count = (size_t)mw_shape_count(shape), size = mw__onnx_type_size(type);
    mw__onnx_literal *literal = mw__arena_alloc(&import->arena, 1, sizeof *literal, import->err);
    uint8_t *data = mw__arena_alloc(&import->arena, count, size, import->err);
    if (literal == NULL || data == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < count; i++)
        memcpy(data + i * size, &values[i], size);
    *literal = (mw__onnx_literal){type, shape, count, data, NULL, 0};
    if (index < node->out_count)
        node->out[index] = (mw__onnx_value){.type = type, .shape = shape, .literal = literal};
    return MW_OK;
}

mw_status mw__onnx_set_same(mw__onnx_node *node, size_t index, size_t input)
{
    if (!mw__onnx_has(node, input))
        return mw__onnx_refuse(node, "input %zu is left out", input);
    /* Of a weight that is used under two names there is one constant. */
    if (node->in[input]->weight && mw__onnx_emit(node->import, node->in[input]) == NULL)
        return MW_ERROR_STATE;
    if (index < node->out_count) {
        node->out[index] = *node->in[input];
        node->out[index].weight = false;
    }
    return MW_OK;
}

/* ---- shared ---- */

mw_tensor *mw__onnx_to(mw_tensor *x, mw_dtype dtype)
{
    return x == NULL || mw_tensor_dtype(x) == dtype ? x : mw_cast(x, dtype);
}

mw_tensor *mw__onnx_wrap(mw_tensor *x, int type)
{
    int64_t low, high;
    mw__onnx_type_range(type, &low, &high);
    const double span = (double)high - (double)low + 1;
    if (x == NULL || !mw__onnx_is_integer(type) || span > 1 << 16)
        return x;
    mw_graph *graph = mw_tensor_graph(x);
    mw_tensor *shifted = low < 0 ? mw_add_scalar(x, -(double)low) : x;
    shifted = mw_mod(shifted, mw_scalar(graph, MW_I32, span));
    return low < 0 ? mw_add_scalar(shifted, (double)low) : shifted;
}

mw_tensor *mw__onnx_pad_rank(mw_tensor *x, int rank)
{
    const int have = x != NULL ? mw_tensor_shape(x).rank : rank;
    if (have >= rank)
        return x;
    mw_axes axes = {.count = rank - have};
    for (int i = 0; i < axes.count; i++)
        axes.axis[i] = i;
    return mw_expand_dims(x, axes);
}

mw_tensor *mw__onnx_constant_ints(mw_graph *graph, mw_shape shape, const int64_t *values)
{
    int32_t small[MW__ONNX_KNOWN_MAX / 8];
    const int64_t count = mw_shape_count(shape);
    if (count < 0 || (size_t)count > sizeof small / sizeof *small)
        return NULL;
    for (int64_t i = 0; i < count; i++)
        small[i] = (int32_t)values[i];
    return mw_constant(graph, MW_I32, shape, small);
}

mw_tensor *mw__onnx_constant_floats(mw_graph *graph, mw_dtype dtype, mw_shape shape, const double *values)
{
    float small[MW__ONNX_KNOWN_MAX / 8];
    const int64_t count = mw_shape_count(shape);
    if (count < 0 || (size_t)count > sizeof small / sizeof *small)
        return NULL;
    for (int64_t i = 0; i < count; i++)
        small[i] = (float)values[i];
    return mw__onnx_to(mw_constant(graph, MW_F32, shape, small), dtype);
}

static mw_tensor *wrap_indices(mw_tensor *x, int64_t extent)
{
    mw_tensor *zero = x != NULL ? mw_scalar(mw_tensor_graph(x), MW_I32, 0) : NULL;
    mw_tensor *negative = mw_less(x, zero);
    return mw_select(negative, mw_add_scalar(x, (double)extent), x);
}

mw_tensor *mw__onnx_indices(mw__onnx_node *node, size_t index, int64_t extent)
{
    int64_t values[MW__ONNX_KNOWN_MAX / 8];
    const mw__onnx_literal *literal = mw__onnx_known(node->import, node->in[index]);
    const size_t capacity = sizeof values / sizeof *values;
    if (literal == NULL || literal->count > capacity || mw__onnx_is_float(literal->type))
        return wrap_indices(mw__onnx_in(node, index), extent);
    for (size_t i = 0; i < literal->count; i++) {
        values[i] = mw__onnx_literal_int(literal, i);
        values[i] += values[i] < 0 ? extent : 0;
        if (values[i] < 0 || values[i] >= extent) {
            mw__onnx_refuse(node, "index %lld of an axis of %lld", (long long)mw__onnx_literal_int(literal, i),
                            (long long)extent);
            return NULL;
        }
    }
    return mw__onnx_constant_ints(node->graph, literal->shape, values);
}

mw_tensor *mw__onnx_expand(mw_tensor *x, mw_shape shape)
{
    x = mw__onnx_pad_rank(x, shape.rank);
    if (x == NULL)
        return NULL;
    const mw_shape have = mw_tensor_shape(x);
    mw_shape reps = shape;
    bool same = true;
    for (int i = 0; i < shape.rank; i++) {
        reps.dim[i] = have.dim[i] == shape.dim[i] ? 1 : shape.dim[i];
        same = same && reps.dim[i] == 1;
    }
    return same ? x : mw_tile(x, reps);
}

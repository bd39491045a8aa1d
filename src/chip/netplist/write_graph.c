/* What writers of operations use: values and their axes, new units, constants, weights. */
#include "chip/netplist/netplist.h"

#include "base/number/fp16.h"
#include "graph/constants/compressed.h"

#include <stdio.h>
#include <string.h>

enum { WEIGHT_ALIGNMENT = 64 };

void mw__net_cannot(mw__net_writer *w, const mw__op *op, const char *reason)
{
    const mw_tensor *result = op->result_count > 0 ? op->results[0] : NULL;
    const mw_netplist_problem problem = {
        .name = result != NULL && result->name != NULL ? result->name : "", .operation = op->kind, .reason = reason};
    if (w->problems < sizeof w->first / sizeof *w->first)
        snprintf(w->first[w->problems], sizeof *w->first, "%.60s \"%.60s\": %.100s", op->kind, problem.name, reason);
    w->problems++;
    if (w->options->report != NULL)
        w->options->report(w->options->report_user, &problem);
}

/* ---- values ---- */

mw__net_dims mw__net_dims_of(const mw__net_writer *w, mw_shape shape)
{
    mw__net_dims dims = {{1, 1, 1, 1, 1}};
    for (int i = 0; i < shape.rank; i++)
        dims.of[mw__net_axis(i, shape.rank, w->rank)] = shape.dim[i];
    return dims;
}

/* Elements of a constant as fp16: what is exact in it, and integers and booleans. */
static uint16_t *load_half(mw__net_writer *w, const mw__payload *payload, size_t count)
{
    uint16_t *out = mw__arena_alloc(&w->arena, count, sizeof *out, w->err);
    for (size_t i = 0; out != NULL && i < count; i++) {
        const mw_dtype dtype = payload->type->dtype;
        const double value =
            dtype == MW_F16 || dtype == MW_F32 ? mw__payload_float(payload, i) : (double)mw__payload_int(payload, i);
        out[i] = mw__fp16_from_double(value);
    }
    return out;
}

static bool write_constant(mw__net_writer *w, const mw__op *op, mw_tensor *value, mw__net_value *out)
{
    const mw__payload *payload = mw__constant_payload(value, w->err);
    if (payload == NULL || payload->data == NULL || value->type->kind != MW__TENSOR || value->type->shape.rank > 5) {
        if (!mw__failed(w->err))
            mw__net_cannot(w, op, "a constant without numbers, or of rank above 5");
        return false;
    }
    const uint16_t *data = load_half(w, payload, mw__payload_count(payload));
    if (data == NULL)
        return false;
    *out = mw__net_constant(w, "Float16", data, mw__net_dims_of(w, value->type->shape));
    w->values[value->id] = *out;
    return out->symbol != NULL;
}

bool mw__net_value_of(mw__net_writer *w, const mw__op *op, mw_tensor *value, mw__net_value *out)
{
    *out = w->values[value->id];
    if (mw__failed(w->err) || out->symbol != NULL)
        return !mw__failed(w->err);
    return mw__is_constant(value) && write_constant(w, op, value, out);
}

bool mw__net_operand(mw__net_writer *w, const mw__op *op, const char *argument, mw__net_value *out)
{
    mw_tensor *value = mw__arg(op, argument);
    *out = (mw__net_value){0};
    return value != NULL && mw__net_value_of(w, op, value, out);
}

void mw__net_result(mw__net_writer *w, const mw__op *op, size_t index, mw__net_value value)
{
    const mw__net_dims dims = mw__net_dims_of(w, op->results[index]->type->shape);
    if (value.symbol != NULL && !mw__net_dims_equal(dims, value.dims))
        value = mw__net_reshape(w, value, dims);
    w->values[op->results[index]->id] = value;
}

/* ---- entries of the network ---- */

static bool add_entry(mw__net_writer *w, const char *key, plist_t node)
{
    if (mw__grow(w->arena.allocator, &w->entries, &w->entry_capacity, w->entry_count + 1, sizeof *w->entries, w->err) !=
            MW_OK ||
        mw__map_set(&w->taken, key, w, w->err) != MW_OK) {
        plist_free(node);
        return false;
    }
    w->entries[w->entry_count++] = (mw__net_entry){key, node};
    return true;
}

/* "relu-3": of a lower-case stem, and like no symbol that is there. */
static const char *fresh(mw__net_writer *w, const char *stem)
{
    char name[64];
    do {
        snprintf(name, sizeof name, "%.40s-%zu", stem, ++w->made);
        for (char *c = name; *c != '\0'; c++)
            *c = *c >= 'A' && *c <= 'Z' ? (char)(*c - 'A' + 'a') : *c;
    } while (mw__map_get(&w->taken, name) != NULL);
    return mw__arena_string(&w->arena, name, strlen(name), w->err);
}

/* One entry for each unit that reads the input, as ANEForge has it. */
static void list_input(mw__net_writer *w, const char *symbol, const char *unit)
{
    const mw__net_value *input = mw__map_get(&w->inputs, symbol);
    if (input == NULL)
        return;
    plist_t entry = plist_new_dict();
    mw__net_set_int(entry, "BatchSize", input->dims.of[MW__NET_BATCH]);
    mw__net_set_int(entry, "InputChannels", input->dims.of[MW__NET_CHANNEL]);
    mw__net_set_int(entry, "InputDepth", input->dims.of[MW__NET_DEPTH]);
    mw__net_set_int(entry, "InputHeight", input->dims.of[MW__NET_HEIGHT]);
    mw__net_set_int(entry, "InputInterleave", 1);
    mw__net_set_string(entry, "InputName", symbol);
    mw__net_set_string(entry, "InputType", "Float16");
    mw__net_set_int(entry, "InputWidth", input->dims.of[MW__NET_WIDTH]);
    mw__net_set_string(entry, "Name", unit);
    mw__net_set_string(entry, "OperationName", "op0");
    plist_array_append_item(w->input_list, entry);
}

static void list_bottoms(mw__net_writer *w, plist_t unit, const char *name, const mw__net_value *bottoms, size_t count)
{
    plist_t list = plist_new_array(), types = plist_new_array();
    for (size_t i = 0; i < count; i++) {
        bool before = false;
        for (size_t k = 0; k < i; k++)
            before = before || strcmp(bottoms[k].symbol, bottoms[i].symbol) == 0;
        plist_array_append_item(list, plist_new_string(bottoms[i].symbol));
        plist_array_append_item(types, plist_new_string("Float16"));
        if (!before)
            list_input(w, bottoms[i].symbol, name);
    }
    plist_dict_set_item(unit, "Bottom", list);
    plist_dict_set_item(unit, "InputType", types);
}

mw__net_value mw__net_put(mw__net_writer *w, const char *type, plist_t params, const mw__net_value *bottoms,
                          size_t count, mw__net_dims dims)
{
    const char *name = mw__failed(w->err) ? NULL : fresh(w, type);
    plist_t unit = plist_new_dict();
    for (size_t i = 0; i < count; i++)
        name = bottoms[i].symbol != NULL ? name : NULL;
    if (name == NULL || !add_entry(w, name, unit)) {
        plist_free(params);
        if (name == NULL)
            plist_free(unit);
        return (mw__net_value){.symbol = NULL, .dims = dims};
    }
    list_bottoms(w, unit, name, bottoms, count);
    mw__net_set_string(unit, "Name", name);
    mw__net_set_int(unit, "OutputChannels", dims.of[MW__NET_CHANNEL]);
    mw__net_set_string(unit, "OutputType", "Float16");
    if (params != NULL)
        plist_dict_set_item(unit, "Params", params);
    mw__net_set_string(unit, "Type", type);
    plist_array_append_item(w->units, plist_new_string(name));
    return (mw__net_value){.symbol = name, .dims = dims};
}

plist_t mw__net_last(const mw__net_writer *w) { return w->entries[w->entry_count - 1].node; }

/* ---- common units ---- */

mw__net_value mw__net_neuron(mw__net_writer *w, const char *kind, mw__net_value x)
{
    plist_t params = plist_new_dict();
    mw__net_set_string(params, "Type", kind);
    return mw__net_put(w, "Neuron", params, &x, 1, x.dims);
}

mw__net_value mw__net_goc(mw__net_writer *w, mw__net_value x, double scale, double bias)
{
    plist_t params = plist_new_dict();
    if (bias != 0)
        mw__net_set_half(params, "BiasScalar", bias);
    if (scale != 1 || bias == 0)
        mw__net_set_half(params, "ScaleScalar", scale);
    return mw__net_put(w, "GOC", params, &x, 1, x.dims);
}

mw__net_value mw__net_binary(mw__net_writer *w, const char *kind, mw__net_value x, mw__net_value y)
{
    mw__net_dims dims = x.dims;
    for (int i = 0; i < MW__NET_AXES; i++)
        dims.of[i] = x.dims.of[i] == 1 ? y.dims.of[i] : x.dims.of[i];
    const mw__net_value both[] = {mw__net_broadcast(w, x, dims), mw__net_broadcast(w, y, dims)};
    plist_t params = plist_new_dict();
    mw__net_set_string(params, "Type", kind);
    return mw__net_put(w, "ElementWise", params, both, 2, dims);
}

mw__net_value mw__net_broadcast(mw__net_writer *w, mw__net_value x, mw__net_dims dims)
{
    if (mw__net_dims_equal(x.dims, dims))
        return x;
    plist_t params = plist_new_dict(), list = plist_new_array();
    for (int i = 0; i < MW__NET_AXES; i++)
        if (x.dims.of[i] != dims.of[i]) {
            plist_t entry = plist_new_dict();
            mw__net_set_string(entry, "Dimension", mw__net_axis_names[i]);
            mw__net_set_int(entry, "Size", dims.of[i]);
            plist_array_append_item(list, entry);
        }
    plist_dict_set_item(params, "BroadcastInfo", list);
    return mw__net_put(w, "Broadcast", params, &x, 1, dims);
}

mw__net_value mw__net_transpose(mw__net_writer *w, mw__net_value x, const int from[MW__NET_AXES])
{
    plist_t params = plist_new_dict(), list = plist_new_array();
    mw__net_dims dims;
    bool moves = false;
    for (int i = 0; i < MW__NET_AXES; i++) {
        dims.of[i] = x.dims.of[from[i]];
        if (from[i] == i)
            continue;
        plist_t entry = plist_new_dict();
        mw__net_set_string(entry, "TransposeDestinationDimension", mw__net_axis_names[i]);
        mw__net_set_string(entry, "TransposeSourceDimension", mw__net_axis_names[from[i]]);
        plist_array_append_item(list, entry);
        moves = true;
    }
    plist_dict_set_item(params, "TransposeDimensions", list);
    if (moves)
        return mw__net_put(w, "Transpose", params, &x, 1, dims);
    plist_free(params);
    return x;
}

mw__net_value mw__net_swap(mw__net_writer *w, mw__net_value x, int a, int b)
{
    int from[MW__NET_AXES] = {0, 1, 2, 3, 4};
    from[a] = b;
    from[b] = a;
    return mw__net_transpose(w, x, from);
}

mw__net_value mw__net_reshape(mw__net_writer *w, mw__net_value x, mw__net_dims dims)
{
    if (mw__net_dims_equal(x.dims, dims))
        return x;
    plist_t params = plist_new_dict();
    mw__net_set_int(params, "ReshapedBatch", dims.of[MW__NET_BATCH]);
    mw__net_set_int(params, "ReshapedChannel", dims.of[MW__NET_CHANNEL]);
    if (w->rank == 5)
        mw__net_set_int(params, "ReshapedDepth", dims.of[MW__NET_DEPTH]);
    mw__net_set_int(params, "ReshapedHeight", dims.of[MW__NET_HEIGHT]);
    mw__net_set_int(params, "ReshapedWidth", dims.of[MW__NET_WIDTH]);
    return mw__net_put(w, "Reshape", params, &x, 1, dims);
}

mw__net_value mw__net_view(mw__net_writer *w, mw__net_value x, int axis, int64_t offset, int64_t size)
{
    if (offset == 0 && size == x.dims.of[axis])
        return x;
    plist_t params = plist_new_dict();
    mw__net_dims dims = x.dims;
    dims.of[axis] = size;
    mw__net_set_string(params, "Dimension", mw__net_axis_names[axis]);
    mw__net_set_int(params, "Offset", offset);
    mw__net_set_int(params, "Size", size);
    return mw__net_put(w, "InputView", params, &x, 1, dims);
}

/* ---- weights ---- */

size_t mw__net_weights(mw__net_writer *w, const void *data, size_t size)
{
    while (w->weights.size % WEIGHT_ALIGNMENT != 0 && !w->weights.failed)
        mw__text_append(&w->weights, "\0", 1);
    const size_t at = w->weights.size;
    mw__text_append(&w->weights, data, size);
    mw__text_check(&w->weights, w->err);
    return at;
}

mw__net_value mw__net_constant(mw__net_writer *w, const char *type, const void *data, mw__net_dims dims)
{
    static const char *const keys[MW__NET_AXES] = {"ConstantBatchSize", "ConstantChannels", "ConstantDepth",
                                                   "ConstantHeight", "ConstantWidth"};
    size_t count = 1;
    for (int i = 0; i < MW__NET_AXES; i++)
        count *= (size_t)dims.of[i];
    const size_t at = mw__net_weights(w, data, 2 * count);
    const char *name = mw__failed(w->err) ? NULL : fresh(w, "constant");
    plist_t entry = plist_new_dict();
    if (name == NULL || !add_entry(w, name, entry)) {
        if (name == NULL)
            plist_free(entry);
        return (mw__net_value){0};
    }
    for (int i = 0; i < MW__NET_AXES; i++)
        mw__net_set_int(entry, keys[i], dims.of[i]);
    mw__net_set_int(entry, "ConstantByteOffset", (int64_t)at);
    mw__net_set_int(entry, "ConstantIndex", 1);
    mw__net_set_int(entry, "ConstantInterleave", 1);
    mw__net_set_string(entry, "ConstantName", name);
    mw__net_set_string(entry, "ConstantType", type);
    plist_array_append_item(w->constants, plist_new_string(name));
    return (mw__net_value){.symbol = name, .dims = dims};
}

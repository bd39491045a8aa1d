/* Names, constants, nodes and attributes of a model that is written. */
#include "format/onnx/write/write.h"
#include "graph/constants/compressed.h"

#include <stdio.h>
#include <string.h>

void *mw__onnx_alloc(mw__onnx_writer *w, size_t count, size_t size)
{
    return mw__arena_alloc(&w->arena, count > 0 ? count : 1, size, w->err);
}

void *mw__onnx_table(mw__onnx_writer *w, const mw__op *op, int64_t count, size_t size)
{
    const size_t most = (size_t)64 << 20;
    if (count < 0 || (uint64_t)count > (most - w->tables) / size) {
        mw__onnx_cannot(w, op, "it takes a table of more than 64 MiB in the file");
        return NULL;
    }
    w->tables += (size_t)count * size;
    return mw__onnx_alloc(w, (size_t)count, size);
}

char *mw__onnx_text(mw__onnx_writer *w, const char *text)
{
    return mw__arena_string(&w->arena, text, strlen(text), w->err);
}

const char *mw__onnx_fresh(mw__onnx_writer *w)
{
    const size_t size = strlen(w->prefix) + 24;
    char *name = mw__onnx_alloc(w, size, 1);
    if (name != NULL)
        snprintf(name, size, "%s%zu", w->prefix, w->made++);
    return name;
}

static bool append_item(mw__onnx_writer *w, mw__onnx_list *list, void *item)
{
    if (item == NULL)
        return false;
    if (list->count == list->capacity) {
        const size_t capacity = list->capacity > 0 ? 2 * list->capacity : 64;
        void **items = mw__onnx_alloc(w, capacity, sizeof *items);
        if (items == NULL)
            return false;
        if (list->count > 0)
            memcpy(items, list->items, list->count * sizeof *items);
        list->items = items;
        list->capacity = capacity;
    }
    list->items[list->count++] = item;
    return true;
}

/* ---- constants ---- */

int mw__onnx_type_of(mw_dtype dtype)
{
    static const struct {
        mw_dtype dtype;
        int type;
    } types[] = {{MW_F32, 1}, {MW_U8, 2},   {MW_I8, 3},   {MW_U16, 4},  {MW_I16, 5}, {MW_I32, 6},
                 {MW_I64, 7}, {MW_BOOL, 9}, {MW_F16, 10}, {MW_F64, 11}, {MW_U32, 12}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].dtype == dtype)
            return types[i].type;
    return 0;
}

/* One element that stands for all of a constant: a short file may ask for equal elements without end. */
static bool may_repeat(mw__onnx_writer *w, size_t size)
{
    const size_t most = (size_t)256 << 20;
    if (size > most - w->repeated) {
        mw__fail(w->err, MW_ERROR_UNSUPPORTED,
                 "ONNX: a constant of equal elements would have %zu bytes in the file; such constants "
                 "get 256 MiB "
                 "in all: make it in the program (fill)",
                 size);
        return false;
    }
    w->repeated += size;
    return true;
}

static const void *elements(mw__onnx_writer *w, const mw__payload *payload, size_t size)
{
    if (!payload->splat || size == 0)
        return payload->data;
    char *data = may_repeat(w, size) ? mw__onnx_alloc(w, size, 1) : NULL;
    for (size_t i = 0; data != NULL && i + payload->size <= size; i += payload->size)
        memcpy(data + i, payload->data, payload->size);
    return data;
}

/* protobuf's own bound is 2 GB for a message; the rest of it gets 64 MiB. */
static bool fits_message(mw__onnx_writer *w, uint64_t size)
{
    w->bytes += size;
    if (w->bytes <= (uint64_t)INT32_MAX - ((uint64_t)64 << 20))
        return true;
    mw__fail(w->err, MW_ERROR_UNSUPPORTED,
             "ONNX: the constants have 2 GB or more, which a file of ONNX cannot hold; write MIL "
             "(a path without .onnx), or make the large ones fp16");
    return false;
}

const char *mw__onnx_initializer(mw__onnx_writer *w, const char *name, const mw__payload *payload)
{
    size_t size = 0;
    const int type = payload->type->kind == MW__TENSOR ? mw__onnx_type_of(payload->type->dtype) : 0;
    if (type == 0 || !mw__type_bytes(payload->type, &size) || (payload->data == NULL && size > 0)) {
        mw__fail(w->err, MW_ERROR_UNSUPPORTED, "ONNX: constant \"%.96s\" has no values that ONNX can hold",
                 name != NULL ? name : "");
        return NULL;
    }
    const mw_shape shape = payload->type->shape;
    pb_onnx_tensor *tensor = fits_message(w, size) ? mw__onnx_alloc(w, 1, sizeof *tensor) : NULL;
    if (tensor == NULL || name == NULL)
        return NULL;
    mw__onnx__tensor__init(tensor);
    tensor->name = mw__onnx_text(w, name);
    tensor->data_type = type;
    tensor->n_dims = (size_t)shape.rank;
    tensor->dims = mw__onnx_alloc(w, MW_RANK_MAX, sizeof *tensor->dims);
    if (!w->options->check_only) {
        tensor->raw_data.len = size;
        tensor->raw_data.data = (uint8_t *)(uintptr_t)elements(w, payload, size);
    }
    if (mw__failed(w->err))
        return NULL;
    if (tensor->name == NULL || tensor->dims == NULL || !append_item(w, &w->initializers, tensor))
        return NULL;
    for (int i = 0; i < shape.rank; i++)
        tensor->dims[i] = shape.dim[i];
    return tensor->name;
}

const char *mw__onnx_tensor(mw__onnx_writer *w, mw_dtype dtype, mw_shape shape, const void *data)
{
    mw__type *type = mw__onnx_alloc(w, 1, sizeof *type);
    size_t size = 0;
    if (type == NULL)
        return NULL;
    *type = (mw__type){.kind = MW__TENSOR, .dtype = dtype, .shape = shape};
    void *kept = mw__type_bytes(type, &size) ? mw__onnx_alloc(w, size, 1) : NULL;
    if (kept == NULL)
        return NULL;
    if (size > 0)
        memcpy(kept, data, size);
    const mw__payload payload = {.type = type, .data = kept, .size = size};
    return mw__onnx_initializer(w, mw__onnx_fresh(w), &payload);
}

const char *mw__onnx_number(mw__onnx_writer *w, mw_dtype dtype, double value)
{
    const mw_shape scalar = {0};
    const float single = (float)value;
    const int32_t whole = dtype == MW_I32 ? (int32_t)value : 0;
    const int64_t wide = dtype == MW_I64 ? (int64_t)value : 0;
    if (dtype == MW_F32)
        return mw__onnx_tensor(w, dtype, scalar, &single);
    if (dtype == MW_I32)
        return mw__onnx_tensor(w, dtype, scalar, &whole);
    if (dtype == MW_I64)
        return mw__onnx_tensor(w, dtype, scalar, &wide);
    const char *one = mw__onnx_tensor(w, MW_F32, scalar, &single);
    return mw__onnx_cast_to(w, NULL, one, dtype);
}

const char *mw__onnx_longs(mw__onnx_writer *w, const int64_t *values, size_t count)
{
    const mw_shape shape = {.rank = 1, .dim = {(int64_t)count}};
    return mw__onnx_tensor(w, MW_I64, shape, values);
}

/* What a constant is written with: the caller's values, or its own. */
static const void *given_values(const mw__onnx_writer *w, const mw_tensor *value)
{
    const mw_write_options *options = w->options;
    const mw_dtype dtype = value->type->kind == MW__TENSOR ? value->type->dtype : MW_DTYPE_NONE;
    const bool nested = value->op != NULL && value->op->block->owner != NULL;
    if (value->name == NULL || (nested && mw_graph_find(w->graph, value->name) != NULL))
        return NULL;
    if (mw__is_resident(value))
        return options->bake != NULL ? options->bake(options->bake_user, value->name) : NULL;
    return options->replace != NULL && (dtype == MW_F16 || dtype == MW_F32)
               ? options->replace(options->replace_user, value->name)
               : NULL;
}

const mw__payload *mw__onnx_payload(mw__onnx_writer *w, const mw_tensor *value)
{
    static const uint8_t nothing[16];
    const bool check_only = w->options->check_only;
    const void *data = given_values(w, value);
    size_t size;
    if (data == NULL && (mw__is_resident(value) || !check_only))
        return mw__is_constant(value) ? mw__constant_payload(value, w->err) : NULL;
    mw__payload *payload = mw__type_bytes(value->type, &size) ? mw__onnx_alloc(w, 1, sizeof *payload) : NULL;
    if (payload == NULL)
        return NULL;
    *payload = (mw__payload){.type = value->type, .data = data, .size = size};
    if (check_only && data == NULL && value->payload != NULL && value->payload->splat && !may_repeat(w, size))
        return NULL;
    if (check_only) /* the type will do */
        *payload = (mw__payload){.type = value->type, .data = nothing, .size = sizeof(float), .splat = true};
    return payload;
}

/* A parameter with the caller's values, which has its name already. */
static const char *bake(mw__onnx_writer *w, const mw_tensor *value)
{
    const mw__payload *payload = mw__onnx_payload(w, value);
    if (payload == NULL) {
        mw__fail(w->err, MW_ERROR_ARGUMENT, "ONNX: parameter \"%.96s\" has no value; options.bake gives it",
                 value->name);
        return NULL;
    }
    w->baked[value->id] = true;
    return mw__onnx_initializer(w, w->names[value->id], payload);
}

const char *mw__onnx_name_of(mw__onnx_writer *w, mw_tensor *value)
{
    if (mw__is_resident(value) && !w->baked[value->id])
        return bake(w, value);
    if (w->names[value->id] != NULL || !mw__is_constant(value))
        return w->names[value->id];
    const mw__payload *payload = mw__onnx_payload(w, value);
    if (payload == NULL && mw__failed(w->err))
        return NULL;
    if (payload == NULL) {
        mw__fail(w->err, MW_ERROR_UNSUPPORTED, "ONNX: constant \"%.96s\" is not loaded",
                 value->name != NULL ? value->name : "");
        return NULL;
    }
    const bool named = value->name != NULL && mw__map_get(&w->taken, value->name) == NULL;
    const char *name = named ? value->name : mw__onnx_fresh(w);
    if (named && mw__map_set(&w->taken, value->name, value, w->err) != MW_OK)
        return NULL;
    w->names[value->id] = mw__onnx_initializer(w, name, payload);
    return w->names[value->id];
}

const char *mw__onnx_operand(mw__onnx_writer *w, const mw__op *op, const char *argument)
{
    mw_tensor *value = mw__arg_present(op, argument) ? mw__arg(op, argument) : NULL;
    return value != NULL ? mw__onnx_name_of(w, value) : NULL;
}

const char *mw__onnx_result(const mw__onnx_writer *w, const mw__op *op, size_t index)
{
    return w->names[op->results[index]->id];
}

/* ---- nodes ---- */

pb_node *mw__onnx_node_of(mw__onnx_writer *w, const char *operation, const char *out, const char *const *in,
                          size_t count)
{
    pb_node *node = mw__onnx_alloc(w, 1, sizeof *node);
    if (node == NULL)
        return NULL;
    mw__onnx__node__init(node);
    node->op_type = mw__onnx_text(w, operation);
    node->input = mw__onnx_alloc(w, count, sizeof *node->input);
    if (node->op_type == NULL || node->input == NULL)
        return NULL;
    for (size_t i = 0; i < count && in[i] != NULL; i++)
        if ((node->input[node->n_input++] = mw__onnx_text(w, in[i])) == NULL)
            return NULL;
    mw__onnx_put_result(w, node, out != NULL ? out : mw__onnx_fresh(w));
    return append_item(w, &w->nodes, node) ? node : NULL;
}

const char *mw__onnx_make(mw__onnx_writer *w, const char *operation, const char *out, const char *a, const char *b)
{
    return mw__onnx_name(mw__onnx_node_of(w, operation, out, (const char *const[]){a, b}, 2));
}

void mw__onnx_put_result(mw__onnx_writer *w, pb_node *node, const char *name)
{
    if (node == NULL || name == NULL)
        return;
    char **results = mw__onnx_alloc(w, node->n_output + 1, sizeof *results);
    if (results == NULL)
        return;
    for (size_t i = 0; i < node->n_output; i++)
        results[i] = node->output[i];
    results[node->n_output] = mw__onnx_text(w, name);
    node->output = results;
    node->n_output += results[node->n_output] != NULL;
}

const char *mw__onnx_name(const pb_node *node) { return node != NULL && node->n_output > 0 ? node->output[0] : NULL; }

/* ---- attributes ---- */

static Mw__Onnx__Attribute *put_attribute(mw__onnx_writer *w, pb_node *node, const char *name, int type)
{
    Mw__Onnx__Attribute *made = node != NULL ? mw__onnx_alloc(w, 1, sizeof *made) : NULL;
    Mw__Onnx__Attribute **all = made != NULL ? mw__onnx_alloc(w, node->n_attribute + 1, sizeof *all) : NULL;
    if (all == NULL)
        return NULL;
    mw__onnx__attribute__init(made);
    made->name = mw__onnx_text(w, name);
    made->type = type;
    if (made->name == NULL)
        return NULL;
    for (size_t i = 0; i < node->n_attribute; i++)
        all[i] = node->attribute[i];
    all[node->n_attribute++] = made;
    node->attribute = all;
    return made;
}

void mw__onnx_put_int(mw__onnx_writer *w, pb_node *node, const char *name, int64_t value)
{
    Mw__Onnx__Attribute *made = put_attribute(w, node, name, 2);
    if (made == NULL)
        return;
    made->number_case = MW__ONNX__ATTRIBUTE__NUMBER_I;
    made->i = value;
}

void mw__onnx_put_float(mw__onnx_writer *w, pb_node *node, const char *name, double value)
{
    Mw__Onnx__Attribute *made = put_attribute(w, node, name, 1);
    if (made == NULL)
        return;
    made->number_case = MW__ONNX__ATTRIBUTE__NUMBER_F;
    made->f = (float)value;
}

void mw__onnx_put_ints(mw__onnx_writer *w, pb_node *node, const char *name, const int64_t *values, size_t count)
{
    Mw__Onnx__Attribute *made = put_attribute(w, node, name, 7);
    if (made == NULL || (made->ints = mw__onnx_alloc(w, count, sizeof *made->ints)) == NULL)
        return;
    for (size_t i = 0; i < count; i++)
        made->ints[i] = values[i];
    made->n_ints = count;
}

void mw__onnx_put_text(mw__onnx_writer *w, pb_node *node, const char *name, const char *text)
{
    Mw__Onnx__Attribute *made = put_attribute(w, node, name, 3);
    if (made == NULL || (made->s.data = (uint8_t *)mw__onnx_text(w, text)) == NULL)
        return;
    made->s.len = strlen(text);
}

void mw__onnx_put_floats(mw__onnx_writer *w, pb_node *node, const char *name, const double *values, size_t count)
{
    Mw__Onnx__Attribute *made = put_attribute(w, node, name, 6);
    if (made == NULL || (made->floats = mw__onnx_alloc(w, count, sizeof *made->floats)) == NULL)
        return;
    for (size_t i = 0; i < count; i++)
        made->floats[i] = (float)values[i];
    made->n_floats = count;
}

void mw__onnx_put_texts(mw__onnx_writer *w, pb_node *node, const char *name, const char *const *texts, size_t count)
{
    Mw__Onnx__Attribute *made = put_attribute(w, node, name, 8);
    if (made == NULL || (made->strings = mw__onnx_alloc(w, count, sizeof *made->strings)) == NULL)
        return;
    for (size_t i = 0; i < count; i++) {
        if ((made->strings[i].data = (uint8_t *)mw__onnx_text(w, texts[i])) == NULL)
            return;
        made->strings[i].len = strlen(texts[i]);
        made->n_strings++;
    }
}

void mw__onnx_put_graph(mw__onnx_writer *w, pb_node *node, const char *name, Mw__Onnx__Graph *graph)
{
    Mw__Onnx__Attribute *made = put_attribute(w, node, name, 5);
    if (made != NULL)
        made->g = graph;
}

/* ---- common nodes ---- */

const char *mw__onnx_cast_to(mw__onnx_writer *w, const char *out, const char *x, mw_dtype dtype)
{
    pb_node *node = mw__onnx_node_of(w, "Cast", out, &x, 1);
    mw__onnx_put_int(w, node, "to", mw__onnx_type_of(dtype));
    return mw__onnx_name(node);
}

const char *mw__onnx_reshape_to(mw__onnx_writer *w, const mw__op *op, const char *out, const char *x, mw_shape shape)
{
    int unknown = 0, zeros = 0;
    for (int i = 0; i < shape.rank; i++) {
        zeros += shape.dim[i] == 0;
        unknown += shape.dim[i] < 0;
        shape.dim[i] = shape.dim[i] < 0 ? -1 : shape.dim[i];
    }
    if (unknown > 1 || (unknown > 0 && zeros > 0))
        mw__onnx_cannot(w, op, "more than one extent of its shape is not known");
    const char *const in[] = {x, mw__onnx_longs(w, shape.dim, (size_t)shape.rank)};
    pb_node *node = mw__onnx_node_of(w, "Reshape", out, in, 2);
    if (zeros > 0)
        mw__onnx_put_int(w, node, "allowzero", 1);
    return mw__onnx_name(node);
}

const char *mw__onnx_transpose_to(mw__onnx_writer *w, const char *out, const char *x, const int64_t *perm, int rank)
{
    pb_node *node = mw__onnx_node_of(w, "Transpose", out, &x, 1);
    mw__onnx_put_ints(w, node, "perm", perm, (size_t)rank);
    return mw__onnx_name(node);
}

const char *mw__onnx_swap_axes(mw__onnx_writer *w, const char *out, const char *x, int rank, int a, int b)
{
    int64_t perm[MW_RANK_MAX];
    for (int i = 0; i < rank; i++)
        perm[i] = i == a ? b : i == b ? a : i;
    return mw__onnx_transpose_to(w, out, x, perm, rank);
}

const char *mw__onnx_slice_to(mw__onnx_writer *w, const char *out, const char *x, const mw__onnx_slices *s)
{
    int64_t axes[MW_RANK_MAX];
    for (size_t i = 0; i < s->count; i++)
        axes[i] = (int64_t)i;
    const char *const in[] = {x, mw__onnx_longs(w, s->begin, s->count), mw__onnx_longs(w, s->end, s->count),
                              mw__onnx_longs(w, axes, s->count), mw__onnx_longs(w, s->step, s->count)};
    return mw__onnx_name(mw__onnx_node_of(w, "Slice", out, in, 5));
}

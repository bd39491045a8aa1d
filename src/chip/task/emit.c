/* A graph of one operation as what the encoder takes: shapes as channels, height and width, constants as fp16. */
#include "chip/task/emit.h"

#include "graph/constants/compressed.h"
#include "graph/geometry/window.h"
#include "graph/ir/ir.h"

#include <string.h>

typedef struct reader {
    const mw__function *function;
    mw__emit_source *source;
    mw__emit_operation *op; /* of the source */
    mw_error *err;
} reader;

/* ---- shapes ---- */

static mw_status refuse_operation(const reader *r, const char *operation, const char *why)
{
    return mw__fail(
        r->err, MW_ERROR_UNSUPPORTED,
        "%s: %s; a program of one task is relu, sigmoid, add, sub, mul, maximum, minimum or concat of two inputs, or a "
        "linear or conv with constant weights",
        operation, why);
}

/* [1, C, H, W], or its last axes. */
static mw_status read_extent(const reader *r, const mw_tensor *value, mw__emit_extent *out)
{
    const mw_shape s = value->type->shape;
    const char *name = mw__names_get(&r->source->names, value);
    int64_t last[3] = {1, 1, 1};
    if (value->type->kind != MW__TENSOR || value->type->dtype != MW_F16)
        return mw__fail(r->err, MW_ERROR_DTYPE, "\"%s\" is %s; the engine's ports are fp16: cast it before", name,
                        value->type->kind == MW__TENSOR ? mw_dtype_name(value->type->dtype) : "no tensor");
    if (s.rank > 4 || (s.rank == 4 && s.dim[0] != 1))
        return mw__fail(r->err, MW_ERROR_UNSUPPORTED, "\"%s\": a port of one task is [1, C, H, W] or fewer axes", name);
    for (int i = 0; i < s.rank && i < 3; i++) {
        last[2 - i] = s.dim[s.rank - 1 - i];
        if (last[2 - i] < 1)
            return mw__fail(r->err, MW_ERROR_SHAPE, "\"%s\" has an axis that is empty or not known", name);
    }
    *out = (mw__emit_extent){last[0], last[1], last[2]};
    return MW_OK;
}

/* A vector is channels of one pixel: x of a linear. */
static mw_status read_vector(const reader *r, const mw_tensor *value, mw__emit_extent *out)
{
    mw__emit_extent e;
    MW_TRY(read_extent(r, value, &e));
    if (e.c != 1 || e.h != 1)
        return refuse_operation(r, "linear", "x has more than one row");
    *out = (mw__emit_extent){e.w, 1, 1};
    return MW_OK;
}

/* ---- ports ---- */

static mw_status read_ports(reader *r, const mw__op *op, const mw__op *last,
                            mw_status (*read)(const reader *, const mw_tensor *, mw__emit_extent *))
{
    const mw__block *body = r->function->body;
    if (body->input_count > MW__EMIT_INPUTS || body->output_count != 1 || body->outputs[0] != last->results[0])
        return refuse_operation(r, op->row->name, "the function has other inputs or outputs than it");
    r->op->input_count = (int)body->input_count;
    for (size_t i = 0; i < body->input_count; i++) {
        r->op->inputs[i].name = mw__names_get(&r->source->names, body->inputs[i]);
        MW_TRY(read(r, body->inputs[i], &r->op->inputs[i].extent));
    }
    r->op->output.name = mw__names_get(&r->source->names, last->results[0]);
    return read(r, last->results[0], &r->op->output.extent);
}

static int port_of(const reader *r, const mw_tensor *value)
{
    for (size_t i = 0; i < r->function->body->input_count; i++)
        if (r->function->body->inputs[i] == value)
            return (int)i;
    return -1;
}

static mw_status read_one(reader *r, const mw__op *op, const mw__op *last)
{
    if (r->function->body->input_count != 1 || port_of(r, mw__arg(op, "x")) != 0)
        return refuse_operation(r, op->row->name, "x is not the one input");
    return read_ports(r, op, last, read_extent);
}

static mw_status read_relu(reader *r, const mw__op *op, const mw__op *last)
{
    r->op->kind = MW__EMIT_RELU;
    return read_one(r, op, last);
}

static mw_status read_sigmoid(reader *r, const mw__op *op, const mw__op *last)
{
    r->op->kind = MW__EMIT_TABLE;
    return read_one(r, op, last);
}

/* ---- two operands ---- */

static mw_status read_two(reader *r, const mw__op *op, const mw__op *last)
{
    const int x = port_of(r, mw__arg(op, "x")), y = port_of(r, mw__arg(op, "y"));
    r->op->kind = MW__EMIT_PLANAR;
    if (r->function->body->input_count != 2 || x < 0 || y < 0 || x == y)
        return refuse_operation(r, op->row->name, "x and y are not the two inputs");
    MW_TRY(read_ports(r, op, last, read_extent));
    r->op->first = x;
    if (memcmp(&r->op->inputs[0].extent, &r->op->inputs[1].extent, sizeof r->op->output.extent) != 0)
        return refuse_operation(r, op->row->name, "x and y have different shapes");
    return MW_OK;
}

static mw_status read_add(reader *r, const mw__op *op, const mw__op *last) { return read_two(r, op, last); }

static mw_status read_sub(reader *r, const mw__op *op, const mw__op *last)
{
    r->op->negative = true;
    return read_two(r, op, last);
}

static mw_status read_planar(reader *r, const mw__op *op, const mw__op *last, unsigned what)
{
    r->op->planar = what;
    return read_two(r, op, last);
}

static mw_status read_mul(reader *r, const mw__op *op, const mw__op *last) { return read_planar(r, op, last, 1); }
static mw_status read_maximum(reader *r, const mw__op *op, const mw__op *last) { return read_planar(r, op, last, 2); }
static mw_status read_minimum(reader *r, const mw__op *op, const mw__op *last) { return read_planar(r, op, last, 3); }

/* ---- concat ---- */

static mw_status check_parts(const reader *r, const mw__op *op)
{
    const mw__emit_extent *a = &r->op->inputs[0].extent, *b = &r->op->inputs[1].extent, *y = &r->op->output.extent;
    const int rank = mw_tensor_shape(op->results[0]).rank;
    int64_t axis = 0;
    bool interleave = true;
    if (!mw__arg_int(op, "axis", &axis) || !mw__arg_bool(op, "interleave", &interleave) || interleave || rank < 3 ||
        (axis < 0 ? axis + rank : axis) != rank - 3)
        return refuse_operation(r, op->row->name, "not of channels, or interleaved");
    if (a->h != y->h || b->h != y->h || a->w != y->w || b->w != y->w || a->c + b->c != y->c)
        return refuse_operation(r, op->row->name, "parts of other heights or widths");
    return MW_OK;
}

static mw_status read_concat(reader *r, const mw__op *op, const mw__op *last)
{
    const mw__operand *values = NULL;
    const size_t count = mw__arg_values(op, "values", &values);
    r->op->kind = MW__EMIT_CONCAT;
    if (r->function->body->input_count != MW__EMIT_INPUTS || count != MW__EMIT_INPUTS)
        return refuse_operation(r, op->row->name, "not of the two inputs");
    const int first = port_of(r, values[0].value), second = port_of(r, values[1].value);
    if (first < 0 || second < 0 || first == second)
        return refuse_operation(r, op->row->name, "not of the two inputs");
    MW_TRY(read_ports(r, op, last, read_extent));
    r->op->first = first;
    return check_parts(r, op);
}

/* ---- products ---- */

/* All numbers of a constant. */
static const uint16_t *read_constant(reader *r, const mw_tensor *value, size_t *out_count)
{
    const mw__payload *payload = mw__constant_payload(value, r->err);
    if (mw__failed(r->err))
        return NULL;
    if (payload == NULL || payload->data == NULL || payload->type->dtype != MW_F16) {
        refuse_operation(r, mw__names_get(&r->source->names, value), "not a constant of fp16 whose numbers are here");
        return NULL;
    }
    *out_count = mw__payload_count(payload);
    if (!payload->splat)
        return payload->data;
    uint16_t *all = mw__arena_alloc(&r->source->arena, *out_count, sizeof *all, r->err);
    for (size_t i = 0; all != NULL && i < *out_count; i++)
        memcpy(&all[i], payload->data, sizeof *all);
    return all;
}

static bool is_nothing(const uint16_t *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (numbers[i] != 0)
            return false;
    return true;
}

/* A bias of zeros is none: a linear of MIL always has one. */
static mw_status read_weights(reader *r, const mw__op *op)
{
    const int64_t rows = r->op->inputs[0].extent.c * r->op->kernel_h * r->op->kernel_w;
    const mw_tensor *bias = mw__arg(op, "bias");
    size_t count = 0;
    r->op->weights = read_constant(r, mw__arg(op, "weight"), &count);
    if (r->op->weights == NULL)
        return r->err->status;
    if ((int64_t)count != rows * r->op->output.extent.c)
        return refuse_operation(r, op->row->name, "weights of another count than its channels and kernel");
    if (bias == NULL)
        return MW_OK;
    const uint16_t *numbers = read_constant(r, bias, &count);
    if (numbers == NULL)
        return r->err->status;
    if ((int64_t)count != r->op->output.extent.c)
        return refuse_operation(r, op->row->name, "a bias of another count than its output channels");
    r->op->bias = is_nothing(numbers, count) ? NULL : numbers;
    return MW_OK;
}

static mw_status read_linear(reader *r, const mw__op *op, const mw__op *last)
{
    r->op->kind = MW__EMIT_PRODUCT;
    r->op->kernel_h = r->op->kernel_w = 1;
    if (r->function->body->input_count != 1 || port_of(r, mw__arg(op, "x")) != 0)
        return refuse_operation(r, op->row->name, "x is not the one input");
    MW_TRY(read_ports(r, op, last, read_vector));
    return read_weights(r, op);
}

static bool is_known_window(const mw__window *w)
{
    return (w->kernel == 1 || w->kernel == 3) && w->stride == 1 && w->dilation == 1 && w->before >= 0 && w->before < 32;
}

static mw_status read_conv(reader *r, const mw__op *op, const mw__op *last)
{
    const mw_shape weight = mw_tensor_shape(mw__arg(op, "weight"));
    mw__window windows[MW__WINDOW_AXES];
    int64_t groups = 1;
    r->op->kind = MW__EMIT_PRODUCT;
    MW_TRY(read_one(r, op, last));
    if (weight.rank != 4 || !mw__arg_int(op, "groups", &groups) || groups != 1)
        return refuse_operation(r, op->row->name, "not two axes in one group");
    MW_TRY(mw__op_windows(op, mw_tensor_shape(mw__arg(op, "x")), &weight.dim[2], windows, r->err));
    if (!is_known_window(&windows[0]) || !is_known_window(&windows[1]))
        return refuse_operation(r, op->row->name,
                                "a kernel that is not 1 or 3 a side, or a step or dilation other than 1");
    r->op->kernel_h = windows[0].kernel;
    r->op->kernel_w = windows[1].kernel;
    r->op->pad_top = windows[0].before;
    r->op->pad_left = windows[1].before;
    return read_weights(r, op);
}

/* ---- the graph ---- */

static const struct rule {
    const char *name;
    mw_status (*read)(reader *r, const mw__op *op, const mw__op *last);
    bool takes_relu; /* a relu behind it is done in the same task */
} rules[] = {
    {"relu", read_relu, false},       {"sigmoid", read_sigmoid, false}, {"add", read_add, false},
    {"sub", read_sub, false},         {"mul", read_mul, false},         {"maximum", read_maximum, false},
    {"minimum", read_minimum, false}, {"concat", read_concat, false},   {"linear", read_linear, true},
    {"conv", read_conv, true},
};

static const struct rule *find_rule(const mw__op *op)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (op->row != NULL && strcmp(rules[i].name, op->row->name) == 0)
            return &rules[i];
    return NULL;
}

/* Operations that are computed; the first two of them. */
static size_t find_operations(const mw__block *body, const mw__op *out[2])
{
    size_t count = 0;
    for (size_t i = 0; i < body->op_count; i++) {
        const mw__op *op = body->ops[i];
        if (op->result_count == 1 && mw__is_constant(op->results[0]))
            continue;
        if (count < 2)
            out[count] = op;
        count++;
    }
    return count;
}

static bool is_relu_of(const mw__op *op, const mw__op *before)
{
    return op->row != NULL && strcmp(op->row->name, "relu") == 0 && mw__arg(op, "x") == before->results[0];
}

static mw_status read_function(reader *r)
{
    const mw__op *ops[2] = {NULL};
    const size_t count = find_operations(r->function->body, ops);
    if (count == 0)
        return refuse_operation(r, "function", "nothing is computed");
    const struct rule *rule = find_rule(ops[0]);
    if (rule == NULL)
        return refuse_operation(r, ops[0]->kind, "not written as a task yet");
    r->op->relu = count == 2 && rule->takes_relu && is_relu_of(ops[1], ops[0]);
    if (count != 1 && !r->op->relu)
        return refuse_operation(r, ops[1]->kind, "a second operation");
    return rule->read(r, ops[0], ops[count - 1]);
}

mw_status mw__emit_read(mw__emit_source *source, const mw__function *function, mw_error *err)
{
    reader r = {.function = function, .source = source, .op = &source->op, .err = err};
    mw__arena_init(&source->arena, NULL);
    MW_TRY(mw__names_assign(function, &source->names, err));
    return read_function(&r);
}

void mw__emit_source_deinit(mw__emit_source *source)
{
    mw__names_deinit(&source->names);
    mw__arena_deinit(&source->arena);
}

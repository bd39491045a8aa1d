/* Elements that are known when a file is read: literals, small numbers that follow from shapes, and whatever operations
 * make of constants. The first two are found at once. The last are computed once an operator cannot do without. */
#include "format/formats.h"
#include "format/onnx/read/import.h"
#include "graph/constants/evaluate_small.h"
#include "graph/transform/clone/clone.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- literals ---- */

static mw__onnx_literal *literal_of(mw__onnx_import *import, int type, mw_shape shape, const double *at, size_t count)
{
    mw__onnx_literal *literal = mw__arena_alloc(&import->arena, 1, sizeof *literal, import->err);
    const bool real = mw__onnx_is_float(type);
    const size_t size = real ? sizeof(double) : mw__onnx_type_size(type);
    uint8_t *data = mw__arena_alloc(&import->arena, count, size, import->err);
    if (literal == NULL || data == NULL)
        return NULL;
    *literal = (mw__onnx_literal){real ? MW__ONNX_DOUBLE : type, shape, count, data, NULL, 0};
    for (size_t i = 0; i < count; i++) {
        const int64_t number = real ? 0 : (int64_t)at[i];
        memcpy(data + i * size, real ? (const void *)&at[i] : (const void *)&number, size);
    }
    return literal;
}

const mw__onnx_literal *mw__onnx_known(mw__onnx_import *import, mw__onnx_value *value)
{
    if (value->literal != NULL)
        return value->literal;
    mw__known known;
    mw__evaluation evaluation = {0};
    const int64_t count = mw_shape_count(value->shape);
    if (value->tensor == NULL || count < 0 || count > MW__KNOWN_MAX ||
        !mw__evaluate(&evaluation, value->tensor, &known))
        return NULL;
    return literal_of(import, value->type, known.shape, known.at, known.count);
}

/* ---- computed ---- */

enum { DEPTH_MAX = 64, PARTS_MAX = 256, EVALUATIONS_MAX = 256 };

/* Values that are computed together: the one that is wanted comes last. */
typedef struct walk {
    unsigned char *seen; /* by id of a value: 1 once it was looked at */
    const mw__block *body;
    int depth;
    size_t count;
    mw_tensor *parts[PARTS_MAX];
    double *at[PARTS_MAX];        /* their elements */
    mw_tensor *copies[PARTS_MAX]; /* in the graph that computes them */
} walk;

static bool is_constant(walk *w, mw_tensor *x);

static bool operands_are_constant(walk *w, const mw__slot *slot)
{
    for (size_t i = 0; slot->operands != NULL && i < slot->count; i++)
        if (slot->operands[i].value == NULL || !is_constant(w, slot->operands[i].value))
            return false;
    return true;
}

static bool op_is_constant(walk *w, const mw__op *op)
{
    if (op->row == NULL || op->block != w->body || op->block_count > 0 || w->depth == DEPTH_MAX)
        return false;
    w->depth++;
    bool good = true;
    for (size_t i = 0; good && i < op->slot_count; i++)
        good = operands_are_constant(w, &op->slots[i]);
    w->depth--;
    return good;
}

/* True if the value is made of constants alone, with no more than a few thousand elements anywhere. */
static bool is_constant(walk *w, mw_tensor *x)
{
    const bool tensor = x->type != NULL && x->type->kind == MW__TENSOR;
    if (tensor && x->type->dtype == MW_STRING)
        return x->payload != NULL;
    const int64_t count = tensor ? mw_shape_count(x->type->shape) : -1;
    if (count < 0 || count > MW__ONNX_KNOWN_MAX)
        return false;
    if (x->payload != NULL || w->seen[x->id] != 0)
        return true;
    if (x->op == NULL || !op_is_constant(w, x->op) || w->count == PARTS_MAX)
        return false;
    w->parts[w->count++] = x;
    w->seen[x->id] = 1;
    return true;
}

static bool follows_from_constants(mw__onnx_import *import, walk *w, mw_tensor *x)
{
    const mw_allocator *allocator = import->arena.allocator;
    w->seen = mw__alloc(allocator, import->graph->value_count + 1, 1, import->err);
    const bool good = w->seen != NULL && is_constant(w, x);
    mw__free(allocator, w->seen);
    return good;
}

/* A graph that has the values as its outputs; NULL on failure. */
static mw_graph *cut_out(const mw__onnx_import *import, walk *w, mw_error *err)
{
    const mw__clone_options options = {.roots = w->parts, .root_count = w->count};
    mw_graph *graph = mw__clone_graph(import->arena.allocator, import->graph, &options, w->copies, err);
    for (size_t i = 0; graph != NULL && i < w->count; i++) {
        char name[32];
        snprintf(name, sizeof name, "known%zu", i);
        mw_output(w->copies[i], name);
    }
    if (graph != NULL && mw_graph_check(graph, err) == MW_OK)
        return graph;
    mw__graph_free(graph);
    return NULL;
}

static mw_status compute(mw__onnx_import *import, walk *w, mw_error *err)
{
    for (size_t i = 0; i < w->count; i++) {
        const size_t count = (size_t)mw_shape_count(mw_tensor_shape(w->parts[i]));
        MW_TRY(mw__onnx_charge(import, count, sizeof **w->at));
        w->at[i] = mw__arena_alloc(&import->arena, count, sizeof **w->at, import->err);
        if (w->at[i] == NULL)
            return MW_ERROR_MEMORY;
    }
    mw_graph *graph = cut_out(import, w, err);
    if (graph == NULL)
        return err->status != MW_OK ? err->status : MW_ERROR_UNSUPPORTED;
    const mw_status status = import->evaluator(graph, w->at, err);
    mw__graph_free(graph);
    return status;
}

/* ---- whether int32 held it ---- */

/* Of the elements of a value: the largest size, the sum of sizes, the product of sizes of 1 or more. */
typedef struct extremes {
    double most, sum, product;
} extremes;

static extremes measure_extremes(const walk *w, const mw_tensor *x)
{
    extremes e = {0, 0, 1};
    const double *at = NULL;
    for (size_t i = 0; x != NULL && i < w->count; i++)
        at = w->parts[i] == x ? w->at[i] : at;
    const size_t count = x != NULL && (at != NULL || x->payload != NULL) ? (size_t)mw_shape_count(x->type->shape) : 0;
    for (size_t i = 0; i < count; i++) {
        const double size = fabs(at != NULL ? at[i] : mw__payload_float(x->payload, i));
        e.most = fmax(e.most, size);
        e.sum += size;
        e.product *= fmax(size, 1);
    }
    return e;
}

static double largest_of(const char *kind, extremes x, extremes y)
{
    const struct {
        const char *kind;
        double value;
    } rows[] = {{"add", x.most + y.most},   {"sub", x.most + y.most},
                {"mul", x.most * y.most},   {"pow", pow(fmax(x.most, 1), y.most)},
                {"exp2", exp2(x.most)},     {"square", x.most * x.most},
                {"matmul", x.sum * y.most}, {"cumsum", x.sum},
                {"reduce_sum", x.sum},      {"reduce_sum_square", x.sum * x.most},
                {"reduce_l1_norm", x.sum},  {"reduce_prod", x.product}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strcmp(kind, rows[i].kind) == 0)
            return rows[i].value;
    return 0;
}

/* What scatter operations add up or multiply is bounded by all that they take. */
static double scattered(const walk *w, const mw__op *op)
{
    const char *mode = mw__op_operand(op, "mode") != NULL ? mw__arg_string(op, "mode") : "add";
    const extremes data = measure_extremes(w, mw__op_operand(op, "data")),
                   updates = measure_extremes(w, mw__op_operand(op, "updates"));
    if (mode == NULL || strcmp(mode, "mul") == 0)
        return data.most * updates.product;
    return data.most + updates.sum;
}

static bool fits_walk(const walk *w, const mw_tensor *x)
{
    const mw__op *op = x->op;
    if (mw_tensor_dtype(x) != MW_I32)
        return true;
    if (strncmp(op->kind, "scatter", 7) == 0)
        return scattered(w, op) <= INT32_MAX;
    return largest_of(op->kind, measure_extremes(w, mw__op_operand(op, "x")),
                      measure_extremes(w, mw__op_operand(op, "y"))) <= INT32_MAX;
}

/* True if no integer on the way left int32, in which the file's int64 are computed. */
static bool all_fit(const walk *w)
{
    for (size_t i = 0; i < w->count; i++)
        if (!fits_walk(w, w->parts[i]))
            return false;
    return true;
}

/* ---- the value ---- */

static mw__onnx_literal *literal_of_payload(mw__onnx_import *import, const mw__onnx_value *value)
{
    const size_t count = (size_t)mw_shape_count(value->shape);
    double *at = mw__arena_alloc(&import->arena, count, sizeof *at, import->err);
    for (size_t i = 0; at != NULL && i < count; i++)
        at[i] = mw__payload_float(value->tensor->payload, i);
    return at != NULL ? literal_of(import, value->type, value->shape, at, count) : NULL;
}

/* NULL where it cannot be computed, or with an error in import->err. */
static mw__onnx_literal *evaluate(mw__onnx_import *import, const mw__onnx_value *value, walk *w)
{
    mw_error err = {0};
    const mw_status status = compute(import, w, &err);
    if (status == MW_ERROR_MEMORY && !mw__failed(import->err))
        *import->err = err;
    if (status != MW_OK || !all_fit(w))
        return NULL;
    return literal_of(import, value->type, value->shape, w->at[w->count - 1], (size_t)mw_shape_count(value->shape));
}

/* What operations make of constants; NULL if it is something else. */
static const mw__onnx_literal *compute_value(mw__onnx_import *import, const mw__onnx_value *value, walk *w)
{
    w->body = import->graph->functions[0]->body;
    if (!follows_from_constants(import, w, value->tensor))
        return NULL;
    import->evaluations++;
    return value->tensor->payload != NULL ? literal_of_payload(import, value) : evaluate(import, value, w);
}

const mw__onnx_literal *mw__onnx_computed(mw__onnx_import *import, mw__onnx_value *value)
{
    const mw__onnx_literal *known = mw__onnx_known(import, value);
    if (known != NULL || import->evaluator == NULL || value->tensor == NULL || import->graph->error.status != MW_OK ||
        mw__failed(import->err) || import->evaluations >= EVALUATIONS_MAX)
        return known;
    walk *w = mw__alloc(import->arena.allocator, 1, sizeof *w, import->err);
    if (w != NULL)
        value->literal = compute_value(import, value, w); /* for the next that asks */
    mw__free(import->arena.allocator, w);
    return value->literal;
}

/* Elements that are known when a file is read: literals, small numbers that follow from shapes, and whatever operations
 * make of constants. The first two are found at once. The last are computed once an operator cannot do without. */
#include "format/onnx/known.h"
#include "format/onnx/import.h"
#include "graph/constants/evaluate_small.h"
#include "graph/transform/clone.h"

#include <math.h>
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
    *literal = (mw__onnx_literal){real ? MW__ONNX_DOUBLE : type, shape, count, data};
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

enum { DEPTH_MAX = 64, STEPS_MAX = 4096, EVALUATIONS_MAX = 256 };

/* Looks at what a value is made of. */
typedef struct walk {
    unsigned char *seen; /* by id of a value: 1 once it was looked at */
    const mw__block *body;
    int depth, steps;
} walk;

static bool is_constant(walk *w, const mw_tensor *x);

static bool operands_are_constant(walk *w, const mw__slot *slot)
{
    for (size_t i = 0; slot->operands != NULL && i < slot->count; i++)
        if (slot->operands[i].value == NULL || !is_constant(w, slot->operands[i].value))
            return false;
    return true;
}

static bool op_is_constant(walk *w, const mw__op *op)
{
    if (op->row == NULL || op->block != w->body || op->block_count > 0 || w->depth == DEPTH_MAX ||
        ++w->steps > STEPS_MAX)
        return false;
    w->depth++;
    bool good = true;
    for (size_t i = 0; good && i < op->slot_count; i++)
        good = operands_are_constant(w, &op->slots[i]);
    w->depth--;
    return good;
}

/* True if the value is made of constants alone, with no more than a few thousand elements anywhere. */
static bool is_constant(walk *w, const mw_tensor *x)
{
    const bool tensor = x->type != NULL && x->type->kind == MW__TENSOR;
    if (tensor && x->type->dtype == MW_STRING)
        return x->payload != NULL;
    const int64_t count = tensor ? mw_shape_count(x->type->shape) : -1;
    if (count < 0 || count > MW__ONNX_KNOWN_MAX)
        return false;
    if (x->payload != NULL || w->seen[x->id] != 0)
        return true;
    if (x->op == NULL || !op_is_constant(w, x->op))
        return false;
    w->seen[x->id] = 1;
    return true;
}

static bool follows_from_constants(mw__onnx_import *import, const mw_tensor *x)
{
    const mw_allocator *allocator = import->arena.allocator;
    walk w = {.body = import->graph->functions[0]->body};
    w.seen = mw__alloc(allocator, import->graph->value_count + 1, 1, import->err);
    const bool good = w.seen != NULL && is_constant(&w, x);
    mw__free(allocator, w.seen);
    return good;
}

/* A graph that has the value as its one output; NULL on failure. */
static mw_graph *cut_out(mw__onnx_import *import, mw_tensor *x, mw_error *err)
{
    mw_tensor *copy = NULL;
    const mw__clone_options options = {.roots = &x, .root_count = 1};
    mw_graph *graph = mw__clone_graph(import->arena.allocator, import->graph, &options, &copy, err);
    if (graph == NULL)
        return NULL;
    if (mw_output(copy, "known") != NULL && mw_graph_check(graph, err) == MW_OK)
        return graph;
    mw__graph_free(graph);
    return NULL;
}

static bool holds(const double *at, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (!isfinite(at[i]) || fabs(at[i]) > 0x1p53)
            return false;
    return true;
}

static mw_status compute(mw__onnx_import *import, mw_tensor *x, double *at, size_t count, mw_error *err)
{
    for (size_t i = 0; x->payload != NULL && i < count; i++)
        at[i] = mw__payload_float(x->payload, i);
    if (x->payload != NULL)
        return MW_OK;
    mw_graph *graph = cut_out(import, x, err);
    if (graph != NULL)
        import->evaluator(graph, at, count, err);
    mw__graph_free(graph);
    return err->status;
}

/* NULL where it cannot be computed, or with an error in import->err. */
static mw__onnx_literal *evaluate(mw__onnx_import *import, const mw__onnx_value *value)
{
    const size_t count = (size_t)mw_shape_count(value->shape);
    mw_error err = {0};
    if (count == 0)
        return literal_of(import, value->type, value->shape, NULL, 0);
    double *at = mw__arena_alloc(&import->arena, count, sizeof *at, import->err);
    const bool good = at != NULL && compute(import, value->tensor, at, count, &err) == MW_OK;
    if (err.status == MW_ERROR_MEMORY)
        *import->err = err;
    if (!good || (!mw__onnx_is_float(value->type) && !holds(at, count)))
        return NULL;
    return literal_of(import, value->type, value->shape, at, count);
}

const mw__onnx_literal *mw__onnx_computed(mw__onnx_import *import, mw__onnx_value *value)
{
    const mw__onnx_literal *known = mw__onnx_known(import, value);
    if (known != NULL || import->evaluator == NULL || value->tensor == NULL || import->graph->error.status != MW_OK ||
        mw__failed(import->err) || import->evaluations >= EVALUATIONS_MAX ||
        !follows_from_constants(import, value->tensor))
        return known;
    import->evaluations++;
    value->literal = evaluate(import, value); /* for the next that asks */
    return value->literal;
}

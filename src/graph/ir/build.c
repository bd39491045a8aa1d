/* Appending an operation: filling its arguments, MIL's defaults as const statements, inference, results. */
#include "base/number/float_mode.h"
#include "graph/constants/compressed.h"
#include "graph/ir/rule.h"

#include <assert.h>
#include <millwright/ops/elementwise.h>
#include <millwright/ops/shape.h>
#include <stdio.h>
#include <string.h>

/* ---- begin ---- */

mw__build mw__build_begin_graph(const char *operation, mw_graph *graph)
{
    mw__build build = {.graph = graph, .operation = operation, .failed = true};
    if (graph == NULL || graph->error.status != MW_OK)
        return build;
    const mw__row *newer;
    build.row = mw__row_find(operation, graph->current->opset, &newer);
    if (build.row == NULL && newer != NULL)
        mw__graph_fail(graph, MW_ERROR_UNSUPPORTED, "%s: needs opset ios%d, the function has ios%d", operation,
                       (int)newer->since, (int)graph->current->opset);
    else if (build.row == NULL)
        mw__graph_fail(graph, MW_ERROR_UNSUPPORTED, "%s: the table does not know this operation", operation);
    if (build.row == NULL)
        return build;
    build.op = mw__op_create(graph, build.row, operation, 0, &graph->error);
    build.failed = build.op == NULL;
    return build;
}

mw__build mw__build_begin(const char *operation, const mw_tensor *any)
{
    return mw__build_begin_graph(operation, any != NULL ? any->graph : NULL);
}

/* ---- arguments ---- */

static mw__slot *find_slot(const mw__build *build, const char *arg)
{
    for (size_t i = 0; i < build->op->slot_count; i++) {
        if (strcmp(build->op->slots[i].name, arg) == 0)
            return &build->op->slots[i];
    }
    return NULL;
}

/* A literal that a parsed operation spells inline is no statement that others could refer to: it gets one. */
static mw_tensor *referable(mw__build *build, mw_tensor *value, const char *arg)
{
    if (value->payload == NULL || value->op != NULL)
        return value;
    return mw__payload_emit(build->graph, value->payload, arg, &build->graph->error);
}

/* What is made in a block is not seen when that has ended. */
static bool is_hidden(const mw__build *build, const mw_tensor *value)
{
    const mw__block *from = value->op != NULL ? value->op->block : NULL, *at = build->graph->block;
    if (from == NULL || from == at || at == NULL || from->function != at->function)
        return false;
    while (at->owner != NULL && at->owner->block != NULL) {
        at = at->owner->block;
        if (at == from)
            return false;
    }
    return at->owner == NULL;
}

static void fill_slot(mw__build *build, mw__slot *slot, mw_tensor *const *values, size_t count)
{
    mw__operand *operands = mw__arena_alloc(&build->graph->arena, count, sizeof *operands, &build->graph->error);
    build->failed = operands == NULL;
    for (size_t i = 0; !build->failed && i < count; i++) {
        if (values[i] == NULL) {
            build->failed = true;
        } else if (values[i]->graph != build->graph) {
            mw__graph_mixed(values[i], build->graph, build->row->name, slot->name);
            build->failed = true;
        } else if (is_hidden(build, values[i])) {
            mw__graph_fail(build->graph, MW_ERROR_ARGUMENT, "%s: %s is made in a block that ended; give it out",
                           build->row->name, slot->name);
            build->failed = true;
        } else {
            operands[i].value = referable(build, values[i], slot->name);
            build->failed = operands[i].value == NULL;
        }
    }
    if (build->failed)
        return;
    slot->operands = operands;
    slot->count = count;
    slot->tuple = count > 1; /* a tuple of one prints bare */
}

/* An operation that cannot be built because one operand's graph is gone: the graphs of the others get the error. */
static void name_dead(const mw__build *build, mw_tensor *const *values, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (values[i] != NULL && values[i]->graph != build->graph)
            mw__graph_fail(values[i]->graph, MW_ERROR_STATE, "%s: an operand is a tensor of a graph that was destroyed",
                           build->operation);
}

void mw__build_set_given(mw__build *build, const char *arg, mw_tensor *value)
{
    if (value != NULL)
        mw__build_set(build, arg, value);
}

void mw__build_set_many(mw__build *build, const char *arg, mw_tensor *const *values, size_t count)
{
    if (build->failed && build->graph != NULL && atomic_load(&build->graph->dead))
        name_dead(build, values, count);
    if (build->failed)
        return;
    mw__slot *slot = find_slot(build, arg);
    assert(slot != NULL && "the row has no such argument");
    if (slot != NULL && count > 0)
        fill_slot(build, slot, values, count);
}

void mw__build_set(mw__build *build, const char *arg, mw_tensor *value) { mw__build_set_many(build, arg, &value, 1); }

/* ---- constant arguments ---- */

static bool fits_int32(mw__build *build, const char *arg, int64_t value)
{
    if (value >= INT32_MIN && value <= INT32_MAX)
        return true;
    mw__graph_fail(build->graph, MW_ERROR_ARGUMENT, "%s: %lld in %s does not fit int32", build->row->name,
                   (long long)value, arg);
    build->failed = true;
    return false;
}

void mw__build_int(mw__build *build, const char *arg, int64_t value)
{
    if (!build->failed && fits_int32(build, arg, value))
        mw__build_set(build, arg, mw__scalar(build->graph, MW_I32, (double)value, arg));
}

void mw__build_ints(mw__build *build, const char *arg, const int64_t *values, size_t count)
{
    if (build->failed)
        return;
    int32_t few[2 * MW_RANK_MAX] = {0}, *narrow = few;
    if (count > sizeof few / sizeof few[0])
        narrow = mw__arena_alloc(&build->graph->arena, count, sizeof *narrow, &build->graph->error);
    build->failed = narrow == NULL;
    for (size_t i = 0; narrow != NULL && i < count; i++) {
        if (!fits_int32(build, arg, values[i]))
            return;
        narrow[i] = (int32_t)values[i];
    }
    if (narrow != NULL)
        mw__build_set(build, arg, mw__constant(build->graph, MW_I32, MW_SHAPE((int64_t)count), narrow, arg));
}

void mw__build_bool(mw__build *build, const char *arg, bool value)
{
    if (!build->failed)
        mw__build_set(build, arg, mw__scalar(build->graph, MW_BOOL, value, arg));
}

void mw__build_bools(mw__build *build, const char *arg, const bool *values, size_t count)
{
    if (build->failed)
        return;
    unsigned char bytes[2 * MW_RANK_MAX];
    assert(count <= sizeof bytes);
    for (size_t i = 0; i < count; i++)
        bytes[i] = values[i];
    mw__build_set(build, arg, mw__constant(build->graph, MW_BOOL, MW_SHAPE((int64_t)count), bytes, arg));
}

void mw__build_scalar(mw__build *build, const char *arg, mw_dtype dtype, double value)
{
    if (build->failed)
        return;
    unsigned char element[8];
    if (mw_dtype_bits(dtype) > 0 && !mw__element_store(element, dtype, value)) {
        mw__graph_fail(build->graph, MW_ERROR_NUMERIC, "%s: %g in %s does not fit %s", build->row->name, value, arg,
                       mw_dtype_name(dtype));
        build->failed = true;
        return;
    }
    mw__build_set(build, arg, mw__scalar(build->graph, dtype, value, arg));
}

void mw__build_float(mw__build *build, const char *arg, double value)
{
    if (build->failed)
        return;
    const mw_dtype t = mw__op_dtype(build->op);
    const mw_dtype dtype = t == MW_F16 || t == MW_F32 ? t : MW_F32; /* another T is refused by its own check */
    mw__build_scalar(build, arg, dtype, value);
}

void mw__build_string(mw__build *build, const char *arg, const char *value)
{
    if (!build->failed)
        mw__build_set(build, arg, mw__constant_string(build->graph, value, arg));
}

void mw__build_axes(mw__build *build, const char *arg, mw_axes axes)
{
    if (build->failed)
        return;
    if (axes.count < 0 || axes.count > MW_RANK_MAX) {
        mw__graph_fail(build->graph, MW_ERROR_ARGUMENT, "%s: %d %s, at most %d are allowed", build->row->name,
                       axes.count, arg, MW_RANK_MAX);
        build->failed = true;
        return;
    }
    int64_t values[MW_RANK_MAX];
    for (int i = 0; i < axes.count; i++)
        values[i] = axes.axis[i];
    mw__build_ints(build, arg, values, (size_t)axes.count);
}

void mw__build_shape(mw__build *build, const char *arg, mw_shape shape)
{
    if (build->failed)
        return;
    if (shape.rank < 0 || shape.rank > MW_RANK_MAX) {
        mw__graph_fail(build->graph, MW_ERROR_SHAPE, "%s: rank %d of %s is outside 0 to %d", build->row->name,
                       shape.rank, arg, MW_RANK_MAX);
        build->failed = true;
        return;
    }
    mw__build_ints(build, arg, shape.dim, (size_t)shape.rank);
}

/* ---- end ---- */

static mw_tensor *make_default(const mw__build *build, const mw__arg_row *arg)
{
    const mw_dtype dtype = mw__fallback_dtype(arg, mw__op_dtype(build->op));
    if (dtype == MW_STRING)
        return mw__constant_string(build->graph, arg->fallback, arg->name);
    double value = 0;
    int64_t whole;
    if (mw__arg_int(build->op, arg->name, &whole))
        value = (double)whole;
    else if (!mw__arg_float(build->op, arg->name, &value))
        assert(false && "a default of the table is a number");
    return mw__scalar(build->graph, dtype, value, arg->name);
}

/* MIL's compilers want every default written out, as coremltools does. */
void mw__build_defaults(mw__build *build)
{
    for (size_t i = 0; i < build->row->arg_count && !build->failed; i++) {
        const mw__arg_row *arg = &build->row->args[i];
        const bool has_default = arg->fallback != MW__REQUIRED && arg->fallback[0] != '\0';
        if (has_default && build->op->slots[i].operands == NULL)
            mw__build_set(build, arg->name, make_default(build, arg));
    }
}

static mw_status failure(const mw__build *build)
{
    if (build->graph != NULL)
        mw__graph_note(build->graph);
    return build->graph != NULL && build->graph->error.status != MW_OK ? build->graph->error.status : MW_ERROR_ARGUMENT;
}

/* Arguments that stand among the attributes are literals without a statement. */
static mw_status make_attributes(const mw__build *build)
{
    mw_graph *graph = build->graph;
    for (size_t i = 0; mw__row_has_attributes(build->row) && i < build->op->slot_count; i++) {
        mw__slot *slot = &build->op->slots[i];
        const mw__payload *payload = slot->count == 1 ? slot->operands[0].value->payload : NULL;
        if (payload == NULL)
            return mw__fail(&graph->error, MW_ERROR_ARGUMENT, "%s: %s must be a literal before ios18", build->row->name,
                            slot->name);
        mw_tensor *literal = mw__value_create(graph, payload->type, slot->name, &graph->error);
        if (literal == NULL)
            return graph->error.status;
        literal->payload = payload;
        slot->operands[0] = (mw__operand){.value = literal, .inlined = true};
        slot->attribute = true;
    }
    return MW_OK;
}

static mw_status append_build(mw__build *build, size_t capacity)
{
    mw_graph *graph = build->graph;
    mw__infer infer = {.err = &graph->error, .room = capacity};
    MW_TRY(mw__op_infer(build->op, &infer));
    MW_TRY(make_attributes(build));
    if (infer.result_count > capacity)
        return mw__rule_fail(&infer, MW_ERROR_ARGUMENT, "has %zu results, room is given for %zu", infer.result_count,
                             capacity);
    MW_TRY(mw__op_add_results(build->op, &infer, &graph->error));
    return mw__block_add_op(graph->block, build->op, &graph->error);
}

/* A row with a mixed form has one result. */
static mw_status end_mixed(mw__build *build, size_t capacity)
{
    mw_graph *graph = build->graph;
    mw_dtype dtype;
    MW_TRY(mw__op_unmix(graph, build->op, MW_F32, &dtype, &graph->error));
    MW_TRY(append_build(build, capacity));
    if (dtype == MW_DTYPE_NONE)
        return MW_OK;
    mw_tensor *result = mw_cast(build->op->results[0], dtype);
    if (result == NULL)
        return failure(build);
    build->op = result->op;
    return MW_OK;
}

mw_status mw__build_end_many(mw__build *build, mw_tensor **out_results, size_t capacity, size_t *out_count)
{
    if (out_results == NULL) /* no room, whatever the number says */
        capacity = 0;
    for (size_t i = 0; i < capacity; i++)
        out_results[i] = NULL;
    if (out_count != NULL)
        *out_count = 0;
    if (!build->failed)
        mw__build_defaults(build);
    if (!build->failed)
        build->failed = end_mixed(build, capacity) != MW_OK;
    if (build->failed)
        return failure(build);
    for (size_t i = 0; i < build->op->result_count; i++)
        out_results[i] = build->op->results[i];
    if (out_count != NULL)
        *out_count = build->op->result_count;
    return MW_OK;
}

mw_tensor *mw__build_end(mw__build *build)
{
    mw_tensor *result;
    return mw__build_end_many(build, &result, 1, NULL) == MW_OK ? result : NULL;
}

mw_tensor *mw__build_pair(const char *operation, mw_tensor *x, mw_tensor *y)
{
    mw__build build = mw__build_begin(operation, x);
    mw__build_set(&build, "x", x);
    mw__build_set(&build, "y", y);
    return mw__build_end(&build);
}

mw_tensor *mw__build_sum(mw_tensor *a, mw_tensor *b) { return a == NULL ? b : b == NULL ? a : mw_add(a, b); }

mw_tensor *mw__build_zeros(const mw_tensor *x, mw_shape shape)
{
    return mw_fill(mw_tensor_graph(x), mw_tensor_dtype(x), shape, 0.0);
}

mw_tensor *mw__build_refuse(const mw_tensor *x, const char *operation, const char *what)
{
    return mw__graph_fail(x->graph, MW_ERROR_ARGUMENT, "%s: %s", operation, what);
}

/* ---- any operation by name ---- */

mw_tensor *mw__argument_find(const mw_argument *arguments, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(arguments[i].name, name) == 0 && arguments[i].count == 1)
            return arguments[i].values[0];
    }
    return NULL;
}

static void refuse_argument(mw__build *build, const char *name)
{
    char known[256] = "";
    size_t used = 0;
    for (size_t i = 0; i < build->row->arg_count && used < sizeof known; i++)
        used +=
            (size_t)snprintf(known + used, sizeof known - used, "%s%s", i > 0 ? ", " : "", build->row->args[i].name);
    mw__graph_fail(build->graph, MW_ERROR_ARGUMENT, "%s: has no argument \"%s\"; it takes %s", build->row->name, name,
                   known);
    build->failed = true;
}

static void set_argument(mw__build *build, const mw_argument *argument)
{
    if (build->failed)
        return;
    const char *name = argument->name != NULL ? argument->name : "";
    const mw__slot *slot = find_slot(build, name);
    if (slot == NULL) {
        refuse_argument(build, name);
        return;
    }
    if (slot->operands != NULL)
        mw__graph_fail(build->graph, MW_ERROR_ARGUMENT, "%s: %s is given twice", build->row->name, name);
    for (size_t i = 0; i < argument->count; i++) {
        if (argument->values == NULL || argument->values[i] == NULL)
            mw__graph_fail(build->graph, MW_ERROR_ARGUMENT, "%s: %s is NULL", build->row->name, name);
    }
    build->failed = build->graph->error.status != MW_OK;
    mw__build_set_many(build, name, argument->values, argument->count);
}

bool mw__build_wants_expansion(const mw__build *build)
{
    for (size_t i = 0; i < build->row->arg_count; i++) {
        const mw__slot *slot = &build->op->slots[i];
        if (build->row->args[i].kind == MW__CONST && slot->count == 1 && !mw__is_constant(slot->operands[0].value))
            return build->row->expand != NULL;
    }
    return false;
}

/* The arguments that are set; NULL after a failed allocation. */
static mw_argument *list_arguments(mw__build *build, size_t *out_count)
{
    mw_graph *graph = build->graph;
    mw_argument *arguments = mw__arena_alloc(&graph->arena, build->op->slot_count, sizeof *arguments, &graph->error);
    *out_count = 0;
    for (size_t i = 0; arguments != NULL && i < build->op->slot_count; i++) {
        mw__operand *operand = build->op->slots[i].operands;
        if (operand == NULL)
            continue;
        if (operand->inlined) /* a literal gets a statement */
            operand->value = mw__payload_emit(graph, operand->value->payload, operand->value->hint, &graph->error);
        if (operand->value == NULL)
            return NULL;
        arguments[(*out_count)++] =
            (mw_argument){.name = build->op->slots[i].name, .values = &operand->value, .count = 1};
    }
    return arguments;
}

mw_status mw__build_expand(mw__build *build, mw_tensor **out_results, size_t capacity)
{
    mw_tensor *results[MW__INFER_OWN] = {NULL};
    size_t count, made = 0;
    const mw_argument *arguments = list_arguments(build, &count);
    if (arguments != NULL)
        results[0] = build->row->expand(build->graph, arguments, count, results + 1);
    if (results[0] == NULL)
        return failure(build);
    while (made < MW__INFER_OWN && results[made] != NULL)
        made++;
    if (made > capacity) {
        mw__graph_fail(build->graph, MW_ERROR_ARGUMENT, "%s: has %zu results, room is given for %zu", build->row->name,
                       made, capacity);
        return failure(build);
    }
    memcpy(out_results, results, made * sizeof(mw_tensor *));
    return MW_OK;
}

static mw_status end_op(mw__build *build, mw_tensor **out_results, size_t result_count)
{
    mw_dtype dtype;
    if (build->failed || !mw__build_wants_expansion(build) || result_count == 0)
        return mw__build_end_many(build, out_results, result_count, NULL);
    MW_TRY(mw__op_unmix(build->graph, build->op, MW_F32, &dtype, &build->graph->error));
    MW_TRY(mw__build_expand(build, out_results, result_count));
    if (dtype != MW_DTYPE_NONE) /* a row with a mixed form has one result */
        out_results[0] = mw_cast(out_results[0], dtype);
    return out_results[0] != NULL ? MW_OK : failure(build);
}

mw_status mw_op(mw_graph *graph, const char *operation, const mw_argument *arguments, size_t count,
                mw_tensor **out_results, size_t result_count, mw_error *err)
{
    MW__FLOAT_SCOPE;
    for (size_t i = 0; out_results != NULL && i < result_count; i++)
        out_results[i] = NULL;
    if (mw__skips(err))
        return err->status;
    if (graph == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "op: the graph is NULL");
    if (operation == NULL || (arguments == NULL && count > 0) || (out_results == NULL && result_count > 0)) {
        mw__graph_fail(graph, MW_ERROR_ARGUMENT, "%s: %s NULL", operation == NULL ? "op" : operation,
                       operation == NULL   ? "the name of the operation is"
                       : arguments == NULL ? "the arguments are"
                                           : "the place for results is");
        return mw_graph_check(graph, err);
    }
    mw__build build = mw__build_begin_graph(operation, graph);
    for (size_t i = 0; i < count; i++)
        set_argument(&build, &arguments[i]);
    const mw_status status = end_op(&build, out_results, result_count);
    if (status != MW_OK && mw_graph_check(graph, err) == MW_OK)
        return mw__fail(err, status, "%s: an argument is NULL", operation);
    return status;
}

/* From a graph to a program: which function, for which shapes, and what its parameters start with. */
#include "base/memory/large_pages.h"
#include "base/number/float_mode.h"
#include "graph/random/init.h"
#include "graph/transform/clone/clone.h"
#include "graph/values/convert.h"
#include "runtime/program/flexible.h"
#include "runtime/program/lowered.h"

#include <string.h>

/* ---- parameters ---- */

static mw_status fill_converted(const mw_tensor *parameter, mw_dtype dtype, const mw__init_source *source,
                                const mw_allocator *allocator, void *out, mw_error *err)
{
    const mw__type *type = parameter->type;
    size_t size;
    if (!mw__type_bytes(type, &size))
        return mw__fail(err, MW_ERROR_SHAPE, "parameter \"%s\" has no fixed size", parameter->name);
    void *values = mw__alloc(allocator, size, 1, err);
    if (values == NULL)
        return MW_ERROR_MEMORY;
    mw_status status = mw__init_fill(parameter->init, type->shape, type->dtype, source, values, err);
    const mw__values drawn = {.data = values, .dtype = type->dtype, .count = (size_t)mw_shape_count(type->shape)};
    mw__refusal refusal;
    if (status == MW_OK &&
        mw__values_enter(out, &drawn, &(mw__port_rule){.dtype = dtype, .declared = dtype}, &refusal) != MW_OK)
        status = mw__fail(err, refusal.status, "parameter \"%s\": element %zu of its first values %s", parameter->name,
                          refusal.element, refusal.text);
    mw__free(allocator, values);
    return status;
}

mw_status mw__parameter_fill(const mw_tensor *parameter, mw_dtype dtype, const mw_compile_options *options,
                             const mw_allocator *allocator, void *out, mw_error *err)
{
    const mw__init_source source = {parameter->name, options->seed, options->threads};
    const mw__type *type = parameter->type;
    /* Without one it was read from text, where parameters are inputs: zeros. Memory that stays as it is costs no page
     * before it is used, which counts for a large cache. */
    if (parameter->init == NULL || mw__init_is_zeros(parameter->init))
        return MW_OK;
    mw__pages_use_large(allocator, out, (size_t)mw_shape_count(type->shape) * (size_t)(mw_dtype_bits(dtype) / 8));
    if (dtype != type->dtype)
        MW_TRY(fill_converted(parameter, dtype, &source, allocator, out, err));
    else
        MW_TRY(mw__init_fill(parameter->init, type->shape, dtype, &source, out, err));
    const size_t count = (size_t)mw_shape_count(type->shape);
    const size_t bad = mw__find_not_finite(out, dtype, count);
    if (bad != count)
        return mw__fail(err, MW_ERROR_NUMERIC,
                        "parameter \"%s\" starts with a value that is not finite in %s (element %zu)", parameter->name,
                        mw_dtype_name(dtype), bad);
    return MW_OK;
}

static mw_status fill_parameters(mw_program *program, const mw_graph *graph, const mw_compile_options *options,
                                 mw_error *err)
{
    for (size_t i = 0; i < program->input_count; i++) {
        const mw_port *port = &program->ports[i];
        if (!port->is_parameter)
            continue;
        const mw_tensor *parameter = mw_graph_find(graph, port->name);
        if (parameter == NULL || mw__program_is_borrowed(program, i))
            continue;
        MW_TRY(
            mw__parameter_fill(parameter, port->dtype, options, program->allocator, mw__program_data(program, i), err));
    }
    return MW_OK;
}

/* ---- the function ---- */

static mw_status take_weights(mw_program *program, const mw_graph *graph, const mw_compile_options *options,
                              mw_error *err)
{
    const mw__function *main = mw__graph_main(graph);
    if (main != NULL)
        MW_TRY(mw__program_take_weights(program, main, err));
    if (options->share.program != NULL)
        MW_TRY(mw__program_borrow(program, options->share.program, err));
    if (options->share.trainer != NULL)
        mw__program_borrow_state(program, mw__state_owner_of(options->share.trainer));
    return fill_parameters(program, graph, options, err);
}

mw_program *mw__program_compile_graph(const mw_graph *graph, const mw_compile_options *options,
                                      const mw__target *target, mw_error *err)
{
    mw__borrowing borrowing = {.lender = options->share.program, .graph = graph};
    mw__program_request request = {.graph = graph, .options = options, .target = target};
    if (borrowing.lender != NULL) {
        request.bind = mw__borrow;
        request.user = &borrowing;
    }
    mw__state_borrowing state = {.lender = mw__state_owner_of(options->share.trainer), .graph = graph};
    if (state.lender != NULL) {
        if (mw__program_check_state(graph, state.lender, target, err) != MW_OK)
            return NULL;
        request.bind = mw__borrow_state;
        request.user = &state;
    }
    mw_program *program = mw__lowered_create(&request, err);
    if (program == NULL || take_weights(program, graph, options, err) == MW_OK)
        return program;
    mw_program_destroy(program);
    return NULL;
}

/* A copy of the graph that is compiled; the program does not need it afterwards. */
static mw_program *compile_copy(mw_graph *copy, const mw_compile_options *options, const mw__target *target,
                                mw_error *err)
{
    mw_program *program = copy != NULL ? mw__program_compile_graph(copy, options, target, err) : NULL;
    mw__graph_free(copy);
    return program;
}

static bool has_open_input(const mw__function *function)
{
    for (size_t i = 0; i < function->body->input_count; i++)
        if (mw_shape_count(mw_tensor_shape(function->body->inputs[i])) < 0)
            return true;
    return false;
}

/* Extents that are computed, but from constants: one shape after all. NULL in *out if values decide. */
static mw_status specialize_fixed(const mw__function *function, const mw_allocator *allocator, mw_graph **out,
                                  mw_error *err)
{
    const mw__block *body = function->body;
    const mw_tensor *deciding[MW__DECIDING_MAX];
    size_t count = 0;
    *out = NULL;
    MW_TRY(mw__find_constant_inputs(function, deciding, &count, err));
    if (count > 0)
        return MW_OK;
    mw__given *given = mw__alloc(allocator, body->input_count, sizeof *given, err);
    if (given == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < body->input_count; i++)
        given[i].shape = mw_tensor_shape(body->inputs[i]);
    mw_graph *graph = mw__specialize(allocator, function, given, true, err);
    mw__free(allocator, given);
    if (graph == NULL)
        return mw__status_or(err, MW_ERROR_STATE);
    const mw_status status = mw__find_deciding(mw__graph_main(graph), deciding, &count, err);
    if (status == MW_OK && count == 0)
        *out = graph;
    else
        mw__graph_free(graph);
    return status;
}

static mw_program *compile_chosen(const mw__function *function, const mw_compile_options *options,
                                  const mw__target *target, mw_error *err)
{
    mw_program *program = mw__flexible_create(function, options, target, err);
    if (program == NULL || mw__program_take_weights(program, function, err) == MW_OK)
        return program;
    mw_program_destroy(program);
    return NULL;
}

static mw_program *compile_open(const mw__function *function, const mw_compile_options *options,
                                const mw__target *target, mw_error *err)
{
    mw_graph *fixed = NULL;
    if (!has_open_input(function) &&
        specialize_fixed(function, mw__allocator_or_default(options->allocator), &fixed, err) != MW_OK)
        return NULL;
    if (fixed != NULL)
        return compile_copy(fixed, options, target, err);
    if (options->share.program == NULL && options->share.trainer == NULL)
        return compile_chosen(function, options, target, err);
    mw__fail(err, MW_ERROR_UNSUPPORTED, "%s: the shapes of this program are chosen; give its inputs fixed ones",
             options->share.program != NULL ? "share.program" : "share.trainer");
    return NULL;
}

static mw_program *compile_function(const mw_graph *graph, const mw_compile_options *options, const mw__target *target,
                                    mw_error *err)
{
    const mw__function *function = mw__function_choose(graph, options->function, err);
    const mw__clone_options whole = {.rule = mw__clone_as_declared, .keep_outputs = true};
    if (function == NULL)
        return NULL;
    if (mw__wants_specializing(function))
        return compile_open(function, options, target, err);
    if (strcmp(function->name, "main") == 0)
        return mw__program_compile_graph(graph, options, target, err);
    return compile_copy(mw__clone_function(graph->allocator, function, &whole, NULL, err), options, target, err);
}

static mw_program *compile_checked(const mw_graph *graph, const mw_compile_options *options, mw_error *err)
{
    mw__target target;
    if (options->share.trainer != NULL && options->share.program != NULL) {
        mw__fail(err, MW_ERROR_ARGUMENT,
                 "mw_program_create: share.program and share.trainer are two sources of the same; give one");
        return NULL;
    }
    if (mw_graph_check(graph, err) != MW_OK || mw__target_resolve(options, &target, err) != MW_OK ||
        mw__program_check_lender(options->share.program, &target, err) != MW_OK)
        return NULL;
    mw__graph_hold(graph);
    mw_program *program = compile_function(graph, options, &target, err);
    mw_status status = program != NULL ? MW_OK : mw__status_or(err, MW_ERROR_STATE);
    status = mw__graph_drop(graph, "mw_program_create", status, err);
    if (status == MW_OK)
        return program;
    mw_program_destroy(program);
    return NULL;
}

/* A trainer that lends its state is in use meanwhile. */
mw_program *mw_program_create(const mw_graph *graph, const mw_compile_options *options, mw_error *err)
{
    MW__FLOAT_SCOPE;
    mw_error own = {0};
    err = err != NULL ? err : &own;
    if (mw__skips(err))
        return NULL;
    if (!mw__graph_given(graph, "mw_program_create", err))
        return NULL;
    const mw_compile_options defaults = mw_compile_defaults();
    if (options == NULL)
        options = &defaults;
    mw__state_owner *lender =
        options->struct_size == sizeof *options ? mw__state_owner_of(options->share.trainer) : NULL;
    mw__entry entry;
    if (mw__state_owner_enter(&entry, lender, __func__, MW__LENT_IN_PROGRESS, err) != MW_OK)
        return NULL;
    mw_program *program = compile_checked(graph, options, err);
    if (mw__state_owner_leave(&entry, err->status, err) == MW_OK)
        return program;
    mw_program_destroy(program);
    return NULL;
}

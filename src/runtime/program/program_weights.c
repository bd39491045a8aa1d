/* Weights of a program: which ports they are, and other values for them. */
#include "base/number/float_mode.h"
#include "graph/ir/ir.h"
#include "runtime/program/program_object.h"

#include <string.h>

/* ---- which ---- */

/* A state that starts at a value of its own, and that nothing writes, is a frozen weight. */
bool mw__is_weight(const mw_tensor *input)
{
    return input->role == MW__PARAMETER || (input->role == MW__RESIDENT && input->next == NULL);
}

static mw_status take_weight(mw_program *program, const mw_tensor *input, mw_error *err)
{
    const mw_graph *graph = mw_tensor_graph(input);
    mw__program_weight *weight = &program->weights[program->weight_count];
    weight->is_parameter = input->role == MW__PARAMETER;
    weight->name = mw__arena_string(&program->arena, input->name, strlen(input->name), err);
    if (weight->name == NULL)
        return mw__status_or(err, MW_ERROR_MEMORY);
    program->weight_count++;
    return weight->is_parameter ? mw__adapter_scale(graph, input->name, mw_tensor_shape(input), &program->adapter, err)
                                : MW_OK;
}

mw_status mw__program_take_weights(mw_program *program, const mw__function *function, mw_error *err)
{
    const mw__block *body = function->body;
    program->weights = mw__arena_alloc(&program->arena, body->input_count, sizeof *program->weights, err);
    if (program->weights == NULL)
        return mw__status_or(err, MW_ERROR_MEMORY);
    for (size_t i = 0; i < body->input_count; i++)
        if (mw__is_weight(body->inputs[i]) && mw__program_find(program, body->inputs[i]->name) < program->port_count)
            MW_TRY(take_weight(program, body->inputs[i], err));
    return MW_OK;
}

/* ---- other values ---- */

const mw__program_weight *mw__program_weight_find(const mw_program *program, const char *name)
{
    for (size_t i = 0; i < program->weight_count; i++)
        if (strcmp(program->weights[i].name, name) == 0)
            return &program->weights[i];
    return NULL;
}

static mw_status check_names(const mw_program *program, const mw_weight_values *values, size_t count, mw_error *err)
{
    if (program == NULL || (values == NULL && count > 0))
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_program_set_weights: %s is NULL",
                        program == NULL ? "the program" : "values");
    for (size_t i = 0; i < count; i++) {
        const char *name = values[i].name != NULL ? values[i].name : "";
        if (mw__program_weight_find(program, name) == NULL)
            return mw__fail(err, MW_ERROR_ARGUMENT,
                            "\"%.96s\" is no parameter of the program; mw_program_write is for inputs", name);
        for (size_t k = 0; k < i; k++)
            if (strcmp(values[k].name, name) == 0)
                return mw__fail(err, MW_ERROR_ARGUMENT, "parameter \"%.96s\" is there twice", name);
    }
    return MW_OK;
}

/* Checks one, or puts it into its place. */
static mw_status set_weight(mw_program *program, const mw_weight_values *weight, bool put, mw_error *err)
{
    mw__found_port found;
    MW_TRY(mw__program_port_find(program, weight->name, &found, err));
    MW_TRY(mw__program_port_check(found.port, weight->data, weight->count, err));
    const mw__values values = {.data = weight->data, .dtype = weight->dtype, .count = weight->count};
    mw__refusal refusal;
    found.rule.finite = true;
    const mw_status status = put ? mw__values_enter(found.data, &values, &found.rule, &refusal)
                                 : mw__values_check(&values, &found.rule, &refusal);
    if (status != MW_OK)
        return mw__program_port_refused(&refusal, values.count, weight->name, err);
    if (put)
        mw__program_port_written(&found);
    return MW_OK;
}

static mw_status set_weights(mw_program *program, const mw_weight_values *values, size_t count, mw_error *err)
{
    MW_TRY(check_names(program, values, count, err));
    for (int put = 0; put < 2; put++)
        for (size_t i = 0; i < count; i++)
            MW_TRY(set_weight(program, &values[i], put == 1, err));
    return MW_OK;
}

mw_status mw_program_set_weights(mw_program *program, const mw_weight_values *values, size_t count, mw_error *err)
{
    MW__FLOAT_SCOPE;
    if (mw__skips(err))
        return err->status;
    mw__entry entry;
    MW_TRY(mw__program_enter(&entry, program, __func__, err));
    return mw__program_leave(&entry, set_weights(program, values, count, err), err);
}

/* ---- files ---- */

static mw_status check_path(const mw_program *program, const char *path, const char *call, mw_error *err)
{
    if (program == NULL || path == NULL || path[0] == '\0')
        return mw__fail(err, MW_ERROR_ARGUMENT, "%s: no %s", call, program == NULL ? "program" : "path");
    for (size_t i = 0; i < program->weight_count; i++)
        if (program->weights[i].is_parameter)
            return MW_OK;
    return mw__fail(err, MW_ERROR_ARGUMENT,
                    "%s: the program has no parameter: make its graph with mw_graph_trainable or mw_graph_lora", call);
}

/* Slots for parameters, and for frozen weights as well if `all`. Freed by the caller. */
static mw_status make_slots(mw_program *program, bool all, mw__weight_slots *out, mw_error *err)
{
    *out = (mw__weight_slots){.allocator = program->allocator, .owner = "the program", .count = program->weight_count};
    out->slot = mw__alloc(program->allocator, out->count, sizeof *out->slot, err);
    if (out->slot == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < out->count; i++) {
        const mw__program_weight *weight = &program->weights[i];
        mw__found_port found;
        MW_TRY(mw__program_port_find(program, weight->name, &found, err));
        const size_t bytes = (size_t)(mw_dtype_bits(found.port->dtype) / 8);
        out->slot[i] = (mw__weight_slot){.name = weight->name,
                                         .in_file = weight->is_parameter || all ? weight->name : NULL,
                                         .optional = !weight->is_parameter,
                                         .dtype = found.port->dtype,
                                         .shape = found.port->shape,
                                         .data = found.data,
                                         .size = (size_t)mw_shape_count(found.port->shape) * bytes};
    }
    return MW_OK;
}

static void follow_slots(mw_program *program, const mw__weight_slots *slots)
{
    for (size_t i = 0; i < slots->count; i++) {
        mw__found_port found;
        if (slots->slot[i].taken && mw__program_port_find(program, slots->slot[i].name, &found, NULL) == MW_OK)
            mw__program_port_written(&found);
    }
}

static mw_status load_tensors(mw_program *program, const char *path, const mw_weights_options *options, mw_error *err)
{
    mw__weight_slots slots;
    mw_status status = make_slots(program, true, &slots, err);
    if (status == MW_OK)
        status = mw__weights_load(&slots, path, options, err);
    if (status == MW_OK)
        follow_slots(program, &slots);
    mw__free(program->allocator, slots.slot);
    return status;
}

static mw_status read_adapters(mw_program *program, const mw__weight_slots *slots, const char *folder, mw_error *err)
{
    mw__adapters a;
    mw_status status = mw__adapters_init(&a, slots, program->adapter, folder, err);
    if (status == MW_OK)
        status = mw__adapters_check(&a, err);
    if (status == MW_OK)
        status = mw__weights_read(&a.slots, a.tensors_path, true, err);
    if (status == MW_OK)
        follow_slots(program, &a.slots);
    mw__adapters_deinit(&a);
    return status;
}

static mw_status load_adapters(mw_program *program, const char *folder, mw_error *err)
{
    mw__weight_slots slots;
    mw_status status = make_slots(program, false, &slots, err);
    if (status == MW_OK)
        status = read_adapters(program, &slots, folder, err);
    mw__free(program->allocator, slots.slot);
    return status;
}

static mw_status load_weights(mw_program *program, const char *path, const mw_weights_options *options, mw_error *err)
{
    MW_TRY(check_path(program, path, "mw_program_load_weights", err));
    if (!mw__is_adapter_folder(path))
        return load_tensors(program, path, options, err);
    MW_TRY(mw__adapters_check_options(options, path, err));
    return load_adapters(program, path, err);
}

mw_status mw_program_load_weights(mw_program *program, const char *path, const mw_weights_options *options,
                                  mw_error *err)
{
    MW__FLOAT_SCOPE;
    if (mw__skips(err))
        return err->status;
    mw__entry entry;
    MW_TRY(mw__program_enter(&entry, program, __func__, err));
    return mw__program_leave(&entry, load_weights(program, path, options, err), err);
}

/* e5rt: functions of a library, and what they and their operations take and give. */
#include "base/text/printable.h"
#include "engine/surface/surface.h"

#include <stdio.h>
#include <string.h>

/* ---- the ports that there are ---- */

size_t mw__port_count(const mw__program *program, mw__side side)
{
    return side == MW__SIDE_INPUT    ? mw__input_ports(program)
           : side == MW__SIDE_OUTPUT ? program->output_count
                                     : program->state_count;
}

const mw__port_info *mw__port_at(const mw__program *program, mw__side side, size_t index)
{
    if (side == MW__SIDE_OUTPUT)
        return &program->outputs[index];
    return &program->inputs[side == MW__SIDE_INPUT ? index : program->states[index].input];
}

const char *mw__side_name(mw__side side)
{
    static const char *const names[] = {"input", "output", "inout"};
    return names[side];
}

static void fail_unknown(const mw__program *program, mw__side side, const char *name, const char *owner,
                         const char *owner_name, mw_error *err)
{
    char names[300] = "";
    for (size_t i = 0, used = 0; i < mw__port_count(program, side) && used < sizeof names - 1; i++)
        used += mw__printable_printf(names + used, sizeof names - used, "%s%s", i > 0 ? ", " : "",
                                     mw__port_at(program, side, i)->name);
    mw__fail(err, MW_ERROR_ARGUMENT, "%s \"%s\" has no %s port \"%s\"; it has: %s", owner, owner_name,
             mw__side_name(side), name, names);
}

const mw__port_info *mw__port_named(const mw__program *program, mw__side side, const char *name, const char *owner,
                                    const char *owner_name, mw_error *err)
{
    const mw__port_info *info = NULL;
    if (side != MW__SIDE_INOUT)
        info = mw__plan_find_port(side == MW__SIDE_OUTPUT ? program->outputs_by_name : program->inputs_by_name,
                                  mw__port_count(program, side), name);
    for (size_t i = 0; side == MW__SIDE_INOUT && info == NULL && i < program->state_count; i++)
        if (strcmp(mw__port_at(program, side, i)->name, name) == 0)
            info = mw__port_at(program, side, i);
    if (info == NULL)
        fail_unknown(program, side, name, owner, owner_name, err);
    return info;
}

e5rt_error_code mw__port_names(const mw__program *program, mw__side side, uint64_t count, const char **out,
                               mw_error *err)
{
    const size_t there = program != NULL ? mw__port_count(program, side) : 0;
    for (uint64_t i = 0; program != NULL && count <= there && i < count; i++)
        out[i] = mw__port_at(program, side, (size_t)i)->name;
    char what[16];
    snprintf(what, sizeof what, "%s ports", mw__side_name(side));
    return mw__surface_end_bounds(count, there, what, err);
}

mw_status mw__port_desc(const mw__program *program, const mw__port_info *info, void **out, mw_error *err)
{
    return mw__surface_tensor_desc_make(out, program->plan.buffers[info->buffer].value->type, err);
}

/* ---- functions ---- */

e5rt_error_code e5rt_program_function_release(void **function)
{
    return mw__surface_release(function, MW__KIND_FUNCTION);
}

static const mw__program *get_program(void *handle, const void *out, mw_error *err)
{
    const mw__function_object *function = mw__surface_get_for(handle, MW__KIND_FUNCTION, "function", out, err);
    return function != NULL ? function->program : NULL;
}

e5rt_error_code e5rt_program_function_get_name(void *function, const char **out)
{
    mw_error *err = mw__surface_begin();
    const mw__program *program = get_program(function, out, err);
    if (program != NULL)
        *out = program->name;
    return mw__surface_end(err);
}

e5rt_error_code e5rt_mw_program_function_get_summary(void *function, const char **out)
{
    mw_error *err = mw__surface_begin();
    const mw__program *program = get_program(function, out, err);
    if (program != NULL)
        *out = program->summary;
    return mw__surface_end(err);
}

/* On macOS 26 it fails whatever is done before; an operation does without it. */
e5rt_error_code e5rt_program_function_load_for_execution(void *handle)
{
    mw_error *err = mw__surface_begin();
    const mw__program *program = get_program(handle, err, err);
    if (program != NULL)
        mw__fail(err, MW_ERROR_STATE,
                 "function \"%s\" is not loaded by itself, as on macOS 26: make an operation from it", program->name);
    return mw__surface_end(err);
}

/* ---- what a function takes and gives ---- */

static e5rt_error_code get_count(void *handle, mw__side side, uint64_t *out)
{
    mw_error *err = mw__surface_begin();
    const mw__program *program = get_program(handle, out, err);
    if (program != NULL)
        *out = mw__port_count(program, side);
    return mw__surface_end(err);
}

static e5rt_error_code get_names(void *handle, mw__side side, uint64_t count, const char **out)
{
    mw_error *err = mw__surface_begin();
    return mw__port_names(get_program(handle, count > 0 ? (const void *)out : err, err), side, count, out, err);
}

static mw_status retain_desc(void *handle, const char *name, mw__side side, void **out, mw_error *err)
{
    MW_TRY(mw__surface_out(out, err));
    const mw__program *program = get_program(handle, out, err);
    if (program == NULL)
        return err->status;
    MW_TRY(mw__surface_text(name, "portName", err));
    const mw__port_info *info = mw__port_named(program, side, name, "function", program->name, err);
    return info != NULL ? mw__port_desc(program, info, out, err) : err->status;
}

static e5rt_error_code retain(void *handle, const char *name, mw__side side, void **out)
{
    mw_error *err = mw__surface_begin();
    retain_desc(handle, name, side, out, err);
    return mw__surface_end(err);
}

e5rt_error_code e5rt_program_function_get_num_extern_inputs(void *function, uint64_t *out)
{
    return get_count(function, MW__SIDE_INPUT, out);
}

e5rt_error_code e5rt_program_function_get_num_extern_outputs(void *function, uint64_t *out)
{
    return get_count(function, MW__SIDE_OUTPUT, out);
}

e5rt_error_code e5rt_program_function_get_num_extern_inouts(void *function, uint64_t *out)
{
    return get_count(function, MW__SIDE_INOUT, out);
}

e5rt_error_code e5rt_program_function_get_extern_input_names(void *function, uint64_t count, const char **out_names)
{
    return get_names(function, MW__SIDE_INPUT, count, out_names);
}

e5rt_error_code e5rt_program_function_get_extern_output_names(void *function, uint64_t count, const char **out_names)
{
    return get_names(function, MW__SIDE_OUTPUT, count, out_names);
}

e5rt_error_code e5rt_program_function_get_extern_inout_names(void *function, uint64_t count, const char **out_names)
{
    return get_names(function, MW__SIDE_INOUT, count, out_names);
}

e5rt_error_code e5rt_program_function_retain_input_tensor_desc(void *function, const char *name, void **out)
{
    return retain(function, name, MW__SIDE_INPUT, out);
}

e5rt_error_code e5rt_program_function_retain_output_tensor_desc(void *function, const char *name, void **out)
{
    return retain(function, name, MW__SIDE_OUTPUT, out);
}

e5rt_error_code e5rt_program_function_retain_inout_tensor_desc(void *function, const char *name, void **out)
{
    return retain(function, name, MW__SIDE_INOUT, out);
}

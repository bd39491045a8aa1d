/* Ports of a program: what they are, reading and writing them, and running. */
#include "base/number/float_mode.h"
#include "base/text/text.h"
#include "runtime/program/flexible.h"

#include <string.h>

static size_t shown(const mw_program *program) { return program->port_count - program->hidden_count; }

bool mw_program_port_at(const mw_program *program, size_t index, mw_port *out_port)
{
    if (!mw__live_has(program, MW__LIVE_PROGRAM) || index >= shown(program) || out_port == NULL)
        return false;
    *out_port = program->ports[index];
    return true;
}

const mw_program *mw__program_now(const mw_program *program)
{
    return program != NULL && program->flexible != NULL ? program->flexible->current.program : program;
}

mw_status mw__program_resolve(mw_program *program, mw_program **out, mw_error *err)
{
    *out = program;
    return program != NULL && program->flexible != NULL ? mw__flexible_resolve(program->flexible, out, err) : MW_OK;
}

mw_program_info mw_program_get_info(const mw_program *program)
{
    mw_program_info info = {.where = "", .mil = ""};
    if (!mw__live_has(program, MW__LIVE_PROGRAM))
        return info;
    const mw_program *now = mw__program_now(program);
    info.port_count = shown(program);
    info.where = program->where;
    if (now == NULL)
        return info;
    info.warning_count = now->warning_count;
    info.where = now->where;
    info.mil = now->mil;
    return info;
}

size_t mw__program_find(const mw_program *program, const char *name)
{
    const mw_port *port = mw__map_get(&program->port_names, name);
    return port != NULL ? (size_t)(port - program->ports) : program->port_count;
}

void *mw__program_data(const mw_program *program, size_t port)
{
    const mw__port_place *place = &program->places[port];
    return mw__place_is_split(place) ? place->whole.data : mw__dispatch_buffer(program->dispatch, place->first)->data;
}

bool mw__program_buffer(const mw_program *program, size_t port, mw__device_buffer *out)
{
    const mw__port_place *place = &program->places[port];
    *out = mw__place_is_split(place) ? place->whole : *mw__dispatch_buffer(program->dispatch, place->first);
    return !place->staged;
}

size_t mw__program_elements(const mw_program *program, size_t port)
{
    return (size_t)mw_shape_count(program->ports[port].shape);
}

static mw_status unknown_port(const mw_program *program, const char *name, mw_error *err)
{
    mw__text list;
    mw__text_init(&list, program->allocator);
    for (size_t i = 0; i < shown(program); i++)
        mw__text_printf(&list, "%s%s", i > 0 ? ", " : "", program->ports[i].name);
    const mw_status status = mw__fail(err, MW_ERROR_ARGUMENT, "the program has no port \"%s\"; its ports are %s", name,
                                      list.data != NULL && !list.failed ? list.data : "unknown");
    mw__text_deinit(&list);
    return status;
}

static mw_status find_port(const mw_program *program, const char *name, size_t *out, mw_error *err)
{
    if (program == NULL || name == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "the %s is NULL", program == NULL ? "program" : "name of the port");
    *out = mw__program_find(program, name);
    return *out < program->port_count ? MW_OK : unknown_port(program, name, err);
}

mw_status mw__program_port_check(const mw_port *port, const void *data, size_t count, mw_error *err)
{
    const size_t expected = (size_t)mw_shape_count(port->shape);
    if (count != expected)
        return mw__fail(err, MW_ERROR_SHAPE, "port \"%s\" has %zu elements, not %zu", port->name, expected, count);
    if (data == NULL && count > 0)
        return mw__fail(err, MW_ERROR_ARGUMENT, "the memory for port \"%s\" is NULL", port->name);
    return MW_OK;
}

mw_status mw__program_port_find(mw_program *program, const char *name, mw__found_port *out, mw_error *err)
{
    size_t index = 0;
    MW_TRY(find_port(program, name, &index, err));
    *out = (mw__found_port){.port = &program->ports[index]};
    out->held = program->flexible != NULL ? mw__flexible_held(program->flexible, name) : NULL;
    if (out->held != NULL) {
        out->data = out->held->held;
        out->rule = (mw__port_rule){.dtype = out->port->dtype, .declared = out->port->dtype};
        return MW_OK;
    }
    mw_program *now;
    MW_TRY(mw__program_resolve(program, &now, err));
    MW_TRY(find_port(now, name, &index, err));
    out->port = &now->ports[index];
    out->rule = now->rules[index];
    out->data = mw__program_data(now, index);
    return MW_OK;
}

mw_status mw__program_port_refused(const mw__refusal *refusal, size_t count, const char *name, mw_error *err)
{
    if (refusal->element == count)
        mw__fail(err, refusal->status, "port \"%s\": %s", name, refusal->text);
    else
        mw__fail(err, refusal->status, "port \"%s\" element %zu %s", name, refusal->element, refusal->text);
    mw__error_subject(err, NULL, name);
    return refusal->status;
}

/* Into the memory of the port or out of it. */
static mw_status pass(void *out, const mw__values *values, const mw__port_rule *rule, const char *name, mw_error *err)
{
    mw__refusal refusal;
    const bool entered = mw__values_enter(out, values, rule, &refusal) == MW_OK;
    return entered ? MW_OK : mw__program_port_refused(&refusal, values->count, name, err);
}

/* What was held is seen at the next run. */
void mw__program_port_written(const mw__found_port *port)
{
    if (port->held != NULL)
        mw__flexible_note_written(port->held);
}

static mw_status write_port(mw_program *program, const char *name, mw_dtype dtype, const void *data, size_t count,
                            mw_error *err)
{
    mw__found_port found;
    MW_TRY(mw__program_port_find(program, name, &found, err));
    MW_TRY(mw__program_port_check(found.port, data, count, err));
    if (found.port->is_output)
        return mw__fail(err, MW_ERROR_ARGUMENT, "port \"%s\" is an output; only inputs are written", name);
    const mw__values values = {.data = data, .dtype = dtype, .count = count};
    MW_TRY(pass(found.data, &values, &found.rule, name, err));
    mw__program_port_written(&found);
    return MW_OK;
}

mw_status mw_program_write(mw_program *program, const char *name, mw_dtype dtype, const void *data, size_t count,
                           mw_error *err)
{
    MW__FLOAT_SCOPE;
    if (mw__skips(err))
        return err->status;
    mw__entry entry;
    MW_TRY(mw__program_enter(&entry, program, __func__, err));
    return mw__program_leave(&entry, write_port(program, name, dtype, data, count, err), err);
}

static mw_status read_port(mw_program *program, const char *name, mw_dtype dtype, void *out_data, size_t count,
                           mw_error *err)
{
    mw__found_port found;
    MW_TRY(mw__program_port_find(program, name, &found, err));
    MW_TRY(mw__program_port_check(found.port, out_data, count, err));
    const mw__values values = {.data = found.data, .dtype = found.port->dtype, .count = count};
    return pass(out_data, &values, &(mw__port_rule){.dtype = dtype, .declared = dtype}, name, err);
}

mw_status mw_program_read(mw_program *program, const char *name, mw_dtype dtype, void *out_data, size_t count,
                          mw_error *err)
{
    MW__FLOAT_SCOPE;
    if (mw__skips(err))
        return err->status;
    mw__entry entry;
    MW_TRY(mw__program_enter(&entry, program, __func__, err));
    return mw__program_leave(&entry, read_port(program, name, dtype, out_data, count, err), err);
}

void *mw_program_view(mw_program *program, const char *name, mw_error *err)
{
    if (mw__skips(err))
        return NULL;
    mw__found_port found;
    if ((program != NULL && mw__live_check(program, MW__LIVE_PROGRAM, __func__, err) != MW_OK) ||
        mw__program_port_find(program, name, &found, err) != MW_OK)
        return NULL;
    mw__program_port_written(&found);
    return found.data;
}

/* ---- running ---- */

static void *part_data(const void *user, size_t port)
{
    return mw__dispatch_buffer(((const mw_program *)user)->dispatch, port)->data;
}

mw_status mw__program_push_staged(mw_program *program, mw_error *err)
{
    for (size_t i = 0; i < program->input_count; i++)
        MW_TRY(mw__place_push(&program->places[i], &program->ports[i], program->places[i].whole.data, part_data,
                              program, err));
    return MW_OK;
}

static mw_status run_staged(mw_program *program, mw_error *err)
{
    MW__FLOAT_SCOPE; /* values become digits here; else only the device computes, in a mode of its own */
    MW_TRY(mw__program_push_staged(program, err));
    MW_TRY(mw__dispatch_execute(program->dispatch, err));
    for (size_t i = program->input_count; i < program->port_count; i++)
        mw__place_pull(&program->places[i], part_data, program);
    return MW_OK;
}

mw_status mw__program_run(mw_program *program, mw_error *err)
{
    return program->staged ? run_staged(program, err) : mw__dispatch_execute(program->dispatch, err);
}

void mw__program_copy_staged(mw_program *program, const mw_program *from)
{
    for (size_t i = 0; i < program->input_count; i++)
        if (program->places[i].staged)
            memcpy(program->places[i].whole.data, from->places[i].whole.data, program->places[i].whole.size);
}

mw_status mw_program_run(mw_program *program, mw_error *err)
{
    if (mw__skips(err))
        return err->status;
    if (program == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_program_run: the program is NULL");
    mw__entry entry;
    MW_TRY(mw__program_enter(&entry, program, __func__, err));
    return mw__program_leave(
        &entry, program->flexible != NULL ? mw__flexible_run(program->flexible, err) : mw__program_run(program, err),
        err);
}

/* ---- sharing ---- */

static mw_status check_free(const mw_program *program, size_t output, size_t input, mw_error *err)
{
    for (size_t i = program->input_count; i < program->port_count; i++) {
        if (i != output && mw__program_data(program, i) == mw__program_data(program, input))
            return mw__fail(err, MW_ERROR_ARGUMENT, "input \"%s\" already takes output \"%s\"",
                            program->ports[input].name, program->ports[i].name);
    }
    return MW_OK;
}

static mw_status share(mw_program *program, const char *output, const char *input, mw_error *err)
{
    size_t from = 0, to = 0;
    MW_TRY(find_port(program, output, &from, err));
    MW_TRY(find_port(program, input, &to, err));
    const mw_port *source = &program->ports[from], *target = &program->ports[to];
    if (!source->is_output || target->is_output)
        return mw__fail(err, MW_ERROR_ARGUMENT, "an output is shared with an input, not \"%s\" with \"%s\"", output,
                        input);
    if (program->flexible != NULL)
        return mw__flexible_share_ports(program->flexible, output, input, err);
    if (source->dtype != target->dtype || mw__program_elements(program, from) != mw__program_elements(program, to))
        return mw__fail(err, MW_ERROR_SHAPE,
                        "output \"%s\" and input \"%s\" differ: %zu elements of %s against %zu of %s", output, input,
                        mw__program_elements(program, from), mw_dtype_name(source->dtype),
                        mw__program_elements(program, to), mw_dtype_name(target->dtype));
    MW_TRY(check_free(program, from, to, err));
    /* The output moves to the input's memory, not the other way round, so that what the input holds stays. */
    return mw__place_rebind(&program->places[from], &program->places[to], program->dispatch, err);
}

mw_status mw_program_alias(mw_program *program, const char *output, const char *input, mw_error *err)
{
    MW__FLOAT_SCOPE;
    if (mw__skips(err))
        return err->status;
    mw__entry entry;
    MW_TRY(mw__program_enter(&entry, program, __func__, err));
    return mw__program_leave(&entry, share(program, output, input, err), err);
}

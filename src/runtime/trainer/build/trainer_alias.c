/* Proof that a library keeps the rule of aliasing: all inputs are read before any output is written. Only our engine
 * promises it; elsewhere the first step is also run by a shadow program, whose outputs have memory of their own,
 * and different bits are an error. */
#include "runtime/trainer/build/trainer_alias.h"

#include "runtime/trainer/build/trainer_programs.h"

#include <string.h>

bool mw__trainer_bind_inputs(void *user, const mw_port *port, mw__device_buffer *out)
{
    const mw_program *step = user;
    const size_t index = mw__program_find(step, port->name);
    if (port->is_output || index >= step->input_count)
        return false;
    return mw__program_buffer(step, index, out);
}

mw_status mw__trainer_make_shadow(mw_trainer *t, mw__trainer_pass *pass, const mw_graph *graph, mw_error *err)
{
    if (t->target.symbols.provider == MW_PROVIDER_ENGINE && !t->target.symbols.foreign)
        return MW_OK;
    mw__program_request request = {.graph = graph,
                                   .options = &t->compile,
                                   .target = &t->target,
                                   .bind = mw__trainer_bind_inputs,
                                   .user = pass->program};
    mw__trainer_allow_cuts(t, pass, &request);
    pass->shadow = mw__program_create(&request, err);
    return pass->shadow != NULL ? MW_OK : mw__status_or(err, MW_ERROR_DEVICE);
}

/* The first output of the step that differs from the shadow program's; port_count if none does. */
static size_t find_difference(const mw_program *step, const mw_program *shadow)
{
    for (size_t i = step->input_count; i < step->port_count; i++) {
        mw__device_buffer buffer;
        mw__program_buffer(step, i, &buffer);
        if (memcmp(buffer.data, mw__program_data(shadow, i), buffer.size) != 0)
            return i;
    }
    return step->port_count;
}

mw_status mw__trainer_run_twice(mw_trainer *t, mw__trainer_pass *pass, mw_error *err)
{
    const mw_program *program = pass->program;
    mw__program_copy_staged(pass->shadow, program);
    MW_TRY(mw__program_run(pass->shadow, err)); /* first: it leaves the state as it is */
    MW_TRY(mw__program_run(pass->program, err));
    const size_t port = find_difference(program, pass->shadow);
    mw_program *shadow = pass->shadow;
    pass->shadow = NULL;
    const bool differs = port < program->port_count;
    if (differs) {
        if (t->health == MW__TRAINER_SOUND) /* one that is torn says so: only a checkpoint helps it */
            t->health = MW__TRAINER_WRONG;
        mw__fail(err, MW_ERROR_DEVICE,
                 "output \"%s\" differs when it shares memory with its input (%s): this library cannot keep training "
                 "state in place",
                 program->ports[port].name, program->where);
    }
    mw_program_destroy(shadow);
    return differs ? MW_ERROR_DEVICE : MW_OK;
}

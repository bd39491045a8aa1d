/* The inputs of a comparison: from one program to another, and kept for a file. */
#include "runtime/compare/compare.h"

#include <string.h>

mw_status mw__compare_copy_inputs(mw_program *from, mw_program *to, mw_error *err)
{
    for (size_t i = 0; to != NULL && i < to->input_count; i++) {
        const char *name = to->ports[i].name;
        const size_t port = mw__program_find(from, name);
        size_t count = 0;
        if (port >= from->input_count)
            continue;
        double *data = mw__compare_read(from, name, &count, err);
        mw_status status = data != NULL ? MW_OK : mw__status_or(err, MW_ERROR_MEMORY);
        if (status == MW_OK)
            status = mw_program_write(to, name, MW_F64, data, count, err);
        mw__free(from->allocator, data);
        MW_TRY(status);
    }
    return MW_OK;
}

mw_status mw__compare_keep_inputs(mw_comparison *c, mw_program *program, mw_error *err)
{
    c->inputs = mw__arena_alloc(&c->arena, program->input_count, sizeof *c->inputs, err);
    if (c->inputs == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < program->input_count; i++) {
        const mw_port *port = &program->ports[i];
        const mw_dtype declared = program->rules[i].declared;
        if (program->ports[i].is_parameter)
            continue;
        mw__compared_input *input = &c->inputs[c->input_count];
        input->dtype = declared == MW_F16 || declared == MW_F32 || declared == MW_F64 ? MW_F32 : MW_I32;
        input->shape = port->shape;
        input->name = mw__arena_string(&c->arena, port->name, strlen(port->name), err);
        input->data = mw__arena_alloc(&c->arena, mw__program_elements(program, i), 4, err);
        if (input->name == NULL || input->data == NULL)
            return MW_ERROR_MEMORY;
        MW_TRY(mw_program_read(program, port->name, input->dtype, input->data, mw__program_elements(program, i), err));
        c->input_count++;
    }
    return MW_OK;
}

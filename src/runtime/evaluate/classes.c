/* Classifiers: the labels of their ports, and which was predicted. A device knows indices alone (graph/ir/classify.h).
 */
#include "base/text/text.h"
#include "graph/ir/classify.h"
#include "runtime/program/program_object.h"

#include <string.h>

/* ---- taking them from a graph ---- */

static mw_status copy_names(mw_program *program, const mw__op *op, mw_classes *out, mw_error *err)
{
    int64_t number;
    const char **names = mw__arena_alloc(&program->arena, out->count, sizeof *names, err);
    for (size_t i = 0; names != NULL && i < out->count; i++) {
        const char *name = mw__classify_label(op, i, &number);
        names[i] = mw__arena_string(&program->arena, name, strlen(name), err);
        if (names[i] == NULL)
            return MW_ERROR_MEMORY;
    }
    out->names = names;
    return names != NULL ? MW_OK : MW_ERROR_MEMORY;
}

static mw_status copy_labels(mw_program *program, const mw__op *op, mw_classes *out, mw_error *err)
{
    int64_t number;
    *out = (mw_classes){.count = mw__classify_count(op)};
    if (mw__classify_label(op, 0, &number) != NULL)
        return copy_names(program, op, out, err);
    int64_t *numbers = mw__arena_alloc(&program->arena, out->count, sizeof *numbers, err);
    for (size_t i = 0; numbers != NULL && i < out->count; i++)
        mw__classify_label(op, i, &numbers[i]);
    out->numbers = numbers;
    return numbers != NULL ? MW_OK : MW_ERROR_MEMORY;
}

static mw_status add_port(mw_program *program, const mw_tensor *output, mw_error *err)
{
    mw__class_port *port = &program->class_ports[program->class_port_count];
    const mw__op *op = mw__classify_of(output);
    const char *name = output->name != NULL ? output->name : output->hint;
    MW_TRY(mw__op_verify(op, err)); /* a text may lie about its labels */
    port->is_label = output->result == 0;
    port->name = mw__arena_string(&program->arena, name, strlen(name), err);
    if (port->name == NULL)
        return MW_ERROR_MEMORY;
    port->op = op;
    program->class_port_count++;
    for (const mw__class_port *other = program->class_ports; other < port; other++)
        if (other->op == op) {
            port->classes = other->classes;
            return MW_OK;
        }
    return copy_labels(program, op, &port->classes, err);
}

mw_status mw__program_take_classes(mw_program *program, const mw__function *function, mw_error *err)
{
    const mw__block *body = function->body;
    size_t count = 0;
    for (size_t i = 0; i < body->output_count; i++)
        count += mw__classify_of(body->outputs[i]) != NULL;
    if (count == 0)
        return MW_OK;
    program->class_ports = mw__arena_alloc(&program->arena, count, sizeof *program->class_ports, err);
    if (program->class_ports == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < body->output_count; i++)
        if (mw__classify_of(body->outputs[i]) != NULL)
            MW_TRY(add_port(program, body->outputs[i], err));
    for (size_t i = 0; i < program->class_port_count; i++)
        program->class_ports[i].op = NULL; /* the graph may go */
    return MW_OK;
}

/* ---- asking ---- */

static mw_status unknown(const mw_program *program, const char *name, bool labels, mw_error *err)
{
    mw__text list;
    mw__text_init(&list, program->allocator);
    for (size_t i = 0; i < program->class_port_count; i++)
        if (program->class_ports[i].is_label || !labels)
            mw__text_printf(&list, "%s%s", list.size > 0 ? ", " : "", program->class_ports[i].name);
    mw__fail(err, MW_ERROR_ARGUMENT, "port \"%s\" is no %s of a classifier; those are %s", name,
             labels ? "label" : "port", list.size > 0 && !list.failed ? list.data : "none");
    mw__text_deinit(&list);
    return MW_ERROR_ARGUMENT;
}

static mw_status find_class_port(const mw_program *program, const char *call, const char *name, bool labels,
                                 const mw__class_port **out, mw_error *err)
{
    if (program != NULL)
        MW_TRY(mw__live_check(program, MW__LIVE_PROGRAM, call, err));
    if (program == NULL || name == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "the %s is NULL", program == NULL ? "program" : "name of the port");
    for (size_t i = 0; i < program->class_port_count; i++) {
        const mw__class_port *port = &program->class_ports[i];
        if ((port->is_label || !labels) && strcmp(port->name, name) == 0) {
            *out = port;
            return MW_OK;
        }
    }
    return unknown(program, name, labels, err);
}

mw_status mw_program_classes(const mw_program *program, const char *port, mw_classes *out, mw_error *err)
{
    const mw__class_port *found = NULL;
    if (out != NULL)
        *out = (mw_classes){0};
    if (mw__skips(err))
        return err->status;
    if (out == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_program_classes: out is NULL");
    MW_TRY(find_class_port(program, __func__, port, false, &found, err));
    *out = found->classes;
    return MW_OK;
}

mw_status mw_program_label(mw_program *program, const char *port, mw_label *out, mw_error *err)
{
    const mw__class_port *found = NULL;
    int32_t index = 0;
    if (out != NULL)
        *out = (mw_label){0};
    if (mw__skips(err))
        return err->status;
    if (out == NULL)
        return mw__fail(err, MW_ERROR_ARGUMENT, "mw_program_label: out is NULL");
    MW_TRY(find_class_port(program, __func__, port, true, &found, err));
    const mw_classes classes = found->classes;
    MW_TRY(mw_program_read(program, port, MW_I32, &index, 1, err));
    if (index < 0 || (size_t)index >= classes.count)
        return mw__fail(err, MW_ERROR_STATE, "port \"%s\" holds %d, which is none of %zu classes", port, (int)index,
                        classes.count);
    *out = (mw_label){.index = index,
                      .name = classes.names != NULL ? classes.names[index] : NULL,
                      .number = classes.numbers != NULL ? classes.numbers[index] : 0};
    return MW_OK;
}

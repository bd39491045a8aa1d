/* Inputs and outputs of a model: as the file has them that the graph was read from, with its own element types, which
 * casts bring to those of the graph, and its own names of dimensions. */
#include "format/onnx/write/write.h"

#include <string.h>

static bool fill_shape(mw__onnx_writer *w, const mw__type *type, const mw__port_note *note, Mw__Onnx__Shape *out)
{
    mw__onnx__shape__init(out);
    out->dim = mw__onnx_alloc(w, (size_t)type->shape.rank, sizeof *out->dim);
    for (int i = 0; out->dim != NULL && i < type->shape.rank; i++) {
        Mw__Onnx__Dimension *dim = mw__onnx_alloc(w, 1, sizeof *dim);
        if (dim == NULL)
            return false;
        mw__onnx__dimension__init(dim);
        if (type->shape.dim[i] >= 0) {
            dim->value_case = MW__ONNX__DIMENSION__VALUE_DIM_VALUE;
            dim->dim_value = type->shape.dim[i];
        } else if (note != NULL && note->extents[i] != NULL) {
            dim->value_case = MW__ONNX__DIMENSION__VALUE_DIM_PARAM;
            dim->dim_param = mw__onnx_text(w, note->extents[i]);
            if (dim->dim_param == NULL)
                return false;
        }
        out->dim[out->n_dim++] = dim;
    }
    return out->dim != NULL;
}

static Mw__Onnx__ValueInfo *noted_port(mw__onnx_writer *w, const mw__type *is, const mw__port_note *note,
                                       const char *name)
{
    Mw__Onnx__ValueInfo *out = mw__onnx_alloc(w, 1, sizeof *out);
    Mw__Onnx__Type *type = mw__onnx_alloc(w, 1, sizeof *type);
    Mw__Onnx__TensorType *tensor = mw__onnx_alloc(w, 1, sizeof *tensor);
    Mw__Onnx__Shape *shape = mw__onnx_alloc(w, 1, sizeof *shape);
    if (out == NULL || type == NULL || tensor == NULL || shape == NULL || !fill_shape(w, is, note, shape))
        return NULL;
    mw__onnx__value_info__init(out);
    mw__onnx__type__init(type);
    mw__onnx__tensor_type__init(tensor);
    tensor->elem_type = is->kind == MW__TENSOR ? mw__onnx_type_of(is->dtype) : 0;
    if (tensor->elem_type != 0 && note != NULL && note->dtype != MW_DTYPE_NONE)
        tensor->elem_type = mw__onnx_type_of(note->dtype);
    tensor->shape = shape;
    type->value_case = MW__ONNX__TYPE__VALUE_TENSOR_TYPE;
    type->tensor_type = tensor;
    out->name = name != NULL ? mw__onnx_text(w, name) : NULL;
    out->type = type;
    if (tensor->elem_type == 0)
        mw__fail(w->err, MW_ERROR_UNSUPPORTED, "ONNX: port \"%.96s\" has a type that ONNX lacks",
                 name != NULL ? name : "");
    return out->name != NULL && tensor->elem_type != 0 ? out : NULL;
}

Mw__Onnx__ValueInfo *mw__onnx_port(mw__onnx_writer *w, const mw__type *is, const char *name)
{
    return noted_port(w, is, NULL, name);
}

static bool has_other_type(const mw_tensor *port)
{
    return port->note != NULL && port->note->dtype != MW_DTYPE_NONE && port->type->kind == MW__TENSOR &&
           port->note->dtype != port->type->dtype;
}

mw_status mw__onnx_write_inputs(mw__onnx_writer *w, const mw__block *body, Mw__Onnx__Graph *out)
{
    out->input = mw__onnx_alloc(w, body->input_count, sizeof *out->input);
    if (out->input == NULL)
        return w->err->status;
    for (size_t i = 0; i < body->input_count; i++) {
        const mw_tensor *input = body->inputs[i];
        if (mw__is_resident(input)) /* an initializer, once it is asked for */
            continue;
        const char *name = w->names[input->id];
        if ((out->input[out->n_input] = noted_port(w, input->type, input->note, name)) == NULL)
            return w->err->status;
        out->n_input++;
        if (has_other_type(input) && w->needed[input->id])
            w->names[input->id] = mw__onnx_cast_to(w, NULL, name, input->type->dtype);
    }
    return w->err->status;
}

/* An output that is cast has the name of its port; the value gets another. */
mw_status mw__onnx_declare_outputs(mw__onnx_writer *w, const mw__block *body, Mw__Onnx__Graph *out)
{
    out->output = mw__onnx_alloc(w, body->output_count, sizeof *out->output);
    if (out->output == NULL)
        return w->err->status;
    for (size_t i = 0; i < body->output_count; i++) {
        mw_tensor *output = body->outputs[i];
        const bool is_cast = has_other_type(output) && output->role == MW__VALUE && !mw__is_constant(output);
        const char *name = mw__onnx_name_of(w, output);
        if (name == NULL ||
            (out->output[i] = is_cast || !has_other_type(output) ? noted_port(w, output->type, output->note, name)
                                                                 : mw__onnx_port(w, output->type, name)) == NULL)
            return w->err->status;
        out->n_output++;
        if (is_cast)
            w->names[output->id] = mw__onnx_fresh(w);
    }
    return w->err->status;
}

void mw__onnx_write_outputs(mw__onnx_writer *w, const mw__block *body, const Mw__Onnx__Graph *out)
{
    for (size_t i = 0; i < body->output_count; i++) {
        const mw_tensor *output = body->outputs[i];
        if (w->names[output->id] != NULL && strcmp(w->names[output->id], out->output[i]->name) != 0)
            mw__onnx_cast_to(w, out->output[i]->name, w->names[output->id], output->note->dtype);
    }
}

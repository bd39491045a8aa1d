/* What a file says of its ports and a graph has no place for: element types that MIL lacks, and names of dimensions. A
 * graph that is written again has them. And what it says of the model as a whole. */
#include "format/onnx/read/import.h"
#include "graph/ir/build_info.h"
#include "graph/ir/ir.h"

#include <string.h>

/* Those that a graph holds as another type. */
static mw_dtype wider_type(int type)
{
    static const struct {
        int type;
        mw_dtype dtype;
    } types[] = {{MW__ONNX_UINT8, MW_U8},  {MW__ONNX_INT8, MW_I8},   {MW__ONNX_UINT16, MW_U16},
                 {MW__ONNX_INT16, MW_I16}, {MW__ONNX_INT64, MW_I64}, {MW__ONNX_DOUBLE, MW_F64},
                 {MW__ONNX_UINT32, MW_U32}};
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].type == type)
            return types[i].dtype != mw__onnx_dtype(type) ? types[i].dtype : MW_DTYPE_NONE;
    return MW_DTYPE_NONE;
}

static void note_extents(const Mw__Onnx__ValueInfo *info, mw__port_note *note)
{
    const bool is_tensor = info->type != NULL && info->type->value_case == MW__ONNX__TYPE__VALUE_TENSOR_TYPE;
    const Mw__Onnx__Shape *shape = is_tensor ? info->type->tensor_type->shape : NULL;
    for (size_t i = 0; shape != NULL && i < shape->n_dim && i < MW_RANK_MAX; i++)
        if (shape->dim[i]->value_case == MW__ONNX__DIMENSION__VALUE_DIM_PARAM && shape->dim[i]->dim_param[0] != '\0')
            note->extents[i] = shape->dim[i]->dim_param;
}

mw_status mw__onnx_note_port(mw__onnx_import *import, const Mw__Onnx__ValueInfo *info, int type, mw_tensor *tensor)
{
    mw__port_note note = {.dtype = wider_type(type)};
    bool says = note.dtype != MW_DTYPE_NONE;
    note_extents(info, &note);
    for (int i = 0; i < MW_RANK_MAX; i++)
        says = says || note.extents[i] != NULL;
    if (!says)
        return MW_OK;
    tensor->note = mw__graph_copy_port_note(import->graph, &note);
    return tensor->note != NULL ? MW_OK : mw_graph_check(import->graph, import->err);
}

static mw_status copy_text(mw_graph *graph, const char *text, const char **out, mw_error *err)
{
    text = text != NULL ? text : "";
    *out = mw__arena_string(&graph->arena, text, strlen(text), err);
    return *out != NULL ? MW_OK : MW_ERROR_MEMORY;
}

mw_status mw__onnx_note_model(mw_graph *graph, const Mw__Onnx__Model *model, mw_error *err)
{
    mw_text_pair *pairs = mw__arena_alloc(&graph->arena, model->n_metadata + 1, sizeof *pairs, err);
    if (pairs == NULL)
        return MW_ERROR_MEMORY;
    for (size_t i = 0; i < model->n_metadata; i++) {
        MW_TRY(copy_text(graph, model->metadata[i]->key, &pairs[i].key, err));
        MW_TRY(copy_text(graph, model->metadata[i]->value, &pairs[i].value, err));
    }
    graph->pairs = pairs;
    graph->pair_count = model->n_metadata;
    return MW_OK;
}

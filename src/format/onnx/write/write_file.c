/* The file of a model that is written. Large elements go from where they lie straight into the file, so that writing
 * takes no memory for a second copy of them; the bytes are those that protobuf-c makes of the whole message. */
#include "base/file/file.h"
#include "base/text/text.h"
#include "format/onnx/write/write.h"
#include "format/protobuf/outline.h"
#include "format/protobuf/wire.h"

enum { MODEL_GRAPH = 7, GRAPH_INITIALIZER = 5, TENSOR_RAW_DATA = 9 }; /* fields, by their numbers */
enum { WAITING_MOST = 1 << 16 };                                      /* bytes that are written together */

typedef struct model_file {
    const mw_allocator *allocator;
    mw__file_writer writer;
    mw__text waiting;
    mw_error *err;
} model_file;

static mw_status write_waiting(model_file *file)
{
    MW_TRY(mw__text_check(&file->waiting, file->err));
    if (file->waiting.size > 0)
        MW_TRY(mw__file_writer_write(&file->writer, file->waiting.data, file->waiting.size, file->err));
    file->waiting.size = 0;
    return MW_OK;
}

static mw_status put_fields(model_file *file, const ProtobufCMessage *message)
{
    uint8_t *data = NULL;
    size_t size = 0;
    MW_TRY(mw__wire_write(file->allocator, message, &data, &size, file->err));
    mw__text_append(&file->waiting, (const char *)data, size);
    mw__free(file->allocator, data);
    return file->waiting.size < WAITING_MOST ? MW_OK : write_waiting(file);
}

static mw_status put_elements(model_file *file, const ProtobufCBinaryData *elements)
{
    if (elements->len == 0)
        return MW_OK;
    mw__outline_put_head(&file->waiting, TENSOR_RAW_DATA, elements->len);
    if (elements->len < WAITING_MOST) {
        mw__text_append(&file->waiting, (const char *)elements->data, elements->len);
        return MW_OK;
    }
    MW_TRY(write_waiting(file));
    return mw__file_writer_write(&file->writer, elements->data, elements->len, file->err);
}

/* What is written of a tensor has no field behind its elements. */
static mw_status put_initializer(model_file *file, const Mw__Onnx__Tensor *tensor)
{
    Mw__Onnx__Tensor head = *tensor;
    head.raw_data = (ProtobufCBinaryData){0};
    mw__outline_put_head(&file->waiting, GRAPH_INITIALIZER, protobuf_c_message_get_packed_size(&tensor->base));
    MW_TRY(put_fields(file, &head.base));
    return put_elements(file, &tensor->raw_data);
}

static mw_status put_graph(model_file *file, const Mw__Onnx__Graph *graph)
{
    Mw__Onnx__Graph before, behind = *graph;
    mw__onnx__graph__init(&before);
    before.n_node = graph->n_node;
    before.node = graph->node;
    before.name = graph->name;
    behind.n_node = behind.n_initializer = 0;
    behind.name = (char *)(uintptr_t)protobuf_c_empty_string;
    MW_TRY(put_fields(file, &before.base));
    for (size_t i = 0; i < graph->n_initializer; i++)
        MW_TRY(put_initializer(file, graph->initializer[i]));
    return put_fields(file, &behind.base);
}

static mw_status put_model(model_file *file, const Mw__Onnx__Model *model)
{
    Mw__Onnx__Model before = *model, behind;
    mw__onnx__model__init(&behind);
    before.graph = NULL;
    before.n_opset_import = before.n_metadata = 0; /* larger numbers than the graph's */
    behind.opset_import = model->opset_import;
    behind.n_opset_import = model->n_opset_import;
    behind.metadata = model->metadata;
    behind.n_metadata = model->n_metadata;
    MW_TRY(put_fields(file, &before.base));
    mw__outline_put_head(&file->waiting, MODEL_GRAPH, protobuf_c_message_get_packed_size(&model->graph->base));
    MW_TRY(put_graph(file, model->graph));
    MW_TRY(put_fields(file, &behind.base));
    MW_TRY(write_waiting(file));
    return mw__file_writer_commit(&file->writer, file->err);
}

mw_status mw__onnx_write_file(const mw_allocator *allocator, const Mw__Onnx__Model *model, const char *path,
                              mw_error *err)
{
    model_file file = {.allocator = allocator, .err = err};
    MW_TRY(mw__file_writer_begin(&file.writer, allocator, path, true, err));
    mw__text_init(&file.waiting, allocator);
    const mw_status status = put_model(&file, model);
    mw__text_deinit(&file.waiting);
    mw__file_writer_deinit(&file.writer);
    return status;
}

/* See corpus.h. */
#include "corpus.h"

#include "base/number/fp16.h"
#include "graph/ir/ir.h"

#include <math.h>
#include <stdio.h>

enum { TEXT_MAX = 1 << 20 };

mw_graph *corpus_read(const char *path)
{
    static char text[TEXT_MAX];
    mw_error err = {0};
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return NULL;
    const size_t size = fread(text, 1, sizeof text, file);
    fclose(file);
    return size < sizeof text ? mw_graph_parse_mil(text, size, NULL, NULL, &err) : NULL;
}

float corpus_number(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return (float)(int32_t)*state / 2147483648.0f;
}

static void fill_payload(mw_graph *graph, const mw__payload *payload, uint32_t *state)
{
    mw_error err = {0};
    size_t size;
    const mw_shape shape = payload->type->shape;
    const size_t count = mw__payload_count(payload);
    if (!mw__type_bytes(payload->type, &size))
        return;
    unsigned char *data = mw__arena_alloc(&graph->arena, size, 1, &err);
    const double fan = shape.rank > 1 && shape.dim[0] > 0 ? (double)count / (double)shape.dim[0] : 4.0;
    for (size_t i = 0; data != NULL && i < count; i++) {
        const float value = (shape.rank > 1 ? 0.0f : 1.0f) + (float)((double)corpus_number(state) / sqrt(fan));
        if (payload->type->dtype == MW_F16)
            ((uint16_t *)(void *)data)[i] = mw__fp16_from_float(value);
        else if (payload->type->dtype == MW_F32)
            ((float *)(void *)data)[i] = value;
    }
    ((mw__payload *)(uintptr_t)payload)->data = data;
    ((mw__payload *)(uintptr_t)payload)->size = size;
}

size_t corpus_fill_weights(mw_graph *graph, size_t most)
{
    uint32_t state = 7;
    size_t total = 0;
    for (size_t i = 0; i < graph->value_count; i++) {
        const mw__payload *payload = graph->values[i]->payload;
        size_t size;
        if (payload == NULL || payload->type->kind != MW__TENSOR || !mw__type_bytes(payload->type, &size))
            continue;
        total += size;
        if (payload->data == NULL && payload->blob_path != NULL && total <= most)
            fill_payload(graph, payload, &state);
    }
    return total;
}

mw_status corpus_choose_shapes(mw_program *program, mw_error *err)
{
    mw_input_shape shapes[16];
    mw_port port;
    size_t count = 0;
    for (size_t i = 0; count < 16 && mw_program_port_at(program, i, &port); i++) {
        if (port.is_output || mw_shape_count(port.shape) >= 0)
            continue;
        shapes[count] = (mw_input_shape){port.name, port.shape};
        for (int d = 0; d < port.shape.rank; d++)
            if (port.shape.dim[d] == MW_DIM_UNKNOWN)
                shapes[count].shape.dim[d] = 4;
        count++;
    }
    return count > 0 ? mw_program_set_shapes(program, shapes, count, err) : MW_OK;
}
